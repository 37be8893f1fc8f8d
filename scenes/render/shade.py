"""From what is seen at each sample to the picture's colours."""

import taichi as ti

from scenes.render.contact import hidden_sky
from scenes.render.ground import HORIZON, checkers, sky
from scenes.render.precision import constant, f32, ivec4, length, vec2, vec3
from scenes.render.rasterise import nearness_of
from scenes.render.shadow import sunlight

SKY, FLOOR = -2, -1                     # what is seen where no triangle is
SUN_LIGHT = (0.90, 0.84, 0.76)          # on a surface that faces the sun
SKY_LIGHT = (0.36, 0.40, 0.46)          # on a surface that faces the brightest part of the sky
GROUND_LIGHT = (0.17, 0.17, 0.18)       # on a surface that faces away from it, from the floor
GLOSS = 0.12                            # strength of the highlights
CONTACT = (0.35, 0.95)                  # how much of the sun's and of the sky's light is lost at contacts


@ti.func
def seen(keys: ti.template(), pixel, sample, is_covered, ray, eye, ground):
    """Depth and kind of what a sample sees: twice a triangle (plus one from behind), FLOOR or SKY."""
    depth, kind = f32(1e30), SKY
    if is_covered == 1:
        key = keys[pixel, sample]
        if key != 0:
            depth = f32(1.0) / nearness_of(key)
            kind = ti.cast(key, ti.i32)
    if ray.z < 0 and eye.z > ground:
        floor_depth = (ground - eye.z) / ray.z
        if floor_depth < depth:
            depth, kind = floor_depth, FLOOR
    return depth, kind


@ti.func
def normal_at(point, triangle, vertices: ti.template(), normals: ti.template(), triangles: ti.template()):
    """The vertices' normals interpolated at the triangle's point nearest to this one (nearly: weights are clamped)."""
    corners = triangles[triangle]
    a, b, c = vertices[corners[0]], vertices[corners[1]], vertices[corners[2]]
    side_b, side_c, there = b - a, c - a, point - a
    area = side_b.cross(side_c)
    squared = ti.max(area.dot(area), f32(1e-30))
    weight_b = ti.max(there.cross(side_c).dot(area) / squared, 0)
    weight_c = ti.max(side_b.cross(there).dot(area) / squared, 0)
    weight_a = ti.max(1 - weight_b - weight_c, 0)
    normal = (normals[corners[0]] * weight_a + normals[corners[1]] * weight_b + normals[corners[2]] * weight_c)
    return normal / ti.max(length(normal), f32(1e-10))


@ti.func
def encode(linear):
    """sRGB of linear light, to within 0.2 %, by square roots instead of powers (Taylor, 2010)."""
    root = ti.sqrt(ti.max(linear, 0))
    fourth = ti.sqrt(root)
    eighth = ti.sqrt(fourth)
    return f32(0.585122381) * root + f32(0.783140355) * fourth - f32(0.368262736) * eighth


