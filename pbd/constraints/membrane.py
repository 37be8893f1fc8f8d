"""Membrane: a triangle of fabric, which resists stretch along its threads, and shear between them.

    a = Σ a_i x_i,   b = Σ b_i x_i,   Σ a_i = Σ b_i = 0        warp and weft: what has length one at rest, as it is now
    e = (|a| - 1, |b| - 1, â·b̂ - c),   â = a/|a|, b̂ = b/|b|    strains of warp, weft and shear
    C = R e,   |C|²/2α = A eᵀ K e/2                            three rows with one compliance α

where A is the area at rest and K the stiffness [N/m] of the fabric, RᵀR = α A K with R upper triangular. The cosine at
rest c is zero until the fabric flows (pbd/flow.py). The rows are solved together, by XPBD's equation for all of them at
once (Macklin, Müller, Chentanez 2016, eq. 18):

    (∇C W ∇Cᵀ + α' 1) Δλ = -(C + α' λ),   x_i += w_i ∇_i Cᵀ Δλ

With the derivatives of the shear, s = (b̂ - (â·b̂) â)/|a| and t = (â - (â·b̂) b̂)/|b|, and with μ = Rᵀ Δλ, particle i
moves by w_i (a_i p + b_i q), p = μ_1 â + μ_3 s and q = μ_2 b̂ + μ_3 t. Linear momentum is conserved because
Σ a_i = Σ b_i = 0, angular momentum because a × p + b × q = 0.

Sources: a and b are the derivatives of Baraff and Witkin, Large Steps in Cloth Simulation (1998), section 4.2. Strains
of threads are theirs, too, but their shear is a·b. Departure: with the cosine of the angle no strain grows without
bound in a stretched triangle, where projections of a·b overshoot. Green's strain would have no strength where an
element is crushed flat. Here a crushed thread pushes with its full stiffness.

Parameters: a_1, a_2, b_1, b_2 [1/m]; R: of warp, of the weft's part in it, of weft, of shear [m]; and c.
"""

import taichi as ti

from pbd.constraints.constraint_type import SWINGS, TINY, ConstraintType, scalar_constraint
from pbd.core.vectors import length_or_huge

PARAMETERS = (
    "warp_1", "warp_2", "weft_1", "weft_2", "root_warp", "root_coupling", "root_weft", "root_shear", "rest_cosine",
)  # fmt: skip


@ti.func
def threads(x, parameters):
    """Warp a and weft b, (3,) each."""
    u, v = x[1] - x[0], x[2] - x[0]
    return parameters[0] * u + parameters[1] * v, parameters[2] * u + parameters[3] * v


@ti.func
def directions(a, b):
    """â, b̂, s and t."""
    length_a, length_b = length_or_huge(a), length_or_huge(b)
    warp, weft = a / length_a, b / length_b
    cosine = warp.dot(weft)
    return warp, weft, (weft - cosine * warp) / length_a, (warp - cosine * weft) / length_b


@ti.func
def value(x, parameters):
    """C = R e [m]."""
    a, b = threads(x, parameters)
    warp, weft = a.norm() - 1.0, b.norm() - 1.0
    shear = a.dot(b) / (length_or_huge(a) * length_or_huge(b)) - parameters[8]
    return ti.Vector([parameters[4] * warp + parameters[5] * weft, parameters[6] * weft, parameters[7] * shear])


