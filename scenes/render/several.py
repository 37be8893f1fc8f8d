"""Several recordings of one scene in one film: side by side, or as ghosts, each solver in its own colour."""

import math
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from pbd.core.validate import one_of
from scenes.render.film import camera_for, picture, renderer_for
from scenes.render.ghosts import Ghosts
from scenes.render.label import draw_labels
from scenes.render.video import VideoWriter, check_output
from scenes.scene import Scene
from scenes.simulate.run import Frame, Replay
from scenes.visuals import FollowingCamera
from scenes.visuals.colours import colours_of

LAYOUTS = ("side by side", "ghosts")
GAP = 4  # between panels [pixels]
PAPER = (244, 246, 249)  # what stands between them
ASPECT = 16 / 9  # what cameras of scenes are made for


@dataclass
class Take:
    """One recording among several. Arguments: label, its name in the film; scene; recording; colour, "#rrggbb"."""

    label: str
    scene: object
    recording: object
    colour: str

    def __post_init__(self):
        self.replay = Replay(self.scene, self.recording)
        self.end = next((k for k in range(len(self.recording)) if not drawable(self.replay.frame(k))),
                        len(self.recording)) - 1  # fmt: skip
        if self.end < 0:
            raise ValueError(f"recording {self.label!r} begins with what cannot be drawn: expected finite positions")

    def frame(self, k):
        """The Frame of number k, or the last one there is."""
        return self.replay.frame(min(k, self.end))

    def ended(self, k):
        """What to say where it has no frame of number k: when it diverged; else an empty text."""
        if k <= self.end:
            return ""
        why = "stopped" if self.recording.about.get("interrupted") else "diverged"
        return f"{why} at {self.recording.times[self.end]:.2f} s"


def film_comparison(
    comparison, path, layout="side by side", width=1280, height=None, fps=30.0, progress=None, when=math.inf
):
    """Film several recordings of one scene at once: a video (.mp4, .gif), or with .png a picture of one instant.

    A run that ended before the others, because it diverged, stands still from there on, and its label says when.

    Arguments:
        comparison: a scenes.Comparison, or a list of (label, scene, Recording), each label another; a label that is the
            name of a solver has that solver's colour (scenes/visuals/colours.py).
        path: where to, its suffix says what.
        layout: "side by side", a panel each, and one of all together where a place is left; or "ghosts", all in one
            picture, translucent, each in its colour, and striped where they agree. Ghosts are seen with the first one's
            camera.
        width, height [pixels]; height None: as suits the layout, with panels of 16:9.
        fps: frames a second [1/s], at most as many as recorded.
        progress: called with the number of each frame, starting at 1, and how many there will be.
        when: of a picture [s], the end where it is later.

    Returns: the number of frames written. Errors: ValueError for recordings on different times, for labels that are not
    unique, for an unknown layout; and those of `scenes.film`, after which the file holds what was drawn until then.
    """
    check_output(path)
    one_of("layout", layout, LAYOUTS)
    takes = takes_of(comparison)
    longest = max(takes, key=lambda take: len(take.recording))
    for take in takes:
        check_times(take, longest)
    source, times = Replay(longest.scene, longest.recording, fps), longest.recording.times
    still = Path(path).suffix.lower() == ".png"
    chosen = [min(int(np.searchsorted(times, when)), len(times) - 1)] if still else source.chosen
    columns, rows = grid(len(takes)) if layout == LAYOUTS[0] else (1, 1)
    if height is None:
        panel = (width - (columns - 1) * GAP) / columns
        height = 2 * round((rows * panel / ASPECT + (rows - 1) * GAP) / 2)
    if layout == LAYOUTS[0]:
        draw = Panels(takes, int(width), int(height))
    else:
        draw = Overlay(takes, renderer_for(takes[0].scene, int(width), int(height)))
    with VideoWriter(path, source.fps) as video:
        try:
            for number, k in enumerate(chosen, 1):
                video.write(draw(k, times[k]))
                if progress:
                    progress(number, len(chosen))
        except (KeyboardInterrupt, Exception) as stop:
            stop.frames = video.frames
            raise
        return video.frames


def takes_of(comparison):
    """The takes of a Comparison or of a list of (label, scene, Recording)."""
    if hasattr(comparison, "traces"):
        colours = colours_of([(trace.label, trace.solver) for trace in comparison.traces], comparison.reference)
        found = [
            Take(trace.label, comparison.scene, trace.recording, colours[trace.label])
            for trace in comparison.traces
            if trace.recording is not None
        ]
    else:
        entries = list(comparison)
        labels = [label for label, _, _ in entries]
        if len(set(labels)) < len(labels):
            raise ValueError(f"labels of recordings are {', '.join(labels)}: expected each another")
        for _, scene, _ in entries:
            if not isinstance(scene, Scene):
                raise TypeError(f"scene is {scene!r}: expected a Scene in each (label, scene, recording)")
        colours = colours_of([(label, recording.about.get("solver") or label) for label, _, recording in entries])
        found = [Take(label, scene, recording, colours[label]) for label, scene, recording in entries]
    if not found:
        raise ValueError("nothing to film: expected one recording at least")
    return found


