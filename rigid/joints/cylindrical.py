"""Cylindrical joint: translation along an axis and rotation about it."""

import math
from dataclasses import dataclass

from pbd.core.validate import finite_vector, unit_vector
from rigid.joints.joint import NO_LIMITS, Joint
from rigid.joints.joint_type import Angle, JointType, Shift
from rigid.motor import Motor
from rigid.rotation import frame_axes
from rigid.spring import Spring


@dataclass(eq=False, kw_only=True)
class Cylindrical(Joint):
    """Cylindrical joint: the child slides along n0 and rotates about it. The angle continues beyond full turns.

    Args (besides those of Joint): shift_limits, angle_limits: (low, high) [m], [rad], None for none; shift_friction,
    angle_friction: [N], [N m]; shift_spring, angle_spring; shift_motor, angle_motor: one of them.
    """

    shift_limits: tuple = NO_LIMITS
    angle_limits: tuple = NO_LIMITS
    shift_friction: float = 0.0
    angle_friction: float = 0.0
    shift_spring: Spring | None = None
    angle_spring: Spring | None = None
    shift_motor: Motor | None = None
    angle_motor: Motor | None = None

    type = JointType(
        "cylindrical", translations=(1, 2), right_angles=((1, 0), (2, 0)), coordinates=(
            Shift(0, limits="shift_limits", friction="shift_friction", spring="shift_spring", motor="shift_motor"),
            Angle(0, limits="angle_limits", friction="angle_friction", spring="angle_spring", motor="angle_motor"),
        ),
    )  # fmt: skip

    def __post_init__(self):
        super().__post_init__()
        if self.shift_motor is not None and self.angle_motor is not None:
            raise ValueError(f"{self.name!r} has shift_motor and angle_motor: expected one motor in a joint")

    @property
    def motor(self):
        """The joint's motor, None for none."""
        return self.angle_motor if self.shift_motor is None else self.shift_motor


def add_cylindrical(
    model, parent, child, point, axis, *, shift_limits=None, angle_limits=None, shift_friction=0.0, angle_friction=0.0,
    shift_spring=None, angle_spring=None, shift_motor=None, angle_motor=None, soft=None, collide=False,
    break_force=math.inf, break_torque=math.inf, name=None,
):  # fmt: skip
    """Add a cylindrical joint: the child translates along an axis and rotates about it.

    Args:
        parent, child, soft, collide, break_force, break_torque, name: see Model.
        point: any point on the axis (3,) [m].
        axis: (3,).
        shift_limits, angle_limits: (low, high) of the shift along the axis [m] and the angle about it [rad]; None for
            none.
        shift_friction, angle_friction: along and about the axis [N], [N m].
        shift_spring, angle_spring: a rigid.Spring along and about the axis.
        shift_motor, angle_motor: a rigid.Motor along or about the axis.

    Returns: index of the joint.
    """
    parent, child = model._pair("parent", parent, "child", child)
    point, axes = finite_vector("point", point), frame_axes(unit_vector("axis", axis))
    return model._append(model._make(
        Cylindrical, parent, child, name, point, axes, shift_limits=shift_limits, angle_limits=angle_limits,
        shift_friction=shift_friction, angle_friction=angle_friction, shift_spring=shift_spring,
        angle_spring=angle_spring, shift_motor=shift_motor, angle_motor=angle_motor, soft=soft, collide=collide,
        break_force=break_force, break_torque=break_torque,
    ))  # fmt: skip
