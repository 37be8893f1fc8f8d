"""Direct projection: all sticks at once give what many iterations give."""

import math

import numpy as np
import pytest
from described import assert_continues, momenta_of_particles
from marks import slow

import pbd
from pbd.core.rotation import rotate
from pbd.direct import rows

g = 9.81


def chain(count=5, length=0.2, masses=1.0, pinned=True, velocity=0.0, gravity=g, compliance=0.0):
    """A chain of sticks, bent and not in a plane."""
    turn = 0.6 + 0.5 * np.sin(1.7 * np.arange(count))
    steps = np.stack([np.sin(turn), 0.4 * np.cos(2.3 * np.arange(count)), -np.cos(turn)], axis=1)
    steps *= length / np.linalg.norm(steps, axis=1, keepdims=True)
    x = np.concatenate([np.zeros((1, 3)), np.cumsum(steps, axis=0)])
    particles = pbd.Particles(gravity=(0, 0, -gravity))
    particles.add_particles(x, np.broadcast_to(masses, count + 1), velocity)
    if pinned:
        particles.pin([0])
    particles.add_sticks(np.stack([np.arange(count), np.arange(1, count + 1)], axis=1), compliance=compliance)
    return particles


def system(particles, **options):
    return pbd.ParticleSystem(particles, **{"dt": 0.005, "direction": "start", "solve": "direct", **options})


def order_of(errors):
    """Ratios of errors at halved steps."""
    return np.array(errors[:-1]) / errors[1:]


@pytest.mark.parametrize("compliance", [0.0, slow(1e-4)])
def test_few_rounds_equal_many_iterations(compliance):
    # Both solve the same equations, x = x' + W Jᵀ λ and C(x) + α λ/h² = 0: one by Newton's method with one matrix, one
    # by Gauss-Seidel, until round-off. The step is so short that the direct solve does not divide it.
    direct = system(chain(compliance=compliance), dt=0.002, iterations=6)
    iterated = system(chain(compliance=compliance), dt=0.002, iterations=5000, solve="iterative")
    for each in (direct, iterated):
        each.step(100)
    assert direct.state().direct[0, 0] == 0
    assert direct.positions() == pytest.approx(iterated.positions(), abs=1e-9)
    assert direct.statistics().residual < 1e-11


def test_second_order_with_two_rounds():
    # SHAKE is of second order: against a fine step, halving h divides the error by four.
    def end(h):
        one = system(chain(), dt=h, iterations=2)
        one.step(round(0.4 / h))
        return one.positions()

    exact = end(0.000125)
    errors = [np.abs(end(h) - exact).max() for h in (0.004, 0.002, 0.001)]
    assert order_of(errors) == pytest.approx([4, 4], abs=0.3)


@pytest.mark.parametrize("last", [1.0, 10.0])
def test_swinging_chain_keeps_its_energy(last):
    # Converged SHAKE is symplectic: the energy at the middle of each step oscillates with h² and does not drift. Its
    # unit is m g L of the whole chain.
    masses = np.array([1.0, 1, 1, 1, 1, last])
    one = system(chain(masses=masses), dt=0.001, iterations=3)
    unit = masses[1:].sum() * g * 1.0
    energies = []
    for _ in range(500):
        one.step(20)
        energies.append(one.energy().total / unit)
    energies = np.array(energies)
    assert np.max(energies - np.minimum.accumulate(energies)) < 0.01
    assert abs(energies[-50:].mean() - energies[:50].mean()) < 0.002


def test_free_chain_keeps_momentum_and_angular_momentum():
    # Impulses ±λ n between two particles at x0, along the line between them: Σ m v and Σ m x × v with the positions at
    # the start of the step stay. Round-off of 1e-16 for each of 200 steps.
    velocity = 0.3 * np.random.default_rng(0).normal(size=(6, 3))
    masses = np.array([1.0, 0.3, 2.0, 1.0, 0.5, 2.0])
    one = system(chain(masses=masses, pinned=False, velocity=velocity, gravity=0.0), iterations=2)
    one.step(1)
    before = np.concatenate(momenta_of_particles(one))
    one.step(200)
    assert np.concatenate(momenta_of_particles(one)) == pytest.approx(before, abs=1e-11)


def test_loops_and_redundant_sticks_close():
    # A ring of bars with diagonals, more sticks than freedoms: every stick keeps its length, also those left out.
    corners = np.array([(math.cos(a), math.sin(a), 0.1 * k) for k, a in enumerate(np.linspace(0, 5.2, 6))])
    particles = pbd.Particles(gravity=(0, 0, -g))
    particles.add_particles(corners, 1.0)
    particles.pin([0])
    particles.add_sticks([(a, b) for b in range(6) for a in range(b)])
    one = system(particles, iterations=4)
    one.step(200)
    assert len(one.direct.rows) == 12  # 3 x 5 unknowns, less the three rotations about the pin
    assert one.statistics().residual < 1e-9


