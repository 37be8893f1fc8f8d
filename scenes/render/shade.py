"""Colours of a picture from the triangles at its samples."""

import taichi as ti

from pbd.core.kernels import make_kernel
from scenes.render.ambient_occlusion import hidden_sky
from scenes.render.data import SHADING, Shading
from scenes.render.ground import HORIZON, floor_colour, sky_colour
from scenes.render.precision import constant, f32, length, row_of, vec2, vec3
from scenes.render.rasterise import nearness_of
from scenes.render.shadow import sunlight


class Seen:
    """What a sample shows if it shows no triangle."""

    SKY, FLOOR = -2, -1


SUN_LIGHT = (0.90, 0.84, 0.76)  # on a surface that faces the sun
SKY_LIGHT = (0.36, 0.40, 0.46)  # on a surface that faces the brightest part of the sky
GROUND_LIGHT = (0.17, 0.17, 0.18)  # from the floor, on a surface that faces away from the sky
GLOSS = 0.12  # strength of highlights
CONTACT_LOSS = (0.35, 0.95)  # of the light of the sun and of the sky, at contacts
SAME_DIRECTION = 0.8  # cosine between normals of triangles that are shaded as one


@ti.func
def seen(samples: ti.template(), pixel, sample, is_covered, ray, eye, ground_height):
    """Find what a sample shows.

    Returns: the depth, and twice the triangle (plus 1 for its back), Seen.FLOOR or Seen.SKY.
    """
    depth, kind = f32(1e30), Seen.SKY
    if is_covered == 1:
        key = samples.keys[pixel, sample]
        if key != 0:
            depth = f32(1.0) / nearness_of(key)
            kind = ti.cast(key, ti.i32)
    if ray.z < 0 and eye.z > ground_height:
        floor_depth = (ground_height - eye.z) / ray.z
        if floor_depth < depth:
            depth, kind = floor_depth, Seen.FLOOR
    return depth, kind


@ti.func
def ray_through(lens: ti.template(), column, row):
    """The ray of depth 1 through a point of the picture [pixels]."""
    return row_of(lens, 1) + row_of(lens, 2) * column + row_of(lens, 3) * row


@ti.func
def normal_at(mesh: ti.template(), point, triangle):
    """Interpolate the normals of the vertices. Weights are clamped, so that the point may be outside the triangle."""
    corners = mesh.triangles[triangle]
    a, b, c = mesh.vertices[corners[0]], mesh.vertices[corners[1]], mesh.vertices[corners[2]]
    side_b, side_c, offset = b - a, c - a, point - a
    area = side_b.cross(side_c)
    squared = ti.max(area.dot(area), f32(1e-30))
    weight_b = ti.max(offset.cross(side_c).dot(area) / squared, 0)
    weight_c = ti.max(side_b.cross(offset).dot(area) / squared, 0)
    weight_a = ti.max(1 - weight_b - weight_c, 0)
    normal = (
        mesh.normals[corners[0]] * weight_a + mesh.normals[corners[1]] * weight_b + mesh.normals[corners[2]] * weight_c
    )
    return normal / ti.max(length(normal), f32(1e-10))


@ti.func
def encode(linear):
    """sRGB of linear light within 0.2 %, by square roots instead of powers (Taylor, 2010)."""
    root = ti.sqrt(ti.max(linear, 0))
    fourth = ti.sqrt(root)
    eighth = ti.sqrt(fourth)
    return f32(0.585122381) * root + f32(0.783140355) * fourth - f32(0.368262736) * eighth


@ti.func
def same_surface(mesh: ti.template(), kind, other, depth, other_depth, pixel_size):
    """Whether two samples show neighbouring triangles of one surface, without a fold or sharp edge between them."""
    first, second = mesh.triangles[other >> 1], mesh.triangles[kind >> 1]
    return (
        (other ^ kind) & 1 == 0
        and first[3] == second[3]
        and ti.abs(other_depth - depth) < 4 * depth * pixel_size
        and mesh.normals[first[0]].dot(mesh.normals[second[0]]) > f32(SAME_DIRECTION)
    )


