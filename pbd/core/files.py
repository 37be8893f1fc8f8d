"""Files that appear whole or not at all."""

import contextlib
import os
import secrets
import shutil
import tempfile
from pathlib import Path

# Files and folders that are removed when what writes them ends.
TEMPORARY = set()


@contextlib.contextmanager
def replacing(path):
    """Context in which a file is written beside its place. The end of the block moves it there.

    Until then, and after an error, the old file stays as it was. So a reader sees the old file or the whole new one,
    even if the process is killed, which leaves a hidden file `.NAME-xxxxxxxx.SUFFIX` behind.

    Args: path: of the file. A link stays a link. A device or a pipe is written in place.

    Returns: the path to write to, with the same suffix.

    Raises: OSError with `path` and a reason, also for errors in the block that concern this file or name none.
    """
    path = Path(path)
    place = Path(os.path.realpath(path))
    if place.exists() and not place.is_file():
        yield place
        return
    partial = place.with_name(f".{place.stem[:100]}-{secrets.token_hex(4)}{place.suffix}")
    TEMPORARY.add(partial)
    try:
        with naming(path, partial):
            yield partial
            write_through(partial)
            if place.exists():
                shutil.copymode(place, partial)
            os.replace(partial, place)
    finally:
        partial.unlink(missing_ok=True)
        TEMPORARY.discard(partial)


@contextlib.contextmanager
def temporary_folder():
    """Context with a folder that is removed at its end. Returns: its path."""
    with tempfile.TemporaryDirectory(prefix="verletlab-", ignore_cleanup_errors=True) as folder:
        TEMPORARY.add(folder)
        try:
            yield Path(folder)
        finally:
            TEMPORARY.discard(folder)


@contextlib.contextmanager
def naming(path, *aliases):
    """Context whose errors of the operating system name a file.

    Args: path: the name to show; aliases: other names of the file, which are replaced.

    Raises: OSError with `path` in place of an alias or of no name.
    """
    try:
        yield
    except OSError as error:
        if error.errno is None or (error.filename and str(error.filename) not in map(str, aliases)):
            raise
        raise OSError(error.errno, error.strerror or os.strerror(error.errno), str(path)) from None


def write_through(path):
    """Wait until the contents of a file are on the disk: a rename may otherwise come before them. Args: path."""
    with path.open("rb+") as file:
        os.fsync(file.fileno())
