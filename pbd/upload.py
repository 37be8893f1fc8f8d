"""From descriptions to arrays: what a ParticleSystem does once, when it is made."""

import numpy as np

from pbd import data as arrays
from pbd.collision.particle_contacts import MOST
from pbd.constraints import KINDS, STICK, STICK_ROOT_FREE
from pbd.core.launch import device_array
from pbd.core.shapes import INTEGERS, NUMBERS
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


def upload(descriptions, worlds, batches, kinds, schedule, grabs=0, contact_interval=1):
    """All arrays of a system, as a dict of Taichi arrays in the order of `arrays.Data`.

    Arguments: descriptions: one for all worlds, or one each; worlds: how many; batches and kinds: as above; schedule;
    grabs: how many, see pbd/grabs.py; contact_interval: substeps for each search for contacts.
    """
    first = descriptions[0]
    n = len(first)
    contacts = first.particle_contacts is not None

    def per_world(values):
        """(n, ...) of each description to (n, worlds, ...)."""
        stacked = np.stack([values(description) for description in descriptions], axis=1)
        return np.repeat(stacked, worlds // len(descriptions), axis=1)

    positions = per_world(lambda p: p.positions)
    weights = per_world(lambda p: inverse(p.masses))
    nothing = np.zeros((n, worlds, 3))
    single = np.zeros((1, worlds, 3))
    buckets = 1 << int(np.ceil(np.log2(2 * n))) if contacts else 1
    fans, fan_triangles = fan_table(first.triangles, n)
    integers, numbers, grids = shape_tables(first.colliders)
    tables = constraint_tables(batches, kinds, schedule, worlds)
    tables["multipliers"] = np.concatenate([tables["multipliers"], np.zeros((3 * grabs, worlds))])
    counts = np.zeros(arrays.COUNTS, np.int32)
    counts[arrays.PARTICLES] = n
    counts[arrays.MULTIPLIERS] = len(tables["multipliers"])
    counts[arrays.COLLIDERS] = len(first.colliders)
    counts[arrays.BOXES] = len(first.boxes)
    counts[arrays.DRIVEN] = sum(len(particles) for particles, _ in first.drives)
    counts[arrays.WORLDS] = worlds
    counts[arrays.SUBSTEPS_PER_SEARCH] = contact_interval
    for description in descriptions:
        widest = 2 * description.radii.max()
        for box in first.boxes:
            if (box[3:6] - box[:3]).min() < widest:
                raise ValueError(
                    f"box from {box[:3].tolist()} to {box[3:6].tolist()} with a particle {widest:g} wide: expected one "
                    "that it has room for"
                )
    host = {
        "position": np.concatenate([positions, weights[..., None]], axis=2),
        "previous": positions,
        "predicted": positions,
        "force": nothing,
        "air": nothing,
        "radius": per_world(lambda p: p.radii),
        **tables,
        "numbers": numbers,
        "integers": integers,
        "grids": grids,
        "boxes": np.reshape(first.boxes, (-1, 8)),
        "driven": np.concatenate([np.zeros(0, int), *(particles for particles, _ in first.drives)]),
        "triangles": first.triangles,
        "drag_coefficient": 0.5 * first.air_density * first.drag,
        "fans": fans,
        "fan_triangles": fan_triangles,
        "rest": positions if contacts else single,
        "cells": np.zeros((buckets + 1, worlds), np.int32),
        "binned": np.zeros((n if contacts else 1, worlds), np.int32),
        "neighbours": np.zeros((n, MOST, worlds) if contacts else (1, 1, 1), np.int32),
        "neighbour_count": np.zeros((n if contacts else 1, worlds), np.int32),
        "correction": nothing if contacts else single,
        "counts": counts,
    }
    # Taken out one by one, so that a large scene is not in memory twice.
    return {name: device_array(never_empty(host.pop(name))) for name in arrays.Data._fields if name in host}


def never_empty(values):
    """The same, or a single zero of the same rank: a Taichi array cannot be empty, and `counts` says what is."""
    return values if values.size else np.zeros([max(length, 1) for length in values.shape], values.dtype)


def constraint_tables(batches, kinds, schedule, worlds):
    """Members, parameters and multipliers of all constraints, in the order of a schedule, and where each kind
    begins."""
    sizes = [(m.size, m.shape[0] * p.shape[1], m.shape[0] * kind.compliance) for (m, p), kind in zip(batches, kinds)]
    starts = np.concatenate([np.zeros((1, 3), int), np.cumsum(np.reshape(sizes, (-1, 3)).astype(int), axis=0)])
    if starts.max() > np.iinfo(np.int32).max:
        raise ValueError(f"{starts.max()} members of constraints: expected at most 2³¹ - 1, what 32 bits index")
    members = np.empty(starts[-1, 0], np.int32)
    parameters = np.empty((starts[-1, 1], worlds))
    for (members_of_kind, numbers), order, start, end in zip(batches, schedule.orders, starts, starts[1:]):
        members[start[0] : end[0]] = members_of_kind[order].ravel()
        parameters[start[1] : end[1]] = numbers[order].reshape(end[1] - start[1], -1)
    offsets = np.column_stack([starts[:-1], [len(order) for order in schedule.orders]])
    return {
        "members": members,
        "parameters": parameters,
        "multipliers": np.zeros((starts[-1, 2], worlds)),
        "offsets": offsets.astype(np.int32),
        "runs": schedule.runs if schedule.runs.ndim == 3 else np.zeros((1, 1, 2), np.int32),
        "colours": np.cumsum([0, *schedule.colours]).astype(np.int32),
    }


def shape_tables(colliders):
    """Integers, numbers and samples of all shapes: see pbd/core/shapes."""
    integers = np.zeros((len(colliders), INTEGERS), np.int32)
    numbers = np.zeros((len(colliders), NUMBERS))
    tables, place = [np.zeros(0)], 0
    for k, collider in enumerate(colliders):
        shape = collider.shape
        integers[k, 0] = shape.kind
        given = shape.numbers()
        numbers[k, : len(given)] = given
        numbers[k, NUMBERS - 2 :] = collider.friction, collider.restitution
        table = shape.samples()
        integers[k, 1 : 2 + table.ndim] = place, *table.shape
        tables.append(table.ravel())
        place += table.size
    return integers, numbers, np.concatenate(tables)


def fan_table(triangles, count):
    """Triangles of each particle: where its fan begins (count + 1,), and the fans one after another."""
    corners = triangles.ravel()
    order = np.argsort(corners, kind="stable")
    return np.concatenate([[0], np.cumsum(np.bincount(corners, minlength=count))]), order // 3
