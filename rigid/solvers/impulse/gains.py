"""The bound of what assemblies gain without work in the variational integrator.

rigid/solvers/sequential/gained_energy.py has the rule.

The velocities V of two substeps are those of the same energy at the pose between them, because a body turns about ω
itself. But position correction turns bodies about other axes, against ω. What T gains by that is counted in the next
substep. The work of forces is their impulse times the mean of V before and after.

Velocities at the time of the poses do not go on, they are read alone. They may contain what the bound has left.
"""

import taichi as ti

from pbd.core.kernels import load_quaternion, load_vector
from rigid.kernels.motion import ANGULAR, MASS, POSE, PSEUDO, VELOCITY, gravity_on, multiply_inertia
from rigid.solvers.impulse.data import BOUND, FREE, START
from rigid.solvers.sequential.gained_energy import FREE_ENERGY, MOST_GAIN, bounding_factor, factor_of_excess


@ti.func
def begin_energies(s: ti.template(), synchronous, world):
    """Set the kinetic energies before a substep: those after the last one, or those of velocities that users have set.

    Args: synchronous: whether velocities are those at the time of the poses.
    """
    start, energy = ti.static(s.assemblies.starts, s.assemblies.energy)
    for body in range(s.bodies.pose.shape[1] - 1):
        energy[world, body, FREE_ENERGY.before] = 0.0 if synchronous else energy[world, body, FREE_ENERGY.after]
        energy[world, body, FREE_ENERGY.after] = 0.0
    for body in range(s.bodies.pose.shape[1] - 1):
        if synchronous:
            q = load_quaternion(start, body, START.rotation, world)
            add_energy(s, body, FREE_ENERGY.before, energy_at(s, body, q, start, START.linear, world), world)


@ti.func
def bound_energies(s: ti.template(), world):
    """Scale the velocities V of assemblies whose kinetic energy has risen too much without work."""
    start, v, energy = ti.static(s.assemblies.starts, s.bodies.velocity, s.assemblies.energy)
    bodies = s.bodies.pose.shape[1] - 1
    for body in range(bodies):
        force = load_vector(start, body, START.free_linear, world) - load_vector(start, body, START.linear, world)
        mean = load_vector(start, body, START.linear, world) + load_vector(v, body, VELOCITY.linear, world)
        work = 0.5 * s.bodies.mass[world, body, MASS.mass] * force.dot(mean)
        add_energy(s, body, FREE_ENERGY.before, work, world)
        q = load_quaternion(start, body, START.rotation, world)
        add_energy(s, body, FREE_ENERGY.after, energy_at(s, body, q, v, 0, world), world)
    for body in range(bodies):
        state = s.assemblies.state[world, body]
        free = state != BOUND and s.step.external == 0
        factor = bounding_factor(energy, body, free, state == FREE, world)
        start[world, body, START.factor] = factor
        energy[world, body, FREE_ENERGY.after] = factor * factor * energy[world, body, FREE_ENERGY.after]
    scale_velocities(s, world)


@ti.func
def bound_synchronous_energies(s: ti.template(), world):
    """Scale the velocities at the time of the poses where their energy is above the bound."""
    start, v, energy = ti.static(s.assemblies.starts, s.bodies.velocity, s.assemblies.energy)
    bodies = s.bodies.pose.shape[1] - 1
    for body in range(bodies):
        start[world, body, START.kinetic], start[world, body, START.work] = 0.0, 0.0
    for body in range(bodies):
        first, q = s.assemblies.of_body[body], load_quaternion(s.bodies.pose, body, POSE.rotation, world)
        mean = load_vector(v, body, VELOCITY.linear, world) + load_vector(v, body, VELOCITY.pseudo_linear, world)
        work = 0.25 * s.step.h * s.bodies.mass[world, body, MASS.mass] * gravity_on(s, body, world).dot(mean)
        start[world, first, START.work] = start[world, first, START.work] + work
        kinetic = energy_at(s, body, q, v, 0, world)
        start[world, first, START.kinetic] = start[world, first, START.kinetic] + kinetic
    for body in range(bodies):
        factor, kinetic = 1.0, start[world, body, START.kinetic]
        if s.assemblies.state[world, body] != BOUND and s.step.external == 0:
            most = energy[world, body, FREE_ENERGY.after] + start[world, body, START.work]
            most += MOST_GAIN * energy[world, body, FREE_ENERGY.largest] - energy[world, body, FREE_ENERGY.gained]
            if kinetic > most:
                factor = factor_of_excess(kinetic, kinetic - most)
        start[world, body, START.factor] = factor
    scale_velocities(s, world)


@ti.func
def add_energy(s: ti.template(), body, column: ti.template(), value, world):
    """Add to an energy of a body's assembly. Args: column: of FREE_ENERGY."""
    first = s.assemblies.of_body[body]
    s.assemblies.energy[world, first, column] = s.assemblies.energy[world, first, column] + value


@ti.func
def scale_velocities(s: ti.template(), world):
    """Scale the velocities of bodies by the factors of their assemblies."""
    for body in range(s.bodies.pose.shape[1] - 1):
        factor = s.assemblies.starts[world, s.assemblies.of_body[body], START.factor]
        if factor < 1.0:
            for k in ti.static(range(PSEUDO)):
                s.bodies.velocity[world, body, k] = factor * s.bodies.velocity[world, body, k]


@ti.func
def energy_at(s: ti.template(), body, q, velocities: ti.template(), column: ti.template(), world):
    """Kinetic energy of a body [J]. Args: q: its rotation; velocities, column: where its velocity is."""
    v, w = load_vector(velocities, body, column, world), load_vector(velocities, body, column + ANGULAR, world)
    L = multiply_inertia(s.bodies, body, q, w, world)
    return 0.5 * (s.bodies.mass[world, body, MASS.mass] * v.norm_sqr() + w.dot(L))