def drawable(frame: Frame):
    """Whether a frame holds numbers that a picture can be made of, in single precision."""
    return all(np.all(np.abs(array) < 1e30) for array in (frame.positions, frame.poses, frame.body_poses))


def check_times(take, longest):
    """Refuse recordings whose frames are not of the same times."""
    times, expected = take.recording.times, longest.recording.times[: len(take.recording)]
    interval = np.diff(longest.recording.times).min() if len(longest.recording) > 1 else 1.0
    if np.abs(times - expected).max() > 0.5 * interval:
        k = int(np.argmax(np.abs(times - expected) > 0.5 * interval))
        raise ValueError(
            f"frame {k} of {take.label!r} is at {times[k]:g} s, of {longest.label!r} at {expected[k]:g} s: expected "
            "recordings on the same times, such as runs with the same fps and steps that fit it"
        )


def grid(count):
    """Columns and rows for so many panels."""
    columns = math.ceil(math.sqrt(count))
    return columns, math.ceil(count / columns)


def fitted(camera, aspect):
    """A camera whose picture of that width over height shows as much from left to right as one of 16:9 would."""
    half = math.tan(math.radians(camera.field_of_view) / 2) * max(1.0, ASPECT / aspect)
    return replace(camera, field_of_view=2 * math.degrees(math.atan(half)))


class View:
    """How a scene is looked at, wherever its camera goes. Arguments: a Take, whose scene and start say it; aspect."""

    def __init__(self, take, aspect):
        self.camera, self.aspect = take.scene.camera, aspect
        if self.camera is None:
            self.camera = camera_for(take.scene, take.frame(0), ASPECT)

    def at(self, frame):
        """The Camera at one instant."""
        return fitted(self.camera.at(frame) if isinstance(self.camera, FollowingCamera) else self.camera, self.aspect)


class Panels:
    """Pictures side by side, each with the name of its solver, its time, and when it diverged.

    A place that is left over shows all of them together, as ghosts.
    """

    def __init__(self, takes, width, height):
        self.takes, self.shape = takes, (height, width, 3)
        self.columns, self.rows = grid(len(takes))
        self.width = max(1, (width - (self.columns - 1) * GAP) // self.columns)
        self.height = max(1, (height - (self.rows - 1) * GAP) // self.rows)
        self.letters = max(11, min(self.height // 24, self.width // 36))
        self.renderer = renderer_for(takes[0].scene, self.width, self.height)
        self.views = [View(takes[0], self.width / self.height)] * len(takes)
        if any(take.scene is not takes[0].scene for take in takes):
            self.views = [View(take, self.width / self.height) for take in takes]
        self.together = None
        if len(takes) < self.columns * self.rows:
            self.together = Overlay(takes, self.renderer)

    def __call__(self, k, time):
        """The picture of the frames of number k, at that time [s]."""
        whole = np.empty(self.shape, dtype=np.uint8)
        whole[:] = PAPER
        pictures = [self.panel(take, view, k, time) for take, view in zip(self.takes, self.views)]
        if self.together:
            image = self.together.picture(k)
            pictures.append(draw_labels(image, f"together   {time:.2f} s", size=self.letters))
        for number, image in enumerate(pictures):
            row, column = number // self.columns * (self.height + GAP), number % self.columns * (self.width + GAP)
            whole[row : row + self.height, column : column + self.width] = image
        return whole

    def panel(self, take, view, k, time):
        """One of the pictures."""
        frame, ended = take.frame(k), take.ended(k)
        image = picture(take.scene, frame, self.renderer, view.at(frame))
        if ended:
            image = faded(image)
        words = f"{take.label}   {ended or f'{time:.2f} s'}"
        return draw_labels(image, words, size=self.letters, swatches=(take.colour,))


def faded(image):
    """A picture without half of its colour: what stands still."""
    grey = image.mean(axis=2, keepdims=True)
    return np.rint(0.35 * image + 0.65 * (0.6 * grey + 80)).astype(np.uint8)


class Overlay:
    """All in one picture, as ghosts, with a legend."""

    def __init__(self, takes, renderer):
        self.takes = takes
        self.ghosts = Ghosts([(take.scene, take.colour) for take in takes], renderer)
        self.view = View(takes[0], renderer.width / renderer.height)

    def picture(self, k):
        """The picture of the frames of number k, without a word."""
        frames = [take.frame(k) for take in self.takes]
        return self.ghosts.draw(frames, self.view.at(frames[0]))

    def __call__(self, k, time):
        """The picture of the frames of number k, at that time [s]."""
        head = f"{self.takes[0].scene.name or 'scene'}   {time:.2f} s"
        lines = [f"{take.label}   {take.ended(k)}".rstrip() for take in self.takes]
        return draw_labels(self.picture(k), [head, *lines], swatches=(None, *(take.colour for take in self.takes)))
