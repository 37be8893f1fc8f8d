"""Rows as springs and dampers: stiffness, damping and force of each.

    EQUALITY, GEAR   -α G - β dG/dt
    LIMIT            the same where G is beyond the limit, and only as a push
    DRIVE, FRICTION  the same with G = ∫(dG/dt - target) dt, which is reduced to the stretch at the bound of the
                     effort: a spring that slips. Friction holds without creeping, and a motor reaches its speed
                     under any load below its maximum (Cundall and Strack, A discrete numerical model for granular
                     assemblies, 1979, has this for the friction of grains)

α = A⁻¹ α* and β = A⁻¹ β*, with A = J M⁻¹ Jᵀ. Then every row oscillates with the frequency √α*, against translation or
rotation, of light bodies or heavy ones, and is stable alone if h² α* + 2 h β* < 4. The source has the mass
1/(1/m_i + 1/m_j) in place of A⁻¹, for torques too. Then the frequency of a rotation depends on the size of the body: a
rod of 5 cm has m/I = 4800, and is unstable with the source's own gains.

All rows of an equality have one matrix A: α = √α* A⁻¹ √α*. So the bound holds for all of them together, and a load
that accelerates the bodies by g opens the joint by g/α* in any direction. With 1/A_rr of each row instead, a heavy
ball on a light slanted rod opens by many times that: along x and z the rotation of the rod gives way, but the load is
along the rod. Joints that share a body tighten the bound: stability.py.
"""

import taichi as ti

from pbd.core.kernels import load_vector, store_vector
from rigid.constraints.joints.rotors import push_rotor
from rigid.constraints.rows import GROUP, Group, bodies_of, position_error
from rigid.kernels.matrices import invert
from rigid.kernels.motion import MASS, VELOCITY, multiply_inverse_inertia
from rigid.solvers.penalty.data import FORCE, ROW
from rigid.solvers.penalty.limits import cosine_of

# Stiffness and damping ------------------------------------------------------------------------------------------------


@ti.func
def compute_gains(s: ti.template(), group, world):
    """Compute α and β of a group's rows. An idle group loses its stretch."""
    n = ti.static(s.rows.numbers)
    kind = s.rows.kinds[world, group]
    first, count = s.rows.groups[world, group, GROUP.first], s.rows.groups[world, group, GROUP.count]
    if kind == Group.IDLE:
        for row in range(first, first + count):
            n[world, row, ROW.stretch] = 0.0
            n[world, row, ROW.effort] = 0.0
    else:
        for row in range(first, first + count):
            write_own_gains(s, row, ti.select(kind == Group.GEAR, first + 1, row), kind, world)
        compute_matrix(s, group, kind, first, count, world)
        invert(n, first, count, ROW.alpha, ROW.velocity, world)
        for a in range(count):
            for b in range(count):
                row, other, mass = first + a, first + b, n[world, first + a, ROW.alpha + b]
                if a == b and not is_hard(s, row, world) and n[world, row, ROW.per_mass] == 0.0:
                    mass = 1.0
                stiffness = ti.sqrt(n[world, row, ROW.own_stiffness] * n[world, other, ROW.own_stiffness])
                damping = ti.sqrt(n[world, row, ROW.own_damping] * n[world, other, ROW.own_damping])
                alpha = mass * stiffness
                held = n[world, row, ROW.held_alpha]
                if a == b and held > 0.0:
                    alpha = ti.min(held, n[world, row, ROW.headroom] * alpha)
                n[world, row, ROW.alpha + b] = alpha
                n[world, row, ROW.beta + b] = mass * damping


@ti.func
def write_own_gains(s: ti.template(), row, unit_row, kind, world):
    """Write stiffness and damping of a row before scaling: a spring's own, or α* and β*.

    Args: unit_row: a row with the unit of G, m or rad: of a gear's two rows, which are one force, the second.
    """
    n = ti.static(s.rows.numbers)
    alpha, beta = n[world, row, ROW.stiffness], n[world, row, ROW.damping]
    if is_hard(s, row, world):
        alpha, beta = s.step.stiffness, s.step.damping
        if load_vector(n, unit_row, ROW.linear, world).norm_sqr() == 0.0:
            alpha, beta = s.step.angular_stiffness, s.step.angular_damping
        if kind == Group.LIMIT or kind == Group.DRIVE or kind == Group.FRICTION:
            # Rows that start and end suddenly have at least half of critical damping.
            beta = ti.max(beta, ti.sqrt(alpha))
        beta = ti.max(beta, n[world, row, ROW.least_damping])
    n[world, row, ROW.own_stiffness] = alpha
    n[world, row, ROW.own_damping] = beta


