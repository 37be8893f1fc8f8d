"""The triangle at each sample of a picture: a z-buffer, for pinhole views and parallel views.

A view is a (4, 4) matrix from (x, y, z, 1) to w * (column, row, 1, nearness). In a pinhole view, w is the depth and
nearness is 1 / depth. In a parallel view, w is 1 and nearness decreases by 1 per metre. Both are linear in the picture.
In these homogeneous coordinates the three edges of a triangle are planes through the origin. A sample (column, row, 1)
is covered if it is inside all three. Nothing is clipped, because a triangle that reaches behind the camera is correct
without (Olano and Greer, "Triangle scan conversion using 2D homogeneous coordinates", 1997).

The setup of triangles is in float64. Its cost is small, and the edges of triangles far away or far outside the picture
stay accurate.
"""

import numpy as np
import taichi as ti

from pbd.core.kernels import allocate, arrays_of, make_kernel
from scenes.render.data import Rasterising, SampleArrays
from scenes.render.precision import dvec2, dvec4, f64

NEAREST = 1e-3  # a pinhole view draws nothing nearer [m]; in parallel views w is 1
LARGEST_PIXEL = 1 << 20  # bounds of triangles in the picture are limited to this
# Few large triangles are divided into stripes of rows, so that all threads have work.
LOOP_LENGTH = 4096


