"""The viewer without a browser: nodes of the page, pointers, menus, closed pages."""

import contextlib
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from types import SimpleNamespace

import numpy as np
import pytest

from scenes.visuals import ClothVisual

pytest.importorskip("viser", reason="no viser: pip install 'verletlab[view]'")

import rigid
import scenes
from scenes import registry
from scenes.cli import main as cli
from scenes.view.server import Viewer
from scenes.view.serving import free_port
from scenes.visuals.framing import scene_camera


@pytest.fixture(scope="module")
def viewer():
    """A viewer of a small cloth that counts as watched."""
    viewer = Viewer(scenes.load("drape", count=6), port=0)
    viewer.count_clients = lambda: None
    viewer.session.watched = True
    yield viewer
    viewer.stop()


@pytest.fixture
def cloth(viewer):
    """The same viewer after a reset."""
    if viewer.session.run.scene.name != "drape" or len(viewer.session.run.scene.particles) != 36:
        viewer.session.choose(scenes.load("drape", count=6))
    viewer.session.playing = False
    viewer.session.reset()
    viewer.session.update()
    viewer.show(viewer.session)
    return viewer


def of(viewer, name):
    """Handle of a node of the page."""
    return viewer.server.scene.get_handle_by_name(name)


def pointer(who, phase, start, end, eye=(0, 0, 9)):
    """A drag event of viser."""
    client = SimpleNamespace(client_id=who, camera=SimpleNamespace(position=np.array(eye, float)))
    return SimpleNamespace(
        client=client, client_id=who, phase=phase, instance_index=None, start_position=start, end_position=end
    )


def complete(coroutine):
    """Run a callback of viser to its end. Other tests may have an event loop running in this thread."""
    with contextlib.suppress(StopIteration):
        coroutine.send(None)


def drag(viewer, *events):
    """Send drag events on the cloth."""
    for event in events:
        complete(viewer.pointers.drag_callback(0, 0)(event))
    viewer.session.update()


def test_page_shows_the_visuals(cloth):
    session = cloth.session
    for _ in range(3):
        session.step(2)
        cloth.show(session)
        frame = session.run.frame()
        sheet, ball = (visual.draw(frame)[0] for visual in session.run.scene.visuals)
        for side, colour in (("front", sheet.colour), ("back", sheet.back_colour)):
            handle = of(cloth, f"/scene/0/0/{side}")
            np.testing.assert_array_equal(handle.vertices, sheet.vertices.astype(np.float32))
            np.testing.assert_array_equal(handle.faces, sheet.triangles)
            np.testing.assert_array_equal(handle.color, np.rint(255 * np.array(colour)))
            assert handle.side == side
        handle = of(cloth, "/scene/1/0")
        np.testing.assert_array_equal(handle.batched_positions, ball.positions.astype(np.float32))
        np.testing.assert_array_equal(handle.batched_wxyzs, ball.rotations.astype(np.float32))
        np.testing.assert_array_equal(handle.vertices, ball.surface.vertices.astype(np.float32))


def test_drag_pulls_and_a_closed_page_releases(cloth):
    session = cloth.session
    corner = session.run.particles.positions()[0]
    goal = corner + (0, 0, 0.5)
    drag(cloth, pointer(7, "start", corner, corner), pointer(7, "update", corner, goal))
    for _ in range(120):
        session.step()
    dragged = session.run.particles.positions()[0]
    assert np.linalg.norm(dragged - goal) < 0.1
    # The page closes during the drag. There is no event for its end, but the grab is released.
    complete(cloth.disconnected(SimpleNamespace(client_id=7)))
    session.update()
    assert cloth.grabs.active == {}
    assert not session.run.particles.environment.grabs.any()
    drag(cloth, pointer(7, "update", corner, goal), pointer(7, "end", corner, goal))  # late events have no effect
    session.step(30)
    assert session.run.particles.positions()[0, 2] < dragged[2] - 0.2


def test_tools_pin_unpin_and_cut(cloth):
    session = cloth.session
    x = session.run.particles.positions()
    cloth.pointers.choose("pin")
    drag(cloth, pointer(1, "start", x[5], x[5]), pointer(1, "end", x[5], x[5]))
    assert session.run.particles.inverse_masses()[5] == 0
    cloth.pointers.choose("unpin")
    drag(cloth, pointer(1, "start", x[5], x[5]), pointer(1, "end", x[5], x[5]))
    assert session.run.particles.inverse_masses()[5] > 0
    cloth.pointers.choose("cut")
    middle = 0.5 * (x[2] + x[3])
    low, high = middle * (1, 0, 1) - (0, 2, 0), middle * (1, 0, 1) + (0, 2, 0)
    drag(cloth, pointer(1, "start", low, low), pointer(1, "update", low, middle), pointer(1, "update", low, high),
         pointer(1, "end", low, high))  # fmt: skip
    cloth.show(session)
    assert len(of(cloth, "/scene/0/0/front").faces) == 2 * 5 * 4  # a column of five cells disappears
    cloth.pointers.choose("drag")
    session.request(session.reset)
    session.update()
    assert len(of(cloth, "/scene/0/0/front").faces) == 2 * 5 * 5


