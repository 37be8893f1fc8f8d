"""Scenes in files of the user on the command line: files, functions, modules, and what is wrong with them."""

import re
import sys

import pytest

import rigid
from scenes.cli import main as cli
from scenes.registry import REGISTRY, available
from scenes.simulate.recording import Recording

FALL = """
import pbd
import scenes

def fall(height: float = 1.0):
    "A particle falls."
    particles = pbd.Particles()
    particles.add_particles([(0, 0, height)], 1.0)
    return scenes.Scene(particles, duration=0.2)
"""


@pytest.fixture(autouse=True)
def registry_as_before(tmp_path, monkeypatch):
    """Work in an empty folder, and forget the scenes and modules of the test."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    scenes, modules = dict(available()), set(sys.modules)
    yield
    REGISTRY.clear()
    REGISTRY.update(scenes)
    for name in set(sys.modules) - modules:
        if name.startswith(("scene_file_", "kept")):
            del sys.modules[name]


def run(words):
    return cli.main(words.split())


def fell(name):
    """How far the particle of a recording fell [m]."""
    positions = Recording.load(name).positions
    return positions[0, 0, 2] - positions[-1, 0, 2]


def test_file_function_and_module_are_the_same_scene(tmp_path, capsys):
    (tmp_path / "falling.py").write_text(FALL)
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "falling.py").write_text(FALL.replace("def fall", "def drop"))
    for number, words in enumerate(("falling.py", "falling.py:fall", "kept.falling:drop", "kept/falling.py")):
        if number == 3:
            REGISTRY.pop("drop")  # the module's
        assert run(f"run {words} --param height=2 --out {number}.npz --quiet") == 0, capsys.readouterr().err
        # Verlet keeps parabolas: g t²/2 after 0.2 s, to round-off
        assert fell(f"{number}.npz") == pytest.approx(9.81 * 0.2**2 / 2, rel=1e-12)
        assert Recording.load(f"{number}.npz").positions[0, 0, 2] == 2.0


@pytest.mark.slow
def test_a_new_file_runs_with_all_commands(capsys):
    assert run("new swing.py") == 0
    assert "verletlab view swing.py" in capsys.readouterr().out
    assert run("run swing.py --param boxes=2 --duration 0.1 --out r.npz") == 0
    assert re.search("scene  swing", capsys.readouterr().out)
    assert run("render swing.py --recording r.npz --out picture.png --size 160x90") == 0
    assert run("compare swing.py --solvers impulse,verlet --duration 0.1 --no-films --quiet") == 0
    assert run("bench swing.py --precision 64") == 0
    rows = [line.split(",") for line in capsys.readouterr().out.splitlines() if line.startswith("swing,")]
    assert [each[1] for each in rows[::2]] == [f"{name} step" for name in rigid.SOLVERS]
    assert all(float(each[3]) > 0 for each in rows)


@pytest.mark.slow
def test_the_start_is_a_scene_whose_ball_breaks_the_tower(capsys):
    assert run("new swing.py") == 0
    assert run("run swing.py --param boxes=3 --param angle=80 --out r.npz --quiet") == 0
    poses = Recording.load("r.npz").body_poses
    assert poses[0, :3, 2] == pytest.approx([0.15, 0.451, 0.752])
    assert poses[-1, 2, 2] < 0.5  # the upper box has fallen


def test_new_keeps_files_and_names_of_the_catalogue(tmp_path, capsys):
    (tmp_path / "mine.py").write_text("precious")
    assert run("new mine.py") == 2
    assert "mine.py: the file is there already: expected another name, or --force" in capsys.readouterr().err
    assert (tmp_path / "mine.py").read_text() == "precious"
    assert run("new mine.py --force") == 0
    assert "def mine(" in (tmp_path / "mine.py").read_text()
    assert run("new drape.py") == 0
    assert "def my_scene(" in (tmp_path / "drape.py").read_text()


WRONG = {
    "a missing file": ("fallin.py", None, "fallin.py: no such file; did you mean 'falling.py'?"),
    "a missing function": ("falling.py:fal", FALL, "no function 'fal'; did you mean 'fall'? (it has fall)"),
    "a missing module": ("nowhere.falling:fall", None, "no scene or module called 'nowhere.falling'"),
    "a function whose name is an emoji's": ("falling.py:x", FALL, "falling.py:x: no function 'x' (it has fall)"),
    "a file without its ending": ("falling", None, "no scene called 'falling'; did you mean 'falling.py'?"),
    "no function": ("empty.py", "x = 1", "empty.py has no function: expected one that returns a Scene"),
    "several functions": ("two.py", FALL + FALL.replace("def fall", "def drop"), "expected two.py:fall, two.py:drop"),
    "a required argument": ("needs.py", FALL.replace("height: float = 1.0", "height"),
                            "verletlab: parameter height of scene fall: expected a default, such as height=1"),
    "an unknown annotation": ("hint.py", FALL.replace("float", "'Metres'"), "annotations of scene fall: name 'Metres'"),
    "any arguments": ("any.py", FALL.replace("height: float = 1.0", "*heights"), "parameter *heights of scene fall"),
    "no Scene": ("none.py", "def none():\n    return 3\n", "verletlab: scene none is 3: expected a scenes.Scene"),
    "a syntax error": ("wrong.py", "def f(:\n", "wrong.py, line 1: SyntaxError"),
    "not Python": ("photo.py", "\x89PNG\x00", "photo.py"),
    "an error outside": ("bad.py", "x = 1\ny = undefined\n" + FALL, "bad.py, line 2: NameError: name 'undefined'"),
    "an error inside": ("bad.py", FALL.replace("1.0)\n    return", "mass)\n    return"), "bad.py, line 8: NameError"),
    "an exit outside": ("bad.py", "import sys\nsys.exit(3)\n" + FALL, "bad.py, line 2: SystemExit: 3"),
    "an exit inside": ("bad.py", FALL.replace("1.0)\n    return", "exit())\n    return"), "bad.py, line 8: SystemExit"),
    "an error in a module": ("kept.bad:fall", "x = 1\ny = undefined\n", "bad.py, line 2: NameError: name 'undefined'"),
    "a module without what it imports": ("kept.bad:fall", "import nowhere\n", "bad.py, line 1: ModuleNotFoundError"),
    "modules in a circle": ("kept.a:fall", "from kept.a import fall\n", "a.py, line 1: ImportError: cannot import"),
    "a name of the catalogue": ("pile.py", FALL.replace("def fall", "def drape"), "there is a scene drape already"),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_files_are_named_in_one_line(case, tmp_path, capsys):
    words, text, expected = WRONG[case]
    (tmp_path / "falling.py").write_text(FALL)
    if text is not None:
        place = words.partition(":")[0]
        file = tmp_path / (place if place.endswith(".py") else f"{place.replace('.', '/')}.py")
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)
    assert run(f"run {words}") == 2
    error = capsys.readouterr().err
    assert expected in error
    assert error.count("\n") == 1
    assert len(error) < 220


def test_a_registered_function_is_chosen_among_others(tmp_path):
    (tmp_path / "several.py").write_text(FALL.replace("def fall", "@scenes.register\ndef fall") + "def help(): pass\n")
    assert run("run several.py --out r.npz --quiet") == 0
    assert Recording.load("r.npz").about["scene"] == "fall"


def test_a_recording_never_runs_a_file_that_was_not_named(tmp_path, capsys):
    (tmp_path / "falling.py").write_text(FALL)
    assert run("run falling.py --out r.npz --quiet") == 0
    REGISTRY.pop("fall")
    assert run("render --recording r.npz --out r.png") == 2
    assert "is of scene 'fall': expected FILE.py:fall before it" in capsys.readouterr().err
