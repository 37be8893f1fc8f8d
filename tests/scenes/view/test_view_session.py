"""The session behind the viewer, driven by a clock of our own: real time, slow motion, what is dropped and when."""

import numpy as np
import pytest

import scenes
from pbd.core.results import Diverged
from scenes.view.interpolation import interpolate_frames
from scenes.view.session import FRAME_RATE, GRABS, LARGEST_LAG, LONGEST_PAUSE, Session


class Clock:
    """A clock that moves when it is told to [s]."""

    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


class Timed:
    """A session of a small cloth whose steps and pictures take as long as they are told to [s]."""

    def __init__(self, of_step=0.0, of_show=0.0):
        self.clock, self.times, self.steps = Clock(), [], 0
        self.of_step, self.of_show = of_step, of_show
        self.session = Session(scenes.load("drape", count=6), show=self.show, before_step=self.before, clock=self.clock)
        self.session.watched = True
        self.dt = self.session.get("dt")
        self.session.update()  # the first step compiles: its time does not count
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

    def live(self, seconds):
        """Let so much time pass by the clock."""
        end = self.clock.now + seconds
        while self.clock.now < end:
            idle = self.session.update()  # which takes time itself
            self.clock.now += max(idle, 1e-4)
        return self.time - self.start


def plain(steps):
    """The same cloth, stepped so often by a plain Run."""
    running = scenes.Run(scenes.load("drape", count=6), grabs=GRABS)
    running.step(steps)
    return running.particles.digest()


@pytest.mark.parametrize("speed", [1.0, 0.25, 2.0])
def test_time_is_the_clocks_times_the_speed(speed):
    timed = Timed(of_step=0.001)
    timed.session.speed = speed
    # It is never ahead, and behind by what is not a whole step yet, and by the two steps of a frame at twice the speed.
    passed = timed.live(2.0)
    assert 2.0 * speed - 3 * timed.dt * max(speed, 1) < passed <= 2.0 * speed + 1e-9
    assert timed.session.rate == pytest.approx(speed, rel=0.05)
    assert timed.session.steps_per_second == pytest.approx(speed / timed.dt, rel=0.05)
    assert timed.session.step_seconds == pytest.approx(0.001, rel=1e-6)
    assert len(timed.times) <= 2.0 * FRAME_RATE + 2
    # However it was cut into pieces, it is what a plain run gives.
    assert timed.session.run.particles.digest() == plain(timed.steps)


def test_slow_motion_is_shown_as_often_as_ever_between_the_steps():
    timed = Timed()
    timed.session.speed, parts = 0.1, []
    timed.session.show = lambda session: (timed.show(session), parts.append(session.fraction))
    timed.live(2.0)
    assert 0.9 * 2.0 * FRAME_RATE < len(parts) <= 2.0 * FRAME_RATE + 2
    # A frame is a tenth of a step further; at a step it begins again.
    steps = np.diff(parts)
    assert np.all((np.abs(steps - 0.1) < 0.01) | (steps < 0))
    assert (steps < 0).sum() == pytest.approx(2.0 * FRAME_RATE / 10, abs=2)


def test_between_two_frames_all_goes_straight():
    one, other = (scenes.Run(scenes.load("dzhanibekov"), "impulse").frame() for _ in range(2))
    axis, angles = np.array([1.0, 2.0, -2.0]) / 3, (0.1, 0.1, 0.2)
    turns = [np.array([np.cos(angle / 2), *(np.sin(angle / 2) * axis)]) for angle in angles]
    one = one._replace(time=1.0, positions=np.zeros((2, 3)), body_poses=np.array([[0, 0, 0, *turns[0]]]))
    other = other._replace(time=2.0, positions=np.ones((2, 3)), body_poses=np.array([[4, 0, 2, *-turns[2]]]))
    middle = interpolate_frames(one, other, 0.5)
    assert middle.time == 1.5
    np.testing.assert_allclose(middle.positions, 0.5)
    np.testing.assert_allclose(middle.body_poses[0, :3], (2, 0, 1))
    # Half way of a turn by 0.1 rad about one axis is the turn by half of it: there chord and arc meet.
    half = np.array([np.cos(0.075), *(np.sin(0.075) * axis)])
    np.testing.assert_allclose(middle.body_poses[0, 3:], half, atol=1e-12)
    assert interpolate_frames(one, other, 1.0) is other


def test_where_steps_take_too_long_time_slows_and_says_so():
    timed = Timed(of_step=2.5 / 60)  # for 1/60 s: a rate of 0.4
    passed = timed.live(4.0)
    assert passed == pytest.approx(0.4 * 4.0, abs=2 * timed.dt)
    assert timed.session.rate == pytest.approx(0.4, rel=0.05)
    # What is late by more than LARGEST_LAG is forgotten: it does not race once steps are quick again.
    timed.of_step, before = 0.0, timed.time
    timed.live(1.0)
    assert timed.time - before <= 1.0 + LARGEST_LAG + timed.dt
    assert timed.time - before >= 1.0 - timed.dt


