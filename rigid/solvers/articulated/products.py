"""The velocity products: what of the acceleration V̇ = J u̇ + J̇ u the speeds alone make. Two ways to take them.

"projected"  They are never written down. Each body keeps the velocity V that it has while the poses move on, and the
             next step finds the speeds that have its momentum, M(q) u = Jᵀ M_b (V + h g). A projection takes energy
             out, never in; and as impulses on bodies that are joined do the same, the solver "impulse" makes the same
             steps but for its joints' gaps. First order: a free chain of five rods that falls from the horizontal has
             lost a third of the energy of its fall after 10 s at 10 ms.

"explicit"   Source [3]: u += h M⁻¹ (Jᵀ (f - M_b J̇ u)), at the poses and speeds of the step's start. Such a chain gains
             half of that energy at 10 ms.
"""

import taichi as ti

from pbd.core.quaternions import rotate
from rigid.kernels.columns import put_triple, quadruple, triple
from rigid.kernels.motion import ANGULAR, LINEAR
from rigid.solvers.articulated.dynamics import spread_speeds
from rigid.solvers.articulated.kinematics import carried
from rigid.solvers.articulated.links import AXIS, FREEDOMS, KIND, PARENT, PARENT_BODY, POINT_CHILD, SPEED, TEST
from rigid.solvers.articulated.links import BODY as LINK_BODY
from rigid.solvers.articulated.tree import BALL, HINGE, SLIDER, UNIVERSAL


@ti.func
def carry_on(s: ti.template(), world):
    """Velocities V = J u at the poses as they are now, and in the links' `sums` their velocity products J̇ u."""
    spread_speeds(s, world)
    of, v = ti.static(s.trees.integers, s.motion.velocities)
    for link in range(of.shape[0]):
        a, alpha = carried(s, link, s.trees.sums, of[link, PARENT], TEST, world)
        body, parent, kind = of[link, LINK_BODY], of[link, PARENT_BODY], of[link, KIND]
        own, spin = triple(v, body, ANGULAR, world), triple(v, parent, ANGULAR, world)
        if of[link, PARENT] >= 0:
            a += spin.cross(triple(v, body, LINEAR, world) - triple(v, parent, LINEAR, world))
        arm = rotate(quadruple(s.motion.poses, body, 3, world), triple(s.trees.numbers, link, POINT_CHILD, world))
        # ṡ u of each speed: an axis n through the joint has s = (arm × n, n), and turns with the parent, a universal
        # joint's second with the child; those of a ball and of what floats stay as they are in the world.
        for k in range(of[link, FREEDOMS]):
            speed = of[link, SPEED] + k
            u, n = s.trees.speeds[world, 0, speed], triple(s.trees.axes, speed, AXIS + 3, world)
            carrier = spin
            if k == 1:
                carrier = own
            if kind == HINGE or kind == UNIVERSAL:
                turning = carrier.cross(n)
                a += u * (own.cross(arm).cross(n) + arm.cross(turning))
                alpha += u * turning
            elif kind == BALL:
                a += u * own.cross(arm).cross(n)
            elif kind == SLIDER:
                a += u * spin.cross(triple(s.trees.axes, speed, AXIS, world))
        put_triple(s.trees.sums, link, TEST, a, world)
        put_triple(s.trees.sums, link, TEST + 3, alpha, world)


@ti.func
def take_off(s: ti.template(), world):
    """V - h J̇ u of all bodies."""
    of = ti.static(s.trees.integers)
    for link in range(of.shape[0]):
        body = of[link, LINK_BODY]
        for k in ti.static(range(6)):
            s.motion.velocities[world, body, LINEAR + k] = (
                s.motion.velocities[world, body, LINEAR + k] - s.h * s.trees.sums[world, link, TEST + k]
            )
