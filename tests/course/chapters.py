"""Modules of the course's chapters."""

from documents import ROOT, loaded

FOLDER = ROOT / "docs" / "course"
make = loaded(FOLDER / "make.py")
chapter = make.module_of
