"""Which elements are solved together, and the tables of their matrix. Made once, on the host.

The matrix has a block of 3 x 3 numbers for each pair of particles that an element has. Its factor is that of
pbd/direct/factor.py, with blocks in place of numbers. Where it would take too long, conjugate gradients need no more
than the matrix itself.
"""

from dataclasses import dataclass

import numpy as np
import scipy

from pbd.core.kernels import on_cpu
from pbd.direct.factor import Elimination, Pattern

ELEMENTS = ("auto", "together", "iterative")  # see pbd.options.ParticleOptions

# The matrix is factored if that takes at most so many products of blocks for each part that is connected: a sheet of
# 100 x 20 particles takes 0.9 million, one of 50 x 50 2.8 million. There conjugate gradients take 0.6 of its time, with
# 100 x 100 0.2.
MOST_PRODUCTS = 1_000_000

# Of more particles the products are not counted, which takes seconds: they are too many, unless the matrix is thin.
MOST_FACTORED = 20_000

# A matrix of rods whose band has so few rows is thin: its factor takes time linear in the particles, and
# conjugate gradients take as many iterations as a rod has segments.
THIN = 25


@dataclass
class ImplicitPlan:
    """What is solved together.

    Attributes: types: indices of the types of elements, all constraints of which are solved; nodes: particles in the
    order of elimination (n,); pattern: of the factor's blocks, or with `conjugate` of the matrix's, a Pattern;
    conjugate: whether conjugate gradients solve with the matrix; note: why "auto" solves none, in words.
    """

    types: tuple
    nodes: np.ndarray
    pattern: Pattern
    conjugate: bool = False
    note: str = ""

    def __len__(self):
        return len(self.nodes)


def nothing(note=""):
    """An ImplicitPlan of no elements."""
    return ImplicitPlan((), np.zeros(0, int), Pattern(np.zeros(1, np.int64), np.zeros(0, np.int64)), note=note)


def plan_elements(elements, types, constraints, gases):
    """Choose whether elements are solved together.

    Args: elements: one of ELEMENTS; types: tuple of ConstraintType; constraints: for each, members (n, arity) and
    parameters; gases: list of pbd.description.gases.Gas, whose particles join the elements'.

    Returns: an ImplicitPlan.

    Raises: ValueError where solids are not solved together.
    """
    chosen = tuple(k for k, each in enumerate(types) if each.derivatives and each.compliance)
    unprojected = [types[k] for k in chosen if types[k].project is None]
    solids = "solids" if any(each.is_solid for each in unprojected) else "rods that bodies hold" if unprojected else ""
    if not on_cpu():
        is_soft = chosen and elements == "auto"
        needed = solids if solids else "gases" if gases else 'elements="together"' if elements == "together" else ""
        if needed and (chosen or gases):
            raise ValueError(f"a graphics card with {needed}: expected a processor, which solves them together")
        if is_soft and any(types[k].has_swing for k in chosen):
            raise ValueError(
                "a graphics card with rods: expected a processor, which solves them together, or "
                'elements="iterative", which bends them far too much'
            )
        return nothing("a graphics card projects elements one after another" if is_soft else "")
    if elements == "iterative":
        if solids:
            raise ValueError(f'elements="iterative" with {solids}: expected "auto", they are solved together only')
        chosen = ()
    if not chosen and not gases:
        return nothing()
    pairs = [np.zeros((0, 2), int)]
    for k in chosen:
        members = constraints[k][0]
        pairs += [members[:, [a, b]] for a in range(types[k].arity) for b in range(types[k].arity)]
    pairs += [each.triangles.reshape(-1, 1)[:, [0, 0]] for each in gases]
    pairs = np.concatenate(pairs)
    nodes = np.unique(pairs)
    local = np.searchsorted(nodes, pairs)
    shape = len(nodes), len(nodes)
    adjacent = scipy.sparse.csc_matrix((np.ones(len(local), np.int32), local.T), shape)
    thin = all(types[k].has_swing for k in chosen) and bandwidth(adjacent) <= THIN
    if thin or len(nodes) <= MOST_FACTORED:
        elimination = Elimination(adjacent)
        _, part = scipy.sparse.csgraph.connected_components(adjacent, directed=False)
        products = np.bincount(part[elimination.order], weights=elimination.factor.products)
        if thin or products.max() <= MOST_PRODUCTS:
            return ImplicitPlan(chosen, nodes[elimination.order], elimination.factor)
    lower = scipy.sparse.csc_matrix(scipy.sparse.tril(adjacent))
    lower.sort_indices()
    return ImplicitPlan(chosen, nodes, Pattern(lower.indptr.astype(np.int64), lower.indices), conjugate=True)


