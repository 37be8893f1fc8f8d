"""What solvers on rows have alike: rows of joints and of contacts, and what they tell of a step."""

import numpy as np

from pbd.core.launch import read, write
from pbd.core.runtime import real_type
from pbd.core.validate import finite_vector, not_negative, one_grab, one_of, positive, whole
from rigid.collision.data import array
from rigid.collision.setup import collision_arrays, default_capacity, pair_types, refuse_mesh_colliders
from rigid.constraints.contact_forces import contact_forces
from rigid.constraints.contact_rows import size
from rigid.constraints.joints.place import ANCHOR_I, TRIAD_I
from rigid.constraints.joints.table import BODY_J as BODY
from rigid.constraints.joints.table import JointTable
from rigid.constraints.rows import BODY_J, DAMPING, IDLE, KIND, LOCK, STIFFNESS, RowTable
from rigid.kernels.motion import motion
from rigid.names import look_up
from rigid.solvers.base import BodySolver
from rigid.solvers.report import CROWDED, DIVERGED_STEP, REPORTS, TOUCHING


class RowSolver(BodySolver):
    """A BodySolver that moves bodies by rows of joints and contacts (rigid/constraints/rows.py).

    Arguments: model, dt, worlds, substeps: as of a BodySolver; gyroscopic: "implicit", "midpoint" or "explicit"
    (rigid/kernels/motion.py); contacts: whether bodies touch; contact_capacity: most points of contact at once in a world, None
    for a good deal; grabs: how many; columns: of a row, the solver's own included; held: joints that coordinates hold
    together, which have no rows for that.

    Attributes: motion, joints, rows, points: Taichi arrays; `_meetings`: what can meet, None where nothing does;
    `_capacity`: room for points of contact, one where nothing meets.

    Subclasses have, besides what a BodySolver asks for, `_efforts(rows)`: the effort of each of some rows [N].
    """

    def __init__(self, model, dt, worlds, substeps, gyroscopic, contacts, contact_capacity, grabs, columns, held=()):
        super().__init__(model, dt, worlds, substeps)
        one_of("gyroscopic", gyroscopic, ("implicit", "midpoint", "explicit"))
        models, worlds = self.models, self.worlds
        meetings = pair_types(models)
        self._meetings, self._capacity = None, 1
        if contacts and meetings.any_pair:
            self._meetings, self._capacity = meetings, max(default_capacity(self.model), 1)
            if contact_capacity is not None:
                self._capacity = whole("contact_capacity", contact_capacity)
        else:
            for each in models:
                refuse_mesh_colliders(each)
        self.motion = motion(models, worlds)
        table = RowTable(columns, worlds)
        joints = JointTable(models, table, held, whole("grabs", grabs, least=0))
        self.joints, self.first_coordinates = joints.upload(), joints.first_coordinates
        self._grabs, self._holding = joints.grabs, {}
        self._first_row, self._first_group = len(table.rows), len(table.groups)
        self._rows_of_contact, groups = size(meetings)
        self.rows = table.upload(self._rows_of_contact * self._capacity, groups * self._capacity)
        self._contacts = collision_arrays(models, worlds, self._capacity)
        self.points = self._contacts[1]
        self._reach = array(np.zeros((len(self.model.bodies), worlds)))
        self._report = np.zeros((worlds, REPORTS), real_type())

    # Hands ------------------------------------------------------------------------------------------------------------

    def grab(self, grab, body, point, target, stiffness, damping=0.0):
        """Pull a point of a body to a place by a spring, from the next step on and in all worlds; again, to move on.

        Arguments: grab: which, of as many as the solver has; body: index or name; point: in the body's frame (3,) [m];
        target: in the world (3,) [m]; stiffness [N/m]; damping [N s/m]. A state does not remember what is held.
        """
        grab = self._grabs[one_grab(grab, len(self._grabs))]
        body = look_up("held body", body, self.model.bodies, "body")
        target, point = finite_vector("target of a grab", target), finite_vector("held point", point)
        spring = positive("stiffness of a grab", stiffness), not_negative("damping of a grab", damping)
        if self._holding.get(grab) != (body, *spring):
            self._holding[grab] = (body, *spring)
            self._put_grab(grab)
        numbers = read(self.joints.numbers)
        numbers[:, grab.joint, ANCHOR_I:TRIAD_I] = [*target, *point]  # the ground's frame is the world's
        write(self.joints.numbers, numbers)
        self._wake([body])

    def release(self, grab):
        """Hold nothing any more. Arguments: grab: which."""
        grab = self._grabs[one_grab(grab, len(self._grabs))]
        if self._holding.pop(grab, None):
            self._put_grab(grab)

    def _put_grab(self, grab):
        """Tie the rows of a grab to what it holds."""
        body, *spring = self._holding.get(grab, (0, 0.0, 0.0))
        kind = LOCK if grab in self._holding else IDLE
        for table, at, given in (
            (self.joints.integers, (grab.joint, BODY), body),
            (self.rows.groups, (slice(None), grab.group, [KIND, BODY_J]), [kind, body]),
            (self.rows.numbers, (slice(None), slice(grab.row, grab.row + 3), [STIFFNESS, DAMPING]), spring),
        ):
            values = read(table)
            values[at] = given
            write(table, values)

    def _recall(self, state):
        found = super()._recall(state)
        for grab in self._holding if found else ():
            self._put_grab(grab)  # among what is remembered are all numbers of rows
        return found

    def _contact_arrays(self):
        """Taichi arrays of contacts: shapes, points, broad phase."""
        return [each for group in self._contacts for each in group]

    def _refuse_failure(self):
        """Raise where the last launch had too many points of contact, or stopped being finite."""
        crowd = int(self._report[:, CROWDED].max())
        if crowd >= 0:
            raise RuntimeError(
                f"{crowd} points of contact at once, more than there is room for: give the solver contact_capacity= of "
                "some more"
            )
        self._refuse_divergence(self._report[:, DIVERGED_STEP])

    def _clear_rows(self, columns):
        """Forget what rows have in these columns."""
        numbers = read(self.rows.numbers)
        numbers[:, :, columns] = 0.0
        write(self.rows.numbers, numbers)

    def set_state(self, state):
        """Put bodies elsewhere, as BodySolver.set_state has it; what the last step did is told no longer."""
        super().set_state(state)
        self._report[:] = 0.0

    # Readings ---------------------------------------------------------------------------------------------------------

    def contact_forces(self, world=0):
        """Points of contact of the last substep, and the forces in them: a Contacts. Arguments: world: which."""
        count, first = int(self._report[world, TOUCHING]), self._first_row
        rows = read(self.rows.numbers)[world, first : first + self._rows_of_contact * count]
        rows = rows.reshape(count, self._rows_of_contact, rows.shape[-1])
        points = [read(array)[world, :count] for array in self.points[:2]]
        return contact_forces(points, rows, self._efforts(rows))

    def _reported(self, *columns):
        """Columns of the report: numbers, or arrays (worlds,) where there are several worlds."""
        found = [self._report[:, column] for column in columns]
        return [column[0] if self.worlds == 1 else column.copy() for column in found]
