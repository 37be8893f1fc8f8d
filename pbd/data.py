"""The arrays of a particle system, and how kernels come to them.

Arrays have shape (item, world): W copies of a description stand side by side, the world innermost, so that graphics
cards read neighbours together. One world is the ordinary case.
"""

from typing import Any, NamedTuple

import taichi as ti


class Features(NamedTuple):
    """What a system's kernels are compiled for, so that a small scene does not wait for what it has not."""

    kinds: tuple  # of constraints: Kind
    from_start: bool  # project along the gradients at the start of the step
    watch: bool  # stop at a tolerance, and so look at each violation
    colours: int  # of clusters
    one_world: bool  # which then runs on one thread, or by phases on many
    spread: int  # turns between two worlds or clusters in a parallel loop, see SPREAD
    wind: bool
    surfaces: bool  # colliders or boxes
    shapes: tuple  # kinds of colliders, see pbd/core/shapes
    rebounds: bool  # and some with restitution
    contacts: bool  # of particles with one another
    grabs: int = 0  # how many, see pbd/grabs.py
    guest: Any = None  # see Guest


class Guest(NamedTuple):
    """What is made of a system's particles and meets others as a whole: its part in the step.

    Arguments:
        kernel: as `kernel` below, for Taichi functions that read the guest's arrays as well, `Data.guest`; it takes
            them after those of `Data`.
        meet: Taichi function (data, world), after Verlet.
        relax: (data, sweep, world) -> the largest violation [m]; once a sweep, after the constraints.
        part: (data, world), after the relaxation.
        touching: (data, world) -> how many contacts held something off in the last step.
    """

    kernel: Any
    meet: Any
    relax: Any
    part: Any
    touching: Any


# A parallel loop of fewer than 1,024 turns runs on one thread (Taichi 1.7.4 takes blocks of 512 at least). Where
# there are fewer worlds or clusters than that, they stand this many turns apart; idle turns cost nothing that can be
# measured, as long as the compiler knows the number: a division by one it does not know took a third of the time of a
# sweep.
SPREAD = 512


class Data(NamedTuple):
    """What every function of a kernel can read; n particles, W worlds."""

    features: Features  # known when the kernel is compiled

    position: Any  # (n, W) of 4: x, y, z [m] and the inverse mass w [1/kg], 0 where pinned
    previous: Any  # (n, W) of 3: Jakobsen's x*, the position one step ago [m]
    predicted: Any  # (n, W) of 3: what Verlet foresaw for this step, before the relaxation [m]
    force: Any  # (n, W) of 3: a person's own forces [N]
    air: Any  # (n, W) of 3: the wind's [N]
    radius: Any  # (n, W) [m]; negative where neither surfaces nor particles are met

    members: Any  # particles of all constraints, flat, kind after kind
    parameters: Any  # (flat, W): their numbers, likewise
    multipliers: Any  # (flat, W): λ of those with compliance
    offsets: Any  # (kinds, 4): where a kind begins in the three above, and how many constraints it has
    runs: Any  # (clusters, kinds, 2): begin and end of each cluster's run of each kind
    colours: Any  # (colours + 1,): where each colour's clusters begin

    numbers: Any  # (colliders, NUMBERS): shapes, see pbd/core/shapes; the last two are friction and restitution
    integers: Any  # (colliders, INTEGERS)
    grids: Any  # samples of all signed distance grids, flat
    boxes: Any  # (boxes, 8): lower, upper, friction, restitution
    driven: Any  # indices of particles led along a path

    triangles: Any  # (triangles, 3) in the wind
    drag_coefficient: Any  # (triangles,) half the air's density times the drag coefficient [kg/m³]
    fans: Any  # (n + 1,): where a particle's triangles begin in `fan_triangles`
    fan_triangles: Any

    rest: Any  # (n, W) of 3: described positions, whose distances bound those of contacts [m]
    cells: Any  # (buckets + 1, W): where a bucket of the spatial hash begins in `binned`
    binned: Any  # (n, W): particles sorted by bucket
    neighbours: Any  # (n, MOST, W): candidates for contact
    neighbour_count: Any  # (n, W)
    correction: Any  # (n, W) of 3: sum of a particle's contact corrections [m]

    counts: Any  # how many there are of what: see below

    timeline: Any  # (rows, columns): the surroundings at the ends of the steps, see below
    report: Any  # (W, REPORTS): what the host wants to know, see below
    h: Any  # length of a substep [s]
    drag: Any  # 1 - d, the part of the velocity that a substep keeps
    tolerance: Any  # stop sweeping below this violation
    reach: Any  # the largest contact distance and half as much again [m]
    friction: Any  # of particles with one another
    guest: Any = None  # its own arrays


# Entries of Data.counts. (An array cannot be empty, so its shape does not tell.)
PARTICLES, WORLDS, MULTIPLIERS, COLLIDERS, BOXES, DRIVEN, SUBSTEPS_PER_SEARCH = range(7)
COUNTS = 7

# Columns of a row of the timeline, the surroundings at one instant: gravity, wind, then seven for the pose of each
# collider, three for the position of each driven particle, and those of grabs. One row serves all steps where nothing
# moves.
GRAVITY, WIND, POSES = 0, 3, 6

# Columns of the report, one row for each world; SEARCH counts substeps down to the next search for contacts.
VIOLATION, SWEEPS, TOUCHING, ELASTIC, SEARCH, DIVERGED_STEP, OVERFLOW, CROWDED = range(8)
REPORTS = 8


def kernel(body, features):
    """A kernel from a Taichi function (data, a, b) of a `Data` and two integers, whose meaning is the function's.

    The signature stands here once, for all kernels of a system. A loop at the top of `body` runs in parallel, as one at
    the top of a kernel does. Arguments of the kernel: the members of `Data` in order but the
    features, then the two integers.
    """
    flat, table, cube = (ti.types.ndarray(ndim=n) for n in (1, 2, 3))

    @ti.kernel
    def run(
        position: table, previous: table, predicted: table, force: table, air: table, radius: table,
        members: flat, parameters: table, multipliers: table, offsets: table, runs: cube, colours: flat,
        numbers: table, integers: table, grids: flat, boxes: table, driven: flat,
        triangles: table, drag_coefficient: flat, fans: flat, fan_triangles: flat,
        rest: table, cells: table, binned: table, neighbours: cube, neighbour_count: table, correction: table,
        counts: flat, timeline: table, report: table,
        h: float, drag: float, tolerance: float, reach: float, friction: float, a: int, b: int,
    ):  # fmt: skip
        data = ti.static(
            Data(
                features, position, previous, predicted, force, air, radius,
                members, parameters, multipliers, offsets, runs, colours,
                numbers, integers, grids, boxes, driven,
                triangles, drag_coefficient, fans, fan_triangles,
                rest, cells, binned, neighbours, neighbour_count, correction,
                counts, timeline, report, h, drag, tolerance, reach, friction,
            )
        )  # fmt: skip
        body(data, a, b)

    return run
