"""From descriptions to the arrays of a particle system (pbd/data.py), in numpy."""

import numpy as np

from pbd.collision.surfaces.tables import surface_lengths, surface_tables
from pbd.constraints import CONSTRAINT_TYPES, ROOT_FREE_STICK, STICK, STICK_THAT_TEARS
from pbd.core.kernels import allocate, on_cpu
from pbd.core.messages import shown
from pbd.core.shapes import INTEGERS, NUMBERS
from pbd.core.topology import edges_of
from pbd.core.validate import refuse_gigabytes, whole
from pbd.data import BOX, CONTACT_GROUP, RANGE, Counts, Data
from pbd.description.contact_elements import all_elements
from pbd.description.gases import numbers_of_gases
from pbd.direct.rows import make_plan
from pbd.direct.tables import direct_arrays
from pbd.direct.touch_tables import touch_arrays, touching_particles
from pbd.execution.band_tables import count_partial, placements_of, tables_of
from pbd.execution.lanes import numbers_of_bands
from pbd.execution.strands import extents_of, layouts_of
from pbd.implicit.tables import implicit_arrays, plan_elements, solid_arrays
from pbd.particles import Particles, inverse
from pbd.schedule import make_schedule


def checked_descriptions(particles, worlds):
    """Check the descriptions of a system. Args: particles, worlds: see pbd.ParticleSystem.

    Returns: list of Particles, one for all worlds or one for each; and how many worlds.
    """
    descriptions = list(particles) if isinstance(particles, (list, tuple)) else [particles]
    if not descriptions or not all(isinstance(each, Particles) for each in descriptions):
        raise TypeError(f"particles is {shown(particles)}: expected a pbd.Particles, or a list of them")
    if not len(descriptions[0]):
        raise ValueError("a system of no particles: expected some in the description")
    count = whole("worlds", worlds) if len(descriptions) == 1 else len(descriptions)
    if worlds not in (1, count):
        raise ValueError(f"worlds is {worlds}, with a list of {len(descriptions)}: expected as many, or none given")
    refuse_gigabytes("worlds", count, count * description_bytes(descriptions[0]))
    check_same_environment(descriptions)
    return descriptions, count


def collect_constraints(descriptions, as_rows=False):
    """Collect the constraints of all worlds, type after type, in the order in which types first appear.

    Args: descriptions: list of Particles with the same constraints; as_rows: whether types have their `rows` instead.

    Returns: tuple of ConstraintType; for each type, members (n, arity) and parameters (n, numbers, worlds).

    Raises: ValueError for worlds with different constraints.
    """
    first = descriptions[0]
    types, constraints = [], []
    for key, described in first.constraint_sets.items():
        found = CONSTRAINT_TYPES[described.type] if isinstance(described.type, str) else described.type
        if described.compliant:
            if found.compliant is None:
                raise ValueError(f"{found.name} has no compliance: expected compliance=0")
            found = found.compliant
        members, numbers = described.arrays()
        parameters = [numbers]
        for world, description in enumerate(descriptions[1:], 1):
            other = description.constraint_sets.get(key)
            if other is None or not np.array_equal(other.arrays()[0], members):
                raise ValueError(f"world {world} has other constraints ({found.name}) than world 0: expected the same")
            parameters.append(other.arrays()[1])
        several = np.stack(parameters, axis=-1) if len(parameters) > 1 else numbers[..., None]
        if as_rows and found.rows:
            found, more = found.rows
            members, several = np.repeat(members, len(more), axis=0), with_numbers(several, more)
        types.append(found)
        constraints.append((members, several))
    for world, description in enumerate(descriptions):
        if len(description) != len(first) or set(description.constraint_sets) != set(first.constraint_sets):
            raise ValueError(f"world {world} has another structure than world 0: expected the same")
    return tuple(types), constraints


