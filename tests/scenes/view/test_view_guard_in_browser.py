"""The guard of the viewer with Chromium: a page of another server cannot connect, the address with a token works."""

import http.server
import threading

import browser as chromium
import pytest

pytest.importorskip("viser", reason="no viser: pip install 'verletlab[view]'")

import viser

import scenes
from scenes.view.server import Viewer

# Resolves to whether a websocket opens.
CONNECT = """([address, protocol]) => new Promise(done => {
    const socket = new WebSocket(address, protocol);
    socket.onopen = () => done("opened");
    socket.onerror = () => done("refused");
})"""


@pytest.fixture
def stranger():
    """Address of a page of another server."""

    class Empty(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Empty) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def test_page_of_another_server_cannot_connect(browser, stranger):
    viewer = Viewer(scenes.load("pendulum"), port=0)
    given = [f"ws://127.0.0.1:{viewer.port}", f"viser-v{viser.__version__}"]
    try:
        page = browser.new_page()
        page.goto(stranger)
        assert page.evaluate(CONNECT, given) == "refused"
        page.goto("data:text/html,nothing")  # origin "null"
        assert page.evaluate(CONNECT, given) == "refused"
        page.goto(viewer.address, wait_until="commit")
        assert page.evaluate(CONNECT, given) == "opened"
        page.close()
    finally:
        viewer.stop()


def test_page_with_a_token_shows_the_scene(browser, plain_light):
    viewer = Viewer(scenes.load("drape", count=6), host="0.0.0.0", port=0)
    session = viewer.session
    try:
        with chromium.opened(browser, chromium.SMALL) as tab:
            tab.open(viewer.address.replace("0.0.0.0", "127.0.0.1"))

            def digest_is_shown():
                session.update()
                return session.run.system.digest() in tab.page.get_by_text("state").inner_text()

            tab.until(lambda: session.update() is None or session.watched)
            session.playing = False
            session.request(lambda: viewer.panel.show_status(now=True))
            tab.until(digest_is_shown)
    finally:
        viewer.stop()
