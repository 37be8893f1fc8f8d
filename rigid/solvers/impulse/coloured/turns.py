"""Turns of the loops that threads share: what a loop does with one body, joint, group, contact or block of shapes.

All are Taichi functions (s, k, world), and return a number, of which `for_each` (threads.py) finds the largest.
"""

import taichi as ti

from rigid.collision.broad_phase import search_block
from rigid.collision.data import PAIR
from rigid.constraints.contact_rows import write_rows_of_contact
from rigid.constraints.joints.rows import write_row_of_drive, write_rows_of_joint
from rigid.kernels.motion import (
    VELOCITY,
    clear_pseudo_velocity,
    integrate_pose,
    integrate_velocity,
    update_inverse_inertia,
)
from rigid.solvers.sequential.contacts import look_up_impulse
from rigid.solvers.sequential.prepare import prepare_correction, prepare_group
from rigid.solvers.sequential.sleep import body_sleeps, group_sleeps


@ti.func
def write_joint(s: ti.template(), joint, world):
    """Write the rows of a joint at the current poses."""
    if ti.static(s.features.joints):
        write_rows_of_joint(s, joint, world)
    return 0.0


@ti.func
def write_drive(s: ti.template(), drive, world):
    """Write the row of a drive, after those of joints."""
    if ti.static(s.features.joints):
        write_row_of_drive(s, drive, world)
    return 0.0


@ti.func
def search(s: ti.template(), block, world):
    """Find the pairs of shapes of a block that could touch."""
    if ti.static(s.features.pair_types.hashed):
        search_block(s.shapes, s.scratch, block, world)
    return 0.0


@ti.func
def write_contacts(s: ti.template(), c, world):
    """Write the rows of two shapes' contacts, with their impulses of the last step. Args: c: the first of them."""
    count = ti.min(s.points.count[world], s.points.integers.shape[1])
    k, going = c, not continues_pair(s.points, c, world)
    while going:
        write_rows_of_contact(s, k, world)
        look_up_impulse(s, k, world)
        k, going = k + 1, False
        if k < count:
            going = continues_pair(s.points, k, world)
    return 0.0


@ti.func
def continues_pair(points: ti.template(), c, world):
    """Whether contact c is of the same two shapes as the one before."""
    result = False
    if c > 0:
        same_a = points.integers[world, c, PAIR.shape_a] == points.integers[world, c - 1, PAIR.shape_a]
        result = same_a and points.integers[world, c, PAIR.shape_b] == points.integers[world, c - 1, PAIR.shape_b]
    return result


@ti.func
def update_inertia(s: ti.template(), body, world):
    """Rotate the inverse inertia of a body into the world."""
    update_inverse_inertia(s.bodies, body, world)
    return 0.0


@ti.func
def apply_gravity(s: ti.template(), body, world):
    """Apply gravity, external forces and the gyroscopic torque to a body."""
    if not body_sleeps(s, body, world):
        integrate_velocity(s, body, world)
    return 0.0


@ti.func
def prepare(s: ti.template(), group, world):
    """Find softness, bias and effective mass of a group."""
    if not group_sleeps(s, group, world):
        prepare_group(s, group, world)
    return 0.0


@ti.func
def move(s: ti.template(), body, world):
    """Move a body by its velocity."""
    if not body_sleeps(s, body, world):
        integrate_pose(s.bodies, body, VELOCITY.linear, s.step.h, world)
    return 0.0


@ti.func
def clear(s: ti.template(), body, world):
    """Clear the pseudo-velocity of a body."""
    clear_pseudo_velocity(s.bodies, body, world)
    return 0.0


@ti.func
def demand(s: ti.template(), group, world):
    """Prepare a group for position correction. Returns: what it demands of the pseudo-velocities."""
    result = 0.0
    if not group_sleeps(s, group, world):
        result = prepare_correction(s, group, world)
    return result


@ti.func
def correct(s: ti.template(), body, world):
    """Move a body by its pseudo-velocity."""
    if not body_sleeps(s, body, world):
        integrate_pose(s.bodies, body, VELOCITY.pseudo_linear, s.step.h, world)
    return 0.0


TURNS = (
    search, write_contacts, write_joint, write_drive, update_inertia, apply_gravity, prepare, move, clear, demand,
    correct,
)  # fmt: skip