@ti.func
def compute_matrix(s: ti.template(), group, kind, first, count, world):
    """Compute A of a group, into the columns of α.

    It is a matrix for the hard rows of an equality, otherwise a diagonal. Friction has the largest entry for all its
    rows, so that it holds equally in all directions; a gear, one force, has the sum over both rows.
    """
    n = ti.static(s.rows.numbers)
    largest, total = 0.0, 0.0
    for a in range(count):
        for b in range(a + 1):
            entry = 0.0
            coupled = kind == Group.EQUALITY and is_hard(s, first + a, world) and is_hard(s, first + b, world)
            if a == b or kind == Group.GEAR or coupled:
                entry = matrix_entry(s, group, first, a, b, world)
                if a == b:
                    entry += n[world, first + a, ROW.rotor]
            n[world, first + a, ROW.alpha + b] = entry
            n[world, first + b, ROW.alpha + a] = entry
            largest = ti.max(largest, entry)
            total += ti.select(a == b, 1.0, 2.0) * entry
    if kind == Group.FRICTION or kind == Group.GEAR:
        for a in range(count):
            for b in range(count):
                same = ti.select(kind == Group.FRICTION, largest, total)
                n[world, first + a, ROW.alpha + b] = ti.select(a == b, same, 0.0)


@ti.func
def is_hard(s: ti.template(), row, world):
    """Whether a row has the solver's stiffness and damping, and is not a spring with its own."""
    return s.rows.numbers[world, row, ROW.stiffness] == ti.math.inf


@ti.func
def matrix_entry(s: ti.template(), group, first, a, b, world):
    """An entry of A: the J V of the a-th row of a group that an impulse of one along the b-th causes."""
    n = ti.static(s.rows.numbers)
    i_a, j_a = bodies_of(s.rows, group, a, world)
    i_b, j_b = bodies_of(s.rows, group, b, world)
    along = load_vector(n, first + a, ROW.linear, world).dot(load_vector(n, first + b, ROW.linear, world))
    total = 0.0
    for side in range(2):
        for other in range(2):
            body = ti.select(side == 0, i_a, j_a)
            if body == ti.select(other == 0, i_b, j_b):
                angular = load_vector(n, first + b, ROW.angular_i + 3 * other, world)
                turn = multiply_inverse_inertia(s.bodies, body, angular, world)
                total += load_vector(n, first + a, ROW.angular_i + 3 * side, world).dot(turn)
                # d acts on the first body of a row, -d on the second.
                total += s.bodies.mass[world, body, MASS.inverse_mass] * along * ti.select(side == other, 1.0, -1.0)
    return total


# Forces ---------------------------------------------------------------------------------------------------------------


@ti.func
def apply_forces(s: ti.template(), group, world):
    """Compute the efforts of a group's rows, and add their forces to the bodies'.

    Returns: the largest error; what the rows store [J]; |G|² of hard equalities against translation [m²].
    """
    n = ti.static(s.rows.numbers)
    kind = s.rows.kinds[world, group]
    first, count = s.rows.groups[world, group, GROUP.first], s.rows.groups[world, group, GROUP.count]
    error, stored, gap_squared = 0.0, 0.0, 0.0
    if kind != Group.IDLE:
        error = update_stretch(s, group, kind, first, count, world)
        squares = 0.0
        for row in range(first, first + count):
            effort, elastic = 0.0, 0.0
            for k in range(count):
                pull = n[world, row, ROW.alpha + k] * n[world, first + k, ROW.stretch]
                elastic += pull
                effort -= pull
                effort -= n[world, row, ROW.beta + k] * n[world, first + k, ROW.velocity]
            stored += stored_energy(s, row, kind, elastic, world)
            if kind == Group.EQUALITY and is_hard(s, row, world):
                if load_vector(n, row, ROW.linear, world).norm_sqr() > 0.0:
                    gap_squared += n[world, row, ROW.stretch] ** 2
            if kind == Group.LIMIT or kind == Group.DRIVE:
                effort = clamp_effort(s, row, kind, effort, world)
            if ti.static(s.features.sine_limits):
                effort *= cosine_of(s, row, kind, world)
            n[world, row, ROW.effort] = effort
            squares += effort * effort
        if kind == Group.FRICTION:
            clamp_friction(s, group, first, count, ti.sqrt(squares), world)
        for row in range(first, first + count):
            i, j = bodies_of(s.rows, group, row - first, world)
            add_force(s, row, i, j, n[world, row, ROW.effort], world)
        if kind == Group.GEAR:  # two rows, one force
            stored *= 0.5
    return error, stored, gap_squared


@ti.func
def stored_energy(s: ti.template(), row, kind, elastic, world):
    """Energy of a row, its part of Σ xᵀ α x*/2 with the stretch x of each, G or what it has slipped [J].

    Velocities are half a step behind the poses. For them x* is the stretch G - h J V one step ago, so the sum with the
    kinetic energy is what semi-implicit Euler conserves without damping. A limit that was not exceeded has x* = 0. The
    stretch of what slips has already moved on by h J V.

    Args: kind: of the row's group; elastic: α x of the row [N or N m].
    """
    n = ti.static(s.rows.numbers)
    stretch = n[world, row, ROW.stretch]
    before = stretch - s.step.h * n[world, row, ROW.velocity]
    if kind == Group.LIMIT and before * stretch <= 0.0:
        before = 0.0
    if (kind == Group.DRIVE or kind == Group.FRICTION) and stretch != 0.0:
        elastic *= before / stretch
    return 0.5 * elastic * before


