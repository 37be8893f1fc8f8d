"""Phases of a substep, run by one thread for each world, or by all threads for all worlds.

A phase is a Taichi function (s, substep, item, world) that treats one particle, multiplier or the like. One thread can
call it for all items of its world, or threads can share the items. `s.features.shared` says which, so each phase and
the order of phases stand once.
"""

import taichi as ti

from pbd.core.kernels import count_last_turns
from pbd.data import REPORT

# The largest finite number of 32 bits.
LARGEST = (2 - 2**-23) * 2.0**127


@ti.func
def for_each(s: ti.template(), count: ti.template(), phase: ti.template(), substep, world):
    """Run a phase for each of `count` items: of `world` by this thread, or of all worlds by all threads."""
    for item in range(count):
        if ti.static(s.features.shared):
            # An ndrange over items and worlds would divide, and a division costs more than Verlet.
            for each_world in range(count_worlds(s)):
                phase(s, substep, item, each_world)
        else:
            phase(s, substep, item, world)


@ti.func
def project_each(s: ti.template(), count: ti.template(), project: ti.template(), substep, world):
    """Run a phase that returns a violation for each of `count` items.

    Returns: the largest violation if one thread does all; otherwise zero, and the largest is in the report.
    """
    worst = 0.0
    for item in range(count):
        if ti.static(s.features.shared):
            for each_world in range(count_worlds(s)):
                report_violation(s, project(s, substep, item, each_world), each_world)
        else:
            worst = ti.max(worst, project(s, substep, item, world))
    return worst


@ti.func
def for_each_world(s: ti.template(), phase: ti.template(), substep, world):
    """Run a function (s, substep, world) for `world` by this thread, or for each world by a thread."""
    if ti.static(s.features.shared):
        for index in range(s.counts.worlds * s.features.loop_stride):
            if index % s.features.loop_stride == 0:
                phase(s, substep, index // s.features.loop_stride)
                count_last_turns(s.report, REPORT.last_turns, index // s.features.loop_stride)
    else:
        phase(s, substep, world)


@ti.func
def project_each_world(s: ti.template(), project: ti.template(), substep, world):
    """Run a function (s, substep, world) that returns a violation, for `world` by this thread, or each by a thread.

    Returns: see `project_each`.
    """
    worst = 0.0
    if ti.static(s.features.shared):
        for index in range(s.counts.worlds * s.features.loop_stride):
            if index % s.features.loop_stride == 0:
                each_world = index // s.features.loop_stride
                report_violation(s, project(s, substep, each_world), each_world)
                count_last_turns(s.report, REPORT.last_turns, each_world)
    else:
        worst = project(s, substep, world)
    return worst


@ti.func
def count_worlds(s: ti.template()):
    """Number of worlds. If there is one, the compiler knows."""
    count = 1
    if ti.static(not s.features.one_world):
        count = s.counts.worlds
    return count


@ti.func
def world_of(s: ti.template(), index):
    """The world with an index, which is zero if there is one. The compiler knows it then."""
    world = 0
    if ti.static(not s.features.one_world):
        world = index
    return world


@ti.func
def input_rows(s: ti.template(), substep):
    """Rows of `s.inputs` at the start and at the end of a substep. If nothing moves, a single row serves all."""
    last = s.inputs.shape[0] - 1
    return ti.min(substep, last), ti.min(substep + 1, last)


@ti.func
def report_violation(s: ti.template(), violation, world):
    """Keep the largest violation of this iteration in the report, if there is a tolerance to compare it with."""
    if ti.static(s.features.has_tolerance):
        ti.atomic_max(s.report[world, REPORT.violation], violation)


@ti.func
def is_finite(x):
    """Whether three numbers are finite, and no larger than a number of 32 bits can be."""
    result = True
    for k in ti.static(range(3)):
        result = result and ti.abs(x[k]) <= LARGEST
    return result