def test_parameters_restart_the_scene_and_errors_are_shown(cloth):
    session = cloth.session
    session.request(lambda: session.set("iterations", 3))
    session.request(lambda: cloth.set_parameter("count", 5))
    session.update()
    assert len(session.run.scene.particles) == 25
    assert len(of(cloth, "/scene/0/0/front").vertices) == 25
    assert session.get("iterations") == 3  # the setting stays
    session.request(lambda: cloth.set_parameter("collider", "/nowhere.obj"))
    session.update()
    assert len(session.run.scene.particles) == 25
    cloth.panel.show_status(now=True)
    assert "/nowhere.obj" in cloth.panel.error.content
    assert cloth.panel.error.visible
    session.request(lambda: cloth.load("dzhanibekov"))
    session.update()
    assert session.run.scene.name == "dzhanibekov"
    assert of(cloth, "/scene/0/0/front") is None
    assert of(cloth, "/scene/0/0") is not None


@pytest.mark.slow
def test_solvers_and_ghost(viewer):
    session = viewer.session
    session.playing = False
    for act in (lambda: viewer.load("dzhanibekov"), lambda: viewer.choose_ghost("articulated")):
        session.request(act)
        session.update()
    assert (session.run.solver, session.ghost.solver) == ("impulse", "articulated")
    ghost = of(viewer, "/ghost/0/0")
    assert ghost.opacity is not None
    session.request(lambda: session.step(5))
    session.update()
    frame = session.ghost.frame()
    expected = session.ghost.scene.visuals[0].draw(frame)[0].positions
    np.testing.assert_array_equal(ghost.batched_positions, expected.astype(np.float32))
    session.request(lambda: viewer.choose_solver("articulated"))
    session.update()
    assert (session.run.solver, session.ghost) == ("articulated", None)
    assert of(viewer, "/ghost/0/0") is None


def test_debug_lines(viewer):
    session = viewer.session
    session.playing = False
    for act in (lambda: session.choose(scenes.load("drape", count=6)), lambda: viewer.choose_lines("sticks", True)):
        session.request(act)
    session.update()
    viewer.show(session)
    pairs, _ = session.run.particles.sticks()
    lines = of(viewer, "/lines/sticks")
    np.testing.assert_array_equal(lines.points, session.run.particles.positions()[pairs].astype(np.float32))
    assert of(viewer, "/scene/0/0/front").opacity is not None  # translucent
    viewer.choose_lines("sticks", False)
    viewer.show(session)
    assert of(viewer, "/lines/sticks") is None
    assert of(viewer, "/scene/0/0/front").opacity is None


def test_cloth_can_be_cut_completely(cloth):
    session = cloth.session
    cloth.tearing.cut(np.arange(len(cloth.tearing.pairs)))
    assert not len(next(visual for visual in cloth.tearing.visuals if isinstance(visual, ClothVisual)).triangles)
    cloth.show(session)
    assert of(cloth, "/scene/0/0/front") is None
    session.request(session.reset)
    session.update()
    assert of(cloth, "/scene/0/0/front") is not None


def test_next_free_port():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert port < free_port("127.0.0.1", port) < port + 100
    assert free_port("127.0.0.1", 0) == 0
    with pytest.raises(OSError, match=r"cannot serve on 198\.51\.100\.7"):  # an address for documentation (RFC 5737)
        free_port("198.51.100.7", 8080)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["view", "drap"], "no scene called 'drap'; did you mean 'drape'?"),
        (["view", "drape", "--duration", "3"], "--duration cannot be used with view"),
        (["view", "drape", "--solver", "impulse"], "has particles"),
    ],
)
def test_invalid_commands(words, message, capsys):
    assert cli.main(words) == 2
    errors = capsys.readouterr().err
    assert message in " ".join(errors.split())
    assert len(errors.strip().split("\n")) == 1


def test_missing_viser(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "viser", None)
    for name in ("server", "serving"):
        monkeypatch.delitem(sys.modules, f"scenes.view.{name}")
    assert cli.main(["view", "drape"]) == 2
    assert "pip install 'verletlab[view]'" in " ".join(capsys.readouterr().err.split())