@ti.func
def project(x, start, w, parameters, compliance, multipliers, from_start: ti.template()):
    """Solve the three rows together, along the gradients now or at the start of the substep.

    Gradients are made of the directions â and b̂ of the threads and of the derivatives of c = â·b̂ by a and b, which
    are s = (b̂ - c â)/|a| and t = (â - c b̂)/|b|. Capitals are the same where particles move along the gradients: now,
    or at the start. Two letters are a dot product: aS = â·S. Numbers take the place of most vectors.
    """
    a, b = threads(x, parameters)
    over_a, over_b = 1.0 / length_or_huge(a), 1.0 / length_or_huge(b)
    c = over_a * over_b * a.dot(b)
    A, B, over_A, over_B, C = a, b, over_a, over_b, c
    aA, aB, bA, bB = 1.0, c, c, 1.0  # a thread without length, whose direction is zero, moves nothing below
    if ti.static(from_start):
        start_a, start_b = threads(start, parameters)
        of_a, of_b = 1.0 / length_or_huge(start_a), 1.0 / length_or_huge(start_b)
        same_a, same_b = over_a * of_a * a.dot(start_a), over_b * of_b * b.dot(start_b)
        if ti.min(same_a, same_b) > 0.5:  # otherwise a thread has turned by more than 60° in the substep
            A, B, over_A, over_B, C = start_a, start_b, of_a, of_b, of_a * of_b * start_a.dot(start_b)
            aA, aB, bA, bB = same_a, over_a * of_b * a.dot(start_b), over_b * of_a * b.dot(start_a), same_b
    aS, aT = over_A * (aB - C * aA), over_B * (aA - C * aB)
    bS, bT = over_A * (bB - C * bA), over_B * (bA - C * bB)
    sA, sB, sS, sT = over_a * (bA - c * aA), over_a * (bB - c * aB), over_a * (bS - c * aS), over_a * (bT - c * aT)
    tA, tB, tS, tT = over_b * (aA - c * bA), over_b * (aB - c * bB), over_b * (aS - c * bS), over_b * (aT - c * bT)
    # S = Σ w_i ∇_i e ∇_i eᵀ, by three sums over the particles.
    a_0, b_0 = parameters[0] + parameters[1], parameters[2] + parameters[3]
    w_aa = w[0] * a_0 * a_0 + w[1] * parameters[0] * parameters[0] + w[2] * parameters[1] * parameters[1]
    w_ab = w[0] * a_0 * b_0 + w[1] * parameters[0] * parameters[2] + w[2] * parameters[1] * parameters[3]
    w_bb = w[0] * b_0 * b_0 + w[1] * parameters[2] * parameters[2] + w[2] * parameters[3] * parameters[3]
    rows = [
        [w_aa * aA, w_ab * aB, w_aa * aS + w_ab * aT],
        [w_ab * bA, w_bb * bB, w_ab * bS + w_bb * bT],
        [w_aa * sA + w_ab * tA, w_ab * sB + w_bb * tB, w_aa * sS + w_ab * (sT + tS) + w_bb * tT],
    ]
    violation = value(x, parameters)
    right = ti.Vector([-(violation[k] + compliance * multipliers[k]) for k in ti.static(range(3))])
    change = solve_three(with_roots(rows, parameters, compliance), right)
    if w_aa + w_bb <= 2.0 * TINY:
        change *= 0.0  # no particle can move
    of_shear = parameters[7] * change[2]
    of_warp = over_A * (parameters[4] * change[0] - of_shear * over_A * C)
    of_weft = over_B * (parameters[5] * change[0] + parameters[6] * change[1] - of_shear * over_B * C)
    of_shear *= over_A * over_B
    p, q = of_warp * A + of_shear * B, of_weft * B + of_shear * A
    move_1, move_2 = parameters[0] * p + parameters[2] * q, parameters[1] * p + parameters[3] * q
    return (
        [x[0] - w[0] * (move_1 + move_2), x[1] + w[1] * move_1, x[2] + w[2] * move_2],
        [multipliers[k] + change[k] for k in ti.static(range(3))],
    )


@ti.func
def derivatives_of_rows(x, parameters):
    """C, and the gradients of its rows."""
    a, b = threads(x, parameters)
    warp, weft, s, t = directions(a, b)
    of_a = [-parameters[0] - parameters[1], parameters[0], parameters[1]]
    of_b = [-parameters[2] - parameters[3], parameters[2], parameters[3]]
    gradients = [
        [(parameters[4] * of_a[k]) * warp + (parameters[5] * of_b[k]) * weft for k in ti.static(range(3))],
        [(parameters[6] * of_b[k]) * weft for k in ti.static(range(3))],
        [parameters[7] * (of_a[k] * s + of_b[k] * t) for k in ti.static(range(3))],
    ]
    return value(x, parameters), gradients


@ti.func
def turned_back(x, start, w, parameters, multipliers):
    """Gradients at the start of the substep, or at x where tension swings particles too fast for that.

    A thread with the tension T holds particle i like a spring of T a_i²/|a| across it.
    """
    a, b = threads(x, parameters)
    of_a = [-parameters[0] - parameters[1], parameters[0], parameters[1]]
    of_b = [-parameters[2] - parameters[3], parameters[2], parameters[3]]
    warp = ti.abs(parameters[4] * multipliers[0]) / length_or_huge(a)
    weft = ti.abs(parameters[5] * multipliers[0] + parameters[6] * multipliers[1]) / length_or_huge(b)
    fastest = 0.0
    for k in ti.static(range(3)):
        fastest = ti.max(fastest, w[k] * (warp * of_a[k] * of_a[k] + weft * of_b[k] * of_b[k]))
    corners = [start[k] for k in ti.static(range(3))]
    if fastest > SWINGS:
        for k in ti.static(range(3)):
            corners[k] = x[k]
    return derivatives_of_rows(corners, parameters)[1]


