"""Convergence of a curtain over its mesh, benchmarks/curtain.py."""

import numpy as np
import pytest

import pbd
from benchmarks import curtain
from benchmarks.curtain import Shape


def test_the_rail_is_as_long_as_the_cloth_is_wide():
    points = curtain.rail(4_001)
    steps = np.linalg.norm(np.diff(points, axis=0), axis=1)
    assert steps.sum() == pytest.approx(curtain.SIDE, rel=1e-5)
    assert np.ptp(steps) < 1e-5 * steps.mean()
    assert np.ptp(points[:, 0]) == pytest.approx(curtain.GATHERED)
    assert (np.diff(np.sign(points[1:-1, 1])) != 0).sum() == 2 * curtain.FOLDS - 1


def test_orders_and_periods_are_those_of_closed_forms():
    values = [3.0 + 0.7 * spacing**1.5 for spacing in (0.4, 0.2, 0.1)]
    assert curtain.order(*values) == pytest.approx(1.5)
    assert np.isnan(curtain.order(1.0, 2.0, 1.5))
    times = (np.arange(240) + 1) / 60
    assert curtain.period(np.cos(2 * np.pi * times / 1.27)) == pytest.approx(1.27, rel=1e-4)


def test_meshes_are_halved_down_to_the_coarsest():
    assert curtain.meshes(200) == [25, 50, 100, 200]
    assert curtain.meshes(60) == [30, 60]
    assert curtain.meshes(20) == [20]


def test_rows_compare_with_the_finest(monkeypatch):
    shapes = {count: Shape(0.09 + 1 / count**2, 1e-3, 1.3, 1.0, "digest") for count in (25, 50, 100)}
    monkeypatch.setattr(curtain, "hang", lambda count, fabric: shapes[count])
    lines = [line.split(",") for line in curtain.curtain(100)]
    values = {line[1]: float(line[3]) for line in lines}
    assert values["cotton 25 folds"] == pytest.approx(91.6)
    assert values["cotton 25 folds order"] == pytest.approx(2.0)
    assert values["cotton 50 folds to the finest"] == pytest.approx(100 * (0.0904 / 0.0901 - 1), rel=1e-3)
    assert np.isnan(values["cotton 25 sag order"])


def test_a_coarse_curtain_hangs_and_swings():
    found = curtain.hang(13, pbd.FABRICS["cotton"])
    assert 0.04 < found.folds < 0.14  # the rail's waves are 0.138 m deep
    # A cloth of little weight hangs lower by its folds and its stretch, which are small.
    assert 0 < found.sag < 0.02
    # The first mode of a hanging sheet, 2π √(L/g)/1.2024 (zero of J0 over two), is 1.67 s; bending makes it shorter.
    assert 0.8 < found.period < 1.67
    assert len(found.digest) == 16
