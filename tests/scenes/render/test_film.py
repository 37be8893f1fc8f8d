"""Films of runs and recordings: duration, labels, and what remains after an error."""

import imageio.v2 as imageio
import numpy as np
import PIL.Image
import pytest
from marks import cases

import pbd
import scenes
from scenes.render import film as module
from scenes.render.video import GIF_RATE
from scenes.simulate.run import Run

SIZE = {"width": 64, "height": 36}


@pytest.fixture
def box():
    """A small scene with steps of 1/120 s."""
    return scenes.load("box", grains=5, sticks=2)


def read(path):
    """Frames (count, height, width, 3), and frames per second."""
    with imageio.get_reader(path) as reader:
        return np.array([frame[..., :3] for frame in reader]), reader.get_meta_data().get("fps")


@pytest.mark.parametrize("fps", cases([7, 23.976, 24, 25, 29.97, 30, 60, 150], slow=(24, 25, 29.97, 30, 60, 150)))
def test_films_have_the_given_rate_and_last_as_long_as_the_run(box, tmp_path, fps):
    """Steps of 1/120 s fit 24, 30 and 60 Hz only. The film lasts as long as the run, within half a frame."""
    count = scenes.film(box, tmp_path / "box.mp4", duration=0.5, fps=fps, **SIZE)
    frames, shown = read(tmp_path / "box.mp4")
    assert shown == pytest.approx(fps, rel=1e-3)  # the reader gives two decimals
    assert count == len(frames)
    assert count / fps == pytest.approx(0.5, abs=0.5 / fps + 1e-9)


@pytest.mark.parametrize("fps", cases([12, 15, 24, 30, 33, 45, 50, 60, 100], slow=(15, 24, 30, 33, 45, 50, 60)))
def test_gifs_last_as_long_as_the_run_with_delays_that_browsers_show(box, tmp_path, fps):
    """Browsers show delays below 20 ms as 100 ms. Delays are multiples of 10 ms."""
    path = tmp_path / "box.gif"
    if fps > GIF_RATE:
        with pytest.warns(UserWarning, match=f"box.gif: 50 frames per second in place of {fps}, because browsers"):
            scenes.film(box, path, duration=1.0, fps=fps, **SIZE)
    else:
        scenes.film(box, path, duration=1.0, fps=fps, **SIZE)
    with PIL.Image.open(path) as gif:
        delays = [gif.seek(k) or gif.info["duration"] for k in range(gif.n_frames)]
    assert min(delays) >= 20
    assert sum(delays) / 1000 == pytest.approx(1.0, abs=0.5 / fps + 0.01)


def test_a_film_shorter_than_a_frame_has_one(box, tmp_path):
    assert scenes.film(box, tmp_path / "box.mp4", duration=1 / 60, fps=10, **SIZE) == 1
    assert read(tmp_path / "box.mp4")[1] == pytest.approx(60)


def test_rates_beyond_a_thousand_are_refused(box, tmp_path):
    with pytest.raises(ValueError, match="fps is 1001: expected at most 1000 frames per second"):
        scenes.film(box, tmp_path / "box.mp4", fps=1001)


@pytest.mark.parametrize("name", ["box.gif", "box.mp4"])
def test_films_of_recordings_refuse_a_rate_that_is_no_number(box, tmp_path, name):
    recording = scenes.run(box, duration=0.1, fps=60)
    with pytest.raises(TypeError, match="fps is None: expected a"):
        scenes.film(box, tmp_path / name, recording=recording, fps=None, **SIZE)


def test_png_shows_the_end(box, tmp_path):
    assert scenes.film(box, tmp_path / "box.png", duration=0.25, labels=False, **SIZE) == 1
    *_, last = Run(box, duration=0.25).frames()
    expected = module.picture(box, last, module.renderer_for(box, 64, 36), box.camera)
    assert np.array_equal(imageio.imread(tmp_path / "box.png"), expected)


def test_number_in_the_name_makes_a_picture_of_each_frame(box, tmp_path):
    out = tmp_path / "new" / "box-%03d.png"
    assert scenes.film(box, out, duration=0.1, **SIZE) == 4
    assert sorted(each.name for each in out.parent.iterdir()) == [f"box-{k:03d}.png" for k in range(1, 5)]
    scenes.film(box, tmp_path / "last.png", duration=0.1, **SIZE)
    assert (out.parent / "box-004.png").read_bytes() == (tmp_path / "last.png").read_bytes()


