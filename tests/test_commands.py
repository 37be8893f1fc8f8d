"""Every command that the documents show is run, or stands in a list that says where it is.

What they show are the lines of `sh` blocks, and code within text that begins with a program and says what it is to do.
Commands of ours run in this process, by the command line's own functions, for a moment each.
"""

import re
import shlex
import shutil
import subprocess

import numpy as np
import pytest
import trimesh
from documents import DOCUMENTS, ROOT, fences, spans

from scenes import bench
from scenes.cli import main as cli

PROGRAMS = ("apt", "apt-get", "brew", "git", "make", "pip", "pip3", "pipx", "pytest", "python", "python3", "sh", "uv",
            "verletlab")  # fmt: skip

# What makes a command a matter of moments, by its word: flags behind its own, of which the last ones count.
CUT = {
    "list": (),
    "run": ("--duration", "0.02"),
    "render": ("--duration", "0.02", "--size", "64x36"),
    "bench": (),  # each benchmark by a stand-in, see below
}

# Words in capitals stand for one's own; and meshes are made, where one's own are called for.
CAPITALS = {"SCENE": "box", "FILE": "box.png", "FILE.npz": "box.npz"}

# Their kernels serve nothing else.
SLOW = ("verletlab render pyramid",)

# Commands, by how they begin, that are not run here: why, and the file and words that show where they are.
ELSEWHERE = {
    "python3 -m pip install .": ("takes minutes; `make test` does it", "Makefile", "-m pip install"),
    "pip install verletlab": ("a test installs the wheel that it builds", "tests/test_wheel.py", '"install", wheel'),
    "pip install 'verletlab[mjcf]'": ("the same, and there is such an extra", "pyproject.toml", "\nmjcf = ["),
    "verletlab compare five_link_chain": (
        "wants the kernels of all solvers; a test that has them does it", "tests/scenes/comparison/test_compare_files.py",
        '"compare", "five_link_chain"',
    ),
    "pip install 'verletlab[view]'": ("the same, and there is such an extra", "pyproject.toml", "\nview = ["),
    "verletlab view drape": (
        "runs until Ctrl-C; a test stops it so", "tests/scenes/view/test_view_page.py", '"view", "drape"',
    ),
    "python media/solvers.py": ("takes minutes; `make media` does it", "media/make.sh", "\npython solvers.py"),
    "apt install libx11-6": ("wants to be root, on a Debian; here Taichi is there", "README.md", "apt install"),
}


def commands():
    """All commands, each once, as they are shown."""
    found = []
    for path in DOCUMENTS:
        for block in fences(path, "sh"):
            lines = block.replace("\\\n", " ").splitlines()
            found += [line.strip() for line in lines if line.strip() and not line.lstrip().startswith("#")]
        found += [code for code in spans(path) if code.split()[0] in PROGRAMS and len(code.split()) > 1]
    return list(dict.fromkeys(found))


def recipe(target):
    """What `make` would run for a target."""
    command = ["make", "--dry-run", "--no-print-directory", target]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def elsewhere(command):
    """The entry of ELSEWHERE for a command, or None."""
    return next((begins for begins in ELSEWHERE if command.startswith(begins)), None)


def ours():
    """Commands of ours, as a test's parameters."""
    for command in commands():
        if command.startswith("verletlab ") and not elsewhere(command):
            yield pytest.param(command, marks=[pytest.mark.slow] if command.startswith(SLOW) else [], id=command)


def own_meshes():
    """A ball of 16 cm, in millimetres, and a square of cloth, in metres, in the present folder."""
    trimesh.creation.icosphere(2, 80.0).export("bunny.obj")
    x, y = np.meshgrid(np.linspace(-0.4, 0.4, 9), np.linspace(-0.4, 0.4, 9))
    corner = np.arange(81).reshape(9, 9)
    a, b, c, d = (corner[k : k + 8, j : j + 8].ravel() for k, j in ((0, 0), (0, 1), (1, 0), (1, 1)))
    triangles = np.concatenate([np.stack([a, b, c], axis=1), np.stack([c, b, d], axis=1)])
    cloth = trimesh.Trimesh(np.stack([x.ravel(), y.ravel(), 0 * x.ravel()], axis=1), triangles, process=False)
    cloth.export("shirt.ply")


@pytest.mark.parametrize("command", list(ours()))
def test_a_command_does_what_it_is_shown_to_do(command, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    own_meshes()
    words = [CAPITALS.get(word, word) for word in shlex.split(command)[1:]]
    if words[0] == "bench":
        for name in bench.BENCHMARKS:
            monkeypatch.setitem(bench.BENCHMARKS, name, lambda name=name: iter([f"{name},,,,,"]))
    cut = CUT[words[0]][: 2 if ".html" in command else None]  # a page has no size
    assert cli.main([*words, *cut]) == 0
    said = capsys.readouterr()
    assert said.err == ""
    if "--out" in words:
        out = tmp_path / words[words.index("--out") + 1]
        assert out.stat().st_size > 0
    elif words[0] == "bench":
        names = [word for word in words[1:] if not word.startswith("-") and not word.isdigit()]
        assert [line.split(",")[0] for line in said.out.splitlines()[1:]] == (names or list(bench.BENCHMARKS))
    else:
        assert said.out


def test_every_benchmark_is_measured_by_a_test():
    source = (ROOT / "tests" / "benchmarks" / "test_speed.py").read_text()
    measured = set(re.findall(r'\brows\("(\w+)"', source))
    assert measured == set(bench.BENCHMARKS)


@pytest.mark.skipif(not shutil.which("make"), reason="there is no make")
def test_every_target_is_one_and_demo_is_the_readme_s_first_command():
    targets = [command.split()[1] for command in commands() if command.startswith("make ")]
    assert {"test", "test-all", "lint", "bench", "demo"} <= set(targets)
    for target in targets:
        assert recipe(target)
    (demo,) = (line for line in recipe("demo") if line.startswith(".venv/bin/verletlab "))
    assert demo.removeprefix(".venv/bin/") in commands()
    for target in ("test", "lint"):
        assert f"make {target}\n" in (ROOT / ".ci" / "run").read_text()


def test_no_command_slips_by():
    for command in commands():
        program, word = command.split()[:2]
        known = program == "make" or (program == "verletlab" and word in CUT) or elsewhere(command)
        assert known, f"`{command}` is not run: give its word a place in CUT, or it one in ELSEWHERE"
    for begins, (_, file, words) in ELSEWHERE.items():
        assert any(command.startswith(begins) for command in commands()), f"`{begins}` is shown no longer"
        assert words in (ROOT / file).read_text(), file
