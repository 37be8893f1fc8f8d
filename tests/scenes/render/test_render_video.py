"""Video files, read back."""

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import imageio.v2 as imageio
import numpy as np
import pytest

from scenes.render import VideoWriter, video


def frames(count, height=48, width=64):
    """A bright square that moves over a smooth background."""
    rows, columns = np.mgrid[:height, :width]
    background = np.stack([rows * 2, columns * 2, 120 + 0 * rows], axis=-1).astype(np.uint8)
    pictures = np.repeat(background[None], count, axis=0)
    for index, picture in enumerate(pictures):
        picture[10:26, 2 * index:2 * index + 16] = (250, 240, 60)
    return pictures


def read(path):
    """All frames of a film, (count, height, width, 3)."""
    with imageio.get_reader(path) as reader:
        return np.array([frame[..., :3] for frame in reader])


@pytest.mark.parametrize(("suffix", "near"), [(".mp4", 6.0), (".gif", 4.0)])
def test_video_contains_the_frames(tmp_path, suffix, near):
    path, pictures = tmp_path / f"film{suffix}", frames(9)
    with VideoWriter(path, fps=25) as writer:
        for picture in pictures:
            writer.write(picture)
    back = read(path)
    assert back.shape == pictures.shape
    for index in (0, 8):                                # lossy, but nearer to its own frame than to others
        distance = np.abs(pictures.astype(int) - back[index]).mean(axis=(1, 2, 3))
        assert distance[index] < near
        assert np.argmin(distance) == index
    with imageio.get_reader(path) as reader:
        if suffix == ".mp4":
            assert reader.get_meta_data()["fps"] == 25
            assert reader.get_meta_data()["codec"] == "h264"
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


