"""Mesh colliders: the grid against closed forms within the error of trilinear interpolation, and wrong arguments.

The error of trilinear interpolation with spacing s is at most s²/8 (|d_xx| + |d_yy| + |d_zz|), with the largest second
derivatives in the cell. Their absolute sum is at most that of the eigenvalues of the Hessian, which are the curvatures
of the level set. An inscribed mesh has an additional error: the sagitta R (1 - cos(half the angle of an edge)).
"""

import math
import time

import numpy as np
import pytest
import trimesh
from test_signed_distance import distance_and_normal, points_in

import pbd
from pbd.core.shapes import MeshCollider

DIAGONAL = math.sqrt(3)


def test_a_ball_within_the_interpolation_error():
    radius = 0.8
    ball = trimesh.creation.icosphere(subdivisions=4, radius=radius)
    collider = MeshCollider(ball, resolution=40)
    points = points_in(0.9)
    length = np.linalg.norm(points, axis=1)
    points, length = points[length > 0.3], length[length > 0.3]
    distance, normal = distance_and_normal(collider, points)
    # Level sets are spheres with two curvatures 1/r, with the smallest r in the cell.
    bound = collider.spacing**2 / 8 * 2 / (length - DIAGONAL * collider.spacing)
    sagitta = radius - np.linalg.norm(ball.triangles_center, axis=1).min()
    error = distance - (length - radius)
    assert (error <= bound + sagitta).all()
    assert (error >= -bound).all()  # facets are inside the sphere: the distance is not below the true one
    # The error of the gradient is s/2 (|d_xx| + ...). Normals of facets differ by half the angle of an edge.
    facet = ball.edges_unique_length.max() / radius / 2
    turn = np.linalg.norm(normal - points / length[:, None], axis=1)
    assert (turn <= DIAGONAL * collider.spacing / (length - DIAGONAL * collider.spacing) + facet).all()


def test_a_box_is_exact_away_from_kinks():
    collider = MeshCollider(trimesh.creation.box((1, 1.6, 0.6)), resolution=32)
    half = np.array([0.5, 0.8, 0.3])
    points = points_in(half + 2.9 * collider.spacing)
    beyond = np.abs(points) - half
    exact = np.linalg.norm(np.maximum(beyond, 0), axis=1) + np.minimum(beyond.max(axis=1), 0)
    distance, _ = distance_and_normal(collider, points)
    # One face is nearest to the whole cell, and the point is in front of that face: d is linear, so it is exact.
    order = np.sort(beyond, axis=1)
    plain = (order[:, 2] - order[:, 1] > 2 * collider.spacing) & (order[:, 1] < -collider.spacing)
    plain &= np.abs(points).min(axis=1) > collider.spacing  # no other face is nearest in the cell
    assert plain.sum() > 300
    assert distance[plain] == pytest.approx(exact[plain], abs=1e-12)
    # Elsewhere d has the Lipschitz constant one, so the error is at most half a diagonal of the cell.
    assert np.abs(distance - exact).max() <= DIAGONAL / 2 * collider.spacing


def test_a_torus_inside_outside_and_in_its_hole():
    """d = |(|(x, y)| - R, z)| - r."""
    major, minor, around, across = 1.0, 0.35, 128, 64
    collider = MeshCollider(trimesh.creation.torus(major, minor, around, across), resolution=64)
    points = points_in((1.4, 1.4, 0.4), 6000)
    axis = np.hypot(points[:, 0], points[:, 1])
    tube = np.hypot(axis - major, points[:, 2])
    clear = (tube > 0.15) & (axis > 0.25)  # not near the circle and the axis, where d has no second derivative
    points, axis, tube = points[clear], axis[clear], tube[clear]
    exact = tube - minor
    distance, normal = distance_and_normal(collider, points)
    reach = DIAGONAL * collider.spacing
    bound = collider.spacing**2 / 8 * (1 / (tube - reach) + 1 / (axis - reach))
    sagitta = (major + minor) * (1 - math.cos(math.pi / around)) + minor * (1 - math.cos(math.pi / across))
    assert (np.abs(distance - exact) <= bound + sagitta).all()
    assert (distance[exact < -0.02] < 0).all()
    assert (distance[exact > 0.02] > 0).all()
    direction = np.stack([points[:, 0] * (1 - major / axis), points[:, 1] * (1 - major / axis), points[:, 2]], axis=1)
    direction /= tube[:, None]
    turn = np.linalg.norm(normal - direction, axis=1)
    facet = math.pi / across + math.pi / around
    assert (turn <= reach / 2 * (1 / (tube - reach) + 1 / (axis - reach)) + facet).all()


