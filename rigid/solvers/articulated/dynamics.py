"""The articulated-body method, for momenta: M(q) u = Jᵀ p, in one pass inward and one pass outward.

p are the momenta that the bodies would have if they were free. The speeds u are those for which the jointed bodies have
the same momenta along all coordinates: M = Jᵀ M_b J, and V = J u are the bodies' velocities. The articulated inertia
I^A of a link, about its centre of mass, is the inertia that an impulse on it meets, with all that hangs on it:

    U = I^A s,   d = sᵀ U,   I^A - U Uᵀ/d and p - U (sᵀp)/d go to the parent;   u = (sᵀp - Uᵀ V')/d

The rotor of a joint (rigid/constraints/joints/rotors.py) has its armature a in d, and a u of before in sᵀp.

V' is the velocity that the link has without this speed. A joint of several speeds takes one after another, as if
massless links were between. I^A has blocks of 3 x 3: a force is M a + H α, a torque Hᵀ a + K α.

A body that follows a path is a root with d⁻¹ = 0: its six speeds are those of the path, and no impulse changes them.

Source: Featherstone, The calculation of robot dynamics using articulated-body inertias (1983); for impulses Mirtich,
Impulse-based Dynamic Simulation of Rigid Body Systems (1996), chapter 4.
"""

from functools import cache

import taichi as ti

from pbd.core.kernels import compiled_once, count_last_turns, load_quaternion, load_vector, make_kernel, store_vector
from pbd.core.quaternions import to_matrix
from rigid.constraints.rows import ROW
from rigid.kernels.matrices import add_symmetric, cross_matrix, load_symmetric
from rigid.kernels.motion import MASS, POSE, VELOCITY
from rigid.solvers.articulated.data import Data
from rigid.solvers.articulated.joint_forces import store_starts
from rigid.solvers.articulated.kinematics import carried_velocity, compute_poses, follows_path, offset
from rigid.solvers.articulated.links import ARTICULATED, AXIS, LINK, ROTOR
from rigid.solvers.report import REPORT


@compiled_once("bodies", "trees", "rows", "features")
def inward_pass(s: ti.template(), world):
    """Sum articulated inertias and momenta from the leaves to the roots. The momenta are those of the velocities."""
    links, of, axes = ti.static(s.trees.links, s.trees.articulated, s.trees.axes)
    number = links.shape[0]
    for link in range(number):
        for k in ti.static(range(ARTICULATED.test)):
            of[world, link, k] = 0.0
    for turn in range(number):
        link = number - 1 - turn
        body = links[link, LINK.body]
        R = to_matrix(load_quaternion(s.bodies.pose, body, POSE.rotation, world))
        inertia = R @ load_symmetric(s.bodies.mass, body, MASS.inertia, world) @ R.transpose()
        mass = s.bodies.mass[world, body, MASS.mass]
        M = load_symmetric(of, link, ARTICULATED.M, world) + mass * ti.Matrix.identity(float, 3)
        H = ti.Matrix.rows([load_vector(of, link, ARTICULATED.H + 3 * i, world) for i in ti.static(range(3))])
        K = load_symmetric(of, link, ARTICULATED.K, world) + inertia
        p = load_vector(of, link, ARTICULATED.momentum, world)
        p += mass * load_vector(s.bodies.velocity, body, VELOCITY.linear, world)
        L = load_vector(of, link, ARTICULATED.angular_momentum, world)
        L += inertia @ load_vector(s.bodies.velocity, body, VELOCITY.angular, world)
        for k in range(links[link, LINK.speeds]):
            speed = links[link, LINK.first_speed] + links[link, LINK.speeds] - 1 - k
            a, b = load_vector(axes, speed, AXIS.linear, world), load_vector(axes, speed, AXIS.angular, world)
            U, W = M @ a + H @ b, H.transpose() @ a + K @ b
            inertia_along, projection = a.dot(U) + b.dot(W), a.dot(p) + b.dot(L)
            if ti.static(s.features.rotors):
                armature, speed_before = rotor_of(s, speed, world)
                inertia_along += armature
                projection += armature * speed_before
            inverse = 1.0 / inertia_along
            if ti.static(s.features.paths):
                if follows_path(s, body, world):
                    inverse = 0.0
            M -= inverse * U.outer_product(U)
            H -= inverse * U.outer_product(W)
            K -= inverse * W.outer_product(W)
            p -= (inverse * projection) * U
            L -= (inverse * projection) * W
            store_vector(axes, speed, AXIS.momentum, U, world)
            store_vector(axes, speed, AXIS.angular_momentum, W, world)
            axes[world, speed, AXIS.inverse] = inverse
            axes[world, speed, AXIS.projection] = projection
        parent = links[link, LINK.parent]
        if parent >= 0:
            # About the parent's centre of mass, at r from it: a = a' - r × α', and torques get r × f.
            r = offset(s, link, world)
            C = cross_matrix(r)
            shifted = H - M @ C
            add_symmetric(of, parent, ARTICULATED.M, M, world)
            for i, j in ti.static(ti.ndrange(3, 3)):
                column = ARTICULATED.H + 3 * i + j
                of[world, parent, column] = of[world, parent, column] + shifted[i, j]
            add_symmetric(of, parent, ARTICULATED.K, K + C @ shifted - H.transpose() @ C, world)
            p_parent = load_vector(of, parent, ARTICULATED.momentum, world) + p
            L_parent = load_vector(of, parent, ARTICULATED.angular_momentum, world) + L + r.cross(p)
            store_vector(of, parent, ARTICULATED.momentum, p_parent, world)
            store_vector(of, parent, ARTICULATED.angular_momentum, L_parent, world)


