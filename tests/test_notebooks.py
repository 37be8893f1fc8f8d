"""Notebooks of the documentation run, and show what they promise."""

import json
import os
import re

import pytest
from documents import ROOT

NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))


def outputs(path, tmp_path):
    """Outputs of all cells, as (type, text), in the order of the notebook."""
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    notebook = nbformat.read(path, as_version=4)
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "TI_OPT_LEVEL": "0"}
    client = nbclient.NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(tmp_path)}})
    client.execute(env=environment)
    for output in (output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs):
        if output.output_type == "stream":
            assert "[Taichi]" not in output.text or output.name == "stderr"  # no banner
            yield output.name, output.text
        else:
            yield from output.data.items()


def last_number(text):
    return float(text.replace("]", " ").split()[-1])


@pytest.mark.slow
def test_cloth(tmp_path):
    found = list(outputs(NOTEBOOKS[0].with_name("cloth.ipynb"), tmp_path))
    pages = [text for kind, text in found if kind == "text/html"]
    assert "<table>" in pages[0] and "1600, 0" in pages[0]  # noqa: PT018
    assert pages[1].startswith("<video ")
    assert any(kind == "image/png" for kind, _ in found)
    (lowest,) = (text for kind, text in found if kind == "stdout")
    assert float(lowest.split()[2]) > 0.0


@pytest.mark.slow
def test_verlet(tmp_path):
    found = [text for kind, text in outputs(NOTEBOOKS[0].with_name("verlet.ipynb"), tmp_path) if kind == "stdout"]
    assert len(found) == 3
    # The numpy loop, the parabola and the recurrence of a spinning stick are the system's own, to round-off.
    assert all(last_number(text) < 1e-11 for text in found)


@pytest.mark.slow
def test_stick(tmp_path):
    *printed, moved = (text for kind, text in outputs(NOTEBOOKS[0].with_name("stick.ipynb"), tmp_path))
    lengths = re.findall(r"length (\S+) becomes (\S+)", "".join(printed))
    assert len(lengths) == 9  # three iterations over three sticks
    assert {after for _, after in lengths} == {"1.0000"}
    # The upper end has a quarter of the mass of both, so it moves by three quarters of 0.4 m.
    assert [float(each) for each in moved.split()] == pytest.approx([-0.3, -1.3])


@pytest.mark.slow
def test_solvers(tmp_path):
    pages = [text for kind, text in outputs(NOTEBOOKS[0].with_name("solvers.ipynb"), tmp_path) if kind == "text/html"]
    assert all(solver in pages[0] for solver in ("verlet", "impulse", "articulated", "penalty", "deviation"))
    assert pages[1].startswith("<video ")


@pytest.mark.slow
def test_constraint(tmp_path):
    found = [text for kind, text in outputs(NOTEBOOKS[0].with_name("constraint.ipynb"), tmp_path) if kind == "stdout"]
    errors = json.loads(found[0])
    # Newton's method on a function with a curvature of order one: the next error is about the square of the last.
    assert all(after < 2 * before**2 + 1e-15 for before, after in zip(errors, errors[1:]))
    assert last_number(found[-1]) < 1e-9  # central differences: ε² and round-off/ε
