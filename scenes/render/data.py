"""Arrays of the renderer, declared once. Their types do not depend on the precision of ti.init."""

from typing import NamedTuple

import taichi as ti

from pbd.core.kernels import Columns, Host, Typed, count
from scenes.render.precision import ivec4, vec2, vec3

# Columns of `Shading.numbers`.
SHADING = Columns(
    sun_radius=1,  # tangent of an angle
    shadow_texel=1,  # length of a texel of the shadow map [m]
    contact_height=1,  # height at which half of the contact darkening is left [m]
    ground_height=1,  # [m]
    ground_tile=1,  # edge length of the squares of the floor [m]
    fade_distance=1,  # at which the floor fades into the sky [m]
)

# Columns of `Layering.scale`.
SCALE = Columns(
    ground_nearness=1,  # of the ground in the view from below [m]
    texel=1,  # length of a texel of the contact map [m]
)


class MeshArrays(NamedTuple):
    """Triangles in the world frame."""

    vertices: Typed(vec3, count.vertices)  # [m]
    normals: Typed(vec3, count.vertices)
    triangles: Typed(ivec4, count.triangles)  # three vertices; row of the palette, plus 1 if the surface is solid
    palette: Typed(vec3, count.colours)  # linear light; two rows for each surface or instance: front, back


class SampleArrays(NamedTuple):
    """The nearest triangle at every sample of a picture."""

    # 0 if there is no triangle. The upper half is the bit pattern of the nearness: positive floats have the same order
    # as their bit patterns. The lower half is twice the triangle, plus 1 if its back is seen. One atomic maximum keeps
    # the nearest triangle, and always the same one of two that are equally near.
    keys: Typed(ti.i64, count.pixels, count.samples)
    covered: Typed(ti.i32, count.pixels)  # 1 if any sample of the pixel has a triangle
    pattern: Typed(vec2, count.samples)  # positions of the samples in the pixel, the most central first


class ShadowArrays(NamedTuple):
    """Shadow map: distances from the sun."""

    depths: Typed(ti.f32, count.texels, count.texels)  # of the nearest surface [m]; only differences matter
    tile_range: Typed(vec2, count.tiles, count.tiles)  # least and greatest depth in each tile [m]
    near_range: Typed(vec2, count.tiles, count.tiles)  # the same, in each tile and its neighbours [m]
    taps: Typed(vec2, count.taps)  # spiral that fills a disc evenly


class ContactArrays(NamedTuple):
    """The part of the sky that surfaces above the ground hide."""

    layers: Typed(ti.f32, count.layers, count.texels, count.texels)
    blurred: Typed(ti.f32, count.layers, count.texels, count.texels)  # along one direction
    weights: Typed(ti.f32, count.layers, count.distances)  # of each distance in the blur of each layer
    hidden: Typed(ti.f32, count.texels, count.texels)  # from 0 to 1


class Appending(NamedTuple):
    """A batch of instances that is appended to the mesh."""

    mesh: MeshArrays
    vertices: Host(2)  # (n, 3)
    normals: Host(2)  # (n, 3)
    triangles: Host(2)  # (m, 4) as in MeshArrays, counted from the first of this batch
    poses: Host(2)  # (k, 10): position, unit quaternion, scales
    colours: Host(2)  # (2 c, 3)


class Rasterising(NamedTuple):
    """A mesh, and the samples that it covers."""

    mesh: MeshArrays
    samples: SampleArrays
    view: Host(2)  # (4, 4) to w * (column, row, 1, nearness)


class Gathering(NamedTuple):
    """Samples of the view from the sun, and the depths that are copied from them."""

    samples: SampleArrays
    shadow: ShadowArrays


class Layering(NamedTuple):
    """Samples of the view from below, and the layers that they are sorted into."""

    samples: SampleArrays
    contact: ContactArrays
    scale: Host(1)  # SCALE


class Covering(NamedTuple):
    """Samples, and how much of each pixel some triangles cover."""

    samples: SampleArrays
    lens: Host(2)  # as in Shading
    ground_height: Host(1)  # [m]
    coverage: Host(2)  # (height, width), from 0 to 1
    depth: Host(2)  # (height, width) [m]


class Shading(NamedTuple):
    """Everything that the colours of a picture depend on."""

    mesh: MeshArrays
    samples: SampleArrays
    shadow: ShadowArrays
    contact: ContactArrays
    lens: Host(2)  # (4, 3): the eye; rays of depth 1 through the upper left corner, one column on and one row on
    sun: Host(2)  # (2, 3): directions to the sun, and to the brightest part of the sky
    shadow_view: Host(2)  # (4, 4)
    contact_view: Host(2)  # (4, 4)
    numbers: Host(1)  # SHADING
    picture: Host(3)  # (height, width, 3), 8-bit sRGB
