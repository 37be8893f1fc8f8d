"""The documents are correct: examples run, steps are in the order of the code, and named functions and tests exist.

tests/test_commands.py runs the commands that the documents show. tools/check_sources.py checks links and files.
"""

import ast
import os
import re
import subprocess
import sys
from functools import cache

import pytest
from documents import DOCUMENTS, ROOT, fences, loaded, names_behind_links, runs, spans, tokens
from matplotlib.mathtext import MathTextParser

import pbd
import rigid
from scenes.registry import available

# Examples of other documents are slow tests, and those whose kernels compile long.
QUICK = ("README.md", "CONTRIBUTING.md", "own_constraint.md", "realtime.md")
SLOW = ("README.md-1", "README.md-2", "realtime.md-0")


def examples():
    for path in DOCUMENTS:
        for number, code in enumerate(fences(path, "python")):
            name = f"{path.name}-{number}"
            marks = [] if path.name in QUICK and name not in SLOW else [pytest.mark.slow]
            yield pytest.param(code, id=name, marks=marks)


@pytest.mark.parametrize("code", list(examples()))
def test_example_runs(code, tmp_path):
    if "import pygame" in code:
        pytest.importorskip("pygame")
    script = tmp_path / "example.py"  # a file, because Taichi reads functions from their source
    script.write_text(code)
    environment = {**os.environ, "TI_OPT_LEVEL": "0", "SDL_VIDEODRIVER": "dummy"}  # level: see tests/conftest.py
    done = subprocess.run([sys.executable, script], cwd=tmp_path, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    if "AREA" in code:
        assert float(done.stdout.split()[-1]) == pytest.approx(0.8, abs=1e-9)
    if "lowest" in code:  # it prints a line at each of three times; the cloth with creases does not
        assert len(re.findall(r"lowest -?\d", done.stdout)) == 3
    for name in re.findall(r'"(\w+\.(?:npz|mp4))"', code):
        assert (tmp_path / name).stat().st_size > 0


@pytest.mark.parametrize("heading", ["Fifteen lines", "A scene of your own"])
def test_examples_have_at_most_fifteen_lines(heading):
    readme = tokens(DOCUMENTS[0])
    (title,) = (k for k, token in enumerate(readme) if token.content == heading)
    code = next(token.content for token in readme[title:] if token.type == "fence")
    assert len([line for line in code.splitlines() if line.strip()]) <= 15


# What the documents say about the code --------------------------------------------------------------------------------


@cache
def tree(file):
    return ast.parse(file.read_text(encoding="utf-8"))


@cache
def defined_names(file):
    """Names of functions, classes and assigned variables in a file."""
    found = set()
    for node in ast.walk(tree(file)):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            found.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
    return found


def test_names_behind_a_link_exist_in_the_file():
    missing = []
    for path in DOCUMENTS:
        for target, names in (link for run in runs(path) for link in names_behind_links(run)):
            if target.endswith(".py"):
                unknown = set(names) - defined_names((path.parent / target).resolve())
                missing += [f"{path.name}: {target} has no {name}" for name in sorted(unknown)]
    assert missing == []


def name_of(node):
    """The last name of `name` or `module.name`; an empty string for other expressions."""
    return getattr(node, "attr", getattr(node, "id", ""))


def used_functions(file, name, callers=()):
    """Functions that a function uses, in the order of the text. Those of the same file are followed by what they use.

    A use is a call, or an argument of a call: `for_each(s, count, predict)` uses `for_each` and `predict`.
    """
    (function,) = (node for node in ast.walk(tree(file)) if isinstance(node, ast.FunctionDef) and node.name == name)
    calls = [node for node in ast.walk(function) if isinstance(node, ast.Call)]
    uses = [use for call in calls for use in (call.func, *call.args) if name_of(use)]
    uses.sort(key=lambda use: (use.lineno, use.end_lineno, use.end_col_offset))
    local = {node.name for node in ast.walk(tree(file)) if isinstance(node, ast.FunctionDef)}
    for use in map(name_of, uses):
        yield use
        if use in local and use not in (name, *callers):
            yield from used_functions(file, use, (name, *callers))


def steps():
    """Blocks of steps. A link in the paragraph before each block names its file and function."""
    for path in DOCUMENTS:
        blocks = tokens(path)
        for k, block in enumerate(blocks):
            if block.type == "fence" and block.info == "text":
                ((target, (name,)),) = names_behind_links(blocks[k - 2].children)
                file = (path.parent / target).resolve()
                label = f"{path.name}-{file.parent.name}-{name}"
                yield pytest.param(file, name, block.content, id=label)


@pytest.mark.parametrize(("file", "name", "block"), list(steps()))
def test_steps_are_in_the_order_of_the_code(file, name, block):
    lines = [line.partition("#")[0] for line in block.splitlines()]
    shown = [step for line in lines for step in re.findall(r"(\w+)\(\)", line)]
    assert len(shown) > 3
    rest = used_functions(file, name)
    for step in shown:
        assert step in rest, f"{step}() is not used in {name}() of {file}, or not after the steps above it"


def test_the_order_of_steps_is_checked(tmp_path):
    file = tmp_path / "step.py"
    file.write_text("def step():\n    one()\n    each(two, count)\n    inner()\n\ndef inner():\n    three()\n")
    assert list(used_functions(file, "step")) == ["one", "each", "two", "count", "inner", "three"]


def test_named_tests_and_variables_exist():
    sources = {part: sorted((ROOT / part).rglob("*.py")) for part in ("pbd", "rigid", "scenes", "docs", "tests")}
    text = " ".join(file.read_text() for files in sources.values() for file in files)
    tests, words = set(re.findall(r"\bdef (test_\w+)", text)), set(re.findall(r"\w+", text))
    for path in DOCUMENTS:
        missing = [code for code in spans(path) if code.startswith("test_") and code not in {"test_...", *tests}]
        if path.is_relative_to(ROOT / "docs"):
            missing += [code for code in spans(path) if re.fullmatch(r"\w+", code) and code not in words]
        assert not missing, f"{path.name} names what the code does not have"


def test_each_figure_of_the_limits_has_a_test_a_command_or_a_day():
    text, found = (ROOT / "docs" / "limits.md").read_text("utf-8"), []
    for table in re.findall(r"\| test or command \|\n\| [-| ]+\n((?:\|.*\n)+)", text):
        rows = [line.strip("|").split("|") for line in table.splitlines()]
        found += [(row[0], row[-1]) for row in rows if re.search(r"\d", re.sub("`.*?`", "", row[1]))]
    assert len(found) > 60
    assert not [name for name, source in found if not re.search(r"`|\d{4}-\d\d-\d\d", source)]


def test_equations_can_be_read():
    # matplotlib reads less of TeX than GitHub, so it gets single lines without alignment.
    parser = MathTextParser("path")
    for path in DOCUMENTS:
        for block in fences(path, "math"):
            for line in re.sub(r"\\(begin|end){aligned}|&", "", block).split("\\\\"):
                parser.parse(f"${' '.join(line.split())}$")


def script_of_the_table():
    """The module media/solvers.py, and the rows of the table that it wrote into the README."""
    script = loaded(ROOT / "media" / "solvers.py")
    before, after = (script.README.read_text("utf-8").split(mark) for mark in script.MARKS)
    assert len(before) == len(after) == 2
    lines = before[1].split(script.MARKS[1])[0].strip().splitlines()
    return script, [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines]


def test_the_table_of_solvers_has_the_rows_of_its_script():
    script, (head, _, *rows) = script_of_the_table()
    assert head[1:] == [f"`{solver}`" for solver in rigid.SOLVERS]
    assert [row[0] for row in rows] == [f"{case.question} (`{case.scene}`)" for case in script.CASES]
    assert all(len(row) == len(head) and all(row) for row in rows)


@pytest.mark.slow
def test_the_table_of_solvers_has_current_results():
    script, (_, _, *rows) = script_of_the_table()
    for case, (_, *cells) in zip(script.CASES, rows):
        if case.scene in ("pendulum", "dzhanibekov", "five_link_chain"):  # contacts would amplify round-off
            found = [script.cell(case, solver)[1] for solver in rigid.SOLVERS]
            assert [text.partition(",")[0] for text in found] == [
                text.partition(",")[0].strip("*") for text in cells
            ], case.question


def test_the_table_of_fabrics_has_the_numbers_of_the_code():
    lines = (ROOT / "docs" / "guides" / "fabrics.md").read_text("utf-8").splitlines()
    head = next(k for k, line in enumerate(lines) if line.startswith("| name |"))
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines[head + 2 : head + 2 + len(pbd.FABRICS)]]
    expected = []
    for name, fabric in pbd.FABRICS.items():
        stiffness = [f"{each:.4g}" for each in (fabric.warp, fabric.weft, fabric.shear)]
        bending = ", ".join(f"{1e6 * each:.3g}" for each in fabric.rigidities())
        expected.append([name, f"{fabric.density:g}", *stiffness, f"{fabric.poisson:.2f}", bending])
    assert [[row[0], *row[2:]] for row in rows] == expected  # the second column is the name in the source


def test_media_are_small_and_each_has_a_command():
    script = (ROOT / "media" / "make.sh").read_text()
    files = [path for path in (ROOT / "media").iterdir() if path.suffix in (".png", ".gif", ".mp4")]
    for path in files:
        assert path.stat().st_size < 3e6, path
        command, scene = {".png": "python", ".gif": "animation", ".mp4": "film"}[path.suffix], path.stem
        if path.suffix == ".png" and scene in available():
            scene = "pictures.py"
        if scene.startswith("compare_"):
            command, scene = "compared", re.sub("^compare_|_(deviation|cost)$", "", scene)
        assert re.search(rf"^({command} {scene} |python {scene}\.py)", script, re.MULTILINE), path
    assert {path.suffix for path in files} == {".png", ".gif", ".mp4"}
