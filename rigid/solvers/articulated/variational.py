"""The variational integrator: a substep of second order, for free motion and the joints of trees.

A body of a substep has one momentum p, that of the way from its pose at the start to that at the end. Along all
coordinates at the start, these momenta are those before, and what forces f and the impulses λ of rows add:

    J(q_n)ᵀ (p_{n+1/2} - p_{n-1/2} - h f) = J_rᵀ λ,   p = (m Δx/h, exp(θ/2) I θ/h),   q_{n+1} = q_n + h u

with the chord Δx of the centre of mass, the rotation vector θ and the inertia I at the start. The linear part is the
discrete Euler-Lagrange equation of Σ m |Δx|²/(2h), which is SHAKE in coordinates. The angular one is the midpoint rule.
A step is the same backward in time, so energy oscillates but does not drift. Linear and angular momentum of a free tree
are constant. "semi_implicit" has p = M_b J(q_n) u instead.

The equation is solved for u by iterations with the articulated inertias of the substep's start:

    u = u_r + c,   c := u - M⁻¹ Jᵀ p(u)

u_r are the speeds of the momenta before, and the correction c is of first order in h. It is kept in place of the
pseudo-speeds. Each iteration reduces the error by a factor of order h |ω|, times the ratio of a link's moments of
inertia. A free body needs no iterations: Newton's method solves its midpoint rule. If a tree turns so fast that they do
not converge, it makes a step of "semi_implicit": the bodies' velocities with the implicit gyroscopic torque, projected.
They stay while the poses change, which loses energy. Momenta that stay would gain it.

Velocities of `state` are those at the time of the poses, by half a step of f and a projection (RATTLE), see
synchronise.py. Trees on which rows act keep those half a step behind, so that bodies at rest have none. The next step
takes the half step back.

Sources: Marsden and West, Discrete mechanics and variational integrators (2001); Hairer, Lubich and Wanner, Geometric
Numerical Integration, section VII.1.4 (SHAKE and RATTLE). Departures: coordinates instead of multipliers; the midpoint
rule for rotations, which exists for any spin.
"""

import taichi as ti

from pbd.core.kernels import compiled_once, load_quaternion, load_vector, store_vector
from pbd.core.quaternions import multiply, rotate, rotate_back
from rigid.kernels.matrices import multiply_symmetric
from rigid.kernels.motion import MASS, POSE, VELOCITY, apply_gyroscopic_torque, gravity_on, multiply_inertia
from rigid.solvers.articulated.chords import (
    CORRECTION,
    FALLBACK,
    FOUND,
    SPEED,
    compute_chords,
    solve_chords,
    solve_momenta,
)
from rigid.solvers.articulated.dynamics import compute_velocities
from rigid.solvers.articulated.kinematics import compute_poses, integrate_coordinates
from rigid.solvers.articulated.links import ARTICULATED, LINK
from rigid.solvers.articulated.step import correct_positions, integrate_velocities
from rigid.solvers.articulated.synchronise import begin_velocities, synchronise
from rigid.solvers.sequential.contacts import detect_contacts, store_impulses
from rigid.solvers.sequential.energy_of_rows import watch_rows
from rigid.solvers.sequential.gained_energy import FREE_ENERGY
from rigid.solvers.sequential.prepare import prepare_groups, warm_start, write_rows
from rigid.solvers.sequential.solve import solve_velocities


@ti.func
def advance_substep_variational(s: ti.template(), iterations, last, world):
    """Make one substep: the algorithm. Args: last: whether joint forces are read of this substep."""
    write_rows(s, world)
    watch_rows(s, world)
    begin_velocities(s, world)
    groups = detect_contacts(s, world)
    integrate_velocities(s, last, world)
    find_speeds(s, world)
    if ti.static(s.features.rows):
        prepare_groups(s, groups, world)
        warm_start(s, groups, world)
        solve_chords(s, world)
        solve_velocities(s, groups, iterations, world)
        compute_velocities(s, world)
    solve_chords(s, world)
    store_momenta(s, world)
    integrate_coordinates(s, 0, world)
    compute_poses(s, world)
    correct_positions(s, groups, iterations, world)
    synchronise(s, groups, last, world)
    store_impulses(s, last, world)


