"""The time step: the articulated-body method and impulses.

One thread runs one world, any number of substeps in one launch. Joints in the trees (spanning_trees.py) stay closed by
their coordinates. Everything else is rows (rigid/constraints/rows.py): loops, limits, friction, motors, springs, gears
and contacts. Impulses solve them as in rigid/solvers/impulse, but each impulse moves whole trees (generalised.py).

Source: [3] of docs/solvers.md, eight steps. Departures: speeds come from momenta, not accelerations from forces
(velocity_products.py says why, and has the source's way; variational.py has a step of second order); a ball is one
joint, with a quaternion; positions are corrected where the velocities have led, with the errors there, by the rows of
the step's start.
"""

from functools import cache

import taichi as ti

from pbd.core.kernels import left_out, make_kernel
from rigid.collision.narrow_phase import point_finder
from rigid.kernels.motion import integrate_velocity
from rigid.solvers.articulated import generalised, synchronise, variational
from rigid.solvers.articulated.data import Data
from rigid.solvers.articulated.dynamics import compute_velocities, inward_pass, outward_pass, store_rotors
from rigid.solvers.articulated.joint_forces import store_starts
from rigid.solvers.articulated.kinematics import compute_poses, integrate_coordinates
from rigid.solvers.articulated.velocity_products import compute_velocity_products, subtract_velocity_products
from rigid.solvers.report import REPORT
from rigid.solvers.sequential.contacts import detect_contacts, store_impulses
from rigid.solvers.sequential.iterations import iterate
from rigid.solvers.sequential.prepare import prepare_correction, prepare_group, warm_start_group, write_rows
from rigid.solvers.sequential.stored import push_rotors, scale_impulses, watch_rows
from rigid.solvers.substeps import over_worlds


@cache
def step_kernel(features):
    """Make the kernel for some features. Besides the data it takes substeps and iterations. Args: features."""
    find_points = None if features.pair_types is None else point_finder(features.pair_types)
    advance = over_worlds(advance_substep, scale_impulses, features)
    return make_kernel(
        advance, Data, features=features, formulation=generalised, find_points=find_points, **left_out(features)
    )


@ti.func
def advance_substep(s: ti.template(), iterations, last, world):
    """Make one substep: the algorithm. Args: last: whether joint forces are read of this substep."""
    groups = begin_substep(s, last, world)
    solve_velocities(s, groups, iterations, world)
    end_substep(s, groups, iterations, last, world)


@ti.func
def begin_substep(s: ti.template(), last, world):
    """Do what comes before the iterations. Returns: how many groups of rows there are."""
    write_rows(s, world)
    watch_rows(s, world)
    if ti.static(s.features.variational):
        synchronise.begin_velocities(s, world)
    groups = detect_contacts(s, world)
    integrate_velocities(s, world)
    if last:
        store_starts(s, world)
    if ti.static(s.features.variational):
        variational.find_speeds(s, world)
    else:
        inward_pass(s, world)
        outward_pass(s, world)
    if ti.static(s.features.rows):
        prepare(s, groups, world)
        warm_start(s, groups, world)
        if ti.static(s.features.variational):
            variational.solve_chords(s, world)
    return groups


@ti.func
def end_substep(s: ti.template(), groups, iterations, last, world):
    """Do what comes after the iterations over velocities."""
    if ti.static(s.features.variational):
        variational.solve_chords(s, world)
        variational.store_momenta(s, world)
    integrate_coordinates(s, 0, world)
    compute_poses(s, world)
    if ti.static(s.features.split_impulse and s.features.rows):
        correct_positions(s, groups, iterations, world)
    if ti.static(s.features.variational):
        synchronise.synchronise(s, groups, last, world)
    store_impulses(s, last, world)
    push_rotors(s, world)
    store_rotors(s, world)


@ti.func
def integrate_velocities(s: ti.template(), world):
    """Compute the velocities that bodies would have if they were free."""
    if ti.static(s.features.velocity_products == "explicit"):
        compute_velocity_products(s, world)
    for body in range(s.bodies.pose.shape[1] - 1):
        integrate_velocity(s, body, world)
    if ti.static(s.features.velocity_products == "explicit"):
        subtract_velocity_products(s, world)


@ti.func
def prepare(s: ti.template(), groups, world):
    """Find responses, softness, bias and effective mass of all groups."""
    for group in range(groups):
        prepare_group(s, group, world)


@ti.func
def warm_start(s: ti.template(), groups, world):
    """Apply the impulses of the last step."""
    for group in range(groups):
        warm_start_group(s, group, world)


@ti.func
def solve_velocities(s: ti.template(), groups, iterations, world):
    """Iterate over the impulses that change speeds, and compute the bodies' velocities."""
    if ti.static(s.features.rows):
        made, last_change = iterate(s, groups, 0, iterations, ti.math.inf, world)
        s.report[world, REPORT.iterations] = ti.cast(made, float)
        s.report[world, REPORT.change] = last_change
        compute_velocities(s, world)


@ti.func
def correct_positions(s: ti.template(), groups, iterations, world):
    """Correct position errors by pseudo-speeds, where the speeds have led."""
    write_rows(s, world)
    for speed in range(s.trees.speeds.shape[2]):
        s.trees.speeds[world, 1, speed] = 0.0
    bias = 0.0
    for group in range(groups):
        bias = ti.max(bias, prepare_correction(s, group, world))
    s.report[world, REPORT.position_error] = bias * s.step.h
    if bias > 0.0:
        iterate(s, groups, 1, iterations, s.step.tolerance + bias, world)
        integrate_coordinates(s, 1, world)
        compute_poses(s, world)
