"""Runs whose inputs depend on time continue from a state to the last bit, also after a change of the step."""

import math

import numpy as np
import pytest
from marks import cases

import pbd
import rigid

OPTIONS = {"penalty": {"substeps": 64}}
SHORTER = 1 / 77  # a step [s] of which times are no multiples of 1/60 s


def solve(name):
    """Two boxes on a motor and a body that follows a path."""
    model = rigid.Model()
    inertia = (0.02, 0.03, 0.04)
    upper = model.add_body(mass=1.0, inertia=inertia, position=(0, 0, 1))
    lower = model.add_body(mass=2.0, inertia=inertia, position=(0, 0, 0.5))
    motor = rigid.Motor(speed=0.0, max_effort=5.0)
    model.add_hinge(rigid.GROUND, upper, point=(0, 0, 1.3), axis=(0, 1, 0), motor=motor, name="motor")
    model.add_ball(upper, lower, point=(0, 0, 0.75))
    model.add_body(mass=1.0, inertia=inertia, position=(2, 0, 0), path=lambda time: (2 + math.sin(3 * time), 0, 0))
    return rigid.solver(name, model, dt=1 / 60, **OPTIONS.get(name, {}))


def run(solver, steps):
    """Make steps with inputs that depend on time. Returns: the times before them [s]."""
    times = []
    for _ in range(steps):
        times.append(time := solver.time)
        solver.set_motor("motor", speed=math.sin(7.3 * time))
        solver.set_forces(1, force=(math.cos(11.1 * time), math.sin(time), time))
        solver.step()
    return times


@pytest.mark.parametrize("name", cases(rigid.SOLVERS, slow=[each for each in rigid.SOLVERS if each != "impulse"]))
@pytest.mark.parametrize("changed", [False, True], ids=["one step", "two steps"])
def test_restored_run_has_equal_bits(name, changed, tmp_path):
    solver = solve(name)
    run(solver, 7)
    if changed:
        solver.dt = SHORTER
        run(solver, 4)
    state = solver.state()
    state.save(tmp_path / "state.npz")
    times, digest = run(solver, 20), solver.digest()
    fresh, moved = solve(name), solve(name)
    run(moved, 3)
    for other, given in ((solver, state), (fresh, rigid.State.load(tmp_path / "state.npz")), (moved, state)):
        other.set_state(given)
        assert other.dt == solver.dt
        assert run(other, 20) == times
        assert other.digest() == digest
        assert other.time == solver.time


@pytest.mark.parametrize("name", cases(rigid.SOLVERS, slow=[each for each in rigid.SOLVERS if each != "impulse"]))
def test_changed_state_keeps_its_time(name):
    """With other velocities the run does not continue, but its time does, to the last bit."""
    solver = solve(name)
    run(solver, 7)
    state = solver.state()
    times = run(solver, 5)
    other = solve(name)
    state.velocity[0] += 1.0
    other.set_state(state)
    assert run(other, 5) == times
    # A state that no solver made continues at its own time: t + k h.
    other.set_state(rigid.State(state.position, state.rotation, state.velocity, state.angular_velocity, time=2.0))
    assert run(other, 3) == [2.0 + k * other.dt for k in range(3)]


def particle_system(**options):
    particles = pbd.Particles()
    rope = particles.add_particles([(0.1 * k, 0, 1) for k in range(8)], mass=0.1)
    for pair in zip(rope, rope[1:]):
        particles.add_stick(*pair)
    particles.add_path([0], lambda time: [(0.1 * math.sin(5 * time), 0, 1)])
    return pbd.ParticleSystem(particles, **options)


def pull(system, steps):
    """Make steps with a force that depends on time."""
    for _ in range(steps):
        forces = np.zeros((8, 3))
        forces[3, 1] = math.sin(13.1 * system.time)
        system.set_forces(forces)
        system.step()


@pytest.mark.parametrize("options", [{}, {"solve": "direct"}, {"substeps": 3}], ids=["iterative", "direct", "substeps"])
@pytest.mark.parametrize("change", ["nothing", "step", "masses"])
def test_restored_particles_have_equal_bits(options, change, tmp_path):
    system = particle_system(**options)
    pull(system, 7)
    if change == "step":
        system.dt = SHORTER
    if change == "masses":  # the direct solve then has another order
        system.set_masses([7, 4], [math.inf, 2.0])
    pull(system, 4)
    state = system.state()
    state.save(tmp_path / "state.npz")
    pull(system, 20)
    fresh, moved = particle_system(**options), particle_system(**options)
    pull(moved, 3)
    for other, given in ((fresh, pbd.State.load(tmp_path / "state.npz")), (moved, state)):
        other.set_state(given)
        pull(other, 20)
        assert other.digest() == system.digest()
        assert other.time == system.time
