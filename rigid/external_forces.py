"""External forces on bodies: checks of the arguments of a solver's set_forces."""

import math

import numpy as np

from pbd.core.kernels import Columns
from pbd.core.validate import finite_array, real_array
from rigid.names import checked_index

# Force and torque in the world [N, N m]; the point at which the force acts, in the body's frame [m].
EXTERNAL = Columns(force=3, torque=3, point=3)


def external_force(model, body, force, torque, point, worlds):
    """Check the arguments of set_forces.

    Args:
        model: a Model.
        body: index or name.
        force, torque, point: (3,) for all worlds, or (worlds, 3), or None for zero.
        worlds: number of worlds.

    Returns: index of the body; EXTERNAL of each world (worlds, 9).

    Raises: ValueError for an unknown body, another shape, numbers that are not finite, or a point without a force.
    """
    index = checked_index("body", body, model.bodies, "body")
    name = model.bodies[index].name
    if model.bodies[index].path is not None:
        raise ValueError(f"force on {name!r}, which follows a path: expected a body that forces move")
    if point is not None and force is None:
        raise ValueError(f"point on {name!r} without a force: expected force=, too")
    given = {"force": force, "torque": torque, "point": point}
    values = np.zeros((worlds, EXTERNAL.total))
    for key, vector in given.items():
        if vector is not None:
            values[:, EXTERNAL[key]] = vectors_of_worlds(f"{key} on {name!r}", vector, worlds)
    return index, values


def vectors_of_worlds(name, value, worlds):
    """A vector for each world (worlds, 3). Args: name, for messages; value: (3,) or (worlds, 3); worlds."""
    value = real_array(name, value)
    if worlds > 1 and value.shape not in ((3,), (worlds, 3)):
        raise ValueError(f"{name} has shape {value.shape}: expected (3,) for all worlds, or ({worlds}, 3)")
    return finite_array(name, value, (worlds, 3) if value.ndim == 2 else (3,), math.inf)
