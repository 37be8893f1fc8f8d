"""Kernels of a particle system, and their launches."""

from functools import lru_cache

import taichi as ti

from pbd.core.kernels import Launch, make_kernel
from pbd.data import Data
from pbd.measure import measure
from pbd.projection import project_colour
from pbd.step import advance, begin_substep, end_substep, relax, relax_environment


@ti.func
def relax_once(s: ti.template(), substep, world):
    """Relax without step hooks, which alone ask for the number of the iteration."""
    relax(s, substep, 0, world)


@lru_cache
def kernel_of(function, features):
    """Make a kernel of a Taichi function (data, ...). Args: function; features: a Features."""
    hooked = features.hooks.data if features.has_hooks else None
    return make_kernel(function, Data, features=features, hooked=hooked)


@lru_cache
def shared(phase):
    """The function (s, substep) that runs a phase (s, substep, world) for all worlds, shared by threads."""

    @ti.func
    def run(s: ti.template(), substep):
        phase(s, substep, 0)

    return run


class Launches:
    """Kernels that are bound to the arrays of a system. Each is compiled at its first launch.

    Their arguments are what `pbd.data.Data` wants at each launch, and then:

        advance             substeps, iterations     all substeps of each world on one thread
        begin_substep, relax, relax_environment, end_substep
                            substep                  a phase that threads share
        project_colour[k]   begin, end               constraints of type k, of one colour
        measure             substep

    Args: features: a Features; arrays: a Data of Taichi arrays; hooked: that of the step hooks, or nothing.
    """

    def __init__(self, features, arrays, *hooked):
        def bind(function):
            return Launch(kernel_of(function, features), arrays, *hooked)

        self.advance = bind(advance)
        self.begin_substep = bind(shared(begin_substep))
        self.relax = bind(shared(relax_once))
        self.relax_environment = bind(shared(relax_environment))
        self.end_substep = bind(shared(end_substep))
        self.project_colour = [bind(project_colour(index)) for index in range(len(features.types))]
        self.measure = bind(measure)
