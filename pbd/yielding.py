"""Joints of rods that yield: see `yield_curvature` and `yield_twist` of pbd.build.rod.

At the end of each step, the rotation at rest Q of a joint follows its rotation as far as it must. With the elastic turn
φ of pbd/constraints/rod.py, in the axes of D, and the bends φ_b = (φ_1, φ_2) and the twist φ_3,

    Q := Q exp((1 - y_b/|φ_b|) φ_b + (1 - y_t/|φ_3|) φ_3),        the parts above zero

so that no step begins with a joint that is bent by more than y_b or twisted by more than y_t: ideal plasticity. What is
bent by less springs back. The last factor makes this exact where a joint only bends, or only twists.

Source: Simo and Hughes, Computational Inelasticity (1998), section 1.2, the return mapping of ideal plasticity,
https://doi.org/10.1007/b98904.
"""

import numpy as np

from pbd.core.validate import finite_array
from pbd.description.rod_frames import rotations
from pbd.rod_joints import RodJoints


class Yielding:
    """The joints of rods of a system that yield.

    Args: constraints: the ConstraintValues; values: the ParticleValues, of the system.
    """

    def __init__(self, constraints, values):
        self._constraints, self._values = constraints, values
        self._joints = RodJoints(constraints, values, ("yield_bend", "yield_twist"))

    def __len__(self):
        return len(self._joints)

    def flow(self):
        """Let rotations at rest follow those of joints that are bent or twisted too far."""
        rest, turn = self._joints.turns()
        now = self._joints.read(self._joints.rest)  # joints, worlds, 4
        yield_bend, yield_twist = self._joints.read(self._joints.rows).reshape(-1, 2).T
        bend, twist = np.linalg.norm(turn[:, :2], axis=1), np.abs(turn[:, 2])
        beyond = np.zeros_like(turn)
        beyond[:, :2] = turn[:, :2] * (np.maximum(bend - yield_bend, 0) / np.maximum(bend, 1e-300))[:, None]
        beyond[:, 2] = np.sign(turn[:, 2]) * np.maximum(twist - yield_twist, 0)
        if beyond.any():
            flows = beyond.any(axis=1).reshape(*now.shape[:2], 1)
            self._write(np.where(flows, (rest * rotations().from_rotvec(beyond)).as_quat().reshape(now.shape), now))

    def _write(self, rest):
        """Change rotations at rest (joints, worlds, 4)."""
        rows = self._joints.rest
        self._constraints.write(rows.ravel(), np.moveaxis(rest, 1, 2).reshape(rows.size, rest.shape[1]))

    def state(self):
        """Rotations at rest (joints, 4) or (worlds, joints, 4), quaternions (x, y, z, w), as a pbd.State has them."""
        rest = np.moveaxis(self._joints.read(self._joints.rest), 0, 1)
        return rest[0] if self._values.worlds == 1 else rest

    def checked(self, name, state):
        """Rotations at rest in a state; those of now in that of another system."""
        now = self.state()
        return finite_array(f"state's {name}", state, now.shape) if np.shape(state) == now.shape else now

    def restore(self, rest):
        """Continue from a state. Args: rest: see `checked`."""
        self._write(np.moveaxis(rest.reshape(-1, *rest.shape[-2:]), 0, 1))
