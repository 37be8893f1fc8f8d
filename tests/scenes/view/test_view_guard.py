"""Strangers at the viewer's door: other pages, other hosts, port probes, garbage, dropped connections."""

import contextlib
import gc
import re
import socket
import subprocess
import sys
import time
import tracemalloc

import pytest

pytest.importorskip("viser", reason="no viser: pip install 'verletlab[view]'")

import viser
from websockets.datastructures import Headers
from websockets.exceptions import InvalidStatus
from websockets.http11 import Request
from websockets.sync.client import connect

import scenes
from scenes.registry import REGISTRY
from scenes.view.guard import Guard, origin_of
from scenes.view.server import Viewer

PROTOCOL = f"viser-v{viser.__version__}"


@pytest.fixture(scope="module")
def viewer():
    """A viewer on loopback, as the command `view` makes it."""
    viewer = Viewer(scenes.load("pendulum"), port=0)
    yield viewer
    viewer.stop()


@pytest.fixture(scope="module")
def open_viewer():
    """A viewer that listens on all interfaces."""
    viewer = Viewer(scenes.load("pendulum"), host="0.0.0.0", port=0, origins=["https://lab.example"])
    yield viewer
    viewer.stop()


def get(port, path="/", **headers):
    """Request a page. Args: headers: with _ for -. Returns: status, and the first bytes of the answer."""
    headers = {"Host": f"127.0.0.1:{port}", **{name.replace("_", "-"): text for name, text in headers.items()}}
    lines = [f"GET {path} HTTP/1.1", *(f"{name}: {text}" for name, text in headers.items() if text is not None)]
    with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
        connection.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())
        answer = b""
        while len(answer) < 300 and (part := connection.recv(4096)):
            answer += part
    return int(answer.split()[1]), answer


def websocket_status(port, path="/", **options):
    """Status with which a websocket is answered: 101 if it opens."""
    try:
        with connect(f"ws://127.0.0.1:{port}{path}", subprotocols=[PROTOCOL], max_size=None, **options):
            return 101
    except InvalidStatus as refused:
        return refused.response.status_code


def test_page_of_this_server_opens(viewer):
    port = viewer.port
    assert viewer.address == f"http://127.0.0.1:{port}"
    for host in ("127.0.0.1:{}", "localhost:{}", "LOCALHOST:{}", "[::1]:{}", "127.0.0.1", "localhost:9"):
        status, answer = get(port, Host=host.format(port))
        assert status == 200, host
        assert b"frame-ancestors 'self'" in answer
    assert get(port, Origin=f"http://127.0.0.1:{port}")[0] == 200
    for origin in (f"http://127.0.0.1:{port}", f"http://localhost:{port}", None):
        assert websocket_status(port, origin=origin) == 101
    # A tunnel to another port: the page's origin is its own host.
    tunnel = {"Host": "localhost:9000", "Origin": "http://localhost:9000"}
    assert get(port, **tunnel)[0] == 200


@pytest.mark.parametrize("origin", [
    "http://evil.example", "null", "http://127.0.0.1.evil.example", "http://localhost:1", "file://", "",
    "http://evil.example:{port}", "https://127.0.0.1@evil.example:{port}", "chrome-extension://abcdef", "*",
])  # fmt: skip
def test_foreign_origin_is_refused(viewer, origin):
    origin = origin.format(port=viewer.port)
    assert get(viewer.port, Origin=origin)[0] == 403
    assert websocket_status(viewer.port, origin=origin) == 403


@pytest.mark.parametrize("host", [
    "evil.example", "evil.example:{port}", "127.0.0.1.evil.example:{port}", "192.168.1.5:{port}", "0.0.0.0:{port}", "",
    "localhost:port", "user@localhost", "localhost/evil", None,
])  # fmt: skip
def test_foreign_host_is_refused(viewer, host):
    """A name that leads here, as with DNS rebinding: the origin is that of the page itself."""
    host = host and host.format(port=viewer.port)
    assert get(viewer.port, Host=host)[0] == 403
    assert get(viewer.port, Host=host, Origin=f"http://{host}")[0] == 403


