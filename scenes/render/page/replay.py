"""Replays: runs of a scene as one HTML file with a timeline, that a browser opens from disk: no server, no network."""

import copy
import heapq
import html
import math
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import viser

from pbd.core.validate import one_of
from scenes.render.ghosts import moving_part, still_part, tinted
from scenes.render.page.drawing import Drawing, aim, camera_of, set_stage
from scenes.render.page.quiet import quiet
from scenes.render.several import LAYOUTS, takes_of
from scenes.render.video import check_output
from scenes.simulate.interrupts import interrupts_deferred
from scenes.simulate.run import Replay
from scenes.visuals import FollowingCamera, Surface

# What the frames of a replay may come to before they are compressed [bytes]. We hold it while the file is made, a
# browser while it plays; and it is written as one string, of which Chromium takes 2^29 characters.
LIMIT = 384 * 2**20

# To this part of the picture's height positions are rounded, a fifteenth of a pixel: less is left to compress.
RESOLUTION = 2.0**-14

LEGEND = (
    '<div style="position:fixed;top:12px;left:12px;z-index:1;pointer-events:none;padding:6px 10px;border-radius:4px;'
    'background:rgba(255,255,255,0.85);color:#222;font:13px/1.5 sans-serif"><b>{title}</b>{rows}</div>'
)
ROW = "<div>{box}{text}</div>"
BOX = '<span style="background:{colour};display:inline-block;width:0.8em;height:0.8em;margin-right:0.5em"></span>'


class TooLong(ValueError):
    """A replay that no browser could hold."""


def replay(comparison, path, layout="ghosts", fps=30.0, progress=None):
    """Write several recordings of one scene as one replay.

    One that ended before the others, because it diverged, stands still from there on, and the legend says when.

    Arguments: comparison: a scenes.Comparison, or a list of (label, scene, Recording), each label another; path: where
    to, an .html file; layout, progress: as of `write`; fps: frames a second, at most as many as were recorded.

    Returns: the size of the file [bytes]. Errors: as of `write`, and for recordings as of `film_comparison`.
    """
    takes = takes_of(comparison)
    sources = {take.label: Replay(take.scene, take.recording, fps) for take in takes}
    for take in takes:
        source = sources[take.label]
        source.chosen = [*(k for k in source.chosen if k < take.end), take.end]
        source.count = len(source.chosen)
    colours = {take.label: take.colour for take in takes} if len(takes) > 1 else {}
    notes = {take.label: take.ended(len(take.recording) - 1) for take in takes}
    return write(sources, path, layout, colours, notes, progress)


def write(sources, path, layout="ghosts", colours=None, notes=None, progress=None):
    """Write what is run, as it runs, as one replay.

    Arguments:
        sources: {label: Run or Replay}, several of one scene, or only one.
        path: where to, an .html file.
        layout: where several are, "side by side"; or "ghosts", all in one place, what moves in the colour of its run,
            and translucent but for the first one's.
        colours: {label: "#rrggbb"} of several. notes: {label: what the legend says behind it}.
        progress: called with the number of each frame, starting at 1, and how many there will be.

    Returns: the size of the file [bytes].

    Errors: before anything is run, where nothing can be written to `path`; TooLong where the second frames say that it
    would become more than LIMIT; and KeyboardInterrupt, pbd.Diverged and the like once there is a file of what was done
    until then, with the number of its frames as attribute `frames`.
    """
    check_output(path, (".html",))
    one_of("layout", layout, LAYOUTS)
    server = unreachable_server()
    serializer, stage = server.get_scene_serializer(), None
    count = sum(source.count for source in sources.values())
    number, time, first = 0, 0.0, 0
    try:
        for label, frame in heapq.merge(*map(labelled, sources.items()), key=lambda each: each[1].time):
            with interrupts_deferred():
                stage = stage or Stage(server, sources, layout, colours or {}, frame)
                serializer.insert_sleep(frame.time - time)
                stage.show(label, frame)
                number, time = number + 1, frame.time
            if number == len(sources):
                first = bytes_of(serializer)
            elif number == 2 * len(sources):
                refuse(first, bytes_of(serializer) - first, count / len(sources))
            if progress:
                progress(number, count)
    except TooLong:
        raise
    except (KeyboardInterrupt, Exception) as stop:
        if number:
            save(serializer, stage.title, stage.legend(notes or {}), path)
        stop.frames = number
        raise
    serializer.insert_sleep(1 / float(max(source.fps for source in sources.values())))
    return save(serializer, stage.title, stage.legend(notes or {}), path)


def labelled(entry):
    """The frames of a source, each behind its label. Arguments: (label, Run or Replay)."""
    label, source = entry
    return ((label, frame) for frame in source.frames())


def unreachable_server():
    """A viser server that was stopped before anything stood on its page: its port is closed, its serializers work."""
    with quiet(), warnings.catch_warnings():
        server = viser.ViserServer(host="127.0.0.1", port=0, verbose=False)
        server.stop()
        warnings.simplefilter("ignore")  # it warns once that nobody will see what is put on it
        server.scene.set_up_direction("+z")
    return server


