"""The viewer as a person meets it: its page in a browser, with a mouse.

The session's turns are taken here, between the questions to the page, so that one thread touches the solvers.
"""

import re

import numpy as np
import pytest

pytest.importorskip("viser", reason="no viser: pip install 'verletlab[view]'")

import scenes
from scenes.view.server import Viewer


class Watched:
    """A viewer and its page in a browser. Arguments: tab."""

    def __init__(self, tab):
        self.tab, self.page = tab, tab.page
        self.viewer = Viewer(scenes.load("hanging"), port=0)
        self.session = self.viewer.session
        tab.open(self.viewer.address)
        self.until(lambda: self.session.watched, bool)

    def until(self, read, holds=bool, seconds=60):
        """What `read()` gives once that holds, the session taking its turns."""

        def turned():
            self.session.turn()
            return read()

        return self.tab.until(turned, holds, seconds)

    def run(self, seconds):
        """Let the scene run so far [s], by its own time."""
        end = self.time + seconds
        self.until(lambda: self.time, lambda time: time >= end)

    @property
    def time(self):
        """That of the scene [s]."""
        return self.session.running.system.time

    @property
    def positions(self):
        """Those of its particles (n, 3) [m]."""
        return self.session.running.frame().positions

    def press(self, name):
        """Press a button."""
        self.page.get_by_role("button", name=name, exact=True).click()

    def pause(self):
        """Press Pause, until it stands."""
        self.press("Pause")
        self.until(lambda: not self.session.playing)

    def play(self):
        """Press Play, until it moves."""
        self.until(self.page.get_by_role("button", name="Play", exact=True).is_visible)
        self.press("Play")
        self.run(0.1)

    def control(self, name):
        """What stands behind a label of the panel."""
        label = self.page.locator("label").filter(has_text=re.compile(f"^{name}$"))
        return self.page.locator(f"[id='{label.get_attribute('for')}']")

    def choose(self, name, value):
        """Choose something of a menu."""
        self.control(name).click()
        self.page.get_by_role("option", name=value, exact=True).click()

    def drawn(self):
        """Vertices of the cloth on the page (n, 3) [m]."""
        return self.tab.vertices("/scene/0/0/front")


@pytest.fixture(scope="module")
def watched(tab, plain_light, hanging):
    """A Watched that the tests of this file share; each leaves it as it finds it, playing."""
    watched = Watched(tab)
    yield watched
    watched.viewer.stop()


def near(expected, tolerance=1e-6):
    """Whether vertices are there, to single precision."""
    return lambda shown: shown.shape == np.shape(expected) and len(shown) and np.abs(shown - expected).max() < tolerance


def test_the_page_loads(watched):
    tab, session = watched.tab, watched.session
    assert tab.page.get_by_text("verletlab", exact=True).is_visible()
    watched.run(0.2)
    watched.pause()
    watched.until(watched.drawn, near(watched.positions))
    digest = session.running.particles.digest()
    watched.until(tab.page.get_by_text("state").inner_text, lambda said: digest in said and "paused" in said)
    tab.keep("view")
    watched.play()
    # It asks nobody but its own server.
    assert all(request.removeprefix("blob:").startswith(watched.viewer.address) for request in tab.requests)


def test_pause_step_reset_and_play(watched):
    session, dt = watched.session, watched.session.get("dt")
    watched.run(0.1)
    watched.pause()
    held = watched.time
    for _ in range(5):
        session.turn()
    assert watched.time == held
    watched.press("Step")
    watched.until(lambda: watched.time > held)
    assert watched.time == pytest.approx(held + dt, abs=1e-12)
    watched.until(watched.drawn, near(watched.positions))
    watched.press("Reset")
    watched.until(lambda: watched.time == 0)
    watched.until(watched.drawn, near(session.running.scene.particles.positions()))
    watched.play()


def test_a_slider_changes_the_run(watched):
    session = watched.session
    # The step of the solver, while it runs: four sweeps become five.
    watched.control("iterations").get_by_role("slider").press("ArrowRight")
    watched.until(lambda: session.get("iterations") == 5)
    # A parameter of the scene, which is made anew: 6 x 6 particles become 7 x 7.
    watched.control("count").get_by_role("slider").press("ArrowRight")
    watched.until(watched.drawn, lambda shown: shown.shape == (49, 3))
    assert len(watched.positions) == 49
    assert session.get("iterations") == 5


def grabbed(watched, particle):
    """Press the mouse on a particle of the cloth while that stands, so that it is held. Returns: its pixel."""
    watched.pause()
    watched.until(watched.drawn, near(watched.positions))
    # A corner is at the cloth's rim: a little inside, where there is cloth to touch.
    inside = 0.97 * watched.positions[particle] + 0.03 * watched.positions.mean(axis=0)
    x, y = watched.tab.pixel(inside)
    watched.page.mouse.move(x, y)
    watched.page.wait_for_timeout(300)  # for the page to find out what is below
    watched.page.mouse.down()
    watched.page.mouse.move(x + 4, y)
    watched.until(lambda: watched.viewer.grabs.grips)
    watched.session.ask(watched.viewer.play_or_pause)  # the mouse is busy
    return np.array([x, y])


def test_a_corner_of_the_cloth_goes_where_the_mouse_drags_it(watched):
    watched.run(1.0)
    corner = len(watched.positions) - 1  # the lower right one
    start = grabbed(watched, corner)
    goal = start + (-30, -90)
    for part in np.linspace(0, 1, 6)[1:]:
        watched.page.mouse.move(*(start + part * (goal - start)))
        watched.run(0.05)
    # The corner comes to where the mouse is, but for what its spring gives, 2 % of the cloth's size under its weight
    # (scenes/view/grabs.py), and for where the corner was taken.
    size = np.linalg.norm(np.subtract(watched.tab.pixel((0, 0, 0)), watched.tab.pixel((0, 0, 1))))

    def off():
        return np.linalg.norm(np.subtract(watched.tab.pixel(watched.positions[corner]), goal)) / size

    watched.until(off, lambda off: off < 0.08)
    watched.run(0.5)
    assert off() < 0.08
    watched.until(lambda: watched.tab.vertices("/scene/0/0/front"), lambda shown: len(shown) == len(watched.positions))
    watched.tab.keep("view_drag")
    watched.page.mouse.up()
    watched.until(lambda: not watched.viewer.grabs.grips)
    watched.run(1.0)
    assert off() > 0.2


@pytest.mark.slow
def test_another_scene_and_another_solver(watched):
    session = watched.session
    watched.choose("scene", "dzhanibekov")
    watched.until(lambda: session.running.solver == "impulse")
    watched.run(0.1)
    watched.choose("solver", "articulated")
    watched.until(lambda: session.running.solver == "articulated")
    watched.run(0.1)
    watched.until(watched.page.get_by_text("state").inner_text, lambda said: "articulated on" in said)
    watched.tab.keep("view_solver")
    # It is that solver's body, where it is, that the page has now.
    watched.pause()
    watched.until(lambda: watched.tab.place("/scene/0/0"), near(session.running.frame().body_poses[0]))
    watched.play()
    assert session.trouble == ""
    watched.choose("scene", "hanging")
    watched.until(watched.drawn, len)


def test_a_page_that_is_closed_in_the_middle_of_a_drag_lets_go_and_costs_nothing(watched):
    watched.run(0.5)
    grabbed(watched, len(watched.positions) - 1)
    watched.page.goto("about:blank")
    watched.until(lambda: not watched.session.watched)
    assert not watched.viewer.grabs.grips
    held = watched.time
    for _ in range(5):
        assert watched.session.turn() == 1.0
    assert watched.time == held
