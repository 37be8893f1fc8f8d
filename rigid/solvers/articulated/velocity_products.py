"""Velocity products: the part J̇ u of the acceleration V̇ = J u̇ + J̇ u (Coriolis terms). There are two ways.

"projected"  They are never computed. Each body keeps its velocity V while the poses change, and the next step finds the
             speeds with the same momentum, M(q) u = Jᵀ M_b (V + h g). A projection never adds energy. Impulses on
             bodies that are joined do the same, so the solver "impulse" makes the same steps, apart from its joint
             errors. First order: a free chain of five rods that falls from the horizontal has lost a third of the
             energy of its fall after 10 s at 10 ms. See variational.py for second order.

"explicit"   Source [3]: u += h M⁻¹ (Jᵀ (f - M_b J̇ u)), at the poses and speeds of the step's start. The same chain
             gains half of that energy at 10 ms. A body that follows a path has the acceleration of the path, in place
             of its velocity products.
"""

import taichi as ti

from pbd.core.kernels import load_quaternion, load_vector, store_vector
from pbd.core.quaternions import rotate
from rigid.kernels.motion import POSE, VELOCITY
from rigid.solvers.articulated.dynamics import compute_velocities
from rigid.solvers.articulated.kinematics import carried_velocity, follows_path
from rigid.solvers.articulated.links import ARTICULATED, AXIS, LINK, LINK_FRAMES, MOTION, SpeedKind
from rigid.solvers.articulated.spanning_trees import LinkKind


@ti.func
def compute_velocity_products(s: ti.template(), world):
    """Compute velocities V = J u at the current poses, and their velocity products J̇ u into `ARTICULATED.test`."""
    compute_velocities(s, world)
    links, of, v = ti.static(s.trees.links, s.trees.articulated, s.bodies.velocity)
    for link in range(links.shape[0]):
        a, alpha = carried_velocity(s, link, of, links[link, LINK.parent], ARTICULATED.test, world)
        body, parent, kind = links[link, LINK.body], links[link, LINK.parent_body], links[link, LINK.kind]
        own = load_vector(v, body, VELOCITY.angular, world)
        parents = load_vector(v, parent, VELOCITY.angular, world)
        if links[link, LINK.parent] >= 0:
            apart = load_vector(v, body, VELOCITY.linear, world) - load_vector(v, parent, VELOCITY.linear, world)
            a += parents.cross(apart)
        rotation = load_quaternion(s.bodies.pose, body, POSE.rotation, world)
        arm = rotate(rotation, load_vector(s.trees.frames, link, LINK_FRAMES.point_child, world))
        # ṡ u of each speed. An axis n through the joint has s = (arm × n, n) and rotates with the parent; that of
        # a second turn rotates with the child. Those of a ball and of a free link are fixed in the world.
        for k in range(links[link, LINK.speeds]):
            speed = links[link, LINK.first_speed] + k
            u, n = s.trees.speeds[world, 0, speed], load_vector(s.trees.axes, speed, AXIS.angular, world)
            if kind == LinkKind.BALL:
                a += u * own.cross(arm).cross(n)
            elif kind == LinkKind.COORDINATES:
                motion, carrier = s.trees.motions[speed, MOTION.kind], parents
                if motion == SpeedKind.SECOND_TURN:
                    carrier = own
                if motion == SpeedKind.SLIDE:
                    a += u * parents.cross(load_vector(s.trees.axes, speed, AXIS.linear, world))
                else:
                    turning = carrier.cross(n)
                    a += u * (own.cross(arm).cross(n) + arm.cross(turning))
                    alpha += u * turning
        if ti.static(s.features.paths):
            if follows_path(s, body, world):
                before = links[link, LINK.first_speed]
                for k in ti.static(range(3)):
                    a[k] = (v[world, body, VELOCITY.linear + k] - s.trees.speeds[world, 0, before + k]) / s.step.h
                    alpha[k] = (own[k] - s.trees.speeds[world, 0, before + 3 + k]) / s.step.h
        store_vector(of, link, ARTICULATED.test, a, world)
        store_vector(of, link, ARTICULATED.test + 3, alpha, world)


@ti.func
def subtract_velocity_products(s: ti.template(), world):
    """V - h J̇ u of all bodies that follow no path."""
    v = ti.static(s.bodies.velocity)
    for link in range(s.trees.links.shape[0]):
        body, h = s.trees.links[link, LINK.body], s.step.h
        if ti.static(s.features.paths):
            if follows_path(s, body, world):
                h = 0.0
        for k in ti.static(range(6)):
            product = s.trees.articulated[world, link, ARTICULATED.test + k]
            v[world, body, VELOCITY.linear + k] = v[world, body, VELOCITY.linear + k] - h * product
