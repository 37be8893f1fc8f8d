"""The time step with coloured contacts: that of rigid/solvers/impulse/step.py, with another order of contacts.

The threads of a launch share its loops (threads.py). So what a loop does is written as a turn, a function of one body,
group or contact (turns.py), and `for_each` runs the turns. Bits do not depend on the number of threads, because the
turns of a loop do not depend on one another.
"""

from functools import cache
from typing import Any, NamedTuple

import taichi as ti

from pbd.core.kernels import fields_of, left_out, make_kernel
from rigid.collision.narrow_phase import point_finder
from rigid.solvers.impulse import data, maximal, packs
from rigid.solvers.impulse.coloured import turns
from rigid.solvers.impulse.coloured.colours import Colours
from rigid.solvers.impulse.coloured.contacts import detect_contacts
from rigid.solvers.impulse.coloured.search import Finders
from rigid.solvers.impulse.coloured.team import Team
from rigid.solvers.impulse.coloured.threads import WARM_START, for_each, over_threads, share_colours, solve_in_colours
from rigid.solvers.impulse.step import limit_corrections
from rigid.solvers.report import REPORT
from rigid.solvers.sequential.contacts import store_impulses
from rigid.solvers.sequential.energy_of_rows import watch_rows
from rigid.solvers.sequential.prepare import push_rotors, scale_impulses
from rigid.solvers.sequential.sleep import put_to_sleep, update_sleep_timers
from rigid.solvers.sequential.solve import velocity_change
from rigid.solvers.substeps import over_worlds

# The arrays of "impulse"; those of this folder; how many threads share the loops.
MORE = {"colours": Colours, "finders": Finders, "team": Team, "threads": Any}
Data = NamedTuple("Data", [*fields_of(data.Data).items(), *MORE.items()])


@cache
def step_kernel(features, threads):
    """Make the kernel for some features. Besides the data it takes substeps, iterations and a first world.

    Args: features; threads: how many share the loops of the one world; with 1 each world has a thread.
    """
    find_points = point_finder(features.pair_types, of_pairs=features.pair_types.hashed)
    if threads > 1:
        advance = over_threads(advance_substep, scale_impulses, features, threads)
    else:
        advance = over_worlds(advance_substep, scale_impulses, features)
    return make_kernel(
        advance, Data, 1, features.packs,
        features=features, formulation=packs if features.packs else maximal, find_points=find_points, threads=threads,
        **left_out(features),
    )  # fmt: skip


@ti.func
def advance_substep(s: ti.template(), iterations, last, world):
    """Make one substep: the algorithm. Args: last: whether contacts are read of this substep."""
    bodies = s.bodies.pose.shape[1] - 1
    write_rows(s, world)
    watch_rows(s, world)
    for_each(s, turns.update_inertia, bodies, world)
    groups = detect_contacts(s, world)
    put_to_sleep(s, world)
    for_each(s, turns.apply_gravity, bodies, world)
    for_each(s, turns.prepare, groups, world)
    share_colours(s, WARM_START, 0, world)
    s.report[world, REPORT.iterations] = iterate(s, groups, 0, iterations, ti.math.inf, world)
    for_each(s, turns.move, bodies, world)
    if ti.static(s.features.split_impulse):
        correct_positions(s, groups, iterations, world)
    update_sleep_timers(s, world)
    store_impulses(s, last, world)
    push_rotors(s, world)


@ti.func
def write_rows(s: ti.template(), world):
    """Write the rows of joints at the current poses."""
    for_each(s, turns.write_joint, s.joints.integers.shape[0], world)
    for_each(s, turns.write_drive, s.joints.drives.shape[0], world)


@ti.func
def iterate(s: ti.template(), groups, stage: ti.template(), iterations, change, world):
    """Solve all groups until no impulse changes by more than the tolerance.

    Args: see `iterate` of rigid/solvers/sequential/solve.py. Returns: how many iterations were made, a real number.
    """
    made = 0
    if ti.static(s.features.convergence == "velocities"):
        velocity_change(s, groups, stage, world)
    while made < iterations and change > s.step.tolerance:
        change = solve_in_colours(s, stage, made, world)
        if ti.static(s.features.convergence == "velocities"):
            change = velocity_change(s, groups, stage, world)
        made += 1
    return ti.cast(made, float)


@ti.func
def correct_positions(s: ti.template(), groups, iterations, world):
    """Correct position errors by pseudo-velocities, where the velocities have led."""
    bodies = s.bodies.pose.shape[1] - 1
    write_rows(s, world)
    for_each(s, turns.clear, bodies, world)
    bias = for_each(s, turns.demand, groups, world)
    if ti.static(s.features.packs):
        bias = ti.max(bias, for_each(s, turns.demand_pack, s.packs.count[world], world))
    s.report[world, REPORT.position_error] = bias * s.step.h
    iterate(s, groups, 1, iterations, s.step.tolerance + bias, world)
    limit_corrections(s, world)
    for_each(s, turns.correct, bodies, world)
