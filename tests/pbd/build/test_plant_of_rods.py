"""Plants of rods: stems bend, twist and swing as tapered bars do, and leaves turn with them."""

import math

import numpy as np
import pytest
from scipy.integrate import trapezoid
from scipy.linalg import eigh
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

import pbd
from pbd.build import plant
from pbd.build.plant import TAPER
from pbd.description.rod_frames import frames_of

HEIGHT, FOOT, YOUNG, DENSITY, POISSON = 1.5, 0.025, 1e9, 700.0, 0.3  # the default numbers
HEIGHTS = np.linspace(0, HEIGHT, 20001)
RADII = FOOT * (1 - (1 - TAPER) * HEIGHTS / HEIGHT)
RIGIDITY = YOUNG * math.pi * RADII**4 / 4
REST = {"dt": 1 / 60, "iterations": 4, "damping": 0.03}


def grown(gravity=(0, 0, -9.81), wind=None, **options):
    """A plant. Returns: particles, the Plant."""
    # Air without density has no effect, and with it the kernels are those of the scene `plant`.
    air = {"wind": (0, 0, 0), "air_density": 0.0} if wind is None else {"wind": wind}
    particles = pbd.Particles(gravity=gravity, **air)
    return particles, plant(particles, **options)


def trunk(**options):
    """A bare trunk without weight. Returns: particles, the Plant, its tip."""
    particles, made = grown((0, 0, 0), levels=0, leaf_length=0, **options)
    return particles, made, made.sticks[-1, 1]


def settled(particles, steps=900, forces=None, **options):
    """A system after some steps. Args: forces: {particle: (3,)} [N]."""
    system = pbd.ParticleSystem(particles, **{**REST, **options})
    loads = np.zeros((len(particles), 3))
    for particle, force in (forces or {}).items():
        loads[particle] = force
    system.set_forces(loads)
    system.step(steps)
    return system


@pytest.mark.parametrize("seed", range(3))
def test_a_plant_of_rods_is_connected_and_stands_in_the_ground(seed):
    particles, made = grown(seed=seed)
    count, masses = len(particles), particles.masses()
    segments = particles.rod_segments()
    pairs = np.concatenate([segments[:, :2], segments[:, 1:], made.triangles[:, :2], made.triangles[:, 1:]])
    assert connected_components(coo_array((np.ones(len(pairs)), pairs.T), shape=(count, count)))[0] == 1
    assert np.flatnonzero(np.isinf(masses)).tolist() == made.roots.tolist()
    assert len(made.roots) == 3
    assert len(made.particles) == count
    assert (particles.triangles() == made.triangles).all()
    assert len(made.triangles) > 50
    assert (segments[made.rods, :2] == made.sticks[: len(made.rods)]).all()
    axes = made.axes(particles.positions())
    assert axes[made.segments] == pytest.approx(particles.positions()[segments[made.rods, :2]])
    lengths = np.linalg.norm(np.diff(axes[made.segments], axis=1)[:, 0], axis=1)
    wood = DENSITY * math.pi / 3 * (lengths * ((made.radii**2).sum(axis=1) + made.radii.prod(axis=1))).sum()
    leaves = 0.2 * 0.3 * 0.15**2 * len(made.triangles) / 2
    # The trunk's lower half segment hangs on the ground.
    weights = particles.gravity_scales()[np.isfinite(masses)] * masses[np.isfinite(masses)]
    assert weights.sum() == pytest.approx(wood + leaves, abs=DENSITY * math.pi * FOOT**2 * lengths[0] / 2)
    assert np.isclose(masses[np.isfinite(masses)].sum(), weights.sum(), rtol=0.01)


@pytest.mark.parametrize(("iterations", "segments", "within"), [(2, 12, 0.007), (4, 12, 0.007), (4, 24, 0.002)])
def test_the_tip_of_a_trunk_moves_as_that_of_a_tapered_bar(iterations, segments, within):
    """F ∫ (L - s)² ds/EI, which is 2.6 times F L³/3EI of its foot. Each segment has one EI: second order."""
    force = 0.05
    particles, _, tip = trunk(segments=segments)
    moved = settled(particles, forces={tip: (force, 0, 0)}, iterations=iterations).positions()[tip, 0]
    expected = trapezoid(force * (HEIGHT - HEIGHTS) ** 2 / RIGIDITY, HEIGHTS)
    assert expected > 1.5 * force * HEIGHT**3 / (3 * RIGIDITY[0])
    assert moved == pytest.approx(expected, rel=within)


