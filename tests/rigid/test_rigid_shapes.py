"""Shapes: sizes and poses, bounding radii, the faces of convex hulls, refused arguments."""

import math

import numpy as np
import pytest
import trimesh

import rigid
from rigid import mass, rotation


def turned(points, seed):
    random = np.random.default_rng(seed)
    return rotation.rotate(rotation.normalised(random.normal(size=4)), points) + random.normal(size=3)


SOLIDS = {
    # name: (points, vertices, faces). Euler's V - E + F = 2 is checked, too.
    "cube": (np.array(np.meshgrid(*[(-1, 1)] * 3)).reshape(3, -1).T, 8, 6),
    "octahedron": (np.concatenate([np.eye(3), -np.eye(3)]), 6, 8),
    "prism": (rigid.Cylinder(0.5, start=(0, 0, -1), end=(0, 0, 1)).hull(12).vertices, 24, 14),
    "icosahedron": (trimesh.creation.icosahedron().vertices, 12, 20),
    "crowd": (np.random.default_rng(2).normal(size=(100, 3)), None, None),
}


@pytest.mark.parametrize("name", SOLIDS)
def test_faces_of_hulls_are_flat_ordered_and_outward(name):
    points, vertices, faces = SOLIDS[name]
    points = turned(points, seed=4)
    hull = rigid.ConvexHull(points)
    if vertices:
        assert (len(hull.vertices), len(hull.faces)) == (vertices, faces)
    edges = sum(map(len, hull.faces)) / 2
    assert len(hull.vertices) - edges + len(hull.faces) == 2
    # Every point is behind every plane, and the vertices of each face are on its plane.
    normals, offsets = hull.planes[:, :3], hull.planes[:, 3]
    assert ((points - hull.centre) @ normals.T <= offsets + 1e-13).all()
    assert (offsets > 0).all()
    seen = set()
    for face, normal, offset in zip(hull.faces, normals, offsets):
        corners = hull.vertices[face]
        assert np.abs(corners @ normal - offset).max() < 1e-13
        sides = np.roll(corners, -1, axis=0) - corners
        assert (np.cross(sides, np.roll(sides, -1, axis=0)) @ normal > 0).all()  # turns left at every corner
        seen |= {(int(a), int(b)) for a, b in zip(face, np.roll(face, -1))}
    assert seen == {(b, a) for a, b in seen}  # every edge once in each direction
    a, b, c = (hull.vertices[hull.triangles[:, k]] for k in range(3))
    assert ((np.cross(b - a, c - a) * a).sum(axis=1) > 0).all()


def test_the_frame_of_a_hull_is_at_its_centre():
    points = turned(np.eye(4)[:, :3], seed=9)
    hull = rigid.ConvexHull(points)
    position, q = hull.pose()
    assert np.allclose(position, points.mean(axis=0), rtol=0, atol=1e-15)
    assert np.array_equal(q, rotation.IDENTITY)
    placed = hull.vertices + position
    assert np.allclose(placed[np.lexsort(placed.T)], points[np.lexsort(points.T)], rtol=0, atol=1e-15)


def test_a_cylinder_ends_at_start_and_end():
    cylinder = rigid.Cylinder(0.25, start=(1, 0, 0), end=(1, 2, 0))
    position, q = cylinder.pose()
    radius, half = cylinder.numbers()
    assert (radius, half) == (0.25, 1.0)
    for z, end in ((-half, (1, 0, 0)), (half, (1, 2, 0))):
        assert np.allclose(position + rotation.rotate(q, (0, 0, z)), end, rtol=0, atol=1e-15)


