"""Outputs on a full disk: one clear error with the name of the file, exit status 1, and the old file stays."""

import contextlib
import os
import subprocess

import numpy as np
import pytest
from marks import cases

import pbd
import rigid
import scenes
from scenes.render.video import VideoWriter
from scenes.simulate import recording as module

ROOM = 8 * 2**10  # left on the disk [bytes]
CHAIN = ["five_link_chain", "--duration", "0.2"]


@contextlib.contextmanager
def file_size_limit(size):
    """Context in which no file of this process or its children gets larger. Args: size [bytes]."""
    resource = pytest.importorskip("resource", reason="no limits of file sizes on this system")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.fixture
def small_disk(tmp_path):
    """A folder on a disk with little room, and the context in which it is full.

    It is a tmpfs of 1 MB if this user may mount one. Otherwise the size of files is limited.
    """
    folder = tmp_path / "small"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder)]
    try:
        mounted = subprocess.run(mount, capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        mounted = False
    if not mounted:
        yield folder, lambda: file_size_limit(ROOM)
        return
    try:
        (folder / "filler").write_bytes(bytes(2**20 - ROOM))
        yield folder, contextlib.nullcontext
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def left_in(folder):
    """Names of files in a folder, without those of the fixture and of this test."""
    return sorted(each.name for each in folder.iterdir() if each.name not in ("filler", "old"))


def refused(result, path):
    """Check the exit status and the message of a command. Args: result: see the fixture `command`; path."""
    status, _, errors = result
    assert status == 1
    assert errors.startswith(f"verletlab: {path}: ")
    assert errors.count("\n") == 1


NAMES = [f"chain.{each}" for each in ("mp4", "gif", "png", "npz", "html", "usdc", "glb")]


@pytest.mark.parametrize("name", cases(NAMES, slow=["chain.gif", "chain.html", "chain.glb", "chain.mp4", "chain.usdc"]))
def test_commands_on_a_full_disk(small_disk, command, tmp_path, name):
    if name.endswith(".html"):
        pytest.importorskip("viser", reason="no viser: pip install 'verletlab[view]'")
    if name.endswith(".glb"):
        pytest.importorskip("pygltflib", reason="no pygltflib: pip install 'verletlab[gltf]'")
    if name.endswith(".usdc"):
        pytest.importorskip("pxr", reason="no usd-core: pip install 'verletlab[usd]'")
    folder, full = small_disk
    if name.endswith(".gif") and full is not contextlib.nullcontext:
        pytest.skip("no tmpfs: the limit of file sizes also holds in the temporary folder, where a GIF begins")
    size = [] if name.endswith((".html", ".npz", ".usdc", ".glb")) else ["--size", "640x480"]
    fps = "100" if name.endswith(".mp4") else "1000"
    words = ["run" if name.endswith(".npz") else "render", *CHAIN, *size, "--fps", fps, "--quiet", "--out"]
    whole = tmp_path / name
    assert command(*words, whole)[0] == 0
    assert whole.stat().st_size > ROOM
    (folder / name).write_text("old")
    with full():
        refused(command(*words, folder / name), folder / name)
    assert (folder / name).read_text() == "old"
    assert left_in(folder) == [name]


def test_comparison_on_a_full_disk(small_disk, command):
    """Each file is whole or not there."""
    folder, full = small_disk
    words = ["compare", *CHAIN, "--solvers", "impulse,penalty", "--no-films", "--quiet", "--out", folder / "out"]
    with full():
        status, _, errors = command(*words)
    assert status == 1
    assert errors.startswith(f"verletlab: {folder}/out/")
    assert errors.count("\n") == 1
    assert left_in(folder) == ["out"]
    found = left_in(folder / "out")
    assert "index.html" not in found
    assert not [name for name in found if name.startswith(".")]


def test_states_on_a_full_disk(small_disk):
    folder, full = small_disk
    particles = pbd.Particles()
    particles.add_particles(np.zeros((1000, 3)))
    zero = np.zeros((1000, 3))
    bodies = rigid.State(zero, np.tile((1.0, 0.0, 0.0, 0.0), (1000, 1)), zero, zero)
    for state in (pbd.ParticleSystem(particles).state(), bodies):
        path = folder / "state.npz"
        path.write_text("old")
        with pytest.raises(OSError, match=r"state\.npz") as caught, full():
            state.save(path)
        assert caught.value.filename == str(path)
        assert path.read_text() == "old"
        assert left_in(folder) == ["state.npz"]


def test_interrupted_film_on_a_full_disk(small_disk):
    """The error of the disk replaces Ctrl-C, because there is no film of the frames until then."""
    folder, full = small_disk
    random = np.random.default_rng(0)
    with pytest.raises(OSError, match=r"film\.mp4") as caught, full(), VideoWriter(folder / "film.mp4") as video:  # noqa: PT012
        for _ in range(20):
            video.write(random.integers(0, 256, (240, 320, 3), dtype=np.uint8))
        raise KeyboardInterrupt
    assert caught.value.filename == str(folder / "film.mp4")
    assert left_in(folder) == []


def test_recording_on_a_full_temporary_disk(small_disk, monkeypatch):
    """The frames that are there are kept, although the disk for large recordings is full."""
    folder, full = small_disk
    monkeypatch.setattr(module, "MEMORY_LIMIT", 1000)
    monkeypatch.setattr(module.tempfile, "tempdir", str(folder))
    running = scenes.Run(scenes.load("drape", count=5), duration=1.0)
    with pytest.raises(OSError, match=str(folder)) as caught, full():
        scenes.simulate.run.record(running)
    recording = caught.value.recording
    recording.check()
    assert 0 < len(recording) < 61
    assert os.listdir(folder) in ([], ["filler"])
