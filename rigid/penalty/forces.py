"""What each row is as a spring and a damper, and its force.

    LOCK, GEAR   -α G - β dG/dt
    LIMIT        the same where G is beyond, and only as a push
    DRIVE, DISC  the same with G = ∫(dG/dt - target) dt, which is cut back to what the bound of the effort stretches:
                 a spring that gives way. What friction holds it holds for good, and a motor comes to its speed under
                 any load that it can bear (Cundall and Strack, A discrete numerical model for granular assemblies,
                 1979, has this for the friction of grains)

α = A⁻¹ α* and β = A⁻¹ β*, where A = J M⁻¹ Jᵀ: then every row, of a shift or a turn, of light bodies or heavy ones,
swings with the frequency √α*, and is stable alone where h² α* + 2 h β* < 4. The source has the mass 1/(1/m_i + 1/m_j)
in place of A⁻¹, for torques too (scaling "mass"): the frequency of a turn then depends on the size of the body. What
bodies share tightens the bound: rigid/penalty/stability.py.
"""

import taichi as ti

from rigid.columns import put_triple, triple
from rigid.motion import ANGULAR, INVERSE_MASS, LINEAR, answer
from rigid.penalty.arrays import ALPHA, BETA, EFFORT, STRETCH
from rigid.rows import (
    BODY_I,
    BODY_J,
    BODY_K,
    BODY_L,
    COUNT,
    DAMPING,
    DIRECTION,
    DISC,
    DRIVE,
    ERROR,
    FIRST,
    GEAR,
    HIGH,
    IDLE,
    KIND,
    LEADER,
    LIMIT,
    LOCK,
    LOW,
    PER_MASS,
    STIFFNESS,
    TARGET,
    TURN_I,
    TURN_J,
)

# What begins and ends with a blow is damped more than a lock: a limit with half of what lets nothing swing, 2 √α*, a
# drive, of this part of a lock's stiffness, with all of it.
DRIVEN = 0.25


# Stiffness and damping ------------------------------------------------------------------------------------------------


@ti.func
def put_gains(s: ti.template(), group, world):
    """α and β of a group's rows; of a group that does nothing there are none, and it forgets what it was stretched."""
    n = ti.static(s.rows.numbers)
    kind = s.rows.groups[world, group, KIND]
    i, j = s.rows.groups[world, group, BODY_I], s.rows.groups[world, group, BODY_J]
    first, count = s.rows.groups[world, group, FIRST], s.rows.groups[world, group, COUNT]
    together = 0.0  # A of a gear's two rows, or the largest of a disc's, which is the same on every heading
    if kind == GEAR:
        k, m = s.rows.groups[world, group, BODY_K], s.rows.groups[world, group, BODY_L]
        together = give(s, first, i, j, world) + give(s, first + 1, k, m, world)
        together += 2.0 * give_between(s, first, i, j, first + 1, k, m, world)
    elif kind == DISC:
        for row in range(first, first + count):
            together = ti.max(together, give(s, row, i, j, world))
    for row in range(first, first + count):
        alpha, beta = 0.0, 0.0
        if kind == IDLE:
            n[world, row, STRETCH] = 0.0
            n[world, row, EFFORT] = 0.0
        else:
            own = together
            if kind == LOCK or kind == LIMIT or kind == DRIVE:
                own = give(s, row, i, j, world)
            of = row
            if kind == GEAR:  # the unit is that of its second row's q
                of = first + 1
            alpha, beta = gains(s, of, kind, i, j, own, world)
        n[world, row, ALPHA] = alpha
        n[world, row, BETA] = beta


@ti.func
def gains(s: ti.template(), row, kind, i, j, own, world):
    """α and β of a row. Arguments: its kind; bodies; own: A."""
    n = ti.static(s.rows.numbers)
    mass = one_over(own)
    alpha, beta = n[world, row, STIFFNESS], n[world, row, DAMPING]
    if alpha < ti.math.inf:
        if n[world, row, PER_MASS] == 0.0:
            mass = 1.0
    else:
        alpha, beta = s.gains.stiffness, s.gains.damping
        if triple(n, row, DIRECTION, world).norm_sqr() == 0.0:
            alpha, beta = s.gains.turning_stiffness, s.gains.turning_damping
        if kind == LIMIT:
            beta = ti.max(beta, ti.sqrt(alpha))
        elif kind == DRIVE or kind == DISC:
            alpha *= DRIVEN
            beta = 2.0 * ti.sqrt(alpha)
        if ti.static(s.features.scaling == "mass"):
            mass = one_over(s.motion.masses[world, i, INVERSE_MASS] + s.motion.masses[world, j, INVERSE_MASS])
    return mass * alpha, mass * beta


@ti.func
def give(s: ti.template(), row, i, j, world):
    """A of a row: the velocity J V that an impulse of one along it makes."""
    n = ti.static(s.rows.numbers)
    a_i, a_j = triple(n, row, TURN_I, world), triple(n, row, TURN_J, world)
    w = s.motion.masses[world, i, INVERSE_MASS] + s.motion.masses[world, j, INVERSE_MASS]
    turning = a_i.dot(answer(s.motion, i, a_i, world)) + a_j.dot(answer(s.motion, j, a_j, world))
    return w * triple(n, row, DIRECTION, world).norm_sqr() + turning


