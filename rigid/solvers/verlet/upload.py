"""From models to the arrays of bodies (rigid/solvers/verlet/data.py): what a FrameSolver does once, when it is made."""

import numpy as np

from pbd.core.arrays import allocate
from pbd.core.validate import whole
from rigid.collision.setup import collision_arrays, default_capacity
from rigid.mass import second_moment
from rigid.solvers.verlet.data import FIT, Bodies

# How far beyond its surface a body looks for others even at rest, in parts of its smallest half width.
LOOK = 0.02


def may_touch(model, particles=None):
    """Whether anything of a model can touch: two of its shapes, or one and a particle of some radius."""
    if particles is not None and len(model.shapes) and (particles.radii() > 0).any():
        return True
    shapes = range(len(model.shapes))
    return any(model.may_touch(a, b) for a in shapes for b in range(a))


def body_arrays(models, descriptions, worlds, capacity=None):
    """All arrays of bodies: a Bodies.

    Arguments: models, of one structure: one for all worlds, or one each; their Descriptions; worlds: how many;
    capacity: most points of contact in a world, None for a good deal.
    """
    first = descriptions[0]
    if capacity is None:
        meeting = int((first.particles.radii()[: first.own] > 0).sum())
        capacity = default_capacity(models[0]) + 2 * meeting
    capacity = whole("contact_capacity", capacity)
    shapes, points, broad = collision_arrays(models, worlds, capacity)
    count, capacity = len(first.members), points.integers.shape[1]
    fit = np.stack([fit_columns(model, each) for model, each in zip(models, descriptions)], axis=1)
    members = np.concatenate(first.members)
    values = {
        "firsts": np.cumsum([0, *map(len, first.members)]),
        "members": members,
        "fit": np.repeat(fit, worlds // len(models), axis=1),
        "heads": np.full((len(models[0].shapes), worlds), -1, np.int32),
        "own": np.array([first.own, count], np.int32),
        "shapes": shapes,
        "points": points,
        "broad": broad,
    }
    return allocate(
        Bodies,
        values,
        worlds=worlds,
        bodies=count,
        body_ends=count + 1,
        body_members=len(members),
        capacity=capacity,
        shapes=len(models[0].shapes),
    )


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