def test_scale_and_margin_change_the_grid():
    box = trimesh.creation.box((1, 1, 2))
    one, two = MeshCollider(box, resolution=16), MeshCollider(box, resolution=16, scale=3)
    assert one.spacing == pytest.approx(2 / 16)
    assert one.grid.shape == (15, 15, 23)  # 8 or 16 cells and 3 on each side, and one sample more
    assert two.grid == pytest.approx(3 * one.grid)
    assert two.lower == pytest.approx(3 * one.lower)
    wide = MeshCollider(box, resolution=16, margin=1.0)
    assert (wide.lower <= (-1.5, -1.5, -2)).all()


def test_region_refines_a_part_of_the_mesh():
    box = trimesh.creation.box((100, 100, 4))
    part = MeshCollider(box, resolution=20, region=[(-1, -1, 1), (1, 1, 3)])
    assert part.spacing == pytest.approx(2 / 20)
    assert np.ptp(part.mesh.vertices, axis=0) == pytest.approx((100, 100, 4))
    heights = part.lower[2] + part.spacing * np.arange(part.grid.shape[2])
    # Nearer to the top than to other sides, so the distance is the height above it.
    assert part.grid == pytest.approx(np.broadcast_to(heights - 2, part.grid.shape), abs=1e-12)
    with pytest.raises(ValueError, match="expected a box that meets the mesh"):
        MeshCollider(box, region=[(0, 0, 5), (1, 1, 6)])



@pytest.mark.parametrize("turned", [False, True])
def test_particles_come_to_rest_on_a_mesh(turned):
    # A box of 2 x 1 x 0.5 at (3, 0, 1), with or without a quarter turn about y: its top is at 2 or 1.25.
    rotation = (math.sqrt(0.5), 0, math.sqrt(0.5), 0) if turned else (1, 0, 0, 0)
    particles = pbd.Particles()
    collider = MeshCollider(trimesh.creation.box((2, 1, 0.5)), resolution=32, position=(3, 0, 1), rotation=rotation)
    particles.add_collider(collider, friction=0.5)
    particles.add_particles([(3, 0, 2.3), (3.1, 0.2, 2.4)], radius=0.05)
    particles.add_particle((4.6, 0, 2.5))  # beside it
    system = pbd.ParticleSystem(particles, dt=1 / 120)
    system.step(120)
    x = system.positions()
    # Projection puts them on the surface, where the grid is exact.
    assert x[:2, 2] == pytest.approx((2.0 if turned else 1.25) + 0.05, abs=1e-9)
    assert x[2, 2] < 0


def test_open_inverted_and_flat_meshes():
    ball = trimesh.creation.icosphere(subdivisions=2)
    inverted = MeshCollider((ball.vertices, ball.faces[:, ::-1]), resolution=8)
    assert inverted.grid == pytest.approx(MeshCollider(ball, resolution=8).grid)
    open_ball = ball.vertices, ball.faces[1:]
    with pytest.raises(ValueError, match=r"3 open edges.*repair=True"):
        MeshCollider(open_ball)
    assert MeshCollider(open_ball, resolution=8, repair=True).grid == pytest.approx(inverted.grid)
    with pytest.raises(ValueError, match="without triangles"):
        MeshCollider((ball.vertices, np.zeros((0, 3), int)))
    with pytest.raises(ValueError, match="inside"):
        MeshCollider((ball.vertices * (1, 1, 0), ball.faces))
    with pytest.raises(ValueError, match="resolution is 1: expected 2 or more"):
        MeshCollider(ball, resolution=1)
    with pytest.raises(ValueError, match="scale is -1"):
        MeshCollider(ball, scale=-1)


@pytest.mark.slow
def test_the_time_for_a_million_triangles_is_that_of_sorting_them():
    # Sorting n triangles takes n log n, and a search among them log n. The ratio within one run does not depend on the
    # machine, but what exceeds its caches may take twice as long.
    seconds, counts = [], []
    for subdivisions in (6, 8):
        ball = trimesh.creation.icosphere(subdivisions=subdivisions)
        counts.append(len(ball.faces))
        start = time.process_time()
        MeshCollider(ball, resolution=64)
        seconds.append(time.process_time() - start)
    assert counts[1] > 1_000_000
    assert seconds[1] / seconds[0] < 2 * (counts[1] * math.log(counts[1])) / (counts[0] * math.log(counts[0]))
