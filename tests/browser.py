"""A browser without a window, for tests of the viewer and of replays.

It draws in software, one to ten frames per second. Tests ask what arrives and what reacts, never how fast: they count
the frames of the page instead of seconds. Screenshots are kept in build/screenshots for people to look at.
"""

import contextlib
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

# A value that has not changed for so many frames of the page will not change any more.
PATIENCE = 1000
NEXT_FRAME = "() => new Promise(resolve => requestAnimationFrame(() => resolve()))"
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
        self.page.set_default_timeout(0)  # a busy machine is slow
        self.requests, self.errors = [], []
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("console", lambda message: self.add_error(message.text) if message.type == "error" else None)

    def add_error(self, text):
        """Store an error of the console, but not the one that viser causes at each drag."""
        if "Unable to preventDefault inside passive event listener" not in text:
            self.errors.append(text)

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
        return np.reshape(self.page.evaluate(VERTICES, node), (-1, 3))

    def first_pose(self, node):
        """Position and rotation (7,) of the first instance of a node; empty if there is none."""
        return np.array(self.page.evaluate(FIRST_POSE, node))

    def pixel(self, point):
        """Position of a point (3,) [m] on the page: from the left and from the top [pixels]."""
        return self.page.evaluate(PIXEL, [float(x) for x in point])

    def wait_frames(self, count=1):
        """Wait until the page has made some frames."""
        for _ in range(count):
            self.page.evaluate(NEXT_FRAME)

    def until(self, read, holds=bool, patience=PATIENCE):
        """Wait for a condition, as long as there is progress.

        Args: read: function that returns a value; holds: the condition on the value; patience: how many frames of the
        page the value may stay unchanged.

        Returns: the value for which the condition holds.
        """
        before, unchanged = None, 0
        while not holds(value := read()):
            unchanged = unchanged + 1 if np.array_equal(value, before) else 0
            if unchanged > patience:
                shown = np.array2string(np.asarray(value), threshold=9)
                raise AssertionError(f"unchanged for {patience} frames of the page: {shown}")
            before = value
            self.wait_frames()
        return value

    def until_still(self, read, frames=10):
        """Wait until a value stays the same for some frames. Returns: the value."""
        before, unchanged = None, 0
        while unchanged < frames:
            value = read()
            unchanged = unchanged + 1 if np.array_equal(value, before) else 0
            before = value
            self.wait_frames()
        return value

    def screenshot(self, name):
        """Save a screenshot as build/screenshots/NAME.png when the picture stands still. Returns: its bytes."""
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        picture = self.until_still(self.page.screenshot, 3)
        (SCREENSHOTS / f"{name}.png").write_bytes(picture)
        return picture


@contextlib.contextmanager
def opened(browser, size):
    """A Tab that must have no errors at the end. Args: browser; size [pixels]."""
    tab = Tab(browser, size)
    yield tab
    tab.page.close()
    assert tab.errors == []
