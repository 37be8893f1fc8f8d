"""Plants of sticks: the skeleton is connected, stems are as stiff as round rods, and a plant stands and sways."""

import math

import numpy as np
import pytest
from scipy.linalg import eigh
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

import pbd
from pbd.build import plant
from pbd.build.growth import turned
from pbd.build.plant_of_sticks import GOLDEN_ANGLE, OFFSET, RIGIDITY


def grown(**options):
    particles = pbd.Particles()
    return particles, plant(particles, twist=False, **options)


def stiffness_matrix(positions, sticks, compliances):
    """Stiffness (n, 3, n, 3) of springs along sticks: a force of e (e·u)/α at both ends, e along the stick."""
    count = len(positions)
    matrix = np.zeros((count, 3, count, 3))
    for (i, j), compliance in zip(sticks, compliances):
        direction = (positions[j] - positions[i]) / np.linalg.norm(positions[j] - positions[i])
        block = np.outer(direction, direction) / compliance
        for a, b, sign in ((i, i, 1), (j, j, 1), (i, j, -1), (j, i, -1)):
            matrix[a, :, b, :] += sign * block
    return matrix


def sticks_with_compliance(particles):
    rigid, soft = (particles.constraint_sets.get(("stick", compliant)) for compliant in (False, True))
    members, numbers = soft.arrays()
    if rigid is None:
        return members, numbers[:, 1]
    pairs = rigid.arrays()[0]
    return np.concatenate([members, pairs]), np.append(numbers[:, 1], np.full(len(pairs), 1e-9))


@pytest.mark.parametrize("seed", range(4))
def test_a_plant_is_connected_to_its_roots(seed):
    particles, made = grown(seed=seed)
    count = len(particles)
    graph = coo_array((np.ones(len(made.sticks)), made.sticks.T), shape=(count, count))
    assert connected_components(graph, directed=False)[0] == 1
    assert np.flatnonzero(np.isinf(particles.masses())).tolist() == made.roots.tolist() == [0, 1, 2]
    assert (particles.masses() > 0).all()
    # At least three sticks hold each moving particle, and no stick occurs twice.
    assert (np.bincount(made.sticks.ravel(), minlength=count)[3:] >= 3).all()
    assert len({tuple(sorted(pair)) for pair in made.sticks.tolist()}) == len(made.sticks)
    assert set(np.unique(made.triangles)) <= set(made.particles)
    assert len(made.triangles) > 50
    assert (particles.triangles() == made.triangles).all()


def test_the_same_seed_grows_the_same_plant():
    assert (grown(seed=3)[0].positions() == grown(seed=3)[0].positions()).all()
    assert grown(seed=3)[0].positions().shape != grown(seed=4)[0].positions().shape or not np.allclose(
        grown(seed=3)[0].positions(), grown(seed=4)[0].positions()
    )


def test_axes_of_stems_follow_the_particles():
    particles, made = grown(levels=0, leaf_length=0, height=2.0, segments=10, base=(1, 2, 3))
    axes = made.axes(particles.positions())
    foot, tip = axes[made.segments[:, 0]], axes[made.segments[:, 1]]
    assert foot[:, :2] == pytest.approx(np.array([(1, 2)] * 10), abs=1e-12)
    assert foot[:, 2] == pytest.approx(3 + 0.2 * np.arange(10))
    assert tip[:, 2] == pytest.approx(3 + 0.2 * np.arange(1, 11))
    assert (made.radii[1:, 0] == made.radii[:-1, 1]).all()
    # Frustums of cones. The first node is pinned, so half of the first piece has no mass here.
    lengths = np.linalg.norm(particles.positions()[4:] - particles.positions()[3:-1], axis=1)
    radii = made.radii[1:]
    wood = 700 * math.pi / 3 * (lengths * (radii[:, 0] ** 2 + radii.prod(axis=1) + radii[:, 1] ** 2)).sum()
    moving = particles.masses()[3:].sum()
    assert wood < moving < 1.3 * wood


