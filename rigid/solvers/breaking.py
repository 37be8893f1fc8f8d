"""Joints that break: see `break_force` of rigid.Model.

After each substep, a joint breaks for good if the force that it applies to its child, or the torque about its point,

    |F| > break_force    or    |T| > break_torque

is above its limit; both are means over the substep (Solver.joint_forces), so an impact breaks more with shorter steps.
The rows of a broken joint are idle. Its two bodies still do not collide with each other, unless `collide` is True.

Departure: a real joint breaks within the substep; here its impulse is applied in full in the one that breaks it.
"""

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
        self._model = models[0]
        self._indices = [k for k, joint in enumerate(self._model.joints) if joint.breaks]
        if self._indices and worlds > 1:
            name = self._model.joints[self._indices[0]].name
            raise NotImplementedError(f"joint {name!r} breaks, in {worlds} worlds: expected one world")
        for gear in self._model.gears:
            for index in {gear.joint_a, gear.joint_b} & set(self._indices):
                name = self._model.joints[index].name
                raise ValueError(f"joint {name!r} breaks and has a gear: expected one of both")
        self.broken = np.zeros(len(self._indices), bool)
        own = [rows_of[index] for index in self._indices]
        # Arrays whose items have kinds: where a broken joint has items, and the kind of what does nothing.
        self._tables = [] if not own else [
            table(joints.integers, JOINT.kind, JointKind.NONE, [[index] for index in self._indices]),
            table(joints.drives, DRIVE.kind, DriveKind.NONE, within(read(joints.drives)[:, DRIVE.row], own)),
            table(rows.groups, GROUP.kind, Group.IDLE, within(read(rows.groups)[0, :, GROUP.first], own)),
        ]  # fmt: skip

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


def table(array, column, nothing, places):
    """What `Breaking.write` needs of an array, with the kinds at the places of each joint while it is whole."""
    values = read(array)
    return array, column, nothing, places, [values[..., place, column] for place in places]


def within(rows, slices):
    """Which items belong to each joint. Args: rows: the first row of each item; slices: the rows of each joint."""
    return [np.flatnonzero((rows >= own.start) & (rows < own.stop)) for own in slices]
