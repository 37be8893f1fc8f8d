"""Gases inside closed surfaces: Laplace's law, the gas law, a drum's pitch, and what is refused."""

import warnings

import numpy as np
import pytest
import scipy
from marks import slow
from strips import masses_of

import pbd
from pbd.description.gases import GAS_CONSTANT, volume_within

RUBBER = pbd.Fabric(warp=200.0, weft=200.0, shear=200 / 2.6, poisson=0.3, density=0.2, damping=0.02)


def sphere(rings, radius=0.1):
    """A sphere of an octahedron whose edges are cut into `rings`. Returns: points, triangles with outward normals."""
    directions = []
    for x in range(-rings, rings + 1):
        for y in range(-rings + abs(x), rings - abs(x) + 1):
            z = rings - abs(x) - abs(y)
            directions += [(x, y, z)] + ([(x, y, -z)] if z else [])
    directions = np.array(directions, float)
    points = radius * directions / np.linalg.norm(directions, axis=1, keepdims=True)
    triangles = scipy.spatial.ConvexHull(points).simplices
    a, b, c = (points[triangles[:, k]] for k in range(3))
    outwards = np.einsum("ij,ij->i", np.cross(b - a, c - a), a) > 0
    return points, np.where(outwards[:, None], triangles, triangles[:, [0, 2, 1]])


def balloon(rings=12, **gas):
    """Particles of a balloon, and its triangles. Args: gas: arguments of `add_pressure`."""
    points, triangles = sphere(rings)
    particles = pbd.Particles(gravity=(0, 0, 0))
    particles.add_particles(points, masses_of(points, triangles, RUBBER.density))
    particles.add_membrane(triangles, RUBBER)
    particles.add_pressure(triangles, **gas)
    return particles, triangles


AMOUNT = 1.1 * 101_325 * 4 / 3 * np.pi * 1e-3 / (GAS_CONSTANT * 293.15)


def gas_of(is_closed):
    """Arguments of a balloon: of an amount of gas, or a pressure that stays."""
    return {"amount": AMOUNT} if is_closed else {"pressure": 200.0}


@pytest.mark.parametrize(("dt", "iterations"), [(1 / 60, 4), slow(4e-3, 2)])
@pytest.mark.parametrize("is_closed", [False, True])
def test_a_balloon_has_laplaces_pressure(dt, iterations, is_closed):
    # Δp = 2 T/R, with R = 3 V/A of a polyhedron and its mean tension by area: what work each does in a dilation. Stress
    # is force by width at rest, so T is that over the stretch across.
    particles, triangles = balloon(**gas_of(is_closed))
    system = pbd.ParticleSystem(particles, dt=dt, substeps=1, iterations=iterations)
    system.step(round(1.5 / dt))
    x = system.positions()
    corners = x[triangles]
    areas = np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1) / 2
    tensions = (system.stress()[:, :2] / (1 + system.strain()[:, 1::-1])).mean(axis=1)
    radius, tension = 3 * volume_within(triangles, x) / areas.sum(), areas @ tensions / areas.sum()
    assert system.pressures()[0] == pytest.approx(2 * tension / radius, rel=2e-3)
    if is_closed:
        absolute = system.pressures()[0] + 101_325
        assert absolute * volume_within(triangles, x) == pytest.approx(AMOUNT * GAS_CONSTANT * 293.15, rel=1e-12)
    assert system.statistics().residual < 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("is_closed", [False, True])
def test_a_balloon_of_another_time_step_is_the_same_one(is_closed):
    particles, triangles = balloon(**gas_of(is_closed))
    volumes = []
    for count, options in (
        (90, {"dt": 1 / 60, "substeps": 1, "iterations": 4}),
        (200, {"dt": 0.01, "substeps": 2, "iterations": 3, "direction": "start", "damping": 0.05}),
    ):
        system = pbd.ParticleSystem(particles, **options)
        system.step(count)
        volumes.append(volume_within(triangles, system.positions()))
    assert volumes[1] == pytest.approx(volumes[0], rel=1e-6)


def test_a_gas_gives_no_momentum_and_its_energy_is_kept():
    # Breathing at h ω = 0.02: implicit Euler loses little, and nothing gains. Momentum is zero by Σ ∇V = 0.
    amount = 1.02 * 101_325 * 4 / 3 * np.pi * 1e-3 / (GAS_CONSTANT * 293.15)
    particles, _ = balloon(4, amount=amount)
    system = pbd.ParticleSystem(particles, dt=2e-6, substeps=1, iterations=4)
    first = system.energy().total
    for _ in range(5):
        system.step(20)
        assert system.energy().total <= first + 1e-9
    momentum = (particles.masses()[:, None] * system.velocities()).sum(axis=0)
    np.testing.assert_allclose(momentum, 0, atol=1e-12)
    assert system.energy().kinetic > 0.2 * (first - system.energy().potential) > 0


