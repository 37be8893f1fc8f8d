"""Elements on colliders: a press, slopes, and what is let go, with few iterations and long steps."""

import warnings

import numpy as np
import pytest
import trimesh
from blocks import body
from marks import slow
from strips import turned

import pbd

RUBBER = pbd.Solid(young=5e5, poisson=0.3, density=800.0, damping=0.05)
SIDE = 0.3


def press(friction, dt, iterations, lift=0.0, gravity=(0, 0, 0)):
    """A system of a block and a board that comes down by a tenth of it in half a second, at 1.5 s goes up at `lift`."""
    particles, points = body(RUBBER, (3, 3, 3), (SIDE, SIDE, SIDE), gravity)

    def height(time):
        return 0.05 + SIDE * (1 - 0.1 * min(1.0, time / 0.5)) + lift * max(0.0, time - 1.5)

    particles.add_collider(pbd.Plane(), friction=friction)
    board = pbd.Box((1, 1, 0.1))
    particles.add_collider(board, friction=friction, motion=lambda time: (SIDE / 2, SIDE / 2, height(time)))
    return pbd.ParticleSystem(particles, dt=dt, substeps=1, iterations=iterations), points


@pytest.mark.parametrize(("dt", "iterations"), [(1 / 60, 3), (1 / 30, 5), (4e-3, 2)])
def test_a_press_without_friction_strains_a_block_evenly(dt, iterations):
    # Stable neo-Hooke: σ = (μ F Fᵀ + (λ + μ)(J - α) J)/J with α = 1 + μ/(λ + μ). No stress across, where the stretch is
    # a, and s = 0.9 along z: J = a² s = α - (α - 1)/s, and σ = μ (s² - a²)/J.
    system, points = press(0.0, dt, iterations)
    system.step(round(1.5 / dt))
    lame, shear = RUBBER.lame()
    excess, along = shear / (lame + shear), 0.9
    volume = 1 + excess - excess / along
    expected = shear * (along**2 - volume / along) / volume
    stress = system.stress(of="solids")
    np.testing.assert_allclose(stress[:, 2, 2], expected, rtol=1e-6)
    stress[:, 2, 2] = 0.0
    np.testing.assert_allclose(stress, 0.0, atol=1e-6 * -expected)
    np.testing.assert_allclose(system.positions()[:, 2], along * points[:, 2], atol=1e-8)


@pytest.mark.parametrize("friction", [0.3, 3.0])
def test_friction_makes_a_press_harder_and_a_block_bulge(friction):
    # Between plates that stick a block of this shape is some tenths stiffer, and its middle is wider than its ends.
    forces, widths = [], []
    for mu in (0.0, friction):
        system, points = press(mu, 1 / 60, 4)
        system.step(90)
        assert system.statistics().residual < 1e-7
        x, stress = system.positions(), system.stress(of="solids")
        forces.append(-stress[:, 2, 2].mean())
        widths.append([np.ptp(x[np.isclose(points[:, 2], level), 0]) for level in (0.0, SIDE / 3, SIDE)])
    assert 1.02 < forces[1] / forces[0] < 1.5
    assert widths[1][1] > widths[1][0] + 1e-3
    np.testing.assert_allclose(widths[0], widths[0][0], rtol=1e-6)
    if friction > 1:  # it sticks
        np.testing.assert_allclose([widths[1][0], widths[1][2]], SIDE, rtol=1e-9)


@pytest.mark.parametrize("friction", [0.0, 0.5])
def test_a_board_that_is_lifted_lets_go(friction):
    # It pushes and never pulls: once it is clear the block is as it was, but for its weight, ρ g L²/2E = 0.7 mm.
    system, points = press(friction, 1 / 60, 4, lift=0.5, gravity=(0, 0, -9.81))
    system.step(60 * 6)
    x = system.positions()
    np.testing.assert_allclose(x[:, 2], points[:, 2], atol=1e-3)
    size = np.linalg.norm(x - x.mean(axis=0), axis=1)
    np.testing.assert_allclose(size, np.linalg.norm(points - points.mean(axis=0), axis=1), atol=1e-3)


def on_a_slope(kind, angle, friction, random):
    """A system of a cloth or a block on a plane that falls along a direction at random, and this direction."""
    rotation = turned(random)  # its columns: along the slope, across, normal to it
    gravity = 9.81 * (np.sin(angle) * rotation[:, 0] - np.cos(angle) * rotation[:, 2])
    if kind == "block":
        particles, _ = body(RUBBER, (2, 2, 2), (0.2, 0.2, 0.1), gravity, rotation=rotation)
    else:
        particles = pbd.Particles(gravity=gravity, wind=None)
        corner, right, down = 0.1 * random.normal(size=2) @ rotation[:, :2].T, rotation[:, 0], rotation[:, 1]
        pbd.build.cloth(particles, corner, 0.2 * right, 0.2 * down, (6, 7), fabric="denim", drag=None, thickness=0)
    particles.add_collider(pbd.Plane(normal=rotation[:, 2]), friction=friction)
    return particles, rotation[:, 0]