@ti.func
def give_between(s: ti.template(), row, i, j, other, k, m, world):
    """What an impulse of one along one row makes of the other's J V, by the bodies that both have."""
    n = ti.static(s.rows.numbers)
    along = triple(n, row, DIRECTION, world).dot(triple(n, other, DIRECTION, world))
    total = 0.0
    for side in range(2):
        for otherside in range(2):
            body = ti.select(side == 0, i, j)
            if body == ti.select(otherside == 0, k, m):
                turn = triple(n, row, TURN_I + 3 * side, world)
                total += turn.dot(answer(s.motion, body, triple(n, other, TURN_I + 3 * otherside, world), world))
                # d acts on the first body of a row, -d on the second.
                total += s.motion.masses[world, body, INVERSE_MASS] * along * ti.select(side == otherside, 1.0, -1.0)
    return total


@ti.func
def one_over(x):
    """1/x, and 0 where nothing can move: two bodies that are one another's ground."""
    return ti.select(x > 0.0, 1.0 / ti.max(x, 1e-30), 0.0)


# Forces ---------------------------------------------------------------------------------------------------------------


@ti.func
def put_forces(s: ti.template(), group, world):
    """Efforts of a group's rows, and the forces that they are; returns the largest error of what is to be kept."""
    n = ti.static(s.rows.numbers)
    kind = s.rows.groups[world, group, KIND]
    i, j = s.rows.groups[world, group, BODY_I], s.rows.groups[world, group, BODY_J]
    first, count = s.rows.groups[world, group, FIRST], s.rows.groups[world, group, COUNT]
    wrong = 0.0
    if kind == GEAR:
        k, m = s.rows.groups[world, group, BODY_K], s.rows.groups[world, group, BODY_L]
        speed = rate(s, first, i, j, world) + rate(s, first + 1, k, m, world)
        effort = -n[world, first, ALPHA] * n[world, first, ERROR] - n[world, first, BETA] * speed
        wrong = ti.abs(n[world, first, ERROR])
        push(s, first, i, j, effort, world)
        push(s, first + 1, k, m, effort, world)
    elif kind != IDLE:
        squares = 0.0
        for row in range(first, first + count):
            effort = effort_of(s, row, kind, rate(s, row, i, j, world), world)
            n[world, row, EFFORT] = effort
            squares += effort * effort
            if kind == LIMIT or (kind == LOCK and n[world, row, STIFFNESS] == ti.math.inf):
                wrong = ti.max(wrong, ti.abs(beyond(s, row, kind, world)))
        if kind == DISC:
            hold_back(s, group, first, count, ti.sqrt(squares), world)
        for row in range(first, first + count):
            push(s, row, i, j, n[world, row, EFFORT], world)
    return wrong


@ti.func
def effort_of(s: ti.template(), row, kind, speed, world):
    """The effort of a row within its own bounds. Arguments: speed: J V."""
    n = ti.static(s.rows.numbers)
    alpha, beta = n[world, row, ALPHA], n[world, row, BETA]
    effort = 0.0
    if kind == DRIVE or kind == DISC:
        slip = speed - n[world, row, TARGET]
        stretch = n[world, row, STRETCH] + s.h * slip
        effort = -alpha * stretch - beta * slip
        if kind == DRIVE:
            held = ti.min(ti.max(effort, n[world, row, LOW]), n[world, row, HIGH])
            if held != effort and alpha > 0.0:
                effort, stretch = held, -held / alpha
        n[world, row, STRETCH] = stretch
    else:
        error = beyond(s, row, kind, world)
        if kind == LOCK or error != 0.0:
            effort = -alpha * error - beta * speed
            if kind == LIMIT:
                effort = ti.min(ti.max(effort, n[world, row, LOW]), n[world, row, HIGH])
    return effort


@ti.func
def beyond(s: ti.template(), row, kind, world):
    """G of a lock; of a limit the part beyond it, the source's χ."""
    error = s.rows.numbers[world, row, ERROR]
    if kind == LIMIT:
        if s.rows.numbers[world, row, HIGH] == 0.0:
            error = ti.max(error, 0.0)
        else:
            error = ti.min(error, 0.0)
    return error


@ti.func
def hold_back(s: ti.template(), group, first, count, size, world):
    """Cut the efforts of a disc back to its bound. Arguments: size: of the efforts as a vector."""
    n = ti.static(s.rows.numbers)
    leader, bound = s.rows.groups[world, group, LEADER], n[world, first, HIGH]
    if leader >= 0:
        bound *= n[world, leader, EFFORT]
    if size > bound:
        for row in range(first, first + count):
            held = n[world, row, EFFORT] * bound / size
            n[world, row, EFFORT] = held
            n[world, row, STRETCH] = -held * one_over(n[world, row, ALPHA])


@ti.func
def rate(s: ti.template(), row, i, j, world):
    """J V of a row."""
    n, v = ti.static(s.rows.numbers, s.motion.velocities)
    linear = triple(n, row, DIRECTION, world).dot(triple(v, i, LINEAR, world) - triple(v, j, LINEAR, world))
    turning = triple(n, row, TURN_I, world).dot(triple(v, i, ANGULAR, world))
    return linear + turning + triple(n, row, TURN_J, world).dot(triple(v, j, ANGULAR, world))


@ti.func
def push(s: ti.template(), row, i, j, effort, world):
    """Add the forces and torques of an effort along a row to those on its bodies."""
    n = ti.static(s.rows.numbers)
    force = effort * triple(n, row, DIRECTION, world)
    add(s, i, LINEAR, force, world)
    add(s, j, LINEAR, -force, world)
    add(s, i, ANGULAR, effort * triple(n, row, TURN_I, world), world)
    add(s, j, ANGULAR, effort * triple(n, row, TURN_J, world), world)


@ti.func
def add(s: ti.template(), body, at, v, world):
    """Add a force, or a torque, to those on a body."""
    put_triple(s.forces, body, at, triple(s.forces, body, at, world) + v, world)
