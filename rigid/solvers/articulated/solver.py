"""Solver "articulated": a Model in generalised coordinates, and impulses. The step is in rigid/solvers/articulated/step.py."""

import numpy as np

from pbd.core.launch import Launch, on_cpu, read, write
from pbd.data import SPREAD
from rigid.collision.data import array
from rigid.joint import Hinge, Universal
from rigid.solvers.articulated.data import Features
from rigid.solvers.articulated.links import LinkTable
from rigid.solvers.articulated.options import ArticulatedOptions
from rigid.solvers.articulated.step import settle_kernel, step_kernel
from rigid.solvers.sequential.data import BEYOND
from rigid.solvers.sequential.solver import SequentialSolver
from rigid.worlds import models_of_worlds


class ArticulatedSolver(SequentialSolver):
    """A Model in generalised coordinates: bodies hang on one another as trees, what else holds them is impulses.

    Args: model, worlds: see rigid.solvers.base.Solver; options: those of ArticulatedOptions.

    `trees` are the links, as rigid/solvers/articulated/tree.py chose them.

    Limitations: first order in the step. Each row takes a test impulse through its trees every step, so that many
    contacts on large trees cost more than in maximal coordinates; bodies that touch are no cheaper than there. Joint
    gaps are zero but where loops are cut, and there as of the impulse solver. One thread moves one world.

    Source: [3] of docs/solvers.md, and what rigid/solvers/articulated/dynamics.py names.
    """

    name, Options = "articulated", ArticulatedOptions

    def __init__(self, model, worlds=1, **options):
        models = models_of_worlds(model)
        table = LinkTable(models, worlds if len(models) == 1 else len(models))
        super().__init__(model, worlds, options, BEYOND, table.held)
        given = self.options
        self.trees, self._table, self._links = table.links, table, table.upload()
        features = Features(
            self._first_row > 0, self._meetings, given.gyroscopic, given.velocity_products, given.block,
            given.split_impulse, given.warm_start, self.worlds == 1, SPREAD if on_cpu() else 1,
        )  # fmt: skip
        rows = self.rows.numbers.shape[1] if features.rows else 1
        self._over_speeds = [array(np.zeros((self.worlds, rows, 2 * table.most_speeds))) for _ in range(2)]
        arrays = [*self.motion, *self._links, *self.joints, *self.rows, *self._over_speeds,
                  *self._contact_arrays(), self._reach, self._surroundings]  # fmt: skip
        self._advance, self._settle = Launch(step_kernel(features), *arrays), Launch(settle_kernel(), *arrays)
        self._forget()

    def _remembered(self):
        return [self._links.coordinates, self._links.speeds, self._links.axes, *super()._remembered()]

    def _forget(self):
        """Coordinates and speeds of the bodies' poses and velocities, and poses as the joints allow them.

        Velocities stay as they are given: those of a state are half a step behind its poses, and the next step takes of
        them what the joints allow.
        """
        super()._forget()
        coordinates = self._table.coordinates_of(read(self.motion.poses)[:, :-1].astype(float))
        write(self._links.coordinates, coordinates)
        velocities = read(self.motion.velocities)
        self._settle(self._report, self._h, *map(float, self._numbers()), 0, 0, 0, 0)
        write(self.motion.velocities, velocities)

    def _angles(self):
        values = read(self._links.coordinates).astype(float)
        found = {}
        for k, link in enumerate(self.trees):
            joint = None if link.joint is None else self.model.joints[link.joint]
            if isinstance(joint, (Hinge, Universal)):
                angles = values[:, self._table.coordinates[k] : self._table.coordinates[k + 1]]
                angles = -angles[:, ::-1] if link.reversed else angles
                angles = angles[:, 0] if isinstance(joint, Hinge) else angles
                found[joint.name] = angles[0] if self.worlds == 1 else angles
        return super()._angles() | found
