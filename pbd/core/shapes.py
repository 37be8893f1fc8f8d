"""Shapes: a class and a distance function each, for particles' colliders and, in `rigid`, for bodies.

Every shape has a frame of its own (position and rotation) and stands at that frame's origin in a normal form, so that
one pose moves it:

    plane     the half space z < 0                sphere   |x| < radius
    capsule   within radius of the segment ±half_length on z
    box       |x_k| < half_size_k                 mesh     a signed distance grid (pbd/core/mesh_collider.py)
    cylinder  radius about z, between ±half_length
    hull      the convex body of its vertices (pbd/core/hull.py)

The signed distance is negative inside; its gradient is the unit normal, outwards.
"""

from dataclasses import dataclass, field

import numpy as np
import taichi as ti

from pbd.core.distance import box_distance, cylinder_distance, hull_distance, rounded_distance
from pbd.core.grid import grid_distance
from pbd.core.validate import finite_vector, positive, unit_quaternion, unit_vector, whole

PLANE, SPHERE, CAPSULE, BOX, GRID, CYLINDER, HULL = range(7)

# What one shape takes in the arrays that kernels read: numbers and integers.
NUMBERS = 8
INTEGERS = 5


@dataclass
class Plane:
    """Half space below a plane.

    Arguments: point (3,) on the plane [m]; normal (3,) out of the solid side, of any length but zero.
    """

    point: tuple = (0.0, 0.0, 0.0)
    normal: tuple = (0.0, 0.0, 1.0)
    kind = PLANE

    def __post_init__(self):
        self.point = finite_vector("plane point", self.point)
        self.normal = unit_vector("plane normal", self.normal)

    def pose(self):
        """Position (3,) and rotation (w, x, y, z) of the shape's frame."""
        return self.point, rotation_between((0, 0, 1), self.normal)

    def numbers(self):
        """Parameters in the normal form."""
        return ()


@dataclass
class Sphere:
    """Ball. Arguments: centre (3,) [m]; radius [m]."""

    centre: tuple = (0.0, 0.0, 0.0)
    radius: float = 1.0
    kind = SPHERE

    def __post_init__(self):
        self.centre = finite_vector("sphere centre", self.centre)
        self.radius = positive("sphere radius", self.radius)

    def pose(self):
        """Position (3,) and rotation (w, x, y, z) of the shape's frame."""
        return self.centre, IDENTITY

    def numbers(self):
        """Parameters in the normal form."""
        return (self.radius,)


@dataclass
class Rod:
    """What capsules and cylinders have in common: two ends and a radius. No shape by itself."""

    start: tuple = (0.0, 0.0, -0.5)
    end: tuple = (0.0, 0.0, 0.5)
    radius: float = 0.5
    hint = ""  # for whom both ends are one

    def __post_init__(self):
        name = type(self).__name__.lower()
        self.start = finite_vector(f"{name} start", self.start)
        self.end = finite_vector(f"{name} end", self.end)
        self.radius = positive(f"{name} radius", self.radius)
        if np.array_equal(self.start, self.end):
            raise ValueError(f"{name} from {self.start.tolist()} to itself: expected two points{self.hint}")

    def pose(self):
        """Position (3,) and rotation (w, x, y, z) of the shape's frame."""
        return (self.start + self.end) / 2, rotation_between((0, 0, 1), self.end - self.start)

    def numbers(self):
        """Parameters in the normal form."""
        return self.radius, np.linalg.norm(self.end - self.start) / 2


@dataclass
class Capsule(Rod):
    """All points within a radius of a segment. Arguments: start, end (3,) of the segment [m]; radius [m]."""

    kind = CAPSULE
    hint = "; a Sphere has one"


@dataclass
class Box:
    """Solid box. Arguments: centre (3,) [m]; size (3,), the full edges [m]; rotation (w, x, y, z)."""

    centre: tuple = (0.0, 0.0, 0.0)
    size: tuple = (1.0, 1.0, 1.0)
    rotation: tuple = (1.0, 0.0, 0.0, 0.0)
    kind = BOX

    def __post_init__(self):
        self.centre = finite_vector("box centre", self.centre)
        self.size = finite_vector("box size", self.size)
        for edge in self.size:
            positive("box size", edge)
        self.rotation = unit_quaternion("box rotation", self.rotation)

    def pose(self):
        """Position (3,) and rotation (w, x, y, z) of the shape's frame."""
        return self.centre, self.rotation

    def numbers(self):
        """Parameters in the normal form."""
        return (0.0, *(self.size / 2))


@dataclass
class Cylinder(Rod):
    """Solid cylinder with flat ends. Arguments: start, end (3,), the middles of its ends [m]; radius [m]."""

    kind = CYLINDER

    def hull(self, sides=32):
        """A ConvexHull in its place, in the normal form: a prism of so many sides whose corners lie on the cylinder."""
        from pbd.core.hull import ConvexHull  # which imports this file

        radius, half = self.numbers()
        angle = 2 * np.pi * np.arange(whole("sides", sides, least=3)) / sides
        rim = np.stack([radius * np.cos(angle), radius * np.sin(angle), np.full(sides, half)], axis=1)
        return ConvexHull(np.concatenate([rim, rim * (1, 1, -1)]))


