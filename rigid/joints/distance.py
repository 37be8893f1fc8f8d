"""Distance joint: its description. Its rows are in rigid/constraints/joints/distance.py."""

import math
from dataclasses import dataclass

import numpy as np

from rigid.joints.joint import COINCIDENT, Joint
from rigid.joints.joint_type import Coordinate, JointType
from rigid.rotation import frame_axes


class Length(Coordinate):
    """The change of the distance since time zero [m]."""

    is_read = False
    unit = "m"


@dataclass(eq=False, kw_only=True)
class Distance(Joint):
    """Distance joint: the distance of two anchors stays within limits. n0 points from the parent's to the child's.

    Args (besides those of Joint):
        length: the distance at time zero [m].
        limits: (low, high) of its change since then [m]: (0, 0) is a rod, (-inf, 0) a string; None for none.
    """

    length: float
    limits: tuple = (0.0, 0.0)

    type = JointType(
        "distance", coordinates=(Length(),), special="distance", degrees_of_freedom=5, length="length"
    )


def add_distance(
    model, parent, child, parent_point=None, child_point=None, *, limits=(0.0, 0.0), soft=None, collide=True,
    break_force=math.inf, break_torque=math.inf, name=None,
):  # fmt: skip
    """Add a distance joint: the distance of two points stays constant, or within limits.

    Args:
        parent, child, soft, collide, break_force, break_torque, name: see Model.
        parent_point, child_point: (3,) [m]; None for the centre of mass.
        limits: (low, high) of the change since time zero [m]: (0, 0) is a rod, (-math.inf, 0) a string.

    Returns: index of the joint.
    """
    parent, child = model._pair("parent", parent, "child", child)
    start, end = model._ends("parent_point", parent, parent_point, "child_point", child, child_point)
    length = float(np.linalg.norm(end - start))
    if length <= COINCIDENT:
        raise ValueError(f"parent_point and child_point are {length:g} m apart: expected more, or add_ball")
    return model._append(model._make(
        Distance, parent, child, name, start, frame_axes((end - start) / length), child_point=end, length=length,
        limits=limits, soft=soft, collide=collide,
        break_force=break_force, break_torque=break_torque,
    ))  # fmt: skip
