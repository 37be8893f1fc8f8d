"""The viewer without a browser: what is put on its page, and what pointers, menus and closed pages do."""

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from types import SimpleNamespace

import numpy as np
import pytest

from scenes.visuals import ClothVisual

pytest.importorskip("viser", reason="no viser: pip install 'verletlab[view]'")

import scenes
from scenes.cli import main as cli
from scenes.view.server import Viewer
from scenes.view.serving import free_port


@pytest.fixture(scope="module")
def viewer():
    """A viewer of a small cloth, that somebody looks at."""
    viewer = Viewer(scenes.load("drape", count=6), port=0)
    viewer.count_watchers = lambda: None
    viewer.session.watched = True
    yield viewer
    viewer.stop()


@pytest.fixture
def cloth(viewer):
    """The same, from its beginning."""
    if viewer.session.running.scene.name != "drape" or len(viewer.session.running.scene.particles) != 36:
        viewer.session.choose(scenes.load("drape", count=6))
    viewer.session.playing = False
    viewer.session.reset()
    viewer.session.turn()
    viewer.show(viewer.session)
    return viewer


def of(viewer, name):
    """The handle of a node of the page."""
    return viewer.server.scene.get_handle_by_name(name)


def pointer(who, phase, start, end, eye=(0, 0, 9)):
    """A drag as viser tells of it."""
    client = SimpleNamespace(client_id=who, camera=SimpleNamespace(position=np.array(eye, float)))
    return SimpleNamespace(
        client=client, client_id=who, phase=phase, instance_index=None, start_position=start, end_position=end
    )


def tell(coroutine):
    """Run what viser awaits; it waits for nothing itself, and a browser's tests may have an event loop running here."""
    with contextlib.suppress(StopIteration):
        coroutine.send(None)


def drag(viewer, *events):
    """Let viser tell of these, on the cloth."""
    for event in events:
        tell(viewer.pointers.dragging(0, 0)(event))
    viewer.session.turn()


def test_the_page_shows_what_visuals_draw(cloth):
    session = cloth.session
    for _ in range(3):
        session.advance(2)
        cloth.show(session)
        frame = session.running.frame()
        sheet, ball = (visual.draw(frame)[0] for visual in session.running.scene.visuals)
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


def test_a_drag_pulls_and_a_closed_page_lets_go(cloth):
    session = cloth.session
    corner = session.running.particles.positions()[0]
    goal = corner + (0, 0, 0.5)
    drag(cloth, pointer(7, "start", corner, corner), pointer(7, "update", corner, goal))
    for _ in range(120):
        session.advance()
    held = session.running.particles.positions()[0]
    assert np.linalg.norm(held - goal) < 0.1
    # The page is closed in the middle of it: nobody is told of an end, and yet the grab lets go.
    tell(cloth.disconnected(SimpleNamespace(client_id=7)))
    session.turn()
    assert cloth.grabs.grips == {}
    assert not session.running.particles.environment.grabs.any()
    drag(cloth, pointer(7, "update", corner, goal), pointer(7, "end", corner, goal))  # what comes late does no harm
    session.advance(30)
    assert session.running.particles.positions()[0, 2] < held[2] - 0.2


def test_tools_pin_and_cut(cloth):
    session = cloth.session
    x = session.running.particles.positions()
    cloth.pointers.choose("pin")
    drag(cloth, pointer(1, "start", x[5], x[5]), pointer(1, "end", x[5], x[5]))
    assert session.running.particles.inverse_masses()[5] == 0
    cloth.pointers.choose("unpin")
    drag(cloth, pointer(1, "start", x[5], x[5]), pointer(1, "end", x[5], x[5]))
    assert session.running.particles.inverse_masses()[5] > 0
    cloth.pointers.choose("cut")
    middle = 0.5 * (x[2] + x[3])
    low, high = middle * (1, 0, 1) - (0, 2, 0), middle * (1, 0, 1) + (0, 2, 0)
    drag(cloth, pointer(1, "start", low, low), pointer(1, "update", low, middle), pointer(1, "update", low, high),
         pointer(1, "end", low, high))  # fmt: skip
    cloth.show(session)
    assert len(of(cloth, "/scene/0/0/front").faces) == 2 * 5 * 4  # a column of five cells is gone
    cloth.pointers.choose("drag")
    session.ask(session.reset)
    session.turn()
    assert len(of(cloth, "/scene/0/0/front").faces) == 2 * 5 * 5


