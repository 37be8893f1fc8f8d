"""Make media/viewer.png: the viewer in a browser without a window, while the mouse drags a cloth by its corner.

This needs chromium, and playwright from `verletlab[dev]`.
"""

import io
import shutil
import time
from pathlib import Path

import numpy as np
from PIL import Image
from playwright.sync_api import sync_playwright

import scenes
from scenes.view.server import Viewer
from scenes.visuals.framing import scene_camera

WIDTH, HEIGHT = 1280, 800
FLAGS = ("--no-sandbox", "--disable-gpu", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader")
COUNT = 48
TIMEOUT = 300.0  # of each wait, because software draws a frame in one to five seconds [s]


def main():
    """Make the picture."""
    viewer = Viewer(scenes.load("drape", count=COUNT), port=0)
    session = viewer.session
    with sync_playwright() as started:
        path = shutil.which("chromium") or shutil.which("google-chrome")
        page = started.chromium.launch(executable_path=path, args=FLAGS).new_page(
            viewport={"width": WIDTH, "height": HEIGHT}
        )

        def run(until):
            end = time.monotonic() + TIMEOUT
            while not until():
                session.update()
                page.wait_for_timeout(5)
                if time.monotonic() > end:
                    raise TimeoutError(f"no progress in {TIMEOUT:g} s; error of the viewer: {session.error!r}")

        def run_for(seconds):
            end = session.run.system.time + seconds
            run(lambda: session.run.system.time > end)

        page.set_default_timeout(1e3 * TIMEOUT)
        page.goto(viewer.address)
        warning = page.get_by_role("alert").filter(has_text="Software WebGL")
        warning.wait_for()
        warning.get_by_role("button").dispatch_event("click")
        run(lambda: session.watched)
        run_for(2.5)
        # A particle near the front corner.
        positions, camera = session.run.particles.positions(), scene_camera(session.run.scene, None)
        near = [COUNT + 1, 2 * COUNT - 2, COUNT * (COUNT - 2) + 1, COUNT * (COUNT - 1) - 2]
        corner = min(near, key=lambda k: np.linalg.norm(positions[k] - camera.position))
        start = camera.project(positions[corner], WIDTH, HEIGHT)
        viewer.play_or_pause()
        session.update()
        page.wait_for_timeout(2000)
        page.mouse.move(*start)
        page.mouse.down()
        for part in np.linspace(0.2, 1.0, 5):
            page.mouse.move(*(start + part * np.array([-120, -250])))
            page.wait_for_timeout(500)
        run(lambda: viewer.grabs.active)
        viewer.play_or_pause()
        run_for(4.0)
        picture = Image.open(io.BytesIO(page.screenshot()))
        picture.convert("RGB").quantize(256).save(Path(__file__).with_name("viewer.png"), optimize=True)
        page.mouse.up()
    viewer.stop()


if __name__ == "__main__":
    main()