def test_refused_websocket_reaches_nothing(viewer):
    before = len(viewer.server.get_clients())
    assert websocket_status(viewer.port, origin="http://evil.example") == 403
    assert websocket_status(viewer.port, additional_headers={"Host": "evil.example"}) == 403
    assert len(viewer.server.get_clients()) == before


def test_token_beyond_loopback(open_viewer):
    port, token = open_viewer.port, open_viewer.address.rpartition("/")[2]
    assert len(token) >= 32
    assert open_viewer.address == f"http://0.0.0.0:{port}/{token}"
    for path in ("/", "/index.html", f"/{token[:-1]}", f"/x{token}", f"/?{token}"):
        assert get(port, path)[0] == 403
        assert websocket_status(port, path) == 403
    for path in (f"/{token}", f"/{token}/", f"/{token}/index.html", f"/{token}?x"):
        assert get(port, path)[0] == 200
    assert get(port, f"/{token}/nothing")[0] == 404
    assert websocket_status(port, f"/{token}") == 101
    # The token does not help a page elsewhere.
    assert get(port, f"/{token}", Host="evil.example")[0] == 403
    assert websocket_status(port, f"/{token}", origin="http://evil.example") == 403
    assert websocket_status(port, f"/{token}", origin="https://lab.example") == 101
    assert get(port, f"/{token}", Host="lab.example", Origin="https://lab.example")[0] == 200
    assert get(port, f"/{token}", Host=f"{socket.gethostname()}:{port}")[0] == 200
    assert Guard("0.0.0.0").token != Guard("0.0.0.0").token


def test_address_at_which_a_request_arrived_is_its_host():
    guard = Guard("0.0.0.0")
    for host, here, refused in (("10.1.2.3:80", "10.1.2.3", False), ("10.1.2.3", "::ffff:10.1.2.3", False),
                                ("10.1.2.4", "10.1.2.3", True)):  # fmt: skip
        request = Request(f"/{guard.token}", Headers({"Host": host}))
        assert bool(guard.refusal(request, (here, 80))) is refused


@pytest.mark.parametrize(
    "text", ["*", "null", "", "lab.example", "ftp://lab.example", "http://", "http://a/b", "http://a:b"]
)
def test_wrong_origins_are_refused(text, command):
    with pytest.raises(ValueError, match="expected a scheme and a host"):
        origin_of(text)
    status, _, errors = command("view", "pendulum", "--allow-origin", text, "--port", 0)
    assert status == 2
    assert errors.count("\n") == 1


def test_page_offers_no_other_files(tmp_path):
    """The page can choose the files of the command line, and no others. A menu accepts any text from the network."""
    mesh, other = tmp_path / "ball.obj", tmp_path / "other.obj"
    for path in (mesh, other):
        path.write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n")
    viewer = Viewer(scenes.load("drape", count=4, collider=str(mesh), units="cm"), port=0)
    try:
        menus = {handle.label: handle.options for handle in viewer.server.gui._gui_input_handle_from_uuid.values()
                 if hasattr(handle, "options")}  # fmt: skip
        assert menus["collider"] == menus["cloth"] == ("", str(mesh))
        assert menus["units"] == ("m", "cm", "mm", "in", "ft")
        kinds = {type(handle) for handle in viewer.server.gui._gui_input_handle_from_uuid.values()}
        assert viser.GuiTextHandle not in kinds
        viewer.set_parameter("collider", "")
        viewer.set_parameter("collider", str(mesh))
        for text in (str(other), "/etc/passwd", "nowhere"):
            with pytest.raises(ValueError, match="expected one of"):
                viewer.set_parameter("collider", text)
        assert viewer.session.run.scene.parameters["collider"] == str(mesh)
        viewer.load("soft_body")
        with pytest.raises(ValueError, match="expected one of"):
            viewer.set_parameter("mesh", str(other))
    finally:
        viewer.stop()


