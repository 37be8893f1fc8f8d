"""Replays: runs of a scene as one HTML file with a timeline. A browser opens it without a server or a network."""

import copy
import heapq
import html
import itertools
import math
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import viser

from pbd.core.files import replacing
from pbd.core.validate import one_of
from scenes.render.comparison_film import LAYOUTS, labelled_recordings
from scenes.render.film import recorded
from scenes.render.ghosts import moving_surfaces, static_surfaces, tinted
from scenes.render.page.drawing import Drawing, set_camera, set_stage
from scenes.render.page.quiet_viser import quiet
from scenes.render.video import TooLong, check_output
from scenes.simulate.interrupts import interrupts_deferred
from scenes.simulate.run import Replay
from scenes.visuals import FollowingCamera, Surface
from scenes.visuals.framing import MARGIN, MovingCamera, needs_run, run_camera

# Largest size of all frames before compression [bytes]. This process holds them while it writes the file, a browser
# while it plays it. The file is one string, and Chromium limits strings to 2^29 characters.
LIMIT = 384 * 2**20

# Positions are rounded to this part of the picture height, a fifteenth of a pixel, so that they compress better.
RESOLUTION = 2.0**-14

# Scenes side by side get a square each, as high as the picture. The picture shows so many of them across.
SQUARES_ACROSS = 1.6
GHOST_OPACITY = 0.5

LEGEND = (
    '<div style="position:fixed;top:12px;left:12px;z-index:1;pointer-events:none;padding:6px 10px;border-radius:4px;'
    'background:rgba(255,255,255,0.85);color:#222;font:13px/1.5 sans-serif"><b>{title}</b>{rows}</div>'
)
ROW = "<div>{box}{text}</div>"
BOX = '<span style="background:{colour};display:inline-block;width:0.8em;height:0.8em;margin-right:0.5em"></span>'


def replay(comparison, path, layout="ghosts", fps=30.0, progress=None):
    """Write several recordings of one scene as one replay.

    A recording that ends before the others keeps its last frame. The legend says when it ended.

    Args:
        comparison: a scenes.Comparison, or a list of (label, scene, Recording) with different labels.
        path: of an .html file.
        layout, progress: as for `write`.
        fps: frames per second [1/s], rounded so that frames are recorded ones.

    Returns: size of the file [bytes].

    Raises: the errors of `write` and `film_comparison`.
    """
    recordings = labelled_recordings(comparison)
    sources = {each.label: Replay(each.scene, each.recording, fps) for each in recordings}
    for each in recordings:
        source = sources[each.label]
        source.chosen = [*(k for k in source.chosen if k < each.last), each.last]
        source.count = len(source.chosen)
    colours = {each.label: each.colour for each in recordings} if len(recordings) > 1 else {}
    notes = {each.label: each.end_note(len(each.recording) - 1) for each in recordings}
    return write(sources, path, layout, colours, notes, progress)


def write(sources, path, layout="ghosts", colours=None, notes=None, progress=None, running=None):
    """Write runs of a scene as one replay, while they run, or after it if the scene has no camera: see `film`.

    Args:
        sources: {label: Run or Replay}, one or several of one scene.
        path: of an .html file.
        layout: of several: "side by side", or "ghosts", all in one place, moving surfaces in the colour of their run,
            and all but the first translucent.
        colours: {label: "#rrggbb"} of several.
        notes: {label: remark in the legend}.
        progress: called with the number of each frame, from 1, and the number of frames.
        running: called likewise while a run is recorded.

    Returns: size of the file [bytes].

    Raises: an OSError or ValueError before anything runs if `path` cannot be written. TooLong after the second frame if
        the replay would exceed LIMIT. KeyboardInterrupt, pbd.Diverged and others after a file of the frames until then
        is written; their attribute `frames` is the number of these frames.
    """
    check_output(path, (".html",))
    one_of("layout", layout, LAYOUTS)
    server = stopped_server()
    serializer, stage = server.get_scene_serializer(), None
    number, time, first_size = 0, 0.0, 0
    try:
        whole = {label: recorded(source, running) for label, source in sources.items()}
        sources = {label: source for label, (source, _) in whole.items()}
        first, count = next(iter(sources.values())), sum(source.count for source in sources.values())
        if needs_run(first.scene):
            check_first_frames(sources, count)
        camera = run_camera(first.scene, first.frames, margin=MARGIN)
        for label, frame in frames_in_order(sources):
            with interrupts_deferred():
                stage = stage or Stage(server, sources, layout, colours or {}, frame, camera)
                serializer.insert_sleep(frame.time - time)
                stage.show(label, frame)
                number, time = number + 1, frame.time
            if number == len(sources):
                first_size = size_of(serializer)
            elif number == 2 * len(sources):
                refuse_large_page(first_size, size_of(serializer) - first_size, count / len(sources))
            if progress:
                progress(number, count)
        for _, stopped in whole.values():
            if stopped is not None:
                raise stopped
    except TooLong:
        raise
    except (KeyboardInterrupt, Exception) as stop:
        if number:
            save(serializer, stage.title, stage.legend(notes or {}), path)
        stop.frames = number
        raise
    serializer.insert_sleep(1 / float(max(source.fps for source in sources.values())))
    return save(serializer, stage.title, stage.legend(notes or {}), path)


