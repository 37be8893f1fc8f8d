"""The kernels of a particle system, and their launches."""

import math
from functools import cache
from typing import NamedTuple

import taichi as ti

from pbd.collision.surfaces.search import search_before_step
from pbd.core.kernels import Launch, count_last_turns, held, hidden_if, left_out, make_kernel, on_cpu
from pbd.data import REPORT, Data
from pbd.diagnostics import measure, measure_motion
from pbd.execution.phases import for_each_world
from pbd.projection import project_colours
from pbd.step import advance_world, begin_substep, end_substep, relax, relax_environment, solve_directly

# Colours of a kernel, at most: a launch takes as long as several loops over a small cloth, but each loop is compiled.
COLOURS_PER_LAUNCH = 16


@ti.func
def advance(s: ti.template(), substeps, iterations):
    """Run substeps of all worlds, each on one thread. Step hooks are functions that are called."""
    if ti.static(s.features.one_world):
        ti.loop_config(serialize=True)
        for _ in range(1):
            advance_world(s, substeps, iterations, hidden_if(s.features.has_hooks, 0))  # 0: sticks are 3 % faster
            count_last_turns(s.report, REPORT.last_turns, 0)
    else:
        for index in range(s.counts.worlds * s.features.loop_stride):
            if index % s.features.loop_stride == 0:
                advance_world(s, substeps, iterations, hidden_if(s.features.has_hooks, index // s.features.loop_stride))
                count_last_turns(s.report, REPORT.last_turns, index // s.features.loop_stride)


@ti.func
def search_worlds(s: ti.template()):
    """Find the pairs on surfaces that could touch in the next step, each world on one thread."""
    for index in range(s.counts.worlds * s.features.loop_stride):
        if index % s.features.loop_stride == 0:
            search_before_step(s, index // s.features.loop_stride)
            count_last_turns(s.report, REPORT.last_turns, index // s.features.loop_stride)


@ti.func
def relax_once(s: ti.template(), substep, world):
    """Relax without the number of the iteration, for which only step hooks ask."""
    relax(s, substep, 0, world)


@ti.func
def end_launch(s: ti.template(), substeps, world):
    """Report the energy after all substeps of a launch, as `advance` does."""
    for_each_world(s, measure_motion, substeps, world)


@cache
def kernel_of(function, features):
    """Make a kernel of a Taichi function (s, integers ...). Args: function; features: a Features."""
    hooked = features.hooks.data if features.has_hooks else None
    return make_kernel(function, Data, features.lanes, features=features, hooked=hooked, **left_out(features))


@cache
def for_all_worlds(phase):
    """The function (s, substep, first) that runs a phase (s, substep, world) of all worlds, shared by threads."""

    @ti.func
    def run(s: ti.template(), substep, first):
        phase(s, substep, 0)

    return run


class Part(NamedTuple):
    """A part of a substep that threads share, in one launch."""

    phases: tuple  # functions (s, substep, first), which run one after another
    first: int | None = None  # of the colours that one of them projects, see `project_colours`
    is_slow: bool = False  # whether the constraints are slow ones, see ConstraintType


@cache
def in_sequence(phases):
    """The function (s, substep, first) that runs the phases of a Part."""

    @ti.func
    def run(s: ti.template(), substep, first):
        for phase in ti.static(phases):
            phase(s, substep, first)

    return run


def joined(parts):
    """Join parts into fewer launches: slow ones stay alone, and each launch has one group of colours at most."""
    launches = list(parts[:1])
    for part in parts[1:]:
        last = launches[-1]
        if part.is_slow or last.is_slow or None not in (part.first, last.first):
            launches.append(part)
        else:
            first = last.first if part.first is None else part.first
            launches[-1] = Part(last.phases + part.phases, first)
    return launches


def parts_of_iteration(features, schedule):
    """Parts that project all constraints once, shared by threads. Args: features: a Features; schedule: a Schedule."""
    if schedule.name != "coloured":
        return [Part((for_all_worlds(relax_once),))]
    groups = schedule.groups_of_colours([each.slow for each in features.types], COLOURS_PER_LAUNCH)
    last = (relax_environment, solve_directly) if features.direct else (relax_environment,)
    return [
        *(Part((project_colours(types),), first, is_slow) for types, first, is_slow in groups),
        Part(tuple(map(for_all_worlds, last))),
    ]


class Launches:
    """The kernels of a particle system, bound to its arrays. Each is made and compiled at its first launch.

    Args:
        features: a Features.
        arrays: a Data of Taichi arrays.
        counts: a Counts.
        reports: the Report that kernels read and write.
        schedule: a Schedule.
        hooked: the arrays of the step hooks, or none.
    """

    def __init__(self, features, arrays, counts, reports, schedule, *hooked):
        self.features, self.counts, self.reports, self.schedule = features, counts, reports, schedule
        self.report = reports.rows
        self._begin, self._end = (Part((for_all_worlds(each),)) for each in (begin_substep, end_substep))
        self._iteration = joined(parts_of_iteration(features, schedule))
        self._bound = cache(lambda function: Launch(kernel_of(function, features), arrays, *hooked))

    def _launch(self, function, *given):
        """Launch the kernel of a function. Args: function: see `kernel_of`; given: at each launch."""
        self._bound(function)(*given)

    def run(self, inputs, settings, substeps, iterations):
        """Run substeps, up to one in which a position stops being finite.

        Args: inputs: rows of the environment; settings: a Settings; substeps; iterations: in each substep.
        """
        given = self._given(inputs, settings)
        self.report[:, REPORT.diverged_substep :] = -1
        if not self.features.shared:
            self._launch(advance, *given, substeps, iterations)
            self.reports.combine()
            return
        launches = self._launches_of_substep(iterations)
        for substep in range(substeps):
            slow = (substep + 1) % settings.bending_interval == 0
            self.report[:, REPORT.iterations] = iterations
            if self.features.has_tolerance:
                self._run([self._begin], slow, *given, substep)
                self._iterate(slow, iterations, settings.tolerance, *given, substep)
                self._run([self._end], slow, *given, substep)
            else:
                with held(self.report):
                    self._run(launches, slow, *given, substep)
            if self.report[:, REPORT.diverged_substep].max() >= 0:
                return
        if on_cpu():  # one thread sums over all particles of a world
            self._launch(for_all_worlds(end_launch), *given, substeps, 0)

    def search_surfaces(self, inputs, settings):
        """Find the pairs on surfaces that could touch in the next step. Args: see `run`."""
        self._launch(search_worlds, *self._given(inputs, settings))

    def _launches_of_substep(self, iterations):
        """The launches of a substep without a tolerance, Parts."""
        launches = [self._begin, *iterations * self._iteration, self._end]
        return joined(launches) if iterations == 1 else launches  # joined across iterations, more would be compiled

    def _iterate(self, slow, iterations, tolerance, *given):
        """Relax up to `iterations` times, until no violation is above the tolerance. Args: see `_run`."""
        made, violation = 0, math.inf
        while made < iterations and violation > tolerance:
            self.report[:, REPORT.violation] = 0
            with held(self.report):
                self._run(self._iteration, slow, *given)
            made, violation = made + 1, self.report[:, REPORT.violation].max()
        self.report[:, REPORT.iterations] = made

    def _run(self, launches, slow, *given):
        """Launch Parts. Args: launches; slow: whether slow ones are due; given: at each launch."""
        for phases, first, is_slow in launches:
            if slow or not is_slow:
                self._launch(in_sequence(phases), *given, first or 0)

    def measure(self, inputs, settings):
        """Write violations, contacts and elastic energies into the report. Args: see `run`."""
        self._launch(measure, *self._given(inputs, settings), 0)
        self.reports.combine()

    def _given(self, inputs, settings):
        """Arguments that change from launch to launch. Args: see `run`."""
        lanes = self.features.lanes
        report = self.report if lanes == 1 else self.report.reshape(-1, lanes, REPORT.total)
        return inputs, report, *self.counts, *settings
