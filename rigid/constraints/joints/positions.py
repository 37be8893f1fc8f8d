"""Positions and velocities of joints, computed from a state of the bodies."""

from copy import copy

import numpy as np

from rigid.joint import Ball, Hinge, Slider, Universal
from rigid.names import GROUND
from rigid.rotation import from_matrix, normalised, rotate, swing_twist_angles, to_matrix


class JointPositions:
    """Computes joint positions and velocities.

    Angles of hinges and universal joints are counted past full turns from the `joint_angles` of a state. Without these
    they are in (-π, π].

    Args: models: one for all worlds, or one for each.

    Attributes: angles: {name of a joint with counted angles: their place in `joint_angles`, a slice}; count: how many.
    """

    def __init__(self, *models):
        self.joints = [as_one(joints) for joints in zip(*(model.joints for model in models))]
        self.angles, self.count = {}, 0
        for joint in self.joints:
            if joint.counted_angles:
                self.angles[joint.name] = slice(self.count, self.count + joint.counted_angles)
                self.count += joint.counted_angles

    def positions(self, state):
        """Joint positions.

        Args: state: a State.

        Returns: {name: position}: the angle of a hinge [rad] and the shift of a slider [m], (...,); both angles of a
        universal joint, swing and twist of a ball (..., 2) [rad]. Other joints are left out.
        """
        found = {}
        for joint in self.joints:
            if isinstance(joint, Slider):
                reach, axis, _ = reach_and_axis(state, joint)
                found[joint.name] = np.einsum("...i,...i->...", reach, axis)
            elif isinstance(joint, (Hinge, Universal, Ball)):
                found[joint.name] = self._angles(state, joint)
        return found

    def _angles(self, state, joint):
        m = axes_in_world(state, joint.parent, joint.parent_axes)
        n = axes_in_world(state, joint.child, joint.child_axes)
        turn = np.einsum("...ki,...li->...kl", m, n)  # of the child's axes, seen in the parent's
        if isinstance(joint, Ball):
            return np.stack(swing_twist_angles(from_matrix(turn), np.array([1.0, 0.0, 0.0])), axis=-1)
        angles = [np.arctan2(turn[..., 2, 1], turn[..., 1, 1])]
        if isinstance(joint, Universal):
            angles.append(np.arctan2(turn[..., 0, 2], turn[..., 0, 0]))
        angles = np.stack(angles, axis=-1)
        if state.joint_angles.size:
            near = state.joint_angles[..., self.angles[joint.name]]
            angles = angles + 2 * np.pi * np.round((near - angles) / (2 * np.pi))
        return angles if isinstance(joint, Universal) else angles[..., 0]

    def velocities(self, state):
        """Joint velocities.

        Args: state: a State.

        Returns: {name: velocity}, shaped like positions; for a ball the relative angular velocity in the world (..., 3)
        [rad/s].
        """
        found = {}
        for joint in self.joints:
            if isinstance(joint, Slider):
                _, axis, speed = reach_and_axis(state, joint)
                found[joint.name] = np.einsum("...i,...i->...", speed, axis)
            elif isinstance(joint, (Hinge, Universal, Ball)):
                spin = motion(state, joint.child)[1] - motion(state, joint.parent)[1]
                axes = [axes_in_world(state, joint.parent, joint.parent_axes)[..., 0, :]]
                if isinstance(joint, Universal):
                    axes.append(axes_in_world(state, joint.child, joint.child_axes)[..., 1, :])
                rates = [np.einsum("...i,...i->...", spin, axis) for axis in axes]
                turns = np.stack(rates, axis=-1) if len(rates) > 1 else rates[0]
                found[joint.name] = spin if isinstance(joint, Ball) else turns
        return found


def as_one(joints):
    """A joint with the anchors and axes of all worlds, (worlds, ...). Args: joints: the same one in each model."""
    joint = copy(joints[0])
    if len(joints) > 1:
        for name in ("parent_anchor", "child_anchor", "parent_axes", "child_axes"):
            setattr(joint, name, np.stack([getattr(one, name) for one in joints]))
    return joint


def reach_and_axis(state, joint):
    """Distance and axis of a slider.

    Returns, all (..., 3): from the parent's anchor to the child's [m]; the axis; the velocity of the child's anchor
    relative to the parent [m/s].
    """
    axis = axes_in_world(state, joint.parent, joint.parent_axes)[..., 0, :]
    start = point_in_world(state, joint.parent, joint.parent_anchor)
    end = point_in_world(state, joint.child, joint.child_anchor)
    speeds = []
    for body in (joint.parent, joint.child):
        velocity, spin = motion(state, body)
        speeds.append(velocity + np.cross(spin, end - point_in_world(state, body, np.zeros(3))))
    return end - start, axis, speeds[1] - speeds[0]


def motion(state, body):
    """Velocity and angular velocity of a body (..., 3); zero for the ground."""
    if body == GROUND:
        return np.zeros((*state.position.shape[:-2], 3)), np.zeros((*state.position.shape[:-2], 3))
    return state.velocity[..., body, :], state.angular_velocity[..., body, :]


def point_in_world(state, body, point):
    """A point of a body's frame in the world (..., 3) [m]."""
    if body == GROUND:
        return np.broadcast_to(point, (*state.position.shape[:-2], 3))
    return state.position[..., body, :] + rotate(state.rotation[..., body, :], point)


def axes_in_world(state, body, axes):
    """Axes (..., 3, 3) of a body's frame, as rows in the world (..., 3, 3)."""
    if body == GROUND:
        return np.broadcast_to(axes, (*state.position.shape[:-2], 3, 3))
    # In 32 bits the length of a quaternion has a larger error than a rotation matrix may have.
    return np.einsum("...ij,...kj->...ki", to_matrix(normalised(state.rotation[..., body, :])), axes)
