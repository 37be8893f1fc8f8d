"""Whether a Taichi function is defined in a class: Taichi's question at each `@ti.func`.

Taichi searches the source of all modules for the answer, which took half of the time to import ours. They have no
Taichi functions in classes, nor has the module that `ti.init` imports. This is replaced when it is imported, and stays.
"""

import inspect

from taichi.lang import kernel_impl

WITHOUT_CLASSES = ("pbd.", "rigid.", "scenes.", "taichi.lang.matrix_ops")


def is_in_class(level_of_class_stackframe):
    """Whether the function that is decorated now is in a class. Args: see Taichi's `_inside_class`."""
    frame = inspect.currentframe()
    for _ in range(level_of_class_stackframe - 1):
        frame = frame.f_back
    module = frame.f_globals.get("__name__", "")
    return not module.startswith(WITHOUT_CLASSES) and search_source(level_of_class_stackframe + 1)


search_source, kernel_impl._inside_class = kernel_impl._inside_class, is_in_class
