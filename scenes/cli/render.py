"""`verletlab render SCENE --out FILE`: a video, a picture, a page, or a file for other programs."""

import importlib
from pathlib import Path

from scenes.cli import terminal
from scenes.cli.terminal import (
    SCENE,
    WrongCommand,
    add_colours,
    coloured,
    frames_of,
    note_saved,
    progress,
    run_of,
    start,
    usage_errors,
)
from scenes.export import export
from scenes.registry import available, load
from scenes.render.film import ENDINGS, at_rate, draw_frames, renderer_for
from scenes.render.video import check_output
from scenes.scene_files import name_of_scene
from scenes.simulate.recording import Recording
from scenes.simulate.run import Replay


def add(commands, parent):
    """Add the command. Args: commands: subparsers; parent: a parser with the flags of a run."""
    made = commands.add_parser(
        "render", parents=[parent], usage="verletlab render SCENE --out FILE [FLAG ...]",
        help="make a video, a picture or a page of a scene, or a file for Blender and other programs",
    )  # fmt: skip
    made.add_argument("scene", metavar="SCENE", nargs="?", help=SCENE)
    made.add_argument("--out", required=True, metavar="FILE",
                      help=".mp4 or .gif for a video, .png for the last frame, .html for a page; .usdc, .usda or .usdz "
                      "for Blender and others, .glb for web pages; .obj or .ply for the last frame as a mesh, "
                      "DIR/x-%%04d.png or .obj for all frames")  # fmt: skip
    made.add_argument("--recording", metavar="FILE.npz", help="draw a recording of `run --out`, without a new run")
    made.add_argument("--fps", type=float, default=30.0, metavar="N", help="frames per second (%(default)g)")
    made.add_argument("--size", metavar="WxH", help="size of the picture in pixels (1280x720)")
    add_colours(made)
    made.add_argument("--no-labels", action="store_true", help="do not draw scene, solver and time in the corner")
    made.set_defaults(command=render_scene)


def render_scene(given):
    """Make a video, a picture, a page, or a file for other programs of a scene."""
    size = size_of(given.size or "1280x720")
    if not given.scene and not given.recording:
        raise WrongCommand("no scene: expected its name, or --recording (see `verletlab render --help`)")
    suffix = Path(given.out).suffix.lower()
    kind = "a page" if suffix == ".html" else "not a picture" if suffix in export.ENDINGS else ""
    for flag in ("size", "no_labels"):
        if kind and getattr(given, flag):
            raise WrongCommand(f"--{flag.replace('_', '-')} cannot be used with {given.out}, which is {kind}")
    with usage_errors():
        if suffix in export.ENDINGS:
            export.check_path(given.out)
        else:
            check_output(given.out, (*ENDINGS, *export.ENDINGS))
        draw = drawing_of(suffix)
        source = at_rate(replay_of(given) if given.recording else run_of(given), given.out, given.fps)
        renderer = None if kind else renderer_for(source.scene, *size)
    try:
        with progress(given, f"render {source.scene.name}") as update:
            made = draw(source, given, renderer, update)
    except (KeyboardInterrupt, Exception) as stop:
        note_saved(stop, given.out, getattr(stop, "frames", 0))
        raise
    if not given.quiet:
        terminal.out.print(f"{given.out}: {made}", highlight=False, soft_wrap=True)


def drawing_of(suffix):
    """Choose the function that writes a file: (source, given, renderer, update) -> what it has made, as text.

    Args: suffix: of the file.

    Raises: ModuleNotFoundError if it needs a library that is not installed.
    """
    if suffix in export.ENDINGS:
        return write_export
    if suffix != ".html":
        return write_film
    importlib.import_module("scenes.render.page.replay")  # needs viser
    return write_page


def write_film(source, given, renderer, update):
    """Write a video or a picture."""
    frames = draw_frames(source, given.out, renderer, not given.no_labels, *labelled(source, update))
    return f"{frames_of(frames)} of {renderer.width} x {renderer.height}"


def labelled(source, update):
    """Two functions that show progress: of drawing, and of the run before it. Args: source; update: see `progress`."""
    return [
        lambda number, count, what=what: update(number, count, f"{what} {source.scene.name}")
        for what in ("render", "run")
    ]


def write_page(source, given, _renderer, update):
    """Write a page that replays the run."""
    write = importlib.import_module("scenes.render.page.replay").write
    drawing, running = labelled(source, update)
    size = write({source.solver: source}, given.out, progress=drawing, running=running)
    return f"{frames_of(source.count)}, {size / 1e6:.1f} MB"


def write_export(source, given, _renderer, update):
    """Write a file for other programs."""
    frames = export.write_frames(source, given.out, update)
    size = f", {Path(given.out).stat().st_size / 1e6:.1f} MB" if Path(given.out).exists() else ""  # none of a sequence
    return f"{frames_of(frames)}{size}"


def replay_of(given):
    """Make the Replay of the command line; the recording names the scene and its parameters."""
    for flag in ("solver", "duration", "dt", "param", "option"):
        if getattr(given, flag) not in (None, []):
            raise WrongCommand(f"--{flag} cannot be used with --recording, which runs nothing")
    recording = Recording.load(given.recording)
    name = recording.about["scene"]
    start(given)
    if given.scene is not None and name_of_scene(given.scene) != name:
        raise WrongCommand(f"--recording {given.recording} is of scene {name!r}, not of {given.scene!r}")
    if name not in available():  # a recording may be a stranger's, so the file of its scene is not run unasked
        raise WrongCommand(f"--recording {given.recording} is of scene {name!r}: expected FILE.py:{name} before it")
    return Replay(coloured(load(name, **recording.about["parameters"]), given), recording, given.fps)


def size_of(text):
    """Read width and height from WxH. Raises: WrongCommand."""
    try:
        width, height = (int(part) for part in text.lower().split("x"))
    except ValueError:
        raise WrongCommand(f"--size {text}: expected WIDTHxHEIGHT, such as 1280x720") from None
    return width, height
