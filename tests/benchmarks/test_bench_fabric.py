"""The fabric laboratory of benchmarks/fabric.py: strips and drapes beside closed forms and published ranges."""

import math

import numpy as np
import pytest

import pbd
from benchmarks import fabric as laboratory
from pbd.core.topology import edges_of

ANGLES = {"warp": 0.0, "weft": math.pi / 2, "bias": math.pi / 4}


def lines_of(name, **given):
    """{case: value} of a fabric's lines."""
    lines = [line.split(",") for line in laboratory.laboratory([name], **given) if not line.startswith("#")]
    return {case.removeprefix(f"{name} "): float(value) for _, case, _, value, _, _ in lines}


@pytest.mark.parametrize("direction", ANGLES)
def test_a_pulled_strip_has_the_stiffness_of_its_direction(direction):
    # 1/k = c⁴/k_w + s⁴/k_f + (1/k_s - 2 ν/√(k_w k_f)) s² c². On the bias threads turn, so it holds to the order of the
    # strain: a strip of silk shears by k/2 k_s = 2 of its strain.
    silk, angle = pbd.FABRICS["silk"], ANGLES[direction]
    for strain in (0.01, 0.001):
        found = laboratory.tensile(silk, angle, strain)
        tolerance = 3 * strain if direction == "bias" else 1e-6
        assert found == pytest.approx(laboratory.stiffness_at(silk, angle), rel=tolerance)


def test_a_cantilever_gives_its_rigidity_back():
    # ASTM D1388: B = w L³/8 where the chord is at 41.5°, within 2 %, here with 20 rows.
    assert laboratory.cantilever(pbd.FABRICS["denim"]) == pytest.approx(97e-6, rel=0.02)


def test_the_shadow_of_a_flat_disc_and_of_a_rose():
    # A disc: its radius everywhere, as an apothem between vertices. A rose r = R (1 + 0.1 cos 5 θ) has five folds.
    mesh = laboratory.disc(15)
    outline = laboratory.shadow(mesh.vertices, edges_of(mesh.triangles))
    assert outline == pytest.approx(np.full(1440, 0.15), rel=1 - math.cos(math.pi / 90) + 1e-9)
    assert mesh.areas.sum() == pytest.approx(np.pi * 0.15**2, rel=1e-3)
    assert laboratory.folds_of(outline) == 0
    assert laboratory.folds_of(0.15 * (1 + 0.1 * np.cos(5 * laboratory.ANGLES))) == 5


def test_a_coarse_drape_and_its_lines(monkeypatch, tmp_path):
    # A stiff board stays flat: 100 %. Denim is within its published range even with ten rings.
    board = pbd.Fabric(1e4, 1e4, 4e3, 0.3, bending=1.0, density=0.3)
    assert laboratory.drape(board, 5).coefficient == pytest.approx(100, abs=1.5)  # a rim of 30 sides has 99.3 % area
    for name, value in (("RINGS", 10), ("COARSE", 5), ("STARTS", 1)):
        monkeypatch.setattr(laboratory, name, value)
    found = lines_of("denim", picture=tmp_path / "drapes.svg")
    least, most = laboratory.PUBLISHED["denim"]
    assert least < found["drape"] < most
    assert (found["drape published least"], found["drape published most"]) == (least, most)
    assert 3 <= found["folds"] <= 8
    assert found["intersections"] == 0
    assert found["warp"] == pytest.approx(found["warp given"], rel=1e-3)
    assert "denim" in (tmp_path / "drapes.svg").read_text("utf-8")


def test_wrong_names_are_refused_before_anything_is_measured(tmp_path):
    with pytest.raises(ValueError, match="denim"):
        laboratory.laboratory(["denin"])
    with pytest.raises(ValueError, match=r"\.png"):
        laboratory.laboratory(["denim"], picture=tmp_path / "drapes.gif")


@pytest.mark.slow
@pytest.mark.parametrize("name", pbd.FABRICS)
def test_strips_of_the_catalogue_measure_their_numbers(name):
    fabric = pbd.FABRICS[name]
    for angle in (ANGLES["warp"], ANGLES["weft"]):
        assert laboratory.tensile(fabric, angle) == pytest.approx(laboratory.stiffness_at(fabric, angle), rel=1e-3)
        assert laboratory.cantilever(fabric, angle) == pytest.approx(float(fabric.rigidity(angle)), rel=0.02)


@pytest.mark.slow
@pytest.mark.parametrize("name", laboratory.PUBLISHED)
def test_drapes_are_within_published_ranges(name):
    # BS 5058: the mean of several drapes, and 3 to 8 folds. Meshes of 15 and 20 rings differ by less than 4 points.
    found = lines_of(name)
    least, most = laboratory.PUBLISHED[name]
    assert least < found["drape"] < most
    assert 3 <= found["folds"] <= 8
    assert abs(found["drape at 15 rings less that at 20"]) < 4
    assert found["intersections"] == 0
