"""Tracks of wheels: where the rim touched the plane, in frames in order and out of order."""

import numpy as np
import pytest

import scenes
from scenes.render.comparison_film import labelled_recordings
from scenes.simulate.recording import Frame, Recording
from scenes.visuals.tracks import SPACING, TrackVisual

NOTHING = np.zeros((0, 3))


def frame(time, x, roll=0.0):
    """A Frame in which the front wheel stands at x, leaning by roll about its lowest point."""
    scene = scenes.load("bicycle")
    state = scene.model.initial_state()
    poses = np.hstack([state.position, state.rotation])
    poses[-1] = [x, 0.35 * np.sin(-roll), 0.35 * np.cos(roll), np.cos(roll / 2), np.sin(roll / 2), 0, 0]
    return scene.model, Frame(time, NOTHING, NOTHING, NOTHING, poses, NOTHING)


def test_contact_of_a_leaning_wheel_is_below_its_hub():
    # The hub of a wheel that leans by roll to the right is aside by r sin(roll), and r cos(roll) high.
    model, now = frame(0.0, 2.0, roll=0.3)
    assert TrackVisual(model, "front_rim").point(now) == pytest.approx([2.0, 0.0, 0.0], abs=1e-12)


def test_track_is_one_line_and_shortens_when_time_goes_back():
    model, _ = frame(0.0, 0.0)
    visual = TrackVisual(model, "front_rim", count=50)
    sizes = set()
    for k in range(20):
        (surface,) = visual.draw(frame(0.1 * k, 0.05 * k)[1])
        sizes.add(surface.vertices.shape)
        # The round end has six facets around it: its outermost vertex is between r cos(30°) and r beyond the end.
        beyond = (surface.vertices[:, 0].max() - 0.05 * k) / visual.radius
        assert np.cos(np.pi / 6) - 1e-9 < beyond < 1 + 1e-9
    assert len(sizes) == 1
    assert np.linalg.norm(np.diff(visual.points, axis=0), axis=1).min() >= SPACING
    visual.remember(frame(0.55, 0.275)[1])
    assert max(visual.times) <= 0.55
    assert np.array(visual.points)[:, 0].max() <= 0.275


def rolling_recording(scene, speed, count=12):
    """A Recording, with a frame each 0.1 s, in which the front wheel rolls along x. Args: speed [m/s]."""
    bodies = len(scene.model.bodies)
    poses = np.zeros((count, bodies, 7))
    poses[..., 3] = 1.0
    poses[:, -1, 0], poses[:, -1, 2] = 0.1 * speed * np.arange(count), 0.35
    empty = np.zeros((count, 0, 3))
    return Recording(
        {}, 0.1 * np.arange(count), empty, empty, np.zeros((count, 0, 7)), poses, np.zeros((count, bodies, 6)),
        np.zeros((count, 3)),
    )  # fmt: skip


def test_recordings_of_one_scene_have_their_own_tracks():
    # One wheel rolls forward, the other one backward. Frames of both are drawn in turn, as in films of comparisons.
    scene = scenes.load("bicycle")
    recordings = labelled_recordings([(f"{v:g}", scene, rolling_recording(scene, v)) for v in (1.0, -1.0)])
    for k in range(12):
        for each in recordings:
            for visual in each.scene.visuals:
                visual.draw(each.frame(k))
    for each, way in zip(recordings, (1, -1)):
        (track,) = (visual for visual in each.scene.visuals if getattr(visual, "joint", "") == "front_rim")
        assert way * np.array(track.points)[:, 0] == pytest.approx(0.1 * np.arange(12))
    assert not any(visual.points for visual in scene.visuals if hasattr(visual, "points"))