class ZBuffer:
    """The nearest triangle at every sample of a picture.

    Args: width, height [pixels]; samples: of each pixel. Attributes: arrays: SampleArrays.
    """

    def __init__(self, width, height, samples):
        self.width, self.height = width, height
        pattern = {"pattern": sample_pattern(samples)}
        self.arrays = allocate(SampleArrays, pattern, pixels=width * height, samples=samples)

    def draw(self, mesh, view, count=None):
        """Draw a mesh. Args: a Mesh; view: (4, 4) float64; count: of its first triangles, None for all."""
        count = mesh.triangle_count if count is None else count
        clear_kernel(*arrays_of(self.arrays))
        if count:
            stripes = max(1, LOOP_LENGTH // count)
            fill_kernel(
                *arrays_of(mesh.arrays), *arrays_of(self.arrays), view, count, stripes, self.width, self.height
            )


def sample_pattern(samples):
    """Choose the positions of samples in a pixel: a lattice with one sample in each row and each column.

    Edges that are nearly horizontal or vertical then have as many steps as there are samples.

    Args: samples: how many.

    Returns: (samples, 2) float32, from 0 to 1, the most central first.
    """

    def spacing(step):
        offsets = np.stack([np.arange(1, samples), np.arange(1, samples) * step % samples], axis=1) / samples
        return np.min(np.linalg.norm(offsets - np.round(offsets), axis=1), initial=1.0)

    step = max((s for s in range(1, samples + 1) if np.gcd(s, samples) == 1), key=spacing)
    positions = (np.stack([np.arange(samples), np.arange(samples) * step % samples], axis=1) + 0.5) / samples
    order = np.argsort(np.linalg.norm(positions - 0.5, axis=1), kind="stable")
    return positions[order].astype(np.float32)


@ti.func
def clear(samples: ti.template()):
    """Clear all covered pixels."""
    for pixel in range(samples.covered.shape[0]):
        if samples.covered[pixel] == 1:
            samples.covered[pixel] = 0
            for sample in range(samples.keys.shape[1]):
                samples.keys[pixel, sample] = 0


@ti.func
def project(view: ti.template(), point):
    """w * (column, row, 1, nearness) of a point."""
    projected = dvec4(0)
    for row in range(4):
        projected[row] = view[row, 0] * point[0] + view[row, 1] * point[1] + view[row, 2] * point[2] + view[row, 3]
    return projected


@ti.func
def bounds(a, b, c):
    """Lower and upper corner, in the picture, around the part of a triangle in front of the near plane."""
    lower, upper = dvec2(f64(1e30)), dvec2(f64(-1e30))
    if ti.min(a.z, b.z, c.z) >= f64(NEAREST):
        lower = ti.min(a.xy / a.z, b.xy / b.z, c.xy / c.z)
        upper = ti.max(a.xy / a.z, b.xy / b.z, c.xy / c.z)
    else:
        start, end, other = a, b, c
        for _ in range(3):
            # Include corners in front of the near plane, and the points where edges pass it.
            if start.z >= f64(NEAREST):
                lower, upper = ti.min(lower, start.xy / start.z), ti.max(upper, start.xy / start.z)
            if (start.z >= f64(NEAREST)) != (end.z >= f64(NEAREST)):
                crossing = start.xy + (end.xy - start.xy) * ((f64(NEAREST) - start.z) / (end.z - start.z))
                lower, upper = ti.min(lower, crossing / f64(NEAREST)), ti.max(upper, crossing / f64(NEAREST))
            start, end, other = end, other, start
    return lower, upper


@ti.func
def nearness_of(key):
    """The nearness in a key."""
    return ti.bit_cast(ti.cast(key >> 32, ti.i32), ti.f32)


@ti.func
def fill(data: ti.template(), triangle_count, stripes, width, height):
    """Draw triangles into the samples. Args: data: Rasterising; stripes: parts of rows for each triangle."""
    keys, pattern = ti.static(data.samples.keys, data.samples.pattern)
    samples = keys.shape[1]
    for index in range(triangle_count * stripes):
        triangle = index // stripes
        corners = data.mesh.triangles[triangle]
        a = project(data.view, data.mesh.vertices[corners[0]])
        b = project(data.view, data.mesh.vertices[corners[1]])
        c = project(data.view, data.mesh.vertices[corners[2]])
        edge_a = b.xyz.cross(c.xyz)
        edge_b = c.xyz.cross(a.xyz)
        edge_c = a.xyz.cross(b.xyz)
        volume = a.xyz.dot(edge_a)
        from_behind = ti.select(volume > 0, 1, 0)  # the volume of a front is negative, because rows count downwards
        hidden = from_behind == 1 and corners[3] & 1 == 1
        if volume != 0 and not hidden and ti.max(a.z, b.z, c.z) > f64(NEAREST):
            if from_behind == 0:
                edge_a, edge_b, edge_c = -edge_a, -edge_b, -edge_c
            nearness = (a.w * edge_a + b.w * edge_b + c.w * edge_c) / ti.abs(volume)

            # The largest increase of each edge's value within a pixel.
            rise_a = ti.max(edge_a.x, 0) + ti.max(edge_a.y, 0)
            rise_b = ti.max(edge_b.x, 0) + ti.max(edge_b.y, 0)
            rise_c = ti.max(edge_c.x, 0) + ti.max(edge_c.y, 0)
            lower, upper = bounds(a, b, c)
            first = ti.cast(ti.max(ti.min(lower, LARGEST_PIXEL), 0), ti.i32)
            last = ti.cast(ti.min(ti.max(upper, -1), LARGEST_PIXEL), ti.i32)
            row = first.y + index % stripes
            while row <= ti.min(last.y, height - 1):
                row_a = edge_a.y * row + edge_a.z
                row_b = edge_b.y * row + edge_b.z
                row_c = edge_c.y * row + edge_c.z
                row_near = nearness.y * row + nearness.z
                for column in range(first.x, ti.min(last.x, width - 1) + 1):
                    # Values in the corner of the pixel. If one is negative everywhere in it, the pixel is outside.
                    at_a = edge_a.x * column + row_a
                    at_b = edge_b.x * column + row_b
                    at_c = edge_c.x * column + row_c
                    if at_a + rise_a >= 0 and at_b + rise_b >= 0 and at_c + rise_c >= 0:
                        pixel = row * width + column
                        at_near = nearness.x * column + row_near
                        for sample in range(samples):
                            x, y = pattern[sample].x, pattern[sample].y
                            inside = ti.min(
                                at_a + edge_a.x * x + edge_a.y * y,
                                at_b + edge_b.x * x + edge_b.y * y,
                                at_c + edge_c.x * x + edge_c.y * y,
                            )
                            if inside >= 0:
                                near = ti.cast(at_near + nearness.x * x + nearness.y * y, ti.f32)
                                key = (ti.cast(ti.bit_cast(near, ti.i32), ti.i64) << 32) + (2 * triangle + from_behind)
                                if near > 0 and key > keys[pixel, sample]:
                                    ti.atomic_max(keys[pixel, sample], key)
                                    data.samples.covered[pixel] = 1
                row += stripes


clear_kernel = make_kernel(clear, SampleArrays)
fill_kernel = make_kernel(fill, Rasterising)
