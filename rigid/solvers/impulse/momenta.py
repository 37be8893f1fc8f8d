"""Momenta and velocities of the variational integrator, see variational.py."""

import taichi as ti

from pbd.core.kernels import load_quaternion, load_vector, store_vector
from pbd.core.quaternions import exponential, rotate, rotate_back
from rigid.kernels.matrices import multiply_symmetric
from rigid.kernels.midpoint import solve_midpoint
from rigid.kernels.motion import MASS, POSE, PSEUDO, VELOCITY, apply_forces, apply_gyroscopic_torque, multiply_inertia
from rigid.solvers.impulse.data import BOUND, FREE, REJECTED, START
from rigid.solvers.impulse.gains import begin_energies


@ti.func
def begin_velocities(s: ti.template(), world):
    """Give bodies the velocities M⁻¹ p of their momenta, at the poses of the substep's start."""
    start, v = ti.static(s.assemblies.starts, s.bodies.velocity)
    synchronous = s.assemblies.synchronous[world] == 1
    for body in range(s.bodies.pose.shape[1] - 1):
        start[world, body, START.bound] = 1.0 if s.assemblies.state[world, body] == BOUND else 0.0
        s.assemblies.state[world, body] = FREE
        for k in ti.static(range(POSE.total)):
            start[world, body, START.position + k] = s.bodies.pose[world, body, k]
        if not synchronous:
            copy_velocity(s, body, PSEUDO, 0, world)
        for k in ti.static(range(PSEUDO)):
            start[world, body, START.linear + k] = v[world, body, k]
        if not synchronous:
            store_vector(v, body, VELOCITY.angular, turned_momentum(s, body, -0.5 * s.step.h, world), world)
        store_vector(start, body, START.offset, load_vector(v, body, VELOCITY.angular, world), world)
        if synchronous:
            apply_forces(s, body, -0.5 * s.step.h, world)
    begin_energies(s, synchronous, world)
    s.assemblies.synchronous[world] = 0


@ti.func
def copy_velocity(s: ti.template(), body, source: ti.template(), target: ti.template(), world):
    """Copy the velocity of a body. Args: source, target: columns, 0 or PSEUDO."""
    for k in ti.static(range(PSEUDO)):
        s.bodies.velocity[world, body, target + k] = s.bodies.velocity[world, body, source + k]


@ti.func
def turned_momentum(s: ti.template(), body, time, world):
    """I⁻¹ exp(ω t) I ω, with the inertia at the body's pose. Args: time: t [s]."""
    w = load_vector(s.bodies.velocity, body, VELOCITY.angular, world)
    q = load_quaternion(s.bodies.pose, body, POSE.rotation, world)
    L = rotate(exponential(time * w), multiply_inertia(s.bodies, body, q, w, world))
    return rotate(q, multiply_symmetric(s.bodies.mass, body, MASS.inverse_inertia, rotate_back(q, L), world))


@ti.func
def find_free_velocities(s: ti.template(), world):
    """Find the velocities V that free bodies would have, from the velocities M⁻¹ p.

    If Newton's method fails for a body, or rows acted on its assembly in the last substep, it turns by the default's
    implicit step.
    """
    start, v = ti.static(s.assemblies.starts, s.bodies.velocity)
    for body in range(s.bodies.pose.shape[1] - 1):
        momentum = load_vector(v, body, VELOCITY.angular, world)
        first = s.assemblies.of_body[body]
        w, found = solve_turn(s, body, momentum, world)
        if not found:
            s.assemblies.state[world, first] = REJECTED
        if not found or start[world, first, START.bound] == 1.0:
            gain = momentum - load_vector(start, body, START.offset, world)
            w = load_vector(start, body, START.angular, world) + gain
            store_vector(v, body, VELOCITY.angular, w, world)
            apply_gyroscopic_torque(s.bodies, "implicit", body, s.step.h, world)
            w = load_vector(v, body, VELOCITY.angular, world)
        store_vector(v, body, VELOCITY.angular, w, world)
        store_vector(start, body, START.offset, w - momentum, world)
        for k in ti.static(range(PSEUDO)):
            start[world, body, START.free_linear + k] = v[world, body, k]


@ti.func
def solve_turn(s: ti.template(), body, momentum, world):
    """The midpoint rule with the inertia at the substep's start, see `solve_midpoint`."""
    q = load_quaternion(s.assemblies.starts, body, START.rotation, world)
    return solve_midpoint(s.bodies, body, q, momentum, s.step.h, world)


@ti.func
def restore_pose(s: ti.template(), body, world):
    """Put a body back to its pose at the substep's start."""
    for k in ti.static(range(POSE.total)):
        s.bodies.pose[world, body, k] = s.assemblies.starts[world, body, START.position + k]
