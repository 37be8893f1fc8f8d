"""The work of joints in the variational integrator, and its bound, see variational.py.

Ideal joints do no work. Those of a substep do

    W = (V_{n+1/2} + V_{n-1/2})/2 · J(q_n)ᵀ λ

by which the energy of the bodies changes beyond the work of forces. What position correction moves against forces
counts, too. A correction of V that would raise the sum of W since other rows acted above a bound is scaled.
"""

import taichi as ti

from pbd.core.kernels import load_quaternion, load_vector
from rigid.constraints.rows import GROUP
from rigid.kernels.motion import ANGULAR, MASS, PSEUDO, VELOCITY, integrate_pose, multiply_inertia
from rigid.solvers.impulse.data import BOUND, FREE, ROW, START
from rigid.solvers.impulse.gains import energy_at
from rigid.solvers.impulse.momenta import restore_pose

# If the last round leaves more than this part, the assembly keeps V.
DIVERGED = 0.1

# The work that joints may do, in parts of the assembly's kinetic energy.
MOST_WORK = 0.005


@ti.func
def bound_work(s: ti.template(), world):
    """Scale the corrections of assemblies whose joints would do too much work, and drop those of diverged rounds."""
    start, v = ti.static(s.assemblies.starts, s.bodies.velocity)
    bodies = s.bodies.pose.shape[1] - 1
    for body in range(bodies):
        for k in ti.static(range(3)):
            start[world, body, START.work + k] = 0.0
    for body in range(bodies):
        first = s.assemblies.of_body[body]
        solved = ti.static(START.solved_linear)
        add_to(s, first, START.work, joint_work(s, body, v, PSEUDO, v, 0, world), world)
        add_to(s, first, START.solved_work, joint_work(s, body, start, solved, start, solved, world), world)
        q = load_quaternion(start, body, START.rotation, world)
        add_to(s, first, START.kinetic, energy_at(s, body, q, v, PSEUDO, world), world)
    for body in range(bodies):
        start[world, body, START.factor] = accepted_fraction(s, body, world)
    for body in range(bodies):
        first = s.assemblies.of_body[body]
        accepted = start[world, first, START.factor]
        if accepted < 1.0:
            for k in ti.static(range(PSEUDO)):
                solved = start[world, body, START.solved_linear + k]
                v[world, body, k] = solved + accepted * (v[world, body, k] - solved)
                v[world, body, PSEUDO + k] = solved + accepted * (v[world, body, PSEUDO + k] - solved)
            restore_pose(s, body, world)
            integrate_pose(s.bodies, body, VELOCITY.pseudo_linear, s.step.h, world)
        total = s.assemblies.work[world, first] + joint_work(s, body, v, PSEUDO, v, 0, world)
        if s.assemblies.state[world, first] == BOUND:
            total = 0.0
        s.assemblies.work[world, first] = total
    for group in range(s.step.first_contact_group):
        accepted = start[world, assembly_of(s, group, world), START.factor]
        first, count = s.rows.groups[world, group, GROUP.first], s.rows.groups[world, group, GROUP.count]
        for row in range(first, first + count):
            s.rows.numbers[world, row, ROW.correction] = accepted * s.rows.numbers[world, row, ROW.correction]


@ti.func
def accepted_fraction(s: ti.template(), first, world):
    """The part of an assembly's correction that is accepted. Args: first: its first body.

    The correction c is orthogonal to V, J V = 0, so a part of it does the work of its square.
    """
    start = ti.static(s.assemblies.starts)
    result = 1.0
    if (
        s.assemblies.state[world, first] != FREE
        or start[world, first, START.error] > DIVERGED * start[world, first, START.first_error]
    ):
        result = 0.0
    else:
        most = MOST_WORK * start[world, first, START.kinetic] - s.assemblies.work[world, first]
        solved, work = start[world, first, START.solved_work], start[world, first, START.work]
        if work > most:
            result = ti.sqrt(ti.max(most - solved, 0.0) / ti.max(work - solved, 1e-30))
            result = ti.min(result, 1.0)
    return result


@ti.func
def add_to(s: ti.template(), body, column, value, world):
    """Add to a number of `starts`."""
    s.assemblies.starts[world, body, column] = s.assemblies.starts[world, body, column] + value


@ti.func
def joint_work(
    s: ti.template(), body, ends: ti.template(), end: ti.template(), solved: ti.template(), column: ti.template(), world
):
    """Work of joints on a body in the substep: its change of momentum, times the mean velocity.

    Args: ends, end: array and column of its velocity in the substep; solved, column: of V.
    """
    start = ti.static(s.assemblies.starts)
    q = load_quaternion(start, body, START.rotation, world)
    p = load_vector(solved, body, column, world) - load_vector(start, body, START.free_linear, world)
    p *= s.bodies.mass[world, body, MASS.mass]
    L = load_vector(solved, body, column + ANGULAR, world) - load_vector(start, body, START.free_angular, world)
    L = multiply_inertia(s.bodies, body, q, L, world)
    v = load_vector(start, body, START.linear, world) + load_vector(ends, body, end, world)
    w = load_vector(start, body, START.angular, world) + load_vector(ends, body, end + ANGULAR, world)
    return 0.5 * (v.dot(p) + w.dot(L))


@ti.func
def count_correction(s: ti.template(), world):
    """Add the work that forces would do where position correction moves bodies, as work of joints."""
    start = ti.static(s.assemblies.starts)
    for body in range(s.bodies.pose.shape[1] - 1):
        impulse = load_vector(start, body, START.free_linear, world) - load_vector(start, body, START.linear, world)
        shift = load_vector(s.bodies.velocity, body, VELOCITY.pseudo_linear, world)
        first = s.assemblies.of_body[body]
        work = s.bodies.mass[world, body, MASS.mass] * impulse.dot(shift)
        s.assemblies.work[world, first] = s.assemblies.work[world, first] - work


@ti.func
def assembly_of(s: ti.template(), group, world):
    """The assembly of a group of joint rows. The ground, with the last index, has none."""
    i, j = s.rows.groups[world, group, GROUP.body_i], s.rows.groups[world, group, GROUP.body_j]
    return ti.min(s.assemblies.of_body[i], s.assemblies.of_body[j])
