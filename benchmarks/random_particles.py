"""Random descriptions of particles: cloths and nets. See benchmarks/random_scenes.py.

Args of all kinds: seed: a whole number; length: of a side [m]; ratio: largest ratio of two densities; gravity [m/s²].
All return pbd.Particles.
"""

import numpy as np

import pbd
from benchmarks.chains import DENSITY
from benchmarks.random_bodies import random_direction
from pbd.build import cloth as add_cloth
from rigid.rotation import from_axis_angle, rotate


def cloth(seed, length, ratio, gravity):
    """A cloth that hangs by corners, or falls on a ball. Its density is drawn within the ratio."""
    random = np.random.default_rng((seed, 2))
    particles = pbd.Particles(gravity=(0, 0, -gravity))
    pins = ((), ("left_top",), ("left_top", "right_top"))[random.integers(3)]
    compliance = (0.0, 1e-4)[random.integers(2)]
    density = 0.1 * ratio ** random.uniform() * length  # [kg/m²]: as thick as it is small
    tilt = rotate(from_axis_angle(random_direction(random), random.uniform(0, 1.0)), np.eye(3))
    counts, thickness = random.integers(4, 11, 2), 0.05 * length
    add_cloth(
        particles, (0.0, 0.0, length), length * tilt[0], length * tilt[1], tuple(map(int, counts)), density=density,
        compliance=compliance, shear_compliance=10 * compliance, bending=None, thickness=thickness, pins=pins,
    )  # fmt: skip
    if not pins:
        middle = particles.positions().mean(axis=0) - (0, 0, length)
        particles.add_collider(pbd.Sphere(0.4 * length, centre=middle), friction=0.3)
    return particles


def net(seed, length, ratio, gravity):
    """Ten to forty particles in a box, joined to a net by sticks, strings and struts."""
    random = np.random.default_rng((seed, 3))
    particles, count = pbd.Particles(gravity=(0, 0, -gravity)), int(random.integers(10, 41))
    masses = DENSITY * (0.1 * length) ** 3 * ratio ** random.uniform(size=count)
    particles.add_particles(length * random.uniform(0.1, 0.9, (count, 3)), masses, radius=0.02 * length)
    for k in range(1, count):
        particles.add_stick(int(random.integers(k)), k)
    for bound in random.choice(("equal", "at_least", "at_most"), count // 4):
        a, b = random.choice(count, 2, replace=False)
        particles.add_stick(int(a), int(b), bound=str(bound))
    particles.add_box((0, 0, 0), (length,) * 3, friction=random.uniform(0, 0.5))
    return particles