def frames_in_order(sources):
    """Iterate over (label, Frame) of all sources, by time. Args: sources: {label: Run or Replay}."""
    return heapq.merge(*map(labelled_frames, sources.items()), key=lambda each: each[1].time)


def check_first_frames(sources, count):
    """Raise TooLong for a replay that is too large, before the camera looks at all frames.

    Args: sources: {label: Replay}; count of all frames.
    """
    size = 0
    for source in sources.values():
        frames = itertools.islice(source.frames(), 2)
        drawn = [[each for visual in source.scene.visuals for each in visual.draw(frame)] for frame in frames]
        size += sum(map(sent_size, *drawn)) if len(drawn) == 2 else 0
    refuse_large_page(size, size, count / len(sources))


def sent_size(before, drawn):
    """Size of what a frame sends of a Surface or Instances [bytes]. Args: what the frame before draws, and this one."""
    if isinstance(drawn, Surface):
        sides = 1 if drawn.solid or drawn.back_colour is None else 2
        return 0 if np.array_equal(before.vertices, drawn.vertices) else 4 * sides * drawn.vertices.size
    return 28 * len(drawn.positions)  # positions and quaternions in single precision


def labelled_frames(entry):
    """Yield (label, Frame) of a source. Args: entry: (label, Run or Replay)."""
    label, source = entry
    return ((label, frame) for frame in source.frames())


def stopped_server():
    """Make a viser server, and stop it: its port is closed, but its serializers work."""
    with quiet(), warnings.catch_warnings():
        server = viser.ViserServer(host="127.0.0.1", port=0, verbose=False)
        server.stop()
        warnings.simplefilter("ignore")  # viser warns that no browser has the page open
        server.scene.set_up_direction("+z")
    return server


def size_of(serializer):
    """Size of the arrays in a serializer [bytes]."""
    return sum(buffer.nbytes for buffer in serializer._binary_buffers)


def refuse_large_page(first, each, count):
    """Raise TooLong for a replay that is too large.

    Args: first: size of the first frame [bytes]; each: size of another frame [bytes]; count of frames.
    """
    size = first + each * (count - 1)
    if size > LIMIT:
        raise TooLong(
            f"replay of {count:.0f} frames with {each / 1e6:.2g} MB each, {size / 1e6:.0f} MB uncompressed: expected "
            f"at most {LIMIT / 1e6:.0f} MB; reduce the frames per second or the duration"
        )


def save(serializer, title, legend, path):
    """Write the file. Args: serializer; title; legend: HTML; path. Returns: its size [bytes]."""
    text = serializer.as_html().replace("<title>Viser</title>", f"<title>{html.escape(title)}</title>", 1)
    with interrupts_deferred(), replacing(path) as partial:
        partial.write_text(text.replace("</body>", legend + "</body>", 1), encoding="utf-8")
    return Path(path).stat().st_size


