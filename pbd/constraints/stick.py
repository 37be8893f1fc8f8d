"""Stick: two particles at a given distance.

    C = |x2 - x1| - L

    current direction   s = (|δ| - L) / (|δ| (w1 + w2)),  δ = x2 - x1,  x1 += w1 s δ,  x2 -= w2 s δ
    start direction     |δ + (w1 + w2) g δ0| = L to first order (SHAKE),  x1 -= w1 g δ0,  x2 += w2 g δ0,
                        g = (L - |δ|) |δ| / ((w1 + w2) δ·δ0)
    root-free           s = (L² - δ·δ) / (L² + δ·δ),  x1 -= w1/(w1 + w2) s δ,  x2 += w2/(w1 + w2) s δ

Sources: Jakobsen, Advanced Character Physics (2001), sections 3 and 5, for the first and the last. (His two versions
with a square root have both signs wrong in the retold source; the root-free one is exactly his for w1 = w2.) Ryckaert,
Ciccotti, Berendsen (1977), https://doi.org/10.1016/0021-9991(77)90098-5, for SHAKE. Theirs is first order in |δ|² - L²,
this one in |δ| - L. The limit is the same, but this one does not overshoot from far away, and a one-sided stick would
keep an overshoot.

A stick that tears has a limit, its largest length, see pbd/tearing.py. The limit of a torn one is below zero, and its C
and gradient are zero.

The current direction damps at first order and loses angular momentum: a spinning stick's angle per step obeys
φ' = atan2(sin φ, 2 - cos φ). The start direction is second order and conserves angular momentum to round-off.
"""

from dataclasses import replace

import taichi as ti

from pbd.constraints.constraint_type import TINY, WEIGHTLESS, ConstraintType, one_sided, scalar_constraint
from pbd.core.vectors import length_or_huge


@ti.func
def stick(x, parameters):
    """C = |x2 - x1| - L and its gradient."""
    separation = x[1] - x[0]
    normal = separation / length_or_huge(separation)
    return separation.norm() - parameters[0], [-normal, normal]


@ti.func
def project_along_current(x, start, w, length):
    """Project both ends along the present direction of the stick."""
    separation = x[1] - x[0]
    # TINY and WEIGHTLESS allow for two ends in one place and two pinned ends. They stand where nothing waits for them:
    # one more addition between root and division costs 7 %, because latency from load to store bounds this loop.
    distance = ti.sqrt(separation.norm_sqr() + TINY)
    s = (distance - length) / (distance * (w[0] + w[1] + WEIGHTLESS))
    return [x[0] + s * (w[0] * separation), x[1] - s * (w[1] * separation)]


@ti.func
def project_along_start(x, start, w, length):
    """Project both ends along the direction of the stick at the start of the substep."""
    separation = x[1] - x[0]
    direction = start[1] - start[0]
    distance = separation.norm()
    along = separation.dot(direction)
    if along < 0.5 * distance * direction.norm():
        # The stick turned by more than 60° in the substep, so its old direction does not lead to the length.
        direction, along = separation, distance * distance
    g = (length - distance) * distance / ((w[0] + w[1]) * along + TINY)
    return [x[0] - (w[0] * g) * direction, x[1] + (w[1] * g) * direction]


def along(from_start):
    """The projection along the start or the current direction."""
    return project_along_start if from_start else project_along_current


# Sticks do not use the projection of `scalar_constraint`, because they are the inner loop of nearly every scene, and
# this form is twice as fast (128x128 cloth, one thread: 315 against 170 million projections a second).


def _compliant_projection(along_start):
    """The projection of XPBD for C = 0. Args: along_start: the projection for the start direction."""

    @ti.func
    def project(x, start, w, parameters, compliance, multiplier, from_start: ti.template()):
        if ti.static(from_start):
            return along_start(x, start, w, parameters, compliance, multiplier, True)
        else:
            separation = x[1] - x[0]
            distance = ti.sqrt(separation.norm_sqr() + TINY)
            # The change of λ, divided by the distance.
            s = (distance - parameters[0] + compliance * multiplier) / (
                distance * (w[0] + w[1] + compliance + WEIGHTLESS)
            )
            return [x[0] + s * (w[0] * separation), x[1] - s * (w[1] * separation)], multiplier - s * distance

    return project


def _rigid_stick(name, bound):
    @ti.func
    def value(x, parameters):
        return one_sided((x[1] - x[0]).norm() - parameters[0], bound)

    @ti.func
    def project(x, start, w, parameters, compliance, multiplier, from_start: ti.template()):
        return ti.static(along(from_start))(x, start, w, parameters[0]), multiplier

    @ti.func
    def is_satisfied(x, parameters):
        longer = (x[1] - x[0]).norm_sqr() - parameters[0] * parameters[0]
        return one_sided(longer, bound) == 0.0

    @ti.func
    def shorter(x, parameters):
        C, gradient = stick(x, parameters)
        return -C, [-gradient[0], -gradient[1]]

    compliant = scalar_constraint(name, 2, ("length",), stick, bound).compliant
    common = name, 2, ("length",), project, value
    if bound == "equal":
        compliant = replace(compliant, project=_compliant_projection(compliant.project))
        return ConstraintType(*common, compliant=compliant, function=stick)
    # For the direct solve C >= 0.
    smooth = {"function": stick if bound == "at_least" else shorter, "at_least": True, "joins": True}
    return ConstraintType(*common, compliant=compliant, is_satisfied=is_satisfied, **smooth)


STICK = _rigid_stick("stick", "equal")
STICK_AT_LEAST = _rigid_stick("stick at least", "at_least")
STICK_AT_MOST = _rigid_stick("stick at most", "at_most")


@ti.func
def _is_torn(x, parameters):
    return parameters[1] < 0.0


@ti.func
def _whole_value(x, parameters):
    C = (x[1] - x[0]).norm() - parameters[0]
    if parameters[1] < 0.0:
        C = 0.0
    return C


@ti.func
def _whole_stick(x, parameters):
    C, gradient = stick(x, parameters)
    whole = 1.0
    if parameters[1] < 0.0:
        whole = 0.0
    return whole * C, [whole * gradient[0], whole * gradient[1]]


def _tearing(whole):
    """A type of stick with a limit. Args: whole: the type without."""
    return replace(
        whole, name=whole.name.replace("stick", "stick that tears"), parameters=("length", "limit"), value=_whole_value,
        function=_whole_stick, is_satisfied=_is_torn, compliant=whole.compliant and _tearing(whole.compliant),
    )  # fmt: skip


STICK_THAT_TEARS = _tearing(STICK)


@ti.func
def _project_root_free(x, start, w, parameters, compliance, multiplier, from_start: ti.template()):
    separation = x[1] - x[0]
    squared, length_squared = separation.norm_sqr(), parameters[0] * parameters[0]
    s = (length_squared - squared) / ((length_squared + squared) * (w[0] + w[1]) + TINY)
    return [x[0] - (w[0] * s) * separation, x[1] + (w[1] * s) * separation], multiplier


# For comparison: `Particles.add_constraints("root-free stick", pairs, length=...)`.
ROOT_FREE_STICK = ConstraintType("root-free stick", 2, ("length",), _project_root_free, STICK.value)