@pytest.mark.slow
def test_ctrl_c_stops_the_viewer_without_a_traceback():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        words = ["view", "drape", "--param", "count=4", "--port", str(port), "--no-browser"]
        process = subprocess.Popen(
            [sys.executable, "-m", "scenes", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            start_new_session=True, env={**os.environ, "PYTHONUNBUFFERED": "1"},
        )  # fmt: skip
        try:
            line = process.stdout.readline()
            assert line.startswith("drape on http://127.0.0.1:")
            os.killpg(process.pid, signal.SIGINT)
            rest, errors = process.communicate(timeout=600)
        finally:
            process.kill()
    assert process.returncode == 0
    assert rest == ""
    served = int(line.split("127.0.0.1:")[1].split()[0])
    assert port < served < port + 100
    assert errors.strip() == f"verletlab: port {port} is taken, serving on {served}"


@pytest.mark.slow
def test_stop_ends_the_encoding_and_removes_its_files(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    viewer = Viewer(scenes.load("pendulum"), port=0)
    viewer.recorder.folder = tmp_path
    session, recorder = viewer.session, viewer.recorder
    try:
        recorder.start_or_stop(None)
        for _ in range(40):
            session.step()
            viewer.show(session)
        recorder.start_or_stop(None)
        assert recorder.encoding
    finally:
        viewer.stop()
    assert not recorder.thread.is_alive()
    assert list((tmp_path / "temporary").iterdir()) == []
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_the_scene_waits_until_a_browser_has_drawn_it(cloth):
    """viser reports a client when its page has connected, before it has loaded what it shows."""
    session, drawn = cloth.session, threading.Event()
    client = SimpleNamespace(client_id=3, get_render=lambda *size, timeout: drawn.wait(timeout))
    clients = {3: client}
    viewer = SimpleNamespace(
        session=session, drawing_clients=set(), server=SimpleNamespace(get_clients=lambda: clients)
    )
    viewer.count_clients = lambda *drawing: Viewer.count_clients(viewer, *drawing)
    viewer.wait_for_picture = lambda client: Viewer.wait_for_picture(viewer, client)
    session.watched, session.playing = False, True
    complete(Viewer.connected(viewer, client))
    for _ in range(3):
        session.update()
    assert session.run.system.time == 0
    drawn.set()
    assert waited(lambda: (session.update(), session.run.system.time > 0)[1])
    clients.clear()
    session.request(viewer.count_clients)
    session.update()
    assert not session.watched
    session.watched = True


def waited(condition, seconds=20.0):
    """Whether something becomes true in time. Args: condition: a function; seconds."""
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.01)
    return condition()


def test_the_page_shows_the_time_of_a_pause(cloth):
    session = cloth.session
    session.playing = True
    for _ in range(5):
        session.step()
    session.request(lambda: setattr(session, "playing", False))
    session.update()
    assert f"t = {session.run.system.time:.2f} s" in cloth.panel.status.content
    assert "paused" in cloth.panel.status.content


def test_the_page_shows_an_error_at_once(cloth, monkeypatch):
    session = cloth.session
    session.playing, session.compiling, session.lag = True, False, 1.0
    session.last_time = session.shown_at = session.clock()  # no other frame is due
    monkeypatch.setattr(session.run, "step", lambda count=1: 1 / 0)
    session.update()
    assert session.failed
    assert "division" in cloth.panel.error.content
    assert f"t = {session.run.system.time:.2f} s" in cloth.panel.status.content


def test_the_film_tab_shows_how_much_is_recorded_and_encoded(cloth, tmp_path):
    recorder, session = cloth.recorder, cloth.session
    recorder.folder = tmp_path
    recorder.start_or_stop(None)
    for _ in range(70):
        session.step()
        cloth.show(session)
    assert cloth.panel.film_status.content == f"Recording … {len(recorder.clip) / recorder.clip.fps:.0f} s"
    said = []
    recorder.clip = None

    def encode(progress):
        progress(3, 40)
        said.append(cloth.panel.film_status.content)
        raise RuntimeError("no space")

    recorder.encode(tmp_path / "a.mp4", encode)
    recorder.thread.join()
    assert said == ["Encoding a.mp4 … frame 3 of 40"]
    assert cloth.panel.film_status.content == "No film: no space"


def thrown_ball():
    """A ball is thrown, and the scene has no camera."""
    model = rigid.Model()
    model.add_sphere(0.1, mass=1.0, position=(0, 0, 1), velocity=(20, 0, 5))
    return scenes.Scene(model=model, settings={"impulse": {"dt": 0.01}})


@pytest.mark.slow
def test_cameras_follow_a_scene_without_a_camera(monkeypatch):
    monkeypatch.setattr(registry, "REGISTRY", {**registry.REGISTRY})
    registry.register(thrown_ball)
    scene = scenes.load("thrown_ball")
    viewer = Viewer(scene, port=0)
    try:
        start = scene_camera(scene, viewer.session.run.frame())
        seen = SimpleNamespace(position=start.position, look_at=start.target, fov=np.radians(35.0), aspect=16 / 9)
        client = SimpleNamespace(camera=seen, client_id=1, atomic=contextlib.nullcontext)
        viewer.server.get_clients = lambda: {1: client}
        assert viewer.can_follow()
        for _ in range(100):
            viewer.session.step()
            viewer.show(viewer.session)
            camera = viewer.camera_of(client, None)
            pixels = camera.project(viewer.session.run.frame().body_poses[:, :3], 160, 90)
            assert (pixels >= 0).all()
            assert (pixels <= (160, 90)).all()
        viewer.set_follows(False)
        place = seen.position
        viewer.session.step(50)
        viewer.show(viewer.session)
        assert seen.position is place
    finally:
        viewer.stop()
