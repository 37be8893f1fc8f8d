"""Serving the page: find a free port, start viser's server, open a browser."""

import errno
import os
import socket
import sys
import webbrowser

import viser

from scenes.render.page.quiet_viser import quiet
from scenes.view.guard import LOGGER, Guard, guarded


def free_port(host, port):
    """Find the first free port at or above a given one. Port 0, which means any, stays 0.

    Raises: OSError if the host is not an address of this machine, or if no port is free.
    """
    for candidate in range(port, min(port + 100, 65536)):
        with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((host, candidate))
            except OSError as error:
                if error.errno not in (errno.EADDRINUSE, errno.EACCES):
                    raise OSError(f"cannot serve on {host}: {error.strerror or error}") from None
                continue
            return candidate
    raise OSError(f"no free port from {port} to {port + 99} on {host}")


def serve(host, port, origins=()):
    """Start a viser server. Args: host, port: as `free_port` takes and returns them; origins: see Guard.

    Returns: the server, and the address of its page, with the token if there is one.
    """
    guard = Guard(host, origins)
    with quiet(), guarded(guard):
        server = viser.ViserServer(host, port, label="verletlab", verbose=False)
    # asyncio would print a traceback for each message that is none of the page.
    server._event_loop.set_exception_handler(lambda loop, context: LOGGER.debug("%s", context))
    shown_host = f"[{host}]" if ":" in host else host
    return server, f"http://{shown_host}:{server.get_port()}" + (f"/{guard.token}" if guard.token else "")


def open_browser(address):
    """Open a page in a browser if this machine has a screen."""
    screen = sys.platform in ("win32", "darwin") or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    if screen:
        webbrowser.open(address)
