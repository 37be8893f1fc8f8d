"""Substeps whose iterations end at a limit of wall-clock time, the last criterion of source [3] of docs/solvers.md.

A kernel cannot read a clock, so each substep takes several launches: what comes before the iterations, batches of
iterations with a look at the clock after each, and what comes after. Iterations are the same as in one launch. Only
their number depends on the clock, and so results do.

Departure: the source looks at the clock after each iteration, here after each batch.
"""

import time
from functools import cache

import numpy as np
import taichi as ti

from pbd.core.kernels import Launch
from rigid.constraints.contact_rows import contact_size
from rigid.solvers.report import REPORT
from rigid.solvers.sequential.data import Step

# Iterations between two looks at the clock. A launch costs about as much as ten iterations of a small scene.
BATCH = 10

TOLERANCE = Step._fields.index("tolerance")


class TimedSubsteps:
    """The launches of a solver with a limit of time.

    Args: kernels: that begin a substep, iterate, and end a substep, see `timed_kernels`; data: their arrays; seconds:
    the limit of a substep's iterations.
    """

    def __init__(self, kernels, data, seconds):
        self.seconds = seconds
        self._launches = [Launch(kernel, data) for kernel in kernels]
        self._compiled = False

    def __call__(self, report, given, substeps, iterations):
        """Make substeps. Args: report: of the launches; given: numbers of a launch, a Step first; substeps; iterations:
        most of a substep."""
        if not self._compiled:  # compilation takes no time of the first substep
            for launch in self._launches:
                launch(report, *given, 0, 0)
            self._compiled = True
        for substep in range(substeps):
            self._make_substep(report, given, iterations)
            diverged = report[:, REPORT.diverged_substep] >= 0
            if diverged.any():
                report[diverged, REPORT.diverged_substep] = substep
                break

    def _make_substep(self, report, given, iterations):
        """Make one substep. Position correction gets the time that is left, and a batch at least."""
        begin, iterate, end = self._launches
        begin(report, *given, 1, 0)
        tolerance, done, made = given[TOLERANCE], 0, np.zeros(len(report))
        start, elapsed = time.perf_counter(), 0.0
        while done < iterations and elapsed < self.seconds and (report[:, REPORT.change] > tolerance).any():
            batch = min(BATCH, iterations - done)
            iterate(report, *given, 1, batch)
            made += report[:, REPORT.iterations]
            done += batch
            elapsed = time.perf_counter() - start
        rest = max(self.seconds - elapsed, 0.0)
        affordable = max(BATCH, int(min(rest * done / elapsed, iterations))) if done else iterations
        end(report, *given, 1, min(affordable, iterations))
        report[:, REPORT.iterations] = made


@cache
def timed_kernels(step, features):
    """Make the kernels of a substep's three parts. Args: step: the module `step` of a solver; features."""

    @ti.func
    def begin(s: ti.template(), iterations, last, world):
        step.begin_substep(s, last, world)
        s.report[world, REPORT.change] = ti.math.inf

    @ti.func
    def iterate(s: ti.template(), iterations, last, world):
        step.solve_velocities(s, count_groups(s, world), iterations, s.report[world, REPORT.change], world)

    @ti.func
    def end(s: ti.template(), iterations, last, world):
        step.end_substep(s, count_groups(s, world), iterations, last, world)

    return [step.step_kernel(features, part) for part in (begin, iterate, end)]


@ti.func
def count_groups(s: ti.template(), world):
    """How many groups of rows the substep has, after its contacts were detected."""
    groups = s.step.first_contact_group
    if ti.static(s.features.contacts):
        contacts = ti.cast(s.report[world, REPORT.contacts], int)
        groups += ti.static(contact_size(s.features.pair_types)[1]) * contacts
    return groups
