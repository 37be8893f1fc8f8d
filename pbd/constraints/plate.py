"""Plate: bending across edges of a surface, whose moments share the compliance of each triangle.

A triangle of constant moments M (2 x 2) has the normal moment m_e = n_e·M n_e across its side e, and its neighbour has
the same. So the moments across the edges are the unknowns, one multiplier each, and a fold by θ_e is

    C_e + Σ_f α_ef λ_f = 0,   C_e = 2 sin((θ_e - θ_0)/2),   λ_e = l_e m_e,   α_ef = Σ A Φ_e : S : Φ_f/(l_e l_f)

summed over the one or two triangles with both sides e and f. S is the plate's compliance, A the area, and Φ_e the
moments whose normal moment is one across e and zero across the other two sides. A free border has no moment and no row.
What α_ef λ_f other edges add is not in this file, see `ConstraintType.coupled`.

Source: the method of Hellan, Herrmann and Johnson, which converges on every mesh; see Arnold, Walker, The
Hellan-Herrmann-Johnson Method with Curved Elements (2020), https://doi.org/10.1137/19M1288723. A diagonal α is Discrete
Shells (bending.py, flat_bending.py): exact for cylinders along the edges, but a strip whose sides are free bends by 10
to 30 % too much, more on regular meshes than on random ones, and finer ones do not help. With the whole α, errors are
of second order on all of them: 0.3 % for a cantilever of 20 rows, 0.08 % for 40 (tests/verification/test_plates.py).

Parameters: those of bending.py; the part of the own α_ee that is no more than all α together, so that Σ lumped α_ee
λ_e² <= Σ α_ef λ_e λ_f; and α_ef/α_ee of the other four sides of both triangles.
"""

from dataclasses import replace

import taichi as ti

from pbd.constraints.bending import BENDING, bending

NEIGHBOURS = 4
PARAMETERS = (*BENDING.parameters, "lumped", *(f"ratio_{k}" for k in range(NEIGHBOURS)))


@ti.func
def derivatives(x, parameters):
    """C and its gradient, as lists."""
    C, gradient = bending(x, parameters)
    return [C], [gradient]


COMPLIANT = replace(
    BENDING.compliant, name="plate (compliant)", parameters=PARAMETERS, coupled=NEIGHBOURS, function=None,
    derivatives=derivatives,
)  # fmt: skip
PLATE = replace(BENDING, name="plate", parameters=PARAMETERS, compliant=COMPLIANT, function=None)
