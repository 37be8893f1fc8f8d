"""The time step: sequential impulses in maximal coordinates, from beginning to end.

    rows  ->  velocities from forces  ->  warm start  ->  iterate  ->  poses  ->  rows  ->  iterate  ->  poses, mended

One thread runs one world, any number of steps in one launch. Bodies have velocities V = (v, ω); a row (rigid/constraints/rows.py)
asks J V + b + γ λ = 0 of two bodies, by an impulse λ that changes V by M⁻¹ Jᵀ λ (rigid/solvers/sequential/relax.py).

Sources: Catto, Iterative Dynamics with Temporal Coherence (2005); [1], [3] of docs/solvers.md for split impulses;
Baraff and others since for what an impulse is. Departures: friction is a cone, rows of a joint are solved together,
what is apart may meet (rigid/constraints/contact_rows.py), error reduction is divided by h (the sources forget or repeat it).
Pseudo-velocities mend the errors of the poses to which V leads, as Cline and Pai do (Post-stabilization for rigid body
simulation with contact and constraints, 2003), not those of the step's start: these lack the step's own drift, h² ω²
ξ/2, which is 0.5 mm in a chain that swings at 10 ms, and 1e-7 m so.
"""

from functools import lru_cache

import taichi as ti

from rigid.constraints.joints.rows import write_joint_rows
from rigid.kernels.flight import finite, gain_speed, over_worlds
from rigid.kernels.motion import PSEUDO, move, turn_inertia
from rigid.solvers.impulse import data as arrays
from rigid.solvers.impulse.sleep import count_calm, go_to_sleep, rests, sleeps
from rigid.solvers.report import DIVERGED_STEP, ERROR_LEFT, INCREMENT, SWEEPS
from rigid.solvers.sequential.contacts import contact_writer, in_turn, keep_contacts
from rigid.solvers.sequential.prepare import aim_positions, prepare, put_inverse
from rigid.solvers.sequential.relax import solve_group


@lru_cache
def step_kernel(features):
    """The kernel of a solver with these features: (steps, sweeps)."""
    touching = features.contacts is not None
    write_contacts = contact_writer(features.contacts) if touching else None

    @ti.func
    def advance_world(s: ti.template(), world, steps, sweeps):
        """Steps of one world, the algorithm from beginning to end.

        A step has two stages: in the first, impulses change the velocities V, which move the bodies; in the second,
        pseudo-velocities V', which are forgotten, mend what errors of position are left where V has led.
        """
        bodies = s.motion.poses.shape[1] - 1  # and the ground
        for step in range(steps):
            if s.report[world, DIVERGED_STEP] < 0:
                groups = s.first_group
                for stage in range(features.stages):
                    # 1. Rows of joints; of contacts those that are, or may come to be, in this step.
                    if ti.static(features.joints):
                        write_joint_rows(s, world)
                    wrong = 1.0
                    if stage == 0:
                        for body in range(bodies):
                            turn_inertia(s.motion, body, world)
                        if ti.static(touching):
                            groups = write_contacts(s, world)
                        if ti.static(features.sleeping):
                            go_to_sleep(s, groups, world)
                        # 2. Velocities from forces. Effective masses and bias; the last step's impulses again.
                        for body in range(bodies):
                            if sleeps(s, body, world) == 0:
                                gain_speed(s, body, world)
                        for group in range(groups):
                            if rests(s, group, world) == 0:
                                prepare(s, group, world)
                    else:
                        for body in range(bodies):
                            stand_still(s, body, world)
                        wrong = 0.0
                        for group in range(groups):
                            if rests(s, group, world) == 0:
                                wrong = ti.max(wrong, aim_positions(s, group, world))
                        s.report[world, ERROR_LEFT] = wrong * s.h
                    for group in range(groups):
                        if rests(s, group, world) == 0:
                            put_inverse(s, group, stage, world)
                    # 3. Impulses, until none changes by more than the tolerance.
                    made, change = 0, s.tolerance + wrong
                    while made < sweeps and change > s.tolerance:
                        change = 0.0
                        for k in range(groups):
                            group = in_turn(s, k, groups, world)
                            if rests(s, group, world) == 0:
                                change = ti.max(change, solve_group(s, group, stage, world))
                        made += 1
                    if stage == 0:
                        s.report[world, SWEEPS], s.report[world, INCREMENT] = ti.cast(made, float), change
                    # 4. Poses.
                    for body in range(bodies):
                        if sleeps(s, body, world) == 0:
                            move(s.motion, body, PSEUDO * stage, s.h, world)
                for body in range(bodies):
                    if not finite(s, body, world):
                        s.report[world, DIVERGED_STEP] = ti.cast(step, float)
                # 5. What the next step begins with.
                if ti.static(features.sleeping):
                    for body in range(bodies):
                        count_calm(s, body, world)
                if ti.static(touching):
                    keep_contacts(s, world)

    return arrays.kernel(over_worlds(advance_world, features), features)


@ti.func
def stand_still(s: ti.template(), body, world):
    """No pseudo-velocity."""
    for k in ti.static(range(PSEUDO, 2 * PSEUDO)):
        s.motion.velocities[world, body, k] = 0.0
