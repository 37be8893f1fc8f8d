"""Constraint type: a function of particles, and its projection.

A constraint type knows nothing of storage or order. Its projection takes positions x, positions at the start of the
substep, inverse masses w and its own parameters, and returns the projected positions. pbd/projection.py calls it in the
order of the schedule.

Most types are a scalar function C(x) with its gradient, from which `scalar_constraint` makes the projection:

    Δλ = -(C + α' λ) / (Σ w_i ∇_i·∇_i + α'),     x_i += w_i ∇_i Δλ,     α' = α / h²

For α = 0 this is the projection of Jakobsen (Advanced Character Physics, 2001), for α > 0 that of XPBD (Macklin,
Müller, Chentanez 2016, eq. 18). λ is kept over the iterations of a substep and starts from zero in each substep.
"""

from dataclasses import dataclass, field, replace
from typing import Any

import taichi as ti

from pbd.core.messages import shown
from pbd.core.validate import one_line, one_of, sequence, whole

# Keeps a division by a length or a weight of zero finite. The numerator has another factor that is zero as well.
TINY = 1e-30

# The same for a sum of inverse masses [1/kg] that is multiplied by a length of sqrt(TINY): in 32 bits a product below
# 1e-38 would be zero.
WEIGHTLESS = 1e-20

MOST_PARTICLES = 8  # of one constraint

LEAST_DAMPING = -0.25  # the least r of `with_damping`: that of τ = 3 h/4

# Forces along gradients at the start of a substep do not feel how particles swing in it. That is stable while (h ω)² is
# below this. Otherwise elements push along gradients at x, which damp.
SWINGS = 0.25

BOUNDS = ("equal", "at_least", "at_most")


@dataclass(frozen=True, eq=False)
class ConstraintType:
    """A type of constraint.

    Args:
        name: for messages.
        arity: how many particles one constraint has.
        parameters: names of its numbers, in the order in which `project` and `value` take them.
        project: Taichi function (x, start, w, parameters, α', λ, from_start) -> (projected x, λ); None for an element
            that is solved together with others only.
        value: Taichi function (x, parameters) -> signed violation in the unit of C; 0 where it is satisfied.
        compliance: whether each constraint has a compliance α and a λ.
        multipliers: how many λ a compliant constraint has, that is how many rows C. If there are several, all rows have
            the same α, `value` returns a list of them, and `project` takes and returns a list of λ.
        coupled: how many other constraints of the type have λ that a compliant one is coupled to, by parameters that
            are the last ones but for a damping: C + α' (λ + Σ ratio λ_other) = 0.
        derivatives: of an element, a Taichi function (x, parameters) -> (list of its rows C, list of their gradients);
            elements may be solved together (see pbd/implicit); None for others.
        turned_back: of an element, a Taichi function (x, start, w, parameters, list of λ) -> gradients that keep
            angular momentum, at the start of the substep or turned back to it, and those at x where what λ hold would
            swing too fast for that (see SWINGS); None to take those at the start.
        tension: of an element, a Taichi function (x, parameters, list of λ, 1/α') -> list of blocks of nine numbers,
            what its λ add to the stiffness between each member and those before it, itself included; None for none.
        swing: of an element that may keep its energy, a Taichi function (x, w, parameters) -> the largest Σ w |∇C|² of
            its rows [unit of C² by kg m²], so that over α it is the square of how fast it swings, see
            pbd/implicit/symmetric.py; None for others.
        deformation: of a solid, a Taichi function (x, parameters) -> the three columns of F; None for others.
        energy: Taichi function (x, parameters, α) -> the energy that it stores [J]; None for Σ C²/2α.
        compliant: the same type with compliance; None if there is none.
        damped: whether the last parameter is a damping time τ [s], see `with_damping`.
        viscous: of a damped type, whether it is friction alone, -τ/α dC/dt, beside another that is elastic.
        is_satisfied: Taichi function (x, parameters) -> whether an inequality is satisfied. It is cheaper than the
            projection, which is skipped then; None to project always.
        needs_time: whether this is a force that depends on the time step. `project` and `value` then find the length
            of the substep h [s] behind their parameters, and `start` is the start of the substep in either direction.
            Such a force has no violation; the energy that it stores is value²/2α.
        function: Taichi function (x, parameters) -> (C, gradients) of a constraint C = 0 that may be solved directly
            (see pbd/direct); None for others. If the type needs the time, it is a function of (x, start, parameters).
        at_least: whether the constraint that may be solved directly is C >= 0.
        state_size: how many of its last parameters are state: `project` returns new values for them, as a list
            behind λ, and `function` behind the gradients.
        rows: for the direct solve, a scalar type and (n, numbers): one such constraint for each row of numbers, which
            follow the parameters, takes the place of each constraint; None if the type is scalar.
        joins: whether such constraints join parts that may be solved directly without them.
        sensor: whether this is no constraint: it moves nothing, and only updates its state, once at the end of each
            substep.
        slow: whether this is a slow force, such as compliant bending, which may act in some substeps only (the
            `bending_interval` of a system), as an impulse that is as large as those of all of them.
    """

    name: str
    arity: int
    parameters: tuple
    project: Any = field(repr=False)
    value: Any = field(repr=False)
    compliance: bool = False
    multipliers: int = 1
    coupled: int = 0
    derivatives: Any = field(default=None, repr=False)
    turned_back: Any = field(default=None, repr=False)
    tension: Any = field(default=None, repr=False)
    swing: Any = field(default=None, repr=False)
    deformation: Any = field(default=None, repr=False)
    energy: Any = field(default=None, repr=False)
    compliant: Any = field(default=None, repr=False)
    damped: bool = False
    viscous: bool = False
    is_satisfied: Any = field(default=None, repr=False)
    needs_time: bool = False
    state_size: int = 0
    function: Any = field(default=None, repr=False)
    rows: Any = field(default=None, repr=False)
    joins: bool = False
    at_least: bool = False
    slow: bool = False
    sensor: bool = False

    @property
    def may_be_skipped(self):
        """Whether a projection is skipped while the constraint is satisfied."""
        return self.is_satisfied is not None

    @property
    def has_tension(self):
        """Whether the type has a function for its tension."""
        return self.tension is not None

    @property
    def has_swing(self):
        """Whether the type has a function for how fast it swings."""
        return self.swing is not None

    @property
    def turns_back(self):
        """Whether the type has a function for gradients that are turned back."""
        return self.turned_back is not None

    @property
    def is_solid(self):
        """Whether it is a solid's."""
        return self.deformation is not None

    @property
    def has_energy(self):
        """Whether the type has a function for its energy."""
        return self.energy is not None

    @property
    def first_ratio(self):
        """Which parameter is the first ratio of a coupled type."""
        return len(self.parameters) - self.damped - self.coupled

    @property
    def width(self):
        """Number of parameters of each constraint, its compliance included."""
        return len(self.parameters) + self.compliance


