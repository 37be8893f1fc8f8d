"""Silence while viser starts."""

import contextlib
import io


@contextlib.contextmanager
def quiet():
    """Nothing is printed in here: viser tells of itself, and we tell what there is to say."""
    with contextlib.redirect_stdout(io.StringIO()):
        yield
