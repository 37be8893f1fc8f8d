"""The wheel of verletlab: it is built, installed, and a test suite of a user runs with it."""

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
    """A scene of a user: a door that falls open."""
    model = rigid.Model(gravity=(0, 0, -gravity))
    door = model.add_box((0.8, 0.05, 0.8), mass=10.0, position=(0.4, 0, 0), name="door")
    model.add_hinge(rigid.GROUND, door, (0, 0, 0), (0, 1, 0), name="hinge")
    return scenes.Scene(model=model, duration=0.3, settings={"impulse": {"dt": 1e-3, "contacts": False}}, name="swing")


SOLVERS = ["impulse", "articulated"]


def test_modules_come_from_the_wheel():
    for module in (scenes, rigid, sys.modules["pbd"], sys.modules["scenes.pytest_plugin"]):
        assert Path(module.__file__).is_relative_to(SITE)


def test_solvers_agree(compare_solvers, tmp_path):
    found = compare_solvers(swing(), SOLVERS, probe="door", tolerance=0.01)
    assert found.save(tmp_path, films=False)[-1].exists()


def test_heavier_variant_deviates():
    heavier = scenes.Variant("impulse", "heavier", swing(2 * 9.81))
    with pytest.raises(AssertionError, match="heavier deviates"):
        assert_solvers_agree(swing(), [*SOLVERS, heavier], probe="hinge", tolerance=0.01)


def test_failure(compare_solvers):
    compare_solvers(swing(), [*SOLVERS, scenes.Variant("impulse", "heavier", swing(2 * 9.81))], tolerance=0.01)
'''


def call(*words, **given):
    """Run a program. Returns: the process, with its output, also if it failed."""
    return subprocess.run([sys.executable, *map(str, words)], capture_output=True, text=True, timeout=300, **given)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A directory with the contents of the wheel alone, which is built from a copy of the sources."""
    version = metadata.version("setuptools")
    if tuple(map(int, version.split(".")[:2])) < (70, 1):
        pytest.skip(f"setuptools {version} builds no wheels: expected at least 70.1, see the extra `dev`")
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


def test_suite_of_a_user_runs_with_the_wheel(site, tmp_path):
    # The process does not find the sources: no directory that it searches before the wheel's has them.
    (tmp_path / "test_own.py").write_text(f"SITE = {str(site)!r}\n{SUITE}", "utf-8")
    (tmp_path / "pytest.ini").write_text("[pytest]\ncompare_solvers_folder = plots\n", "utf-8")
    environment = {**os.environ, "PYTHONPATH": str(site), "TI_OPT_LEVEL": "0"}
    result = call("-m", "pytest", "-p", "no:cacheprovider", "-q", cwd=tmp_path, env=environment)
    assert "1 failed, 3 passed" in result.stdout, result.stdout + result.stderr
    for line in (
        "E       AssertionError: solvers disagree in scene 'swing', tolerance 0.01, reference impulse:",
        "E         heavier deviates, first at 0.",
        "E       agreeing: articulated (",
        f"plot: {tmp_path / 'plots' / 'test_failure.png'}",
    ):
        assert line in result.stdout
    assert (tmp_path / "plots" / "test_failure.png").exists()


def test_command_is_installed(site, tmp_path):
    result = call("-m", "scenes", "list", cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(site)})
    assert result.stderr == ""
    assert result.stdout.startswith("aircraft_roll\t")
    assert (site / "bin" / "verletlab").exists() or (site / "Scripts" / "verletlab.exe").exists()
