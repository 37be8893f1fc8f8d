"""Replays: one file that plays what was recorded, in a browser and without a network."""

import base64
import re
import socket
from functools import partial

import numpy as np
import pytest

from scenes.visuals import Camera, FollowingCamera

pytest.importorskip("viser", reason="no viser: pip install 'verletlab[view]'")

import msgspec
import zstandard

import pbd
import scenes
from pbd.build import cloth
from scenes.cli import main as cli
from scenes.render.page import replay as replays

COUNT, FPS, DURATION = 9, 30, 1.0  # particles along a side; frames a second; [s]
STEP = 2.0**-13  # what positions are rounded to, in a picture of some two metres [m]


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
    """A Recording of it."""
    times = np.arange(round(duration * FPS) + 1) / FPS
    positions = wave(sheet, times, height)
    none = np.zeros((len(times), 0, 7))
    about = {"scene": sheet.name, "solver": "verlet", **about}
    return scenes.Recording(
        about, times, positions, np.zeros_like(positions), none, none, none[..., :6], np.zeros((len(times), 3))
    )


def opened(path):
    """What a replay's page is given: its duration [s], and messages [(time, message)] with arrays as bytes."""
    packed = base64.b64decode(re.search(r'__VISER_EMBED_DATA__="([^"]+)"', path.read_text())[1])
    raw = zstandard.ZstdDecompressor().decompress(packed[8:], max_output_size=int.from_bytes(packed[:8], "little"))
    length = int.from_bytes(raw[:8], "little")
    data = msgspec.msgpack.decode(raw[8 : 8 + length])
    return data["durationSeconds"], data["messages"]


def names(messages):
    """The names of nodes that are made."""
    return [message["name"] for _, message in messages if "Mesh" in message["type"]]


# In a browser --------------------------------------------------------------------------------------------------------


def test_a_replay_opens_from_disk_and_plays(tab, plain_light, sheet, tmp_path):
    path = tmp_path / "sheet.html"
    size = replays.replay([("verlet", sheet, waving(sheet))], path)
    assert size == path.stat().st_size < 1e6  # 0.82 MB of it viser's page
    tab.open(path.as_uri())
    assert tab.page.title() == "waving <sheet>"
    assert tab.requests == [path.as_uri()]  # no network

    clock = tab.page.locator("input").first

    def moment():
        return clock.input_value(), *tab.vertices("/0/0/0/front")[:, 2]

    first = moment()  # it plays by itself: time goes on, and what is drawn moves
    tab.until(moment, lambda now: now[0] != first[0] and now[1:] != first[1:])
    tab.page.keyboard.press("Space")  # pauses
    tab.page.wait_for_timeout(200)
    held = moment()
    tab.page.wait_for_timeout(200)
    assert moment() == held

    # Every moment of the timeline shows its own frame, on both sides of the sheet, to half of what it is rounded to.
    def near(expected, shown):
        return shown.shape == expected.shape and np.abs(shown - expected).max() <= 0.501 * STEP

    for time in (0.8, 0.3):
        clock.fill(str(time))
        clock.press("Enter")
        expected = wave(sheet, [time])[0]
        for side in ("front", "back"):
            tab.until(lambda side=side: tab.vertices(f"/0/0/0/{side}"), partial(near, expected))
    tab.keep("replay")


# What a file holds ---------------------------------------------------------------------------------------------------


def test_frames_are_on_their_times_and_nothing_listens(sheet, tmp_path, monkeypatch):
    made = []
    unreachable = replays.unreachable_server
    monkeypatch.setattr(replays, "unreachable_server", lambda: made.append(unreachable()) or made[0])
    replays.replay([("verlet", sheet, waving(sheet))], tmp_path / "a.html", fps=10)
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", made[0].get_port()), timeout=5)
    duration, messages = opened(tmp_path / "a.html")
    moved = sorted({time for time, message in messages if message["type"] == "SceneNodeUpdateMessage"})
    assert moved == pytest.approx(np.arange(1, 11) / 10)
    assert duration == pytest.approx(DURATION + 0.1)  # the last one is seen as long as the others


