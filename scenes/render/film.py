"""From a scene to a picture or a video: run, look, draw, label, encode, a frame at a time."""

import contextlib
import importlib
from pathlib import Path

import numpy as np

from scenes.render.label import draw_labels
from scenes.render.renderer import Renderer
from scenes.render.video import SUFFIXES, VideoWriter, check_output
from scenes.simulate.device import initialise
from scenes.simulate.run import Replay, Run
from scenes.visuals import Camera, FollowingCamera, Surface

ENDINGS = (*SUFFIXES, ".html")  # of the files that `film` and `verletlab render` write


def film(
    scene, path, solver=None, duration=None, dt=None, fps=30.0, width=1280, height=720, labels=True,
    recording=None, progress=None, **options,
):  # fmt: skip
    """Run a scene and write a video, a picture of the last frame, or a page that replays the run.

    Only one frame is in memory at a time. After Ctrl-C, or if the run diverges, the file holds the frames so far.

    Args:
        scene: a Scene.
        path: an .mp4 or .gif file for a video, .png for the last frame, .html for a page (needs viser).
        solver, duration, dt, options: see `scenes.run`.
        fps: frames per second, rounded so that frames are at whole steps. The film runs in real time.
        width, height: size of the picture [pixels]; a page has no size.
        labels: whether to draw scene, solver and time in the corner; a page always has them.
        recording: a Recording of the scene, which is drawn without a new run.
        progress: called with the number of each frame, from 1, and the number of frames.

    Returns: the number of frames written.

    Raises:
        ValueError, OSError: if `path` cannot be written; nothing runs then.
        KeyboardInterrupt, pbd.Diverged: after the file is complete, with the number of its frames as `frames`.
    """
    check_output(path, ENDINGS)
    page = Path(path).suffix.lower() == ".html"
    write_page = importlib.import_module("scenes.render.page.replay").write if page else None  # needs viser
    source = Run(scene, solver, duration, dt, fps, **options) if recording is None else Replay(scene, recording, fps)
    if page:
        write_page({source.solver: source}, path, progress=progress)
        return source.count
    return draw_frames(source, path, renderer_for(scene, width, height), labels, progress)


def renderer_for(scene, width, height):
    """A Renderer of pictures of a scene, with its floor. Arguments: a Scene; width, height [pixels]."""
    initialise()  # a recording may be drawn by a process that runs nothing
    return Renderer(width, height, ground=scene.ground is not None, ground_height=scene.ground or 0.0)


def draw_frames(source, path, renderer, labels=True, progress=None):
    """Draw all frames of a Run or a Replay into a file: what `film` does, returns and raises."""
    scene = source.scene
    camera, solver = scene.camera, source.solver if labels else None
    still = Path(path).suffix.lower() == ".png"
    with VideoWriter(path, source.fps) as video:
        number = 0
        try:
            for number, frame in enumerate(source.frames(), 1):
                camera = camera or camera_for(scene, frame, renderer.width / renderer.height)
                if not still or number == source.count:
                    video.write(picture(scene, frame, renderer, camera, solver))
                if progress:
                    progress(number, source.count)
        except (KeyboardInterrupt, Exception) as stop:
            if still and number and not video.frames:
                with contextlib.suppress(Exception):  # what could not be drawn a moment ago
                    video.write(picture(scene, frame, renderer, camera, solver))
            stop.frames = video.frames
            raise
        return video.frames


def picture(scene, frame, renderer, camera, solver=None):
    """One frame as an image (height, width, 3), labelled where a solver is named. Arguments: camera: it may follow."""
    try:
        camera = camera.at(frame) if isinstance(camera, FollowingCamera) else camera
        drawables = [surface for visual in scene.visuals for surface in visual.draw(frame)]
        image = renderer.draw(drawables, camera)
    except ValueError as error:  # too far off for single precision, on the way to diverge
        raise ValueError(f"at {frame.time:.6g} s the scene cannot be drawn: {error}") from error
    return image if solver is None else draw_labels(image, f"{scene.name or 'scene'}   {solver}   {frame.time:5.2f} s")


def camera_for(scene, frame, aspect):
    """A camera that sees all that is drawn, as it stands at the start."""
    points = [frame.positions]
    for visual in scene.visuals:
        for drawn in visual.draw(frame):
            if isinstance(drawn, Surface):
                points.append(drawn.vertices)
                continue
            scales = np.ones(3) if drawn.scales is None else np.reshape(drawn.scales, (len(drawn.positions), -1))
            reach = np.linalg.norm(np.abs(drawn.surface.vertices).max(axis=0) * scales, axis=-1, keepdims=True)
            points += [drawn.positions - reach, drawn.positions + reach]
    points = np.concatenate(points)
    return Camera.framing(points.min(axis=0), points.max(axis=0), aspect=aspect)
