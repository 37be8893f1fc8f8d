"""Substeps of worlds: one thread moves one world, but for the threads of rigid/solvers/impulse/coloured."""

import taichi as ti

from pbd.core.kernels import count_last_turns, ends_loops, hidden_if
from rigid.kernels.motion import is_finite
from rigid.solvers.adaptive_substeps import advance_in_parts
from rigid.solvers.energy_bound import LARGEST_RISE, is_trouble, report_rise
from rigid.solvers.report import REPORT
from rigid.solvers.sequential.sleep import all_will_sleep

# Threads that share one world, at most.
MOST_THREADS = 4


def over_worlds(advance_substep, scale_impulses, features):
    """Make a Taichi function (s, substeps, number, first) that makes substeps of worlds, of each until it diverges.

    They are all worlds, or with a driver that ends loops the world `first` (see `first_worlds`).

    Args:
        advance_substep, scale_impulses: see `world_advancer`.
        features: with `one_world` and `spread`, the distance of two worlds in the parallel loop
            (pbd.core.kernels.runtime.LOOP_STRIDE).
    """
    advance_world = world_advancer(advance_substep, scale_impulses, features)

    @ti.func
    def advance(s: ti.template(), substeps, number, first):
        if ti.static(features.one_world):
            ti.loop_config(serialize=True)
            for world in range(1):
                advance_world(s, substeps, number, world)
                count_last_turns(s.report, REPORT.last_turns, world)
        elif ti.static(ends_loops()):
            ti.loop_config(serialize=True)
            for world in range(first, first + 1):
                advance_world(s, substeps, number, world)
                count_last_turns(s.report, REPORT.last_turns, world)
        else:
            for turn in range(s.report.shape[0] * features.spread):
                if turn % features.spread == 0:
                    advance_world(s, substeps, number, turn // features.spread)
                    count_last_turns(s.report, REPORT.last_turns, turn // features.spread)

    return advance


def first_worlds(worlds):
    """The first world of each launch: one launch makes substeps of all, or of one with a driver that ends loops.

    That driver is Mesa's software driver (pbd/core/kernels/launch_length.py). It compiles the kernel for threads side
    by side in minutes, and for one thread in seconds. Args: worlds: how many.
    """
    return range(worlds if ends_loops() else 1)


def world_advancer(advance_substep, scale_impulses, features):
    """Make a Taichi function (s, substeps, number, world) that makes substeps of a world until it diverges.

    Args:
        advance_substep: a Taichi function (s, number, last, world); last: whether it is the last substep of the launch.
        scale_impulses: see rigid/solvers/adaptive_substeps.py.
        features: of the kernel.
    """
    calls = features.contacts  # called functions write what is read here

    @ti.func
    def advance_world(s: ti.template(), substeps, number, index):
        world = hidden_if(calls, index)
        for substep in range(substeps):
            if s.report[world, REPORT.diverged_substep] < 0:
                if ti.static(features.sleeping):
                    asleep = all_will_sleep(s, world)
                    if not asleep or s.sleep.all_slept[world] == 0:
                        # What is read of contacts stays until a body wakes.
                        make_substep(s, number, substep, asleep or substep == substeps - 1, world)
                        s.sleep.all_slept[world] = ti.cast(asleep, ti.i32)
                else:
                    make_substep(s, number, substep, substep == substeps - 1, world)

    @ti.func
    def make_substep(s: ti.template(), number, substep, last, world):
        """Make a substep, in parts where it needs them, and report what is wrong then."""
        if ti.static(features.division.divides()):
            advance_in_parts(s, advance_substep, scale_impulses, number, last, world)
        else:
            advance_substep(s, number, last, world)
            report_rise(s, world)
        if is_trouble(s.report[world, REPORT.rise], s.report[world, REPORT.gap]):
            if s.report[world, REPORT.risen_substep] < 0:
                s.report[world, REPORT.risen_substep] = ti.cast(substep, float)
            if s.report[world, REPORT.rise] > LARGEST_RISE:
                s.report[world, REPORT.diverged_substep] = ti.cast(substep, float)
        for body in range(s.bodies.pose.shape[1] - 1):
            if not is_finite(s.bodies, body, world):
                s.report[world, REPORT.diverged_substep] = ti.cast(substep, float)

    return advance_world
