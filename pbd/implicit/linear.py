"""Solve with the matrix of all elements: by its factor, or by conjugate gradients."""

import taichi as ti

from pbd.implicit import conjugate
from pbd.implicit.blocks import factor, substitute
from pbd.implicit.contacts import restrict


@ti.func
def prepare(s: ti.template(), world):
    """Prepare to solve with the matrix whose blocks are in `scaled`."""
    if ti.static(s.features.conjugate):
        conjugate.prepare(s, world)
    else:
        factor(s, world)


@ti.func
def solve(s: ti.template(), world):
    """Solve in place: `unknown`, in the directions in which particles are not held by colliders."""
    if ti.static(s.features.obstacles):
        restrict(s, world)
    if ti.static(s.features.conjugate):
        conjugate.solve(s, world)
    else:
        substitute(s, world)
    if ti.static(s.features.obstacles):
        restrict(s, world)
