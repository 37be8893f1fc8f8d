"""Solver "impulse": a Model in maximal coordinates, by sequential impulses. The step is in rigid/impulse/step.py."""

import warnings
from typing import NamedTuple

import numpy as np

from pbd.arrays import SPREAD
from pbd.launch import Launch, on_cpu, require_taichi
from pbd.validate import finite_number, not_negative, one_of, whole
from rigid.bodies import BodySolver
from rigid.contact import tables
from rigid.contact.rows import GROUPS, ROWS
from rigid.impulse.arrays import (
    COLUMNS,
    CROWDED,
    DIVERGED_STEP,
    ERROR_LEFT,
    IMPULSE,
    INCREMENT,
    REPORTS,
    SWEEPS,
    TOUCHING,
    Features,
    Kept,
)
from rigid.impulse.step import step_kernel
from rigid.joints.table import JointTable
from rigid.motion import motion
from rigid.rows import DIRECTION, RowTable


class Statistics(NamedTuple):
    """What the last substep did; arrays (worlds,) where there are several worlds.

    iterations: sweeps; residual: largest error of a joint, limit or contact that the velocities left and that was then
    mended [m or rad]; contacts: points that had rows; increment: largest change of an impulse in the last sweep [N s].
    """

    iterations: object
    residual: object
    contacts: object
    increment: object


class Contacts(NamedTuple):
    """Points of contact of the last substep, n of them in the world asked for.

    bodies (n, 2), the second -1 for the ground; points (n, 3) on the first [m]; normals (n, 3) from the second to the
    first; gaps (n,) [m] at the substep's start; forces (n, 3) on the first, friction included [N].
    """

    bodies: np.ndarray
    points: np.ndarray
    normals: np.ndarray
    gaps: np.ndarray
    forces: np.ndarray


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


