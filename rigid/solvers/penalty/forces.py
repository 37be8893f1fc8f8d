"""What each row is as a spring and a damper, and its force.

    LOCK, GEAR   -α G - β dG/dt
    LIMIT        the same where G is beyond, and only as a push
    DRIVE, DISC  the same with G = ∫(dG/dt - target) dt, which is cut back to what the bound of the effort stretches:
                 a spring that gives way. What friction holds it holds for good, and a motor comes to its speed under
                 any load that it can bear (Cundall and Strack, A discrete numerical model for granular assemblies,
                 1979, has this for the friction of grains)

α = A⁻¹ α* and β = A⁻¹ β*, where A = J M⁻¹ Jᵀ: then every row, of a shift or a turn, of light bodies or heavy ones,
swings with the frequency √α*, and is stable alone where h² α* + 2 h β* < 4. The source has the mass 1/(1/m_i + 1/m_j)
in place of A⁻¹, for torques too (scaling "mass"): the frequency of a turn then depends on the size of the body.

All rows of a lock have one A, a matrix: α = √α* A⁻¹ √α*, so that the bound holds for all of them together, and what
would fall with an acceleration g opens by g/α* whichever way it lies. With the rows' own 1/A_rr instead (`block` off) a
heavy ball on a light slanted rod opens by many times that: along x and along z it is its turning that gives, while what
pulls is along the rod. What several joints of a body share tightens the bound: rigid/solvers/penalty/stability.py.
"""

import taichi as ti

from rigid.constraints.rows import (
    BODY_I,
    BODY_J,
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
    beyond,
    bodies_of,
)
from rigid.kernels.columns import put_triple, triple
from rigid.kernels.matrices import invert, one_over
from rigid.kernels.motion import ANGULAR, INVERSE_MASS, LINEAR, answer
from rigid.solvers.penalty.data import ALPHA, BETA, EFFORT, GAIN, SPEED, STRETCH

# Stiffness and damping ------------------------------------------------------------------------------------------------


@ti.func
def put_gains(s: ti.template(), group, world):
    """α and β of a group's rows; what does nothing forgets what it was stretched."""
    n = ti.static(s.rows.numbers)
    kind = s.rows.groups[world, group, KIND]
    first, count = s.rows.groups[world, group, FIRST], s.rows.groups[world, group, COUNT]
    if kind == IDLE:
        for row in range(first, first + count):
            n[world, row, STRETCH] = 0.0
            n[world, row, EFFORT] = 0.0
    else:
        for row in range(first, first + count):
            put_own_gains(s, row, ti.select(kind == GEAR, first + 1, row), kind, world)
        put_matrix(s, group, kind, first, count, world)
        invert(n, first, count, ALPHA, SPEED, world)
        i, j = s.rows.groups[world, group, BODY_I], s.rows.groups[world, group, BODY_J]
        source = one_over(s.motion.masses[world, i, INVERSE_MASS] + s.motion.masses[world, j, INVERSE_MASS])
        for a in range(count):
            for b in range(count):
                row, other, mass = first + a, first + b, n[world, first + a, ALPHA + b]
                if a == b:
                    if ti.static(s.features.scaling == "mass"):
                        mass = ti.select(hard(s, row, world), source, mass)
                    if not hard(s, row, world) and n[world, row, PER_MASS] == 0.0:
                        mass = 1.0
                n[world, row, ALPHA + b] = mass * ti.sqrt(n[world, row, GAIN] * n[world, other, GAIN])
                n[world, row, BETA + b] = mass * ti.sqrt(n[world, row, GAIN + 1] * n[world, other, GAIN + 1])


@ti.func
def put_own_gains(s: ti.template(), row, unit, kind, world):
    """Stiffness and damping of a row before they are scaled: a spring's own, or α* and β*. Arguments: unit: a row that
    has G's unit, m or rad; of a gear's two, which are one force, the second."""
    n = ti.static(s.rows.numbers)
    alpha, beta = n[world, row, STIFFNESS], n[world, row, DAMPING]
    if hard(s, row, world):
        alpha, beta = s.gains.stiffness, s.gains.damping
        if triple(n, unit, DIRECTION, world).norm_sqr() == 0.0:
            alpha, beta = s.gains.angular_stiffness, s.gains.angular_damping
        if kind == LIMIT or kind == DRIVE or kind == DISC:
            # What begins and ends with a blow is damped by half of what lets nothing swing, at least.
            beta = ti.max(beta, ti.sqrt(alpha))
    n[world, row, GAIN] = alpha
    n[world, row, GAIN + 1] = beta


