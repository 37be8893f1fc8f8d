"""Solver "articulated": generalised coordinates, and impulses. The step is in step.py of this folder."""

from pbd.core.arrays import read, write
from pbd.core.kernels import Launch
from pbd.core.runtime import LOOP_STRIDE, on_cpu
from rigid.solvers.articulated.data import Data, Features
from rigid.solvers.articulated.links import TreeBuilder
from rigid.solvers.articulated.options import ArticulatedOptions
from rigid.solvers.articulated.step import settle_kernel, step_kernel
from rigid.solvers.sequential.data import ROW
from rigid.solvers.sequential.solver import SequentialSolver
from rigid.worlds import models_of_worlds


class ArticulatedSolver(SequentialSolver):
    """Rigid bodies in generalised coordinates: trees of links. Impulses handle loops, limits and contacts.

    Args:
        model: a rigid.Model, or a list of models of one structure, one for each world.
        worlds: how many copies of one model run side by side.
        options: fields of ArticulatedOptions.

    Attributes: links: the trees, as rigid/solvers/articulated/spanning_trees.py chose them: a list of Link.

    Limitations: first order in the step. Each row passes a test impulse through its trees in every step, so many
    contacts on large trees cost more than in maximal coordinates. Joint errors are zero, except where loops are cut;
    there they are those of the solver "impulse". One thread moves one world.

    Source: [3] of docs/solvers.md, and what rigid/solvers/articulated/dynamics.py names.
    """

    name, Options = "articulated", ArticulatedOptions
    declaration, row_columns = Data, ROW.total

    def __init__(self, model, worlds=1, **options):
        models = models_of_worlds(model)
        self._trees = TreeBuilder(models, worlds if len(models) == 1 else len(models))
        self.links = self._trees.links
        super().__init__(
            model, worlds, options, self._trees.closed, {"trees": self._trees.allocate()},
            jacobian_columns=2 * int(self._trees.most_speeds),
        )  # fmt: skip
        given = self.options
        features = Features(
            joints=self.first_contact_row > 0, pair_types=self.pair_types, gyroscopic=given.gyroscopic,
            velocity_products=given.velocity_products, block=given.block, split_impulse=given.split_impulse,
            warm_start=given.warm_start, one_world=self.worlds == 1, spread=LOOP_STRIDE if on_cpu() else 1,
        )  # fmt: skip
        self._advance = Launch(step_kernel(features), self.data)
        self._settle = Launch(settle_kernel(), self.data)
        self._clear_caches()

    def _clear_caches(self):
        """Clear caches, compute coordinates and speeds from the bodies' poses and velocities, and poses from these.

        Velocities stay as they are given: those of a state are half a step behind its poses, and the next step takes
        the part of them that the joints allow.
        """
        super()._clear_caches()
        poses = read(self.data.bodies.pose)[:, :-1].astype(float)
        write(self.data.trees.coordinates, self._trees.coordinates_of(poses))
        velocity = read(self.data.bodies.velocity)
        self._settle(self._report, *self._step())
        write(self.data.bodies.velocity, velocity)

    def _joint_angles(self):
        values = read(self.data.trees.coordinates).astype(float)
        found = {}
        for k, link in enumerate(self.links):
            joint = None if link.joint is None else self.model.joints[link.joint]
            if joint is not None and joint.counted_angles:
                first, end = self._trees.first_coordinates[k], self._trees.first_coordinates[k + 1]
                angles = values[:, first:end]
                found[joint.name] = self._as_position(-angles[:, ::-1] if link.reversed else angles)
        return super()._joint_angles() | found

    def joint_forces(self):
        """Forces and torques that joints apply to their children, see Solver.joint_forces.

        Raises: NotImplementedError if a joint is in a tree: no row keeps it closed, so it has no impulse.
        """
        if self._trees.closed:
            joint = self.model.joints[min(self._trees.closed)].name
            raise NotImplementedError(
                f"joint {joint!r} is kept closed by its coordinates, without an impulse: use solver \"impulse\" for "
                "joint forces"
            )
        return super().joint_forces()