def test_heavy_end_hangs_on_a_light_rope():
    # The weight of 1,000 segments, at rest: each stick carries M g, and none is longer than round-off allows.
    count = 50
    masses = np.full(count + 1, 0.01)
    masses[-1] = 10.0
    particles = pbd.Particles(gravity=(0, 0, -g))
    x = np.zeros((count + 1, 3))
    x[:, 2] = -0.05 * np.arange(count + 1)
    particles.add_particles(x, masses)
    particles.pin([0])
    particles.add_sticks(np.stack([np.arange(count), np.arange(1, count + 1)], axis=1))
    one = system(particles, iterations=2)
    one.step(500)
    lengths = np.linalg.norm(np.diff(one.positions(), axis=0), axis=1)
    assert lengths == pytest.approx(0.05, abs=1e-9)


@pytest.mark.slow
def test_worlds_have_the_bits_of_one():
    alone = system(chain(masses=2.0), iterations=2)
    several = system([chain(masses=m) for m in (1.0, 2.0, 0.5)], iterations=2)
    for each in (alone, several):
        each.step(50)
    assert (several.positions()[1] == alone.positions()).all()


def test_states_continue():
    one = system(chain(), iterations=2)
    one.step(20)
    assert_continues(one)


def test_masses_and_pins_change_between_steps():
    # A pin that is released falls freely with the rest: Σ m z'' = -g Σ m.
    one = system(chain(), iterations=6)
    one.step(40)
    one.set_masses([0], 1.0)
    before = one.velocities()[:, 2].mean()
    one.step(40)
    assert one.velocities()[:, 2].mean() == pytest.approx(before - g * 40 * 0.005, rel=1e-9)
    assert one.statistics().residual < 1e-9
    one.set_masses([3], math.inf)
    place = one.positions()[3]
    one.step(40)
    assert (one.positions()[3] == place).all()
    assert one.statistics().residual < 1e-9


def test_cut_stick_lets_go():
    one = system(chain(), iterations=3)
    one.step(10)
    one.cut([2])
    one.step(40)
    lengths = np.linalg.norm(np.diff(one.positions(), axis=0), axis=1)
    assert lengths[[0, 1, 3, 4]] == pytest.approx(0.2, abs=1e-9)
    assert lengths[2] > 0.3


def test_auto_solves_chains_and_iterates_cloth():
    particles = chain()
    cloth = pbd.build.cloth(particles, (2, 0, 0), (1, 0, 0), (0, 0, -1), (25, 25))
    one = system(particles, solve="auto")
    assert len(one.direct.rows) == 5
    assert "iterates" in one.direct.notes[0]
    assert not len(system(particles, solve="iterative").direct.rows)
    assert len(cloth.particles) == 625


@pytest.mark.slow
@pytest.mark.parametrize("schedule", ["clusters", "coloured"])
def test_threads_share_the_rest(schedule):
    # A cloth is iterated by several threads, and a chain beside it solved by one: it moves as it does alone.
    particles = chain()
    pbd.build.cloth(particles, (2, 0, 0), (1, 0, 0), (0, 0, -1), (20, 20))
    both, alone = system(particles, solve="auto", schedule=schedule, clusters=3), system(chain(), solve="auto")
    for one in (both, alone):
        one.iterations = 2
        one.step(5)
    assert (both.positions()[:6] == alone.positions()).all()


@pytest.mark.slow
def test_collider_and_sticks_take_turns():
    # A chain falls on the floor and comes to rest on it, with sticks of the right length.
    particles = chain(pinned=False)
    particles.add_collider(pbd.Plane(point=(0, 0, -2)), friction=0.5)
    one = system(particles, direction="current", iterations=10)
    one.step(800)
    x = one.positions()
    assert x[:, 2].min() > -2.0 - 1e-6
    assert np.linalg.norm(np.diff(x, axis=0), axis=1) == pytest.approx(0.2, abs=1e-4)
    assert np.abs(one.velocities()).max() < 1e-3


def test_what_has_no_direction_is_iterated():
    # A stick of no length, and a loop that only pinned particles hold.
    particles = chain()
    particles.add_particles([(0, 0, 0)], 1.0)
    particles.add_stick(5, 6, length=0.0)

    one = system(particles, iterations=5)
    one.step(10)
    assert np.isfinite(one.positions()).all()


@pytest.mark.slow
def test_loop_between_pins():
    # A rigid triangle of which two corners are pinned: its third turns about their line as a pendulum.
    particles = pbd.Particles(gravity=(0, 0, -g))
    particles.add_particles([(0, 0, 0), (0, 1, 0), (1, 0.5, 0)], 1.0)
    particles.pin([0, 1])
    particles.add_sticks([(0, 1), (0, 2), (1, 2)])
    one = system(particles, dt=0.001, iterations=2)
    one.step(200)
    assert len(one.direct.rows) == 2
    assert one.statistics().residual < 1e-12


