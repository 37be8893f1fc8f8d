"""Contacts with triangles of meshes: the tree, bodies against closed meshes beside convex solids, and bad input."""

import math

import numpy as np
import pytest
import trimesh
from test_narrow_phase import best_axis, distance, solid

import pbd
import rigid
from rigid.collision.data import NODE, PairTypes
from rigid.collision.mesh_tables import table_of_mesh
from rigid.collision.narrow_phase import point_finder
from rigid.rotation import normalised

FINDING = point_finder(PairTypes(rounded_on_mesh=True, polyhedra_on_mesh=True, mesh_on_plane=True))
SIMPLE = point_finder(PairTypes(*7 * [False], rounded_on_mesh=True, mesh_on_plane=True))
MARGIN = 0.03  # contact margin of the body in the tests below [m]

SIZE = np.array([2.0, 1.6, 1.2])
BOX = trimesh.creation.box(SIZE)
FINE = BOX.subdivide().subdivide()
SHAPES = {
    "sphere": lambda: rigid.Sphere(0.3),
    "capsule": lambda: rigid.Capsule(0.2, start=(0, 0, -0.5), end=(0, 0, 0.5)),
    "box": lambda: rigid.Box((0.6, 1.0, 0.4)),
    "hull": lambda: rigid.ConvexHull(np.random.default_rng(7).normal(size=(14, 3)) * 0.35),
}


def model_of(shape, ground):
    model = rigid.Model()
    model.add_shape(model.add_body(), shape, density=1.0)
    model.add_shape(rigid.GROUND, ground)
    return model


def test_the_tree_has_each_triangle_once_and_boxes_about_its_subtrees():
    vertices, triangles = np.array(FINE.vertices), np.array(FINE.faces)
    tables, _, _ = table_of_mesh(vertices, triangles)
    nodes, bounds = tables["nodes"], tables["bounds"]
    assert nodes[:, NODE.count].sum() == len(triangles)
    corners = vertices[tables["triangles"][:, :3]]
    for k, (skip, first, _count) in enumerate(nodes):
        below = nodes[k:skip]
        end = first + below[:, NODE.count].sum()
        assert bounds[k] == pytest.approx([*corners[first:end].min(axis=(0, 1)), *corners[first:end].max(axis=(0, 1))])
    given = {tuple(sorted(map(tuple, each))) for each in vertices[triangles].round(9)}
    assert given == {tuple(sorted(map(tuple, each))) for each in corners.round(9)}


@pytest.mark.slow
@pytest.mark.parametrize("sides", ["outside", "both"])
@pytest.mark.parametrize("name", SHAPES)
def test_a_closed_mesh_has_the_gap_of_its_convex_solid(finder, name, sides):
    # The least gap of contact points is the depth along the best separating axis where the two overlap. It is the
    # distance of the solids where they are apart, and edges and faces are nearest. Flat edges inside the faces of the
    # mesh (12 of each) must change neither.
    random, convex = np.random.default_rng(11), model_of(SHAPES[name](), rigid.Box(SIZE))
    find = finder(model_of(SHAPES[name](), rigid.Mesh(FINE, sides=sides)), finding=FINDING)
    pose, ground = np.zeros((1, 1, 7)), np.array([0, 0, 0, 1.0, 0, 0, 0])
    radius = convex.shapes[0].shape.numbers()[0] if name in ("sphere", "capsule") else 0.0
    compared, wrong = 0, 0
    for _ in range(60):
        pose[0, 0, 3:] = normalised(random.normal(size=4))
        direction, wanted = normalised(random.normal(size=3)), random.uniform(-0.004, 0.02)
        low, high = 0.0, 5.0
        for _ in range(30):
            pose[0, 0, :3] = 0.5 * (low + high) * direction
            body, obstacle = solid(convex, 0, pose[0, 0]), solid(convex, 1, ground)
            gap = distance(body[0], obstacle[0])[0] - radius if radius else best_axis(body, obstacle)
            low, high = (0.5 * (low + high), high) if gap < wanted else (low, 0.5 * (low + high))
        if not radius and gap > 0:
            gap = distance(body[0], obstacle[0])[0]
        if gap < MARGIN - 2e-3:
            found = find(pose, margin=MARGIN)
            compared += 1
            least = found.gap.min() if found.count else math.inf
            assert least > gap - 2e-3  # twice EDGE_MARGIN of the largest: no point is deeper than the solids overlap
            wrong += least > gap + 2e-3
    # Two corners, or a corner and an edge, that are apart have no point (rigid/collision/polyhedra.py).
    assert compared > 30
    assert wrong <= (0 if radius else 0.05 * compared)


