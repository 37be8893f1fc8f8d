"""Everything drawn in one picture as one list of triangles, in arrays that are used again for the next picture."""

from dataclasses import dataclass

import numpy as np
import taichi as ti

from scenes.render.precision import f32, ivec4, length, vec3
from scenes.visuals import Instances, Surface
from scenes.visuals.geometry import IDENTITY_ROTATION


class Mesh:
    """Vertices and normals in the world's frame, triangles, and a palette of colours.

    vertices, normals: vec3 each.  palette: linear colours, two rows for each surface or instance: front and back.
    triangles: three vertices and the palette's row, plus one where the surface is a solid's.
    ends: how many triangles there are up to the end of each group of drawables.
    lower, upper: (3,) corners of the box around everything [m].
    The arrays are larger than what they hold; they grow by half whenever a picture needs more.
    """

    def __init__(self):
        self.ends = [0]
        self._vertex_room = self._triangle_room = self._colour_room = 0
        self._reserve(4096, 8192, 64)

    @property
    def triangle_count(self):
        """How many triangles there are."""
        return self.ends[-1]

    def load(self, *groups):
        """Replace what the mesh holds by groups of surfaces and instances; refuses what cannot be drawn."""
        collected = [[batch for batch in collect(group) if len(batch.poses) and len(batch.triangles)]
                     for group in groups]
        batches = [batch for group in collected for batch in group]
        self._reserve(sum(len(batch.poses) * len(batch.vertices) for batch in batches),
                      sum(len(batch.poses) * len(batch.triangles) for batch in batches),
                      sum(len(batch.colours) // 2 for batch in batches))
        vertex = triangle = colour = 0
        for batch in batches:
            place(batch.vertices, batch.normals, batch.triangles, batch.poses, batch.colours,
                  vertex, triangle, colour, self.vertices, self.normals, self.triangles, self.palette)
            vertex += len(batch.poses) * len(batch.vertices)
            triangle += len(batch.poses) * len(batch.triangles)
            colour += len(batch.colours) // 2
        counts = [sum(len(batch.poses) * len(batch.triangles) for batch in group) for group in collected]
        self.ends = [int(end) for end in np.cumsum(counts)]
        corners = np.array([batch.bounds() for batch in batches] or np.zeros((1, 2, 3)))
        self.lower, self.upper = corners[:, 0].min(axis=0), corners[:, 1].max(axis=0)

    def _reserve(self, vertices, triangles, colours):
        if vertices > self._vertex_room:
            self._vertex_room = vertices + vertices // 2
            self.vertices = ti.ndarray(vec3, self._vertex_room)
            self.normals = ti.ndarray(vec3, self._vertex_room)
        if triangles > self._triangle_room:
            self._triangle_room = triangles + triangles // 2
            self.triangles = ti.ndarray(ivec4, self._triangle_room)
        if colours > self._colour_room:
            self._colour_room = colours + colours // 2
            self.palette = ti.ndarray(vec3, 2 * self._colour_room)


@dataclass
class Batch:
    """A mesh, the poses it is drawn in and its colours.

    vertices, normals: (n, 3).  triangles: (m, 4) as in Mesh, counted from this batch's, or this pose's, first.
    poses: (k, 10) position, unit quaternion, scales.  colours: (2 c, 3) linear, front and back of each.
    """

    vertices: np.ndarray
    normals: np.ndarray
    triangles: np.ndarray
    poses: np.ndarray
    colours: np.ndarray

    def bounds(self):
        """Lower and upper corner of the box around it; around the spheres around it, where it is posed."""
        if np.array_equal(self.poses, IDENTITY_POSE):
            return self.vertices.min(axis=0), self.vertices.max(axis=0)
        reach = np.linalg.norm(np.abs(self.vertices).max(axis=0) * self.poses[:, 7:], axis=1)[:, None]
        return (self.poses[:, :3] - reach).min(axis=0), (self.poses[:, :3] + reach).max(axis=0)


IDENTITY_POSE = np.array([[0, 0, 0, *IDENTITY_ROTATION, 1, 1, 1]], dtype=np.float32)


def collect(drawables):
    """The batches to draw: all surfaces as one, and one for each set of instances."""
    surfaces, instances = [], []
    for index, drawable in enumerate(drawables):
        if not isinstance(drawable, Surface | Instances):
            raise TypeError(f"drawables[{index}] is a {type(drawable).__name__}, expected a Surface or Instances")
        drawable.validate(f"drawables[{index}] ({type(drawable).__name__})")
        (surfaces if isinstance(drawable, Surface) else instances).append(drawable)
    batches = [_posed(each) for each in instances]
    if surfaces:
        colours = [(each.colour, each.colour if each.back_colour is None else each.back_colour) for each in surfaces]
        batches.append(Batch(*_joined(surfaces), IDENTITY_POSE, linear(np.array(colours)).reshape(-1, 3)))
    return batches


def _posed(instances):
    """Instances as a batch."""
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
    return Batch(*_joined([surface]), poses, linear(colours).reshape(-1, 3))


def _joined(surfaces):
    """Vertices, normals and triangles of several surfaces as one mesh, fit for a Batch."""
    vertices, triangles, first = [], [], 0
    for number, surface in enumerate(surfaces):
        if surface.smooth:
            vertices.append(surface.vertices)
            corners = surface.triangles + first
        else:                                            # flat: no two triangles share a vertex
            vertices.append(surface.vertices[surface.triangles].reshape(-1, 3))
            corners = np.arange(first, first + surface.triangles.size).reshape(-1, 3)
        triangles.append(np.column_stack([corners, np.full(len(corners), 2 * number + surface.solid)]))
        first += len(vertices[-1])
    vertices, triangles = np.concatenate(vertices), np.concatenate(triangles)
    return (np.ascontiguousarray(vertices, dtype=np.float32), vertex_normals(vertices, triangles[:, :3]),
            np.ascontiguousarray(triangles, dtype=np.int32))


def vertex_normals(vertices, triangles):
    """Unit normals (n, 3) float32: the sum of the adjoining triangles' normals, weighted by their areas.

    In float64, so that neither tiny nor huge triangles vanish, and summed in a fixed order.
    """
    corners = np.ascontiguousarray(triangles.T)
    axes = np.ascontiguousarray(np.transpose(vertices), dtype=np.float64)
    a, b, c = (axes[:, corner] for corner in corners)
    (bx, by, bz), (cx, cy, cz) = b - a, c - a
    areas = by * cz - bz * cy, bz * cx - bx * cz, bx * cy - by * cx
    normals = np.stack([np.bincount(corners.ravel(), np.tile(area, 3), len(vertices)) for area in areas], axis=1)
    lengths = np.sqrt(np.einsum("ij,ij->i", normals, normals))
    return (normals / np.maximum(lengths, 1e-150)[:, None]).astype(np.float32)


def linear(colours):
    """sRGB to linear light, float32."""
    colours = np.asarray(colours, dtype=np.float64)
    return np.where(colours <= 0.04045, colours / 12.92, ((colours + 0.055) / 1.055) ** 2.4).astype(np.float32)


@ti.func
def rotate(w, axis, vector):
    """The vector turned by the unit quaternion (w, axis)."""
    twice = 2 * axis.cross(vector)
    return vector + w * twice + axis.cross(twice)


@ti.kernel
def place(
    source_vertices: ti.types.ndarray(dtype=vec3, ndim=1),
    source_normals: ti.types.ndarray(dtype=vec3, ndim=1),
    source_triangles: ti.types.ndarray(dtype=ivec4, ndim=1),
    poses: ti.types.ndarray(dtype=ti.f32, ndim=2),
    colours: ti.types.ndarray(dtype=vec3, ndim=1),
    first_vertex: ti.i32,
    first_triangle: ti.i32,
    first_colour: ti.i32,
    vertices: ti.types.ndarray(dtype=vec3, ndim=1),
    normals: ti.types.ndarray(dtype=vec3, ndim=1),
    triangles: ti.types.ndarray(dtype=ivec4, ndim=1),
    palette: ti.types.ndarray(dtype=vec3, ndim=1),
):
    """Append one batch."""
    vertex_count = source_vertices.shape[0]
    triangle_count = source_triangles.shape[0]
    for index in range(poses.shape[0] * vertex_count):
        pose = index // vertex_count
        vertex = index % vertex_count
        w = poses[pose, 3]
        axis = vec3(poses[pose, 4], poses[pose, 5], poses[pose, 6])
        scale = vec3(poses[pose, 7], poses[pose, 8], poses[pose, 9])
        position = vec3(poses[pose, 0], poses[pose, 1], poses[pose, 2])
        vertices[first_vertex + index] = position + rotate(w, axis, scale * source_vertices[vertex])
        normal = rotate(w, axis, source_normals[vertex] / scale)
        normals[first_vertex + index] = normal / ti.max(length(normal), f32(1e-30))
    for index in range(poses.shape[0] * triangle_count):
        pose = index // triangle_count
        first = first_vertex + pose * vertex_count
        offset = ivec4(first, first, first, 2 * (first_colour + pose))
        triangles[first_triangle + index] = source_triangles[index % triangle_count] + offset
    for index in range(colours.shape[0]):
        palette[2 * first_colour + index] = colours[index]