@ti.func
def rotor_of(s: ti.template(), speed, world):
    """Armature and speed of the rotor of a speed, zero and zero for none."""
    n = ti.static(s.rows.numbers)
    row = s.trees.rotors[speed, ROTOR.row]
    armature, before = 0.0, 0.0
    if row >= 0:
        if n[world, row, ROW.rotor] > 0.0:
            armature = 1.0 / n[world, row, ROW.rotor]
            before = s.trees.rotors[speed, ROTOR.sign] * n[world, row, ROW.target]
    return armature, before


@ti.func
def store_rotors(s: ti.template(), world):
    """Give the rotors of joints in trees the speeds of these joints."""
    if ti.static(s.features.rotors):
        for speed in range(s.trees.rotors.shape[0]):
            row = s.trees.rotors[speed, ROTOR.row]
            if row >= 0:
                sign = s.trees.rotors[speed, ROTOR.sign]
                s.rows.numbers[world, row, ROW.target] = sign * s.trees.speeds[world, 0, speed]


@ti.func
def outward_pass(s: ti.template(), world):
    """Find the speeds of all joints from the momenta of the inward pass, and the bodies' velocities V = J u."""
    pass_velocities(s, True, world)


@ti.func
def compute_velocities(s: ti.template(), world):
    """Compute velocities of all bodies from the speeds, V = J(q) u."""
    pass_velocities(s, False, world)


@ti.func
def pass_velocities(s: ti.template(), solving: ti.template(), world):
    """Compute velocities from the roots to the leaves. Args: solving: find the speeds on the way."""
    links = ti.static(s.trees.links)
    for link in range(links.shape[0]):
        body, parent = links[link, LINK.body], links[link, LINK.parent_body]
        v, w = carried_velocity(s, link, s.bodies.velocity, parent, VELOCITY.linear, world)
        first, count = links[link, LINK.first_speed], links[link, LINK.speeds]
        if ti.static(s.features.paths):
            if follows_path(s, body, world):
                v = load_vector(s.bodies.velocity, body, VELOCITY.linear, world)
                w = load_vector(s.bodies.velocity, body, VELOCITY.angular, world)
                count = 0
                if ti.static(solving):
                    for k in ti.static(range(3)):
                        s.trees.speeds[world, 0, first + k], s.trees.speeds[world, 0, first + 3 + k] = v[k], w[k]
        for speed in range(first, first + count):
            if ti.static(solving):
                projection = s.trees.axes[world, speed, AXIS.projection]
                s.trees.speeds[world, 0, speed] = solve_speed(s, speed, projection, v, w, world)
            u = s.trees.speeds[world, 0, speed]
            v += u * load_vector(s.trees.axes, speed, AXIS.linear, world)
            w += u * load_vector(s.trees.axes, speed, AXIS.angular, world)
        store_vector(s.bodies.velocity, body, VELOCITY.linear, v, world)
        store_vector(s.bodies.velocity, body, VELOCITY.angular, w, world)


@ti.func
def solve_speed(s: ti.template(), speed, projection, v, w, world):
    """u = (sᵀp - Uᵀ V')/d. Args: projection: sᵀp; v, w: V'."""
    axes = ti.static(s.trees.axes)
    carried = load_vector(axes, speed, AXIS.momentum, world).dot(v)
    carried += load_vector(axes, speed, AXIS.angular_momentum, world).dot(w)
    return axes[world, speed, AXIS.inverse] * (projection - carried)


@cache
def settle_kernel(features):
    """Make the kernel that computes poses from the coordinates, and the speeds nearest to the velocities.

    A solver needs it after a state is set.
    """

    @ti.func
    def settle(s: ti.template()):
        for world in range(s.report.shape[0]):
            compute_poses(s, world)
            store_starts(s, world)
            inward_pass(s, world)
            outward_pass(s, world)
            count_last_turns(s.report, REPORT.last_turns, world)

    return make_kernel(settle, Data, features=features, formulation=None, find_points=None)
