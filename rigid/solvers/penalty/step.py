"""The time step: penalties, from beginning to end.

    rows  ->  a force for each  ->  velocities  ->  poses

One thread runs one world, any number of steps in one launch. A row (rigid/constraints/rows.py) of value G becomes a spring and a
damper, Jᵀ(-α G - β J V), all of them of the poses and velocities at the step's start (rigid/solvers/penalty/forces.py); then

    V += h M⁻¹ (F + Jᵀ(-α G - β J V)),   poses += h V :   semi-implicit Euler.

Source: Mikhaylyuk and Strashnov, Simulation of Articulated Rigid Bodies with Penalty Method (2013), equations 9, 10 and
section 5: [4] of docs/solvers.md. Departures: gains are scaled by each row's own effective mass (see forces.py), the
gyroscopic torque is implicit, a hinge's angle is not a sine, and contacts, friction and motors are rows like any other.
"""

from functools import lru_cache

import taichi as ti

from rigid.collision.narrow_phase import point_finder
from rigid.constraints.contact_rows import GROUPS, write_contact_rows
from rigid.constraints.joints.rows import write_joint_rows
from rigid.kernels.columns import put_triple, triple
from rigid.kernels.flight import finite, gravity, over_worlds
from rigid.kernels.motion import ANGULAR, INVERSE_MASS, LINEAR, answer, move, spin_on, turn_inertia
from rigid.solvers.penalty import data as arrays
from rigid.solvers.penalty.contacts import begin_contacts, keep_contacts
from rigid.solvers.penalty.forces import put_forces, put_gains
from rigid.solvers.report import CROWDED, DIVERGED_STEP, ERROR_LEFT, SWEEPS, TOUCHING


@lru_cache
def step_kernel(features):
    """The kernel of a solver with these features. With no steps it writes rows and gains, and moves nothing."""
    touching = features.contacts is not None
    find_points = point_finder(features.contacts) if touching else None

    @ti.func
    def write_contacts(s: ti.template(), world):
        """Rows of all contacts, as the bodies lie; how many groups there are."""
        find_points(s.shapes, s.points, s.scratch, s.motion.poses, s.reach, world)
        if s.points.count[world] > s.points.integers.shape[1]:
            s.report[world, CROWDED] = ti.cast(s.points.count[world], float)
        count = write_contact_rows(s, world)
        begin_contacts(s, count, world)
        s.report[world, TOUCHING] = ti.cast(count, float)
        return s.first_group + GROUPS * count

    @ti.func
    def advance_world(s: ti.template(), world, steps, sweeps):
        """Steps of one world, the algorithm from beginning to end. Nothing is swept over."""
        bodies = s.motion.poses.shape[1] - 1  # and the ground
        for step in range(ti.max(steps, 1)):
            if s.report[world, DIVERGED_STEP] < 0:
                # 1. Rows of joints, and of contacts where bodies overlap; how stiff and damped each is.
                for body in range(bodies):
                    turn_inertia(s.motion, body, world)
                    clear(s, body, world)
                groups = s.first_group
                if ti.static(features.joints):
                    write_joint_rows(s, world)
                if ti.static(touching):
                    groups = write_contacts(s, world)
                for group in range(groups):
                    put_gains(s, group, world)
                if steps > 0:
                    # 2. The force of each row, all of the same velocities.
                    wrong = 0.0
                    for group in range(groups):
                        wrong = ti.max(wrong, put_forces(s, group, world))
                    s.report[world, SWEEPS], s.report[world, ERROR_LEFT] = 1.0, wrong
                    # 3. Velocities, then poses.
                    for body in range(bodies):
                        gain_speed(s, body, world)
                        move(s.motion, body, LINEAR, s.h, world)
                        if not finite(s, body, world):
                            s.report[world, DIVERGED_STEP] = ti.cast(step, float)
                    # 4. What the next step begins with.
                    if ti.static(touching):
                        keep_contacts(s, world)

    @ti.func
    def gain_speed(s: ti.template(), body, world):
        """Velocities from forces: those of rows, gravity, and the gyroscopic torque."""
        w, pull = s.motion.masses[world, body, INVERSE_MASS], triple(s.forces, body, LINEAR, world)
        velocity = triple(s.motion.velocities, body, LINEAR, world) + s.h * (gravity(s, world) + w * pull)
        put_triple(s.motion.velocities, body, LINEAR, velocity, world)
        spin_on(s.motion, features.gyroscopic, body, s.h, world)
        turn = answer(s.motion, body, triple(s.forces, body, ANGULAR, world), world)
        spin = triple(s.motion.velocities, body, ANGULAR, world) + s.h * turn
        put_triple(s.motion.velocities, body, ANGULAR, spin, world)

    return arrays.kernel(over_worlds(advance_world, features), features)


@ti.func
def clear(s: ti.template(), body, world):
    """No force as yet."""
    for k in ti.static(range(6)):
        s.forces[world, body, k] = 0.0
