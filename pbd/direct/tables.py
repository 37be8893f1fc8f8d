"""The tables of the direct solve: which products make the matrix, and which make its factor. Made on the host."""

import numpy as np

from pbd.core.arrays import allocate, read, write
from pbd.core.runtime import real_bits
from pbd.data import DirectArrays
from pbd.direct.factor import factor_pattern, pairs_within
from pbd.direct.rows import SOFTNESS


def direct_arrays(plan, types, schedule, mobile, worlds, lanes=1):
    """Make the arrays of the direct solve.

    Args: plan: a pbd.direct.rows.Plan; types: tuple of ConstraintType; schedule: a Schedule of all constraints; mobile:
    which particles can move (particles,); worlds: how many; lanes: of them in a vector.

    Returns: a pbd.data.DirectArrays.
    """
    rows, kinds = plan.rows, len(types)
    places = [np.argsort(order) for order in schedule.orders]

    def numbers(rows):
        """Numbers of constraints in the schedule."""
        return np.array([places[kind][number] for kind, number in zip(rows.type, rows.number)], int)

    at_least = np.array([each.at_least for each in types], bool)[rows.type]
    by_type = np.argsort(rows.type, kind="stable")  # kernels take the rows of one type together
    stored = rows.take(by_type)
    implied = plan.implied.take(np.argsort(plan.implied.type, kind="stable"))
    factor = factor_pattern(rows.pattern(mobile))
    first_product, products = grouped(*gradient_products(stored, by_type, factor, mobile), len(factor.rows))
    changed, a, b = factor.updates()
    first_update, updates = grouped(changed, np.stack([a, b], axis=1), len(factor.rows))
    ends, implied_ends = (np.cumsum(np.bincount(each.type, minlength=kinds)) for each in (stored, implied))
    begins, implied_begins = (np.concatenate([[0], each])[:kinds] for each in (ends, implied_ends))
    ranges = np.column_stack([begins, ends, stored.first[begins], implied_begins, implied_ends])
    values = {
        "ranges": ranges,
        "constraint": numbers(stored),
        "implied": numbers(implied),
        "implied_size": implied.extent * implied.steepness,
        "place": by_type,
        "products": products,
        "updates": updates,
        "sums": np.column_stack([first_product, first_update]),
        "extent": stored.extent[:1],
        "size": stored.extent * stored.steepness,
        "softness": np.where(rows.dependent | at_least, *SOFTNESS[real_bits()]),
        "is_node": plan.nodes(mobile) if len(rows) else np.zeros(0),
        "first": factor.first,
        "rows": factor.rows,
    }
    return allocate(
        DirectArrays,
        values,
        worlds=worlds,
        lanes=lanes,
        types=kinds,
        direct_particles=len(mobile) if len(rows) else 0,
        direct_rows=len(rows),
        extents=min(len(rows), 1),
        direct_ends=len(rows) + 1,
        implied=len(implied),
        direct_entries=len(stored.particles),
        products=len(products),
        updates=len(updates),
        nonzeros=len(factor.rows),
        nonzero_ends=len(factor.rows) + 1,
    )


def parts_state(arrays):
    """What the direct solve keeps from substep to substep, see pbd.State. Args: arrays: a pbd.data.DirectArrays."""
    halvings, vibration, active = read(arrays.halvings), read(arrays.vibration), read(arrays.active)
    return np.column_stack([halvings, vibration.swapaxes(0, 1).reshape(len(halvings), -1), active.T])


def write_parts_state(arrays, state):
    """Restore it, or begin anew if it is of another system. Args: arrays: a pbd.data.DirectArrays; state."""
    shape = parts_state(arrays).shape
    kept = np.asarray(state) if np.shape(state) == shape else np.zeros(shape)
    halvings, vibration, active = np.split(kept, (1, shape[1] - arrays.active.shape[0]), axis=1)
    write(arrays.halvings, halvings[:, 0].astype(np.int32))
    write(arrays.vibration, vibration.reshape(len(kept), -1, 3).swapaxes(0, 1))
    write(arrays.active, active.T.astype(np.int32))


def grouped(targets, pairs, count):
    """Group pairs by their targets, in the order in which they are given.

    Args: targets (n,): of each pair, below `count`; pairs (n, 2).

    Returns: where the pairs of each target begin (count + 1,); pairs.
    """
    order = np.argsort(targets, kind="stable")
    return np.concatenate([[0], np.cumsum(np.bincount(targets, minlength=count))]), pairs[order]


def gradient_products(stored, places, factor, mobile):
    """Products of gradients that make A.

    Args: stored: Rows as kernels store them; places: of each row in the order of elimination; factor: a Pattern;
    mobile: which particles can move (particles,).

    Returns: the entries of L that they change (n,), and their two entries of gradients (n, 2).
    """
    row = places[stored.row_of_entry]
    free = np.flatnonzero(mobile[stored.particles])
    free = free[np.lexsort((row[free], stored.particles[free]))]
    of_particle = np.bincount(stored.particles[free], minlength=len(mobile))
    products = free[np.stack(pairs_within(np.cumsum(of_particle) - of_particle, of_particle), axis=1)]
    return factor.entry(row[products[:, 0]], row[products[:, 1]]), products
