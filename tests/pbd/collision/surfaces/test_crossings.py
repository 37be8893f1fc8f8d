"""Nothing crosses, whatever the step: the measure, and scenes of sheets, ropes and needles at random."""

import warnings

import numpy as np
import pytest
import taichi as ti
from marks import cases, slow
from scipy.optimize import linprog
from sheets import add_line, add_sheet, turned

import pbd
from pbd.collision.surfaces import bound, closest, crossings
from pbd.collision.surfaces.tables import owned_features, tree_over
from pbd.core.topology import edges_of

# The measure ----------------------------------------------------------------------------------------------------------


def test_crossings_are_counted():
    flat = np.array([(0, 0, 0), (2, 0, 0), (0, 2, 0)], float)
    triangles, edges = np.array([(0, 1, 2)]), np.array([(3, 4)])
    for ends, count in (
        ([(0.5, 0.5, -1), (0.5, 0.5, 1)], 1), ([(0.5, 0.5, 0.1), (0.5, 0.5, 1)], 0),
        ([(1.5, 1.5, -1), (1.5, 1.5, 1)], 0),
        ([(-1, -1, -1), (2, 2, 1)], 1), ([(-1, 0.5, 0.01), (3, 0.5, 0.01)], 0), ([(0.5, 0.5, 1), (0.5, 0.5, -1)], 1),
    ):  # fmt: skip
        assert len(crossings.crossing_pairs(np.concatenate([flat, ends]), edges, triangles)) == count
    shared = np.array([(0, 3)])
    assert len(crossings.crossing_pairs(np.concatenate([flat, [(0.5, 0.5, -1)]]), shared, triangles)) == 0


def test_crossings_are_counted_of_what_can_move_now():
    # Two triangles whose corners are pinned may cross: no contact can part them. Two edges of the second one pass the
    # first one.
    corners = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0.2, 0.2, -0.5), (0.3, 0.2, 0.5), (0.2, 0.3, 0.5)]
    particles = pbd.Particles(gravity=(0, 0, 0))
    particles.add_particles(corners, mass=np.inf)
    particles.add_surface([(0, 1, 2), (3, 4, 5)], thickness=0.01)
    system = pbd.ParticleSystem(particles, dt=0.01)
    assert system.crossings() == 0
    system.set_masses(np.arange(6), 1.0)
    assert system.crossings() == 2
    system.set_masses(np.arange(6), np.inf)
    assert system.crossings() == 0


def test_crossings_are_those_of_all_pairs():
    rng = np.random.default_rng(1)
    x = rng.uniform(size=(90, 3))
    triangles, edges = rng.permutation(60).reshape(20, 3), 60 + rng.permutation(30).reshape(15, 2)
    pairs = np.array([(*edge, *triangle) for edge in edges for triangle in triangles])
    expected = pairs[crossings.crosses(x[pairs])]
    found = crossings.crossing_pairs(x, edges, triangles)
    assert len(expected) > 10
    assert sorted(found.tolist()) == sorted(expected.tolist())


# Geometry -------------------------------------------------------------------------------------------------------------

COUNT = 400


@pytest.fixture(scope="module")
def geometry():
    """Random pairs in motion: the weights of closest points at the start, and whether they are apart all the time."""
    rng = np.random.default_rng(2)
    start = rng.normal(size=(COUNT, 4, 3)) * rng.choice([1, 1e-3], size=(COUNT, 4, 1))
    now = start + rng.normal(size=start.shape) * rng.choice([0, 0.1, 1], size=(COUNT, 1, 1))
    is_edge = rng.integers(0, 2, COUNT)
    x, y = ti.Matrix.field(4, 3, float, COUNT), ti.Matrix.field(4, 3, float, COUNT)
    kinds, weights = ti.field(int, COUNT), ti.Vector.field(4, float, COUNT)
    apart = ti.field(int, COUNT)

    @ti.kernel
    def fill():
        for k in range(COUNT):
            weights[k] = closest.closest_weights(kinds[k], x[k])
            apart[k] = ti.cast(bound.are_apart_along_any(kinds[k], x[k], y[k], 1e-9), int)

    x.from_numpy(start)
    y.from_numpy(now)
    kinds.from_numpy(is_edge.astype(np.int32))
    fill()
    return start, now, is_edge, weights.to_numpy(), apart.to_numpy()


