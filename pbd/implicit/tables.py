"""Which elements are solved together, and the tables of their matrix. Made once, on the host.

The matrix has a block of 3 x 3 numbers for each pair of particles that an element has. Its factor is that of
pbd/direct/factor.py, with blocks in place of numbers.
"""

from dataclasses import dataclass

import numpy as np
import scipy

from pbd.core.kernels import on_cpu
from pbd.direct.factor import Elimination, Pattern

ELEMENTS = ("auto", "together", "iterative")  # see pbd.options.ParticleOptions

# "auto" solves elements together if a factorisation takes at most so many products of blocks. A sheet of 100 x 20
# particles takes 0.9 million, one of 50 x 50 2.8 million, of 100 x 100 38 million.
MOST_PRODUCTS = 5_000_000

# Memory that the lists of the factor may take [bytes], and what each product takes.
MOST_MEMORY, BYTES = 2_000_000_000, 16


@dataclass
class ImplicitPlan:
    """What is solved together.

    Attributes: types: indices of the types of elements, all constraints of which are solved; nodes: particles in the
    order of elimination (n,); pattern: of the factor's blocks, a Pattern; note: why "auto" solves none, in words.
    """

    types: tuple
    nodes: np.ndarray
    pattern: Pattern
    note: str = ""

    def __len__(self):
        return len(self.nodes)


def nothing(note=""):
    """An ImplicitPlan of no elements."""
    return ImplicitPlan((), np.zeros(0, int), Pattern(np.zeros(1, np.int64), np.zeros(0, np.int64)), note)


def plan_elements(elements, types, constraints):
    """Choose whether elements are solved together.

    Args: elements: one of ELEMENTS; types: tuple of ConstraintType; constraints: for each, members (n, arity) and
    parameters.

    Returns: an ImplicitPlan.

    Raises: ValueError for "together" with more than fit into memory.
    """
    chosen = tuple(k for k, each in enumerate(types) if each.derivatives and each.compliance)
    if elements == "iterative" or not chosen:
        return nothing()
    if not on_cpu():
        return nothing("a graphics card projects elements one after another")
    pairs = [np.zeros((0, 2), int)]
    for k in chosen:
        members = constraints[k][0]
        pairs += [members[:, [a, b]] for a in range(types[k].arity) for b in range(types[k].arity)]
    pairs = np.concatenate(pairs)
    nodes = np.unique(pairs)
    local = np.searchsorted(nodes, pairs)
    shape = len(nodes), len(nodes)
    adjacent = scipy.sparse.csc_matrix((np.ones(len(local), np.int32), local.T), shape)
    elimination = Elimination(adjacent)
    products = elimination.factor.multiply_adds
    if products > MOST_PRODUCTS and elements == "auto":
        return nothing(f"{len(nodes)} particles of elements are projected one after another")
    if BYTES * products > MOST_MEMORY:
        size = f"{len(nodes)} particles, whose factor takes {1e-9 * BYTES * products:.2g} GB"
        raise ValueError(f'elements is "together" with {size}: expected at most {1e-9 * MOST_MEMORY:g} GB')
    return ImplicitPlan(chosen, nodes[elimination.order], elimination.factor)


def implicit_arrays(plan, types, members, positions):
    """Tables of the matrix and its factor, by name.

    Args: plan; types; members: of each type in the order of the schedule (n, arity); positions: of all particles [m].

    Returns: {name: array}, for pbd.data.ImplicitArrays.
    """
    particles = len(positions)
    place = np.full(particles, -1)
    place[plan.nodes] = np.arange(len(plan))
    pattern = plan.pattern
    targets, begins = [np.zeros(0, np.int64)], np.zeros(len(types), int)
    total = 0
    for k in plan.types:
        arity, of_type = types[k].arity, members[k]
        rows = place[of_type]
        first, second = np.array([(a, b) for a in range(arity) for b in range(a + 1)]).T
        i, j = rows[:, first], rows[:, second]
        entries = pattern.entry(np.maximum(i, j), np.minimum(i, j))
        # An odd number: the block of the first and the second member is stored transposed.
        targets.append((2 * entries + (i < j)).ravel())
        begins[k], total = total, total + len(targets[-1])
    changed, a, b = pattern.updates() if len(plan) else np.zeros((3, 0), np.int64)
    order = np.argsort(changed, kind="stable")
    count = len(pattern.rows)
    sides = [np.linalg.norm(positions[members[k][:, 1]] - positions[members[k][:, 0]], axis=1) for k in plan.types]
    return {
        "extent": [np.median(np.concatenate(sides))] if sides else [],
        "node": plan.nodes,
        "place": place if len(plan) else place[:0],
        "first": pattern.first if len(plan) else pattern.first[:0],
        "row": pattern.rows,
        "begins": begins,
        "targets": np.concatenate(targets),
        "updates": np.stack([a[order], b[order]], axis=1),
        "ends": np.searchsorted(changed[order], np.arange(count + 1)) if count else np.zeros(0, int),
    }
