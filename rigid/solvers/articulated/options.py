"""Options of the solver "articulated"."""

from dataclasses import dataclass
from typing import ClassVar

from pbd.core.options import choice
from rigid.solvers.sequential.options import SequentialOptions


@dataclass(frozen=True, kw_only=True)
class ArticulatedOptions(SequentialOptions):
    """Options of the solver "articulated"."""

    velocity_products: str = "projected"
    """How velocity products (Coriolis terms) are found: "projected" loses energy, "explicit" is the source's way and
    can gain it (rigid/solvers/articulated/velocity_products.py)."""

    CHECKS: ClassVar[dict] = {
        "velocity_products": choice("projected", "explicit"),
    }

    def __post_init__(self):
        super().__post_init__()
        if self.integrator == "variational" and self.velocity_products == "explicit":
            raise ValueError("velocity_products is 'explicit': expected 'projected' with integrator='variational'")
