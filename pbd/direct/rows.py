"""Which constraints are solved directly, and in which order they are eliminated. Chosen once, on the host."""

import warnings
from dataclasses import dataclass, replace

import numpy as np
import scipy

from pbd.core.kernels import real_bits
from pbd.direct.factor import Eliminations, least_degree_order, ranges
from pbd.direct.gradients import gradients_at
from pbd.direct.independent import DISPLACEMENT, independent_rows, products_of_rows
from pbd.direct.taut import is_taut

SOLVES = ("auto", "iterative", "direct")

# "auto" solves a component directly if its factorisation takes at most so many multiplications for each row. A chain of
# rods takes 27, a ragdoll 30, a linkage 57, a bridge of planks 160, a cloth of 20 x 20 some 1,500.
MOST_MULTIPLY_ADDS = 250

# Larger components are not tried if they have more rows than particles, as cloths do: ordering them takes long.
LARGE = {"auto": 5_000, "direct": 100_000}

# Memory that the factor of a component may take, and what each product takes while its tables are made [bytes].
MOST_MEMORY = 2_000_000_000
BYTES = 40

# Largest ratio of two masses of a component. Above, round-off and SOFTNESS are as large as what heavy particles move.
MOST_MASS_RATIO = 1e7

# Decimals of products of rows in which equal components agree. Rows that differ less are not told from dependent ones.
# Round-off of some 1e-14 rarely changes them; then a component is planned again. With 32 bits it always does.
DECIMALS = 9

# The diagonal of A is larger by these parts of it: in components with rows that depend on others at the positions of
# the description, as in plane linkages, and in all others, whose rows may come to depend on one another. Much more
# would slow convergence: a rope of n segments has eigenvalues of A down to 2/n² of its diagonal.
SOFTNESS = {64: (1e-7, 1e-10), 32: (1e-4, 1e-6)}

# A violation of this part of a constraint's size counts as none.
CONVERGED = {64: 1e-12, 32: 1e-6}


@dataclass
class Rows:
    """All constraints that may be solved directly, as rows.

    Attributes: type, number: of each row's constraint, counted as constraints of the type were added (rows,);
    first: where each row's entries begin (rows + 1,); particles: of the entries; gradients, elsewhere: at the positions
    of the description, and at others (entries, 3); extent: of a constraint, the median of all rows (rows,) [m]; chosen:
    rows that no others imply, as they have compliance or are inequalities (rows,); dependent: rows of components in
    which rows depend on others at the positions of the description (rows,).
    """

    type: np.ndarray
    number: np.ndarray
    first: np.ndarray
    particles: np.ndarray
    gradients: np.ndarray
    elsewhere: np.ndarray
    extent: np.ndarray
    chosen: np.ndarray
    dependent: np.ndarray

    def __len__(self):
        return len(self.type)

    @property
    def types(self):
        """Indices of the types that have rows."""
        return tuple(np.unique(self.type).tolist())

    @property
    def steepness(self):
        """Length of each row's gradient, (Σ |∇C|²)^½ (rows,)."""
        squares = np.square(self.gradients).sum(axis=1)
        return np.sqrt(np.bincount(self.row_of_entry, squares, len(self)))

    @property
    def size(self):
        """By which violations of each row are measured, in its unit (rows,)."""
        return self.extent * rounded(self.steepness)

    def take(self, rows):
        """Some of the rows. Args: indices."""
        sizes = np.diff(self.first)[rows]
        entries, first = ranges(self.first[:-1][rows], sizes), np.concatenate([[0], np.cumsum(sizes)])
        of_entries = self.particles[entries], self.gradients[entries], self.elsewhere[entries]
        of_rows = self.extent[rows], self.chosen[rows], self.dependent[rows]
        return Rows(self.type[rows], self.number[rows], first, *of_entries, *of_rows)

    @property
    def row_of_entry(self):
        """Row of each entry (entries,)."""
        return np.repeat(np.arange(len(self.type)), np.diff(self.first))

    def jacobian(self, gradients, mobile):
        """J of particles that can move, sparse (rows, 3 particles). Args: gradients (entries, 3); mobile: mask."""
        free = np.flatnonzero(mobile[self.particles])
        rows = np.repeat(self.row_of_entry[free], 3)
        columns = (3 * self.particles[free, None] + np.arange(3)).ravel()
        return scipy.sparse.csr_matrix((gradients[free].ravel(), (rows, columns)), (len(self.type), 3 * len(mobile)))

    def pattern(self, mobile):
        """Which rows share a particle that can move, sparse (rows, rows). Args: mobile: mask (particles,)."""
        free = mobile[self.particles]
        ones = np.ones(free.sum(), np.int8)
        shape = len(self.type), len(mobile)
        incidence = scipy.sparse.csr_matrix((ones, (self.row_of_entry[free], self.particles[free])), shape)
        return scipy.sparse.csc_matrix(incidence.astype(np.int32) @ incidence.T.astype(np.int32))


