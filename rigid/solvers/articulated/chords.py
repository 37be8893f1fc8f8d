"""The speeds of trees whose motion in a substep has given momenta, for the variational integrator (variational.py)."""

import math

import taichi as ti

from pbd.core.kernels import compiled_once, load_quaternion, load_vector, store_quaternion, store_vector
from pbd.core.quaternions import exponential, multiply, rotate
from rigid.kernels.midpoint import solve_midpoint
from rigid.kernels.motion import MASS, POSE, multiply_inertia
from rigid.solvers.articulated.dynamics import solve_speed
from rigid.solvers.articulated.kinematics import carried_velocity, offset
from rigid.solvers.articulated.links import ARTICULATED, AXIS, LINK, LINK_FRAMES, MOTION, SpeedKind
from rigid.solvers.articulated.spanning_trees import LinkKind

# Iterations end when no speed of a tree changes by more than this part of the largest one, or after so many.
TOLERANCE, MOST_ITERATIONS = 1e-6, 10

# If speeds change by more than this part in the last iteration, they have not converged.
DIVERGED = 1e-4

# Speeds u, the speeds that `solve_momenta` finds, corrections c, and those that lead to "semi_implicit", in
# `Trees.speeds`.
SPEED, FOUND, CORRECTION, FALLBACK = 0, 1, 2, 3


@compiled_once("bodies", "trees", "step", "features")
def solve_chords(s: ti.template(), world):
    """Find the speeds u whose motion in the substep has the momenta of the speeds u_r = u - c, in all trees."""
    links = ti.static(s.trees.links)
    first = 0
    while first < links.shape[0]:
        solve_tree(s, first, links[first, LINK.tree_end], world)
        first = links[first, LINK.tree_end]


@ti.func
def solve_tree(s: ti.template(), first, end, world):
    """Find the speeds of a tree. Args: first, end: its links."""
    u = ti.static(s.trees.speeds)
    begin = s.trees.links[first, LINK.tree_first_speed]
    speeds = begin + s.trees.links[first, LINK.tree_speeds]
    solved = False
    if end == first + 1 and s.trees.links[first, LINK.kind] == LinkKind.FREE:
        solved = solve_free_body(s, first, world)
    else:
        solved = iterate_tree(s, first, end, begin, speeds, world)
    s.trees.solved[world, first] = ti.cast(solved, int)
    if not solved:
        for speed in range(begin, speeds):
            correction = u[world, FALLBACK, speed]
            u[world, SPEED, speed] = u[world, SPEED, speed] - u[world, CORRECTION, speed] + correction
            u[world, CORRECTION, speed] = correction


@ti.func
def solve_free_body(s: ti.template(), link, world):
    """Find the speeds of a free link without children. Returns: whether they were found."""
    u = ti.static(s.trees.speeds)
    body = s.trees.links[link, LINK.body]
    angular = s.trees.links[link, LINK.first_speed] + 3
    before = ti.Vector([u[world, SPEED, angular + k] - u[world, CORRECTION, angular + k] for k in ti.static(range(3))])
    q = load_quaternion(s.bodies.pose, body, POSE.rotation, world)
    w, found = solve_midpoint(s.bodies, body, q, before, s.step.h, world)
    if found:
        for k in ti.static(range(3)):
            u[world, SPEED, angular + k], u[world, CORRECTION, angular + k] = w[k], w[k] - before[k]
            u[world, CORRECTION, angular - 3 + k] = 0.0
    return found


@ti.func
def iterate_tree(s: ti.template(), first, end, begin, speeds, world):
    """Find the speeds of a tree by iterations. Args: first, end: its links; begin, speeds: its speeds.

    Returns: whether they have converged.
    """
    u = ti.static(s.trees.speeds)
    made, change, largest = 0, 1.0, 0.0
    while made < MOST_ITERATIONS and change > TOLERANCE * largest:
        compute_chords(s, first, end, False, world)
        solve_momenta(s, first, end, world)
        change, largest = 0.0, 0.0
        for speed in range(begin, speeds):
            correction = u[world, SPEED, speed] - u[world, FOUND, speed]
            difference = correction - u[world, CORRECTION, speed]
            u[world, SPEED, speed] = u[world, SPEED, speed] + difference
            u[world, CORRECTION, speed] = correction
            change = ti.max(change, ti.abs(difference))
            largest = ti.max(largest, ti.abs(u[world, SPEED, speed]))
        made += 1
    return change <= DIVERGED * largest


