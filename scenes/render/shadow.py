"""Soft shadows of the sun: a depth map seen from the sun, filtered more widely the farther away what casts them.

Percentage-closer soft shadows (Fernando, NVIDIA 2005). What keeps them clean:
- the filter's taps are the same spiral at every pixel and each weighs the four texels around it, so that there are
  neither random specks nor steps;
- a tap is compared with the plane of the receiving surface, not with its depth in the middle of the filter;
- the surface is lifted off itself by about a texel along its normal, just what the map cannot resolve.

Most of a picture is plainly lit or plainly in shadow. A coarse grid of the least and the greatest depth around each
tile of the map tells so at once; only what is left is filtered.
"""

import math

import numpy as np
import taichi as ti

from scenes.render.precision import f32, ivec2, vec2
from scenes.render.rasterise import ZBuffer, nearness_of

TILE = 24           # texels along a tile's edge; also the widest filter's radius
TAPS = 96           # of the widest filter
SEARCH_TAPS = 32    # of the search for what casts the shadow
FAR = 1e30          # depth where nothing casts a shadow


class ShadowMap:
    """How far from the sun light reaches.

    depths: (size, size) depth of the nearest surface [m], FAR where there is none; only their differences matter.
    near_range: least and greatest depth in each tile and the tiles around it.
    taps: a spiral (TAPS, 2) that fills the unit disc evenly, times the root of its count.
    """

    def __init__(self, size, sun_direction):
        self.tiles = math.ceil(size / TILE)
        self.size = self.tiles * TILE
        self.axes = parallel_axes(-np.asarray(sun_direction, dtype=np.float64))
        self.buffer = ZBuffer(self.size, self.size, 1)
        self.depths = ti.ndarray(ti.f32, (self.size, self.size))
        self.tile_range = ti.ndarray(vec2, (self.tiles, self.tiles))
        self.near_range = ti.ndarray(vec2, (self.tiles, self.tiles))
        self.taps = ti.ndarray(vec2, TAPS)
        self.taps.from_numpy(spiral(TAPS))

    def draw(self, mesh, lower, upper):
        """Draw the mesh as the sun sees it, as far as it lies in the box from lower to upper (3,) [m]."""
        self.view, self.texel = parallel_view(self.axes, lower, upper, self.size)
        self.buffer.draw(mesh, self.view)
        gather(self.buffer.keys, self.buffer.covered, self.depths, self.tile_range)
        widen(self.tile_range, self.near_range)


def parallel_axes(forward):
    """(3, 3) rows: to the right, down and forward, for a parallel view along that unit vector."""
    sideways = np.cross(forward, (0.0, 0.0, 1.0))
    if np.linalg.norm(sideways) < 1e-6:
        sideways = np.array([1.0, 0.0, 0.0])
    right = sideways / np.linalg.norm(sideways)
    return np.stack([right, np.cross(forward, right), forward])


def parallel_view(axes, lower, upper, size, border=0.02):
    """A (4, 4) parallel view of the whole box on size x size texels, and the length of a texel [m].

    Scale and place are rounded, so that the texels stay where they are while the scene moves a little.
    """
    corners = np.stack(np.meshgrid(*zip(lower, upper)), axis=-1).reshape(8, 3) @ axes.T
    least, most = corners.min(axis=0), corners.max(axis=0)
    extent = max((most - least)[:2].max(), 1e-3) * (1 + 2 * border)
    texel = 2.0 ** (math.ceil(4 * math.log2(extent)) / 4) / (size - 1)
    corner = np.floor((least + most)[:2] / 2 / texel) * texel - size / 2 * texel
    view = np.zeros((4, 4))
    view[:2, :3], view[:2, 3] = axes[:2] / texel, -corner / texel
    view[2, 3] = 1.0
    view[3, :3], view[3, 3] = -axes[2], most[2] + 1.0           # nearness is 1 where the box ends
    return view, texel


def spiral(count):
    """Points (count, 2) that fill a disc of radius sqrt(count) evenly: Vogel's sunflower."""
    index = np.arange(count)
    radius, angle = np.sqrt(index + 0.5), index * math.pi * (3 - math.sqrt(5))
    return np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1).astype(np.float32)


