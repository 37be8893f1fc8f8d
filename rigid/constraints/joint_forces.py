"""Forces and torques in joints: from the efforts of their rows, or from the momenta of the bodies.

A solver with a row for each constraint knows the efforts: `joint_forces`. If coordinates or particles keep a joint
closed, there are none. If the joints are a tree, their forces still follow from the balance of momentum: a joint
carries what all bodies beyond it gain by joints (`tree_forces`). In a loop, momenta alone leave the forces open.

Source of the balance: the inward pass of the recursive Newton-Euler algorithm (Featherstone, Rigid Body Dynamics
Algorithms, 2008, section 5.3), with momenta before and after a discrete step in place of accelerations.
"""

import numpy as np

from rigid.constraints.joints.positions import point_in_world
from rigid.constraints.rows import ROW
from rigid.names import GROUND


def joint_forces(models, state, rows, efforts, rows_of_joints):
    """Sum the forces of the rows of each joint.

    Args:
        models: one for all worlds, or one for each.
        state: a State.
        rows (worlds, rows, columns): rows of all worlds.
        efforts (worlds, rows): the effort of each [N or N m].
        rows_of_joints: a slice for each joint.

    Returns: {name: array (worlds, 2, 3)}: the force on the child [N], and its torque about the child's joint point
    [N m], in the world frame.
    """
    found = {}
    for index, (joint, own) in enumerate(zip(models[0].joints, rows_of_joints)):
        effort = efforts[:, own, None]
        force = -(effort * rows[:, own, ROW["linear"]]).sum(axis=1)  # J of the child is (-d, a_j)
        torque = (effort * rows[:, own, ROW["angular_j"]]).sum(axis=1)
        arm = child_point(models, state, index) - state.position[..., joint.child, :]
        found[joint.name] = np.stack([force, torque - np.cross(np.broadcast_to(arm, force.shape), force)], axis=1)
    return found


def tree_forces(models, state, joints, forces, torques):
    """Sum over the bodies beyond each joint, from the leaves inward.

    Args:
        models: one for all worlds, or one for each.
        state: a State, with the poses at which the momenta are taken.
        joints: indices of joints. They are one or more trees.
        forces (worlds, bodies, 3): on each body by all its joints: its change of momentum over the substep, less all
            other forces [N].
        torques (worlds, bodies, 3): likewise, about the world's origin [N m].

    Returns: {name: array (worlds, 2, 3)}, as from `joint_forces`.

    Raises: NotImplementedError if a joint closes a loop.
    """
    forces, torques, found = forces.copy(), torques.copy(), {}
    for index, body, carrier in reversed(outward(models[0], joints)):
        joint = models[0].joints[index]
        if carrier != GROUND:
            forces[:, carrier] += forces[:, body]
            torques[:, carrier] += torques[:, body]
        sign = 1.0 if body == joint.child else -1.0
        force, torque = sign * forces[:, body], sign * torques[:, body]
        point = np.broadcast_to(child_point(models, state, index), force.shape)
        found[index] = np.stack([force, torque - np.cross(point, force)], axis=1)
    return {models[0].joints[index].name: found[index] for index in sorted(found)}


def child_point(models, state, index):
    """A joint's point on its child, in the world (..., 3) [m]."""
    anchors = np.array([model.joints[index].child_anchor for model in models])
    return point_in_world(state, models[0].joints[index].child, anchors[0] if len(models) == 1 else anchors)


def outward(model, joints):
    """Order joints from the ground, or from the first body of a free tree, to the leaves.

    Bodies that follow paths count as the ground: they take up any force.

    Args: model; joints: indices. Returns: list of (joint, its outer body, its inner body or GROUND).

    Raises: NotImplementedError if a joint closes a loop.
    """
    ends = {}
    for index in joints:
        pair = model.joints[index].parent, model.joints[index].child
        ends[index] = tuple(GROUND if model.body(body).path is not None else body for body in pair)
    of_body = {}
    for index, pair in ends.items():
        for body in pair:
            of_body.setdefault(body, []).append(index)
    order, reached, used = [], set(), set()
    for root in sorted(of_body):  # the ground is -1
        waiting = [] if root in reached else [root]
        reached.add(root)
        while waiting:
            carrier = waiting.pop()
            for index in of_body[carrier]:
                if index in used:
                    continue
                used.add(index)
                body = sum(ends[index]) - carrier
                if body in reached:
                    raise NotImplementedError(
                        f"joint {model.joints[index].name!r} closes a loop of joints: momenta alone do not say which "
                        'of them carries how much; use solver "impulse" for joint forces'
                    )
                reached.add(body)
                order.append((index, body, carrier))
                waiting.append(body)
    return order
