"""Solids: forces are the derivative of the energy, bodies come back from anything, rigid motions are free."""

import itertools

import numpy as np
import pytest
from blocks import areas, body
from strips import turned

import pbd

RUBBER = pbd.Solid(young=2e5, poisson=0.4, density=900.0)


def energy(tetrahedra, positions):
    """V (μ (|F|² - 3)/2 - μ (J - 1) + λ (J - 1)²/2), summed [J], the energy of the source less that at rest."""
    lame, shear = tetrahedra.solid.lame()
    F = tetrahedra.deformations(positions)
    J, square = np.linalg.det(F), (F**2).sum(axis=(1, 2))
    return (tetrahedra.volumes * (shear * (square - 3) / 2 - shear * (J - 1) + (lame + shear) * (J - 1) ** 2 / 2)).sum()


@pytest.mark.parametrize("seed", range(3))
def test_a_substep_gives_the_impulse_of_the_energys_gradient(seed):
    # v = -h w ∇E to first order in h.
    rng = np.random.default_rng(seed)
    particles = pbd.Particles(gravity=(0, 0, 0))
    masses = np.array([0.1, 0.2, 0.3, 0.4])
    particles.add_particles([(0, 0, 0), (0.3, 0.1, 0), (0.1, 0.25, 0), (0.1, 0, 0.2)], mass=masses)
    particles.add_solid([(0, 1, 2, 3)], RUBBER)
    x, h = (particles.positions() + rng.uniform(-0.05, 0.05, (4, 3))) @ turned(rng).T, 1e-6
    system = pbd.ParticleSystem(particles.with_positions(x), dt=h, substeps=1, iterations=1)
    assert system.energy().potential == pytest.approx(energy(particles.solids[0], x), rel=1e-9)
    system.step()
    gradient = np.zeros((4, 3))
    for k in np.ndindex(4, 3):
        step = np.zeros((4, 3))
        step[k] = 1e-7
        gradient[k] = (energy(particles.solids[0], x + step) - energy(particles.solids[0], x - step)) / 2e-7
    expected = -h * gradient / masses[:, None]
    np.testing.assert_allclose(system.velocities(), expected, atol=1e-3 * np.abs(expected).max())