@ti.func
def compute_chords(s: ti.template(), first, end, straight, world):
    """Compute the way that the speeds move each link of a tree in the substep, and the momentum p of that.

    The rotation exp(θ) of a link goes to `ARTICULATED.turn`, the shift Δx of its centre of mass to `test`, followed by
    h ω.
    """
    links, of, axes = ti.static(s.trees.links, s.trees.articulated, s.trees.axes)
    h = s.step.h
    for link in range(first, end):
        kind, body, parent = links[link, LINK.kind], links[link, LINK.body], links[link, LINK.parent]
        turn, shift, spin = ti.Vector([1.0, 0.0, 0.0, 0.0]), ti.Vector([0.0, 0.0, 0.0]), ti.Vector([0.0, 0.0, 0.0])
        rotation = load_quaternion(s.bodies.pose, body, POSE.rotation, world)
        arm = rotate(rotation, load_vector(s.trees.frames, link, LINK_FRAMES.point_child, world))
        if parent >= 0:
            turn = load_quaternion(of, parent, ARTICULATED.turn, world)
            shift = load_vector(of, parent, ARTICULATED.test, world)
            spin = load_vector(of, parent, ARTICULATED.test + 3, world)
            shift += displacement(turn, spin, offset(s, link, world) + arm, straight)
        slide, together = ti.Vector([0.0, 0.0, 0.0]), ti.Vector([0.0, 0.0, 0.0])
        parent_turn = turn
        for speed in range(links[link, LINK.first_speed], links[link, LINK.first_speed] + links[link, LINK.speeds]):
            angle = h * s.trees.speeds[world, SPEED, speed] * load_vector(axes, speed, AXIS.angular, world)
            spin += angle
            if kind == LinkKind.COORDINATES and s.trees.motions[speed, MOTION.kind] != SpeedKind.SLIDE:
                turn = multiply(turn, exponential(angle))
            else:
                together += angle
                slide += h * s.trees.speeds[world, SPEED, speed] * load_vector(axes, speed, AXIS.linear, world)
        if kind != LinkKind.COORDINATES:
            turn = multiply(turn, exponential(together))
        if kind != LinkKind.BALL:
            shift += rotate(parent_turn, slide)
        if kind != LinkKind.FREE:
            shift -= displacement(turn, spin, arm, straight)
        store_quaternion(of, link, ARTICULATED.turn, turn, world)
        store_vector(of, link, ARTICULATED.test, shift, world)
        store_vector(of, link, ARTICULATED.test + 3, spin, world)
        angle = rotation_vector(turn, spin)
        momentum = rotate(exponential(0.5 * angle), multiply_inertia(s.bodies, body, rotation, angle, world)) / h
        store_vector(of, link, ARTICULATED.momentum, s.bodies.mass[world, body, MASS.mass] / h * shift, world)
        store_vector(of, link, ARTICULATED.angular_momentum, momentum, world)


@ti.func
def displacement(q, spin, v, straight):
    """R v - v, without the loss of digits of a difference. Args: q: the unit quaternion of R; spin: h ω; straight."""
    u = ti.Vector([q[1], q[2], q[3]])
    t = 2.0 * u.cross(v)
    result = q[0] * t + u.cross(t)
    if straight:
        result = spin.cross(v)
    return result


@ti.func
def rotation_vector(q, near):
    """The rotation vector of a unit quaternion [rad], with as many whole turns as bring it close to another vector."""
    u = ti.Vector([q[1], q[2], q[3]])
    sine = u.norm()
    result = 2.0 * u
    if sine > 1e-9:
        n = u / sine
        angle = 2.0 * ti.atan2(sine, q[0])
        turn = ti.static(2.0 * math.pi)
        result = (angle + turn * ti.round((n.dot(near) - angle) / turn)) * n
    return result


@ti.func
def solve_momenta(s: ti.template(), first, end, world):
    """Find M⁻¹ Jᵀ p for the momenta p of the links of a tree, by the articulated inertias of the last `project`.

    Args: first, end: its links.
    """
    links, of, axes = ti.static(s.trees.links, s.trees.articulated, s.trees.axes)
    for turn in range(end - first):
        link = end - 1 - turn
        parent = links[link, LINK.parent]
        p = load_vector(of, link, ARTICULATED.momentum, world)
        L = load_vector(of, link, ARTICULATED.angular_momentum, world)
        for k in range(links[link, LINK.speeds]):
            speed = links[link, LINK.first_speed] + links[link, LINK.speeds] - 1 - k
            projection = load_vector(axes, speed, AXIS.linear, world).dot(p)
            projection += load_vector(axes, speed, AXIS.angular, world).dot(L)
            axes[world, speed, AXIS.projection] = projection
            u = axes[world, speed, AXIS.inverse] * projection
            p -= u * load_vector(axes, speed, AXIS.momentum, world)
            L -= u * load_vector(axes, speed, AXIS.angular_momentum, world)
        if parent >= 0:
            L += load_vector(of, parent, ARTICULATED.angular_momentum, world) + offset(s, link, world).cross(p)
            p += load_vector(of, parent, ARTICULATED.momentum, world)
            store_vector(of, parent, ARTICULATED.momentum, p, world)
            store_vector(of, parent, ARTICULATED.angular_momentum, L, world)
    for link in range(first, end):
        v, w = carried_velocity(s, link, of, links[link, LINK.parent], ARTICULATED.test, world)
        for speed in range(links[link, LINK.first_speed], links[link, LINK.first_speed] + links[link, LINK.speeds]):
            u = solve_speed(s, speed, axes[world, speed, AXIS.projection], v, w, world)
            v += u * load_vector(axes, speed, AXIS.linear, world)
            w += u * load_vector(axes, speed, AXIS.angular, world)
            s.trees.speeds[world, FOUND, speed] = u
        store_vector(of, link, ARTICULATED.test, v, world)
        store_vector(of, link, ARTICULATED.test + 3, w, world)
