"""Loops of a substep that threads share: each has a part of the turns of a loop (team.py), or of a colour's clusters.

The first thread, the leader, runs the algorithm (step.py). The others help with each loop that it opens.
"""

import taichi as ti

from pbd.core.kernels import compiled_once
from rigid.solvers.impulse.coloured import team
from rigid.solvers.impulse.coloured.colours import CLUSTER, COLOURS, allocate_colours
from rigid.solvers.impulse.coloured.team import COUNTERS
from rigid.solvers.impulse.coloured.turns import TURNS
from rigid.solvers.sequential.prepare import warm_start_group
from rigid.solvers.sequential.sleep import group_sleeps
from rigid.solvers.sequential.solve import solve_group
from rigid.solvers.substeps import world_advancer

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


# The leader's part --------------------------------------------------------------------------------------------------


@ti.func
def for_each(s: ti.template(), turn: ti.template(), count, world):
    """Run a loop on all threads.

    Args: turn: a Taichi function (s, k, world) of TURNS; count: of turns. Returns: the largest that a turn returns.
    """
    s.team.largest[world] = 0.0
    if count > 0:
        if ti.static(s.threads > 1):
            s.team.step[0] = s.step.h
            team.open_loop(s.team, OTHERS, ti.static(TURNS.index(turn)), 0, count, s.threads)
        take_part(s, ti.static(TURNS.index(turn)), count, 0, world)
        if ti.static(s.threads > 1):
            team.wait_for_blocks(s.team, OTHERS)
    return ti.atomic_max(s.team.largest[world], 0.0)


@ti.func
def share_colours(s: ti.template(), kind, world):
    """Run a loop of COLOURED on all threads. Args: kind: VELOCITIES, ..."""
    if ti.static(s.threads > 1):
        s.team.step[0] = s.step.h
        team.begin_loops(s.team, COLOURED)
    take_part_in_colours(s, kind, 0, world)
    if ti.static(s.threads > 1):
        team.end_loops(s.team, COLOURED)


@ti.func
def solve_in_colours(s: ti.template(), stage: ti.template(), world):
    """Solve all groups once. Returns: the largest change of an impulse [N s]."""
    s.team.largest[world] = 0.0
    share_colours(s, stage, world)
    return ti.atomic_max(s.team.largest[world], 0.0)


def over_threads(advance_substep, scale_impulses, features, threads):
    """Make a Taichi function (s, substeps, number, first) that makes substeps of one world, whose loops threads share.

    Args: advance_substep, scale_impulses: see rigid/solvers/substeps.py; features; threads: how many.
    """
    advance_world = world_advancer(advance_substep, scale_impulses, features)

    @ti.func
    def advance(s: ti.template(), substeps, number, first):
        for turn in range(threads * features.spread):
            if turn % features.spread == 0:
                if turn == 0:
                    advance_world(s, substeps, number, turn)
                    end_launch(s)
                else:
                    help_leader(s, turn // features.spread, turn // (threads * features.spread))

    return advance


@ti.func
def end_launch(s: ti.template()):
    """Let all threads leave."""
    team.end_launch(s.team)
    team.leave(s.team, s.threads)


# Every thread's part --------------------------------------------------------------------------------------------------


@ti.func
def help_leader(s: ti.template(), thread, world):
    """Take part in loops until the launch is over."""
    while not team.is_over(s.team):
        if team.has_loop(s.team, COLOURED, s.threads):
            take_part_in_colours(s, 0, thread, world)
        if team.has_loop(s.team, OTHERS, s.threads):
            take_part(s, 0, 0, thread, world)
    team.leave(s.team, s.threads)


@compiled_once(
    "bodies", "rows", "sleep", "reversed", "colours", "team", "step", "features", "formulation", "threads"
)
def take_part_in_colours(s: ti.template(), kind, thread, world):
    """Do clusters of each colour in turn. Every other step takes the colours of contacts in reverse order, see
    rigid/solvers/sequential/solve.py. Args: kind: VELOCITIES, ...; thread: 0 for the leader."""
    colour, going = 0, True
    begin, end, done, alone = 0, 0, 0, ti.static(s.threads == 1)
    while going:
        if not alone:
            begin, end = team.claim_block(s.team, COLOURED, thread, s.threads)
        if begin < end:
            if ti.static(s.threads == 1):
                do_clusters(s, kind, begin, end, world)
            else:
                h, open_kind = s.team.step[0], kind
                if thread > 0:
                    open_kind = team.shared(s.team, COLOURED, COUNTERS.kind)
                do_clusters(ti.static(with_length(s, h)), open_kind, begin, end, world)
            done += ti.select(alone, 0, 1)
            begin, alone = end, ti.static(s.threads == 1)
        elif thread > 0:
            team.finish_blocks(s.team, COLOURED, done)
            done = 0
            going = team.has_loops(s.team, COLOURED)
        else:
            if ti.static(s.threads > 1):
                team.finish_blocks(s.team, COLOURED, done)
                done = 0
                team.wait_for_blocks(s.team, COLOURED)
            while colour < COLOURS and begin == end:
                begin, end = clusters_of(s, colour, world)
                colour += 1
            going = begin < end
            alone = end - begin < ALONE or ti.static(s.threads == 1)
            if going and not alone:
                team.open_loop(s.team, COLOURED, kind, begin, end, s.threads)


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
    "formulation", "threads",
)  # fmt: skip
def take_part(s: ti.template(), kind, count, thread, world):
    """Do turns of a loop: all, or if threads share it, blocks as long as there are any. Args: kind: index of TURNS."""
    if ti.static(s.threads == 1):
        do_turns(s, kind, 0, count, world)
    else:
        begin, end = team.claim_block(s.team, OTHERS, thread, s.threads)
        while begin < end:
            h, open_kind = s.team.step[0], team.shared(s.team, OTHERS, COUNTERS.kind)
            do_turns(ti.static(with_length(s, h)), open_kind, begin, end, world)
            team.finish_blocks(s.team, OTHERS, 1)
            begin, end = team.claim_block(s.team, OTHERS, thread, s.threads)


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


class Sharing:
    """Arrays of the kernel besides those of "impulse".

    Args: solver: an ImpulseSolver; islands: a number for each body and the ground, the same for bodies that joints or
    springs connect.

    Attributes: threads: how many share the loops of a world; colours; arrays: the groups of arrays of the kernel.
    """

    def __init__(self, solver, islands):
        self.threads = team.count_threads(len(solver.model.bodies), solver.worlds)
        self.colours = allocate_colours(islands, solver.worlds, solver.data.rows.groups.shape[1])
        self.arrays = self.colours, team.allocate_team(solver.worlds, STATIONS)