@pytest.mark.parametrize("poisson", [0.0, 0.3, 0.45])
@pytest.mark.parametrize(("dt", "iterations"), [(1 / 60, 4), (5e-3, 2)])
def test_a_bar_stretches_by_its_modulus_and_contracts_by_its_ratio(poisson, dt, iterations):
    # A uniform pull σ (Cauchy's, on the stretched bar) of a neo-Hookean bar with free sides, stretches a along and b
    # across: 0 = P_b = μ b + λ (a b² - γ) a b, σ = P_a/b². Both are solved for here by bisection of b for each a.
    solid = pbd.Solid(young=1e5, poisson=poisson, density=1000.0, damping=0.05)
    lame, shear = solid.lame()
    bulk = lame + shear
    stretch = 1.2
    low, high = 0.5, 1.2
    for _ in range(80):
        b = (low + high) / 2
        low, high = (b, high) if shear + bulk * (stretch * b * b - 1 - shear / bulk) * stretch < 0 else (low, b)
    across = (low + high) / 2
    force = (shear * stretch + bulk * (stretch * across**2 - 1 - shear / bulk) * across**2) * 0.1**2
    particles, points = body(solid, counts=(4, 2, 2), size=(0.4, 0.1, 0.1))
    system = pbd.ParticleSystem(particles, dt=dt, substeps=1, iterations=iterations, damping=0.02)
    ends = [areas(particles, points, points[:, 0] == x) for x in (0.0, points[:, 0].max())]
    system.set_forces(np.outer((ends[1] - ends[0]) / 0.1**2 * force, [1.0, 0.0, 0.0]))
    system.step(round(4.0 / dt))
    length, width, height = np.ptp(system.positions(), axis=0)
    assert length / 0.4 == pytest.approx(stretch, rel=1e-4)
    assert width / 0.1 == pytest.approx(across, rel=1e-4)
    assert height / 0.1 == pytest.approx(across, rel=1e-4)
    # Cauchy's stress is the force over the stretched section, and strain is Green's.
    expected = np.diag([force / (0.1 * across) ** 2, 0.0, 0.0])
    np.testing.assert_allclose(system.stress()[0], expected, atol=1e-3 * expected.max())
    assert system.strain()[0, 0, 0] == pytest.approx((stretch**2 - 1) / 2, rel=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("damping", [0.0, 0.2])
@pytest.mark.parametrize("dt", [1 / 60, 4e-3])
def test_free_fall_and_rotation_feel_no_friction(damping, dt):
    # Direction "start" keeps angular momentum. The discrete parabola is z = -g t (t + h)/2 + v t, v = -g h/2 less.
    solid = pbd.Solid(young=2e5, poisson=0.3, density=900.0, damping=damping)
    particles, points = body(solid, gravity=(0, 0, -9.81))
    mass = particles.masses()
    centre = mass @ points / mass.sum()
    spin = np.array([0.5, -1.0, 2.0])
    system = pbd.ParticleSystem(particles, dt=dt, substeps=1, iterations=12, direction="start")
    system.set_velocities(np.cross(spin, points - centre))
    momenta = []
    for _ in range(5):
        x = system.positions()
        arm = x - mass @ x / mass.sum()
        momenta.append((mass[:, None] * np.cross(arm, system.velocities())).sum(axis=0))
        system.step(20)
    np.testing.assert_allclose(momenta[1:], np.tile(momenta[1], (4, 1)), atol=1e-9 * np.linalg.norm(momenta[1]))
    free = pbd.Particles()
    free.add_particles([centre])
    alone = pbd.ParticleSystem(free, dt=dt, substeps=1)
    alone.step(100)
    np.testing.assert_allclose(mass @ system.positions() / mass.sum(), alone.positions()[0], atol=1e-9)


@pytest.mark.parametrize("dt", [1e-3, 2e-3])
@pytest.mark.parametrize("damping", [5e-3, 2e-2])
def test_a_mode_decays_by_the_damping_time(dt, damping):
    # Kelvin and Voigt's solid has the damping matrix τ K, so a mode of frequency ω loses energy at the rate ω² τ, and
    # with steps h at log(1 + h ω² τ)/h (pbd/constraints/constraint_type.py). The slowest mode is that of the second
    # derivative of the energy at rest.
    solid = pbd.Solid(young=2e4, poisson=0.3, damping=damping)
    particles, points = body(solid, counts=(1, 1, 2), size=(0.1, 0.1, 0.2))
    count, small = points.size, 1e-5
    gradients = np.zeros((count, count))
    for i, j in itertools.product(range(count), repeat=2):
        if j <= i:
            for a, b in itertools.product((small, -small), repeat=2):
                x = points.ravel().copy()
                x[i] += a
                x[j] += b
                value = np.sign(a * b) * energy(particles.solids[0], x.reshape(-1, 3)) / (4 * small**2)
                gradients[i, j] += value
                gradients[j, i] = gradients[i, j]
    mass = np.repeat(particles.masses(), 3)
    squares, modes = np.linalg.eigh(gradients / np.sqrt(mass[:, None] * mass))
    assert abs(squares[5]) < 1e-3 * squares[6]  # six rigid motions
    mode = (modes[:, 6] / np.sqrt(mass)).reshape(-1, 3)
    x = points + 1e-4 * mode / np.abs(mode).max()
    system = pbd.ParticleSystem(particles.with_positions(x), dt=dt, substeps=1, iterations=6)
    period, times, energies = 2 * np.pi / np.sqrt(squares[6]), [], []
    for _ in range(round(min(4 * period, 5 / (squares[6] * damping)) / dt)):
        system.step()
        times.append(system.time)
        energies.append(system.energy().total)
    rate = -np.polyfit(times, np.log(energies), 1)[0]
    assert rate == pytest.approx(np.log1p(dt * squares[6] * damping) / dt, rel=0.01)


SHAPES = ("random", "point", "line", "inside out", "turned and at random")


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("young", "poisson"), [(1e4, 0.45), (1e6, 0.3)])
def test_a_body_comes_back_from_anything(shape, young, poisson):
    rng = np.random.default_rng(SHAPES.index(shape) + round(young))
    solid = pbd.Solid(young=young, poisson=poisson, damping=0.01)
    particles, points = body(solid, rotation=turned(rng))
    x = {
        "random": rng.uniform(0, 0.3, points.shape), "point": 0 * points, "line": points * [1, 0, 0],
        "inside out": points * [1, 1, -1], "turned and at random": rng.uniform(-1, 0, points.shape),
    }[shape]  # fmt: skip
    system = pbd.ParticleSystem(particles.with_positions(x), dt=1 / 60, substeps=1, iterations=4)
    system.step(300)
    x = system.positions()
    distances = np.linalg.norm(x[:, None] - x[None], axis=2)
    np.testing.assert_allclose(distances, np.linalg.norm(points[:, None] - points[None], axis=2), atol=1e-3)
    assert np.linalg.det(particles.solids[0].deformations(x)).min() > 0.99
    mass = particles.masses()[:, None]
    np.testing.assert_allclose((mass * system.velocities()).sum(axis=0), 0, atol=1e-5)