def test_a_stem_bends_like_a_round_rod():
    """The tip of a cantilever moves by F L³ / 3 E I. The foot lengthens a stem of n nodes, O(1/n)."""
    count, spacing = 120, 0.1
    k = np.arange(count + 3)
    positions = np.array([(j - 2) * spacing * np.array([0, 0, 1.0]) for j in k])
    positions += OFFSET * spacing * np.array([turned(np.array([0, 0, 1.0]), j * GOLDEN_ANGLE) for j in k])
    sticks = [(j, j - back) for j in k for back in (1, 2, 3) if j >= back]
    rigidity = 7.0
    compliance = RIGIDITY * (OFFSET * spacing) ** 2 * spacing / rigidity
    matrix = stiffness_matrix(positions, sticks, np.full(len(sticks), compliance))[3:, :, 3:, :].reshape(3 * count, -1)
    for axis in (0, 1):
        force = np.zeros(3 * count)
        force[-3 + axis] = 1.0
        deflection = np.linalg.solve(matrix, force)[-3 + axis]
        assert deflection == pytest.approx((count * spacing) ** 3 / (3 * rigidity), rel=3 / count + 0.02)


@pytest.mark.parametrize("seed", range(6))
def test_every_part_of_a_plant_is_stiff(seed):
    """The lowest frequency of its linear springs is far from zero. A part that is held to second order has zero."""
    particles, _ = grown(seed=seed)
    members, compliances = sticks_with_compliance(particles)
    moving = np.isfinite(particles.masses())
    matrix = stiffness_matrix(particles.positions(), members, compliances)[moving][:, :, moving]
    size = 3 * moving.sum()
    root = np.sqrt(np.repeat(particles.masses()[moving], 3))
    lowest = eigh(matrix.reshape(size, size) / root / root[:, None], eigvals_only=True, subset_by_index=[0, 0])
    assert np.sqrt(lowest[0]) / (2 * math.pi) > 1.0


def test_a_plant_stands_and_sways_in_the_wind():
    still, made = grown(seed=1)
    leaves = np.unique(made.triangles[:, 1:])
    wood = np.setdiff1d(made.particles, leaves)
    top = wood[np.argmax(still.positions()[wood, 2])]

    def deflection(wind, times):
        particles = pbd.Particles(wind=wind)
        plant(particles, seed=1, twist=False)
        system = pbd.ParticleSystem(particles, dt=1 / 60, iterations=10, substeps=4, damping=0.01)
        places = []
        for _ in range(times):
            system.step(30)
            places.append(system.positions() - particles.positions())
        return np.array(places)

    calm = deflection(None, 8)
    # It sags by at most a fifteenth of its height, and comes to rest.
    assert np.linalg.norm(calm[:, wood], axis=2).max() < 0.1
    assert np.abs(calm[-1] - calm[-2])[wood].max() < 5e-3
    gust = deflection(lambda time: (8.0 if time < 1.0 else 0.0, 0, 0), 8)
    assert gust[1, top, 0] > calm[1, top, 0] + 0.005  # leans with the wind
    assert gust[1, leaves, 0].mean() > calm[1, leaves, 0].mean() + 0.02
    assert np.abs(gust[-1, top] - calm[-1, top]).max() < 0.01  # and comes back


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"height": 0}, "height is 0"),
        ({"seed": -1}, "seed is -1: expected 0 or more"),
        ({"levels": -1}, "levels is -1"),
        ({"segments": 2}, "segments is 2: expected 3 or more"),
        ({"stiffness": -5}, "stiffness is -5"),
        ({"leaf_length": -1}, "leaf length is -1"),
        ({"radius": 0}, "radius is 0"),
    ],
)
@pytest.mark.parametrize("twist", [True, False])
def test_bad_input_is_refused(options, says, twist):
    particles = pbd.Particles()
    with pytest.raises(ValueError, match=says):
        plant(particles, twist=twist, **options)
    assert len(particles) == 0
