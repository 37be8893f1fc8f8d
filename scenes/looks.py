"""What a scene looks like: from positions to surfaces that the renderer, or any viewer, can draw."""

from dataclasses import dataclass

import numpy as np

from pbd.collide.shapes import BOX, CAPSULE, GRID, SPHERE
from scenes.render import geometry

RED, SAND, BLUE, STEEL, GOLD, GREEN, WOOD, CHALK = (
    (0.85, 0.30, 0.24),
    (0.86, 0.66, 0.52),
    (0.13, 0.32, 0.48),
    (0.45, 0.52, 0.58),
    (0.90, 0.68, 0.22),
    (0.36, 0.58, 0.28),
    (0.55, 0.40, 0.27),
    (0.88, 0.87, 0.84),
)


@dataclass
class Fabric:
    """Triangles of particles, in two tones. Arguments: triangles (n, 3) of indices; colours, sRGB 0..1; smooth."""

    triangles: np.ndarray
    colour: tuple = RED
    back_colour: tuple | None = SAND
    smooth: bool = True

    def draw(self, positions, poses):
        """Surfaces at one instant. Arguments: positions (particles, 3) [m]; poses (colliders, 7)."""
        used, triangles = np.unique(self.triangles, return_inverse=True)
        return [geometry.Surface(positions[used], triangles.reshape(-1, 3), self.colour, self.back_colour, self.smooth)]


@dataclass
class Strands:
    """Pairs of particles as rods. Arguments: pairs (n, 2) of indices; radius [m], for all or one each; colour."""

    pairs: np.ndarray
    radius: object = 0.01
    colour: tuple = WOOD

    def draw(self, positions, poses):
        """Surfaces at one instant. Arguments: positions (particles, 3) [m]; poses (colliders, 7)."""
        return [geometry.tubes(positions[self.pairs[:, 0]], positions[self.pairs[:, 1]], self.radius, self.colour)]


@dataclass
class Grains:
    """Particles as balls. Arguments: particles (n,) indices; radius [m], for all or one each; colour, or (n, 3)."""

    particles: np.ndarray
    radius: object = 0.02
    colour: object = GOLD

    def draw(self, positions, poses):
        """Surfaces at one instant. Arguments: positions (particles, 3) [m]; poses (colliders, 7)."""
        colours = np.asarray(self.colour, float)
        each = colours if colours.ndim == 2 else None
        one = GOLD if each is not None else tuple(colours)
        return [geometry.particles(positions[self.particles], self.radius, one, each)]


@dataclass
class Skin:
    """A fine surface carried by particles. Arguments: skin, with `vertices(positions)` and `triangles`; colour."""

    skin: object
    colour: tuple = GOLD

    def draw(self, positions, poses):
        """Surfaces at one instant. Arguments: positions (particles, 3) [m]; poses (colliders, 7)."""
        return [geometry.Surface(self.skin.vertices(positions), self.skin.triangles, self.colour, solid=True)]


@dataclass
class Stems:
    """The wood of a plant. Arguments: plant, with `axes(positions)`, `segments` and `radii`; colour."""

    plant: object
    colour: tuple = WOOD

    def draw(self, positions, poses):
        """Surfaces at one instant. Arguments: positions (particles, 3) [m]; poses (colliders, 7)."""
        ends = self.plant.axes(positions)[self.plant.segments]
        return [geometry.tubes(ends[:, 0], ends[:, 1], self.plant.radii.mean(axis=1), self.colour)]


@dataclass
class Solid:
    """A collider, where it is. Arguments: index of the collider; its shape; colour."""

    collider: int
    shape: object
    colour: tuple = BLUE

    def __post_init__(self):
        self.surface = shape_surface(self.shape, self.colour)

    def draw(self, positions, poses):
        """Surfaces at one instant. Arguments: positions (particles, 3) [m]; poses (colliders, 7)."""
        if self.surface is None:
            return []
        pose = poses[self.collider]
        return [geometry.Instances(self.surface, pose[None, :3], pose[None, 3:])]


@dataclass
class Edges:
    """The twelve edges of a box, as rods. Arguments: lower, upper (3,) [m]; radius [m]; colour."""

    lower: np.ndarray
    upper: np.ndarray
    radius: float = 0.01
    colour: tuple = STEEL

    def draw(self, positions, poses):
        """Surfaces at one instant. Arguments: positions (particles, 3) [m]; poses (colliders, 7)."""
        corners = np.array([[(k >> 2) & 1, (k >> 1) & 1, k & 1] for k in range(8)])
        corners = self.lower + corners * (np.asarray(self.upper) - self.lower)
        pairs = np.array([(a, b) for a in range(8) for b in range(a + 1, 8) if bin(a ^ b).count("1") == 1])
        return [geometry.tubes(corners[pairs[:, 0]], corners[pairs[:, 1]], self.radius, self.colour)]


def shape_surface(shape, colour):
    """The surface of a shape in its own frame; None for a plane, which has no end."""
    if shape.kind == SPHERE:
        return geometry.sphere(shape.radius, colour)
    if shape.kind == CAPSULE:
        return geometry.capsule(shape.radius, np.linalg.norm(shape.end - shape.start), colour)
    if shape.kind == BOX:
        return geometry.box(shape.size, colour)
    if shape.kind == GRID:
        return geometry.Surface(shape.mesh.vertices, shape.mesh.triangles, colour, solid=True)
    return None


def looks_of(particles):
    """Everything that a description holds: triangles, sticks that are no part of them, particles, colliders, boxes."""
    looks = []
    if len(particles.triangles):
        looks.append(Fabric(particles.triangles))
    extent = np.ptp(particles.positions, axis=0).max() if len(particles) else 1.0
    radius = 0.01 * extent or 0.02
    sticks = [batch.arrays()[0] for (kind, _), batch in particles.batches.items() if str(kind).startswith("stick")]
    if sticks and not len(particles.triangles):
        looks.append(Strands(np.concatenate(sticks), radius))
    if not len(particles.triangles):
        looks.append(Grains(np.arange(len(particles)), np.maximum(particles.radii, 1.6 * radius)))
    looks += [Solid(k, collider.shape) for k, collider in enumerate(particles.colliders)]
    looks += [Edges(box[:3], box[3:6], 0.5 * radius) for box in particles.boxes]
    return looks
