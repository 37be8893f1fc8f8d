"""Error against cost of a hanging fabric, benchmarks/fabric_cost.py: closed form, rows, ratios, other programs."""

import math
from importlib.util import find_spec

import pytest

import pbd
from benchmarks import fabric_cost
from benchmarks.fabric_cost import NEWTON, PYPBD_STICKS, PYPBD_TRIANGLES, STICKS, TOGETHER, Point

needs_pypbd = pytest.mark.skipif(find_spec("pypbd") is None, reason="pyPBD is not installed")
needs_newton = pytest.mark.skipif(find_spec("newton") is None, reason="Newton is not installed")


def test_converged_programs_have_the_closed_form():
    # The weight w (L - z) below z stretches by w (L - z)/k: by w L²/2k in all, 1.57 mm for denim.
    denim = pbd.FABRICS["denim"]
    assert pytest.approx(9.81 * denim.density / (2 * denim.warp)) == fabric_cost.EXACT
    assert abs(fabric_cost.run(TOGETHER, 5, 1, 1).error) < 1e-6
    assert abs(fabric_cost.run(STICKS, 5, 64, 8).error) < 1e-3


def test_a_sheet_has_its_mass_and_half_as_stiff_sticks_at_its_sides():
    sheet = fabric_cost.hanging_sheet(4)
    # All but half a row: pinned masses are infinite. Sticks: 4 x 3 across, 4 x 3 down, of which 2 x 3 are at the sides.
    assert sheet.masses[4:].sum() == pytest.approx(fabric_cost.FABRIC.density * (1 - 1 / 6))
    assert (sheet.stiffness == fabric_cost.FABRIC.warp).sum() == 18
    assert (sheet.stiffness == fabric_cost.FABRIC.warp / 2).sum() == 6


def test_rows_ratios_and_picture(monkeypatch, tmp_path):
    points = {
        (TOGETHER, 1): Point(2.0, 1e-6, "a"), (STICKS, 1): Point(1.0, -200.0, "b"), (STICKS, 9): Point(6.0, -5.0, "c"),
    }  # fmt: skip
    monkeypatch.setattr(fabric_cost, "run", lambda name, count, substeps, iterations: points[name, iterations])
    monkeypatch.setitem(fabric_cost.MISSING, NEWTON, "no_such_module")
    ladders = {TOGETHER: ((1, 1),), STICKS: ((1, 1), (1, 9)), NEWTON: ((1, 1),)}
    lines = list(fabric_cost.fabric_cost(8, tmp_path / "cost.svg", ladders))
    found = {line.split(",")[1]: float(line.split(",")[3]) for line in lines if not line.startswith("#")}
    assert found["8x8 sticks 1 substeps 1 iterations"] == 1000
    assert found["8x8 sticks 1 substeps 1 iterations error"] == -200
    assert found["8x8 sticks to fabric together at 10 %"] == 3  # the cheap setting is not within 10 %
    assert any("Newton VBD is left out" in line for line in lines)
    assert "# 8x8 sticks has no setting with an error of 1 % or less" in lines
    assert "sticks" in (tmp_path / "cost.svg").read_text("utf-8")


@needs_pypbd
def test_sticks_of_pypbd_have_the_error_of_ours():
    # Both are XPBD, with the same steps, iterations and order of sticks up to their colours.
    ours, theirs = (fabric_cost.run(name, 5, 16, 1).error for name in (STICKS, PYPBD_STICKS))
    assert theirs == pytest.approx(ours, rel=0.01)


@needs_pypbd
def test_triangles_of_pypbd_become_stiffer_with_iterations_whatever_their_stiffness():
    assert fabric_cost.run(PYPBD_TRIANGLES, 5, 64, 4).error < -90


@needs_newton
def test_newton_has_the_closed_form():
    # In 32 bits the elongation is right to 1e-4.
    assert math.isclose(fabric_cost.run(NEWTON, 5, 16, 10).error, 0.0, abs_tol=0.1)


@pytest.mark.parametrize("setting", [(1, 1), (4, 2)])
def test_conjugate_gradients_leave_a_millionth_at_rest(monkeypatch, setting):
    # They end at 1e-8 of the error of a free fall, which moves the edge by less than a millionth of its stretch.
    monkeypatch.setattr("pbd.implicit.tables.MOST_PRODUCTS", 0)
    assert abs(fabric_cost.run(TOGETHER, 20, *setting).error) < 1e-4  # [%]
