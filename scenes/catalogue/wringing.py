"""A towel is wrung: its ends turn against one another and come nearer. It touches itself as a surface."""

import numpy as np

import pbd
from pbd import build
from scenes.registry import register
from scenes.scene import Scene
from scenes.visuals import BLUE, SAND, Camera, ClothVisual

LENGTH, WIDTH, HEIGHT = 0.8, 0.4, 0.5  # of the towel; above the ground [m]


@register(small={"count": 9, "turns": 1.0}, slow=True, picture=3.5)
def wringing(
    count: int = 25, turns: float = 3.0, thickness: float = 0.006, friction: float = 0.3, closer: float = 0.25
):  # fmt: skip
    """A towel is twisted by three turns and does not pass through itself."""
    particles = pbd.Particles()
    columns = 2 * (count - 1) + 1
    towel = build.cloth(
        particles, (-LENGTH / 2, -WIDTH / 2, HEIGHT), (LENGTH, 0, 0), (0, WIDTH, 0), (count, columns), density=0.3,
        shear_compliance=5e-3, bending=1e-4, thickness=thickness, friction=friction, contacts="surface",
    )  # fmt: skip
    number = towel.particles.reshape(count, columns)
    last = 4.0 * turns / 3.0  # a turn takes as long, however many there are [s]
    for end, sign in ((number[:, 0], -1.0), (number[:, -1], 1.0)):
        particles.add_path(end, turning(particles.positions()[end].copy(), sign, turns, closer, last))
    return Scene(
        particles,
        duration=last + 1.0,
        settings={"verlet": {"dt": 1 / 60, "substeps": 12, "iterations": 4, "solve": "iterative", "damping": 0.02}},
        visuals=[ClothVisual(towel.triangles, BLUE, SAND)],
        camera=Camera((0.25, -1.35, 0.85), (0, 0, HEIGHT)),
    )


def turning(start, sign, turns, closer, last):
    """The path of an end. Args: start: (n, 3); sign: which end; turns, closer [m]: of both; last: time [s]."""

    def path(time):
        part = min(time / last, 1.0)
        angle = sign * np.pi * turns * part
        x, y, z = start.T
        y, z = np.cos(angle) * y - np.sin(angle) * (z - HEIGHT), np.sin(angle) * y + np.cos(angle) * (z - HEIGHT)
        return np.stack([x - sign * part * closer / 2, y, z + HEIGHT], axis=1)

    return path
