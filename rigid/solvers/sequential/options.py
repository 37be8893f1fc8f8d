"""Options of the solvers that use sequential impulses."""

from dataclasses import dataclass
from typing import ClassVar

from pbd.core.options import at_least_zero, choice, optional
from pbd.core.validate import boolean, fraction, not_negative
from rigid.solvers.options import SolverOptions


@dataclass(frozen=True, kw_only=True)
class SequentialOptions(SolverOptions):
    """Options of "impulse" and "articulated"."""

    iterations: int = 50
    """Most iterations over all rows in a substep."""

    tolerance: float | None = None
    """Iterations end when no impulse changes by more than this [N s]. None for 1e-6, or a hundredth of what gravity
    gives the lightest body in a substep, if that is less."""

    convergence: str = "impulses"
    """What the tolerance is for: "impulses", as in the sources, or "velocities", each times its effective mass. The
    latter is for grippers: it ends iterations in which impulses grow and cancel where several contacts hold a body."""

    warm_start: bool = True
    """Start from the impulses of the last step. Without, a comparison shows what this gains."""

    split_impulse: bool = True
    """Correct position errors by pseudo-velocities, which are cleared after each step. Otherwise velocities correct
    them, which adds energy; this is kept for comparison."""

    error_reduction: float | None = None
    """The part of a position error that a substep corrects, in [0, 1]; of an overlap it corrects a fifth of that. None
    for 1 with `split_impulse` and 0.2 without, because a chain breaks apart with more. With zero, errors stay, and
    tests find what velocities alone do."""

    block: bool = True
    """Solve all rows of a joint together. Otherwise solve them one by one as the sources do, for comparison."""

    integrator: str = "semi_implicit"
    """"semi_implicit" is of first order in the step. "variational" is of second order for free motion and joints, and
    its energy does not drift. Other rows, such as contacts, limits, friction and springs, stay of first order
    (rigid/solvers/impulse/variational.py, rigid/solvers/articulated/variational.py). Velocities of `state` are then
    those at the time of the poses, except for bodies on which such rows act, directly or through joints. `gyroscopic`
    has no effect."""

    gyroscopic: str = "implicit"
    """Integration of the gyroscopic torque: "implicit" loses energy, "midpoint" keeps it, "explicit" gains it."""

    restitution_threshold: float = 0.0
    """Contacts that approach more slowly do not rebound [m/s]. At least the speed that a body at rest gains in two
    steps is always used."""

    CHECKS: ClassVar[dict] = {
        "iterations": at_least_zero,
        "tolerance": optional(not_negative),
        "convergence": choice("impulses", "velocities"),
        "warm_start": boolean,
        "split_impulse": boolean,
        "error_reduction": optional(fraction),
        "block": boolean,
        "integrator": choice("semi_implicit", "variational"),
        "gyroscopic": choice("implicit", "midpoint", "explicit"),
        "restitution_threshold": not_negative,
    }

    def __post_init__(self):
        super().__post_init__()
        if self.error_reduction is None:
            object.__setattr__(self, "error_reduction", 1.0 if self.split_impulse else 0.2)
