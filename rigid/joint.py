"""Joints, springs, motors and gears: what a model stores of each, and what solvers read.

A joint ties a child to a parent at a point. Anchors and triads are stored in both bodies' own frames (the world's, for
rigid.GROUND). In the world at time zero the anchors coincide, but for a distance, and the triads, but for a ball whose
cone is tilted. Positions are zero in that pose and count child relative to parent, right-handed about an axis, or along
it.
"""

import math
from dataclasses import dataclass, field

import numpy as np

from pbd.core.validate import finite_number, not_negative, positive, spread
from rigid.names import look_up

NO_LIMITS = (-math.inf, math.inf)


@dataclass(frozen=True)
class Spring:
    """A spring in a joint: effort -stiffness (q - rest) - damping q̇.

    Arguments: stiffness [N m/rad, slider: N/m]; damping [N m s/rad, slider: N s/m]; rest [rad or m].
    """

    stiffness: float
    damping: float = 0.0
    rest: float = 0.0

    def __post_init__(self):
        object.__setattr__(self, "stiffness", not_negative("spring stiffness", self.stiffness))
        object.__setattr__(self, "damping", not_negative("spring damping", self.damping))
        object.__setattr__(self, "rest", finite_number("spring rest", self.rest))


@dataclass(frozen=True)
class Motor:
    """A motor in a joint, that keeps a speed or holds a position as far as its effort allows.

    Arguments: speed [rad/s or m/s] or position [rad or m], one of them; max_effort [N m or N], infinite by default;
    position_gain: what is left of the way to a position is covered at this part of it in a second [1/s]: 20 is slow enough to
    brake in time where the effort is a few times what the load takes, and quick to the eye.
    """

    speed: float | None = None
    position: float | None = None
    max_effort: float = math.inf
    position_gain: float = 20.0

    def __post_init__(self):
        if (self.speed is None) == (self.position is None):
            given = "neither" if self.speed is None else "both"
            raise ValueError(f"motor with {given} of speed and position: expected one of them")
        name = "speed" if self.position is None else "position"
        object.__setattr__(self, name, finite_number(f"motor {name}", getattr(self, name)))
        if self.max_effort != math.inf:
            object.__setattr__(self, "max_effort", not_negative("motor max_effort", self.max_effort))
        object.__setattr__(self, "position_gain", positive("motor position_gain", self.position_gain))


@dataclass(frozen=True)
class Soft:
    """How a joint gives way, instead of holding hard: as springs and dampers on all that it keeps together.

    Arguments: stiffness [N/m] and damping [N s/m] of shifts, angular_stiffness [N m/rad] and angular_damping
    [N m s/rad] of turns, infinite and zero by default: hard; or frequency [Hz] and damping_ratio, of the masses that
    are joined, for all of them alike.
    """

    stiffness: float = math.inf
    damping: float = 0.0
    angular_stiffness: float = math.inf
    angular_damping: float = 0.0
    frequency: float | None = None
    damping_ratio: float = 1.0

    def __post_init__(self):
        for name in ("stiffness", "angular_stiffness"):
            if getattr(self, name) != math.inf:
                object.__setattr__(self, name, not_negative(f"soft {name}", getattr(self, name)))
        for name in ("damping", "angular_damping", "damping_ratio"):
            object.__setattr__(self, name, not_negative(f"soft {name}", getattr(self, name)))
        if self.frequency is not None:
            object.__setattr__(self, "frequency", positive("soft frequency", self.frequency))
            if min(self.stiffness, self.angular_stiffness) < math.inf or max(self.damping, self.angular_damping) > 0:
                raise ValueError("soft with frequency and stiffness or damping: expected one way or the other")


@dataclass(eq=False, kw_only=True)
class Joint:
    """What all joints have.

    Arguments:
        name: unique among the model's joints.
        parent, child: indices of bodies; the parent may be rigid.GROUND.
        parent_anchor, child_anchor: the joint's point in the frame of each (3,) [m].
        parent_axes, child_axes: the triad n0, n1, n2 in the frame of each, as rows (3, 3).
        collide: whether the two bodies touch one another.
        soft: a Soft, None for a hard joint.

    `kind` is the joint's name in lower case, `freedom` how many degrees of freedom it leaves.
    """

    name: str
    parent: int
    child: int
    parent_anchor: np.ndarray = field(repr=False)
    child_anchor: np.ndarray = field(repr=False)
    parent_axes: np.ndarray = field(repr=False)
    child_axes: np.ndarray = field(repr=False)
    collide: bool = False
    soft: Soft | None = None

    kind = "joint"
    freedom = 6

    def __post_init__(self):
        for name, expected in (("spring", Spring), ("motor", Motor), ("soft", Soft)):
            value = getattr(self, name, None)
            if value is not None and not isinstance(value, expected):
                raise TypeError(f"{name} of {self.name!r} is {value!r}: expected a rigid.{expected.__name__}, or None")
        if hasattr(self, "friction"):
            self.friction = not_negative("friction", self.friction)
        for name in ("limits", "parent_limits", "child_limits", "twist_limits"):
            if hasattr(self, name):
                setattr(self, name, checked_limits(name, getattr(self, name)))


