"""MeshCollider: a closed mesh as a grid of signed distances, computed once and interpolated in kernels."""

import numpy as np
import taichi as ti

from pbd.build.mesh import Mesh, closed_surface, signed_distance
from pbd.core.messages import shown
from pbd.core.shapes.shape import GRID, Shape
from pbd.core.validate import boolean, finite_array, finite_vector, positive, refuse_gigabytes, unit_quaternion, whole
from pbd.core.vectors import length_or_huge


class MeshCollider(Shape):
    """Solid given by a closed mesh, for colliders of particles. Rigid bodies collide as convex shapes only.

    Args:
        mesh: a pbd.build.Mesh, (vertices, triangles), a trimesh.Trimesh, or the path of a file.
        scale: factor on the size of the mesh.
        position, rotation: of the mesh's origin and axes in the world (3,) [m], (w, x, y, z).
        resolution: grid cells along the longest side of the mesh. Parts thinner than two cells are blurred.
        repair: whether to close holes in the mesh; otherwise an open mesh is refused.
        region: lower and upper corner (2, 3) of a box in the mesh's frame, after scaling [m]. The grid covers only the
            part of the mesh in it, and is as much finer. Particles must stay in it. None for the whole mesh.
        margin: how far the grid extends beyond the mesh [m]; None for three cells. Outside the grid the distance is
            that of the nearest grid point plus the way there, never below the true one. If the largest particle
            radius is above three cells, give that.

    Attributes:
        mesh: the surface after scaling and repair.
        grid: signed distances (nx, ny, nz) [m], in the shape's frame.
        lower: lower corner of the grid (3,) [m].
        spacing: of the grid [m].

    Let d be the true distance. Inside the grid the interpolation error is at most spacing²/8 · (|d_xx| + |d_yy| +
    |d_zz|) where d is smooth. Near a surface with radius of curvature R that is spacing²/4R. At an edge or a corner,
    and half way between two walls, the error is at most spacing · sqrt(3)/2.

    Raises: ValueError for a mesh that is open, flat, empty or not finite; the errors of pbd.build.load_mesh.
    """

    kind = GRID

    def __init__(
        self, mesh, *, scale=1.0, position=(0.0, 0.0, 0.0), rotation=(1.0, 0.0, 0.0, 0.0), resolution=64, repair=False,
        region=None, margin=None,
    ):  # fmt: skip
        resolution = whole("resolution", resolution, least=2)
        self.position = finite_vector("mesh collider position", position)
        self.rotation = unit_quaternion("mesh collider rotation", rotation)
        closed = closed_surface(mesh, boolean("repair", repair))
        self.mesh = Mesh(closed.vertices * positive("scale", scale), closed.triangles)
        low, high = self.mesh.vertices.min(axis=0), self.mesh.vertices.max(axis=0)
        if region is not None:
            region = finite_array("region", region, (2, 3))
            low, high = np.maximum(low, region[0]), np.minimum(high, region[1])
            if (low > high).any():
                raise ValueError(f"region {shown(region.tolist())} m: expected a box that meets the mesh")
        self.spacing = (high - low).max() / resolution
        margin = 3 * self.spacing if margin is None else positive("margin", margin)
        counts = np.ceil((high - low + 2 * margin) / self.spacing) + 1
        # Of each grid point: coordinates in three arrays, its distance in two, and libigl's own copies.
        refuse_gigabytes("resolution", f"{resolution} with a margin of {margin:g} m", 100 * counts.prod())
        counts = counts.astype(int)
        self.lower = (low + high - (counts - 1) * self.spacing) / 2
        axes = (self.lower[k] + self.spacing * np.arange(counts[k]) for k in range(3))
        points = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
        self.grid = signed_distance(self.mesh, points)[0].reshape(counts)

    def __repr__(self):
        counts = "x".join(map(str, self.grid.shape))
        return f"MeshCollider({len(self.mesh.triangles)} triangles, grid {counts}, spacing {self.spacing:.4g} m)"

    def pose(self):
        """See Shape."""
        return self.position, self.rotation

    def numbers(self):
        """Zero, the grid's lower corner and its spacing."""
        return (0.0, *self.lower, self.spacing)

    def bounding_radius(self):
        """See Shape."""
        return float(np.linalg.norm(self.mesh.vertices, axis=1).max())

    def samples(self):
        """Signed distances (nx, ny, nz)."""
        return self.grid


@ti.func
def grid_distance(numbers: ti.template(), integers: ti.template(), grids: ti.template(), shape, x):
    """Signed distance [m] and unit normal of a grid at x (3,), in the shape's frame.

    Trilinear inside the grid. Outside: the distance at the nearest point of the grid plus the distance to that point.

    Args:
        numbers: (shapes, NUMBERS); columns 1 to 3 are the grid's lower corner, column 4 is its spacing [m].
        integers: (shapes, INTEGERS); column 1 is the index of the first sample, columns 2 to 4 count samples along x,
            y and z (z innermost).
        grids: samples of all shapes.
        shape: index of the grid.
        x: (3,) [m].
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
    # The gradient is the derivative of the trilinear interpolation of eight samples.
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
        # The vector to the grid counts in full, the gradient by the distance that remains.
        gradient = gradient / length_or_huge(gradient) * ti.max(distance, 0.0) + outside
        distance += beyond
    return distance, gradient / length_or_huge(gradient)


@ti.func
def weight(t, corner):
    """Linear weight of the lower (0) or upper (1) corner of a cell."""
    result = 1.0 - t
    if corner == 1:
        result = t
    return result
