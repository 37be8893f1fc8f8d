"""Put the file of an exercise in place of a module of verletlab, whose solvers then use it."""

import importlib.abc
import importlib.util
import sys
from pathlib import Path


class Finder(importlib.abc.MetaPathFinder):
    """Find one module in a file. Args: module: its name; path: of the file."""

    def __init__(self, module, path):
        self.module, self.path = module, path

    def find_spec(self, name, path=None, target=None):
        """The file, if the module is asked for."""
        return importlib.util.spec_from_file_location(name, self.path) if name == self.module else None


def use(module, test):
    """Use NAME.py beside test_NAME.py for a module. Args: module: such as "pbd.integrate"; test: path of the test."""
    if module in sys.modules:
        raise ImportError(f"{module} is in use already: run one exercise at a time, `pytest {Path(test).name}`")
    sys.meta_path.insert(0, Finder(module, Path(test).with_name(Path(test).name.removeprefix("test_"))))