def test_a_trunk_swings_with_the_lowest_frequency_of_a_tapered_bar():
    """By Rayleigh and Ritz with eight polynomials."""
    powers, part = np.arange(2, 10)[:, None], HEIGHTS / HEIGHT
    shapes, bends = part**powers, powers * (powers - 1) * part ** (powers - 2) / HEIGHT**2
    stiffness, mass = (
        trapezoid(weight * each[:, None] * each[None], HEIGHTS)
        for each, weight in ((bends, RIGIDITY), (shapes, DENSITY * math.pi * RADII**2))
    )
    expected = math.sqrt(eigh(stiffness, mass, eigvals_only=True)[0]) / (2 * math.pi)
    particles, _, tip = trunk()
    options = {"dt": 1 / 240, "substeps": 16, "direction": "start"}
    system = settled(particles, 400, {tip: (0.05, 0, 0)}, damping=0.2, **options)
    system.damping = 0.0
    system.set_forces(np.zeros((len(particles), 3)))
    places = []
    for _ in range(480):
        system.step()
        places.append(system.positions()[tip, 0])
    x = np.array(places)
    up = np.flatnonzero((x[:-1] < 0) & (x[1:] >= 0))
    crossings = (up - x[up] / (x[up + 1] - x[up])) / 240
    assert 1 / np.diff(crossings).mean() == pytest.approx(expected, rel=0.01)


def test_a_load_on_a_branch_twists_the_trunk():
    """T = F times the branch's reach, and T ∫ ds/GJ as far as the middle of each segment below the branch."""
    particles, made = grown((0, 0, 0), levels=1, branches=1, leaf_length=0)
    start, segments = particles.positions(), particles.rod_segments()[made.rods]
    tip = made.sticks[-1, 1]  # stems are added one after the other, the trunk first
    reach = start[tip] * (1, 1, 0)
    force = 0.2 * np.cross((0, 0, 1), reach / np.linalg.norm(reach))
    branch = made.sticks[12, 0]
    below = np.flatnonzero(start[made.sticks[:12, 1], 2] <= start[branch, 2] + 1e-9)
    system = settled(particles, forces={tip: force})
    before, after = (frames_of(x, segments[below]) for x in (start, system.positions()))
    turns = (after * before.inv()).as_rotvec()[:, 2]
    twisting = RIGIDITY / (1 + POISSON)
    middles = (below + 0.5) * HEIGHT / 12
    torque = 0.2 * np.linalg.norm(system.positions()[tip, :2])
    expected = [torque * trapezoid(np.where(z > HEIGHTS, 1 / twisting, 0), HEIGHTS) for z in middles]
    assert turns == pytest.approx(expected, rel=0.01)


def test_leaves_keep_their_shape_and_turn_with_their_stems():
    """The trunk's foot is turned by its clamp: leaves turn with it about its axis, and stay as wide as they are."""
    particles, made = grown((0, 0, 0), levels=0)
    clamp = len(made.rods)  # beyond the stems
    particles.turn(clamp, lambda t: 0.8 * min(t, 1.0))
    system = settled(particles, 900)
    corners, moved = (x[made.triangles] for x in (particles.positions(), system.positions()))
    turned = corners @ np.array([(math.cos(0.8), -math.sin(0.8), 0), (math.sin(0.8), math.cos(0.8), 0), (0, 0, 1)]).T
    assert moved == pytest.approx(turned, abs=1e-4)


def test_a_plant_of_rods_stands_and_sways_in_the_wind_with_one_substep():
    """It sags, leans with a gust and comes back; two iterations suffice, since all rods are solved together."""

    def moved(wind, iterations=4):
        particles, made = grown(wind=wind, seed=1)
        system = pbd.ParticleSystem(particles, dt=1 / 60, iterations=iterations, damping=0.01)
        places = []
        for _ in range(8):
            system.step(30)
            places.append(system.positions() - particles.positions())
        wood = np.unique(made.sticks[: len(made.rods)])
        leaves = np.setdiff1d(made.triangles, wood)
        top = wood[np.argmax(particles.positions()[wood, 2])]
        return np.array(places), wood, leaves, top

    calm, wood, leaves, top = moved(None)
    assert np.linalg.norm(calm[:, wood], axis=2).max() < 0.1
    assert np.abs(calm[-1] - calm[-2])[wood].max() < 1e-4
    gust = moved(lambda time: (8.0 if time < 1.0 else 0.0, 0, 0))[0]
    assert gust[1, top, 0] > calm[1, top, 0] + 0.005
    assert gust[1, leaves, 0].mean() > calm[1, leaves, 0].mean() + 0.02
    assert np.abs(gust[-1, top] - calm[-1, top]).max() < 2e-3
    assert moved(None, 2)[0][-1][wood] == pytest.approx(calm[-1][wood], abs=1e-4)


def test_the_same_seed_grows_the_same_plant_of_rods():
    assert grown(seed=3)[0].positions().tobytes() == grown(seed=3)[0].positions().tobytes()


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"poisson": 0.6}, "poisson is 0.6: expected a ratio above -1 and at most 0.5"),
        ({"poisson": math.nan}, "poisson is nan"),
        ({"poisson": 0.3, "twist": False}, "poisson is 0.3 with twist=False"),
        ({"twist": 1.5}, "twist is 1.5"),
        ({"stiffness": 1e-48}, "height, radius and stiffness make a rigidity of a stem"),
    ],
)
def test_bad_input_for_rods_is_refused(options, says):
    particles = pbd.Particles()
    with pytest.raises((ValueError, TypeError), match=says):
        plant(particles, **options)
    assert len(particles) == 0