def bytes_of(serializer):
    """Size of the arrays that a serializer holds."""
    return sum(buffer.nbytes for buffer in serializer._binary_buffers)


def refuse(first, each, count):
    """Refuse what would become too large. Arguments: sizes of the first frame and of another [bytes]; their number."""
    expected = first + each * (count - 1)
    if expected > LIMIT:
        raise TooLong(
            f"a replay of {count:.0f} frames of {each / 1e6:.2g} MB, {expected / 1e6:.0f} MB before it is compressed: "
            f"expected {LIMIT / 1e6:.0f} MB at most; take fewer frames a second, or a shorter run"
        )


def save(serializer, title, legend, path):
    """Write what a serializer has seen, under a title, with a legend. Returns: the size of the file [bytes]."""
    text = serializer.as_html().replace("<title>Viser</title>", f"<title>{html.escape(title)}</title>", 1)
    with interrupts_deferred():
        Path(path).write_text(text.replace("</body>", legend + "</body>", 1), encoding="utf-8")
    return Path(path).stat().st_size


class Stage:
    """Scenes on a server's page, and the camera before them.

    Arguments: a viser.ViserServer; sources, layout, colours: as of `write`; frame: the first one of all.
    """

    def __init__(self, server, sources, layout, colours, frame):
        self.server, self.colours, self.labels = server, colours, list(sources)
        self.scene = next(iter(sources.values())).scene
        self.title = self.scene.name or "scene"
        self.floor = set_stage(server, self.scene)
        camera = camera_of(self.scene, frame)
        sight = camera.target - camera.position
        height = 2 * np.linalg.norm(sight) * math.tan(math.radians(camera.field_of_view) / 2)  # of the picture, there
        step = 2.0 ** round(math.log2(height * RESOLUTION))
        apart = layout == LAYOUTS[0]
        right, columns = camera.axes[0], len(sources) if apart else 1
        self.start, back = camera.target, max(1.0, columns / 1.6)  # squares of that height; a picture has nearly two
        aim(server.initial_camera, replace(camera, position=camera.target - back * sight))
        self.drawings, self.places = {}, {}
        ghosts = len(sources) > 1 and not apart
        if ghosts:  # what stands still is the same in all of them
            still = Drawing(server, [Part(visual, step, still_part) for visual in self.scene.visuals], "/still")
            still.show(frame)
            self.drawings[None], self.places[None] = still, np.zeros(3)
        for number, (label, source) in enumerate(sources.items()):
            name, colour = f"/{number}", self.colours.get(label) if ghosts else None
            visuals = [Part(visual, step, moving_part if ghosts else None, colour) for visual in source.scene.visuals]
            drawing = Drawing(server, visuals, name, opacity=0.5 if ghosts and number else None)
            place = (number - (columns - 1) / 2) * height * right * apart
            drawing.root.position = place
            self.drawings[label], self.places[label] = drawing, place
            if apart:
                top = camera.target + (0, 0, 0.45 * height)
                server.scene.add_label(f"{name}/label", label, position=top, anchor="bottom-center")

    def show(self, label, frame):
        """Show one of them as it is at one instant. Arguments: label; a Frame."""
        with self.server.atomic():
            self.drawings[label].show(frame)
            if isinstance(self.scene.camera, FollowingCamera) and label == self.labels[0]:
                # In place of the camera, which is the person's, all else moves.
                shift = camera_of(self.scene, frame).target - self.start
                self.floor.position = (0, 0, self.scene.ground or 0.0) - shift
                for each, drawing in self.drawings.items():
                    drawing.root.position = self.places[each] - shift

    def legend(self, notes):
        """What is shown, as HTML. Arguments: {label: what is said behind it}."""
        rows = ""
        for label in self.labels:
            box = BOX.format(colour=self.colours[label]) if label in self.colours else ""
            rows += ROW.format(box=box, text=html.escape(f"{label} {notes.get(label, '')}"))
        return LEGEND.format(title=html.escape(self.title), rows=rows)


class Part:
    """What a replay shows of a visual, its positions rounded.

    Arguments: visual; step: positions become multiples of it [m]; part: a function (visual, frame) that says which of its
    surfaces, None for all; colour: "#rrggbb" of all of them, None for their own.
    """

    def __init__(self, visual, step, part=None, colour=None):
        self.visual, self.step, self.part, self.colour = visual, step, part, colour

    def draw(self, frame):
        """Surfaces at one instant. Arguments: a Frame."""
        drawn = self.visual.draw(frame) if self.part is None else self.part(self.visual, frame)
        drawn = [tinted(thing, self.colour) if self.colour else copy.copy(thing) for thing in drawn]
        for thing in drawn:
            name = "vertices" if isinstance(thing, Surface) else "positions"
            setattr(thing, name, np.rint(getattr(thing, name) / self.step) * self.step)
        return drawn
