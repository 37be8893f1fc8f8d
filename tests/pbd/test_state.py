"""Snapshots, changes between steps, and divergence."""

import math
import pickle

import numpy as np
import pytest

import pbd

g = 9.81


def triangle(worlds=1, **options):
    """Three particles on sticks, one of which is compliant. The first particle is pinned."""
    particles = pbd.Particles(gravity=(0, 0, -g))
    particles.add_particles([(0, 0, 0), (1, 0, 0), (1, 1, 0)], [math.inf, 1.0, 7.0], [(0, 0, 0), (0, 1, 0), (1, 0, 2)])
    particles.add_sticks([(0, 1), (1, 2)])
    particles.add_stick(0, 2, compliance=1e-4)
    return pbd.ParticleSystem(particles, **{"dt": 0.01, "worlds": worlds, **options})


# Snapshots ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("worlds", [1, 3])
@pytest.mark.parametrize("substeps", [1, 3])
def test_a_saved_state_continues_bit_for_bit(tmp_path, worlds, substeps):
    system = triangle(worlds, substeps=substeps)
    system.set_forces(np.array([(0, 0, 0), (1, 2, 3), (0, -1, 0)], float))
    system.step(7)
    system.dt = 0.007  # the time is then no longer a multiple of the step
    system.set_masses([1], 2.0)
    system.step(4)
    system.state().save(tmp_path / "half.state")
    expected = system.state()
    loaded = pbd.State.load(tmp_path / "half.state")
    for name, value in vars(expected).items():
        assert np.array_equal(getattr(loaded, name), value), name
    other = triangle(worlds, substeps=1)
    other.set_state(loaded)
    assert other.time == system.time
    assert other.dt == 0.007
    assert np.array_equal(other.inverse_masses(), system.inverse_masses())
    for s in (system, other):
        s.step(9)
    assert other.digest() == system.digest()
    assert other.time == system.time
    assert np.array_equal(other.positions(), system.positions())


def test_an_earlier_state_is_restored_bit_for_bit():
    system = triangle()
    system.step(3)
    state, digest = system.state(), system.digest()
    system.step(5)
    later = system.digest()
    assert later != digest
    system.set_state(state)
    assert system.digest() == digest
    system.step(5)
    assert system.digest() == later


def test_a_fresh_start_keeps_the_lengths_of_sticks():
    # No constraint of a triangle of sticks stores anything, so there is nothing to reset.
    system = triangle(worlds=2)
    before = system.constraints.sticks()[1]
    stored = system.constraints.read_state()
    assert stored.size == 0
    system.constraints.write_state(np.zeros_like(stored))
    assert np.array_equal(system.constraints.sticks()[1], before)


def test_a_snapshot_does_not_change_with_the_system():
    system = triangle()
    state = system.state()
    before = state.position.copy()
    system.step(3)
    assert np.array_equal(state.position, before)


@pytest.mark.parametrize("content", ["nothing", "words", "another npz", "an npy", "half an npz", "pickled"])
def test_files_that_contain_no_state_are_refused(tmp_path, content):
    path = tmp_path / "file.state"
    if content == "nothing":
        path.write_bytes(b"")
    elif content == "words":
        path.write_text("position, force")
    elif content == "another npz":
        with path.open("wb") as file:
            np.savez(file, positions=np.zeros((3, 3)))
    elif content == "an npy":
        with path.open("wb") as file:
            np.save(file, np.zeros((3, 3)))
    elif content == "half an npz":
        triangle().state().save(path)
        path.write_bytes(path.read_bytes()[:-100])
    else:
        with path.open("wb") as file:
            np.savez(file, **{**vars(triangle().state()), "position": np.array([{}], object)})
    with pytest.raises(ValueError, match=r"file\.state is not a state saved by verletlab"):
        pbd.State.load(path)


def test_a_missing_file_is_reported(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"no state at .*nowhere"):
        pbd.State.load(tmp_path / "nowhere")
    with pytest.raises(ValueError, match="is not a state"):
        pbd.State.load(tmp_path)


def test_a_state_of_another_system_is_refused():
    system = triangle()
    with pytest.raises(TypeError, match=r"state is str: expected a pbd\.State"):
        system.set_state("half.state")
    with pytest.raises(ValueError, match=r"\(2, 3, 3\): expected \(3, 3\)"):
        system.set_state(triangle(2).state())
    with pytest.raises(ValueError, match=r"\(3, 3\): expected \(2, 3, 3\)"):
        triangle(2).set_state(system.state())


@pytest.mark.parametrize("name", ["position", "previous_position", "force"])
def test_a_state_that_is_not_finite_is_refused(name):
    system = triangle()
    state = system.state()
    setattr(state, name, np.full((3, 3), math.nan))
    with pytest.raises(ValueError, match=f"{name} is nan"):
        system.set_state(state)


