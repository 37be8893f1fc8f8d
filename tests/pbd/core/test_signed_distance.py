"""Signed distances of shapes in kernels: closed forms; the normal is the gradient of the distance."""

from itertools import product

import numpy as np
import pytest
import taichi as ti
import trimesh

import pbd
from pbd.collision.collider import Collider
from pbd.core.shapes import GRID, HULL, SPHERE, MeshCollider, signed_distance
from pbd.host.upload import collider_tables


@ti.kernel
def evaluate(
    numbers: ti.types.ndarray(ndim=2),
    integers: ti.types.ndarray(ndim=2),
    grids: ti.types.ndarray(ndim=1),
    points: ti.types.ndarray(ndim=2),
    distances: ti.types.ndarray(ndim=1),
    normals: ti.types.ndarray(ndim=2),
):
    for i in range(points.shape[0]):
        x = ti.Vector([points[i, 0], points[i, 1], points[i, 2]])
        distance, normal = signed_distance(numbers, integers, grids, (SPHERE, GRID, HULL), 0, x)
        distances[i] = distance
        for k in ti.static(range(3)):
            normals[i, k] = normal[k]


def distance_and_normal(shape, points):
    """Signed distances (n,) and normals (n, 3) at points (n, 3) of the shape's frame."""
    tables = collider_tables([Collider(shape)])
    numbers, integers, grids = tables["numbers"], tables["integers"], tables["samples"]
    grids = grids if grids.size else np.zeros(1)
    distances, normals = np.empty(len(points)), np.empty(points.shape)
    evaluate(numbers, integers, grids, np.ascontiguousarray(points, dtype=float), distances, normals)
    return distances, normals


def points_in(size, count=3000, seed=0):
    return np.asarray(size) * np.random.default_rng(seed).uniform(-1, 1, (count, 3))


def plane_distance(x):
    return x[:, 2]


def sphere_distance(x):
    return np.linalg.norm(x, axis=1) - 0.6


def capsule_distance(x):
    return np.linalg.norm(x - np.clip(x[:, 2:], -0.7, 0.7) * (0, 0, 1), axis=1) - 0.3


def box_distance(x):
    beyond = np.abs(x) - (0.5, 0.8, 0.3)
    return np.linalg.norm(np.maximum(beyond, 0), axis=1) + np.minimum(beyond.max(axis=1), 0)


def cylinder_distance(x):
    beyond = np.stack([np.hypot(x[:, 0], x[:, 1]) - 0.5, np.abs(x[:, 2]) - 0.7], axis=1)
    return np.linalg.norm(np.maximum(beyond, 0), axis=1) + np.minimum(beyond.max(axis=1), 0)


def octahedron_distance(x):
    """Distance from |x| + |y| + |z| = 1.

    Inside it is the largest from a face, whose normals are (±1, ±1, ±1)/√3. Outside, the nearest point has coordinates
    max(|x_k| - θ, 0): Duchi and others, Efficient Projections onto the l1-Ball (2008), figure 1.
    """
    sizes = np.sort(np.abs(x), axis=1)[:, ::-1]
    thresholds = (np.cumsum(sizes, axis=1) - 1) / (1, 2, 3)
    last = (sizes > thresholds).sum(axis=1) - 1
    theta = thresholds[np.arange(len(x)), last][:, None]
    outside = np.linalg.norm(np.minimum(np.abs(x), theta), axis=1)
    inside = (np.abs(x).sum(axis=1) - 1) / np.sqrt(3)
    return np.where(inside > 0, outside, inside)


SHAPES = {
    "plane": (pbd.Plane(), plane_distance),
    "sphere": (pbd.Sphere(0.6), sphere_distance),
    "capsule": (pbd.Capsule(0.3, start=(0, 0, -0.7), end=(0, 0, 0.7)), capsule_distance),
    "box": (pbd.Box((1.0, 1.6, 0.6)), box_distance),
    "cylinder": (pbd.Cylinder(0.5, start=(0, 0, -0.7), end=(0, 0, 0.7)), cylinder_distance),
    "hull": (pbd.ConvexHull(np.concatenate([np.eye(3), -np.eye(3)])), octahedron_distance),
    "hull of a box": (pbd.ConvexHull((0.5, 0.8, 0.3) * np.array(list(product((-1, 1), repeat=3)))), box_distance),
}


@pytest.mark.parametrize("name", SHAPES)
def test_distance_agrees_with_the_closed_form(name):
    shape, exact = SHAPES[name]
    points = points_in(1.5)
    assert distance_and_normal(shape, points)[0] == pytest.approx(exact(points), abs=1e-12)


