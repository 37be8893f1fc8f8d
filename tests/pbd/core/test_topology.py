"""Neighbours in meshes that are small enough to count by hand."""

import numpy as np
import pytest
import trimesh

from pbd.core.topology import boundary_of, edges_of, edges_of_tetrahedra, hinges_of, split_sharp_edges
from pbd.description.rest_values import dihedral_angle

SQUARE = np.array([[0, 1, 2], [0, 2, 3]])


def test_edges_of_a_square():
    assert edges_of(SQUARE).tolist() == [[0, 1], [0, 2], [0, 3], [1, 2], [2, 3]]


def test_a_closed_surface_has_a_hinge_on_every_edge_and_euler_characteristic_two():
    ball = trimesh.creation.icosphere(subdivisions=3)
    edges, hinges = edges_of(ball.faces), hinges_of(ball.faces)
    assert len(ball.vertices) - len(edges) + len(ball.faces) == 2
    assert {tuple(sorted(pair)) for pair in hinges[:, :2].tolist()} == {tuple(pair) for pair in edges.tolist()}
    # Each hinge belongs to two triangles of the mesh. The first has the order start, end, opposite.
    faces = {tuple(np.roll(face, k)) for face in ball.faces for k in range(3)}
    assert all((a, b, c) in faces and (b, a, d) in faces for a, b, c, d in hinges)


@pytest.mark.parametrize("angle", [0.0, 0.4, -0.4, 2.0])
def test_a_hinge_has_the_angle_of_its_fold_positive_away_from_the_normal(angle):
    # Two triangles at the x axis, with normals upwards. The triangle at y < 0 is rotated downwards by the angle.
    vertices = np.array([(0, 0, 0), (1, 0, 0), (0.5, 1, 0), (0.5, -np.cos(angle), -np.sin(angle))])
    hinges = hinges_of(np.array([[0, 1, 2], [1, 0, 3]]))
    assert dihedral_angle(vertices[hinges]) == pytest.approx([angle], abs=1e-15)


def test_every_hinge_of_a_convex_body_has_a_positive_angle():
    cube = trimesh.creation.box((1, 1, 1))
    angles = dihedral_angle(cube.vertices[hinges_of(cube.faces)])
    # 12 edges of the cube at a right angle, and a flat diagonal on each of 6 faces.
    assert np.sort(angles) == pytest.approx([0] * 6 + [np.pi / 2] * 12, abs=1e-12)


def test_an_edge_of_three_triangles_has_no_hinge():
    with pytest.raises(ValueError, match=r"edge from 0 to 1 belongs to three triangles"):
        hinges_of(np.array([[0, 1, 2], [1, 0, 3], [0, 1, 4]]))


def test_a_tetrahedron_has_six_edges_and_a_surface_wound_outwards():
    corners = np.array([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1.0)])
    one = np.array([[0, 1, 2, 3]])
    edges, which = edges_of_tetrahedra(one)
    assert len(edges) == 6
    assert sorted(which[0]) == list(range(6))
    outside = trimesh.Trimesh(corners, boundary_of(one), process=False)
    assert outside.is_watertight
    assert outside.volume == pytest.approx(1 / 6)


def test_two_tetrahedra_share_a_face_that_is_not_outside():
    two = np.array([[0, 1, 2, 3], [1, 2, 3, 4]])
    assert len(boundary_of(two)) == 6
    assert len(edges_of_tetrahedra(two)[0]) == 9


def test_only_sharp_edges_split_vertices():
    cube, ball = trimesh.creation.box((1, 1, 1)), trimesh.creation.icosphere(subdivisions=2)
    drawn, triangles = split_sharp_edges(ball.vertices, ball.faces)
    assert np.array_equal(drawn, np.arange(len(ball.vertices)))
    assert np.array_equal(triangles, ball.faces)
    drawn, triangles = split_sharp_edges(cube.vertices, cube.faces)
    assert np.array_equal(drawn[triangles], cube.faces)
    assert np.bincount(drawn).tolist() == [3] * 8  # three faces meet at each corner
    # All corners of triangles at a vertex have one normal.
    normals = np.zeros((24, 3, 3))
    normals[triangles, range(3)] = cube.face_normals[:, None]
    found = [np.unique(each[each.any(axis=1)], axis=0) for each in normals]
    assert all(len(each) == 1 for each in found)


def test_an_edge_that_becomes_smooth_splits_its_sharp_end_only():
    # A ridge along x whose angle of 53 degrees falls to zero at x = 1; other edges there turn by at most 37.
    vertices = np.array([(0, 0, 0), (1, 0, 0), (0, 1, -0.5), (0, -1, -0.5), (2, 0, 0), (1, 1, 0), (1, -1, 0)], float)
    triangles = np.array([(0, 1, 2), (1, 0, 3), (1, 5, 2), (3, 6, 1), (1, 4, 5), (6, 4, 1)])
    drawn, split = split_sharp_edges(vertices, triangles)
    assert np.array_equal(drawn[split], triangles)
    assert np.bincount(drawn).tolist() == [2, 1, 1, 1, 1, 1, 1]