def order_constraints(options, descriptions, worlds, types, constraints):
    """Choose which constraints are solved directly, and the order in which the others are projected.

    Args: options: a ParticleOptions; worlds: how many; types, constraints: see `collect_constraints`.

    Returns: a pbd.direct.rows.Plan, a pbd.implicit.tables.ImplicitPlan and a pbd.schedule.Schedule.
    """
    first = descriptions[0]
    implicit = plan_elements(options.elements, types, constraints, first.gases)
    inverse_masses = np.stack([inverse(each.masses()) for each in descriptions], axis=1)
    gravity = first.gravity_scales()[:, None] * first.gravity
    colliding = np.zeros(len(first), bool)
    if first.particle_contacts is not None:
        colliding = (np.stack([each.radii() for each in descriptions]) > 0).any(axis=0)
    for surface in first.surfaces:
        colliding[surface.triangles()] = True
    plan = make_plan(options.solve, types, constraints, first.positions(), inverse_masses, gravity, colliding)
    left_out = [
        solved | each.sensor | (index in implicit.types) for index, (solved, each) in enumerate(zip(plan.solved, types))
    ]
    numbers = [np.flatnonzero(~mask) for mask in left_out]
    schedule = make_schedule(
        options.schedule,
        [members[number] for (members, _), number in zip(constraints, numbers)],
        first.positions(),
        on_cpu=on_cpu(),
        worlds=worlds,
        clusters=options.clusters,
        bands=numbers_of_bands(first, len(plan.rows) + len(implicit)),
        coupled=[each.coupled() for each in first.constraint_sets.values()],
    )
    return plan, implicit, schedule.with_others(numbers, [np.flatnonzero(mask) for mask in left_out])


