"""Everything in one picture as one list of triangles, in arrays that are used again for the next picture."""

from dataclasses import dataclass

import numpy as np
import taichi as ti

from pbd.core.kernels import allocate, arrays_of, make_kernel
from scenes.render.data import Appending, MeshArrays
from scenes.render.precision import f32, ivec4, length, row_of, vec3
from scenes.visuals import Instances, Surface
from scenes.visuals.colours import linear_light
from scenes.visuals.geometry import IDENTITY_ROTATION

FIRST_CAPACITY = {"vertices": 4096, "triangles": 8192, "colours": 128}


class Mesh:
    """Triangles of all surfaces and instances in a picture.

    The arrays are larger than their contents. They grow by half if a picture needs more.

    Attributes:
        arrays: MeshArrays.
        ends: number of triangles up to the end of each group of drawables.
        lower, upper: (3,) corners of the box around everything [m].
    """

    def __init__(self):
        self.ends = [0]
        self.capacity = dict(FIRST_CAPACITY)
        self.arrays = allocate(MeshArrays, **self.capacity)

    @property
    def triangle_count(self):
        """Number of triangles."""
        return self.ends[-1]

    def load(self, *groups):
        """Replace the contents. Args: groups: lists of Surface and Instances.

        Raises: ValueError or TypeError for a drawable that cannot be drawn.
        """
        batches_of_groups = [
            [batch for batch in collect(group) if len(batch.poses) and len(batch.triangles)] for group in groups
        ]
        batches = [batch for group in batches_of_groups for batch in group]
        sizes = [np.array(batch.sizes()) for batch in batches]
        self._reserve(*sum(sizes, np.zeros(3, int)))
        first = np.zeros(3, int)  # vertex, triangle and colour
        for batch, size in zip(batches, sizes):
            append_kernel(
                *arrays_of(self.arrays), batch.vertices, batch.normals, batch.triangles, batch.poses, batch.colours,
                *map(int, first),
            )  # fmt: skip
            first += size
        counts = [sum(batch.sizes()[1] for batch in group) for group in batches_of_groups]
        self.ends = [int(end) for end in np.cumsum(counts)]
        corners = np.array([batch.bounds() for batch in batches] or np.zeros((1, 2, 3)))
        self.lower, self.upper = corners[:, 0].min(axis=0), corners[:, 1].max(axis=0)

    def _reserve(self, *sizes):
        """Make the arrays large enough. Args: numbers of vertices, triangles and colours."""
        needed = dict(zip(self.capacity, map(int, sizes)))
        if any(needed[name] > self.capacity[name] for name in needed):
            for name, size in needed.items():
                if size > self.capacity[name]:
                    self.capacity[name] = size + size // 2
            self.arrays = allocate(MeshArrays, **self.capacity)


@dataclass
class Batch:
    """A mesh with the poses in which it is drawn, and its colours.

    Args:
        vertices, normals: (n, 3) float32.
        triangles: (m, 4) int32 as in MeshArrays, counted from the first of this batch, or of each pose.
        poses: (k, 10) float32: position, unit quaternion, scales.
        colours: (2 c, 3) float32 linear light, front and back of each surface or pose.
    """

    vertices: np.ndarray
    normals: np.ndarray
    triangles: np.ndarray
    poses: np.ndarray
    colours: np.ndarray

    def sizes(self):
        """Numbers of vertices, triangles and colours in the mesh of the picture."""
        return len(self.poses) * len(self.vertices), len(self.poses) * len(self.triangles), len(self.colours)

    def bounds(self):
        """Lower and upper corner of the box around it; if it has poses, of the box around spheres around each."""
        if np.array_equal(self.poses, IDENTITY_POSE):
            return self.vertices.min(axis=0), self.vertices.max(axis=0)
        radius = np.linalg.norm(np.abs(self.vertices).max(axis=0) * self.poses[:, 7:], axis=1)[:, None]
        return (self.poses[:, :3] - radius).min(axis=0), (self.poses[:, :3] + radius).max(axis=0)


IDENTITY_POSE = np.array([[0, 0, 0, *IDENTITY_ROTATION, 1, 1, 1]], dtype=np.float32)


def collect(drawables):
    """Make batches: one for all surfaces, and one for each Instances. Args: list of Surface and Instances."""
    surfaces, instances = [], []
    for index, drawable in enumerate(drawables):
        if not isinstance(drawable, Surface | Instances):
            raise TypeError(f"drawables[{index}] is a {type(drawable).__name__}: expected a Surface or Instances")
        drawable.validate(f"drawables[{index}] ({type(drawable).__name__})")
        (surfaces if isinstance(drawable, Surface) else instances).append(drawable)
    batches = [_batch_of_instances(each) for each in instances]
    if surfaces:
        colours = [(each.colour, each.colour if each.back_colour is None else each.back_colour) for each in surfaces]
        batches.append(Batch(*_joined(surfaces), IDENTITY_POSE, _linear_rows(colours)))
    return batches


