"""Napkins fall on a ball and on one another. They touch as surfaces, so none passes through another."""

import numpy as np

import pbd
from pbd import build
from scenes.registry import register
from scenes.scene import Scene
from scenes.visuals import BLUE, RED, SAND, STEEL, Camera, ClothVisual, ColliderVisual

SIDE, BALL = 0.3, 0.08  # of a napkin; radius of the ball below them [m]
COLOURS = (RED, BLUE, SAND, STEEL)


@register(small={"napkins": 3, "count": 6}, slow=True, picture=2.2)
def napkins(napkins: int = 10, count: int = 18, thickness: float = 0.003, friction: float = 0.3, seed: int = 1):
    """Napkins fall on a ball in a heap; none passes through another."""
    random, particles = np.random.default_rng(seed), pbd.Particles()
    particles.add_collider(pbd.Plane(), friction=0.5)
    ball = pbd.Sphere(BALL, centre=(0, 0, BALL))
    particles.add_collider(ball, friction=0.5)
    sheets = []
    for k in range(napkins):
        turn, lean = random.uniform(0, 2 * np.pi), random.uniform(-0.5, 0.5, 2)
        right = np.array([np.cos(turn), np.sin(turn), lean[0]])
        down = np.array([-np.sin(turn), np.cos(turn), lean[1]])
        right, down = (SIDE * each / np.linalg.norm(each) for each in (right, down))
        middle = np.array([*random.uniform(-0.05, 0.05, 2), 0.3 + 0.2 * k])
        sheets.append(build.cloth(
            particles, middle - (right + down) / 2, right, down, (count, count), density=0.2, shear_compliance=5e-3,
            bending=3e-5, thickness=thickness, friction=friction, contacts="surface",
        ))  # fmt: skip
    return Scene(
        particles,
        duration=4.0,
        settings={"verlet": {"dt": 1 / 60, "substeps": 12, "iterations": 3, "solve": "iterative", "damping": 0.01}},
        visuals=[
            *(ClothVisual(each.triangles, COLOURS[k % len(COLOURS)], None) for k, each in enumerate(sheets)),
            ColliderVisual(1, ball),
        ],
        camera=Camera((0.5, -0.85, 0.55), (0, 0, 0.07)),
    )
