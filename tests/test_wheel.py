"""The source distribution and the wheel of verletlab: they are built, installed, and a user's test suite runs.

The wheel is built from the source distribution, as an index or a package manager of a system would do it.
"""

import email
import os
import re
import shutil
import subprocess
import sys
import tarfile
from importlib import metadata
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = ("pbd", "rigid", "scenes", "verletlab")
DOCUMENTS = ("README.md", "LICENSE", "CHANGELOG.md", "CITATION.cff")
SOURCES = (*PACKAGES, *DOCUMENTS, "setup.py", "pyproject.toml", "MANIFEST.in")

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


PIP = ("-m", "pip", "--disable-pip-version-check", "--quiet")
BUILD = "import sys, setuptools.build_meta as build; build.build_sdist(sys.argv[1])"


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    """The source distribution, built from a copy of the sources."""
    version = metadata.version("setuptools")
    if tuple(map(int, version.split(".")[:2])) < (70, 1):
        pytest.skip(f"setuptools {version} builds no wheels: expected at least 70.1, see the extra `dev`")
    folder = tmp_path_factory.mktemp("archive")
    sources = folder / "sources"
    sources.mkdir()
    for name in SOURCES:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, sources / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, sources / name)
    built = call("-c", BUILD, folder, cwd=sources)
    assert built.returncode == 0, built.stderr
    (found,) = folder.glob("verletlab-*.tar.gz")
    return found


@pytest.fixture(scope="module")
def site(archive, tmp_path_factory):
    """A directory with the contents of the wheel alone, which is built from the source distribution."""
    folder = tmp_path_factory.mktemp("wheel")
    built = call(*PIP, "wheel", archive, "--no-deps", "--no-build-isolation", "--no-index", "--wheel-dir", folder)
    assert built.returncode == 0, built.stderr
    (wheel,) = folder.glob("verletlab-*.whl")
    placed = call(*PIP, "install", wheel, "--no-deps", "--no-index", "--target", folder / "site")
    assert placed.returncode == 0, placed.stderr
    return folder / "site"


@pytest.mark.slow
def test_archive_and_wheel_have_all_files_of_the_packages(archive, site):
    files = [path for package in PACKAGES for path in (ROOT / package).rglob("*") if path.is_file()]
    files = {path.relative_to(ROOT).as_posix() for path in files if "__pycache__" not in path.parts}
    assert files >= {f"{package}/py.typed" for package in PACKAGES}
    assert not {name for name in files if not (site / name).exists()}
    with tarfile.open(archive) as opened:
        held = {name.partition("/")[2] for name in opened.getnames()}
    assert {*files, *DOCUMENTS} <= held


@pytest.mark.slow
def test_description_for_an_index_shows_nothing_of_the_repository(archive, site):
    (file,) = site.glob("verletlab-*.dist-info/METADATA")
    found = email.message_from_string(file.read_text("utf-8"))
    text = found.get_payload()
    assert found["Description-Content-Type"] == "text/markdown"
    assert "# verletlab" in text and "## Fifteen lines" in text  # noqa: PT018
    checked = call("-m", "twine", "check", "--strict", archive)
    assert checked.returncode == 0, checked.stdout
    assert not [link for link in re.findall(r"\]\(([^)]*)\)", text) if not link.startswith("https://")]


def test_one_version():
    def find(pattern, file):
        return re.search(pattern, (ROOT / file).read_text("utf-8"), re.MULTILINE).group(1)

    version = find(r'^version = "(.*)"$', "pyproject.toml")
    assert find(r"^version: (.*)$", "CITATION.cff") == find(r"^## ([\d.]+)", "CHANGELOG.md") == version
    sources = [path for package in PACKAGES for path in (ROOT / package).rglob("*.py")]
    assert not [path for path in sources if version in path.read_text("utf-8")]  # they read the metadata


@pytest.mark.slow
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


@pytest.mark.slow
def test_command_is_installed(site, tmp_path):
    result = call("-m", "scenes", "list", cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(site)})
    assert result.stderr == ""
    assert result.stdout.startswith("aircraft_roll\t")
    assert (site / "bin" / "verletlab").exists() or (site / "Scripts" / "verletlab.exe").exists()


ALIASES = """
import sys, verletlab
assert not {"pbd", "rigid", "scenes", "taichi"} & set(sys.modules), "not lazy"
import verletlab.pbd.constraints.stick as stick
from verletlab.rigid import Model
from verletlab import scenes
import pbd, pbd.constraints.stick, rigid, scenes as own
assert verletlab.pbd is pbd and verletlab.rigid is rigid and scenes is own and Model is rigid.Model
assert stick is pbd.constraints.stick and stick.__spec__.name == stick.__name__ == "pbd.constraints.stick"
files = [getattr(module, "__file__", None) for name, module in sys.modules.items() if not name.startswith("verletlab.")]
own = [file for file in files if file and any(f"/{name}/" in file for name in ("pbd", "rigid", "scenes"))]
assert len(own) == len(set(own)) > 50, "a module has two copies"
print(verletlab.__version__)
"""


@pytest.mark.slow
def test_packages_have_a_common_name_without_copies(site, tmp_path):
    result = call("-c", ALIASES, cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(site)})
    assert result.returncode == 0, result.stderr
    (file,) = site.glob("verletlab-*.dist-info/METADATA")
    assert f"Version: {result.stdout.split()[-1]}\n" in file.read_text("utf-8")


@pytest.mark.slow
def test_archive_installs_and_runs_in_a_bare_environment(archive, tmp_path):
    # pip takes all packages from the index that it is configured for.
    assert call("-m", "venv", tmp_path / "bare").returncode == 0
    programs = tmp_path / "bare" / ("Scripts" if os.name == "nt" else "bin")
    python = programs / "python"
    installed = subprocess.run([python, *PIP, "install", archive], capture_output=True, text=True, timeout=900)
    if "No matching distribution" in installed.stderr:
        pytest.skip("no package index")
    assert installed.returncode == 0, installed.stderr
    words = ("render", "pendulum", "--duration", "0.1", "--size", "64x36", "--out", "a.png")
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    command = (programs / "verletlab", *words)
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, env=environment, timeout=300)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "a.png").stat().st_size > 0
