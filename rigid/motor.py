"""Motors in joints, and how a solver looks up the motor whose target changes."""

import math
from dataclasses import dataclass

from pbd.core.validate import finite_number, not_negative, positive, spread
from rigid.names import checked_index


@dataclass(frozen=True)
class Motor:
    """Motor along a joint's coordinate: it keeps a speed or holds a position, up to a largest effort.

    Give speed or position.

    Args:
        speed: target speed [rad/s; slider: m/s].
        position: target position [rad; slider: m].
        max_effort: largest torque or force [N m; slider: N].
        position_gain: speed towards the target position, divided by the distance to it [1/s]. With the default of 20
            the motor reacts quickly, and brakes in time if max_effort is a few times the effort that the load needs.
    """

    speed: float | None = None
    position: float | None = None
    max_effort: float = math.inf
    position_gain: float = 20.0

    def __post_init__(self):
        if (self.speed is None) == (self.position is None):
            given = "neither" if self.speed is None else "both"
            raise ValueError(f"motor with {given} of speed and position: expected one of them")
        object.__setattr__(self, self.controls, finite_number(f"motor {self.controls}", self.target))
        if self.max_effort != math.inf:
            object.__setattr__(self, "max_effort", not_negative("motor max_effort", self.max_effort))
        object.__setattr__(self, "position_gain", positive("motor position_gain", self.position_gain))

    @property
    def controls(self):
        """What the motor controls: "speed" or "position"."""
        return "speed" if self.position is None else "position"

    @property
    def target(self):
        """Target speed [rad/s or m/s] or position [rad or m]."""
        return self.speed if self.position is None else self.position


def motor_target(model, joint, speed, position, worlds):
    """Check the arguments of a solver's set_motor.

    Args:
        model: a Model.
        joint: index or name.
        speed, position: a number for all worlds, or (worlds,), or None.
        worlds: number of worlds.

    Returns: index of the joint; "speed" or "position"; targets (worlds,).

    Raises: ValueError for an unknown joint, a joint without a motor, or a target of the other kind.
    """
    index = checked_index("joint", joint, model.joints, "joint")
    name, motor = model.joints[index].name, model.joints[index].motor
    if motor is None:
        driven = ", ".join(repr(each.name) for each in model.joints if each.motor is not None) or "none"
        raise ValueError(f"joint {name!r} has no motor: expected one made with motor= ({driven})")
    given = {"speed": speed, "position": position}
    if [key for key in given if given[key] is not None] != [motor.controls]:
        what = " and ".join(key for key in given if given[key] is not None) or "no target"
        raise ValueError(f"{what} for the motor of {name!r}, which was made with {motor.controls}=: "
                         f"expected {motor.controls} alone")  # fmt: skip
    return index, motor.controls, spread(f"{motor.controls} of {name!r}", given[motor.controls], (worlds,))
