"""A collider that moves so fast that particles pass through it is told, and one that does not is not."""

import math
import warnings

import numpy as np
import pytest

import pbd
import rigid
from pbd.core.rotation import IDENTITY

DT = 0.01


def turn_about_z(angle):
    return np.array([np.cos(angle / 2), 0.0, 0.0, np.sin(angle / 2)])


SHAPES = {  # 0.1 m wide along x
    "sphere": lambda: pbd.Sphere(0.05),
    "capsule": lambda: pbd.Capsule(0.05, 0.6),
    "cylinder": lambda: pbd.Cylinder(0.05, 0.6),
    "box": lambda: pbd.Box((0.1, 0.5, 0.6)),
    "hull": lambda: pbd.ConvexHull(np.array([(x, y, z) for x in (-0.05, 0.05) for y in (-1, 1) for z in (-1, 1)])),
}


def run_over(shape, motion, radius, start, steps=60):
    """Let a collider run over particles at rest. Args: start: where they are. Returns: positions; what was told."""
    particles = pbd.Particles(gravity=(0, 0, 0))
    particles.add_particles(start, 1.0, radius=radius)
    particles.add_collider(shape, motion=motion)
    system = pbd.ParticleSystem(particles, dt=DT, substeps=1, damping=0.0)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        system.step(steps)
    return system.positions(), [str(each.message) for each in told]


@pytest.mark.parametrize("radius", [0.0, 0.02])
@pytest.mark.parametrize("name", SHAPES)
def test_what_passes_through_is_told_and_nothing_else(name, radius):
    # Particles are in front of the middle of the collider, at forty parts of its way. What it touches at the start of a
    # substep is behind it at the end if it advances by more than its width and the particle's radius.
    for way in np.array([0.5, 0.8, 0.95, 1.05, 1.3, 2.0]) * (0.1 + radius):
        start = np.linspace(0.2, 0.2 + way, 40, endpoint=False)[:, None] * (1, 0, 0)
        steps = math.ceil(0.8 / way)
        x, told = run_over(SHAPES[name](), lambda t, way=way: (-0.4 + way / DT * t, 0, 0), radius, start, steps)
        passed = x[:, 0] < -0.4 + way * steps
        assert passed.any() == (way > 0.1 + radius) == bool(told), way


def test_the_message_says_how_many_substeps_suffice():
    _, (words,) = run_over(pbd.Box((0.1, 1, 1)), lambda t: (17 * t - 1, 0, 0), 0.0, [(0, 0, 0)])
    assert words == (
        "particle system, by 0.6 s: collider 0 (Box) moves by 0.17 m in a substep and is 0.1 m wide there, so "
        "particles pass through it: expected substeps=2 or more"
    )


def test_a_side_that_turns_is_told():
    # A bat of 1 m and 4 cm turns by φ in a substep: its end advances by sin φ/2, about.
    for speed, count in ((6.0, 0), (10.0, 1)):
        _, words = run_over(
            pbd.Box((1.0, 0.04, 0.04)), lambda t, w=speed: ((0, 0, 0), turn_about_z(w * t)), 0.0, [(0, 3, 0)]
        )
        assert len(words) == count


def test_particles_of_bodies_do_not_count():
    # They have no contacts of their own, so only the ball's radius of 2 cm matters: 0.12 m is the most.
    for way, told in ((0.11, 0), (0.13, 1)):
        particles, model = pbd.Particles(gravity=(0, 0, 0)), rigid.Model(gravity=(0, 0, 0))
        model.add_box((1, 1, 1), mass=1.0, position=(0, 0, 5))
        particles.add_particle((0, 0, 1), radius=0.02)
        particles.add_collider(pbd.Box((0.1, 1, 1)), motion=lambda t, way=way: (way / DT * t, 0, -1))
        system = rigid.solver("verlet", model, particles=particles, dt=DT, substeps=1, contacts=False)
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            system.step()
        assert len(found) == told


@pytest.mark.parametrize("shape", [pbd.Sphere(0.05), pbd.Cylinder(0.05, 0.02)])
def test_what_spins_about_its_axis_is_not_told(shape):
    _, words = run_over(shape, lambda t: ((0, 0, 0), turn_about_z(90 * t)), 0.0, [(1, 0, 0)])
    assert not words


def test_what_moves_along_itself_is_not_told():
    _, words = run_over(pbd.Box((2.0, 0.02, 0.02)), lambda t: ((90 * t, 0, 0), IDENTITY), 0.0, [(0, 1, 0)])
    assert not words