def separations(x, n, is_edge):
    """Distances of features along directions (k,). Args: x (k, 4, 3); n (k, 3); is_edge (k,)."""
    along = np.einsum("kij,kj->ki", x, n)
    second = np.where(is_edge, np.minimum(along[:, 0], along[:, 1]) - along[:, 2:].max(axis=1), 0)
    return np.where(is_edge, second, along[:, 0] - along[:, 1:].max(axis=1))


def test_closest_points_are_closest(geometry):
    # No other point of the features is nearer: the distance of convex sets has no local minimum but the least.
    start, _, is_edge, c, _ = geometry
    gap = np.einsum("ki,kij->kj", c, start)
    distance = np.linalg.norm(gap, axis=1)
    assert np.abs(c.sum(axis=1)).max() < 1e-12
    # At the least distance, all of each feature is beyond the plane through its closest point, across the gap.
    along = separations(start, gap / np.maximum(distance, 1e-300)[:, None], is_edge)
    assert along == pytest.approx(distance, abs=1e-9)


def test_pairs_are_safe_if_some_direction_keeps_them_apart(geometry):
    # There is an n with n·p >= 1 for all differences p of corners, at both times: a linear program says whether.
    start, now, is_edge, _, apart = geometry
    for k in range(COUNT):
        split = 2 if is_edge[k] else 1
        p = np.concatenate([(x[:split, None] - x[None, split:]).reshape(-1, 3) for x in (start[k], now[k])])
        found = linprog(np.zeros(3), -p, -np.ones(len(p)), bounds=(None, None))
        assert apart[k] == (found.status == 0), k
    assert 50 < apart.sum() < COUNT - 30


def test_each_feature_has_one_owner_and_each_element_a_leaf():
    triangles = np.array([(0, 1, 2), (1, 3, 2), (2, 3, 4), (5, 6, -1), (6, 4, -1)])
    owned = owned_features(triangles)
    vertices = [triangles[k, v] for k in range(5) for v in range(3) if owned[k] >> v & 1]
    edges = [tuple(sorted(triangles[k, [v, (v + 1) % 3]])) for k in range(5) for v in range(3) if owned[k] >> v & 8]
    assert sorted(vertices) == list(range(7))
    assert sorted(edges) == sorted({tuple(each) for each in edges_of(triangles[:3])} | {(5, 6), (4, 6)})
    for count in (1, 2, 7, 64):
        nodes = tree_over(count)
        assert sorted(nodes[nodes[:, 0] >= 0, 0]) == list(range(count))
        assert nodes[0, 1] == len(nodes)


# Nothing crosses ------------------------------------------------------------------------------------------------------


def random_scene(seed, box=True):
    """Sheets, ropes and needles that fly into one another, in a box or in empty space. Returns: Particles, options."""
    rng = np.random.default_rng(seed)
    particles = pbd.Particles(gravity=(0, 0, -9.81 if box else 0))
    if box:
        particles.add_box((-0.4, -0.4, 0), (0.4, 0.4, 3), friction=0.3)
    for k in range(rng.integers(2, 4)):
        add_sheet(
            particles, int(rng.integers(3, 8)), 0.2, (*rng.uniform(-0.1, 0.1, 2), 0.2 + 0.3 * k), turned(rng),
            mass=rng.uniform(1e-4, 1e-2), velocity=rng.normal(size=3) * rng.choice([1, 5, 20]),
            thickness=rng.choice([0.001, 0.02]), friction=rng.uniform(0, 1),
        )  # fmt: skip
    for k in range(rng.integers(1, 4)):
        way = turned(rng)[0] * rng.uniform(0.05, 0.2)
        start = np.array([*rng.uniform(-0.1, 0.1, 2), 1.3 + 0.3 * k])
        add_line(
            particles, start - way / 2, start + way / 2, int(rng.integers(2, 9)), rng.uniform(1e-4, 1e-2),
            rng.normal(size=3) * rng.choice([1, 20]), radius=rng.choice([0.00025, 0.005]), friction=rng.uniform(0, 1),
        )  # fmt: skip
    steps = {"substeps": int(rng.choice([1, 2, 4])), "iterations": int(rng.choice([1, 4, 10]))}
    return particles, {"dt": 1 / 60, "direction": str(rng.choice(["current", "start"])), **steps}


