"""The variational integrator: a substep of second order, for free motion and hard joints.

A body of a substep has one momentum p, that of the way from its pose at the start to that at the end. Forces f and
impulses along the rows at the start change it, so that hard joints have the same gaps G at the end:

    p_{n+1/2} = p_{n-1/2} + h f + J(q_n)ᵀ λ,   p = (m v, exp(h ω/2) I ω),   G(q_{n+1}) = G(q_n),   q_{n+1} = q_n + h V

with the inertia I at the start. This is SHAKE; the angular part is the midpoint rule for rotations. A step is the same
backward in time, so energy oscillates but does not drift.

The iterations over velocities give V with J V = 0. Then rounds move the bodies, measure how much G has changed, and
correct V along the rows at the start by iterations of the second stage. What gaps are left, pseudo-velocities close, as
by default. Rounds are for assemblies: bodies that joints connect. An assembly keeps V if other rows act on it, such as
contacts, limits, friction, motors and springs, or if its rounds do not converge.

A substep is not exact, so joints do some work, and where links turn fast the equations may have no solution. An
assembly takes only a part of its correction if the work since other rows acted would be too large (work.py). Rotations
of free bodies do not keep the energy either, and what an assembly gains without work is bounded (gains.py).

Between substeps the pseudo-velocities contain V, which is half a step behind the poses. After the last substep of a
launch, half a step of f and a projection bring the velocities to the time of the poses (RATTLE, synchronise.py), except
for assemblies on which other rows act, so that bodies at rest have none.

Sources: Hairer, Lubich and Wanner, Geometric Numerical Integration, section VII.1.4 (SHAKE and RATTLE). Departures:
sequential impulses instead of Newton's method; the bound of the work.
"""

import taichi as ti

from pbd.core.kernels import compiled_once, load_vector, store_vector
from rigid.constraints.rows import GROUP, Group, bodies_of
from rigid.kernels.motion import PSEUDO, VELOCITY, clear_pseudo_velocity, integrate_pose
from rigid.solvers.impulse.data import BOUND, FREE, REJECTED, ROW, START
from rigid.solvers.impulse.gains import bound_energies
from rigid.solvers.impulse.momenta import (
    begin_velocities,
    copy_velocity,
    find_free_velocities,
    restore_pose,
    solve_turn,
)
from rigid.solvers.impulse.step import apply_corrections, find_corrections, integrate_velocities, update_inertias
from rigid.solvers.impulse.synchronise import end_velocities, iterate_corrections
from rigid.solvers.impulse.work import assembly_of, bound_work, count_correction
from rigid.solvers.sequential.contacts import detect_contacts, store_impulses
from rigid.solvers.sequential.energy_of_rows import watch_rows
from rigid.solvers.sequential.prepare import prepare_groups, warm_start, write_rows
from rigid.solvers.sequential.solve import add_impulse, needs_correction, solve_velocities

# At most so many rounds; they end when no gap of an assembly has changed by more than this part of the change before.
MOST_ROUNDS, CONVERGED = 3, 1e-3


@ti.func
def advance_substep_variational(s: ti.template(), iterations, last, world):
    """Make one substep: the algorithm. Args: last: whether velocities are read of this substep."""
    write_rows(s, world)
    watch_rows(s, world)
    update_inertias(s, world)
    begin_velocities(s, world)
    groups = detect_contacts(s, world)
    integrate_velocities(s, world)
    find_free_velocities(s, world)
    prepare_groups(s, groups, world)
    warm_start(s, groups, world)
    solve_velocities(s, groups, iterations, world)
    solve_chords(s, groups, iterations, world)
    find_corrections(s, groups, iterations, world)
    count_correction(s, world)
    apply_corrections(s, world)
    end_velocities(s, last, iterations, world)
    store_impulses(s, last, world)


@compiled_once("bodies", "joints", "rows", "assemblies", "sleep", "step", "features", "formulation")
def solve_chords(s: ti.template(), groups, iterations, world):
    """Move all bodies, and correct the velocities of free assemblies so that the gaps of their joints stay the same."""
    n, start = ti.static(s.rows.numbers, s.assemblies.starts)
    find_bound_assemblies(s, groups, world)
    for body in range(s.bodies.pose.shape[1] - 1):
        for k in ti.static(range(PSEUDO)):
            start[world, body, START.solved_linear + k] = s.bodies.velocity[world, body, k]
    for row in range(s.step.first_contact_row):
        n[world, row, ROW.start_error] = n[world, row, ROW.error]
    made, again = 0, True
    while again:
        move_bodies(s, world)
        again = False
        if ti.static(s.features.joints):
            write_rows(s, world)
            again = measure_errors(s, made == 0, world) > CONVERGED and made < MOST_ROUNDS
            if again:
                correct_velocities(s, iterations, world)
        made += 1
    bound_work(s, world)
    for body in range(s.bodies.pose.shape[1] - 1):
        copy_velocity(s, body, PSEUDO, 0, world)
    bound_energies(s, world)


