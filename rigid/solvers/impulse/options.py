"""Options of the solver "impulse"."""

from dataclasses import dataclass
from typing import ClassVar

from pbd.core.options import at_least_zero, optional
from pbd.core.validate import boolean, not_negative, whole
from rigid.solvers.sequential.options import SequentialOptions


@dataclass(frozen=True, kw_only=True)
class ImpulseOptions(SequentialOptions):
    """Options of the solver "impulse"."""

    sleep_speed: float = 0.0
    """Bodies sleep when they, and all bodies connected to them by joints or contacts, have been slower than this for
    half a second [m/s]. They wake when something moves them. Zero for never; 0.02 suits bodies of a metre. Games with
    many bodies at rest need it: these cost next to nothing, and a step in which all rest costs nothing."""

    small_steps: int = 0
    """Soft rows (rigid/solvers/impulse/soft.py): contacts are found once in a substep, which is made in so many small
    steps with two passes over the rows each. 0 for hard rows, which are iterated. `iterations`, `tolerance` and
    `convergence` are then for rebounds alone; `split_impulse` and `error_reduction` have no effect."""

    coloured: bool = False
    """Solve joints and contacts in colours (rigid/solvers/impulse/coloured), so that up to four threads share the work
    of one world. The bits are the same for any number of threads, but not those of the default order. It is for
    hundreds of bodies and a processor that does nothing else: on one thread it takes a tenth to a quarter longer."""

    lanes: int | None = None
    """How many worlds one thread moves at a time, in the lanes of the processor's vectors: 1, 4, 8 or 16. None for the
    fastest; 1 where lanes do not do what the model has (rigid/solvers/impulse/lanes.py). Measurements set it."""

    CHECKS: ClassVar[dict] = {
        "sleep_speed": not_negative,
        "small_steps": at_least_zero,
        "coloured": boolean,
        "lanes": optional(whole),
    }

    def __post_init__(self):
        super().__post_init__()
        if self.integrator == "variational":
            if not self.split_impulse:
                raise ValueError("split_impulse is False: expected True with integrator='variational'")
            if self.sleep_speed > 0:
                raise ValueError(f"sleep_speed is {self.sleep_speed:g}: expected 0 with integrator='variational'")
            if self.coloured:
                raise ValueError("coloured is True: expected False with integrator='variational'")
        if self.small_steps and (self.integrator == "variational" or self.coloured):
            other = "coloured=True" if self.coloured else "integrator='variational'"
            raise ValueError(f"small_steps is {self.small_steps}: expected 0 with {other}")
