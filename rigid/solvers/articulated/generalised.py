"""Effects of impulses along rows on the speeds of trees: `s.formulation` of rigid/solvers/sequential.

For each row, J over the speeds of the trees of its two bodies, and M⁻¹Jᵀ. The latter is the response to a test impulse
of one, which is passed inward from both bodies to the ground and outward along their trees, as in source [3]. Both are
computed once a step, so the cost of an iteration is proportional to the number of speeds of the trees. Position
correction uses those of the step's start.
"""

import taichi as ti

from pbd.core.kernels import load_vector, store_vector
from rigid.constraints.rows import ROW, bodies_of
from rigid.solvers.articulated.dynamics import solve_speed
from rigid.solvers.articulated.kinematics import carried_velocity, offset
from rigid.solvers.articulated.links import ARTICULATED, AXIS, LINK

# If J M⁻¹ Jᵀ of a row is below this part of what it would be along the axes of its trees, these cannot move along the
# row: the rest is round-off.
IMMOBILE = 1e-12


@ti.func
def tree_speeds(s: ti.template(), i, j):
    """First speed and number of speeds of the trees of two bodies: 0 for the ground, and for j if both are one tree."""
    links = ti.static(s.trees.links)
    link_i, link_j = s.trees.link_of[i], s.trees.link_of[j]
    first_i, count_i, first_j, count_j = 0, 0, 0, 0
    if link_i >= 0:
        first_i, count_i = links[link_i, LINK.tree_first_speed], links[link_i, LINK.tree_speeds]
    if link_j >= 0:
        first_j, count_j = links[link_j, LINK.tree_first_speed], links[link_j, LINK.tree_speeds]
        if link_i >= 0 and first_i == first_j:
            first_j, count_j = first_i, 0
    return first_i, count_i, first_j, count_j


@ti.func
def load_velocities(s: ti.template(), i, j, stage: ti.template(), world):
    """A placeholder: speeds stay in their array."""
    return ti.Vector([0.0])


@ti.func
def store_velocities(s: ti.template(), i, j, velocities, stage: ti.template(), world):
    """Do nothing, because speeds are in their array."""
    pass


@ti.func
def row_velocity(s: ti.template(), row, i, j, velocities, stage: ti.template(), world):
    """J V of a row, by its J over speeds."""
    first_i, count_i, first_j, count_j = tree_speeds(s, i, j)
    total = 0.0
    for k in range(count_i):
        total += s.jacobian[world, row, k] * s.trees.speeds[world, stage, first_i + k]
    for k in range(count_j):
        total += s.jacobian[world, row, count_i + k] * s.trees.speeds[world, stage, first_j + k]
    return total


@ti.func
def apply_impulse(s: ti.template(), row, i, j, impulse, velocities, stage: ti.template(), world):
    """u + M⁻¹ Jᵀ λ: change the speeds as an impulse along a row does."""
    first_i, count_i, first_j, count_j = tree_speeds(s, i, j)
    u = ti.static(s.trees.speeds)
    for k in range(count_i):
        u[world, stage, first_i + k] = u[world, stage, first_i + k] + impulse * s.response[world, row, k]
    for k in range(count_j):
        u[world, stage, first_j + k] = u[world, stage, first_j + k] + impulse * s.response[world, row, count_i + k]
    return velocities


@ti.func
def matrix_entry(s: ti.template(), row, other, i, j, world):
    """An entry of J M⁻¹ Jᵀ, for two rows of the same bodies."""
    spans = ti.Vector(tree_speeds(s, i, j))
    total = 0.0
    for k in range(spans[1] + spans[3]):
        total += s.jacobian[world, row, k] * s.response[world, other, k]
    return total