@ti.kernel
def shade(
    vertices: ti.types.ndarray(dtype=vec3, ndim=1),
    normals: ti.types.ndarray(dtype=vec3, ndim=1),
    triangles: ti.types.ndarray(dtype=ivec4, ndim=1),
    palette: ti.types.ndarray(dtype=vec3, ndim=1),
    keys: ti.types.ndarray(dtype=ti.i64, ndim=2),
    covered: ti.types.ndarray(dtype=ti.i32, ndim=1),
    pattern: ti.types.ndarray(dtype=vec2, ndim=1),
    lens: ti.types.ndarray(dtype=vec3, ndim=1),
    sun: ti.types.ndarray(dtype=vec3, ndim=1),
    softness: ti.f32,
    shadow_view: ti.types.ndarray(dtype=ti.f64, ndim=2),
    texel: ti.f32,
    depths: ti.types.ndarray(dtype=ti.f32, ndim=2),
    near_range: ti.types.ndarray(dtype=vec2, ndim=2),
    taps: ti.types.ndarray(dtype=vec2, ndim=1),
    contact_view: ti.types.ndarray(dtype=ti.f64, ndim=2),
    hidden: ti.types.ndarray(dtype=ti.f32, ndim=2),
    contact_height: ti.f32,
    ground: ti.f32,
    tile: ti.f32,
    fade: ti.f32,
    everywhere: ti.i32,
    picture: ti.types.ndarray(dtype=ti.u8, ndim=3),
):
    """Colour each pixel: once for each thing seen in it, weighted by how many samples see it.

    lens: the eye, and the rays through the upper left corner, one column and one row on, all with depth 1.
    sun: its direction, and where the sky is brightest.  softness: the sun's radius as the tangent of an angle.
    ground: the floor's height.  tile: edge of its squares.  fade: distance where it is gone [m].
    contact_height: where half of the contact darkening is left [m].
    everywhere: 1, or 0 to leave out the pixels in which there is no triangle.
    """
    width = picture.shape[1]
    samples = keys.shape[1]
    eye = lens[0]
    for pixel in range(picture.shape[0] * width):
        row, column = pixel // width, pixel % width
        is_covered = covered[pixel]
        remaining = everywhere
        if is_covered == 1:
            remaining = (1 << samples) - 1
        total = vec3(0)
        sample_count = f32(0.0)
        while remaining != 0:
            # What the most central remaining sample sees, and all samples that see the same.
            kind, depth, members, place, depths_sum = SKY, f32(-1.0), f32(0.0), vec2(0), f32(0.0)
            for sample in range(samples):
                if (remaining >> sample) & 1 == 1:
                    offset = pattern[sample]
                    if is_covered == 0:
                        offset = vec2(f32(0.5))
                    ray = lens[1] + lens[2] * (column + offset.x) + lens[3] * (row + offset.y)
                    here_depth, here = seen(keys, pixel, sample, is_covered, ray, eye, ground)
                    if members == 0:
                        kind, depth = here, here_depth
                    same = here == kind
                    if not same and here >= 0 and kind >= 0:
                        # Neighbouring triangles of one surface, unless a fold or a sharp edge lies between them.
                        this, other = triangles[here >> 1], triangles[kind >> 1]
                        same = ((here ^ kind) & 1 == 0 and this[3] == other[3]
                                and ti.abs(here_depth - depth) < 4 * depth * length(lens[2])
                                and normals[this[0]].dot(normals[other[0]]) > f32(0.8))
                    if same:
                        remaining ^= 1 << sample
                        members += 1
                        place += offset
                        depths_sum += here_depth
            place /= members
            depth = depths_sum / members
            ray = lens[1] + lens[2] * (column + place.x) + lens[3] * (row + place.y)
            distance = depth * length(ray)
            colour = vec3(0)
            if kind == SKY:
                colour = sky(ray.z / length(ray))
            else:
                point = eye + ray * depth
                normal = vec3(0, 0, 1)
                lift = f32(0.0)                     # the floor casts no shadow, and so none on itself
                albedo = vec3(0)
                if kind == FLOOR:
                    # How far the floor's point moves from column to column and from row to row.
                    along = depth / tile * (lens[2] - ray * (lens[2].z / ray.z))
                    down = depth / tile * (lens[3] - ray * (lens[3].z / ray.z))
                    albedo = checkers(point.x / tile, point.y / tile, ti.abs(along.x) + ti.abs(down.x) + f32(1e-6),
                                      ti.abs(along.y) + ti.abs(down.y) + f32(1e-6))
                else:
                    triangle = kind >> 1
                    normal = normal_at(point, triangle, vertices, normals, triangles)
                    if kind & 1 == 1:
                        normal = -normal
                    lift = f32(1.0)
                    albedo = palette[(triangles[triangle][3] & -2) + (kind & 1)]

                facing = normal.dot(sun[0])
                light = f32(0.0)
                if facing > 0:
                    light = sunlight(point, normal, facing, lift, softness,
                                     shadow_view, texel, depths, near_range, taps)

                # Light from the sky above and from the floor below (hemispheric ambient light), both less near
                # where something stands on the floor. The sky is brightest between the zenith and the sun.
                upwards = f32(0.5) + f32(0.5) * normal.dot(sun[1])
                closeness = contact_height / (contact_height + ti.max(point.z - ground, 0))
                hidden_part = closeness * hidden_sky(point, contact_view, hidden)
                ambient = constant(SKY_LIGHT) * upwards + constant(GROUND_LIGHT) * (1 - upwards)
                colour = albedo * (constant(SUN_LIGHT) * (facing * light * (1 - f32(CONTACT[0]) * hidden_part))
                                   + ambient * (1 - f32(CONTACT[1]) * hidden_part))
                if kind == FLOOR:
                    colour += (constant(HORIZON) - colour) * (1 - ti.exp(-(distance / fade) ** 2))
                elif light > 0:
                    half_way = sun[0] - ray / length(ray)
                    shine = ti.max(normal.dot(half_way) / length(half_way), 0)
                    for _ in range(5):              # to the 32nd power
                        shine *= shine
                    colour += constant(SUN_LIGHT) * (f32(GLOSS) * shine * light)
            total += colour * members
            sample_count += members
        code = encode(total / ti.max(sample_count, f32(1.0)))
        for channel in ti.static(range(3)):
            picture[row, column, channel] = ti.cast(ti.max(ti.min(code[channel], 1), 0) * 255 + f32(0.5), ti.u8)
