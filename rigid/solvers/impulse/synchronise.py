"""Velocities at the time of the poses, for the variational integrator, see variational.py."""

import taichi as ti

from pbd.core.kernels import compiled_once, store_vector
from rigid.constraints.rows import GROUP, Group, bodies_of
from rigid.kernels.motion import PSEUDO, VELOCITY, apply_forces, clear_pseudo_velocity, update_inverse_inertia
from rigid.solvers.impulse.data import BOUND, ROW
from rigid.solvers.impulse.gains import bound_synchronous_energies
from rigid.solvers.impulse.momenta import copy_velocity, turned_momentum
from rigid.solvers.sequential.prepare import compute_effective_mass, write_rows
from rigid.solvers.sequential.solve import iterate, needs_correction

# The b' of a limit that does not act [m/s or rad/s].
UNREACHED = 1e30


@ti.func
def end_velocities(s: ti.template(), last, iterations, world):
    """Keep the velocities V for the next substep. Args: last: whether velocities are read of this substep."""
    for body in range(s.bodies.pose.shape[1] - 1):
        copy_velocity(s, body, 0, PSEUDO, world)
    if last:
        synchronise(s, iterations, world)


@compiled_once(
    "bodies", "joints", "rows", "assemblies", "sleep", "gravity", "step", "features", "formulation"
)
def synchronise(s: ti.template(), iterations, world):
    """Bring the velocities of free assemblies to the time of the poses, and project them on their joints."""
    bodies = s.bodies.pose.shape[1] - 1
    v = ti.static(s.bodies.velocity)
    for body in range(bodies):
        update_inverse_inertia(s.bodies, body, world)
        if s.assemblies.state[world, s.assemblies.of_body[body]] != BOUND:
            store_vector(v, body, VELOCITY.angular, turned_momentum(s, body, -0.5 * s.step.h, world), world)
            apply_forces(s, body, 0.5 * s.step.h, world)
            exchange_velocities(s, body, world)
        else:
            clear_pseudo_velocity(s.bodies, body, world)
    if ti.static(s.features.joints):
        write_rows(s, world)
        for group in range(s.step.first_contact_group):
            prepare_projection(s, group, world)
        iterate_corrections(s, iterations, world)
    for body in range(bodies):
        if s.assemblies.state[world, s.assemblies.of_body[body]] != BOUND:
            exchange_velocities(s, body, world)
        else:
            copy_velocity(s, body, 0, PSEUDO, world)
    bound_synchronous_energies(s, world)


@ti.func
def exchange_velocities(s: ti.template(), body, world):
    """Exchange the velocity and the pseudo-velocity of a body."""
    v = ti.static(s.bodies.velocity)
    for k in ti.static(range(PSEUDO)):
        kept = v[world, body, k]
        v[world, body, k] = v[world, body, PSEUDO + k]
        v[world, body, PSEUDO + k] = kept


@ti.func
def prepare_projection(s: ti.template(), group, world):
    """Prepare a group for J V' = 0, at the present poses. Limits do not act."""
    n = ti.static(s.rows.numbers)
    kind = s.rows.kinds[world, group]
    if needs_correction(s, group, kind, world):
        first, count = s.rows.groups[world, group, GROUP.first], s.rows.groups[world, group, GROUP.count]
        for row in range(first, first + count):
            i, j = bodies_of(s.rows, group, row - first, world)
            s.formulation.compute_response(s, row, i, j, world)
            n[world, row, ROW.bias + 1], n[world, row, ROW.impulse + 1] = 0.0, 0.0
            if kind == Group.LIMIT:
                n[world, row, ROW.bias + 1] = UNREACHED if n[world, row, ROW.low] == 0.0 else -UNREACHED
        compute_effective_mass(s, group, world)


@compiled_once("bodies", "joints", "rows", "sleep", "step", "features", "formulation")
def iterate_corrections(s: ti.template(), iterations, world):
    """Iterate over the joint rows of the second stage."""
    iterate(s, s.step.first_contact_group, 1, iterations, ti.math.inf, world)
