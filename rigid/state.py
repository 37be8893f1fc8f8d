"""Snapshots of bodies, for any solver, and their momentum."""

import hashlib
import math
from dataclasses import dataclass

import numpy as np

from pbd.core.messages import shown
from pbd.core.rotation import cross
from pbd.core.snapshot import Snapshot
from pbd.core.transaction import Description
from pbd.core.validate import finite_array, finite_number, finite_vector, real_array, whole
from rigid.rotation import rotate, rotate_back


@dataclass(repr=False)
class State(Snapshot):
    """State of all bodies of all worlds at one time. With several worlds every array has a leading axis of worlds.

    Args:
        position: of the centres of mass (bodies, 3) [m].
        rotation: of the bodies' frames, unit quaternions (w, x, y, z) (bodies, 4).
        velocity: of the centres of mass, in the world frame (bodies, 3) [m/s].
        angular_velocity: in the world frame (bodies, 3) [rad/s].
        time: [s].
        warm_start: other numbers that the solver needs to continue (n,). With them the same solver continues bit for
            bit. Without them it continues from poses and velocities alone.
        dt, substeps, origin, substep: of the solver: the time is origin + substep · dt / substeps [s], to the last bit.
            Zero if no solver made the state. If `time` is changed, it alone counts.
        joint_angles: of hinges and universal joints, in the order of the joints (angles,) [rad]. They are within half a
            turn of those that the poses have, and full turns are counted from them. Empty to count from zero.

    Raises: ValueError for shapes that do not match, numbers that are not finite, and quaternions whose length differs
    from one by more than 1e-3.
    """

    position: np.ndarray
    rotation: np.ndarray
    velocity: np.ndarray
    angular_velocity: np.ndarray
    time: float = 0.0
    warm_start: np.ndarray = ()
    dt: float = 0.0
    substeps: int = 0
    origin: float = 0.0
    substep: int = 0
    joint_angles: np.ndarray = ()

    def __post_init__(self):
        for name in ("time", "dt", "origin"):
            setattr(self, name, finite_number(name, getattr(self, name), math.inf))
        for name in ("substeps", "substep"):
            setattr(self, name, whole(name, getattr(self, name), least=0))
        self.warm_start = np.array(real_array("warm_start", self.warm_start))
        shape = real_array("position", self.position).shape
        if len(shape) not in (2, 3):
            raise ValueError(f"position has shape {shape}: expected (bodies, 3) or (worlds, bodies, 3)")
        for name, width in (("position", 3), ("rotation", 4), ("velocity", 3), ("angular_velocity", 3)):
            array = np.array(real_array(name, getattr(self, name)))
            expected = (*shape[:-1], width)
            if array.shape != expected:
                raise ValueError(f"{name} has shape {array.shape}: expected {expected}, because position has {shape}")
            if not np.isfinite(array).all():
                where = tuple(np.argwhere(~np.isfinite(array))[0][:-1].tolist())
                item = f"body {where[0]}" if len(where) == 1 else f"world {where[0]}, body {where[1]}"
                raise ValueError(f"{name} of {item} is {shown(array[where])}: expected finite numbers")
            setattr(self, name, array)
        angles = real_array("joint_angles", self.joint_angles)
        angles = angles if angles.size else np.zeros((*shape[:-2], 0))
        self.joint_angles = finite_array("joint_angles", angles, (*shape[:-2], None), math.inf)
        length = np.linalg.norm(self.rotation, axis=-1)
        if (np.abs(length - 1) > 1e-3).any():
            wrong = length.flat[np.argmax(np.abs(length - 1))]
            raise ValueError(f"rotation has a quaternion of length {wrong:g}: expected length one")

    def __repr__(self):
        worlds = f" in {len(self.position)} worlds" if self.position.ndim == 3 else ""
        speed, spin = (np.linalg.norm(v, axis=-1).max(initial=0.0) for v in (self.velocity, self.angular_velocity))
        count = self.position.shape[-2]
        bodies = "1 body" if count == 1 else f"{count} bodies"
        return (
            f"rigid.State: {bodies}{worlds} at {self.time:.6g} s, digest {self.digest()},\n"
            f"    at most {speed:.4g} m/s and {spin:.4g} rad/s, {self.warm_start.size} warm-start numbers"
        )

    def clock(self):
        """Time step, substeps, origin and substep: {name: number}, as pbd.core.clock.Clock takes them."""
        return {name: getattr(self, name) for name in ("dt", "substeps", "origin", "substep")}

    def digest(self):
        """Hash of all bits of poses and velocities, as sixteen hexadecimal digits."""
        arrays = (self.position, self.rotation, self.velocity, self.angular_velocity)
        return hashlib.sha256(b"".join(np.ascontiguousarray(a).tobytes() for a in arrays)).hexdigest()[:16]


def join_arrays(arrays):
    """Join the numbers of arrays (n,), for a State's `warm_start`. Args: arrays: numpy arrays or numbers."""
    return np.concatenate([np.ravel(each).astype(float) for each in arrays])


def split_arrays(joined, arrays):
    """Undo `join_arrays`.

    Args: joined: (n,); arrays: numpy arrays or numbers, whose shapes and types the result has.

    Returns: list of numpy arrays or numbers; an empty list if `joined` has another length.
    """
    arrays = [np.asarray(each) for each in arrays]
    ends = np.cumsum([each.size for each in arrays])
    if len(joined) != ends[-1]:
        return []
    parts = [part.reshape(each.shape).astype(each.dtype) for part, each in zip(np.split(joined, ends[:-1]), arrays)]
    return [part if part.ndim else part.item() for part in parts]


def check_state(model, state):
    """Raise TypeError or ValueError unless these are a Model, and a State of as many bodies."""
    if not isinstance(model, Description) or model.title != "rigid.Model":
        raise TypeError(f"model is {shown(model)}: expected a rigid.Model")
    if not isinstance(state, State):
        raise TypeError(f"state is {shown(state)}: expected a rigid.State")
    if state.position.shape[-2] != len(model.bodies):
        count = state.position.shape[-2]
        raise ValueError(f"state has {count} bodies: expected {len(model.bodies)}, as the model has")


def linear_momentum(model, state):
    """Sum of m v over the bodies (3,) or (worlds, 3) [kg m/s]. Args: a Model, and a State of it."""
    check_state(model, state)
    return np.einsum("b,...bi->...i", model.masses, state.velocity)


def angular_momentum(model, state, about=(0.0, 0.0, 0.0)):
    """Sum of m (x - about) × v + I ω over the bodies (3,) or (worlds, 3) [kg m²/s].

    Args: a Model, and a State of it; about: a point of the world (3,) [m].
    """
    check_state(model, state)
    local = rotate_back(state.rotation, state.angular_velocity)
    spin = rotate(state.rotation, np.einsum("bij,...bj->...bi", model.inertias, local))
    arm = state.position - finite_vector("about", about)
    orbit = model.masses[:, None] * cross(arm, state.velocity)
    return (orbit + spin).sum(axis=-2)
