"""Visuals of particles: cloth, sticks, spheres, skins, plants.

A visual has a method `draw(frame)`. It takes a Frame (scenes/simulate/recording.py) and returns a list of Surface and
Instances.
"""

from dataclasses import dataclass

import numpy as np

from pbd.host.edges import have_both
from scenes.visuals.colours import GOLD, RED, SAND, WOOD
from scenes.visuals.geometry import Surface
from scenes.visuals.primitives import rods, spheres


@dataclass
class ClothVisual:
    """Triangles between particles, with a colour for each side. Those at a torn stick are not drawn.

    Args:
        triangles: (n, 3) indices of particles.
        colour, back_colour: sRGB from 0 to 1; back_colour None for the same colour on both sides.
        smooth: as in Surface.
    """

    triangles: np.ndarray
    colour: tuple = RED
    back_colour: tuple | None = SAND
    smooth: bool = True

    def __post_init__(self):
        # Only particles that a triangle uses become vertices.
        self.vertex_particles, corners = np.unique(self.triangles, return_inverse=True)
        self.corners = corners.reshape(-1, 3).astype(np.int32)
        self._torn, self._whole = 0, self.corners

    def draw(self, frame):
        """Surfaces at one instant; an empty list if there are no triangles. Args: a Frame."""
        if len(frame.torn) != self._torn:
            self._torn, self._whole = len(frame.torn), self.corners[~have_both(self.triangles, frame.torn)]
        if not len(self._whole):
            return []
        vertices, velocities = frame.positions[self.vertex_particles], velocities_of(frame, self.vertex_particles)
        return [
            Surface(vertices, self._whole, self.colour, self.back_colour, self.smooth, velocities=velocities)
        ]


@dataclass
class StickVisual:
    """Rods between pairs of particles. A torn one is not drawn.

    Args: pairs: (n, 2) indices of particles; radius: one for all, or (n,) [m]; colour; sectors, rings: facets around a
    rod and to the pole of an end: few for thousands of thin ones, as pages keep all.
    """

    pairs: np.ndarray
    radius: object = 0.01
    colour: tuple = WOOD
    sectors: int = 12
    rings: int = 3

    def draw(self, frame):
        """Surfaces at one instant; an empty list if there are no pairs. Args: a Frame."""
        drawn = rods(frame.positions, self.pairs, self.radius, self.colour, self.sectors, self.rings)
        if len(frame.torn):
            drawn = drawn.only(~have_both(self.pairs, frame.torn))
        return [drawn] if len(drawn.triangles) else []


@dataclass
class ParticleVisual:
    """A sphere for each particle.

    Args: particles: (n,) indices; radius: one for all, or (n,) [m]; colour: one for all, or (n, 3).
    """

    particles: np.ndarray
    radius: object = 0.02
    colour: object = GOLD

    def draw(self, frame):
        """Surfaces at one instant. Args: a Frame."""
        colours, velocities = np.asarray(self.colour, float), velocities_of(frame, self.particles)
        one, each = (tuple(colours), None) if colours.ndim == 1 else (GOLD, colours)
        return [spheres(frame.positions[self.particles], self.radius, one, each, velocities=velocities)]


@dataclass
class SkinVisual:
    """A fine surface that follows coarse particles.

    Args: skin: a pbd.build skin, with `vertices(positions)` and `triangles`; colour.
    """

    skin: object
    colour: tuple = GOLD

    def draw(self, frame):
        """Surfaces at one instant. Args: a Frame."""
        vertices = self.skin.vertices(frame.positions)
        # Vertices are sums of positions with constant weights, and so are their velocities.
        velocities = self.skin.vertices(frame.velocities) if len(frame.velocities) else None
        return [Surface(vertices, self.skin.triangles, self.colour, solid=True, velocities=velocities)]


@dataclass
class PlantVisual:
    """The stems of a plant. Args: plant: a pbd.build plant, with `axes(positions)`, `segments` and `radii`; colour."""

    plant: object
    colour: tuple = WOOD

    def draw(self, frame):
        """Surfaces at one instant. Args: a Frame."""
        axes = self.plant.axes(frame.positions)
        return [rods(axes, self.plant.segments, self.plant.radii.mean(axis=1), self.colour)]


def velocities_of(frame, particles):
    """Velocities (n, 3) of particles [m/s]; None if a frame has none. Args: a Frame; particles: (n,) indices."""
    return frame.velocities[particles] if len(frame.velocities) else None
