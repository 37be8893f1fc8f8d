"""Exercises of the documentation: the solutions pass their tests, and the placeholders do not."""

import ast
import os
import subprocess
import sys

import pytest
from documents import ROOT, loaded

FOLDER = ROOT / "docs" / "exercises"


make = loaded(FOLDER / "make.py")


def test_each_exercise_has_a_test_and_a_row_in_the_page():
    names = set(make.EXERCISES)
    assert {path.stem.removeprefix("test_") for path in (FOLDER / "tests").glob("test_*.py")} == names
    page = (FOLDER / "index.md").read_text("utf-8")
    assert all(f"| `{name}` |" in page for name in names)


@pytest.mark.parametrize("name", make.EXERCISES)
def test_only_the_body_is_removed(name):
    exercise = make.EXERCISES[name]
    text = make.source(exercise.module)
    empty = make.without_body(text, exercise.function, exercise.placeholder)
    before, after = ([node for node in ast.parse(each).body] for each in (text, empty))
    changed = [a for a, b in zip(before, after) if ast.dump(a) != ast.dump(b)]
    assert [node.name for node in changed] == [exercise.function]
    assert len(before) == len(after)


@pytest.mark.slow
@pytest.mark.parametrize("name", make.EXERCISES)
@pytest.mark.parametrize("solved", [True, False])
def test_solution_passes_and_placeholder_fails(name, solved, tmp_path):
    make.write(tmp_path, solved)
    command = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"test_{name}.py")
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "TI_OPT_LEVEL": "0"}
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, env=environment)
    assert done.returncode == (0 if solved else 1), done.stdout + done.stderr
    assert "error" not in done.stdout.splitlines()[-1]
