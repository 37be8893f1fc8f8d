"""Planar joint: translation in a plane and rotation about its normal."""

import math
from dataclasses import dataclass

from pbd.core.validate import finite_vector, unit_vector
from rigid.joints.joint import NO_LIMITS, Joint, axes_at_right_angle
from rigid.joints.joint_type import Angle, JointType, Shift
from rigid.rotation import frame_axes
from rigid.spring import Spring


@dataclass(eq=False, kw_only=True)
class Planar(Joint):
    """Planar joint: the child slides along n1 and n2 of the parent, then rotates about the normal n0.

    The angle continues beyond full turns.

    Args (besides those of Joint): first_limits, second_limits: (low, high) of the shifts along n1 and n2 [m], None for
    none; angle_limits: [rad]; shift_friction: along n1 and along n2 [N]; angle_friction: [N m]; shift_spring: along n1
    and along n2; angle_spring.
    """

    first_limits: tuple = NO_LIMITS
    second_limits: tuple = NO_LIMITS
    angle_limits: tuple = NO_LIMITS
    shift_friction: float = 0.0
    angle_friction: float = 0.0
    shift_spring: Spring | None = None
    angle_spring: Spring | None = None

    type = JointType(
        "planar", translations=(0,), right_angles=((1, 0), (2, 0)), coordinates=(
            Shift(1, limits="first_limits", friction="shift_friction", spring="shift_spring"),
            Shift(2, limits="second_limits", friction="shift_friction", spring="shift_spring"),
            Angle(0, limits="angle_limits", friction="angle_friction", spring="angle_spring"),
        ),
    )  # fmt: skip


def add_planar(
    model, parent, child, point, normal, *, axis=None, first_limits=None, second_limits=None, angle_limits=None,
    shift_friction=0.0, angle_friction=0.0, shift_spring=None, angle_spring=None, soft=None, collide=False,
    break_force=math.inf, break_torque=math.inf, name=None,
):  # fmt: skip
    """Add a planar joint: a point of the child stays in a plane of the parent, and the child rotates about its normal.

    Args:
        parent, child, soft, collide, break_force, break_torque, name: see Model.
        point: the point of the child, in the plane (3,) [m]; None for the child's centre of mass.
        normal: of the plane (3,).
        axis: direction of the first shift, at a right angle to the normal (3,); None for any. The second shift is along
            normal × axis.
        first_limits, second_limits: (low, high) of the shifts [m]; None for none.
        angle_limits: (low, high) of the angle about the normal [rad]; None for none.
        shift_friction, angle_friction: along each of both directions, and about the normal [N], [N m].
        shift_spring, angle_spring: a rigid.Spring along each of both directions, and about the normal.

    Returns: index of the joint.
    """
    parent, child = model._pair("parent", parent, "child", child)
    point = model.bodies[child].position if point is None else finite_vector("point", point)
    axes = frame_axes(unit_vector("normal", normal)) if axis is None else axes_at_right_angle(normal=normal, axis=axis)
    return model._append(model._make(
        Planar, parent, child, name, point, axes, first_limits=first_limits, second_limits=second_limits,
        angle_limits=angle_limits, shift_friction=shift_friction, angle_friction=angle_friction,
        shift_spring=shift_spring, angle_spring=angle_spring, soft=soft, collide=collide, break_force=break_force,
        break_torque=break_torque,
    ))  # fmt: skip
