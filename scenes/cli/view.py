"""`verletlab view SCENE`: run a scene live in a browser."""

import contextlib

from pbd.core.kernels import on_cpu, settings
from scenes.cli import terminal
from scenes.cli.terminal import SCENE, WrongCommand, add_colours, options_of, scene_of, usage_errors


def add(commands, parent):
    """Add the command. Args: commands: subparsers; parent: a parser with the flags of a run."""
    made = commands.add_parser(
        "view", parents=[parent], usage="verletlab view SCENE [FLAG ...]",
        help="run a scene live in a browser, where the mouse grabs things",
    )  # fmt: skip
    made.add_argument("scene", metavar="SCENE", help=SCENE)
    made.add_argument("--host", default="127.0.0.1", metavar="ADDRESS",
                      help="address that serves the page; 0.0.0.0 for other machines too, with a token in the "
                      "address of the page (%(default)s)")  # fmt: skip
    made.add_argument("--port", type=int, default=8080, metavar="N", help="first port to try (%(default)s)")
    made.add_argument("--allow-origin", action="append", default=[], metavar="URL",
                      help="another page that may connect, such as a proxy's: https://lab.example (none)")
    made.add_argument("--no-browser", action="store_true", help="print the address, do not open a browser")
    add_colours(made)
    made.set_defaults(command=view_scene)


def view_scene(given):
    """Show a scene in a browser until Ctrl-C."""
    if given.duration is not None:
        raise WrongCommand("--duration cannot be used with view, which runs until Ctrl-C")
    if not 0 <= given.port < 65536:
        raise WrongCommand(f"--port {given.port}: expected a number from 0 (any free port) to 65535")
    try:
        from scenes.view.server import Viewer
        from scenes.view.serving import open_browser
    except ModuleNotFoundError as error:
        if error.name != "viser":
            raise
        raise WrongCommand("the viewer needs viser: pip install 'verletlab[view]'") from None
    with usage_errors():
        scene = scene_of(given)
        settings.AGAIN = False  # the picture would stop meanwhile
        note = "no GPU found" if given.device == "gpu" and on_cpu() else ""
        options = options_of(given, scene)
        viewer = Viewer(scene, given.solver, given.dt, options, given.host, given.port, note, given.allow_origin)
    with contextlib.suppress(KeyboardInterrupt):
        if given.port not in (0, viewer.port):
            terminal.errors.print(f"verletlab: port {given.port} is taken, serving on {viewer.port}", highlight=False)
        if not given.quiet or viewer.address.count("/") > 2:  # nobody can guess the token
            message = f"{scene.name} on {viewer.address}   (Ctrl-C stops it)"
            terminal.out.print(message, highlight=False, soft_wrap=True)
        if not given.no_browser:
            open_browser(viewer.address)
        viewer.run()
    viewer.stop()
