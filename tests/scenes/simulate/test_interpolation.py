"""Frames between steps: rotations along the arc, and runs and recordings at rates that fit no step."""

import numpy as np
import pytest

import rigid
import scenes
from scenes.simulate.interpolation import Resampled, interpolate_poses
from scenes.simulate.run import Replay, Run


def turned(angle, axis=(0.36, 0.48, 0.8)):
    """The quaternion of a rotation about an axis of length one."""
    return np.array([np.cos(angle / 2), *(np.sin(angle / 2) * np.array(axis))])


@pytest.mark.parametrize("angle", [0.0, 1e-9, 1e-3, 1.0, 3.0, np.pi - 1e-6])
@pytest.mark.parametrize("fraction", [0.0, 0.25, 0.7, 1.0])
@pytest.mark.parametrize("sign", [1, -1])
def test_a_part_of_a_rotation_is_that_part_of_its_angle(angle, fraction, sign):
    """slerp(1, q(φ), s) = q(s φ), also for -q, which is the same rotation. A chord is degrees off."""
    before, after = (np.array([[0, 0, 0, *q]]) for q in (turned(0.3), sign * turned(0.3 + angle)))
    found = interpolate_poses(before, after, fraction)[0, 3:]
    assert abs(found @ turned(0.3 + fraction * angle)) == pytest.approx(1.0, abs=1e-12)


@pytest.fixture
def spinning():
    """A body that turns at 2 rad/s and flies at 3 m/s without gravity, in steps of 1/60 s."""
    model = rigid.Model(gravity=(0, 0, 0))
    model.add_box((1, 1, 1), mass=1.0, velocity=(3, 0, 0), angular_velocity=(0, 0, 2))
    return scenes.Scene(model=model, duration=1.0, settings={"impulse": {"dt": 1 / 60}})


@pytest.mark.parametrize("fps", [7, 23.976, 25, 50, 144])
@pytest.mark.parametrize("ending", [True, False])
@pytest.mark.parametrize("recorded", [True, False])
def test_frames_are_where_a_uniform_motion_is_at_their_time(spinning, fps, ending, recorded):
    """x = v t and φ = ω t hold between steps and between recorded frames, too."""
    source = Replay(spinning, scenes.run(spinning, fps=15)) if recorded else Run(spinning)
    resampled = Resampled(source, fps, ending)
    frames = list(resampled.frames())
    assert len(frames) == resampled.count == (1 + int(np.ceil(fps)) if ending else round(fps))
    times = np.arange(len(frames)) / fps
    times[-1] = min(times[-1], 1.0)
    assert [frame.time for frame in frames] == pytest.approx(times, abs=1e-6)
    assert [frame.body_poses[0, 0] for frame in frames] == pytest.approx(3 * times, abs=1e-5)
    angles = [2 * np.arctan2(frame.body_poses[0, 6], frame.body_poses[0, 3]) for frame in frames]
    assert np.cos(angles - 2 * times) == pytest.approx(np.ones(len(times)), abs=1e-9)


def test_resampling_changes_nothing_of_the_run(spinning):
    plain, other = Run(spinning), Run(spinning)
    *_, last = plain.frames()
    *_, end = Resampled(other, 23.976).frames()
    assert np.array_equal(end.body_poses, last.body_poses)
    assert other.about()["digest"] == plain.about()["digest"]
