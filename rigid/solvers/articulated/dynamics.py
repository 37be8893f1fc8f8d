"""The articulated-body method, for momenta: M(q) u = Jᵀ p in one way up the trees and one down.

Given the momentum p that each body would have were it free, the speeds u are found with which the jointed bodies have
it, as seen from every coordinate: M = Jᵀ M_b J, with V = J u the bodies' velocities. Per link, about its centre of
mass, the articulated inertia I^A is what an impulse on it feels of all that hangs on it,

    U = I^A s,   d = sᵀ U,   I^A - U Uᵀ/d and p - U (sᵀp)/d are handed to the parent;   u = (sᵀp - Uᵀ V')/d,

V' being the velocity that the link has without this speed. A joint of several speeds takes one after another, as if
massless links lay between. I^A is blocks of 3 x 3: a force is M a + H α, a torque Hᵀ a + K α.

Source: Featherstone, The calculation of robot dynamics using articulated-body inertias (1983); for impulses Mirtich,
Impulse-based Dynamic Simulation of Rigid Body Systems (1996), chapter 4.
"""

import taichi as ti

from rigid.kernels.columns import put_triple, quadruple, triple
from rigid.kernels.motion import ANGULAR, LINEAR, MASS
from rigid.kernels.motion import INERTIA as BODY_INERTIA
from rigid.solvers.articulated.kinematics import carried, offset
from rigid.solvers.articulated.links import (
    AXIS,
    FREEDOMS,
    INERTIA,
    INVERSE,
    MOMENTUM,
    PARENT,
    PARENT_BODY,
    SHARE,
    SPEED,
    SUM,
)
from rigid.solvers.articulated.links import BODY as LINK_BODY

# Where the blocks M and K, symmetric, and H lie in the columns of an inertia.
M_BLOCK, H_BLOCK, K_BLOCK = INERTIA, INERTIA + 6, INERTIA + 15


@ti.func
def symmetric_block(array: ti.template(), row, column, world):
    """A symmetric matrix from six columns: xx, yy, zz, xy, xz, yz."""
    a = ti.Vector([array[world, row, column + k] for k in ti.static(range(6))])
    return ti.Matrix([[a[0], a[3], a[4]], [a[3], a[1], a[5]], [a[4], a[5], a[2]]])


@ti.func
def add_symmetric(array: ti.template(), row, column, m, world):
    """Add a symmetric matrix to six columns."""
    for k, i, j in ti.static(((0, 0, 0), (1, 1, 1), (2, 2, 2), (3, 0, 1), (4, 0, 2), (5, 1, 2))):
        array[world, row, column + k] = array[world, row, column + k] + m[i, j]


@ti.func
def cross_matrix(r):
    """[r]×."""
    return ti.Matrix([[0.0, -r[2], r[1]], [r[2], 0.0, -r[0]], [-r[1], r[0], 0.0]])


@ti.func
def to_matrix(q):
    """The rotation matrix of a unit quaternion."""
    w, x, y, z = q[0], q[1], q[2], q[3]
    return ti.Matrix(
        [
            [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)],
            [2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)],
            [2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)],
        ]
    )


