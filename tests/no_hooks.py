"""Step hooks that do nothing, for tests of what hooks change."""

from typing import NamedTuple

import taichi as ti

from pbd.step_hooks import StepHooks


class Nothing(NamedTuple):
    """Step hooks without arrays."""


@ti.func
def do_nothing(s: ti.template(), world):
    pass


@ti.func
def find_nothing(s: ti.template(), iteration, world):
    return 0.0


@ti.func
def count_nothing(s: ti.template(), world):
    return 0


NO_HOOKS = StepHooks(
    Nothing, do_nothing, find_nothing, do_nothing, count_nothing, do_nothing, count_nothing, do_nothing
)
