"""Contact points of every pair of shapes against brute force: distances of convex sets, and all separating axes."""

import itertools
import math

import numpy as np
import pytest
from marks import cases
from scipy.optimize import nnls

import rigid
from rigid.collision.polyhedron import polyhedron
from rigid.rotation import normalised, to_matrix

HULL = rigid.ConvexHull(np.random.default_rng(7).normal(size=(14, 3)) * 0.35)
SHAPES = {
    "sphere": lambda: rigid.Sphere(0.3),
    "capsule": lambda: rigid.Capsule(0.2, start=(0, 0, -0.5), end=(0, 0, 0.5)),
    "box": lambda: rigid.Box((0.6, 1.0, 0.4)),
    "cylinder": lambda: rigid.Cylinder(0.3, start=(0, 0, -0.4), end=(0, 0, 0.4)),
    "hull": lambda: rigid.ConvexHull(HULL.vertices + (0.3, -0.2, 0.1)),
}
ROUND = ("sphere", "capsule")
PAIRS = list(itertools.product(SHAPES, repeat=2))
ONCE = cases(PAIRS, slow=[pair for pair in PAIRS if [*SHAPES].index(pair[0]) > [*SHAPES].index(pair[1])])
MARGIN = 1e-3 * 0.65  # EDGE_MARGIN of the largest of the polyhedra above


def scene(first, second):
    """A model of two bodies of one shape each."""
    model = rigid.Model(gravity=(0, 0, 0))
    for name in (first, second):
        model.add_shape(model.add_body(), SHAPES[name](), density=1.0)
    return model


def solid(model, index, pose):
    """A shape as corners in the world (n, 3) and a radius about their hull, its face normals, and its edges."""
    piece = model.shapes[index]
    numbers = piece.shape.numbers()
    if piece.shape.kind == SHAPES["sphere"]().kind:
        corners, radius, normals, edges = np.zeros((1, 3)), numbers[0], np.zeros((0, 3)), np.zeros((0, 3))
    elif piece.shape.kind == SHAPES["capsule"]().kind:
        corners, radius = np.array([(0, 0, -numbers[1]), (0, 0, numbers[1])]), numbers[0]
        normals, edges = np.zeros((0, 3)), np.array([(0.0, 0.0, 1.0)])
    else:
        body = polyhedron(piece.shape)
        corners, radius, normals = body.vertices, 0.0, body.planes[:, :3]
        edges = corners[body.edges[:, 1]] - corners[body.edges[:, 0]]
    turn, local = to_matrix(pose[3:]), to_matrix(piece.rotation)
    placed = pose[:3] + (piece.position + corners @ local.T) @ turn.T
    return placed, radius, normals @ local.T @ turn.T, edges @ local.T @ turn.T


def distance(a, b):
    """Distance of the hulls of two sets of points, and how many of each the nearest points are made of.

    The point of a hull {Σ λ p} nearest to the origin is p λ/Σλ, λ >= 0 the least squares solution of p λ = 0, Σ λ = 1.
    """
    difference = (a[:, None] - b[None]).reshape(-1, 3)
    weights, _ = nnls(np.vstack([difference.T, np.ones(len(difference))]), np.array([0, 0, 0, 1.0]))
    used = (weights.reshape(len(a), len(b)) > 1e-12 * weights.max()).nonzero()
    return np.linalg.norm(difference.T @ weights / weights.sum()), [len(set(each)) for each in used]


def separation(normal, a, b):
    return ((a @ np.atleast_2d(normal).T).min(axis=0) - (b @ np.atleast_2d(normal).T).max(axis=0)).max()


def best_axis(first, second):
    """The largest separation of two convex bodies along normals of faces and common perpendiculars of edges."""
    (a, _, faces_a, edges_a), (b, _, faces_b, edges_b) = first, second
    across = np.cross(edges_a[:, None], edges_b[None]).reshape(-1, 3)
    across = across[np.linalg.norm(across, axis=1) > 1e-9]
    axes = np.concatenate([-faces_a, faces_b, across, -across])
    return separation(axes / np.linalg.norm(axes, axis=1, keepdims=True), a, b)


