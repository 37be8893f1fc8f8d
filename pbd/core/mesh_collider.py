"""Mesh collider: a closed surface as a grid of signed distances, made once, sampled in kernels by grid_distance."""

import numpy as np

from pbd.build.mesh import Mesh, closed_surface, signed_distance
from pbd.core.shapes import GRID
from pbd.core.validate import finite_vector, positive, unit_quaternion, whole


class MeshCollider:
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
        """Radius [m] of the ball about the frame's origin that contains the shape."""
        return float(np.linalg.norm(self.mesh.vertices, axis=1).max())

    def samples(self):
        """What kernels read besides: the grid (nx, ny, nz)."""
        return self.grid