@ti.kernel
def gather(
    keys: ti.types.ndarray(dtype=ti.i64, ndim=2),
    covered: ti.types.ndarray(dtype=ti.i32, ndim=1),
    depths: ti.types.ndarray(dtype=ti.f32, ndim=2),
    tile_range: ti.types.ndarray(dtype=vec2, ndim=2),
):
    """Depths out of the z-buffer, and the least and the greatest of each tile."""
    tiles = tile_range.shape[0]
    for tile in range(tiles * tiles):
        least, most = f32(FAR), f32(-FAR)
        for texel in range(TILE * TILE):
            row = tile // tiles * TILE + texel // TILE
            column = tile % tiles * TILE + texel % TILE
            pixel = row * depths.shape[1] + column
            depth = f32(FAR)
            if covered[pixel] == 1:
                depth = -nearness_of(keys[pixel, 0])
            depths[row, column] = depth
            least = ti.min(least, depth)
            most = ti.max(most, depth)
        tile_range[tile // tiles, tile % tiles] = vec2(least, most)


@ti.kernel
def widen(tile_range: ti.types.ndarray(dtype=vec2, ndim=2), near_range: ti.types.ndarray(dtype=vec2, ndim=2)):
    """The least and the greatest depth of each tile and the tiles around it."""
    tiles = tile_range.shape[0]
    for row, column in ti.ndrange(tiles, tiles):
        least, most = f32(FAR), f32(-FAR)
        for y in range(ti.max(row - 1, 0), ti.min(row + 2, tiles)):
            for x in range(ti.max(column - 1, 0), ti.min(column + 2, tiles)):
                least = ti.min(least, tile_range[y, x].x)
                most = ti.max(most, tile_range[y, x].y)
        near_range[row, column] = vec2(least, most)


@ti.func
def sunlight(point, normal, facing, lift, softness,
             view: ti.template(), texel, depths: ti.template(), near_range: ti.template(), taps: ti.template()):
    """Which part of the sun is seen from a point, 0 to 1.

    normal: of the surface.  facing: its cosine with the sun's direction, above zero.
    lift: how far to lift the point off its surface [texels], so that it does not shade itself.
    softness: radius of the sun as the tangent of an angle.
    """
    size = depths.shape[0]
    lit = f32(1.0)
    column, row, depth = in_parallel_view(view, point + normal * (lift * texel))
    depth -= lift * texel
    if column >= 0 and row >= 0 and column < size and row < size:
        reach = near_range[ti.cast(row, ti.i32) // TILE, ti.cast(column, ti.i32) // TILE]
        if depth > reach.y:
            lit = f32(0.0)
        elif depth > reach.x:
            # How the depth of the surface's plane changes from texel to texel.
            steepness = texel / ti.max(facing, f32(0.15))
            gradient = steepness * vec2(in_view_axis(view, 0, normal) * texel, in_view_axis(view, 1, normal) * texel)

            widest = ti.min(softness * (depth - reach.x) / texel + 1, TILE)
            blockers, blocker_depth = f32(0.0), f32(0.0)
            for tap in range(SEARCH_TAPS):
                offset = taps[tap] * (widest * f32(SEARCH_TAPS**-0.5))
                there = texel_at(column + offset.x, row + offset.y, size)
                above = depths[there.y, there.x]
                if above < depth + gradient.dot(offset):
                    blockers += 1
                    blocker_depth += above
            if blockers > 0:
                distance = ti.max(depth - blocker_depth / blockers, 0)
                radius = ti.max(ti.min(softness * distance / texel, TILE), 1)
                count = ti.min(ti.cast(12 + radius * radius, ti.i32), TAPS)
                spread = radius / ti.sqrt(ti.cast(count, ti.f32))
                shaded = f32(0.0)
                for tap in range(count):
                    offset = taps[tap] * spread
                    plane = depth + gradient.dot(offset)
                    x, y = column + offset.x - f32(0.5), row + offset.y - f32(0.5)
                    left, top = ti.floor(x), ti.floor(y)
                    here = texel_at(left, top, size)
                    there = texel_at(left + 1, top + 1, size)
                    right_part, lower_part = x - left, y - top
                    upper = (closer(depths[here.y, here.x], plane) * (1 - right_part)
                             + closer(depths[here.y, there.x], plane) * right_part)
                    lower = (closer(depths[there.y, here.x], plane) * (1 - right_part)
                             + closer(depths[there.y, there.x], plane) * right_part)
                    shaded += upper * (1 - lower_part) + lower * lower_part
                lit = 1 - shaded / ti.cast(count, ti.f32)
    return lit


@ti.func
def closer(depth, plane):
    """1 where something at this depth shades the plane, else 0."""
    return ti.select(depth < plane, f32(1.0), f32(0.0))


@ti.func
def texel_at(column, row, size):
    """The texel there, or the nearest one of the map."""
    return ti.max(ti.min(ivec2(ti.cast(column, ti.i32), ti.cast(row, ti.i32)), size - 1), 0)


@ti.func
def in_view_axis(view: ti.template(), axis, vector):
    """A vector's component along one axis of a view, in that axis' units."""
    return ti.cast(view[axis, 0], ti.f32) * vector.x + ti.cast(view[axis, 1], ti.f32) * vector.y \
        + ti.cast(view[axis, 2], ti.f32) * vector.z


@ti.func
def in_parallel_view(view: ti.template(), point):
    """Column, row and depth of a point in a parallel view."""
    return (in_view_axis(view, 0, point) + ti.cast(view[0, 3], ti.f32),
            in_view_axis(view, 1, point) + ti.cast(view[1, 3], ti.f32),
            -in_view_axis(view, 3, point) - ti.cast(view[3, 3], ti.f32))
