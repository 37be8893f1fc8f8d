"""The arrays of contacts of the direct solve (pbd/direct/contacts.py), on the host."""

import numpy as np

from pbd.core.kernels import allocate, read, write
from pbd.data import TouchArrays
from pbd.direct.contacts import NO_SURFACE


def touching_particles(plan, description, radii, fixed_shapes=False):
    """Particles of the direct solve that may touch colliders, boxes or fixed shapes of step hooks in any world (n,).

    Args: plan: a pbd.direct.rows.Plan; description: a Particles; radii (worlds, particles) [m]; fixed_shapes: whether
    there are any.
    """
    particles = np.unique(plan.rows.particles)
    radii = radii[:, particles].max(axis=0)
    if description.colliders or len(description.boxes):
        return particles[radii >= 0]
    return particles[(radii > 0) & fixed_shapes]


def touch_arrays(particles, count, worlds, lanes):
    """Make the arrays.

    Args: particles: of `touching_particles`; count: of all particles; worlds: how many; lanes: of them in a vector.

    Returns: a pbd.data.TouchArrays.
    """
    size = count if len(particles) else 0
    nothing = {"surface": np.full((2, size, worlds), NO_SURFACE)}
    values = {"particles": particles, "is_direct": np.isin(np.arange(size), particles), "now": nothing, "kept": nothing}
    sizes = {"touching": len(particles), "touch_particles": size}
    return allocate(TouchArrays, values, worlds=worlds, lanes=lanes, **sizes)


def touch_state(arrays):
    """The contacts that snapshots hold, (worlds, numbers), see pbd.State. Args: arrays: a pbd.data.TouchArrays."""
    return np.concatenate([of_worlds(name, read(array)) for name, array in arrays.now._asdict().items()], axis=1)


def write_touch_state(arrays, state):
    """Restore them, or begin without contacts if the state is of another system. Args: arrays: see there; state."""
    fits, begin = np.shape(state) == touch_state(arrays).shape, 0
    for name, array in arrays.now._asdict().items():
        values = np.full(read(array).shape, NO_SURFACE if name == "surface" else 0.0)
        rows = of_worlds(name, values)
        if fits:
            rows[:] = np.asarray(state)[:, begin : begin + rows.shape[1]]
            axis = axis_of_worlds(name)
            values = np.moveaxis(rows.reshape(np.moveaxis(values, axis, 0).shape), 0, axis)
        write(array, values)
        begin += rows.shape[1]


def of_worlds(name, values):
    """Values of an array as rows of worlds. Args: name: of the array; values: as `read` returns them."""
    return np.moveaxis(values, axis_of_worlds(name), 0).reshape(values.shape[axis_of_worlds(name)], -1)


def axis_of_worlds(name):
    """Which axis worlds are: the last one, but for components of vectors. Args: name: of the array."""
    return -2 if name == "normal" else -1