def test_labels_change_a_corner(box, tmp_path):
    size = {"width": 320, "height": 180}
    for name, labels in (("with", True), ("without", False)):
        scenes.film(box, tmp_path / f"{name}.png", duration=0.1, labels=labels, **size)
    changed = imageio.imread(tmp_path / "with.png") != imageio.imread(tmp_path / "without.png")
    assert 0 < changed.any(axis=2).mean() < 0.2


@pytest.mark.parametrize("suffix", [".mp4", ".gif", ".png"])
def test_film_of_a_recording_equals_film_of_the_run(box, tmp_path, suffix):
    recording = scenes.run(box, duration=0.2, fps=60)
    one, other = tmp_path / f"run{suffix}", tmp_path / f"replay{suffix}"
    counts = scenes.film(box, one, duration=0.2, **SIZE), scenes.film(box, other, recording=recording, **SIZE)
    assert counts == ((1, 1) if suffix == ".png" else (6, 6))
    assert one.read_bytes() == other.read_bytes()


def test_html_is_a_page_that_replays_the_run(box, tmp_path):
    pytest.importorskip("viser", reason="no viser: pip install 'verletlab[view]'")
    assert scenes.film(box, tmp_path / "box.html", duration=0.2) == 7
    assert "<title>box</title>" in (tmp_path / "box.html").read_text("utf-8")
    with pytest.raises(ValueError, match=r"suffix '.avi': expected one of .mp4, .gif, .png, .html"):
        scenes.film(box, tmp_path / "box.avi", duration=0.2)


def test_scene_without_a_camera_is_visible(tmp_path):
    particles = pbd.Particles()
    particles.add_particles([(50, 0, 1), (51, 0, 2)])  # far from the origin
    scene = scenes.Scene(particles, duration=0.1, ground=None)
    scenes.film(scene, tmp_path / "far.png", labels=False, width=320, height=180)
    picture = imageio.imread(tmp_path / "far.png").astype(int)
    assert (np.abs(picture - picture[0, 0]).max(axis=2) > 40).sum() > 20  # pixels that differ from the sky


def test_progress_counts_frames(box, tmp_path):
    calls = []
    scenes.film(box, tmp_path / "box.mp4", duration=0.1, progress=lambda *now: calls.append(now), **SIZE)
    assert calls == [(1, 3), (2, 3), (3, 3)]


@pytest.mark.parametrize(("suffix", "left"), [(".mp4", 3), (".gif", 3), (".png", 1)])
def test_interrupted_film_is_playable(box, tmp_path, suffix, left):
    def progress(number, count):
        if number == 3:
            raise KeyboardInterrupt

    path = tmp_path / f"box{suffix}"
    with pytest.raises(KeyboardInterrupt) as caught:
        scenes.film(box, path, duration=1.0, progress=progress, **SIZE)
    assert caught.value.frames == left
    assert len(read(path)[0]) == left


@pytest.mark.parametrize(
    ("far", "error", "message"),
    [
        (1e200, pbd.Diverged, "step 31, at 0.516667 s"),
        # Finite for the solver, but not in the single precision of pictures.
        (1e37, ValueError, "at 0.533333 s the scene cannot be drawn"),
    ],
)
def test_film_of_a_diverging_run(leap, tmp_path, far, error, message):
    with pytest.raises(error, match=message) as caught:
        scenes.film(scenes.load(leap, far=far), tmp_path / "leap.mp4", fps=30, **SIZE)
    assert caught.value.frames == 16  # 0, 1/30 s, ..., 0.5 s
    assert len(read(tmp_path / "leap.mp4")[0]) == 16


def test_png_of_a_diverging_run(leap, tmp_path):
    with pytest.raises(pbd.Diverged):
        scenes.film(scenes.load(leap), tmp_path / "leap.png", fps=30, **SIZE)
    assert (tmp_path / "leap.png").exists()


def test_invalid_path_is_refused_before_the_run(box, tmp_path, monkeypatch):
    monkeypatch.setattr(Run, "step", lambda self, count: pytest.fail("the scene runs"))
    for path, error in ((tmp_path / "box.avi", ValueError), (tmp_path / "none" / "box.mp4", FileNotFoundError)):
        with pytest.raises(error, match="box"):
            scenes.film(box, path)
    with pytest.raises(ValueError, match="width is 0"):
        scenes.film(box, tmp_path / "box.mp4", width=0)
    assert not list(tmp_path.iterdir())
