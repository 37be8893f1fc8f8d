"""How long a launch may be on a graphics card, and whether a driver has ended a loop too early.

Drivers stop a launch that takes seconds. Mesa's software driver (llvmpipe) also ends loops, without an error, when a
thread has made 65,535 turns in one loop over threads. The turns of all loops of the thread count together, nested ones
too, and each loop makes one turn more than its body has runs. So a launch makes few substeps on a graphics card, and
threads check at their end whether loops still run.
"""

import math
from functools import cache

import taichi as ti

from pbd.core.kernels.runtime import on_cpu, present_program

# Turns that a thread can make of every driver but those that end loops.
MANY = 1 << 17

# A launch should take less time, so that no driver stops it and the user can interrupt [s].
SHORT, LONG = 0.05, 0.1

ENDED = (
    "the driver of the GPU ended a loop, because a thread made too many turns in one launch: expected fewer items or "
    "iterations, or --device cpu"
)


@ti.func
def make_turns(most):
    """Make turns of a loop. Args: most: how many. Returns: how many the driver let it make, which is one at least."""
    made = 0
    while made < most:
        made += 1
    return made


@ti.kernel
def make_turns_alone(most: int) -> int:
    """Make turns of a loop in a launch of their own: see `make_turns`."""
    made = 0
    for _ in range(1):
        made = make_turns(most)
    return made


@cache
def ends_loops_of(program):
    """Whether a driver ends loops. Args: program: see `present_program`."""
    return program is not None and not on_cpu() and make_turns_alone(MANY) < MANY


def refuse_ended_loops(report, column):
    """Raise RuntimeError if a driver has ended a loop since the last call.

    Args: report: (worlds, columns) of the launches since; column: in which threads counted, see `count_last_turns`.
    """
    if ends_loops():
        turns = report[:, column].copy()
        report[:, column] = 0.0
        if (turns % report.shape[1]).any():
            raise RuntimeError(ENDED)


def ends_loops():
    """Whether the driver of the present program ends loops."""
    return ends_loops_of(present_program())


@ti.func
def count_last_turns(report: ti.template(), column: ti.template(), world):
    """Add as many ones to a column of the report as it has columns, in the last loop of this thread.

    Once a driver ends loops, each makes one turn only: see `refuse_ended_loops`. The ones are added in memory, because
    compilers know that a loop makes all its turns. Nothing is compiled for other devices.
    """
    if ti.static(ends_loops()):
        for _ in range(report.shape[1]):
            ti.atomic_add(report[world, column], 1.0)


class LaunchLength:
    """How many substeps a launch makes: all on a processor; on a graphics card as many as take a short time.

    A driver that ends loops gets one substep a launch.
    """

    def __init__(self):
        self._most = math.inf if on_cpu() else 1
        self._adapts = not on_cpu() and not ends_loops()

    def limited(self, substeps, interval=1):
        """How many substeps the next launch makes.

        Args: substeps: at most; interval: of which it is a multiple, unless all of them are made.
        """
        if substeps <= self._most:
            return substeps
        return min(substeps, max(self._most // interval, 1) * interval)

    def adapt(self, substeps, seconds):
        """Choose the length of the next launch. Args: substeps, seconds: of the last launch."""
        if self._adapts and seconds > LONG:
            self._most = max(substeps // 2, 1)
        elif self._adapts and seconds < SHORT and substeps >= self._most:
            self._most *= 2
