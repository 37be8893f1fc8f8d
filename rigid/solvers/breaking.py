"""Joints that break: see `break_force` of rigid.Model.

After each substep, with "verlet" after each step, a joint breaks for good if the force that it applies to its child, or
the torque about its point,

    |F| > break_force    or    |T| > break_torque

is above its limit; both are means over the substep (Solver.joint_forces), so an impact breaks more with shorter steps.
Each world breaks by itself. What a broken joint had is inactive. Its two bodies still do not collide with each other,
unless `collide` is True.

Departure: a real joint breaks within the substep; here its impulse is applied in full in the one that breaks it.
"""

import numpy as np

from pbd.core.kernels import read, write
from pbd.core.results import Event
from rigid.constraints.joint_forces import child_point
from rigid.constraints.joints.data import DRIVE
from rigid.constraints.rows import GROUP, Group


class Breaking:
    """The joints of a solver that break.

    Args: models: one for all worlds, or one for each; worlds: how many; write: a function that makes joints inactive
    in the solver's arrays, and the others active. It is given the attribute `broken`.

    Attributes: joints: indices of the joints that break (n,); broken: which of them are broken (worlds, n).

    Raises: ValueError for a gear on a joint that breaks.
    """

    def __init__(self, models, worlds, write):
        self._models, self._write, model = models, write, models[0]
        self.joints = joints_that_break(model)
        for gear in model.gears:
            for index in {gear.joint_a, gear.joint_b} & set(self.joints):
                name = model.joints[index].name
                raise ValueError(f"joint {name!r} breaks and has a gear: expected one of both")
        limits = [[(m.joints[k].break_force, m.joints[k].break_torque) for k in self.joints] for m in models]
        self._limits = np.reshape(limits, (len(models), -1, 2))
        self.broken = np.zeros((worlds, len(self.joints)), bool)

    def __len__(self):
        return len(self.joints)

    def break_overloaded(self, forces, snapshot):
        """Break the joints with too much load.

        Args: forces: as from Solver.joint_forces; snapshot: a function that returns the present State.

        Returns: a list of pbd.Event, by world and joint; (world, index of the joint) for each.
        """
        joints = self._models[0].joints
        each = [np.reshape(forces[joints[index].name], (-1, 2, 3)) for index in self.joints]
        loads = np.linalg.norm(each, axis=3).swapaxes(0, 1)
        overloaded = (loads > self._limits).any(axis=2) & ~self.broken
        found = [(int(world), self.joints[number]) for world, number in np.argwhere(overloaded)]
        if not found:
            return [], []
        state, events = snapshot(), []
        for world, index in found:
            place = np.reshape(child_point(self._models, state, index), (-1, 3))[world]
            events.append(Event(state.time, "break", world, (joints[index].name,), tuple(map(float, place))))
        self.restore(self.broken | overloaded)
        return events, found

    def restore(self, broken):
        """Break these joints, and make the others whole. Args: broken: as the attribute."""
        if not np.array_equal(self.broken, broken):
            self.broken = np.array(broken, bool)
            self._write(self.broken)


def joints_that_break(model):
    """Indices of a model's joints that a load can break, a list."""
    return [index for index, joint in enumerate(model.joints) if joint.breaks]


class JointRows:
    """The rows of some joints, which can be made inactive.

    Args: joints: indices of joints; data: a solver's data with a Joints and a Rows; rows_of: a slice of rows for each
    joint of the model.
    """

    def __init__(self, joints, data, rows_of):
        self._active, self._kinds = data.joints.active, data.rows.kinds
        groups, drives, own = read(data.rows.groups), read(data.joints.drives), [rows_of[index] for index in joints]
        # Groups of contacts have no rows yet, and an array without drives has one of no kind.
        of_groups = np.where(groups[0, :, GROUP.count] > 0, groups[0, :, GROUP.first], -1)
        of_drives = np.where(drives[:, DRIVE.kind] > 0, drives[:, DRIVE.row], -1)
        self._places = list(zip(within(of_groups, own), within(of_drives, own)))
        self._kinds_of_whole = read(data.rows.kinds)

    def write(self, broken):
        """Make rows inactive, and the others active. Args: broken: a mask (worlds, joints)."""
        kinds, active = read(self._kinds), read(self._active)
        for (of_groups, of_drives), is_broken in zip(self._places, broken.T[..., None]):
            kinds[:, of_groups] = np.where(is_broken, Group.IDLE, self._kinds_of_whole[:, of_groups])
            active[:, of_drives] = ~is_broken
        write(self._kinds, kinds)
        write(self._active, active)


def within(rows, slices):
    """Find the items of each joint. Args: rows: the first row of each item; slices: the rows of each joint."""
    return [np.flatnonzero((rows >= own.start) & (rows < own.stop)) for own in slices]
