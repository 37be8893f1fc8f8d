"""Loops of a substep that threads share: each has a part of the turns of a loop (team.py), or of a colour's clusters.

The first thread, the leader, runs the algorithm (step.py). The others help with each loop that it opens.
"""

import taichi as ti

from pbd.core.kernels import compiled_once
from rigid.constraints.contact_rows import contact_size
from rigid.solvers.impulse.coloured import team
from rigid.solvers.impulse.coloured.colours import CLUSTER, COLOURS, allocate_colours, first_cluster
from rigid.solvers.impulse.coloured.search import allocate_finders
from rigid.solvers.impulse.coloured.team import COUNTERS
from rigid.solvers.impulse.coloured.turns import TURNS
from rigid.solvers.impulse.packs import solve_some_packs, warm_start_some_packs
from rigid.solvers.sequential.prepare import warm_start_group
from rigid.solvers.sequential.sleep import group_sleeps
from rigid.solvers.sequential.solve import group_of_contact, solve_contacts, solve_group
from rigid.solvers.substeps import world_advancer

# Stations: loops over the colours of clusters, and loops over one range. A call of a station costs 1.5 µs, so threads
# stay in the first one for all colours.
COLOURED, OTHERS = 0, 1
STATIONS = 2

# Kinds of loops over the clusters of each colour: both stages of the iterations, and warm starting.
VELOCITIES, PSEUDO_VELOCITIES, WARM_START = range(3)


def with_length(s, h):
    """The same data with another length of a substep, which may be made in parts."""
    return s._replace(step=s.step._replace(h=h))


# The leader's part --------------------------------------------------------------------------------------------------


@ti.func
def for_each(s: ti.template(), turn: ti.template(), count, world):
    """Run a loop on all threads.

    Args: turn: a Taichi function (s, k, thread, world) of TURNS; count: of turns. Returns: the largest result of one.
    """
    s.team.largest[world] = 0.0
    if count > 0:
        if ti.static(s.threads > 1):
            s.team.step[0] = s.step.h
            team.open_loop(s.team, OTHERS, ti.static(TURNS.index(turn)))
            offer_shares(s, OTHERS, 0, count)
        take_part(s, ti.static(TURNS.index(turn)), count, 0, world)
        if ti.static(s.threads > 1):
            team.wait_for_blocks(s.team, OTHERS)
    return ti.atomic_max(s.team.largest[world], 0.0)


