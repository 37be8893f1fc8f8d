"""Cameras of a live scene that defines none: they follow what leaves the picture. It does not depend on a browser."""

import itertools

import numpy as np

from rigid.rotation import normalised, rotate
from scenes.visuals import Surface
from scenes.visuals.camera import Sight
from scenes.visuals.framing import MARGIN

EDGE = 1.02  # margin of a Sight: what is nearer to the edge of the picture leaves it
SMOOTHING = 0.5  # time constant of the cameras [s]
CLOSE = 0.05  # a camera stops when it is this near to its goal, in distances to its target
CORNERS = np.array(list(itertools.product((0, 1), repeat=3)))


class Follower:
    """Moves cameras after what leaves their pictures, without turning them.

    A camera follows only what was in its picture before: one that a user has moved close to a detail stays there.

    Attributes: shown: corners of a box around all that the last frame showed (8, 3) [m]; None before the first. known:
    identifiers of all cameras so far. following: of those that move.
    """

    def __init__(self):
        self.shown, self.known, self.following = None, set(), set()

    def follow(self, cameras, corners, span):
        """Move cameras.

        Args: cameras: {identifier: (Camera, aspect of its picture)}; corners: of a box around all that is shown (8, 3)
        [m]; span: time since the last call [s].

        Returns: {identifier: Camera} of those that move.
        """
        moved, before, self.shown = {}, self.shown, corners
        if before is None or not np.isfinite(corners).all():
            return moved
        new, self.known = set(cameras) - self.known, self.known | set(cameras)
        for who, (camera, aspect) in cameras.items():
            options = camera.position - camera.target, camera.field_of_view, aspect
            edge, sight = Sight(*options, EDGE), Sight(*options, MARGIN)
            here = sight.axes @ camera.position
            room = edge.room(here, edge.reach(corners))
            leaves = room.min() < 0 and (who in new or edge.room(here, edge.reach(before)).min() >= 0)
            if not leaves and who not in self.following:
                continue
            reach = sight.reach(corners)
            goal, distance = sight.position(reach), sight.distance(reach)
            middle = goal[2] + distance
            goal[2] = min(goal[2], here[2])  # no nearer than the user has it
            gain = edge.room(goal, edge.reach(corners)) - room
            part = max(1 - np.exp(-span / SMOOTHING), *(-room / np.where(room < 0, gain, np.inf)))
            place = here + part * (goal - here)
            if np.linalg.norm(goal - place) < CLOSE * distance:
                self.following.discard(who)
            else:
                self.following.add(who)
            moved[who] = sight.camera_at(place, middle - place[2])
        return moved


def box_around(drawn):
    """Corners of a box around all that is drawn, or a little larger (8, 3) [m].

    Args: drawn: Surfaces and Instances that have vertices, one at least.
    """
    ends = [box_of(each) for each in drawn]
    lower, upper = (extreme([each[k] for each in ends], axis=0) for k, extreme in enumerate((np.min, np.max)))
    return lower + CORNERS * (upper - lower)


def box_of(drawn):
    """Lower and upper corner (3,) of a box around a Surface or Instances [m]: boxes of instances turn with them."""
    surface = drawn if isinstance(drawn, Surface) else drawn.surface
    lower, upper = surface.vertices.min(axis=0), surface.vertices.max(axis=0)
    if isinstance(drawn, Surface):
        return lower, upper
    scales = np.ones((1, 3)) if drawn.scales is None else drawn.scales
    middle, half = scales * (lower + upper) / 2, scales * (upper - lower) / 2
    if drawn.rotations is not None:
        axes = rotate(normalised(drawn.rotations)[:, None], np.eye(3))
        middle, half = (middle[:, None] @ axes)[:, 0], (half[:, None] @ np.abs(axes))[:, 0]
    middle = middle + drawn.positions
    return (middle - half).min(axis=0), (middle + half).max(axis=0)