@pytest.mark.parametrize("kind", [slow("block"), "cloth"])
@pytest.mark.parametrize(("dt", "iterations"), [(1 / 60, 3), (4e-3, 2)])
@pytest.mark.parametrize("part", [0.95, 1.05, 1.6])
def test_coulombs_friction_on_a_slope(kind, dt, iterations, part):
    # At rest while tan θ <= μ; else a = g (sin θ - μ cos θ). In a block waves pass at first, and the least ones are
    # damped in the time that it takes to settle.
    random = np.random.default_rng([round(100 * part), round(1 / dt)])
    friction = random.uniform(0.2, 0.8)
    angle = np.arctan(part * friction)
    particles, along = on_a_slope(kind, angle, friction, random)
    system = pbd.ParticleSystem(particles, dt=dt, substeps=1, iterations=iterations)
    masses, found = particles.masses(), []
    for _ in range(3):
        system.step(round(1 / dt))
        found.append(masses @ system.positions() @ along / masses.sum())
    if part < 1:
        assert abs(found[2] - found[1]) < 1e-8
    else:
        acceleration = 9.81 * (np.sin(angle) - friction * np.cos(angle))
        assert found[2] - 2 * found[1] + found[0] == pytest.approx(acceleration, rel=0.01)


@pytest.mark.slow
def test_bits_do_not_depend_on_launches_threads_worlds_and_states():
    def system(**options):
        particles, _ = on_a_slope("cloth", 0.5, 0.4, np.random.default_rng(4))
        particles.add_collider(pbd.Sphere(0.05), friction=0.3, motion=lambda time: (0, 0, 0.2 - 0.3 * time))
        return pbd.ParticleSystem(particles, dt=1 / 60, substeps=3, iterations=3, **options)

    whole, single, threads, worlds, before, after = (
        system(**given) for given in ({}, {}, {"schedule": "coloured"}, {"worlds": 2}, {}, {})
    )
    for each in (whole, threads, worlds):
        each.step(30)
    for _ in range(30):
        single.step()
    before.step(10)
    after.set_state(before.state())
    after.step(20)
    for found in (single.positions(), threads.positions(), *worlds.positions(), after.positions()):
        np.testing.assert_array_equal(found, whole.positions())


def fall(seed):
    """A system of a body of a solid, or a cloth, above colliders that may move, all at random."""
    random, particles = np.random.default_rng(seed), pbd.Particles()
    particles.add_collider(pbd.Plane(), friction=random.uniform(0, 1))
    for _ in range(random.integers(1, 3)):
        shapes = (
            pbd.Box(random.uniform(0.1, 0.5, 3)), pbd.Sphere(random.uniform(0.1, 0.3)),
            pbd.Cylinder(random.uniform(0.05, 0.2), random.uniform(0.1, 0.4)),
            pbd.Capsule(random.uniform(0.05, 0.1), random.uniform(0.1, 0.3)),
        )  # fmt: skip
        place, turn = np.array([*random.uniform(-0.15, 0.15, 2), random.uniform(0.1, 0.35)]), random.normal(size=4)
        turn /= np.linalg.norm(turn)
        way = random.choice([0.0, 0.03]) * random.normal(size=3)

        def motion(time, place=place, turn=turn, way=way):
            return place + np.sin(3 * time) * way, turn

        particles.add_collider(random.choice(shapes), friction=random.uniform(0, 1), motion=motion)
    if random.integers(0, 3):
        mesh = random.choice([trimesh.creation.icosphere(2, 0.1), trimesh.creation.box((0.2, 0.15, 0.1)).subdivide()])
        material, radius = random.choice(list(pbd.SOLIDS)), random.choice([0.0, 0.004])
        speed = random.uniform(-2, 2, 3)
        pbd.build.soft_body(particles, mesh, 4, material=material, position=(0, 0, 0.8), velocity=speed, radius=radius)
    else:
        fabric = random.choice(["denim", "silk", "wool"])
        across = (0.6, 0, 0), (0, 0.6, 0)
        pbd.build.cloth(particles, (-0.3, -0.3, 0.7), *across, (13, 13), fabric=fabric, thickness=0)
    numbers = {"substeps": int(random.choice([1, 2, 4])), "iterations": int(random.integers(2, 6))}
    return pbd.ParticleSystem(particles, dt=random.choice([1 / 60, 1 / 120]), **numbers)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(16))
def test_what_falls_on_colliders_gains_no_energy_and_enters_nothing(seed):
    system = fall(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # the watch tells of energy that rises without a drive
        system.step(round(2 / system.dt))
    assert system.positions()[:, 2].min() > -1e-9
    assert np.linalg.norm(system.velocities(), axis=1).max() < 5.0
