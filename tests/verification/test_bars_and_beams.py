"""Solids beside closed forms: bars, beams and rubber, with any step, rotation and order of particles."""

import numpy as np
import pytest
from blocks import areas, body
from strips import turned

import pbd

# Steps as long as these make implicit Euler a solution of statics.
STATIC = {"dt": 0.5, "substeps": 1}


@pytest.mark.parametrize(("dt", "iterations"), [(1 / 60, 4), (4e-3, 1)])
def test_a_bar_hangs_by_its_weight(dt, iterations):
    # ρ g L²/2E; with ν = 0 a neo-Hookean bar is linear to second order in strains, which are at most 0.01.
    rotation = turned(np.random.default_rng(4))
    solid = pbd.Solid(young=1e6, poisson=0.0, density=1000.0, damping=0.2)
    particles, points = body(
        solid, (2, 2, 8), (0.1, 0.1, 1.0), -9.81 * rotation[:, 2], lambda x: x[:, 2] == 1.0, rotation
    )
    system = pbd.ParticleSystem(particles, dt=dt, substeps=1, iterations=iterations)
    system.step(round(8 / dt))
    z = system.positions() @ rotation[:, 2]
    weight = areas(particles, points, points[:, 2] == 0)
    assert -(weight @ z) / weight.sum() == pytest.approx(1000 * 9.81 / 2e6, rel=5e-3)


@pytest.mark.parametrize("stretch", [1.2, 2.0])
def test_rubber_pulls_like_neo_hookes(stretch):
    # What keeps its volume has Cauchy's stress μ (a² - 1/a), so the force μ (a - 1/a²) A. ν = 0.4999 leaves 2e-4.
    solid = pbd.Solid(young=1.17e6, poisson=0.4999, density=930.0)
    particles, points = body(solid, (4, 2, 2), (0.4, 0.1, 0.1))
    shear = solid.lame()[1]
    ends = [areas(particles, points, points[:, 0] == x) for x in (0.0, points[:, 0].max())]
    system = pbd.ParticleSystem(particles, **STATIC, iterations=20)
    force = shear * (stretch - 1 / stretch**2)
    for part in np.linspace(0.1, 1.0, 10):
        system.set_forces(np.outer(part * force * (ends[1] - ends[0]), [1.0, 0.0, 0.0]))
        system.step(5)
    assert np.ptp(system.positions()[:, 0]) / 0.4 == pytest.approx(stretch, rel=1e-3)
    one, other = (np.flatnonzero((points == corner).all(axis=1))[0] for corner in ([0, 0, 0], [0, 0.1, 0]))
    width = np.linalg.norm(system.positions()[other] - system.positions()[one])  # it may turn about its axis
    assert width / 0.1 == pytest.approx(stretch**-0.5, rel=1e-3)


@pytest.mark.slow
def test_beams_converge_to_timoshenkos():
    # F L³/3EI + F L/κGA. Tetrahedra of constant strain bend too little, by an error of second order once they are
    # small: orders 1.2 and 1.5.
    solid = pbd.Solid(young=1e7, poisson=0.3, density=1000.0)
    length, height, force = 0.6, 0.1, 1.0
    section, kappa = height**4 / 12, 10 * 1.3 / (12 + 11 * 0.3)
    expected = force * length**3 / (3 * solid.young * section)
    expected += force * length / (kappa * solid.lame()[1] * height**2)
    errors = []
    for count in (2, 4, 6):
        particles, points = body(
            solid, (6 * count, count, count), (length, height, height), pinned=lambda x: x[:, 0] == 0
        )
        weight = areas(particles, points, points[:, 0] == points[:, 0].max()) / height**2
        system = pbd.ParticleSystem(particles, **STATIC, iterations=4)
        system.set_forces(np.outer(weight * force, [0.0, 0.0, -1.0]))
        system.step(4)
        fall = weight @ (points - system.positions())[:, 2]
        errors.append(1 - fall / expected)
    orders = np.diff(np.log(errors)) / np.diff(np.log([1 / 2, 1 / 4, 1 / 6]))
    assert errors == pytest.approx([0.49, 0.22, 0.12], abs=0.005)
    assert orders[1] > 1.5 > orders[0] > 1.1


def test_numbering_and_rotation_do_not_matter():
    rng = np.random.default_rng(8)
    found = []
    for turn in (False, True):
        rotation = turned(rng) if turn else np.eye(3)
        solid = pbd.Solid(young=5e4, poisson=0.4, density=1000.0, damping=0.05)
        gravity = -9.81 * rotation[:, 2]
        particles, points = body(solid, (4, 2, 2), (0.4, 0.1, 0.1), gravity, lambda x: x[:, 0] == 0, rotation)
        order = rng.permutation(len(points)) if turn else np.arange(len(points))
        again = pbd.Particles(gravity=gravity)
        again.add_particles(particles.positions()[order], particles.masses()[order])
        again.add_solid(np.argsort(order)[particles.solids[0].tetrahedra], solid)
        system = pbd.ParticleSystem(again, dt=1 / 60, substeps=1, iterations=6)
        system.step(300)
        x = np.empty_like(points)
        x[order] = system.positions() @ rotation
        found.append(x)
    np.testing.assert_allclose(found[1], found[0], atol=1e-6)
