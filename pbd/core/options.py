"""Options of solvers: frozen dataclasses that check their fields."""

from dataclasses import dataclass, fields
from typing import ClassVar

from pbd.core.validate import one_of, whole


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
class Options:
    """Base of all options.

    The CHECKS of a class have a function (name, value) for each of its own fields, which returns the value or raises.
    """

    CHECKS: ClassVar[dict] = {}

    def __post_init__(self):
        for owner in reversed(type(self).__mro__):
            for name, check in vars(owner).get("CHECKS", {}).items():
                object.__setattr__(self, name, check(name, getattr(self, name)))

    @classmethod
    def defaults(cls):
        """Names of all options and their defaults."""
        return {field.name: field.default for field in fields(cls)}

    @classmethod
    def of(cls, owner, given):
        """Make options. Args: owner: for messages; given: {name: value}. Raises: ValueError, TypeError."""
        for name in given:
            one_of(f"option of {owner}", name, tuple(cls.defaults()))
        return cls(**given)
