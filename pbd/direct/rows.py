"""Which constraints are solved directly, and in which order they are eliminated. Chosen once, on the host."""

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
import scipy.sparse as sparse
import taichi as ti
from scipy.sparse.csgraph import connected_components

from pbd.core.kernels import compiling
from pbd.direct.factor import factor_pattern, least_degree_order
from pbd.direct.independent import DISPLACEMENT, independent_rows

SOLVES = ("auto", "iterative", "direct")

# "auto" solves a component directly if its factorisation takes at most so many multiplications for each row. A chain of
# rods takes 27, a ragdoll 30, a linkage 57, a bridge of planks 160, a cloth of 20 x 20 some 1,500.
MOST_MULTIPLY_ADDS = 250

# Larger components are not tried if they have more rows than particles, as cloths do: ordering them takes long.
LARGE = {"auto": 5_000, "direct": 100_000}

# Memory that the factor of a component may take, and what each product takes while its tables are made [bytes].
MOST_MEMORY = 2_000_000_000
BYTES = 40


# The diagonal of A is larger by these parts of it: in components with rows that depend on others at the positions of
# the description, as in plane linkages, and in all others, whose rows may come to depend on one another. Much more
# would slow convergence: a rope of n segments has eigenvalues of A down to 2/n² of its diagonal.
SOFTNESS = {64: (1e-7, 1e-10), 32: (1e-4, 1e-6)}


@dataclass
class Rows:
    """All constraints that may be solved directly, as rows.

    Attributes: type, number: of each row's constraint, counted as constraints of the type were added (rows,);
    first: where each row's entries begin (rows + 1,); particles: of the entries; gradients, elsewhere: at the positions
    of the description, and at others (entries, 3); size: of each row, a length times its gradient (rows,); compliant:
    rows with compliance (rows,); dependent: rows of
    components in which rows depend on others at the positions of the description (rows,).
    """

    type: np.ndarray
    number: np.ndarray
    first: np.ndarray
    particles: np.ndarray
    gradients: np.ndarray
    elsewhere: np.ndarray
    size: np.ndarray
    compliant: np.ndarray
    dependent: np.ndarray

    def __len__(self):
        return len(self.type)

    def take(self, rows):
        """Some of the rows. Args: indices."""
        entries = np.concatenate([np.arange(self.first[row], self.first[row + 1]) for row in rows] or [[]]).astype(int)
        first = np.concatenate([[0], np.cumsum(np.diff(self.first)[rows])])
        of_entries = self.particles[entries], self.gradients[entries], self.elsewhere[entries]
        of_rows = self.size[rows], self.compliant[rows], self.dependent[rows]
        return Rows(self.type[rows], self.number[rows], first, *of_entries, *of_rows)

    @property
    def row_of_entry(self):
        """Row of each entry (entries,)."""
        return np.repeat(np.arange(len(self.type)), np.diff(self.first))

    def jacobian(self, gradients, inverse_masses):
        """J √W, sparse (rows, 3 particles). Args: gradients (entries, 3); inverse_masses (particles,)."""
        data = gradients * np.sqrt(inverse_masses[self.particles])[:, None]
        rows = np.repeat(self.row_of_entry, 3)
        columns = (3 * self.particles[:, None] + np.arange(3)).ravel()
        return sparse.csr_matrix((data.ravel(), (rows, columns)), (len(self.type), 3 * len(inverse_masses)))

    def pattern(self, mobile):
        """Which rows share a particle that can move, sparse (rows, rows). Args: mobile: mask (particles,)."""
        free = mobile[self.particles]
        ones = np.ones(free.sum(), np.int8)
        shape = len(self.type), len(mobile)
        incidence = sparse.csr_matrix((ones, (self.row_of_entry[free], self.particles[free])), shape)
        return sparse.csc_matrix(incidence.astype(np.int32) @ incidence.T.astype(np.int32))


@dataclass
class Plan:
    """What is solved directly.

    Attributes: rows: those of the solve, in the order of elimination; solved: for each type, a mask (n,) of the
    constraints that are rows; components: how many; notes: reasons why others iterate.
    """

    rows: Rows
    solved: list
    components: int
    notes: list

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
        return tuple(np.unique(self.rows.type).tolist())


def make_plan(solve, types, constraints, positions, inverse_masses):
    """Choose the constraints to solve directly.

    Args:
        solve: one of SOLVES.
        types: tuple of ConstraintType.
        constraints: for each type, members (n, arity) and parameters (n, numbers, worlds).
        positions: (particles, 3) [m].
        inverse_masses: (particles, worlds) [1/kg].

    Returns: a Plan.
    """
    solved = [np.zeros(len(members), bool) for members, _ in constraints]
    if solve == "iterative":
        return Plan(no_rows(), solved, 0, [])
    mobile = (inverse_masses > 0).any(axis=1)
    rows = collect_rows(types, constraints, positions, mobile)
    weights = np.where(mobile, inverse_masses.max(axis=1, initial=0.0), 0.0)
    chosen, components, notes = [], 0, []
    pattern = rows.pattern(mobile)
    _, label = connected_components(pattern, directed=False)
    by_label = np.argsort(label, kind="stable")
    for members in np.split(by_label, np.cumsum(np.bincount(label))[:-1]) if len(label) else []:
        component = rows.take(members)
        if not mobile[component.particles].any():
            continue
        order = order_component(solve, component, mobile, weights, notes)
        if order is not None:
            chosen.append(members[order])
            components += 1
            rows.dependent[members] = component.dependent
            used = component.take(order)
            for index in np.unique(used.type):
                solved[index][used.number[used.type == index]] = True
    return Plan(rows.take(np.concatenate(chosen)) if chosen else no_rows(), solved, components, notes)