def test_several_runs_as_ghosts_or_side_by_side(sheet, tmp_path):
    # One of them diverges after 0.5 s, and stands still from there on.
    broken = waving(sheet, height=0.1)
    broken.positions[16:] = np.nan
    runs = [("verlet", sheet, waving(sheet)), ("broken & odd", sheet, broken)]
    for layout in ("ghosts", "side by side"):
        replays.replay(runs, tmp_path / "a.html", layout)
        _, messages = opened(tmp_path / "a.html")
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


def test_a_camera_that_follows_stays_and_all_else_moves(tmp_path):
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
    _, messages = opened(tmp_path / "a.html")
    for node in ("/0", "/floor"):
        moved = [
            (time, *message["position"])
            for time, message in messages
            if message["type"] == "SetPositionMessage" and message["name"] == node and time > 0
        ]
        assert np.array(moved) == pytest.approx(np.array([(k, -k, 0, 0) for k in (1, 2, 3)]))
    assert not [message for time, message in messages if "Camera" in message["type"] and time > 0]


# What goes wrong -----------------------------------------------------------------------------------------------------


def test_what_is_stopped_is_kept_until_then(sheet, tmp_path):
    def stop(number, count):
        assert count == 31
        if number == 7:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as stopped:
        replays.replay([("verlet", sheet, waving(sheet))], tmp_path / "a.html", progress=stop)
    assert stopped.value.frames == 7
    duration, messages = opened(tmp_path / "a.html")
    assert duration == pytest.approx(6 / FPS) == max(time for time, _ in messages)


def test_a_replay_that_no_browser_could_hold_is_refused_at_once(sheet, tmp_path, monkeypatch):
    # 81 vertices of 12 bytes, seen from both sides, an hour long: 108,001 frames, 210 MB.
    class Endless(replays.Replay):
        def __init__(self):
            super().__init__(sheet, waving(sheet))
            self.count = 3600 * FPS + 1

        def frames(self):
            for shown, frame in enumerate(super().frames()):
                assert shown < 2, "it was not refused"
                yield frame

    monkeypatch.setattr(replays, "LIMIT", 100e6)
    with pytest.raises(replays.TooLong) as refused:
        replays.write({"verlet": Endless()}, tmp_path / "a.html")
    expected = 108001 * 2 * 81 * 12
    assert f"108001 frames of 0.0019 MB, {expected / 1e6:.0f} MB" in str(refused.value)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("runs", "path", "message"),
    [
        ("none", "a.html", "one recording at least"),
        ("twice", "a.html", "labels of recordings are verlet, verlet"),
        ("once", "a.mp4", "suffix '.mp4' is not supported, expected one of .html"),
        ("once", "missing/a.html", "there is no directory"),
    ],
)
def test_wrong_replays_are_refused(runs, path, message, sheet, tmp_path):
    runs = {"once": 1, "twice": 2}.get(runs, 0) * [("verlet", sheet, waving(sheet))]
    with pytest.raises((ValueError, OSError), match=re.escape(message)):
        replays.replay(runs, tmp_path / path)


# From the command line -----------------------------------------------------------------------------------------------


def test_render_writes_a_replay(leap, tmp_path, capsys):
    out = tmp_path / "leap.html"
    assert cli.main(["render", "leap", "--param", "far=0.5", "--out", str(out)]) == 0
    assert capsys.readouterr().out == f"{out}: 31 frames, {out.stat().st_size / 1e6:.1f} MB\n"
    assert opened(out)[0] == pytest.approx(1 + 1 / 30)
    # What diverges is kept until then.
    assert cli.main(["render", "leap", "--out", str(out)]) == 1
    said = capsys.readouterr().err
    assert re.search(r"leap.html holds \d+ frames until then", " ".join(said.split()))
    assert 0.4 < opened(out)[0] < 0.6
    # A recording serves as well.
    recorded = str(tmp_path / "leap.npz")
    assert cli.main(["run", "leap", "--param", "far=0.5", "--quiet", "--out", recorded]) == 0
    assert cli.main(["render", "--recording", recorded, "--fps", "10", "--out", str(out)]) == 0
    assert "11 frames" in capsys.readouterr().out
    for words, message in (("--size 640x360", "--size is of no use"), ("--no-labels", "--no-labels is of no use")):
        assert cli.main(["render", "leap", "--out", str(out), *words.split()]) == 2
        assert message in capsys.readouterr().err