@pytest.mark.parametrize("gas", [{"pressure": 500.0}, {"amount": 0.22}])
def test_a_gas_may_give_more_energy_than_was_stored(gas):
    # A balloon that is blown up gains what the gas gives, far beyond its weight times its size: no fault of the step.
    points, triangles = sphere(4)
    particles = pbd.Particles()
    particles.add_particles(points, masses_of(points, triangles, RUBBER.density))
    particles.add_membrane(triangles, RUBBER)
    particles.add_pressure(triangles, **gas)
    system = pbd.ParticleSystem(particles, dt=1 / 240, substeps=1, iterations=4)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(60):
            system.step()
    assert volume_within(triangles, system.positions()) > 1.05 * volume_within(triangles, points)


def test_a_gas_holds_up_a_body_of_sticks():
    # Without elements, too: sticks with a compliance are projected beside the gas.
    points, triangles = sphere(4)
    particles = pbd.Particles(gravity=(0, 0, 0))
    particles.add_particles(points, 0.01)
    particles.add_sticks(pbd.core.topology.edges_of(triangles), compliance=1e-3)
    particles.add_pressure(triangles, pressure=500.0)
    system = pbd.ParticleSystem(particles, solve="iterative", substeps=8, iterations=10, damping=0.05)
    system.step(300)
    assert 1.02 < volume_within(triangles, system.positions()) / volume_within(triangles, points) < 3
    assert system.energy().kinetic < 1e-4 * abs(system.energy().potential)


@pytest.mark.slow
def test_a_drum_has_its_pitch():
    # The first mode of a disc with tension T and mass σ per area, both as it is stretched, has ω = 2.4048 √(T/σ)/R.
    radius, strain, rings = 0.2, 0.02, 16
    points = [(0.0, 0.0)]
    for ring in range(1, rings + 1):
        angles = 2 * np.pi * np.arange(6 * ring) / (6 * ring)
        points += list(ring / rings * radius * np.stack([np.cos(angles), np.sin(angles)], axis=1))
    flat = np.array(points)
    triangles = scipy.spatial.Delaunay(flat).simplices
    x = np.column_stack([flat, np.zeros(len(flat))])
    masses = masses_of(x, triangles, RUBBER.density)
    distance = np.linalg.norm(x, axis=1)
    masses[distance > 0.999 * radius] = np.inf
    particles = pbd.Particles(gravity=(0, 0, 0))
    particles.add_particles(x + np.outer(1e-4 * scipy.special.j0(2.4048 * distance / radius), [0, 0, 1]), masses)
    particles.add_membrane(triangles, pbd.Fabric(200.0, 200.0, 200 / 2.6, 0.3, density=RUBBER.density),
                           rest=x[triangles] / (1 + strain))  # fmt: skip
    tension = 200 * strain / (1 - 0.3) / (1 + strain)
    expected = 2.4048 * np.sqrt(tension / RUBBER.density) / radius
    system = pbd.ParticleSystem(particles, dt=0.02 / expected, substeps=1, iterations=2, direction="start")
    times, heights = [], []
    for _ in range(round(4 * np.pi / 0.02)):
        system.step()
        times.append(system.time)
        heights.append(system.positions()[0, 2])
    turns = np.flatnonzero(np.diff(np.sign(heights)))
    measured = np.pi * (len(turns) - 1) / (times[turns[-1]] - times[turns[0]])
    assert measured == pytest.approx(expected, rel=5e-3)


def test_bad_gases_are_refused():
    points, triangles = sphere(2)
    particles = pbd.Particles()
    particles.add_particles(points)
    with pytest.raises(ValueError, match="the surface of a gas is open or turned over at the edge from"):
        particles.add_pressure(triangles[1:], pressure=1.0)
    turned = triangles.copy()
    turned[0] = turned[0, ::-1]
    with pytest.raises(ValueError, match="turned over at the edge"):
        particles.add_pressure(turned, pressure=1.0)
    with pytest.raises(ValueError, match="expected normals that point outwards"):
        particles.add_pressure(triangles[:, ::-1], pressure=1.0)
    with pytest.raises(ValueError, match="a gas with neither of pressure and amount"):
        particles.add_pressure(triangles)
    with pytest.raises(ValueError, match="a gas with both of pressure and amount"):
        particles.add_pressure(triangles, pressure=1.0, amount=1.0)
    with pytest.raises(ValueError, match="amount is 0"):
        particles.add_pressure(triangles, amount=0.0)
