"""Membranes: forces are the derivative of the energy, strips stretch and contract as measured, bad input is refused."""

import numpy as np
import pytest
from marks import cases
from strips import masses_of, sheet, turned

import pbd

FABRIC = pbd.Fabric(warp=120.0, weft=60.0, shear=25.0, poisson=0.3, density=0.2)
DIRECTIONS = ("current", "start")


def energy(membrane, positions):
    """A eᵀ K e/2, summed over triangles [J]."""
    e = membrane.strains(positions)
    return np.einsum("n,ni,ij,nj->", membrane.areas, e, membrane.fabric.stiffness(), e) / 2


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("seed", range(3))
def test_a_substep_gives_the_impulse_of_the_energys_gradient(direction, seed):
    # v = -h w ∇E to first order in h; h ω is 1e-4, so the second order is 1e-4 of that.
    rng = np.random.default_rng(seed)
    particles = pbd.Particles(gravity=(0, 0, 0))
    particles.add_particles([(0, 0, 0), (0.3, 0.1, 0), (0.1, 0.25, 0)], mass=[0.1, 0.2, 0.3])
    index = particles.add_membrane([(0, 1, 2)], FABRIC, warp=(1, 0.3, 0))
    membrane, h = particles.membranes[index], 2e-6
    x = (particles.positions() + rng.uniform(-0.05, 0.05, (3, 3))) @ turned(rng).T
    system = pbd.ParticleSystem(particles.with_positions(x), dt=h, substeps=1, iterations=1, direction=direction)
    assert system.energy().potential == pytest.approx(energy(membrane, x), rel=1e-12)
    system.step()
    gradient = np.zeros((3, 3))
    for k in np.ndindex(3, 3):
        step = np.zeros((3, 3))
        step[k] = 1e-7
        gradient[k] = (energy(membrane, x + step) - energy(membrane, x - step)) / 2e-7
    expected = -h * gradient / np.array([0.1, 0.2, 0.3])[:, None]
    np.testing.assert_allclose(system.velocities(), expected, atol=1e-3 * np.abs(expected).max())


def pulled_strip(along, force, rotation, length=0.3, width=0.1, rows=6, columns=3):
    """A free strip, pulled at both ends. Returns: particles, membrane; indices of its grid."""
    x, triangles, number = sheet(length, width, rows, columns)
    masses, scale = masses_of(x, triangles, FABRIC.density), np.zeros(len(x))
    share = np.full(columns + 1, force / columns)
    share[[0, -1]] /= 2
    scale[number[-1]], scale[number[0]] = share / masses[number[-1]], -share / masses[number[0]]
    particles = pbd.Particles(gravity=tuple(rotation[:, 0]))
    particles.add_particles(x @ rotation.T, masses, gravity_scale=scale)
    particles.add_membrane(triangles, FABRIC, warp=rotation[:, 0 if along == "warp" else 1])
    return particles, particles.membranes[0]


ITERATIVE = {"elements": "iterative", "direction": "start"}
SOLVES = [
    (1 / 60, 1, {}), (2e-3, 3, {"direction": "start"}), (2e-3, 2, {}),
    (4e-3, 100, ITERATIVE), (2e-3, 30, ITERATIVE), (1e-3, 20, ITERATIVE),
]  # fmt: skip


@pytest.mark.parametrize(("dt", "iterations", "options"), SOLVES)
@pytest.mark.parametrize("along", ["warp", "weft"])
def test_a_strip_stretches_by_force_over_stiffness(along, dt, iterations, options):
    # Strain F/(W k), and ν √(k/k') of it across, in any orientation: the equilibrium is that of the energy for any step
    # and number of iterations, together, and if they converge, one by one with direction="start". Triangles of constant
    # strain hold uniform strain exactly.
    rotation, force = turned(np.random.default_rng(3)), 0.6
    particles, membrane = pulled_strip(along, force, rotation)
    system = pbd.ParticleSystem(particles, dt=dt, iterations=iterations, **options)
    system.step(round(2.5 / dt))
    x = system.positions()
    local = x @ rotation
    stiffness, other = (FABRIC.warp, FABRIC.weft) if along == "warp" else (FABRIC.weft, FABRIC.warp)
    strain = force / 0.1 / stiffness
    assert np.ptp(local[:, 0]) / 0.3 - 1 == pytest.approx(strain, rel=1e-5)
    contraction = FABRIC.poisson * (stiffness / other) ** 0.5 * strain
    assert 1 - np.ptp(local[:, 1]) / 0.1 == pytest.approx(contraction, rel=1e-5)
    np.testing.assert_allclose(membrane.tensions(x)[:, 0 if along == "warp" else 1], force / 0.1, rtol=1e-4)


