"""Recordings and states from strangers: forged, encrypted, truncated or with wrong types. Each gets one clear line."""

import io
import json
import struct
import zipfile
from pathlib import Path

import numpy as np
import pytest

import pbd
import rigid
from scenes.simulate.recording import Recording


def recording():
    """A Recording of two frames, made by hand."""
    about = {"scene": "pendulum", "solver": "impulse", "parameters": {"length": "1.0"}}
    shapes = (2,), (2, 4, 3), (2, 4, 3), (2, 0, 7), (2, 1, 7), (2, 1, 6), (2, 3)
    arrays = [np.zeros(shape) for shape in shapes]
    arrays[0][:] = 0.0, 0.1
    return Recording(about, *arrays)


def body_state():
    """A rigid.State of two bodies, made by hand."""
    rotation = np.tile((1.0, 0.0, 0.0, 0.0), (2, 1))
    return rigid.State(np.zeros((2, 3)), rotation, np.zeros((2, 3)), np.zeros((2, 3)), 0.5, np.arange(5.0))


def particle_state():
    """A pbd.State of three particles, made by hand."""
    return pbd.State(*(np.zeros((3, 3)) for _ in range(3)), np.ones(3), 0.01, 2, 0.0, 7)


# The header of an array that would take 24 terabytes.
TOO_LARGE = "{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000, 3)}"
MADE = {
    "recording": (recording, Recording), "bodies": (body_state, rigid.State), "particles": (particle_state, pbd.State),
}  # fmt: skip
NAMES = {"recording": "positions", "bodies": "position", "particles": "position"}


@pytest.fixture(params=MADE)
def saved(request, tmp_path):
    """Name of a kind of file, its path, and the function that loads it."""
    make, kind = MADE[request.param]
    path = tmp_path / "file.npz"
    make().save(path)
    kind.load(path)
    return request.param, path, kind.load


def refused(path, load):
    """Check that a file is refused in one line that names it. Returns: the line."""
    with pytest.raises(ValueError, match=r"file\.npz is not a (recording|state) saved by verletlab: .") as caught:
        load(path)
    line = str(caught.value)
    assert "\n" not in line
    assert len(line) < 200 + len(str(path))
    return line


def members(path):
    """{name: bytes} of an archive."""
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def rewrite(path, changed, compression=zipfile.ZIP_STORED):
    """Write an archive again. Args: changed: {name: bytes or array}, which replace or add members."""
    found = members(path)
    for name, value in changed.items():
        if isinstance(value, np.ndarray):
            file = io.BytesIO()
            np.save(file, value)
            value = file.getvalue()
        found[f"{name}.npy"] = value
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, data in found.items():
            archive.writestr(name, data)


def header(text):
    """A .npy file with a header of any text and no numbers."""
    text = text.encode().ljust(117) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text


@pytest.mark.parametrize("text", [
    TOO_LARGE, "{'descr': '|O', 'fortran_order': False, "
    "'shape': (1,)}", "{'descr': '<f8', 'fortran_order': False, 'shape': (-1, 3)}", "[" * 90, "__import__('os')", "",
    "{'descr': '<f8', 'fortran_order': 1, 'shape': 3}", "{'descr': 'what', 'fortran_order': False, 'shape': ()}",
])  # fmt: skip
def test_forged_headers(saved, text):
    name, path, load = saved
    rewrite(path, {NAMES[name]: header(text)})
    refused(path, load)


def test_encrypted_and_compressed_archives(saved):
    _, path, load = saved
    data = bytearray(path.read_bytes())
    for signature, place in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):  # flags of local and central headers
        at = data.find(signature)
        data[at + place] |= 1
    path.write_bytes(data)
    assert "encrypted" in refused(path, load)
    MADE[saved[0]][0]().save(path)
    rewrite(path, {}, zipfile.ZIP_DEFLATED)
    assert "compressed" in refused(path, load)


def test_truncated_archives(saved):
    _, path, load = saved
    whole = path.read_bytes()
    for length in range(0, len(whole) - 1, max(len(whole) // 40, 1)):
        path.write_bytes(whole[:length])
        refused(path, load)


@pytest.mark.slow
def test_any_changed_byte_is_refused_or_without_effect(saved):
    """A byte changes at each of 400 places."""
    _, path, load = saved
    whole = path.read_bytes()
    random = np.random.default_rng(1)
    for place in random.integers(0, len(whole), 400):
        data = bytearray(whole)
        data[place] ^= int(random.integers(1, 256))
        path.write_bytes(data)
        try:
            load(path)
        except ValueError:
            refused(path, load)


WRONG = [
    np.zeros((4, 2, 3), complex), np.full((4, 2, 3), "word"), np.zeros((4, 2, 3), "datetime64[s]"),
    np.zeros((4, 2, 3), bool), np.zeros((4, 2, 3), [("x", float)]), np.zeros(0), np.array(3.0), np.zeros((1,) * 30),
]  # fmt: skip


@pytest.mark.parametrize("array", WRONG, ids=lambda array: f"{array.dtype.kind}{array.ndim}")
def test_wrong_types_and_shapes(saved, array):
    name, path, load = saved
    rewrite(path, {NAMES[name]: array})
    refused(path, load)


@pytest.mark.parametrize("field", ["dt", "substeps", "origin", "substep"])
@pytest.mark.parametrize("value", ["word", [1.0, 2.0], 1j])
def test_wrong_numbers_in_states(tmp_path, field, value):
    for make, kind in list(MADE.values())[1:]:
        path = tmp_path / "file.npz"
        make().save(path)
        rewrite(path, {field: np.array(value)})
        refused(path, kind.load)


@pytest.mark.parametrize("about", [
    3, [], {}, {"scene": 3, "solver": "verlet", "parameters": {}}, {"scene": "box", "solver": "verlet"},
    {"scene": "box", "solver": "verlet", "parameters": {"count": [3]}},
    {"scene": "box", "solver": None, "parameters": {}},
])  # fmt: skip
def test_wrong_descriptions_of_recordings(tmp_path, about):
    path = tmp_path / "file.npz"
    recording().save(path)
    rewrite(path, {"about": np.array(json.dumps(about))})
    refused(path, Recording.load)


@pytest.mark.parametrize("times", [[0.1, 0.0], [0.0, 0.0], [0.0, np.nan], [0.0, np.inf]])
def test_wrong_times_of_recordings(tmp_path, times):
    path = tmp_path / "file.npz"
    recording().save(path)
    rewrite(path, {"times": np.array(times)})
    assert "times" in refused(path, Recording.load)


def test_command_reports_a_corrupt_recording_in_one_line(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # messages shorten long paths
    path = Path("file.npz")
    recording().save(path)
    rewrite(path, {"positions": header(TOO_LARGE)})
    status, out, errors = command("render", "--recording", path, "--out", tmp_path / "film.mp4")
    assert (status, out) == (2, "")
    assert errors.startswith(f"verletlab: {path} is not a recording saved by verletlab: ")
    assert errors.count("\n") == 1
