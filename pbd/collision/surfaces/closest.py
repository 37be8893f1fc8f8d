"""Closest points of two features, as weights of four particles.

A pair has the particles 0 | 1 2 3, a vertex and a triangle, or 0 1 | 2 3, two edges. Its gap is Σ c_i x_i with
Σ c_i = 0: from the closest point of the second feature to that of the first.

Source: Ericson, Real-Time Collision Detection (2005), section 5.1.5; pbd/core/segments.py for edges.
"""

import taichi as ti

from pbd.core.segments import nearest_points
from pbd.core.vectors import row


@ti.func
def closest_weights(is_edge, x):
    """Weights (4,) of the gap of two features. Args: is_edge: whether both are edges; x: positions (4, 3) [m]."""
    c = ti.Vector([0.0, 0.0, 0.0, 0.0])
    if is_edge == 1:
        p, q = row(x, 0), row(x, 2)
        s, t = nearest_points(p, row(x, 1) - p, q, row(x, 3) - q, 0.5)
        c = ti.Vector([1.0 - s, s, t - 1.0, -t])
    else:
        w = closest_of_triangle(row(x, 0), row(x, 1), row(x, 2), row(x, 3))
        c = ti.Vector([1.0, -w[0], -w[1], -w[2]])
    return c


@ti.func
def closest_of_triangle(p, a, b, c):
    """Weights (3,) of the corners a, b, c in the point of their triangle that is closest to p."""
    ab, ac = b - a, c - a
    d1, d2 = ab.dot(p - a), ac.dot(p - a)
    d3, d4 = ab.dot(p - b), ac.dot(p - b)
    d5, d6 = ab.dot(p - c), ac.dot(p - c)
    va, vb, vc = d3 * d6 - d5 * d4, d5 * d2 - d1 * d6, d1 * d4 - d3 * d2
    w = ti.Vector([0.0, 0.0, 0.0])
    if d1 <= 0.0 and d2 <= 0.0:
        w[0] = 1.0
    elif d3 >= 0.0 and d4 <= d3:
        w[1] = 1.0
    elif d6 >= 0.0 and d5 <= d6:
        w[2] = 1.0
    elif vc <= 0.0 and d1 >= 0.0 and d3 <= 0.0:
        w[1] = d1 / (d1 - d3)
        w[0] = 1.0 - w[1]
    elif vb <= 0.0 and d2 >= 0.0 and d6 <= 0.0:
        w[2] = d2 / (d2 - d6)
        w[0] = 1.0 - w[2]
    elif va <= 0.0 and d4 - d3 >= 0.0 and d5 - d6 >= 0.0:
        w[2] = (d4 - d3) / ((d4 - d3) + (d5 - d6))
        w[1] = 1.0 - w[2]
    else:
        w[1], w[2] = vb / (va + vb + vc), vc / (va + vb + vc)
        w[0] = 1.0 - w[1] - w[2]
    return w


@ti.func
def components_along(x, n):
    """Components (4,) of the rows of a matrix (4, 3) along n."""
    return ti.Vector([row(x, k).dot(n) for k in ti.static(range(4))])


@ti.func
def separation(is_edge, x, n):
    """Distance of two features along n [m]: every point of the first is as far beyond every point of the second.

    It is at most their distance, and equal to it where n is the direction of their gap. Args: see `closest_weights`.
    """
    along = components_along(x, n)
    low, high = along[0], ti.max(along[2], along[3])
    if is_edge == 1:
        low = ti.min(low, along[1])
    else:
        high = ti.max(high, along[1])
    return low - high