def test_gif_palette_and_temporary_files(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    pictures = np.zeros((3, 16, 16, 3), dtype=np.uint8)
    pictures[0, :, 8:], pictures[1, :, 8:], pictures[2, :, 8:] = (201, 37, 93), (11, 151, 211), (97, 201, 7)
    with VideoWriter(tmp_path / "film.gif", fps=10) as writer:
        for picture in pictures:
            writer.write(picture)
    assert np.abs(read(tmp_path / "film.gif").astype(int) - pictures).max() <= 4
    assert [file.name for file in tmp_path.iterdir()] == ["film.gif"]


def test_single_picture_is_the_file(tmp_path):
    picture = frames(1)[0]
    with VideoWriter(tmp_path / "still.png") as writer:
        writer.write(picture)
    assert np.array_equal(imageio.imread(tmp_path / "still.png"), picture)


def test_several_pictures_are_numbered(tmp_path):
    pictures = frames(3)
    with VideoWriter(tmp_path / "still.PNG") as writer:
        for picture in pictures:
            writer.write(picture)
    assert sorted(file.name for file in tmp_path.iterdir()) == [f"still-000{n}.PNG" for n in (1, 2, 3)]
    for number, picture in enumerate(pictures, 1):
        assert np.array_equal(imageio.imread(tmp_path / f"still-000{number}.PNG"), picture)


def test_odd_sizes_repeat_the_last_column_and_row(tmp_path, caplog):
    picture = frames(1, 47, 61)[0]
    with VideoWriter(tmp_path / "odd.mp4") as writer:
        writer.write(picture)
    back = read(tmp_path / "odd.mp4")
    assert back.shape == (1, 48, 62, 3)
    assert np.abs(back[0, :47, :61].astype(int) - picture).mean() < 6
    assert not caplog.records                           # imageio would scale the picture, with a warning
    with VideoWriter(tmp_path / "odd.gif") as writer:
        writer.write(picture)
    assert read(tmp_path / "odd.gif").shape == (1, 47, 61, 3)


@pytest.mark.parametrize("suffix", [".mp4", ".gif"])
def test_frames_before_an_error_are_kept(tmp_path, suffix):
    path = tmp_path / f"film{suffix}"
    with pytest.raises(RuntimeError, match="diverged"), VideoWriter(path) as writer:       # noqa: PT012
        for picture in frames(5):
            writer.write(picture)
        raise RuntimeError("diverged")
    assert len(read(path)) == 5


def test_no_frames_no_file(tmp_path):
    for suffix in video.SUFFIXES:
        with VideoWriter(tmp_path / f"film{suffix}"):
            pass
    assert list(tmp_path.iterdir()) == []


INTERRUPTED = """
import itertools, sys, time
sys.path.insert(0, sys.argv[2])
from scenes.render import VideoWriter
from test_render_video import frames
with VideoWriter(sys.argv[1]) as writer:
    pictures = frames(20, 180, 320)
    for number in itertools.count():
        writer.write(pictures[number % 20])
        print(writer.frames, flush=True)
        time.sleep(0.005)
"""


@pytest.mark.skipif(os.name != "posix", reason="signals to process groups are POSIX")
@pytest.mark.parametrize("suffix", [".mp4", pytest.param(".gif", marks=pytest.mark.slow)])
def test_ctrl_c_leaves_a_playable_file(tmp_path, suffix):
    # A terminal sends SIGINT to the whole process group, the encoder included.
    path = tmp_path / f"film{suffix}"
    process = subprocess.Popen([sys.executable, "-c", INTERRUPTED, str(path), str(Path(__file__).parent)],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
                               cwd=Path(__file__).parents[3])
    try:
        for line in process.stdout:
            if line.strip() == "12":
                break
        os.killpg(process.pid, signal.SIGINT)
        rest, errors = process.communicate(timeout=600)
    finally:
        process.kill()
    written = int((["12", *rest.split()])[-1])
    assert process.returncode != 0
    assert "KeyboardInterrupt" in errors
    assert written <= len(read(path)) <= written + 1        # one more if Ctrl-C came before it was counted


def test_ctrl_c_waits_for_the_current_frame():
    steps = []
    with pytest.raises(KeyboardInterrupt):                  # noqa: PT012
        with video.interrupts_deferred():
            signal.raise_signal(signal.SIGINT)
            steps.append("whole")
        steps.append("never")
    assert steps == ["whole"]


@pytest.mark.parametrize(("name", "error", "words"), [
    ("film.avi", ValueError, r"'\.avi': expected one of \.mp4, \.gif, \.png"),
    ("film", ValueError, "expected one of"),
    ("missing/film.mp4", FileNotFoundError, "no directory .*missing"),
    ("file.txt/film.mp4", NotADirectoryError, "file.txt is a file"),
    ("file.txt/below/film.mp4", NotADirectoryError, "file.txt is a file"),
    ("folder.mp4", IsADirectoryError, "folder.mp4: is a directory"),
])
def test_invalid_path(tmp_path, name, error, words):
    (tmp_path / "file.txt").write_text("")
    (tmp_path / "folder.mp4").mkdir()
    with pytest.raises(error, match=words) as caught:
        VideoWriter(tmp_path / name)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("below", "words"), [("film.mp4", "directory .* is not writable"), (".", "exists and is not")])
def test_path_without_permission(tmp_path, monkeypatch, below, words):
    path = tmp_path / "film.mp4"                            # permissions do not stop root, so pretend that they do
    path.write_text("")
    forbidden = path if below == "." else tmp_path
    monkeypatch.setattr(video.os, "access", lambda place, _mode: Path(place) != forbidden)
    with pytest.raises(PermissionError, match=words):
        VideoWriter(path)


@pytest.mark.parametrize("fps", [0, -1, float("nan"), float("inf")])
def test_invalid_fps(tmp_path, fps):
    with pytest.raises(ValueError, match="fps"):
        VideoWriter(tmp_path / "film.mp4", fps=fps)


def test_invalid_frame(tmp_path):
    with VideoWriter(tmp_path / "film.mp4") as writer:
        writer.write(frames(1)[0])
        with pytest.raises(ValueError, match="expected that of the others"):
            writer.write(frames(1, 24, 32)[0])
        with pytest.raises(ValueError, match="uint8"):
            writer.write(frames(1)[0] / 255)
        with pytest.raises(ValueError, match=r"\(height, width, 3\)"):
            writer.write(frames(1)[0][..., 0])
        writer.write(frames(1)[0])
    assert len(read(tmp_path / "film.mp4")) == 2
    writer.close()                                          # a second call does nothing
    with pytest.raises(ValueError, match="closed"):
        writer.write(frames(1)[0])
