"""From descriptions to arrays: what a ParticleSystem does once, when it is made."""

import numpy as np

from pbd.constraints import KINDS, STICK, STICK_ROOT_FREE
from pbd.core.arrays import allocate
from pbd.core.shapes import INTEGERS, NUMBERS
from pbd.data import BOX, Counts, Data
from pbd.particles import inverse


def kinds_and_batches(descriptions, sticks):
    """Kinds of constraint in the order in which they first appear, and what each holds.

    Arguments: descriptions: a list of Particles of one structure; sticks: "exact" or "root_free".

    Returns: tuple of Kind; list of (members (n, arity), parameters (n, p, worlds)).
    """
    first = descriptions[0]
    kinds, batches = [], []
    for key, batch in first.batches.items():
        kind = KINDS[batch.kind] if isinstance(batch.kind, str) else batch.kind
        if batch.compliant:
            if kind.compliant is None:
                raise ValueError(f"{kind.name} has no compliance: expected compliance=0")
            kind = kind.compliant
        elif kind is STICK and sticks == "root_free":
            kind = STICK_ROOT_FREE
        members, _ = batch.arrays()
        parameters = [batch.arrays()[1]]
        for number, description in enumerate(descriptions[1:], 1):
            other = description.batches.get(key)
            if other is None or not np.array_equal(other.arrays()[0], members):
                raise ValueError(f"world {number} has other constraints ({kind.name}) than world 0: expected the same")
            parameters.append(other.arrays()[1])
        kinds.append(kind)
        several = np.stack(parameters, axis=-1) if len(parameters) > 1 else parameters[0][..., None]
        batches.append((members, several))
    for number, description in enumerate(descriptions):
        if len(description) != len(first) or set(description.batches) != set(first.batches):
            raise ValueError(f"world {number} has another structure than world 0: expected the same")
    return tuple(kinds), batches


def refuse_differences(descriptions):
    """Several worlds have the surroundings of the first: gravity, air, colliders, boxes, paths and contacts.

    Functions of time cannot be compared, and are the first one's.
    """
    first = descriptions[0]
    for number, other in enumerate(descriptions[1:], 1):
        same = {
            "gravity": np.array_equal(other.gravity, first.gravity),
            "wind": both_functions(other.wind, first.wind) or np.array_equal(other.wind, first.wind),
            "air density": other.air_density == first.air_density,
            "triangles": np.array_equal(other.triangles, first.triangles) and np.array_equal(other.drag, first.drag),
            "boxes": np.array_equal(other.boxes, first.boxes),
            "colliders": len(other.colliders) == len(first.colliders)
            and all(a.same(b) and both_functions(a.motion, b.motion) for a, b in zip(other.colliders, first.colliders)),
            "paths": len(other.drives) == len(first.drives)
            and all(np.array_equal(a, b) for (a, _), (b, _) in zip(other.drives, first.drives)),
            "particle contacts": other.particle_contacts == first.particle_contacts,
        }
        for name, is_same in same.items():
            if not is_same:
                raise ValueError(f"world {number} has other {name} than world 0: expected the same surroundings in all")


def both_functions(a, b):
    """Whether both are functions, or neither is there."""
    return (a is None and b is None) or (callable(a) and callable(b))


