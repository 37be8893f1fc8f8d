"""Balloons of rubber, from soft to hard, fall on the ground; a board comes down on them: p V = n R T."""

import numpy as np

import pbd
from pbd.core.validate import not_negative, positive
from pbd.description.gases import GAS_CONSTANT
from scenes.registry import register
from scenes.scene import Scene
from scenes.visuals import BLUE, GREEN, RED, Camera, ClothVisual, ColliderVisual

# Latex of E = 1.2 MPa, 0.25 mm thick.
LATEX = pbd.Fabric(warp=300.0, weft=300.0, shear=300 / 2.9, poisson=0.45, density=0.23, damping=0.02)
RADIUS, APART, TEMPERATURE, AMBIENT = 0.12, 0.42, 293.15, 101_325.0  # [m], [m], [K], [Pa]
BOARD, HIGH, START, PERIOD = (1.4, 0.5, 0.04), 0.55, 1.0, 2.4  # size [m]; [m]; when it begins to move, and how long [s]


@register(small={"subdivisions": 2}, slow=True, picture=2.2)
def balloon(subdivisions: int = 3, gap: float = 0.13, gas: float = 1.0):
    """Three balloons with more and more gas; a board presses them to a gap and lets them go."""
    import trimesh  # slow to import

    positive("gap", gap), not_negative("gas", gas)
    particles, visuals = pbd.Particles(), []
    particles.add_collider(pbd.Plane(), friction=0.5)
    skin = trimesh.creation.icosphere(subdivisions=subdivisions, radius=RADIUS)
    triangles = np.asarray(skin.faces)
    for k, (more, colour) in enumerate(((0.05, GREEN), (0.25, BLUE), (0.6, RED))):
        first = len(particles)
        place = APART * (k - 1), 0, 1.4 * RADIUS
        own = first + triangles
        mass = LATEX.density * skin.area / len(skin.vertices)
        particles.add_particles(skin.vertices + place, mass, radius=0.002)
        particles.add_membrane(own, LATEX)
        amount = (1 + gas * more) * AMBIENT * skin.volume / (GAS_CONSTANT * TEMPERATURE)
        particles.add_pressure(own, amount=amount, ambient=AMBIENT, temperature=TEMPERATURE)
        visuals.append(ClothVisual(own, colour, colour))

    def press(time):
        turn = 2 * np.pi * np.clip((time - START) / PERIOD, 0, 1)
        return 0, 0, BOARD[2] / 2 + HIGH - (HIGH - gap) * (1 - np.cos(turn)) / 2

    board = pbd.Box(BOARD)
    visuals.append(ColliderVisual(particles.add_collider(board, friction=0.5, motion=press), board, (0.7, 0.55, 0.35)))
    return Scene(
        particles,
        duration=4.0,
        settings={"verlet": {"dt": 1 / 60, "substeps": 4, "iterations": 4, "solve": "iterative"}},
        visuals=visuals,
        camera=Camera((0.35, -2.0, 0.5), (0, 0, 0.2)),
    )
