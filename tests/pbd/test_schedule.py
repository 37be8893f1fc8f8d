"""Schedules: which constraints share particles, and their order."""

import numpy as np
import pytest
from nets import grid

import pbd
from pbd.host.launches import Part, joined
from pbd.schedule import clustered, colour_constraints, cut_into_slabs, make_schedule

g = 9.81


def random_members(count, arity, particles, seed):
    rng = np.random.default_rng(seed)
    return np.array([rng.choice(particles, arity, replace=False) for _ in range(count)])


def assert_disjoint(members, groups):
    """Check that no two groups of rows of `members` share a particle. Args: groups: lists of (kind, row)."""
    seen = set()
    for group in groups:
        own = {int(i) for kind, row in group for i in members[kind][row]}
        assert not seen & own
        seen |= own


# Colouring ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("arity", "count"), [(1, 30), (2, 500), (3, 300), (4, 200)])
def test_no_two_constraints_of_a_colour_share_a_particle(arity, count):
    members = random_members(count, arity, 100, seed=arity)
    colour = colour_constraints(members, 100)
    assert colour.shape == (count,)
    assert colour.min() == 0
    assert np.array_equal(np.unique(colour), np.arange(colour.max() + 1))
    for k in np.unique(colour):
        chosen = members[colour == k].ravel()
        assert len(np.unique(chosen)) == len(chosen)
    # Greedy colouring: a constraint has at most arity · (degree - 1) neighbours, and needs no colour above that.
    degree = np.bincount(members.ravel()).max()
    assert colour.max() <= arity * (degree - 1)


@pytest.mark.parametrize("spokes", [61, 62, 63, 64, 100, 200])
def test_a_hub_has_as_many_colours_as_spokes(spokes):
    # All spokes share the hub, so each has its own colour, more than a word has bits. A ring around the hub adds at
    # most three, and reuses colours of the spokes.
    hub = np.array([(0, k) for k in range(1, spokes + 1)])
    assert colour_constraints(hub, spokes + 1).tolist() == list(range(spokes))
    ring = np.array([(k, k % spokes + 1) for k in range(1, spokes + 1)])
    members = np.concatenate([ring, hub])
    colour = colour_constraints(members, spokes + 1)
    assert colour.max() + 1 <= spokes + 3
    for k in np.unique(colour):
        chosen = members[colour == k].ravel()
        assert len(np.unique(chosen)) == len(chosen)


def test_no_constraints_need_no_colour():
    assert colour_constraints(np.zeros((0, 2), int), 5).shape == (0,)


# Clusters -----------------------------------------------------------------------------------------------------------


def check(schedule, members):
    """Every constraint occurs once, and no particle is in two clusters of one colour."""
    assert len(schedule.orders) == len(members)
    for order, kind in zip(schedule.orders, members):
        assert np.array_equal(np.sort(order), np.arange(len(kind)))
    if schedule.name == "coloured":
        covered = [[] for _ in members]
        for kind, begin, end in schedule.runs:
            assert_disjoint(members, [[(kind, row)] for row in schedule.orders[kind][begin:end]])
            covered[kind] += range(begin, end)
        assert covered == [list(range(len(kind))) for kind in members]
        return
    assert sum(schedule.colours) == len(schedule.runs)
    for kind in range(len(members)):
        places = [k for begin, end in schedule.runs[:, kind] for k in range(begin, end)]
        assert sorted(places) == list(range(len(members[kind])))
    first = 0
    for size in schedule.colours:
        groups = []
        for run in schedule.runs[first : first + size]:
            groups.append([(k, row) for k, (a, b) in enumerate(run) for row in schedule.orders[k][a:b]])
        assert_disjoint(members, groups)
        first += size


@pytest.mark.parametrize("name", ["serial", "clusters", "coloured"])
@pytest.mark.parametrize("clusters", [1, 2, 3, 8, 20])
def test_each_constraint_is_projected_once_and_no_particle_by_two_threads(name, clusters):
    x, sticks, hinges = grid(9, 14, seed=1)
    members = [sticks, hinges, np.array([(0, 5, 60), (125, 3, 1)])]  # a few that cross many slabs, too
    schedule = make_schedule(name, members, x, clusters=clusters)
    assert schedule.name == name
    check(schedule, members)
    if name == "clusters" and clusters > 1:
        assert schedule.colours[0] > 1


@pytest.mark.parametrize("count", [2, 5, 40, 100])
def test_clusters_of_random_constraints(count):
    # The constraints are not local: most cross slabs, and pairs of slabs are coloured until none is left.
    members = [random_members(200, 2, 90, 1), random_members(60, 4, 90, 2), random_members(20, 1, 90, 3)]
    x = np.random.default_rng(4).normal(size=(90, 3))
    check(make_schedule("clusters", members, x, clusters=count), members)


def test_clusters_about_a_hub_take_more_than_63_colours():
    # A hub with sticks into 99 other slabs: each crossing cluster contains it and has its own colour.
    x = np.stack([np.arange(400.0), np.zeros(400), np.zeros(400)], axis=1)
    members = [np.array([(0, k) for k in range(1, 400)])]
    schedule = make_schedule("clusters", members, x, clusters=100)
    check(schedule, members)
    assert schedule.colours == [1] + [1] * 99