def random_poses(model, random, low, high):
    """Poses of both bodies, so that the gap of their hulls' corners along a random axis is between low and high."""
    poses = np.zeros((1, 2, 7))
    poses[0, :, 3:] = normalised(random.normal(size=(2, 4)))
    poses[0, :, :3] = random.normal(size=3) + 0.1 * random.normal(size=(2, 3))
    axis = random.normal(size=3)
    axis /= np.linalg.norm(axis)
    (a, r, _, _), (b, s, _, _) = (solid(model, k, poses[0, k]) for k in range(2))
    poses[0, 0, :3] += (random.uniform(low, high) - (separation(axis, a, b) - r - s)) * axis
    return poses


@pytest.mark.parametrize("pair", ONCE, ids="-".join)
def test_gap_of_separate_shapes_is_their_distance(pair, finder):
    """Exact for rounded shapes, and for faces with corners; for edges up to the preference for faces."""
    model = scene(*pair)
    find = finder(model)
    random = np.random.default_rng(1)
    exact = 0
    for _ in range(40):
        poses = random_poses(model, random, 0.0, 0.2)
        (a, r, _, _), (b, s, _, _) = (solid(model, k, poses[0, k]) for k in range(2))
        apart, used = distance(a, b)
        true = apart - r - s
        if true <= 1e-6:
            continue
        found = find(poses, margin=0.5)
        assert np.linalg.norm(found.normal, axis=1) == pytest.approx(1, abs=1e-12)
        if set(pair) == {"sphere", "cylinder"}:  # a sphere touches the cylinder itself, not the prism inside it
            assert -0.02 * 0.3 < found.gap.min() - true < 1e-12
        elif set(pair) & set(ROUND):
            assert found.gap.min() == pytest.approx(true, abs=1e-6)
            exact += 1
        elif used == [2, 2]:
            assert found.gap.min() == pytest.approx(true, abs=MARGIN)
            exact += 1
        elif 1 in used and max(used) >= 3:
            assert found.gap.min() == pytest.approx(true, abs=1e-9)
            exact += 1
        elif len(found.gap) and found.feature[0] >= 0:
            assert found.gap.min() > true - 1e-9  # both points are on the surfaces, which are nowhere nearer
        if len(found.gap):
            assert separation(found.normal, a, b) - r - s <= found.gap.min() + 0.006
    assert exact > 5 or set(pair) == {"sphere", "cylinder"}


@pytest.mark.parametrize("beyond", [0.02, 0.1, 0.19])
@pytest.mark.parametrize("angle", [0.0, 0.05, 0.09])
def test_parallel_capsules_end_to_end_touch_at_their_ends(beyond, angle, finder):
    # The second one begins where the first one has ended, 0.3 m aside, so the nearest points are the two ends. Parallel
    # capsules side by side have two points; here none of the second is beside the first.
    model = scene("capsule", "capsule")
    poses = np.zeros((1, 2, 7))
    poses[0, 0, 3] = 1.0
    poses[0, 1, 3:] = math.cos(angle / 2), math.sin(angle / 2), 0.0, 0.0
    axis = to_matrix(poses[0, 1, 3:])[:, 2]
    poses[0, 1, :3] = (0.3, 0.0, 0.5 + beyond) + 0.5 * axis
    found = finder(model)(poses, margin=0.5)
    assert found.gap == pytest.approx([math.hypot(0.3, beyond) - 0.4], abs=1e-12)


