"""The command line: output, exit status and files."""

import re
import sys

import imageio.v2 as imageio
import numpy as np
import pytest
import trimesh

import pbd
import rigid
import scenes
import verletlab
from scenes.cli import main as cli
from scenes.cli import terminal
from scenes.registry import available
from scenes.simulate.recording import Recording
from scenes.simulate.run import Run

SMALL = ["--param", "grains=5", "--param", "sticks=2", "--duration", "0.1"]


@pytest.fixture
def nothing_runs(monkeypatch):
    """Fails the test if a scene runs."""
    monkeypatch.setattr(Run, "step", lambda self, count: pytest.fail("it runs"))


def one_line(text):
    """Check that a text is one line, and return it."""
    assert text.count("\n") == 1
    assert text.endswith("\n")
    return text[:-1]


def film(path):
    """Read the frames of a film."""
    with imageio.get_reader(path) as reader:
        return [frame[..., :3] for frame in reader]


# Wrong commands ------------------------------------------------------------------------------------------------------


WRONG = [
    ("", "no command: expected one of list, new, run, render"),
    ("rendr box", "no command 'rendr'; did you mean 'render'?"),
    ("run", "required: SCENE"),
    ("run bax", "no scene called 'bax'; did you mean 'box'?"),
    ("run box drape", "unexpected word 'drape'"),
    ("list bax", "no scene called 'bax'; did you mean 'box'?"),
    ("list box drape", "unexpected word 'drape'"),
    ("compare box --sweep", "no flag --sweep; it is called --cost now"),
    ("--verison", "no flag --verison; did you mean '--version'? (see `verletlab --help`)"),
    ("sweep pendulum --param angle=1,2 --out {tmp}/swings --jobs 0", "jobs is 0: expected 1 or more"),
    ("render box --out x.png --width 640", "no flag --width; did you mean '--size WxH'?"),
    ("run box --width 640", "no flag --width (see `verletlab run --help`)"),
    ("run box --duratoin 1", "no flag --duratoin; did you mean '--duration'?"),
    ("run box --solver verlett", "invalid choice: 'verlett'"),
    ("run box --device tpu", "invalid choice: 'tpu'"),
    ("run box --param grain=3", "no parameter 'grain'; did you mean 'grains'?"),
    ("run box --param grains", "--param grains: expected NAME=VALUE"),
    ("run box --param grains=many", "parameter grains of box is 'many': expected a whole number"),
    ("run box --param grains=-3", "scene box with grains=-3: "),
    ("run box --param friction=nan", "parameter friction of box is 'nan': expected a finite number"),
    ("run box --option iteration=3", "no option 'iteration'; did you mean 'iterations'?"),
    ("run chain --solver impulse --option blok=no", "'impulse' has no option 'blok'; did you mean 'block'?"),
    ("run chain --solver impulse --option damping=0.1", "'impulse' has no option 'damping'"),
    ("run chain --solver impulse --option block=maybe", "option block is 'maybe': expected true or false"),
    ("run box --option iterations", "--option iterations: expected NAME=VALUE"),
    ("run box --option iterations=x", "option iterations is 'x': expected a whole number"),
    ("run box --option damping=2", "damping is 2: expected 0 <= damping < 1"),
    ("run box --option schedule=colored", "schedule is 'colored': expected one of 'auto'"),
    *((f"run box --duration {bad}", "duration is") for bad in ("0", "-1", "nan", "inf", "1e-9", "1e300")),
    *((f"run box --dt {bad}", "dt is") for bad in ("0", "-1", "nan", "inf")),
    ("run box --dt 100", "duration is 6 s with steps of 100 s"),
    *((f"run box --fps {bad}", "fps is") for bad in ("0", "-1", "nan", "inf")),
    ("run box --fps fast", "invalid float value: 'fast'"),
    ("run box --out {tmp}/box", "box: suffix '': expected one of .npz"),
    ("run box --out {tmp}/box.mp4", "box.mp4: suffix '.mp4': expected one of .npz"),
    ("run box --out {tmp}/none/box.npz", "box.npz: there is no directory"),
    ("run box --out {tmp}/file/box.npz", "is a file, not a directory"),
    ("run box --out {tmp}/folder.npz", "folder.npz: is a directory"),
    ("render box", "required: --out"),
    ("render --out {tmp}/box.mp4", "no scene: expected its name, or --recording"),
    ("render box --out {tmp}/box", "suffix '': expected one of .mp4, .gif, .png"),
    ("render box --out {tmp}/box.avi", "suffix '.avi': expected one of"),
    ("render box --out {tmp}/none/box.mp4", "there is no directory"),
    ("render box --out {tmp}/file/box.mp4", "is a file, not a directory"),
    ("render box --out {tmp}/folder.mp4", "is a directory"),
    *((f"render box --out {{tmp}}/b.mp4 --size {bad}", f"--size {bad}: expected WIDTHxHEIGHT")
      for bad in ("big", "64", "64x", "1e3x5", "64x36x3", "6.4x3.6")),
    *((f"render box --out {{tmp}}/b.mp4 --size {bad}", "expected a whole number of pixels from 1 to 16384")
      for bad in ("0x0", "64x0", "100000x100000", "64x-36")),
    ("render box --out {tmp}/b.mp4 --fps nan", "fps is nan"),
    ("render box --out {tmp}/b.mp4 --stress 1", "no stress to draw: expected cloth of a fabric"),
    ("render jelly --out {tmp}/b.mp4 --stress -1", "--stress is -1: expected a number above zero"),
    ("render jelly --out {tmp}/b.mp4 --stress 1 --strain 1", "argument --strain: not allowed with argument --stress"),
    ("render --recording {tmp}/none.npz --out {tmp}/b.mp4", "no recording at"),
    ("render --recording {tmp}/file --out {tmp}/b.mp4", "is not a recording"),
    ("run drape --param collider={tmp}/none.stl", "there is no mesh file"),
    ("run drape --param cloth={tmp}/none.obj", "there is no mesh file"),
    ("run drape --param cloth={tmp}/folder.obj", "folder.obj is a directory: expected a mesh file"),
    ("run drape --param collider={tmp}/junk.stl", "junk.stl holds no triangles"),
    ("run drape --param collider={tmp}/open.stl", "open edges"),
    ("run drape --param collider={tmp}/open.stl --param units=miles", "unit is 'miles': expected one of 'm', 'cm'"),
    ("run drape --param collider={tmp}/file", "file type of file is ''"),
    ("compare", "required: SCENE"),
    ("compare chian", "no scene called 'chian'; did you mean 'chain'?"),
    ("compare chain --solvers impulse,verlett", "solver is 'verlett': expected one of"),
    ("compare chain --solvers impulse,impulse", "label 'impulse' is given twice"),
    ("compare chain --reference impuls", "reference is 'impuls': expected one of"),
    ("compare chain --equal times", "invalid choice: 'times'"),
    ("compare chain --probe angel", "no probe called 'angel' in scene chain; did you mean 'angle'?"),
    ("compare chain --option iterations=5", "--option iterations=5: expected SOLVER.NAME=VALUE"),
    ("compare chain --option impuls.iterations=5", "solver in settings is 'impuls': expected one of"),
    ("compare chain --option impulse.iteration=5", "'impulse' has no option 'iteration'; did you mean 'iterations'?"),
    ("compare chain --dt 0", "dt is 0"),
    ("compare chain --duration nan", "duration is nan"),
    ("compare box --solvers impulse,penalty", "no solver can run scene box: solver 'impulse' cannot"),
    ("compare box --out {tmp}", "the directory is not empty: expected another --out, or --force"),
    ("compare box --out {tmp}/file", "is a file, not a directory"),
    ("compare box --out {tmp}/file/box", "is a file, not a directory"),
    ("bench stick", "no benchmark called 'stick'; did you mean 'sticks'?"),
]  # fmt: skip


