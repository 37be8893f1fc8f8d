"""Running scenes: how many frames, when, with which options, and what is left of a run that did not end."""

import math

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
    """A small scene: its own step is 1/120 s."""
    return scenes.load("box", grains=5, sticks=2)


@pytest.fixture
def pendulum():
    """A rod on a hinge, that touches nothing."""
    model = rigid.Model()
    rod = model.add_box((0.5, 0.1, 0.1), mass=1.0, position=(0.25, 0, 1), name="rod")
    model.add_hinge(rigid.GROUND, rod, (0, 0, 1), (0, 1, 0))
    return scenes.Scene(model=model, duration=0.5, settings={"verlet": {"dt": 0.01, "iterations": 20}}, name="pendulum")


@pytest.fixture
def sling(pendulum):
    """The rod, and a rope of two particles that hangs from its end."""
    particles = pbd.Particles()
    particles.add_particles([(0.5, 0, 1), (0.5, 0, 0.7)], mass=0.1)
    particles.add_stick(0, 1)
    return scenes.Scene(particles, pendulum.model, (([0], "rod"),), settings={"verlet": {"dt": 0.01}}, name="sling")


@pytest.mark.parametrize(
    ("duration", "fps", "steps", "counts"),
    [
        (0.5, 60, 60, [2] * 30),
        (0.5, 30, 60, [4] * 15),
        (0.5, 50, 60, [2] * 30),  # 2.4 steps a frame: two, and 60 frames a second
        (0.5, 1e9, 60, [1] * 60),  # no more frames than steps
        (0.5, 1e-300, 60, [60]),  # a frame longer than the run is the run
        (0.11, 30, 13, [4, 4, 4, 1]),  # the last frame stands at the end
        (0.01, 30, 1, [1]),
    ],
)
def test_frames_stand_at_whole_steps_and_the_last_at_the_end(box, duration, fps, steps, counts):
    running = Run(box, duration=duration, fps=fps)
    times = [frame.time for frame in running.frames()]
    assert running.steps == steps
    assert running.count == len(times) == len(counts) + 1
    assert np.allclose(times, np.cumsum([0, *counts]) / 120, rtol=1e-12)
    assert math.isclose(running.fps, 120 / counts[0])


def test_the_end_of_a_run_does_not_depend_on_its_frames(box):
    digests = {scenes.run(box, duration=0.11, fps=fps).about["digest"] for fps in (120, 30, 7)}
    assert len(digests) == 1


def test_a_scene_s_settings_give_way_to_options_and_options_may_be_text(box):
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
def test_what_cannot_be_run_is_said_before_it_is_run(box, arguments, error, message):
    with pytest.raises(error, match=message):
        Run(box, **arguments)


def test_a_name_is_no_scene():
    with pytest.raises(TypeError, match="scene is 'box': expected a Scene"):
        scenes.run("box")


def test_a_recording_holds_what_the_run_showed(box):
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


def test_a_recording_of_bodies_holds_their_poses_and_velocities(pendulum):
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
    # It falls, about the hinge: the centre of mass keeps its distance from it.
    arms = np.linalg.norm(recording.body_poses[:, 0, :3] - (0, 0, 1), axis=1)
    assert recording.body_poses[-1, 0, 2] < 0.9
    assert arms == pytest.approx(0.25, abs=1e-4)


def test_particles_beside_a_model_share_its_world(sling):
    recording = scenes.run(sling, duration=0.2)
    assert (recording.positions.shape[1:], recording.body_poses.shape[1:]) == ((2, 3), (1, 7))
    # The rope's upper end stays on the rod's: half a metre from the hinge, along the rod.
    x = recording.body_poses[-1, 0, :3] - (0, 0, 1)
    assert recording.positions[-1, 0] - (0, 0, 1) == pytest.approx(2 * x, abs=2e-3)
    with_rope, without = recording, scenes.run(scenes.Scene(model=sling.model), duration=0.2, dt=0.01)
    assert with_rope.about["digest"] != without.about["digest"]


def test_which_solvers_run_what(box, pendulum, sling, monkeypatch):
    assert pendulum.solvers == rigid.SOLVERS
    for scene in (box, sling):
        assert scene.solvers == ("verlet",)
        message = f"solver 'impulse' cannot run scene {scene.name}: it moves bodies only, .*: expected 'verlet'"
        with pytest.raises(ValueError, match=message):
            Run(scene, "impulse")
    # A solver of which the scene says nothing gets its step, and what a person says; settings for another are not its.
    given = []
    monkeypatch.setattr(rigid, "solver", lambda *words, **options: given.append((*words, options)))
    Run(pendulum, "impulse", iterations=7)
    assert given == [("impulse", pendulum.model, {"dt": 0.01, "iterations": 7})]
    # Penalties, which are as stiff as the step bears, have gains and substeps for any scene's step.
    Run(pendulum, "penalty", damping="150")
    assert given[1][2] == {"dt": 0.01, **DEFAULT_SETTINGS["penalty"], "damping": 150.0}


