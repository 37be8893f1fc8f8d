"""Balls fall on a net: those smaller than its mesh fall through, larger ones stay. Its cords touch them as capsules."""

import numpy as np

import pbd
import rigid
from pbd.core.validate import whole
from scenes.catalogue.components.frame_of_cloth import add_legs
from scenes.registry import register
from scenes.scene import Scene
from scenes.visuals import BLUE, GOLD, SAND, STEEL, BodyVisual, Camera, StickVisual

LEVEL, MESH = 1.0, 0.1  # of the net; distance of its knots [m]
CORD, MASS, SLACK = 0.003, 0.004, 1.05  # radius [m]; of a knot with its cords [kg]; length of a cord in meshes
LARGE, SMALL = 0.09, 0.035  # radii of balls [m]


@register(small={"meshes": 6, "balls": 4}, slow=True, picture=1.1)
def net(meshes: int = 12, balls: int = 12, friction: float = 0.3, seed: int = 2):
    """Small balls fall through a net, and large ones stay in it."""
    whole("meshes", meshes, least=3)
    whole("balls", balls, least=0)
    particles, model = pbd.Particles(), rigid.Model()
    cords = knotted(particles, meshes)
    particles.add_segments(cords, radius=CORD, friction=friction)
    model.add_ground(friction=0.6)
    side = meshes * MESH
    add_legs(model, side, LEVEL)
    random = np.random.default_rng(seed)
    places = random.permutation(np.stack(np.meshgrid(*2 * [np.linspace(-0.3, 0.3, 3) * side]), -1).reshape(-1, 2))
    for k in range(balls):
        radius = LARGE if k % 2 == 0 else SMALL
        place = (*places[k % 9] + random.uniform(-0.02, 0.02, 2), LEVEL + 0.3 + 0.2 * k)
        model.add_sphere(radius, density=60, position=place, friction=friction, restitution=0.2)
    colours = [BLUE if k % 2 == 0 else GOLD for k in range(balls)]
    return Scene(
        particles,
        model,
        duration=4.0,
        settings={"verlet": {"dt": 1 / 60, "substeps": 16, "iterations": 8, "solve": "iterative", "damping": 0.02}},
        visuals=[StickVisual(cords, CORD, SAND), BodyVisual(model, colours, STEEL)],
        camera=Camera((1.7, -3.1, 2.2), (0, 0, 0.72)),
    )


def knotted(particles, meshes):
    """Add a square net that is pinned at its border. Returns: its cords, pairs of particles (n, 2)."""
    along = (np.arange(meshes + 1) - meshes / 2) * MESH
    x, y = np.meshgrid(along, along)
    knots = particles.add_particles(np.stack([x, y, np.full_like(x, LEVEL)], -1).reshape(-1, 3), mass=MASS)
    rows = knots.reshape(meshes + 1, -1)
    cords = np.concatenate([np.stack([a.ravel(), b.ravel()], 1) for a, b in (
        (rows[:, :-1], rows[:, 1:]), (rows[:-1], rows[1:]),
    )])  # fmt: skip
    particles.add_sticks(cords, SLACK * MESH, bound="at_most")
    particles.pin(np.unique(np.concatenate([rows[0], rows[-1], rows[:, 0], rows[:, -1]])))
    return cords
