"""The substep of a particle system, Jakobsen's loop (2001) over particles and constraints.

    begin_substep   forces, Verlet, search for contacts
    iterate         relax: each constraint projected once, repeated up to `iterations` times
    end_substep     restitution, sensors, check

A direct solve divides substeps where it must (pbd/direct/adaptive.py). Threads may share each phase (pbd/execution).
"""

import taichi as ti

from pbd.collision.colliders import apply_restitution, project_colliders
from pbd.collision.contacts import find_contacts, move_apart
from pbd.collision.elements import project_elements
from pbd.collision.surfaces.bound import prevent_crossings
from pbd.core.kernels import any_world, largest_of_lanes
from pbd.data import RANGE, REPORT
from pbd.diagnostics import measure_motion
from pbd.direct import adaptive, contacts, limits, motion, solve
from pbd.execution.phases import for_each, for_each_world, project_each, project_each_world
from pbd.grabs import pull_grabs
from pbd.implicit import solve as implicit
from pbd.integrate import apply_wind_everywhere, check_finite, clear_multiplier, move_kinematic, predict
from pbd.projection import project_clusters, sensor_phase


@ti.func
def begin_substep(s: ti.template(), substep, world):
    """Apply forces, predict positions as if there were no constraints, and search for contacts."""
    if ti.static(s.features.wind):
        apply_wind_everywhere(s, substep, world)
    for_each(s, s.counts.particles, predict, substep, world)
    move_kinematic(s, substep, world)
    for_each(s, s.counts.multipliers, clear_multiplier, substep, world)
    find_contacts(s, substep, world)
    if ti.static(s.features.has_hooks):
        s.features.hooks.before_iterations(s, world)
    if ti.static(len(s.features.direct) > 0):
        for_each_world(s, motion.begin_direct_solve, substep, world)
    implicit.begin(s, substep, world)


@ti.func
def relax(s: ti.template(), substep, iteration, world):
    """Project all constraints once; parts solve directly later. Returns: the largest violation, see `project_each`."""
    worst = ti.max(project_clusters(s, substep, world), relax_environment(s, substep, world))
    if ti.static(s.features.has_hooks):
        worst = ti.max(worst, s.features.hooks.in_iteration(s, iteration, world))
    if ti.static(not s.features.parts):
        worst = ti.max(worst, solve_directly(s, substep, world))
    if ti.static(s.features.bands and s.features.has_tolerance):
        worst = largest_of_lanes(worst)
    return worst


@ti.func
def solve_directly(s: ti.template(), substep, world):
    """Project the constraints of the direct solve, all together. Returns: the largest violation before."""
    worst = 0.0
    if ti.static(len(s.features.direct) > 0):
        worst = project_each_world(s, solve.solve, substep, world)
    return worst


@ti.func
def relax_environment(s: ti.template(), substep, world):
    """Project elements that are solved together, grab springs, contacts and colliders once. Returns: see `relax`."""
    worst = implicit.project(s, substep, world)
    if ti.static(s.features.grabs > 0):
        for_each_world(s, pull_grabs, substep, world)
    worst = ti.max(worst, move_apart(s, substep, world))
    if ti.static(s.features.elements):
        worst = ti.max(worst, project_each_world(s, project_elements, substep, world))
    if ti.static(s.features.obstacles):
        deepest = project_each(s, s.counts.particles, project_colliders, substep, world)
        worst = ti.max(worst, deepest, implicit.touch(s, substep, world))
    if ti.static(s.features.touching):
        worst = ti.max(worst, project_each_world(s, contacts.touch, substep, world))
    return worst


@ti.func
def end_substep(s: ti.template(), substep, world):
    """Prevent crossings, apply restitution, update sensors, and check that all positions are finite."""
    if ti.static(s.features.surface_contacts):
        for_each_world(s, prevent_crossings, substep, world)
    if ti.static(s.features.restitution):
        for_each(s, s.counts.particles, apply_restitution, substep, world)
    if ti.static(s.features.has_hooks):
        s.features.hooks.after_iterations(s, world)
    for index in ti.static(s.features.sensors):
        for_each(s, s.constraints.ranges[index, RANGE.count], ti.static(sensor_phase(index)), substep, world)
    for_each(s, s.counts.particles, check_finite, substep, world)


@ti.func
def iterate(s: ti.template(), substep, iterations, search, world):
    """Relax up to `iterations` times, until no violation is above the tolerance. Parts go on while solves help.

    Args: search: how the part was chosen, an adaptive.Search. Returns: an Evaluation of what parts solve directly.
    """
    iteration, made, further, again = 0, 0.0, 0.0, True
    worst, left = s.settings.tolerance + 1.0, solve.nothing_found()
    while any_world(again):
        if again:  # always, but for worlds in lanes that have ended before others
            again = made < iterations and worst > s.settings.tolerance
            if again:
                worst, made = relax(s, substep, iteration, world), made + 1.0
            if ti.static(s.features.parts):
                further += ti.select(again, 0.0, 1.0)
                left, again = solve.solve_part(s, left, again, further, search, world)
                worst = ti.max(worst, left.worst)
        iteration += 1
    s.report[world, REPORT.iterations] = made
    return left


@ti.func
def advance_in_parts(s: ti.template(), substep, iterations, last, world):
    """Advance a world by a substep, in as many parts as it needs. Args: last: whether it is the last of the launch."""
    search = adaptive.begin_search(s, substep, world)
    while any_world(search.done < 1.0):
        if search.done < 1.0:
            search, row, h, velocity_kept = adaptive.begin_part(s, search, substep, world)
            part = ti.static(adaptive.data_of_part(s, h, velocity_kept, world))
            begin_substep(part, row, world)
            left = iterate(part, row, iterations, search, world)
            found = limits.measure(part, row, left, search, world)
            if adaptive.accept(search, found):
                end_substep(part, row, world)
                search = adaptive.join(s, search, found, left, substep, last, world)
            else:
                search = adaptive.divide(s, search, found, world)
    adaptive.end_search(s, search, substep, world)


@ti.func
def advance_world(s: ti.template(), substeps, iterations, world):
    """Run substeps of one world on one thread."""
    for substep in range(substeps):
        if not any_world(s.report[world, REPORT.diverged_substep] >= 0.0):
            if ti.static(s.features.parts):
                advance_in_parts(s, substep, iterations, substep == substeps - 1, world)
            else:
                begin_substep(s, substep, world)
                iterate(s, substep, iterations, adaptive.whole_substep(), world)
                end_substep(s, substep, world)
    if ti.static(s.features.has_hooks and not s.features.parts):
        s.features.hooks.store_contacts(s, world)
    measure_motion(s, substeps, world)
