"""Bands of one cloth in the lanes of vectors have the bits of the same schedule one particle after another."""

import math
from dataclasses import replace

import numpy as np
import pytest
from elsewhere import run_elsewhere
from marks import needs_lanes, slow

import pbd
from pbd import build
from pbd.core.kernels import on_cpu, read
from pbd.execution.bands import find_bands
from pbd.schedule import colour_constraints

pytestmark = pytest.mark.skipif(not on_cpu(), reason="lanes are those of the processor")

ROWS, COLUMNS = 40, 12


def net(rows=ROWS, columns=COLUMNS, world=0, **environment):
    """Particles at the knots of a net, off their places, with random masses; two corners are pinned."""
    common, random = np.random.default_rng(1), np.random.default_rng(100 + world)
    particles = pbd.Particles(**environment)
    places = np.stack(np.meshgrid(np.arange(rows), np.arange(columns), indexing="ij"), axis=-1).reshape(-1, 2)
    positions = np.column_stack([0.05 * places, np.zeros(len(places))]) + 5e-3 * common.normal(size=(len(places), 3))
    masses = random.uniform(0.01, 0.02, len(places))
    masses[[0, columns - 1]] = math.inf
    particles.add_particles(positions, masses, radius=0.02)
    return particles, np.arange(rows * columns).reshape(rows, columns)


def sides(number):
    """Neighbours in a net."""
    across, along = (number[:, :-1], number[:, 1:]), (number[:-1], number[1:])
    return np.concatenate([np.stack([a.ravel(), b.ravel()], axis=1) for a, b in (across, along)])


def cells(number):
    """The four particles of each cell of a net."""
    corners = number[:-1, :-1], number[:-1, 1:], number[1:, :-1], number[1:, 1:]
    return np.stack([corner.ravel() for corner in corners], axis=1)


def sticks(particles, number):
    """Sticks along both sides and one diagonal."""
    particles.add_sticks(np.concatenate([sides(number), cells(number)[:, [0, 3]]]))


def grains(particles, number):
    """Sticks, and contacts between particles."""
    sticks(particles, number)
    particles.add_particle_contacts(0.3)


def rigid(particles, number):
    """Constraints of all types without a compliance."""
    for bound in pbd.constraints.BOUNDS:
        particles.add_sticks(sides(number), length=0.05, bound=bound)
    particles.add_constraints("angle at least", cells(number)[:, :3], limit=1.2)
    particles.add_constraints("plane limit", cells(number), distance=-0.01)
    particles.add_bending(cells(number), 0.1)
    particles.add_volumes(cells(number), 1e-7)
    for a, b, c, d in cells(number)[::3]:
        particles.add_attachment([a, d], [0.5, 0.5], [b, c], [0.5, 0.5])


def compliant(particles, number):
    """Constraints of types that have a compliance, with one that differs from place to place."""
    for bound in pbd.constraints.BOUNDS:
        particles.add_sticks(sides(number), length=0.05, bound=bound, compliance=1e-4)
    softness = np.linspace(1e-3, 1e-2, len(cells(number)))
    particles.add_bending(cells(number), 0.3, compliance=softness)
    particles.add_flat_bending(cells(number), compliance=softness)
    particles.add_volumes(cells(number), 1e-7, compliance=1e-3)


def fabric(particles, number, **flow):
    """Membranes and plates of a fabric with damping."""
    corners = cells(number)
    triangles = np.concatenate([corners[:, [0, 1, 3]], corners[:, [0, 3, 2]]])
    denim = replace(pbd.FABRICS["denim"], damping=0.01, **flow)
    particles.add_membrane(triangles, denim, (1, 0, 0))


def fabric_that_flows(particles, number):
    """The same, which keeps what bends and shears it far, and has a limit of its strain."""
    fabric(particles, number, yield_curvature=3.0, yield_strain=0.01, hardening=0.2, strain_limit=0.03)


def turning(time):
    """Motion of a collider: about, and a rotation."""
    place = 0.6 + 0.4 * math.cos(4 * time), 0.3, -0.2 + 0.1 * math.sin(7 * time)
    return place, (math.cos(time), 0, math.sin(time), 0)


def environment(particles, number):
    """Cloth with contacts and wind, colliders, a box and a driven particle."""
    particles.add_sticks(sides(number))
    particles.add_flat_bending(cells(number), compliance=1e-3)
    particles.add_particle_contacts(0.3)
    for k, shape in enumerate((pbd.Sphere(0.2), pbd.Box((0.5, 0.2, 0.1)))):
        particles.add_collider(shape, friction=0.4, restitution=0.2 * k, motion=lambda time, k=k: turning(time + k))
    particles.add_box((-0.5, -0.5, -0.6), (2.5, 1.0, 0.9), friction=0.3, restitution=0.5)
    index, start = int(number[-1, 0]), particles.positions()[number[-1, 0]]
    particles.add_path([index], lambda time: start + (0, 0, math.sin(5 * time)))
    particles.add_triangles(cells(number)[:, :3], drag=2.0)


