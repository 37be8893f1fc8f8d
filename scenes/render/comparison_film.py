"""Several recordings of one scene in one film: side by side, or as ghosts in the colours of their solvers."""

import math
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from pbd.core.validate import one_of
from scenes.render.film import picture, remember, renderer_for
from scenes.render.ghosts import GhostRenderer
from scenes.render.label import draw_labels
from scenes.render.video import VideoWriter, check_output, rate_of
from scenes.scene import Scene
from scenes.simulate.interpolation import Resampled, frames_between
from scenes.simulate.recording import Frame
from scenes.simulate.run import Replay
from scenes.visuals.colours import colours_of
from scenes.visuals.framing import ASPECT, run_camera
from scenes.visuals.geometry import LARGEST
from scenes.visuals.tracks import with_own_memory

LAYOUTS = ("side by side", "ghosts")
GAP = 4  # between panels [pixels]
GAP_COLOUR = (244, 246, 249)


@dataclass
class LabelledRecording:
    """One recording among several. Args: label: its name in the film; scene; recording; colour: "#rrggbb".

    Attributes: last: index of the last frame that can be drawn.
    """

    label: str
    scene: object
    recording: object
    colour: str

    def __post_init__(self):
        self.replay = Replay(self.scene, self.recording)
        count = len(self.recording)
        self.last = next((k for k in range(count) if not is_drawable(self.replay.frame(k))), count) - 1
        if self.last < 0:
            raise ValueError(f"the first frame of recording {self.label!r} is not finite: expected finite positions")

    def frame(self, k):
        """The Frame of index k, interpolated if k is a fraction; the last one if the recording is shorter."""
        return next(frames_between([min(k, self.last)], self.replay.frame))

    def end_note(self, k):
        """A remark if there is no frame of index k, such as "diverged at 0.50 s"; otherwise an empty text."""
        if k <= self.last:
            return ""
        reason = "stopped" if self.recording.about.get("interrupted") else "diverged"
        return f"{reason} at {self.recording.times[self.last]:.2f} s"


def film_comparison(
    comparison, path, layout="side by side", width=1280, height=None, fps=30.0, progress=None, when=math.inf
):
    """Film several recordings of one scene at once: a video (.mp4, .gif), or a picture of one instant (.png).

    A recording that ends before the others keeps its last frame, and its label says when it ended.

    Args:
        comparison: a scenes.Comparison, or a list of (label, scene, Recording) with different labels. A label that is
            the name of a solver has the colour of that solver (scenes/visuals/colours.py).
        path: of the file; its suffix chooses the format.
        layout: "side by side", one panel each, and one with all together if a panel is free; or "ghosts", all in one
            picture, translucent, in the colours of their solvers, and striped if they agree. The camera is that of the
            first recording.
        width, height: of the picture [pixels]; height None for panels of 16:9.
        fps: frames per second [1/s], at most 1,000, and 50 in a GIF. Frames between those recorded are interpolated.
        progress: called with the number of each frame, from 1, and the number of frames.
        when: time of a picture [s]; the last frame if it is later.

    Returns: number of frames written. Warns: see `scenes.film`.

    Raises: ValueError for recordings with different times, for equal labels, for an unknown layout; the errors of
        `scenes.film`, after which the file contains the frames until then.
    """
    check_output(path)
    one_of("layout", layout, LAYOUTS)
    recordings = labelled_recordings(comparison)
    longest = max(recordings, key=lambda each: len(each.recording))
    for each in recordings:
        check_times(each, longest)
    replay, times = longest.replay, longest.recording.times
    source = Resampled(replay, rate_of(path, fps), ending=False)
    one_picture = Path(path).suffix.lower() == ".png"
    if one_picture:
        chosen = [min(int(np.searchsorted(times, when)), len(times) - 1)]
    else:
        chosen = [replay.place(k / source.fps) for k in range(source.count)]
    columns, rows = grid(len(recordings)) if layout == LAYOUTS[0] else (1, 1)
    if height is None:
        panel_width = (width - (columns - 1) * GAP) / columns
        height = 2 * round((rows * panel_width / ASPECT + (rows - 1) * GAP) / 2)
    if layout == LAYOUTS[0]:
        draw = Panels(recordings, int(width), int(height))
    else:
        draw = GhostPanel(recordings, renderer_for(recordings[0].scene, int(width), int(height)))
    with VideoWriter(path, source.fps) as video:
        try:
            if one_picture:
                for each in recordings:
                    for k in range(chosen[0]):
                        remember(each.scene, each.frame(k))
            for number, k in enumerate(chosen, 1):
                video.write(draw(k, np.interp(k, np.arange(len(times)), times)))
                if progress:
                    progress(number, len(chosen))
        except (KeyboardInterrupt, Exception) as stop:
            stop.frames = video.frames
            raise
        return video.frames


def labelled_recordings(comparison):
    """Make a list of LabelledRecording. Args: a Comparison, or a list of (label, scene, Recording)."""
    if isinstance(comparison, (list, tuple)):
        entries, colours = list(comparison), colours_of_entries(comparison)
    else:
        entries, colours = comparison.recordings(), comparison.colours()
    if not entries:
        raise ValueError("no recordings: expected at least one")
    return [
        LabelledRecording(label, with_own_memory(scene), recording, colours[label])
        for label, scene, recording in entries
    ]


