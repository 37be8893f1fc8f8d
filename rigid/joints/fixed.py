"""Fixed joint: the child does not move relative to the parent."""

import math
from dataclasses import dataclass

import numpy as np

from pbd.core.validate import finite_vector
from rigid.joints.joint import Joint
from rigid.joints.joint_type import ALL, NO_ROTATION, JointType


@dataclass(eq=False, kw_only=True)
class Fixed(Joint):
    """Fixed joint: neither translation nor rotation."""

    type = JointType("fixed", translations=ALL, right_angles=NO_ROTATION)


def add_fixed(
    model, parent, child, point=None, *, soft=None, collide=False, break_force=math.inf, break_torque=math.inf,
    name=None,
):  # fmt: skip
    """Add a fixed joint: the child neither translates nor rotates relative to the parent.

    Args:
        parent, child, soft, collide, break_force, break_torque, name: see Model.
        point: (3,) [m]; None for the child's centre of mass.

    Returns: index of the joint.
    """
    parent, child = model._pair("parent", parent, "child", child)
    point = model.bodies[child].position if point is None else finite_vector("point", point)
    return model._append(model._make(
        Fixed, parent, child, name, point, np.eye(3), soft=soft, collide=collide, break_force=break_force,
        break_torque=break_torque,
    ))  # fmt: skip