@ti.func
def tension(x, parameters, multipliers, stiffness):
    """What tension adds to the stiffness between members i and j <= i: T/|a| a_i a_j (1 - â âᵀ) of both threads.

    What pushes is left out: it would make the matrix of all elements indefinite.
    """
    a, b = threads(x, parameters)
    of_a = [-parameters[0] - parameters[1], parameters[0], parameters[1]]
    of_b = [-parameters[2] - parameters[3], parameters[2], parameters[3]]
    warp = across(a, ti.max(-parameters[4] * multipliers[0], 0.0))
    weft = across(b, ti.max(-parameters[5] * multipliers[0] - parameters[6] * multipliers[1], 0.0))
    return [
        of_a[i] * of_a[j] * warp + of_b[i] * of_b[j] * weft
        for i in ti.static(range(3))
        for j in ti.static(range(i + 1))
    ]


@ti.func
def across(thread, tension):
    """T/|a| (1 - â âᵀ), nine numbers. Args: thread: a; tension: T."""
    length = length_or_huge(thread)
    u, scale = thread / length, tension / length
    return ti.Vector(
        [
            scale * ((1.0 if ti.static(i == j) else 0.0) - u[i] * u[j])
            for i in ti.static(range(3))
            for j in ti.static(range(3))
        ]
    )


@ti.func
def with_roots(rows, parameters, compliance):
    """R S Rᵀ + α' 1, by rows. Args: rows: of S."""
    warp, coupling, weft, shear = parameters[4], parameters[5], parameters[6], parameters[7]
    left = [
        [warp * rows[0][k] + coupling * rows[1][k] for k in ti.static(range(3))],
        [weft * rows[1][k] for k in ti.static(range(3))],
        [shear * rows[2][k] for k in ti.static(range(3))],
    ]
    both = [[warp * each[0] + coupling * each[1], weft * each[1], shear * each[2]] for each in ti.static(left)]
    return [
        [both[0][0] + compliance, both[0][1], both[0][2]],
        [both[1][0], both[1][1] + compliance, both[1][2]],
        [both[2][0], both[2][1], both[2][2] + compliance],
    ]


@ti.func
def solve_three(m, right):
    """Solve three equations by elimination, for a matrix whose symmetric part is positive. Args: m: its rows."""
    over_0 = 1.0 / (m[0][0] + TINY)
    second, third = over_0 * m[1][0], over_0 * m[2][0]
    m_11, m_12 = m[1][1] - second * m[0][1], m[1][2] - second * m[0][2]
    m_21, m_22 = m[2][1] - third * m[0][1], m[2][2] - third * m[0][2]
    right_1, right_2 = right[1] - second * right[0], right[2] - third * right[0]
    over_1 = 1.0 / (m_11 + TINY)
    last = over_1 * m_21
    z = (right_2 - last * right_1) / (m_22 - last * m_12 + TINY)
    y = over_1 * (right_1 - m_12 * z)
    return ti.Vector([over_0 * (right[0] - m[0][1] * y - m[0][2] * z), y, z])


COMPLIANT = ConstraintType(
    "membrane (compliant)", 3, PARAMETERS, project, value, compliance=True, multipliers=3,
    derivatives=derivatives_of_rows, turned_back=turned_back, tension=tension,
)  # fmt: skip
MEMBRANE = ConstraintType("membrane", 3, PARAMETERS, project, value, multipliers=3, compliant=COMPLIANT)


@ti.func
def thread(x, parameters):
    """C = |c_1 (x_1 - x_0) + c_2 (x_2 - x_0)| - L and its gradient: the length of a thread of some length at rest."""
    along = parameters[0] * (x[1] - x[0]) + parameters[1] * (x[2] - x[0])
    direction = along / length_or_huge(along)
    gradients = [-(parameters[0] + parameters[1]) * direction, parameters[0] * direction, parameters[1] * direction]
    return along.norm() - parameters[2], gradients


THREAD_AT_MOST = scalar_constraint("thread at most", 3, ("c_1", "c_2", "longest"), thread, bound="at_most")
