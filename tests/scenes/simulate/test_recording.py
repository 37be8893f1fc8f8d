"""Recordings: in memory or on disk, saved and loaded bit for bit, and wrong files refused."""

import tracemalloc

import numpy as np
import pytest

import scenes
from scenes.simulate import recording as module
from scenes.simulate.recording import Frames, Recording


@pytest.fixture(scope="module")
def recorded():
    """A short recording with a collider."""
    return scenes.run(scenes.load("drape", count=5), duration=0.1)


def test_small_frames_stay_in_memory_and_large_ones_go_to_a_file(tmp_path, monkeypatch):
    monkeypatch.setattr(module.tempfile, "tempdir", str(tmp_path))
    rng = np.random.default_rng(0)
    given = rng.normal(size=(50, 7, 3))
    for limit, on_disk in ((given.nbytes, False), (given[0].nbytes * 9, True), (0, True)):
        frames = Frames(limit)
        for array in given:
            frames.append(array)
        assert (frames.file is not None) is on_disk
        assert np.array_equal(frames.array(), given)
        assert isinstance(frames.array(), np.memmap) is on_disk


def test_frames_outlive_their_writer():
    frames = Frames(0)
    frames.append(np.arange(6.0))
    array = frames.array()
    frames.file.close()
    del frames
    assert np.array_equal(array, [np.arange(6.0)])


def test_memory_is_bounded_for_long_runs():
    frames, limit = Frames(2**18), 2**18
    array = np.zeros(2**12)  # 32 KiB; two hundred of them are 6.5 MB, the limit is 8 of them
    tracemalloc.start()
    for k in range(200):
        array[:] = k
        frames.append(array)
    whole = frames.array()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 2 * limit + 2 * array.nbytes
    assert np.array_equal(whole[:, 0], np.arange(200))


def test_frames_can_be_numbers_or_empty():
    times, poses = Frames(), Frames(0)
    for k in range(3):
        times.append(0.5 * k)
        poses.append(np.zeros((0, 7)))
    assert np.array_equal(times.array(), [0, 0.5, 1])
    assert poses.array().shape == (3, 0, 7)


def test_large_recording_on_disk_equals_one_in_memory(recorded, monkeypatch, tmp_path):
    monkeypatch.setattr(module, "MEMORY_LIMIT", 1000)
    long = scenes.run(scenes.load("drape", count=5), duration=0.1)
    assert isinstance(long.positions, np.memmap)
    same(long, recorded)
    long.save(tmp_path / "long.npz")
    same(Recording.load(tmp_path / "long.npz"), recorded)


def test_recording_is_loaded_bit_for_bit(recorded, tmp_path):
    path = tmp_path / "a recording.npz"
    recorded.save(path)
    back = Recording.load(path)
    same(back, recorded)
    assert back.about == recorded.about


def same(one, other):
    for name in Recording.ARRAYS:
        a, b = getattr(one, name), getattr(other, name)
        assert a.dtype == b.dtype
        assert np.array_equal(a, b)


def test_wrong_files_are_refused(recorded, tmp_path):
    with pytest.raises(FileNotFoundError, match="no recording at"):
        Recording.load(tmp_path / "none.npz")
    recorded.save(tmp_path / "whole.npz")
    whole = (tmp_path / "whole.npz").read_bytes()
    (tmp_path / "empty.npz").write_bytes(b"")
    (tmp_path / "text.npz").write_text("a recording")
    (tmp_path / "half.npz").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "folder.npz").mkdir()
    np.save(tmp_path / "array.npy", np.zeros(3))
    np.savez(tmp_path / "other.npz", times=np.zeros(3))
    arrays = {name: getattr(recorded, name) for name in Recording.ARRAYS}
    np.savez(tmp_path / "short.npz", about="{}", **{**arrays, "positions": recorded.positions[:-1]})
    np.savez(tmp_path / "flat.npz", about="{}", **{**arrays, "positions": recorded.positions[0]})
    np.savez(tmp_path / "back.npz", about="{}", **{**arrays, "times": recorded.times[::-1]})
    np.savez(tmp_path / "words.npz", about="not json", **arrays)
    np.savez(tmp_path / "limp.npz", about="{}", **{**arrays, "body_velocities": np.zeros((len(recorded), 0, 3))})
    np.savez(tmp_path / "less.npz", about="{}", **{key: arrays[key] for key in arrays if key != "body_velocities"})
    wrong = sorted(path for path in tmp_path.iterdir() if path.name != "whole.npz")
    assert len(wrong) == 12
    for path in wrong:
        with pytest.raises(ValueError, match=f"{path.name} is not a recording saved by verletlab"):
            Recording.load(path)


def test_recording_of_an_older_version_is_refused(recorded, tmp_path):
    old = {name: getattr(recorded, name) for name in ("times", "positions", "velocities", "poses", "energy")}
    np.savez(tmp_path / "old.npz", about="{}", **old)
    with pytest.raises(ValueError, match=r"old.npz is of an older version, without bodies: expected a file of"):
        Recording.load(tmp_path / "old.npz")
