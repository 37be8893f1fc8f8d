"""Cameras of scenes that define none: what they see of a run, and how they move in live scenes."""

import numpy as np
import pytest

import rigid
import scenes
from rigid.rotation import from_axis_angle
from scenes.simulate.run import Replay
from scenes.view.following import Follower, box_around
from scenes.visuals import Camera, Instances, Surface, box
from scenes.visuals.framing import (
    CameraTrack,
    MovingCamera,
    drawn_points,
    framing_camera,
    instance_points,
    run_camera,
)

WIDTH, HEIGHT = 160, 90


def thrown(velocity, duration=2.0, size=(0.3, 0.3, 0.3), **options):
    """A scene of a box on the ground and of a box that is thrown over it, and its recording."""
    model = rigid.Model()
    model.add_ground(friction=0.2)
    model.add_box((0.3, 0.3, 0.3), density=500.0, position=(0, 0, 0.15))
    model.add_box(size, density=500.0, position=(0, 0, 0.6), velocity=velocity)
    scene = scenes.Scene(model=model, settings={"impulse": {"dt": 1 / 60}}, **options)
    return scene, scenes.run(scene, duration=duration, fps=30)


def travelling(speed, duration=4.0):
    """A scene of one box that slides without friction."""
    model = rigid.Model()
    model.add_ground(friction=0.0)
    model.add_box((0.5, 0.3, 0.3), density=500.0, position=(0, 0, 0.15), velocity=(speed, 0, 0), friction=0.0)
    scene = scenes.Scene(model=model, settings={"impulse": {"dt": 1 / 60}})
    return scene, scenes.run(scene, duration=duration, fps=30)


def places(scene, camera, frame):
    """Where all that a frame draws is in a picture (n, 2), from 0 to 1; NaN behind the camera."""
    points = drawn_points(scene, frame)
    behind = (points - camera.position) @ camera.forward <= 0
    return np.where(behind[:, None], np.nan, camera.project(points, WIDTH, HEIGHT) / (WIDTH, HEIGHT))


@pytest.mark.parametrize("velocity", [(4, 2, 4), (-6, 1, 2), (0, 0, 9), (1, -8, 3)])
def test_the_picture_shows_all_of_a_run(velocity):
    scene, recording = thrown(velocity)
    frames = list(Replay(scene, recording, None).frames())
    camera = run_camera(scene, lambda: frames)
    assert isinstance(camera, Camera)  # it stands still
    inside = np.concatenate([places(scene, camera, frame) for frame in frames])
    assert inside.min() > 0
    assert inside.max() < 1
    # It is the nearest such camera: what is seen fills the picture in one direction, up to the margin 1.2.
    assert np.ptp(inside, axis=0).max() == pytest.approx(1 / 1.2, abs=1e-6)
    # A camera for the first frame alone would lose it.
    first = framing_camera(scene, frames[0])
    seen = np.concatenate([places(scene, first, frame) for frame in frames])
    assert not (seen.min() >= 0 and seen.max() <= 1)


@pytest.mark.slow
@pytest.mark.parametrize("speed", [8.0, -20.0])
def test_the_camera_follows_a_body_that_goes_far(speed):
    scene, recording = travelling(speed)
    frames = list(Replay(scene, recording, None).frames())
    camera = run_camera(scene, lambda: frames)
    assert isinstance(camera, MovingCamera)
    sizes, steps = [], []
    for frame in frames:
        seen = places(scene, camera.at(frame), frame)
        assert seen.min() > 0
        assert seen.max() < 1
        sizes.append(np.ptp(seen, axis=0).max())
    # In a still picture of the whole way, the box would be as large as 0.5 m beside v t.
    assert min(sizes) > 2 * 0.5 / (abs(speed) * 4.0)
    steps = np.diff([each.position for each in camera.cameras], axis=0)
    # No camera moves faster than the box, up to what it comes nearer at the ends of the run.
    assert np.linalg.norm(steps, axis=1).max() < 2 * abs(speed) / 30


def test_explicit_cameras_and_subjects_stay():
    own = Camera((3, -3, 2), (0, 0, 0))
    scene, _ = thrown((4, 2, 4), duration=0.5, camera=own)
    assert run_camera(scene, None) is own
    subject = np.array([(0, 0, 0), (1, 1, 1)], float)
    scene, _ = thrown((4, 2, 4), duration=0.1, subject=subject)
    assert run_camera(scene, None).position == pytest.approx(framing_camera(scene, None).position)


