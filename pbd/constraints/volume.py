"""Volume of a tetrahedron.

    C = (x1 - x0)·((x2 - x0) × (x3 - x0)) / 6 - V

∇_1 = (x2 - x0) × (x3 - x0)/6,  ∇_2 = (x3 - x0) × (x1 - x0)/6,  ∇_3 = (x1 - x0) × (x2 - x0)/6,  ∇_0 = -Σ.

Source: Müller, Heidelberger, Hennix, Ratcliff, Position Based Dynamics (2007), section 4.2,
https://doi.org/10.1016/j.jvcir.2007.01.005. The volume is signed, so an inverted tetrahedron moves back through itself.

Departure: a projection moves no particle much farther than LARGEST_STEP of the cube root of V. C is cubic, so its
gradient holds only for steps that are small beside the tetrahedron. Unlimited steps from an inverted or a flat one
overshoot, and turn its neighbours inside out. What is left of C remains for the next projections.

Parameters: the rest volume V [m³]. Particles: four.
"""

from dataclasses import replace

import taichi as ti

from pbd.constraints.constraint_type import scalar_constraint

LARGEST_STEP = 0.1  # of a particle in a projection, in parts of the cube root of V


@ti.func
def volume(x, parameters):
    """C = signed volume - V and its gradient."""
    a, b, c = x[1] - x[0], x[2] - x[0], x[3] - x[0]
    gradient_1, gradient_2, gradient_3 = b.cross(c) / 6.0, c.cross(a) / 6.0, a.cross(b) / 6.0
    C = a.dot(gradient_1) - parameters[0]
    return C, [-gradient_1 - gradient_2 - gradient_3, gradient_1, gradient_2, gradient_3]


def _with_limited_steps(whole):
    """The same constraint type with shorter projections. Args: whole: a ConstraintType of four particles."""

    @ti.func
    def project(x, start, w, parameters, compliance, multiplier, from_start: ti.template()):
        new, new_multiplier = whole.project(x, start, w, parameters, compliance, multiplier, from_start)
        squared = 0.0
        for k in ti.static(range(4)):
            squared = ti.max(squared, (new[k] - x[k]).norm_sqr())
        # The sixth power of the longest step, and of the longest that is allowed: roots would cost a quarter.
        sixth, most = squared * squared * squared, ti.static(LARGEST_STEP**6) * parameters[0] * parameters[0]
        if sixth > most:
            part = 1.0
            if most > 0.0:  # V = 0 keeps four points in a plane, and has no size
                # The power 5/32 in place of 1/6: square roots have equal bits on all processors, others do not.
                root = ti.sqrt(ti.sqrt(ti.sqrt(most / sixth)))
                part = root * ti.sqrt(ti.sqrt(root))
            for k in ti.static(range(4)):
                new[k] = x[k] + part * (new[k] - x[k])
            new_multiplier = multiplier + part * (new_multiplier - multiplier)
        return new, new_multiplier

    return replace(whole, project=project, compliant=whole.compliant and _with_limited_steps(whole.compliant))


VOLUME = _with_limited_steps(scalar_constraint("volume", 4, ("volume",), volume))
