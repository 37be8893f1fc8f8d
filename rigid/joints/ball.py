"""Ball joint: its description. Its rows are in rigid/constraints/joints/ball.py."""

import math
from dataclasses import dataclass

import numpy as np

from pbd.core.messages import shown
from pbd.core.rotation import rotation_between
from pbd.core.validate import finite_vector, positive, unit_vector
from rigid.joints.joint import COINCIDENT, NO_LIMITS, Joint, checked_limits
from rigid.joints.joint_type import ALL, Coordinate, JointType
from rigid.rotation import frame_axes, from_matrix, rotate, swing_twist_angles
from rigid.spring import Spring

# Friction and spring act on the whole rotation, and Ball.coordinate_limits has the limits.
OF_WHOLE = {"limits": None, "friction": None, "spring": None, "motor": None}


def swing_and_twist(turn):
    """Swing and twist [rad], two (...). Args: turn: m_a·n_b of the axes m of the parent, n of the child (..., 3, 3)."""
    return swing_twist_angles(from_matrix(turn), np.array([1.0, 0.0, 0.0]))


class Swing(Coordinate):
    """The angle between m_0 and n_0."""

    def position(self, turn, way):
        """See Coordinate."""
        return swing_and_twist(turn)[0]


class Twist(Coordinate):
    """The angle about n_0."""

    def position(self, turn, way):
        """See Coordinate."""
        return swing_and_twist(turn)[1]


@dataclass(eq=False, kw_only=True)
class Ball(Joint):
    """Ball joint: two points coincide.

    The parent's n0 is the axis of the cone, the child's n0 is the twist axis. The rotation from the parent's axes to
    the child's axes, seen in the parent's, is a twist about n0 followed by a swing about an axis at a right angle to
    n0 (rotation.swing_twist). The swing angle is the angle between both n0. At time zero the twist is zero; the swing
    is zero, too, unless the cone is tilted.

    Args (besides those of Joint):
        swing_limit: half the opening angle of the cone, above 0 and at most π [rad]; None for none.
        twist_limits: (low, high) of the twist angle, within ±π [rad]; None for none.
        friction: against the relative angular velocity [N m].
        spring: along the rotation vector of the rotation since time zero.
    """

    swing_limit: float | None = None
    twist_limits: tuple = NO_LIMITS
    friction: float = 0.0
    spring: Spring | None = None

    type = JointType(
        "ball", translations=ALL, coordinates=(Swing(**OF_WHOLE), Twist(**OF_WHOLE)), special="ball",
        degrees_of_freedom=3,
    )  # fmt: skip

    def __post_init__(self):
        super().__post_init__()
        if self.swing_limit is None:
            self.swing_limit = math.inf
        elif positive("swing_limit", self.swing_limit) > math.pi:
            raise ValueError(f"swing_limit is {self.swing_limit:g}: expected at most π")
        limits = self.twist_limits
        self.twist_limits = checked_limits("twist_limits", limits)
        if self.twist_limits != NO_LIMITS and max(map(abs, self.twist_limits)) > math.pi:
            raise ValueError(f"twist_limits are {shown(tuple(limits))}: expected both within ±π")
        if self.spring is not None and self.spring.rest:
            raise ValueError(f"spring of a ball with rest {self.spring.rest:g}: expected zero, the starting pose")

    def check_swing(self, swing):
        """Raise ValueError if the swing angle of the starting pose [rad] is outside the cone."""
        if swing > self.swing_limit + 1e-12:
            raise ValueError(
                f"swing_limit is {self.swing_limit:g}, and the starting pose violates it by "
                f"{swing - self.swing_limit:g}: expected at least {swing:g} rad, the angle between axis and cone_axis"
            )

    def coordinate_limits(self):
        """See Joint."""
        return [(-math.inf, self.swing_limit), self.twist_limits]


def ball_axes(axis, cone_axis, arm):
    """Frame axes of a ball joint in the world.

    Args: axis, cone_axis: see Model.add_ball; arm: from the joint's point to the child's centre of mass (3,) [m].

    Returns: the child's axes (3, 3), the parent's axes (3, 3), and the angle between their n0 [rad].
    """
    if axis is None:
        axis = arm if np.linalg.norm(arm) > COINCIDENT else (0.0, 0.0, 1.0)
    axis = unit_vector("axis", axis)
    cone_axis = axis if cone_axis is None else unit_vector("cone_axis", cone_axis)
    swing = math.atan2(np.linalg.norm(np.cross(axis, cone_axis)), axis @ cone_axis)
    axes = frame_axes(axis)
    return axes, rotate(rotation_between(axes[0], cone_axis), axes), swing


def add_ball(
    model, parent, child, point, *, axis=None, cone_axis=None, swing_limit=None, twist_limits=None, friction=0.0,
    spring=None, soft=None, collide=False, break_force=math.inf, break_torque=math.inf, name=None,
):  # fmt: skip
    """Add a ball joint: one point of the child stays at one point of the parent.

    Args:
        parent, child, soft, collide, break_force, break_torque, name: see Model.
        point: (3,) [m].
        axis: twist axis (3,); None for the direction from the point to the child's centre of mass, or z if they
            coincide.
        cone_axis: axis of the cone that contains the child's twist axis, fixed in the parent (3,); None for the
            twist axis at time zero.
        swing_limit: half the opening angle of the cone, above 0 and at most π [rad]; None for none.
        twist_limits: (low, high) within ±π [rad]; None for none. See rigid.Ball for both angles.
        friction: [N m].
        spring: a rigid.Spring towards the starting pose; its rest must be zero.

    Returns: index of the joint.
    """
    parent, child = model._pair("parent", parent, "child", child)
    point = finite_vector("point", point)
    axes, parent_axes, swing = ball_axes(axis, cone_axis, model.bodies[child].position - point)
    joint = model._make(
        Ball, parent, child, name, point, axes, parent_axes=parent_axes, swing_limit=swing_limit,
        twist_limits=twist_limits, friction=friction, spring=spring, soft=soft, collide=collide,
        break_force=break_force, break_torque=break_torque,
    )  # fmt: skip
    joint.check_swing(swing)
    return model._append(joint)
