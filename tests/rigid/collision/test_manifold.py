"""Contact points of shapes at known positions: lying, standing and leaning on one another, and degenerate ones."""

import itertools
import math

import numpy as np
import pytest

import rigid

FLAT = (math.sqrt(0.5), 0, math.sqrt(0.5), 0)  # a quarter turn about y: z to x


def turned(angle):
    """Rotation about z."""
    return math.cos(angle / 2), 0, 0, math.sin(angle / 2)


def stacked(*shapes):
    """Bodies of one shape each: (method, arguments, position, rotation)."""
    model = rigid.Model()
    for add, size, position, *rotation in shapes:
        getattr(model, add)(*size, mass=1.0, position=position, rotation=rotation[0] if rotation else (1, 0, 0, 0))
    return model


def as_set(points, digits=9):
    return {tuple(float(x) for x in np.round(point, digits) + 0.0) for point in points}


TABLE = ("add_box", [(2.0, 2.0, 0.2)], (0, 0, -0.1))


def test_box_on_a_larger_box_touches_with_its_four_corners(finder):
    found = finder(stacked(TABLE, ("add_box", [(1.0, 0.6, 0.5)], (0.1, 0.2, 0.25))))(margin=0.01)
    assert as_set(found.point) == {(0.1 + x, round(0.2 + y, 9), 0) for x in (-0.5, 0.5) for y in (-0.3, 0.3)}
    assert as_set(found.normal) == {(0, 0, -1)}  # from b, the upper one, to a, the table
    assert found.gap == pytest.approx(0, abs=1e-15)


def test_box_over_an_edge_touches_where_the_faces_overlap(finder):
    found = finder(stacked(TABLE, ("add_box", [(1.0, 0.6, 0.5)], (1.0, 0, 0.24))))(margin=0.0)
    assert as_set(found.point) == {(x, y, 0) for x in (0.5, 1.0) for y in (-0.3, 0.3)}
    assert found.gap == pytest.approx(-0.01, abs=1e-15)


def test_equal_boxes_rotated_by_45_degrees_share_an_octagon(finder):
    """Sides are at distance 1/2 in both squares: corners (±1/2, ±t) and (±t, ±1/2), t = (sqrt 2 - 1)/2."""
    model = stacked(("add_box", [(1, 1, 1)], (0, 0, 0)), ("add_box", [(1, 1, 1)], (0, 0, 1), turned(math.pi / 4)))
    found = finder(model)(margin=0.01)
    t = (math.sqrt(2) - 1) / 2
    corners = [(x, y, 0.5) for x, y in itertools.product((-0.5, 0.5), (-t, t))]
    corners += [(y, x, 0.5) for x, y, _ in corners]
    assert as_set(found.point) == as_set(corners)
    assert len(found.gap) == 8
    assert len(set(found.feature)) == 8


def test_equal_boxes_in_a_stack_share_four_corners(finder):
    found = finder(stacked(("add_box", [(1, 1, 1)], (0, 0, 0)), ("add_box", [(1, 1, 1)], (0, 0, 1))))(margin=0.01)
    assert as_set(found.point) == {(x, y, 0.5) for x in (-0.5, 0.5) for y in (-0.5, 0.5)}
    assert len(found.gap) == 4


@pytest.mark.parametrize(("aside", "is_reduced"), [(0.0, True), (1e-3, True), (5e-3, False)])
def test_corners_have_one_point_each_and_opposite_ones_follow(finder, aside, is_reduced):
    """A box that is turned and moved a little: corners and crossings lie near one another, and one of them is left.
    Moved farther, it has four points anyway, which stay in the order of the polygon."""
    rotation = rigid.rotation.multiply(rigid.rotation.exponential((3e-4, -2e-4, 0)), turned(2e-3))
    model = stacked(("add_box", [(1, 1, 1)], (0, 0, 0)), ("add_box", [(1, 1, 1)], (aside, -0.7 * aside, 1), rotation))
    found = finder(model)(margin=0.01)
    points = found.point[:, :2]
    for corner in itertools.product((-0.5, 0.5), (-0.5, 0.5)):
        assert (np.abs(points - corner).max(axis=1) < 0.02).sum() == 1
    distances = np.linalg.norm(points - points[0], axis=1)
    assert (distances[1] > 0.98 * distances.max()) == is_reduced  # the opposite one follows the first
    assert found.gap.min() == pytest.approx(-0.5 * (3e-4 + 2e-4), abs=1e-5)  # the deepest is among them


def test_crossed_edges_touch_in_one_point(finder):
    """Two boxes, each on an edge, one along x and one along y. The upper one is 0.01 below touching."""
    edge = math.sqrt(0.5)
    model = rigid.Model()
    c, s = math.cos(math.pi / 8), math.sin(math.pi / 8)
    model.add_box((2, 1, 1), mass=1, rotation=(c, s, 0, 0))
    model.add_box((1, 2, 1), mass=1, position=(0.1, 0.2, 2 * edge - 0.01), rotation=(c, 0, s, 0))
    found = finder(model)(margin=0.01)
    assert len(found.gap) == 1
    assert found.gap[0] == pytest.approx(-0.01, abs=1e-14)
    assert found.normal[0] == pytest.approx((0, 0, -1), abs=1e-14)
    assert found.point[0] == pytest.approx((0.1, 0, edge), abs=1e-14)


