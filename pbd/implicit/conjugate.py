"""Conjugate gradients, for elements whose factor would take too long.

Preconditioned by symmetric successive over-relaxation: M = (D + L) D⁻¹ (D + Lᵀ) with the blocks D on the diagonal of A
and L below it. So M is L̂ D L̂ᵀ, L̂ = 1 + L D⁻¹, and `substitute` of blocks.py solves with it as with a factor.

Source: Saad, Iterative Methods for Sparse Linear Systems (2003), algorithm 9.1 and section 10.2.
"""

import taichi as ti

from pbd.implicit.blocks import inverse_of, substitute, times, times_transposed, transposed_times
from pbd.integrate import gravity

# Iterations end when the error in the norm of M is below PRECISION of that of zero, or below NEGLIGIBLE of that of a
# free fall in the substep, g h²: at rest, nothing is left to solve for.
PRECISION, MOST_ITERATIONS, NEGLIGIBLE = 1e-3, 500, 1e-8


@ti.func
def prepare(s: ti.template(), world):
    """Write L̂ and D⁻¹ of the matrix whose blocks are in `scaled`, which stay."""
    m = ti.static(s.implicit)
    for column in range(s.counts.implicit):
        begin, end = m.first[column], m.first[column + 1]
        inverse = inverse_of(m.scaled[begin, world])
        m.lower[begin, world] = inverse
        for t in range(begin + 1, end):
            m.lower[t, world] = times_transposed(m.scaled[t, world], inverse)


@ti.func
def solve(s: ti.template(), world):
    """Solve in place: `unknown`."""
    m = ti.static(s.implicit)
    for k in range(s.counts.implicit):
        m.residual[k, world] = m.unknown[k, world]
        m.solution[k, world] = ti.Vector([0.0, 0.0, 0.0])
    substitute(s, world)
    square, mass = 0.0, 0.0
    for k in range(s.counts.implicit):
        m.search[k, world] = m.unknown[k, world]
        square += m.residual[k, world].dot(m.unknown[k, world])
        w = s.particles.position[m.node[k], world][3]
        if w > 0.0:
            mass += 1.0 / w
    fall = gravity(s, 0).norm() * s.settings.h**2
    enough, iterations = ti.max(PRECISION**2 * square, (NEGLIGIBLE * fall) ** 2 * mass), 0
    while square > enough and iterations < MOST_ITERATIONS:
        multiply(s, world)
        along = 0.0
        for k in range(s.counts.implicit):
            along += m.search[k, world].dot(m.product[k, world])
        step = square / along
        for k in range(s.counts.implicit):
            m.solution[k, world] = m.solution[k, world] + step * m.search[k, world]
            r = m.residual[k, world] - step * m.product[k, world]
            m.residual[k, world] = r
            m.unknown[k, world] = r
        substitute(s, world)
        before, square = square, 0.0
        for k in range(s.counts.implicit):
            square += m.residual[k, world].dot(m.unknown[k, world])
        for k in range(s.counts.implicit):
            m.search[k, world] = m.unknown[k, world] + square / before * m.search[k, world]
        iterations += 1
    for k in range(s.counts.implicit):
        m.unknown[k, world] = m.solution[k, world]


@ti.func
def multiply(s: ti.template(), world):
    """Multiply `search` by the matrix: `product`."""
    m = ti.static(s.implicit)
    for column in range(s.counts.implicit):
        m.product[column, world] = times(m.scaled[m.first[column], world], m.search[column, world])
    for column in range(s.counts.implicit):
        value, total = m.search[column, world], m.product[column, world]
        for t in range(m.first[column] + 1, m.first[column + 1]):
            row, block = m.row[t], m.scaled[t, world]
            m.product[row, world] = m.product[row, world] + times(block, value)
            total += transposed_times(block, m.search[row, world])
        m.product[column, world] = total
