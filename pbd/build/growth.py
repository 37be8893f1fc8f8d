"""Growth: the skeleton of a plant during its construction, and what plants of sticks and of rods have in common."""

import math
from dataclasses import dataclass, field

import numpy as np

UP = np.array([0.0, 0.0, 1.0])

LEAF_WIDTH = 0.3  # half a leaf's width, as a part of its length
LEAF_FREQUENCY = 4.0  # at which a leaf swings on its stem [Hz]


@dataclass
class Plant:
    """Indices of a plant in its Particles.

    Attributes:
        particles: (n,).
        roots: pinned particles.
        sticks: (s, 2), of stems that resist twist the two nodes of each segment, then those of leaves.
        triangles: leaves (t, 3), two triangles each.
        segments: (k, 2), pieces of stems from foot to tip, as indices of points on their axes, see `axes`.
        radii: (k, 2), of each segment at both ends [m].
        supports, weights: (a, 4), the points on the axes as weighted sums of particles.
        rods: (k,), rows of `pbd.Particles.rod_segments` of `segments`; empty for stems of sticks.
    """

    particles: np.ndarray
    roots: np.ndarray
    sticks: np.ndarray
    triangles: np.ndarray
    segments: np.ndarray
    radii: np.ndarray
    supports: np.ndarray
    weights: np.ndarray
    rods: np.ndarray = field(default_factory=lambda: np.zeros(0, int))

    def axes(self, positions):
        """Points on the axes of stems (a, 3) [m], from the positions of all particles (particles, 3) [m]."""
        return np.einsum("nk,nkj->nj", self.weights, np.asarray(positions)[self.supports])


class Growth:
    """The plant during its construction, in lists. Indices of nodes count from zero.

    Args: density: of the wood [kg/m³]; stiffness: Young's modulus [Pa]; leaf_length [m]; leaf_mass [kg].
    """

    def __init__(self, density, stiffness, leaf_length, leaf_mass):
        self.density, self.stiffness, self.leaf_length, self.leaf_mass = density, stiffness, leaf_length, leaf_mass
        self.positions, self.masses = [], []
        self.segments, self.radii, self.triangles = [], [], []

    def node(self, position, mass=0.0):
        """Add a node. Returns: its index."""
        self.positions.append(position)
        self.masses.append(mass)
        return len(self.positions) - 1

    def wood(self, a, b, radius_a, radius_b):
        """Add a piece of stem between two nodes, which share its mass."""
        length = np.linalg.norm(self.positions[b] - self.positions[a])
        mass = self.density * math.pi * (radius_a**2 + radius_a * radius_b + radius_b**2) / 3 * length
        self.masses[a] += mass / 2
        self.masses[b] += mass / 2
        self.segments.append((a, b))
        self.radii.append((radius_a, radius_b))

    def leaf_axes(self, direction):
        """Unit vectors of a leaf: along it, to its left, and up from it. Args: direction: from its stem (3,)."""
        direction = direction / np.linalg.norm(direction)
        left = np.cross(UP, direction)
        left = left / np.linalg.norm(left) if np.linalg.norm(left) > 1e-6 else turned(direction, 0.0)
        return direction, left, np.cross(direction, left)


def turned(direction, angle, reference=None):
    """A unit vector at a right angle to a direction, at an angle [rad] from the reference's projection.

    Without a reference, an arbitrary one is used, which may jump between directions. So along a stem each node passes
    its reference to the next.
    """
    reference = np.eye(3)[np.argmin(np.abs(direction))] if reference is None else reference
    side = reference - (reference @ direction) * direction
    side /= np.linalg.norm(side)
    return math.cos(angle) * side + math.sin(angle) * np.cross(direction, side)