@pytest.mark.parametrize("pair", ONCE, ids="-".join)
def test_deepest_gap_of_overlapping_shapes_separates_them(pair, finder):
    """Along the normal the gap is the overlap, and hardly any axis has a smaller one."""
    model = scene(*pair)
    find = finder(model)
    random = np.random.default_rng(2)
    tested = 0
    for _ in range(60):
        poses = random_poses(model, random, *((-0.6, -0.2) if set(pair) & set(ROUND) else (-0.3, -0.01)))
        first, second = (solid(model, k, poses[0, k]) for k in range(2))
        (a, r, *_), (b, s, *_) = first, second
        if distance(a, b)[0] > 1e-9:
            continue  # cores are separate: see the test above
        found = find(poses)
        if "sphere" in pair and "cylinder" in pair:
            assert found.gap.min() < 0
            continue
        deepest = found.gap.argmin()
        assert np.linalg.norm(found.normal, axis=1) == pytest.approx(1, abs=1e-12)
        along = separation(found.normal[deepest], a, b) - r - s
        assert found.gap.min() >= along - 2e-6
        # A face wins against edges that separate better by less than MARGIN. Then the deepest corner may be beyond the
        # face, where nothing touches it, and the deepest point is that of the edges.
        assert found.gap.min() <= along + (2e-6 if set(pair) & set(ROUND) else MARGIN)
        if not set(pair) <= set(ROUND):
            assert found.gap.min() > best_axis(first, second) - r - s - 2 * MARGIN
        tested += 1
    assert tested > 10 or set(pair) <= set(ROUND) or set(pair) == {"sphere", "cylinder"}


@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
def test_exchanged_shapes_have_opposite_normals(pair, finder):
    forth, back = finder(scene(*pair)), finder(scene(*reversed(pair)))
    random = np.random.default_rng(3)
    for _ in range(20):
        poses = random_poses(forth.models[0], random, -0.2, 0.05)
        one, other = forth(poses, margin=0.1), back(poses[:, ::-1].copy(), margin=0.1)
        assert len(one.gap) == len(other.gap)
        one_order, other_order = (np.lexsort(np.round(each.gap, 9)[None]) for each in (one, other))
        assert one.gap[one_order] == pytest.approx(other.gap[other_order], abs=1e-9)
        if len(one.gap) == 1 and (set(pair) & set(ROUND) or one.gap[0] < 0):
            assert one.normal == pytest.approx(-other.normal, abs=1e-9)
            assert one.point - one.gap[:, None] * one.normal == pytest.approx(other.point, abs=1e-6)


@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
def test_features_are_unique_and_stay_the_same_in_small_motions(pair, finder):
    model = scene(*pair)
    find = finder(model)
    random = np.random.default_rng(4)
    same = 0
    for _ in range(20):
        poses = random_poses(model, random, -0.1, -0.01)
        before = find(poses, margin=0.1)
        assert len(set(before.feature)) == len(before.feature) <= 8
        assert before.feature.tolist() == find(poses, margin=0.1).feature.tolist()
        poses[0, 0, :3] += 1e-7 * random.normal(size=3)
        after = find(poses, margin=0.1)
        same += set(before.feature) == set(after.feature)
    assert same >= 19  # except for a tie


def test_boxes_have_the_contacts_of_their_hulls(finder):
    """Boxes find faces and edges in closed form (rigid/collision/boxes.py), hulls by search. Only the order of corners
    differs."""
    sizes, random, by_edges = ((0.6, 1.0, 0.4), (0.5, 0.5, 0.9)), np.random.default_rng(11), 0
    models = rigid.Model(gravity=(0, 0, 0)), rigid.Model(gravity=(0, 0, 0))
    for size in sizes:
        corners = np.array(list(itertools.product((-0.5, 0.5), repeat=3))) * size
        for model, shape in zip(models, (rigid.Box(size), rigid.ConvexHull(corners))):
            model.add_shape(model.add_body(), shape, density=1.0)
    boxes, hulls = (finder(model) for model in models)
    for k in range(200):
        poses = random_poses(models[0], random, -0.15, 0.03)
        if k % 2:  # nearly aligned, as in a pile
            poses[0, :, 3:] = normalised([1, 0, 0, 0] + 0.01 * random.normal(size=(2, 4)))
            poses[0, :, :3] = [(0, 0, 0), (*random.uniform(-0.4, 0.4, 2), random.uniform(0.55, 0.66))]
        found, expected = (find(poses, margin=0.02) for find in (boxes, hulls))
        by_edges += len(expected.gap) == 1
        rows = [np.column_stack([each.point, each.normal, each.gap]) for each in (found, expected)]
        rows = [each[np.lexsort(each.round(7).T)] for each in rows]
        assert rows[0] == pytest.approx(rows[1], abs=1e-9)
    assert by_edges >= 20


