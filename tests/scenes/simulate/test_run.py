"""Runs of scenes: frames, times, options, and recordings of runs that stop early."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

import pbd
import rigid
import scenes
from scenes.parameters import UnknownName
from scenes.simulate.run import Replay, Run
from scenes.simulate.settings import DEFAULT_SETTINGS


@pytest.fixture
def box():
    """A small scene with a step of 1/120 s."""
    return scenes.load("box", grains=5, sticks=2)


@pytest.fixture
def pendulum():
    """A rod on a hinge, without contacts."""
    model = rigid.Model()
    rod = model.add_box((0.5, 0.1, 0.1), mass=1.0, position=(0.25, 0, 1), name="rod")
    model.add_hinge(rigid.GROUND, rod, (0, 0, 1), (0, 1, 0))
    return scenes.Scene(model=model, duration=0.5, settings={"verlet": {"dt": 0.01, "iterations": 20}}, name="pendulum")


@pytest.fixture
def sling(pendulum):
    """The rod, and a rope of two particles at its end."""
    particles = pbd.Particles()
    particles.add_particles([(0.5, 0, 1), (0.5, 0, 0.7)], mass=0.1)
    particles.add_stick(0, 1)
    return scenes.Scene(particles, pendulum.model, (([0], "rod"),), settings={"verlet": {"dt": 0.01}}, name="sling")


@pytest.mark.parametrize(
    ("duration", "fps", "steps", "counts"),
    [
        (0.5, 60, 60, [2] * 30),
        (0.5, 30, 60, [4] * 15),
        (0.5, 50, 60, [2] * 30),  # 2.4 steps per frame become two, and 60 frames per second
        (0.5, 1e9, 60, [1] * 60),  # at most one frame per step
        (0.5, 1e-300, 60, [60]),  # at most the whole run per frame
        (0.11, 30, 13, [4, 4, 4, 1]),  # the last frame is at the end
        (0.01, 30, 1, [1]),
    ],
)
def test_frames_are_at_whole_steps_and_the_last_at_the_end(box, duration, fps, steps, counts):
    running = Run(box, duration=duration, fps=fps)
    times = [frame.time for frame in running.frames()]
    assert running.steps == steps
    assert running.count == len(times) == len(counts) + 1
    assert np.allclose(times, np.cumsum([0, *counts]) / 120, rtol=1e-12)
    assert math.isclose(running.fps, 120 / counts[0])


def test_end_of_a_run_does_not_depend_on_its_frames(box):
    digests = {scenes.run(box, duration=0.11, fps=fps).about["digest"] for fps in (120, 30, 7)}
    assert len(digests) == 1


def test_options_replace_settings_and_can_be_text(box):
    running = Run(box, dt=0.01, duration=0.1, iterations="7", tolerance="1e-5", direction="start")
    assert (running.system.dt, running.system.iterations, running.system.tolerance) == (0.01, 7, 1e-5)
    assert Run(box).system.iterations == box.settings["verlet"]["iterations"]


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"solver": "verlett"}, ValueError, "solver is 'verlett': expected one of 'verlet'.*; did you mean 'verlet'"),
        ({"iteration": 3}, UnknownName, "no option 'iteration'; did you mean 'iterations'"),
        ({"worlds": 2}, UnknownName, "no option 'worlds'"),
        ({"iterations": "x"}, ValueError, "option iterations is 'x': expected a whole number"),
        ({"damping": 2.0}, ValueError, "damping is 2"),
        ({"duration": 0}, ValueError, "duration is 0: expected a number above zero"),
        ({"duration": math.nan}, ValueError, "duration is nan"),
        ({"duration": 1e-9}, ValueError, "duration is 1e-09 s with steps of 0.00833333 s"),
        ({"duration": 1e300, "dt": 1e-300}, ValueError, "duration is 1e.300 s with steps of"),
        ({"dt": 2.0, "duration": 0.5}, ValueError, "duration is 0.5 s with steps of 2 s"),
        ({"dt": -1}, ValueError, "dt is -1: expected a number above zero"),
        ({"fps": 0}, ValueError, "fps is 0: expected a number above zero"),
        ({"fps": math.inf}, ValueError, "fps is inf"),
    ],
)
def test_wrong_arguments_are_refused_before_the_run(box, arguments, error, message):
    with pytest.raises(error, match=message):
        Run(box, **arguments)


def test_name_in_place_of_a_scene_is_refused():
    with pytest.raises(TypeError, match="scene is 'box': expected a Scene"):
        scenes.run("box")


def test_recording_holds_the_frames_of_the_run(box):
    numbers = []
    recording = scenes.run(box, duration=0.2, fps=30, progress=lambda *now: numbers.append(now))
    assert numbers == [(k, 7) for k in range(1, 8)]
    system = pbd.ParticleSystem(box.particles, **box.settings["verlet"])
    for k in range(len(recording)):
        assert recording.times[k] == pytest.approx(system.time, abs=1e-12)
        assert np.array_equal(recording.positions[k], system.positions())
        assert np.array_equal(recording.velocities[k], system.velocities())
        assert np.array_equal(recording.energy[k], system.energy())
        system.step(4)
    assert recording.about["scene"] == "box"
    assert recording.about["parameters"]["grains"] == "5"


def test_recording_of_bodies_holds_poses_and_velocities(pendulum):
    recording = scenes.run(pendulum, duration=0.2, fps=50)
    assert recording.about["settings"] == {"dt": 0.01, "iterations": 20}
    assert (recording.positions.shape, recording.poses.shape) == ((11, 0, 3), (11, 0, 7))
    solver = rigid.solver("verlet", pendulum.model, dt=0.01, iterations=20)
    for k in range(len(recording)):
        state = solver.state()
        assert recording.times[k] == pytest.approx(solver.time, abs=1e-12)
        assert np.array_equal(recording.body_poses[k], np.hstack([state.position, state.rotation]))
        assert np.array_equal(recording.body_velocities[k], np.hstack([state.velocity, state.angular_velocity]))
        assert np.array_equal(recording.energy[k], solver.energy())
        solver.step(2)
    # The rod falls, and its centre of mass keeps its distance from the hinge.
    arms = np.linalg.norm(recording.body_poses[:, 0, :3] - (0, 0, 1), axis=1)
    assert recording.body_poses[-1, 0, 2] < 0.9
    assert arms == pytest.approx(0.25, abs=1e-4)


@pytest.mark.slow
def test_particles_and_bodies_share_a_world(sling):
    recording = scenes.run(sling, duration=0.2)
    assert (recording.positions.shape[1:], recording.body_poses.shape[1:]) == ((2, 3), (1, 7))
    # The upper end of the rope stays at the end of the rod, half a metre from the hinge.
    x = recording.body_poses[-1, 0, :3] - (0, 0, 1)
    assert recording.positions[-1, 0] - (0, 0, 1) == pytest.approx(2 * x, abs=2e-3)
    with_rope, without = recording, scenes.run(scenes.Scene(model=sling.model), duration=0.2, dt=0.01)
    assert with_rope.about["digest"] != without.about["digest"]


def note_solvers(monkeypatch):
    """Replace `rigid.solver` by a function that notes its arguments. Returns: the list that it fills."""
    given = []

    def solver(*words, **options):
        given.append((*words, options))
        return SimpleNamespace(particle_system=None)

    monkeypatch.setattr(rigid, "solver", solver)
    return given


def test_only_verlet_runs_particles(box, pendulum, sling, monkeypatch):
    assert pendulum.solvers == rigid.SOLVERS
    for scene in (box, sling):
        assert scene.solvers == ("verlet",)
        message = f"solver 'impulse' cannot run scene {scene.name}: it moves bodies only, .*: expected 'verlet'"
        with pytest.raises(ValueError, match=message):
            Run(scene, "impulse")
    # A solver without settings gets the scene's step and the given options, and no settings of another solver.
    given = note_solvers(monkeypatch)
    Run(pendulum, "impulse", iterations=7)
    assert given == [("impulse", pendulum.model, {"dt": 0.01, "iterations": 7})]
    # The solver "penalty" has default settings for any scene.
    Run(pendulum, "penalty", damping="150")
    assert given[1][2] == {"dt": 0.01, **DEFAULT_SETTINGS["penalty"], "damping": 150.0}


def test_first_solver_in_settings_is_the_default(pendulum, monkeypatch):
    settings = {"impulse": {"dt": 0.02, "substeps": 2}, "verlet": {"dt": 0.01}}
    scene = scenes.Scene(model=pendulum.model, settings=settings)
    assert (scene.solver, scenes.Scene(model=pendulum.model).solver) == ("impulse", "verlet")
    given = note_solvers(monkeypatch)
    for solver in (None, "impulse", "verlet"):
        Run(scene, solver)
    assert [name for name, _, _ in given] == ["impulse", "impulse", "verlet"]
    assert [options for _, _, options in given] == [settings["impulse"], settings["impulse"], settings["verlet"]]


def test_each_solver_has_its_own_options(pendulum):
    running = Run(pendulum, "impulse", tolerance="1e-5", gyroscopic="midpoint", warm_start="no")
    options = running.system.options
    assert (options.tolerance, options.iterations, options.warm_start) == (1e-5, 50, False)
    for solver, option, message in (
        ("impulse", "damping", "'impulse' has no option 'damping'"),
        ("impulse", "warmstart", "'impulse' has no option 'warmstart'; did you mean 'warm_start'"),
        ("verlet", "warm_start", r"'verlet' has no option 'warm_start'.* \(it has substeps, .*iterations, .*"),
    ):
        with pytest.raises(UnknownName, match=message):
            Run(pendulum, solver, **{option: 1})
    with pytest.raises(ValueError, match="gyroscopic is 'none': expected one of 'implicit'"):
        Run(pendulum, "impulse", gyroscopic="none")


def test_solver_impulse_is_recorded_and_replayed(pendulum):
    recording = scenes.run(pendulum, "impulse", duration=0.2, fps=50)
    assert (recording.about["solver"], recording.about["settings"]) == ("impulse", {"dt": 0.01})
    solver = rigid.solver("impulse", pendulum.model, dt=0.01)
    for k in range(len(recording)):
        state = solver.state()
        assert np.array_equal(recording.body_poses[k], np.hstack([state.position, state.rotation]))
        assert np.array_equal(recording.energy[k], solver.energy())
        if k < len(recording) - 1:
            solver.step(2)
    assert recording.about["digest"] == solver.digest()
    assert recording.about["last_step"] == {key: float(x) for key, x in solver.statistics()._asdict().items()}
    assert Replay(pendulum, recording).solver == "impulse"


class Interrupt:
    """Progress function that raises KeyboardInterrupt at a frame."""

    def __init__(self, at):
        self.at = at

    def __call__(self, number, count):
        if number == self.at:
            raise KeyboardInterrupt


def test_interrupted_run_keeps_its_frames(box):
    whole = scenes.run(box, duration=0.2)
    part = scenes.run(box, duration=0.2, progress=Interrupt(5))
    assert part.about["interrupted"]
    assert "digest" not in part.about  # the state can be later than the last frame
    assert len(part) == 5
    assert np.array_equal(part.positions, whole.positions[:5])


def test_interrupt_before_the_first_frame_is_raised(box, monkeypatch):
    monkeypatch.setattr(Run, "frame", interrupt)
    with pytest.raises(KeyboardInterrupt):
        scenes.run(box, duration=0.2)


def interrupt(self):
    raise KeyboardInterrupt


def test_run_that_diverges_names_the_step_and_keeps_its_frames(leap):
    # The jump is in the first step after 0.5 s, step 31 of 1/60 s. There is a frame per step, and one at time zero.
    with pytest.raises(pbd.Diverged, match=r"step 31, at 0.516667 s") as caught:
        scenes.run(scenes.load(leap))
    assert len(caught.value.recording) == 31
    assert np.isfinite(caught.value.recording.positions).all()


def test_run_that_fails_keeps_its_frames(box):
    def fail(number, count):
        if number == 3:
            raise OSError("disk full")

    with pytest.raises(OSError, match="disk full") as caught:
        scenes.run(box, duration=0.2, progress=fail)
    assert len(caught.value.recording) == 3


def test_replay_has_its_own_frame_rate(box):
    recording = scenes.run(box, duration=0.2, fps=60)
    replay = Replay(box, recording, fps=30)
    frames = list(replay.frames())
    assert replay.count == len(frames) == 7
    assert replay.fps == pytest.approx(30)
    assert replay.solver == "verlet"
    for frame, k in zip(frames, range(0, 13, 2)):
        assert frame.time == recording.times[k]
        assert np.array_equal(frame.positions, recording.positions[k])
    assert [frame.time for frame in Replay(box, recording, fps=17).frames()][-1] == recording.times[-1]
    assert Replay(box, recording, fps=1e9).count == len(recording)


def test_replay_has_bodies(pendulum):
    recording = scenes.run(pendulum, duration=0.1)
    frames = list(Replay(pendulum, recording).frames())
    assert np.array_equal([frame.body_poses for frame in frames], recording.body_poses)
    more = rigid.Model()
    more.add_sphere(0.1, mass=1.0)
    more.add_sphere(0.1, mass=1.0, position=(1, 0, 0))
    with pytest.raises(ValueError, match="0 colliders and 1 bodies: expected 0 particles, 0 colliders and 2 bodies"):
        Replay(scenes.Scene(model=more), recording)


def test_replay_of_another_scene_is_refused(box):
    recording = scenes.run(scenes.load("box", grains=6, sticks=2), duration=0.05)
    message = "recording of 10 particles, 0 colliders and 0 bodies: expected 9 particles, 0 colliders and 0 bodies"
    with pytest.raises(ValueError, match=f"{message}, as in scene box"):
        Replay(box, recording)
    with pytest.raises(TypeError, match="recording is str"):
        Replay(box, "box.npz")


@pytest.fixture
def crank():
    """A scene whose control turns a rod to and fro with a motor, and the times at which it was called."""
    model, called = rigid.Model(), []
    rod = model.add_box((0.5, 0.1, 0.1), mass=1.0, position=(0.25, 0, 1), name="rod")
    model.add_hinge(rigid.GROUND, rod, (0, 0, 1), (0, 1, 0), motor=rigid.Motor(speed=0.0), name="crank")

    def control(solver, time):
        called.append(time)
        solver.set_motor("crank", speed=math.cos(20 * time))

    settings = {"verlet": {"dt": 0.01, "iterations": 20}}
    return scenes.Scene(model=model, duration=0.5, settings=settings, control=control), called


@pytest.mark.slow
def test_control_is_called_before_each_step(crank):
    scene, called = crank
    running = Run(scene, fps=25)
    angles = [running.system.joint_positions()["crank"] for _ in running.frames()]
    assert np.allclose(called, 0.01 * np.arange(50), atol=1e-12)
    # The motor has unlimited effort, so the angle is the sum of h cos 20 t.
    expected = np.cumsum(0.01 * np.cos(0.2 * np.arange(50)))[3::4]
    assert np.allclose(angles[1:-1], expected[: len(angles) - 2], atol=1e-4)
    # The result does not depend on the frame rate.
    digests = {scenes.run(scene, fps=fps).about["digest"] for fps in (100, 30)}
    assert digests == {running.system.digest()}


def test_unsupported_solver_is_refused_with_the_reason(crank):
    scene, _ = crank
    with pytest.raises(TypeError, match="control is 'fast': expected a function"):
        scenes.Scene(model=scene.model, control="fast")
    unsupported = {"verlet": "frames of particles do not like it"}
    other = scenes.Scene(model=scene.model, settings={"impulse": {}}, unsupported=unsupported, name="crank")
    assert "verlet" not in other.solvers
    with pytest.raises(NotImplementedError, match="'verlet' cannot run scene crank: frames of particles do not like"):
        Run(other, "verlet")
