"""The page of the viewer in a browser, used with a mouse.

The tests update the session between questions to the page, so that one thread alone touches the solvers.
"""

import re

import numpy as np
import pytest

pytest.importorskip("viser", reason="no viser: pip install 'verletlab[view]'")

import scenes
from scenes.view.server import Viewer


class Watched:
    """A viewer and its page in a browser. Args: tab."""

    def __init__(self, tab):
        self.tab, self.page = tab, tab.page
        self.viewer = Viewer(scenes.load("hanging"), port=0)
        self.session = self.viewer.session
        tab.open(self.viewer.address)
        self.until(lambda: self.session.watched, bool)

    def until(self, read, holds=bool, **options):
        """Wait for a condition while the session runs. Args, Returns: as for Tab.until."""

        def updated():
            self.session.update()
            return read()

        return self.tab.until(updated, holds, **options)

    def run(self, seconds):
        """Run the scene for some time of its own [s]."""
        end = self.time + seconds
        self.until(lambda: self.time, lambda time: time >= end)

    @property
    def time(self):
        """Time of the scene [s]."""
        return self.session.run.system.time

    @property
    def positions(self):
        """Positions of the particles (n, 3) [m]."""
        return self.session.run.frame().positions

    def press(self, name):
        """Press a button."""
        self.page.get_by_role("button", name=name, exact=True).click()

    def pause(self):
        """Press Pause, and wait until the scene stops."""
        self.press("Pause")
        self.until(lambda: not self.session.playing)

    def play(self):
        """Press Play, and wait until the scene moves."""
        self.until(self.page.get_by_role("button", name="Play", exact=True).is_visible)
        self.press("Play")
        self.run(0.1)

    def control(self, name):
        """The input with a label of the panel."""
        label = self.page.locator("label").filter(has_text=re.compile(f"^{name}$"))
        return self.page.locator(f"[id='{label.get_attribute('for')}']")

    def choose(self, name, value):
        """Choose an option of a menu."""
        self.control(name).click()
        self.page.get_by_role("option", name=value, exact=True).click()

    def drawn(self):
        """Vertices of the cloth on the page (n, 3) [m]."""
        return self.tab.vertices("/scene/0/0/front")


@pytest.fixture(scope="module")
def watched(tab, plain_light, hanging):
    """A Watched that all tests of this file share. Each test leaves it playing."""
    watched = Watched(tab)
    yield watched
    watched.viewer.stop()


def near(expected, tolerance=1e-6):
    """A condition: vertices are equal in single precision."""
    return lambda shown: shown.shape == np.shape(expected) and len(shown) and np.abs(shown - expected).max() < tolerance


def test_page_loads(watched):
    tab, session = watched.tab, watched.session
    assert tab.page.get_by_text("verletlab", exact=True).is_visible()
    watched.run(0.2)
    watched.pause()
    watched.until(watched.drawn, near(watched.positions))
    digest = session.run.particles.digest()
    watched.until(tab.page.get_by_text("state").inner_text, lambda text: digest in text and "paused" in text)
    tab.screenshot("view")
    watched.play()
    # The page requests nothing from other servers.
    assert all(request.removeprefix("blob:").startswith(watched.viewer.address) for request in tab.requests)


def test_pause_step_reset_and_play(watched):
    session, dt = watched.session, watched.session.get("dt")
    watched.run(0.1)
    watched.pause()
    paused = watched.time
    for _ in range(5):
        session.update()
    assert watched.time == paused
    watched.press("Step")
    watched.until(lambda: watched.time > paused)
    assert watched.time == pytest.approx(paused + dt, abs=1e-12)
    watched.until(watched.drawn, near(watched.positions))
    watched.press("Reset")
    watched.until(lambda: watched.time == 0)
    watched.until(watched.drawn, near(session.run.scene.particles.positions()))
    watched.play()


def test_sliders(watched):
    session = watched.session
    # An option of the solver, during the run: four iterations become five.
    watched.control("iterations").get_by_role("slider").press("ArrowRight")
    watched.until(lambda: session.get("iterations") == 5)
    # A parameter of the scene, which restarts: 6 x 6 particles become 7 x 7.
    watched.control("count").get_by_role("slider").press("ArrowRight")
    watched.until(watched.drawn, lambda shown: shown.shape == (49, 3))
    assert len(watched.positions) == 49
    assert session.get("iterations") == 5


def grabbed(watched, particle):
    """Pause, grab a particle of the cloth with the mouse, and play. Returns: its pixel."""
    watched.pause()
    watched.until(watched.drawn, near(watched.positions))
    # A corner is at the rim of the cloth: touch a point a little inside.
    inside = 0.97 * watched.positions[particle] + 0.03 * watched.positions.mean(axis=0)
    x, y = watched.tab.pixel(inside)
    watched.page.mouse.move(x, y)
    watched.tab.wait_frames(20)  # the page looks for the node below the pointer
    watched.page.mouse.down()
    watched.page.mouse.move(x + 4, y)
    watched.until(lambda: len(watched.viewer.grabs.active))
    watched.session.request(watched.viewer.play_or_pause)  # the mouse cannot press the button
    return np.array([x, y])


@pytest.mark.slow
def test_corner_follows_the_mouse(watched):
    watched.run(1.0)
    corner = len(watched.positions) - 1  # the lower right one
    start = grabbed(watched, corner)
    goal = start + (-30, -90)
    for part in np.linspace(0, 1, 6)[1:]:
        watched.page.mouse.move(*(start + part * (goal - start)))
        watched.run(0.05)
    # The corner comes to the mouse, except for the stretch of its spring, 2 % of the size of the cloth under its weight
    # (scenes/view/grabs.py), and for the distance between the corner and the touched point.
    size = np.linalg.norm(np.subtract(watched.tab.pixel((0, 0, 0)), watched.tab.pixel((0, 0, 1))))

    def off():
        return np.linalg.norm(np.subtract(watched.tab.pixel(watched.positions[corner]), goal)) / size

    watched.until(off, lambda off: off < 0.08)
    watched.run(0.5)
    assert off() < 0.08
    watched.until(lambda: watched.tab.vertices("/scene/0/0/front"), lambda shown: len(shown) == len(watched.positions))
    watched.tab.screenshot("view_drag")
    watched.page.mouse.up()
    watched.until(lambda: not watched.viewer.grabs.active)
    watched.run(1.0)
    assert off() > 0.2


@pytest.mark.slow
def test_scene_and_solver_menus(watched):
    session = watched.session
    watched.choose("scene", "dzhanibekov")
    watched.until(lambda: session.run.solver == "impulse")
    watched.run(0.1)
    watched.choose("solver", "articulated")
    watched.until(lambda: session.run.solver == "articulated")
    watched.run(0.1)
    watched.until(watched.page.get_by_text("state").inner_text, lambda text: "articulated on" in text)
    watched.tab.screenshot("view_solver")
    # The page shows the body of that solver.
    watched.pause()
    watched.until(lambda: watched.tab.first_pose("/scene/0/0"), near(session.run.frame().body_poses[0]))
    watched.play()
    assert session.error == ""
    watched.choose("scene", "hanging")
    watched.until(watched.drawn, len)


@pytest.mark.slow
def test_page_closed_during_a_drag(watched):
    watched.run(0.5)
    grabbed(watched, len(watched.positions) - 1)
    watched.page.goto("about:blank")
    watched.until(lambda: not watched.session.watched)
    assert not watched.viewer.grabs.active
    paused = watched.time
    for _ in range(5):
        assert watched.session.update() == 1.0
    assert watched.time == paused
