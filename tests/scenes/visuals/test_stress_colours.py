"""Colours of stress and strain: bands of triangles."""

import numpy as np
import pytest
import trimesh
from blocks import body

import pbd
from pbd import build
from scenes.registry import load
from scenes.simulate.recording import Frame
from scenes.visuals import ClothVisual, SkinVisual, StressVisual
from scenes.visuals.stress import BANDS, band_colours, in_bands

SOLID = pbd.Solid(young=1e6, poisson=0.0, density=1000.0)


def frame_of(positions):
    nothing = np.zeros((0, 7))
    return Frame(0.0, positions, np.zeros((0, 3)), nothing, nothing, nothing)


def strip():
    """Particles of a strip of cloth, along x."""
    particles = pbd.Particles()
    build.cloth(particles, (0, 0, 0), (0, 0.1, 0), (1, 0, 0), (41, 5), fabric="denim")
    return particles


def test_a_pulled_strip_has_one_colour_for_each_strain():
    # A strip of length 1 + e x/2 has the strain e x, so a band is a stretch of it.
    particles, largest = strip(), 0.1
    positions = particles.positions()
    positions[:, 0] += largest * positions[:, 0] ** 2 / 2
    surfaces = StressVisual(particles, largest, "strain").draw(frame_of(positions))
    assert len(surfaces) == BANDS
    assert sum(len(each.triangles) for each in surfaces) == len(particles.membranes[0].triangles)
    for band, (surface, colour) in enumerate(zip(surfaces, band_colours())):
        np.testing.assert_allclose(surface.colour, colour)
        middles = surface.vertices[surface.triangles].mean(axis=1)[:, 0]
        assert (np.abs(middles - (band + 0.5) / BANDS * 1.04) < 0.5 / BANDS + 0.05).all()


def test_von_mises_stress_of_a_pulled_block_is_its_stress():
    # Pulled along one axis with ν = 0 the others have none, and von Mises' stress is that along it. Round-off of E is
    # 1e-10 Pa.
    particles, points = body(SOLID, (2, 2, 2))
    for stretch in (1.0, 1.02, 1.04):
        positions = points * (stretch, 1, 1)
        stress = particles.solids[0].stresses(positions)[0]
        found = StressVisual(particles, 1e5, skin=SkinOfCorners(particles)).sizes_at_particles(positions)
        np.testing.assert_allclose(found, stress[0, 0] - stress[1, 1], atol=1e-6)
        assert found[0] == pytest.approx(1e6 * (stretch - 1), rel=0.03, abs=1e-8)


class SkinOfCorners:
    """A skin whose vertices are the particles."""

    def __init__(self, particles):
        self.triangles = particles.solids[0].tetrahedra[:, :3]

    def vertices(self, positions):
        return positions


def test_an_element_without_volume_is_red():
    particles, points = body(SOLID, (1, 1, 1))
    surfaces = StressVisual(particles, 1e5, skin=SkinOfCorners(particles)).draw(frame_of(points * (1, 1, 0)))
    assert len(surfaces) == 1
    np.testing.assert_allclose(surfaces[0].colour, band_colours()[-1])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: StressVisual(pbd.Particles(), 1.0), "no membranes to draw"),
        (lambda: StressVisual(strip(), 1.0, skin=object()), "no solids to draw"),
        (lambda: StressVisual(strip(), 0.0), "largest"),
        (lambda: StressVisual(strip(), float("nan")), "largest"),
        (lambda: StressVisual(strip(), 1.0, "tension"), "of"),
        (lambda: StressVisual(body(pbd.Solid(1e5, yield_strain=0.1))[0], 1.0, skin=object()), "a material that flows"),
    ],
)
def test_nonsense_is_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize(
    ("name", "given", "coloured", "left"),
    [
        ("fabrics", {"rings": 5}, 1, 1),  # the plates are left
        ("balloon", {"subdivisions": 1}, 1, 1),  # the board
        ("jelly", {"resolution": 3}, 3, 4),  # the stair
        ("beam", {"resolution": 4}, 3, 1),  # the wall
    ],
)
def test_bands_take_the_place_of_what_draws_elements(name, given, coloured, left):
    scene = load(name, **given)
    found = in_bands(scene.visuals, scene.particles, "strain", 0.25)
    bands = [each for each in found if isinstance(each, StressVisual)]
    assert [(each.of, each.largest) for each in bands] == coloured * [("strain", 0.25)]
    assert len(found) == coloured + left


def test_cloth_and_soft_bodies_of_sticks_keep_their_colours():
    particles = strip()
    sheet = build.cloth(particles, (0, 0, 1), (1, 0, 0), (0, 1, 0), (3, 3))
    body = build.soft_body(particles, trimesh.creation.box((0.3, 0.3, 0.3)), 3)
    visuals = [ClothVisual(particles.triangles()), SkinVisual(body.skin)]
    _, cloth, skin = in_bands(visuals, particles, "stress", 1.0)
    np.testing.assert_array_equal(cloth.triangles, sheet.triangles)
    assert skin is visuals[1]


@pytest.mark.parametrize("particles", [None, pbd.Particles()])
def test_a_scene_without_elements_is_refused(particles):
    with pytest.raises(ValueError, match="no stress to draw: expected cloth of a fabric"):
        in_bands([], particles, "stress", 1.0)
