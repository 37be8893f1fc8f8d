"""What an impulse along a row does to trees of links: `s.space` of rigid/solvers/sequential.

A row's J, over the speeds of the trees of its two bodies, and M⁻¹Jᵀ, by a test impulse of one sent up both bodies'
paths to the ground and down their trees, as source [3] has it. Found once a step, they make a sweep as cheap as the
trees have speeds; the mending of positions goes on with them, as the step's start had them.
"""

import taichi as ti

from rigid.constraints.rows import DIRECTION, TURN_I, bodies_of
from rigid.kernels.columns import put_triple, triple
from rigid.kernels.motion import INVERSE_INERTIA, INVERSE_MASS
from rigid.solvers.articulated.dynamics import found
from rigid.solvers.articulated.kinematics import carried, offset
from rigid.solvers.articulated.links import (
    AXIS,
    FREEDOMS,
    INVERSE,
    MOMENTUM,
    PARENT,
    SPEED,
    TEST,
    TREE,
    TREE_END,
    TREE_FREEDOMS,
    TREE_SPEED,
)

# Trees that answer along a row by less than so much of what its bodies would, were they free, cannot move along it:
# what is there is round-off.
IMMOBILE = 1e-12


@ti.func
def span(s: ti.template(), i, j):
    """The first speed of each of two bodies' trees, and how many it has: none of the ground's, nor of the second where
    both are one."""
    of = ti.static(s.trees.integers)
    link_i, link_j = s.trees.link_of[i], s.trees.link_of[j]
    first_i, count_i, first_j, count_j = 0, 0, 0, 0
    if link_i >= 0:
        first_i, count_i = of[link_i, TREE_SPEED], of[link_i, TREE_FREEDOMS]
    if link_j >= 0:
        first_j, count_j = of[link_j, TREE_SPEED], of[link_j, TREE_FREEDOMS]
        if link_i >= 0 and first_i == first_j:
            first_j, count_j = first_i, 0
    return first_i, count_i, first_j, count_j


@ti.func
def hold(s: ti.template(), i, j, stage, world):
    """Nothing: speeds stay where they are."""
    return ti.Vector([0.0])


@ti.func
def release(s: ti.template(), i, j, held, stage, world):
    """Nothing: speeds are written at once."""
    pass


@ti.func
def rate(s: ti.template(), row, i, j, held, stage, world):
    """J V of a row: of its J over speeds."""
    first_i, count_i, first_j, count_j = span(s, i, j)
    total = 0.0
    for k in range(count_i):
        total += s.jacobians[world, row, k] * s.trees.speeds[world, stage, first_i + k]
    for k in range(count_j):
        total += s.jacobians[world, row, count_i + k] * s.trees.speeds[world, stage, first_j + k]
    return total


@ti.func
def push(s: ti.template(), row, i, j, change, held, stage, world):
    """Change the speeds as an impulse along a row does."""
    first_i, count_i, first_j, count_j = span(s, i, j)
    u = ti.static(s.trees.speeds)
    for k in range(count_i):
        u[world, stage, first_i + k] = u[world, stage, first_i + k] + change * s.answers[world, row, k]
    for k in range(count_j):
        u[world, stage, first_j + k] = u[world, stage, first_j + k] + change * s.answers[world, row, count_i + k]
    return held


@ti.func
def matrix(s: ti.template(), row, other, i, j, world):
    """An entry of J M⁻¹ Jᵀ, of two rows of the same bodies."""
    spans = ti.Vector(span(s, i, j))
    total = 0.0
    for k in range(spans[1] + spans[3]):
        total += s.jacobians[world, row, k] * s.answers[world, other, k]
    return total


@ti.func
def gear_matrix(s: ti.template(), group, first, world):
    """J M⁻¹ Jᵀ of a gear: over the trees of its four ends, rows on one tree taken together."""
    total = 0.0
    for a in range(2):
        for b in range(2):
            columns_a = ends_of_gear(s, group, a, world)
            columns_b = ends_of_gear(s, group, b, world)
            for at in ti.static(range(2)):
                for other in ti.static(range(2)):
                    first_a, count_a = columns_a[2 * at], columns_a[2 * at + 1]
                    first_b, count_b = columns_b[2 * other], columns_b[2 * other + 1]
                    if first_a == first_b and ti.min(count_a, count_b) > 0:
                        begin_a, begin_b = at * columns_a[1], other * columns_b[1]
                        for k in range(count_a):
                            total += (
                                s.jacobians[world, first + a, begin_a + k] * s.answers[world, first + b, begin_b + k]
                            )
    return total


@ti.func
def ends_of_gear(s: ti.template(), group, k, world):
    """`span` of a gear's first row, or of its second (4,)."""
    i, j = bodies_of(s.rows, group, k, world)
    return ti.Vector(span(s, i, j))


@ti.func
def afresh(s: ti.template(), kind, i, j, world):
    """Whether a group wants another matrix where positions are mended: no, its rows are as at the step's start."""
    return 0


@ti.func
def follow(s: ti.template(), row, i, j, world):
    """Nothing: rows go on as at the step's start."""
    pass


@ti.func
def renew(s: ti.template(), row, i, j, world):
    """J of a row that has been written, over the speeds of its trees, and M⁻¹ Jᵀ.

    Both are zero, which leaves the row out, where the trees cannot move along it: as across a linkage in a plane.
    """
    first_i, count_i, first_j, count_j = span(s, i, j)
    for k in range(count_i + count_j):
        s.jacobians[world, row, k] = 0.0
        s.answers[world, row, k] = 0.0
    put_jacobian(s, row, i, j, first_i, count_i, first_j, count_j, world)
    send_up(s, row, i, j, first_i, count_i, first_j, count_j, world)
    for side in range(2):
        link, begin = s.trees.link_of[i], -first_i
        if side == 1:
            link, begin = s.trees.link_of[j], count_i - first_j
        if link >= 0 and (side == 0 or count_j > 0):
            send_down(s, row, link, begin, world)
    if matrix(s, row, row, i, j, world) < IMMOBILE * free_matrix(s, row, i, j, world):
        for k in range(count_i + count_j):
            s.jacobians[world, row, k] = 0.0
            s.answers[world, row, k] = 0.0


