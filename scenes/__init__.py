"""Scenes: what a person runs. `python -m scenes`, or the command `verletlab`, is the same from a shell.

    import scenes
    scene = scenes.load("drape")
    recording = scenes.run(scene, duration=2.0)
    recording.save("drape.npz")
    scenes.film(scene, "drape.mp4")
    comparison = scenes.compare("ragdoll", solvers=["verlet", "impulse"])
"""

import importlib
import os
import sys
from types import ModuleType

os.environ.setdefault("ENABLE_TAICHI_HEADER_PRINT", "False")  # its banner is nobody's output here

# What stands in which module. A module is imported when a name of it is first asked for: every start of pytest imports
# this package, for its plugin, and shall not wait for Taichi.
NAMES = {
    "scenes.compare": ("compare",),
    "scenes.comparison": ("Comparison", "Trace", "Variant"),
    "scenes.recording": ("Recording",),
    "scenes.render.film": ("film",),
    "scenes.render.several": ("film_comparison",),
    "scenes.run": ("Replay", "Run", "run"),
    "scenes.scene": ("Scene", "available", "load", "register"),
}
PLACES = {name: module for module, names in NAMES.items() for name in names}
__all__ = sorted(PLACES)


class Package(ModuleType):
    """This package. `scenes.run` and `scenes.compare` are functions, whoever has imported modules of these names."""

    def __getattr__(self, name):
        if name not in PLACES:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        value = getattr(importlib.import_module(PLACES[name]), name)
        self.__dict__[name] = value
        return value

    def __setattr__(self, name, value):
        if not (name in PLACES and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = Package
