"""Joints and gears: what a model stores of each and what solvers read.

A joint connects a child body to a parent body at a point. It stores this point (the anchor) and its frame axes
n0, n1, n2 in the frames of both bodies; for rigid.GROUND that is the world frame. At time zero both anchors coincide,
except for Distance and Wheel. The axes coincide, too, except for Wheel and for a Ball whose cone is tilted. Joint
positions are zero in that pose. They count the child relative to the parent: right-handed about an axis, or along it.
"""

import math
from dataclasses import dataclass, field

import numpy as np

from pbd.core.messages import shown
from pbd.core.rotation import rotation_between
from pbd.core.validate import is_infinite, not_negative, positive, real_array, unit_vector
from rigid.motor import Motor
from rigid.rotation import frame_axes, rotate
from rigid.spring import Soft, Spring

NO_LIMITS = (-math.inf, math.inf)
COINCIDENT = 1e-9  # [m]: below this distance two points have no direction between them


@dataclass(eq=False, kw_only=True)
class Joint:
    """Base of all joints.

    Args:
        name: unique among the model's joints.
        parent, child: indices of the bodies; the parent may be rigid.GROUND.
        parent_anchor, child_anchor: the joint's point, in the frame of each body (3,) [m].
        parent_axes, child_axes: frame axes n0, n1, n2, in the frame of each body, as rows (3, 3).
        soft: a Soft; None for a rigid joint.
        collide: whether the two bodies collide with each other.
        break_force, break_torque: largest force [N], and torque about the joint's point [N m], that the joint applies
            to its child. A joint that applies more breaks for good; infinite for one that never does.

    Attributes:
        kind: name of the type, such as "hinge".
        degrees_of_freedom: how many the joint leaves.
        counted_angles: how many joint positions are angles that continue beyond full turns.
        limit_names: fields with the limits (low, high) of each coordinate.
        friction, armature, spring, motor, length: zero or None for types without them.
    """

    name: str
    parent: int
    child: int
    parent_anchor: np.ndarray = field(repr=False)
    child_anchor: np.ndarray = field(repr=False)
    parent_axes: np.ndarray = field(repr=False)
    child_axes: np.ndarray = field(repr=False)
    soft: Soft | None = None
    collide: bool = False
    break_force: float = math.inf
    break_torque: float = math.inf

    kind = "joint"
    degrees_of_freedom = 6
    counted_angles = 0
    limit_names = ()
    friction = 0.0
    armature = 0.0
    spring = None
    motor = None
    length = 0.0

    def __post_init__(self):
        for name, value, expected in (
            ("spring", self.spring, Spring), ("motor", self.motor, Motor), ("soft", self.soft, Soft)
        ):  # fmt: skip
            if value is not None and not isinstance(value, expected):
                kind = f"a rigid.{expected.__name__}, or None"
                raise TypeError(f"{name} of {self.name!r} is {shown(value)}: expected {kind}")
        for name in ("break_force", "break_torque"):
            if not is_infinite(getattr(self, name)):
                setattr(self, name, positive(name, getattr(self, name)))
        self.check_friction()
        self.armature = not_negative("armature", self.armature)
        for name in self.limit_names:
            setattr(self, name, checked_limits(name, getattr(self, name)))

    def check_friction(self):
        """Raise an error if the friction is not a number of zero or more."""
        self.friction = not_negative("friction", self.friction)

    @property
    def breaks(self):
        """Whether a load can break the joint."""
        return min(self.break_force, self.break_torque) < math.inf

    def coordinate_limits(self):
        """Limits (low, high) of each of the joint's coordinates, a list; infinite for none."""
        return [getattr(self, name) for name in self.limit_names]


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

    kind = "ball"
    degrees_of_freedom = 3

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

    kind = "hinge"
    degrees_of_freedom = 1
    counted_angles = 1
    limit_names = ("limits",)


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

    kind = "universal"
    degrees_of_freedom = 2
    counted_angles = 2
    limit_names = ("parent_limits", "child_limits")


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

    kind = "slider"
    degrees_of_freedom = 1
    limit_names = ("limits",)


