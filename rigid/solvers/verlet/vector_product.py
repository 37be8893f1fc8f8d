"""Constraint type: the scalar product of two vectors, for joints that are solved directly (pbd/direct).

    C = p·q - c,   p = Σ a_k x_k,   q = Σ b_k x_k,   Σ a_k = Σ b_k = 0,   ∇_k C = a_k q + b_k p

Vectors that are fixed to a body are such combinations of its four corners, and so is the way from a point of one body
to a point of another. A universal joint is one product: its axes m_0 of the parent and n_1 of the child are at a right
angle. A slider is five: m_1·n_0 = m_2·n_0 = m_1·n_2 = 0, and the way d between its anchors has d·m_1 = d·m_2 = 0.

The types of joint_locks.py have impulses of rigid bodies and converge faster when they are iterated. Here the gradient
is that of the particles, as a direct solve with the frames' sticks needs it. Linear momentum is conserved as the
coefficients add up to zero, angular momentum as C does not change when all particles turn together.

Source: [4] of docs/solvers.md, its rows as functions of particles.
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


def universal_products(parent, child, joint):
    """The product of a universal joint, as (a, b) of all corners (1, 16). Args: see `slider_products`."""
    m_0 = of_parent(corner_weights(parent, joint.parent_axes[0], 0.0))
    n_1 = of_child(corner_weights(child, joint.child_axes[1], 0.0))
    return np.array([np.concatenate([m_0, n_1])])


def slider_products(parent, child, joint):
    """The products of a slider, as (a, b) of all corners (5, 16).

    Args: parent, child: their corners in the bodies' frames (4, 3) [m]; joint: a rigid.Joint.
    """
    m = of_parent(corner_weights(parent, joint.parent_axes, 0.0))
    n = of_child(corner_weights(child, joint.child_axes, 0.0))
    ends = corner_weights(parent, joint.parent_anchor), corner_weights(child, joint.child_anchor)
    way = of_child(ends[1]) - of_parent(ends[0])
    pairs = (m[1], n[0]), (m[2], n[0]), (m[1], n[2]), (way, m[1]), (way, m[2])
    return np.array([np.concatenate(pair) for pair in pairs])


def of_parent(weights):
    """Weights of both bodies' corners (..., 8) from the parent's (..., 4)."""
    return np.concatenate([weights, np.zeros_like(weights)], axis=-1)


def of_child(weights):
    """Weights of both bodies' corners (..., 8) from the child's (..., 4)."""
    return np.concatenate([np.zeros_like(weights), weights], axis=-1)
