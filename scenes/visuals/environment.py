"""Visuals of the environment: colliders, boxes that contain particles, and static surfaces."""

from dataclasses import dataclass

import numpy as np

from scenes.visuals.colours import BLUE, STEEL
from scenes.visuals.geometry import Instances
from scenes.visuals.primitives import tubes
from scenes.visuals.shapes import shape_surface


@dataclass
class ColliderVisual:
    """A collider of particles, drawn at its current pose. Args: collider: its index; shape; colour."""

    collider: int
    shape: object
    colour: tuple = BLUE

    def __post_init__(self):
        self.surface = shape_surface(self.shape, self.colour)

    def draw(self, frame):
        """Surfaces at one instant; an empty list for a plane, which is infinite. Args: a Frame."""
        if self.surface is None:
            return []
        pose = frame.poses[self.collider]
        return [Instances(self.surface, pose[None, :3], pose[None, 3:])]


@dataclass
class StaticVisual:
    """Surfaces that never move. Args: surfaces: a list of Surface and Instances."""

    surfaces: list

    def draw(self, frame):
        """Surfaces at one instant. Args: a Frame."""
        return self.surfaces


@dataclass
class BoxEdgesVisual:
    """The twelve edges of a box as rods. Args: lower, upper: (3,) corners [m]; radius of the rods [m]; colour."""

    lower: np.ndarray
    upper: np.ndarray
    radius: float = 0.01
    colour: tuple = STEEL

    def draw(self, frame):
        """Surfaces at one instant. Args: a Frame."""
        corners = np.array([[(k >> 2) & 1, (k >> 1) & 1, k & 1] for k in range(8)])
        corners = self.lower + corners * (np.asarray(self.upper) - self.lower)
        pairs = np.array([(a, b) for a in range(8) for b in range(a + 1, 8) if bin(a ^ b).count("1") == 1])
        return [tubes(corners[pairs[:, 0]], corners[pairs[:, 1]], self.radius, self.colour)]
