"""Options that all solvers have. The file options.py of each solver's folder adds its own in a subclass."""

from dataclasses import dataclass
from typing import ClassVar

from pbd.core.options import Options, optional
from pbd.core.validate import boolean, grab_count, positive, whole


@dataclass(frozen=True, kw_only=True)
class SolverOptions(Options):
    """Options of all solvers."""

    dt: float = 1 / 60
    """Time step [s]."""

    substeps: int = 1
    """Equal parts of a step."""

    contacts: bool = True
    """Whether bodies touch one another and the ground."""

    contact_capacity: int | None = None
    """Contact points that a world can have at once; None for an estimate from the shapes. An error names this option
    if there are more."""

    grabs: int = 0
    """How many grab springs there are, see `Solver.grab`."""

    CHECKS: ClassVar[dict] = {
        "dt": positive,
        "substeps": whole,
        "contacts": boolean,
        "contact_capacity": optional(whole),
        "grabs": grab_count,
    }