@ti.func
def put_matrix(s: ti.template(), group, kind, first, count, world):
    """A of a group, into ALPHA: of a lock's hard rows together a matrix, else a diagonal. A disc has the same for all
    its rows, and holds alike on every heading; a gear, one force, the sum over both."""
    n = ti.static(s.rows.numbers)
    together = kind == LOCK
    if ti.static(s.features.scaling == "mass" or not s.features.block):
        together = False
    largest, total = 0.0, 0.0
    for a in range(count):
        for b in range(a + 1):
            entry = 0.0
            if a == b or kind == GEAR or (together and hard(s, first + a, world) and hard(s, first + b, world)):
                entry = entry_of(s, group, first, a, b, world)
            n[world, first + a, ALPHA + b] = entry
            n[world, first + b, ALPHA + a] = entry
            largest = ti.max(largest, entry)
            total += ti.select(a == b, 1.0, 2.0) * entry
    if kind == DISC or kind == GEAR:
        for a in range(count):
            for b in range(count):
                same = ti.select(kind == DISC, largest, total)
                n[world, first + a, ALPHA + b] = ti.select(a == b, same, 0.0)


@ti.func
def hard(s: ti.template(), row, world):
    """Whether a row is to be kept, with the solver's gains, and is not a spring of its own."""
    return s.rows.numbers[world, row, STIFFNESS] == ti.math.inf


@ti.func
def entry_of(s: ti.template(), group, first, a, b, world):
    """An entry of A: what an impulse of one along the b-th row of a group makes of J V of the a-th."""
    n = ti.static(s.rows.numbers)
    i_a, j_a = bodies_of(s.rows, group, a, world)
    i_b, j_b = bodies_of(s.rows, group, b, world)
    along = triple(n, first + a, DIRECTION, world).dot(triple(n, first + b, DIRECTION, world))
    total = 0.0
    for side in range(2):
        for across in range(2):
            body = ti.select(side == 0, i_a, j_a)
            if body == ti.select(across == 0, i_b, j_b):
                turn = answer(s.motion, body, triple(n, first + b, TURN_I + 3 * across, world), world)
                total += triple(n, first + a, TURN_I + 3 * side, world).dot(turn)
                # d acts on the first body of a row, -d on the second.
                total += s.motion.masses[world, body, INVERSE_MASS] * along * ti.select(side == across, 1.0, -1.0)
    return total


# Forces ---------------------------------------------------------------------------------------------------------------


@ti.func
def put_forces(s: ti.template(), group, world):
    """Efforts of a group's rows, and the forces that they are; returns the largest error of what is to be kept."""
    n = ti.static(s.rows.numbers)
    kind = s.rows.groups[world, group, KIND]
    first, count = s.rows.groups[world, group, FIRST], s.rows.groups[world, group, COUNT]
    wrong = 0.0
    if kind != IDLE:
        # G and dG/dt of each row, of a drive what it is stretched; of a gear the sum, for both of its rows.
        for row in range(first, first + count):
            i, j = bodies_of(s.rows, group, row - first, world)
            speed = rate(s, row, i, j, world)
            if kind == DRIVE or kind == DISC:
                speed -= n[world, row, TARGET]
                n[world, row, STRETCH] = n[world, row, STRETCH] + s.h * speed
            else:
                n[world, row, STRETCH] = beyond(s.rows, row, kind, world)
                if hard(s, row, world) or kind == LIMIT:
                    wrong = ti.max(wrong, ti.abs(n[world, row, STRETCH]))
            n[world, row, SPEED] = speed
        if kind == GEAR:
            both = n[world, first, SPEED] + n[world, first + 1, SPEED]
            for row in range(first, first + count):
                n[world, row, SPEED], n[world, row, STRETCH] = both, n[world, first, ERROR]
        # The effort of each, within its bounds.
        squares = 0.0
        for row in range(first, first + count):
            effort = 0.0
            for k in range(count):
                effort -= n[world, row, ALPHA + k] * n[world, first + k, STRETCH]
                effort -= n[world, row, BETA + k] * n[world, first + k, SPEED]
            if kind == LIMIT or kind == DRIVE:
                effort = bounded(s, row, kind, effort, world)
            n[world, row, EFFORT] = effort
            squares += effort * effort
        if kind == DISC:
            hold_back(s, group, first, count, ti.sqrt(squares), world)
        for row in range(first, first + count):
            i, j = bodies_of(s.rows, group, row - first, world)
            push(s, row, i, j, n[world, row, EFFORT], world)
    return wrong


@ti.func
def bounded(s: ti.template(), row, kind, effort, world):
    """The effort of a limit, which has none where it is not passed, or of a drive, which gives way."""
    n = ti.static(s.rows.numbers)
    held = ti.min(ti.max(effort, n[world, row, LOW]), n[world, row, HIGH])
    if kind == LIMIT:
        if n[world, row, STRETCH] == 0.0:
            held = 0.0
    elif held != effort:
        n[world, row, STRETCH] = -held * one_over(n[world, row, ALPHA])
    return held


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
            n[world, row, STRETCH] = -held * one_over(n[world, row, ALPHA + row - first])


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
