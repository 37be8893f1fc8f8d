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
    return np.array([pair(of_parent(parent.vector(joint.parent_axes[0])), of_child(child.vector(joint.child_axes[1])))])


def slider_products(parent, child, joint):
    """The products of a slider, as (a, b) of all corners (5, 16).

    Args: parent, child: Corners; joint: a rigid.Joint.
    """
    m = [of_parent(parent.vector(axis)) for axis in joint.parent_axes]
    n = [of_child(child.vector(axis)) for axis in joint.child_axes]
    way = of_child(child.point(joint.child_anchor)) - of_parent(parent.point(joint.parent_anchor))
    return np.array([pair(m[1], n[0]), pair(m[2], n[0]), pair(m[1], n[2]), pair(way, m[1]), pair(way, m[2])])


class Corners:
    """Points and vectors of a body as combinations of its corners. Args: positions: of the corners (4, 3) [m]."""

    def __init__(self, positions):
        self.inverse = np.linalg.inv(np.concatenate([positions.T, np.ones((1, 4))]))

    def point(self, point):
        """The c of point = Σ c_k x_k, Σ c_k = 1 (4,)."""
        return self.inverse @ np.append(point, 1.0)

    def vector(self, vector):
        """The c of vector = Σ c_k x_k, Σ c_k = 0 (4,)."""
        return self.inverse @ np.append(vector, 0.0)


def of_parent(coefficients):
    """Coefficients of both bodies (8,) from the parent's (4,)."""
    return np.concatenate([coefficients, np.zeros(4)])


def of_child(coefficients):
    """Coefficients of both bodies (8,) from the child's (4,)."""
    return np.concatenate([np.zeros(4), coefficients])


def pair(a, b):
    """The numbers of a product (16,)."""
    return np.concatenate([a, b])