def test_the_first_solver_of_a_scene_s_settings_is_its_own(pendulum, monkeypatch):
    settings = {"impulse": {"dt": 0.02, "substeps": 2}, "verlet": {"dt": 0.01}}
    scene = scenes.Scene(model=pendulum.model, settings=settings)
    assert (scene.solver, scenes.Scene(model=pendulum.model).solver) == ("impulse", "verlet")
    given = []
    monkeypatch.setattr(rigid, "solver", lambda *words, **options: given.append((*words, options)))
    for solver in (None, "impulse", "verlet"):
        Run(scene, solver)
    assert [name for name, _, _ in given] == ["impulse", "impulse", "verlet"]
    assert [options for _, _, options in given] == [settings["impulse"], settings["impulse"], settings["verlet"]]


def test_each_solver_has_options_of_its_own(pendulum):
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


def test_impulses_are_recorded_and_replayed_like_frames(pendulum):
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
    """A progress that is interrupted at a frame, as by Ctrl-C."""

    def __init__(self, at):
        self.at = at

    def __call__(self, number, count):
        if number == self.at:
            raise KeyboardInterrupt


def test_an_interrupted_run_is_recorded_until_then(box):
    whole = scenes.run(box, duration=0.2)
    part = scenes.run(box, duration=0.2, progress=Interrupt(5))
    assert part.about["interrupted"]
    assert "digest" not in part.about  # the state may be further than the last frame
    assert len(part) == 5
    assert np.array_equal(part.positions, whole.positions[:5])


def test_an_interrupt_before_any_frame_is_raised(box, monkeypatch):
    monkeypatch.setattr(Run, "frame", interrupt)
    with pytest.raises(KeyboardInterrupt):
        scenes.run(box, duration=0.2)


def interrupt(self):
    raise KeyboardInterrupt


def test_a_run_that_diverges_says_when_and_keeps_the_frames_before(leap):
    # The leap is a step later than 0.5 s: in step 31, of 1/60 s; frames are a step each, and one at time zero.
    with pytest.raises(pbd.Diverged, match=r"step 31, at 0.516667 s") as caught:
        scenes.run(scenes.load(leap))
    assert len(caught.value.recording) == 31
    assert np.isfinite(caught.value.recording.positions).all()


def test_any_other_failure_keeps_the_frames_before(box):
    def fail(number, count):
        if number == 3:
            raise OSError("disk full")

    with pytest.raises(OSError, match="disk full") as caught:
        scenes.run(box, duration=0.2, progress=fail)
    assert len(caught.value.recording) == 3


def test_a_replay_gives_the_frames_of_the_run_at_its_own_rate(box):
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


def test_a_replay_moves_bodies_too(pendulum):
    recording = scenes.run(pendulum, duration=0.1)
    frames = list(Replay(pendulum, recording).frames())
    assert np.array_equal([frame.body_poses for frame in frames], recording.body_poses)
    more = rigid.Model()
    more.add_sphere(0.1, mass=1.0)
    more.add_sphere(0.1, mass=1.0, position=(1, 0, 0))
    with pytest.raises(ValueError, match="0 colliders and 1 bodies: expected 0 particles, 0 colliders and 2 bodies"):
        Replay(scenes.Scene(model=more), recording)


def test_a_replay_of_another_scene_is_refused(box):
    recording = scenes.run(scenes.load("box", grains=6, sticks=2), duration=0.05)
    message = "recording of 10 particles, 0 colliders and 0 bodies: expected 9 particles, 0 colliders and 0 bodies"
    with pytest.raises(ValueError, match=f"{message}, as in scene box"):
        Replay(box, recording)
    with pytest.raises(TypeError, match="recording is str"):
        Replay(box, "box.npz")


@pytest.fixture
def crank():
    """A rod that a motor turns, to and fro by a scene's control, and when that was called."""
    model, called = rigid.Model(), []
    rod = model.add_box((0.5, 0.1, 0.1), mass=1.0, position=(0.25, 0, 1), name="rod")
    model.add_hinge(rigid.GROUND, rod, (0, 0, 1), (0, 1, 0), motor=rigid.Motor(speed=0.0), name="crank")

    def control(solver, time):
        called.append(time)
        solver.set_motor("crank", speed=math.cos(20 * time))

    settings = {"verlet": {"dt": 0.01, "iterations": 20}}
    return scenes.Scene(model=model, duration=0.5, settings=settings, control=control), called


def test_a_control_is_called_before_each_step(crank):
    scene, called = crank
    running = Run(scene, fps=25)
    angles = [running.system.joint_positions()["crank"] for _ in running.frames()]
    assert np.allclose(called, 0.01 * np.arange(50), atol=1e-12)
    # A motor with all the effort it needs, from step to step: what it has turned by is the sum of h cos 20 t.
    expected = np.cumsum(0.01 * np.cos(0.2 * np.arange(50)))[3::4]
    assert np.allclose(angles[1:-1], expected[: len(angles) - 2], atol=1e-4)
    # A run that is steered is the same run however it is watched.
    digests = {scenes.run(scene, fps=fps).about["digest"] for fps in (100, 30)}
    assert digests == {running.system.digest()}


def test_a_solver_that_cannot_run_a_scene_says_why(crank):
    scene, _ = crank
    with pytest.raises(TypeError, match="control is 'fast': expected a function"):
        scenes.Scene(model=scene.model, control="fast")
    unsupported = {"verlet": "frames of particles do not like it"}
    other = scenes.Scene(model=scene.model, settings={"impulse": {}}, unsupported=unsupported, name="crank")
    assert "verlet" not in other.solvers
    with pytest.raises(NotImplementedError, match="'verlet' cannot run scene crank: frames of particles do not like"):
        Run(other, "verlet")