def system(add, worlds=1, lanes=None, shape=(ROWS, COLUMNS), wind=None, **options):
    """A system of nets, of which each world has other masses."""
    descriptions = []
    for world in range(worlds):
        particles, number = net(*shape, world=world, wind=wind)
        add(particles, number)
        descriptions.append(particles)
    for other in descriptions[1:]:
        other.paths[:] = descriptions[0].paths
    settings = {"dt": 1 / 60, "iterations": 3, "substeps": 4, "damping": 0.01, **options}
    return pbd.ParticleSystem(descriptions if worlds > 1 else descriptions[0], lanes=lanes, **settings)


def require_same(bands, single):
    """Check that two systems have the same bits, and statistics."""
    assert np.isfinite(bands.positions()).all()
    assert bands.digest() == single.digest()
    found, expected = bands.statistics(), single.statistics()
    for name in ("iterations", "residual", "contacts"):
        assert np.array_equal(getattr(found, name), getattr(expected, name)), name
    # Sums over particles and constraints are in another order.
    assert np.allclose(bands.energy().total, single.energy().total, rtol=1e-5)


def compare(add, steps=8, **options):
    bands, single = (system(add, lanes=lanes, **options) for lanes in (None, 1))
    assert bands.has_bands
    assert not single.has_bands
    assert bands.statistics().lanes == bands.schedule.bands.lanes > 1
    for each in (bands, single):
        each.step(steps)
    require_same(bands, single)
    return bands, single


@pytest.mark.parametrize("direction", ["current", slow("start")])
@pytest.mark.parametrize("add", [slow(rigid), slow(compliant)])
def test_constraints_have_the_bits_of_one_after_another(add, direction):
    compare(add, direction=direction)


@needs_lanes
@pytest.mark.parametrize("direction", ["current", slow("start")])
@pytest.mark.parametrize("add", [fabric, slow(fabric_that_flows)])
def test_fabrics_have_the_bits_of_one_after_another(add, direction):
    compare(add, elements="iterative", direction=direction, worlds=2)


@pytest.mark.slow
def test_environments_have_the_bits_of_one_after_another():
    bands, single = compare(environment, wind=lambda time: (5 * math.sin(3 * time), 4.0, 0.0), steps=30, grabs=1)
    assert bands.statistics().contacts > 10
    touching = read(bands.arrays.contacts.sorted_particles)
    assert (touching > 0).any()
    for each in (bands, single):
        each.keep_predictions()
        each.grab(0, [100, 200], (1, 0, 1), stiffness=20.0, damping=0.1)
        each.step(3)
    require_same(bands, single)
    assert np.array_equal(bands.displacements(), single.displacements())
    assert np.array_equal(bands.grab_forces(), single.grab_forces())


def floating(particles, number):
    """Sticks between particles of which some rise, with a box."""
    sticks(particles, number)
    particles.gravity_scales()[:] = np.linspace(-0.5, 1.0, len(particles))
    particles.add_box((-0.5, -0.5, -0.6), (2.5, 1.0, 0.9), friction=0.3, restitution=0.5)


@pytest.mark.slow
def test_scales_of_gravity_have_the_bits_of_one_after_another():
    compare(floating, steps=20)


@needs_lanes
def test_slow_bending_and_tolerance():
    compare(compliant, bending_interval=2)
    bands, _ = compare(sticks, tolerance=2e-3, iterations=50)
    assert 1 < bands.statistics().iterations < 50


@pytest.mark.slow
def test_each_world_has_the_bits_that_it_has_alone():
    bands = compare(grains, worlds=3)[0]
    for world in range(3):
        particles, number = net(world=world)
        grains(particles, number)
        alone = pbd.ParticleSystem(particles, dt=1 / 60, iterations=3, substeps=4, damping=0.01)
        alone.step(8)
        assert alone.has_bands
        assert np.array_equal(bands.positions()[world], alone.positions())
    # Many worlds of a cloth without contacts may also lie in lanes themselves.
    bands, worlds = (system(sticks, worlds=3, lanes=lanes) for lanes in (None, 4))
    assert bands.has_bands
    assert not worlds.has_bands
    for each in (bands, worlds):
        each.step(4)
    assert bands.digest() == worlds.digest()


@needs_lanes
@pytest.mark.parametrize("shape", [(33, 16), (50, 11), (200, 3), (16, 41), (1200, 1)])
def test_nets_of_any_shape(shape):
    compare(sticks, shape=shape)


