"""The camera of a scene at one instant; one that sees everything if the scene defines none."""

import numpy as np

from rigid.rotation import rotate
from scenes.visuals.camera import Camera, Sight
from scenes.visuals.geometry import Surface

ASPECT = 16 / 9  # width divided by height of the pictures that scenes define cameras for
MARGIN = 1.5  # a frame fills two thirds of the picture, which leaves room for motion that is not known yet
RUN_MARGIN = 1.2  # of a run whose frames are all known
MOST_POINTS = 1_000_000  # of instances; of more, the corners of their boxes are seen

# A camera stands still if it is at most this many times as far away as a single frame needs, and moves otherwise. Then
# it sees all that is in the picture within this time before and after [s].
FARTHER, AROUND = 12.0, 0.5


def scene_camera(scene, frame, aspect=ASPECT):
    """The Camera of a scene at one instant.

    Args: a Scene; a Frame; aspect: width of the picture divided by its height, if the scene has no camera.
    """
    return framing_camera(scene, frame, aspect) if scene.camera is None else scene.camera.at(frame)


def framing_camera(scene, frame, aspect=ASPECT):
    """Make a Camera that sees the subject of a scene, or all that it draws at one instant. Args: see `scene_camera`."""
    points = drawn_points(scene, frame) if scene.subject is None else scene.subject
    return Camera.framing_points(points, aspect=aspect, margin=MARGIN)


def needs_run(scene):
    """Whether the camera of a scene depends on all that happens in a run. Args: a Scene."""
    return scene.camera is None and scene.subject is None


def run_camera(scene, frames, aspect=ASPECT, margin=RUN_MARGIN):
    """The camera of a scene for a whole run: its own, or one that sees its subject or all that the frames draw.

    Args: a Scene; frames: a function that returns an iterable of all Frames, called if `needs_run`; aspect: see
    `scene_camera`; margin: see `Camera.framing_points`.

    Returns: an object with a method `at(frame)`, such as a Camera.
    """
    if not needs_run(scene):
        return framing_camera(scene, None, aspect) if scene.camera is None else scene.camera
    framing = RunFraming(scene, aspect, margin)
    for frame in frames():
        try:
            framing.add(frame)
        except ValueError:  # a run that diverges, which is drawn up to this frame
            if not framing.times:
                raise
            break
    return framing.camera()


class RunFraming:
    """Frames of a run that a camera shall see. Args: scene: a Scene; aspect, margin: see `run_camera`."""

    def __init__(self, scene, aspect=ASPECT, margin=RUN_MARGIN):
        self.scene, self.sight, self.times, self.reaches = scene, Sight(aspect=aspect, margin=margin), [], []

    def add(self, frame):
        """Note what a frame draws. Args: a Frame."""
        self.reaches.append(self.sight.reach(drawn_points(self.scene, frame)))
        self.times.append(frame.time)

    def camera(self):
        """A Camera that sees all frames; a MovingCamera if they are far from one another.

        Positions that see some points are a convex set, as `Sight.reach` has them. A moving camera is, at each time,
        at the mean of positions that all see what is shown at that time. So it sees that, too.
        """
        times, reaches, sight = np.array(self.times), np.array(self.reaches), self.sight
        whole = reaches.max(axis=0)
        if sight.distance(whole) <= FARTHER * np.median(sight.distance(reaches)):
            return sight.camera(whole)
        first, last = (np.searchsorted(times, times + step) for step in (-AROUND - 1e-9, AROUND + 1e-9))
        around = [slice(*each) for each in zip(first, last)]
        seen = np.array([reaches[each].max(axis=0) for each in around])
        positions, distances = sight.position(seen), sight.distance(seen)
        cameras = [sight.camera_at(positions[each].mean(axis=0), distances[each].mean()) for each in around]
        return MovingCamera(times, cameras)


class MovingCamera:
    """A camera for each frame of a run. Args: times (n,) [s], in ascending order; cameras: a list of n Cameras."""

    def __init__(self, times, cameras):
        self.times, self.cameras = times, cameras

    def at(self, frame):
        """The Camera of the frame that is nearest in time. Args: a Frame."""
        return self.cameras[int(np.abs(self.times - frame.time).argmin())]

    @property
    def distance(self):
        """The largest distance from a camera to its target [m]."""
        return max(float(np.linalg.norm(each.target - each.position)) for each in self.cameras)


class CameraTrack:
    """The cameras of a file, one for each frame that is added. Args: scene: a Scene."""

    def __init__(self, scene):
        self.scene, self.framing, self.known = scene, RunFraming(scene), []

    def add(self, frame):
        """Note a frame. Args: a Frame."""
        if needs_run(self.scene):
            self.framing.add(frame)
        else:
            self.known.append(scene_camera(self.scene, frame))

    def cameras(self):
        """A list of Cameras, one for each frame."""
        if self.known or not self.framing.times:
            return self.known
        camera = self.framing.camera()
        return camera.cameras if isinstance(camera, MovingCamera) else [camera] * len(self.framing.times)


def bounds_of(scene, frame):
    """Lower and upper corner (3,) of a box around everything that a scene draws [m]. Args: a Scene; a Frame."""
    points = drawn_points(scene, frame)
    return points.min(axis=0), points.max(axis=0)


def drawn_points(scene, frame):
    """Points of everything that a scene draws at one instant (n, 3) [m]. Args: a Scene; a Frame."""
    drawn = [each for visual in scene.visuals for each in visual.draw(frame)]
    points = [each.vertices if isinstance(each, Surface) else instance_points(each) for each in drawn]
    return np.concatenate([points for points in (touching_particles(scene, frame), *points) if len(points)])


def touching_particles(scene, frame):
    """Positions of particles (n, 3) [m] without those of negative radius, which stand beside rods. Args: see above."""
    if scene.particles is None:
        return frame.positions
    return frame.positions[scene.particles.radii() >= 0]


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
