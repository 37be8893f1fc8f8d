"""From a scene to a picture or a video: run, look, draw, label, encode, a frame at a time."""

import contextlib
from pathlib import Path

import numpy as np

from scenes.render.label import draw_labels
from scenes.render.renderer import Renderer
from scenes.render.video import VideoWriter, check_output
from scenes.simulate.device import initialise
from scenes.simulate.run import Replay, Run
from scenes.visuals import Camera, FollowingCamera, Surface


def film(
    scene, path, solver=None, duration=None, dt=None, fps=30.0, width=1280, height=720, labels=True,
    recording=None, progress=None, **options,
):  # fmt: skip
    """Run a scene and write what it looks like: a video (.mp4, .gif), or with .png the picture at the end.

    Nothing is kept but the frame at hand. Ctrl-C, and a run that diverges, leave a playable video of what was done.

    Arguments:
        scene: a Scene; path: where to, its suffix says what; solver, duration, dt, options: as of `scenes.run`.
        fps: frames a second, as many as whole steps allow: a second of film is a second of the scene.
        width, height [pixels]; labels: whether scene, solver and time stand in the corner.
        recording: a Recording of the scene to draw, in place of a run.
        progress: called with the number of each frame, starting at 1, and how many there will be.

    Returns: the number of frames written. Errors: before anything is run, where nothing can be written to `path`; and
    KeyboardInterrupt, pbd.Diverged and the like once the video is finished, with that number as attribute `frames`.
    """
    check_output(path)
    source = Run(scene, solver, duration, dt, fps, **options) if recording is None else Replay(scene, recording, fps)
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
