"""The broad phase finds the same pairs as brute force, without excluded pairs. Worlds, capacity."""

import itertools
import warnings

import numpy as np
import pytest

import pbd
import rigid
from rigid.collision import upload
from rigid.collision.data import HEAD, PairTypes
from rigid.collision.narrow_phase import point_finder
from rigid.collision.upload import pair_types, shape_tables
from rigid.rotation import normalised


def crowd(seed, count=200, spread=1.2):
    """A model of small shapes of all kinds, with a plane and a big box of the ground, and a long capsule."""
    random = np.random.default_rng(seed)
    model = rigid.Model()
    model.add_shape(rigid.GROUND, rigid.Plane(point=(0, 0, -0.8 * spread), normal=(0.1, 0, 1)))
    model.add_shape(rigid.GROUND, rigid.Box((0.5, 3 * spread, spread), centre=(-spread, 0, 0)))
    model.add_capsule(0.2, 2 * spread, mass=1.0)
    for k in range(count):
        place = {
            "position": random.uniform(-spread, spread, 3),
            "rotation": normalised(random.normal(size=4)),
            "mass": 1.0,
            "group": 1 << random.integers(3),
            "mask": int(random.integers(1, 8)),
        }
        size = random.uniform(0.05, 0.15)
        kinds = {"sphere": [size], "capsule": [size, 2 * size], "box": [(2 * size, size, 3 * size)]}
        kinds["cylinder"] = kinds["capsule"]
        name = list(kinds)[k % 4]
        getattr(model, f"add_{name}")(*kinds[name], **place)
    for a, b in random.integers(0, count, (100, 2)):
        if a != b:
            model.exclude_contact(a, b)
    for a, b in random.integers(0, count, (20, 2)):
        if a != b:
            model.add_ball(a, b, (0, 0, 0))
    return model


def pairs_of(found):
    return {tuple(sorted(map(int, pair))) for pair in found.shapes}


@pytest.fixture(scope="module", params=[0, 1])
def scene(request):
    return crowd(request.param)


def test_hash_finds_the_same_pairs_as_the_list_of_all_pairs(scene, finder, monkeypatch):
    """Bit for bit, in any order. Half of the crowd has negative coordinates."""
    hashed = finder(scene)
    assert hashed.arrays[0].lists.to_numpy()[HEAD.pair_count] == 0
    assert hashed.arrays[0].lists.to_numpy()[HEAD.large_count] == 3  # the plane, the box and the long capsule
    monkeypatch.setattr(upload, "MOST_LISTED_PAIRS", 10**6)
    monkeypatch.setattr(upload, "MOST_LISTED_SHAPES", 10**6)
    listed = finder(scene)
    assert listed.arrays[0].lists.to_numpy()[HEAD.small_count] == 0
    one, other = hashed(margin=0.05), listed(margin=0.05)
    assert one.count == other.count > 200
    assert pairs_of(one) == pairs_of(other)
    orders = [np.lexsort((each.feature, each.shapes[:, 1], each.shapes[:, 0])) for each in (one, other)]
    for name in ("shapes", "feature", "point", "normal", "gap"):
        assert np.array_equal(getattr(one, name)[orders[0]], getattr(other, name)[orders[1]])
    assert all(scene.may_touch(a, b) for a, b in pairs_of(one))
    assert {0, 1, 2} <= {shape for pair in pairs_of(one) for shape in pair}


def test_all_pairs_of_balls_within_their_margins_are_found(finder):
    """|x_i - x_j| < r_i + r_j + margin_i + margin_j, for different margins."""
    random = np.random.default_rng(8)
    model = rigid.Model()
    count = 400
    for _ in range(count):
        model.add_sphere(random.uniform(0.02, 0.1), mass=1, position=random.uniform(-1, 1, 3) - (0.5, 0, 3))
    margin = random.uniform(0, 0.1, (count, 1))
    found = finder(model)(margin=margin)
    x = np.array([body.position for body in model.bodies])
    r = np.array([piece.shape.radius for piece in model.shapes]) + margin[:, 0]
    apart = np.linalg.norm(x[:, None] - x[None], axis=2) - r[:, None] - r[None]
    a, b = np.nonzero(np.triu(apart < 0, 1))
    assert found.count == len(a) > 300
    assert pairs_of(found) == set(zip(a.tolist(), b.tolist()))


def test_groups_exclusions_and_joints_prevent_contacts(finder):
    """Spheres at one position touch, except excluded pairs, joined bodies, other groups and shapes of one body."""
    model = rigid.Model()
    for _ in range(5):
        model.add_sphere(1.0, mass=1)
    model.add_sphere(1.0, mass=1, group=2, mask=4)
    model.add_shape(0, rigid.Sphere(1.0))
    model.add_shape(rigid.GROUND, rigid.Sphere(1.0))
    model.add_shape(rigid.GROUND, rigid.Sphere(1.0))
    model.exclude_contact(0, 1)
    model.add_ball(1, 2, (0, 0, 0))
    model.add_ball(2, 3, (0, 0, 0), collide=True)
    model.add_ball(rigid.GROUND, 4, (0, 0, 0))
    expected = {pair for pair in itertools.combinations(range(len(model.shapes)), 2) if model.may_touch(*pair)}
    assert pairs_of(finder(model)()) == expected
    assert {(0, 1), (1, 2), (0, 5), (0, 6), (7, 8)}.isdisjoint(expected)
    assert {(2, 3), (4, 7), (0, 2), (1, 6)} - expected == {(1, 6)}  # 6 is on body 0, which is excluded from 1


