"""Bodies that follow paths: kinematic bodies, with a pose that is a function of time."""

import numpy as np

from pbd.core.validate import pose
from rigid.rotation import conjugate, logarithm, multiply

# In a substep a body moves by at most this [m] and twice the radius of its shapes, and rotates by at most this [rad].
# A path that moves it further jumps: contacts would see a speed without meaning.
LONGEST_MOVE, LARGEST_TURN = 1.0, 0.5 * np.pi

# A path begins within this distance of the body's pose [m, rad].
START = 1e-6


def pose_on_path(name, path, time, rotation):
    """The pose that a path gives.

    Args: name: of the body, for messages; path: function of time; time: [s]; rotation: (w, x, y, z), if the path gives
    positions alone.

    Returns: position [m] and rotation (7,).

    Raises: TypeError for something else than a position, or position and rotation; ValueError for numbers that are not
    finite.
    """
    return pose(f"given by the path of {name!r} at {time:g} s", path(time), rotation)


def displacement(first, second):
    """Displacement [m] and rotation vector [rad] from poses to poses, (..., 6). Args: poses (..., 7)."""
    turn = logarithm(multiply(second[..., 3:], conjugate(first[..., 3:])))
    return np.concatenate([second[..., :3] - first[..., :3], turn], axis=-1)


def refuse_jump(name, radius, moved, before, after):
    """Raise ValueError if a body moves too far in a substep.

    Args: name; radius: of its shapes [m]; moved (6,): see `displacement`; before, after: times [s].
    """
    for vector, most, unit in ((moved[:3], LONGEST_MOVE + 2 * radius, "m"), (moved[3:], LARGEST_TURN, "rad")):
        if np.linalg.norm(vector) > most:
            raise ValueError(
                f"path of {name!r} jumps by {np.linalg.norm(vector):.3g} {unit} from {before:.6g} s to {after:.6g} s: "
                f"expected at most {most:.3g} {unit} in a substep"
            )


def refuse_jumps(model, radii, time, h, substeps):
    """Raise TypeError or ValueError if a path jumps, or gives something else than poses, in the next substeps.

    Args: model; radii: of the bodies' shapes (bodies,) [m]; time, h: [s]; substeps: how many.
    """
    for body, radius in zip(model.bodies, radii):
        before = None if body.path is None else body.pose_at(time)
        for k in range(substeps if body.path is not None else 0):
            after = body.pose_at(time + (k + 1) * h)
            refuse_jump(body.name, radius, displacement(before, after), time + k * h, time + (k + 1) * h)
            before = after
