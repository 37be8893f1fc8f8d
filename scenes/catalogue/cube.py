"""A crate on a tetrahedron of four particles, in a box: Jakobsen's rigid body."""

import math
from itertools import product

import numpy as np

import pbd
from pbd.core.validate import positive, whole
from scenes.registry import register
from scenes.scene import Scene
from scenes.visuals import GOLD, STEEL, WOOD, BoxEdgesVisual, Camera, ParticleVisual, StickVisual

TETRAHEDRON = np.array([(1, 1, 1), (1, -1, -1), (-1, 1, -1), (-1, -1, 1)], float)
FRAME = np.array([(a, b) for a in range(4) for b in range(a)])
CORNERS = np.array(list(product((-0.5, 0.5), repeat=3)))
CRATE = np.array([(a, b) for a in range(8) for b in range(a) if bin(a ^ b).count("1") == 1])


@register(picture=0.7)
def cube(size: float = 0.5, share: float = 0.03, restitution: float = 0.7, friction: float = 0.3, seed: int = 2):
    """A crate on a tetrahedron of four particles tumbles in a box."""
    positive("size", size), whole("seed", seed, least=0)
    if not 0 < share < 1 / 24:
        raise ValueError(f"share is {share:g}: expected above 0 and below 1/24, at which the corners have all the mass")
    rng = np.random.default_rng(seed)
    particles = pbd.Particles()
    mass = 400.0 * size**3  # as dense as light wood
    # A solid cube of mass M has second moments ∫ x xᵀ dm = M a²/12 E. Corners of mass m each leave M - 8 m and
    # (M/12 - 2 m) a² of it to the frame, whose particles at ±s on each axis have s² times their mass
    # (rigid/solvers/verlet/frame.py). Only the corners rebound: light corners lift the rest less.
    inside = size * math.sqrt((1 / 12 - 2 * share) / (1 - 8 * share)) * TETRAHEDRON
    turn, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    turn *= np.linalg.det(turn)  # a rotation, not a reflection
    spin, velocity, radius = rng.normal(0, 4, 3), rng.normal(0, 1.5, 3), 0.05 * size
    added = []
    for places, part, thick in ((inside, (1 - 8 * share) / 4, 0.0), (size * CORNERS, share, radius)):
        arms = places @ turn.T
        moving = velocity + np.cross(spin, arms)
        added.append(particles.add_particles((0, 0, 2.2 * size) + arms, mass * part, moving, thick))
    frame, corners = added
    particles.add_sticks(frame[FRAME])
    particles.add_sticks([(corner, carrier) for corner in corners for carrier in frame])
    lower, upper = np.array([-1.8 * size, -1.8 * size, 0]), np.array([1.8 * size, 1.8 * size, 8 * size])
    particles.add_box(lower, upper, restitution=restitution, friction=friction)
    return Scene(
        particles,
        duration=3.0,
        settings={"verlet": {"dt": 1 / 120, "substeps": 4, "iterations": 12, "solve": "iterative"}},
        visuals=[
            StickVisual(frame[FRAME], 0.022 * size, GOLD),
            ParticleVisual(frame, radius, GOLD),
            StickVisual(corners[CRATE], 0.8 * radius, WOOD),
            ParticleVisual(corners, radius, WOOD),
            BoxEdgesVisual(lower, np.array([*upper[:2], 0.024 * size]), 0.024 * size, STEEL),
        ],
        camera=Camera(size * np.array([3.6, -6.4, 3.7]), (0, 0, 0.9 * size)),
    )
