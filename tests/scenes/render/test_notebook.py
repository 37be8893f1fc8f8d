"""What a notebook shows of recordings and comparisons. tests/test_notebooks.py runs whole notebooks."""

import base64
import html
import re
import sys

import imageio.v3 as imageio
import pytest

import scenes
from scenes import Recording

SHORT = {"solver": "impulse", "duration": 0.1}


@pytest.fixture(scope="module")
def recording():
    return scenes.run(scenes.load("pendulum", weight=2.0), **SHORT)


def frames_of(shown, tmp_path):
    """Pictures of the film in an element <video>."""
    (data,) = re.findall(r'src="data:video/mp4;base64,([^"]*)"', shown._repr_html_())
    (tmp_path / "film.mp4").write_bytes(base64.b64decode(data))
    return imageio.imread(tmp_path / "film.mp4")


def test_video_has_the_frames_of_the_recording(recording, tmp_path):
    shown = recording.show("video", width=128)
    assert frames_of(shown, tmp_path).shape == (3, 72, 128, 3)  # 0.1 s at 30 frames per second
    assert repr(shown) == "video of scene 'pendulum' by 'impulse': a notebook shows it"


def test_file_of_a_recording_finds_its_scene(recording, tmp_path):
    recording.save(tmp_path / "run.npz")
    read = Recording.load(tmp_path / "run.npz")
    assert read.scene is None
    assert (frames_of(read.show("video", width=64), tmp_path) == frames_of(
        recording.show("video", width=64), tmp_path
    )).all()  # fmt: skip
    read.about["scene"] = "wall"
    with pytest.raises(ValueError, match="scene 'wall', which the catalogue does not have: expected scene="):
        read.show("video")
    assert frames_of(read.show("video", scene=recording.scene, width=64), tmp_path).shape[0] == 3


def test_replay_is_a_page_within_the_page(recording):
    pytest.importorskip("viser")
    (page,) = re.findall(r'srcdoc="([^"]*)"', recording.show()._repr_html_())
    assert html.unescape(page).lstrip().lower().startswith("<!doctype html>")


def test_missing_viser_is_named(recording, monkeypatch):
    monkeypatch.setitem(sys.modules, "viser", None)
    with pytest.raises(ModuleNotFoundError, match=r"^viser is not installed: pip install 'verletlab\[view\]'$"):
        recording.show()


def test_wrong_kind_is_refused(recording):
    with pytest.raises(ValueError, match="kind is 'gif': expected one of 'replay', 'video'"):
        recording.show("gif")


def test_recording_is_a_table(recording):
    recording.about["scene"], name = "<b>", recording.about["scene"]
    cells = re.findall("<td>(.*?)</td>", recording._repr_html_())
    recording.about["scene"] = name
    facts = dict(zip(cells[::2], cells[1::2]))
    assert facts["scene"] == "&lt;b&gt;"
    assert facts["particles, bodies"] == "0, 1"
    assert facts["frames"] == "7, 0.1 s"
    assert facts["energy"].startswith(f"{recording.energy[0, 2]:.6g} J at first, ")


@pytest.mark.slow
def test_comparison_is_a_table_and_a_film(tmp_path):
    comparison = scenes.compare("pendulum", solvers=["impulse", "articulated"], duration=0.1)
    assert re.findall("<th>(.*?)</th>", comparison._repr_html_()) == ["", "", "impulse", "articulated"]
    assert "<td>deviation, angle</td><td>rad</td>" in comparison._repr_html_()
    assert frames_of(comparison.show("video", width=128), tmp_path).shape == (3, 72, 128, 3)
