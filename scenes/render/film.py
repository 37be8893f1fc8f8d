"""From a scene to a picture or a video: run, look, draw, label, encode, a frame at a time."""

from pathlib import Path

import numpy as np

import pbd
from scenes.recording import Recording
from scenes.render.geometry import Camera
from scenes.render.label import draw_labels
from scenes.render.renderer import Renderer
from scenes.render.video import VideoWriter
from scenes.run import Frame, Run


def film(
    scene, path, solver="verlet", duration=None, dt=None, fps=30.0, width=1280, height=720, labels=True,
    recording=None, progress=None, **options,
):  # fmt: skip
    """Run a scene and write what it looks like: a video (.mp4, .gif), or with .png the picture at the end.

    Nothing is kept but the frame at hand. Ctrl-C, and a run that diverges, leave a playable video of what was done.

    Arguments:
        scene: a Scene; path: where to, its suffix says what; solver, duration, dt, options: as of `scenes.run`.
        fps: frames a second; width, height [pixels]; labels: whether scene, solver and time stand in the corner.
        recording: a Recording of the scene to draw, in place of a run.
        progress: called with the number of each frame, starting at 1.

    Returns: the number of frames written. Errors: before anything is run, where nothing can be written to `path`; and
    KeyboardInterrupt and pbd.Diverged again, once the video is finished, with the number as attribute `frames`.
    """
    path = Path(path)
    still = path.suffix.lower() == ".png"
    with VideoWriter(path, fps) as video:
        if recording is None:
            running = Run(scene, solver, duration, dt, fps, **options)
            frames, last = running.frames(), running.count
        else:
            frames, last = replay(recording, fps), None
        camera = scene.camera
        renderer = Renderer(width, height, ground=scene.ground is not None, ground_height=scene.ground or 0.0)
        number = 0
        try:
            for number, frame in enumerate(frames, 1):
                camera = camera or camera_for(scene, frame, width / height)
                if not still or number == last:
                    video.write(picture(scene, frame, renderer, camera, solver if labels else None))
                if progress:
                    progress(number)
        except (KeyboardInterrupt, pbd.Diverged) as stop:
            if still and number:
                video.write(picture(scene, frame, renderer, camera, solver if labels else None))
            stop.frames = video.frames
            raise
        return video.frames


def picture(scene, frame, renderer, camera, solver=None):
    """One frame as an image (height, width, 3), labelled where a solver is named."""
    drawables = [surface for look in scene.looks for surface in look.draw(frame.positions, frame.poses)]
    image = renderer.draw(drawables, camera)
    return image if solver is None else draw_labels(image, f"{scene.name or 'scene'}   {solver}   {frame.time:5.2f} s")


def camera_for(scene, frame, aspect):
    """A camera that sees all that is drawn, as it stands at the start."""
    points = [frame.positions]
    for look in scene.looks:
        for surface in look.draw(frame.positions, frame.poses):
            points.append(surface.vertices if hasattr(surface, "vertices") else surface.positions)
    points = np.concatenate(points)
    return Camera.framing(points.min(axis=0), points.max(axis=0), aspect=aspect)


def replay(recording, fps):
    """Frames of a recording, at about so many a second."""
    if not isinstance(recording, Recording):
        raise TypeError(f"recording is {type(recording).__name__}: expected a scenes.Recording")
    interval = recording.times[1] - recording.times[0] if len(recording) > 1 else 1.0
    for k in range(0, len(recording), max(1, round(1 / (fps * interval)))):
        yield Frame(float(recording.times[k]), recording.positions[k], recording.poses[k])