@ti.func
def offer_shares(s: ti.template(), station, begin, end):
    """Give each thread as many turns of the open loop. Args: begin, end: of the turns."""
    for thread in range(s.threads):
        first = begin + (end - begin) * thread // s.threads
        team.offer_share(s.team, station, thread, first, begin + (end - begin) * (thread + 1) // s.threads)


@ti.func
def share_colours(s: ti.template(), kind, iteration, world):
    """Run a loop of COLOURED on all threads. Args: kind: VELOCITIES, ..."""
    if ti.static(s.threads > 1):
        s.team.step[0] = s.step.h
        team.begin_loops(s.team, COLOURED)
    take_part_in_colours(s, kind, iteration, 0, world)
    if ti.static(s.threads > 1):
        team.end_loops(s.team, COLOURED)


@ti.func
def solve_in_colours(s: ti.template(), stage: ti.template(), iteration, world):
    """Solve all groups once. Returns: the largest change of an impulse [N s]."""
    s.team.largest[world] = 0.0
    share_colours(s, stage, iteration, world)
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
    """Take part in loops until the launch is over. Their kind and turns are in the counters."""
    while not team.is_over(s.team):
        if team.has_loop(s.team, COLOURED, s.threads):
            take_part_in_colours(s, 0, 0, thread, world)
        if team.has_loop(s.team, OTHERS, s.threads):
            take_part(s, 0, 0, thread, world)
    team.leave(s.team, s.threads)


@compiled_once(
    "bodies", "rows", "packs", "sleep", "colours", "team", "step", "features", "formulation", "threads",
)  # fmt: skip
def take_part_in_colours(s: ti.template(), kind, iteration, thread, world):
    """Do clusters of each colour in turn. Args: kind: VELOCITIES, ...; iteration; thread: 0 for the leader."""
    colour, going = 0, True
    begin, end, done, alone = 0, 0, 0, ti.static(s.threads == 1)
    while going:
        if not alone:
            begin, end = team.claim_block(s.team, COLOURED, thread, s.threads)
        if begin < end:
            if ti.static(s.threads == 1):
                do_clusters(s, kind, iteration, begin, end, thread, world)
            else:
                h, open_kind, open_iteration = s.team.step[0], kind, iteration
                if thread > 0:
                    open_kind = team.shared(s.team, COLOURED, COUNTERS.kind)
                    open_iteration = team.shared(s.team, COLOURED, COUNTERS.iteration)
                do_clusters(ti.static(with_length(s, h)), open_kind, open_iteration, begin, end, thread, world)
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
            if colour < COLOURS:
                begin, end = first_cluster(colour), first_cluster(colour + 1)
                alone = end - begin == 1 or ti.static(s.threads == 1)
                colour += 1
            going = begin < end
            if going and not alone:
                team.open_loop(s.team, COLOURED, kind, iteration)
                offer_shares(s, COLOURED, begin, end)


@ti.func
def do_clusters(s: ti.template(), kind, iteration, first, end, thread, world):
    """Do clusters of one colour. Args: kind: VELOCITIES, ...; first, end: of them."""
    clusters = ti.static(s.colours.clusters)
    change = 0.0
    for each in ti.static(range(3)):
        if kind == each:
            for cluster in range(first, end):
                begin, after = clusters[world, cluster, CLUSTER.joint], clusters[world, cluster + 1, CLUSTER.joint]
                for k in range(begin, after):
                    change = ti.max(change, do_group(s, each, s.colours.order[world, k], world))
                if ti.static(s.features.packs):
                    begin, after = clusters[world, cluster, CLUSTER.pack], clusters[world, cluster + 1, CLUSTER.pack]
                    change = ti.max(change, do_packs(s, each, iteration, begin, after, thread, world))
                else:
                    change = ti.max(change, do_contacts(s, each, iteration, cluster, world))
    if change > 0.0:
        ti.atomic_max(s.team.largest[world], change)


@ti.func
def do_group(s: ti.template(), kind: ti.template(), group, world):
    """Do a group of rows. Args: kind: VELOCITIES, ... Returns: the change."""
    change = 0.0
    if not group_sleeps(s, group, world):
        if ti.static(kind == WARM_START):
            warm_start_group(s, group, world)
        else:
            change = solve_group(s, group, kind, world)
    return change


@ti.func
def do_contacts(s: ti.template(), kind: ti.template(), iteration, cluster, world):
    """Do the contacts of a cluster. Args: kind: VELOCITIES, ... Returns: the largest change."""
    clusters, order = ti.static(s.colours.clusters, s.colours.contact_order)
    change = 0.0
    begin, end = clusters[world, cluster, CLUSTER.contact], clusters[world, cluster + 1, CLUSTER.contact]
    if ti.static(kind == WARM_START):
        for k in range(begin, end):
            group = group_of_contact(s, k, order, world)
            for more in range(ti.static(contact_size(s.features.pair_types)[1])):
                do_group(s, kind, group + more, world)
    else:
        change = solve_contacts(s, begin, end, order, kind, iteration, world)
    return change


@ti.func
def do_packs(s: ti.template(), kind: ti.template(), iteration, begin, end, thread, world):
    """Do packs of contacts. Args: kind: VELOCITIES, ...; begin, end: of them. Returns: the largest change."""
    change = 0.0
    if ti.static(kind == WARM_START):
        warm_start_some_packs(s, begin, end, world)
    else:
        change = solve_some_packs(s, kind, iteration, begin, end, thread, world)
    return change


@compiled_once(
    "bodies", "shapes", "points", "scratch", "joints", "rows", "cache", "packs", "sleep", "gravity", "colours",
    "finders", "team", "step", "features", "formulation", "find_points", "threads",
)  # fmt: skip
def take_part(s: ti.template(), kind, count, thread, world):
    """Do turns of a loop: all, or if threads share it, blocks as long as there are any. Args: kind: index of TURNS."""
    if ti.static(s.threads == 1):
        do_turns(s, kind, 0, count, thread, world)
    else:
        begin, end = team.claim_block(s.team, OTHERS, thread, s.threads)
        while begin < end:
            h, open_kind = s.team.step[0], team.shared(s.team, OTHERS, COUNTERS.kind)
            do_turns(ti.static(with_length(s, h)), open_kind, begin, end, thread, world)
            team.finish_blocks(s.team, OTHERS, 1)
            begin, end = team.claim_block(s.team, OTHERS, thread, s.threads)


@ti.func
def do_turns(s: ti.template(), kind, first, end, thread, world):
    """Do turns of a loop. Args: kind: index of TURNS; first, end: of the turns; thread: that does them."""
    largest = 0.0
    for number in ti.static(range(len(TURNS))):
        if kind == number:
            for k in range(first, end):
                largest = ti.max(largest, TURNS[number](s, k, thread, world))
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
        self.colours = allocate_colours(islands, solver.worlds, solver.first_contact_group, solver.contact_capacity)
        corners = solver.data.scratch.marks.shape[0]
        finders = allocate_finders(self.threads, solver.worlds, solver.contact_capacity, corners)
        self.arrays = self.colours, finders, team.allocate_team(solver.worlds, STATIONS)