@pytest.mark.slow
def test_a_run_that_diverges_is_framed_up_to_there():
    scene, recording = travelling(1.0, duration=0.5)
    frames = list(Replay(scene, recording, None).frames())
    last = frames[-1]._replace(time=1.0, body_poses=np.full((1, 7), np.nan))
    with_error, without = (run_camera(scene, lambda each=each: each) for each in ([*frames, last], frames))
    assert np.array_equal(with_error.position, without.position)
    with pytest.raises(ValueError, match="finite"):
        run_camera(scene, lambda: [last])


def test_files_have_one_camera_that_sees_all_of_the_run():
    scene, recording = thrown((4, 2, 4))
    track = CameraTrack(scene)
    for frame in Replay(scene, recording, None).frames():
        track.add(frame)
    cameras = track.cameras()
    assert len(cameras) == len(recording)
    assert all(each is cameras[0] for each in cameras)


def test_a_film_shows_a_thrown_box_at_its_end(tmp_path):
    scene, _ = thrown((5, 0, 5), duration=1.0)
    calls = []
    made = scenes.film(
        scene, tmp_path / "x-%02d.png", duration=1.0, fps=2, width=WIDTH, height=HEIGHT, labels=False,
        progress=lambda *each: calls.append(each),
    )  # fmt: skip
    assert made == 3
    assert calls == [(1, 3), (2, 3), (3, 3)]


# Live scenes ----------------------------------------------------------------------------------------------------------


def box_at(x, size=0.5):
    """Corners of a box (8, 3) [m]."""
    surface = Surface(np.array([(0, 0, 0), (1, 1, 1)]) * size, np.zeros((0, 3), int))
    return box_around([Instances(surface, np.array([(x, 0.0, 0.0)]))])


def sees(camera, corners):
    """Whether a camera has all corners in its picture."""
    pixels = camera.project(corners, WIDTH, HEIGHT)
    return (pixels >= 0).all() and (pixels <= (WIDTH, HEIGHT)).all()


@pytest.mark.parametrize("speed", [1.0, 8.0, -30.0])
def test_a_live_camera_follows_what_leaves_the_picture(speed):
    camera = Camera.framing_points(box_at(0.0), margin=1.5)
    follower, forward, moved = Follower(), camera.forward, 0
    for k in range(240):
        corners = box_at(speed * k / 60)
        found = follower.follow({1: (camera, 16 / 9)}, corners, 1 / 60)
        moved += len(found)
        camera = found.get(1, camera)
        assert sees(camera, corners)
    assert moved > 0
    assert camera.forward == pytest.approx(forward)  # it does not turn
    for _ in range(600):
        camera = follower.follow({1: (camera, 16 / 9)}, corners, 1 / 60).get(1, camera)
    assert follower.follow({1: (camera, 16 / 9)}, corners, 1 / 60) == {}  # it comes to rest


def test_a_live_camera_that_looks_at_a_detail_stays():
    camera, start = Camera((0.5, -0.4, 0.3), (0.2, 0.2, 0.2)), Camera.framing_points(box_at(0.0), margin=1.5)
    follower = Follower()
    for _ in range(2):
        assert follower.follow({1: (start, 16 / 9)}, box_at(0.0), 1 / 60) == {}
    for k in range(60):
        assert follower.follow({1: (camera, 16 / 9)}, box_at(0.02 * k), 1 / 60) == {}


def test_a_browser_that_opens_later_sees_the_scene():
    start = Camera.framing_points(box_at(0.0), margin=1.5)
    follower = Follower()
    follower.follow({}, box_at(50.0), 1 / 60)
    (moved,) = follower.follow({2: (start, 16 / 9)}, box_at(50.0), 1 / 60).values()
    assert sees(moved, box_at(50.0))


def test_box_around_boxes_is_exact():
    surface = box((2.0, 0.1, 0.2))
    turns = np.array([(1, 0, 0, 0), from_axis_angle((1, 2, 3), 1.1)])
    turned = Instances(surface, np.array([(0, 0, 0), (3, 1, 2)], float), turns, np.array([(1, 1, 1), (2, 1, 3)]))
    plain, free = Instances(surface, np.array([(-1, 0, 0)], float)), Surface(surface.vertices + 2, surface.triangles)
    points = np.concatenate([free.vertices, instance_points(turned), instance_points(plain)])
    corners = box_around([free, turned, plain])
    assert corners.min(axis=0) == pytest.approx(points.min(axis=0), abs=1e-9)
    assert corners.max(axis=0) == pytest.approx(points.max(axis=0), abs=1e-9)
