"""Cloth: it folds without passing through itself, and it comes to rest when it hangs."""

import numpy as np
import pytest
from marks import slow
from scipy.spatial import cKDTree

import pbd
import scenes
from pbd import build
from pbd.core.topology import edges_of


def crossings(positions, triangles):
    """Number of edges of a surface that pass through a triangle without a common vertex."""
    edges = edges_of(triangles)
    a, b = positions[edges[:, 0]], positions[edges[:, 1]]
    corners = positions[triangles]
    centres, middles = corners.mean(axis=1), (a + b) / 2
    reach = np.linalg.norm(b - a, axis=1).max() / 2 + np.linalg.norm(corners - centres[:, None], axis=2).max()
    near = cKDTree(middles).query_ball_tree(cKDTree(centres), reach)
    e = np.repeat(np.arange(len(edges)), [len(found) for found in near])
    t = np.concatenate([np.array(found, int) for found in near])
    apart = ~(edges[e][:, :, None] == triangles[t][:, None, :]).any(axis=(1, 2))
    e, t = e[apart], t[apart]
    # Möller and Trumbore (1997): a + s d = p + u e1 + v e2
    p, e1, e2 = corners[t, 0], corners[t, 1] - corners[t, 0], corners[t, 2] - corners[t, 0]
    d = b[e] - a[e]
    h = np.cross(d, e2)
    determinant = np.einsum("ij,ij->i", e1, h)
    with np.errstate(divide="ignore", invalid="ignore"):
        offset = a[e] - p
        u = np.einsum("ij,ij->i", offset, h) / determinant
        q = np.cross(offset, e1)
        v = np.einsum("ij,ij->i", d, q) / determinant
        s = np.einsum("ij,ij->i", e2, q) / determinant
        return int(((u >= 0) & (v >= 0) & (u + v <= 1) & (s >= 0) & (s <= 1)).sum())


def test_crossings_are_counted():
    triangles = np.array([(0, 1, 2), (3, 4, 5)])
    flat = np.array([(0, 0, 0), (2, 0, 0), (0, 2, 0)], float)
    upright = np.array([(0.5, 0.5, -1), (0.5, 0.5, 1), (5, 5, 1)])  # its edge 3 4 pierces the flat one, 1 2 pierces it
    assert crossings(np.concatenate([flat, upright]), triangles) == 2
    assert crossings(np.concatenate([flat, upright + [0, 0, 2]]), triangles) == 0


@pytest.mark.slow
@pytest.mark.parametrize("columns", [10, slow(24)])
def test_a_folding_ribbon_does_not_pass_through_itself(columns):
    width = 0.36
    scene = scenes.load("fold", columns=columns, thickness=0.9 * width / (columns - 1))
    system = pbd.ParticleSystem(scene.particles, **scene.settings["verlet"])
    triangles = scene.particles.triangles()
    for _ in range(11):
        system.step(30)
        x = system.positions()
        assert crossings(x, triangles) == 0, system.time
    # It did fold, into at least three layers.
    heights = np.sort(x[:, 2])
    assert heights[-1] < 0.5
    column = np.abs(x[:, :2] - np.median(x[:, :2], axis=0)).max(axis=1) < width / columns
    levels = np.sort(x[column, 2])
    assert 1 + (np.diff(levels) > 0.5 * scene.particles.radii()[0] * 2).sum() >= 3


@pytest.mark.slow
def test_a_cloth_hung_from_two_corners_comes_to_rest():
    # With damping d per step motion decays at least as (1 - d)^n. After ten seconds there is a sag and no jitter.
    particles = pbd.Particles()
    sheet = build.cloth(particles, (0, 0, 0), (1, 0, 0), (0, 0, -1), (21, 21), pins=("left_top", "right_top"))
    system = pbd.ParticleSystem(particles, dt=1 / 60, substeps=10, iterations=4, damping=0.03)
    system.step(600)
    before = system.positions()
    system.step(60)
    assert np.linalg.norm(system.positions() - before, axis=1).max() < 1e-4
    lengths = np.linalg.norm(np.diff(before[sheet.sticks], axis=1)[:, 0], axis=1)
    along = lengths < 0.06  # edges, not diagonals
    assert np.abs(lengths[along] / 0.05 - 1).max() < 0.05
