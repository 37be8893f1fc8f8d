"""The time step: sequential impulses in maximal coordinates.

One thread runs one world, any number of substeps in one launch. Bodies have velocities V = (v, ω). A row
(rigid/constraints/rows.py) demands J V + b + γ λ = 0 of two bodies; its impulse λ changes V by M⁻¹ Jᵀ λ
(rigid/solvers/sequential/solve.py, and maximal.py in this folder). variational.py has a step of second order, the
folder coloured one for several threads; kernel.py makes the kernel.

Sources: Catto, Iterative Dynamics with Temporal Coherence (2005); [1], [3] of docs/solvers/sources.md for split
impulses. Departures: friction is a cone. Rows of a joint are solved together. Bodies that are apart may come together
in a step (rigid/constraints/contact_rows.py). The bias is G times the error reduction divided by h; the sources omit
the division or apply it twice. Position errors are measured after the poses are integrated, not at the start of the
substep, as in Cline and Pai, Post-stabilization for rigid body simulation with contact and constraints (2003). So they
contain the substep's own drift, h² ω² ξ/2. In a chain that swings at h = 10 ms this reduces the gap from 0.5 mm to
1e-7 m.
"""

import taichi as ti

from pbd.core.kernels import load_vector
from rigid.kernels.motion import (
    PSEUDO,
    VELOCITY,
    clear_pseudo_velocity,
    integrate_pose,
    integrate_velocity,
    update_inverse_inertia,
)
from rigid.solvers.sequential.contacts import detect_contacts, store_impulses
from rigid.solvers.sequential.energy_of_rows import watch_rows
from rigid.solvers.sequential.prepare import (
    prepare_corrections,
    prepare_groups,
    push_rotors,
    warm_start,
    write_rows,
)
from rigid.solvers.sequential.sleep import body_sleeps, update_sleep_timers
from rigid.solvers.sequential.solve import iterate, solve_velocities

# Position correction turns a body by this much in a substep at most [rad].
LARGEST_CORRECTION = 0.1


@ti.func
def advance_substep(s: ti.template(), iterations, last, world):
    """Make one substep: the algorithm. Args: last: whether contacts are read of this substep."""
    write_rows(s, world)
    watch_rows(s, world)
    update_inertias(s, world)
    groups = detect_contacts(s, world)
    integrate_velocities(s, world)
    prepare_groups(s, groups, world)
    warm_start(s, groups, world)
    solve_velocities(s, groups, iterations, world)
    integrate_poses(s, world)
    if ti.static(s.features.split_impulse):
        find_corrections(s, groups, iterations, world)
        limit_corrections(s, world)
        apply_corrections(s, world)
    update_sleep_timers(s, world)
    store_impulses(s, last, world)
    push_rotors(s, world)


@ti.func
def update_inertias(s: ti.template(), world):
    """Rotate the inverse inertias of all bodies into the world."""
    for body in range(s.bodies.pose.shape[1] - 1):
        update_inverse_inertia(s.bodies, body, world)


@ti.func
def integrate_velocities(s: ti.template(), world):
    """Apply gravity, external forces and the gyroscopic torques."""
    for body in range(s.bodies.pose.shape[1] - 1):
        if not body_sleeps(s, body, world):
            integrate_velocity(s, body, world)


@ti.func
def integrate_poses(s: ti.template(), world):
    """Move all bodies by their velocities."""
    for body in range(s.bodies.pose.shape[1] - 1):
        if not body_sleeps(s, body, world):
            integrate_pose(s.bodies, body, VELOCITY.linear, s.step.h, world)


@ti.func
def find_corrections(s: ti.template(), groups, iterations, world):
    """Find the pseudo-velocities that correct position errors, where the velocities have led."""
    write_rows(s, world)
    for body in range(s.bodies.pose.shape[1] - 1):
        clear_pseudo_velocity(s.bodies, body, world)
    bias = prepare_corrections(s, groups, world)
    iterate(s, groups, 1, iterations, s.step.tolerance + bias, world)


@ti.func
def limit_corrections(s: ti.template(), world):
    """Scale all pseudo-velocities if one would turn a body by more than LARGEST_CORRECTION.

    Rows are linear in the rotation: a larger correction leads to larger errors, as far as it has converged at all.
    """
    if ti.static(s.features.division.divides()):
        largest = 0.0
        for body in range(s.bodies.pose.shape[1] - 1):
            turn = load_vector(s.bodies.velocity, body, VELOCITY.pseudo_angular, world).norm()
            largest = ti.max(largest, s.step.h * turn)
        if largest > LARGEST_CORRECTION:
            factor = LARGEST_CORRECTION / largest
            for body in range(s.bodies.pose.shape[1] - 1):
                for k in ti.static(range(PSEUDO, VELOCITY.total)):
                    s.bodies.velocity[world, body, k] = factor * s.bodies.velocity[world, body, k]


@ti.func
def apply_corrections(s: ti.template(), world):
    """Move all bodies by their pseudo-velocities."""
    for body in range(s.bodies.pose.shape[1] - 1):
        if not body_sleeps(s, body, world):
            integrate_pose(s.bodies, body, VELOCITY.pseudo_linear, s.step.h, world)
