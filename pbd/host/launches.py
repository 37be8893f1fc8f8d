"""The kernels of a particle system, and their launches."""

from functools import cache

import taichi as ti

from pbd.collision.surfaces.search import search_before_step
from pbd.core.kernels import Launch, count_last_turns, held, hidden_if, left_out, make_kernel, on_cpu
from pbd.data import REPORT, Data
from pbd.diagnostics import measure, measure_motion
from pbd.execution.phases import for_each_world
from pbd.projection import project_colour
from pbd.step import advance_world, begin_substep, end_substep, relax, relax_environment, solve_directly


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
    """The function (s, substep) that runs a phase (s, substep, world) of all worlds, shared by threads."""

    @ti.func
    def run(s: ti.template(), substep):
        phase(s, substep, 0)

    return run


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
        self._bound = cache(lambda function: Launch(kernel_of(function, features), arrays, *hooked))

    def _launch(self, function, *given):
        """Launch the kernel of a function. Args: function: see `kernel_of`; given: at each launch."""
        self._bound(function)(*given)

    def _launch_for_all_worlds(self, phase, *given):
        """Launch a phase of all worlds. Args: phase: see `for_all_worlds`; given: at each launch."""
        self._bound(for_all_worlds(phase))(*given)

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
        for substep in range(substeps):
            self._launch_for_all_worlds(begin_substep, *given, substep)
            iteration = 0
            while iteration < iterations:
                self.report[:, REPORT.violation] = 0
                with held(self.report):
                    self._iterate(given, substep, slow=(substep + 1) % settings.bending_interval == 0)
                iteration += 1
                if self.features.has_tolerance and self.report[:, REPORT.violation].max() <= settings.tolerance:
                    break
            self.report[:, REPORT.iterations] = iteration
            self._launch_for_all_worlds(end_substep, *given, substep)
            if self.report[:, REPORT.diverged_substep].max() >= 0:
                return
        if on_cpu():  # one thread sums over all particles of a world
            self._launch_for_all_worlds(end_launch, *given, substeps)

    def search_surfaces(self, inputs, settings):
        """Find the pairs on surfaces that could touch in the next step. Args: see `run`."""
        self._launch(search_worlds, *self._given(inputs, settings))

    def _iterate(self, given, substep, slow):
        """Project all constraints once, shared by threads. Args: slow: whether slow ones are due."""
        if self.schedule.name == "coloured":
            for index, begin, end in self.schedule.runs:
                if slow or not self.features.types[index].slow:
                    self._launch(project_colour(index), *given, int(begin), int(end))
            self._launch_for_all_worlds(relax_environment, *given, substep)
            if self.features.direct:
                self._launch_for_all_worlds(solve_directly, *given, substep)
        else:
            self._launch_for_all_worlds(relax_once, *given, substep)

    def measure(self, inputs, settings):
        """Write violations, contacts and elastic energies into the report. Args: see `run`."""
        self._launch(measure, *self._given(inputs, settings), 0)
        self.reports.combine()

    def _given(self, inputs, settings):
        """Arguments that change from launch to launch. Args: see `run`."""
        lanes = self.features.lanes
        report = self.report if lanes == 1 else self.report.reshape(-1, lanes, REPORT.total)
        return inputs, report, *self.counts, *settings
