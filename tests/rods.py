"""Rods that tests share, and their numbers by the theory of the elastica."""

import numpy as np
from scipy.integrate import cumulative_trapezoid, solve_bvp
from scipy.spatial.transform import Rotation

import pbd
from pbd import build

LENGTH, RADIUS, DENSITY = 1.0, 1e-3, 1000.0
LINE = DENSITY * np.pi * RADIUS**2  # mass by length [kg/m]
BENDING, TWISTING = 1e-2, 0.8e-2  # [N m²]
SECTION = {"radius": RADIUS, "density": DENSITY, "bending": BENDING, "twisting": TWISTING,
           "stretching": 100 * BENDING / RADIUS**2}  # fmt: skip
REST = {"dt": 1 / 60, "substeps": 1, "iterations": 2, "damping": 0.05}  # to find what is at rest
WEIGHTLESS = (0.0, 0.0, 0.0)


def rod_along(points, segments=None, gravity=WEIGHTLESS, **given):
    """A rod. Args: see `pbd.build.rod`; given: other than SECTION. Returns: particles, the Rod."""
    particles = pbd.Particles(gravity=gravity)
    return particles, build.rod(particles, points, segments, **{**SECTION, **given})


def at_rest(particles, steps=900, **options):
    """A system that came to rest. Args: options: other than REST."""
    system = pbd.ParticleSystem(particles, **{**REST, **options})
    system.step(steps)
    return system


def elastica(load, weight):
    """A clamped elastica of length one that begins level: θ'' = -(a + Γ (1 - s)) cos θ, θ(0) = 0, θ'(1) = 0.

    Args: load: a = P L²/EI at the tip; weight: Γ = w L³/EI. Returns: reach, fall and the angle of the tip [rad].
    """
    s, theta = np.linspace(0, 1, 400) ** 2, np.zeros((2, 400))
    for part in np.geomspace(1 / max(1.0, load + weight), 1.0, 12):
        found = solve_bvp(
            lambda s, y, part=part: np.stack([y[1], -part * (load + weight * (1 - s)) * np.cos(y[0])]),
            lambda a, b: np.array([a[0], b[1]]), s, theta, tol=1e-8, max_nodes=100000,
        )  # fmt: skip
        s, theta = found.x, found.y
    fine = np.linspace(0, 1, 100001)
    angle = np.abs(found.sol(fine)[0])
    return *(cumulative_trapezoid(f(angle), fine)[-1] for f in (np.cos, np.sin)), angle[-1]


def unequal(segments, rng):
    """Points along x whose distances are between one and ten parts, at random (segments + 1, 3)."""
    along = np.append(0, np.cumsum(rng.uniform(1, 10, segments)))
    return along[:, None] / along[-1] * (LENGTH, 0, 0)


def turned(particles, rotation):
    """A description without built parts whose positions and gravity are turned about the origin."""
    other = particles.with_positions(particles.positions() @ rotation.T)
    other.gravity = rotation @ np.asarray(particles.gravity)
    return other


def twists(system, segments):
    """The twist of each joint between consecutive segments (n - 1,) [rad]. Args: segments: in order."""
    rotations = Rotation.from_quat(np.roll(system.rotations()[segments], -1, axis=1))
    _x, _y, z, w = (rotations[:-1].inv() * rotations[1:]).as_quat().T
    return 2 * np.arctan2(z, w)


def free_masses(particles):
    """Masses, zero of what is pinned (particles,) [kg]."""
    return np.where(np.isinf(particles.masses()), 0.0, particles.masses())
