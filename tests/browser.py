"""A browser without a window, for tests of the viewer and of replays.

It draws in software, one to ten frames per second. Tests check what arrives and what reacts, never how fast: they wait
as long as the page makes progress. Screenshots are saved in build/screenshots for people to look at.
"""

import contextlib
import time
from pathlib import Path

import numpy as np

SCREENSHOTS = Path(__file__).parents[1] / "build" / "screenshots"
NAMES = ("chromium", "chromium-browser", "google-chrome")
# Sizes of pages [pixels].
SMALL, LARGE = ({"width": width, "height": 9 * width // 16} for width in (800, 1280))

# Root has no sandbox, no network is needed, and the processor draws WebGL.
FLAGS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--use-gl=angle", "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
)  # fmt: skip

# A page that does not answer one question for this time hangs [s]. A frame takes some seconds on a busy machine.
TIMEOUT = 180.0
# A value will not change any more if it is unchanged for so many frames of the page, and for this time [s].
UNCHANGED_FRAMES, UNCHANGED_TIME = 100, 30.0
# A value that must come to rest may change for so many frames of the page.
CHANGING_FRAMES = 300
NEXT_FRAME = "() => new Promise(resolve => requestAnimationFrame(() => resolve(true)))"
VERTICES = """name => {
    const found = [];
    const node = __viserMutable.nodeRefFromName[name];
    if (node) node.traverse(each => each.geometry && found.push(each.geometry.attributes.position.array));
    return found.length ? Array.from(found[0]) : [];
}"""
FIRST_POSE = """name => {
    const node = __viserSceneTree.getState()[name];
    const { batched_positions: positions, batched_wxyzs: rotations } = node?.message.props ?? {};
    return positions ? [...positions.slice(0, 3), ...rotations.slice(0, 4)] : [];
}"""
PIXEL = """point => {
    const { camera, canvas, nodeRefFromName } = __viserMutable;
    const place = camera.position.clone().set(...point);
    place.applyMatrix4(nodeRefFromName[""].matrixWorld).project(camera);
    const frame = canvas.getBoundingClientRect();
    return [frame.left + (1 + place.x) / 2 * frame.width, frame.top + (1 - place.y) / 2 * frame.height];
}"""


class Tab:
    """A page of a browser. Args: browser; size of the page [pixels].

    Attributes: page: of playwright; requests: addresses that the page requested; errors: uncaught errors, and errors
    in the console.
    """

    def __init__(self, browser, size):
        self.page = browser.new_page(viewport=size)
        self.page.set_default_timeout(1e3 * TIMEOUT)
        self.requests, self.errors = [], []
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("console", lambda message: self.add_error(message.text) if message.type == "error" else None)

    def add_error(self, text):
        """Store an error of the console, but not the one that viser causes at each drag."""
        if "Unable to preventDefault inside passive event listener" not in text:
            self.errors.append(text)

    def evaluate(self, expression, argument=None):
        """Evaluate JavaScript on the page. Args: expression: a function; argument: of the function.

        Returns: the result, which must be true or an object.

        Raises: AssertionError if the page does not answer. (`page.evaluate` would wait for ever.)
        """
        from playwright.sync_api import TimeoutError as NoAnswer

        try:
            return self.page.wait_for_function(expression, arg=argument).json_value()
        except NoAnswer:
            raise AssertionError(f"no answer from {self.page.url} in {TIMEOUT:g} s: {expression}") from None

    def open(self, address):
        """Load an address, and wait until something is drawn."""
        self.page.goto(address)
        self.page.wait_for_selector("canvas")
        warning = self.page.get_by_role("alert").filter(has_text="Software WebGL")
        warning.wait_for()
        warning.get_by_role("button").click()  # it would cover the picture
        warning.wait_for(state="hidden")

    def vertices(self, node):
        """Vertices of a mesh on the page (n, 3), in the frame of its node [m]."""
        return np.reshape(self.evaluate(VERTICES, node), (-1, 3))

    def first_pose(self, node):
        """Position and rotation (7,) of the first instance of a node; empty if there is none."""
        return np.array(self.evaluate(FIRST_POSE, node))

    def pixel(self, point):
        """Position of a point (3,) [m] on the page: from the left and from the top [pixels]."""
        return self.evaluate(PIXEL, [float(x) for x in point])

    def wait_frames(self, count=1):
        """Wait until the page has made some frames."""
        for _ in range(count):
            self.evaluate(NEXT_FRAME)

    def until(self, read, holds=bool):
        """Wait for a condition, as long as there is progress.

        Args: read: function that returns a value; holds: the condition on the value.

        Returns: the value for which the condition holds.

        Raises: AssertionError if the value does not change any more.
        """
        before, unchanged, since = None, 0, time.monotonic()
        while not holds(value := read()):
            unchanged += 1
            if not np.array_equal(value, before):
                before, unchanged, since = value, 0, time.monotonic()
            elapsed = time.monotonic() - since
            if unchanged > UNCHANGED_FRAMES and elapsed > UNCHANGED_TIME:
                shown = np.array2string(np.asarray(value), threshold=9)
                raise AssertionError(f"unchanged for {unchanged} frames of the page, {elapsed:.0f} s: {shown}")
            self.wait_frames()
        return value

    def until_still(self, read, frames=10):
        """Wait until a value stays the same for some frames. Returns: the value.

        Raises: AssertionError if it still changes after CHANGING_FRAMES.
        """
        before, unchanged = None, 0
        for _ in range(CHANGING_FRAMES):
            value = read()
            unchanged = unchanged + 1 if np.array_equal(value, before) else 0
            if unchanged == frames:
                return value
            before = value
            self.wait_frames()
        raise AssertionError(f"still changing after {CHANGING_FRAMES} frames of the page")

    def screenshot(self, name):
        """Save a screenshot as build/screenshots/NAME.png when two in a row are equal. Returns: its bytes."""
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        picture = self.until_still(self.page.screenshot, 1)
        (SCREENSHOTS / f"{name}.png").write_bytes(picture)
        return picture


@contextlib.contextmanager
def opened(browser, size):
    """A Tab that must have no errors at the end. Args: browser; size [pixels]."""
    tab = Tab(browser, size)
    yield tab
    tab.page.close()
    assert tab.errors == []
