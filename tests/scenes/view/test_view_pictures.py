"""Screenshots of the viewer and of replays for people to look at, in the size of an ordinary window.

They are slow, because the processor draws them. The tests check only that the scene is visible.
"""

import io
import time

import imageio.v3 as imageio
import numpy as np
import pytest

pytest.importorskip("viser", reason="no viser: pip install 'verletlab[view]'")

import scenes
from scenes.render.page.replay import replay
from scenes.view.server import Viewer

pytestmark = pytest.mark.slow

PANEL = 340  # width of the panel at the right [pixels]


def coloured(picture):
    """The coloured part of a picture without the panel. Scenes are coloured, floor and sky are grey."""
    image = imageio.imread(io.BytesIO(picture))[:, :-PANEL, :3].astype(int)
    return np.mean(image.max(axis=2) - image.min(axis=2) > 40)


def run(session, seconds):
    """Run a scene for some time of its own [s]. The page shows what it can."""
    end = session.run.system.time + seconds
    while session.run.system.time < end:
        time.sleep(session.update())  # the thread of the server runs meanwhile
        assert session.watched, "the page is closed"
        assert not session.error


def near(shown, expected):
    """Whether vertices or positions are equal in single precision."""
    return shown.shape == expected.shape and np.abs(shown - expected).max() < 1e-5


@pytest.mark.parametrize(
    ("name", "ghost", "lines"),
    [("drape", None, ()), ("ragdoll", "verlet", ("joints", "contacts")), ("scout_robot", None, ("limits",))],
)
def test_scene_in_the_viewer(window, name, ghost, lines):
    scene = scenes.load(name, **({"count": 40} if name == "drape" else {}))
    viewer = Viewer(scene, "impulse" if ghost else None, port=0)
    session = viewer.session
    try:
        viewer.choose_ghost(ghost)
        for line in lines:
            viewer.choose_lines(line, True)
        window.open(viewer.address)
        session.watched = True
        run(session, 1.4)
        session.request(viewer.play_or_pause)
        session.update()
        # Wait until the page shows the last step.
        moved = scene.visuals[0].draw(session.run.frame())[-1]
        if name == "drape":
            window.until(lambda: window.vertices("/scene/0/0/front"), lambda shown: near(shown, moved.vertices))
        else:
            node = f"/scene/0/{len(scene.visuals[0].draw(session.run.frame())) - 1}"
            window.until(lambda: window.first_pose(node)[:3], lambda shown: near(shown, moved.positions[0]))
        assert coloured(window.screenshot(f"window_{name}")) > 0.005
        window.page.get_by_role("tab", name="Plots").click()
        window.screenshot(f"window_{name}_plots")
        assert session.error == ""
    finally:
        viewer.stop()


@pytest.mark.parametrize(
    ("name", "layout"), [("drape", None), ("five_link_chain", "ghosts"), ("ragdoll", "side by side")]
)
def test_replay_in_a_window(window, name, layout, tmp_path):
    scene = scenes.load(name, **({"count": 40} if name == "drape" else {}))
    solvers = ("impulse", "verlet") if layout else ("verlet",)
    runs = [(solver, scene, scenes.run(scene, solver, duration=1.5)) for solver in solvers]
    replay(runs, tmp_path / "a.html", layout or "ghosts")
    window.open((tmp_path / "a.html").as_uri())
    window.page.keyboard.press("Space")
    clock = window.page.locator("input").first
    clock.fill("1.2")
    clock.press("Enter")
    assert coloured(window.screenshot(f"replay_{name}")) > 0.005
