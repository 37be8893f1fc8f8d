"""Elimination in kernels: A = J W Jᵀ + α' is factored as L D Lᵀ, and A λ' = b is solved with it.

Rows that are always solved come first. They are eliminated column by column: S_ik -= L_ij S_kj for all i, k below j.
Inequalities come last (pbd/direct/tables.py), one after another and only while they are active:

    S_ik = A_ik - Σ_j S_ij L_kj,   L_ij = S_ij/D_j,   D_i = A_ii - Σ_j S_ij L_ij        S = L D

So what is not active costs nothing, and a change of what is active leaves the columns as they are. All products stand
in flat lists: short inner loops, whose lengths a processor cannot foretell, would take twice the time.

Source: Davis, Direct Methods for Sparse Linear Systems (2006), chapter 4: right-looking and up-looking elimination.
"""

import taichi as ti

from pbd.data import DIRECT_RANGE
from pbd.direct.one_row import ACTIVE, write_gradients


@ti.func
def factor(s: ti.template(), from_start, whole, world):
    """Evaluate the gradients, and factor A.

    Args: from_start: whether at the start of the substep; whole: otherwise only rows of inequalities, if they are last.
    """
    columns = s.direct.columns[0]
    everything = whole or columns == s.counts.direct_rows
    for index in ti.static(s.features.direct):
        begin, end = s.direct.ranges[index, DIRECT_RANGE.begin], s.direct.ranges[index, DIRECT_RANGE.end]
        if everything or ti.static(s.features.types[index].at_least):
            for row in range(begin, end):
                write_gradients(s.features.types[index], index, s, row, from_start, world)
    if everything:
        sum_products(s, 0, columns, world)
        for column in range(columns):
            eliminate_column(s, column, world)
    for place in range(columns, s.counts.direct_rows):
        if is_active(s, place, world):
            sum_products(s, place, place + 1, world)
            eliminate_row(s, place, world)
        else:
            clear_row(s, place, world)


@ti.func
def is_active(s: ti.template(), place, world):
    """Whether the inequality that is eliminated in a place is active."""
    return s.direct.active[s.direct.row_at[place], world] == ACTIVE


@ti.func
def sum_products(s: ti.template(), begin, end, world):
    """Write A into the entries of L D that belong to places from `begin` to `end`."""
    scaled, first = ti.static(s.direct.scaled, s.direct.first)
    for t in range(first[begin], first[end]):
        scaled[t, world] = 0.0
    for k in range(s.direct.sums[begin, 0], s.direct.sums[end, 0]):
        t, a, b = s.direct.products[k, 0], s.direct.products[k, 1], s.direct.products[k, 2]
        product = s.direct.gradient[a, world].dot(s.direct.weighted[b, world])
        scaled[t, world] = scaled[t, world] + product
    for place in range(begin, end):
        t = first[place]
        softened = (scaled[t, world] + s.direct.compliance[place, world]) * (1.0 + s.direct.softness[place])
        scaled[t, world] = softened


@ti.func
def eliminate_column(s: ti.template(), column, world):
    """Compute a column of L from that of L D, and subtract its products from those that follow.

    The inverse of its pivot stands in place of the diagonal. It is zero if no particle of the row can move, or it was
    cut.
    """
    lower, scaled, updates = ti.static(s.direct.lower, s.direct.scaled, s.direct.updates)
    first, end = s.direct.first[column], s.direct.first[column + 1]
    pivot, inverse = scaled[first, world], 0.0
    if pivot > 0.0:
        inverse = 1.0 / pivot
    lower[first, world] = inverse
    for t in range(first + 1, end):
        lower[t, world] = scaled[t, world] * inverse
    for k in range(s.direct.sums[column, 1], s.direct.sums[column + 1, 1]):
        t, a, b = updates[k, 0], updates[k, 1], updates[k, 2]
        scaled[t, world] = scaled[t, world] - lower[a, world] * scaled[b, world]


@ti.func
def eliminate_row(s: ti.template(), place, world):
    """Compute the row of L of an inequality, and the inverse of its pivot."""
    lower, scaled, updates = ti.static(s.direct.lower, s.direct.scaled, s.direct.updates)
    first, end = s.direct.first[place], s.direct.first[place + 1]
    for k in range(s.direct.sums[place, 1], s.direct.sums[place + 1, 1]):
        t, a, b = updates[k, 0], updates[k, 1], updates[k, 2]
        scaled[t, world] = scaled[t, world] - scaled[a, world] * lower[b, world]
    pivot, inverse = scaled[first, world], 0.0
    for t in range(first + 1, end):
        of_row = scaled[t, world] * lower[s.direct.first[s.direct.partner[t]], world]
        pivot -= scaled[t, world] * of_row
        lower[t, world] = of_row
    if pivot > 0.0:
        inverse = 1.0 / pivot
    lower[first, world] = inverse


@ti.func
def clear_row(s: ti.template(), place, world):
    """Clear the row of L of an inequality that is not active."""
    for t in range(s.direct.first[place], s.direct.first[place + 1]):
        s.direct.lower[t, world] = 0.0


@ti.func
def substitute(s: ti.template(), world):
    """Solve L D Lᵀ λ = b in place: forward, then backward."""
    unknown, lower, partner, first = ti.static(s.direct.unknown, s.direct.lower, s.direct.partner, s.direct.first)
    columns, rows = s.direct.columns[0], s.counts.direct_rows
    for column in range(columns):
        value = unknown[column, world]
        for t in range(first[column] + 1, first[column + 1]):
            unknown[partner[t], world] = unknown[partner[t], world] - lower[t, world] * value
        unknown[column, world] = value * lower[first[column], world]
    for place in range(columns, rows):
        value = 0.0
        if is_active(s, place, world):
            value = unknown[place, world]
            for t in range(first[place] + 1, first[place + 1]):
                value -= s.direct.scaled[t, world] * unknown[partner[t], world]
        unknown[place, world] = value * lower[first[place], world]
    for k in range(rows - columns):
        place = rows - 1 - k
        if is_active(s, place, world):
            value = unknown[place, world]
            for t in range(first[place] + 1, first[place + 1]):
                unknown[partner[t], world] = unknown[partner[t], world] - lower[t, world] * value
    for k in range(columns):
        column = columns - 1 - k
        value = unknown[column, world]
        for t in range(first[column] + 1, first[column + 1]):
            value -= lower[t, world] * unknown[partner[t], world]
        unknown[column, world] = value
