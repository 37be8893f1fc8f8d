"""Run each command that the documents show, or find it in a list that names the place where it runs.

Commands are the lines of `sh` blocks, and code within text that begins with a program and has arguments. Commands of
verletlab run in this process, for a short time each.
"""

import re
import shlex
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
import trimesh
from documents import DOCUMENTS, ROOT, fences, spans

import benchmarks
from scenes.cli import main as cli
from scenes.cli.terminal import run_of
from scenes.export import export
from scenes.export.gltf import MOST_FRAMES
from scenes.registry import REGISTRY, available

PROGRAMS = ("apt", "apt-get", "brew", "git", "make", "pip", "pip3", "pipx", "pytest", "python", "python3", "sh", "uv",
            "verletlab")  # fmt: skip

# Flags that make commands short, by command. They follow the command's own flags and replace them.
CUT = {
    "list": (),
    "run": ("--duration", "0.02"),
    "render": ("--duration", "0.02", "--size", "64x36"),
    "bench": (),  # the test replaces each benchmark
    "new": (),
}

# Values for words in capitals. The test also writes the mesh files that commands name.
CAPITALS = {"SCENE": "box", "FILE": "box.png", "FILE.npz": "box.npz"}

# No other test uses their kernels, or another command shows the same.
SLOW = (
    "verletlab render pyramid", "verletlab render dominoes", "verletlab run stack", "verletlab run torn_cloth",
    "verletlab run five_link_chain --option block=no",
    "verletlab render drape --param collider=bunny.obj", "verletlab run wall.py",
)  # fmt: skip

# Commands that do not run here, by their beginning: the reason, and the file and text that show where they run.
ELSEWHERE = {
    "python3 -m pip install .": ("takes minutes; `make test` does it", "Makefile", "-m pip install"),
    "pip install '.[mjcf]'": ("the same, and there is such an extra", "pyproject.toml", "\nmjcf = ["),
    "pip install '.[peers]'": ("the same, and there is such an extra", "pyproject.toml", "\npeers = ["),
    "verletlab compare five_link_chain": (
        "needs the kernels of all solvers; another test runs it", "tests/scenes/comparison/test_compare_files.py",
        '"compare", "five_link_chain"',
    ),
    "pip install '.[view]'": ("the same, and there is such an extra", "pyproject.toml", "\nview = ["),
    "pip install '.[usd]'": ("the same, and there is such an extra", "pyproject.toml", "\nusd = ["),
    "pip install '.[gltf]'": ("the same, and there is such an extra", "pyproject.toml", "\ngltf = ["),
    "pip install '.[sweep]'": ("the same, and there is such an extra", "pyproject.toml", "\nsweep = ["),
    "pip install dask-jobqueue": ("the same", "pyproject.toml", '"dask-jobqueue'),
    "dask scheduler": ("runs until Ctrl-C; a test starts it", "tests/scenes/sweeps/test_cluster.py", '"scheduler"'),
    "dask worker": ("the same", "tests/scenes/sweeps/test_cluster.py", '"dask", "worker"'),
    "verletlab sweep bicycle_map.py": (
        "takes minutes; `make media` does it", "media/make.sh", "\nverletlab sweep bicycle_map.py",
    ),
    "python bicycle_map.py": ("the same", "media/make.sh", "\npython bicycle_map.py"),
    "verletlab sweep pendulum": (
        "starts processes; a test runs it", "tests/scenes/sweeps/test_cluster.py", '"verletlab sweep pendulum'
    ),
    "verletlab view drape": (
        "runs until Ctrl-C; a test stops it so", "tests/scenes/view/test_view_page.py", '"view", "drape"',
    ),
    "python media/solvers.py": ("takes minutes; `make media` does it", "media/make.sh", "\npython solvers.py"),
    "python media/pictures.py": ("the same", "media/make.sh", "\npython pictures.py"),
    "python tests/golden/golden.py write": ("changes the file", "tests/golden/golden.py", "write [SCENE ...]"),
    "python -m pytest tests/scenes/catalogue": ("takes minutes; `make test` does it", "Makefile", "-m pytest"),
    "verletlab bench device": (
        "measures a graphics card; a benchmark's test runs it", "tests/benchmarks/test_speed.py", 'rows("device")',
    ),
    "python tests/gpu/table.py": ("takes hours", "tests/gpu/table.py", "[SCENE SOLVER ...]"),
    "python docs/exercises/make.py": (
        "tests of the exercises do the same", "tests/test_exercises.py", "make.write(tmp_path",
    ),
    "python -m scenes": ("another test runs it", "tests/test_wheel.py", '"-m", "scenes", "list"'),
    "python -m build": ("a test builds the same", "tests/test_wheel.py", "build.build_sdist"),
    "python docs/replays.py": ("another test makes one", "tests/test_site.py", 'replays.main(["pendulum"])'),
    "python docs/course/make.py": (
        "another test draws and measures", "tests/course/test_course.py", "make.module_of(chapter).table()",
    ),
    "pip install pygame": ("the same", "pyproject.toml", '"pygame'),
    "pip install build": ("another test builds without it", "tests/test_wheel.py", "build.build_sdist"),
    "twine check": ("another test checks the same", "tests/test_wheel.py", '"twine", "check", "--strict"'),
    "pip install pytest": ("the same", "pyproject.toml", '"pytest>=8"'),
    "pytest test_stick.py": ("the same", "tests/test_exercises.py", 'f"test_{name}.py"'),
    "apt install libx11-6": ("needs root on Debian, and Taichi runs here without it", "README.md", "apt install"),
}


