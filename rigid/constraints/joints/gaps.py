"""How far joints are open, read from the state of the bodies: what a solver leaves undone, for all solvers alike.

All functions take a Model and a State of it, whose leading axes may be worlds or the frames of a recording, and give an
array (..., joints), zero where a joint is as it should be.
"""

import numpy as np

from rigid.joint import Ball, Distance, Fixed, Hinge, Slider, Universal
from rigid.rotation import rotate


def joint_gaps(model, state):
    """How far points that joints keep together are apart [m].

    Of a slider, across its axis; of a distance, how far it is beyond its limits, for it has no other rows. Soft joints
    count too: they open under load, as they are meant to.
    """
    points, axes = joint_ends(model, state)
    apart = points[1] - points[0]
    sliding = np.array([isinstance(joint, Slider) for joint in model.joints], bool)[:, None]
    along = axes[0][..., 0, :]
    across = np.where(sliding, apart - np.sum(apart * along, axis=-1, keepdims=True) * along, apart)
    gaps = np.linalg.norm(across, axis=-1)
    for k, joint in enumerate(model.joints):
        if isinstance(joint, Distance):
            gaps[..., k] = beyond(gaps[..., k] - joint.length, joint.limits)
    return gaps


def joint_turns(model, state):
    """How far bodies are turned against one another where joints lock that [rad].

    Of a hinge, the angle between both bodies' n0; of a universal joint, what its axes are off a right angle; of a
    slider and a fixed joint, the angle of the rotation; of others nothing is locked.
    """
    _, (m, n) = joint_ends(model, state)
    turn = np.einsum("...ki,...li->...kl", m, n)  # of the child's triad, seen in the parent's
    # R - Rᵀ has the axis times 2 sin φ in it, and tr R = 1 + 2 cos φ.
    sine = 0.5 * np.linalg.norm([turn[..., i, j] - turn[..., j, i] for i, j in ((2, 1), (0, 2), (1, 0))], axis=0)
    whole = np.arctan2(sine, 0.5 * (np.trace(turn, axis1=-2, axis2=-1) - 1.0))
    off_axis = np.arctan2(np.linalg.norm(np.cross(m[..., 0, :], n[..., 0, :]), axis=-1), turn[..., 0, 0])
    off_right_angle = np.abs(np.arcsin(np.clip(turn[..., 0, 1], -1.0, 1.0)))
    turns = np.zeros(turn.shape[:-2])
    for kind, found in (((Slider, Fixed), whole), (Hinge, off_axis), (Universal, off_right_angle)):
        chosen = [k for k, joint in enumerate(model.joints) if isinstance(joint, kind)]
        turns[..., chosen] = found[..., chosen]
    return turns


def limit_violations(model, joint_positions):
    """How far joints are beyond their limits [rad, of a slider m]; of a distance, see joint_gaps.

    Arguments: model; joint_positions: as a solver's joint_positions() or JointPositions.positions gives them.
    """
    found = {}
    for k, joint in enumerate(model.joints):
        q = joint_positions.get(joint.name)
        if isinstance(joint, (Hinge, Slider)):
            found[k] = beyond(q, joint.limits)
        elif isinstance(joint, Universal):
            found[k] = np.maximum(beyond(q[..., 0], joint.parent_limits), beyond(q[..., 1], joint.child_limits))
        elif isinstance(joint, Ball):
            swing = beyond(q[..., 0], (0.0, joint.swing_limit))
            found[k] = np.maximum(swing, beyond(q[..., 1], joint.twist_limits))
    violations = np.zeros((*np.shape(next(iter(found.values()), 0.0)), len(model.joints)))
    for k, violation in found.items():
        violations[..., k] = violation
    return violations


def beyond(q, limits):
    """How far positions are outside of limits (low, high); zero within."""
    low, high = limits
    return np.maximum(np.maximum(low - q, q - high), 0.0)


def joint_ends(model, state):
    """Where the ends of all joints are, of parents and of children: points (2, ..., joints, 3) [m] and triads, as rows
    (2, ..., joints, 3, 3)."""
    # A row more, the last, for the ground, whose index is -1.
    lead = state.position.shape[:-2]
    position = np.concatenate([state.position, np.zeros((*lead, 1, 3))], axis=-2)
    rotation = np.concatenate([state.rotation, np.broadcast_to((1.0, 0.0, 0.0, 0.0), (*lead, 1, 4))], axis=-2)
    points, triads = [], []
    for side in ("parent", "child"):
        body = np.array([getattr(joint, side) for joint in model.joints], int)
        anchors = np.reshape([getattr(joint, f"{side}_anchor") for joint in model.joints], (-1, 3))
        axes = np.reshape([getattr(joint, f"{side}_axes") for joint in model.joints], (-1, 3, 3))
        turned = rotation[..., body, :]
        points.append(position[..., body, :] + rotate(turned, anchors))
        triads.append(rotate(turned[..., None, :], axes))
    return np.stack(points), np.stack(triads)
