"""The factor of a symmetric matrix of 3 x 3 blocks in kernels: A = L D Lᵀ, left-looking, column after column.

    S_ij = A_ij - Σ_k L_ik S_jkᵀ   (k < j <= i),   D_j = S_jj,   L_ij = S_ij D_j⁻¹

A and then S are in `scaled`; L is in `lower`, with D_j⁻¹ in place of its diagonal. Blocks are nine numbers, row by row.

Source: Davis, Direct Methods for Sparse Linear Systems (2006), chapter 4.
"""

import taichi as ti


@ti.func
def factor(s: ti.template(), world):
    """Factor the matrix whose blocks are in `scaled`."""
    m = ti.static(s.implicit)
    for column in range(s.counts.implicit):
        begin, end = m.first[column], m.first[column + 1]
        for t in range(begin, end):
            block = m.scaled[t, world]
            for k in range(m.ends[t], m.ends[t + 1]):
                block -= times_transposed(m.lower[m.updates[k, 0], world], m.scaled[m.updates[k, 1], world])
            m.scaled[t, world] = block
        inverse = inverse_of(m.scaled[begin, world])
        m.lower[begin, world] = inverse
        for t in range(begin + 1, end):
            m.lower[t, world] = times_transposed(m.scaled[t, world], inverse)


@ti.func
def substitute(s: ti.template(), world):
    """Solve with the factor in place: `unknown`, by forward and backward substitution."""
    m = ti.static(s.implicit)
    for column in range(s.counts.implicit):
        value = m.unknown[column, world]
        for t in range(m.first[column] + 1, m.first[column + 1]):
            m.unknown[m.row[t], world] = m.unknown[m.row[t], world] - times(m.lower[t, world], value)
        m.unknown[column, world] = times(m.lower[m.first[column], world], value)
    for k in range(s.counts.implicit):
        column = s.counts.implicit - 1 - k
        value = m.unknown[column, world]
        for t in range(m.first[column] + 1, m.first[column + 1]):
            value -= transposed_times(m.lower[t, world], m.unknown[m.row[t], world])
        m.unknown[column, world] = value


@ti.func
def times_transposed(a, b):
    """A Bᵀ of two blocks."""
    return ti.Vector(
        [
            a[3 * i] * b[3 * j] + a[3 * i + 1] * b[3 * j + 1] + a[3 * i + 2] * b[3 * j + 2]
            for i in ti.static(range(3))
            for j in ti.static(range(3))
        ]
    )


@ti.func
def times(a, v):
    """A v."""
    return ti.Vector([a[3 * i] * v[0] + a[3 * i + 1] * v[1] + a[3 * i + 2] * v[2] for i in ti.static(range(3))])


@ti.func
def transposed_times(a, v):
    """Aᵀ v."""
    return ti.Vector([a[i] * v[0] + a[3 + i] * v[1] + a[6 + i] * v[2] for i in ti.static(range(3))])


@ti.func
def inverse_of(a):
    """The inverse of a symmetric positive block, by its cofactors."""
    xx, xy, xz = a[4] * a[8] - a[5] * a[5], a[2] * a[5] - a[1] * a[8], a[1] * a[5] - a[2] * a[4]
    yy, yz, zz = a[0] * a[8] - a[2] * a[2], a[1] * a[2] - a[0] * a[5], a[0] * a[4] - a[1] * a[1]
    scale = 1.0 / (a[0] * xx + a[1] * xy + a[2] * xz)
    return scale * ti.Vector([xx, xy, xz, xy, yy, yz, xz, yz, zz])


@ti.func
def dyad(u, v):
    """The block u vᵀ."""
    return ti.Vector([u[i] * v[j] for i in ti.static(range(3)) for j in ti.static(range(3))])


@ti.func
def transposed(a):
    """A block transposed."""
    return ti.Vector([a[0], a[3], a[6], a[1], a[4], a[7], a[2], a[5], a[8]])
