"""Recordings: what a run leaves behind, in memory or, when it is long, on disk."""

import json
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from pbd.state import archive
from scenes.simulate.interrupts import interrupts_deferred

# Frames up to this size stay in memory [bytes]; more go to a temporary file as they come.
MEMORY_LIMIT = 64 * 2**20


class Frames:
    """Arrays of one shape, one a frame, that move to a temporary file when they become many.

    Arguments: limit: from which size on [bytes]; None for MEMORY_LIMIT.
    """

    def __init__(self, limit=None):
        self.limit = MEMORY_LIMIT if limit is None else limit
        self.waiting, self.size, self.file, self.count = [], 0, None, 0
        self.shape, self.dtype = (), np.float64

    def append(self, array):
        """Add a frame. Arguments: an array, in shape and type like the ones before."""
        array = np.array(array)
        self.shape, self.dtype = array.shape, array.dtype
        self.waiting.append(array)
        self.size += array.nbytes
        self.count += 1
        if self.file is not None or self.size > self.limit:
            if self.file is None:
                self.file = tempfile.TemporaryFile(prefix="verletlab-")  # noqa: SIM115 - the frames' and their maps'
            for frame in self.waiting:
                self.file.write(frame.tobytes())
            self.waiting = []

    def array(self):
        """All frames, (frames, ...); mapped from the disk where they are there."""
        if self.file is None:
            return np.array(self.waiting).reshape(self.count, *self.shape)
        self.file.flush()
        return np.memmap(self.file, self.dtype, "r", shape=(self.count, *self.shape))


@dataclass(eq=False)  # arrays have no single answer to ==
class Recording:
    """A run, frame by frame.

    Arguments:
        about: scene, parameters, solver, settings, device, digest of the final state and the like, as plain values.
        times: (frames,) [s].
        positions: (frames, particles, 3) [m]; a memory map of a file where it is large.
        velocities: likewise [m/s], over the last substep.
        poses: of colliders (frames, colliders, 7), positions [m] and rotations (w, x, y, z).
        body_poses: likewise of bodies (frames, bodies, 7), those of their centres of mass.
        body_velocities: (frames, bodies, 6), of the centres of mass [m/s], and angular [rad/s].
        energy: (frames, 3), kinetic, potential and total [J].
    """

    about: dict
    times: np.ndarray
    positions: np.ndarray
    velocities: np.ndarray
    poses: np.ndarray
    body_poses: np.ndarray
    body_velocities: np.ndarray
    energy: np.ndarray

    ARRAYS = ("times", "positions", "velocities", "poses", "body_poses", "body_velocities", "energy")

    def __len__(self):
        return len(self.times)

    def save(self, path):
        """Write to an .npz file, an array at a time; Ctrl-C waits until it is whole. Arguments: path."""
        with interrupts_deferred(), Path(path).open("wb") as file:
            np.savez(file, about=json.dumps(self.about), **{name: getattr(self, name) for name in self.ARRAYS})

    @classmethod
    def load(cls, path):
        """Read what `save` wrote. Arguments: path. Errors: a file that is missing or holds something else."""
        with archive(path, "recording") as file:
            old = set(cls.ARRAYS) - set(file.files) == {"body_poses", "body_velocities"}
            if not old:
                recording = cls(json.loads(str(file["about"])), *(file[name] for name in cls.ARRAYS))
                recording.check()
                return recording
        raise ValueError(f"{path} was saved before recordings had bodies: expected a new one (`verletlab run --out`)")

    def check(self):
        """Refuse arrays that do not belong together. Errors: ValueError."""
        frames = len(self.times)
        of = self.positions, self.poses, self.body_poses
        (particles,), (colliders,), (bodies,) = (np.shape(each)[1:2] for each in of)
        shapes = {
            "times": (), "positions": (particles, 3), "velocities": (particles, 3), "poses": (colliders, 7),
            "body_poses": (bodies, 7), "body_velocities": (bodies, 6), "energy": (3,),
        }  # fmt: skip
        for name in self.ARRAYS:
            found, expected = np.shape(getattr(self, name)), (frames, *shapes[name])
            if found != expected:
                raise ValueError(f"{name} has shape {found}: expected {expected}")
        if not frames or not (np.diff(self.times) > 0).all():
            raise ValueError("times: expected one at least, each later than the one before")
