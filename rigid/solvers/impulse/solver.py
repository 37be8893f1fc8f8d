"""Solver "impulse": bodies in maximal coordinates, by sequential impulses. The step is in step.py of this folder."""

import warnings

import numpy as np

from pbd.core.kernels import LOOP_STRIDE, arrays_of, choose_lanes, on_cpu, read, write
from pbd.core.kernels.mode import KERNELS
from rigid.names import GROUND
from rigid.solvers.energy_bound import UNDIVIDED
from rigid.solvers.impulse import coloured
from rigid.solvers.impulse.data import FREE, ROW, Data, Features
from rigid.solvers.impulse.kernel import step_kernel
from rigid.solvers.impulse.lanes import COSTS, why_no_lanes
from rigid.solvers.impulse.options import ImpulseOptions
from rigid.solvers.report import EVENTS, NOTHING
from rigid.solvers.sequential.solver import SequentialSolver
from rigid.worlds import models_of_worlds

# Above this ratio of masses a UserWarning is given.
LARGE_MASS_RATIO = 1e4


class ImpulseSolver(SequentialSolver):
    """Rigid bodies by sequential impulses in maximal coordinates.

    Args:
        model: a rigid.Model, or a list of models of one structure, one for each world.
        worlds: how many copies of one model run side by side.
        options: fields of ImpulseOptions.

    Limitations: first order in the step; with `integrator="variational"` only rows other than hard joints are, and what
    whips may lose energy. That integrator needs bodies without paths, and no sleep. Iterations pass impulses on from
    body to body, so long chains, tall stacks and heavy bodies on light ones need many of them. The errors that they
    leave do not add up, because positions are corrected. Contacts are found at the start of a step: a body that spins
    fast past an edge may overlap for a step. Simultaneous impacts are solved at once: a row of touching balls does not
    pass an impact on, but a row of balls with small gaps does. One thread moves one world, unless contacts are
    `coloured`.

    Source: Catto, Iterative Dynamics with Temporal Coherence (2005), and what rigid/solvers/impulse/step.py names.
    """

    name, Options = "impulse", ImpulseOptions
    declaration, row_columns = Data, ROW.total
    _lacks_readings = False

    def __init__(self, model, worlds=1, **options):
        first = models_of_worlds(model)[0]
        values = {"assemblies": find_assemblies(first)}
        super().__init__(model, worlds, options, values=values)
        for each in self.models:
            warn_of_mass_ratio(each)
        given = self.options
        variational = self._is_variational()
        features = Features(
            joints=self.has_joint_rows, rotors=bool(self.rotors),
            gears=bool(self.model.gears), pair_types=self.pair_types,
            gyroscopic="none" if variational else given.gyroscopic, variational=variational,
            small_steps=given.small_steps, block=given.block,
            convergence=given.convergence, split_impulse=given.split_impulse, warm_start=given.warm_start,
            sleeping=given.sleep_speed > 0,
            division=self._division(), one_world=self.worlds <= self.lanes, spread=LOOP_STRIDE if on_cpu() else 1,
            lanes=self.lanes, packs=self.packs,
        )  # fmt: skip
        if given.coloured and self.pair_types is not None:
            springs = [(spring.a, spring.b) for spring in first.springs]
            self._share = coloured.Sharing(self, find_assemblies(first, springs)["of_body"])
            kernel, more = coloured.step_kernel(features, self._share.threads), self._share.arrays
        else:
            kernel, more = step_kernel(features), ()
        self._advance = self._make_launch(kernel, features, *more)
        self._clear_assemblies()

    def _has_packs(self):
        """Whether contacts lie in packs (packs.py): with many shapes, and most options."""
        given, types = self.options, self.pair_types
        many = types is not None and types.hashed and not types.rolling_and_spinning and self.lanes == 1
        default = given.integrator == "semi_implicit" and given.split_impulse and given.convergence == "impulses"
        sleeping_colours = given.sleep_speed > 0 and given.coloured
        return KERNELS == "quick" and on_cpu() and many and default and not sleeping_colours

    def _has_small_steps(self):
        return self.options.small_steps > 0

    def _choose_lanes(self):
        reason = why_no_lanes(self.options, self.pair_types)
        return choose_lanes(self.options.lanes, self.worlds, reason, costs=COSTS)

    def set_state(self, state):
        """Set poses and velocities, see Solver.set_state."""
        super().set_state(state)
        self._lacks_readings = bool(read(self.data.sleep.all_slept).any())

    def _launch(self, count):
        if self._lacks_readings:
            self._lacks_readings = False
            self._read_sleepers()
        super()._launch(count)

    def _read_sleepers(self):
        """Find what can be read of contacts in worlds that sleep, whose substeps are left out, and change nothing."""
        arrays = arrays_of(self.data, kept=True)
        values = [read(array) for array in arrays]
        self.data.sleep.all_slept.fill(0)
        self._advance(self._report, self._numbers(), 1, self.options.iterations)
        self._report[:, EVENTS] = NOTHING
        for array, each in zip(arrays, values):
            write(array, each)

    def _numbers(self):
        return *super()._numbers(), self.options.sleep_speed

    def _wake(self, bodies, world=slice(None)):
        timers = read(self.data.sleep.timers)
        timers[world, bodies] = 0.0  # the ground's, the last, is set in each step
        write(self.data.sleep.timers, timers)

    def _set_options(self, options):
        changed = (options.dt, options.substeps) != (self.dt, self.substeps)
        super()._set_options(options)
        if changed:  # velocities half a step of another length behind the poses are of no use, nor are impulses
            self.data.assemblies.synchronous.fill(1)
            self._wake(range(len(self.model.bodies)))

    @property
    def _time_of_impulses(self):
        return self._h / max(self.options.small_steps, 1)

    def _division(self):
        return UNDIVIDED if self.options.small_steps else super()._division()

    def _row_efforts(self, rows):
        return (rows[..., ROW.impulse] + rows[..., ROW.correction]) / self._h

    def _clear_caches(self):
        super()._clear_caches()
        self._clear_columns(ROW.correction)
        self._clear_assemblies()

    def _clear_assemblies(self):
        """Let the next substep start from velocities at the time of the poses."""
        self.data.assemblies.state.fill(FREE)
        self.data.assemblies.work.fill(0)
        self.data.assemblies.energy.fill(0)
        self.data.assemblies.synchronous.fill(1)
        self.data.sleep.timers.fill(0)
        self.data.sleep.all_slept.fill(0)


