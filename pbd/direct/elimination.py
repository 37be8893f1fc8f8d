"""Elimination in kernels: A = J W Jᵀ + α' is factored as L D Lᵀ, and A λ' = b is solved with it.

Each entry of L D is summed up where it is needed, so that no sum is stored before it is complete:

    S_ij = A_ij - Σ_k L_ik S_jk,   L_ij = S_ij/D_j,   D_j = S_jj        S = L D,  k < j <= i

Rows that are always solved come first, and are eliminated column by column. Inequalities come last
(pbd/direct/tables.py), one after another and only while they are active: first S_ij and L_ij of a row, then its pivot
D_i = A_ii - Σ_j S_ij L_ij. So what is not active costs nothing, and a change of what is active leaves the columns as
they are.

Source: Davis, Direct Methods for Sparse Linear Systems (2006), chapter 4: left-looking and up-looking elimination.
"""

import taichi as ti

from pbd.data import DIRECT_RANGE
from pbd.direct.mobility import write_mobilities
from pbd.direct.one_row import ACTIVE, write_gradients

# Values of `s.direct.factored`. `PASSED_ON`: the factor has passed on impulses, and nothing is solved yet. `KEPT`: it
# is as good as one at the start of the next part.
NOT_FACTORED, PASSED_ON, FACTORED, STIFF, KEPT = 0.0, 1.0, 2.0, 3.0, 4.0


@ti.func
def factor(s: ti.template(), from_start, whole, world):
    """Evaluate the gradients, and factor A.

    Args: from_start: whether at the start of the substep; whole: otherwise only rows of inequalities, if they are last.
    """
    s.direct.factorings[world] = s.direct.factorings[world] + 1.0
    columns = s.direct.columns[0]
    everything = whole or columns == s.counts.direct_rows
    if ti.static(s.features.has_mobilities):
        if everything:
            write_mobilities(s, s.direct.factored[world] == STIFF, world)
    for index in ti.static(s.features.direct):
        begin, end = s.direct.ranges[index, DIRECT_RANGE.begin], s.direct.ranges[index, DIRECT_RANGE.end]
        if everything or ti.static(s.features.types[index].at_least):
            for row in range(begin, end):
                write_gradients(s.features.types[index], index, s, row, from_start, world)
    if everything:
        for column in range(columns):
            eliminate_column(s, column, world)
    for place in range(columns, s.counts.direct_rows):
        if is_active(s, place, world):
            eliminate_row(s, place, world)
        else:
            clear_row(s, place, world)


@ti.func
def is_active(s: ti.template(), place, world):
    """Whether the inequality that is eliminated in a place is active."""
    return s.direct.active[s.direct.row_at[place], world] == ACTIVE


@ti.func
def sum_products(s: ti.template(), t, world):
    """A_ij of entry t of L."""
    total = 0.0
    for k in range(s.direct.sums[t, 0], s.direct.sums[t + 1, 0]):
        a, b = s.direct.products[k, 0], s.direct.products[k, 1]
        total += s.direct.gradient[a, world].dot(s.direct.weighted[b, world])
    return total


@ti.func
def sum_diagonal(s: ti.template(), place, world):
    """A_ii in a place, with the compliance of its row, and softened."""
    total = sum_products(s, s.direct.first[place], world) + s.direct.compliance[place, world]
    return total * (1.0 + s.direct.softness[place])


@ti.func
def subtract_updates(s: ti.template(), t, total, world):
    """Subtract Σ_k L_ik S_jk of entry t. Args: total: from which it is subtracted."""
    for k in range(s.direct.sums[t, 1], s.direct.sums[t + 1, 1]):
        total -= s.direct.lower[s.direct.updates[k, 0], world] * s.direct.scaled[s.direct.updates[k, 1], world]
    return total


@ti.func
def eliminate_column(s: ti.template(), column, world):
    """Compute a column of L.

    The inverse of its pivot stands in place of the diagonal. It is zero if no particle of the row can move, or it was
    cut.
    """
    first, inverse = s.direct.first[column], 0.0
    pivot = subtract_updates(s, first, sum_diagonal(s, column, world), world)
    if pivot > 0.0:
        inverse = 1.0 / pivot
    s.direct.lower[first, world] = inverse
    for t in range(first + 1, s.direct.first[column + 1]):
        of_column = subtract_updates(s, t, sum_products(s, t, world), world)
        s.direct.scaled[t, world] = of_column
        s.direct.lower[t, world] = of_column * inverse


@ti.func
def eliminate_row(s: ti.template(), place, world):
    """Compute the row of L of an inequality, and the inverse of its pivot."""
    first, inverse = s.direct.first[place], 0.0
    pivot = sum_diagonal(s, place, world)
    for t in range(first + 1, s.direct.first[place + 1]):
        scaled = subtract_updates(s, t, sum_products(s, t, world), world)
        of_row = scaled * s.direct.lower[s.direct.first[s.direct.partner[t]], world]
        pivot -= scaled * of_row
        s.direct.scaled[t, world] = scaled
        s.direct.lower[t, world] = of_row
    if pivot > 0.0:
        inverse = 1.0 / pivot
    s.direct.lower[first, world] = inverse


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
