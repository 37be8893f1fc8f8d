"""The camera of a scene at one instant; one that sees everything if the scene defines none."""

import numpy as np

from rigid.rotation import rotate
from scenes.visuals.camera import Camera
from scenes.visuals.geometry import Surface

ASPECT = 16 / 9  # width divided by height of the pictures that scenes define cameras for
MARGIN = 1.5  # the scene fills two thirds of the picture, which leaves room for its motion
MOST_POINTS = 1_000_000  # of instances; of more, the corners of their boxes are seen


def scene_camera(scene, frame, aspect=ASPECT):
    """The Camera of a scene at one instant.

    Args: a Scene; a Frame; aspect: width of the picture divided by its height, if the scene has no camera.
    """
    return framing_camera(scene, frame, aspect) if scene.camera is None else scene.camera.at(frame)


def framing_camera(scene, frame, aspect=ASPECT):
    """Make a Camera that sees the subject of a scene, or all that it draws at one instant. Args: see `scene_camera`."""
    points = drawn_points(scene, frame) if scene.subject is None else scene.subject
    return Camera.framing_points(points, aspect=aspect, margin=MARGIN)


def bounds_of(scene, frame):
    """Lower and upper corner (3,) of a box around everything that a scene draws [m]. Args: a Scene; a Frame."""
    points = drawn_points(scene, frame)
    return points.min(axis=0), points.max(axis=0)


def drawn_points(scene, frame):
    """Points of everything that a scene draws at one instant (n, 3) [m]. Args: a Scene; a Frame."""
    drawn = [each for visual in scene.visuals for each in visual.draw(frame)]
    points = [each.vertices if isinstance(each, Surface) else instance_points(each) for each in drawn]
    return np.concatenate([points for points in (frame.positions, *points) if len(points)])


def instance_points(instances):
    """Points of all instances in the world (n, 3) [m]: vertices, or corners of boxes. Args: an Instances."""
    points, count = instances.surface.vertices, len(instances.positions)
    if len(points) * count > MOST_POINTS:
        points = np.stack(np.meshgrid(*zip(points.min(axis=0), points.max(axis=0))), axis=-1).reshape(8, 3)
    points = np.broadcast_to(points, (count, *points.shape))
    if instances.scales is not None:
        points = points * instances.scales[:, None]
    if instances.rotations is not None:
        points = rotate(instances.rotations[:, None], points)
    return (points + instances.positions[:, None]).reshape(-1, 3)
