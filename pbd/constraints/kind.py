"""What a kind of constraint is: a function of particles, and how it is projected.

A kind knows nothing of storage or order. It gets positions x, positions at the start of the step, inverse masses w
and its own parameters, and answers with the positions projected. `pbd.projection` decides who is projected when.

Most kinds are a scalar function C(x) with its gradient, and `scalar_constraint` makes the projection:

    Δλ = -(C + α' λ) / (Σ w_i ∇_i·∇_i + α'),     x_i += w_i ∇_i Δλ,     α' = α / h²

which for α = 0 is Jakobsen's (Advanced Character Physics, 2001) and for α > 0 XPBD (Macklin, Müller, Chentanez 2016,
eq. 18). λ is kept over the sweeps of a step and starts from zero in each.
"""

from dataclasses import dataclass, field
from typing import Any

import taichi as ti

# Keeps a division by a length or a weight of zero finite, where the numerator's other factor is then zero as well.
TINY = 1e-30

# The same for a sum of inverse masses [1/kg], where it is multiplied by a length of sqrt(TINY): in 32 bits a product
# below 1e-38 would be zero after all.
WEIGHTLESS = 1e-20

BOUNDS = ("equal", "at_least", "at_most")


@dataclass(frozen=True, eq=False)
class Kind:
    """A kind of constraint.

    Arguments:
        name: what messages call it.
        arity: how many particles one constraint of this kind ties together.
        parameters: names of its numbers, in the order in which `project` and `value` receive them.
        project: Taichi function (x, start, w, parameters, α', λ, from_start) -> (x projected, λ): see the module.
        value: Taichi function (x, parameters) -> violation, signed, in the unit of C; 0 where it is satisfied.
        compliance: whether each constraint has a compliance α and keeps a λ.
        compliant: the same kind with compliance, or None where it has none.
        holds: Taichi function (x, parameters) -> whether an inequality holds, cheaper than its projection, which is
            then left out; None for always to be projected.
        timed: whether this is a force that wants to know the time: `project` and `value` find the substep h [s] after
            their parameters, and `start` is the start of the substep in either direction. Such a force violates
            nothing; energy it stores is value²/2α.
        memory: how many of its last parameters `project` returns anew, as a list after λ, for the next projection.
    """

    name: str
    arity: int
    parameters: tuple
    project: Any = field(repr=False)
    value: Any = field(repr=False)
    compliance: bool = False
    compliant: Any = field(default=None, repr=False)
    holds: Any = field(default=None, repr=False)
    timed: bool = False
    memory: int = 0

    @property
    def may_hold(self):
        """Whether projections may be left out."""
        return self.holds is not None


def scalar_constraint(name, arity, parameters, function, bound="equal"):
    """A kind of constraint from a scalar function and its gradient.

    Arguments:
        name: what messages call it.
        arity: number of particles.
        parameters: names of its numbers.
        function: Taichi function (x, parameters) -> (C, [∇_1 C, ... ∇_arity C]); x and parameters are indexed like
            lists; C in any unit.
        bound: "equal" (C = 0), "at_least" (C >= 0) or "at_most" (C <= 0); one that holds costs
            no more than its value.

    Returns: a Kind, whose `.compliant` is the same with compliance.
    """
    if bound not in BOUNDS:
        raise ValueError(f"bound {bound!r}: expected one of {', '.join(BOUNDS)}")

    @ti.func
    def value(x, parameters):
        C, _ = function(x, parameters)
        return one_sided(C, bound)

    @ti.func
    def project(x, start, w, parameters, compliance, multiplier, from_start: ti.template()):
        C, gradient = function(x, parameters)
        weight = 0.0
        for k in ti.static(range(arity)):
            weight += w[k] * gradient[k].norm_sqr()
        if ti.static(from_start):
            # SHAKE: along the gradient as it was at the start of the step; how far, to first order again.
            _, before = function(start, parameters)
            along = 0.0
            for k in ti.static(range(arity)):
                along += w[k] * gradient[k].dot(before[k])
            if along > 0.5 * weight:  # else it has turned so far within the step that it no longer leads there
                weight = along
                for k in ti.static(range(arity)):
                    gradient[k] = before[k]
        new, change = next_multiplier(C, weight, compliance, multiplier, bound)
        return [x[k] + (w[k] * change) * gradient[k] for k in ti.static(range(arity))], new

    @ti.func
    def holds(x, parameters):
        return value(x, parameters) == 0.0

    compliant = Kind(f"{name} (compliant)", arity, parameters, project, value, compliance=True)
    one_side = None if bound == "equal" else holds
    return Kind(name, arity, parameters, project, value, compliant=compliant, holds=one_side)


@ti.func
def one_sided(C, bound: ti.template()):
    """What of C violates its bound."""
    violation = C
    if ti.static(bound == "at_least"):
        violation = ti.min(C, 0.0)
    elif ti.static(bound == "at_most"):
        violation = ti.max(C, 0.0)
    return violation


@ti.func
def next_multiplier(C, weight, compliance, multiplier, bound: ti.template()):
    """XPBD's λ after one projection, and its change. An inequality's λ has one sign (or is left alone)."""
    change = -(C + compliance * multiplier) / (weight + compliance + TINY)
    if weight <= TINY:
        change = 0.0  # nothing that could move, or a gradient that vanishes
    new = multiplier + change
    if ti.static(bound == "at_least"):
        new = ti.max(new, 0.0)
    elif ti.static(bound == "at_most"):
        new = ti.min(new, 0.0)
    return new, new - multiplier