@pytest.mark.slow
@pytest.mark.parametrize("direction", ["start", slow("current")])
@pytest.mark.parametrize("bound", [slow("at_most"), "at_least"])
def test_one_sided_sticks_push_or_pull_within_the_solve(bound, direction):
    # A mass of 3 kg moves away from a dumbbell of 1 and 2 kg, to which a string of 1 m ties it, or towards it, and a
    # strut of 0.5 m keeps it off. Once that acts, all move with the velocity of their centre, 3 v/6. Pushed the other
    # way, the mass moves alone again.
    sign = 1.0 if bound == "at_most" else -1.0
    particles = pbd.Particles(gravity=(0, 0, 0))
    particles.add_particles([(0, 0, 0), (1, 0, 0), (1.75, 0, 0)], [1.0, 2.0, 3.0])
    particles.add_stick(0, 1)
    particles.add_stick(1, 2, length=1.0 if bound == "at_most" else 0.5, bound=bound)
    one = system(particles, dt=0.01, iterations=2, direction=direction)
    one.set_velocities([(0, 0, 0), (0, 0, 0), (sign, 0, 0)])
    one.step(20)
    assert one.velocities()[:, 0] == pytest.approx([0, 0, sign], abs=1e-12)
    one.step(20)
    assert one.statistics().direct == 2
    assert one.statistics().residual < 1e-12
    assert one.velocities()[:, 0] == pytest.approx(3 * [sign / 2], abs=1e-9)
    one.set_velocities([(0, 0, 0), (0, 0, 0), (-sign, 0, 0)])
    one.step(10)
    assert one.velocities()[:, 0] == pytest.approx([0, 0, -sign], abs=1e-12)


def test_unknown_solve():
    with pytest.raises(ValueError, match=r"solve is 'dircet'.*direct"):
        system(chain(), solve="dircet")


@pytest.mark.slow
@pytest.mark.parametrize("direction", ["start", "current"])
def test_heavy_ball_swings_on_a_light_rope(direction):
    # A rope of ten segments of 10 g with 10 kg at its end, pushed. Its nodes swing across with ω = sqrt(4 T/(m l)) =
    # 630/s, ωh = 2.6, so without the stiffness of tension this diverges. The ball swings as on a rod, and comes back to
    # its lowest point with the speed of the push, but for 5 % of the kinetic energy, which the nodes' quasi-Newton
    # steps take.
    count, h = 10, 1 / 240
    masses = np.full(count + 1, 0.01)
    masses[-1] = 10.0
    particles = pbd.Particles(gravity=(0, 0, -g))
    x = np.zeros((count + 1, 3))
    x[:, 2] = -0.1 * np.arange(count + 1)
    velocity = np.outer(np.arange(count + 1) / count, (1.0, 0, 0))
    particles.add_particles(x, masses, velocity)
    particles.pin([0])
    particles.add_sticks(np.stack([np.arange(count), np.arange(1, count + 1)], axis=1))
    one = system(particles, dt=h, iterations=2, direction=direction)
    largest, speeds = 0.0, []
    for _ in range(480):
        one.step(1)
        lengths = np.linalg.norm(np.diff(one.positions(), axis=0), axis=1)
        largest = max(largest, np.abs(lengths / 0.1 - 1).max())
        speeds.append(np.linalg.norm(one.velocities()[-1]))
    assert largest < 1e-6
    assert max(speeds[240:]) ** 2 == pytest.approx(1.0, abs=0.05)


def test_equal_components_are_planned_once(monkeypatch):
    # Chains that are elsewhere, rotated or larger have the same plan, and move as alone while steps are whole and all
    # rounds are made, as none meets the tolerance; a longer one has its own.
    calls = []
    plan = rows.order_component
    monkeypatch.setattr(rows, "order_component", lambda *given: calls.append(given) or plan(*given))
    particles, one = chain(), chain()
    start = one.positions()
    moved = start + (3.0, 1, 0), rotate(np.full(4, 0.5), start), 1.1 * start - (5, 0, 0)
    for x in (*moved, chain(7).positions()):
        added = particles.add_particles(x, 1.0)
        particles.pin(added[:1])
        particles.add_sticks(np.stack([added[:-1], added[1:]], axis=1))
    several = system(particles, dt=0.001, iterations=6, tolerance=1e-30)
    assert len(calls) == 2
    assert several.direct.components == 5
    alone = system(one, dt=0.001, iterations=6, tolerance=1e-30)
    for each in (several, alone):
        each.step(100)
    assert (several.positions()[:6] == alone.positions()).all()
    assert several.statistics().residual < 1e-9
