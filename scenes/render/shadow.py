"""Soft shadows of the sun: a depth map seen from the sun, with a filter that widens with the distance of the caster.

The method is percentage-closer soft shadows (Fernando, NVIDIA 2005). Three measures keep the shadows clean:
- The taps of the filter are the same spiral at every pixel, and each tap interpolates four texels. So there are neither
  random specks nor steps.
- A tap is compared with the plane of the receiving surface, not with its depth at the centre of the filter.
- The surface is lifted along its normal by about one texel, which is the resolution of the map.

Most of a picture is fully lit or fully in shadow. A coarse grid of the least and greatest depth around each tile of the
map shows this at once. Only the rest is filtered.
"""

import math

import numpy as np
import taichi as ti

from pbd.core.kernels import allocate, arrays_of, make_kernel
from scenes.render.data import SHADING, Gathering, ShadowArrays
from scenes.render.precision import f32, ivec2, vec2
from scenes.render.rasterise import ZBuffer, nearness_of

TILE = 24  # edge of a tile, and radius of the widest filter [texels]
TAPS = 96  # of the widest filter
SEARCH_TAPS = 32  # of the search for shadow casters
FAR = 1e30  # depth where there is no shadow caster


class ShadowMap:
    """Depths of the nearest surfaces as seen from the sun.

    Args: size: of the map, rounded up to whole tiles [texels]; sun_direction: (3,) towards the sun.

    Attributes: arrays: ShadowArrays. view: (4, 4) parallel view. texel: length of a texel [m].
    """

    def __init__(self, size, sun_direction):
        tiles = math.ceil(size / TILE)
        self.size = tiles * TILE
        self.axes = parallel_axes(-np.asarray(sun_direction, dtype=np.float64))
        self.buffer = ZBuffer(self.size, self.size, 1)
        self.arrays = allocate(ShadowArrays, {"taps": spiral(TAPS)}, texels=self.size, tiles=tiles, taps=TAPS)

    def draw(self, mesh, lower, upper):
        """Draw the part of a mesh in the box from lower to upper (3,) [m]."""
        self.view, self.texel = parallel_view(self.axes, lower, upper, self.size)
        self.buffer.draw(mesh, self.view)
        gather_kernel(*arrays_of(self.buffer.arrays), *arrays_of(self.arrays))
        widen_kernel(*arrays_of(self.arrays))


def parallel_axes(forward):
    """Rows (3, 3) of unit vectors to the right, down and forward, for a parallel view. Args: forward: unit vector."""
    sideways = np.cross(forward, (0.0, 0.0, 1.0))
    if np.linalg.norm(sideways) < 1e-6:
        sideways = np.array([1.0, 0.0, 0.0])
    right = sideways / np.linalg.norm(sideways)
    return np.stack([right, np.cross(forward, right), forward])


def parallel_view(axes, lower, upper, size, border=0.02):
    """Make a parallel view of a box.

    Its scale and position are rounded, so that the texels do not move while the scene moves a little.

    Args: axes: as from `parallel_axes`; lower, upper: (3,) corners of the box [m]; size of the map [texels]; border:
    space around the box, in parts of its size.

    Returns: matrix (4, 4), and length of a texel [m].
    """
    corners = np.stack(np.meshgrid(*zip(lower, upper)), axis=-1).reshape(8, 3) @ axes.T
    least, most = corners.min(axis=0), corners.max(axis=0)
    extent = max((most - least)[:2].max(), 1e-3) * (1 + 2 * border)
    texel = 2.0 ** (math.ceil(4 * math.log2(extent)) / 4) / (size - 1)
    corner = np.floor((least + most)[:2] / 2 / texel) * texel - size / 2 * texel
    view = np.zeros((4, 4))
    view[:2, :3], view[:2, 3] = axes[:2] / texel, -corner / texel
    view[2, 3] = 1.0
    view[3, :3], view[3, 3] = -axes[2], most[2] + 1.0  # nearness is 1 at the end of the box
    return view, texel


def spiral(count):
    """Points (count, 2) that fill a disc of radius sqrt(count) evenly: Vogel's sunflower (1979)."""
    index = np.arange(count)
    radius, angle = np.sqrt(index + 0.5), index * math.pi * (3 - math.sqrt(5))
    return np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1).astype(np.float32)


