"""Solver "articulated": generalised coordinates, and impulses. The step is in step.py of this folder."""

from functools import cached_property

import numpy as np

from pbd.core.kernels import LOOP_STRIDE, Launch, on_cpu, read, refuse_ended_loops, write
from rigid.constraints.contact_rows import contact_size
from rigid.constraints.joint_forces import joint_forces, tree_forces
from rigid.constraints.rows import GROUP, Group
from rigid.kernels.motion import PSEUDO
from rigid.solvers.articulated.data import Data, Features
from rigid.solvers.articulated.dynamics import settle_kernel
from rigid.solvers.articulated.joint_forces import forces_of_rows, momentum_change, rows_kernel
from rigid.solvers.articulated.kernel import step_kernel
from rigid.solvers.articulated.links import START, TreeBuilder
from rigid.solvers.articulated.options import ArticulatedOptions
from rigid.solvers.energy_bound import UNDIVIDED
from rigid.solvers.report import REPORT
from rigid.solvers.sequential.data import ROW
from rigid.solvers.sequential.solver import SequentialSolver
from rigid.state import State
from rigid.worlds import models_of_worlds


class ArticulatedSolver(SequentialSolver):
    """Rigid bodies in generalised coordinates: trees of links. Impulses handle loops, limits and contacts.

    Args:
        model: a rigid.Model, or a list of models of one structure, one for each world.
        worlds: how many copies of one model run side by side.
        options: fields of ArticulatedOptions.

    Attributes: links: the trees, as rigid/solvers/articulated/spanning_trees.py chose them: a list of Link.

    Limitations: first order in the step; with `integrator="variational"` only rows are, and a tree whose links turn by
    more than about half a radian in a step loses energy. Each row passes a test impulse through its trees in every
    step, so many contacts on large trees cost more than in maximal coordinates. Joint errors are zero, except where
    loops are cut; there they are those of the solver "impulse". One thread moves one world. Bodies that follow paths
    need the integrator "semi_implicit".

    Source: [3] of docs/solvers/sources.md, and what rigid/solvers/articulated/dynamics.py names.
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
        variational = self._is_variational()
        features = Features(
            joints=self.first_contact_row > 0, rotors=bool(self.rotors),
            gears=bool(self.model.gears), pair_types=self.pair_types,
            gyroscopic="none" if variational else given.gyroscopic, velocity_products=given.velocity_products,
            variational=variational, paths=bool(self._paths.bodies), block=given.block, convergence=given.convergence,
            split_impulse=given.split_impulse, warm_start=given.warm_start,
            division=self._division() if given.velocity_products == "projected" else UNDIVIDED,
            one_world=self.worlds == 1, spread=LOOP_STRIDE if on_cpu() else 1,
        )  # fmt: skip
        self._advance = self._make_launch(step_kernel(features), features)
        if self.rotors:
            write(self.data.trees.rotors, self._trees.rotors_of(self.rotors))
        self._settle = Launch(settle_kernel(features), self.data)
        self._clear_caches()

    def _clear_caches(self):
        """Clear caches, compute coordinates and speeds from the bodies' poses and velocities, and poses from these.

        Velocities stay as they are given: those of a state are half a step behind its poses, or at their time with
        the variational integrator, and the next step takes the part of them that the joints allow.
        """
        super()._clear_caches()
        poses = read(self.data.bodies.pose)[:, :-1].astype(float)
        before = read(self.data.trees.coordinates).astype(float)  # from which angles are counted on
        write(self.data.trees.coordinates, self._trees.coordinates_of(poses, before))
        self.data.trees.speeds.fill(0)
        self.data.trees.synchronous.fill(1)
        self.data.trees.energy.fill(0)
        velocity = read(self.data.bodies.velocity)
        self._settle(self._report, *self._step())
        refuse_ended_loops(self._report, REPORT.last_turns)
        write(self.data.bodies.velocity, velocity)

    def _counted_links(self):
        """Links with counted angles: yields the columns of these in the arrays of coordinates and of joint angles, two
        arrays, and 1, or -1 for a reversed link."""
        for k, link in enumerate(self.links):
            name = None if link.joint is None else self.model.joints[link.joint].name
            if name in self.joint_reader.angles:
                columns = self._trees.first_coordinates[k] + np.array(self.model.joints[link.joint].type.angles)
                angles = np.arange(self.joint_reader.count)[self.joint_reader.angles[name]]
                yield columns[::-1] if link.reversed else columns, angles, -1 if link.reversed else 1

    def _joint_angles(self):
        found, values = super()._joint_angles(), read(self.data.trees.coordinates).astype(float)
        for columns, angles, sign in self._counted_links():
            found[:, angles] = sign * values[:, columns]
        return found

    def _count_from(self, angles):
        super()._count_from(angles)
        values = read(self.data.trees.coordinates)
        for columns, places, sign in self._counted_links():
            values[:, columns] = sign * angles[:, places]
        write(self.data.trees.coordinates, values)

    def joint_forces(self):
        """Forces and torques that joints apply to their children, see Solver.joint_forces.

        They include limits, friction, motors and springs of a joint, but not gears. They are exact for the poses of the
        last substep's start, and of first order in the step for those of now. They are zero before the first step, and
        after `set_state` or a change of the step until the next one.
        """
        worlds, bodies = self.worlds, len(self.model.bodies)
        if not self._stepped:
            zero = np.zeros((worlds, 2, 3))
            return self._by_world({joint.name: zero.copy() for joint in self.model.joints})
        starts = read(self.data.trees.starts)[:, :bodies].astype(float)
        position, rotation, free = np.split(starts, (START.rotation, START.linear), axis=2)
        velocity = read(self.data.bodies.velocity)[:, :bodies, :PSEUDO].astype(float)
        start = self._state_at(position, rotation)
        kinds, groups, numbers = self._rows_at(starts[..., : START.linear])
        efforts = self._row_efforts(numbers)
        found = joint_forces(self.models, start, numbers, efforts, self._rows_of_joints)
        # Rows of a joint in a tree act inside the joint, so the balance contains them already.
        for index in self._trees.closed:
            efforts[:, self._rows_of_joints[index]] = 0.0
        forces, torques = momentum_change(self.models, rotation, *np.split((velocity - free) / self._h, 2, axis=2))
        of_rows = forces_of_rows(kinds, groups, numbers, efforts, bodies + 1)
        forces, torques = forces - of_rows[0][:, :bodies], torques - of_rows[1][:, :bodies]
        torques += np.cross(position, forces)  # about the origin
        return self._by_world(found | tree_forces(self.models, start, self._trees.closed, forces, torques))

    def _state_at(self, position, rotation):
        """A State of poses (worlds, bodies, ...), at rest."""
        first = 0 if self.worlds == 1 else slice(None)
        rest = np.zeros_like(position)
        return State(*(array[first] for array in (position, rotation, rest, rest)))

    def _rows_at(self, poses):
        """Kinds, groups and rows of the last substep, those of joints at given poses. Args: poses (worlds, bodies, 7).

        Position correction has written the rows of joints at other poses, so they are written again for a moment.
        """
        data = self.data
        arrays = [data.bodies.pose, data.joints.coordinates, data.rows.numbers, data.rows.kinds]
        kept = [read(array) for array in arrays]
        if self.has_joint_rows:
            write(data.bodies.pose, np.concatenate([poses, kept[0][:, -1:]], axis=1))
            self._write_rows(self._report, *self._step())
            refuse_ended_loops(self._report, REPORT.last_turns)
        kinds, groups, numbers = read(data.rows.kinds), read(data.rows.groups), read(data.rows.numbers).astype(float)
        for array, values in zip(arrays, kept):
            write(array, values)
        per_contact = contact_size(self.pair_types)[1] if self.pair_types else 0
        ends = self.first_contact_group + per_contact * self._report[:, REPORT.contacts].astype(int)
        groups[np.arange(groups.shape[1]) >= ends[:, None], GROUP.count] = 0
        groups[kinds == Group.IDLE, GROUP.count] = 0
        return kinds, groups, numbers

    @cached_property
    def _write_rows(self):
        return Launch(rows_kernel(), self.data)
