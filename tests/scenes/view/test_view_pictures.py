"""What the viewer and replays look like to a person: pictures to be looked at, in their own light and a window's size.

Slow, as all of it is drawn by the processor. What is asserted is only that the scene is to be seen in them.
"""

import io

import imageio.v3 as imageio
import numpy as np
import pytest

pytest.importorskip("viser", reason="no viser: pip install 'verletlab[view]'")

import scenes
from scenes.render.page.replay import replay
from scenes.view.server import Viewer

pytestmark = pytest.mark.slow

PANEL = 340  # how much of a window's right the panel takes [pixels]


def coloured(picture):
    """Which part of a picture, beside the panel, has a colour: all of a scene has, the floor and the sky have not."""
    image = imageio.imread(io.BytesIO(picture))[:, :-PANEL, :3].astype(int)
    return np.mean(image.max(axis=2) - image.min(axis=2) > 40)


def near(shown, expected):
    """Whether that is there, to single precision."""
    return shown.shape == expected.shape and np.abs(shown - expected).max() < 1e-5


@pytest.mark.parametrize(
    ("name", "ghost", "lines"),
    [("drape", None, ()), ("ragdoll", "verlet", ("joints", "contacts")), ("scout_robot", None, ("limits",))],
)
def test_a_scene_in_the_viewer(window, name, ghost, lines):
    scene = scenes.load(name, **({"count": 40} if name == "drape" else {}))
    viewer = Viewer(scene, "impulse" if ghost else None, port=0)
    session = viewer.session
    try:
        viewer.choose_ghost(ghost)
        for line in lines:
            viewer.choose_lines(line, True)
        window.open(viewer.address)
        session.watched = True
        end = session.run.system.time + 1.4
        window.until(lambda: (session.update(), session.run.system.time), lambda turn: turn[1] > end, 120)
        session.request(viewer.play_or_pause)
        session.update()
        # It is the last moment that is on the page; drawing it takes some time more.
        moved = scene.visuals[0].draw(session.run.frame())[-1]
        if name == "drape":
            window.until(lambda: window.vertices("/scene/0/0/front"), lambda shown: near(shown, moved.vertices))
        else:
            node = f"/scene/0/{len(scene.visuals[0].draw(session.run.frame())) - 1}"
            window.until(lambda: window.place(node)[:3], lambda shown: near(shown, moved.positions[0]), 60)
        window.page.wait_for_timeout(4000)
        assert coloured(window.keep(f"window_{name}")) > 0.005
        window.page.get_by_role("tab", name="Plots").click()
        window.page.wait_for_timeout(2000)
        window.keep(f"window_{name}_plots")
        assert session.error == ""
    finally:
        viewer.stop()


@pytest.mark.parametrize(
    ("name", "layout"), [("drape", None), ("five_link_chain", "ghosts"), ("ragdoll", "side by side")]
)
def test_a_replay_in_a_window(window, name, layout, tmp_path):
    scene = scenes.load(name, **({"count": 40} if name == "drape" else {}))
    solvers = ("impulse", "verlet") if layout else ("verlet",)
    runs = [(solver, scene, scenes.run(scene, solver, duration=1.5)) for solver in solvers]
    replay(runs, tmp_path / "a.html", layout or "ghosts")
    window.open((tmp_path / "a.html").as_uri())
    window.page.keyboard.press("Space")
    clock = window.page.locator("input").first
    clock.fill("1.2")
    clock.press("Enter")
    window.page.wait_for_timeout(3000)
    assert coloured(window.keep(f"replay_{name}")) > 0.005
