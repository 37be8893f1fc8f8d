"""What particles and rigid bodies have in common: kernels, arrays, shapes, checks of arguments."""

import pbd.core.taichi_import  # noqa: F401 - before all other imports of Taichi