def test_the_present_direction_one_by_one_has_an_error_of_second_order():
    # With direction="current" impulses add up along gradients that turn during the iterations, by O(h²) of them.
    errors = []
    for dt in (1e-3, 5e-4):
        particles, _ = pulled_strip("warp", 0.6, np.eye(3))
        system = pbd.ParticleSystem(particles, dt=dt, iterations=40, elements="iterative")
        system.step(round(1.0 / dt))
        errors.append(np.ptp(system.positions()[:, 0]) / 0.3 - 1 - 0.05)
    assert 0 < errors[1] < errors[0] / 3


@pytest.mark.parametrize("turn", [0, 35, 90])
def test_a_hanging_strip_stretches_by_its_weight(turn):
    # w L²/2k for a weight w for each metre of width and of length; the mesh of n rows has that at its nodes exactly,
    # because lumped masses hang below each row: Σ (n - k + 1/2)/n² = 1/2. Without contraction, ν = 0.
    fabric, length, rotation = pbd.Fabric(80.0, 80.0, 30.0, density=0.3), 0.5, np.eye(3)
    x, triangles, number = sheet(length, 0.1, 10, 2)
    c, s = np.cos(np.radians(turn)), np.sin(np.radians(turn))
    rotation = np.array([(c, -s, 0), (s, c, 0), (0, 0, 1)])
    masses = masses_of(x, triangles, fabric.density)
    particles = pbd.Particles(gravity=tuple(9.81 * rotation[:, 0]))
    particles.add_particles(x @ rotation.T, masses)
    particles.pin(number[0])
    particles.add_membrane(triangles, fabric, warp=rotation[:, 0])
    system = pbd.ParticleSystem(particles, dt=2e-3, iterations=60, direction="start")
    system.step(1500)
    fall = (system.positions() @ rotation)[number[-1], 0].mean() - length
    assert fall == pytest.approx(0.3 * 9.81 * length**2 / (2 * 80.0), rel=1e-3)


def test_threads_stop_at_their_limit():
    # 6 N/m on 120 N/m would stretch by 5 %.
    limited = pbd.Fabric(**{**vars(FABRIC), "strain_limit": 0.02})
    particles, _ = pulled_strip("warp", 0.6, np.eye(3))
    free = particles.constraint_sets
    assert ("thread at most", False) not in free
    other = pbd.Particles(gravity=(1.0, 0, 0))
    other.add_particles(particles.positions(), particles.masses(), gravity_scale=particles.gravity_scales())
    other.add_membrane(particles.membranes[0].triangles, limited, warp=(1, 0, 0))
    system = pbd.ParticleSystem(other, dt=2e-3, iterations=100, direction="start")
    system.step(500)
    assert other.membranes[0].strains(system.positions())[:, 0].max() == pytest.approx(0.02, abs=1e-4)


def test_a_crushed_triangle_comes_back():
    # All corners almost on a line, or in one point: the rest shape is the only minimum of the energy.
    for squeeze in ((1.0, 1e-6), (1e-5, 1e-6)):
        particles = pbd.Particles(gravity=(0, 0, 0))
        particles.add_particles([(0, 0, 0), (0.3, 0.1, 0), (0.1, 0.25, 0)], mass=0.01)
        particles.add_membrane([(0, 1, 2)], FABRIC, warp=(1, 0.3, 0))
        x = particles.positions() * (*squeeze, 1.0)
        system = pbd.ParticleSystem(particles.with_positions(x), dt=1e-3, iterations=10, direction="current")
        before = system.energy().potential
        system.step(2000)
        assert system.energy().potential < 1e-3 * before  # it may turn, which stretches it


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"poisson": 1.0}, "poisson is 1: expected a ratio between -1 and 1"),
        ({"warp": 0.0}, "warp is 0: expected a number above zero"),
        ({"shear": -1.0}, "shear is -1: expected zero or more"),
        ({"bending": (1e-4, 1e-4)}, "expected a number, or three: warp, weft and between"),
        ({"bending": (1e-4, 1e-4, 2e-4)}, "expected less than 0.0002 between warp and weft"),
        ({"bending": (1e-4, 0.0, 1e-4)}, "expected three numbers above zero, or none"),
        ({"thickness": 0.0}, "thickness is 0: expected a number above zero"),
        ({"strain_limit": -0.1}, "strain_limit is -0.1: expected a number above zero"),
    ],
)
def test_fabrics_that_cannot_be_are_refused(given, message):
    with pytest.raises(ValueError, match=message):
        pbd.Fabric(**{"warp": 100.0, "weft": 100.0, "shear": 10.0, **given})


