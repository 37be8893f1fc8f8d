"""While a large kernel compiles, the terminal says so, and Ctrl-C ends the process at once.

Taichi holds Python's lock while it compiles, for up to a minute. Neither a handler of signals nor another thread runs
then. So signals have their default effect meanwhile, which is to end the process, and a small shell script beside it
does the rest: it says after PATIENCE seconds what takes so long, and removes temporary files if the process has ended.
A command that has results does this for its first kernel only: later ones are of another solver, as in `compare`, and
what the first solver did is saved after Ctrl-C.
"""

import contextlib
import os
import shutil
import signal
import subprocess
import time

from pbd.core import files
from pbd.core.kernels import settings
from scenes.cli import terminal
from scenes.simulate.interrupts import replaced_handlers

PATIENCE = 2  # [s]

# $1: seconds; $2: what to say; then the files to remove. Its input ends with the process that compiles.
SCRIPT = """
{ sleep "$1"; printf '%s' "$2" >&2; } &
cat > /dev/null
kill $! 2> /dev/null
shift 2
rm -rf -- "$@"
"""


@contextlib.contextmanager
def compiling_stoppably(quiet, has_results):
    """Context in which Ctrl-C ends a process that compiles, and the terminal says what takes long.

    Args: quiet: whether it does not; has_results: whether only while the first kernel compiles.
    """
    message = "" if quiet or not terminal.errors.is_terminal else "\r\033[Kverletlab: compiling the solver, once ..."
    compiled = []

    def around(expressions):
        compiled.extend([expressions] * (expressions > settings.MEDIUM))
        return stoppable(expressions, message, ends=not has_results or len(compiled) == 1)

    before, settings.around = settings.around, around
    try:
        yield
    finally:
        settings.around = before


@contextlib.contextmanager
def stoppable(expressions, message, ends=True):
    """Context of a settings.

    Args: expressions: how many the kernel has; message: to print if it lasts, or ""; ends: whether signals end it.
    """
    if expressions <= settings.MEDIUM:
        yield
        return
    start, helper = time.perf_counter(), start_helper(message)
    try:
        with replaced_handlers(signal.SIG_DFL, lambda handler: ends and callable(handler)):
            yield
    finally:
        if helper is not None:
            os.killpg(helper.pid, signal.SIGKILL)  # before its input ends, which would make it remove files
            helper.stdin.close()
            helper.wait()
    elapsed = time.perf_counter() - start
    if message and elapsed > PATIENCE:
        terminal.errors.print(f"verletlab: compiled the solver in {elapsed:.0f} s", highlight=False)


def start_helper(message):
    """Start the script beside this process. Returns: it; None on systems without a shell."""
    if shutil.which("sh") is None:
        return None
    command = ["sh", "-c", SCRIPT, "sh", str(PATIENCE), message, *map(str, files.TEMPORARY)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, start_new_session=True)
