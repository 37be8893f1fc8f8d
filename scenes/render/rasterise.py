"""Which triangle is seen at each sample of a picture: a z-buffer, for pinhole and for parallel views alike.

A view is a (4, 4) matrix from (x, y, z, 1) to w * (column, row, 1, nearness). Nearness is 1 / depth in a pinhole
view (w is the depth) and falls by 1 a metre in a parallel view (w is 1); either changes evenly across the picture.
In these homogeneous coordinates the three edges of a triangle are planes through the origin, and a sample
(column, row, 1) is covered where it lies inside all three. Nothing needs clipping: a triangle that reaches behind the
camera is right as it is. (Olano and Greer, "Triangle scan conversion using 2D homogeneous coordinates", 1997.)

The set-up is in float64: it is cheap beside the filling, and triangles far away or far outside the picture keep
their edges together.
"""

import numpy as np
import taichi as ti

from scenes.render.precision import dvec2, dvec4, f64, ivec4, vec2, vec3

NEAREST = 1e-3      # of a pinhole view, nothing nearer is drawn [m]; parallel views have w = 1 everywhere


class ZBuffer:
    """The nearest triangle at every sample of a picture.

    keys: nearness and triangle of each sample, (pixels, samples) int64, 0 where there is none. The upper half is the
        nearness' bit pattern, which for positive floats is ordered as the floats are; the lower half is twice the
        triangle, plus one from behind. One atomic maximum so keeps the nearest triangle, and of two equally near
        always the same.
    covered: (pixels,) whether any sample of the pixel is covered.
    pattern: (samples, 2) where in the pixel the samples are, the most central first.
    """

    def __init__(self, width, height, samples):
        self.width, self.height = width, height
        self.keys = ti.ndarray(ti.i64, (width * height, samples))
        self.covered = ti.ndarray(ti.i32, width * height)
        self.pattern = ti.ndarray(vec2, samples)
        self.pattern.from_numpy(sample_pattern(samples))
        empty(self.keys, self.covered, 1)

    def draw(self, mesh, view, count=None):
        """Forget the last picture and draw this mesh, or the first so many of its triangles."""
        count = mesh.triangle_count if count is None else count
        empty(self.keys, self.covered, 0)
        if count:
            # A few large triangles are shared among threads row by row, many are not.
            stripes = max(1, 4096 // count)
            fill(mesh.vertices, mesh.triangles, count, stripes, view, self.pattern,
                 self.width, self.height, self.keys, self.covered)


def sample_pattern(samples):
    """Places of the samples in the pixel's unit square, (samples, 2) float32: a lattice with one sample in each row
    and each column, so that edges near the horizontal and the vertical have as many steps as there are samples."""
    def spacing(step):
        offsets = np.stack([np.arange(1, samples), np.arange(1, samples) * step % samples], axis=1) / samples
        return np.min(np.linalg.norm(offsets - np.round(offsets), axis=1), initial=1.0)

    step = max((s for s in range(1, samples + 1) if np.gcd(s, samples) == 1), key=spacing)
    places = (np.stack([np.arange(samples), np.arange(samples) * step % samples], axis=1) + 0.5) / samples
    order = np.argsort(np.linalg.norm(places - 0.5, axis=1), kind="stable")
    return places[order].astype(np.float32)


@ti.kernel
def empty(
    keys: ti.types.ndarray(dtype=ti.i64, ndim=2),
    covered: ti.types.ndarray(dtype=ti.i32, ndim=1),
    everything: ti.i32,
):
    """Empty the covered pixels, or all of them."""
    for pixel in range(covered.shape[0]):
        if everything == 1 or covered[pixel] == 1:
            covered[pixel] = 0
            for sample in range(keys.shape[1]):
                keys[pixel, sample] = 0


@ti.func
def project(view: ti.template(), point):
    """w * (column, row, 1, nearness) of a point."""
    seen = dvec4(0)
    for row in range(4):
        seen[row] = view[row, 0] * point[0] + view[row, 1] * point[1] + view[row, 2] * point[2] + view[row, 3]
    return seen


@ti.func
def rectangle(a, b, c):
    """Lower and upper corner, in the picture, around what of a triangle lies in front of the near plane."""
    lower, upper = dvec2(f64(1e30)), dvec2(f64(-1e30))
    if ti.min(a.z, b.z, c.z) >= f64(NEAREST):
        lower = ti.min(a.xy / a.z, b.xy / b.z, c.xy / c.z)
        upper = ti.max(a.xy / a.z, b.xy / b.z, c.xy / c.z)
    else:
        start, end, other = a, b, c
        for _ in range(3):
            # A corner in front counts as it is; an edge through the near plane where it meets it.
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


@ti.kernel
def fill(
    vertices: ti.types.ndarray(dtype=vec3, ndim=1),
    triangles: ti.types.ndarray(dtype=ivec4, ndim=1),
    triangle_count: ti.i32,
    stripes: ti.i32,
    view: ti.types.ndarray(dtype=ti.f64, ndim=2),
    pattern: ti.types.ndarray(dtype=vec2, ndim=1),
    width: ti.i32,
    height: ti.i32,
    keys: ti.types.ndarray(dtype=ti.i64, ndim=2),
    covered: ti.types.ndarray(dtype=ti.i32, ndim=1),
):
    """Enter every triangle into the z-buffer."""
    samples = keys.shape[1]
    for index in range(triangle_count * stripes):
        triangle = index // stripes
        corners = triangles[triangle]
        a = project(view, vertices[corners[0]])
        b = project(view, vertices[corners[1]])
        c = project(view, vertices[corners[2]])
        edge_a = b.xyz.cross(c.xyz)
        edge_b = c.xyz.cross(a.xyz)
        edge_c = a.xyz.cross(b.xyz)
        volume = a.xyz.dot(edge_a)
        behind = ti.select(volume > 0, 1, 0)    # the front has a negative volume, since rows count downwards
        hidden = behind == 1 and corners[3] & 1 == 1
        if volume != 0 and not hidden and ti.max(a.z, b.z, c.z) > f64(NEAREST):
            if behind == 0:
                edge_a, edge_b, edge_c = -edge_a, -edge_b, -edge_c
            nearness = (a.w * edge_a + b.w * edge_b + c.w * edge_c) / ti.abs(volume)

            # The most that each edge's value rises within a pixel.
            reach_a = ti.max(edge_a.x, 0) + ti.max(edge_a.y, 0)
            reach_b = ti.max(edge_b.x, 0) + ti.max(edge_b.y, 0)
            reach_c = ti.max(edge_c.x, 0) + ti.max(edge_c.y, 0)
            lower, upper = rectangle(a, b, c)
            first = ti.cast(ti.max(ti.min(lower, 1 << 20), 0), ti.i32)
            last = ti.cast(ti.min(ti.max(upper, -1), 1 << 20), ti.i32)
            row = first.y + index % stripes
            while row <= ti.min(last.y, height - 1):
                row_a = edge_a.y * row + edge_a.z
                row_b = edge_b.y * row + edge_b.z
                row_c = edge_c.y * row + edge_c.z
                row_near = nearness.y * row + nearness.z
                for column in range(first.x, ti.min(last.x, width - 1) + 1):
                    # Values in the pixel's corner; where one is below zero all over the pixel, it lies outside.
                    at_a = edge_a.x * column + row_a
                    at_b = edge_b.x * column + row_b
                    at_c = edge_c.x * column + row_c
                    if at_a + reach_a >= 0 and at_b + reach_b >= 0 and at_c + reach_c >= 0:
                        pixel = row * width + column
                        at_near = nearness.x * column + row_near
                        for sample in range(samples):
                            x, y = pattern[sample].x, pattern[sample].y
                            inside = ti.min(at_a + edge_a.x * x + edge_a.y * y, at_b + edge_b.x * x + edge_b.y * y,
                                            at_c + edge_c.x * x + edge_c.y * y)
                            if inside >= 0:
                                near = ti.cast(at_near + nearness.x * x + nearness.y * y, ti.f32)
                                key = (ti.cast(ti.bit_cast(near, ti.i32), ti.i64) << 32) + (2 * triangle + behind)
                                if near > 0 and key > keys[pixel, sample]:
                                    ti.atomic_max(keys[pixel, sample], key)
                                    covered[pixel] = 1
                row += stripes
