"""Snapshots: what it takes to go on from here, bit for bit; of particles, and how one of anything becomes a file."""

import hashlib
import zipfile
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np


class Snapshot:
    """A dataclass of arrays and numbers that can be written to an .npz file and read back. Base of every State."""

    def save(self, path):
        """Write to an .npz file. Arguments: path."""
        with Path(path).open("wb") as file:
            np.savez(file, **vars(self))

    @classmethod
    def load(cls, path):
        """Read what `save` wrote. Arguments: path. Errors: a file that is missing, or that holds something else."""
        names = {field.name for field in fields(cls)}
        with archive(path, "state") as file:
            if set(file.files) != names:
                raise ValueError
            return cls(**{name: file[name][()] for name in names})


@contextmanager
def archive(path, what):
    """The arrays of an .npz file that verletlab saved. Arguments: path; what: "state", say, for messages.

    Errors: FileNotFoundError; ValueError that says so for a file that holds something else, whatever went wrong in it.
    """
    path = Path(path)
    if not path.exists():
        raise FileNotFoundError(f"no {what} at {path}")
    try:
        loaded = np.load(path)
        if not isinstance(loaded, np.lib.npyio.NpzFile):
            raise ValueError
        with loaded as file:
            yield file
    except (KeyError, ValueError, TypeError, OSError, EOFError, zipfile.BadZipFile):
        raise ValueError(f"{path} is not a {what} saved by verletlab") from None


@dataclass
class State(Snapshot):
    """State of the particles of all worlds at one instant.

    Arguments: positions, previous, forces: (particles, 3), or (worlds, particles, 3) [m, m, N]; inverse_masses:
    (particles,) or (worlds, particles) [1/kg]; dt: the step that `previous` is meant for [s]; origin and substep: the
    time is origin + substep · dt / substeps [s].
    """

    positions: np.ndarray
    previous: np.ndarray
    forces: np.ndarray
    inverse_masses: np.ndarray
    dt: float
    substeps: int
    origin: float
    substep: int

    def digest(self):
        """Sixteen hexadecimal digits that differ when any bit of the positions does."""
        positions = np.ascontiguousarray(self.positions)
        previous = np.ascontiguousarray(self.previous)
        return hashlib.sha256(positions.tobytes() + previous.tobytes()).hexdigest()[:16]
