"""Taichi is initialised once for the whole suite, in double precision: physics is tested to round-off.

Where no kernel is on disk yet, two thirds of the suite's time are Taichi's, compiling. So each kernel is compiled by
one of pytest-xdist's workers, as far as can be, and with one pass less than elsewhere.
"""

import pytest
from taichi.lang import impl

from scenes.device import initialise

# Whose kernels take longest. They go first, so that no worker is left with one of them when the others are done.
FIRST = (
    "test_catalogue.py",
    "test_frame_contacts.py",
    "test_documents.py",
    "test_determinism.py",
    "test_cli_process.py",
    "test_frame_joints.py",
    "test_unit_frames.py",
    "test_mjcf_motion.py",
    "test_frame_turning.py",
)


def pytest_addoption(parser):
    parser.addoption("--device", choices=("cpu", "gpu"), default="cpu", help="where the kernels run")


def pytest_configure(config):
    initialise(config.getoption("--device"))
    # Without Taichi's own search for common subexpressions, whose time grows with the square of a kernel: bodies in
    # contact compile in 6 to 9 s instead of 16 to 25, to run at three quarters of the speed and to the same bits.
    # test_determinism compares those with processes that have it, as all have that tests start: the command line, the
    # documents' examples, the benchmarks.
    impl.current_cfg().opt_level = 0


@pytest.hookimpl(tryfirst=True)  # xdist reads the marks in this hook, too
def pytest_collection_modifyitems(items):
    """With `--dist loadgroup`, give a file's tests to one worker: what shares kernels stands in one file, mostly."""
    for item in items:
        if item.get_closest_marker("xdist_group") is None:
            item.add_marker(pytest.mark.xdist_group(item.path.name))
    place = {name: k for k, name in enumerate(FIRST)}
    items.sort(key=lambda item: place.get(item.path.name, len(FIRST)))
