"""Random scenes: passive, of all shapes, joints and particles. The same seed gives the same scene.

    chain         boxes end to end on joints of trees, see benchmarks/chains.py; with limits
    tree          all shapes on all joints of trees, with limits, friction, springs, gears, distances
    loop          rods between two points of the ground, on hinges about one axis or on balls
    stack         boxes and cylinders that stand on one another
    heap          two or more of each shape, dropped on the ground
    falling tree  a free tree of two or more of each shape, dropped on the ground
    wheels        discs that roll on the ground
    cloth         a cloth that hangs, or falls on a ball
    particles     a random net of sticks in a box

Nothing drives them, so their energy must not rise. Trees, loops and chains have no contacts.
"""

import math
from typing import NamedTuple

import numpy as np

import pbd
from benchmarks import random_bodies, random_particles
from benchmarks.chains import GRAVITY, energy_scale

LENGTHS, RATIOS, STEPS = (0.001, 100.0), (1.0, 1000.0), (0.001, 1 / 30)  # what seeds draw from [m], [], [s]

# Kinds of scenes: functions of a seed, a length, a ratio and gravity.
KINDS = {
    "chain": random_bodies.chain,
    "tree": random_bodies.tree,
    "loop": random_bodies.loop,
    "stack": random_bodies.stack,
    "heap": random_bodies.heap,
    "falling tree": random_bodies.falling_tree,
    "wheels": random_bodies.wheels,
    "cloth": random_particles.cloth,
    "particles": random_particles.net,
}


class RandomScene(NamedTuple):
    """A random scene.

    Attributes: kind: one of KINDS; description: a rigid.Model or pbd.Particles; length: of a body, or side of a cloth
    [m]; dt: time step [s].
    """

    kind: str
    description: object
    length: float
    dt: float

    @property
    def has_particles(self):
        """Whether it is a scene of particles, which "verlet" alone can run."""
        return isinstance(self.description, pbd.Particles)

    @property
    def contacts(self):
        """Whether its bodies collide."""
        return self.kind in ("stack", "heap", "falling tree")

    @property
    def duration(self):
        """Time in which it moves far and, if it falls, comes to rest [s]."""
        gravity = np.linalg.norm(self.description.gravity)
        return max(2.0, 6.0 * math.sqrt(self.length / gravity))

    @property
    def scale(self):
        """Weight times the length of all bodies in a line, or the side of a cloth [J]."""
        if self.has_particles:
            masses = self.description.masses()
            return masses[np.isfinite(masses)].sum() * np.linalg.norm(self.description.gravity) * self.length
        return energy_scale(self.description, self.length)


def random_scene(seed, kind=None, length=None, ratio=None, dt=None, gravity=GRAVITY):
    """A random scene.

    Args: seed: a whole number; kind: one of KINDS; length: of a body [m]; ratio: largest ratio of two densities; dt:
    time step [s]; gravity [m/s²]. What is None is drawn. The rest of the scene does not depend on what is given.

    Returns: a RandomScene.
    """
    random = np.random.default_rng((seed, 1))
    drawn = list(KINDS)[random.integers(len(KINDS))]
    numbers = [low * (high / low) ** random.uniform() for low, high in (LENGTHS, RATIOS, STEPS)]
    kind = drawn if kind is None else kind
    if kind not in KINDS:
        raise ValueError(f"kind is {kind!r}: expected one of {', '.join(KINDS)}")
    length, ratio, dt = (new if old is None else old for old, new in zip((length, ratio, dt), numbers))
    return RandomScene(kind, KINDS[kind](seed, length, ratio, gravity), length, dt)
