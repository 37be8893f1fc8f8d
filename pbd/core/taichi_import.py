"""Imports Taichi, in 0.85 of the usual time if this is the first import of it.

At each of its own functions Taichi asks Python for the line of source that defines it, to see whether that is in a
class. Python searches all modules for the file of that line, although the frame has its name. And it searches for
garbage nearly a hundred times, of which there is none.
"""

import gc
import inspect
import linecache


def line_of(frame, context=1):
    """What inspect.getframeinfo returns, with one line of source. Args: frame: of a file; context: not used."""
    file, line = frame.f_code.co_filename, frame.f_lineno
    return inspect.Traceback(file, line, frame.f_code.co_name, [linecache.getline(file, line)], 0)


with_search, inspect.getframeinfo = inspect.getframeinfo, line_of
collects = gc.isenabled()
gc.disable()
try:
    import taichi
    import taichi.lang.matrix_ops  # noqa: F401 - Taichi imports it when the first kernel is read
finally:
    inspect.getframeinfo = with_search
    if collects:
        gc.enable()
