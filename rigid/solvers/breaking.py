"""Joints that break: see `break_force` of rigid.Model.

After each substep, a joint breaks for good if the force that it applies to its child, or the torque about its point,

    |F| > break_force    or    |T| > break_torque

is above its limit; both are means over the substep (Solver.joint_forces), so an impact breaks more with shorter steps.
The rows of a broken joint are idle. Its two bodies still do not collide with each other, unless `collide` is True.

Departure: a real joint breaks within the substep; here its impulse is applied in full in the one that breaks it.
"""

from functools import partial

import numpy as np

from pbd.core.arrays import read, write
from pbd.core.results import Event
from rigid.constraints.joint_forces import child_point
from rigid.constraints.joints.data import DRIVE, JOINT, DriveKind, JointKind
from rigid.constraints.rows import GROUP, Group


class Breaking:
    """The joints of a row solver that break.

    Args: models: one for all worlds, or one for each; worlds: how many; joints, rows: a Joints and a Rows of arrays;
    rows_of: a slice of rows for each joint.

    Attributes: broken: which of the joints that break are broken (n,).

    Raises: NotImplementedError with several worlds; ValueError for a gear on a joint that breaks.
    """

    def __init__(self, models, worlds, joints, rows, rows_of):
        self._model, self._rows_of = models[0], rows_of
        self._indices = [k for k, joint in enumerate(self._model.joints) if joint.breaks]
        if self._indices and worlds > 1:
            name = self._model.joints[self._indices[0]].name
            raise NotImplementedError(f"joint {name!r} breaks, in {worlds} worlds: expected one world")
        for gear in self._model.gears:
            for index in {gear.joint_a, gear.joint_b} & set(self._indices):
                name = self._model.joints[index].name
                raise ValueError(f"joint {name!r} breaks and has a gear: expected one of both")
        self.broken = np.zeros(len(self._indices), bool)
        drives_of, groups_of = (partial(within, column) for column in (DRIVE.row, GROUP.first))
        self._tables = [] if not self._indices else [
            self._table(joints.integers, JOINT.kind, JointKind.NONE, lambda values, own, index: [index]),
            self._table(joints.drives, DRIVE.kind, DriveKind.NONE, lambda values, own, _: drives_of(values, own)),
            self._table(rows.groups, GROUP.kind, Group.IDLE, lambda values, own, _: groups_of(values, own)),
        ]  # fmt: skip

    def _table(self, array, column, nothing, find):
        """What broken joints lack in an array: it, the column of kinds, the kind of what does nothing, where each joint
        has items, and their kinds when it is whole. Args: find: function (values, rows of a joint, its index)."""
        values = read(array)
        places = [find(values, self._rows_of[index], index) for index in self._indices]
        return array, column, nothing, places, [values[..., place, column] for place in places]

    def __len__(self):
        return len(self._indices)

    def break_overloaded(self, forces, state):
        """Break the joints with too much load.

        Args: forces: as from Solver.joint_forces; state: the present State.

        Returns: a list of pbd.Event; indices of the bodies that the broken joints connected.
        """
        events, bodies = [], []
        for number, index in enumerate(self._indices):
            joint = self._model.joints[index]
            force, torque = np.linalg.norm(forces[joint.name], axis=1)
            if not self.broken[number] and (force > joint.break_force or torque > joint.break_torque):
                self.broken[number] = True
                place = child_point([self._model], state, index)
                events.append(Event(state.time, "break", 0, (joint.name,), tuple(map(float, place))))
                bodies += [joint.parent, joint.child]
        if events:
            self.write()
        return events, bodies

    def restore(self, broken):
        """Break these joints, and make the others whole. Args: broken: as the attribute."""
        if not np.array_equal(self.broken, broken):
            self.broken = np.asarray(broken).astype(bool)
            self.write()

    def write(self):
        """Let the rows of broken joints be idle, and those of whole joints as at the start."""
        for array, column, nothing, places, kinds in self._tables:
            values = read(array)
            for broken, place, kind in zip(self.broken, places, kinds):
                values[..., place, column] = nothing if broken else kind
            write(array, values)


def within(column, values, own):
    """Indices of items whose first row is one of a joint's. Args: column: of rows; values: integers; own: a slice."""
    rows = values.reshape(-1, *values.shape[-2:])[0, :, column]
    return np.flatnonzero((rows >= own.start) & (rows < own.stop))
