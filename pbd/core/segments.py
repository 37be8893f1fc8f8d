"""The nearest points of two segments, and of a segment and a point.

Source: Ericson, Real-Time Collision Detection (2005), section 5.1.9.
"""

import taichi as ti


@ti.func
def nearest_points(p, d, q, e, parallel=0.0):
    """The s and t in [0, 1] at which p + s d and q + t e are nearest to one another; d and e may be zero.

    Args: parallel: where s begins if the segments are parallel, and all of a part are as near.
    """
    r = p - q
    a, b, c = d.dot(d), d.dot(e), d.dot(r)
    g, f = e.dot(e), e.dot(r)
    s, t = parallel, 0.0
    if a > 0.0 and g > 0.0:
        across = a * g - b * b
        if across > 0.0:
            s = ti.min(ti.max((b * f - c * g) / across, 0.0), 1.0)
        t = (b * s + f) / g
        if t < 0.0:
            t = 0.0
            s = ti.min(ti.max(-c / a, 0.0), 1.0)
        elif t > 1.0:
            t = 1.0
            s = ti.min(ti.max((b - c) / a, 0.0), 1.0)
    elif a > 0.0:
        s = ti.min(ti.max(-c / a, 0.0), 1.0)
    elif g > 0.0:
        t = ti.min(ti.max(f / g, 0.0), 1.0)
    return s, t


@ti.func
def from_segment(start, way, x):
    """Vector to a point from the nearest one of a segment (3,) [m]. Args: start, way: of the segment, not zero; x."""
    return x - start - ti.min(ti.max((x - start).dot(way) / way.norm_sqr(), 0.0), 1.0) * way