def test_standing_cylinder_touches_plane_and_box_along_its_rim(finder):
    model = rigid.Model()
    model.add_ground()
    model.add_cylinder(0.3, 1.0, mass=1, position=(0, 0, 0.5))
    found = finder(model)(margin=0.01)
    assert as_set(found.point) == {(0.3, 0, 0), (-0.3, 0, 0), (0, 0.3, 0), (0, -0.3, 0)}
    found = finder(stacked(TABLE, ("add_cylinder", [0.3, 1.0], (0, 0, 0.5))))(margin=0.01)
    assert len(found.gap) == 8
    assert np.linalg.norm(found.point[:, :2], axis=1) == pytest.approx(0.3, abs=1e-14)
    angles = np.sort(np.arctan2(found.point[:, 1], found.point[:, 0]))
    assert np.diff(angles).max() <= math.pi / 2 + 1e-12  # all around


def test_lying_cylinder_touches_a_plane_along_a_line(finder):
    """At any roll angle, because the plane touches the cylinder itself, not its prism."""
    model = rigid.Model()
    model.add_ground()
    for k, roll in enumerate((0.0, 0.1, 1.234)):
        turn = rigid.rotation.multiply(FLAT, turned(roll))
        model.add_cylinder(0.3, 1.0, mass=1, position=(0, 2 * k, 0.3), rotation=turn)
    found = finder(model)(margin=0.001)
    assert as_set(found.point) == {(x, 2 * k, 0) for x in (-0.5, 0.5) for k in range(3)}
    assert found.gap == pytest.approx(0, abs=1e-15)


def test_hull_stands_on_its_corners(finder):
    corners = np.array([(0.5, 0, 0), (-0.3, 0.4, 0), (-0.3, -0.4, 0), (0, 0, 1)])
    model = rigid.Model()
    model.add_shape(rigid.GROUND, rigid.Box((3, 3, 1), centre=(0, 0, -0.5)))
    model.add_shape(model.add_body(), rigid.ConvexHull(corners), density=1.0)
    found = finder(model)(margin=0.01)
    assert as_set(found.point) == as_set(corners[:3])
    assert as_set(found.normal) == {(0, 0, 1)}
    assert (found.bodies == (0, -1)).all()


def test_capsule_on_a_box_has_two_points(finder):
    """They are its ends, or where the box ends."""
    find = finder(stacked(TABLE, ("add_capsule", [0.1, 1.0], (0.2, 0.3, 0.1), FLAT)))
    found = find(margin=0.01)
    assert as_set(found.point) == {(-0.3, 0.3, 0), (0.7, 0.3, 0)}
    poses = find.poses_at_start()
    poses[0, 1, 0] = 0.9
    assert as_set(find(poses, margin=0.01).point) == {(0.4, 0.3, 0), (1.0, 0.3, 0)}


def test_long_capsule_across_a_narrow_box_has_two_points(finder):
    """Neither end is over the box: the nearest points are on the box's edges."""
    model = stacked(("add_box", [(0.4, 1, 1)], (0, 0, -0.5)), ("add_capsule", [0.1, 3.0], (0, 0.2, 0.099), FLAT))
    found = finder(model)(margin=0.01)
    assert as_set(found.point) == {(-0.2, 0.2, 0), (0.2, 0.2, 0)}
    assert found.gap == pytest.approx(-0.001, abs=1e-12)


def test_parallel_capsules_have_two_points_and_crossed_ones_one(finder):
    along = finder(stacked(("add_capsule", [0.1, 1.0], (0, 0, 0)), ("add_capsule", [0.1, 1.0], (0.19, 0, 0.4))))
    found = along(margin=0.0)
    assert as_set(found.point) == {(0.1, 0, -0.1), (0.1, 0, 0.5)}
    assert found.gap == pytest.approx(-0.01, abs=1e-15)
    across = finder(stacked(("add_capsule", [0.1, 1.0], (0, 0, 0)), ("add_capsule", [0.1, 1.0], (0, 0.19, 0.4), FLAT)))
    found = across(margin=0.0)
    assert as_set(found.point) == {(0, 0.1, 0.4)}


SHAPES = {
    "sphere": ("add_sphere", [0.3]),
    "capsule": ("add_capsule", [0.2, 1.0]),
    "box": ("add_box", [(0.6, 1.0, 0.4)]),
    "cylinder": ("add_cylinder", [0.3, 0.8]),
}


@pytest.mark.parametrize("rotation", [(1, 0, 0, 0), FLAT], ids=["alike", "turned"])
@pytest.mark.parametrize("pair", list(itertools.combinations_with_replacement(SHAPES, 2)), ids="-".join)
def test_coinciding_shapes_have_a_unit_normal(pair, rotation, finder):
    """Centres, axes and faces coincide, so every direction is possible."""
    found = finder(stacked((*SHAPES[pair[0]], (1, 2, 3)), (*SHAPES[pair[1]], (1, 2, 3), rotation)))(margin=0.1)
    assert len(found.gap) > 0
    assert np.isfinite(found.point).all()
    assert (found.gap < 0).all()
    assert np.linalg.norm(found.normal, axis=1) == pytest.approx(1, abs=1e-12)


def test_friction_is_the_geometric_mean_and_restitution_the_larger(finder):
    model = rigid.Model()
    model.add_ground(friction=0.9, restitution=0.2)
    model.add_sphere(0.5, mass=1, position=(0, 0, 0.5), friction=0.4, restitution=0.6)
    found = finder(model)(margin=0.01)
    assert found.friction == pytest.approx(math.sqrt(0.36), abs=1e-15)
    assert found.restitution.tolist() == [0.6]