def test_each_world_finds_the_same_contacts_as_alone(finder):
    models = [crowd(3, count=20, spread=0.6) for _ in range(3)]
    for k, model in enumerate(models):
        for piece in model.shapes:
            piece.friction = 0.1 * k
    together = finder(models)
    poses = together.poses_at_start()
    random = np.random.default_rng(9)
    poses[..., :3] += 0.1 * random.normal(size=poses[..., :3].shape)
    poses[..., 3:] = normalised(random.normal(size=poses[..., 3:].shape))
    for k, found in enumerate(together(poses, margin=0.02)):
        alone = finder(models[k])(poses[k : k + 1], margin=0.02)
        assert found.count == alone.count > 10
        for name in ("shapes", "bodies", "feature", "point", "normal", "gap", "friction"):
            assert np.array_equal(getattr(found, name), getattr(alone, name))
    assert len({found.count for found in together(poses, margin=0.02)}) > 1


def test_copies_of_one_model_have_equal_contacts(finder):
    one, two = finder(crowd(3, count=20, spread=0.6), worlds=2)(margin=0.02)
    assert np.array_equal(one.point, two.point)


def test_points_beyond_the_capacity_are_counted_but_not_written(finder):
    model = crowd(3, count=20, spread=0.6)
    everything, few = finder(model)(margin=0.02), finder(model, capacity=5)(margin=0.02)
    assert few.count == everything.count > 5
    assert np.array_equal(few.point, everything.point[:5])


def test_pairs_beyond_the_capacity_count_as_points(finder, monkeypatch):
    monkeypatch.setattr(upload, "PAIRS_OF_A_SHAPE", 1)
    model = rigid.Model()
    for _ in range(60):
        model.add_sphere(1.0, mass=1)
    find = finder(model)
    assert find().count > find.arrays[1].integers.shape[1]


def test_models_without_shapes_have_no_points(finder):
    model = rigid.Model()
    model.add_body(mass=1, inertia=(1, 1, 1))
    assert finder(model)().count == 0
    assert finder(rigid.Model())().count == 0


def test_mesh_collider_is_refused():
    model = rigid.Model()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        hull = pbd.ConvexHull(np.eye(4)[:, :3])
        mesh = pbd.MeshCollider((hull.vertices, hull.triangles), resolution=8)
    model.add_shape(rigid.GROUND, mesh)
    with pytest.raises(NotImplementedError, match=r"MeshCollider.*'ground'.*add_mesh"):
        shape_tables([model], 1)


def test_worlds_with_different_shapes_are_refused():
    def model(**surface):
        made = rigid.Model()
        made.add_sphere(1.0, mass=1, **surface)
        return made

    with pytest.raises(ValueError, match="world 1 has other shapes"):
        shape_tables([model(), model(group=2)], 2)
    with pytest.raises(ValueError, match="2 models for 3 worlds"):
        shape_tables([model(), model()], 3)


def test_worlds_with_different_hull_faces_are_refused():
    random = np.random.default_rng(0)
    models = [rigid.Model(), rigid.Model()]
    for model in models:
        points = normalised(random.normal(size=(8, 3)))  # all of them corners
        model.add_shape(model.add_body(), rigid.ConvexHull(points), density=1)
    with pytest.raises(ValueError, match="shape 0, a hull, has other faces in world 1"):
        shape_tables(models, 2)


NONE = PairTypes(*[False] * len(PairTypes._fields))


def test_pair_types_of_a_model():
    model = rigid.Model()
    model.add_ground()
    assert not any(pair_types([model]))
    model.add_capsule(0.1, 1, mass=1)
    assert pair_types([model]) == NONE._replace(rounded_on_plane=True)
    model.add_box((1, 1, 1), mass=1)
    on_plane = {"rounded_on_plane": True, "polyhedra_on_plane": True}
    assert pair_types([model]) == NONE._replace(**on_plane, rounded_on_polyhedra=True)
    model.add_shape(1, rigid.Sphere(radius=0.1), rolling_friction=0.01)
    assert pair_types([model]).rolling_and_spinning


def test_find_points_for_few_pair_types_finds_the_same(finder):
    model = rigid.Model()
    model.add_ground()
    random = np.random.default_rng(10)
    for _ in range(15):
        turn = normalised(random.normal(size=4))
        model.add_capsule(0.1, 0.4, mass=1, position=random.uniform(-0.4, 0.4, 3) + (0, 0, 0.3), rotation=turn)
    everything = finder(model)(margin=0.02)
    little = finder(model, finding=point_finder(pair_types([model])))(margin=0.02)
    assert everything.count == little.count > 10
    for name in ("shapes", "feature", "point", "gap"):
        assert np.array_equal(getattr(everything, name), getattr(little, name))
