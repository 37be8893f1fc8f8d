"""Gradients of constraints for the host, evaluated by the functions that kernels project with."""

from functools import cache
from typing import Any, NamedTuple

import numpy as np
import taichi as ti

from pbd.constraints.constraint_type import evaluate_function
from pbd.core.kernels import Host, Launch, make_kernel


def gradients_at(definition, positions, members, numbers):
    """Gradients of constraints of a type (n, arity, 3). Args: positions [m]; members (n, arity); numbers (n, width)."""
    result = np.zeros((*members.shape, 3))
    evaluate = Launch(gradient_kernel(definition), Evaluation(None, None, None, None, definition))
    evaluate(
        np.ascontiguousarray(positions, float),
        np.ascontiguousarray(members, np.int32),
        np.ascontiguousarray(numbers, float),
        result,
    )
    return result


class Evaluation(NamedTuple):
    """Arrays of an evaluation of gradients: see `gradients_at`."""

    positions: Host(2)
    members: Host(2)
    numbers: Host(2)
    gradients: Host(3)
    definition: Any


@cache
def gradient_kernel(definition):
    """Make the kernel that evaluates gradients of a constraint type."""
    return make_kernel(evaluate_gradients, Evaluation, definition=definition)


@ti.func
def evaluate_gradients(s: ti.template()):
    """Evaluate the gradients of all constraints."""
    arity, width = ti.static(s.definition.arity, len(s.definition.parameters))
    given = ti.static(width + s.definition.needs_time)  # with a time step, on which no gradient depends
    for c in range(s.members.shape[0]):
        x = [
            ti.Vector([ti.cast(s.positions[s.members[c, k], axis], float) for axis in ti.static(range(3))])
            for k in ti.static(range(arity))
        ]
        parameters = [ti.cast(s.numbers[c, k], float) if ti.static(k < width) else 1.0 for k in ti.static(range(given))]
        gradient = evaluate_function(s.definition, x, x, parameters)[1]
        for k in ti.static(range(arity)):
            for axis in ti.static(range(3)):
                s.gradients[c, k, axis] = gradient[k][axis]