@pytest.mark.parametrize(("name", "value"), [
    ("inverse_mass", np.full(3, -1.0)), ("inverse_mass", np.full(3, math.nan)), ("dt", 0.0), ("dt", math.nan),
    ("substeps", 0), ("substep", -1), ("origin", math.nan),
])  # fmt: skip
def test_a_state_of_impossible_numbers_is_refused(name, value):
    system = triangle()
    state = system.state()
    setattr(state, name, value)
    with pytest.raises(ValueError, match=name.replace("_", ".")):
        system.set_state(state)


@pytest.mark.parametrize("name", ["previous_position", "force"])
def test_a_refused_state_leaves_the_system_as_it_was(name):
    system = triangle()
    before = system.digest()
    state = system.state()
    state.position = state.position + 1.0
    setattr(state, name, np.full((3, 3), math.nan))
    with pytest.raises(ValueError, match="nan"):
        system.set_state(state)
    assert system.digest() == before


def test_the_digest_changes_with_any_bit():
    state = triangle().state()
    first = state.digest()
    assert len(first) == 16
    assert int(first, 16) >= 0
    for name in ("position", "previous_position"):
        changed = getattr(state, name).copy()
        changed[1, 0] = np.nextafter(changed[1, 0], 9)
        other = pbd.State(**{**vars(state), name: changed})
        assert other.digest() != first
        assert pbd.State(**vars(state)).digest() == first


# Changes between steps ------------------------------------------------------------------------------------------------


def free(mass=2.0, velocity=(1.0, 0, 3.0), **options):
    particles = pbd.Particles(gravity=(0, 0, -g))
    particles.add_particle((0, 0, 0), mass, velocity)
    return pbd.ParticleSystem(particles, **{"dt": 0.01, **options})


def test_set_positions_keeps_the_velocities():
    # The parabola continues from another position, to round-off.
    a, b = free(), free()
    for s in (a, b):
        s.step(10)
    b.set_positions(b.positions() + np.array([[1.0, 2.0, 3.0]]))
    assert np.abs(b.velocities() - a.velocities()).max() < 1e-13
    for s in (a, b):
        s.step(50)
    assert np.abs(b.positions() - a.positions() - [[1.0, 2.0, 3.0]]).max() < 1e-12


@pytest.mark.parametrize("substeps", [1, 4])
def test_set_velocities_starts_a_new_parabola(substeps):
    # x = x1 + v t + a t²/2 exactly, with a = g + F/m, from the time when the forces are set.
    s = free(substeps=substeps)
    s.step(10)
    s.set_forces([[4.0, 0, 0]])
    start, velocity = s.positions(), np.array([[-1.0, 5.0, 2.0]])
    s.set_velocities(velocity)
    s.step(100)
    assert np.abs(s.positions() - start - velocity - np.array([[2.0, 0, -g]]) / 2).max() < 1e-12


def test_forces_act_until_others_are_set():
    # The Verlet recurrence: each step adds a h² to the displacement.
    s = free(velocity=(0, 0, 0))
    s.step(1)
    displacement, x = -g * 1e-4 / 2, -g * 1e-4 / 2
    for force in (5.0, -3.0, 0.0):
        s.set_forces([[0, 0, force]])
        for _ in range(3):
            s.step()
            displacement += (force / 2.0 - g) * 1e-4
            x += displacement
            assert s.positions()[0, 2] == pytest.approx(x, abs=1e-15)


def test_each_world_has_its_own_forces():
    s = free(worlds=2, velocity=(0, 0, 0))
    s.set_forces(np.array([[[2.0, 0, 0]], [[0, 2.0, 0]]]))
    s.step(100)
    assert np.abs(s.positions() - [[[0.5, 0, -g / 2]], [[0, 0.5, -g / 2]]]).max() < 1e-12


def test_a_changed_mass_takes_effect():
    # Momentum of the ends of a stick with their new masses, 3 and 7.
    particles = pbd.Particles(gravity=(0, 0, 0))
    particles.add_particles([(0, 0, 0), (1, 0, 0)], [1.0, 7.0], [(0, 1, 0), (0, -2, 0)])
    particles.add_stick(0, 1)
    s = pbd.ParticleSystem(particles, dt=0.01)
    s.set_masses(0, 3.0)
    assert s.inverse_masses().tolist() == [1 / 3, 1 / 7]
    s.step(50)
    assert np.abs(np.array([3.0, 7.0]) @ s.velocities() - [0, 3 - 14, 0]).max() < 1e-12


def test_an_infinite_mass_pins_and_a_finite_mass_frees():
    s = free()
    s.step(10)
    s.set_masses([0], math.inf)
    held = s.positions()
    s.step(10)
    assert np.array_equal(s.positions(), held)
    s.set_masses([0], 1.0)
    # From rest, by an exact start: g t²/2.
    s.step(10)
    assert np.abs(s.positions() - held - [[0, 0, -g * 0.1**2 / 2]]).max() < 1e-13