@dataclass
class Plan:
    """What is solved directly.

    Attributes: rows: those of the solve, in an order with little fill; implied: rows that others of the solve imply, so
    that they are left to iterations; solved: for each type, a mask (n,) of the constraints that are rows; components:
    how many; notes: reasons why others iterate; consistent: whether no two sticks contradict each other.
    """

    rows: Rows
    implied: Rows
    solved: list
    components: int
    notes: list
    consistent: bool = True

    def reordered(self, mobile):
        """The same rows in another order of elimination. Args: mobile: which particles can move now (particles,)."""
        return replace(self, rows=self.rows.take(least_degree_order(self.rows.pattern(mobile))))

    def nodes(self, mobile):
        """Which mobile particles have one or two rows, as the nodes of a rope. Args: mobile: mask (particles,)."""
        count = np.bincount(self.rows.particles, minlength=len(mobile))
        return mobile & (count > 0) & (count <= 2)

    @property
    def types(self):
        """Indices of the types that have rows."""
        return self.rows.types

    def least_violation(self):
        """The violation that counts as none [m], below zero if nothing is solved directly."""
        if not len(self.rows):
            return -1.0
        return CONVERGED[real_bits()] * float(self.rows.extent[0])


def make_plan(solve, types, constraints, positions, inverse_masses, gravity, colliding):
    """Choose the constraints to solve directly.

    Args:
        solve: one of SOLVES.
        types: tuple of ConstraintType.
        constraints: for each type, members (n, arity) and parameters (n, numbers, worlds).
        positions: (particles, 3) [m].
        inverse_masses: (particles, worlds) [1/kg].
        gravity: of each particle (particles, 3) [m/s²].
        colliding: mask of particles that have contacts with one another (particles,). These act between solves, so they
            would not hold.

    Returns: a Plan.
    """
    solved = [np.zeros(len(members), bool) for members, _ in constraints]
    if solve == "iterative":
        return Plan(no_rows(), no_rows(), solved, 0, [])
    mobile = (inverse_masses > 0).any(axis=1)
    chosen, implied, notes, eliminate, made = [], [], [], Eliminations(), {}
    rows = collect_rows(types, constraints, positions, mobile, notes)
    consistent = not notes
    elements = np.zeros(len(positions), bool)
    for each, (members, _) in zip(types, constraints):
        if each.multipliers > 1:
            elements[members] = True
    pattern, products = rows.pattern(mobile), products_of_rows(rows.jacobian(rows.gradients, mobile))
    joins = np.array([each.joins for each in types])[rows.type]
    waiting = connected(pattern, np.arange(len(rows)))
    while waiting:
        members = waiting.pop()
        component = rows.take(members)
        if not mobile[component.particles].any():
            continue
        key = fingerprint(component, members, products)
        ratio = mass_ratio(inverse_masses[component.particles])
        if ratio > MOST_MASS_RATIO:
            order, reason = None, f"its masses have a ratio of {ratio:.1g}, expected at most {MOST_MASS_RATIO:.0g}"
        else:
            if key not in made:
                made[key] = order_component(solve, component, mobile, eliminate)
            order, dependent, reason = made[key]
            rows.dependent[members] = dependent.any()
            if solve == "auto" and dependent.any():
                held = order[~component.chosen[order]]  # compliant constraints and limits give way
                if is_taut(component.take(held), dependent[held], positions, mobile, gravity):
                    reason = "it is taut, so nothing bounds its tension"
            if solve == "auto" and colliding[component.particles].any():
                reason = "its particles touch one another, which a direct solve would not hold"
            if elements[component.particles].any():
                reason = "its particles belong to elements, such as membranes, which a direct solve would not hold"
        if reason and joins[members].any():
            waiting += connected(pattern, members[~joins[members]])
        elif reason:
            notes.append(f"a component of {len(component)} constraints iterates: {reason}")
        else:
            chosen.append(members[order])
            implied.append(np.delete(members, order))
    if solve == "direct":
        for note in dict.fromkeys(notes):
            warnings.warn(note, RuntimeWarning, stacklevel=3)
    components = len(chosen)
    chosen, implied = (rows.take(np.concatenate([np.zeros(0, int), *each])) for each in (chosen, implied))
    for index in chosen.types:
        solved[index][chosen.number[chosen.type == index]] = True
    return Plan(chosen, implied, solved, components, notes, consistent)


