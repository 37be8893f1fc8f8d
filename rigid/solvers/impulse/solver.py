"""Solver "impulse": a Model in maximal coordinates, by sequential impulses. The step is in rigid/solvers/impulse/step.py."""

import warnings

import numpy as np

from pbd.core.launch import Launch, on_cpu, read, write
from pbd.core.runtime import LOOP_STRIDE
from rigid.collision.data import array
from rigid.solvers.impulse.data import Features
from rigid.solvers.impulse.maximal import COLUMNS
from rigid.solvers.impulse.options import ImpulseOptions
from rigid.solvers.impulse.step import step_kernel
from rigid.solvers.sequential.solver import SequentialSolver

# Heavier bodies than so many times the lightest are beyond what sweeps can carry.
MOST_HEAVY = 1e4


def warn_of_ratios(model):
    """Say where masses differ so much that sweeps will be far from done."""
    masses = model.masses
    if len(masses) and masses.max() > MOST_HEAVY * masses.min():
        heavy, light = model.bodies[int(masses.argmax())], model.bodies[int(masses.argmin())]
        warnings.warn(
            f"{heavy.name!r} has {heavy.mass / light.mass:.3g} times the mass of {light.name!r}: where they meet or "
            f"are joined, impulses will be inaccurate, as sweeps converge slowly beyond {MOST_HEAVY:g}",
            UserWarning,
            stacklevel=4,
        )


class ImpulseSolver(SequentialSolver):
    """A Model by sequential impulses.

    Args: model, worlds: see rigid.solvers.base.Solver; options: those of ImpulseOptions.

    Limitations: first order in the step. Sweeps pass impulses on from body to body, so that long chains, tall stacks
    and heavy bodies on light ones take many; the errors they leave do not add up, as positions are mended. A step's
    contacts are those of its start: what spins fast past an edge may overlap for a step. Impacts of several bodies at
    once are solved at once: a row of touching balls does not pass an impact on, one of balls a little apart does. One
    thread moves one world.

    Source: Catto, Iterative Dynamics with Temporal Coherence (2005), and what rigid/solvers/impulse/step.py names.
    """

    name, Options = "impulse", ImpulseOptions

    def __init__(self, model, worlds=1, **options):
        super().__init__(model, worlds, options, COLUMNS)
        for each in self.models:
            warn_of_ratios(each)
        given = self.options
        features = Features(
            bool(self._first_row or self.model.joints or self.model.springs), self._meetings, given.gyroscopic,
            given.block, given.split_impulse, given.warm_start, given.sleep_speed > 0, self.worlds == 1,
            LOOP_STRIDE if on_cpu() else 1,
        )  # fmt: skip
        bodies = len(self.model.bodies) + 1
        self.calm = array(np.zeros((self.worlds, bodies, 2)))
        islands = array(np.zeros((self.worlds, bodies), np.int32))
        self._advance = Launch(
            step_kernel(features), *self.motion, *self.joints, *self.rows, *self._contact_arrays(), self._reach,
            self.calm, islands, self._surroundings,
        )  # fmt: skip
        self._forget()

    def _numbers(self):
        return *super()._numbers(), self.options.sleep_speed

    def _remembered(self):
        return [*super()._remembered(), self.calm]

    def _wake(self, bodies):
        calm = read(self.calm)
        calm[:, bodies] = 0.0  # the ground's, the last, is without end again in each step
        write(self.calm, calm)

    def _forget(self):
        super()._forget()
        self.calm.fill(0)
