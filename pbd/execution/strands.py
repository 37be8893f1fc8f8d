"""Strands: many alike parts of a description, such as hairs, which share nothing. Plain numpy, without Taichi.

Elements are solved together (pbd/implicit), and the step of Newton of one strand need not wait for another. So kernels
see each strand as a world of its own: it has its own matrix and length of step, strands lie in the lanes of vectors
like worlds, and threads share them. The host sees one world still: layouts say where each item lies.

Strand k has the particles k n to (k + 1) n - 1, and of each constraint type the k-th part, with the same members.
"""

from typing import NamedTuple

import numpy as np
import scipy

from pbd.core.kernels import InWorlds, Scratch, Substitute
from pbd.data import RANGE
from pbd.execution.lanes import why_no_lanes
from pbd.implicit.tables import ImplicitPlan, implicit_arrays, median_length, plan_elements


class Strands(NamedTuple):
    """Strands of a description.

    Attributes: count: how many; particles: n, of each; members: of the first one's constraints of each type (m, arity);
    implicit: how it is solved, an ImplicitPlan; moving: its particles on paths (q,); order: of all particles on paths,
    strand after strand, in the order of the paths (count · q,).
    """

    count: int
    particles: int
    members: list
    implicit: ImplicitPlan
    moving: np.ndarray
    order: np.ndarray


def find_strands(description, types, constraints, implicit, schedule):
    """Find the strands of a description that is one world.

    Args: description: a Particles; types: its ConstraintTypes; constraints: for each, members (n, arity) and parameters
    (n, numbers, 1); implicit: how all of it is solved, an ImplicitPlan; schedule: a Schedule.

    Returns: Strands; None if parts differ, or something is not solved together or acts between them.
    """
    if not types or len(implicit.types) < len(types) or implicit.conjugate or why_no_lanes(description, schedule):
        return None
    if len(description.triangles()) or any(each.coupled or each.state_size for each in types):
        return None
    members = [each for each, _ in constraints]
    ends = np.concatenate([each[:, [0, k]] for each in members for k in range(1, each.shape[1])])
    total = len(description)
    graph = scipy.sparse.coo_array((np.ones(len(ends), np.int8), ends.T), (total, total))
    count, part = scipy.sparse.csgraph.connected_components(graph, directed=False)
    if count < 2 or total % count or not np.array_equal(part, np.repeat(np.arange(count), total // count)):
        return None
    kinematic = np.concatenate([np.zeros(0, int), *(particles for particles, _ in description.paths)])
    order = np.argsort(kinematic)
    alike = [in_parts(each, count, total // count) for each in (*members, kinematic[order])]
    if any(each is None for each in alike):
        return None
    *members, moving = alike
    of_one = [(each, numbers[: len(each)]) for each, (_, numbers) in zip(members, constraints)]
    return Strands(count, total // count, members, plan_elements("auto", types, of_one, []), moving, order)


def in_parts(particles, count, size):
    """The first of `count` parts of indices of particles (n, ...), or None if they differ. Args: size: of a part."""
    if len(particles) % count:
        return None
    parts = particles.reshape(count, len(particles) // count, *particles.shape[1:])
    parts = parts - size * np.arange(count).reshape(-1, *(1,) * particles.ndim)
    return parts[0] if (parts == parts[0]).all() else None


def extents_of(strands, positions):
    """Median length of each strand's elements (strands, 1) [m]. Args: positions: of all particles (n, 1, 3) [m]."""
    edges = np.concatenate([each[:, :2] for each in strands.members])
    of_strands = positions.reshape(strands.count, strands.particles, 3).swapaxes(0, 1)
    return median_length(edges, of_strands).T


def layouts_of(strands, types, implicit, positions, lanes):
    """Layouts of arrays by the name of their first axis (pbd/core/kernels/arrays.py).

    Args: strands: a Strands; types: ConstraintTypes; implicit: how all are solved together, an ImplicitPlan; positions:
    of all particles (n, 1, 3) [m]; lanes: of strands.

    Returns: those of arrays with an axis of worlds, and those of others.
    """
    counts = np.array([len(each) for each in strands.members])
    numbers = np.array([each.width for each in types]), np.array([each.multipliers * each.compliance for each in types])
    sizes = np.column_stack([[each.size for each in strands.members], *(counts * each for each in numbers)])
    starts = np.cumsum(sizes, axis=0) - sizes
    tables = implicit_arrays(strands.implicit, types, strands.members, positions[: strands.particles], [])
    rows, entries = len(strands.implicit), len(strands.implicit.pattern.rows)

    def in_worlds(*sizes_of_types):
        return InWorlds.of_blocks(sizes_of_types, strands.count, lanes)

    def scratch(first=(), seen=()):
        return Scratch(first, seen, strands.count, lanes)

    with_worlds = {
        "particles": in_worlds(strands.particles),
        "symmetric": in_worlds(strands.particles),
        "parameters": in_worlds(*sizes[:, 1]),
        "multipliers": in_worlds(*sizes[:, 2]),
        "moving": in_worlds(len(strands.moving)),
        "implicit_extents": in_worlds(1),
        "implicit": scratch((rows,), (len(implicit),)),
        "implicit_entries": scratch((entries,), (len(implicit.pattern.rows),)),
        "held": scratch((rows,), (len(implicit),)),
        "worlds": scratch(),
    }
    ranges = np.zeros((len(types), RANGE.total), int)
    ranges[:, [RANGE.members, RANGE.parameters, RANGE.multipliers]] = starts
    ranges[:, RANGE.count] = ranges[:, RANGE.full] = counts
    of_matrix = {"implicit": "node", "implicit_particles": "place", "implicit_ends": "first",
                 "implicit_entries": "row", "implicit_types": "begins", "implicit_pairs": "targets",
                 "implicit_updates": "updates", "implicit_entry_ends": "ends"}  # fmt: skip
    common = {axis: Substitute(tables[name]) for axis, name in of_matrix.items()}
    common |= {"members": Substitute(np.concatenate([each.ravel() for each in strands.members]))}
    return with_worlds, common | {"types": Substitute(ranges), "moving": Substitute(strands.moving)}