@pytest.mark.filterwarnings("ignore:.*was held back")
@pytest.mark.parametrize("seeds", [range(2), slow(range(2, 200))], ids=["few", "many"])
def test_nothing_crosses_in_scenes_at_random(seeds):
    met = 0
    for seed in seeds:
        particles, options = random_scene(seed)
        system = pbd.ParticleSystem(particles, **options)
        for _ in range(40):
            system.step()
            assert system.crossings() == 0, seed
        met += int(system.arrays.surface.found.to_numpy()[1].max() > 0)
    assert met > len(seeds) / 2


@pytest.mark.slow
@pytest.mark.parametrize("speed", [1.0, 20.0, 300.0])
def test_segments_do_not_pass_through_one_another(speed):
    # Two needles of 0.5 mm fly at right angles: the signed volume of their ends keeps its sign.
    particles = pbd.Particles(gravity=(0, 0, 0))
    add_line(particles, (-0.1, 0, 0), (0.1, 0, 0), mass=0.01, radius=0.00025)
    add_line(particles, (0.03, -0.1, 0.2), (0.03, 0.1, 0.2), mass=0.001, velocity=(0, 0, -speed), radius=0.00025)
    system = pbd.ParticleSystem(particles, dt=1 / 60, iterations=4)

    def volume():
        a, b, c, d = system.positions()
        return np.linalg.det([b - a, d - c, c - a])

    side = np.sign(volume())
    for _ in range(60):
        system.step()
        assert np.sign(volume()) == side


def test_a_thrown_needle_stays_before_a_pinned_sheet():
    particles = pbd.Particles(gravity=(0, 0, 0))
    sheet, _ = add_sheet(particles, 6, 0.5, thickness=0.001)
    particles.pin(sheet)
    needle = add_line(particles, (0.02, 0.03, 0.3), (0.02, 0.03, 0.2), velocity=(0, 0, -20), radius=0.00025)
    system = pbd.ParticleSystem(particles, dt=1 / 60)
    system.step(30)
    assert system.positions()[needle, 2].min() > 0.0005


@pytest.mark.slow
def test_the_bound_alone_prevents_crossings():
    # Without an iteration nothing moves sheets apart. Many fall together by 33 cm a step, onto a pinned triangle of
    # 60 cm: what holds the lowest back holds those above it back, too, although they had not moved against one another
    # before. Nothing comes round the triangle, because nothing that far from its edges moves sideways.
    particles = pbd.Particles(gravity=(0, 0, 0))
    fixed = particles.add_particles([(-0.3, -0.2, 0), (0.3, -0.2, 0), (0, 0.4, 0)], np.inf)
    particles.add_surface([fixed], thickness=0.002)
    sheets = [
        add_sheet(particles, count, 0.1, (0.01, 0.02, z), velocity=(0, 0, -20), thickness=0.002)[0]
        for count, z in ((3, 0.1), (3, 0.13), (20, 0.2))
    ]
    middles = [sheets[0][4], sheets[1][4], sheets[2][[189, 190, 209, 210]]]
    system = pbd.ParticleSystem(particles, dt=1 / 60, iterations=0)
    for _ in range(5):
        system.step()
        assert system.crossings() == 0
        heights = system.positions()[:, 2]
        assert heights[3:].min() > 0
        assert heights[middles[0]] < heights[middles[1]] < heights[middles[2]].min()