@dataclass(eq=False, kw_only=True)
class Ball(Joint):
    """Two points kept together.

    The parent's n0 is the middle of the cone, the child's n0 the twist axis. The rotation from the parent's triad to
    the child's, seen in the parent's, is a twist about n0 and then a swing about an axis at a right angle to n0
    (rotation.swing_twist). The swing angle is the one between the two n0, at most swing_limit [rad], infinite for none;
    the twist angle lies in twist_limits [rad]. At time zero the twist is zero, and so is the swing unless the cone is
    tilted. Friction [N m] opposes the relative angular velocity; the spring turns back to the pose of time zero, along
    the rotation vector of the rotation since then.
    """

    swing_limit: float = math.inf
    twist_limits: tuple = NO_LIMITS
    friction: float = 0.0
    spring: Spring | None = None

    kind = "ball"
    freedom = 3


@dataclass(eq=False, kw_only=True)
class Hinge(Joint):
    """A turn about n0, its angle counted on past full turns. Limits [rad]; friction [N m]."""

    limits: tuple = NO_LIMITS
    friction: float = 0.0
    spring: Spring | None = None
    motor: Motor | None = None

    kind = "hinge"
    freedom = 1


@dataclass(eq=False, kw_only=True)
class Universal(Joint):
    """A turn a about the parent's n0, then b about the child's n1, which stay at a right angle: R = R(n0, a) R(n1, b).

    parent_limits are those of a, child_limits of b [rad]; friction [N m] and spring act about each.
    """

    parent_limits: tuple = NO_LIMITS
    child_limits: tuple = NO_LIMITS
    friction: float = 0.0
    spring: Spring | None = None

    kind = "universal"
    freedom = 2


@dataclass(eq=False, kw_only=True)
class Slider(Joint):
    """A shift along n0, of the child's anchor from the parent's, without turning. Limits [m]; friction [N]."""

    limits: tuple = NO_LIMITS
    friction: float = 0.0
    spring: Spring | None = None
    motor: Motor | None = None

    kind = "slider"
    freedom = 1


@dataclass(eq=False, kw_only=True)
class Fixed(Joint):
    """Two bodies as one."""

    kind = "fixed"
    freedom = 0


@dataclass(eq=False, kw_only=True)
class Distance(Joint):
    """Two anchors at a distance: `length` at time zero [m], and its change since then within limits [m].

    The limits (0, 0) are a rod, (-inf, 0) a string. The triads' n0 is the direction from the parent's anchor to the
    child's at time zero.
    """

    length: float
    limits: tuple = (0.0, 0.0)

    kind = "distance"
    freedom = 5


@dataclass(eq=False)
class PointSpring:
    """A spring between points of two bodies: force stiffness (l - rest_length) + damping dl/dt, l their distance.

    Arguments: name; a, b: indices of bodies, one of them may be rigid.GROUND; anchor_a, anchor_b: the points in the
    frame of each (3,) [m]; stiffness [N/m]; damping [N s/m]; rest_length [m].
    """

    name: str
    a: int
    b: int
    anchor_a: np.ndarray = field(repr=False)
    anchor_b: np.ndarray = field(repr=False)
    stiffness: float
    damping: float
    rest_length: float

    def __post_init__(self):
        self.stiffness = not_negative("spring stiffness", self.stiffness)
        self.damping = not_negative("spring damping", self.damping)
        self.rest_length = not_negative("spring rest_length", self.rest_length)


@dataclass(frozen=True)
class Gear:
    """Two joints of one coordinate that move together: q_b = ratio q_a. Arguments: indices of joints; ratio."""

    name: str
    joint_a: int
    joint_b: int
    ratio: float


def checked_limits(name, limits):
    """Limits (low, high) of a joint position, the infinite pair for None.

    Raises: ValueError for the wrong way round, or where zero, the starting pose's position, lies outside.
    """
    if limits is None:
        return NO_LIMITS
    try:
        low, high = (float(limit) for limit in limits)
    except (TypeError, ValueError):
        raise TypeError(f"{name} are {limits!r}: expected (low, high), or None") from None
    if math.isnan(low) or math.isnan(high):
        raise ValueError(f"{name} are {low:g} to {high:g}: expected numbers, infinite for no limit on that side")
    if low > high:
        raise ValueError(f"{name} are {low:g} to {high:g}, the wrong way round: expected low <= high")
    beyond = max(low, -high)
    if beyond > 0:
        raise ValueError(
            f"{name} are {low:g} to {high:g}: the starting pose violates them by {beyond:g}; "
            "joint positions are zero in that pose, expected limits with zero between them"
        )
    return low, high


def motor_target(model, joint, speed, position, worlds):
    """What a solver's set_motor is asked for: index of the joint, "speed" or "position", and targets (worlds,).

    Arguments: model: a Model; joint: index or name; speed, position: numbers for all worlds or (worlds,), or None.

    Raises: ValueError for an unknown joint, one without a motor, and a target that its motor has not.
    """
    index = look_up("joint", joint, model.joints, "joint")
    named, motor = model.joints[index].name, getattr(model.joints[index], "motor", None)
    if motor is None:
        driven = ", ".join(repr(one.name) for one in model.joints if getattr(one, "motor", None)) or "none"
        raise ValueError(f"joint {named!r} has no motor: expected one of those declared with motor= ({driven})")
    name, other = ("speed", "position") if motor.position is None else ("position", "speed")
    given = {"speed": speed, "position": position}
    if given[name] is None or given[other] is not None:
        what = " and ".join(each for each in given if given[each] is not None) or "no target"
        raise ValueError(f"{what} for the motor of {named!r}, which was declared with {name}=: expected {name} alone")
    return index, name, spread(f"{name} of {named!r}", given[name], (worlds,))