def test_slabs_are_equal_parts_along_the_longest_side():
    x = np.random.default_rng(5).uniform(size=(100, 3)) * [1, 5, 2]
    slab = cut_into_slabs(x, 4)
    assert np.bincount(slab).tolist() == [25, 25, 25, 25]
    for k in range(3):
        assert x[slab == k, 1].max() < x[slab == k + 1, 1].min()


def test_a_single_cluster_that_crosses_is_in_a_colour_of_its_own():
    # No constraint is inside one slab: the first colour is empty, but still counted.
    members = [np.array([(0, 1)])]
    schedule = clustered(members, [np.zeros(1, int)], np.array([0, 1]))
    check(schedule, members)
    assert schedule.colours == [0, 1]


@pytest.mark.parametrize("schedule", ["serial", "clusters", "coloured"])
@pytest.mark.parametrize("clusters", [None, 4])
def test_a_description_without_constraints_is_scheduled(schedule, clusters):
    particles = pbd.Particles()
    particles.add_particles(np.eye(3))
    system = pbd.ParticleSystem(particles, dt=0.1, schedule=schedule, clusters=clusters)
    system.step(10)
    # 1 s of free fall: exact.
    assert np.abs(system.positions() - (np.eye(3) - [0, 0, g / 2])).max() < 1e-13


# Order --------------------------------------------------------------------------------------------------------------


def chain_of_three():
    particles = pbd.Particles(gravity=(0, 0, 0))
    particles.add_particles([(0, 0, 0), (1.5, 0, 0), (3.5, 0, 0)], [1.0, 3.0, 1.0])
    return particles


@pytest.mark.parametrize(("order", "expected"), [
    # w = 1, 1/3, 1. (0, 1) first, off by 0.5: x0 += 0.5 · 3/4, x1 -= 0.5 · 1/4 -> 0.375, 1.375. Then (1, 2), off by
    # 3.5 - 1.375 - 1 = 1.125: x1 += 1.125/4, x2 -= 1.125 · 3/4.
    ([(0, 1), (1, 2)], (0.375, 1.375 + 1.125 / 4, 3.5 - 1.125 * 3 / 4)),
    # (1, 2) first, off by 1: x1 += 1/4, x2 -= 3/4 -> 1.75, 2.75. Then (0, 1), off by 0.75: 3/4 and 1/4 of that.
    ([(1, 2), (0, 1)], (0.5625, 1.75 - 0.1875, 2.75)),
])  # fmt: skip
def test_serial_projects_in_the_order_of_insertion(order, expected):
    particles = chain_of_three()
    particles.add_sticks(order, length=1.0)
    system = pbd.ParticleSystem(particles, iterations=1, schedule="serial")
    system.step()
    assert system.positions()[:, 0] == pytest.approx(expected, abs=1e-15)


def test_serial_projects_type_after_type_in_the_order_of_their_first_use():
    # "at most" was added first, so all of its sticks come first, though one was added after the plain stick.
    particles = chain_of_three()
    particles.add_stick(1, 2, 1.0, bound="at_most")
    particles.add_stick(1, 2, 2.0)
    particles.add_stick(0, 1, 1.0, bound="at_most")
    system = pbd.ParticleSystem(particles, iterations=1, schedule="serial")
    system.step()
    # After the two "at most": 0.5625, 1.5625, 2.75 (see above). Then the plain one, off by 2.75 - 1.5625 - 2 = -0.8125.
    expected = 0.5625, 1.5625 - 0.8125 / 4, 2.75 + 0.8125 * 3 / 4
    assert system.positions()[:, 0] == pytest.approx(expected, abs=1e-15)


# Launches -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("most", [1, 2, 5, 100])
def test_groups_of_colours_have_all_colours_in_order(most):
    slow = [False, True, True, False]
    members = [random_members(count, 2, 40, seed) for seed, count in enumerate((60, 30, 45, 20))]
    x = np.random.default_rng(0).normal(size=(40, 3))
    schedule = make_schedule("coloured", members, x)
    groups = schedule.groups_of_colours(slow, most)
    covered = [(first + k, index) for types, first, _ in groups for k, index in enumerate(types)]
    assert covered == list(enumerate(schedule.runs[:, 0]))
    assert all(0 < len(types) <= most for types, _, _ in groups)
    assert all(slow[index] == is_slow for types, _, is_slow in groups for index in types)
    runs = schedule.runs_of_clusters(4)
    assert [tuple(runs[k, index]) for k, index in covered] == [tuple(ends) for ends in schedule.runs[:, 1:]]
    assert (runs[..., 1] - runs[..., 0]).sum() == sum(map(len, members))


def test_joined_parts_keep_their_order_and_have_one_group_of_colours_each():
    parts = [Part(("begin",)), Part(("a",), 0), Part(("b",), 4), Part(("c",), 6, True), Part(("d",), 9), Part(("end",))]
    launches = joined(parts)
    assert [each for part in launches for each in part.phases] == ["begin", "a", "b", "c", "d", "end"]
    assert [part.first for part in launches] == [0, 4, 6, 9]
    assert [part.is_slow for part in launches] == [False, False, True, False]