def commands():
    """All commands of the documents, each once."""
    found = []
    for path in DOCUMENTS:
        for block in fences(path, "sh"):
            lines = block.replace("\\\n", " ").splitlines()
            found += [line.strip() for line in lines if line.strip() and not line.lstrip().startswith("#")]
        found += [code for code in spans(path) if code.split()[0] in PROGRAMS and len(code.split()) > 1]
    return list(dict.fromkeys(found))


def recipe(target):
    """Lines that `make` would run for a target."""
    command = ["make", "--dry-run", "--no-print-directory", target]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def elsewhere(command):
    """Find the entry of ELSEWHERE for a command, or None."""
    return next((begins for begins in ELSEWHERE if command.startswith(begins)), None)


def ours():
    """Commands of verletlab, as parameters of a test."""
    for command in commands():
        if command.startswith("verletlab ") and not elsewhere(command):
            yield pytest.param(command, marks=[pytest.mark.slow] if command.startswith(SLOW) else [], id=command)


def write_meshes():
    """Write a ball of 16 cm, in millimetres, and a square cloth, in metres, to the current directory."""
    trimesh.creation.icosphere(2, 80.0).export("bunny.obj")
    x, y = np.meshgrid(np.linspace(-0.4, 0.4, 9), np.linspace(-0.4, 0.4, 9))
    corner = np.arange(81).reshape(9, 9)
    a, b, c, d = (corner[k : k + 8, j : j + 8].ravel() for k, j in ((0, 0), (0, 1), (1, 0), (1, 1)))
    triangles = np.concatenate([np.stack([a, b, c], axis=1), np.stack([c, b, d], axis=1)])
    cloth = trimesh.Trimesh(np.stack([x.ravel(), y.ravel(), 0 * x.ravel()], axis=1), triangles, process=False)
    cloth.export("shirt.ply")


def write_scene():
    """Write the scene of the README, which a guide repeats, to the current directory."""
    (text,) = {block for path in DOCUMENTS for block in fences(path, "python") if "def wall(" in block}
    Path("wall.py").write_text(text)


@pytest.fixture
def own_scenes_are_forgotten():
    """Remove scenes of files from the registry at the end, because a process knows one scene of each name."""
    before = set(available())
    yield
    for name in REGISTRY.keys() - before:
        del REGISTRY[name]


@pytest.mark.usefixtures("own_scenes_are_forgotten")
@pytest.mark.parametrize("command", list(ours()))
def test_command_runs(command, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    write_meshes()
    write_scene()
    words = [CAPITALS.get(word, word) for word in shlex.split(command)[1:]]
    if words[0] == "bench":
        for name in benchmarks.BENCHMARKS:
            monkeypatch.setitem(benchmarks.BENCHMARKS, name, lambda name=name, **settings: iter([f"{name},,,,,"]))
    out = Path(words[words.index("--out") + 1]) if "--out" in words else Path()
    cut = CUT[words[0]][: 2 if out.suffix in (".html", *export.ENDINGS) else None]  # only pictures have a size
    if "--recording" in words:  # the command before it in the document makes the recording
        assert cli.main(["run", "drape", "--out", "drape.npz", *CUT["run"], "--quiet"]) == 0
        cut = ()
    assert cli.main([*words, *cut]) == 0
    captured = capsys.readouterr()
    assert all(line.startswith("verletlab: note: ") for line in captured.err.splitlines())
    if "--out" in words:
        found = sorted(out.parent.glob(re.sub(r"%\d*d", "*", out.name)))
        assert found
        assert all(each.stat().st_size > 0 for each in found)
    elif words[0] == "bench":
        names = cli.parse(words).name
        assert [line.split(",")[0] for line in captured.out.splitlines()[1:]] == (names or list(benchmarks.BENCHMARKS))
    else:
        assert captured.out


def test_commands_for_glb_make_as_many_frames_as_it_can_hold():
    shown = [each for each in commands() if re.match(r"verletlab render .* --out \S+\.glb", each)]
    assert shown
    for command in shown:
        assert run_of(cli.parse(shlex.split(command)[1:])).count <= MOST_FRAMES, command


def test_every_benchmark_has_a_test():
    folder = ROOT / "tests" / "benchmarks"
    source = (folder / "test_speed.py").read_text()
    measured = set(re.findall(r'\brows\("(\w+)"', source))
    measured |= {name for name in benchmarks.BENCHMARKS if (folder / f"test_bench_{name}.py").exists()}
    assert measured == set(benchmarks.BENCHMARKS)


@pytest.mark.skipif(not shutil.which("make"), reason="there is no make")
def test_make_targets_exist_and_demo_is_a_command_of_the_readme():
    targets = [command.split()[1] for command in commands() if command.startswith("make ")]
    assert {"test", "test-all", "lint", "bench", "demo"} <= set(targets)
    for target in targets:
        assert recipe(target)
    (demo,) = (line for line in recipe("demo") if line.startswith(".venv/bin/verletlab "))
    assert demo.removeprefix(".venv/bin/") in commands()
    for target in ("test", "lint"):
        assert f"make {target}\n" in (ROOT / ".ci" / "run").read_text()


def test_every_command_runs_here_or_elsewhere():
    shown = commands()
    for command in shown:
        program, word = command.split()[:2]
        known = program == "make" or (program == "verletlab" and word in CUT) or elsewhere(command)
        assert known, f"`{command}` does not run: expected an entry in CUT or ELSEWHERE"
    for begins, (_, file, words) in ELSEWHERE.items():
        assert any(command.startswith(begins) for command in shown), f"`{begins}`: no document shows it"
        assert words in (ROOT / file).read_text(), file
