"""Loops of a substep. With coloured contacts threads share them, see pbd/core/team.py and colours.py."""

import taichi as ti

from pbd.core import team
from pbd.core.kernels import compiled_once
from pbd.core.team import COUNTERS
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
from rigid.solvers.sequential.colours import CLUSTER, COLOURS
from rigid.solvers.sequential.contact_impulses import look_up_impulse
from rigid.solvers.sequential.prepare import prepare_correction, prepare_group, warm_start_group
from rigid.solvers.sequential.prepare import write_rows as write_all_rows
from rigid.solvers.sequential.sleep import body_sleeps, group_sleeps
from rigid.solvers.sequential.solve import solve_group

# Stations: loops over the colours of clusters, and loops over one range. A call of a station costs 1.5 µs, so threads
# stay in the first one for all colours.
COLOURED, OTHERS = 0, 1
STATIONS = 2

# The leader does colours of fewer clusters alone.
ALONE = 16


# Kinds of loops over the clusters of each colour.
VELOCITIES, PSEUDO_VELOCITIES, WARM_START = range(3)


def with_length(s, h):
    """The same data with another length of a substep, which may be made in parts."""
    return s._replace(step=s.step._replace(h=h))


# The leader's part ----------------------------------------------------------------------------------------------------


@ti.func
def for_each(s: ti.template(), turn: ti.template(), count, world):
    """Run a loop, with coloured contacts on all threads.

    Args: turn: a Taichi function (s, k, world) of TURNS; count: of turns. Returns: the largest that a turn returns.
    """
    largest = 0.0
    if ti.static(s.features.coloured):
        if count > 0:
            largest = share(s, ti.static(TURNS.index(turn)), count, world)
    else:
        for k in range(count):
            largest = ti.max(largest, turn(s, k, world))
    return largest


@ti.func
def share(s: ti.template(), kind, count, world):
    """Run a loop of OTHERS on all threads. Args: kind: index of TURNS. Returns: see for_each."""
    s.team.largest[world] = 0.0
    if ti.static(s.features.threads > 1):
        s.team.step[0] = s.step.h
        team.open_loop(s.team, OTHERS, kind, 0, count, s.features.threads)
    take_part(s, kind, count, 0, world)
    if ti.static(s.features.threads > 1):
        team.wait_for_blocks(s.team, OTHERS)
    return ti.atomic_max(s.team.largest[world], 0.0)


@ti.func
def share_colours(s: ti.template(), kind, world):
    """Run a loop of COLOURED on all threads. Args: kind: VELOCITIES, ..."""
    if ti.static(s.features.threads > 1):
        s.team.step[0] = s.step.h
        team.begin_loops(s.team, COLOURED)
    take_part_in_colours(s, kind, 0, world)
    if ti.static(s.features.threads > 1):
        team.end_loops(s.team, COLOURED)


@ti.func
def solve_in_colours(s: ti.template(), stage: ti.template(), world):
    """Solve all groups once. Returns: the largest change of an impulse [N s]."""
    s.team.largest[world] = 0.0
    share_colours(s, stage, world)
    return ti.atomic_max(s.team.largest[world], 0.0)


@ti.func
def write_rows(s: ti.template(), world):
    """Write the rows of joints at the current poses."""
    if ti.static(s.features.coloured):
        for_each(s, write_joint, s.joints.integers.shape[0], world)
        for_each(s, write_drive, s.joints.drives.shape[0], world)
    else:
        write_all_rows(s, world)


@ti.func
def warm_start(s: ti.template(), groups, world):
    """Apply the impulses of the last step."""
    if ti.static(s.features.coloured):
        share_colours(s, WARM_START, world)
    else:
        for group in range(groups):
            if not group_sleeps(s, group, world):
                warm_start_group(s, group, world)


@ti.func
def end_launch(s: ti.template()):
    """Let all threads leave."""
    team.end_launch(s.team)
    team.leave(s.team, s.features.threads)


# Every thread's part --------------------------------------------------------------------------------------------------


@ti.func
def help_leader(s: ti.template(), thread, world):
    """Take part in loops until the launch is over."""
    while not team.is_over(s.team):
        if team.has_loop(s.team, COLOURED, s.features.threads):
            take_part_in_colours(s, 0, thread, world)
        if team.has_loop(s.team, OTHERS, s.features.threads):
            take_part(s, 0, 0, thread, world)
    team.leave(s.team, s.features.threads)