@ti.func
def gather(data: ti.template()):
    """Copy depths from the z-buffer, and find the least and greatest of each tile. Args: data: Gathering."""
    depths, tile_range = ti.static(data.shadow.depths, data.shadow.tile_range)
    tiles = tile_range.shape[0]
    for tile in range(tiles * tiles):
        least, most = f32(FAR), f32(-FAR)
        for texel in range(TILE * TILE):
            row = tile // tiles * TILE + texel // TILE
            column = tile % tiles * TILE + texel % TILE
            pixel = row * depths.shape[1] + column
            depth = f32(FAR)
            if data.samples.covered[pixel] == 1:
                depth = -nearness_of(data.samples.keys[pixel, 0])
            depths[row, column] = depth
            least = ti.min(least, depth)
            most = ti.max(most, depth)
        tile_range[tile // tiles, tile % tiles] = vec2(least, most)


@ti.func
def widen(shadow: ti.template()):
    """Find the least and greatest depth of each tile and its neighbours. Args: shadow: ShadowArrays."""
    tiles = shadow.tile_range.shape[0]
    for row, column in ti.ndrange(tiles, tiles):
        least, most = f32(FAR), f32(-FAR)
        for neighbour in range(9):  # those beyond an edge are taken as the nearest ones
            y = ti.max(ti.min(row - 1 + neighbour // 3, tiles - 1), 0)
            x = ti.max(ti.min(column - 1 + neighbour % 3, tiles - 1), 0)
            least = ti.min(least, shadow.tile_range[y, x].x)
            most = ti.max(most, shadow.tile_range[y, x].y)
        shadow.near_range[row, column] = vec2(least, most)


@ti.func
def sunlight(data: ti.template(), point, normal, facing, lift):
    """The part of the sun that is seen from a point, from 0 to 1.

    Args: data: Shading; point [m]; normal of the surface; facing: cosine between normal and sun, above zero; lift: how
    far the point is lifted off the surface [texels], so that the surface does not shade itself.
    """
    view, depths, taps = ti.static(data.shadow_view, data.shadow.depths, data.shadow.taps)
    texel, softness = data.numbers[SHADING.shadow_texel], data.numbers[SHADING.sun_radius]
    size = depths.shape[0]
    lit = f32(1.0)
    column, row, depth = in_parallel_view(view, point + normal * (lift * texel))
    depth -= lift * texel
    if column >= 0 and row >= 0 and column < size and row < size:
        near = data.shadow.near_range[ti.cast(row, ti.i32) // TILE, ti.cast(column, ti.i32) // TILE]
        if depth > near.y:
            lit = f32(0.0)
        elif depth > near.x:
            # Change of the depth of the surface's plane from texel to texel.
            steepness = texel / ti.max(facing, f32(0.15))
            gradient = steepness * vec2(in_view_axis(view, 0, normal) * texel, in_view_axis(view, 1, normal) * texel)

            widest = ti.min(softness * (depth - near.x) / texel + 1, TILE)
            casters, caster_depth = f32(0.0), f32(0.0)
            for tap in range(SEARCH_TAPS):
                offset = taps[tap] * (widest * f32(SEARCH_TAPS**-0.5))
                at = texel_at(column + offset.x, row + offset.y, size)
                above = depths[at.y, at.x]
                if above < depth + gradient.dot(offset):
                    casters += 1
                    caster_depth += above
            if casters > 0:
                distance = ti.max(depth - caster_depth / casters, 0)
                radius = ti.max(ti.min(softness * distance / texel, TILE), 1)
                count = ti.min(ti.cast(12 + radius * radius, ti.i32), TAPS)
                spread = radius / ti.sqrt(ti.cast(count, ti.f32))
                shaded = f32(0.0)
                for tap in range(count):
                    offset = taps[tap] * spread
                    plane = depth + gradient.dot(offset)
                    x, y = column + offset.x - f32(0.5), row + offset.y - f32(0.5)
                    left, top = ti.floor(x), ti.floor(y)
                    first = texel_at(left, top, size)
                    second = texel_at(left + 1, top + 1, size)
                    right_part, lower_part = x - left, y - top
                    upper = shades(depths[first.y, first.x], plane) * (1 - right_part)
                    upper += shades(depths[first.y, second.x], plane) * right_part
                    lower = shades(depths[second.y, first.x], plane) * (1 - right_part)
                    lower += shades(depths[second.y, second.x], plane) * right_part
                    shaded += upper * (1 - lower_part) + lower * lower_part
                lit = 1 - shaded / ti.cast(count, ti.f32)
    return lit


@ti.func
def shades(depth, plane):
    """1 if a surface at this depth shades the plane, otherwise 0."""
    return ti.select(depth < plane, f32(1.0), f32(0.0))


@ti.func
def texel_at(column, row, size):
    """The texel at a position, or the nearest one in the map."""
    return ti.max(ti.min(ivec2(ti.cast(column, ti.i32), ti.cast(row, ti.i32)), size - 1), 0)


@ti.func
def in_view_axis(view: ti.template(), axis, vector):
    """Component of a vector along one axis of a view, in the units of that axis."""
    return view[axis, 0] * vector.x + view[axis, 1] * vector.y + view[axis, 2] * vector.z


@ti.func
def in_parallel_view(view: ti.template(), point):
    """Column, row and depth of a point in a parallel view. Args: view: (4, 4) float32; point [m]."""
    column, row = in_view_axis(view, 0, point) + view[0, 3], in_view_axis(view, 1, point) + view[1, 3]
    return column, row, -in_view_axis(view, 3, point) - view[3, 3]


gather_kernel = make_kernel(gather, Gathering)
widen_kernel = make_kernel(widen, ShadowArrays)
