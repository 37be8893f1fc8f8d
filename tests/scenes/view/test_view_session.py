"""Sessions with a simulated clock: real time, slow motion, dropped frames, errors."""

import numpy as np
import pytest

import scenes
from pbd.core.results import Diverged
from scenes.simulate.interpolation import interpolate_frames
from scenes.view.session import FRAME_RATE, GRABS, LARGEST_LAG, LONGEST_PAUSE, Session


class Clock:
    """A clock that the test moves [s]."""

    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


class Timed:
    """A session of a small cloth. Args: of_step, of_show: simulated durations of a step and of showing [s]."""

    def __init__(self, of_step=0.0, of_show=0.0):
        self.clock, self.times, self.steps = Clock(), [], 0
        self.of_step, self.of_show = of_step, of_show
        self.session = Session(scenes.load("drape", count=6), show=self.show, before_step=self.before, clock=self.clock)
        self.session.watched = True
        self.dt = self.session.get("dt")
        self.session.update()  # the first step compiles, and its time does not count
        self.start = self.time

    def before(self, session, span):
        count = round(span / self.session.get("dt"))
        self.steps += count
        self.clock.now += count * self.of_step

    def show(self, session):
        self.times.append(self.clock.now)
        self.clock.now += self.of_show

    @property
    def time(self):
        return self.session.run.system.time

    def run(self, seconds):
        """Run for some time of the clock [s]. Returns: simulated time since the start [s]."""
        end = self.clock.now + seconds
        while self.clock.now < end:
            idle = self.session.update()  # an update takes some time, too
            self.clock.now += max(idle, 1e-4)
        return self.time - self.start


def plain_digest(steps):
    """Digest of the same cloth after steps of a plain Run."""
    running = scenes.Run(scenes.load("drape", count=6), grabs=GRABS)
    running.step(steps)
    return running.particles.digest()


@pytest.mark.parametrize("speed", [1.0, 0.25, 2.0])
def test_speed_and_rates(speed):
    timed = Timed(of_step=0.001)
    timed.session.speed = speed
    # The scene is never ahead of the clock. It is behind by a part of a step, and at twice the speed by two steps.
    passed = timed.run(2.0)
    assert 2.0 * speed - 3 * timed.dt * max(speed, 1) < passed <= 2.0 * speed + 1e-9
    assert timed.session.rate == pytest.approx(speed, rel=0.05)
    assert timed.session.steps_per_second == pytest.approx(speed / timed.dt, rel=0.05)
    assert timed.session.step_seconds == pytest.approx(0.001, rel=1e-6)
    assert len(timed.times) <= 2.0 * FRAME_RATE + 2
    # The state equals that of a plain run.
    assert timed.session.run.particles.digest() == plain_digest(timed.steps)


def test_slow_motion_shows_interpolated_frames():
    timed = Timed()
    timed.session.speed, fractions = 0.1, []
    timed.session.show = lambda session: (timed.show(session), fractions.append(session.fraction))
    timed.run(2.0)
    assert 0.9 * 2.0 * FRAME_RATE < len(fractions) <= 2.0 * FRAME_RATE + 2
    # Each frame advances by a tenth of a step, and starts again at each step.
    steps = np.diff(fractions)
    assert np.all((np.abs(steps - 0.1) < 0.01) | (steps < 0))
    assert (steps < 0).sum() == pytest.approx(2.0 * FRAME_RATE / 10, abs=2)


def test_interpolated_frame():
    first, second = (scenes.Run(scenes.load("dzhanibekov"), "impulse").frame() for _ in range(2))
    axis, angles = np.array([1.0, 2.0, -2.0]) / 3, (0.1, 0.1, 0.2)
    turns = [np.array([np.cos(angle / 2), *(np.sin(angle / 2) * axis)]) for angle in angles]
    first = first._replace(time=1.0, positions=np.zeros((2, 3)), body_poses=np.array([[0, 0, 0, *turns[0]]]))
    second = second._replace(time=2.0, positions=np.ones((2, 3)), body_poses=np.array([[4, 0, 2, *-turns[2]]]))
    middle = interpolate_frames(first, second, 0.5)
    assert middle.time == 1.5
    np.testing.assert_allclose(middle.positions, 0.5)
    np.testing.assert_allclose(middle.body_poses[0, :3], (2, 0, 1))
    # Half of a rotation by 0.1 rad is the rotation by 0.05 rad: chord and arc agree in the middle.
    half = np.array([np.cos(0.075), *(np.sin(0.075) * axis)])
    np.testing.assert_allclose(middle.body_poses[0, 3:], half, atol=1e-12)
    assert interpolate_frames(first, second, 1.0) is second


def test_slow_steps_slow_the_scene():
    timed = Timed(of_step=2.5 / 60)  # a step is 1/60 s, so the rate is 0.4
    passed = timed.run(4.0)
    assert passed == pytest.approx(0.4 * 4.0, abs=2 * timed.dt)
    assert timed.session.rate == pytest.approx(0.4, rel=0.05)
    # A lag beyond LARGEST_LAG is dropped, so the scene does not race when steps are fast again.
    timed.of_step, before = 0.0, timed.time
    timed.run(1.0)
    assert timed.time - before <= 1.0 + LARGEST_LAG + timed.dt
    assert timed.time - before >= 1.0 - timed.dt


