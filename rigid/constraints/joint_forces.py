"""Forces and torques in joints, from the efforts of their rows."""

import numpy as np

from rigid.constraints.joints.positions import point_in_world
from rigid.constraints.rows import ROW


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
        anchors = np.array([model.joints[index].child_anchor for model in models])
        point = point_in_world(state, joint.child, anchors[0] if len(models) == 1 else anchors)
        arm = point - state.position[..., joint.child, :]
        found[joint.name] = np.stack([force, torque - np.cross(np.broadcast_to(arm, force.shape), force)], axis=1)
    return found