@pytest.mark.parametrize("substeps", [1, 4])
def test_a_changed_step_keeps_velocity_and_time_with_substeps(substeps):
    # Without gravity the motion stays uniform to round-off.
    particles = pbd.Particles(gravity=(0, 0, 0))
    particles.add_particle((0, 0, 0), velocity=(2.0, -1.0, 0.5))
    s = pbd.ParticleSystem(particles, dt=0.01, substeps=substeps)
    time = 0.0
    for dt, count in ((0.01, 3), (0.004, 5), (0.03, 2)):
        s.dt = dt
        s.step(count)
        time += dt * count
        assert s.dt == dt
        assert s.time == pytest.approx(time, abs=1e-15)
        assert np.abs(s.positions() - np.array([[2.0, -1.0, 0.5]]) * time).max() < 1e-15
        assert np.abs(s.velocities() - [[2.0, -1.0, 0.5]]).max() < 1e-12


def test_kinematic_particles_follow_their_path_after_a_change_of_step():
    particles = pbd.Particles()
    particles.add_particle((0, 0, 0))
    particles.add_path(0, lambda time: (time**2, 0, 0))
    s = pbd.ParticleSystem(particles, dt=0.01, substeps=3)
    s.step(5)
    s.dt = 0.002
    s.step(5)
    assert s.time == pytest.approx(0.06, abs=1e-15)
    assert s.positions()[0, 0] == pytest.approx(0.06**2, abs=1e-15)


# Divergence -----------------------------------------------------------------------------------------------------------

PATHS = [("serial", None), ("clusters", 3), ("coloured", None)]


def explosive(schedule, clusters, worlds=1, substeps=1, count=6):
    """Loose particles, and one stick far from the particle that diverges."""
    particles = pbd.Particles(gravity=(0, 0, 0))
    particles.add_particles(np.arange(3.0 * count).reshape(-1, 3))
    particles.add_sticks([(0, 1), (1, 2)])
    return pbd.ParticleSystem(
        particles, dt=0.01, worlds=worlds, substeps=substeps, schedule=schedule, clusters=clusters
    )


def test_divergence_comes_out_of_another_process():
    # A pool that cannot read an error waits for ever.
    error = pickle.loads(pickle.dumps(pbd.Diverged(1, 20, 3, 0.5, "body")))
    assert (error.world, error.step, error.particle, error.time) == (1, 20, 3, 0.5)
    assert "body 3 (world 1)" in str(error)


@pytest.mark.parametrize(("schedule", "clusters"), PATHS)
def test_divergence_is_reported_with_its_step(schedule, clusters):
    # 1e300 N on 1 kg: 1e296 m after a step of 10 ms, which single precision cannot represent. The fourth step.
    s = explosive(schedule, clusters)
    s.step(3)
    forces = np.zeros((6, 3))
    forces[4, 1] = 1e300
    s.set_forces(forces)
    with pytest.raises(pbd.Diverged, match=r"particle 4 .*world 0.* step 4, at 0\.04 s") as caught:
        s.step(5)
    found = caught.value
    assert isinstance(found, ArithmeticError)
    assert (found.world, found.step, found.particle) == (0, 4, 4)
    assert found.time == pytest.approx(0.04, abs=1e-15)
    # The system does not continue, also if it is asked again.
    assert s.time == pytest.approx(0.03, abs=1e-15)
    with pytest.raises(pbd.Diverged):
        s.step()


@pytest.mark.parametrize(("schedule", "clusters"), PATHS)
def test_divergence_is_reported_with_its_world(schedule, clusters):
    s = explosive(schedule, clusters, worlds=3)
    forces = np.zeros((3, 6, 3))
    forces[1, 5, 0] = -1e300
    s.set_forces(forces)
    with pytest.raises(pbd.Diverged) as caught:
        s.step(2)
    assert (caught.value.world, caught.value.step, caught.value.particle) == (1, 1, 5)


@pytest.mark.parametrize(("schedule", "clusters"), PATHS)
def test_of_several_divergences_the_first_is_reported(schedule, clusters):
    s = explosive(schedule, clusters)
    forces = np.zeros((6, 3))
    forces[3:, 0] = 1e300
    s.set_forces(forces)
    with pytest.raises(pbd.Diverged) as caught:
        s.step()
    assert caught.value.particle == 3


@pytest.mark.parametrize(("schedule", "clusters"), PATHS)
def test_divergence_in_a_substep_is_reported_with_its_step(schedule, clusters):
    # Three whole steps, and the first of four substeps of the fourth.
    s = explosive(schedule, clusters, substeps=4)
    s.step(3)
    s.set_forces(np.full((6, 3), 1e300))
    with pytest.raises(pbd.Diverged) as caught:
        s.step()
    assert caught.value.time == pytest.approx(0.0325, abs=1e-15)
    assert caught.value.step == 4


@pytest.mark.parametrize(("schedule", "clusters"), PATHS)
def test_a_system_continues_from_a_state_before_divergence(schedule, clusters):
    s = explosive(schedule, clusters)
    s.step(2)
    state = s.state()
    s.set_forces(np.full((6, 3), 1e300))
    with pytest.raises(pbd.Diverged):
        s.step()
    s.set_state(state)
    s.step(3)
    assert s.time == pytest.approx(0.05, abs=1e-15)
    assert np.isfinite(s.positions()).all()
