"""Solver "impulse": a Model in maximal coordinates, by sequential impulses. The step is in rigid/solvers/impulse/step.py."""

import warnings

import numpy as np

from pbd.core.launch import Launch, on_cpu, read, require_taichi, write
from pbd.core.validate import not_negative
from pbd.data import SPREAD
from rigid.collision.data import array
from rigid.solvers.impulse.data import Features
from rigid.solvers.impulse.maximal import COLUMNS
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

    Arguments:
        model: a Model, or a list of several of one structure, each a world.
        dt, worlds, substeps: of a step [s], copies of the model, equal parts of a step with `iterations` each.
        iterations: sweeps over all rows in a substep, at most; they end when no impulse changes by more than the
            tolerance [N s].
        warm_start: begin with the last step's impulses.
        split_impulse: mend errors of position by pseudo-velocities that are forgotten after the step; else by the
            velocities, to which that adds energy (kept for comparison).
        error_reduction: the part of such an error that a substep mends, in [0, 1]; of overlap a fifth of that. None for
            all of it, or, without the split, for the fifth that leaves a chain in one piece.
        block: solve all rows of a joint together; else row by row, as the sources do.
        gyroscopic: "implicit", which loses energy; "midpoint", which keeps it; "explicit", which gains it.
        restitution_threshold: slower bodies do not rebound [m/s]; where it is less than rest gains in two steps, that.
        sleep_speed: bodies whose surfaces have been slower than this for half a second, with all that joints and
            contacts tie them to, are left alone until something moves them [m/s]; zero for never. 0.02 suits bodies of
            a metre.
        contacts: whether bodies touch. contact_capacity: most points of contact at once in a world; None for a good
            deal.
        grabs: with how many things can be held while they move, see `grab`.

    Limitations: first order in the step. Sweeps pass impulses on from body to body, so that long chains, tall stacks
    and heavy bodies on light ones take many; the errors they leave do not add up, as positions are mended. A step's
    contacts are those of its start: what spins fast past an edge may overlap for a step. Impacts of several bodies at
    once are solved at once: a row of touching balls does not pass an impact on, one of balls a little apart does. One
    thread moves one world.

    Source: Catto, Iterative Dynamics with Temporal Coherence (2005), and what rigid/solvers/impulse/step.py names.
    """

    def __init__(self, model, dt=0.01, worlds=1, *, iterations=50, tolerance=1e-6, substeps=1, warm_start=True,
                 split_impulse=True, error_reduction=None, block=True, gyroscopic="implicit",
                 restitution_threshold=0.0, sleep_speed=0.0, contacts=True, contact_capacity=None,
                 grabs=0):  # fmt: skip
        require_taichi()
        super().__init__(model, dt, worlds, substeps, iterations, tolerance, warm_start, split_impulse, error_reduction,
                         block, gyroscopic, restitution_threshold, contacts, contact_capacity, grabs,
                         COLUMNS)  # fmt: skip
        self.sleep_speed = not_negative("sleep_speed", sleep_speed)
        for each in self.models:
            warn_of_ratios(each)
        features = Features(
            bool(self._first_row or self.model.joints or self.model.springs), self._meetings, self._gyroscopic,
            self._block, self._split_impulse, self._warm_start, self.sleep_speed > 0, self.worlds == 1,
            SPREAD if on_cpu() else 1,
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
        return *super()._numbers(), self.sleep_speed

    def _remembered(self):
        return [*super()._remembered(), self.calm]

    def _wake(self, bodies):
        calm = read(self.calm)
        calm[:, bodies] = 0.0  # the ground's, the last, is without end again in each step
        write(self.calm, calm)

    def _forget(self):
        super()._forget()
        self.calm.fill(0)