def connected(pattern, members):
    """Connected components of some rows, the last one first. Args: pattern: of all rows; members: ascending."""
    if not len(members):
        return []
    _, label = scipy.sparse.csgraph.connected_components(pattern[members][:, members], directed=False)
    by_label = np.argsort(label, kind="stable")
    return np.split(members[by_label], np.cumsum(np.bincount(label))[:-1])[::-1]


def mass_ratio(inverse_masses):
    """Largest ratio of two masses in any world, among those that can move. Args: inverse_masses (n, worlds)."""
    lightest = inverse_masses.max(axis=0)
    heaviest = np.where(inverse_masses > 0, inverse_masses, np.inf).min(axis=0)
    return (lightest / heaviest).max()


def fingerprint(component, members, products):
    """What the plan of a component depends on, as bytes: they are equal wherever it is and however it is rotated.

    Args: component: Rows; members: which they are of all rows, ascending; products: of all rows, sparse (rows, rows).
    """
    sizes = np.diff(products.indptr)[members]
    entries = ranges(products.indptr[:-1][members], sizes)
    others = products.indices[entries]
    places = np.minimum(np.searchsorted(members, others), len(members) - 1)
    inside = members[places] == others
    first, second = np.repeat(np.arange(len(members)), sizes)[inside], places[inside]
    numbers = np.round(products.data[entries[inside]], DECIMALS) + 0.0  # no zero has a sign
    return b"".join(each.tobytes() for each in (component.type, component.chosen, first, second, numbers))


def order_component(solve, component, mobile, eliminate):
    """Choose independent rows of a component.

    Args: solve: one of SOLVES; component: Rows; mobile: mask (particles,); eliminate: an Eliminations.

    Returns: the rows in the order of elimination, None if there are too many; those that depend on others at these
    positions, mask; why the component is better iterated, an empty string if it is not.
    """
    size = len(component)
    if size > LARGE[solve] and size > 1.5 * len(np.unique(component.particles)):
        return None, np.zeros(size, bool), "it is too large to try"
    most = MOST_MULTIPLY_ADDS * size if solve == "auto" else MOST_MEMORY / BYTES
    work = eliminate(component.pattern(mobile)).factor.multiply_adds
    if work > most:
        return None, np.zeros(size, bool), f"its factor takes {work} products and {1e-9 * BYTES * work:.2g} GB"
    kept, dependent = component.chosen.copy(), np.zeros(size, bool)
    rigid = np.flatnonzero(~component.chosen)
    if len(rigid):
        only = component.take(rigid)
        jacobians = [only.jacobian(gradients, mobile) for gradients in (only.gradients, only.elsewhere)]
        chosen, dependent[rigid] = independent_rows(*jacobians, eliminate)
        kept[rigid[chosen]] = True
    kept = np.flatnonzero(kept)
    return kept[eliminate(component.take(kept).pattern(mobile)).order], dependent, ""