class Stage:
    """Scenes on the page of a server, and the camera that shows them.

    Args: server: a viser.ViserServer; sources, layout, colours: as for `write`; frame: the first of all frames; camera:
    see `run_camera`.
    """

    def __init__(self, server, sources, layout, colours, frame, camera):
        self.server, self.colours, self.labels = server, colours, list(sources)
        self.scene = next(iter(sources.values())).scene
        self.title = self.scene.name or "scene"
        self.floor = set_stage(server, self.scene)
        self.camera, camera = camera, camera.at(frame)
        sight = camera.target - camera.position
        if isinstance(self.camera, MovingCamera):  # at the same distance from all that it shows
            sight *= self.camera.distance / np.linalg.norm(sight)
        # Height of the picture at the target [m].
        height = 2 * np.linalg.norm(sight) * math.tan(math.radians(camera.field_of_view) / 2)
        self.resolution = 2.0 ** round(math.log2(height * RESOLUTION))
        side_by_side = layout == LAYOUTS[0]
        columns = len(sources) if side_by_side else 1
        self.first_target, distance = camera.target, max(1.0, columns / SQUARES_ACROSS)
        set_camera(server.initial_camera, replace(camera, position=camera.target - distance * sight))
        self.drawings, self.offsets = {}, {}
        as_ghosts = len(sources) > 1 and not side_by_side
        if as_ghosts:
            # All scenes have the same static surfaces: they are drawn once.
            visuals = [RoundedVisual(visual, self.resolution, static_surfaces) for visual in self.scene.visuals]
            static = Drawing(server, visuals, "/static")
            static.show(frame)
            self.drawings[None], self.offsets[None] = static, np.zeros(3)
        for number, (label, source) in enumerate(sources.items()):
            offset = (number - (columns - 1) / 2) * height * camera.axes[0] * side_by_side
            drawing = self._draw(number, label, source, as_ghosts)
            drawing.root.position = offset
            self.drawings[label], self.offsets[label] = drawing, offset
            if side_by_side:
                top = camera.target + (0, 0, 0.45 * height)
                server.scene.add_label(f"/{number}/label", label, position=top, anchor="bottom-center")

    def _draw(self, number, label, source, as_ghost):
        """Make the Drawing of one scene."""
        colour = self.colours.get(label) if as_ghost else None
        visuals = [
            RoundedVisual(visual, self.resolution, moving_surfaces if as_ghost else None, colour)
            for visual in source.scene.visuals
        ]
        return Drawing(self.server, visuals, f"/{number}", opacity=GHOST_OPACITY if as_ghost and number else None)

    def show(self, label, frame):
        """Show one of the scenes at one instant. Args: label; a Frame."""
        with self.server.atomic():
            self.drawings[label].show(frame)
            if isinstance(self.camera, FollowingCamera | MovingCamera) and label == self.labels[0]:
                # The viewer of the replay moves the camera, so everything else moves instead.
                shift = self.camera.at(frame).target - self.first_target
                self.floor.position = (0, 0, self.scene.ground or 0.0) - shift
                for each, drawing in self.drawings.items():
                    drawing.root.position = self.offsets[each] - shift

    def legend(self, notes):
        """The legend as HTML. Args: notes: {label: remark}."""
        rows = ""
        for label in self.labels:
            box = BOX.format(colour=self.colours[label]) if label in self.colours else ""
            rows += ROW.format(box=box, text=html.escape(f"{label} {notes.get(label, '')}"))
        return LEGEND.format(title=html.escape(self.title), rows=rows)


class RoundedVisual:
    """A visual, or a part of it, with rounded positions.

    Args:
        visual: the visual.
        resolution: positions become multiples of it [m].
        choose: function (visual, frame) that returns the surfaces to draw; None for all.
        colour: "#rrggbb" of all surfaces; None for their own colours.
    """

    def __init__(self, visual, resolution, choose=None, colour=None):
        self.visual, self.resolution, self.choose, self.colour = visual, resolution, choose, colour

    def draw(self, frame):
        """Surfaces at one instant. Args: a Frame."""
        drawn = self.visual.draw(frame) if self.choose is None else self.choose(self.visual, frame)
        drawn = [tinted(each, self.colour) if self.colour else copy.copy(each) for each in drawn]
        for each in drawn:
            name = "vertices" if isinstance(each, Surface) else "positions"
            setattr(each, name, np.rint(getattr(each, name) / self.resolution) * self.resolution)
        return drawn
