"""Limits that keep the code readable, checked by reading the sources."""

import ast
from functools import cache
from pathlib import Path

import kernel_groups
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
        assert len(path.read_text().splitlines()) <= MOST_LINES_OF_A_STEP


def test_kernel_groups_name_files_and_scenes_that_exist():
    files = {path.name for path in (ROOT / "tests").rglob("test_*.py")}
    scenes = {path.stem for path in (ROOT / "scenes" / "catalogue").glob("*.py")}
    assert set(kernel_groups.LONGEST) <= files
    assert all((ROOT / path).exists() for path in kernel_groups.FILES)
    assert {case.split("-")[0] for case in kernel_groups.CASES} <= scenes
    assert set(kernel_groups.COMMANDS) <= scenes


def test_tests_with_equal_kernels_share_a_group():
    group = kernel_groups.group_of
    golden = "tests/golden/test_golden.py::test_a_short_run_has_its_golden_digest"
    catalogue = "tests/scenes/catalogue/test_catalogue.py::test_a_scene_runs_and_is_seen"
    assert group(f"{golden}[stack-impulse]") == group(f"{catalogue}[arch-impulse]")
    assert group(f"{golden}[stack-verlet]") == group("tests/rigid/solvers/verlet/test_verlet_contacts.py::test_rest")
    assert group(f"{golden}[five_link_chain-penalty]") == group("tests/agreement/test_agreement.py::test_any[x]")
    assert group("tests/pbd/test_state.py::test_any") == "tests/pbd/test_state.py"