@pytest.mark.parametrize("library", ["dask", "distributed", "pandas", "pyarrow"])
def test_sweep_names_a_missing_library_before_it_starts(library, command, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, library, None)
    status, _, errors = command("sweep", "pendulum", "--param", "angle=10,20", "--out", tmp_path / "sweep")
    assert status == 2
    # In an environment without the extra, another of its libraries may be named.
    assert "is not installed: pip install 'verletlab[sweep]'" in one_line(errors)
    assert not list(tmp_path.iterdir())


@pytest.mark.usefixtures("nothing_runs")
@pytest.mark.parametrize(("words", "message"), WRONG, ids=[words or "nothing" for words, _ in WRONG])
def test_wrong_command_prints_one_line_with_status_two(command, tmp_path, words, message):
    (tmp_path / "file").write_text("text")
    (tmp_path / "junk.stl").write_text("junk")
    (tmp_path / "folder.npz").mkdir()
    (tmp_path / "folder.obj").mkdir()
    (tmp_path / "folder.mp4").mkdir()
    hollow = trimesh.creation.box()
    hollow.update_faces(np.arange(12) > 1)
    hollow.export(tmp_path / "open.stl")
    there = sorted(tmp_path.iterdir())
    status, output, errors = command(*words.format(tmp=tmp_path).split())
    assert status == 2
    assert output == ""
    assert one_line(errors).startswith("verletlab: ")
    assert message in errors
    assert sorted(tmp_path.iterdir()) == there


