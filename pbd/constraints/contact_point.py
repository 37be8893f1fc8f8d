"""Contact point: a point of up to four particles, moved as one impulse moves it.

    p = Σ c_i x_i,   x_i += c_i w_i λ Δ,   λ = 1 / Σ c_i² w_i,   so that p moves by Δ

Contacts make it one-sided: they call it only for a point that is inside a collider (pbd/collision/elements.py). The
impulse λ Δ acts at p, so for particles alone linear and angular momentum change as by a force on p.

Source: Jakobsen, Advanced Character Physics (2001), section 5. The sign of λ is wrong in the retold source, and its
λ = 1 / Σ c_i² is right for equal masses only.

Here x is a matrix (4, 3) with a particle in each row, and c and w are vectors (4,). Unused rows have c = 0.
"""

import taichi as ti

from pbd.core.vectors import row


@ti.func
def weighted_sum(x, c):
    """The point Σ c_i x_i (3,) [m]."""
    return c[0] * row(x, 0) + c[1] * row(x, 1) + c[2] * row(x, 2) + c[3] * row(x, 3)


@ti.func
def move_point(x, w, c, displacement):
    """Positions (4, 3) after the point Σ c_i x_i was moved by a displacement [m]. Pinned particles stay."""
    weight = (c * c * w).sum()
    result = x
    if weight > 0.0:
        result = x + (c * w / weight).outer_product(displacement)
    return result
