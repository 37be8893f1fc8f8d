"""Joint errors, computed from a state of the bodies, for any solver.

All functions take a Model and a State, whose leading axes may be worlds or the frames of a recording. They return an
array (..., joints), zero for a joint without error.
"""

import numpy as np

from pbd.core.rotation import cross
from rigid.joints import Distance, Wheel
from rigid.joints.joint_type import Shift
from rigid.rotation import rotate


def joint_gaps(model, state, ends=None):
    """Distances between the points that joints keep together [m]. Args: ends: of `joint_ends`, if they are known.

    For a joint that slides it is the distance across its way; for a distance, how far it is beyond its limits; for a
    wheel, the distance of the rim from the plane, or its depth if the wheel has friction and may leave the plane. Soft
    joints are included, although they open under load.
    """
    points, axes = ends or joint_ends(model, state)
    apart = points[1] - points[0]
    across = apart.copy()
    for k, joint in enumerate(model.joints):
        for coordinate in joint.type.coordinates:
            if isinstance(coordinate, Shift):
                along = axes[0][..., k, coordinate.axis, :]
                across[..., k, :] -= np.sum(apart[..., k, :] * along, axis=-1, keepdims=True) * along
    gaps = np.linalg.norm(across, axis=-1)
    for k, joint in enumerate(model.joints):
        if isinstance(joint, Distance):
            gaps[..., k] = beyond(gaps[..., k] - joint.length, joint.limits)
        elif isinstance(joint, Wheel):
            height = rim_height(apart[..., k, :], axes[0][..., k, 0, :], axes[1][..., k, 0, :], joint.radius)
            gaps[..., k] = np.abs(height) if joint.friction is None else np.maximum(-height, 0.0)
    return gaps


def rim_height(hub, normal, axis, radius):
    """Height of a wheel's lowest point above its plane (...,) [m].

    Args: hub: from a point of the plane (..., 3) [m]; normal, axis: of plane and spin (..., 3); radius [m].
    """
    sine = np.linalg.norm(cross(axis, normal), axis=-1)
    return np.sum(hub * normal, axis=-1) - radius * sine


def joint_turns(model, state, ends=None):
    """Angles by which joints are open [rad]. Args: ends: of `joint_ends`, if they are known.

    If the joint's type has three right angles, it is the angle of the rotation. If it has two, which one axis of the
    child is at, it is the angle between this axis of both bodies. If it has one, it is the deviation from that.
    """
    _, (m, n) = ends or joint_ends(model, state)
    turn = np.einsum("...ki,...li->...kl", m, n)  # of the child's axes, seen in the parent's
    # R - Rᵀ has the axis times 2 sin φ in it, and tr R = 1 + 2 cos φ.
    sine = 0.5 * np.linalg.norm([turn[..., i, j] - turn[..., j, i] for i, j in ((2, 1), (0, 2), (1, 0))], axis=0)
    whole = np.arctan2(sine, 0.5 * (np.trace(turn, axis1=-2, axis2=-1) - 1.0))
    turns = np.zeros(turn.shape[:-2])
    for k, joint in enumerate(model.joints):
        right_angles = joint.type.right_angles
        if len(right_angles) == 1:
            a, b = right_angles[0]
            turns[..., k] = np.abs(np.arcsin(np.clip(turn[..., k, a, b], -1.0, 1.0)))
        elif len(right_angles) == 2:
            stays = right_angles[0][1]
            sine = np.linalg.norm(cross(m[..., k, stays, :], n[..., k, stays, :]), axis=-1)
            turns[..., k] = np.arctan2(sine, turn[..., k, stays, stays])
        elif right_angles:
            turns[..., k] = whole[..., k]
    return turns


def limit_violations(model, joint_positions):
    """How far joints are beyond their limits [rad; m for a slider]. For a distance see joint_gaps.

    Args: model; joint_positions: from a solver's joint_positions() or JointPositions.positions.
    """
    found = {}
    for k, joint in enumerate(model.joints):
        q, limits = joint_positions.get(joint.name), joint.coordinate_limits()
        if q is not None:
            coordinates = [q] if len(limits) == 1 else np.moveaxis(q, -1, 0)
            found[k] = np.max([beyond(each, pair) for each, pair in zip(coordinates, limits)], axis=0)
    violations = np.zeros((*np.shape(next(iter(found.values()), 0.0)), len(model.joints)))
    for k, violation in found.items():
        violations[..., k] = violation
    return violations


def beyond(q, limits):
    """How far positions are outside their limits; zero inside. Args: q: positions; limits: (low, high)."""
    low, high = limits
    return np.maximum(np.maximum(low - q, q - high), 0.0)


def joint_ends(model, state):
    """The ends of all joints, on parents and children.

    Returns: points (2, ..., joints, 3) [m], and axes as rows (2, ..., joints, 3, 3), in the world.
    """
    # The last row is the ground, whose index is -1.
    lead = state.position.shape[:-2]
    position = np.concatenate([state.position, np.zeros((*lead, 1, 3))], axis=-2)
    rotation = np.concatenate([state.rotation, np.broadcast_to((1.0, 0.0, 0.0, 0.0), (*lead, 1, 4))], axis=-2)
    points, directions = [], []
    for side in ("parent", "child"):
        body = np.array([getattr(joint, side) for joint in model.joints], int)
        anchors = np.reshape([getattr(joint, f"{side}_anchor") for joint in model.joints], (-1, 3))
        axes = np.reshape([getattr(joint, f"{side}_axes") for joint in model.joints], (-1, 3, 3))
        turned = rotation[..., body, :]
        points.append(position[..., body, :] + rotate(turned, anchors))
        directions.append(rotate(turned[..., None, :], axes))
    return np.stack(points), np.stack(directions)
