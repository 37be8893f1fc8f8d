"""Signed distances of single solids in their normal form: negative inside, with the unit normal outwards."""

import taichi as ti


@ti.func
def rounded_distance(x, radius, half_length):
    """Signed distance and normal of all points within `radius` of the segment ±half_length on z; zero for a ball."""
    offset = x
    offset[2] -= ti.min(ti.max(x[2], -half_length), half_length)
    length = offset.norm()
    # On the segment any direction across it is one; z is none.
    normal = ti.Vector([1.0, 0.0, 0.0])
    if length > 0.0:
        normal = offset / length
    return length - radius, normal


@ti.func
def box_distance(x, half):
    """Signed distance and normal of the box |x_k| < half_k: outside to the nearest point, inside to the nearest
    face."""
    nearest = ti.min(ti.max(x, -half), half)
    offset = x - nearest
    distance = offset.norm()
    normal = ti.Vector([0.0, 0.0, 1.0])
    if distance > 0.0:
        normal = offset / distance
    else:
        axis = 0
        distance = ti.abs(x[0]) - half[0]
        for k in ti.static(range(1, 3)):
            depth = ti.abs(x[k]) - half[k]
            if depth > distance:
                distance = depth
                axis = k
        side = 1.0
        for k in ti.static(range(3)):
            normal[k] = 0.0
            if k == axis:
                if x[k] < 0.0:
                    side = -1.0
                normal[k] = side
    return distance, normal


@ti.func
def cylinder_distance(x, radius, half_length):
    """Signed distance and normal of the cylinder about z between ±half_length; inside to the nearest face."""
    across = ti.sqrt(x[0] * x[0] + x[1] * x[1])
    outwards = ti.Vector([1.0, 0.0, 0.0])
    if across > 0.0:
        outwards = ti.Vector([x[0] / across, x[1] / across, 0.0])
    along = ti.Vector([0.0, 0.0, 1.0])
    if x[2] < 0.0:
        along[2] = -1.0
    side, end = across - radius, ti.abs(x[2]) - half_length
    distance, normal = side, outwards
    if side > 0.0 and end > 0.0:  # nearest to the rim
        distance = ti.sqrt(side * side + end * end)
        normal = (side * outwards + end * along) / distance
    elif end > side:
        distance, normal = end, along
    return distance, normal


@ti.func
def hull_distance(planes: ti.template(), begin, count, x):
    """Signed distance and normal of the body behind planes: the largest distance of any of them.

    Inside and over a face that is exact. Outside, past an edge or a corner, it is less than the true distance, and the
    normal is the face's: surfaces offset by a radius have sharp edges there rather than round ones.

    Arguments: planes: flat, four numbers (normal and offset) for each; begin: the first one's place; count of them.
    """
    distance = -1e30
    normal = ti.Vector([0.0, 0.0, 1.0])
    for k in range(count):
        place = begin + 4 * k
        face = ti.Vector([planes[place], planes[place + 1], planes[place + 2]])
        height = face.dot(x) - planes[place + 3]
        if height > distance:
            distance, normal = height, face
    return distance, normal