def colours_of_entries(entries):
    """Check a list of (label, scene, Recording), and choose colours: {label: colour}."""
    labels = [label for label, _, _ in entries]
    if len(set(labels)) < len(labels):
        raise ValueError(f"labels of recordings are {', '.join(labels)}: expected different labels")
    for _, scene, _ in entries:
        if not isinstance(scene, Scene):
            raise TypeError(f"scene is {scene!r}: expected a Scene in each (label, scene, recording)")
    return colours_of([(label, recording.about.get("solver") or label) for label, _, recording in entries])


def is_drawable(frame: Frame):
    """Whether all positions of a frame are finite in single precision."""
    return all(np.all(np.abs(array) < LARGEST) for array in (frame.positions, frame.poses, frame.body_poses))


def check_times(recording, longest):
    """Raise ValueError if the frames of two recordings have different times. Args: two of LabelledRecording."""
    times, expected = recording.recording.times, longest.recording.times[: len(recording.recording)]
    interval = np.diff(longest.recording.times).min() if len(longest.recording) > 1 else 1.0
    if np.abs(times - expected).max() > 0.5 * interval:
        k = int(np.argmax(np.abs(times - expected) > 0.5 * interval))
        raise ValueError(
            f"frame {k} of {recording.label!r} is at {times[k]:g} s, of {longest.label!r} at {expected[k]:g} s: "
            "expected recordings with the same times, such as runs with the same fps and steps that fit it"
        )


def grid(count):
    """Columns and rows of a grid with so many panels."""
    columns = math.ceil(math.sqrt(count))
    return columns, math.ceil(count / columns)


class FittedCamera:
    """The camera of a scene, with a field of view that shows as much in width as a picture of 16:9.

    Args: recording: a LabelledRecording, whose frames are all in the picture if its scene has no camera; aspect: width
    of the picture divided by its height.
    """

    def __init__(self, recording, aspect):
        self.aspect = aspect
        self.camera = run_camera(recording.scene, lambda: map(recording.frame, range(recording.last + 1)))

    def at(self, frame):
        """The Camera at one instant. Args: a Frame."""
        camera = self.camera.at(frame)
        half = math.tan(math.radians(camera.field_of_view) / 2) * max(1.0, ASPECT / self.aspect)
        return replace(camera, field_of_view=2 * math.degrees(math.atan(half)))


class Panels:
    """Pictures side by side with labels: the name of the solver, the time, and when the recording ended.

    A free panel shows all recordings together as ghosts.
    """

    def __init__(self, recordings, width, height):
        self.recordings, self.shape = recordings, (height, width, 3)
        self.columns, self.rows = grid(len(recordings))
        self.width = max(1, (width - (self.columns - 1) * GAP) // self.columns)
        self.height = max(1, (height - (self.rows - 1) * GAP) // self.rows)
        self.letter_size = max(11, min(self.height // 24, self.width // 36))
        self.renderer = renderer_for(recordings[0].scene, self.width, self.height)
        aspect = self.width / self.height
        self.cameras = [FittedCamera(recordings[0], aspect)] * len(recordings)
        if any(each.scene is not recordings[0].scene for each in recordings):
            self.cameras = [FittedCamera(each, aspect) for each in recordings]
        self.ghost_panel = None
        if len(recordings) < self.columns * self.rows:
            self.ghost_panel = GhostPanel(recordings, self.renderer)

    def __call__(self, k, time):
        """Draw the frames of index k. Args: k; time [s]."""
        whole = np.empty(self.shape, dtype=np.uint8)
        whole[:] = GAP_COLOUR
        pictures = [self.draw_panel(each, camera, k, time) for each, camera in zip(self.recordings, self.cameras)]
        if self.ghost_panel:
            image = self.ghost_panel.draw(k)
            pictures.append(draw_labels(image, f"together   {time:.2f} s", size=self.letter_size))
        for number, image in enumerate(pictures):
            row, column = number // self.columns * (self.height + GAP), number % self.columns * (self.width + GAP)
            whole[row : row + self.height, column : column + self.width] = image
        return whole

    def draw_panel(self, recording, camera, k, time):
        """Draw one panel. Args: recording; camera: its FittedCamera; k: index of the frame; time [s]."""
        frame, end_note = recording.frame(k), recording.end_note(k)
        image = picture(recording.scene, frame, self.renderer, camera)
        if end_note:
            image = faded(image)
        text = f"{recording.label}   {end_note or f'{time:.2f} s'}"
        return draw_labels(image, text, size=self.letter_size, swatches=(recording.colour,))


def faded(image):
    """Copy a picture with less colour, for a recording that has ended."""
    grey = image.mean(axis=2, keepdims=True)
    return np.rint(0.35 * image + 0.65 * (0.6 * grey + 80)).astype(np.uint8)


class GhostPanel:
    """All recordings in one picture, as ghosts, with a legend. Args: recordings; renderer."""

    def __init__(self, recordings, renderer):
        self.recordings = recordings
        self.ghosts = GhostRenderer([(each.scene, each.colour) for each in recordings], renderer)
        self.camera = FittedCamera(recordings[0], renderer.width / renderer.height)

    def draw(self, k):
        """Draw the frames of index k without labels."""
        frames = [each.frame(k) for each in self.recordings]
        return self.ghosts.draw(frames, self.camera.at(frames[0]))

    def __call__(self, k, time):
        """Draw the frames of index k with a legend. Args: k; time [s]."""
        title = f"{self.recordings[0].scene.name or 'scene'}   {time:.2f} s"
        lines = [f"{each.label}   {each.end_note(k)}".rstrip() for each in self.recordings]
        return draw_labels(self.draw(k), [title, *lines], swatches=(None, *(each.colour for each in self.recordings)))
