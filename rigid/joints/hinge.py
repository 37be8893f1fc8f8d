"""Hinge: rotation about an axis."""

import math
from dataclasses import dataclass

from pbd.core.validate import finite_vector, unit_vector
from rigid.joints.joint import NO_LIMITS, Joint
from rigid.joints.joint_type import ALL, Angle, JointType
from rigid.motor import Motor
from rigid.rotation import frame_axes
from rigid.spring import Spring


@dataclass(eq=False, kw_only=True)
class Hinge(Joint):
    """Hinge: rotation about n0. The angle continues beyond full turns.

    Args (besides those of Joint): limits: (low, high) [rad], None for none; friction: [N m]; spring; motor; armature:
    inertia of a geared rotor, times its gear ratio squared [kg m²].
    """

    limits: tuple = NO_LIMITS
    friction: float = 0.0
    spring: Spring | None = None
    motor: Motor | None = None
    armature: float = 0.0

    type = JointType("hinge", translations=ALL, right_angles=((1, 0), (2, 0)), coordinates=(Angle(0),))


def add_hinge(
    model, parent, child, point, axis, *, limits=None, friction=0.0, spring=None, motor=None, armature=0.0,
    soft=None, collide=False, break_force=math.inf, break_torque=math.inf, name=None,
):  # fmt: skip
    """Add a hinge: the child rotates about an axis.

    Args:
        parent, child, soft, collide, break_force, break_torque, name: see Model.
        point: any point on the axis (3,) [m].
        axis: (3,).
        limits: (low, high) [rad]; None for none.
        friction: [N m].
        spring, motor: a rigid.Spring, a rigid.Motor.
        armature: inertia of a geared rotor, times its gear ratio squared: it resists q̈ alone [kg m²].

    Returns: index of the joint.
    """
    parent, child = model._pair("parent", parent, "child", child)
    point, axes = finite_vector("point", point), frame_axes(unit_vector("axis", axis))
    return model._append(model._make(
        Hinge, parent, child, name, point, axes, limits=limits, friction=friction, spring=spring, motor=motor,
        armature=armature, soft=soft, collide=collide,
        break_force=break_force, break_torque=break_torque,
    ))  # fmt: skip