IDENTITY = np.array([1.0, 0.0, 0.0, 0.0])


def rotation_between(a, b):
    """Quaternion (w, x, y, z) of the shortest rotation that takes direction a to direction b."""
    a, b = np.asarray(a, float) / np.linalg.norm(a), np.asarray(b, float) / np.linalg.norm(b)
    if a @ b < -1 + 1e-12:  # opposite: half a turn about any axis at a right angle
        axis = np.cross(a, np.eye(3)[np.argmin(np.abs(a))])
        return np.concatenate([[0.0], axis / np.linalg.norm(axis)])
    q = np.concatenate([[1 + a @ b], np.cross(a, b)])
    return q / np.linalg.norm(q)


@ti.func
def rotate(q, v):
    """v turned by the unit quaternion q (w, x, y, z)."""
    u = ti.Vector([q[1], q[2], q[3]])
    t = 2.0 * u.cross(v)
    return v + q[0] * t + u.cross(t)


@ti.func
def rotate_back(q, v):
    """v turned by the inverse of the unit quaternion q."""
    return rotate(ti.Vector([q[0], -q[1], -q[2], -q[3]]), v)


def any_solid(kinds):
    """Whether any of these kinds has its distance from `solid_distance`, and is no plane."""
    return any(kind not in (PLANE, GRID, HULL) for kind in kinds)


@ti.func
def signed_distance(
    numbers: ti.template(), integers: ti.template(), grids: ti.template(), kinds: ti.template(), shape, x
):
    """Signed distance [m] and outward unit normal of a shape, at a point of its own frame.

    Exact but for a grid's, see pbd/core/mesh_collider.py, and a hull's past its edges, see hull_distance.

    Arguments:
        numbers, integers: arrays (shapes, NUMBERS) and (shapes, INTEGERS); grids: samples() of all shapes, flat.
        kinds: of shapes that there are, a tuple; a kernel is compiled for these.
        shape: index; x: point (3,) [m].
    """
    kind = integers[shape, 0]
    distance, normal = x[2], ti.Vector([0.0, 0.0, 1.0])  # a plane's
    if ti.static(GRID in kinds):
        if kind == GRID:
            distance, normal = grid_distance(numbers, integers, grids, shape, x)
    if ti.static(HULL in kinds):
        if kind == HULL:
            distance, normal = hull_distance(grids, integers[shape, 1], integers[shape, 2], x)
    if ti.static(any_solid(kinds)):
        if kind != GRID and kind != HULL:
            given = ti.Vector([numbers[shape, k] for k in ti.static(range(4))])
            distance, normal = solid_distance(kind, given, x)
    return distance, normal


@ti.func
def solid_distance(kind, numbers, x):
    """Signed distance [m] and outward unit normal of a shape that its first four numbers describe, at a point."""
    distance, normal = x[2], ti.Vector([0.0, 0.0, 1.0])  # a plane's
    if kind == SPHERE or kind == CAPSULE:
        distance, normal = rounded_distance(x, numbers[0], numbers[1])
    elif kind == BOX:
        distance, normal = box_distance(x, ti.Vector([numbers[1], numbers[2], numbers[3]]))
    elif kind == CYLINDER:
        distance, normal = cylinder_distance(x, numbers[0], numbers[1])
    return distance, normal


@dataclass
class Collider:
    """A shape that particles stay out of, and how they rub on it.

    Arguments:
        shape: any of the shapes above, a ConvexHull or a MeshCollider.
        friction: Coulomb's μ; restitution: Newton's e in [0, 1].
        motion: None for one at rest, or a function of time [s] that gives the position (3,) of the shape's frame, or
            (position, rotation (w, x, y, z)); velocities follow from it.
    """

    shape: object
    friction: float = 0.0
    restitution: float = 0.0
    motion: object = field(default=None, repr=False)

    def same(self, other):
        """Whether another collider has the same shape in the same place, and the same surface."""
        return (
            self.shape.kind == other.shape.kind
            and np.array_equal(self.shape.numbers(), other.shape.numbers())
            and np.array_equal(samples(self.shape), samples(other.shape))
            and all(map(np.array_equal, self.shape.pose(), other.shape.pose()))
            and (self.friction, self.restitution) == (other.friction, other.restitution)
        )

    def pose(self, time):
        """Position and rotation at a time [s], as seven numbers."""
        position, rotation = self.shape.pose()
        if self.motion is not None:
            given = self.motion(time)
            if not hasattr(given, "__len__"):
                raise TypeError(f"a collider's motion gave {given!r}: expected a position, or (position, rotation)")
            if len(given) == 2:
                position, rotation = given[0], unit_quaternion("rotation given by a collider's motion", given[1])
            else:
                position = given
            position = finite_vector("position given by a collider's motion", position)
        return np.concatenate([position, rotation])


def samples(shape):
    """What kernels read of a shape besides its numbers: a grid's distances, a hull's planes, of others nothing."""
    return shape.samples() if hasattr(shape, "samples") else np.zeros(0)
