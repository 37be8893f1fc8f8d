"""The time step: the articulated-body method and impulses.

One thread runs one world, any number of substeps in one launch. Joints in the trees (spanning_trees.py) stay closed by
their coordinates. Everything else is rows (rigid/constraints/rows.py): loops, limits, friction, motors, springs, gears
and contacts. Impulses solve them as in rigid/solvers/impulse, but each impulse moves whole trees (generalised.py).
variational.py has a step of second order, kernel.py makes the kernel of either.

Source: [3] of docs/solvers/sources.md, eight steps. Departures: speeds come from momenta, not accelerations from forces
(velocity_products.py says why, and has the source's way); a ball is one joint, with a quaternion; positions are
corrected where the velocities have led, with the errors there, by the rows of the step's start.
"""

import taichi as ti

from rigid.kernels.motion import integrate_velocity
from rigid.solvers.articulated.dynamics import compute_velocities, inward_pass, outward_pass, store_rotors
from rigid.solvers.articulated.joint_forces import store_starts
from rigid.solvers.articulated.kinematics import compute_poses, integrate_coordinates
from rigid.solvers.articulated.velocity_products import compute_velocity_products, subtract_velocity_products
from rigid.solvers.sequential.contacts import detect_contacts, store_impulses
from rigid.solvers.sequential.energy_of_rows import watch_rows
from rigid.solvers.sequential.prepare import (
    prepare_corrections,
    prepare_groups,
    push_rotors,
    warm_start,
    write_rows,
)
from rigid.solvers.sequential.solve import iterate, solve_velocities


@ti.func
def advance_substep(s: ti.template(), iterations, last, world):
    """Make one substep: the algorithm. Args: last: whether joint forces are read of this substep."""
    write_rows(s, world)
    watch_rows(s, world)
    groups = detect_contacts(s, world)
    integrate_velocities(s, last, world)
    inward_pass(s, world)
    outward_pass(s, world)
    if ti.static(s.features.rows):
        prepare_groups(s, groups, world)
        warm_start(s, groups, world)
        solve_velocities(s, groups, iterations, world)
        compute_velocities(s, world)
    integrate_coordinates(s, 0, world)
    compute_poses(s, world)
    correct_positions(s, groups, iterations, world)
    store_impulses(s, last, world)
    push_rotors(s, world)
    store_rotors(s, world)


@ti.func
def integrate_velocities(s: ti.template(), last, world):
    """Compute the velocities that bodies would have if they were free. Args: last: whether joint forces are read."""
    if ti.static(s.features.velocity_products == "explicit"):
        compute_velocity_products(s, world)
    for body in range(s.bodies.pose.shape[1] - 1):
        integrate_velocity(s, body, world)
    if ti.static(s.features.velocity_products == "explicit"):
        subtract_velocity_products(s, world)
    if last:
        store_starts(s, world)


@ti.func
def correct_positions(s: ti.template(), groups, iterations, world):
    """Correct position errors by pseudo-speeds, where the speeds have led."""
    if ti.static(s.features.split_impulse and s.features.rows):
        write_rows(s, world)
        for speed in range(s.trees.speeds.shape[2]):
            s.trees.speeds[world, 1, speed] = 0.0
        bias = prepare_corrections(s, groups, world)
        if bias > 0.0:
            iterate(s, groups, 1, iterations, s.step.tolerance + bias, world)
            integrate_coordinates(s, 1, world)
            compute_poses(s, world)