@pytest.mark.parametrize("words", [[], ["list"], ["run"], ["render"], ["compare"], ["bench"]])
def test_help_fits_a_narrow_terminal(capsys, monkeypatch, words):
    monkeypatch.setenv("COLUMNS", "40")
    with pytest.raises(SystemExit) as stop:
        cli.main([*words, "--help"])
    output = capsys.readouterr().out
    assert stop.value.code == 0
    assert "--help" in output
    assert max(len(line) for line in output.splitlines() if not line.startswith("usage:")) <= 40


def test_version_is_that_of_the_package(capsys):
    with pytest.raises(SystemExit) as stop:
        cli.main(["--version"])
    assert stop.value.code == 0
    assert capsys.readouterr().out == f"verletlab {verletlab.__version__}\n"


@pytest.mark.parametrize("module", [pbd, rigid, scenes, verletlab])
def test_dir_lists_public_names(module):
    """Also those that are imported when they are first used, and no modules that are internal."""
    assert dir(module) == sorted(module.__all__)
    assert all(hasattr(module, name) for name in dir(module))


def test_bug_prints_one_line(command, monkeypatch):
    def broken(self):
        raise KeyError("left")

    monkeypatch.setattr(Run, "frames", broken)
    status, output, errors = command("run", "box", *SMALL)
    assert (status, output) == (1, "")
    assert one_line(errors) == "verletlab: KeyError: 'left'"


@pytest.mark.usefixtures("nothing_runs")
@pytest.mark.parametrize("word", ["run", "render"])
def test_unsupported_solver_is_a_wrong_command(command, monkeypatch, tmp_path, word):
    out = ["--out", tmp_path / "a.png"] if word == "render" else []
    status, output, errors = command(word, "box", "--solver", "impulse", *out)
    assert (status, output) == (2, "")
    assert "solver 'impulse' cannot run scene box: it moves bodies only, and the scene has" in one_line(errors)

    def refuse(*words, **options):
        raise NotImplementedError("gear 0: there are none as yet")

    monkeypatch.setattr(rigid, "solver", refuse)
    assert command(word, "chain", "--solver", "impulse", *out) == (2, "", "verletlab: gear 0: there are none as yet\n")
    assert not list(tmp_path.iterdir())


# Listing -------------------------------------------------------------------------------------------------------------


def test_list_in_a_pipe_has_one_line_per_scene(command):
    status, output, _ = command("list")
    assert status == 0
    rows = [line.split("\t") for line in output.splitlines()]
    assert [len(row) for row in rows] == [3] * len(rows)
    names = [name for name, _, _ in rows]
    assert names == sorted(names)
    assert {"box", "drape", "ragdoll", "rope_bridge", "stack"} <= set(names)
    assert "grains=60" in rows[names.index("box")][2].split()


def test_list_of_one_scene_has_its_solvers(command, monkeypatch):
    status, output, _ = command("list", "chain")
    assert status == 0
    _, every, _ = command("list")
    solvers = f"solvers: {', '.join(scenes.load('chain').solvers)}"
    assert one_line(output).split("\t") in [[*line.split("\t"), solvers] for line in every.splitlines()]
    monkeypatch.setattr(terminal, "out", terminal.Console(force_terminal=True, width=80, color_system=None))
    lines = command("list", "chain")[1].splitlines()
    assert (lines[0], lines[-1].strip()) == ("chain", solvers)


@pytest.mark.parametrize("width", [40, 80, 200])
def test_list_on_a_terminal_fits_its_width(command, monkeypatch, width):
    monkeypatch.setattr(terminal, "out", terminal.Console(force_terminal=True, width=width, color_system=None))
    status, output, _ = command("list")
    assert status == 0
    lines = output.splitlines()
    assert max(map(len, lines)) <= width
    assert "box" in lines
    words = output.split()
    assert "friction=0.1" in words  # not broken, so it can be copied
    assert len(lines) <= (7 if width == 40 else 4) * len(available())


# Running -------------------------------------------------------------------------------------------------------------


def test_run_prints_a_summary_and_saves(command, tmp_path):
    path = tmp_path / "box.npz"
    status, output, errors = command("run", "box", *SMALL, "--fps", 30, "--out", path)
    assert (status, errors) == (0, "")
    assert re.search(r"time  0\.1 s in 4 frames", output)
    recording = Recording.load(path)
    assert recording.about["digest"] in output
    assert recording.about["parameters"]["grains"] == "5"
    assert len(recording) == 4
    assert len(recording.positions[0]) == 5 + 2 * 2


@pytest.mark.parametrize("word", ["run", "render"])
def test_quiet_prints_nothing(command, tmp_path, word):
    out = tmp_path / ("box.npz" if word == "run" else "box.mp4")
    size = ["--size", "64x36"] if word == "render" else []
    assert command(word, "box", *SMALL, "--quiet", "--out", out, *size) == (0, "", "")
    assert out.exists()


