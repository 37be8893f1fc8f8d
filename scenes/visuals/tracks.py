"""Visuals of paths: the tracks that wheels leave on the ground, and the paths of points of bodies."""

from dataclasses import dataclass, field, replace

import numpy as np

from rigid.rotation import rotate
from scenes.visuals.colours import BLUE
from scenes.visuals.primitives import tubes

SPACING = 0.06  # between the points of a path [m]


@dataclass(kw_only=True)
class PathVisual:
    """The path of a point, whose position `point(frame)` each kind of path defines.

    It remembers the instants that it has drawn, so it shows one recording at a time: see `forget`. An instant before
    the last one shortens the path.

    Args:
        radius: of the line [m].
        colour: of the line.
        count: number of its pieces; if there are more, the oldest vanish.

    Attributes:
        times: of the remembered instants [s].
        points: where the point was then, each (3,) [m].
    """

    radius: float = 0.012
    colour: tuple = BLUE
    count: int = 600
    times: list = field(default_factory=list, repr=False)
    points: list = field(default_factory=list, repr=False)

    def forget(self):
        """A copy that remembers nothing, for another recording of the scene."""
        return replace(self, times=[], points=[])

    def remember(self, frame):
        """Note where the point is. Args: a Frame. Returns: that point (3,) [m]."""
        while self.times and self.times[-1] >= frame.time:
            self.times.pop(), self.points.pop()
        now = self.point(frame)
        if not self.points or np.linalg.norm(now - self.points[-1]) >= SPACING:
            self.times.append(frame.time)
            self.points.append(now)
        return now

    def draw(self, frame):
        """Surfaces at one instant. Args: a Frame."""
        now = self.remember(frame)
        path = np.array([*self.points, now])[-self.count - 1 :]
        # The number of pieces stays, because a page cannot change it.
        path = np.concatenate([path, np.tile(now, (self.count + 1 - len(path), 1))])
        joined = np.ones(self.count - 1, bool)
        return [tubes(path[:-1], path[1:], self.radius, self.colour, sectors=6, rings=1, joined=joined)]


@dataclass
class TrackVisual(PathVisual):
    """The track of a wheel (rigid.Model.add_wheel): where its rim has touched the plane.

    Args: model: a rigid.Model; joint: name of the wheel; more: of PathVisual.
    """

    model: object
    joint: str

    def point(self, frame):
        """The lowest point of the rim (3,) [m]. Args: a Frame."""
        joint = self.model.joint(self.joint)
        pose, normal = frame.body_poses[joint.child], joint.parent_axes[0]
        axis = rotate(pose[3:], joint.child_axes[0])
        across = normal - normal @ axis * axis
        return pose[:3] + rotate(pose[3:], joint.child_anchor) - joint.radius * across / np.linalg.norm(across)


@dataclass
class TrailVisual(PathVisual):
    """The path of a point that is fixed to a body.

    Args: body: its index; anchor: the point in the frame of the body (3,) [m]; more: of PathVisual.
    """

    body: int
    anchor: tuple

    def point(self, frame):
        """The point in the world (3,) [m]. Args: a Frame."""
        pose = frame.body_poses[self.body]
        return pose[:3] + rotate(pose[3:], np.asarray(self.anchor, float))


def with_own_memory(scene):
    """A copy of a scene, if it has visuals that remember frames, such as tracks. Recordings must not share these.

    Args: scene: a Scene.
    """
    visuals = [visual.forget() if hasattr(visual, "forget") else visual for visual in scene.visuals]
    same = all(new is old for new, old in zip(visuals, scene.visuals))
    return scene if same else replace(scene, visuals=visuals)