def contradicted(definition, members, numbers, notes):
    """Which rigid sticks have another length than one between the same particles, mask (n,).

    No direct solve holds both, and with direction="start" it would gain energy.

    Args: definition: their type; members (n, arity); numbers (n, width, worlds); notes: to which this adds.
    """
    if definition.arity != 2 or definition.parameters != ("length",) or definition.compliance:
        return np.zeros(len(members), bool)
    pairs = np.sort(members, axis=1).astype(np.int64) @ (members.max() + 1, 1)
    _, first, group = np.unique(pairs, return_index=True, return_inverse=True)
    differs = (numbers != numbers[first[group]]).any(axis=(1, 2))
    mask = np.isin(group, group[differs])
    for number in first[np.unique(group[differs])]:
        ends = members[number].tolist()
        notes.append(f"{definition.name}s on particles {ends} iterate: they have different lengths, expected one")
    return mask


def collect_rows(types, constraints, positions, mobile, notes):
    """All constraints that may be solved directly, as Rows: those with a gradient, on particles that can move.

    Args: types, constraints, positions: see `make_plan`; mobile: mask (particles,); notes: to which this adds.
    """
    eligible = [k for k, each in enumerate(types) if each.function is not None and len(constraints[k][0])]
    if not eligible:
        return no_rows()
    extent = typical_extent(positions, [constraints[k][0] for k in eligible])
    range_of_moves = DISPLACEMENT * extent
    moved = positions + np.random.default_rng(0).uniform(-range_of_moves, range_of_moves, positions.shape)
    fields = []
    for index in eligible:
        definition, (members, numbers) = types[index], constraints[index]
        gradients, elsewhere = (gradients_at(definition, x, members, numbers[..., 0]) for x in (positions, moved))
        if definition.at_least:
            gradients = elsewhere  # a limit may have no direction here, like the swing of a straight joint
        # A stick of no length has no direction, and is iterated.
        use = mobile[members].any(axis=1) & (np.square(gradients).sum(axis=(1, 2)) > 0)
        use = np.flatnonzero(use & ~contradicted(definition, members, numbers, notes))
        arity = np.full(len(use), definition.arity)
        chosen = np.full(len(use), definition.compliance or definition.at_least)
        entries = members[use].ravel(), gradients[use].reshape(-1, 3), elsewhere[use].reshape(-1, 3)
        fields.append((np.full(len(use), index), use, arity, *entries, chosen))
    kind, number, arity, particles, gradients, elsewhere, chosen = (np.concatenate(each) for each in zip(*fields))
    first = np.concatenate([[0], np.cumsum(arity)])
    never = np.zeros(len(kind), bool)
    return Rows(kind, number, first, particles, gradients, elsewhere, extent + 0.0 * never, chosen, never)


def typical_extent(positions, constraints):
    """Median extent of constraints, from the first particle of each to its farthest, see `rounded`.

    Args: positions (particles, 3) [m]; constraints: for each type, members (n, arity).
    """
    offsets = [positions[members] - positions[members[:, :1]] for members in constraints]
    return rounded(np.median(np.concatenate([np.linalg.norm(each, axis=2).max(axis=1) for each in offsets])))


def rounded(sizes):
    """Sizes to the nearest 2^(k/4): they scale tolerances, and round-off of a rotation must not choose other parts."""
    return np.where(sizes > 0, 2.0 ** (np.round(4 * np.log2(np.maximum(sizes, 1e-300))) / 4), 0.0)


def no_rows():
    """Rows of no constraints."""
    nothing = np.zeros(0, int)
    empty = np.zeros((0, 3))
    no = nothing > 0
    return Rows(nothing, nothing, np.zeros(1, int), nothing, empty, empty, np.zeros(0), no, no)
