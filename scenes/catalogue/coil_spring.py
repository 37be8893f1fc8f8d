"""A weight hangs from a coil spring of nylon and oscillates. Its wire is twisted as the spring is stretched.

The rate of a spring of round wire is G d⁴/(8 D³ n), with n turns of diameter D and wire of diameter d.
"""

import numpy as np

import pbd
from pbd import build
from scenes.registry import register
from scenes.scene import Scene
from scenes.visuals import BLUE, GOLD, WOOD, Camera, Instances, ParticleVisual, RodVisual, StaticVisual, box

COIL, WIRE, PITCH = 0.07, 0.006, 0.022  # D/2; d/2; from turn to turn [m]
TOP, HOOKS = 1.0, (0.06, 0.16)  # height of the board; lengths of the hooks above and below the coil [m]
YOUNG, POISSON, DENSITY = 3e9, 0.4, 1150.0  # of nylon [Pa], [kg/m³]
BALL = 0.09  # radius of the weight that is drawn [m]


@register(small={"turns": 3, "per_turn": 8, "mass": 5.0}, picture=0.4)
def coil_spring(turns: int = 8, per_turn: int = 16, mass: float = 2.0):
    """A weight oscillates on a coil spring, whose wire is twisted as the spring is stretched."""
    particles = pbd.Particles()
    wire = build.rod(
        particles, coil(turns, per_turn), radius=WIRE, density=DENSITY, young=YOUNG, poisson=POISSON, natural="given",
        clamps="start",
    )  # fmt: skip
    particles.masses()[wire.particles[-1]] += mass
    board = Instances(box((0.5, 0.16, 0.04), WOOD), np.array([(0.0, 0.0, TOP + 0.02)]))
    return Scene(
        particles,
        duration=5.0,
        settings={"verlet": {"dt": 1 / 60, "substeps": 8, "iterations": 4, "solve": "iterative"}},
        visuals=[
            RodVisual(particles, wire, BLUE), ParticleVisual(wire.particles[-1:], BALL, GOLD),
            StaticVisual([board]),
        ],
        camera=Camera((0.4, -2.8, 1.0), (0, 0, 0.55), field_of_view=24),
    )  # fmt: skip


def coil(turns, per_turn):
    """Points of a coil about z, with spokes to its axis at both ends and a hook along it at each (n, 3) [m]."""
    angle = np.linspace(0, 2 * np.pi * turns, turns * per_turn + 1)
    height = TOP - HOOKS[0] - PITCH * angle / (2 * np.pi)
    turned = np.stack([COIL * np.cos(angle), COIL * np.sin(angle), height], axis=1)
    axis = turned * (0, 0, 1)
    corners = [axis[0] + (0, 0, HOOKS[0]), axis[0], turned[0]], [turned[-1], axis[-1], axis[-1] - (0, 0, HOOKS[1])]
    above, below = (
        np.concatenate([np.linspace(a, b, 4)[:-1] for a, b in zip(each[:-1], each[1:])]) for each in corners
    )
    return np.concatenate([above, turned, below[1:], [corners[1][-1]]])
