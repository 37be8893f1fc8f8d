"""What a type of joint declares, as data. Solvers, readings, the viewer and writers of files loop over it.

n_0, n_1 and n_2 are the frame axes of a joint, m those on its parent and n those on its child (joint.py). A type
declares what stays closed, as scalar equations:

    translations   the parent's axes m_a along which the child's anchor may not leave the parent's
    right_angles   pairs (a, b) with m_a·n_b = 0

and what is left free, as coordinates:

    Shift(k)       the way of the child's anchor along m_k
    Angle(k)       an angle about the axis k, counted past full turns
    Coordinate     any other: its equations are in the files of a `special` type

Shifts come first, then angles. So the child's frame is the parent's, shifted along its axes, then rotated: by R(m_k, q)
for one angle; by two angles R(m_0, a) R(n_1, b). These are also the coordinates of trees in "articulated".
There are two angles at most. A type that leaves all rotations free is `special`, as a ball is.
"""

from dataclasses import KW_ONLY, dataclass
from typing import NamedTuple

import numpy as np

from pbd.core.validate import one_of
from rigid.motor import Motor
from rigid.spring import Spring

ALL = (0, 1, 2)  # all axes
MOST_ANGLES = 2
SPECIAL = ("ball", "distance", "wheel")
NO_ROTATION = ((1, 0), (2, 0), (1, 2))  # right angles that leave no rotation


class Drives(NamedTuple):
    """What acts along a coordinate, besides limits."""

    friction: float  # [N m or N]
    spring: Spring | None
    motor: Motor | None


@dataclass(frozen=True)
class Coordinate:
    """A coordinate of a joint.

    Args: axis: k; limits, friction, spring, motor: names of the joint's fields for it, None for what it has not. A type
    of joint need not have these fields: those of Joint say that there is none.
    """

    axis: int = 0
    _: KW_ONLY
    limits: str | None = "limits"
    friction: str | None = "friction"
    spring: str | None = "spring"
    motor: str | None = "motor"

    counted = False  # whether it is an angle that continues beyond full turns
    is_read = True  # whether joint positions contain it
    unit = "rad"

    def drives(self, joint):
        """The Drives of a joint along this coordinate."""
        friction, spring, motor = (
            getattr(joint, name) if name else None for name in (self.friction, self.spring, self.motor)
        )
        return Drives(friction or 0.0, spring, motor)

    def position(self, turn, way):
        """The coordinate (...). Args: turn: m_a·n_b (..., 3, 3); way: d·m_a (..., 3) [m]."""
        raise NotImplementedError


@dataclass(frozen=True)
class Shift(Coordinate):
    """Shift q = d·m_k of the child's anchor from the parent's, d apart [m]."""

    unit = "m"

    def position(self, turn, way):
        """See Coordinate."""
        return way[..., self.axis]


@dataclass(frozen=True)
class Angle(Coordinate):
    """Angle q = atan2(m_a·n_b of `sine`, m_a·n_b of `cosine`), right-handed about the axis k.

    The axis is the parent's m_k, or the child's n_k for the second angle of a joint.

    Args: cosine, sine: pairs (a, b); None for those of an angle about m_k, the only one or the first of two, which is
    that of n_i from m_i to m_j, where i and j follow k. Universal has both: Angle(0) and Angle(1, (0, 0), (0, 2)).
    """

    cosine: tuple | None = None
    sine: tuple | None = None

    counted = True

    def __post_init__(self):
        i, j = (self.axis + 1) % 3, (self.axis + 2) % 3
        object.__setattr__(self, "cosine", self.cosine or (i, i))
        object.__setattr__(self, "sine", self.sine or (j, i))

    def position(self, turn, way):
        """See Coordinate; in (-π, π]."""
        return np.arctan2(turn[..., self.sine[0], self.sine[1]], turn[..., self.cosine[0], self.cosine[1]])


@dataclass(frozen=True)
class JointType:
    """What a type of joint keeps closed and leaves free.

    Args:
        kind: its name, such as "hinge".
        translations, right_angles, coordinates: see above.
        special: name of the parts that only this type has: of its rows (rigid/constraints/joints/special.py), of
            solver "verlet" and of files; None for a type that is all in what it declares.
        degrees_of_freedom: how many a special type leaves; others leave one for each coordinate.
        length: name of the field with a length that its rows need; None for none.
        special_rows: how many equalities [m] a special type has after its translations and right angles. Its function
            in rigid/constraints/joints/special.py writes them.
    """

    kind: str
    translations: tuple = ()
    right_angles: tuple = ()
    coordinates: tuple = ()
    special: str | None = None
    degrees_of_freedom: int | None = None
    length: str | None = None
    special_rows: int = 0

    def __post_init__(self):
        if self.special is not None:
            one_of("special", self.special, SPECIAL)
        elif self.special_rows:
            given = f"joint type {self.kind!r} with special_rows={self.special_rows}"
            raise ValueError(f"{given}: expected none, only a special type has a function that writes them")
        else:
            free = 6 - len(self.translations) - len(self.right_angles)
            if len(self.coordinates) != free:
                given = f"joint type {self.kind!r} with {len(self.coordinates)} coordinates"
                raise ValueError(f"{given}: expected {free}, which its translations and right_angles leave")
            for coordinate in self.coordinates:
                if not isinstance(coordinate, (Shift, Angle)):
                    given = f"joint type {self.kind!r} with a coordinate {type(coordinate).__name__}"
                    raise ValueError(f"{given}: expected Shift or Angle, others are those of a special type")
            if len(self.angles) > MOST_ANGLES:
                given = f"joint type {self.kind!r} with {len(self.angles)} angles"
                expected = f"expected at most {MOST_ANGLES}; a type that leaves all rotations free is special"
                raise ValueError(f"{given}: {expected}")
            if any(coordinate.counted for coordinate in self.coordinates[: len(self.coordinates) - len(self.angles)]):
                raise ValueError(f"joint type {self.kind!r} has an angle before a shift: expected shifts first")
            object.__setattr__(self, "degrees_of_freedom", free)

    @property
    def angles(self):
        """Which coordinates are counted angles, a list of places."""
        return [k for k, coordinate in enumerate(self.coordinates) if coordinate.counted]

    @property
    def slides(self):
        """Whether the child's anchor may leave the parent's."""
        return len(self.translations) < len(ALL)

    @property
    def takes_gears(self):
        """Whether gears can connect such joints: they have one coordinate, a shift or an angle.

        One degree of freedom is not enough: a special type may couple two coordinates.
        """
        return len(self.coordinates) == 1 and isinstance(self.coordinates[0], (Shift, Angle))

    @property
    def reverses(self):
        """Whether shifts along the child's axes reach the poses that shifts along the parent's axes reach.

        An angle may turn shifts into one another, as in a planar joint, or leave them, as in a cylindrical one.
        """
        shifts = {coordinate.axis for coordinate in self.coordinates if isinstance(coordinate, Shift)}
        turns = [self.coordinates[k].axis for k in self.angles]
        return all(shifts <= {axis} or shifts >= set(ALL) - {axis} for axis in turns)

    def side(self, coordinate):
        """Which body has the axis of a coordinate: 0 for the parent, 1 for the child. Args: coordinate: its place."""
        return int(coordinate in self.angles[1:])