def test_a_state_continues_a_recovery_bit_for_bit():
    particles, points = body(RUBBER)
    system = pbd.ParticleSystem(particles.with_positions(np.random.default_rng(2).uniform(0, 3, points.shape)))
    system.step()
    state = system.state()
    assert state.tangled.any()
    system.step(5)
    other = pbd.ParticleSystem(particles)
    other.set_state(state)
    other.step(5)
    assert other.digest() == system.digest()
    # A state of a system that is not tangled ends it, too.
    fresh = pbd.ParticleSystem(particles)
    system.step()
    system.set_state(fresh.state())
    assert not system.state().tangled.any()


def test_a_jelly_comes_to_rest():
    # Kinetic energy falls below 1e-9 of the elastic energy, and stays there.
    solid = pbd.Solid(young=12e3, poisson=0.45, damping=0.05)
    given = {"size": (0.2, 0.2, 0.3), "gravity": (0, 0, -9.81), "pinned": lambda x: x[:, 2] == 0}
    particles, _ = body(solid, (2, 2, 3), **given)
    system = pbd.ParticleSystem(particles)
    system.step(900)
    for _ in range(10):
        system.step(360)
        assert system.energy().kinetic < 1e-9 * energy(particles.solids[0], system.positions())


def test_bad_solids_are_refused():
    particles = pbd.Particles()
    particles.add_particles([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 0)])
    with pytest.raises(ValueError, match=r"tetrahedron 1 of a solid, \[0, 2, 1, 3\], is inside out at rest"):
        particles.add_solid([(0, 1, 2, 3), (0, 2, 1, 3)], RUBBER)
    with pytest.raises(ValueError, match=r"tetrahedron 0 of a solid, \[0, 1, 2, 4\], is flat at rest"):
        particles.add_solid([(0, 1, 2, 4)], RUBBER)
    with pytest.raises(TypeError, match=r"expected a pbd\.Solid"):
        particles.add_solid([(0, 1, 2, 3)], "jelly")
    for given, match in (
        ({"poisson": 0.5}, "poisson is 0.5: expected a ratio from 0 to below 0.5"),
        ({"poisson": -0.1}, "poisson is -0.1"), ({"young": 0.0}, "young is 0"), ({"damping": -1.0}, "damping is -1"),
        ({"density": 0.0}, "density is 0"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=match):
            pbd.Solid(**{"young": 1e5, **given})
    particles.add_solid([(0, 1, 2, 3)], RUBBER)
    with pytest.raises(ValueError, match='elements="iterative" with solids: expected "auto"'):
        pbd.ParticleSystem(particles, elements="iterative")
