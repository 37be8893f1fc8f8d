"""Modules of the course's chapters."""

import importlib.util

from documents import ROOT

FOLDER = ROOT / "docs" / "course"


def loaded():
    """The module docs/course/make.py."""
    spec = importlib.util.spec_from_file_location("make_course", FOLDER / "make.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


make = loaded()
chapter = make.module_of
