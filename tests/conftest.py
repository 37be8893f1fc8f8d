"""Taichi starts once for the whole suite, in double precision, because physics is tested to round-off."""

import gc
import os
import signal

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # a worker has one core: more threads would wait for one another

import pytest
import taichi as ti
from kernel_groups import LONGEST, group_of

from scenes.simulate.device import DEVICES, initialise
from scenes.simulate.interrupts import SIGNALS


def pytest_addoption(parser):
    parser.addoption("--fuzz", type=int, default=100, metavar="N", help="calls of each fuzzer (%(default)s)")
    parser.addoption("--device", choices=DEVICES, default="cpu", help="where the kernels run")
    parser.addoption("--gpu", choices=[*DEVICES][1:], default="gpu", help="what tests/gpu compares with the processor")


def pytest_configure(config):
    initialise(config.getoption("--device"))
    # Without Taichi's own search for common subexpressions, whose time grows with the square of a kernel, bodies in
    # contact compile in 6 to 9 s instead of 16 to 25. They run at three quarters of the speed, to the same bits:
    # test_determinism compares them with processes that have it, as the command line and the benchmarks do.
    ti.cfg.opt_level = 0


@pytest.fixture(scope="session", autouse=True)
def commands_start_with_default_signals():
    """Let the commands that tests start have the default action of each signal, also where the suite ignores it.

    `nohup` lets a program ignore the end of the terminal, a shell lets those in the background ignore Ctrl-C, and
    children inherit that. A signal with a handler has its default action in a new program (POSIX, exec). So the suite
    gets handlers that do nothing: it still goes on when its terminal ends.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in SIGNALS:
        if signal.getsignal(number) == signal.SIG_IGN:
            signal.signal(number, lambda number, frame: None)


def pytest_collection_finish():
    """Leave thousands of collected tests out of each collection of garbage from here on."""
    gc.collect()
    gc.freeze()


def pytest_collection_modifyitems(items):
    place = {name: k for k, name in enumerate(LONGEST)}
    items.sort(key=lambda item: place.get(item.path.name, len(LONGEST)))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Send each group of tests/kernel_groups.py to one worker, with `--dist loadscope`.

    pytest-xdist's own groups (`--dist loadgroup` and its marker) have no effect with pytest 9.
    """
    if config.getoption("dist") != "loadscope":
        return None
    from xdist.scheduler import LoadScopeScheduling

    class GroupScheduling(LoadScopeScheduling):
        def _split_scope(self, nodeid):
            return group_of(nodeid)

    return GroupScheduling(config, log)