@pytest.fixture(scope="module")
def ball_grid():
    return MeshCollider(trimesh.creation.icosphere(subdivisions=3, radius=0.6), resolution=24)


@pytest.mark.parametrize("name", [*SHAPES, "mesh"])
def test_normal_is_the_gradient_of_the_distance(name, ball_grid):
    """n = ∇d/|∇d|. The error of a central difference with step e is e² d'''/6 plus round-off / e."""
    shape = ball_grid if name == "mesh" else SHAPES[name][0]
    points = points_in(0.69 if name == "mesh" else 1.5)  # within the grid
    step = 1e-5
    forward, backward = np.empty(points.shape), np.empty(points.shape)
    here, normals = distance_and_normal(shape, points)
    for k in range(3):
        forward[:, k] = (distance_and_normal(shape, points + step * np.eye(3)[k])[0] - here) / step
        backward[:, k] = (here - distance_and_normal(shape, points - step * np.eye(3)[k])[0]) / step
    smooth = np.abs(forward - backward).max(axis=1) < 2e-3  # not across a medial plane or a boundary of cells
    assert smooth.mean() > 0.97
    gradient = (forward + backward)[smooth] / 2
    size = np.linalg.norm(gradient, axis=1, keepdims=True)
    if name != "mesh":
        assert size == pytest.approx(1, abs=1e-6)
    clear = size[:, 0] > 0.1  # at the centre of the ball the gradient vanishes
    assert clear.mean() > 0.99
    # Small kinks pass the test for smoothness and change the normal.
    assert np.abs(normals[smooth][clear] - (gradient / size)[clear]).max() < 1e-2
    assert np.median(np.abs(normals[smooth][clear] - (gradient / size)[clear])) < 1e-8


@pytest.mark.parametrize("name", [*SHAPES, "mesh"])
def test_normal_has_length_one_everywhere(name, ball_grid):
    shape = ball_grid if name == "mesh" else SHAPES[name][0]
    _, normals = distance_and_normal(shape, points_in(3.0))
    assert np.linalg.norm(normals, axis=1) == pytest.approx(1, abs=1e-12)


def test_outside_a_grid_distance_is_continuous_and_never_too_small(ball_grid):
    edge = ball_grid.lower[0]
    sides = np.array([(edge + e, y, z) for y, z in points_in(0.6, 50)[:, :2] for e in (1e-9, -1e-9)])
    distance, normal = distance_and_normal(ball_grid, sides)
    assert distance[::2] == pytest.approx(distance[1::2], abs=1e-8)
    assert normal[::2] == pytest.approx(normal[1::2], abs=1e-6)
    far = points_in(4.0)
    far = far[np.abs(far).max(axis=1) > -edge]
    # The interpolation of a ball is not below the true distance, and the facets are inside the ball.
    distance, normal = distance_and_normal(ball_grid, far)
    exact = np.linalg.norm(far, axis=1) - 0.6
    assert (distance >= exact - 1e-12).all()
    # By the triangle inequality it is at most 2 · beyond larger than the true distance.
    beyond = np.linalg.norm(far - np.clip(far, edge, -edge), axis=1)
    assert (distance <= exact + 2 * beyond + 0.01).all()
    assert ((normal * far).sum(axis=1) > 0.9 * np.linalg.norm(far, axis=1)).all()


@pytest.mark.parametrize("shape", [pbd.Cylinder(0.4, 1.0), pbd.ConvexHull(np.eye(4)[:, :3])])
def test_a_particle_is_projected_out_of_cylinders_and_hulls(shape):
    """With two colliders the planes of the second are not the first ones. One iteration moves it to the surface."""
    particles = pbd.Particles(gravity=(0, 0, 0))
    particles.add_particle(shape.pose()[0] + (0.05, 0.02, 0.1), mass=1.0, radius=0.01)
    particles.add_collider(pbd.ConvexHull(5 + np.eye(4)[:, :3]))
    particles.add_collider(shape)
    system = pbd.ParticleSystem(particles, iterations=1)
    system.step()
    local = system.positions() - shape.pose()[0]
    assert distance_and_normal(shape, local)[0] == pytest.approx(0.01, abs=1e-12)


def test_worlds_refuse_hulls_that_differ():
    worlds = [pbd.Particles(), pbd.Particles()]
    for size, particles in enumerate(worlds, 1):
        particles.add_particle((0, 0, 9), mass=1.0)
        particles.add_collider(pbd.ConvexHull(size * np.concatenate([np.eye(3), -np.eye(3)])))
    with pytest.raises(ValueError, match="other colliders"):
        pbd.ParticleSystem(worlds)
