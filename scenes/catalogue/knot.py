"""An overhand knot is pulled tight. The rope touches itself as capsules."""

import numpy as np

import pbd
from pbd import build
from scenes.registry import register
from scenes.scene import Scene
from scenes.visuals import SAND, Camera, StickVisual

RADIUS = 0.004  # of the rope [m]
LOOP, HEIGHT = 0.05, 0.5  # radius of the loop; above the ground [m]
END = 0.25  # from the knot to each end [m]
PULL = 0.23  # way of the hand at each end: its spring then pulls with about a hundred times the rope's weight [m]
REACH, COMPLIANCE = 0.02, 1e-3  # length of that spring [m], and its compliance [m/N]


@register(small={"segments": 60}, slow=True, picture=0.25)
def knot(segments: int = 160, friction: float = 0.2, speed: float = 0.12):
    """An overhand knot is pulled tight by a hundred times its weight; the rope does not pass through itself."""
    particles = pbd.Particles()
    line = build.rope(
        particles, overhand(), segments, mass=0.05, radius=RADIUS, friction=friction, bending_compliance=0.02
    )
    for end, sign in ((line.particles[0], -1.0), (line.particles[-1], 1.0)):
        start = particles.positions()[end] + (sign * REACH, 0, 0)
        hand = particles.add_particle(start, mass=np.inf)
        particles.add_stick(end, hand, compliance=COMPLIANCE)
        particles.add_path([hand], lambda time, start=start, sign=sign: start + (sign * min(speed * time, PULL), 0, 0))
    return Scene(
        particles,
        duration=2.5,
        settings={"verlet": {"dt": 1 / 60, "substeps": 20, "iterations": 10, "solve": "direct", "damping": 0.05}},
        visuals=[StickVisual(line.sticks, RADIUS, SAND)],
        camera=Camera((0.1, -1.1, HEIGHT + 0.14), (0, 0, HEIGHT - 0.13)),
    )


def overhand():
    """Points of an open overhand knot: a trefoil that is cut, with straight ends (n, 3) [m]."""
    t = np.linspace(0.25 * np.pi, 1.75 * np.pi, 200) + np.pi
    x, y = np.sin(t) + 2 * np.sin(2 * t), np.cos(t) - 2 * np.cos(2 * t)
    loop = LOOP / 2 * np.stack([x, -0.5 * np.sin(3 * t), y], axis=1) + (0, 0, HEIGHT)
    left, right = (loop[0], loop[-1]) if loop[0, 0] < loop[-1, 0] else (loop[-1], loop[0])
    loop = loop if loop[0, 0] < loop[-1, 0] else loop[::-1]
    return np.concatenate([[left - (END, 0, 0)], loop, [right + (END, 0, 0)]])
