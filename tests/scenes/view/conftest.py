"""A browser without a window, for what the viewer and replays show.

It draws in software, one to ten frames a second: tests ask what arrives and what reacts, never how smoothly. The
screenshots that they keep, in build/screenshots, are there to be looked at.
"""

import contextlib
import math
import shutil
import time
from pathlib import Path

import numpy as np
import pytest

import pbd
import scenes
from pbd.build import cloth
from scenes.registry import REGISTRY
from scenes.visuals import Camera

SCREENSHOTS = Path(__file__).parents[3] / "build" / "screenshots"
NAMES = ("chromium", "chromium-browser", "google-chrome")
SIZE, WINDOW = ({"width": width, "height": 9 * width // 16} for width in (800, 1280))  # of pages [pixels]

# A sandbox of its own root has not; the network is none of its business; WebGL by the processor.
FLAGS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--use-gl=angle", "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
)  # fmt: skip


@pytest.fixture(scope="module")
def hanging():
    """The name of one more scene: a cloth that hangs from its upper corners, of the kernels that a `drape` has."""

    def hanging(count: int = 6, sway: float = 0.0):
        """A cloth hangs from two of its corners, which may sway."""
        particles = pbd.Particles()
        particles.add_collider(pbd.Plane(), friction=0.6)
        particles.add_collider(pbd.Sphere(0.5, centre=(0, 0, -1)), friction=0.25)  # out of sight and reach
        cloth(
            particles, (-0.5, 0, 1.2), (1, 0, 0), (0, 0, -1), (count, count), shear_compliance=1e-2, bending=1e-4,
            thickness=0.016, friction=0.3, pins=("left_top", "right_top"),
        )  # fmt: skip
        if sway:
            corners = particles.positions()[[0, count - 1]].copy()
            particles.add_path([0, count - 1], lambda time: corners + (0, sway * math.sin(5 * time), 0))
        settings = {"verlet": {"dt": 1 / 60, "substeps": 4, "iterations": 4, "damping": 0.02}}
        return scenes.Scene(particles, settings=settings, camera=Camera((0.8, -4, 1), (0.8, 0, 0.7)))

    scenes.register(hanging)
    yield "hanging"
    del REGISTRY["hanging"]


@pytest.fixture(scope="session")
def browser():
    """Chromium through playwright, with a profile of its own that is gone afterwards; skips where there is none."""
    playwright = pytest.importorskip("playwright.sync_api", reason="no playwright: pip install 'verletlab[dev]'")
    pytest.importorskip("viser", reason="no viser: pip install 'verletlab[view]'")
    path = next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        pytest.skip(f"no Chromium on this machine: none of {', '.join(NAMES)} is on the PATH")
    with playwright.sync_playwright() as started:
        try:
            chromium = started.chromium.launch(executable_path=path, args=FLAGS)
        except playwright.Error as error:
            pytest.skip(f"no Chromium on this machine: {path} does not start: {str(error).splitlines()[0]}")
        yield chromium
        chromium.close()


class Tab:
    """A page, what it asked for over the network, and what went wrong in it. Arguments: browser; its size [pixels].

    Attributes: page, playwright's; requests: addresses; errors: uncaught ones, and those written to its console.
    """

    def __init__(self, browser, size):
        self.page = browser.new_page(viewport=size)
        self.page.set_default_timeout(120_000)  # [ms]; a busy machine draws in no hurry
        self.requests, self.errors = [], []
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("console", lambda said: self.complain(said.text) if said.type == "error" else None)

    def complain(self, text):
        """Note what the page complains of, but for what viser does at each drag."""
        if "Unable to preventDefault inside passive event listener" not in text:
            self.errors.append(text)

    def open(self, address):
        """Load an address, and wait until something is drawn."""
        self.page.goto(address)
        self.page.wait_for_selector("canvas")
        warning = self.page.get_by_role("alert").filter(has_text="Software WebGL")
        warning.wait_for()
        warning.get_by_role("button").click()  # it would stand in the picture
        warning.wait_for(state="hidden")

    def vertices(self, node):
        """Where the page has the vertices of a mesh (n, 3), in the frame of its node [m]."""
        held = """name => {
            const found = [];
            const node = __viserMutable.nodeRefFromName[name];
            if (node) node.traverse(each => each.geometry && found.push(each.geometry.attributes.position.array));
            return found.length ? Array.from(found[0]) : [];
        }"""
        return np.reshape(self.page.evaluate(held, node), (-1, 3))

    def place(self, node):
        """Where the page has the first of many alike: its position and rotation (7,); empty where there is none."""
        held = """name => {
            const node = __viserSceneTree.getState()[name];
            const { batched_positions: positions, batched_wxyzs: rotations } = node?.message.props ?? {};
            return positions ? [...positions.slice(0, 3), ...rotations.slice(0, 4)] : [];
        }"""
        return np.array(self.page.evaluate(held, node))

    def pixel(self, point):
        """Where on the page a point (3,) [m] is: from the left and from the top."""
        projected = """point => {
            const { camera, canvas, nodeRefFromName } = __viserMutable;
            const place = camera.position.clone().set(...point);
            place.applyMatrix4(nodeRefFromName[""].matrixWorld).project(camera);
            const frame = canvas.getBoundingClientRect();
            return [frame.left + (1 + place.x) / 2 * frame.width, frame.top + (1 - place.y) / 2 * frame.height];
        }"""
        return self.page.evaluate(projected, [float(x) for x in point])

    def until(self, read, holds, seconds=10):
        """What `read()` gives once that holds; fails where it does not in time. Drawing in software takes its time."""
        end = time.monotonic() + seconds
        while not holds(value := read()):
            assert time.monotonic() < end, f"after {seconds} s it still is {value}"
            self.page.wait_for_timeout(50)
        return value

    def keep(self, name):
        """Save what it shows as build/screenshots/NAME.png. Returns: the picture's bytes."""
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        return self.page.screenshot(path=SCREENSHOTS / f"{name}.png")


@pytest.fixture(scope="module")
def plain_light():
    """Pages are lit by lamps alone: software takes six seconds to prepare the light of surroundings that viser has."""
    import viser

    lamps = viser.SceneApi.configure_default_lights

    def configure(scene, *arguments, **options):
        scene.configure_environment_map(None)
        scene.add_light_ambient("/ambient", intensity=1.5)
        lamps(scene, *arguments, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(viser.SceneApi, "configure_default_lights", configure)
        yield


@contextlib.contextmanager
def opened(browser, size):
    """A Tab, in which nothing may have gone wrong in the end."""
    tab = Tab(browser, size)
    yield tab
    tab.page.close()
    assert tab.errors == []


@pytest.fixture(scope="module")
def tab(browser):
    """A Tab that the tests of a file share."""
    with opened(browser, SIZE) as tab:
        yield tab


@pytest.fixture
def window(browser):
    """A Tab of the size of a person's window."""
    with opened(browser, WINDOW) as tab:
        yield tab
