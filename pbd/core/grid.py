"""Signed distance sampled on a regular grid: trilinear inside the grid, and outside it from the nearest point of it."""

import taichi as ti


@ti.func
def grid_distance(numbers: ti.template(), integers: ti.template(), grids: ti.template(), shape, x):
    """Signed distance [m] and unit normal of grid `shape` at x, in the shape's own frame.

    Of the shape's numbers, 1 to 3 are the grid's lower corner and 4 its spacing [m]; of its integers, 1 is where its
    samples start in `grids`, and 2 to 4 how many there are along x, y and z (z innermost).
    """
    lower = ti.Vector([numbers[shape, 1], numbers[shape, 2], numbers[shape, 3]])
    spacing = numbers[shape, 4]
    cells = ti.Vector([integers[shape, 2] - 1, integers[shape, 3] - 1, integers[shape, 4] - 1])
    row, sheet = integers[shape, 4], integers[shape, 3] * integers[shape, 4]
    place = (x - lower) / spacing
    inside = ti.min(ti.max(place, 0.0), cells * 1.0)
    corner = ti.min(ti.cast(inside, ti.i32), cells - 1)
    t = inside - corner
    base = integers[shape, 1] + corner[0] * sheet + corner[1] * row + corner[2]
    # Eight samples; the derivative of their trilinear interpolation is the gradient.
    distance = 0.0
    gradient = ti.Vector([0.0, 0.0, 0.0])
    for k in range(8):
        a, b, c = k // 4, (k // 2) % 2, k % 2
        sample = grids[base + a * sheet + b * row + c]
        u, v, w = weight(t[0], a), weight(t[1], b), weight(t[2], c)
        distance += u * v * w * sample
        gradient += ti.Vector([(2 * a - 1) * v * w, (2 * b - 1) * u * w, (2 * c - 1) * u * v]) * sample
    outside = (place - inside) * spacing
    beyond = outside.norm()
    if beyond > 0.0:
        # From beyond the grid the way back to it counts in full; what is left is the distance from there.
        gradient = gradient / (gradient.norm() + 1e-30) * ti.max(distance, 0.0) + outside
        distance += beyond
    return distance, gradient / (gradient.norm() + 1e-30)


@ti.func
def weight(t, corner):
    """Linear weight of a cell's lower (0) or upper (1) corner."""
    result = 1.0 - t
    if corner == 1:
        result = t
    return result
