"""What the documents show is run: their Python in a fresh process, and every file they point to is there."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def examples():
    for name in ("README.md", "CONTRIBUTING.md"):
        for number, code in enumerate(re.findall(r"```python\n(.*?)```", (ROOT / name).read_text(), re.DOTALL)):
            yield pytest.param(code, id=f"{name}-{number}")


@pytest.mark.parametrize("code", list(examples()))
def test_example_runs(code, tmp_path):
    script = tmp_path / "example.py"  # a file, because Taichi reads its functions from their source
    script.write_text(code)
    environment = {**os.environ, "TI_OPT_LEVEL": "0"}  # as in tests/conftest.py
    done = subprocess.run([sys.executable, script], cwd=tmp_path, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    if "AREA" in code:
        assert float(done.stdout.split()[-1]) == pytest.approx(0.8, abs=1e-9)
    if "sheet" in code or "build.cloth" in code:
        assert len(re.findall(r"lowest -?\d", done.stdout)) == 3
    if "scenes.film" in code:
        assert (tmp_path / "bridge.npz").stat().st_size > 0
        assert (tmp_path / "bridge.mp4").stat().st_size > 0


def test_readme_has_its_example_in_fifteen_lines():
    code = re.search(r"## Fifteen lines\n\n```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)[1]
    assert len([line for line in code.splitlines() if line.strip()]) <= 15


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md"])
def test_links_lead_somewhere(name):
    text = (ROOT / name).read_text()
    for target in re.findall(r"\]\(([^)#]+)\)", text):
        if "://" not in target:
            assert (ROOT / target).exists(), target


def test_media_are_small_and_have_a_command_each():
    script = (ROOT / "media" / "make.sh").read_text()
    files = [path for path in (ROOT / "media").iterdir() if path.suffix in (".png", ".gif", ".mp4")]
    for path in files:
        assert path.stat().st_size < 3e6, path
        command = {".png": "still", ".gif": "moving", ".mp4": "film"}[path.suffix]
        assert re.search(rf"^{command} {path.stem} ", script, re.MULTILINE), path
    assert {path.suffix for path in files} == {".png", ".gif", ".mp4"}