@ti.func
def gather(s: ti.template(), world):
    """Articulated inertias and momenta, from the leaves to the roots. The bodies' velocities say their momenta."""
    of, sums = ti.static(s.trees.integers, s.trees.sums)
    links = of.shape[0]
    for link in range(links):
        for k in ti.static(range(SUM + 6)):
            sums[world, link, k] = 0.0
    for turn in range(links):
        link = links - 1 - turn
        body = of[link, LINK_BODY]
        R = to_matrix(quadruple(s.motion.poses, body, 3, world))
        spin = R @ symmetric_block(s.motion.masses, body, BODY_INERTIA, world) @ R.transpose()
        mass = s.motion.masses[world, body, MASS]
        M = symmetric_block(sums, link, M_BLOCK, world) + mass * ti.Matrix.identity(float, 3)
        H = ti.Matrix.rows([triple(sums, link, H_BLOCK + 3 * i, world) for i in ti.static(range(3))])
        K = symmetric_block(sums, link, K_BLOCK, world) + spin
        p = triple(sums, link, SUM, world) + mass * triple(s.motion.velocities, body, LINEAR, world)
        L = triple(sums, link, SUM + 3, world) + spin @ triple(s.motion.velocities, body, ANGULAR, world)
        for k in range(of[link, FREEDOMS]):
            speed = of[link, SPEED] + of[link, FREEDOMS] - 1 - k
            a, b = triple(s.trees.axes, speed, AXIS, world), triple(s.trees.axes, speed, AXIS + 3, world)
            U, W = M @ a + H @ b, H.transpose() @ a + K @ b
            inverse, share = 1.0 / (a.dot(U) + b.dot(W)), a.dot(p) + b.dot(L)
            M -= inverse * U.outer_product(U)
            H -= inverse * U.outer_product(W)
            K -= inverse * W.outer_product(W)
            p -= (inverse * share) * U
            L -= (inverse * share) * W
            put_triple(s.trees.axes, speed, MOMENTUM, U, world)
            put_triple(s.trees.axes, speed, MOMENTUM + 3, W, world)
            s.trees.axes[world, speed, INVERSE] = inverse
            s.trees.axes[world, speed, SHARE] = share
        parent = of[link, PARENT]
        if parent >= 0:
            # About the parent's centre of mass, r before: a = a' - r × α', and torques get r × f.
            r = offset(s, link, world)
            C = cross_matrix(r)
            shifted = H - M @ C
            add_symmetric(sums, parent, M_BLOCK, M, world)
            for i, j in ti.static(ti.ndrange(3, 3)):
                sums[world, parent, H_BLOCK + 3 * i + j] = sums[world, parent, H_BLOCK + 3 * i + j] + shifted[i, j]
            add_symmetric(sums, parent, K_BLOCK, K + C @ shifted - H.transpose() @ C, world)
            put_triple(sums, parent, SUM, triple(sums, parent, SUM, world) + p, world)
            put_triple(sums, parent, SUM + 3, triple(sums, parent, SUM + 3, world) + L + r.cross(p), world)


@ti.func
def share_out(s: ti.template(), world):
    """Speeds of all joints from the momenta gathered, and with them the bodies' velocities."""
    go_down(s, True, world)


@ti.func
def spread_speeds(s: ti.template(), world):
    """Velocities of all bodies, V = J(q) u, from the speeds of stage 0."""
    go_down(s, False, world)


@ti.func
def go_down(s: ti.template(), searching: ti.template(), world):
    """Velocities of all bodies, from the roots to the leaves. Arguments: searching: find the speeds on the way."""
    of = ti.static(s.trees.integers)
    for link in range(of.shape[0]):
        v, w = carried(s, link, s.motion.velocities, of[link, PARENT_BODY], LINEAR, world)
        for speed in range(of[link, SPEED], of[link, SPEED] + of[link, FREEDOMS]):
            if ti.static(searching):
                s.trees.speeds[world, 0, speed] = found(s, speed, s.trees.axes[world, speed, SHARE], v, w, world)
            u = s.trees.speeds[world, 0, speed]
            v += u * triple(s.trees.axes, speed, AXIS, world)
            w += u * triple(s.trees.axes, speed, AXIS + 3, world)
        put_triple(s.motion.velocities, of[link, LINK_BODY], LINEAR, v, world)
        put_triple(s.motion.velocities, of[link, LINK_BODY], ANGULAR, w, world)


@ti.func
def found(s: ti.template(), speed, share, v, w, world):
    """u = (sᵀp - Uᵀ V')/d. Arguments: share: sᵀp; v, w: V'."""
    of = ti.static(s.trees.axes)
    given = triple(of, speed, MOMENTUM, world).dot(v) + triple(of, speed, MOMENTUM + 3, world).dot(w)
    return of[world, speed, INVERSE] * (share - given)