def test_what_the_user_changes_between_steps():
    bands, single = (system(compliant, lanes=lanes) for lanes in (None, 1))
    forces = 0.01 * np.random.default_rng(1).normal(size=(ROWS * COLUMNS, 3))
    state = bands.state()
    for each in (bands, single):
        each.set_forces(forces)
        each.set_velocities(each.velocities() + 0.1)
        each.step(2)
        each.set_masses([7, 300], [0.5, math.inf])
        each.set_positions(each.positions() + 0.01)
        each.step(2)
    require_same(bands, single)
    assert np.array_equal(bands.inverse_masses(), single.inverse_masses())
    assert all(map(np.array_equal, bands.sticks(), single.sticks()))
    cut = np.arange(40, 60)
    for each in (bands, single):
        each.cut(cut)  # which leaves lanes: bands are no longer alike
        each.step(2)
    assert not bands.has_bands
    require_same(bands, single)
    for each in (bands, single):
        each.set_state(state)
        each.step(2)
    require_same(bands, single)


def test_a_wind_that_rises_later():
    def sail(particles, number):
        sticks(particles, number)
        particles.add_triangles(cells(number)[:, :3], drag=2.0)

    bands, single = (system(sail, lanes=lanes) for lanes in (None, 1))
    for each in (bands, single):
        each.step(2)
        each.wind = (3.0, 1.0, 0.0)
        each.step(2)
    require_same(bands, single)


# The bands -----------------------------------------------------------------------------------------------------------


def woven(rows, columns):
    """Members of a cloth's constraints, by type, and how many particles it has."""
    particles = pbd.Particles()
    build.cloth(particles, (0, 0, 0), (1, 0, 0), (0, 1, 0), (rows, columns))
    return [each.arrays()[0] for each in particles.constraint_sets.values()], len(particles)


@pytest.mark.parametrize(("rows", "columns", "lanes"), [(100, 100, 16), (100, 100, 8), (64, 37, 8), (20, 80, 4)])
def test_bands_have_every_constraint_once(rows, columns, lanes):
    members, count = woven(rows, columns)
    bands, orders = find_bands(members, count, lanes, colour_constraints)
    slot, lane = np.divmod(bands.place_of_particles, lanes)
    assert len(np.unique(bands.place_of_particles)) == count
    particle = np.full((bands.slots, lanes), -1)
    particle[slot, lane] = np.arange(count)
    particle[bands.length :, :-1] = particle[bands.halo, 1:]  # the halo has particles of the next band
    for each, order, places in zip(members, orders, bands.places):
        assert np.array_equal(np.sort(order), np.arange(len(each)))
        pairs = places.place * lanes + places.lane
        assert len(np.unique(pairs)) == len(each)  # at most one constraint at a place of a band
        assert np.array_equal(particle[places.members[places.place], places.lane[:, None]], each[order])
        full = np.bincount(places.place) == lanes
        assert full[: places.full].all()
        assert not full[places.full :].any()
        assert (places.members[: places.inner] < bands.length).all()
        assert (places.members[places.inner :] >= bands.length).any(axis=1).all()
        used = np.unique(places.members[places.inner :])
        assert not np.isin(used[used < bands.length], bands.halo).any()  # no seam sees a particle and its copy
    # A cloth's triangles alternate, so bands have an even number of rows; at most a third of the lanes is idle.
    work = sum(places.members.size for places in bands.places) * lanes
    assert work < 1.5 * sum(each.size for each in members)


def test_irregular_constraints_have_no_bands():
    random = np.random.default_rng(0)
    far = [np.array([random.choice(1000, 2, replace=False) for _ in range(3000)])]
    assert find_bands(far, 1000, 8, colour_constraints) == (None, None)
    near = [np.stack([far[0][:, 0] % 960, far[0][:, 0] % 960 + 1 + far[0][:, 1] % 40], axis=1)]
    assert find_bands(near, 1000, 8, colour_constraints) == (None, None)


def test_bands_that_are_coupled_in_different_ways_are_none():
    particles, number = net()
    fabric(particles, number)
    sets = particles.constraint_sets.values()
    members, coupled = [each.arrays()[0] for each in sets], [each.coupled() for each in sets]
    assert find_bands(members, len(particles), 8, colour_constraints, coupled)[0]
    where = np.flatnonzero((coupled[1] != np.arange(len(coupled[1]))[:, None]).all(axis=1))[100]
    coupled[1][where] = coupled[1][where, ::-1]
    assert find_bands(members, len(particles), 8, colour_constraints, coupled) == (None, None)


# Threads and precision ------------------------------------------------------------------------------------------------


def program():
    """Run in a process of its own."""
    compare(environment, steps=20)
    compare(fabric_that_flows, elements="iterative", worlds=3)
    test_each_world_has_the_bits_that_it_has_alone()


@pytest.mark.slow
def test_bands_of_32_bits_on_two_threads():
    run_elsewhere(__file__, "program()", "f32", opt_level=0, cpu_max_num_threads=2)
