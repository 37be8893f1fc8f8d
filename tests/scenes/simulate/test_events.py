"""What tears in a run: in recordings, replays, pictures and the summary."""

import numpy as np
import pytest

import pbd
import scenes
from pbd.build import rope
from scenes.cli.main import print_summary
from scenes.simulate.recording import Recording
from scenes.simulate.run import Replay, Run
from scenes.visuals import ClothVisual


def ladder():
    """A scene: two ropes hang beside each other, with triangles between them. The weight at the end of one tears it."""
    particles = pbd.Particles()
    left, right = (
        rope(particles, [(x, 0, 1), (x, 0, 0)], 4, mass=0.1, weight=weight, compliance=1e-3, tear=1.1, pins=("start",))
        for x, weight in ((0, 0.0), (0.2, 2.5))
    )
    a, b = left.particles, right.particles
    triangles = np.concatenate([np.stack([a[:-1], b[:-1], a[1:]], axis=1), np.stack([b[:-1], b[1:], a[1:]], axis=1)])
    settings = {"verlet": {"dt": 1 / 60, "substeps": 4}}
    return scenes.Scene(particles, duration=0.5, settings=settings, visuals=[ClothVisual(triangles)])


@pytest.fixture(scope="module")
def recorded():
    scene = ladder()
    return scene, scenes.run(scene, fps=60)


def test_a_recording_says_what_tore_and_when(recorded, tmp_path):
    _, recording = recorded
    events = recording.about["events"]
    assert all(event["kind"] == "tear" for event in events)
    assert {each for event in events for each in event["members"]} <= {5, 6, 7, 8, 9}  # of the rope with the weight
    # Before a stick tears it is shorter than its limit at all frames, and after the last one nothing tears.
    first = events[0]
    a, b = (recording.positions[:, k] for k in first["members"])
    lengths = np.linalg.norm(b - a, axis=1)
    before = recording.times < first["time"] - 1e-9
    assert (lengths[before] <= 1.1 * 0.25).all()
    assert lengths[np.argmin(before)] > 1.1 * 0.25
    recording.save(tmp_path / "torn.npz")
    loaded = Recording.load(tmp_path / "torn.npz")
    assert [(event["time"], list(event["members"])) for event in loaded.about["events"]] == [
        (event["time"], list(event["members"])) for event in events
    ]


def test_frames_of_a_replay_are_torn_as_those_of_the_run(recorded):
    scene, recording = recorded
    replayed = [frame.torn.tolist() for frame in Replay(scene, recording).frames()]
    run = [frame.torn.tolist() for frame in Run(ladder()).frames()]
    assert replayed == run
    assert replayed[0] == []
    assert len(replayed[-1]) == len(recording.about["events"])


def test_triangles_at_a_torn_stick_are_not_drawn(recorded):
    scene, recording = recorded
    visual = scene.visuals[0]
    for frame in Replay(scene, recording).frames():
        drawn = visual.vertex_particles[visual.draw(frame)[0].triangles]
        kept = {tuple(sorted(corners)) for corners in drawn.tolist()}
        for corners in visual.triangles.tolist():
            torn = any({a, b} <= set(corners) for a, b in frame.torn.tolist())
            assert (tuple(sorted(corners)) in kept) == (not torn)


def test_the_summary_counts_what_tore(recorded, capsys):
    _, recording = recorded
    print_summary(recording, None)
    count = len(recording.about["events"])
    expected = "a stick" if count == 1 else f"{count} sticks"
    assert f"torn  {expected}, the first at {recording.about['events'][0]['time']:.3g} s" in capsys.readouterr().out


@pytest.mark.slow
def test_a_ball_flies_through_a_cloth_and_is_slowed_down():
    # Until it touches the cloth, the ball loses the part 0.002 of its speed in each step of 1/120 s. Then it gives
    # momentum to the cloth. Rails hold the cloth at z = 0.4 and 2.4 m, 2 m wide: what passes between goes through it.
    recording = scenes.run(scenes.load("torn_cloth"), duration=0.6, fps=60)
    speed = recording.body_velocities[:, 0, 0]
    events = recording.about["events"]
    first = events[0]["time"]
    assert 0.15 < first < 0.4  # the ball begins 1.55 m from the curtain, at 7 m/s
    assert np.linalg.norm(np.array(events[0]["position"]) - (0, 0.1, 1.5)) < 0.6
    free = recording.times < 0.2
    assert speed[free] == pytest.approx(7.0 * 0.998 ** (120 * recording.times[free]), rel=1e-9)
    assert 0 < speed[-1] < 0.95 * 7.0 * 0.998 ** (120 * 0.6)
    beyond = recording.body_poses[:, 0, 0] > recording.positions[:, :, 0].max(axis=1) + 0.25
    passing = recording.body_poses[np.argmax(beyond), 0]
    assert beyond.any()
    assert abs(passing[1]) < 0.5
    assert 0.4 + 0.25 < passing[2] < 2.4 - 0.25
    assert scenes.run(scenes.load("torn_cloth"), duration=0.6, fps=60).about["digest"] == recording.about["digest"]


@pytest.mark.slow
@pytest.mark.parametrize("solver", ["impulse", "articulated"])
def test_a_bridge_breaks_where_its_bending_moment_is_too_large(solver):
    # A beam of length L on two supports bears a load P at x and its weight w per metre. The bending moment at the joint
    # at a from the left, with b = L - a, is P x b/L + w a b/2 for x < a. The boulder rolls on from the left: the first
    # joint whose moment reaches `strength` breaks, when the boulder is at x.
    scene = scenes.load("bridge_collapse")
    recording = scenes.run(scene, solver, duration=1.0, fps=120)
    event = recording.about["events"][0]
    span, weight, load, strength = 4.8, 300.0 * 1.2 * 0.1 * 9.81, 300.0 * 9.81, 3200.0
    joint, count = np.arange(1, 12), 12
    a, b = joint * span / count, span - joint * span / count
    at = (strength - weight * a * b / 2) * span / (load * b)  # x at which a joint breaks, if it is left of the joint
    first = np.flatnonzero(at <= a)[0]
    assert event["members"] == (f"fixed {first}",)
    place = np.interp(event["time"], recording.times, recording.body_poses[:, -1, 0]) + span / 2
    assert place == pytest.approx(at[first], abs=0.08)  # the beam swings as the boulder rolls on