@ti.func
def find_bound_assemblies(s: ti.template(), groups, world):
    """Mark the assemblies on which rows act that are no hard rows of joints."""
    n = ti.static(s.rows.numbers)
    for group in range(groups):
        kind = s.rows.kinds[world, group]
        first, count = s.rows.groups[world, group, GROUP.first], s.rows.groups[world, group, GROUP.count]
        if kind != Group.IDLE:
            for row in range(first, first + count):
                hard = (kind == Group.EQUALITY or kind == Group.GEAR) and n[world, row, ROW.softness] == 0.0
                if not hard and n[world, row, ROW.impulse] != 0.0:
                    i, j = bodies_of(s.rows, group, row - first, world)
                    s.assemblies.state[world, s.assemblies.of_body[i]] = BOUND
                    s.assemblies.state[world, s.assemblies.of_body[j]] = BOUND


@ti.func
def move_bodies(s: ti.template(), world):
    """Move all bodies from the poses of the substep's start. Their velocities V go to the pseudo-velocities."""
    start, v = ti.static(s.assemblies.starts, s.bodies.velocity)
    for body in range(s.bodies.pose.shape[1] - 1):
        restore_pose(s, body, world)
        copy_velocity(s, body, 0, PSEUDO, world)
        first = s.assemblies.of_body[body]
        if s.assemblies.state[world, first] == FREE:
            w = load_vector(v, body, VELOCITY.angular, world)
            turn, found = solve_turn(s, body, w - load_vector(start, body, START.offset, world), world)
            store_vector(v, body, VELOCITY.pseudo_angular, turn, world)
            if not found:
                s.assemblies.state[world, first] = REJECTED
        integrate_pose(s.bodies, body, VELOCITY.pseudo_linear, s.step.h, world)


@ti.func
def measure_errors(s: ti.template(), first_time, world):
    """Find b' of the rows of free assemblies, by the change of G in the substep.

    Returns: the largest part of an assembly's first change that is left.
    """
    n, start = ti.static(s.rows.numbers, s.assemblies.starts)
    for body in range(s.bodies.pose.shape[1] - 1):
        start[world, body, START.error] = 0.0
    for group in range(s.step.first_contact_group):
        kind = s.rows.kinds[world, group]
        if needs_correction(s, group, kind, world):
            assembly = assembly_of(s, group, world)
            first, count = s.rows.groups[world, group, GROUP.first], s.rows.groups[world, group, GROUP.count]
            for row in range(first, first + count):
                change = 0.0
                if s.assemblies.state[world, assembly] == FREE and n[world, row, ROW.softness] == 0.0:
                    change = n[world, row, ROW.error]
                    if kind != Group.LIMIT:
                        change -= n[world, row, ROW.start_error]
                        start[world, assembly, START.error] = ti.max(
                            start[world, assembly, START.error], ti.abs(change)
                        )
                n[world, row, ROW.bias + 1], n[world, row, ROW.impulse + 1] = change / s.step.h, 0.0
                if first_time:
                    if s.features.warm_start and s.assemblies.state[world, assembly] == FREE:
                        n[world, row, ROW.impulse + 1] = n[world, row, ROW.correction]
                    n[world, row, ROW.correction] = 0.0
    largest = 0.0
    for body in range(s.bodies.pose.shape[1] - 1):
        if first_time:
            start[world, body, START.first_error] = start[world, body, START.error]
        if start[world, body, START.error] > 0.0:
            largest = ti.max(largest, start[world, body, START.error] / start[world, body, START.first_error])
    return largest


@ti.func
def correct_velocities(s: ti.template(), iterations, world):
    """Correct V by b', along the rows at the poses of the substep's start."""
    n, v = ti.static(s.rows.numbers, s.bodies.velocity)
    for body in range(s.bodies.pose.shape[1] - 1):
        restore_pose(s, body, world)
        clear_pseudo_velocity(s.bodies, body, world)
    write_rows(s, world)
    start_corrections(s, world)
    iterate_corrections(s, iterations, world)
    for body in range(s.bodies.pose.shape[1] - 1):
        for k in ti.static(range(PSEUDO)):
            v[world, body, k] = v[world, body, k] + v[world, body, PSEUDO + k]
    for row in range(s.step.first_contact_row):
        n[world, row, ROW.correction] = n[world, row, ROW.correction] + n[world, row, ROW.impulse + 1]


@ti.func
def start_corrections(s: ti.template(), world):
    """Apply the impulses from which the first round starts, those of the last substep."""
    for group in range(s.step.first_contact_group):
        kind = s.rows.kinds[world, group]
        if needs_correction(s, group, kind, world):
            first, count = s.rows.groups[world, group, GROUP.first], s.rows.groups[world, group, GROUP.count]
            for row in range(first, first + count):
                impulse = s.rows.numbers[world, row, ROW.impulse + 1]
                if kind == Group.GEAR:
                    impulse = s.rows.numbers[world, first, ROW.impulse + 1]
                if impulse != 0.0:
                    i, j = bodies_of(s.rows, group, row - first, world)
                    add_impulse(s, row, i, j, impulse, 1, world)
