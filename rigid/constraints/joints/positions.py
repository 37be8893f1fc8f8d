"""Positions and velocities of joints, computed from a state of the bodies."""

from copy import copy

import numpy as np

from rigid.joints.joint_type import Angle, Shift
from rigid.names import GROUND
from rigid.rotation import normalised, rotate, to_matrix


class JointPositions:
    """Computes joint positions and velocities.

    Angles are counted past full turns from the `joint_angles` of a state. Without these
    they are in (-π, π].

    Args: models: one for all worlds, or one for each.

    Attributes: angles: {name of a joint with counted angles: their place in `joint_angles`, a slice}; count: how many.
    """

    def __init__(self, *models):
        self.joints = [as_one(joints) for joints in zip(*(model.joints for model in models))]
        self.angles, self.count = {}, 0
        for joint in self.joints:
            if counted := len(joint.type.angles):
                self.angles[joint.name] = slice(self.count, self.count + counted)
                self.count += counted

    def positions(self, state):
        """Joint positions.

        Args: state: a State.

        Returns: {name: position}: shifts [m] and angles [rad] in the order of the coordinates of the joint's type,
        (...,) for one, (..., n) for n; swing and twist of a ball (..., 2) [rad]. Joints without are left out.
        """
        found = {}
        for joint in self.joints:
            values = self._coordinates(state, joint)
            if values:
                found[joint.name] = values[0] if len(values) == 1 else np.stack(values, axis=-1)
        return found

    def _coordinates(self, state, joint):
        """The coordinates of a joint that are read, a list of (...)."""
        m = axes_in_world(state, joint.parent, joint.parent_axes)
        turn = np.einsum("...ki,...li->...kl", m, axes_in_world(state, joint.child, joint.child_axes))
        start, end = ends_in_world(state, joint)
        way = np.einsum("...i,...ki->...k", end - start, m)
        values = [coordinate.position(turn, way) for coordinate in joint.type.coordinates if coordinate.is_read]
        if joint.name in self.angles and state.joint_angles.size:
            places = range(*self.angles[joint.name].indices(self.count))
            for k, place in zip(joint.type.angles, places):
                near = state.joint_angles[..., place]
                values[k] = values[k] + 2 * np.pi * np.round((near - values[k]) / (2 * np.pi))
        return values

    def velocities(self, state):
        """Joint velocities.

        Args: state: a State.

        Returns: {name: velocity}, shaped like positions; for a ball the relative angular velocity in the world (..., 3)
        [rad/s].
        """
        found = {}
        for joint in self.joints:
            motions = motion(state, joint.parent), motion(state, joint.child)
            spin = motions[1][1] - motions[0][1]
            axes = axes_in_world(state, joint.parent, joint.parent_axes)
            axes = axes, axes_in_world(state, joint.child, joint.child_axes)
            rates = []
            for k, coordinate in enumerate(joint.type.coordinates):
                axis = axes[joint.type.side(k)][..., coordinate.axis, :]
                if isinstance(coordinate, Angle):
                    rates.append(np.einsum("...i,...i->...", spin, axis))
                elif isinstance(coordinate, Shift):
                    rates.append(np.einsum("...i,...i->...", relative_velocity(state, joint, motions), axis))
            if joint.type.special == "ball":
                found[joint.name] = spin
            elif rates:
                found[joint.name] = rates[0] if len(rates) == 1 else np.stack(rates, axis=-1)
        return found


def as_one(joints):
    """A joint with the anchors and axes of all worlds, (worlds, ...). Args: joints: the same one in each model."""
    joint = copy(joints[0])
    if len(joints) > 1:
        for name in ("parent_anchor", "child_anchor", "parent_axes", "child_axes"):
            setattr(joint, name, np.stack([getattr(one, name) for one in joints]))
    return joint


def ends_in_world(state, joint):
    """The joint's points on parent and child in the world, two (..., 3) [m]."""
    start = point_in_world(state, joint.parent, joint.parent_anchor)
    return start, point_in_world(state, joint.child, joint.child_anchor)


def relative_velocity(state, joint, motions):
    """Velocity of the child's anchor relative to the parent (..., 3) [m/s]. Args: motions: of both bodies."""
    end = ends_in_world(state, joint)[1]
    speeds = []
    for body, (velocity, spin) in zip((joint.parent, joint.child), motions):
        speeds.append(velocity + np.cross(spin, end - point_in_world(state, body, np.zeros(3))))
    return speeds[1] - speeds[0]


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