@ti.func
def evaluate_function(definition: ti.template(), x, start, parameters):
    """C and gradients of a type by its `function`, and its new state if it has one. Args: see `ConstraintType`."""
    if ti.static(definition.needs_time):
        return definition.function(x, start, parameters)
    else:
        return definition.function(x, parameters)


def scalar_constraint(name, arity, parameters, function, bound="equal"):
    """Make a constraint type of a scalar function and its gradient.

    Args:
        name: for messages.
        arity: number of particles.
        parameters: names of its numbers.
        function: Taichi function (x, parameters) -> (C, [∇_1 C, ... ∇_arity C]); x and parameters are indexed like
            lists; C in any unit.
        bound: "equal" (C = 0), "at_least" (C >= 0) or "at_most" (C <= 0). A satisfied inequality costs no more than
            its value.

    Returns: a ConstraintType. Its `compliant` is the same type with compliance.
    """
    name, bound = one_line("name", name), one_of("bound", bound, BOUNDS)
    arity = whole("arity", arity, most=MOST_PARTICLES)
    parameters = tuple(one_line("name in parameters", each) for each in sequence("parameters", parameters, "names"))
    if not callable(function):
        raise TypeError(f"function is {shown(function)}: expected a Taichi function of x and parameters")

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
            # SHAKE: along the gradient at the start of the substep, by a distance that is right to first order.
            _, before = function(start, parameters)
            along = 0.0
            for k in ti.static(range(arity)):
                along += w[k] * gradient[k].dot(before[k])
            if along > 0.5 * weight:  # otherwise the gradient turned too far within the substep
                weight = along
                for k in ti.static(range(arity)):
                    gradient[k] = before[k]
        new, change = next_multiplier(C, weight, compliance, multiplier, bound)
        return [x[k] + (w[k] * change) * gradient[k] for k in ti.static(range(arity))], new

    @ti.func
    def is_satisfied(x, parameters):
        return value(x, parameters) == 0.0

    skip, smooth = (None, function) if bound == "equal" else (is_satisfied, None)
    common = name, arity, parameters, project, value
    compliant = ConstraintType(f"{name} (compliant)", *common[1:], compliance=True, function=smooth)
    return ConstraintType(*common, compliant=compliant, is_satisfied=skip, function=smooth)


def with_damping(whole):
    """The same type with a further parameter, "damping" τ [s]: the force is -(C + τ dC/dt)/α along the gradient.

    What does not change C is not damped, such as free fall and rotation. pbd/projection.py does it for all types:

        α' λ = -((1 + r) C - r C_0),   r = τ/h - 1

    with C_0 at the start of the substep. The difference quotient gives C + r (C - C_0), and r is τ/h less one, because
    a force at the end of a substep damps like τ = h by itself: x'' = -ω² x decays by log(1 + h ω² τ)/2h for any r,
    which is ω² τ/2. Below r = -1/2 stiff modes would be unstable, and near it they ring; so r is at least
    LEAST_DAMPING. The type without damping has r = 0.

    Args: whole: a ConstraintType whose last parameters are no state, with a `compliant` one.

    Source: Kelvin and Voigt's solid. Macklin, Müller, Chentanez, XPBD (2016), section 3.5, has ∇C·(x - x_0) in place of
    C - C_0, which also brakes rotation.
    """
    extended = {"name": f"damped {whole.name}", "parameters": (*whole.parameters, "damping")}
    compliant = replace(whole.compliant, **{**extended, "name": f"damped {whole.compliant.name}"}, damped=True,
                        function=None)  # fmt: skip
    return replace(whole, **extended, compliant=compliant, function=None)


@ti.func
def one_sided(C, bound: ti.template()):
    """The part of C that violates its bound."""
    violation = C
    if ti.static(bound == "at_least"):
        violation = ti.min(C, 0.0)
    elif ti.static(bound == "at_most"):
        violation = ti.max(C, 0.0)
    return violation


@ti.func
def next_multiplier(C, weight, compliance, multiplier, bound: ti.template()):
    """The λ of XPBD after one projection, and its change. An inequality's λ has one sign."""
    change = -(C + compliance * multiplier) / (weight + compliance + TINY)
    if weight <= TINY:
        change = 0.0  # no particle can move, or the gradient vanishes
    new = multiplier + change
    if ti.static(bound == "at_least"):
        new = ti.max(new, 0.0)
    elif ti.static(bound == "at_most"):
        new = ti.min(new, 0.0)
    return new, new - multiplier
