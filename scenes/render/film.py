"""From a scene to a picture or a video: step, draw, label and encode one frame at a time."""

import contextlib
import importlib
from pathlib import Path

from pbd.core.validate import boolean
from scenes.render.label import draw_labels
from scenes.render.renderer import Renderer, check_size
from scenes.render.video import SUFFIXES, VIDEOS, VideoWriter, check_output, is_sequence, rate_of
from scenes.simulate.device import initialise
from scenes.simulate.interpolation import Resampled
from scenes.simulate.run import Replay, Run, record, recording_before, source_of
from scenes.visuals.framing import framing_camera, needs_run, run_camera

ENDINGS = (*SUFFIXES, ".html")  # of the files that `film` writes


def film(
    scene, path, solver=None, duration=None, dt=None, fps=30.0, width=1280, height=720, labels=True,
    recording=None, progress=None, **options,
):  # fmt: skip
    """Run a scene and write a video, a picture of the last frame, or a page that replays the run.

    Only one frame is in memory at a time. If the scene has no camera, the film shows all of the run: it is recorded
    before its frames are drawn, on disk if it is long. After Ctrl-C, or if the run diverges, the file holds the frames
    so far.

    Args:
        scene: a Scene.
        path: an .mp4 or .gif file for a video, .png for the last frame, x-%04d.png for all frames, .html for a page
            (needs viser).
        solver, duration, dt, options: see `scenes.run`.
        fps: frames per second, at most 1,000, and 50 in a GIF. Frames between steps are interpolated. The film runs in
            real time and lasts as long as the run, within half a frame.
        width, height: size of the picture [pixels]; a page has no size.
        labels: whether to draw scene, solver and time in the corner; a page always has them.
        recording: a Recording of the scene, which is drawn without a new run.
        progress: called with the number of each drawn frame, from 1, and the number of frames.

    Returns: the number of frames written.

    Warns: UserWarning if a GIF cannot have so many frames per second.

    Raises:
        ValueError, OSError: if `path` cannot be written; nothing runs then.
        KeyboardInterrupt, pbd.Diverged: after the file is complete, with the number of its frames as `frames`.
    """
    check_output(path, ENDINGS)
    page = Path(path).suffix.lower() == ".html"
    write_page = importlib.import_module("scenes.render.page.replay").write if page else None  # needs viser
    check_size(width, height)
    boolean("labels", labels)
    source = at_rate(source_of(scene, recording, solver, duration, dt, fps, **options), path, fps)
    if page:
        write_page({source.solver: source}, path, progress=progress)
        return source.count
    return draw_frames(source, path, renderer_for(scene, width, height), labels, progress)


def at_rate(source, path, fps):
    """Frames of a Run or a Replay at the times at which a file shows them. Args: source; path; fps [1/s].

    Returns: a Resampled; the source itself for a picture of the last frame. Warns, Raises: see `film`.
    """
    suffix = Path(path).suffix.lower()
    if suffix == ".png" and not is_sequence(path):
        return source
    return Resampled(source, rate_of(path, fps), ending=suffix not in VIDEOS)


def renderer_for(scene, width, height):
    """Make a Renderer with the floor of a scene. Args: a Scene; width, height [pixels]."""
    initialise()  # a process that only draws a recording has not called ti.init yet
    return Renderer(width, height, ground=scene.ground is not None, ground_height=scene.ground or 0.0)


def draw_frames(source, path, renderer, labels=True, progress=None, running=None):
    """Draw all frames of a Run or a Replay into a file.

    Args: running: called like `progress` while a run is recorded; others: as for `film`.

    Returns, Raises: as for `film`.
    """
    scene, aspect = source.scene, renderer.width / renderer.height
    only_last = Path(path).suffix.lower() == ".png" and not is_sequence(path)
    camera, solver, stopped = scene.camera, source.solver if labels else None, None
    with VideoWriter(path, source.fps) as video:
        number = 0
        try:
            if not only_last:
                source, stopped = recorded(source, running)
                camera = run_camera(scene, source.frames, aspect)
            for number, frame in enumerate(source.frames(), 1):
                if not only_last or number == source.count:
                    video.write(picture(scene, frame, renderer, camera, solver))
                else:
                    remember(scene, frame)
                if progress:
                    progress(number, source.count)
            if stopped is not None:
                raise stopped
        except (KeyboardInterrupt, Exception) as stop:
            if only_last and number and not video.frames:
                with contextlib.suppress(Exception):  # the frame itself may be the reason
                    video.write(picture(scene, frame, renderer, camera, solver))
            stop.frames = video.frames
            raise
        return video.frames


def recorded(source, progress=None):
    """Record a Run as a whole if its camera depends on that.

    Args: source: a Run, a Replay, or a Resampled of them; progress: see `film`.

    Returns: the Replay; the KeyboardInterrupt or error that stopped the run after its first frame, or None.
    """
    runs = isinstance(getattr(source, "source", source), Run)
    if not (runs and needs_run(source.scene)):
        return source, None
    stopped = None
    try:
        recording = record(source, progress)
    except Exception as error:
        recording, stopped = recording_before(error), error
        if recording is None:
            raise
    if recording.about.get("interrupted"):
        stopped = KeyboardInterrupt()
    return Replay(source.scene, recording, None), stopped


def remember(scene, frame):
    """Show a frame that is not drawn to visuals that draw what has been, such as tracks."""
    for visual in scene.visuals:
        if hasattr(visual, "remember"):
            visual.remember(frame)


def picture(scene, frame, renderer, camera, solver=None):
    """Draw one frame.

    Args: scene; frame; renderer; camera: an object with a method `at`, such as a Camera, or None for one that sees all
    of the frame; solver: name for the label, None for no label.

    Returns: image (height, width, 3) uint8.
    """
    try:
        drawables = [surface for visual in scene.visuals for surface in visual.draw(frame)]
        camera = camera or framing_camera(scene, frame, renderer.width / renderer.height)
        image = renderer.draw(drawables, camera.at(frame))
    except ValueError as error:  # positions too large for single precision, because the run diverges
        raise ValueError(f"at {frame.time:.6g} s the scene cannot be drawn: {error}") from error
    return image if solver is None else draw_labels(image, f"{scene.name or 'scene'}   {solver}   {frame.time:5.2f} s")
