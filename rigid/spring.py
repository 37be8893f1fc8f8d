"""Springs: in a joint (Spring), between two points (PointSpring), and in place of a rigid joint (Soft)."""

import math
from dataclasses import dataclass, field

import numpy as np

from pbd.core.validate import finite_number, is_infinite, not_negative, positive


@dataclass(frozen=True)
class Spring:
    """Spring and damper along a joint's coordinate q: effort -stiffness (q - rest) - damping q̇.

    Args:
        stiffness: [N m/rad; slider: N/m].
        damping: [N m s/rad; slider: N s/m].
        rest: position without effort [rad; slider: m].
    """

    stiffness: float
    damping: float = 0.0
    rest: float = 0.0

    def __post_init__(self):
        object.__setattr__(self, "stiffness", not_negative("spring stiffness", self.stiffness))
        object.__setattr__(self, "damping", not_negative("spring damping", self.damping))
        object.__setattr__(self, "rest", finite_number("spring rest", self.rest))


def has_effect(spring):
    """Whether a joint's spring exists and has stiffness or damping. Args: spring: a Spring, or None."""
    return spring is not None and (spring.stiffness > 0 or spring.damping > 0)


def spring_numbers(spring):
    """Stiffness, damping and rest position of a joint's Spring; zeros for None."""
    return (0.0, 0.0, 0.0) if spring is None else (spring.stiffness, spring.damping, spring.rest)


@dataclass(frozen=True)
class Soft:
    """Compliance of a joint: springs and dampers in place of its rigid constraints.

    Give stiffness and damping, or frequency and damping_ratio.

    Args:
        stiffness, damping: against translation [N/m, N s/m]; infinite stiffness is rigid.
        angular_stiffness, angular_damping: against rotation [N m/rad, N m s/rad]; infinite stiffness is rigid.
        frequency: of the joined masses, for translation and rotation [Hz].
        damping_ratio: 1 is critical damping; used with frequency only.
    """

    stiffness: float = math.inf
    damping: float = 0.0
    angular_stiffness: float = math.inf
    angular_damping: float = 0.0
    frequency: float | None = None
    damping_ratio: float = 1.0

    def __post_init__(self):
        for name in ("stiffness", "angular_stiffness"):
            if not is_infinite(getattr(self, name)):
                object.__setattr__(self, name, not_negative(f"soft {name}", getattr(self, name)))
        for name in ("damping", "angular_damping", "damping_ratio"):
            object.__setattr__(self, name, not_negative(f"soft {name}", getattr(self, name)))
        if self.frequency is not None:
            object.__setattr__(self, "frequency", positive("soft frequency", self.frequency))
            if min(self.stiffness, self.angular_stiffness) < math.inf or max(self.damping, self.angular_damping) > 0:
                raise ValueError("soft with frequency and stiffness or damping: expected one or the other")


@dataclass(eq=False)
class PointSpring:
    """Spring between points of two bodies: force stiffness (l - rest_length) + damping dl/dt, l their distance.

    Args:
        name: unique among the model's springs.
        a, b: indices of the bodies; one of them may be rigid.GROUND.
        anchor_a, anchor_b: the points, in the frame of each body (3,) [m].
        stiffness: [N/m].
        damping: [N s/m].
        rest_length: [m].
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