@compiled_once("bodies", "rows", "sleep", "reversed", "colours", "team", "step", "features", "formulation")
def take_part_in_colours(s: ti.template(), kind, thread, world):
    """Do clusters of each colour in turn. Every other step takes the colours of contacts in reverse order, see
    iterations.py. Args: kind: VELOCITIES, ...; thread: 0 for the leader."""
    colour, going = 0, True
    begin, end, done, alone = 0, 0, 0, ti.static(s.features.threads == 1)
    while going:
        if not alone:
            begin, end = team.claim_block(s.team, COLOURED, thread, s.features.threads)
        if begin < end:
            if ti.static(s.features.threads == 1):
                do_clusters(s, kind, begin, end, world)
            else:
                h, open_kind = s.team.step[0], kind
                if thread > 0:
                    open_kind = team.shared(s.team, COLOURED, COUNTERS.kind)
                do_clusters(ti.static(with_length(s, h)), open_kind, begin, end, world)
            done += ti.select(alone, 0, 1)
            begin, alone = end, ti.static(s.features.threads == 1)
        elif thread > 0:
            team.finish_blocks(s.team, COLOURED, done)
            done = 0
            going = team.has_loops(s.team, COLOURED)
        else:
            if ti.static(s.features.threads > 1):
                team.finish_blocks(s.team, COLOURED, done)
                done = 0
                team.wait_for_blocks(s.team, COLOURED)
            while colour < COLOURS and begin == end:
                begin, end = clusters_of(s, colour, world)
                colour += 1
            going = begin < end
            alone = end - begin < ALONE or ti.static(s.features.threads == 1)
            if going and not alone:
                team.open_loop(s.team, COLOURED, kind, begin, end, s.features.threads)


@ti.func
def clusters_of(s: ti.template(), k, world):
    """The k-th colour. Returns: its first cluster, and the end."""
    colour = k
    if k > 0 and s.reversed[world] == 1:
        colour = COLOURS - k
    return s.colours.starts[world, colour], s.colours.starts[world, colour + 1]


@ti.func
def do_clusters(s: ti.template(), kind, first, end, world):
    """Do clusters of one colour. Args: kind: VELOCITIES, ..."""
    change, from_joints = 0.0, s.colours.starts[world, 1]
    for cluster in range(first, end):
        begin, stop = s.colours.clusters[world, cluster, CLUSTER.first], s.colours.clusters[world, cluster, CLUSTER.end]
        for k in range(begin, stop):
            group = k
            if cluster < from_joints:
                group = s.colours.order[world, k]
            elif s.reversed[world] == 1:
                group = begin + stop - 1 - k
            if not group_sleeps(s, group, world):
                if kind == VELOCITIES:
                    change = ti.max(change, solve_group(s, group, 0, world))
                elif kind == PSEUDO_VELOCITIES:
                    change = ti.max(change, solve_group(s, group, 1, world))
                else:
                    warm_start_group(s, group, world)
    if change > 0.0:
        ti.atomic_max(s.team.largest[world], change)


@compiled_once(
    "bodies", "shapes", "points", "scratch", "joints", "rows", "cache", "sleep", "gravity", "team", "step", "features",
    "formulation",
)  # fmt: skip
def take_part(s: ti.template(), kind, count, thread, world):
    """Do turns of a loop: all, or if threads share it, blocks as long as there are any. Args: kind: index of TURNS."""
    if ti.static(s.features.threads == 1):
        do_turns(s, kind, 0, count, world)
    else:
        begin, end = team.claim_block(s.team, OTHERS, thread, s.features.threads)
        while begin < end:
            h, open_kind = s.team.step[0], team.shared(s.team, OTHERS, COUNTERS.kind)
            do_turns(ti.static(with_length(s, h)), open_kind, begin, end, world)
            team.finish_blocks(s.team, OTHERS, 1)
            begin, end = team.claim_block(s.team, OTHERS, thread, s.features.threads)


@ti.func
def do_turns(s: ti.template(), kind, first, end, world):
    """Do turns of a loop. Args: kind: index of TURNS; first, end: of the turns."""
    largest = 0.0
    for number in ti.static(range(len(TURNS))):
        if kind == number:
            for k in range(first, end):
                largest = ti.max(largest, TURNS[number](s, k, world))
    if largest > 0.0:
        ti.atomic_max(s.team.largest[world], largest)


# Turns of loops -------------------------------------------------------------------------------------------------------


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