def upload(descriptions, worlds, batches, kinds, schedule, grabs=0):
    """All arrays of a system.

    Args:
        descriptions: a list of Particles, one for all worlds or one for each.
        worlds: how many.
        batches, kinds: as `kinds_and_batches` returns them.
        schedule: of these constraints.
        grabs: number of grab springs.

    Returns: a Data of arrays, a Counts.
    """
    first = descriptions[0]
    n = len(first)
    contacts = first.particle_contacts is not None
    for description in descriptions:
        refuse_narrow_boxes(description, first.boxes)

    def per_world(values):
        """(n, ...) of each description to (n, worlds, ...)."""
        stacked = np.stack([values(description) for description in descriptions], axis=1)
        return np.repeat(stacked, worlds // len(descriptions), axis=1)

    positions = per_world(lambda p: p.positions)
    inverse_masses = per_world(lambda p: inverse(p.masses))
    kinematic = np.concatenate([np.zeros(0, int), *(particles for particles, _ in first.drives)])
    constraints = constraint_tables(batches, kinds, schedule, worlds)
    multipliers = constraints.pop("multipliers") + 3 * grabs
    colliders = collider_tables(first.colliders)
    first_adjacent, adjacent_triangles = adjacency(first.triangles, n)
    values = {
        "particles": {
            "position": np.concatenate([positions, inverse_masses[..., None]], axis=2),
            "previous_position": positions,
            "predicted_position": positions,
            "radius": per_world(lambda p: p.radii),
            "kinematic": kinematic,
        },
        "constraints": constraints,
        "colliders": {**colliders, "boxes": np.reshape(first.boxes, (-1, BOX.total))},
        "wind": {
            "triangles": first.triangles,
            "drag_coefficient": 0.5 * first.air_density * first.drag,
            "first_adjacent": first_adjacent,
            "adjacent_triangles": adjacent_triangles,
        },
        "contacts": {"rest_position": positions} if contacts else {},
    }
    counts = Counts(n, worlds, multipliers, len(first.colliders), len(first.boxes), len(kinematic))
    arrays = allocate(
        Data,
        values,
        particles=n,
        worlds=worlds,
        kinematic=len(kinematic),
        members=len(constraints["members"]),
        parameters=len(constraints["parameters"]),
        multipliers=multipliers,
        types=len(kinds),
        clusters=len(constraints["runs"]),
        colours=len(constraints["first_cluster"]),
        colliders=len(first.colliders),
        samples=len(colliders["samples"]),
        boxes=len(first.boxes),
        triangles=len(first.triangles),
        particle_ends=n + 1,
        corners=first.triangles.size,
        contact_particles=n if contacts else 0,
        bucket_ends=(1 << int(np.ceil(np.log2(2 * n)))) + 1 if contacts else 0,
    )
    return arrays, counts


def refuse_narrow_boxes(description, boxes):
    """Raise ValueError for a box that is narrower than a particle."""
    widest = 2 * description.radii.max()
    for box in boxes:
        lower, upper = box[BOX["lower"]], box[BOX["upper"]]
        if (upper - lower).min() < widest:
            raise ValueError(
                f"box from {lower.tolist()} to {upper.tolist()} with a particle {widest:g} wide: expected one that it "
                "has room for"
            )


def constraint_tables(batches, kinds, schedule, worlds):
    """Values of ConstraintArrays, in the order of a schedule; but of the multipliers, only their number."""
    sizes = [(m.size, m.shape[0] * p.shape[1], m.shape[0] * kind.compliance) for (m, p), kind in zip(batches, kinds)]
    starts = np.concatenate([np.zeros((1, 3), int), np.cumsum(np.reshape(sizes, (-1, 3)).astype(int), axis=0)])
    if starts.max() > np.iinfo(np.int32).max:
        raise ValueError(f"{starts.max()} members of constraints: expected at most 2³¹ - 1, what 32 bits index")
    members = np.empty(starts[-1, 0], np.int32)
    parameters = np.empty((starts[-1, 1], worlds))
    for (members_of_kind, numbers), order, start, end in zip(batches, schedule.orders, starts, starts[1:]):
        members[start[0] : end[0]] = members_of_kind[order].ravel()
        parameters[start[1] : end[1]] = numbers[order].reshape(end[1] - start[1], -1)
    ranges = np.column_stack([starts[:-1], [len(order) for order in schedule.orders]])
    return {
        "members": members,
        "parameters": parameters,
        "multipliers": int(starts[-1, 2]),
        "ranges": ranges,
        "runs": schedule.runs if schedule.runs.ndim == 3 else np.zeros((0, len(kinds), 2), np.int32),
        "first_cluster": np.cumsum([0, *schedule.colours]),
    }


def collider_tables(colliders):
    """Values of ColliderArrays but for the boxes: see pbd/core/shapes."""
    integers = np.zeros((len(colliders), INTEGERS), np.int32)
    numbers = np.zeros((len(colliders), NUMBERS))
    tables, place = [np.zeros(0)], 0
    for k, collider in enumerate(colliders):
        shape = collider.shape
        integers[k, 0] = shape.kind
        given = shape.numbers()
        numbers[k, : len(given)] = given
        table = shape.samples()
        integers[k, 1 : 2 + table.ndim] = place, *table.shape
        tables.append(table.ravel())
        place += table.size
    return {
        "numbers": numbers,
        "integers": integers,
        "samples": np.concatenate(tables),
        "friction": np.array([collider.friction for collider in colliders]),
        "restitution": np.array([collider.restitution for collider in colliders]),
    }


def adjacency(triangles, count):
    """Adjacent triangles of each particle: where each particle begins (count + 1,), and the triangles, in a row."""
    corners = triangles.ravel()
    order = np.argsort(corners, kind="stable")
    return np.concatenate([[0], np.cumsum(np.bincount(corners, minlength=count))]), order // 3