@pytest.mark.parametrize(("size", "shape"), [("64x36", (36, 64)), ("65x37", (38, 66)), ("1x1", (2, 2))])
def test_render_makes_a_film(command, tmp_path, size, shape):
    path = tmp_path / "box.mp4"
    status, output, errors = command("render", "box", *SMALL, "--size", size, "--out", path)
    width, height = size.split("x")
    assert (status, errors) == (0, "")
    assert one_line(output) == f"{path}: 3 frames of {width} x {height}"
    assert [frame.shape[:2] for frame in film(path)] == [shape] * 3  # H.264 needs even sizes


def test_render_makes_one_run(command, tmp_path, monkeypatch):
    made = []
    build = Run.__init__
    monkeypatch.setattr(Run, "__init__", lambda self, *rest, **more: made.append(1) or build(self, *rest, **more))
    assert command("render", "box", *SMALL, "--size", "64x36", "--out", tmp_path / "box.png")[0] == 0
    assert command("run", "box", *SMALL)[0] == 0
    assert len(made) == 2


def test_render_draws_a_recording(command, tmp_path, monkeypatch):
    recorded, path = tmp_path / "box.npz", tmp_path / "box.gif"
    command("run", "box", *SMALL, "--out", recorded)
    monkeypatch.setattr(Run, "step", lambda self, count: pytest.fail("it runs"))
    drawn = ["--recording", recorded, "--size", "64x36", "--out", path]
    assert command("render", *drawn)[:2] == (0, f"{path}: 3 frames of 64 x 36\n")
    assert command("render", "box", *drawn, "--fps", "50")[:2] == (0, f"{path}: 5 frames of 64 x 36\n")
    for wrong, message in (
        (["drape"], "is of scene 'box', not of 'drape'"),
        (["--dt", "0.01"], "--dt cannot be used with --recording"),
        (["--param", "grains=5"], "--param cannot be used with --recording"),
        (["--option", "iterations=5"], "--option cannot be used with --recording"),
    ):
        status, _, errors = command("render", *wrong, *drawn)
        assert status == 2
        assert message in one_line(errors)


def test_meshes_from_files(command, tmp_path):
    """A cube of 500 mm with y up, and a cloth in the same units."""
    cube = trimesh.creation.box((500, 800, 500))
    cube.export(tmp_path / "cube.stl")
    side = np.linspace(-400, 400, 9)
    x, z = np.meshgrid(side, side)
    corner = np.arange(81).reshape(9, 9)
    a, b, c, d = corner[:-1, :-1].ravel(), corner[:-1, 1:].ravel(), corner[1:, :-1].ravel(), corner[1:, 1:].ravel()
    triangles = np.concatenate([np.stack([a, b, c], 1), np.stack([c, b, d], 1)])
    vertices = np.stack([x.ravel(), 0 * x.ravel(), z.ravel()], 1)
    trimesh.Trimesh(vertices, triangles, process=False).export(tmp_path / "cloth.obj")
    path = tmp_path / "own.npz"
    status, _, errors = command(
        "run", "drape", "--param", f"collider={tmp_path}/cube.stl", "--param", f"cloth={tmp_path}/cloth.obj",
        "--param", "units=mm", "--param", "up=y", "--param", "thickness=0.02", "--duration", "0.05", "--out", path,
    )  # fmt: skip
    assert (status, errors) == (0, "")
    positions = Recording.load(path).positions
    assert positions.shape[1] == 81
    # The cloth is flat, 0.8 m wide, and 5 cm above the cube, which is 0.8 m high.
    assert np.ptp(positions[0], axis=0) == pytest.approx([0.8, 0.8, 0])
    assert positions[0, :, 2] == pytest.approx(0.85)


def test_diverged_run_reports_the_step_and_keeps_its_frames(command, leap, tmp_path):
    out, path = tmp_path / "leap.npz", tmp_path / "leap.mp4"
    status, output, errors = command("run", leap, "--out", out)
    assert (status, output) == (1, "")
    assert "particle 0 (world 0) stopped being finite in step 31, at 0.516667 s" in one_line(errors)
    assert f"{out} holds the 31 frames before it" in errors
    assert len(Recording.load(out)) == 31
    status, output, errors = command("render", leap, "--size", "64x36", "--out", path)
    assert (status, output) == (1, "")
    assert f"; {path} holds the 16 frames before it" in one_line(errors)
    assert len(film(path)) == 16


def test_ctrl_c_before_the_first_frame_leaves_no_file(command, tmp_path, monkeypatch):
    def interrupt(self):
        raise KeyboardInterrupt

    monkeypatch.setattr(Run, "frame", interrupt)
    assert command("run", "box", *SMALL, "--out", tmp_path / "box.npz") == (130, "", "verletlab: stopped\n")
    assert command("render", "box", *SMALL, "--out", tmp_path / "box.mp4") == (130, "", "verletlab: stopped\n")
    assert not list(tmp_path.iterdir())
