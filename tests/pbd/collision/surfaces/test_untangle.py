"""Surfaces that start crossed are moved apart, or refused."""

import numpy as np
import pytest
from marks import cases
from sheets import add_line, add_sheet

import pbd
from pbd.collision.surfaces.untangle import untangled


def turned_about_y(degrees):
    c, s = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    return np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]])


def sheet_and(add):
    """A sheet, and what crosses it. Args: add: function (particles)."""
    particles = pbd.Particles(gravity=(0, 0, 0))
    add_sheet(particles, 9, 0.4, thickness=0.005)
    add(particles)
    return particles


def poke(particles):
    sheet, _ = add_sheet(particles, 7, 0.3, (0.01, 0.013, 0.02), thickness=0.005)
    particles.positions()[sheet[24], 2] = -0.02


def cross(degrees, offset):
    return lambda particles: add_sheet(
        particles, 8, 0.3, (offset, 0.013, 0), turned_about_y(degrees), thickness=0.005
    )  # fmt: skip


def rope(height):
    return lambda particles: add_line(
        particles, (0.02, 0.013, height - 0.2), (0.03, 0.01, height + 0.2), 14, radius=0.004
    )  # fmt: skip


CROSSED = {
    "poke": poke, "edge": cross(5, 0.19), "half": cross(20, 0.12), "across": cross(90, 0.05), "rope": rope(0.12),
    "middle": rope(0.0),
}  # fmt: skip


@pytest.mark.parametrize("name", cases(CROSSED, slow=("edge", "half", "across", "middle")))
def test_what_starts_crossed_is_moved_apart_and_stays_apart(name):
    particles = sheet_and(CROSSED[name])
    with pytest.raises(ValueError, match="crosses the triangle"):
        pbd.ParticleSystem(particles)
    before = particles.positions().copy()
    system = pbd.ParticleSystem(particles, substeps=8, iterations=5, damping=0.1, untangle=True)
    assert system.crossings() == 0
    assert (particles.positions() == before).all()  # the description stays as it is
    for surface in particles.surfaces:
        lengths = [np.linalg.norm(np.diff(x[surface.edges()], axis=1), axis=2) for x in (before, system.positions())]
        # The poked vertex alone was described with long edges.
        assert name == "poke" or np.abs(lengths[1] / lengths[0] - 1).max() < 0.05
    for _ in range(30):
        system.step()
        assert system.crossings() == 0


def test_what_does_not_cross_is_left_as_it_is():
    particles = sheet_and(lambda particles: add_sheet(particles, 5, 0.2, (0, 0, 0.01), thickness=0.005))
    assert untangled(particles) is particles


def test_what_is_pinned_stays():
    particles = pbd.Particles(gravity=(0, 0, 0))
    pinned, _ = add_sheet(particles, 9, 0.4, mass=np.inf, thickness=0.005)
    cross(20, 0.12)(particles)
    system = pbd.ParticleSystem(particles, untangle=True)
    assert system.crossings() == 0
    assert (system.positions()[pinned] == particles.positions()[pinned]).all()


def test_what_has_no_way_out_is_refused():
    # A rope, pinned at both ends, through a pinned sheet.
    particles = pbd.Particles(gravity=(0, 0, 0))
    add_sheet(particles, 9, 0.4, mass=np.inf, thickness=0.005)
    line = add_line(particles, (0.02, 0.013, -0.1), (0.03, 0.01, 0.1), 8, radius=0.004)
    particles.masses()[line[[0, -1]]] = np.inf
    with pytest.raises(ValueError, match="untangle: 1 edge still crosses"):
        pbd.ParticleSystem(particles, untangle=True)