def test_a_ball_over_a_valley_touches_both_sides_and_over_a_ridge_its_edge(finder):
    # A ball of radius r at height z over the edge of two planes with slope s: in the valley the gap to both is
    # z cos s - r, along their normals; over the ridge it is z - r, upwards.
    slope, r, z = 0.4, 0.3, 0.29
    x, y = np.array([-1.0, 0, 1]), np.array([-1.0, 1])
    for sign, gaps in ((1, [z * math.cos(slope) - r] * 2), (-1, [z - r])):
        heights = np.tile(sign * math.tan(slope) * np.abs(x), (len(y), 1))
        find = finder(model_of(rigid.Sphere(r), rigid.HeightField(heights, (2, 2))), finding=SIMPLE)
        found = find(np.array([[[0, 0.123, z, 1, 0, 0, 0]]]))
        assert found.gap == pytest.approx(gaps, abs=1e-12)
        tilt = slope if sign > 0 else 0.0
        assert found.normal[:, 2] == pytest.approx(math.cos(tilt), abs=1e-12)


def test_an_open_mesh_is_touched_from_both_sides_and_a_height_field_from_above(finder):
    sheet = ([(-1, -1, 0), (1, -1, 0), (1, 1, 0), (-1, 1, 0)], [(0, 1, 2), (0, 2, 3)])
    for shape, below in ((rigid.Mesh(sheet), 1), (rigid.HeightField(np.zeros((2, 2)), (2, 2)), 0)):
        find = finder(model_of(rigid.Sphere(0.2), shape), finding=SIMPLE)
        for z, count in ((0.15, 1), (-0.15, below)):
            found = find(np.array([[[0.3, 0.1, z, 1, 0, 0, 0]]]))
            assert found.count == count
            assert found.normal[:, 2] == pytest.approx(math.copysign(1, z))
            assert found.gap == pytest.approx(abs(z) - 0.2)


def test_a_mesh_on_a_plane_touches_it_with_its_lowest_vertices(finder):
    model = rigid.Model()
    body = model.add_body(position=(0, 0, 0.59))
    model.add_shape(body, rigid.Mesh(BOX), local=True, density=100.0)
    model.add_ground()
    found = finder(model, finding=SIMPLE)()
    assert found.count == 4
    assert found.gap == pytest.approx(-0.01)


def test_a_height_field_is_the_grid_it_was_given():
    heights = np.arange(12.0).reshape(3, 4)
    field = rigid.HeightField(heights, spacing=(0.5, 2.0), position=(1, 2, 3))
    points = field.pose()[0] + field.vertices
    assert len(field.triangles) == 12
    assert points[0] == pytest.approx((1 - 0.75, 2 - 2, 3 + 0))
    assert points[-1] == pytest.approx((1 + 0.75, 2 + 2, 3 + 11))
    assert points[1] - points[0] == pytest.approx((0.5, 0, 1))


SHEET = ([(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)], [(0, 1, 2), (0, 2, 3)])
WRONG = {
    "2 open edges|4 open edges": lambda: rigid.Mesh(SHEET, sides="outside"),
    "triangle 0 of the mesh has no area": lambda: rigid.Mesh(([(0, 0, 0), (1, 0, 0), (2, 0, 0)], [(0, 1, 2)])),
    "mesh triangles holds 7": lambda: rigid.Mesh(([(0, 0, 0), (1, 0, 0), (2, 1, 0)], [(0, 1, 7)])),
    "mesh vertices": lambda: rigid.Mesh(([(0, 0, math.nan), (1, 0, 0), (2, 1, 0)], [(0, 1, 2)])),
    "sides is 'up'": lambda: rigid.Mesh(SHEET, sides="up"),
    "at least two rows": lambda: rigid.HeightField(np.zeros((1, 5)), (1, 1)),
    "neither size nor spacing": lambda: rigid.HeightField(np.zeros((2, 5))),
    "heights": lambda: rigid.HeightField([[0, math.inf], [0, 0]], (1, 1)),
    "4 open edges: expected a closed mesh": lambda: model_of(rigid.Mesh(SHEET), rigid.Plane()),
    "has no mass": lambda: mesh_without_mass().initial_state(),
    "expected a pbd.MeshCollider": lambda: pbd.Particles().add_collider(rigid.Mesh(SHEET)),
}


def mesh_without_mass():
    model = rigid.Model()
    model.add_shape(model.add_body(name="kite"), rigid.Mesh(SHEET), local=True)
    return model


@pytest.mark.parametrize("message", WRONG)
def test_wrong_meshes_are_refused_in_one_line(message):
    with pytest.raises((ValueError, IndexError, NotImplementedError), match=message) as caught:
        WRONG[message]()
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) <= 200


def test_two_meshes_that_may_touch_are_refused_by_name(finder):
    model = model_of(rigid.Mesh(BOX), rigid.Mesh(SHEET))
    with pytest.raises(NotImplementedError, match="meshes on 'body 0' and 'ground' may touch"):
        finder(model, finding=FINDING)
