"""verletlab under one name: `verletlab.pbd`, `verletlab.rigid` and `verletlab.scenes`.

    from verletlab import rigid, scenes
    from verletlab.pbd import Particles

These are the packages `pbd`, `rigid` and `scenes` themselves, not copies: `verletlab.pbd is pbd`. Each is imported when
its name is first used.
"""

import importlib
import importlib.abc
import importlib.machinery
import sys
from importlib import metadata

PACKAGES = ("pbd", "rigid", "scenes")
__all__ = [*PACKAGES, "__version__"]


class Alias(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Import `verletlab.NAME` as the module NAME, for the three packages and all modules within."""

    def find_spec(self, name, path=None, target=None):
        """A spec for names of the packages; None for others."""
        package, _, module = name.partition(".")
        if package == __name__ and module.partition(".")[0] in PACKAGES:
            return importlib.machinery.ModuleSpec(name, self)
        return None

    def create_module(self, spec):
        """The module that has its own name."""
        module = importlib.import_module(spec.name.partition(".")[2])
        spec.loader_state = module.__spec__
        return module

    def exec_module(self, module):
        """Give the module its own spec back, which Python has replaced by that of the other name."""
        module.__spec__ = module.__spec__.loader_state


sys.meta_path.insert(0, Alias())


def __getattr__(name):
    if name in PACKAGES:
        return importlib.import_module(f"{__name__}.{name}")
    if name == "__version__":
        return metadata.version(__name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__():
    return sorted(__all__)
