"""Who may open the page: a guard before viser's server.

Any page in the user's browser can send requests to this machine, and open websockets. The browser adds the host that
was asked for, and the origin of the page that asks. So the guard accepts hosts by which this machine is known, and the
page's own origin. A page elsewhere whose name is made to lead here (DNS rebinding) has a foreign host.

Where the server listens beyond loopback, other people can reach it. Then the address contains a random token.
"""

import contextlib
import hmac
import http
import ipaddress
import logging
import secrets
import socket
import threading
from dataclasses import replace
from urllib.parse import urlsplit

import viser
from websockets.asyncio import server as websockets_server

# What websockets would print, with a traceback, if someone connects and sends no request, or anything else.
LOGGER = logging.getLogger("verletlab.view")
LOGGER.addHandler(logging.NullHandler())
LOGGER.propagate = False

PORTS = {"http": 80, "https": 443}
PATCHING = threading.Lock()


class Guard:
    """Decides which requests reach viser's server.

    Args:
        host: the address on which the server listens.
        origins: other origins whose pages may connect, such as "https://lab.example:8000", see `origin_of`.

    Attributes: token: the first part of the page's path; empty if the server listens on loopback.

    Raises: ValueError for an origin that is none.
    """

    def __init__(self, host, origins=()):
        self.host = host.lower()
        self.origins = {origin_of(origin) for origin in origins}
        self.token = "" if is_loopback(self.host) else secrets.token_urlsafe(24)

    def refusal(self, request, here):
        """Why a request is refused; an empty text if it is not.

        Args: request: a websockets.http11.Request; here: address and port at which it arrived.
        """
        hosts, origins = request.headers.get_all("Host"), request.headers.get_all("Origin")
        if len(hosts) != 1 or not self.knows(hosts[0], here):
            return f"{' '.join(hosts) or 'no host'} is not this server: open it by --host or by --allow-origin"
        if len(origins) > 1 or not all(self.accepts(origin, hosts[0], here) for origin in origins):
            return f"pages of {' '.join(origins)} may not connect: name them by --allow-origin"
        given = request.path[1:].partition("?")[0].partition("/")[0]
        if self.token and not hmac.compare_digest(given.encode(), self.token.encode()):
            return "the token is missing: open the address that verletlab printed"
        return ""

    def knows(self, host, here):
        """Whether a Host header names this server. Args: host; here: see `refusal`."""
        name, _ = split(f"//{host}")
        own = {self.host, *(urlsplit(origin).hostname for origin in self.origins)}
        if self.token:
            machine = socket.gethostname().lower()
            own |= {here[0].removeprefix("::ffff:"), machine, f"{machine}.local"}
        return name is not None and (is_loopback(name) or name in own)

    def accepts(self, origin, host, here):
        """Whether pages of an origin may connect. Args: origin; host: the Host header; here: see `refusal`."""
        try:
            found = origin_of(origin)
        except ValueError:
            return False
        scheme = found.partition(":")[0]
        name, port = split(found)
        page_itself = (name, port or PORTS[scheme]) == (split(f"//{host}")[0], split(f"//{host}")[1] or PORTS[scheme])
        return page_itself or (is_loopback(name) and port == here[1]) or found in self.origins

    def process(self, handle):
        """Guard the function with which viser handles requests.

        Args: handle: function (connection, request) that returns a response, or None for a websocket.

        Returns: such a function.
        """

        def process_request(connection, request):
            reason = self.refusal(request, connection.local_address)
            if reason:
                return connection.respond(http.HTTPStatus.FORBIDDEN, f"verletlab: {reason}\n")
            if self.token:
                request = replace(request, path="/" + request.path[1 + len(self.token) :].lstrip("/"))
            if request.headers.get("Upgrade", "").lower() == "websocket":
                # viser prints a line for each websocket that is not of its page.
                if f"viser-v{viser.__version__}" not in request.headers.get("Sec-WebSocket-Protocol", ""):
                    return connection.respond(http.HTTPStatus.BAD_REQUEST, "verletlab: not a connection of the page\n")
                return None
            response = handle(connection, request)
            if response is not None:
                allowed = " ".join(["'self'", *sorted(self.origins)])
                response.headers["Content-Security-Policy"] = f"frame-ancestors {allowed}"
            return response

        return process_request


def is_loopback(host):
    """Whether a host is this machine alone. Args: host: a name or an address, without a port."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    return (getattr(address, "ipv4_mapped", None) or address).is_loopback


def split(address):
    """Host name and port of an address; (None, None) if it is malformed. Args: address: such as "//localhost:8080"."""
    try:
        parts = urlsplit(address)
        plain = parts.username is None and not parts.path.strip("/") and not parts.query and not parts.fragment
        return (parts.hostname, parts.port) if parts.hostname and plain else (None, None)
    except ValueError:
        return None, None


def origin_of(text):
    """The origin of a page, as browsers write it. Args: text: such as "http://localhost:8888".

    Raises: ValueError for something else, also for "*" and "null".
    """
    scheme, _, rest = text.strip().lower().partition("://")
    name, port = split(f"//{rest}")
    if scheme not in PORTS or name is None:
        raise ValueError(f"origin {text!r}: expected a scheme and a host, such as http://localhost:8888")
    host = f"[{name}]" if ":" in name else name
    return f"{scheme}://{host}" + (f":{port}" if port not in (None, PORTS[scheme]) else "")


@contextlib.contextmanager
def guarded(guard):
    """Context in which viser's servers are made with a guard. viser 1.1.1 has no option for it.

    Args: guard: a Guard.
    """
    serve = websockets_server.serve

    def serve_guarded(*arguments, process_request, **options):
        return serve(*arguments, process_request=guard.process(process_request), logger=LOGGER, **options)

    with PATCHING:
        websockets_server.serve = serve_guarded
        try:
            yield
        finally:
            websockets_server.serve = serve
