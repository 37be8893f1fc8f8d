"""Replays: one HTML file that plays a recording in a browser without a network."""

import base64
import re
import socket
from functools import partial

import numpy as np
import pytest

pytest.importorskip("viser", reason="no viser: pip install 'verletlab[view]'")

import msgspec
import zstandard

import pbd
import scenes
from pbd.build import cloth
from scenes.cli import main as cli
from scenes.render.page import replay as replays
from scenes.visuals import Camera, FollowingCamera

COUNT, FPS, DURATION = 9, 30, 1.0  # particles along a side; frames per second [1/s]; [s]
STEP = 2.0**-13  # rounding of positions in a picture that is about two metres high [m]


@pytest.fixture
def sheet():
    """A scene of a sheet of 9 x 9 particles."""
    particles = pbd.Particles()
    cloth(particles, (-1, -1, 1), (2, 0, 0), (0, 2, 0), (COUNT, COUNT))
    return scenes.Scene(particles, name="waving <sheet>")


def wave(sheet, times, height=0.2):
    """Positions of the sheet's particles at times (k,): z = 1 + h sin(3 x + 2π t)."""
    positions = np.repeat(sheet.particles.positions()[None], len(times), axis=0)
    positions[:, :, 2] = 1 + height * np.sin(3 * positions[:, :, 0] + 2 * np.pi * np.reshape(times, (-1, 1)))
    return positions


def waving(sheet, height=0.2, duration=DURATION, **about):
    """A Recording of the waving sheet."""
    times = np.arange(round(duration * FPS) + 1) / FPS
    positions = wave(sheet, times, height)
    none = np.zeros((len(times), 0, 7))
    about = {"scene": sheet.name, "solver": "verlet", **about}
    return scenes.Recording(
        about, times, positions, np.zeros_like(positions), none, none, none[..., :6], np.zeros((len(times), 3))
    )


def contents(path):
    """Contents of a replay: its duration [s], and messages [(time, message)] with arrays as bytes."""
    packed = base64.b64decode(re.search(r'__VISER_EMBED_DATA__="([^"]+)"', path.read_text())[1])
    raw = zstandard.ZstdDecompressor().decompress(packed[8:], max_output_size=int.from_bytes(packed[:8], "little"))
    length = int.from_bytes(raw[:8], "little")
    data = msgspec.msgpack.decode(raw[8 : 8 + length])
    return data["durationSeconds"], data["messages"]


def names(messages):
    """Names of the nodes that messages add."""
    return [message["name"] for _, message in messages if "Mesh" in message["type"]]


# In a browser ---------------------------------------------------------------------------------------------------------


def test_replay_opens_from_disk_and_plays(tab, plain_light, sheet, tmp_path):
    path = tmp_path / "sheet.html"
    size = replays.replay([("verlet", sheet, waving(sheet))], path)
    assert size == path.stat().st_size < 1e6  # viser's page is 0.82 MB of it
    tab.open(path.as_uri())
    assert tab.page.title() == "waving <sheet>"
    assert tab.requests == [path.as_uri()]  # no network

    clock = tab.page.locator("input").first

    def moment():
        return clock.input_value(), *tab.vertices("/0/0/0/front")[:, 2]

    first = moment()  # it plays without a click: the time and the vertices change
    tab.until(moment, lambda now: now[0] != first[0] and now[1:] != first[1:])
    tab.page.keyboard.press("Space")  # pauses
    paused = tab.until_still(moment)
    tab.wait_frames(20)
    assert moment() == paused

    # Each time shows its own frame on both sides of the sheet, within half of the rounding.
    def near(expected, shown):
        return shown.shape == expected.shape and np.abs(shown - expected).max() <= 0.501 * STEP

    for time in (0.8, 0.3):
        # The input shows one decimal, and ignores a text that it shows already. So it goes elsewhere first.
        for text in ("0.5", str(time)):
            clock.fill(text)
            clock.press("Enter")
        expected = wave(sheet, [time])[0]
        for side in ("front", "back"):
            tab.until(lambda side=side: tab.vertices(f"/0/0/0/{side}"), partial(near, expected))
    tab.screenshot("replay")


# Contents of the file -------------------------------------------------------------------------------------------------


def test_times_of_frames_and_no_open_port(sheet, tmp_path, monkeypatch):
    made = []
    stopped = replays.stopped_server
    monkeypatch.setattr(replays, "stopped_server", lambda: made.append(stopped()) or made[0])
    replays.replay([("verlet", sheet, waving(sheet))], tmp_path / "a.html", fps=10)
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", made[0].get_port()))
    duration, messages = contents(tmp_path / "a.html")
    moved = sorted({time for time, message in messages if message["type"] == "SceneNodeUpdateMessage"})
    assert moved == pytest.approx(np.arange(1, 11) / 10)
    assert duration == pytest.approx(DURATION + 0.1)  # the last frame is shown as long as the others


