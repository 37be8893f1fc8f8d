"""Joint, the base of all joints, and gears: what a model stores of each and what solvers read.

A joint connects a child body to a parent body at a point. It stores this point (the anchor) and its frame axes
n0, n1, n2 in the frames of both bodies; for rigid.GROUND that is the world frame. At time zero both anchors coincide,
except for Distance and Wheel. The axes coincide, too, except for Wheel and for a Ball whose cone is tilted. Joint
positions are zero in that pose. They count the child relative to the parent: right-handed about an axis, or along it.
"""

import math
from dataclasses import dataclass, field, fields
from typing import ClassVar

import numpy as np

from pbd.core.messages import shown
from pbd.core.validate import is_infinite, not_negative, positive, real_array, unit_vector
from rigid.joints.joint_type import JointType
from rigid.motor import Motor
from rigid.spring import Soft, Spring

NO_LIMITS = (-math.inf, math.inf)
PARTS = {"spring": Spring, "motor": Motor, "soft": Soft}  # classes of fields, by the last word of their names
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
        type: the JointType of the class.
        friction, armature, spring, motor: zero or None for types without them.
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

    type: ClassVar[JointType]
    friction = 0.0
    armature = 0.0
    spring = None
    motor = None

    def __post_init__(self):
        for name in (each.name for each in fields(self)):
            word, value = name.rpartition("_")[2], getattr(self, name)  # "shift_spring" is a spring
            if word == "friction":
                setattr(self, name, self.checked_friction(name, value))
            elif word in PARTS and value is not None and not isinstance(value, PARTS[word]):
                expected = f"a rigid.{PARTS[word].__name__}, or None"
                raise TypeError(f"{name} of {self.name!r} is {shown(value)}: expected {expected}")
        for name in ("break_force", "break_torque"):
            if not is_infinite(getattr(self, name)):
                setattr(self, name, positive(name, getattr(self, name)))
        self.armature = not_negative("armature", self.armature)
        for name in self.limit_names:
            setattr(self, name, checked_limits(name, getattr(self, name)))

    def checked_friction(self, name, friction):
        """Check a field with a friction, a number of zero or more. Returns: the number."""
        return not_negative(name, friction)

    @property
    def springs(self):
        """All springs of the joint, a list."""
        return [value for value in vars(self).values() if isinstance(value, Spring)]

    @property
    def kind(self):
        """Name of the type, such as "hinge"."""
        return self.type.kind

    @property
    def degrees_of_freedom(self):
        """How many degrees of freedom the joint leaves."""
        return self.type.degrees_of_freedom

    @property
    def limit_names(self):
        """Names of the fields with the limits (low, high) of each coordinate."""
        return [each.limits for each in self.type.coordinates if each.limits]

    @property
    def breaks(self):
        """Whether a load can break the joint."""
        return min(self.break_force, self.break_torque) < math.inf

    def coordinate_limits(self):
        """Limits (low, high) of each of the joint's coordinates, a list; infinite for none."""
        return [getattr(self, each.limits) if each.limits else NO_LIMITS for each in self.type.coordinates]


@dataclass(frozen=True)
class Gear:
    """Gear between two joints with one coordinate each: q_b = ratio q_a.

    Args: name: unique among the model's gears; joint_a, joint_b: indices of the joints; ratio: not zero.
    """

    name: str
    joint_a: int
    joint_b: int
    ratio: float


def axes_at_right_angle(**given):
    """Frame axes (3, 3) whose first two have given directions. Args: two directions (3,) by their names.

    Raises: ValueError if they are not at a right angle.
    """
    (first, a), (second, b) = given.items()
    n0, n1 = unit_vector(first, a), unit_vector(second, b)
    if abs(n0 @ n1) > 1e-6:
        between = math.degrees(math.acos(np.clip(n0 @ n1, -1, 1)))
        raise ValueError(f"{first} and {second} are {between:g}° apart: expected a right angle")
    n1 = unit_vector(second, n1 - n0 @ n1 * n0)
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
