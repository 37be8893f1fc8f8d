"""Options of the solver "articulated"."""

from dataclasses import dataclass
from typing import ClassVar

from rigid.solvers.options import choice
from rigid.solvers.sequential.options import SequentialOptions


@dataclass(frozen=True, kw_only=True)
class ArticulatedOptions(SequentialOptions):
    """Options of the solver "articulated"."""

    integrator: str = "semi_implicit"
    """"semi_implicit" is of first order in the step. "variational" is of second order for free motion and the joints of
    trees, and its energy does not drift; rows, such as contacts, limits, friction and springs, stay of first order
    (rigid/solvers/articulated/variational.py). Velocities of `state` are then those at the time of the poses, except in
    trees on which rows act. It does not use `gyroscopic`."""

    velocity_products: str = "projected"
    """How velocity products (Coriolis terms) are found: "projected" loses energy, "explicit" is the source's way and
    can gain it (rigid/solvers/articulated/velocity_products.py)."""

    CHECKS: ClassVar[dict] = {
        **SequentialOptions.CHECKS,
        "integrator": choice("semi_implicit", "variational"),
        "velocity_products": choice("projected", "explicit"),
    }

    def __post_init__(self):
        super().__post_init__()
        if self.integrator == "variational" and self.velocity_products == "explicit":
            raise ValueError("velocity_products is 'explicit': expected 'projected' with integrator='variational'")
