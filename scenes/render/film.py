"""From a scene to a picture or a video: step, draw, label and encode one frame at a time."""

import contextlib
from pathlib import Path

from scenes.render.label import draw_labels
from scenes.render.renderer import Renderer
from scenes.render.video import VideoWriter, check_output
from scenes.simulate.device import initialise
from scenes.simulate.run import Replay, Run
from scenes.visuals.framing import framing_camera


def film(
    scene, path, solver=None, duration=None, dt=None, fps=30.0, width=1280, height=720, labels=True,
    recording=None, progress=None, **options,
):  # fmt: skip
    """Run a scene and write a video (.mp4, .gif) or a picture of the end (.png).

    Only one frame is kept in memory. After Ctrl-C, or if the run diverges, the video contains the frames until then.

    Args:
        scene: a Scene.
        path: of the file; its suffix chooses the format.
        solver, duration, dt, options: as for `scenes.run`.
        fps: frames a second [1/s], rounded to whole steps. A second of film is a simulated second.
        width, height: of the picture [pixels].
        labels: whether scene, solver and time are written into a corner.
        recording: a Recording of the scene to draw, instead of a run.
        progress: called with the number of each frame, from 1 on, and with the number of all frames.

    Returns: number of frames written.

    Raises: an OSError or ValueError before anything runs if `path` cannot be written. KeyboardInterrupt, pbd.Diverged
        and others after the video is finished; their attribute `frames` is the number of frames written.
    """
    check_output(path)
    source = Run(scene, solver, duration, dt, fps, **options) if recording is None else Replay(scene, recording, fps)
    return draw_frames(source, path, renderer_for(scene, width, height), labels, progress)


def renderer_for(scene, width, height):
    """Make a Renderer with the floor of a scene. Args: a Scene; width, height [pixels]."""
    initialise()  # a process that only draws a recording has not called ti.init yet
    return Renderer(width, height, ground=scene.ground is not None, ground_height=scene.ground or 0.0)


def draw_frames(source, path, renderer, labels=True, progress=None):
    """Draw all frames of a Run or a Replay into a file. Args, Returns, Raises: as for `film`."""
    scene = source.scene
    camera, solver = scene.camera, source.solver if labels else None
    only_last = Path(path).suffix.lower() == ".png"
    with VideoWriter(path, source.fps) as video:
        number = 0
        try:
            for number, frame in enumerate(source.frames(), 1):
                camera = camera or framing_camera(scene, frame, renderer.width / renderer.height)
                if not only_last or number == source.count:
                    video.write(picture(scene, frame, renderer, camera, solver))
                if progress:
                    progress(number, source.count)
        except (KeyboardInterrupt, Exception) as stop:
            if only_last and number and not video.frames:
                with contextlib.suppress(Exception):  # the frame itself may be the reason
                    video.write(picture(scene, frame, renderer, camera, solver))
            stop.frames = video.frames
            raise
        return video.frames


def picture(scene, frame, renderer, camera, solver=None):
    """Draw one frame.

    Args: scene; frame; renderer; camera: a Camera or FollowingCamera; solver: name for the label, None for no label.

    Returns: image (height, width, 3) uint8.
    """
    try:
        drawables = [surface for visual in scene.visuals for surface in visual.draw(frame)]
        image = renderer.draw(drawables, camera.at(frame))
    except ValueError as error:  # positions too large for single precision, because the run diverges
        raise ValueError(f"at {frame.time:.6g} s the scene cannot be drawn: {error}") from error
    return image if solver is None else draw_labels(image, f"{scene.name or 'scene'}   {solver}   {frame.time:5.2f} s")