def test_frames_are_dropped_before_time_is_slowed():
    # Steps leave 16 % of the time, 0.64 s of four: room for thirteen pictures of 50 ms. As many are shown, at least in
    # a tenth of the time eight, and time is the clock's.
    timed = Timed(of_step=0.84 / 60, of_show=0.05)
    passed = timed.live(4.0)
    assert passed == pytest.approx(4.0, abs=LARGEST_LAG)
    assert 8 <= len(timed.times) <= 0.64 / 0.05 + LARGEST_LAG / 0.05


def test_a_picture_that_took_long_once_does_not_hold_back_the_next_ones():
    # As where lines are chosen whose kernel is compiled then, while steps take longer than they may.
    timed = Timed(of_step=0.05)
    timed.live(1.0)
    timed.of_show = 20.0
    shown = len(timed.times)
    while len(timed.times) == shown:
        timed.live(0.01)
    timed.of_show = 0.0
    end = timed.clock.now
    timed.live(1.0)
    assert timed.times[shown + 1] - end < LONGEST_PAUSE + 2 * 0.05  # it comes behind a step


def test_pause_step_and_reset_are_those_of_a_plain_run():
    timed = Timed()
    session = timed.session
    timed.live(0.3)
    session.request(lambda: setattr(session, "playing", False))
    timed.live(0.01)
    held = timed.time
    timed.live(3.0)
    assert timed.time == held
    steps = timed.steps
    session.request(session.step)
    shown = len(timed.times)
    timed.live(0.01)
    assert timed.time == pytest.approx(held + timed.dt, abs=1e-12)
    assert len(timed.times) == shown + 1
    assert session.run.particles.digest() == plain(steps + 1)
    session.request(lambda: session.set("iterations", 3))
    session.request(session.reset)
    timed.live(0.01)
    assert timed.time == 0.0
    assert session.get("iterations") == 3
    session.request(lambda: session.set("iterations", 2))
    session.request(session.reset)
    session.request(lambda: session.step(4))
    timed.live(0.01)
    assert session.run.particles.digest() == plain(4)


def test_nothing_moves_and_nothing_is_shown_while_nobody_looks():
    timed = Timed()
    timed.live(0.2)
    timed.session.watched = False
    held, shown = timed.time, len(timed.times)
    assert timed.session.update() == 1.0  # as long as nobody asks for anything
    timed.live(60.0)
    assert (timed.time, len(timed.times)) == (held, shown)
    # And nothing is made up for afterwards.
    timed.session.watched = True
    timed.live(0.5)
    assert timed.time - held <= 0.5 + 1e-9


def test_what_goes_wrong_is_said_and_the_session_lives_on(monkeypatch):
    timed = Timed()
    session = timed.session
    wrong = ("dt", -1.0, "dt is -1"), ("substeps", 0, "substeps"), ("gravity", (0, 0, np.nan), "gravity")
    for name, value, said in wrong:
        before = session.get(name)
        session.request(lambda name=name, value=value: session.set(name, value))
        timed.live(0.1)
        assert said in session.error
        assert np.array_equal(session.get(name), before)
        assert not session.failed

    running = session.run
    session.request(lambda: session.choose(scenes.load("drape", count=6), "impulse"))
    timed.live(0.1)
    assert "particles" in session.error  # solver "impulse" moves bodies alone
    assert session.run is running

    def diverge(count):
        raise Diverged(0, 7, 3, 0.1)

    monkeypatch.setattr(running, "step", diverge)
    timed.live(0.5)
    assert session.failed
    assert "step 7" in session.error
    held = timed.time
    timed.live(0.5)
    assert timed.time == held
    session.request(session.reset)
    timed.live(0.5)
    assert not session.failed
    assert session.error == ""
    assert 0 < timed.time <= 0.5 + timed.dt + 1e-9  # the first step, which compiles, costs nothing


def test_only_the_last_of_what_is_asked_again_is_done():
    timed, done = Timed(), []
    for value in range(5):
        timed.session.request(lambda value=value: done.append(value), key="slider")
    timed.session.update()
    assert done == [4]


def test_a_ghost_keeps_up_in_steps_of_its_own():
    session = Session(scenes.load("dzhanibekov"), "impulse", clock=Clock())
    session.watched = True
    session.choose(session.run.scene, "impulse", ghost="articulated")
    session.request(lambda: session.set("dt", 1 / 40))
    session.update()
    for _ in range(6):
        session.step()
        late = session.run.system.time - session.ghost.system.time
        assert abs(late) <= 0.5 * session.owner(session.ghost, "dt").dt + 1e-12
    session.set("gravity", (0, 0, -1.0))
    assert np.array_equal(session.ghost.system.gravity, (0, 0, -1.0))

    def fail(count):
        raise ValueError("no more")

    session.ghost.step = fail
    session.step(2)
    assert session.ghost is None
    assert session.error == "articulated: no more"
    assert not session.failed
