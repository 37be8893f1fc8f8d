"""Motors in joints, and how a solver looks up the motor whose target changes."""

import math
from dataclasses import dataclass

from pbd.core.messages import listed, shown
from pbd.core.validate import finite_number, is_infinite, not_negative, positive, spread
from rigid.names import checked_index

# What a motor can control.
TARGETS = ("speed", "position", "torque")


@dataclass(frozen=True)
class Motor:
    """Motor along a joint's coordinate: it keeps a speed or holds a position, up to a largest effort, or it has a
    constant torque.

    Give speed, position or torque.

    Args:
        speed: target speed [rad/s; slider: m/s].
        position: target position [rad; slider: m].
        torque: on the child, and its opposite on the parent [N m; slider: a force, N].
        max_effort: largest torque or force of a motor with a speed or position [N m; slider: N].
        position_gain: speed towards the target position, divided by the distance to it [1/s]. With the default of 20
            the motor reacts quickly, and brakes in time if max_effort is a few times the effort that the load needs.
        max_speed: the largest speed towards the target position [rad/s; slider: m/s].
        stiffness, damping: make the motor compliant, a proportional-derivative controller. With a position its effort
            is stiffness (position - q) - damping dq/dt [N m/rad, N m s/rad; slider: N/m, N s/m], with a speed it is
            damping (speed - dq/dt). position_gain has no effect then.
    """

    speed: float | None = None
    position: float | None = None
    torque: float | None = None
    max_effort: float = math.inf
    position_gain: float = 20.0
    max_speed: float = math.inf
    stiffness: float | None = None
    damping: float | None = None

    def __post_init__(self):
        given = [name for name in TARGETS if getattr(self, name) is not None]
        if len(given) != 1:
            raise ValueError(f"motor with {' and '.join(given) or 'no target'}: expected speed, position or torque")
        if self.torque is not None and not is_infinite(self.max_effort):
            given = f"motor with torque {shown(self.torque)} and max_effort {shown(self.max_effort)}"
            raise ValueError(f"{given}: expected torque alone, because it is constant")
        object.__setattr__(self, self.controls, finite_number(f"motor {self.controls}", self.target))
        if not is_infinite(self.max_effort):
            object.__setattr__(self, "max_effort", not_negative("motor max_effort", self.max_effort))
        object.__setattr__(self, "position_gain", positive("motor position_gain", self.position_gain))
        if not is_infinite(self.max_speed):
            object.__setattr__(self, "max_speed", positive("motor max_speed", self.max_speed))
            if self.position is None or self.is_compliant:
                given = f"motor with max_speed {shown(self.max_speed)}"
                raise ValueError(f"{given}: expected a position, without stiffness")
        self._check_compliance()

    def _check_compliance(self):
        """Check stiffness and damping, of which the motor needs what belongs to its target."""
        for name in ("stiffness", "damping"):
            if getattr(self, name) is not None:
                if self.torque is not None:
                    given = f"motor with torque {shown(self.torque)} and {name} {shown(getattr(self, name))}"
                    raise ValueError(f"{given}: expected torque alone, because it is constant")
                object.__setattr__(self, name, not_negative(f"motor {name}", getattr(self, name)))
        if self.speed is not None and self.stiffness is not None:
            given = f"motor with speed {shown(self.speed)} and stiffness {shown(self.stiffness)}"
            raise ValueError(f"{given}: expected damping alone, or a position")
        if self.position is not None and self.damping is not None and self.stiffness is None:
            raise ValueError(f"motor with position and damping {shown(self.damping)}: expected stiffness, too")

    @property
    def is_compliant(self):
        """Whether the motor is a proportional-derivative controller, with stiffness or damping."""
        return self.stiffness is not None or self.damping is not None

    @property
    def controls(self):
        """The controlled quantity: "speed", "position" or "torque"."""
        return next(name for name in TARGETS if getattr(self, name) is not None)

    @property
    def target(self):
        """Target speed [rad/s or m/s], position [rad or m] or torque [N m or N]."""
        return getattr(self, self.controls)


def motor_target(model, joint, targets, worlds):
    """Check the arguments of a solver's set_motor.

    Args:
        model: a Model.
        joint: index or name.
        targets: {name of TARGETS: a number for all worlds, or (worlds,), or None}.
        worlds: number of worlds.

    Returns: index of the joint; one of TARGETS; targets (worlds,).

    Raises: ValueError for an unknown joint, a joint without a motor, or a target of the other kind.
    """
    index = checked_index("joint", joint, model.joints, "joint")
    name, motor = model.joints[index].name, model.joints[index].motor
    if motor is None:
        driven = listed([repr(each.name) for each in model.joints if each.motor is not None], 40) or "none"
        raise ValueError(f"joint {name!r} has no motor: expected one made with motor= ({driven})")
    given = {key: value for key, value in targets.items() if value is not None}
    if list(given) != [motor.controls]:
        what = " and ".join(given) or "no target"
        raise ValueError(f"{what} for the motor of {name!r}, which was made with {motor.controls}=: "
                         f"expected {motor.controls} alone")  # fmt: skip
    target = spread(f"{motor.controls} of {name!r}", given[motor.controls], (worlds,), most=math.inf)
    return index, motor.controls, target