@pytest.mark.parametrize("placed", ["anywhere", "at one place", "along an axis", "by eighths of a turn"])
@pytest.mark.parametrize("seed", range(2))
def test_boxes_that_overlap_touch(finder, placed, seed):
    """Also deeply, and where their centres coincide and only round-off tells on which side of one the other is."""
    random = np.random.default_rng(seed)
    for _ in range(6):
        sizes = np.exp(random.uniform(-3, 1, (2, 3)))
        model = rigid.Model(gravity=(0, 0, 0))
        for size in sizes:
            model.add_shape(model.add_body(), rigid.Box(size), density=1.0)
        find = finder(model)
        for _ in range(40):
            poses = np.zeros((1, 2, 7))
            poses[0, :, 3:] = normalised(random.normal(size=(2, 4)))
            if placed == "anywhere":
                poses[0, 1, :3] = 0.3 * sizes.max() * random.normal(size=3)
            elif placed == "along an axis":
                axis = random.integers(3)
                poses[0, 1, :3] = random.uniform(-0.5, 0.5) * sizes[0, axis] * to_matrix(poses[0, 0, 3:])[:, axis]
            elif placed == "by eighths of a turn":
                angles = math.pi / 8 * random.integers(0, 8, 2)
                poses[0, :, 3:] = [(math.cos(a), *(math.sin(a) * np.eye(3)[random.integers(3)])) for a in angles]
            inside = points_inside(sizes, poses[0])
            assert len(find(poses).gap) > 0 or not inside


def points_inside(sizes, poses):
    """Whether a grid of points finds one that is inside both boxes by a part of their thickness."""
    ticks = np.linspace(-0.48, 0.48, 9)
    for one, other in ((0, 1), (1, 0)):
        grid = np.stack(np.meshgrid(ticks, ticks, ticks), axis=-1).reshape(-1, 3) * sizes[one]
        local = (poses[one, :3] + grid @ to_matrix(poses[one, 3:]).T - poses[other, :3]) @ to_matrix(poses[other, 3:])
        if (np.abs(local) < 0.48 * sizes[other]).all(axis=1).any():
            return True
    return False


def test_squeezed_plates_keep_their_contacts(finder):
    """A plate between two floors touches both, however thin it is: neither contact hides the other."""
    model = rigid.Model(gravity=(0, 0, 0))
    for height, thickness in ((-0.5, 1.0), (0.0, 1e-5), (0.5, 1.0)):
        model.add_shape(model.add_body(position=(0, 0, height)), rigid.Box((1, 1, thickness)), density=1.0)
    found = finder(model)(margin=0.001)
    for outer in (0, 2):  # the normal is from the shape with the higher index
        chosen = (found.shapes == sorted((1, outer))).all(axis=1)
        assert found.normal[chosen] == pytest.approx(np.tile([0, 0, -1], (4, 1)))


def test_boxes_in_a_pile_have_four_points_however_round_off_turns_them(finder):
    """Turns and shifts of 1e-5 cut off corners otherwise, and what they leave are points of their own."""
    model, random = rigid.Model(gravity=(0, 0, 0)), np.random.default_rng(4)
    for height in (0, 1):
        model.add_box((1, 1, 1), mass=1.0, position=(0, 0, height))
    find = finder(model)
    for _ in range(20):
        poses = find.poses_at_start() + 1e-5 * random.uniform(-1, 1, (1, 2, 7))
        poses[0, :, 3:] = normalised(poses[0, :, 3:])
        assert find(poses, margin=1e-3).count == 4


