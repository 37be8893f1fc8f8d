"""Tension of ropes in the direct solve (pbd/direct/solve.py): it is added to the masses of nodes where it is stiff.

The nodes of a light rope under a high tension swing across in less than a step, and these solves would diverge: a
stick of length d with the multiplier λ < 0 resists displacements across itself with the stiffness -λ/d [kg, as all is
divided by h²], which can exceed the masses. Where it does, it is added to the masses of nodes, twice as large, which
bounds the matrix of a chain, and J and W are taken anew in each iteration. Nodes are particles with one or two rows;
others are held across by further rows. With these masses M̃ the solve is a quasi-Newton method for M u = Jᵀ λ, C = 0,
where u is what the solve has moved particles by:

    r = M u - Jᵀ λ,   A λ' = -(C + α' λ) + J W̃ r,   u' = W̃ (Jᵀ λ' - r)

It converges to the same impulses. Until it has converged, momentum changes by the residual r.

Sources: Tournier and others, Stable Constrained Dynamics (2015); Andrews and others, Geometric Stiffness for Real-time
Constrained Multibody Dynamics (2017).
"""

import taichi as ti

from pbd.data import DIRECT_RANGE
from pbd.direct.one_row import move
from pbd.direct.sticks import tension_of

# Tension counts where it is stiffer than this part of a node's mass. Below, SHAKE is stable, and keeps momentum.
LEAST_STIFFNESS = 0.5


@ti.func
def take_back(s: ti.template(), world):
    """Move all particles back to where they were before the direct solve."""
    for i in range(s.counts.particles):
        move(s, i, -s.direct.moved[i, world], world)
        s.direct.moved[i, world] = ti.Vector([0.0, 0.0, 0.0])


@ti.func
def is_stiff(s: ti.template(), world):
    """Whether the tension of sticks is stiffer than LEAST_STIFFNESS of the mass of a node between them."""
    sum_stiffness(s, world)
    stiff = False
    for i in range(s.counts.particles):
        stiff = stiff or s.direct.stiffness[i, world] * s.particles.position[i, world][3] > LEAST_STIFFNESS
    return stiff


@ti.func
def sum_stiffness(s: ti.template(), world):
    """Sum the stiffness of the sticks at each node."""
    of_node = ti.static(s.direct.stiffness)
    for i in range(s.counts.particles):
        of_node[i, world] = 0.0
    for index in ti.static(s.features.direct):
        if ti.static(s.features.types[index].arity == 2):
            for row in range(s.direct.ranges[index, DIRECT_RANGE.begin], s.direct.ranges[index, DIRECT_RANGE.end]):
                i, j, stiffness, _ = tension_of(index, s, row, world)
                stiffness = 2.0 * ti.max(stiffness, 0.0)
                of_node[i, world] = of_node[i, world] + s.direct.is_node[i] * stiffness
                of_node[j, world] = of_node[j, world] + s.direct.is_node[j] * stiffness
