"""The tables of the direct solve: which products make the matrix, and which make its factor. Made on the host."""

import numpy as np

from pbd.core.kernels import allocate, read, real_bits, write
from pbd.data import DirectArrays
from pbd.direct.factor import Pattern, factor_pattern, pairs_within
from pbd.direct.rows import SOFTNESS

# Inequalities that are eliminated last may take so many times the products of an order of least degree, because most
# are not active. A ragdoll takes 1.5 times as many, and a third of them with three of its 18 limits active.
MOST_WITH_INEQUALITIES_LAST = 2.0


def direct_arrays(plan, types, schedule, mobile, worlds, lanes, moving_columns):
    """Make the arrays of the direct solve.

    Args: plan: a pbd.direct.rows.Plan; types: tuple of ConstraintType; schedule: a Schedule of all constraints; mobile:
    which particles can move (particles,); worlds: how many; lanes: of them in a vector; moving_columns: of the inputs,
    if anything moves.

    Returns: a pbd.data.DirectArrays.
    """
    kinds = len(types)
    rows, columns, pattern = with_inequalities_last(plan.rows, types, mobile)
    places = [np.argsort(order) for order in schedule.orders]

    def numbers(rows):
        """Numbers of constraints in the schedule."""
        return np.array([places[kind][number] for kind, number in zip(rows.type, rows.number)], int)

    at_least = np.array([each.at_least for each in types], bool)[rows.type]
    by_type = np.argsort(rows.type, kind="stable")  # kernels take the rows of one type together
    stored = rows.take(by_type)
    implied = plan.implied.take(np.argsort(plan.implied.type, kind="stable"))
    factor = Factorisation(pattern, columns)
    sums, products, updates = factor.lists(*gradient_products(stored, by_type, pattern, mobile))
    ends, implied_ends = (np.cumsum(np.bincount(each.type, minlength=kinds)) for each in (stored, implied))
    begins, implied_begins = (np.concatenate([[0], each])[:kinds] for each in (ends, implied_ends))
    ranges = np.column_stack([begins, ends, stored.first[begins], implied_begins, implied_ends])
    values = {
        "ranges": ranges,
        "constraint": numbers(stored),
        "implied": numbers(implied),
        "implied_size": implied.size,
        "place": by_type,
        "products": products,
        "updates": updates,
        "sums": sums,
        "row_at": np.argsort(by_type),
        "columns": [columns][: len(rows)],
        "extent": stored.extent[:1],
        "inverse_size": 1.0 / stored.size,
        "softness": np.where(rows.dependent | at_least, *SOFTNESS[real_bits()]),
        "is_node": plan.nodes(mobile) if len(rows) else np.zeros(0),
        "first": factor.first,
        "partner": factor.partner,
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
        nonzeros=len(factor.partner),
        nonzero_ends=len(factor.partner) + 1,
        moving_columns=moving_columns if len(rows) else 0,
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
    write(arrays.halvings, halvings[:, 0])
    write(arrays.vibration, vibration.reshape(len(kept), -1, 3).swapaxes(0, 1))
    write(arrays.active, active.T)


def with_inequalities_last(rows, types, mobile):
    """Order rows so that inequalities are eliminated after all others, unless that takes too many products.

    Args: rows: in an order of least degree; types: tuple of ConstraintType; mobile: mask (particles,).

    Returns: the rows in order; how many come first; the Pattern of L.
    """
    if not len(rows):
        return rows, 0, Pattern(np.zeros(1, np.int64), np.zeros(0, np.int64))  # without scipy, which is slow to import
    at_least = np.array([each.at_least for each in types], bool)[rows.type]
    mixed = factor_pattern(rows.pattern(mobile))
    if at_least.any():
        ordered = rows.take(np.argsort(at_least, kind="stable"))
        pattern = factor_pattern(ordered.pattern(mobile))
        if pattern.multiply_adds <= MOST_WITH_INEQUALITIES_LAST * mixed.multiply_adds:
            return ordered, int(np.sum(~at_least)), pattern
    return rows, len(rows), mixed


class Factorisation:
    """Where the entries of L and of L D stand, and the products that make them.

    Each entry belongs to a place in the order of elimination: to its column among the first rows, and to its row among
    the inequalities behind them. The entries of a place stand together, the diagonal first.

    Args: pattern: a Pattern; columns: how many rows come first.

    Attributes: first: where the entries of each place begin (rows + 1,); partner: row of each entry that belongs to its
    column, and column of each one that belongs to its row (entries,).
    """

    def __init__(self, pattern, columns):
        size = len(pattern.first) - 1
        self._pattern, self._columns = pattern, columns
        self._row, self._column = pattern.rows, np.repeat(np.arange(size), np.diff(pattern.first))
        self._place = np.where(self._row < columns, self._column, self._row)
        partner = np.where(self._row < columns, self._row, self._column)
        order = np.lexsort((partner, partner != self._place, self._place))
        self._entry = np.argsort(order)  # of each one of the pattern
        self.first = np.concatenate([[0], np.cumsum(np.bincount(self._place, minlength=size))])
        self.partner = partner[order]

    def lists(self, targets, gradients):
        """Lists of the products that make each entry, entry after entry.

        Args: targets, gradients: of `gradient_products`.

        Returns: sums (entries + 1, 2): where the products and the updates of each entry begin; products (n, 2) and
        updates (n, 2), see pbd.data.DirectArrays. Updates stand column after column, so that they are complete in turn.
        """
        changed, a, b = self._pattern.updates()
        in_row = self._row[changed] >= self._columns
        used = ~in_row | (self._row[changed] != self._column[changed])  # the pivot of an inequality is made otherwise
        lower, scaled = np.where(in_row, b, a), np.where(in_row, a, b)
        updates = self._entry[np.stack([changed, lower, scaled], axis=1)[used]]
        products = np.column_stack([self._entry[targets], gradients])
        sums, lists = zip(*(by_first(each, len(self.partner)) for each in (products, updates)))
        return np.stack(sums, axis=1), *lists


def by_first(rows, count):
    """Sort rows by their first number, and leave it out. Returns: where those of each number begin; the others."""
    order = np.argsort(rows[:, 0], kind="stable")
    return np.concatenate([[0], np.cumsum(np.bincount(rows[:, 0], minlength=count))]), rows[order, 1:]


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
