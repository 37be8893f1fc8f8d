"""The arrays of contacts of the direct solve (pbd/direct/contacts.py), on the host."""

import numpy as np

from pbd.core.kernels import allocate, read, write
from pbd.data import TouchArrays
from pbd.direct.contacts import NO_SURFACE

# What is kept from substep to substep.
KEPT = ("surface", "normal", "friction", "contact", "resistance", "load")


def touching_particles(plan, description, fixed_shapes=False):
    """Particles of the direct solve that may touch colliders, boxes or fixed shapes of step hooks (n,).

    Args: plan: a pbd.direct.rows.Plan; description: a Particles; fixed_shapes: whether there are any.
    """
    particles = np.unique(plan.rows.particles)
    radii = description.radii()[particles]
    if description.colliders or len(description.boxes):
        return particles[radii >= 0]
    return particles[(radii > 0) & fixed_shapes]


def touch_arrays(particles, count, worlds, lanes):
    """Make the arrays.

    Args: particles: of `touching_particles`; count: of all particles; worlds: how many; lanes: of them in a vector.

    Returns: a pbd.data.TouchArrays.
    """
    size = count if len(particles) else 0
    nothing = np.full((2, size, worlds), NO_SURFACE)
    values = {"particles": particles, "is_direct": np.isin(np.arange(size), particles)}
    values |= {"surface": nothing, "kept_surface": nothing}
    sizes = {"touching": len(particles), "touch_particles": size}
    return allocate(TouchArrays, values, worlds=worlds, lanes=lanes, **sizes)


def touch_state(arrays):
    """What is kept from substep to substep, (worlds, numbers), see pbd.State. Args: arrays: a pbd.data.TouchArrays."""
    return np.concatenate([of_worlds(read(getattr(arrays, name)), name) for name in KEPT], axis=1)


def write_touch_state(arrays, state):
    """Restore it, or begin without contacts if it is of another system. Args: arrays: a pbd.data.TouchArrays; state."""
    shape = touch_state(arrays).shape
    fits = np.shape(state) == shape
    begin = 0
    for name in KEPT:
        array = getattr(arrays, name)
        now = read(array)
        width = of_worlds(now, name).shape[1]
        empty = np.full(now.shape, NO_SURFACE if name == "surface" else 0.0)
        if fits:
            part = np.asarray(state)[:, begin : begin + width]
            vector = now.shape[-1:] if name == "normal" else ()
            worlds_first = part.reshape(len(part), *now.shape[: now.ndim - 1 - len(vector)], *vector)
            empty = np.moveaxis(worlds_first, 0, now.ndim - 1 - len(vector))
        write(array, empty)
        begin += width


def of_worlds(values, name):
    """Values of an array as rows of worlds. Args: values (..., worlds), of vectors (..., worlds, 3); name: its name."""
    axis = -2 if name == "normal" else -1
    return np.moveaxis(values, axis, 0).reshape(values.shape[axis], -1)
