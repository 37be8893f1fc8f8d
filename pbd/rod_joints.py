"""Joints of rods as the host reads them: by how much they are turned from their rotations at rest."""

import numpy as np

from pbd.core.kernels import read
from pbd.data import RANGE
from pbd.description.rod_frames import frame_of_points, rotations

REST = ("rest_x", "rest_y", "rest_z", "rest_w")


class RodJoints:
    """Joints of rods of a system.

    Args: constraints: the ConstraintValues; values: the ParticleValues, of the system; names: parameters of joints to
    read, or "compliance"; joints without one of them are left out.

    Attributes: members: particles of each (joints, 5), see pbd/constraints/rod.py; rest: rows of the rotations at rest
    Q (joints, 4); rows: of the named parameters (joints, names).
    """

    def __init__(self, constraints, values, names):
        self._constraints, self._values = constraints, values
        members, rows = [np.zeros((0, 5), int)], [np.zeros((0, 4 + len(names)), int)]
        for each, place in zip(constraints.types, constraints.ranges):
            parameters = (*each.parameters, "compliance")
            if "rest_w" in parameters and set(names) <= set(parameters):
                number = np.arange(place[RANGE.count])[:, None]
                columns = [parameters.index(name) for name in (*REST, *names)]
                members.append(place[RANGE.members] + 5 * number + np.arange(5))
                rows.append(place[RANGE.parameters] + each.width * number + columns)
        self.members = read(constraints.arrays.members)[np.concatenate(members)]
        self.rest, self.rows = np.split(np.concatenate(rows), [4], axis=1)

    def __len__(self):
        return len(self.members)

    def turns(self):
        """Rotations at rest Q, a Rotation, and rotation vectors from them (n, 3) [rad]: joint by joint, world by world.

        The axes of a vector are those that the second segment has at rest.
        """
        points = np.moveaxis(self._values.read("position")[..., :3].astype(float)[self.members], 2, 1)
        first = frame_of_points(*points[:, :, [0, 1, 3]].reshape(-1, 3, 3).swapaxes(0, 1))
        second = frame_of_points(*points[:, :, [1, 2, 4]].reshape(-1, 3, 3).swapaxes(0, 1))
        rest = rotations().from_quat(self.read(self.rest).reshape(-1, 4))
        return rest, (rest.inv() * first.inv() * second).as_rotvec()

    def read(self, rows):
        """Parameters (joints, worlds, columns). Args: rows: (joints, columns)."""
        found = self._constraints.read(rows.ravel()).astype(float)
        return np.moveaxis(found.reshape(*rows.shape, found.shape[1]), 2, 1)