def test_volume_of_a_cylinder_as_a_prism():
    """The area of an inscribed polygon with n sides is n/2 sin(2π/n) r²."""
    prism = rigid.Cylinder(0.5, start=(0, 0, -1), end=(0, 0, 1)).hull(24)
    assert mass.of_shape(prism, density=1.0).mass == pytest.approx(12 * math.sin(math.pi / 12) * 0.25 * 2, rel=1e-14)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: rigid.Cylinder(0.5, start=(1, 1, 1), end=(1, 1, 1)), "itself: expected two points"),
        (lambda: rigid.Cylinder(0, 1), "cylinder radius is 0: expected a number above zero"),
        (lambda: rigid.Cylinder(1, start=(0, 0, 0), end=(0, math.nan, 0)), "cylinder end is nan"),
        (lambda: rigid.Cylinder(1, 1).hull(2), "sides is 2: expected 3 or more"),
        (lambda: rigid.Capsule(1), "capsule without length, start and end: expected length, or start and end"),
        (lambda: rigid.Capsule(1, end=(0, 0, 1)), "capsule with end alone: expected both, or length"),
        (lambda: rigid.Capsule(1, 2, start=(0, 0, 0), end=(0, 0, 1)), "start, end and length: expected start and end"),
        (lambda: rigid.Cylinder(1, start=(0, 0, 0), end=(0, 0, 1), centre=(0, 0, 0)), "start, end and centre"),
        (lambda: rigid.Cylinder(1, -1), "cylinder length is -1: expected a number above zero"),
        (lambda: rigid.Box((0.03, -0.4, 0.25)), "box size is -0.4: expected a number above zero"),
        (lambda: rigid.Box(0.3), r"box size has shape \(\): expected \(3,\)"),
    ],
)
def test_wrong_arguments_are_refused(make, words):
    with pytest.raises(ValueError, match=words):
        make()


def test_the_first_argument_of_a_shape_is_its_size():
    """A size of (0.03, 0.4, 0.25) sets the edges, not the centre."""
    box = rigid.Box((0.03, 0.4, 0.25))
    assert np.array_equal(box.size, (0.03, 0.4, 0.25))
    assert np.array_equal(box.centre, (0, 0, 0))
    assert rigid.Sphere(0.3, centre=(1, 2, 3)).radius == 0.3
    assert rigid.Capsule(0.3, 0.8).numbers() == (0.3, 0.4)


@pytest.mark.parametrize(
    "make",
    [
        lambda: rigid.Box((0, 0, 0), (1, 1, 1)),
        lambda: rigid.Sphere((0, 0, 0), 0.3),
        lambda: rigid.Capsule((0, 0, 0), (0, 0, 1), 0.3),
        lambda: rigid.Cylinder(0.3, 1.0, (0, 0, 0)),
        lambda: rigid.Plane((0, 0, 0)),
        lambda: rigid.MeshCollider(trimesh.creation.box((1, 1, 1)), 8),
        lambda: rigid.Box(),
        lambda: rigid.Sphere(),
        lambda: rigid.Capsule(),
    ],
)
def test_sizes_are_required_and_everything_else_is_keyword_only(make):
    with pytest.raises(TypeError, match=r"positional argument"):
        make()


@pytest.mark.parametrize("kind", [rigid.Capsule, rigid.Cylinder])
def test_length_centre_and_rotation_or_start_and_end(kind):
    turn = rotation.from_axis_angle((1, 0, 0), -math.pi / 2)  # z to y
    one = kind(0.25, 2.0, centre=(1, 1, 0), rotation=turn)
    other = kind(0.25, start=(1, 0, 0), end=(1, 2, 0))
    assert one.numbers() == other.numbers()
    assert np.allclose(one.centre, other.centre, rtol=0, atol=1e-15)
    assert np.allclose(one.rotation, other.rotation, rtol=0, atol=1e-15)
    assert one.length == 2.0


BOUNDED = {
    "sphere": (rigid.Sphere(0.3), 0.3),
    "capsule": (rigid.Capsule(0.3, 0.8), 0.7),
    "cylinder": (rigid.Cylinder(0.3, 0.8), 0.5),
    "box": (rigid.Box((2, 4, 4)), 3.0),
    "hull": (rigid.ConvexHull(np.concatenate([np.eye(3), -np.eye(3)])), 1.0),
    "mesh": (rigid.MeshCollider(trimesh.creation.box((2, 4, 4)), resolution=8), 3.0),
    "plane": (rigid.Plane(), math.inf),
}


@pytest.mark.parametrize("name", BOUNDED)
def test_bounding_radius(name):
    shape, radius = BOUNDED[name]
    assert shape.bounding_radius() == pytest.approx(radius, rel=1e-15)
