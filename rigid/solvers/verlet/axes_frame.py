"""Frame along axes: particles at a vertex and on three axes of the body, three sticks and three right angles.

Particles x_0 and x_k = x_0 + l_k a_k, k = 1, 2, 3, are along orthogonal axes a_k. With D = diag(m_k l_k²) and
v_k = m_k l_k, their second moments about their centre of mass are

    S = A (D - v vᵀ/M) Aᵀ,   A = (a_1 a_2 a_3),   M = Σ m,   centre = x_0 + A v/M

Four particles of one mass m = M/4, which relative_rotation.py needs, are exact for some bodies. Then
D - v vᵀ/M = D^½ (E - 1 1ᵀ/4) D^½, whose characteristic polynomial is that of S with the principal values s_k, if

    Σ d = 4/3 Σ s,   d_1 d_2 + d_1 d_3 + d_2 d_3 = 2 (s_1 s_2 + s_1 s_3 + s_2 s_3),   d_1 d_2 d_3 = 4 s_1 s_2 s_3

So the d_k = m l_k² are the roots of a cubic, and A follows from the eigenvectors of both sides. The box of
0.4 x 0.2 x 0.1 m has three such roots. A cube, a ball and a rod as thick as it is wide have none. Unequal masses would
not help: a rank-one change of a diagonal matrix has its eigenvalues between the old ones, so two equal s_k make one d_k
equal to both and v_k zero, and the particle massless.

If four particles are not exact, a fifth one, the counterweight, is opposite the three. All have the mass m = M/5, and
sticks tie the fifth to the other four, along the principal axes:

    x_4 = x_0 - (√5 - 1)/4 Σ l_k a_k,   l_k = sqrt(s_k/m),   centre = x_0 + (1 - 1/√5)/4 Σ l_k a_k

A counterweight μ M at p from x_0 leaves S = D exactly if p = -(1 - √μ)/(4 √μ) Σ l_k a_k: then m_4 p pᵀ = M c cᵀ with c
the centre, off the diagonal and on it (for l_k of corners of one mass). μ = 1/5 makes it as heavy as the others.

In both cases mass, centre of mass and inertia tensor are the body's to round-off, as with the tetrahedron. But impulses
on the corners do not move a frame with a counterweight as they move the body: it has a fifth of the mass, and only its
sticks move it. Contacts move all particles. Limits, friction, motors and springs of joints, sliders, universal joints
and gears do not, so they are refused for it (builder.py).

Source: Jakobsen, Advanced Character Physics (2001), section 5, as retold: |a| = |b| = |c| = 1, a·b = b·c = c·a = 0. The
masses and lengths are ours.
"""

import numpy as np
import taichi as ti

from pbd.constraints.constraint_type import scalar_constraint

# Pairs of corners with a stick, and (vertex, first, second) of right angles. With corner 1 as the vertex and
# right-handed axes, the corners have the handedness of a tetrahedron's.
STICKS = np.array([(1, 0), (1, 2), (1, 3)])
ANGLES = np.array([(1, 0, 2), (1, 2, 3), (1, 3, 0)])

# Least distance of two of the cubic's roots, in parts of the largest. Nearer ones are inexact, or not real.
LEAST_DISTANCE = 1e-3


@ti.func
def right_angle(x, parameters):
    """C = a·b/L of the arms a = x_1 - x_0, b = x_2 - x_0, and its gradient; L is the longer one at rest.

    C is the distance of the shorter arm's end from the right angle [m].
    """
    a, b = x[1] - x[0], x[2] - x[0]
    scale = 1.0 / parameters[0]
    return scale * a.dot(b), [-scale * (a + b), scale * b, scale * a]


RIGHT_ANGLE = scalar_constraint("right angle of arms", 3, ("length",), right_angle)


def place(mass, moments, counterweight=False):
    """Place the corners of a frame along axes, and its counterweight if it needs one.

    Args: mass: M [kg]; moments: S about the centre of mass (3, 3) [kg m²]; counterweight: whether it has one in any
    case.

    Returns: corners (4, 3) and counterweights (0 or 1, 3) from the centre of mass [m], all of one mass.
    """
    values, axes = np.linalg.eigh(moments)
    squares = None if counterweight else lengths_of_four(values)
    if squares is None:
        each, arms = mass / 5, right_handed(axes) * np.sqrt(5 * values / mass)
        vertex = -(1 - 1 / np.sqrt(5)) / 4 * arms.sum(axis=1)
        counterweights = [vertex - (np.sqrt(5) - 1) / 4 * arms.sum(axis=1)]
    else:
        each, counterweights = mass / 4, np.zeros((0, 3))
        half = np.sqrt(squares) / 2
        _, mixing = np.linalg.eigh(np.diag(squares) - np.outer(half, half))
        arms = right_handed(axes) @ right_handed(mixing).T * np.sqrt(squares / each)
        vertex = -arms.sum(axis=1) / 4
    ends = vertex + arms.T
    return np.array([ends[0], vertex, ends[1], ends[2]]), np.array(counterweights)


def lengths_of_four(values):
    """The d_k = m l_k² of four particles of one mass (3,), or None if there are none. Args: values: s_k > 0 (3,)."""
    unit = values.sum()
    a, b, c = values / unit
    cubic = np.array([1.0, -4 / 3, 2 * (a * b + a * c + b * c), -4 * a * b * c])
    roots = np.roots(cubic)
    if np.iscomplexobj(roots) and np.abs(roots.imag).max() > 0:
        return None
    roots = np.sort(roots.real)[::-1]  # the longest stick first
    if np.diff(roots).max() > -LEAST_DISTANCE * roots[0]:
        return None
    roots -= np.polyval(cubic, roots) / np.polyval(np.polyder(cubic), roots)
    return unit * roots


def right_handed(axes):
    """Axes (3, 3), as columns, with the last one reversed if they are left-handed."""
    return axes * (1, 1, np.sign(np.linalg.det(axes)))
