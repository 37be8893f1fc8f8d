"""Where the page is served: a port that is free, a server that is silent, a browser that opens it."""

import errno
import os
import socket
import sys
import webbrowser

import viser

from scenes.render.page.quiet import quiet


def free_port(host, port):
    """The first port from this one on that nobody has; 0, for any, stays 0.

    Errors: OSError where the host is not one of this machine's, or there is no such port.
    """
    for each in range(port, min(port + 100, 65536)):
        with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((host, each))
            except OSError as error:
                if error.errno not in (errno.EADDRINUSE, errno.EACCES):
                    raise OSError(f"cannot serve on {host}: {error.strerror or error}") from None
                continue
            return each
    raise OSError(f"no free port from {port} to {port + 99} on {host}")


def serve(host, port):
    """A viser server, silent, and the address of its page."""
    with quiet():
        server = viser.ViserServer(host, port, label="verletlab", verbose=False)
    shown = f"[{host}]" if ":" in host else host
    return server, f"http://{shown}:{server.get_port()}"


def open_browser(address):
    """Open a page where there is a screen to see it on. Arguments: address."""
    screen = sys.platform in ("win32", "darwin") or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    if screen:
        webbrowser.open(address)
