"""The watch of particles' energy: it warns where energy rises that nothing gave, and is silent otherwise."""

import warnings

import numpy as np
import pytest
from marks import slow

import pbd
from pbd import build

g = 9.81


def pendulum(**options):
    """A mass at the end of a level rod, 0.3 m, and another one below it: it whips when it is released."""
    particles = pbd.Particles(gravity=(0, 0, -g))
    particles.add_particles([(0, 0, 0), (0.3, 0, 0), (0.3, 0, -0.3)], mass=[np.inf, 1.0, 1.0])
    particles.add_sticks([(0, 1), (1, 2)])
    return pbd.ParticleSystem(particles, **{"dt": 1 / 60, **options})


def said_while(system, act, steps=240):
    """Texts of all warnings in a run. Args: act: function (system, step), called before each step."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        for step in range(steps):
            act(system, step)
            system.step()
    return [str(each.message) for each in caught]


def do_nothing(system, step):
    """Let the system move by itself."""


def kick(system, step):
    """Double all velocities once, after half a second: four times the kinetic energy."""
    if step == 30:
        system.set_velocities(2 * system.velocities())


def push(system, step):
    """Push the last particle sideways, twice as strong as its weight."""
    system.set_forces([(0, 0, 0), (0, 0, 0), (2 * g, 0, 0)])


def turn_gravity(system, step):
    """Turn gravity upside down once, after half a second: the masses fall upwards."""
    if step == 30:
        system.gravity = (0, 0, g)


@pytest.mark.slow
@pytest.mark.parametrize("act", [do_nothing, kick, push, turn_gravity])
def test_energy_that_is_given_is_no_rise(act):
    # Converged SHAKE at 1/60 s keeps the energy of a double pendulum within 1 %; velocities and forces that the user
    # sets are no error of the method.
    assert said_while(pendulum(solve="direct"), act) == []


def test_rise_is_said_once_with_time_and_particle():
    # A stick that becomes 10 % shorter in a step, without the watch being told, lifts two masses by 7 % of their weight
    # times their extent, and throws them up.
    system = pendulum(solve="iterative", iterations=30, damping=0.01)

    def shorten(system, step):
        if step in (100, 110):
            changes = system.constraints.changes
            stick = system.constraints.row_of(pbd.constraints.STICK, 0, "length")
            system.constraints.write([stick], 0.27 if step == 100 else 0.24)
            system.constraints.changes = changes

    said = said_while(system, shorten)
    assert len(said) == 1
    assert said[0].startswith("particle system, world 0, 1.")
    assert "energy has risen by" in said[0]
    assert "particle" in said[0].split("mostly")[1]


@pytest.mark.parametrize("launch", [1, 60])
@pytest.mark.parametrize("dt", [1e-3, 1 / 60, 1.0])
@pytest.mark.parametrize("slope", [0.0, 0.4, 0.7])
def test_a_particle_on_a_floor_is_no_rise(slope, dt, launch):
    # One particle has no extent. At rest, and where it begins to slide (tan 0.7 > μ = 0.5), its kinetic energy is that
    # of half a substep's fall more or less: m (g h)²/8.
    particles = pbd.Particles(gravity=(g * np.sin(slope), 0, -g * np.cos(slope)))
    particles.add_particle((0, 0, 0))
    particles.add_collider(pbd.Plane(), friction=0.5)
    system = pbd.ParticleSystem(particles, dt=dt)
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        for _ in range(300 // launch):
            system.step(launch)


def test_rise_is_said_beside_a_world_that_never_moves():
    # A world of pinned particles has no scale. The other starts at rest, and the kick, of which the watch is not told,
    # gives it four times the kinetic energy that it has after half a second.
    places = [(0, 0, 0), (0.3, 0, 0), (0.3, 0, -0.3)]
    worlds = []
    for mass in (np.inf, 1.0):
        worlds.append(pbd.Particles(gravity=(0, 0, -g)))
        worlds[-1].add_particles(places, mass=[np.inf, mass, mass])
        worlds[-1].add_sticks([(0, 1), (1, 2)])
    system = pbd.ParticleSystem(worlds, dt=1 / 60, solve="iterative", iterations=30)

    def kick_untold(system, step):
        if step == 30:
            changes = system._values.changes
            system.set_velocities(2 * system.velocities())
            system._values.changes = changes

    (said,) = said_while(system, kick_untold, 60)
    assert said.startswith("particle system, world 1, 0.5")


def test_energy_that_runs_away_is_an_error():
    system = pendulum(solve="iterative", iterations=30)
    system.step(10)
    watch, before = system.energy_watch, system._values.changes
    system.set_velocities(100 * system.velocities())
    system._values.changes = before  # as if nobody had set them
    with pytest.raises(pbd.Diverged, match="gained energy in step 1") as caught:
        system.step()
    assert caught.value.time == pytest.approx(11 / 60)
    assert not watch.driven


def stretched_spring(compliance):
    """A mass that hangs from a spring of 0.3 m, which is pulled out to 0.9 m and let go."""
    particles = pbd.Particles(gravity=(0, 0, -g))
    particles.add_particles([(0, 0, 0), (0, 0, -0.9)], mass=[np.inf, 1.0])
    particles.add_stick(0, 1, length=0.3, compliance=compliance)
    return pbd.ParticleSystem(particles, dt=1 / 600, iterations=1)


def test_what_a_spring_gives_back_is_no_rise():
    # The spring holds 0.6²/2α = 180 J, twenty times m g 0.9 m. XPBD damps: 171 J are left after a step, 160 J as it
    # passes its length.
    spring = stretched_spring(0.001)
    highest = []
    assert said_while(spring, lambda system, step: highest.append(system.energy().kinetic), steps=120) == []
    assert 155 < max(highest) < 171


def test_rise_above_what_springs_held_is_said():
    # When nothing is stored, the mass moves with 160 J, as XPBD damps. A fifth more speed, while no one looks, is 70 J
    # more, and 56 J above the 171 J of the first step.
    spring = stretched_spring(0.001)

    def hasten(system, step):
        if step == 29:
            assert system.energy().kinetic == pytest.approx(160, abs=2)
            changes = system._values.changes
            system.set_velocities(1.2 * system.velocities())
            system._values.changes = changes

    said = said_while(spring, hasten, steps=60)
    assert len(said) == 1
    assert "energy has risen by" in said[0]


@pytest.mark.slow
@pytest.mark.parametrize(("launches", "steps"), [slow(120, 1), (40, 3), slow(12, 10), slow(1, 120)])
def test_what_runs_away_in_the_first_launch_is_said(launches, steps):
    # A rope with weights hangs over a second rope. Contacts between particles are projected between direct solves, and
    # undo them: particles are thrown away within the second step, whatever a launch has.
    particles = pbd.Particles(gravity=(0, 0, -g))
    build.rope(particles, [(-0.5, 0, 0), (0.5, 0, 0)], 40, mass=0.2, radius=0.01, pins=("start", "end"))
    over = [(0, -0.15, -0.4), (0, -0.03, 0.021), (0, 0.03, 0.021), (0, 0.15, -0.4)]
    build.rope(particles, over, 40, mass=0.05, weight=1.0, radius=0.01)
    particles.add_particle_contacts()
    system = pbd.ParticleSystem(particles, dt=1 / 60, substeps=2, solve="direct")

    def run():
        for _ in range(launches):
            system.step(steps)

    with pytest.raises(pbd.Diverged, match="gained energy"):
        run()


def test_wind_that_begins_later_may_give_energy():
    # A cloth at rest in a wind of 20 m/s: as if the wind had been there from the start, nothing is said.
    particles = pbd.Particles(gravity=(0, 0, 0))
    build.cloth(particles, (0, 0, 1), (0.1, 0, 0), (0, 0, -0.1), (4, 4), drag=1.0)
    system = pbd.ParticleSystem(particles, dt=0.01)
    system.step(1)
    system.wind = (0, 20, 0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        system.step(50)
    assert system.velocities()[:, 1].mean() > 10
    system.wind = None  # and from then on nothing drives it
    system.step(10)
    assert system.energy_watch._watching