@ti.func
def gear_matrix_entry(s: ti.template(), group, first, world):
    """J M⁻¹ Jᵀ of a gear: the sum over the trees of its four ends, two by two if they are one tree."""
    total = 0.0
    for a in range(2):
        for b in range(2):
            spans_a = gear_speeds(s, group, a, world)
            spans_b = gear_speeds(s, group, b, world)
            for end in ti.static(range(2)):
                for other in ti.static(range(2)):
                    first_a, count_a = spans_a[2 * end], spans_a[2 * end + 1]
                    first_b, count_b = spans_b[2 * other], spans_b[2 * other + 1]
                    if first_a == first_b and ti.min(count_a, count_b) > 0:
                        begin_a, begin_b = end * spans_a[1], other * spans_b[1]
                        for k in range(count_a):
                            total += (
                                s.jacobian[world, first + a, begin_a + k] * s.response[world, first + b, begin_b + k]
                            )
    return total


@ti.func
def gear_speeds(s: ti.template(), group, k, world):
    """`tree_speeds` of the k-th row of a gear (4,)."""
    i, j = bodies_of(s.rows, group, k, world)
    return ti.Vector(tree_speeds(s, i, j))


@ti.func
def needs_new_matrix(s: ti.template(), kind, i, j, world):
    """Whether position correction needs a new J M⁻¹ Jᵀ of a group: no, its rows are those of the step's start."""
    return False


@ti.func
def update_response(s: ti.template(), row, i, j, world):
    """Do nothing, because position correction uses rows of the step's start."""
    pass


@ti.func
def compute_response(s: ti.template(), row, i, j, world):
    """Compute J of a row over the speeds of its trees, and M⁻¹ Jᵀ.

    If the trees cannot move along the row, both are zero, which leaves the row out: for example rows across the plane
    of a planar linkage.
    """
    first_i, count_i, first_j, count_j = tree_speeds(s, i, j)
    for k in range(count_i + count_j):
        s.jacobian[world, row, k] = 0.0
        s.response[world, row, k] = 0.0
    compute_jacobian(s, row, i, j, first_i, count_i, first_j, count_j, world)
    largest = pass_impulse_inward(s, row, i, j, first_i, count_i, first_j, count_j, world)
    for side in range(2):
        link, begin = s.trees.link_of[i], -first_i
        if side == 1:
            link, begin = s.trees.link_of[j], count_i - first_j
        if link >= 0 and (side == 0 or count_j > 0):
            pass_response_outward(s, row, link, begin, world)
    if matrix_entry(s, row, row, i, j, world) <= IMMOBILE * largest:
        for k in range(count_i + count_j):
            s.jacobian[world, row, k] = 0.0
            s.response[world, row, k] = 0.0


@ti.func
def jacobian_column(speed, first_i, count_i, first_j, count_j):
    """The column of a speed in a row's J."""
    column = speed - first_i
    if speed >= first_j and speed < first_j + count_j:
        column = count_i + speed - first_j
    return column


@ti.func
def unit_impulse(s: ti.template(), row, side, world):
    """An impulse of one along a row: linear and angular about the centre of mass, on body i (side 0) or j."""
    n = ti.static(s.rows.numbers)
    linear, angular = load_vector(n, row, ROW.linear, world), load_vector(n, row, ROW.angular_i + 3 * side, world)
    if side == 1:
        linear = -linear
    return linear, angular


@ti.func
def link_on(s: ti.template(), i, j, side):
    """The link of body i (side 0) or j; -1 for the ground."""
    link = s.trees.link_of[i]
    if side == 1:
        link = s.trees.link_of[j]
    return link


@ti.func
def compute_jacobian(s: ti.template(), row, i, j, first_i, count_i, first_j, count_j, world):
    """Compute J of a row over speeds: a unit impulse along the axes of all links between its bodies and the ground."""
    links, axes = ti.static(s.trees.links, s.trees.axes)
    for side in range(2):
        link = link_on(s, i, j, side)
        p, L = unit_impulse(s, row, side, world)
        while link >= 0:
            first = links[link, LINK.first_speed]
            for speed in range(first, first + links[link, LINK.speeds]):
                column = jacobian_column(speed, first_i, count_i, first_j, count_j)
                along = load_vector(axes, speed, AXIS.linear, world).dot(p)
                along += load_vector(axes, speed, AXIS.angular, world).dot(L)
                s.jacobian[world, row, column] = s.jacobian[world, row, column] + along
            L += offset(s, link, world).cross(p)
            link = links[link, LINK.parent]