@ti.func
def update_stretch(s: ti.template(), group, kind, first, count, world):
    """Update G and dG/dt of each row; of a drive its stretch; of a gear the sum, for both rows.

    Returns: the largest error of hard rows and limits.
    """
    n = ti.static(s.rows.numbers)
    error = 0.0
    for row in range(first, first + count):
        i, j = bodies_of(s.rows, group, row - first, world)
        velocity = row_velocity(s, row, i, j, world)
        if ti.static(s.features.sine_limits):
            velocity *= cosine_of(s, row, kind, world)
        if kind == Group.DRIVE or kind == Group.FRICTION:
            velocity -= n[world, row, ROW.target]
            stretch = n[world, row, ROW.stretch] + s.step.h * velocity
            if kind == Group.DRIVE and not is_hard(s, row, world):  # a compliant motor, which does not slip
                stretch = n[world, row, ROW.error]
            n[world, row, ROW.stretch] = stretch
        else:
            n[world, row, ROW.stretch] = position_error(s.rows, row, kind, world)
            if is_hard(s, row, world) or kind == Group.LIMIT:
                error = ti.max(error, ti.abs(n[world, row, ROW.stretch]))
        n[world, row, ROW.velocity] = velocity
    if kind == Group.GEAR:
        both = n[world, first, ROW.velocity] + n[world, first + 1, ROW.velocity]
        for row in range(first, first + count):
            n[world, row, ROW.velocity], n[world, row, ROW.stretch] = both, n[world, first, ROW.error]
    return error


@ti.func
def clamp_effort(s: ti.template(), row, kind, effort, world):
    """Clamp an effort to its bounds. A limit that is not exceeded has none. A drive slips, see `clamp_friction`."""
    n = ti.static(s.rows.numbers)
    clamped = ti.min(ti.max(effort, n[world, row, ROW.low]), n[world, row, ROW.high])
    if kind == Group.LIMIT:
        if n[world, row, ROW.stretch] == 0.0:
            clamped = 0.0
    elif n[world, row, ROW.low] == n[world, row, ROW.high]:  # a motor that is a torque, which stores nothing
        n[world, row, ROW.stretch] = 0.0
    elif clamped != effort:
        n[world, row, ROW.stretch] *= clamped / effort
    return clamped


@ti.func
def clamp_friction(s: ti.template(), group, first, count, size, world):
    """Reduce the efforts of friction to the friction cone, and the stretch in the same part.

    A stretch that belongs to the whole effort would be longer where damping makes most of it: energy from nowhere.

    Args: size: of the efforts as a vector.
    """
    n = ti.static(s.rows.numbers)
    normal, bound = s.rows.groups[world, group, GROUP.normal], n[world, first, ROW.high]
    if normal >= 0:
        bound *= n[world, normal, ROW.effort]
    if size > bound:
        for row in range(first, first + count):
            n[world, row, ROW.effort] = n[world, row, ROW.effort] * bound / size
            n[world, row, ROW.stretch] = n[world, row, ROW.stretch] * bound / size


@ti.func
def push_rotors(s: ti.template(), world):
    """Change the speeds of rotors by the efforts of their rows."""
    if ti.static(s.features.rotors):
        for row in range(s.step.first_contact_row):
            push_rotor(s, row, s.step.h * s.rows.numbers[world, row, ROW.effort], world)


@ti.func
def row_velocity(s: ti.template(), row, i, j, world):
    """J V of a row."""
    n, v = ti.static(s.rows.numbers, s.bodies.velocity)
    apart = load_vector(v, i, VELOCITY.linear, world) - load_vector(v, j, VELOCITY.linear, world)
    linear = load_vector(n, row, ROW.linear, world).dot(apart)
    angular_i = load_vector(n, row, ROW.angular_i, world).dot(load_vector(v, i, VELOCITY.angular, world))
    angular_j = load_vector(n, row, ROW.angular_j, world).dot(load_vector(v, j, VELOCITY.angular, world))
    return linear + angular_i + angular_j


@ti.func
def add_force(s: ti.template(), row, i, j, effort, world):
    """Add the forces and torques of an effort along a row to those on its bodies."""
    n = ti.static(s.rows.numbers)
    force = effort * load_vector(n, row, ROW.linear, world)
    add_vector(s, i, FORCE.force, force, world)
    add_vector(s, j, FORCE.force, -force, world)
    add_vector(s, i, FORCE.torque, effort * load_vector(n, row, ROW.angular_i, world), world)
    add_vector(s, j, FORCE.torque, effort * load_vector(n, row, ROW.angular_j, world), world)


@ti.func
def add_vector(s: ti.template(), body, column, v, world):
    """Add a force, or a torque, to those on a body."""
    store_vector(s.forces, body, column, load_vector(s.forces, body, column, world) + v, world)