@ti.func
def free_matrix(s: ti.template(), row, i, j, world):
    """What J M⁻¹ Jᵀ of a row would be at most, were its bodies free."""
    n, m = ti.static(s.rows.numbers, s.motion.masses)
    total = triple(n, row, DIRECTION, world).norm_sqr() * (m[world, i, INVERSE_MASS] + m[world, j, INVERSE_MASS])
    for side in range(2):
        body = i
        if side == 1:
            body = j
        total += triple(n, row, TURN_I + 3 * side, world).norm_sqr() * triple(m, body, INVERSE_INERTIA, world).sum()
    return total


@ti.func
def column(speed, first_i, count_i, first_j, count_j):
    """The column of a speed in a row's J."""
    at = speed - first_i
    if speed >= first_j and speed < first_j + count_j:
        at = count_i + speed - first_j
    return at


@ti.func
def impulse(s: ti.template(), row, side, world):
    """An impulse of one along a row, as its body i or j has it: linear, and angular about the centre of mass."""
    n = ti.static(s.rows.numbers)
    linear, angular = triple(n, row, DIRECTION, world), triple(n, row, TURN_I + 3 * side, world)
    if side == 1:
        linear = -linear
    return linear, angular


@ti.func
def put_jacobian(s: ti.template(), row, i, j, first_i, count_i, first_j, count_j, world):
    """J of a row over speeds: its impulse along the axes of all links between its bodies and the ground."""
    of = ti.static(s.trees.integers)
    for side in range(2):
        link = s.trees.link_of[i]
        if side == 1:
            link = s.trees.link_of[j]
        p, L = impulse(s, row, side, world)
        while link >= 0:
            for speed in range(of[link, SPEED], of[link, SPEED] + of[link, FREEDOMS]):
                at = column(speed, first_i, count_i, first_j, count_j)
                along = triple(s.trees.axes, speed, AXIS, world).dot(p)
                along += triple(s.trees.axes, speed, AXIS + 3, world).dot(L)
                s.jacobians[world, row, at] = s.jacobians[world, row, at] + along
            L += offset(s, link, world).cross(p)
            link = of[link, PARENT]


@ti.func
def send_up(s: ti.template(), row, i, j, first_i, count_i, first_j, count_j, world):
    """A test impulse from both bodies up to the roots: its share sᵀp for each speed, left in the row's answers."""
    of, sums = ti.static(s.trees.integers, s.trees.sums)
    for side in range(2):
        link = s.trees.link_of[i]
        if side == 1:
            link = s.trees.link_of[j]
        while link >= 0:
            for k in ti.static(range(6)):
                sums[world, link, TEST + k] = 0.0
            link = of[link, PARENT]
    for side in range(2):
        link = s.trees.link_of[i]
        if side == 1:
            link = s.trees.link_of[j]
        if link >= 0:
            p, L = impulse(s, row, side, world)
            put_triple(sums, link, TEST, triple(sums, link, TEST, world) + p, world)
            put_triple(sums, link, TEST + 3, triple(sums, link, TEST + 3, world) + L, world)
    a, b = s.trees.link_of[i], s.trees.link_of[j]
    while ti.max(a, b) >= 0:
        link = ti.max(a, b)  # links stand behind their parents, so that both paths have reached it where they meet
        p, L = triple(sums, link, TEST, world), triple(sums, link, TEST + 3, world)
        for k in range(of[link, FREEDOMS]):
            speed = of[link, SPEED] + of[link, FREEDOMS] - 1 - k
            share = triple(s.trees.axes, speed, AXIS, world).dot(p)
            share += triple(s.trees.axes, speed, AXIS + 3, world).dot(L)
            s.answers[world, row, column(speed, first_i, count_i, first_j, count_j)] = share
            part = s.trees.axes[world, speed, INVERSE] * share
            p -= part * triple(s.trees.axes, speed, MOMENTUM, world)
            L -= part * triple(s.trees.axes, speed, MOMENTUM + 3, world)
        parent = of[link, PARENT]
        if parent >= 0:
            put_triple(sums, parent, TEST, triple(sums, parent, TEST, world) + p, world)
            L += triple(sums, parent, TEST + 3, world) + offset(s, link, world).cross(p)
            put_triple(sums, parent, TEST + 3, L, world)
        if a == link:
            a = parent
        if b == link:
            b = parent


@ti.func
def send_down(s: ti.template(), row, link, begin, world):
    """Speeds that the test impulse gives to the whole tree of a link. Arguments: begin: the row's column of speed 0."""
    of, sums = ti.static(s.trees.integers, s.trees.sums)
    for each in range(of[link, TREE], of[link, TREE_END]):
        v, w = carried(s, each, sums, of[each, PARENT], TEST, world)
        for speed in range(of[each, SPEED], of[each, SPEED] + of[each, FREEDOMS]):
            u = found(s, speed, s.answers[world, row, begin + speed], v, w, world)
            s.answers[world, row, begin + speed] = u
            v += u * triple(s.trees.axes, speed, AXIS, world)
            w += u * triple(s.trees.axes, speed, AXIS + 3, world)
        put_triple(sums, each, TEST, v, world)
        put_triple(sums, each, TEST + 3, w, world)
