"""Snapshots: states of solvers as files; and archives of arrays, which are checked before they are read."""

import math
import zipfile
from contextlib import contextmanager
from dataclasses import MISSING, fields
from pathlib import Path

import numpy as np

from pbd.core.files import replacing

# Kinds of numpy types (dtype.kind) that a field of a snapshot may have.
KINDS = {np.ndarray: "fiu", float: "fiu", int: "iu"}


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
        types = {field.name: field.type for field in fields(cls)}
        required = {field.name for field in fields(cls) if MISSING is field.default is field.default_factory}
        with open_archive(path, "state") as file:
            if not required <= set(file.files) <= set(types):
                raise ValueError(f"arrays {', '.join(sorted(file.files))}")
            found = {name: file[name] for name in file.files}
            for name, array in found.items():
                if array.dtype.kind not in KINDS[types[name]] or (types[name] is not np.ndarray and array.ndim):
                    raise ValueError(f"{name} has type {array.dtype} and shape {array.shape}")
            snapshot = cls(**{name: array[()] for name, array in found.items()})
            snapshot.check()
            return snapshot

    def check(self):
        """Check what was read, as far as a subclass has more to check than types. Raises: ValueError."""


@contextmanager
def open_archive(path, what):
    """Open an .npz file that verletlab saved, for reading.

    Args: path; what: what the file contains, for messages, such as "state".

    Returns: the open file, with the interface of `np.load`.

    Raises: FileNotFoundError; PermissionError; ValueError with a reason for a file that contains something else,
        whatever goes wrong in the block while it is read.
    """
    path = Path(path)
    if not path.exists():
        raise FileNotFoundError(f"no {what} at {path}")
    try:
        with zipfile.ZipFile(path) as archive:
            for member in archive.infolist():
                check_member(archive, member)
        with np.load(path) as file:
            yield file
    except PermissionError:
        raise
    except Exception as error:  # a file from elsewhere can raise nearly any
        reason = " ".join(str(error).split()) or type(error).__name__
        raise ValueError(f"{path} is not a {what} saved by verletlab: {reason[:100]}") from None


def check_member(archive, member):
    """Check an array of an archive before it is read: one that claims to be larger than it is would take memory.

    Args: archive: a ZipFile; member: a ZipInfo. Raises: ValueError.
    """
    if member.flag_bits & 1 or member.compress_type != zipfile.ZIP_STORED:
        raise ValueError(f"{member.filename} is encrypted or compressed: expected it as np.savez stores it")
    with archive.open(member) as file:
        version = np.lib.format.read_magic(file)
        if version != (1, 0):
            raise ValueError(f"{member.filename} has format {version}: expected (1, 0)")
        shape, _, dtype = np.lib.format.read_array_header_1_0(file)
        if dtype.hasobject or file.tell() + math.prod(shape) * dtype.itemsize != member.file_size:
            raise ValueError(f"{member.filename} claims shape {shape} and type {dtype}: expected what the file holds")
