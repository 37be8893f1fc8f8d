"""The command `verletlab` as a process: main.py, and what a process does before and after.

Python searches for garbage among the objects of imported modules, where there is none, and again when it ends. Both
together took a tenth of the processor time of a start.
"""

import gc
import sys

gc.disable()

from scenes.cli.main import main  # noqa: E402 - the import makes the objects

gc.freeze()
gc.enable()


def command():
    """Run the command of this process. Returns: the exit status."""
    status = main()
    taichi = sys.modules.get("taichi")
    if taichi:
        taichi.reset()  # it saves compiled kernels, which would otherwise wait for Python's last search
    gc.freeze()
    return status
