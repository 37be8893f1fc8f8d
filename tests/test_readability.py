"""Limits that keep the code readable, checked by reading the sources."""

import ast
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FILES = sorted(path for package in ("pbd", "rigid", "scenes") for path in (ROOT / package).rglob("*.py"))

MOST_PARAMETERS = 8  # of a kernel that is spelled by hand
MOST_CONSTANTS = 12  # imported from one module
MOST_LINES_OF_A_STEP = 150


@cache
def tree(path):
    return ast.parse(path.read_text(encoding="utf-8"))


def relative(path):
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("path", FILES, ids=relative)
def test_kernels_spell_few_parameters(path):
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.FunctionDef) and any("ti.kernel" in ast.unparse(each) for each in node.decorator_list):
            assert len(node.args.args) <= MOST_PARAMETERS, f"line {node.lineno}: {node.name}"


@pytest.mark.parametrize("path", FILES, ids=relative)
def test_constants_come_by_layout_objects(path):
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.ImportFrom):
            constants = [alias.name for alias in node.names if alias.name.isupper()]
            assert len(constants) <= MOST_CONSTANTS, f"line {node.lineno}: {len(constants)} from {node.module}"


@pytest.mark.parametrize("path", sorted(ROOT.glob("*/**/step.py")), ids=relative)
def test_steps_fit_on_a_few_screens(path):
    if ".venv" not in path.parts:
        assert len(path.read_text().splitlines()) < MOST_LINES_OF_A_STEP
