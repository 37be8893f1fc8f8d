"""Error against cost of rods, benchmarks/rods.py: closed forms, rows, ratios, other programs."""

from importlib.util import find_spec

import numpy as np
import pytest

from benchmarks import rods
from benchmarks.rod_plots import best_of
from benchmarks.rod_programs import (
    CANTILEVER,
    DIRECT,
    ITERATED,
    MUJOCO,
    OURS,
    PERTURBATION,
    PYELASTICA,
    RING,
    TURNS,
    ring,
)
from benchmarks.rods import Point

needs_pypbd = pytest.mark.skipif(find_spec("pypbd") is None, reason="pyPBD is not installed")
needs_mujoco = pytest.mark.skipif(rods.is_missing(MUJOCO), reason="MuJoCo 4 is not installed")
needs_pyelastica = pytest.mark.skipif(find_spec("elastica") is None, reason="PyElastica is not installed")


def test_reference_is_the_elastica():
    # A heavy cantilever with w L³/EI = 10 falls by 1.0668 of its reach.
    x, up = rods.reference(False, False)
    assert -up / x == pytest.approx(1.0668, abs=5e-5)
    stretched, sheared = rods.reference(True, False), rods.reference(True, True)
    # Its stretch is a part of w L/EA, its shear one of w L/GA: both are small.
    assert 1e-5 < np.linalg.norm(stretched - (x, up)) < rods.WEIGHT / (rods.YOUNG * rods.AREA)
    assert 1e-5 < np.linalg.norm(sheared - stretched) < rods.WEIGHT / rods.SHEARING


def test_a_ring_has_its_length_and_its_twist():
    nodes, axes = ring(12)
    edges = np.roll(nodes, -1, axis=0) - nodes
    assert np.linalg.norm(edges, axis=1).sum() == pytest.approx(rods.LENGTH, abs=1e-9)
    assert np.abs(np.einsum("nij,nkj->nik", axes, axes) - np.eye(3)).max() < 1e-12
    assert rods.amplitude(nodes) == pytest.approx(PERTURBATION, rel=1e-9)
    # The first axis turns by 2π/12 of TURNS about the tangent between two segments.
    first, tangent = axes[:, 0], axes[:, 2]
    outwards = np.cross(tangent, (0, 0, 1))
    angles = np.arctan2(np.sum(first * np.cross(tangent, outwards), axis=1), np.sum(first * outwards, axis=1))
    assert np.abs(np.angle(np.exp(1j * (np.diff(angles) - 2 * np.pi * TURNS / 12)))).max() < 1e-5


def test_ours_has_errors_of_second_order():
    ten, twenty = (rods.run(OURS, CANTILEVER, n, 1, 1).error for n in (10, 20))
    assert twenty < 0.2
    assert ten / twenty == pytest.approx(4, rel=0.1)
    assert abs(rods.run(OURS, RING, 20, 1, 1).error) < 2


def test_rows_ratios_and_picture(monkeypatch, tmp_path):
    points = {
        (OURS, 20): Point(2.0, 0.05, "a"), (DIRECT, 20): Point(5.0, 0.5, "b"), (DIRECT, 40): Point(6.0, 0.05, "c"),
    }  # fmt: skip
    monkeypatch.setattr(rods, "run", lambda name, case, segments, substeps, iterations: points[name, segments])
    monkeypatch.setattr(rods, "is_missing", lambda name: name == PYELASTICA)
    ladders = {
        CANTILEVER: {OURS: ((20, 1, 1),), DIRECT: ((20, 1, 1), (40, 1, 1)), PYELASTICA: ((20, 300, 1),)},
        RING: {OURS: ((20, 1, 1),)},
    }  # fmt: skip
    lines = list(rods.rods(tmp_path / "cost.svg", ladders))
    found = {line.split(",")[1]: float(line.split(",")[3]) for line in lines if not line.startswith("#")}
    assert found["cantilever ours 20 segments 1 substeps 1 iterations"] == 2000
    assert found["ring ours 20 segments 1 substeps 1 iterations error"] == 0.05
    assert found["cantilever pyPBD direct to ours at 1 %"] == 2.5
    assert found["cantilever pyPBD direct to ours at 0.1 %"] == 3
    assert any("PyElastica is left out" in line for line in lines)
    assert "pyPBD direct" in (tmp_path / "cost.svg").read_text("utf-8")


def test_the_line_of_the_plot_joins_the_best_settings():
    points = [Point(3.0, -0.2, ""), Point(1.0, 1.0, ""), Point(2.0, 4.0, ""), Point(4.0, 0.3, "")]
    assert [each.seconds for each in best_of(points)] == [1, 3]


def test_what_buckles_outside_the_range_has_no_error(monkeypatch):
    monkeypatch.setattr(rods, "growth_of", lambda name, ratio, *setting: (-1.0, 2.0, "a"))
    point = rods.buckled(OURS, 20, 1, 1)
    assert point.seconds == 2
    assert np.isnan(point.error)
    # The line through both ends of the last range finds where growth is zero, 4 % above the theory.
    monkeypatch.setattr(rods, "growth_of", lambda name, ratio, *setting: (ratio / rods.RATIO - 1.04, 2.0, "a"))
    assert rods.buckled(OURS, 20, 1, 1).error == pytest.approx(4, abs=1e-9)


@needs_pypbd
def test_pypbd_bends_as_it_should():
    assert rods.run(DIRECT, CANTILEVER, 20, 1, 1).error < 0.3
    assert rods.run(ITERATED, CANTILEVER, 10, 20, 10).error < 1.2


@needs_mujoco
def test_mujoco_bends_as_it_should():
    assert rods.run(MUJOCO, CANTILEVER, 20, 4, 1).error < 0.1


@needs_pypbd
def test_a_ring_of_pypbd_is_twisted_and_stays_in_its_plane_below_the_threshold():
    assert rods.growth_of(ITERATED, 0.9 * rods.RATIO, 10, 20, 10)[0] < 0


@needs_pyelastica
def test_pyelastica_bends_as_it_should():
    assert rods.run(PYELASTICA, CANTILEVER, 10, 300, 1).error < 0.7


@needs_pyelastica
def test_a_ring_of_pyelastica_is_straight_at_rest_and_buckles():
    assert rods.growth_of(PYELASTICA, 0.9 * rods.RATIO, 10, 450, 1)[0] < 0
    assert rods.growth_of(PYELASTICA, 1.1 * rods.RATIO, 10, 450, 1)[0] > 0