def bandwidth(adjacent):
    """How far apart rows with a common entry are at most, in an order that brings them close. Args: sparse matrix."""
    place = np.argsort(scipy.sparse.csgraph.reverse_cuthill_mckee(adjacent, symmetric_mode=True))
    rows, columns = adjacent.nonzero()
    return int(np.abs(place[rows] - place[columns]).max(initial=0))


def implicit_arrays(plan, types, members, positions, gases):
    """Tables of the matrix and its factor, and of gases, by name.

    Args: plan; types; members: of each type in the order of the schedule (n, arity); positions: of all particles
    (particles, worlds, 3) [m]; gases: list of pbd.description.gases.Gas.

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
    factored = len(plan) and not plan.conjugate
    changed, a, b = pattern.updates() if factored else np.zeros((3, 0), np.int64)
    order = np.argsort(changed, kind="stable")
    count = len(pattern.rows)
    edges = [members[k][:, :2] for k in plan.types] + [each.triangles[:, :2] for each in gases]
    return {
        "extent": median_length(np.concatenate(edges), positions) if edges else np.zeros((0, positions.shape[1])),
        "node": plan.nodes,
        "place": place if len(plan) else place[:0],
        "first": pattern.first if len(plan) else pattern.first[:0],
        "row": pattern.rows,
        "begins": begins,
        "targets": np.concatenate(targets),
        "updates": np.stack([a[order], b[order]], axis=1),
        "ends": np.searchsorted(changed[order], np.arange(count + 1)) if count else np.zeros(0, int),
        "gas_first": np.cumsum([0, *(len(each.triangles) for each in gases)]) if gases else np.zeros(0, int),
        "gas_corners": np.concatenate([np.zeros((0, 3), int), *(each.triangles for each in gases)]),
    }


def median_length(edges, positions):
    """Median length of edges (1, worlds) [m]. Args: edges: (n, 2) particles; positions: (particles, worlds, 3) [m]."""
    return np.median(np.linalg.norm(positions[edges[:, 1]] - positions[edges[:, 0]], axis=2), axis=0, keepdims=True)


def solid_arrays(plan, solids, masses):
    """Tables of the bodies that solids make up, by name, for pbd.data.ImplicitArrays; empty without solids.

    Args: plan: an ImplicitPlan; solids: list of pbd.description.solids.Tetrahedra; masses: of all particles [kg].
    """
    if not solids:
        return {"body": np.zeros(0, int), "shape": np.zeros((0, 3)), "weight": np.zeros(0)}
    place = np.full(len(masses), -1)
    place[plan.nodes] = np.arange(len(plan))
    members = place[np.concatenate([each.tetrahedra for each in solids])]
    # Edges from the first corner at rest are the columns of the inverse of a_1, a_2, a_3.
    edges = np.linalg.inv(np.concatenate([each.gradients for each in solids])[:, 1:]).swapaxes(1, 2)
    start, end, way = np.repeat(members[:, 0], 3), members[:, 1:].ravel(), edges.reshape(-1, 3)
    size = len(plan)
    graph = scipy.sparse.coo_array((np.ones(len(start)), (start, end)), (size, size))
    _, body = scipy.sparse.csgraph.connected_components(graph, directed=False)
    kept = np.unique(body[members[:, 0]])  # nodes of membranes are of no body
    body = np.where(np.isin(body, kept), np.searchsorted(kept, body), -1)
    # The rest shape from edges, by least squares, which leaves nothing where tetrahedra at rest fit together.
    signs, rows = np.repeat([1.0, -1.0], len(start)), np.tile(np.arange(len(start)), 2)
    difference = scipy.sparse.csr_array((signs, (rows, np.concatenate([end, start]))), (len(start), size))
    shape = np.stack([scipy.sparse.linalg.lsqr(difference, x, atol=1e-14, btol=1e-14)[0] for x in way.T], axis=1)
    finite = np.where(np.isinf(masses), 0.0, masses)[plan.nodes]
    weight = np.where(finite > 0, finite, 100 * max(finite.max(), 1e-300))
    return {"body": body, "shape": shape, "weight": weight}
