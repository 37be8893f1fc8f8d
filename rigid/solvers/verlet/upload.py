"""From models to the arrays of bodies (rigid/solvers/verlet/data.py): what a FrameSolver does once, when it is made."""

import numpy as np

from pbd.core.validate import whole
from rigid.collision.data import array
from rigid.collision.setup import collision_arrays, default_capacity
from rigid.mass import second_moment
from rigid.solvers.verlet.data import CONTACT, FIT, KEYS, MOTION

# What a later step reads of an earlier one's contacts.
REMEMBERED = ("kept", "kept_keys", "heads")

# How far beyond its surface a body looks for others even at rest, in parts of its smallest half width.
LOOK = 0.02


def may_touch(model, particles=None):
    """Whether anything of a model can touch: two of its shapes, or one and a particle of some radius."""
    if particles is not None and len(model.shapes) and (particles.radii > 0).any():
        return True
    shapes = range(len(model.shapes))
    return any(model.may_touch(a, b) for a in shapes for b in range(a))


def body_arrays(models, descriptions, worlds, capacity=None):
    """All arrays of bodies, a dict of Taichi arrays in the order in which kernels take them.

    Arguments: models, of one structure: one for all worlds, or one each; their Descriptions; worlds: how many;
    capacity: most points of contact in a world, None for a good deal.
    """
    first = descriptions[0]
    if capacity is None:
        meeting = int((first.particles.radii[: first.own] > 0).sum())
        capacity = default_capacity(models[0]) + 2 * meeting
    capacity = whole("contact_capacity", capacity)
    shapes, points, broad = collision_arrays(models, worlds, capacity)
    count, capacity = len(first.members), points.integers.shape[1]
    fit = np.stack([fit_columns(model, each) for model, each in zip(models, descriptions)], axis=1)
    own = {
        "firsts": np.cumsum([0, *map(len, first.members)]),
        "members": np.concatenate(first.members),
        "fit": np.repeat(fit, worlds // len(models), axis=1),
        "motion": np.zeros((count, worlds, MOTION)),
        "poses": np.zeros((worlds, count, 7)),
        "reach": np.zeros((count, worlds)),
        "contacts": np.zeros((capacity, worlds, CONTACT)),
        "kept": np.zeros((capacity, worlds, 3)),
        "kept_keys": np.zeros((capacity, worlds, KEYS), np.int32),
        "heads": np.full((len(models[0].shapes), worlds), -1, np.int32),
        "own": np.array([first.own, count], np.int32),
    }
    arrays = {name: array(values) for name, values in own.items()}
    for group in (shapes, points, broad):
        arrays |= {f"{type(group).__name__} {name}": array for name, array in group._asdict().items()}
    return arrays


def fit_columns(model, description):
    """Columns of Bodies.fit for one world, (bodies, FIT)."""
    rows = np.zeros((len(model.bodies), FIT))
    for row, body, frame in zip(rows, model.bodies, description.frames):
        origin, *axes = frame.weights([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)])
        # of corner k: b_k, whose product with a point of the body's frame is what its weight c_k gains
        row[:12] = (np.array(axes) - origin).T.ravel()
        row[12:16] = origin
        least = np.linalg.eigvalsh(second_moment(body.inertia))[0]
        row[16] = LOOK * np.sqrt(3 * least / body.mass)
    return rows