class ImpulseSolver(BodySolver):
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

    Limitations: first order in the step. Sweeps pass impulses on from body to body, so that long chains, tall stacks
    and heavy bodies on light ones take many; the errors they leave do not add up, as positions are mended. A step's
    contacts are those of its start: what spins fast past an edge may overlap for a step. Impacts of several bodies at
    once are solved at once: a row of touching balls does not pass an impact on, one of balls a little apart does. One
    thread moves one world.

    Source: Catto, Iterative Dynamics with Temporal Coherence (2005), and what rigid/impulse/step.py names.
    """

    def __init__(self, model, dt=0.01, worlds=1, *, iterations=50, tolerance=1e-6, substeps=1, warm_start=True,
                 split_impulse=True, error_reduction=None, block=True, gyroscopic="implicit",
                 restitution_threshold=0.0, sleep_speed=0.0, contacts=True, contact_capacity=None):  # fmt: skip
        require_taichi()
        super().__init__(model, dt, worlds, substeps)
        self.iterations = whole("iterations", iterations, least=0)
        self.tolerance = not_negative("tolerance", tolerance)
        if error_reduction is None:
            error_reduction = 1.0 if split_impulse else 0.2
        self.error_reduction = finite_number("error_reduction", error_reduction)
        if not 0 <= self.error_reduction <= 1:
            raise ValueError(f"error_reduction is {self.error_reduction:g}: expected 0 <= error_reduction <= 1")
        self.restitution_threshold = not_negative("restitution_threshold", restitution_threshold)
        self.sleep_speed = not_negative("sleep_speed", sleep_speed)
        one_of("gyroscopic", gyroscopic, ("implicit", "midpoint", "explicit"))
        for each in self.models:
            warn_of_ratios(each)
        models, worlds = self.models, self.worlds
        meetings = tables.meetings(models)
        touching = contacts and any(meetings[:5])
        if not touching:
            for each in models:
                tables.refuse_grids(each)
        self.motion = motion(models, worlds)
        table = RowTable(COLUMNS, worlds)
        joints = JointTable(models, table)
        self.joints, self.first_coordinates = joints.upload(), joints.first_coordinates
        capacity = 1
        if touching:
            capacity = max(tables.default_capacity(self.model), 1)
            if contact_capacity is not None:
                capacity = whole("contact_capacity", contact_capacity)
        self._first_row, self._first_group = len(table.rows), len(table.groups)
        self.rows = table.upload(ROWS * capacity, GROUPS * capacity)
        self._contacts = tables.upload(models, worlds, capacity)
        self.points = self._contacts[1]
        shapes, bodies = max(len(self.model.shapes), 1), max(len(self.model.bodies), 1)
        self.kept = Kept(
            tables.array(np.zeros((worlds, capacity, 6))),
            tables.array(np.zeros((worlds, capacity, 3), np.int32)),
            tables.array(np.full((shapes, worlds), -1, np.int32)),
        )
        reach = tables.array(np.zeros((bodies, worlds)))
        gravity = np.broadcast_to(np.transpose([each.gravity for each in models]), (3, worlds))
        arrays = [*self.motion, *self.joints, *self.rows, *(a for group in self._contacts for a in group), *self.kept]
        one_world = worlds == 1
        features = Features(
            bool(self._first_row or len(self.model.joints) or len(self.model.springs)), meetings if touching else None,
            gyroscopic, bool(block), bool(split_impulse), bool(warm_start), self.sleep_speed > 0, one_world,
            SPREAD if on_cpu() else 1,
        )  # fmt: skip
        self.calm = tables.array(np.zeros((worlds, len(self.model.bodies) + 1, 2)))
        islands = tables.array(np.zeros((worlds, len(self.model.bodies) + 1), np.int32))
        self._advance = Launch(step_kernel(features), *arrays, reach, self.calm, islands, tables.array(gravity))
        self._report = np.zeros((worlds, REPORTS), tables.real())
        self._forget()

    def _launch(self, count):
        self._report[:, DIVERGED_STEP:] = -1
        self._advance(
            self._report, self._h, float(self.tolerance), float(self.error_reduction),
            float(self.restitution_threshold), float(self.sleep_speed), self._first_row, self._first_group, count,
            self.iterations,
        )  # fmt: skip
        if self._report[:, CROWDED].max() >= 0:
            raise RuntimeError(
                f"{int(self._report[:, CROWDED].max())} points of contact at once, more than there is room for: give "
                "the solver contact_capacity= of some more"
            )
        self._refuse_divergence(self._report[:, DIVERGED_STEP])

    def _remembered(self):
        return [self.rows.numbers, *self.kept, self.calm]

    def _wake(self, joint):
        calm = self.calm.to_numpy()
        calm[:, [joint.parent, joint.child]] = 0.0  # the ground's, the last, is without end again in each step
        self.calm.from_numpy(calm)

    def _forget(self):
        numbers = self.rows.numbers.to_numpy()
        numbers[:, :, IMPULSE] = 0.0
        self.rows.numbers.from_numpy(numbers)
        self.kept.heads.fill(-1)
        self.calm.fill(0)

    # Readings ---------------------------------------------------------------------------------------------------------

    def statistics(self):
        """Sweeps, residual, contacts and largest change of an impulse of the last substep: a Statistics."""
        sweeps, left, touching, change = (self._report[:, k] for k in (SWEEPS, ERROR_LEFT, TOUCHING, INCREMENT))
        columns = sweeps.astype(int), left, touching.astype(int), change
        return Statistics(*(column[0] if self.worlds == 1 else column.copy() for column in columns))

    def contact_forces(self, world=0):
        """Points of contact of the last substep, and the forces in them: a Contacts. Arguments: world: which."""
        count = int(self._report[world, TOUCHING])
        integers, numbers = (array.to_numpy()[world, :count] for array in self.points[:2])
        rows = self.rows.numbers.to_numpy()[world, self._first_row : self._first_row + ROWS * count]
        rows = rows.reshape(count, ROWS, rows.shape[-1]).astype(float)
        forces = np.einsum("cr,crk->ck", rows[:, :, IMPULSE], rows[:, :, DIRECTION : DIRECTION + 3]) / self._h
        return Contacts(
            integers[:, [tables.BODY_A, tables.BODY_B]], numbers[:, tables.POINT : tables.POINT + 3],
            numbers[:, tables.NORMAL : tables.NORMAL + 3], numbers[:, tables.GAP], forces,
        )  # fmt: skip
