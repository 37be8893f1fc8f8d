"""Functions of Taichi, replaced for a time."""

import contextlib
import inspect


@contextlib.contextmanager
def replacing(replacements):
    """Replace functions of Taichi in this context. Args: replacements: list of (owner, name, replacement)."""
    before = [inspect.getattr_static(owner, name) for owner, name, _ in replacements]
    for owner, name, ours in replacements:
        setattr(owner, name, ours)
    try:
        yield
    finally:
        for (owner, name, _), taichis in zip(replacements, before):
            setattr(owner, name, taichis)