def test_layouts_of_several_runs(sheet, tmp_path):
    # One of them diverges after 0.5 s, and keeps its last frame.
    broken = waving(sheet, height=0.1)
    broken.positions[16:] = np.nan
    runs = [("verlet", sheet, waving(sheet)), ("broken & odd", sheet, broken)]
    for layout in ("ghosts", "side by side"):
        replays.replay(runs, tmp_path / "a.html", layout)
        _, messages = contents(tmp_path / "a.html")
        page = (tmp_path / "a.html").read_text()
        assert "waving &lt;sheet&gt;</b>" in page
        assert "broken &amp; odd diverged at 0.50 s" in page
        assert names(messages) == [f"/{run}/0/0/{side}" for run in (0, 1) for side in ("front", "back")]
        last = {message["name"][:2]: time for time, message in messages if message["type"] == "SceneNodeUpdateMessage"}
        assert last == pytest.approx({"/0": 1.0, "/1": 0.5})
        places = {
            message["name"]: message["position"] for _, message in messages if message["type"] == "SetPositionMessage"
        }
        distance = np.linalg.norm(np.subtract(*(places.get(run, (0, 0, 0)) for run in ("/0", "/1"))))
        assert distance > 2.0 if layout == "side by side" else distance == 0
        colours = [message["props"]["color"] for _, message in messages if "Mesh" in message["type"]]
        assert (colours[0] == colours[2]) == (layout == "side by side")


def test_following_camera_moves_the_scene_instead(tmp_path):
    import rigid

    model = rigid.Model()
    body = model.add_sphere(0.1, mass=1.0)
    camera = FollowingCamera(body, Camera((0, -3, 1), (0, 0, 0)))
    scene = scenes.Scene(model=model, camera=camera)
    poses = np.zeros((4, 1, 7))
    poses[:, 0, 0], poses[:, 0, 3] = np.arange(4), 1.0
    none = np.zeros((4, 0, 7))
    recording = scenes.Recording(
        {}, np.arange(4.0), none[..., :3], none[..., :3], none, poses, np.zeros((4, 1, 6)), np.zeros((4, 3))
    )
    replays.replay([("impulse", scene, recording)], tmp_path / "a.html")
    _, messages = contents(tmp_path / "a.html")
    for node in ("/0", "/floor"):
        moved = [
            (time, *message["position"])
            for time, message in messages
            if message["type"] == "SetPositionMessage" and message["name"] == node and time > 0
        ]
        assert np.array(moved) == pytest.approx(np.array([(k, -k, 0, 0) for k in (1, 2, 3)]))
    assert not [message for time, message in messages if "Camera" in message["type"] and time > 0]


# Errors ---------------------------------------------------------------------------------------------------------------


def test_interrupted_replay_keeps_its_frames(sheet, tmp_path):
    def stop(number, count):
        assert count == 31
        if number == 7:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as stopped:
        replays.replay([("verlet", sheet, waving(sheet))], tmp_path / "a.html", progress=stop)
    assert stopped.value.frames == 7
    duration, messages = contents(tmp_path / "a.html")
    assert duration == pytest.approx(6 / FPS) == max(time for time, _ in messages)


def test_replay_that_is_too_large(sheet, tmp_path, monkeypatch):
    # 81 vertices of 12 bytes on two sides, for an hour: 108,001 frames, 210 MB.
    class Endless(replays.Replay):
        def __init__(self):
            super().__init__(sheet, waving(sheet))
            self.count = 3600 * FPS + 1

        def frames(self):
            for shown, frame in enumerate(super().frames()):
                assert shown < 2, "the replay was not refused"
                yield frame

    monkeypatch.setattr(replays, "LIMIT", 100e6)
    with pytest.raises(replays.TooLong) as refused:
        replays.write({"verlet": Endless()}, tmp_path / "a.html")
    expected = 108001 * 2 * 81 * 12
    assert f"108001 frames with 0.0019 MB each, {expected / 1e6:.0f} MB" in str(refused.value)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("runs", "path", "message"),
    [
        ("none", "a.html", "no recordings: expected at least one"),
        ("twice", "a.html", "labels of recordings are verlet, verlet"),
        ("once", "a.mp4", "suffix '.mp4': expected one of .html"),
        ("once", "missing/a.html", "there is no directory"),
    ],
)
def test_invalid_recordings_or_path(runs, path, message, sheet, tmp_path):
    runs = {"once": 1, "twice": 2}.get(runs, 0) * [("verlet", sheet, waving(sheet))]
    with pytest.raises((ValueError, OSError), match=re.escape(message)):
        replays.replay(runs, tmp_path / path)


# From the command line ------------------------------------------------------------------------------------------------


def test_render_command_writes_a_replay(leap, tmp_path, capsys):
    out = tmp_path / "leap.html"
    assert cli.main(["render", "leap", "--param", "far=0.5", "--out", str(out)]) == 0
    assert capsys.readouterr().out == f"{out}: 31 frames, {out.stat().st_size / 1e6:.1f} MB\n"
    assert contents(out)[0] == pytest.approx(1 + 1 / 30)
    # A run that diverges keeps its frames.
    assert cli.main(["render", "leap", "--out", str(out)]) == 1
    errors = capsys.readouterr().err
    assert "leap.html holds the 16 frames before it" in " ".join(errors.split())
    assert 0.4 < contents(out)[0] < 0.6
    # A recording can be replayed, too.
    recorded = str(tmp_path / "leap.npz")
    assert cli.main(["run", "leap", "--param", "far=0.5", "--quiet", "--out", recorded]) == 0
    assert cli.main(["render", "--recording", recorded, "--fps", "10", "--out", str(out)]) == 0
    assert "11 frames" in capsys.readouterr().out
    for words, message in (("--size 640x360", "--size cannot be used"), ("--no-labels", "--no-labels cannot be used")):
        assert cli.main(["render", "leap", "--out", str(out), *words.split()]) == 2
        assert message in capsys.readouterr().err
