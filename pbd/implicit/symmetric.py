"""Elements whose energy stays: their λ follow a mean of C over two substeps, the same forwards and backwards in time.

    α' λ = -(C(x') + C(x) + C(x*))/3 - τ (C(x') - C(x*))/2h,     directions ∇C(x)

where a substep begins at x, the one before began at x*, and x' is sought. Implicit Euler, α' λ = -C(x'), takes a part
h ω/2 of the amplitude away in each radian. This takes none, and is of second order. In linear elements it is stable for
any h: what swings fast turns by 120° in a substep. With the weights 1/4, 1/2, 1/4 of mean accelerations it would turn
by 180° there, which grows. τ is a damping time of Kelvin and Voigt's solid.

It acts where directions are those at the start (direction="start"), which is the same promise for directions, and where
the substep resolves the element by itself, (h ω)² < FASTEST. Others, as those of steel wire in a film's frames, have
implicit Euler, so that what swings too fast to be seen dies out. Measured: rods whose elements swing with (h ω)² of 20
keep their energy, with 3,000 they diverge if they are twisted.

Source: Hughes, The Finite Element Method (2000), section 9.1, Newmark's method with β = 1/3 and γ = 1/2, with positions
in place of velocities.
"""

import taichi as ti

from pbd.projection import soften, values_of

FASTEST = 20.0  # (h ω)² of an element


def is_symmetric(s, definition):
    """Whether a type follows this rule in the kernels of a system."""
    return s.features.from_start and definition.has_swing


@ti.func
def soften_by_rule(definition: ti.template(), s: ti.template(), i, start, w, parameters, compliance, others, world):
    """What C is divided by, and what is added: `soften` of pbd/projection.py, or by this rule. Args: i: members."""
    if ti.static(is_symmetric(s, definition)):
        return soften_symmetrically(definition, s, i, start, w, parameters, compliance, world)
    else:
        return soften(definition, start, parameters, compliance, others, s.settings.h)


@ti.func
def soften_symmetrically(definition: ti.template(), s: ti.template(), i, start, w, parameters, compliance, world):
    """The same by this rule, for elements that are slow enough."""
    before = [s.implicit.earlier[i[k], world] for k in ti.static(range(definition.arity))]
    C = values_of(definition, start, parameters)
    C_before = values_of(definition, before, parameters)
    damping = 0.0
    if ti.static(definition.damped):
        damping = parameters[ti.static(len(definition.parameters) - 1)] / s.settings.h
    new, now, old = 1.0 / 3.0 + 0.5 * damping, 1.0 / 3.0, 1.0 / 3.0 - 0.5 * damping
    if definition.swing(start, w, parameters) > FASTEST * compliance:
        beyond = ti.max(damping - 1.0, 0.0)  # implicit Euler damps like τ = h by itself
        new, now, old = 1.0 + beyond, -beyond, 0.0
    shift = [-(now * C[k] + old * C_before[k]) / compliance for k in ti.static(range(definition.multipliers))]
    return compliance / new, shift
