"""Suppress the messages that viser prints."""

import contextlib
import io


@contextlib.contextmanager
def quiet():
    """Suppress standard output in a block."""
    with contextlib.redirect_stdout(io.StringIO()):
        yield