@ti.func
def colour_at(data: ti.template(), kind, depth, ray):
    """Linear light that comes from the floor or a triangle along a ray. Args: kind: as `seen` returns it."""
    eye, sun = row_of(data.lens, 0), row_of(data.sun, 0)
    ground, tile = data.numbers[SHADING.ground_height], data.numbers[SHADING.ground_tile]
    distance = depth * length(ray)
    point = eye + ray * depth
    normal = vec3(0, 0, 1)
    lift = f32(0.0)  # the floor casts no shadow on itself
    albedo = vec3(0)
    if kind == Seen.FLOOR:
        # How far the point on the floor moves from column to column and from row to row, in tiles.
        column, row = row_of(data.lens, 2), row_of(data.lens, 3)
        along = depth / tile * (column - ray * (column.z / ray.z))
        down = depth / tile * (row - ray * (row.z / ray.z))
        albedo = floor_colour(
            point.x / tile,
            point.y / tile,
            ti.abs(along.x) + ti.abs(down.x) + f32(1e-6),
            ti.abs(along.y) + ti.abs(down.y) + f32(1e-6),
        )
    else:
        triangle = kind >> 1
        normal = normal_at(data.mesh, point, triangle)
        if kind & 1 == 1:
            normal = -normal
        lift = f32(1.0)
        albedo = data.mesh.palette[(data.mesh.triangles[triangle][3] & -2) + (kind & 1)]

    facing = normal.dot(sun)
    light = f32(0.0)
    if facing > 0:
        light = sunlight(data, point, normal, facing, lift)

    # Hemispheric ambient light: from the sky above and the floor below, and less near contacts with the floor. The sky
    # is brightest between the zenith and the sun.
    upwards = f32(0.5) + f32(0.5) * normal.dot(row_of(data.sun, 1))
    contact_height = data.numbers[SHADING.contact_height]
    closeness = contact_height / (contact_height + ti.max(point.z - ground, 0))
    hidden = closeness * hidden_sky(point, data.contact_view, data.contact.hidden)
    ambient = constant(SKY_LIGHT) * upwards + constant(GROUND_LIGHT) * (1 - upwards)
    colour = albedo * (
        constant(SUN_LIGHT) * (facing * light * (1 - f32(CONTACT_LOSS[0]) * hidden))
        + ambient * (1 - f32(CONTACT_LOSS[1]) * hidden)
    )
    if kind == Seen.FLOOR:
        fade = data.numbers[SHADING.fade_distance]
        colour += (constant(HORIZON) - colour) * (1 - ti.exp(-((distance / fade) ** 2)))
    elif light > 0:
        half_way = sun - ray / length(ray)
        shine = ti.max(normal.dot(half_way) / length(half_way), 0)
        for _ in range(5):  # to the 32nd power
            shine *= shine
        colour += constant(SUN_LIGHT) * (f32(GLOSS) * shine * light)
    return colour


@ti.func
def shade(data: ti.template(), everywhere):
    """Colour each pixel: once for each surface in it, weighted by the number of samples that show the surface.

    Args: data: Shading; everywhere: 1, or 0 to leave out pixels without triangles.
    """
    picture, lens, pattern = ti.static(data.picture, data.lens, data.samples.pattern)
    width = picture.shape[1]
    sample_count = data.samples.keys.shape[1]
    for pixel in range(picture.shape[0] * width):
        eye = row_of(lens, 0)
        ground = data.numbers[SHADING.ground_height]
        pixel_size = length(row_of(lens, 2))  # at depth 1 [m]
        row, column = pixel // width, pixel % width
        is_covered = data.samples.covered[pixel]
        remaining = everywhere  # samples without a colour yet, as bits
        if is_covered == 1:
            remaining = (1 << sample_count) - 1
        total = vec3(0)
        shaded_count = f32(0.0)
        while remaining != 0:
            # What the most central remaining sample shows, and all samples that show the same.
            kind, depth, members, position, depths = Seen.SKY, f32(-1.0), f32(0.0), vec2(0), f32(0.0)
            for sample in range(sample_count):
                if (remaining >> sample) & 1 == 1:
                    offset = pattern[sample]
                    if is_covered == 0:
                        offset = vec2(f32(0.5))
                    ray = ray_through(lens, column + offset.x, row + offset.y)
                    sample_depth, sample_kind = seen(data.samples, pixel, sample, is_covered, ray, eye, ground)
                    if members == 0:
                        kind, depth = sample_kind, sample_depth
                    same = sample_kind == kind
                    if not same and sample_kind >= 0 and kind >= 0:
                        same = same_surface(data.mesh, kind, sample_kind, depth, sample_depth, pixel_size)
                    if same:
                        remaining ^= 1 << sample
                        members += 1
                        position += offset
                        depths += sample_depth
            position /= members
            depth = depths / members
            ray = ray_through(lens, column + position.x, row + position.y)
            colour = vec3(0)
            if kind == Seen.SKY:
                colour = sky_colour(ray.z / length(ray))
            else:
                colour = colour_at(data, kind, depth, ray)
            total += colour * members
            shaded_count += members
        code = encode(total / ti.max(shaded_count, f32(1.0)))
        for channel in ti.static(range(3)):
            picture[row, column, channel] = ti.cast(ti.max(ti.min(code[channel], 1), 0) * 255 + f32(0.5), ti.u8)


shade_kernel = make_kernel(shade, Shading)
