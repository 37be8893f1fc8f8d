"""Cameras of a live scene that defines none: they follow what leaves the picture. It does not depend on a browser."""

import itertools

import numpy as np

from scenes.visuals import Surface
from scenes.visuals.camera import Sight
from scenes.visuals.framing import MARGIN

EDGE = 1.02  # what is this near to the edge of the picture leaves it, as the margin of a Sight
SMOOTHING = 0.5  # time constant of the cameras [s]
CLOSE = 0.05  # a camera rests when it is this near to its goal, in distances to its target
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
            (self.following.discard if np.linalg.norm(goal - place) < CLOSE * distance else self.following.add)(who)
            moved[who] = sight.camera_at(place, middle - place[2])
        return moved


def box_around(drawn):
    """Corners of a box around all that is drawn, or a little larger (8, 3) [m].

    Args: drawn: Surfaces and Instances, one at least.
    """
    lower, upper = [], []
    for each in drawn:
        if isinstance(each, Surface):
            points, size = each.vertices, 0.0
        else:
            points, size = each.positions, np.linalg.norm(each.surface.vertices, axis=1).max(initial=0.0)
            size = size if each.scales is None else size * each.scales.max(axis=1, keepdims=True)
        if len(points):
            lower.append((points - size).min(axis=0))
            upper.append((points + size).max(axis=0))
    lower, upper = np.min(lower, axis=0), np.max(upper, axis=0)
    return lower + CORNERS * (upper - lower)