def order_component(solve, component, mobile, weights, notes):
    """Independent rows of a component in the order of elimination; None if it is better iterated.

    Args: notes: list of reasons, to which this adds.
    """
    size = len(component)
    most = MOST_MULTIPLY_ADDS * size if solve == "auto" else MOST_MEMORY / BYTES
    if size > LARGE[solve] and size > 1.5 * len(np.unique(component.particles)):
        notes.append(f"a component of {size} constraints iterates: it is too large to try")
        return None
    pattern = component.pattern(mobile)
    order = least_degree_order(pattern)
    work = factor_pattern(pattern[order][:, order]).multiply_adds
    if work > most:
        memory = f"{1e-9 * BYTES * work:.2g} GB"
        notes.append(f"a component of {size} constraints iterates: its factor takes {work} products and {memory}")
        return None
    kept = component.compliant.copy()
    rigid = np.flatnonzero(~component.compliant)
    if len(rigid):
        only = component.take(rigid)
        jacobians = [only.jacobian(gradients, weights) for gradients in (only.gradients, only.elsewhere)]
        chosen, dependent = independent_rows(*jacobians)
        kept[rigid[chosen]] = True
        component.dependent[:] = dependent.any()
    kept = np.flatnonzero(kept)
    return kept[least_degree_order(component.take(kept).pattern(mobile))]


def collect_rows(types, constraints, positions, mobile):
    """All constraints that may be solved directly, as Rows: equalities with a gradient, on particles that can move."""
    eligible = [k for k, each in enumerate(types) if each.function is not None and len(constraints[k][0])]
    if not eligible:
        return no_rows()
    extents = np.concatenate([np.ptp(positions[constraints[k][0]], axis=1).max(axis=1) for k in eligible])
    extent = np.median(extents)
    range_of_moves = DISPLACEMENT * extent
    moved = positions + np.random.default_rng(0).uniform(-range_of_moves, range_of_moves, positions.shape)
    fields = []
    for index in eligible:
        definition, (members, numbers) = types[index], constraints[index]
        gradients, elsewhere = (gradients_at(definition, x, members, numbers[..., 0]) for x in (positions, moved))
        # A stick of no length has no direction, and is iterated.
        use = np.flatnonzero(mobile[members].any(axis=1) & (np.square(gradients).sum(axis=(1, 2)) > 0))
        arity = np.full(len(use), definition.arity)
        compliant = np.full(len(use), definition.compliance)
        entries = members[use].ravel(), gradients[use].reshape(-1, 3), elsewhere[use].reshape(-1, 3)
        fields.append((np.full(len(use), index), use, arity, *entries, compliant))
    kind, number, arity, particles, gradients, elsewhere, compliant = (np.concatenate(each) for each in zip(*fields))
    first = np.concatenate([[0], np.cumsum(arity)])
    size = extent * np.sqrt(np.add.reduceat(np.square(gradients).sum(axis=1), first[:-1])) if len(kind) else np.zeros(0)
    never = np.zeros(len(kind), bool)
    return Rows(kind, number, first, particles, gradients, elsewhere, size, compliant, never)


def no_rows():
    """Rows of no constraints."""
    nothing = np.zeros(0, int)
    empty = np.zeros((0, 3))
    no = nothing > 0
    return Rows(nothing, nothing, np.zeros(1, int), nothing, empty, empty, np.zeros(0), no, no)


def gradients_at(definition, positions, members, numbers):
    """Gradients of constraints of a type (n, arity, 3). Args: positions [m]; members (n, arity); numbers (n, width)."""
    result = np.zeros((*members.shape, 3))
    with compiling():
        gradient_kernel(definition)(
            np.ascontiguousarray(positions, float),
            np.ascontiguousarray(members, np.int32),
            np.ascontiguousarray(numbers, float),
            result,
        )
    return result


@lru_cache
def gradient_kernel(definition):
    """Make the kernel that evaluates gradients of a constraint type."""
    arity, width = definition.arity, len(definition.parameters)

    @ti.kernel
    def evaluate(
        positions: ti.types.ndarray(ti.f64, ndim=2),
        members: ti.types.ndarray(ti.i32, ndim=2),
        numbers: ti.types.ndarray(ti.f64, ndim=2),
        result: ti.types.ndarray(ti.f64, ndim=3),
    ):
        for c in range(members.shape[0]):
            x = [
                ti.Vector([ti.cast(positions[members[c, k], axis], float) for axis in ti.static(range(3))])
                for k in ti.static(range(arity))
            ]
            _, gradient = definition.function(x, [ti.cast(numbers[c, k], float) for k in ti.static(range(width))])
            for k in ti.static(range(arity)):
                for axis in ti.static(range(3)):
                    result[c, k, axis] = gradient[k][axis]

    return evaluate
