"""Marks of tests: cases that only `make test-all` runs, and tests that need lanes."""

import pytest

from pbd.core.kernels import KERNELS, on_cpu

needs_lanes = pytest.mark.skipif(
    KERNELS != "quick" or not on_cpu(), reason="quick kernels on the processor have lanes"
)


def slow(*values, id=None):
    """A slow case. Args: values: of its parameters; id: its name, or None."""
    return pytest.param(*values, marks=pytest.mark.slow, id=id)


def cases(values, slow=()):
    """Cases with one parameter each. Args: values: of all cases; slow: those of slow cases."""
    return [pytest.param(value, marks=[pytest.mark.slow] if value in slow else []) for value in values]
