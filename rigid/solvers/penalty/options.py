"""Options of the solver "penalty"."""

from dataclasses import dataclass
from typing import ClassVar

from pbd.core.options import choice, optional
from pbd.core.validate import boolean, not_negative, positive
from rigid.solvers.options import SolverOptions

SOURCE_STEP = 0.003  # of the default gains [s]

# Units of the gains: 1/sⁿ.
GAINS = {"stiffness": 2, "damping": 1, "angular_stiffness": 2, "angular_damping": 1}


@dataclass(frozen=True, kw_only=True)
class PenaltyOptions(SolverOptions):
    """Options of the solver "penalty".

    A gain of None is the source's at steps of 3 ms and longer ones. At shorter steps h it is larger, and keeps h² α* or
    h β*: joints and contacts are as stiff as the source's margin of stability allows. It is chosen at construction, and
    does not follow a later change of the step.
    """

    dt: float = SOURCE_STEP
    """Time step [s]. Longer steps are unstable with the default stiffness and damping."""

    stiffness: float | None = 5000.0
    """α*, the stiffness of rows against translation [1/s²]: the square of the frequency at which a joint oscillates
    about its closed position. Under a load that accelerates its bodies by g, a joint opens by g/α*: 2 mm by default."""

    damping: float | None = 25.0
    """β*, the damping of rows against translation [1/s]."""

    angular_stiffness: float | None = 10000.0
    """α* of rows against rotation [1/s²]."""

    angular_damping: float | None = 10.0
    """β* of rows against rotation [1/s]."""

    limit_form: str = "angle"
    """Form of the limits of hinges and universal joints. "angle" is G = q - limit. "sine" is the source's
    G = sin q - sin limit, for limits between -90° and 90°. It is kept for comparison: its torque has the factor cos q,
    so it yields more by 1/cos² of the limit, and pushes a joint on that has passed 90°."""

    gyroscopic: str = "implicit"
    """Integration of the gyroscopic torque: "implicit" loses energy, "midpoint" keeps it, "explicit" gains it."""

    check_stability: bool = True
    """Raise ValueError if a step is too long for the stiffness and damping. Without, a lecture or a test shows what
    an unstable step does."""

    CHECKS: ClassVar[dict] = {
        "stiffness": optional(positive),
        "damping": optional(not_negative),
        "angular_stiffness": optional(positive),
        "angular_damping": optional(not_negative),
        "limit_form": choice("angle", "sine"),
        "gyroscopic": choice("implicit", "midpoint", "explicit"),
        "check_stability": boolean,
    }

    def __post_init__(self):
        super().__post_init__()
        shorter = max(1.0, SOURCE_STEP * self.substeps / self.dt)
        for name, power in GAINS.items():
            if getattr(self, name) is None:
                object.__setattr__(self, name, self.defaults()[name] * shorter**power)
