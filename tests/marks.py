"""Cases of tests that only `make test-all` runs."""

import pytest


def slow(*values, id=None):
    """A slow case. Args: values: of its parameters; id: its name, or None."""
    return pytest.param(*values, marks=pytest.mark.slow, id=id)


def cases(values, slow=()):
    """Cases with one parameter each. Args: values: of all cases; slow: those of slow cases."""
    return [pytest.param(value, marks=[pytest.mark.slow] if value in slow else []) for value in values]