def test_unknown_texts_are_safe():
    """A scene of the user, whose text may name a file."""

    def texts(path: str = "a", other: str | None = None, count: int = 3):
        """Nothing."""

    scenes.register(texts)
    entry = REGISTRY.pop("texts")
    assert entry.choices_of("path") == ("a",)
    assert entry.choices_of("other", {"b"}) == ("", "b")
    assert entry.choices_of("count") is None


GARBAGE = [
    b"", b"\x00" * 1000, b"\xff\xfe" * 50, b"\r\n\r\n", b"GET / HTTP/1.0\r\n\r\n", b"GET\r\n",
    b"\x16\x03\x01\x02\x00\x01",  # a greeting of TLS
    b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", b"POST / HTTP/1.1\r\nHost: localhost\r\n\r\n", b"A" * 100_000,
    b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * 1000 + b"\r\n", b"SSH-2.0-OpenSSH_9.0\r\n",
    b"GET /%00%ff/../../etc/passwd HTTP/1.1\r\nHost: localhost\r\n\r\n",
]  # fmt: skip

SERVING = """
import sys, threading
import scenes
from scenes.view.server import Viewer
viewer = Viewer(scenes.load("pendulum"), port=0)
viewer.session.watched = False
print(viewer.port, flush=True)
sys.stdin.readline()
viewer.stop()
"""


@pytest.mark.slow
def test_probes_and_garbage_print_nothing():
    process = subprocess.Popen(
        [sys.executable, "-X", "dev", "-W", "ignore", "-c", SERVING], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        port = int(process.stdout.readline())
        for garbage in GARBAGE:
            with socket.create_connection(("127.0.0.1", port), timeout=30) as connection, contextlib.suppress(OSError):
                connection.sendall(garbage)
                connection.shutdown(socket.SHUT_WR)
                while connection.recv(4096):
                    pass
        for message in ("text", b"", b"\x00" * 100, b"\x82\xa4type\xa3abc", b"\x81\xa4type\xb0GuiUpdateMessage"):
            with connect(f"ws://127.0.0.1:{port}", subprotocols=[PROTOCOL], max_size=None) as page:
                page.send(message)
                time.sleep(0.05)
        with pytest.raises(InvalidStatus), connect(f"ws://127.0.0.1:{port}"):
            pass
        assert get(port)[0] == 200
        out, errors = process.communicate("\n", timeout=60)
    finally:
        process.kill()
    # asyncio's debug mode, a part of "-X dev", also names each callback that takes 0.1 s on a busy machine.
    errors = [line for line in errors.splitlines() if not re.fullmatch("Executing .* took .* seconds", line)]
    assert (out, errors) == ("", [])
    assert process.returncode == 0


def connected(viewer, count):
    """Connect pages that drop out without a word."""
    for _ in range(count):
        page = connect(f"ws://127.0.0.1:{viewer.port}", subprotocols=[PROTOCOL], max_size=None, compression=None)
        page.recv()
        page.socket.shutdown(socket.SHUT_RDWR)
        page.socket.close()
        page.recv_events_thread.join()


def until_alone(viewer):
    """Wait until the server knows that all pages are gone."""
    end = time.monotonic() + 30
    while viewer.server.get_clients() or viewer.server._websock_server._client_state_from_id:
        assert time.monotonic() < end
        time.sleep(0.01)
    viewer.session.update()
    gc.collect()


@pytest.mark.slow
def test_dropped_connections_leave_nothing():
    """200 connections grow the memory by less than 200 kB, a kilobyte each, when 20 have gone before."""
    viewer = Viewer(scenes.load("pendulum"), port=0)
    try:
        connected(viewer, 20)
        until_alone(viewer)
        tracemalloc.start()
        connected(viewer, 20)
        until_alone(viewer)
        before = tracemalloc.get_traced_memory()[0]
        connected(viewer, 200)
        until_alone(viewer)
        grown = tracemalloc.get_traced_memory()[0] - before
        tracemalloc.stop()
        assert grown < 200e3, f"{grown / 1e3:.0f} kB"
    finally:
        viewer.stop()
