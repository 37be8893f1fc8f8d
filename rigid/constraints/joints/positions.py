"""Positions and velocities of joints, read from the state of the bodies."""

from copy import copy

import numpy as np

from rigid.joint import Ball, Hinge, Slider, Universal
from rigid.names import GROUND
from rigid.rotation import from_matrix, normalised, rotate, swing_twist_angles, to_matrix


class JointPositions:
    """What joints of a model read, counted on from one reading to the next.

    Angles of hinges and universal joints go on past full turns, as long as they are read at least twice a turn; the
    first reading, and the first after `forget`, is in (-π, π].

    Arguments: models: one for all worlds, or one each.
    """

    def __init__(self, *models):
        self.joints = [as_one(joints) for joints in zip(*(model.joints for model in models))]
        self.last = {}

    def forget(self):
        """Count from (-π, π] again."""
        self.last = {}

    def count_from(self, angles):
        """Count on from these. Arguments: {name: angle}, as positions() gives those of hinges and universal joints."""
        self.last = dict(angles)

    def positions(self, state):
        """{name: position}: a hinge's angle [rad], a slider's shift [m], (...,); both angles of a universal joint
        (..., 2) [rad]; swing and twist of a ball (..., 2) [rad]. Arguments: a State."""
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
        turn = np.einsum("...ki,...li->...kl", m, n)  # of the child's triad, seen in the parent's
        if isinstance(joint, Ball):
            return np.stack(swing_twist_angles(from_matrix(turn), np.array([1.0, 0.0, 0.0])), axis=-1)
        angle = np.arctan2(turn[..., 2, 1], turn[..., 1, 1])
        if isinstance(joint, Universal):
            angle = np.stack([angle, np.arctan2(turn[..., 0, 2], turn[..., 0, 0])], axis=-1)
        before = self.last.get(joint.name, 0.0)
        self.last[joint.name] = angle + 2 * np.pi * np.round((before - angle) / (2 * np.pi))
        return self.last[joint.name]

    def velocities(self, state):
        """{name: velocity}, shaped like positions but for a ball, whose relative angular velocity it is, in the world
        (..., 3) [rad/s]. Arguments: a State."""
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
    """A joint whose anchors and axes are those of all worlds, (worlds, ...); of one world, as they are."""
    joint = copy(joints[0])
    if len(joints) > 1:
        for name in ("parent_anchor", "child_anchor", "parent_axes", "child_axes"):
            setattr(joint, name, np.stack([getattr(one, name) for one in joints]))
    return joint


def reach_and_axis(state, joint):
    """Of a slider: from the parent's anchor to the child's, the axis, and how fast the child's anchor moves against
    what of the parent is there, all (..., 3)."""
    axis = axes_in_world(state, joint.parent, joint.parent_axes)[..., 0, :]
    start = point_in_world(state, joint.parent, joint.parent_anchor)
    end = point_in_world(state, joint.child, joint.child_anchor)
    speeds = []
    for body in (joint.parent, joint.child):
        velocity, spin = motion(state, body)
        speeds.append(velocity + np.cross(spin, end - point_in_world(state, body, np.zeros(3))))
    return end - start, axis, speeds[1] - speeds[0]


def motion(state, body):
    """Velocity and angular velocity of a body (..., 3); none of the ground's."""
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
    # In 32 bits rotations are off length one by more than what a matrix of a rotation may be off.
    return np.einsum("...ij,...kj->...ki", to_matrix(normalised(state.rotation[..., body, :])), axes)
