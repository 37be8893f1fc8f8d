"""Universal joint: rotation about two axes at a right angle."""

import math
from dataclasses import dataclass

from pbd.core.validate import finite_vector
from rigid.joints.joint import NO_LIMITS, Joint, axes_at_right_angle
from rigid.joints.joint_type import ALL, Angle, JointType
from rigid.spring import Spring


@dataclass(eq=False, kw_only=True)
class Universal(Joint):
    """Universal joint: rotation by a about the parent's n0, then by b about the child's n1: R = R(n0, a) R(n1, b).

    Both axes stay at a right angle.

    Args (besides those of Joint): parent_limits, child_limits: (low, high) of a and of b [rad], None for none;
    friction: about each axis [N m]; spring: about each axis.
    """

    parent_limits: tuple = NO_LIMITS
    child_limits: tuple = NO_LIMITS
    friction: float = 0.0
    spring: Spring | None = None

    type = JointType(
        "universal", translations=ALL, right_angles=((0, 1),),
        coordinates=(Angle(0, limits="parent_limits"), Angle(1, (0, 0), (0, 2), limits="child_limits")),
    )  # fmt: skip


def add_universal(
    model, parent, child, point, parent_axis, child_axis, *, parent_limits=None, child_limits=None, friction=0.0,
    spring=None, soft=None, collide=False, break_force=math.inf, break_torque=math.inf, name=None,
):  # fmt: skip
    """Add a universal joint: the child rotates about two axes at a right angle.

    Args:
        parent, child, soft, collide, break_force, break_torque, name: see Model.
        point: where the axes intersect (3,) [m].
        parent_axis, child_axis: one axis fixed in the parent and one fixed in the child, at a right angle (3,).
        parent_limits, child_limits: (low, high) of the angle about each axis [rad]; None for none.
        friction: about each axis [N m].
        spring: a rigid.Spring about each axis.

    Returns: index of the joint.
    """
    parent, child = model._pair("parent", parent, "child", child)
    point = finite_vector("point", point)
    axes = axes_at_right_angle(parent_axis=parent_axis, child_axis=child_axis)
    return model._append(model._make(
        Universal, parent, child, name, point, axes, parent_limits=parent_limits, child_limits=child_limits,
        friction=friction, spring=spring, soft=soft, collide=collide,
        break_force=break_force, break_torque=break_torque,
    ))  # fmt: skip
