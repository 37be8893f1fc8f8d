"""Atwood's machine: a rope of particles turns a wheel, which bears it. Two bodies hang on it."""

import numpy as np

import pbd
import rigid
from pbd.build import rope
from scenes.registry import register
from scenes.scene import Scene
from scenes.visuals import SAND, STEEL, BodyVisual, Camera, StickVisual

ROPE = 0.012  # radius [m]
HEIGHT, RADIUS, WIDTH = 1.7, 0.22, 0.12  # of the axle above the floor; of the wheel [m]
HANG = 0.95  # how far the rope hangs from the axle's height [m]
SIDE = 0.2  # of the weights [m]


@register(small={"segments": 30}, slow=True)
def pulley(left: float = 3.0, right: float = 2.5, rope_mass: float = 0.2, friction: float = 0.8, segments: int = 80):
    """Two weights on a rope turn a wheel until one stands on the floor: Atwood's machine."""
    particles, model = pbd.Particles(), rigid.Model()
    model.add_ground(friction=0.6)
    outside = RADIUS + ROPE
    angles = np.linspace(0, np.pi, 400)
    arc = np.stack([-outside * np.cos(angles), 0 * angles, HEIGHT + outside * np.sin(angles)], axis=1)
    points = [(-outside, 0, HEIGHT - HANG), *arc, (outside, 0, HEIGHT - HANG)]
    line = rope(particles, points, segments, mass=rope_mass, radius=ROPE)
    weights = [
        model.add_box((SIDE, SIDE, SIDE), mass=mass, position=(x, 0, HEIGHT - HANG - SIDE / 2), name=name)
        for name, mass, x in (("left", left, -outside), ("right", right, outside))
    ]
    ends = [(0, y, HEIGHT) for y in (-WIDTH / 2, WIDTH / 2)]
    wheel = model.add_cylinder(RADIUS, start=ends[0], end=ends[1], mass=1.0, friction=friction, name="wheel")
    model.add_hinge(rigid.GROUND, wheel, point=(0, 0, HEIGHT), axis=(0, 1, 0), name="axle")
    for k in range(3):  # spokes show that it turns
        direction = 0.8 * RADIUS * np.array([np.cos(k * np.pi / 3), 0, np.sin(k * np.pi / 3)])
        face = np.array([0, -WIDTH / 2, HEIGHT])
        model.add_visual(wheel, rigid.Capsule(0.012, start=face - direction, end=face + direction), colour=STEEL)
    post = rigid.Capsule(0.03, start=(0, WIDTH / 2 + 0.06, 0.03), end=(0, WIDTH / 2 + 0.06, HEIGHT))
    model.add_shape(rigid.GROUND, post, group=2, mask=0)
    return Scene(
        particles,
        model,
        attachments=[(line.particles[:1], weights[0]), (line.particles[-1:], weights[1])],
        duration=3.0,
        settings={"verlet": {"dt": 1 / 60, "substeps": 4, "solve": "direct"}},
        visuals=[StickVisual(line.sticks, ROPE, SAND), BodyVisual(model)],
        camera=Camera((1.2, -4.0, 1.6), (0, 0, 1.0)),
    )
