"""Constraint type: the scalar product of two vectors, for joints that are solved directly (pbd/direct).

    C = p·q - c,   p = Σ a_k x_k,   q = Σ b_k x_k,   Σ a_k = Σ b_k = 0,   ∇_k C = a_k q + b_k p

Vectors that are fixed to a body are such combinations of its four corners, and so is the way from a point of one body
to a point of another. A right angle m_a·n_b = 0 is one product, and so is a translation d·m_a = 0 that a joint keeps
closed, with the way d between its anchors. A slider is five: m_1·n_0 = m_2·n_0 = m_1·n_2 = 0 and d·m_1 = d·m_2 = 0.

The types of joint_locks.py have impulses of rigid bodies and converge faster when they are iterated. Here the gradient
is that of the particles, as a direct solve with the frames' sticks needs it. Linear momentum is conserved as the
coefficients add up to zero, angular momentum as C does not change when all particles turn together.

Source: [4] of docs/solvers/sources.md, its rows as functions of particles.
"""

import numpy as np
import taichi as ti

from pbd.constraints.constraint_type import scalar_constraint
from rigid.solvers.verlet.frame import corner_weights

CORNERS_OF_TWO = 8


def _vector_product():
    @ti.func
    def product(x, parameters):
        p, q = 0.0 * x[0], 0.0 * x[0]
        for k in ti.static(range(CORNERS_OF_TWO)):
            p += parameters[k] * x[k]
            q += parameters[CORNERS_OF_TWO + k] * x[k]
        gradient = [parameters[k] * q + parameters[CORNERS_OF_TWO + k] * p for k in ti.static(range(CORNERS_OF_TWO))]
        return p.dot(q), gradient

    names = tuple(f"{vector}{k}" for vector in "ab" for k in range(CORNERS_OF_TWO))
    return scalar_constraint("vector product", CORNERS_OF_TWO, names, product)


VECTOR_PRODUCT = _vector_product()


def products_of(parent, child, joint):
    """The products of what a joint's type keeps closed, as (a, b) of all corners (n, 16).

    Args: parent, child: their corners in the bodies' frames (4, 3) [m]; joint: a rigid.Joint.
    """
    m = of_parent(corner_weights(parent, joint.parent_axes, 0.0))
    n = of_child(corner_weights(child, joint.child_axes, 0.0))
    pairs = [(m[a], n[b]) for a, b in joint.type.right_angles]
    if joint.type.slides:
        ends = corner_weights(parent, joint.parent_anchor), corner_weights(child, joint.child_anchor)
        way = of_child(ends[1]) - of_parent(ends[0])
        pairs += [(way, m[a]) for a in joint.type.translations]
    return np.array([np.concatenate(pair) for pair in pairs])


def of_parent(weights):
    """Weights of both bodies' corners (..., 8) from the parent's (..., 4)."""
    return np.concatenate([weights, np.zeros_like(weights)], axis=-1)


def of_child(weights):
    """Weights of both bodies' corners (..., 8) from the child's (..., 4)."""
    return np.concatenate([np.zeros_like(weights), weights], axis=-1)