@compiled_once("bodies", "trees", "step", "features")
def find_speeds(s: ti.template(), world):
    """The speeds u_r with the momenta of the bodies' velocities, and with the corrections of the last substep; and what
    the gyroscopic torque of "semi_implicit" changes in u_r."""
    u, w = ti.static(s.trees.speeds, VELOCITY.angular)
    for fallback in ti.static(range(2)):
        for link in range(s.trees.links.shape[0]):
            body = s.trees.links[link, LINK.body]
            p = s.bodies.mass[world, body, MASS.mass] * load_vector(s.bodies.velocity, body, VELOCITY.linear, world)
            q = load_quaternion(s.bodies.pose, body, POSE.rotation, world)
            before = load_vector(s.bodies.velocity, body, w, world)
            if ti.static(fallback):
                apply_bounded_torque(s, body, q, before, world)
            L = multiply_inertia(s.bodies, body, q, load_vector(s.bodies.velocity, body, w, world), world)
            store_vector(s.bodies.velocity, body, w, before, world)
            store_vector(s.trees.articulated, link, ARTICULATED.momentum, p, world)
            store_vector(s.trees.articulated, link, ARTICULATED.angular_momentum, L, world)
        solve_momenta(s, 0, s.trees.links.shape[0], world)
        for speed in range(u.shape[2]):
            if ti.static(fallback):
                u[world, FALLBACK, speed] = u[world, FOUND, speed] + u[world, FALLBACK, speed]
            else:
                u[world, SPEED, speed] = u[world, FOUND, speed] + u[world, CORRECTION, speed]
                u[world, FALLBACK, speed] = -u[world, FOUND, speed]


@ti.func
def apply_bounded_torque(s: ti.template(), body, q, before, world):
    """Apply the implicit gyroscopic torque to a body, without a gain of energy, which one Newton iteration may have.

    Args: q: its rotation; before: its angular velocity.
    """
    apply_gyroscopic_torque(s.bodies, "implicit", body, s.step.h, world)
    now = load_vector(s.bodies.velocity, body, VELOCITY.angular, world)
    energy = before.dot(multiply_inertia(s.bodies, body, q, before, world))
    found = now.dot(multiply_inertia(s.bodies, body, q, now, world))
    if found > energy:
        store_vector(s.bodies.velocity, body, VELOCITY.angular, ti.sqrt(energy / found) * now, world)


@compiled_once("bodies", "trees", "gravity", "step", "features")
def store_momenta(s: ti.template(), world):
    """Give bodies the velocities that their momenta p have at the poses to which the speeds lead, M_b(q_{n+1})⁻¹ p.

    Those of trees without a solution keep the velocities of the speeds. The work of gravity is counted.
    """
    of = ti.static(s.trees.articulated)
    for link in range(s.trees.links.shape[0]):
        tree = s.trees.links[link, LINK.tree]
        solved = s.trees.solved[world, tree] == 1
        if tree == link:
            compute_chords(s, link, s.trees.links[link, LINK.tree_end], not solved, world)
        body = s.trees.links[link, LINK.body]
        turn = load_quaternion(of, link, ARTICULATED.turn, world)
        q = multiply(turn, load_quaternion(s.bodies.pose, body, POSE.rotation, world))
        L = rotate_back(q, load_vector(of, link, ARTICULATED.angular_momentum, world))
        w = rotate(q, multiply_symmetric(s.bodies.mass, body, MASS.inverse_inertia, L, world))
        if not solved:
            w = load_vector(of, link, ARTICULATED.test + 3, world) / s.step.h
        work = load_vector(of, link, ARTICULATED.test, world).dot(gravity_on(s, body, world))
        work *= s.bodies.mass[world, body, MASS.mass]
        s.trees.energy[world, tree, FREE_ENERGY.before] = s.trees.energy[world, tree, FREE_ENERGY.before] + work
        v = load_vector(of, link, ARTICULATED.momentum, world) * s.bodies.mass[world, body, MASS.inverse_mass]
        store_vector(s.bodies.velocity, body, VELOCITY.linear, v, world)
        store_vector(s.bodies.velocity, body, VELOCITY.angular, w, world)