def find_assemblies(model, springs=()):
    """Find the bodies that joints and gears connect; the ground connects nothing.

    Args: model: a rigid.Model; springs: more pairs of bodies that are connected. Returns: {"of_body": the first body of
    each body's assembly (bodies + 1,)}, for the ground its own index.
    """
    first = np.arange(len(model.bodies) + 1)
    pairs = [*springs, *((joint.parent, joint.child) for joint in model.joints)]
    pairs += [(model.joints[gear.joint_a].child, model.joints[gear.joint_b].child) for gear in model.gears]
    for a, b in pairs:
        if GROUND not in (a, b):
            low, high = sorted((first[a], first[b]))
            first[first == high] = low
    return {"of_body": first}


def warn_of_mass_ratio(model):
    """Warn if masses differ so much that the iterations will not converge. Args: a rigid.Model."""
    bodies = sorted((body for body in model.bodies if body.path is None), key=lambda body: body.mass)
    if bodies and bodies[-1].mass > LARGE_MASS_RATIO * bodies[0].mass:
        light, heavy = bodies[0], bodies[-1]
        warnings.warn(
            f"{heavy.name!r} has {heavy.mass / light.mass:.3g} times the mass of {light.name!r}: impulses between such "
            f"bodies are inaccurate, as iterations converge slowly above a ratio of {LARGE_MASS_RATIO:g}",
            UserWarning,
            stacklevel=4,
        )
