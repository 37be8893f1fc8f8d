"""Shapes: a class and a distance function each, for particles' colliders and, in `rigid`, for bodies.

Every shape has a frame of its own (position and rotation) and stands at that frame's origin in a normal form, so that
one pose moves it:

    plane     the half space z < 0                sphere   |x| < radius
    capsule   within radius of the segment ±half_length on z
    box       |x_k| < half_size_k                 mesh     a signed distance grid (pbd/collide/mesh.py)

The signed distance is negative inside; its gradient is the unit normal, outwards.
"""

from dataclasses import dataclass, field

import numpy as np
import taichi as ti

from pbd.collide.grid import grid_distance
from pbd.validate import finite_vector, positive, unit_quaternion, unit_vector

PLANE, SPHERE, CAPSULE, BOX, GRID = range(5)

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
class Capsule:
    """All points within a radius of a segment. Arguments: start, end (3,) of the segment [m]; radius [m]."""

    start: tuple = (0.0, 0.0, -0.5)
    end: tuple = (0.0, 0.0, 0.5)
    radius: float = 0.5
    kind = CAPSULE

    def __post_init__(self):
        self.start = finite_vector("capsule start", self.start)
        self.end = finite_vector("capsule end", self.end)
        self.radius = positive("capsule radius", self.radius)
        if np.array_equal(self.start, self.end):
            raise ValueError(f"capsule from {self.start.tolist()} to itself: expected two points; a Sphere has one")

    def pose(self):
        """Position (3,) and rotation (w, x, y, z) of the shape's frame."""
        return (self.start + self.end) / 2, rotation_between((0, 0, 1), self.end - self.start)

    def numbers(self):
        """Parameters in the normal form."""
        return self.radius, np.linalg.norm(self.end - self.start) / 2


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


@ti.func
def signed_distance(numbers: ti.template(), integers: ti.template(), grids: ti.template(), shape, x):
    """Signed distance [m] and outward unit normal of a shape, at a point of its own frame.

    Arguments:
        numbers, integers: arrays (shapes, NUMBERS) and (shapes, INTEGERS); grids: samples of all distance grids, flat.
        shape: index; x: point (3,) [m].
    """
    kind = integers[shape, 0]
    distance = x[2]
    normal = ti.Vector([0.0, 0.0, 1.0])
    if kind == SPHERE or kind == CAPSULE:
        offset = x
        if kind == CAPSULE:
            half = numbers[shape, 1]
            offset[2] -= ti.min(ti.max(x[2], -half), half)
        length = offset.norm()
        distance = length - numbers[shape, 0]
        if length > 0.0:
            normal = offset / length
    elif kind == BOX:
        distance, normal = box_distance(x, ti.Vector([numbers[shape, 1], numbers[shape, 2], numbers[shape, 3]]))
    elif kind == GRID:
        distance, normal = grid_distance(numbers, integers, grids, shape, x)
    return distance, normal


@ti.func
def box_distance(x, half):
    """Signed distance and normal of the box |x_k| < half_k: outside to the nearest point, inside to the nearest
    face."""
    nearest = ti.min(ti.max(x, -half), half)
    offset = x - nearest
    distance = offset.norm()
    normal = ti.Vector([0.0, 0.0, 1.0])
    if distance > 0.0:
        normal = offset / distance
    else:
        axis = 0
        distance = ti.abs(x[0]) - half[0]
        for k in ti.static(range(1, 3)):
            depth = ti.abs(x[k]) - half[k]
            if depth > distance:
                distance = depth
                axis = k
        side = 1.0
        for k in ti.static(range(3)):
            normal[k] = 0.0
            if k == axis:
                if x[k] < 0.0:
                    side = -1.0
                normal[k] = side
    return distance, normal


@dataclass
class Collider:
    """A shape that particles stay out of, and how they rub on it.

    Arguments:
        shape: any of the shapes above, or a MeshCollider.
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