def with_numbers(parameters, more):
    """Each constraint once for each row of further numbers. Args: parameters (n, k, worlds); more (rows, numbers)."""
    n, _, worlds = parameters.shape
    more = np.broadcast_to(np.tile(more, (n, 1))[..., None], (n * len(more), more.shape[1], worlds))
    return np.concatenate([np.repeat(parameters, len(more) // n, axis=0), more], axis=1)


def description_bytes(description):
    """About how many bytes the arrays of one world of a description take, while they are made."""
    numbers = sum(piece.size for each in description.constraint_sets.values() for piece in each.parameters)
    return 300 * len(description) + 16 * numbers


def check_same_environment(descriptions):
    """Raise ValueError if worlds have different environments. All have that of the first.

    Functions of time cannot be compared, so those of the first are used.
    """
    first = descriptions[0]
    for world, other in enumerate(descriptions[1:], 1):
        same = {
            "gravity": np.array_equal(other.gravity, first.gravity),
            "wind": both_functions(other.wind, first.wind) or np.array_equal(other.wind, first.wind),
            "air density": other.air_density == first.air_density,
            "triangles": np.array_equal(other.triangles(), first.triangles())
            and np.array_equal(other.drag_coefficients(), first.drag_coefficients()),
            "boxes": np.array_equal(other.boxes, first.boxes),
            "colliders": len(other.colliders) == len(first.colliders)
            and all(a.same(b) and both_functions(a.motion, b.motion) for a, b in zip(other.colliders, first.colliders)),
            "paths": len(other.paths) == len(first.paths)
            and all(np.array_equal(a, b) for (a, _), (b, _) in zip(other.paths, first.paths)),
            "contact elements": all(map(np.array_equal, other.contact_elements(), first.contact_elements())),
            "particle contacts": other.particle_contacts == first.particle_contacts,
            "gases": len(other.gases) == len(first.gases)
            and all(np.array_equal(a.triangles, b.triangles) for a, b in zip(other.gases, first.gases)),
            "surfaces": len(other.surfaces) == len(first.surfaces)
            and all(a.same(b) for a, b in zip(other.surfaces, first.surfaces)),
        }
        for name, is_same in same.items():
            if not is_same:
                raise ValueError(f"world {world} has other {name} than world 0: expected the same environment in all")


def both_functions(a, b):
    """Whether both are functions, or both are None."""
    return (a is None and b is None) or (callable(a) and callable(b))


def upload(
    descriptions, worlds, constraints, types, schedule, plan, implicit, environment, lanes=1, bands=None, strands=None
):  # fmt: skip
    """All arrays of a system.

    Args:
        descriptions: a list of Particles, one for all worlds or one for each.
        worlds: how many.
        constraints, types: as `collect_constraints` returns them.
        schedule: a Schedule of these constraints.
        plan: a pbd.direct.rows.Plan of these constraints.
        implicit: a pbd.implicit.tables.ImplicitPlan of them.
        environment: a pbd.host.environment.Environment.
        lanes: how many worlds, or bands or strands of a world, are in the lanes of a vector.
        bands: a pbd.execution.bands.Bands; None for worlds.
        strands: a pbd.execution.strands.Strands; None for worlds.

    Returns: a Data of arrays; a Counts, as it is without lanes; scales of gravity (particles, worlds).
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

    positions = per_world(lambda p: p.positions())
    inverse_masses = per_world(lambda p: inverse(p.masses()))
    gravity_scales = per_world(lambda p: p.gravity_scales())
    kinematic = np.concatenate([np.zeros(0, int), *(particles for particles, _ in first.paths)])
    coupled = [each.coupled() for each in first.constraint_sets.values()]
    tables, multipliers = constraint_tables(constraints, types, coupled, schedule, worlds)
    multipliers += 3 * len(environment.grabs)
    placements = placements_of(bands, types, multipliers) if bands else None
    if strands:
        placements = layouts_of(strands, types, implicit, positions, lanes)
    mobile = (inverse_masses > 0).any(axis=1)
    direct = direct_arrays(plan, types, schedule, mobile, worlds, lanes, environment.moving_columns)
    touching = touching_particles(plan, first, np.stack([p.radii() for p in descriptions]))
    touch = touch_arrays(touching, n, worlds, lanes)
    elements = all_elements(first, touching)
    colliders = collider_tables(first.colliders)
    in_order = [members[order] for (members, _), order in zip(constraints, schedule.orders)]
    solved_together = implicit_arrays(implicit, types, in_order, positions, first.gases)
    if strands:
        solved_together["extent"] = extents_of(strands, positions)
    solved_together |= solid_arrays(implicit, first.solids, first.masses())
    solved_together["gas_numbers"] = per_world(numbers_of_gases).swapaxes(1, 2)
    first_adjacent, adjacent_triangles = adjacency(first.triangles(), n)
    surfaces = surface_tables(first.surfaces, first.positions()) if first.surfaces else {}
    first_stick, sticks = joined_pairs(tables, types, first.membranes, n) if contacts else (np.zeros(0), np.zeros(0))
    values = {
        "particles": {
            "position": np.concatenate([positions, inverse_masses[..., None]], axis=2),
            "previous_position": positions,
            "predicted_position": positions,
            "radius": per_world(lambda p: p.radii()),
            "kinematic": kinematic,
        },
        "constraints": tables,
        "bands": tables_of(bands, tables["members"], worlds) if bands else {},
        "strands": {"path": strands.order[:, None]} if strands and len(kinematic) else {},
        "direct": direct,
        "touch": touch,
        "implicit": solved_together,
        "colliders": {**colliders, "boxes": np.reshape(first.boxes, (-1, BOX.total))},
        "elements": dict(zip(("integers", "numbers"), elements)),
        "gravity": {"scale": gravity_scales},
        "wind": {
            "triangles": first.triangles(),
            "drag_coefficient": 0.5 * first.air_density * per_world(lambda p: p.drag_coefficients()),
            "first_adjacent": first_adjacent,
            "adjacent_triangles": adjacent_triangles,
        },
        "surface": {**surfaces, "rest_position": positions} if surfaces else {},
        "contacts": {"rest_position": positions, "first_stick": first_stick, "sticks": sticks} if contacts else {},
    }
    lengths = len(first.colliders), len(first.boxes), len(kinematic), len(first.triangles()), len(elements[0])
    counts = Counts(n, worlds, multipliers, *lengths, len(plan.rows), len(touching), 0, len(implicit), len(first.gases))
    arrays = allocate(
        Data,
        values,
        particles=n,
        worlds=worlds,
        lanes=lanes,
        placements=placements,
        all_particles=n if bands else 0,
        all_members=len(tables["members"]) if bands else 0,
        halo=len(bands.halo) if bands else 0,
        partial=count_partial(bands),
        moving=len(kinematic) if strands else 0,
        kinematic=len(kinematic),
        members=len(tables["members"]),
        parameters=len(tables["parameters"]),
        states=len(tables["state"]),
        multipliers=multipliers,
        coupled=len(tables["coupled"]),
        moments=multipliers if len(tables["coupled"]) else 0,
        types=len(types),
        implicit=len(implicit),
        implicit_conjugate=len(implicit) * implicit.conjugate,
        symmetric=n * any(types[k].has_swing for k in implicit.types),
        held=len(implicit) * bool(first.colliders or first.boxes),
        gases=len(first.gases),
        gas_ends=len(solved_together["gas_first"]),
        gas_triangles=len(solved_together["gas_corners"]),
        gas_nodes=len(implicit) * bool(first.gases),
        solid=len(solved_together["body"]),
        solid_bodies=int(solved_together["body"].max(initial=-1)) + 1,
        implicit_extents=len(solved_together["extent"]),
        implicit_types=len(types),
        implicit_particles=len(solved_together["place"]),
        implicit_ends=len(solved_together["first"]),
        implicit_entries=len(solved_together["row"]),
        implicit_pairs=len(solved_together["targets"]),
        implicit_updates=len(solved_together["updates"]),
        implicit_entry_ends=len(solved_together["ends"]),
        clusters=len(tables["runs"]),
        colours=len(tables["first_cluster"]),
        colliders=len(first.colliders),
        samples=len(colliders["samples"]),
        boxes=len(first.boxes),
        elements=len(elements[0]),
        triangles=len(first.triangles()),
        particle_ends=n + 1,
        corners=first.triangles().size,
        contact_particles=n if contacts else 0,
        contact_groups=-(-n // CONTACT_GROUP) if contacts else 0,
        contact_ends=len(first_stick),
        stick_ends=len(sticks),
        **surface_lengths(surfaces, n),
        bucket_ends=max(8, 1 << int(np.ceil(np.log2(2 * n)))) + 1 if contacts else 0,
    )
    return arrays, counts, gravity_scales


def refuse_narrow_boxes(description, boxes):
    """Raise ValueError for a box that is narrower than a particle."""
    widest = 2 * description.radii().max()
    for box in boxes:
        lower, upper = box[BOX["lower"]], box[BOX["upper"]]
        if (upper - lower).min() < widest:
            raise ValueError(
                f"box from {shown(lower)} to {shown(upper)} with a particle {widest:g} wide: expected one that it "
                "has room for"
            )


def constraint_tables(constraints, types, coupled, schedule, worlds):
    """Values of ConstraintArrays but for the multipliers, in the order of a schedule; and the number of multipliers.

    Args: coupled: for each type, the numbers of the others that each constraint is coupled to (n, others).
    """
    sizes = [
        (members.size, numbers.shape[0] * numbers.shape[1], len(members) * each.multipliers * each.compliance)
        for (members, numbers), each in zip(constraints, types)
    ]
    starts = np.concatenate([np.zeros((1, 3), int), np.cumsum(np.reshape(sizes, (-1, 3)).astype(int), axis=0)])
    if starts.max() > np.iinfo(np.int32).max:
        raise ValueError(f"{starts.max()} members of constraints: expected at most 2³¹ - 1, which 32 bits can count")
    members = np.empty(starts[-1, 0], np.int32)
    parameters = np.empty((starts[-1, 1], worlds))
    for (members_of_type, numbers), order, start, end in zip(constraints, schedule.orders, starts, starts[1:]):
        members[start[0] : end[0]] = members_of_type[order].ravel()
        parameters[start[1] : end[1]] = numbers[order].reshape(end[1] - start[1], -1)
    counts = np.array([len(order) for order in schedule.orders], int)
    in_order = [
        np.argsort(order)[others[order]].ravel() if others.size else others.ravel()  # types as rows have none
        for others, order in zip(coupled, schedule.orders)
    ]
    coupled_starts = np.cumsum([0, *map(len, in_order)])
    tables = {
        "members": members,
        "parameters": parameters,
        "ranges": np.column_stack([starts[:-1], counts, 0 * counts, counts, coupled_starts[:-1]]),
        "coupled": np.concatenate([np.zeros(0, np.int32), *in_order]),
        "state": state_places(types, starts, schedule.orders),
        "runs": schedule.runs_of_clusters(len(types)),
        "first_cluster": np.cumsum([0, *schedule.colours]),
    }
    return tables, int(starts[-1, 2])


def state_places(types, starts, orders):
    """Places of all parameters that projections change (n,). Args: types; starts, orders: see `constraint_tables`."""
    places = [np.zeros(0, int)]
    for each, (_, first, _), order in zip(types, starts, orders):
        numbers = len(each.parameters)
        last = np.arange(numbers - each.state_size, numbers)
        places.append((first + each.width * np.arange(len(order))[:, None] + last).ravel())
    return np.concatenate(places)


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


def adjacency(members, count):
    """Find the rows of members that each particle is in. Args: members (rows, k): particles; count: of particles.

    Returns: where each particle begins (count + 1,), and the rows, one particle after another.
    """
    particles = members.ravel()
    order = np.argsort(particles, kind="stable")
    return np.concatenate([[0], np.cumsum(np.bincount(particles, minlength=count))]), order // members.shape[1]


def joined_pairs(tables, types, membranes, count):
    """Pairs of particles that a rigid stick or a membrane keeps apart, as `ContactArrays` has them.

    Args: tables: see `constraint_tables`, to whose members those of membranes' edges are added; count: of particles.
    """
    members = tables["members"]
    edges = edges_of(np.concatenate([np.zeros((0, 3), int), *(each.triangles for each in membranes)]))
    tables["members"] = np.concatenate([members, edges.ravel().astype(np.int32)])
    places = [len(members) + 2 * np.arange(len(edges))]
    for each, ranges in zip(types, tables["ranges"]):
        if each in (STICK, ROOT_FREE_STICK, STICK_THAT_TEARS):
            places.append(ranges[RANGE.members] + 2 * np.arange(ranges[RANGE.count]))
    places = np.concatenate(places)
    first, rows = adjacency(tables["members"][places[:, None] + np.arange(2)], count)
    return first, places[rows]
