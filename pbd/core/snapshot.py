"""Snapshots: states of solvers as files."""

import zipfile
from contextlib import contextmanager
from dataclasses import MISSING, fields
from pathlib import Path

import numpy as np

from pbd.core.files import replacing


class Snapshot:
    """A dataclass of arrays and numbers that can be written to an .npz file. Base class of every State."""

    def save(self, path):
        """Write the snapshot to an .npz file. Args: path."""
        with replacing(path) as partial, partial.open("wb") as file:
            np.savez(file, **vars(self))

    @classmethod
    def load(cls, path):
        """Read a file that `save` wrote.

        Args: path.

        Raises: FileNotFoundError; ValueError for a file that contains something else.
        """
        names = {field.name for field in fields(cls)}
        required = {field.name for field in fields(cls) if field.default_factory is MISSING}
        with open_archive(path, "state") as file:
            if not required <= set(file.files) <= names:
                raise ValueError
            return cls(**{name: file[name][()] for name in file.files})


@contextmanager
def open_archive(path, what):
    """Open an .npz file that verletlab saved, for reading.

    Args: path; what: what the file contains, for messages, such as "state".

    Raises: FileNotFoundError; ValueError for a file that contains something else, whatever goes wrong while reading it.
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
