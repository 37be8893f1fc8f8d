"""The time step: penalties.

One thread runs one world, any number of substeps in one launch. A row (rigid/constraints/rows.py) of value G becomes a
spring and a damper, Jᵀ(-α G - β J V), at the poses and velocities of the step's start (forces.py). Then

    V += h M⁻¹ (F + Jᵀ(-α G - β J V)),   poses += h V :   semi-implicit Euler.

Source: Mikhaylyuk and Strashnov, Simulation of Articulated Rigid Bodies with Penalty Method (2013), equations 9, 10 and
section 5: [4] of docs/solvers/sources.md. Departures: stiffness and damping are scaled by each row's own effective mass
(see forces.py), the gyroscopic torque is implicit, a hinge's angle is not a sine (limits.py has the source's way), and
contacts, friction and motors are rows like any other.
"""

from functools import cache

import taichi as ti

from pbd.core.kernels import compiled_once, left_out, load_vector, make_kernel, store_vector
from pbd.execution.phases import world_of
from rigid.collision.narrow_phase import point_finder
from rigid.constraints.contact_rows import CONTACT_GROUPS, write_contact_rows
from rigid.constraints.joints.rows import write_joint_rows
from rigid.kernels.motion import (
    MASS,
    VELOCITY,
    apply_external_force,
    apply_gyroscopic_torque,
    gravity_on,
    integrate_pose,
    multiply_inverse_inertia,
    update_inverse_inertia,
)
from rigid.solvers.penalty.contacts import soften_contacts, store_stretches
from rigid.solvers.penalty.data import FORCE, Data
from rigid.solvers.penalty.forces import apply_forces, compute_gains, push_rotors
from rigid.solvers.penalty.limits import write_sine_limits
from rigid.solvers.penalty.runaway import watch_motion
from rigid.solvers.report import REPORT
from rigid.solvers.substeps import over_worlds


@cache
def step_kernel(features):
    """Make the kernel for some features. Its integers: substeps, 1 to move bodies, a first world. Args: features."""
    find_points = None if features.pair_types is None else point_finder(features.pair_types)
    advance = over_worlds(advance_substep, scale_nothing, features)
    return make_kernel(advance, Data, features=features, find_points=find_points, **left_out(features))


@ti.func
def advance_substep(s: ti.template(), moving, last, world):
    """Make one substep: the algorithm. Args: moving: 0 to report what rows store, and move nothing; last: not used."""
    groups = write_rows(s, world)
    stored, gap = sum_forces(s, groups, world)
    if moving == 1:
        watch_motion(s, stored, gap, world)
        integrate_velocities(s, world)
        integrate_poses(s, world)
        push_rotors(s, world)
        store_stretches(s, world)
    elif s.report[world, REPORT.stored] == 0.0:  # the first part of a substep; it has changed what slips
        s.report[world, REPORT.stored] = stored


@ti.func
def scale_nothing(s: ti.template(), factor, world):
    """Springs store stretches, which do not depend on the length of a step."""


@ti.func
def write_rows(s: ti.template(), world):
    """Write the rows of joints and contacts, and their stiffness and damping. Returns: how many groups there are."""
    for body in range(s.bodies.pose.shape[1] - 1):
        update_inverse_inertia(s.bodies, body, world)
    if ti.static(s.features.joints):
        write_joint_rows(s, world)
    if ti.static(s.features.sine_limits):
        write_sine_limits(s, world)
    groups = detect_contacts(s, world)
    for group in range(groups):
        compute_gains(s, group, world)
    return groups


@ti.func
def detect_contacts(s: ti.template(), world):
    """Find contact points and write their rows. Returns: how many groups there are, of joints and contacts."""
    groups = s.step.first_contact_group
    if ti.static(s.features.contacts):
        find_contact_points(s, world)
        if s.points.count[world] > s.points.integers.shape[1]:
            s.report[world, REPORT.overflow] = ti.cast(s.points.count[world], float)
        count, _ = write_contact_rows(s, world)
        soften_contacts(s, count, world)
        s.report[world, REPORT.contacts] = ti.cast(count, float)
        groups += CONTACT_GROUPS * count
    return groups


@compiled_once("bodies", "shapes", "points", "scratch", "margin", "features", "find_points")
def find_contact_points(s: ti.template(), index):
    """Find the points where bodies overlap."""
    s.find_points(s.shapes, s.points, s.scratch, s.bodies.pose, s.margin, world_of(s, index))


@ti.func
def sum_forces(s: ti.template(), groups, world):
    """Sum the forces of all rows on each body, all of the same velocities.

    Returns: what rows store [J], and the largest gap of a joint [m]. What contacts store is a little off where the α
    of a contact has to be reduced, because its body has got more contacts.
    """
    for body in range(s.bodies.pose.shape[1] - 1):
        for k in ti.static(range(FORCE.total)):
            s.forces[world, body, k] = 0.0
    error, stored, gap_squared = 0.0, 0.0, 0.0
    for group in range(groups):
        error_of_group, stored_by_group, gap_of_group = apply_forces(s, group, world)
        error = ti.max(error, error_of_group)
        stored += stored_by_group
        if group < s.step.first_contact_group:
            gap_squared = ti.max(gap_squared, gap_of_group)
    s.report[world, REPORT.iterations], s.report[world, REPORT.position_error] = 1.0, error
    return stored, ti.sqrt(gap_squared)


@ti.func
def integrate_velocities(s: ti.template(), world):
    """Apply the forces of rows, gravity, external forces and gyroscopic torques to all bodies that are not on paths."""
    velocity = ti.static(s.bodies.velocity)
    for body in range(s.bodies.pose.shape[1] - 1):
        w, force = s.bodies.mass[world, body, MASS.inverse_mass], load_vector(s.forces, body, FORCE.force, world)
        if w > 0.0:
            fall = gravity_on(s, body, world)
            v = load_vector(velocity, body, VELOCITY.linear, world) + s.step.h * (fall + w * force)
            store_vector(velocity, body, VELOCITY.linear, v, world)
            apply_external_force(s, body, s.step.h, world)
            apply_gyroscopic_torque(s.bodies, s.features.gyroscopic, body, s.step.h, world)
            turn = multiply_inverse_inertia(s.bodies, body, load_vector(s.forces, body, FORCE.torque, world), world)
            spin = load_vector(velocity, body, VELOCITY.angular, world) + s.step.h * turn
            store_vector(velocity, body, VELOCITY.angular, spin, world)


@ti.func
def integrate_poses(s: ti.template(), world):
    """Move all bodies."""
    for body in range(s.bodies.pose.shape[1] - 1):
        integrate_pose(s.bodies, body, VELOCITY.linear, s.step.h, world)
