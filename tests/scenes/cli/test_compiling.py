"""A process that compiles a large kernel: what it says, and how it ends."""

import os
import signal
import subprocess
import sys
import time

import pytest

from pbd.core.kernels import settings
from scenes.cli.compiling import compiling_stoppably, stoppable

if sys.platform == "win32":
    pytest.skip("no terminals of this kind", allow_module_level=True)


def terminal():
    """A terminal. Returns: descriptors of its two ends, ours and that of a process."""
    import pty

    return pty.openpty()


def read_until(end, words, seconds):
    """What a terminal shows until some words appear. Args: end: ours; words; seconds: most time for it."""
    shown, deadline = "", time.monotonic() + seconds
    os.set_blocking(end, False)
    while words not in shown and time.monotonic() < deadline:
        try:
            shown += os.read(end, 1000).decode()
        except BlockingIOError:
            time.sleep(0.02)
    assert words in shown
    return shown


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_a_process_that_compiles(tmp_path, number):
    ours, its = terminal()
    process = subprocess.Popen(
        [sys.executable, "-m", "scenes", "render", "ragdoll", "--duration", "0.1", "--out", str(tmp_path / "film.gif")],
        stdout=subprocess.DEVNULL, stderr=its, stdin=subprocess.DEVNULL,
        env={**os.environ, "TI_OFFLINE_CACHE": "0", "TMPDIR": str(tmp_path)},
    )  # fmt: skip
    try:
        read_until(ours, "compiling the solver", 60)  # some seconds before it ends
        assert list(tmp_path.iterdir())  # the first frame has been drawn
        process.send_signal(number)
        assert process.wait(timeout=1) == -number
        deadline = time.monotonic() + 5
        while list(tmp_path.iterdir()) and time.monotonic() < deadline:
            time.sleep(0.02)
        assert list(tmp_path.iterdir()) == []
    finally:
        process.kill()
        os.close(ours)
        os.close(its)


def test_the_handlers_of_signals_come_back():
    before = signal.getsignal(signal.SIGINT)
    with stoppable(settings.MEDIUM + 1, ""):
        assert signal.getsignal(signal.SIGINT) == signal.SIG_DFL
    assert signal.getsignal(signal.SIGINT) == before
    for small in (stoppable(settings.MEDIUM, ""), stoppable(settings.MEDIUM + 1, "", ends=False)):
        with small:
            assert signal.getsignal(signal.SIGINT) == before


@pytest.mark.parametrize("has_results", [True, False])
def test_results_of_the_first_solver_are_safe(has_results):
    before, found = signal.getsignal(signal.SIGINT), []
    with compiling_stoppably(quiet=True, has_results=has_results):
        for expressions in (1, settings.MEDIUM + 1, settings.MEDIUM + 1):
            with settings.around(expressions):
                found.append(signal.getsignal(signal.SIGINT) == signal.SIG_DFL)
    assert found == [False, True, not has_results]
    assert signal.getsignal(signal.SIGINT) == before