@dataclass(eq=False, kw_only=True)
class Fixed(Joint):
    """Fixed joint: neither translation nor rotation."""

    kind = "fixed"
    degrees_of_freedom = 0


@dataclass(eq=False, kw_only=True)
class Distance(Joint):
    """Distance joint: the distance of two anchors stays within limits. n0 points from the parent's to the child's.

    Args (besides those of Joint):
        length: the distance at time zero [m].
        limits: (low, high) of its change since then [m]: (0, 0) is a rod, (-inf, 0) a string; None for none.
    """

    length: float
    limits: tuple = (0.0, 0.0)

    kind = "distance"
    degrees_of_freedom = 5
    limit_names = ("limits",)


@dataclass(eq=False, kw_only=True)
class Wheel(Joint):
    """Wheel: a thin rim rolls on a plane. The parent's n0 is the plane's normal, the child's n0 is the spin axis.

    The parent's anchor is a point of the plane, the child's anchor is the hub.

    Args (besides those of Joint):
        radius: of the rim [m].
        friction: coefficient of friction of the rim, which can then slip and leave the plane. None for ideal rolling:
            the rim stays on the plane and does not slip, whatever the forces.
    """

    radius: float
    friction: float | None = None

    kind = "wheel"
    degrees_of_freedom = 3

    def __post_init__(self):
        self.radius = positive("radius", self.radius)
        super().__post_init__()

    def check_friction(self):
        """See Joint; None is no number, but ideal rolling."""
        if self.friction is not None:
            super().check_friction()


@dataclass(frozen=True)
class Gear:
    """Gear between two joints with one coordinate each: q_b = ratio q_a.

    Args: name: unique among the model's gears; joint_a, joint_b: indices of the joints; ratio: not zero.
    """

    name: str
    joint_a: int
    joint_b: int
    ratio: float


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


def wheel_contact(hub, axis, radius, normal):
    """The point of a rim that is nearest to a plane, hub - ρ with ρ = r (n - (n·a) a)/|n - (n·a) a|.

    Args: hub (3,) [m]; axis: the spin axis a (3,); radius: r [m]; normal: n of the plane (3,). Both have length one.

    Returns: (3,) [m]. Raises: ValueError if the rim is parallel to the plane.
    """
    across = normal - normal @ axis * axis
    if np.linalg.norm(across) < 1e-6:
        raise ValueError(f"axis is {tuple(map(float, axis))}, the normal of the ground: expected an axis across it")
    return hub - positive("radius", radius) * across / np.linalg.norm(across)


def universal_axes(parent_axis, child_axis):
    """Frame axes (3, 3) of a universal joint in the world. Raises: ValueError if its axes are not at a right angle."""
    n0, n1 = unit_vector("parent_axis", parent_axis), unit_vector("child_axis", child_axis)
    if abs(n0 @ n1) > 1e-6:
        between = math.degrees(math.acos(np.clip(n0 @ n1, -1, 1)))
        raise ValueError(f"parent_axis and child_axis are {between:g}° apart: expected a right angle")
    n1 = unit_vector("child_axis", n1 - n0 @ n1 * n0)
    return np.stack([n0, n1, np.cross(n0, n1)])


def checked_limits(name, limits):
    """Check limits (low, high) of a joint position. Returns them, or the infinite pair for None.

    Raises: TypeError for anything but two numbers; ValueError if low exceeds high, or if zero, the position in the
    starting pose, is outside.
    """
    if limits is None:
        return NO_LIMITS
    try:
        pair = real_array(name, limits)
    except (TypeError, ValueError):
        pair = None
    if pair is None or pair.shape != (2,):
        raise TypeError(f"{name} are {shown(limits)}: expected (low, high), or None")
    low, high = map(float, pair)
    if math.isnan(low) or math.isnan(high):
        raise ValueError(f"{name} are {low:g} to {high:g}: expected numbers, infinite for no limit on that side")
    if low > high:
        raise ValueError(f"{name} are {low:g} to {high:g}, the wrong way round: expected low <= high")
    violation = max(low, -high)
    if violation > 0:
        raise ValueError(
            f"{name} are {low:g} to {high:g}, and the starting pose violates them by {violation:g}: expected limits "
            "that include zero, the position in the starting pose"
        )
    return low, high