@ti.func
def pass_impulse_inward(s: ti.template(), row, i, j, first_i, count_i, first_j, count_j, world):
    """Pass a test impulse from both bodies to the roots. Its projection sᵀp on each speed is left in the response.

    Returns: J M⁻¹ Jᵀ = Σ (sᵀp)²/d if the impulse were along the axis s of each speed, Σ |s|² |p|²/d.
    """
    links, of, axes = ti.static(s.trees.links, s.trees.articulated, s.trees.axes)
    largest = 0.0
    p_column, L_column = ti.static(ARTICULATED.test, ARTICULATED.test + 3)
    for side in range(2):
        link = link_on(s, i, j, side)
        while link >= 0:
            for k in ti.static(range(6)):
                of[world, link, ARTICULATED.test + k] = 0.0
            link = links[link, LINK.parent]
    for side in range(2):
        link = link_on(s, i, j, side)
        if link >= 0:
            p, L = unit_impulse(s, row, side, world)
            store_vector(of, link, p_column, load_vector(of, link, p_column, world) + p, world)
            store_vector(of, link, L_column, load_vector(of, link, L_column, world) + L, world)
    a, b = s.trees.link_of[i], s.trees.link_of[j]
    while ti.max(a, b) >= 0:
        link = ti.max(a, b)  # links stand behind their parents, so that both paths have reached it where they meet
        p, L = load_vector(of, link, p_column, world), load_vector(of, link, L_column, world)
        for k in range(links[link, LINK.speeds]):
            speed = links[link, LINK.first_speed] + links[link, LINK.speeds] - 1 - k
            linear = load_vector(axes, speed, AXIS.linear, world)
            angular = load_vector(axes, speed, AXIS.angular, world)
            projection = linear.dot(p) + angular.dot(L)
            along = linear.norm_sqr() * p.norm_sqr() + angular.norm_sqr() * L.norm_sqr()
            largest += axes[world, speed, AXIS.inverse] * along
            s.response[world, row, jacobian_column(speed, first_i, count_i, first_j, count_j)] = projection
            u = axes[world, speed, AXIS.inverse] * projection
            p -= u * load_vector(axes, speed, AXIS.momentum, world)
            L -= u * load_vector(axes, speed, AXIS.angular_momentum, world)
        parent = links[link, LINK.parent]
        if parent >= 0:
            store_vector(of, parent, p_column, load_vector(of, parent, p_column, world) + p, world)
            L += load_vector(of, parent, L_column, world) + offset(s, link, world).cross(p)
            store_vector(of, parent, L_column, L, world)
        if a == link:
            a = parent
        if b == link:
            b = parent
    return largest


@ti.func
def pass_response_outward(s: ti.template(), row, link, begin, world):
    """Find the speeds that the test impulse gives to the tree of a link. Args: begin: the row's column of speed 0."""
    links, of, axes = ti.static(s.trees.links, s.trees.articulated, s.trees.axes)
    for each in range(links[link, LINK.tree], links[link, LINK.tree_end]):
        v, w = carried_velocity(s, each, of, links[each, LINK.parent], ARTICULATED.test, world)
        first = links[each, LINK.first_speed]
        for speed in range(first, first + links[each, LINK.speeds]):
            u = solve_speed(s, speed, s.response[world, row, begin + speed], v, w, world)
            s.response[world, row, begin + speed] = u
            v += u * load_vector(axes, speed, AXIS.linear, world)
            w += u * load_vector(axes, speed, AXIS.angular, world)
        store_vector(of, each, ARTICULATED.test, v, world)
        store_vector(of, each, ARTICULATED.test + 3, w, world)
