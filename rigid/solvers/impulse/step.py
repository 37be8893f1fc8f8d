"""The time step: sequential impulses in maximal coordinates.

One thread runs one world, any number of substeps in one launch. Bodies have velocities V = (v, ω). A row
(rigid/constraints/rows.py) demands J V + b + γ λ = 0 of two bodies; its impulse λ changes V by M⁻¹ Jᵀ λ
(rigid/solvers/sequential/solve.py, and maximal.py in this folder). variational.py has a step of second order.

Sources: Catto, Iterative Dynamics with Temporal Coherence (2005); [1], [3] of docs/solvers.md for split impulses.
Departures: friction is a cone. Rows of a joint are solved together. Bodies that are apart may come together in a step
(rigid/constraints/contact_rows.py). The bias is G times the error reduction divided by h; the sources omit the division
or apply it twice. Position errors are measured after the poses are integrated, not at the start of the substep, as in
Cline and Pai, Post-stabilization for rigid body simulation with contact and constraints (2003). So they contain the
substep's own drift, h² ω² ξ/2. In a chain that swings at h = 10 ms this reduces the gap from 0.5 mm to 1e-7 m.
"""

from functools import cache

import taichi as ti

from pbd.core.kernels import left_out, make_kernel
from rigid.collision.narrow_phase import point_finder
from rigid.solvers.impulse import maximal, momenta, synchronise, variational, work
from rigid.solvers.impulse.correction import limit_correction
from rigid.solvers.impulse.data import Data
from rigid.solvers.report import REPORT
from rigid.solvers.sequential import shared
from rigid.solvers.sequential.colours import find_clusters
from rigid.solvers.sequential.contacts import detect_contacts, shares_search, store_impulses
from rigid.solvers.sequential.iterations import iterate
from rigid.solvers.sequential.sleep import put_to_sleep, update_sleep_timers
from rigid.solvers.sequential.stored import push_rotors, scale_impulses, watch_rows
from rigid.solvers.substeps import over_worlds


@cache
def step_kernel(features):
    """Make the kernel for some features. Besides the data it takes substeps and iterations. Args: features."""
    find_points = None
    if features.pair_types is not None:
        find_points = point_finder(features.pair_types, searched=shares_search(features))
    team = shared if features.threads > 1 else None
    advance = over_worlds(advance_substep, scale_impulses, features, team)
    given = {"features": features, "formulation": maximal, "find_points": find_points, **left_out(features)}
    return make_kernel(advance, Data, features.lanes, **given)


@ti.func
def advance_substep(s: ti.template(), iterations, last, world):
    """Make one substep: the algorithm. Args: last: whether velocities are read of this substep."""
    groups = begin_substep(s, last, world)
    solve_velocities(s, groups, iterations, world)
    end_substep(s, groups, iterations, last, world)


@ti.func
def begin_substep(s: ti.template(), last, world):
    """Do what comes before the iterations. Returns: how many groups of rows there are."""
    bodies = s.bodies.pose.shape[1] - 1
    shared.write_rows(s, world)
    watch_rows(s, world)
    shared.for_each(s, shared.update_inertia, bodies, world)
    if ti.static(s.features.variational):
        momenta.begin_velocities(s, world)
    groups = detect_contacts(s, world)
    put_to_sleep(s, groups, world)
    shared.for_each(s, shared.apply_gravity, bodies, world)
    if ti.static(s.features.variational):
        momenta.find_free_velocities(s, world)
    prepare(s, groups, world)
    shared.warm_start(s, groups, world)
    return groups


@ti.func
def end_substep(s: ti.template(), groups, iterations, last, world):
    """Do what comes after the iterations over velocities."""
    if ti.static(s.features.variational):
        variational.solve_chords(s, groups, iterations, world)
    else:
        shared.for_each(s, shared.move, s.bodies.pose.shape[1] - 1, world)
    if ti.static(s.features.split_impulse):
        correct_positions(s, groups, iterations, world)
    if ti.static(s.features.variational):
        synchronise.end_velocities(s, last, iterations, world)
    update_sleep_timers(s, world)
    store_impulses(s, last, world)
    push_rotors(s, world)


@ti.func
def prepare(s: ti.template(), groups, world):
    """Find softness, bias and effective mass of all groups, and their order if contacts are coloured."""
    if ti.static(s.features.coloured):
        find_clusters(s, groups, world)
    shared.for_each(s, shared.prepare, groups, world)


@ti.func
def solve_velocities(s: ti.template(), groups, iterations, world):
    """Iterate over the impulses that change velocities."""
    made, last_change = iterate(s, groups, 0, iterations, ti.math.inf, world)
    s.report[world, REPORT.iterations] = ti.cast(made, float)
    s.report[world, REPORT.change] = last_change


@ti.func
def correct_positions(s: ti.template(), groups, iterations, world):
    """Correct position errors by pseudo-velocities, where the velocities have led."""
    bodies = s.bodies.pose.shape[1] - 1
    shared.write_rows(s, world)
    shared.for_each(s, shared.clear, bodies, world)
    bias = shared.for_each(s, shared.demand, groups, world)
    s.report[world, REPORT.position_error] = bias * s.step.h
    iterate(s, groups, 1, iterations, s.step.tolerance + bias, world)
    if ti.static(s.features.division.divides()):
        limit_correction(s, world)
    if ti.static(s.features.variational):
        work.count_correction(s, world)
    shared.for_each(s, shared.correct, bodies, world)
