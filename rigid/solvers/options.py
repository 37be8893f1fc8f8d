"""Options that all solvers have. The file options.py of each solver's folder adds its own in a subclass."""

from dataclasses import dataclass, fields
from typing import ClassVar

from pbd.core.validate import boolean, grab_count, one_of, positive, whole


def at_least_zero(name, value):
    """A whole number, zero or more."""
    return whole(name, value, least=0)


def choice(*words):
    """Make a check for an option that is one of several words."""
    return lambda name, value: one_of(name, value, words)


def optional(check):
    """Make a check for an option that may be None. Args: check: of other values."""
    return lambda name, value: None if value is None else check(name, value)


@dataclass(frozen=True, kw_only=True)
class SolverOptions:
    """Options of all solvers. CHECKS has a function (name, value) for each field, which returns the value or raises."""

    dt: float = 1 / 60
    """Time step [s]."""

    substeps: int = 1
    """Equal parts of a step."""

    contacts: bool = True
    """Whether bodies touch one another and the ground."""

    contact_capacity: int | None = None
    """Contact points that a world can have at once; None for an estimate from the shapes."""

    grabs: int = 0
    """How many grab springs there are, see `Solver.grab`."""

    CHECKS: ClassVar[dict] = {
        "dt": positive,
        "substeps": whole,
        "contacts": boolean,
        "contact_capacity": optional(whole),
        "grabs": grab_count,
    }

    def __post_init__(self):
        for name, check in self.CHECKS.items():
            object.__setattr__(self, name, check(name, getattr(self, name)))

    @classmethod
    def defaults(cls):
        """Names of all options and their defaults."""
        return {field.name: field.default for field in fields(cls)}
