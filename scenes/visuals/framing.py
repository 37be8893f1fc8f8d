"""The camera of a scene at one instant; one that sees everything if the scene defines none."""

import numpy as np

from scenes.visuals.camera import Camera
from scenes.visuals.geometry import Surface

ASPECT = 16 / 9  # width divided by height of the pictures that scenes define cameras for


def scene_camera(scene, frame, aspect=ASPECT):
    """The Camera of a scene at one instant.

    Args: a Scene; a Frame; aspect: width of the picture divided by its height, if the scene has no camera.
    """
    return framing_camera(scene, frame, aspect) if scene.camera is None else scene.camera.at(frame)


def framing_camera(scene, frame, aspect=ASPECT):
    """Make a Camera that sees everything that a scene draws at one instant. Args: as for `scene_camera`."""
    return Camera.framing(*bounds_of(scene, frame), aspect=aspect)


def bounds_of(scene, frame):
    """Lower and upper corner (3,) of a box around everything that a scene draws [m]. Args: a Scene; a Frame."""
    points = [frame.positions]
    for visual in scene.visuals:
        for drawn in visual.draw(frame):
            if isinstance(drawn, Surface):
                points.append(drawn.vertices)
                continue
            scales = np.ones(3) if drawn.scales is None else np.reshape(drawn.scales, (len(drawn.positions), -1))
            radius = np.linalg.norm(np.abs(drawn.surface.vertices).max(axis=0) * scales, axis=-1, keepdims=True)
            points += [drawn.positions - radius, drawn.positions + radius]
    points = np.concatenate(points)
    return points.min(axis=0), points.max(axis=0)