def _batch_of_instances(instances):
    surface, count = instances.surface, len(instances.positions)
    poses = np.broadcast_to(IDENTITY_POSE, (count, 10)).copy()
    poses[:, :3] = instances.positions
    if instances.rotations is not None:
        poses[:, 3:7] = instances.rotations / np.linalg.norm(instances.rotations, axis=1, keepdims=True)
    if instances.scales is not None:
        poses[:, 7:] = instances.scales
    colours = np.empty((count, 2, 3))
    colours[:] = surface.colour
    if surface.back_colour is not None:
        colours[:, 1] = surface.back_colour
    if instances.colours is not None:
        colours[:] = instances.colours[:, None]
    return Batch(*_joined([surface]), poses, _linear_rows(colours))


def _linear_rows(colours):
    """Linear light (2 c, 3) float32 of sRGB colours (c, 2, 3)."""
    return linear_light(colours).astype(np.float32).reshape(-1, 3)


def _joined(surfaces):
    """Vertices, normals and triangles of several surfaces as one mesh, in the form of a Batch."""
    vertices, triangles, first = [], [], 0
    for number, surface in enumerate(surfaces):
        if surface.smooth:
            vertices.append(surface.vertices)
            corners = surface.triangles + first
        else:  # flat triangles share no vertices
            vertices.append(surface.vertices[surface.triangles].reshape(-1, 3))
            corners = np.arange(first, first + surface.triangles.size).reshape(-1, 3)
        triangles.append(np.column_stack([corners, np.full(len(corners), 2 * number + surface.solid)]))
        first += len(vertices[-1])
    vertices, triangles = np.concatenate(vertices), np.concatenate(triangles)
    return (
        np.ascontiguousarray(vertices, dtype=np.float32),
        vertex_normals(vertices, triangles[:, :3]),
        np.ascontiguousarray(triangles, dtype=np.int32),
    )


def vertex_normals(vertices, triangles):
    """Compute unit normals: the sum of the normals of adjacent triangles, weighted by area.

    The sum is in float64, so that neither tiny nor huge triangles vanish, and in a fixed order.

    Args: vertices (n, 3) [m]; triangles (m, 3).

    Returns: (n, 3) float32.
    """
    corners = np.ascontiguousarray(triangles.T)
    axes = np.ascontiguousarray(np.transpose(vertices), dtype=np.float64)
    a, b, c = (axes[:, corner] for corner in corners)
    (bx, by, bz), (cx, cy, cz) = b - a, c - a
    areas = by * cz - bz * cy, bz * cx - bx * cz, bx * cy - by * cx
    normals = np.stack([np.bincount(corners.ravel(), np.tile(area, 3), len(vertices)) for area in areas], axis=1)
    lengths = np.sqrt(np.einsum("ij,ij->i", normals, normals))
    return (normals / np.maximum(lengths, 1e-150)[:, None]).astype(np.float32)


def normals_of(surface):
    """Normals of a Surface: one for each vertex (n, 3) if it is smooth, else one for each triangle (m, 3)."""
    if surface.smooth:
        return vertex_normals(surface.vertices, surface.triangles)
    corners = surface.vertices[surface.triangles].reshape(-1, 3)
    return vertex_normals(corners, np.arange(len(corners)).reshape(-1, 3))[::3]


@ti.func
def rotate(w, axis, vector):
    """Rotate a vector by the unit quaternion (w, axis)."""
    twice = 2 * axis.cross(vector)
    return vector + w * twice + axis.cross(twice)


@ti.func
def append(data: ti.template(), first_vertex, first_triangle, first_colour):
    """Append a batch to the mesh. Args: data: Appending; the first free elements of the mesh."""
    poses = ti.static(data.poses)
    vertex_count = data.vertices.shape[0]
    triangle_count = data.triangles.shape[0]
    for index in range(poses.shape[0] * vertex_count):
        pose = index // vertex_count
        vertex = index % vertex_count
        w = poses[pose, 3]
        axis = vec3(poses[pose, 4], poses[pose, 5], poses[pose, 6])
        scale = vec3(poses[pose, 7], poses[pose, 8], poses[pose, 9])
        position = vec3(poses[pose, 0], poses[pose, 1], poses[pose, 2])
        data.mesh.vertices[first_vertex + index] = position + rotate(w, axis, scale * row_of(data.vertices, vertex))
        normal = rotate(w, axis, row_of(data.normals, vertex) / scale)
        data.mesh.normals[first_vertex + index] = normal / ti.max(length(normal), f32(1e-30))
    for index in range(poses.shape[0] * triangle_count):
        pose = index // triangle_count
        first = first_vertex + pose * vertex_count
        offset = ivec4(first, first, first, first_colour + 2 * pose)
        row = index % triangle_count
        corners = ivec4([data.triangles[row, k] for k in ti.static(range(4))])
        data.mesh.triangles[first_triangle + index] = corners + offset
    for index in range(data.colours.shape[0]):
        data.mesh.palette[first_colour + index] = row_of(data.colours, index)


append_kernel = make_kernel(append, Appending)