def test_a_die_on_the_edge_of_a_wide_floor_touches_nothing_beside_it(finder):
    """Corners that count as inside are within 1e-4 of the smaller radius, or within round-off of the larger one."""
    model = rigid.Model(gravity=(0, 0, 0))
    model.add_shape(rigid.GROUND, rigid.Box((200, 200, 1), centre=(-100, 0, -0.5)))
    model.add_box((0.02, 0.02, 0.02), density=1.0, position=(0.002, 0, 0.01))
    found = finder(model)(margin=0.001)
    assert found.point[:, 0].max() <= max(1e-4 * 0.01 * math.sqrt(3), 1e-6 * math.hypot(100, 100, 0.5))
    assert found.count == 4


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("height", [-0.05, 0.0, 0.04])
def test_gap_on_a_plane_is_the_lowest_height(name, height, finder):
    """For a cylinder itself: the lowest point of its rim is r sin(tilt) below the middle of its end."""
    normal = np.array([1.0, -2.0, 3.0]) / np.sqrt(14)
    model = rigid.Model()
    model.add_shape(rigid.GROUND, rigid.Plane(point=(1, 2, 3), normal=normal))
    model.add_shape(model.add_body(), SHAPES[name](), density=1.0)
    find = finder(model)
    random = np.random.default_rng(5)
    for _ in range(20):
        pose = np.concatenate([random.normal(size=3), normalised(random.normal(size=4))])
        corners, radius, *_ = solid(model, 1, pose)
        low = (corners @ normal).min() - radius
        if name == "cylinder":
            piece = model.shapes[1]
            axis = to_matrix(pose[3:]) @ to_matrix(piece.rotation)[:, 2] @ normal
            middle = pose[:3] + to_matrix(pose[3:]) @ piece.position
            low = middle @ normal - 0.4 * abs(axis) - 0.3 * np.sqrt(1 - axis**2)
        pose[:3] += (height + normal @ (1, 2, 3) - low) * normal
        found = find(pose.reshape(1, 1, 7), margin=0.1)
        assert (found.bodies == (0, -1)).all()
        assert (found.shapes == (1, 0)).all()
        assert found.gap.min() == pytest.approx(height, abs=1e-12)
        assert found.normal == pytest.approx(np.tile(normal, (len(found.gap), 1)), abs=1e-12)
        assert (found.point - (1, 2, 3)) @ normal == pytest.approx(found.gap, abs=1e-12)
        assert len(set(found.feature)) == len(found.feature) <= 8


@pytest.mark.parametrize("name", [name for name in SHAPES if name != "hull"])
def test_shape_distance_equals_the_distance_from_the_hull(name, distances):
    """The distance of a point is that of a sphere of no size: from the hull of the corners, minus the radius."""
    model = scene(name, "sphere")
    model.bodies[0].position = np.array([1.0, 2.0, 3.0])
    model.bodies[0].rotation = normalised(np.array([1.0, 2.0, -1.0, 0.5]))
    pose = np.concatenate([model.bodies[0].position, model.bodies[0].rotation])
    corners, radius, *_ = solid(model, 0, pose)
    places = pose[:3] + np.random.default_rng(6).normal(size=(200, 3))
    found, normals = distances(model, 0, places)
    exact = np.array([distance(x[None], corners)[0] for x in places]) - radius
    outside = exact > 1e-9
    error = (found - exact)[outside]
    assert error.max() < 1e-9
    assert error.min() > (-0.02 * 0.3 if name == "cylinder" else -1e-9)  # corners on the cylinder, sides inside it
    step = 1e-6
    ahead, _ = distances(model, 0, places + step * normals)
    assert (ahead - found)[outside] == pytest.approx(step, rel=1e-4)
