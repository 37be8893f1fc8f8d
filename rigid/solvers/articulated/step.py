"""The time step: the articulated-body method and impulses, from beginning to end.

    momenta  ->  up the trees  ->  speeds, down the trees  ->  test impulses  ->  warm start  ->  iterate
             ->  coordinates, poses  ->  rows  ->  iterate  ->  coordinates, mended

One thread runs one world, any number of steps in one launch. Joints in the trees (rigid/solvers/articulated/tree.py) hold by
their coordinates; what else acts on bodies, loops' joints, limits, friction, motors, springs, gears and contacts, is
rows (rigid/constraints/rows.py), solved by impulses as in rigid/solvers/impulse, but each of which moves whole trees
(rigid/solvers/articulated/reduced.py).

Source: [3] of docs/solvers.md, eight steps. Departures: speeds come from momenta, not accelerations from forces
(products.py says why, and has the source's way); a ball is one joint, with a quaternion; positions are mended where the
velocities have led, by the rows of the step's start, and their errors there.
"""

from functools import lru_cache

import taichi as ti

from rigid.constraints.joints.rows import write_joint_rows
from rigid.kernels.flight import finite, gain_speed, over_worlds
from rigid.solvers.articulated import data as arrays
from rigid.solvers.articulated.dynamics import gather, share_out, spread_speeds
from rigid.solvers.articulated.kinematics import move_on, place
from rigid.solvers.articulated.products import carry_on, take_off
from rigid.solvers.report import DIVERGED_STEP, ERROR_LEFT, INCREMENT, SWEEPS
from rigid.solvers.sequential.contacts import contact_writer, in_turn, keep_contacts
from rigid.solvers.sequential.prepare import aim_positions, prepare, put_inverse
from rigid.solvers.sequential.relax import solve_group


@lru_cache
def step_kernel(features):
    """The kernel of a solver with these features: (steps, sweeps)."""
    touching = features.contacts is not None
    explicit = features.products == "explicit"
    write_contacts = contact_writer(features.contacts) if touching else None

    @ti.func
    def advance_world(s: ti.template(), world, steps, sweeps):
        """Steps of one world, the algorithm from beginning to end.

        A step has two stages: in the first, impulses change the speeds, which move the bodies; in the second,
        pseudo-speeds, which are forgotten, mend what errors of position are left where these have led.
        """
        bodies = s.motion.poses.shape[1] - 1  # and the ground
        for step in range(steps):
            if s.report[world, DIVERGED_STEP] < 0:
                groups, wrong = s.first_group, 1.0
                for stage in range(features.stages):
                    # 1. Rows of joints; of contacts those that are, or may come to be, in this step.
                    if ti.static(features.joints):
                        write_joint_rows(s, world)
                    if stage == 0:
                        if ti.static(touching):
                            groups = write_contacts(s, world)
                        # 2. Velocities that bodies would have were they free, and the speeds that have their momenta.
                        if ti.static(explicit):
                            carry_on(s, world)
                        for body in range(bodies):
                            gain_speed(s, body, world)
                        if ti.static(explicit):
                            take_off(s, world)
                        gather(s, world)
                        share_out(s, world)
                        # 3. Test impulses, effective masses and bias; the last step's impulses again.
                        if ti.static(features.rows):
                            for group in range(groups):
                                prepare(s, group, world)
                    else:
                        stand_still(s, world)
                        wrong = 0.0
                        for group in range(groups):
                            wrong = ti.max(wrong, aim_positions(s, group, world))
                        s.report[world, ERROR_LEFT] = wrong * s.h
                    # 4. Impulses, until none changes by more than the tolerance.
                    if ti.static(features.rows):
                        for group in range(groups):
                            put_inverse(s, group, stage, world)
                        made, change = 0, s.tolerance + wrong
                        while made < sweeps and change > s.tolerance:
                            change = 0.0
                            for k in range(groups):
                                change = ti.max(change, solve_group(s, in_turn(s, k, groups, world), stage, world))
                            made += 1
                        if stage == 0:
                            s.report[world, SWEEPS], s.report[world, INCREMENT] = ti.cast(made, float), change
                            spread_speeds(s, world)
                    # 5. Coordinates, and poses.
                    if wrong > 0.0:
                        move_on(s, stage, world)
                        place(s, world)
                for body in range(bodies):
                    if not finite(s, body, world):
                        s.report[world, DIVERGED_STEP] = ti.cast(step, float)
                if ti.static(touching):
                    keep_contacts(s, world)

    return arrays.kernel(over_worlds(advance_world, features), features)


@lru_cache
def settle_kernel():
    """The kernel that makes poses what the coordinates say, and speeds the nearest to the velocities."""

    @ti.func
    def settle(s: ti.template(), steps, sweeps):
        for world in range(s.report.shape[0]):
            place(s, world)
            gather(s, world)
            share_out(s, world)

    return arrays.kernel(settle, None)


@ti.func
def stand_still(s: ti.template(), world):
    """No pseudo-speeds."""
    for speed in range(s.trees.speeds.shape[2]):
        s.trees.speeds[world, 1, speed] = 0.0
