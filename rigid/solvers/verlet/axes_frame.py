"""The source's other frame: particles at 0 and on three axes of the body, three sticks and three right angles.

Particles x_0 and x_k = x_0 + l_k a_k, k = 1, 2, 3, along axes a_k at right angles, each stick as long as one unit of
the body's own along its axis. With D = diag(m_k l_k²) and v_k = m_k l_k, their second moments about their centre of
mass are

    S = A (D - v vᵀ/M) Aᵀ,   A = (a_1 a_2 a_3),   M = Σ m,   centre = x_0 + A v/M

Four particles are exact where they can be of one mass m = M/4, as all that acts on frames wants them (relative_rotation.py): then
D - v vᵀ/M = D^½ (E - 1 1ᵀ/4) D^½, whose characteristic polynomial is that of S, with the principal values s_k, where

    Σ d = 4/3 Σ s,   d_1 d_2 + d_1 d_3 + d_2 d_3 = 2 (s_1 s_2 + s_1 s_3 + s_2 s_3),   d_1 d_2 d_3 = 4 s_1 s_2 s_3

so the d_k = m l_k² are the roots of a cubic, and A follows from the eigenvectors of both sides. The box of
0.4 x 0.2 x 0.1 m has three such roots; a cube, a ball, a rod as thick as it is wide have not. Masses that differ would
not save those: a rank-one change of a diagonal matrix leaves between its values the others, so that two equal s_k make
a d_k equal to both, v_k zero, and the particle weightless, whatever the masses.

So where four cannot, a fifth does, the counterweight, opposite the three: all of mass m = M/5, along the principal
axes, tied to the four by sticks,

    x_4 = x_0 - (√5 - 1)/4 Σ l_k a_k,   l_k = sqrt(s_k/m),   centre = x_0 + (1 - 1/√5)/4 Σ l_k a_k

A counterweight μ M at p from x_0 leaves S = D exactly where p = -(1 - √μ)/(4 √μ) Σ l_k a_k: then m_4 p pᵀ = M c cᵀ, c
the centre, off the diagonal and on it (for l_k of corners of one mass). μ = 1/5 makes it as heavy as they are.

Either way mass, centre of mass and inertia tensor are the body's to round-off, as with the tetrahedron. Not as with
the tetrahedron is what impulses on the corners do to a frame with a counterweight, which has a fifth of the mass and
follows by its sticks alone: contacts move all particles, but joints' limits, friction, motors and springs, sliders,
universal joints and gears do not, and are refused on it (rigid/solvers/verlet/description.py).

Source: Jakobsen, Advanced Character Physics (2001), section 5, as retold: |a| = |b| = |c| = 1, a·b = b·c = c·a = 0. The
masses and lengths are ours.
"""

import numpy as np
import taichi as ti

from pbd.constraints.constraint_type import scalar_constraint

# Pairs of corners that sticks join, and (vertex, first, second) of right angles. The vertex is corner 1: with the axes
# right-handed, the corners then have the handedness of a tetrahedron's.
STICKS = np.array([(1, 0), (1, 2), (1, 3)])
ANGLES = np.array([(1, 0, 2), (1, 2, 3), (1, 3, 0)])

# Least distance of two of the cubic's roots, in parts of the largest: nearer ones are inexact, or none.
APART = 1e-3


@ti.func
def right_angle(x, parameters):
    """C = a·b/L of the arms a = x_1 - x_0, b = x_2 - x_0, and its gradient; L the longer of both at rest.

    How far the shorter arm's end is off the right angle [m].
    """
    a, b = x[1] - x[0], x[2] - x[0]
    scale = 1.0 / parameters[0]
    return scale * a.dot(b), [-scale * (a + b), scale * b, scale * a]


RIGHT_ANGLE = scalar_constraint("right angle of arms", 3, ("length",), right_angle)


def place(mass, moments, counterweight=False):
    """Corners of a frame along axes, and its counterweight, where it needs one.

    Arguments: mass M [kg]; moments S about the centre of mass (3, 3) [kg m²]; counterweight: whether it has one in any
    case.

    Returns: corners (4, 3) and counterweights (0 or 1, 3) from the centre of mass [m], all of one mass.
    """
    values, axes = np.linalg.eigh(moments)
    squares = None if counterweight else lengths_of_four(values)
    if squares is None:
        each, arms = mass / 5, right_handed(axes) * np.sqrt(5 * values / mass)
        vertex = -(1 - 1 / np.sqrt(5)) / 4 * arms.sum(axis=1)
        behind = [vertex - (np.sqrt(5) - 1) / 4 * arms.sum(axis=1)]
    else:
        each, behind = mass / 4, np.zeros((0, 3))
        half = np.sqrt(squares) / 2
        _, turn = np.linalg.eigh(np.diag(squares) - np.outer(half, half))
        arms = right_handed(axes) @ right_handed(turn).T * np.sqrt(squares / each)
        vertex = -arms.sum(axis=1) / 4
    ends = vertex + arms.T
    return np.array([ends[0], vertex, ends[1], ends[2]]), np.array(behind)


def lengths_of_four(values):
    """The d_k = m l_k² of four particles of one mass (3,), or None where there are none; values: s_k > 0 (3,)."""
    unit = values.sum()
    a, b, c = values / unit
    cubic = np.array([1.0, -4 / 3, 2 * (a * b + a * c + b * c), -4 * a * b * c])
    roots = np.roots(cubic)
    if np.iscomplexobj(roots) and np.abs(roots.imag).max() > 0:
        return None
    roots = np.sort(roots.real)[::-1]  # the longest stick first
    if np.diff(roots).max() > -APART * roots[0]:
        return None
    roots -= np.polyval(cubic, roots) / np.polyval(np.polyder(cubic), roots)
    return unit * roots


def right_handed(axes):
    """Axes (3, 3), as columns, the last one turned round where they are left-handed."""
    return axes * (1, 1, np.sign(np.linalg.det(axes)))
