"""What `pip install verletlab` brings: the wheel, built and installed, and a person's own suite that runs on it."""

import os
import shutil
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCES = ("pbd", "rigid", "scenes", "pyproject.toml", "README.md", "LICENSE")

SUITE = '''
import sys
from pathlib import Path

import pytest

import rigid
import scenes
from scenes.testing import assert_solvers_agree


def swing(gravity=9.81):
    """A door that falls open: a scene of one's own."""
    model = rigid.Model(gravity=(0, 0, -gravity))
    door = model.add_box((0.8, 0.05, 0.8), mass=10.0, position=(0.4, 0, 0), name="door")
    model.add_hinge(rigid.GROUND, door, (0, 0, 0), (0, 1, 0), name="hinge")
    return scenes.Scene(model=model, duration=0.3, settings={"impulse": {"dt": 1e-3, "contacts": False}}, name="swing")


SOLVERS = ["impulse", "articulated"]


def test_nothing_of_this_is_a_checkout():
    for module in (scenes, rigid, sys.modules["pbd"], sys.modules["scenes.pytest_plugin"]):
        assert Path(module.__file__).is_relative_to(SITE)


def test_solvers_agree(compare_solvers, tmp_path):
    found = compare_solvers(swing(), SOLVERS, probe="door", tolerance=0.01)
    assert found.save(tmp_path, films=False)[-1].exists()


def test_one_is_heavier():
    heavier = scenes.Variant("impulse", "heavier", swing(2 * 9.81))
    with pytest.raises(AssertionError, match="heavier deviates"):
        assert_solvers_agree(swing(), [*SOLVERS, heavier], probe="hinge", tolerance=0.01)


def test_that_fails(compare_solvers):
    compare_solvers(swing(), [*SOLVERS, scenes.Variant("impulse", "heavier", swing(2 * 9.81))], tolerance=0.01)
'''


def call(*words, **given):
    """Run a program; what it said, where it failed too."""
    return subprocess.run([sys.executable, *map(str, words)], capture_output=True, text=True, timeout=300, **given)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A directory with what the wheel brings, built from a copy of the sources, and nothing else."""
    version = metadata.version("setuptools")
    if tuple(map(int, version.split(".")[:2])) < (70, 1):
        pytest.skip(f"setuptools {version} builds no wheels by itself: expected 70.1, as the extra `dev` has it")
    folder = tmp_path_factory.mktemp("wheel")
    sources = folder / "sources"
    sources.mkdir()
    for name in SOURCES:
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, sources / name)
    pip = ("-m", "pip", "--disable-pip-version-check", "--quiet")
    built = call(*pip, "wheel", sources, "--no-deps", "--no-build-isolation", "--no-index", "--wheel-dir", folder)
    assert built.returncode == 0, built.stderr
    (wheel,) = folder.glob("verletlab-*.whl")
    placed = call(*pip, "install", wheel, "--no-deps", "--no-index", "--target", folder / "site")
    assert placed.returncode == 0, placed.stderr
    return folder / "site"


def test_a_suite_of_one_s_own_needs_the_wheel_alone(site, tmp_path):
    # No path leads to the sources: they are in none of the directories that are searched before the wheel's.
    (tmp_path / "test_own.py").write_text(f"SITE = {str(site)!r}\n{SUITE}", "utf-8")
    (tmp_path / "pytest.ini").write_text("[pytest]\ncompare_solvers_folder = plots\n", "utf-8")
    environment = {**os.environ, "PYTHONPATH": str(site), "TI_OPT_LEVEL": "0"}
    told = call("-m", "pytest", "-p", "no:cacheprovider", "-q", cwd=tmp_path, env=environment)
    assert "1 failed, 3 passed" in told.stdout, told.stdout + told.stderr
    for line in (
        "E       AssertionError: solvers disagree in scene 'swing', tolerance 0.01, reference impulse:",
        "E         heavier deviates, first at 0.",
        "E       agreeing: articulated (",
        f"plot: {tmp_path / 'plots' / 'test_that_fails.png'}",
    ):
        assert line in told.stdout
    assert (tmp_path / "plots" / "test_that_fails.png").exists()


def test_the_command_is_there(site, tmp_path):
    told = call("-m", "scenes", "list", cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(site)})
    assert told.stderr == ""
    assert told.stdout.startswith("anthropomorphic_robot\t")
    assert (site / "bin" / "verletlab").exists() or (site / "Scripts" / "verletlab.exe").exists()
