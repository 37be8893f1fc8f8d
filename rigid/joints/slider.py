"""Slider: translation along an axis."""

import math
from dataclasses import dataclass

from pbd.core.validate import finite_vector, unit_vector
from rigid.joints.joint import NO_LIMITS, Joint
from rigid.joints.joint_type import NO_ROTATION, JointType, Shift
from rigid.motor import Motor
from rigid.rotation import frame_axes
from rigid.spring import Spring


@dataclass(eq=False, kw_only=True)
class Slider(Joint):
    """Slider: translation of the child's anchor from the parent's along n0, without rotation.

    Args (besides those of Joint): limits: (low, high) [m], None for none; friction: [N]; spring; motor; armature: of a
    geared rotor, likewise [kg].
    """

    limits: tuple = NO_LIMITS
    friction: float = 0.0
    spring: Spring | None = None
    motor: Motor | None = None
    armature: float = 0.0

    type = JointType("slider", translations=(1, 2), right_angles=NO_ROTATION, coordinates=(Shift(0),))


def add_slider(
    model, parent, child, point, axis, *, limits=None, friction=0.0, spring=None, motor=None, armature=0.0,
    soft=None, collide=False, break_force=math.inf, break_torque=math.inf, name=None,
):  # fmt: skip
    """Add a slider: the child translates along an axis and does not rotate.

    Args:
        parent, child, soft, collide, break_force, break_torque, name: see Model.
        point: any point on the axis (3,) [m]; None for the child's centre of mass.
        axis: (3,).
        limits: (low, high) [m]; None for none.
        friction: [N].
        spring, motor: a rigid.Spring, a rigid.Motor.
        armature: likewise, of a rotor that drives the slider: it resists q̈ alone [kg].

    Returns: index of the joint.
    """
    parent, child = model._pair("parent", parent, "child", child)
    point = model.bodies[child].position if point is None else finite_vector("point", point)
    return model._append(model._make(
        Slider, parent, child, name, point, frame_axes(unit_vector("axis", axis)), limits=limits,
        friction=friction, spring=spring, motor=motor, armature=armature, soft=soft, collide=collide,
        break_force=break_force, break_torque=break_torque,
    ))  # fmt: skip