def test_parameters_make_the_scene_anew_and_wrong_ones_are_said(cloth):
    session = cloth.session
    session.ask(lambda: session.set("iterations", 3))
    session.ask(lambda: cloth.set_parameter("count", 5))
    session.turn()
    assert len(session.running.scene.particles) == 25
    assert len(of(cloth, "/scene/0/0/front").vertices) == 25
    assert session.get("iterations") == 3  # what was set stays
    session.ask(lambda: cloth.set_parameter("collider", "/nowhere.obj"))
    session.turn()
    assert len(session.running.scene.particles) == 25
    cloth.panel.tell(now=True)
    assert "/nowhere.obj" in cloth.panel.trouble.content
    assert cloth.panel.trouble.visible
    session.ask(lambda: cloth.load("dzhanibekov"))
    session.turn()
    assert session.running.scene.name == "dzhanibekov"
    assert of(cloth, "/scene/0/0/front") is None
    assert of(cloth, "/scene/0/0") is not None


@pytest.mark.slow
def test_solvers_and_a_ghost_are_chosen(viewer):
    session = viewer.session
    session.playing = False
    for act in (lambda: viewer.load("dzhanibekov"), lambda: viewer.choose_ghost("articulated")):
        session.ask(act)
        session.turn()
    assert (session.running.solver, session.ghost.solver) == ("impulse", "articulated")
    ghost = of(viewer, "/ghost/0/0")
    assert ghost.opacity is not None
    session.ask(lambda: session.advance(5))
    session.turn()
    frame = session.ghost.frame()
    expected = session.ghost.scene.visuals[0].draw(frame)[0].positions
    np.testing.assert_array_equal(ghost.batched_positions, expected.astype(np.float32))
    session.ask(lambda: viewer.choose_solver("articulated"))
    session.turn()
    assert (session.running.solver, session.ghost) == ("articulated", None)
    assert of(viewer, "/ghost/0/0") is None


def test_lines_are_those_of_the_run(viewer):
    session = viewer.session
    session.playing = False
    for act in (lambda: session.choose(scenes.load("drape", count=6)), lambda: viewer.choose_lines("sticks", True)):
        session.ask(act)
    session.turn()
    viewer.show(session)
    pairs, _ = session.running.particles.sticks()
    lines = of(viewer, "/lines/sticks")
    np.testing.assert_array_equal(lines.points, session.running.particles.positions()[pairs].astype(np.float32))
    assert of(viewer, "/scene/0/0/front").opacity is not None  # to be seen through
    viewer.choose_lines("sticks", False)
    viewer.show(session)
    assert of(viewer, "/lines/sticks") is None
    assert of(viewer, "/scene/0/0/front").opacity is None


def test_a_cloth_may_be_torn_to_nothing(cloth):
    session = cloth.session
    cloth.tearing.cut(np.arange(len(cloth.tearing.pairs)))
    assert not len(next(visual for visual in cloth.tearing.visuals if isinstance(visual, ClothVisual)).triangles)
    cloth.show(session)
    assert of(cloth, "/scene/0/0/front") is None
    session.ask(session.reset)
    session.turn()
    assert of(cloth, "/scene/0/0/front") is not None


def test_a_taken_port_is_passed_over():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert port < free_port("127.0.0.1", port) < port + 100
    assert free_port("127.0.0.1", 0) == 0
    with pytest.raises(OSError, match=r"cannot serve on 198\.51\.100\.7"):  # of nobody's network
        free_port("198.51.100.7", 8080)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["view", "drap"], "no scene called 'drap'; did you mean 'drape'?"),
        (["view", "drape", "--duration", "3"], "--duration is of no use with view"),
        (["view", "drape", "--solver", "impulse"], "has particles"),
    ],
)
def test_what_cannot_be_viewed(words, said, capsys):
    assert cli.main(words) == 2
    complaint = capsys.readouterr().err
    assert said in " ".join(complaint.split())
    assert len(complaint.strip().split("\n")) == 1


def test_without_viser_one_line_says_what_to_install(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "viser", None)
    for name in ("server", "serving"):
        monkeypatch.delitem(sys.modules, f"scenes.view.{name}")
    assert cli.main(["view", "drape"]) == 2
    assert "pip install 'verletlab[view]'" in " ".join(capsys.readouterr().err.split())


def test_ctrl_c_stops_it_at_once_and_without_a_traceback():
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
            said = process.stdout.readline()
            assert said.startswith("drape on http://127.0.0.1:")
            time.sleep(0.5)
            start = time.monotonic()
            os.killpg(process.pid, signal.SIGINT)
            rest, complaint = process.communicate(timeout=20)
            assert time.monotonic() - start < 5
        finally:
            process.kill()
    assert process.returncode == 0
    assert rest == ""
    served = int(said.split("127.0.0.1:")[1].split()[0])
    assert port < served < port + 100
    assert complaint.strip() == f"verletlab: port {port} is taken, serving on {served}"
