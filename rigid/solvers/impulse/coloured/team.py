"""Threads of one launch that share the loops of one world.

A parallel loop of Taichi costs 25 µs to hand to its threads, and a step of many bodies has hundreds of loops. So a
launch begins one parallel loop, with one turn for each thread. The first thread, the leader, runs the algorithm. It
opens a loop, in which each thread has a share of the turns, in blocks. Each thread claims blocks, of its share first,
until none is left, and the leader goes on when all are done. The leader waits only for blocks that have begun: it does
all blocks of a thread that the system does not run. Taichi's threads take the turns of a launch in order, so the leader
always runs.

Which thread does which block differs from run to run. The turns of a loop must not depend on one another: then the
number of threads does not change a bit.

Other threads change these counters, so all are read by atomic operations: Taichi moves plain reads out of loops.
"""

from typing import NamedTuple

import taichi as ti

from pbd.core.kernels import Columns, Integer, Real, allocate, count, on_cpu, threads
from rigid.solvers.substeps import MOST_THREADS

# Blocks that are done; the kind of the loop, which iteration it is of, and how many blocks it has; whether more loops
# follow at once; whether the launch is over, and how many threads have left it; and for each thread, how many blocks of
# its share nobody has claimed, at most zero if none is left, how many it has, its first turn and its end. What
# different threads write is in different cache lines.
LINE = 32
COUNTERS = Columns(done=LINE, kind=1, iteration=1, blocks=LINE - 2, more=LINE, over=1, left=LINE - 1,
                   unclaimed=1, share=1, first=1, end=MOST_THREADS * LINE - 3)  # fmt: skip

# So many blocks for each share: fewer leave threads idle at the end of a loop, more cost claims.
BLOCKS_OF_A_SHARE = 4

# A thread more is used for so many bodies.
BODIES_OF_A_THREAD = 24


class Team(NamedTuple):
    """Counters of the threads of one world."""

    counters: Integer(count.stations, COUNTERS)  # a station is a kernel function that takes part in loops
    step: Real(1)  # the length of a substep, or of a part of it, in the open loop [s]
    largest: Real(count.worlds)  # of what the turns of a loop find


@ti.func
def shared(team: ti.template(), station, counter):
    """The value of a counter now."""
    return ti.atomic_add(team.counters[station, counter], 0)


@ti.func
def open_loop(team: ti.template(), station, kind, iteration=0):
    """Open a loop, which has no turns yet. Called by the leader, who then offers shares, claims blocks, and waits.

    Args: kind, iteration: integers for those who take part.
    """
    team.counters[station, COUNTERS.kind], team.counters[station, COUNTERS.iteration] = kind, iteration
    team.counters[station, COUNTERS.blocks] = 0
    team.counters[station, COUNTERS.done] = 0


@ti.func
def offer_share(team: ti.template(), station, thread, first, end):
    """Give a thread its share of the open loop. Args: thread: whose cache has it from the last time; first, end: of
    the turns. Called by the leader."""
    line = LINE * thread
    blocks = ti.min(end - first, BLOCKS_OF_A_SHARE)
    team.counters[station, COUNTERS.blocks] = team.counters[station, COUNTERS.blocks] + blocks
    team.counters[station, COUNTERS.share + line] = blocks
    team.counters[station, COUNTERS.first + line] = first
    team.counters[station, COUNTERS.end + line] = end
    ti.atomic_max(team.counters[station, COUNTERS.unclaimed + line], blocks)


@ti.func
def claim_block(team: ti.template(), station, thread, threads):
    """Claim a block of the open loop: one of the thread's share, or else one of another. Returns: its first turn and
    its end; equal if no block is left."""
    begin, end = 0, 0
    for k in range(threads):
        if begin == end:
            line = LINE * ((thread + k) % threads)
            if shared(team, station, COUNTERS.unclaimed + line) > 0:
                unclaimed = ti.atomic_sub(team.counters[station, COUNTERS.unclaimed + line], 1)
                if unclaimed > 0:
                    first = shared(team, station, COUNTERS.first + line)
                    turns = shared(team, station, COUNTERS.end + line) - first
                    blocks = shared(team, station, COUNTERS.share + line)
                    block = blocks - unclaimed
                    begin, end = first + turns * block // blocks, first + turns * (block + 1) // blocks
    return begin, end


@ti.func
def finish_blocks(team: ti.template(), station, count):
    """Say that claimed blocks are done. Args: count: how many."""
    if count > 0:
        ti.atomic_add(team.counters[station, COUNTERS.done], count)


@ti.func
def wait_for_blocks(team: ti.template(), station):
    """Wait until all blocks of the open loop are done. Called by the leader."""
    blocks = team.counters[station, COUNTERS.blocks]
    while shared(team, station, COUNTERS.done) < blocks:
        pass


@ti.func
def has_loop(team: ti.template(), station, threads):
    """Whether a loop has blocks that nobody has claimed."""
    result = False
    for thread in range(threads):
        result = result or shared(team, station, COUNTERS.unclaimed + LINE * thread) > 0
    return result


@ti.func
def has_loops(team: ti.template(), station):
    """Whether the leader will open more loops of a station at once."""
    return shared(team, station, COUNTERS.more) == 1


@ti.func
def begin_loops(team: ti.template(), station):
    """Let threads stay at a station after a loop. Called by the leader."""
    ti.atomic_max(team.counters[station, COUNTERS.more], 1)


@ti.func
def end_loops(team: ti.template(), station):
    """Let threads leave a station. Called by the leader."""
    ti.atomic_min(team.counters[station, COUNTERS.more], 0)


@ti.func
def is_over(team: ti.template()):
    """Whether the leader has ended the launch."""
    return shared(team, 0, COUNTERS.over) == 1


@ti.func
def end_launch(team: ti.template()):
    """Let all threads leave. Called by the leader, who leaves, too."""
    ti.atomic_max(team.counters[0, COUNTERS.over], 1)


@ti.func
def leave(team: ti.template(), threads):
    """Leave the launch. The last thread resets the counters for the next one."""
    if ti.atomic_add(team.counters[0, COUNTERS.left], 1) == threads - 1:
        team.counters[0, COUNTERS.left] = 0
        team.counters[0, COUNTERS.over] = 0


def count_threads(bodies, worlds):
    """Choose how many threads share the loops of a world. Args: bodies: how many; worlds: each of several has one."""
    most = min(threads(), MOST_THREADS, bodies // BODIES_OF_A_THREAD)
    return max(most, 1) if worlds == 1 and on_cpu() else 1


def allocate_team(worlds, stations):
    """Make the counters. Args: worlds; stations: how many kernel functions take part in loops."""
    return allocate(Team, worlds=worlds, stations=stations)
