"""Attachment: two points, each a combination of particles, coincide.

    C = Σ c_i x_i = 0 (three rows),   Σ c_i = 0

The point p = Σ_A a_i x_i of some particles coincides with q = Σ_B b_j x_j of others: c holds a and -b. With Δ = -C:

    x_i += c_i w_i λ Δ,   λ = 1 / (Σ c_i² w_i + α')

Source: Jakobsen (2001), section 5. The sign of his λ is wrong in the retold source, and his unweighted form is right
for equal masses only. This is one impulse at one point, so linear momentum is conserved exactly, and angular momentum
as far as p and q coincide.

The three rows share one compliance, for which XPBD's multiplier would be a vector. So there are no compliant
attachments: use a compliant stick instead.

Where constraints are solved directly (pbd/direct), an attachment is three constraints n·C = 0, one for each axis n.

Parameters: the coefficients c_i.
"""

from dataclasses import replace
from functools import cache

import numpy as np
import taichi as ti

from pbd.constraints.constraint_type import TINY, ConstraintType, scalar_constraint


@cache
def attachment(arity):
    """The type of attachments whose two points have `arity` particles together."""

    @ti.func
    def gap(x, coefficients):
        C = coefficients[0] * x[0]
        for k in ti.static(range(1, arity)):
            C += coefficients[k] * x[k]
        return C

    @ti.func
    def value(x, coefficients):
        return gap(x, coefficients).norm()

    @ti.func
    def project(x, start, w, coefficients, compliance, multiplier, from_start: ti.template()):
        weight = TINY
        for k in ti.static(range(arity)):
            weight += coefficients[k] * coefficients[k] * w[k]
        move = -gap(x, coefficients) / weight
        if weight <= 2.0 * TINY:
            move *= 0.0  # all particles are pinned
        return [x[k] + (coefficients[k] * w[k]) * move for k in ti.static(range(arity))], multiplier

    return ConstraintType(
        f"attachment of {arity}",
        arity,
        coefficient_names(arity),
        project,
        value,
        rows=(attachment_along(arity), np.eye(3)),
    )


@cache
def attachment_along(arity):
    """The type of attachments along one axis n. Parameters: the coefficients c_i, n."""

    @ti.func
    def gap_along(x, parameters):
        axis = ti.Vector([parameters[arity], parameters[arity + 1], parameters[arity + 2]])
        C = 0.0
        for k in ti.static(range(arity)):
            C += parameters[k] * x[k].dot(axis)
        return C, [parameters[k] * axis for k in ti.static(range(arity))]

    names = (*coefficient_names(arity), "n_0", "n_1", "n_2")
    return replace(scalar_constraint(f"attachment of {arity} along an axis", arity, names, gap_along), joins=True)


def coefficient_names(arity):
    """Names of the coefficients c_i."""
    return tuple(f"c{k}" for k in range(arity))
