"""The documents are correct: examples run, links lead somewhere, and the named files, functions and tests exist.

tests/test_commands.py runs the commands that the documents show.
"""

import ast
import importlib.util
import os
import re
import subprocess
import sys
from functools import cache
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from documents import DOCUMENTS, ROOT, fences, links, names_behind_links, runs, spans, tokens
from matplotlib.mathtext import MathTextParser

import rigid

# Examples of other documents are slow tests.
QUICK = ("README.md", "CONTRIBUTING.md", "own_constraint.md", "realtime.md")


def examples():
    for path in DOCUMENTS:
        for number, code in enumerate(fences(path, "python")):
            marks = [] if path.name in QUICK else [pytest.mark.slow]
            yield pytest.param(code, id=f"{path.name}-{number}", marks=marks)


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


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_links_lead_somewhere(path):
    titles = {title.lower().replace(" ", "-") for title in re.findall(r"^#+ (.*)", path.read_text(), re.MULTILINE)}
    for target in links(path):
        file, _, title = target.partition("#")
        if "://" not in target:
            assert (path.parent / file).exists(), target
        if not file:
            assert title in titles, target


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_sources_in_brackets_are_links(path):
    text = path.read_text()
    named = set(re.findall(r"\[([\w/]+\.py)\](?![(:])", text))
    assert named == set(re.findall(r"^\[([\w/]+\.py)\]: ", text, re.MULTILINE))


# Sites that the project may name. Here no network can be reached, so a new one is looked at by a person. A registry of
# packages is none of them: each user has their own.
SITES = {"docs.dask.org", "github.com", "jobqueue.dask.org", "unpkg.com", "www.taichi-lang.org"}
LOCAL = {"localhost", "lab.example"}  # in help and comments of the viewer


def other_sites():
    """Addresses of other sites in documents, sources and what builds the project: [(file, address)]."""
    files = [*DOCUMENTS, *ROOT.glob("*.*"), ROOT / "Makefile", *ROOT.glob(".ci/*"), *(ROOT / "docs").rglob("*.ipynb")]
    for folder in ("pbd", "rigid", "scenes", "verletlab", "docs"):
        files += (ROOT / folder).rglob("*.py")
    for path in filter(Path.is_file, dict.fromkeys(files)):
        content = path.read_bytes()
        if b"\0" in content:  # a film that someone has made here, as the README says
            continue
        text = content.decode("utf-8", errors="replace")
        yield from ((path.name, address) for address in re.findall(r"\b\w+://[^\s\"'`<>()\[\]|\\]+", text))


def test_addresses_of_other_sites_are_whole_and_known():
    found = list(other_sites())
    assert ("sweeps.md", "https://docs.dask.org") in found
    for file, address in found:
        parts = urlsplit(address)
        if parts.scheme not in ("http", "https") or "{" in parts.netloc or parts.hostname in LOCAL:
            continue  # of Dask, of ROS, or an address that the code makes
        assert parts.hostname in SITES, (file, address)
        assert parts.scheme == "https", (file, address)
        assert parts.netloc == parts.hostname, (file, address)  # no port, no name of a user


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


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_names_behind_a_link_exist_in_the_file(path):
    for run in runs(path):
        for target, names in names_behind_links(run):
            if target.endswith(".py"):
                file = (path.parent / target).resolve()
                assert set(names) <= defined_names(file), target


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
    tests = set().union(*map(defined_names, sources["tests"]))
    words = set(re.findall(r"\w+", " ".join(file.read_text() for files in sources.values() for file in files)))
    for path in DOCUMENTS:
        missing = [code for code in spans(path) if code.startswith("test_") and code not in {"test_...", *tests}]
        if path.is_relative_to(ROOT / "docs"):
            missing += [code for code in spans(path) if re.fullmatch(r"\w+", code) and code not in words | tests]
        assert not missing, f"{path.name} names what the code does not have"


def test_files_named_in_the_code_exist():
    tests = {file.name for file in (ROOT / "tests").rglob("*.py")}
    for file in (file for part in ("pbd", "rigid", "scenes") for file in sorted((ROOT / part).rglob("*.py"))):
        for named in re.findall(r"(?<![\w/.{}])[\w/]+\.(?:py|md)\b", file.read_text()):
            known = named in tests or named in ("FILE.py", "my_scene.py")  # the last two are a user's files
            assert known or (ROOT / named).exists() or (file.parent / named).exists(), f"{file} names {named}"


def test_files_named_in_the_documents_exist():
    for path in DOCUMENTS:
        text = re.sub(r"^\[.*\]: .*$", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
        named = re.findall(r"(?<![\w/.])(?:pbd|rigid|scenes|tests|docs|media)/[\w/]*(?:\.\w+)?", text)
        assert not [file for file in named if not (ROOT / file).exists()], f"{path.name} names files that do not exist"


def test_equations_can_be_read():
    # matplotlib reads less of TeX than GitHub, so it gets single lines without alignment.
    parser = MathTextParser("path")
    for path in DOCUMENTS:
        for block in fences(path, "math"):
            for line in re.sub(r"\\(begin|end){aligned}|&", "", block).split("\\\\"):
                parser.parse(f"${' '.join(line.split())}$")


def script_of_the_table():
    """The module media/solvers.py, and the rows of the table that it wrote into the README."""
    found = importlib.util.spec_from_file_location("solvers", ROOT / "media" / "solvers.py")
    script = importlib.util.module_from_spec(found)
    found.loader.exec_module(script)
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


def test_media_are_small_and_each_has_a_command():
    script = (ROOT / "media" / "make.sh").read_text()
    files = [path for path in (ROOT / "media").iterdir() if path.suffix in (".png", ".gif", ".mp4")]
    for path in files:
        assert path.stat().st_size < 3e6, path
        command, scene = {".png": "picture", ".gif": "animation", ".mp4": "film"}[path.suffix], path.stem
        if scene.startswith("compare_"):
            command, scene = "compared", re.sub("^compare_|_(deviation|cost)$", "", scene)
        assert re.search(rf"^({command} {scene} |python {scene}\.py)", script, re.MULTILINE), path
    assert {path.suffix for path in files} == {".png", ".gif", ".mp4"}
