"""Turns of the loops that threads share: what a loop does with one body, joint, group, contact, pack, block or chunk.

All are Taichi functions (s, k, thread, world), and return a number, of which `for_each` (threads.py) finds the largest.
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
from rigid.solvers.impulse.coloured.search import copy_chunk, find_points_of_chunk, shares_search
from rigid.solvers.impulse.packs import (
    empty_slots,
    load_bodies,
    load_contact,
    prepare_corrections_in_lanes,
    prepare_in_lanes,
)
from rigid.solvers.sequential.contacts import look_up_impulse
from rigid.solvers.sequential.prepare import prepare_correction, prepare_group
from rigid.solvers.sequential.sleep import body_sleeps, group_sleeps


@ti.func
def write_joint(s: ti.template(), joint, thread, world):
    """Write the rows of a joint at the current poses."""
    if ti.static(s.features.joints):
        write_rows_of_joint(s, joint, world)
    return 0.0


@ti.func
def write_drive(s: ti.template(), drive, thread, world):
    """Write the row of a drive, after those of joints."""
    if ti.static(s.features.joints):
        write_row_of_drive(s, drive, world)
    return 0.0


@ti.func
def search(s: ti.template(), block, thread, world):
    """Find the pairs of shapes of a block that could touch."""
    if ti.static(s.features.pair_types.hashed):
        search_block(s.shapes, s.scratch, block, world)
    return 0.0


@ti.func
def find_points(s: ti.template(), chunk, thread, world):
    """Find the contact points of a chunk of pairs."""
    if ti.static(shares_search(s)):
        find_points_of_chunk(s, chunk, thread, world)
    return 0.0


@ti.func
def copy_points(s: ti.template(), chunk, thread, world):
    """Copy the contact points of a chunk to their places."""
    if ti.static(shares_search(s)):
        copy_chunk(s, chunk, world)
    return 0.0


@ti.func
def write_contacts(s: ti.template(), k, thread, world):
    """Write the rows of two shapes' contacts, or copy these to their places in packs, with their impulses of the last
    step. Which impulse a contact gets depends on those before, so the turn of the first contact takes all of them, and
    the turns of the others do nothing. Args: k: a contact."""
    count = ti.min(s.points.count[world], s.points.integers.shape[1])
    c, going = k, not continues_pair(s.points, k, world)
    while going:
        if ti.static(s.features.packs):
            load_contact(s, c, world)
        else:
            write_rows_of_contact(s, c, world)
            look_up_impulse(s, c, world)
        c, going = c + 1, False
        if c < count:
            going = continues_pair(s.points, c, world)
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
def load_pack(s: ti.template(), pack, thread, world):
    """Copy what contacts need of bodies to a pack."""
    if ti.static(s.features.packs):
        load_bodies(s, pack, pack + 1, world)
        empty_slots(s, pack, pack + 1, world)
    return 0.0


@ti.func
def prepare_pack(s: ti.template(), pack, thread, world):
    """As `prepare` for the contacts of a pack."""
    if ti.static(s.features.packs):
        prepare_in_lanes(s, pack, pack + 1, world)
    return 0.0


@ti.func
def demand_pack(s: ti.template(), pack, thread, world):
    """As `demand` for the contacts of a pack."""
    result = 0.0
    if ti.static(s.features.packs):
        result = prepare_corrections_in_lanes(s, pack, pack + 1, world)
    return result


@ti.func
def update_inertia(s: ti.template(), body, thread, world):
    """Rotate the inverse inertia of a body into the world."""
    update_inverse_inertia(s.bodies, body, world)
    return 0.0


@ti.func
def apply_gravity(s: ti.template(), body, thread, world):
    """Apply gravity, external forces and the gyroscopic torque to a body."""
    if not body_sleeps(s, body, world):
        integrate_velocity(s, body, world)
    return 0.0


@ti.func
def prepare(s: ti.template(), group, thread, world):
    """Find softness, bias and effective mass of a group."""
    if not group_sleeps(s, group, world):
        prepare_group(s, group, world)
    return 0.0


@ti.func
def move(s: ti.template(), body, thread, world):
    """Move a body by its velocity."""
    if not body_sleeps(s, body, world):
        integrate_pose(s.bodies, body, VELOCITY.linear, s.step.h, world)
    return 0.0


@ti.func
def clear(s: ti.template(), body, thread, world):
    """Clear the pseudo-velocity of a body."""
    clear_pseudo_velocity(s.bodies, body, world)
    return 0.0


@ti.func
def demand(s: ti.template(), group, thread, world):
    """Prepare a group for position correction. Returns: what it demands of the pseudo-velocities."""
    result = 0.0
    if not group_sleeps(s, group, world):
        result = prepare_correction(s, group, world)
    return result


@ti.func
def correct(s: ti.template(), body, thread, world):
    """Move a body by its pseudo-velocity."""
    if not body_sleeps(s, body, world):
        integrate_pose(s.bodies, body, VELOCITY.pseudo_linear, s.step.h, world)
    return 0.0


TURNS = (
    search, find_points, copy_points, write_contacts, write_joint, write_drive, update_inertia, apply_gravity, prepare,
    move, clear, demand, correct, load_pack, prepare_pack, demand_pack,
)  # fmt: skip