def test_membranes_that_cannot_be_are_refused():
    particles = pbd.Particles()
    particles.add_particles([(0, 0, 0), (1, 0, 0), (0, 1, 0), (2, 0, 0)])
    with pytest.raises(TypeError, match=r"expected a pbd\.Fabric, such as"):
        particles.add_membrane([(0, 1, 2)], "denim", warp=(1, 0, 0))
    with pytest.raises(ValueError, match=r"triangle 1 of a membrane, \[0, 1, 3\], has no area at rest"):
        particles.add_membrane([(0, 1, 2), (0, 1, 3)], FABRIC, warp=(1, 0, 0))
    with pytest.raises(ValueError, match=r"warp of triangle 0 is .* along its normal"):
        particles.add_membrane([(0, 1, 2)], FABRIC, warp=(0, 0, 1))
    with pytest.raises(ValueError, match="warp is None: expected a direction"):
        particles.add_membrane([(0, 1, 2)], FABRIC)
    assert not particles.membranes
    assert not particles.constraint_sets


def test_stiffnesses_are_those_of_strips_with_free_sides():
    np.testing.assert_allclose(np.diag(np.linalg.inv(FABRIC.stiffness())), [1 / 120, 1 / 60, 1 / 25], rtol=1e-12)
    fabric = pbd.Fabric(100.0, 100.0, 10.0, 0.3, bending=(1e-4, 4e-5, 6e-5))
    np.testing.assert_allclose(fabric.rigidity(np.radians([0, 90, 45, 135])), [1e-4, 4e-5, 6e-5, 6e-5], rtol=1e-12)
    for each in pbd.FABRICS.values():
        assert np.linalg.eigvalsh(each.stiffness()).min() > 0
        assert np.linalg.eigvalsh(each.plate_compliance()).min() > 0


def test_damping_leaves_rigid_motions_alone():
    # Free fall is g t²/2, and a turning sheet keeps its angular momentum, to round-off: C - C_0 is zero in both.
    damped = pbd.Fabric(**{**vars(FABRIC), "damping": 0.1, "bending": 1e-4})
    x, triangles, _ = sheet(0.2, 0.1, 4, 2)
    particles = pbd.Particles(gravity=(0, 0, -10.0))
    particles.add_particles(x, masses_of(x, triangles, 0.2))
    particles.add_membrane(triangles, damped, warp=(1, 0, 0))
    system = pbd.ParticleSystem(particles, dt=1e-2, substeps=10, iterations=5)
    system.step(50)
    np.testing.assert_allclose(system.positions() - x, np.broadcast_to((0, 0, -5.0 * 0.5**2), x.shape), atol=1e-12)
    turning = pbd.Particles(gravity=(0, 0, 0))
    omega, centre = np.array((0, 0, 5.0)), x.mean(axis=0)
    turning.add_particles(x, masses_of(x, triangles, 0.2), np.cross(omega, x - centre))
    turning.add_membrane(triangles, damped, warp=(1, 0, 0))
    system = pbd.ParticleSystem(turning, dt=1e-2, substeps=10, iterations=20, direction="start")
    masses = turning.masses()

    def spin():
        place, velocity = system.positions(), system.velocities()
        return (masses[:, None] * np.cross(place, velocity)).sum(axis=0)[2]

    system.step()
    before = spin()
    system.step(50)
    assert spin() == pytest.approx(before, rel=1e-9)


@pytest.mark.parametrize("substeps", [4, 8, 16])
@pytest.mark.parametrize("direction", cases(DIRECTIONS, slow=["start"]))
def test_a_stretched_thread_swings_with_its_damping(substeps, direction):
    # One free corner: ω² = A k a_1²/m, a damping ratio ω τ/2, for any substep that is no longer than 4/3 τ. Three
    # periods later the amplitude is exp(-6π ζ/√(1 - ζ²)).
    tau, mass, stiffness = 2e-3, 0.01, 100.0
    particles = pbd.Particles(gravity=(0, 0, 0))
    particles.add_particles([(0, 0, 0), (0.1, 0, 0), (0, 0.1, 0)], mass=[np.inf, mass, np.inf])
    particles.add_membrane([(0, 1, 2)], pbd.Fabric(stiffness, stiffness, 50.0, damping=tau), warp=(1, 0, 0))
    omega = np.sqrt(0.005 * stiffness * 10.0**2 / mass)
    ratio = omega * tau / 2
    period = 2 * np.pi / omega / np.sqrt(1 - ratio**2)
    x = particles.positions() + np.array([(0, 0, 0), (1e-3, 0, 0), (0, 0, 0)])
    system = pbd.ParticleSystem(
        particles.with_positions(x), dt=period / 10, substeps=substeps, iterations=2, direction=direction
    )
    assert period / 10 / substeps < 4 / 3 * tau
    found = []
    for _ in range(31):
        found.append(system.positions()[1, 0] - 0.1)
        system.step()
    decay = np.log(found[0] / found[30]) / (3 * period)
    # Second order of the substep: (ω h)² of the frequency, and ζ ω h of the decay.
    h = period / 10 / substeps
    assert decay == pytest.approx(omega * ratio, rel=0.02 + ratio * omega * h)