def test_frames_are_dropped_before_the_scene_slows():
    # Steps leave 16 % of the time, which is 0.64 s of 4 s: enough for thirteen frames of 50 ms. At least eight are
    # shown, in a tenth of the time, and the scene runs in real time.
    timed = Timed(of_step=0.84 / 60, of_show=0.05)
    passed = timed.run(4.0)
    assert passed == pytest.approx(4.0, abs=LARGEST_LAG)
    assert 8 <= len(timed.times) <= 0.64 / 0.05 + LARGEST_LAG / 0.05


def test_one_slow_frame_does_not_delay_the_next_ones():
    # For example debug lines, whose kernel is compiled when they are first shown, while steps lag.
    timed = Timed(of_step=0.05)
    timed.run(1.0)
    timed.of_show = 20.0
    shown = len(timed.times)
    while len(timed.times) == shown:
        timed.run(0.01)
    timed.of_show = 0.0
    end = timed.clock.now
    timed.run(1.0)
    assert timed.times[shown + 1] - end < LONGEST_PAUSE + 2 * 0.05  # it is shown after a step


def test_pause_step_and_reset():
    timed = Timed()
    session = timed.session
    timed.run(0.3)
    session.request(lambda: setattr(session, "playing", False))
    timed.run(0.01)
    paused = timed.time
    timed.run(3.0)
    assert timed.time == paused
    steps = timed.steps
    session.request(session.step)
    shown = len(timed.times)
    timed.run(0.01)
    assert timed.time == pytest.approx(paused + timed.dt, abs=1e-12)
    assert len(timed.times) == shown + 1
    assert session.run.particles.digest() == plain_digest(steps + 1)
    session.request(lambda: session.set("iterations", 3))
    session.request(session.reset)
    timed.run(0.01)
    assert timed.time == 0.0
    assert session.get("iterations") == 3
    session.request(lambda: session.set("iterations", 2))
    session.request(session.reset)
    session.request(lambda: session.step(4))
    timed.run(0.01)
    assert session.run.particles.digest() == plain_digest(4)


def test_unwatched_session_pauses():
    timed = Timed()
    timed.run(0.2)
    timed.session.watched = False
    paused, shown = timed.time, len(timed.times)
    assert timed.session.update() == 1.0  # nothing is due without a request
    timed.run(60.0)
    assert (timed.time, len(timed.times)) == (paused, shown)
    # It does not catch up afterwards.
    timed.session.watched = True
    timed.run(0.5)
    assert timed.time - paused <= 0.5 + 1e-9


def test_errors_are_shown_and_the_session_continues(monkeypatch):
    timed = Timed()
    session = timed.session
    wrong = ("dt", -1.0, "dt is -1"), ("substeps", 0, "substeps"), ("gravity", (0, 0, np.nan), "gravity")
    for name, value, message in wrong:
        before = session.get(name)
        session.request(lambda name=name, value=value: session.set(name, value))
        timed.run(0.1)
        assert message in session.error
        assert np.array_equal(session.get(name), before)
        assert not session.failed

    running = session.run
    session.request(lambda: session.choose(scenes.load("drape", count=6), "impulse"))
    timed.run(0.1)
    assert "particles" in session.error  # solver "impulse" moves bodies alone
    assert session.run is running

    def diverge(count):
        raise Diverged(0, 7, 3, 0.1)

    monkeypatch.setattr(running, "step", diverge)
    timed.run(0.5)
    assert session.failed
    assert "step 7" in session.error
    paused = timed.time
    timed.run(0.5)
    assert timed.time == paused
    session.request(session.reset)
    timed.run(0.5)
    assert not session.failed
    assert session.error == ""
    assert 0 < timed.time <= 0.5 + timed.dt + 1e-9  # the first step compiles, and its time does not count


def test_later_request_replaces_one_with_the_same_key():
    timed, done = Timed(), []
    for value in range(5):
        timed.session.request(lambda value=value: done.append(value), key="slider")
    timed.session.update()
    assert done == [4]


@pytest.mark.slow
def test_ghost_keeps_up():
    session = Session(scenes.load("dzhanibekov"), "impulse", clock=Clock())
    session.watched = True
    session.choose(session.run.scene, "impulse", ghost="articulated")
    session.request(lambda: session.set("dt", 1 / 40))
    session.update()
    for _ in range(6):
        session.step()
        late = session.run.system.time - session.ghost.system.time
        assert abs(late) <= 0.5 * session.ghost.system.dt + 1e-12
    session.set("gravity", (0, 0, -1.0))
    assert np.array_equal(session.ghost.system.gravity, (0, 0, -1.0))

    def fail(count):
        raise ValueError("no more")

    session.ghost.step = fail
    session.step(2)
    assert session.ghost is None
    assert session.error == "articulated: no more"
    assert not session.failed
