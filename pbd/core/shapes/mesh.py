"""Mesh collider: a closed surface as a grid of signed distances, made once, sampled in kernels by grid_distance."""

import numpy as np
import taichi as ti

from pbd.build.mesh import Mesh, closed_surface, signed_distance
from pbd.core.shapes.shape import GRID, Shape
from pbd.core.validate import finite_vector, positive, unit_quaternion, whole


class MeshCollider(Shape):
    """Solid body of any shape, for particles to stay out of.

    Arguments:
        mesh: a closed surface: a pbd.build.Mesh, (vertices, triangles), a trimesh.Trimesh, or a file's path.
        resolution: cells of the grid along the mesh's longest side. What is thinner than two cells is blurred.
        position (3,) [m], rotation (w, x, y, z): of the mesh's own origin and axes in the world.
        scale: factor on the mesh's size.
        repair: close holes in the mesh, which else is refused.
        margin: how far the grid reaches beyond the mesh [m]; None for three cells. Beyond it the distance is that of
            the grid's nearest point and the way there, never less than the true one: give the largest radius of the
            particles that meet it, where that is more.

    Attributes: mesh, the surface after scale and repair; grid, distances (nx, ny, nz) [m]; lower, the grid's lower
    corner (3,) [m]; spacing [m], all in the shape's own frame. With d the true distance, and within the grid,

        |interpolated - d| <= spacing²/8 · (|d_xx| + |d_yy| + |d_zz|)

    where d is smooth, which for a surface of curvature radius R is spacing²/4R close to it; at an edge or a corner,
    and half way between two walls, it is at most spacing · sqrt(3)/2.

    Raises: ValueError for a mesh that is open, flat, empty or not finite; what `load_mesh` raises.
    """

    kind = GRID

    def __init__(
        self, mesh, *, scale=1.0, position=(0.0, 0.0, 0.0), rotation=(1.0, 0.0, 0.0, 0.0), resolution=64, repair=False,
        margin=None,
    ):  # fmt: skip
        resolution = whole("resolution", resolution, least=2)
        self.position = finite_vector("mesh collider position", position)
        self.rotation = unit_quaternion("mesh collider rotation", rotation)
        closed = closed_surface(mesh, repair)
        self.mesh = Mesh(closed.vertices * positive("scale", scale), closed.triangles)
        low, high = self.mesh.vertices.min(axis=0), self.mesh.vertices.max(axis=0)
        self.spacing = (high - low).max() / resolution
        margin = 3 * self.spacing if margin is None else positive("margin", margin)
        counts = np.ceil((high - low + 2 * margin) / self.spacing).astype(int) + 1
        self.lower = (low + high - (counts - 1) * self.spacing) / 2
        axes = (self.lower[k] + self.spacing * np.arange(counts[k]) for k in range(3))
        points = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
        self.grid = signed_distance(self.mesh, points)[0].reshape(counts)

    def __repr__(self):
        counts = "x".join(map(str, self.grid.shape))
        return f"MeshCollider({len(self.mesh.triangles)} triangles, grid {counts}, spacing {self.spacing:.4g} m)"

    def pose(self):
        """Position (3,) and rotation (w, x, y, z) of the shape's frame."""
        return self.position, self.rotation

    def numbers(self):
        """Parameters in the normal form: the grid's lower corner and its spacing, from the second place on."""
        return (0.0, *self.lower, self.spacing)

    def bounding_radius(self):
        return float(np.linalg.norm(self.mesh.vertices, axis=1).max())

    def samples(self):
        """What kernels read besides: the grid (nx, ny, nz)."""
        return self.grid


@ti.func
def grid_distance(numbers: ti.template(), integers: ti.template(), grids: ti.template(), shape, x):
    """Signed distance [m] and unit normal of grid `shape` at x, in the shape's own frame.

    Of the shape's numbers, 1 to 3 are the grid's lower corner and 4 its spacing [m]; of its integers, 1 is where its
    samples start in `grids`, and 2 to 4 how many there are along x, y and z (z innermost).
    """
    lower = ti.Vector([numbers[shape, 1], numbers[shape, 2], numbers[shape, 3]])
    spacing = numbers[shape, 4]
    cells = ti.Vector([integers[shape, 2] - 1, integers[shape, 3] - 1, integers[shape, 4] - 1])
    row, sheet = integers[shape, 4], integers[shape, 3] * integers[shape, 4]
    place = (x - lower) / spacing
    inside = ti.min(ti.max(place, 0.0), cells * 1.0)
    corner = ti.min(ti.cast(inside, ti.i32), cells - 1)
    t = inside - corner
    base = integers[shape, 1] + corner[0] * sheet + corner[1] * row + corner[2]
    # Eight samples; the derivative of their trilinear interpolation is the gradient.
    distance = 0.0
    gradient = ti.Vector([0.0, 0.0, 0.0])
    for k in range(8):
        a, b, c = k // 4, (k // 2) % 2, k % 2
        sample = grids[base + a * sheet + b * row + c]
        u, v, w = weight(t[0], a), weight(t[1], b), weight(t[2], c)
        distance += u * v * w * sample
        gradient += ti.Vector([(2 * a - 1) * v * w, (2 * b - 1) * u * w, (2 * c - 1) * u * v]) * sample
    outside = (place - inside) * spacing
    beyond = outside.norm()
    if beyond > 0.0:
        # From beyond the grid the way back to it counts in full; what is left is the distance from there.
        gradient = gradient / (gradient.norm() + 1e-30) * ti.max(distance, 0.0) + outside
        distance += beyond
    return distance, gradient / (gradient.norm() + 1e-30)


@ti.func
def weight(t, corner):
    """Linear weight of a cell's lower (0) or upper (1) corner."""
    result = 1.0 - t
    if corner == 1:
        result = t
    return result