@pytest.mark.slow
@pytest.mark.parametrize("seeds", [range(3), slow(range(3, 60))], ids=["few", "many"])
def test_impacts_keep_momentum_or_say_that_they_do_not(seeds):
    """Sheets and needles meet at up to 20 m/s in free flight: Σ m v stays, or a warning is given.

    A contact and a join of four motions move opposite masses by opposite ways. So a warning is the only way to lose
    more than round-off: some 1e-16 in each of 40 steps with up to 1e4 of both.
    """
    kept = 0
    for seed in seeds:
        particles, options = random_scene(seed, box=False)
        masses = particles.masses()
        system = pbd.ParticleSystem(particles, **options)
        momentum = masses @ system.velocities()
        scale = masses @ np.linalg.norm(system.velocities(), axis=1)
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            for _ in range(40):
                system.step()
                assert system.crossings() == 0, seed
        if not any("held back and lost momentum" in str(each.message) for each in said):
            kept += 1
            assert masses @ system.velocities() == pytest.approx(momentum, abs=1e-9 * scale), seed
    assert kept > 0.9 * len(seeds)


def test_what_a_path_runs_over_is_said():
    # A plate on a path presses a sheet against a pinned one: there is no room left, and the plate cannot wait.
    particles = pbd.Particles(gravity=(0, 0, 0))
    fixed, _ = add_sheet(particles, 3, thickness=0.01)
    particles.pin(fixed)
    add_sheet(particles, 4, 0.1, (0.01, 0.02, 0.05), thickness=0.01)
    plate, _ = add_sheet(particles, 3, middle=(0, 0, 0.1), thickness=0.01)
    start = particles.positions()[plate].copy()
    particles.add_path(plate, lambda time: start - (0, 0, time))
    system = pbd.ParticleSystem(particles, dt=0.01)
    with pytest.warns(UserWarning, match="of a surface is crossed by what moves on a path"):
        system.step(20)


# Bits -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", cases([2, 5, 11], slow=[2]))
def test_bits_do_not_depend_on_when_pairs_are_sought(seed):
    together, apart = (pbd.ParticleSystem(particles, **options) for particles, options in map(random_scene, [seed] * 2))
    together.step(30)
    for _ in range(30):
        apart._search_due = True
        apart.step()
    assert apart.digest() == together.digest()
    state = together.state()
    together.step(5)
    apart.set_state(state)
    apart.step(5)
    assert apart.digest() == together.digest()


@pytest.mark.slow
@pytest.mark.parametrize("options", [{"schedule": "clusters", "clusters": 2}, slow({"schedule": "coloured"})])
def test_nothing_crosses_where_threads_share_a_world(options):
    particles, others = random_scene(7)
    system = pbd.ParticleSystem(particles, **{**others, **options})
    for _ in range(20):
        system.step()
        assert system.crossings() == 0


@pytest.mark.slow
def test_worlds_have_the_bits_that_they_have_alone():
    particles, options = random_scene(3)
    alone = pbd.ParticleSystem(particles, **options)
    together = pbd.ParticleSystem(particles, worlds=3, **options)
    alone.step(20)
    together.step(20)
    assert (together.positions() == alone.positions()).all()
    assert (together.crossings() == 0).all()


def test_there_is_room_for_all_pairs(monkeypatch):
    # The list of pairs begins too small, and grows before the first step.
    monkeypatch.setattr("pbd.collision.surfaces.tables.LEAST_CANDIDATES", 1)
    monkeypatch.setattr("pbd.collision.surfaces.tables.CANDIDATES_OF_FEATURE", 0)
    particles, options = random_scene(5)
    system = pbd.ParticleSystem(particles, **options)
    system.step(20)
    monkeypatch.undo()
    other = pbd.ParticleSystem(random_scene(5)[0], **options)
    other.step(20)
    assert system.digest() == other.digest()
