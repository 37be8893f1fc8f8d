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

import math
from dataclasses import KW_ONLY, dataclass, field

import numpy as np
import taichi as ti

from pbd.core.distance import box_distance, cylinder_distance, hull_distance, rounded_distance
from pbd.core.grid import grid_distance
from pbd.core.validate import finite_vector, positive, unit_quaternion, unit_vector, whole

PLANE, SPHERE, CAPSULE, BOX, GRID, CYLINDER, HULL = range(7)

# What one shape takes in the arrays that kernels read: numbers and integers.
NUMBERS = 8
INTEGERS = 5


IDENTITY = np.array([1.0, 0.0, 0.0, 0.0])


@dataclass(eq=False, kw_only=True)
class Plane:
    """Half space below a plane.

    Args:
        point: any point on the plane (3,) [m].
        normal: direction out of the solid side (3,), of any length but zero.
    """

    point: np.ndarray = (0.0, 0.0, 0.0)
    normal: np.ndarray = (0.0, 0.0, 1.0)
    kind = PLANE

    def __post_init__(self):
        self.point = finite_vector("plane point", self.point)
        self.normal = unit_vector("plane normal", self.normal)

    def pose(self):
        """Position (3,) [m] and rotation (w, x, y, z) of the shape's frame."""
        return self.point, rotation_between((0, 0, 1), self.normal)

    def numbers(self):
        """Parameters in the normal form: none."""
        return ()

    def bounding_radius(self):
        """Radius [m] of the ball about the frame's origin that contains the shape: infinite."""
        return np.inf


@dataclass(eq=False)
class Sphere:
    """Solid sphere.

    Args:
        radius: above zero [m].
        centre: (3,) [m].
    """

    radius: float
    _: KW_ONLY
    centre: np.ndarray = (0.0, 0.0, 0.0)
    kind = SPHERE

    def __post_init__(self):
        self.radius = positive("sphere radius", self.radius)
        self.centre = finite_vector("sphere centre", self.centre)

    def pose(self):
        """Position (3,) [m] and rotation (w, x, y, z) of the shape's frame."""
        return self.centre, IDENTITY

    def numbers(self):
        """Parameters in the normal form: the radius."""
        return (self.radius,)

    def bounding_radius(self):
        """Radius [m] of the ball about the frame's origin that contains the shape."""
        return self.radius


@dataclass(eq=False, init=False)
class Rod:
    """Base of Capsule and Cylinder: a radius around a segment on the z axis of the shape's frame."""

    radius: float
    length: float
    centre: np.ndarray
    rotation: np.ndarray
    hint = ""  # what to use instead if both ends coincide

    def __init__(self, radius, length=None, *, start=None, end=None, centre=None, rotation=None):
        name = type(self).__name__.lower()
        self.radius = positive(f"{name} radius", radius)
        if start is None and end is None:
            if length is None:
                raise ValueError(f"{name} without length, start and end: expected length, or start and end")
            self.length = positive(f"{name} length", length)
            self.centre = finite_vector(f"{name} centre", (0.0, 0.0, 0.0) if centre is None else centre)
            self.rotation = unit_quaternion(f"{name} rotation", IDENTITY if rotation is None else rotation)
            return
        if start is None or end is None:
            raise ValueError(f"{name} with {'start' if end is None else 'end'} alone: expected both, or length")
        others = {"length": length, "centre": centre, "rotation": rotation}
        given = [key for key, value in others.items() if value is not None]
        if given:
            raise ValueError(f"{name} with start, end and {' and '.join(given)}: expected start and end alone")
        start, end = finite_vector(f"{name} start", start), finite_vector(f"{name} end", end)
        if np.array_equal(start, end):
            raise ValueError(f"{name} from {start.tolist()} to itself: expected two points{self.hint}")
        self.length = float(np.linalg.norm(end - start))
        self.centre, self.rotation = (start + end) / 2, rotation_between((0, 0, 1), end - start)

    def pose(self):
        """Position (3,) [m] and rotation (w, x, y, z) of the shape's frame."""
        return self.centre, self.rotation

    def numbers(self):
        """Parameters in the normal form: radius and half the length."""
        return self.radius, self.length / 2


class Capsule(Rod):
    """All points within a radius of a segment.

    Args:
        radius: above zero [m].
        length: of the segment, which lies on the z axis of the shape's frame [m].
        start, end: ends of the segment (3,) [m], in place of length, centre and rotation.
        centre: middle of the segment (3,) [m]; the origin if None.
        rotation: of the shape's frame (w, x, y, z); none if None.
    """

    kind = CAPSULE
    hint = "; did you mean Sphere?"

    def bounding_radius(self):
        """Radius [m] of the ball about the frame's origin that contains the shape."""
        return self.radius + self.length / 2


@dataclass(eq=False)
class Box:
    """Solid box.

    Args:
        size: full edge lengths (3,) [m].
        centre: (3,) [m].
        rotation: of the box's axes (w, x, y, z).
    """

    size: np.ndarray
    _: KW_ONLY
    centre: np.ndarray = (0.0, 0.0, 0.0)
    rotation: np.ndarray = (1.0, 0.0, 0.0, 0.0)
    kind = BOX

    def __post_init__(self):
        self.size = finite_vector("box size", self.size)
        for edge in self.size:
            positive("box size", edge)
        self.centre = finite_vector("box centre", self.centre)
        self.rotation = unit_quaternion("box rotation", self.rotation)

    def pose(self):
        """Position (3,) [m] and rotation (w, x, y, z) of the shape's frame."""
        return self.centre, self.rotation

    def numbers(self):
        """Parameters in the normal form: zero and the half edges."""
        return (0.0, *(self.size / 2))

    def bounding_radius(self):
        """Radius [m] of the ball about the frame's origin that contains the shape."""
        return float(np.linalg.norm(self.size) / 2)


class Cylinder(Rod):
    """Solid cylinder with flat ends.

    Args:
        radius: above zero [m].
        length: along the z axis of the shape's frame [m].
        start, end: centres of the end discs (3,) [m], in place of length, centre and rotation.
        centre: (3,) [m]; the origin if None.
        rotation: of the shape's frame (w, x, y, z); none if None.
    """

    kind = CYLINDER

    def bounding_radius(self):
        """Radius [m] of the ball about the frame's origin that contains the shape."""
        return math.hypot(self.radius, self.length / 2)

    def hull(self, sides=32):
        """A ConvexHull in the normal form: a prism with this number of sides and its corners on the cylinder."""
        from pbd.core.hull import ConvexHull  # which imports this file

        radius, half = self.numbers()
        angle = 2 * np.pi * np.arange(whole("sides", sides, least=3)) / sides
        rim = np.stack([radius * np.cos(angle), radius * np.sin(angle), np.full(sides, half)], axis=1)
        return ConvexHull(np.concatenate([rim, rim * (1, 1, -1)]))


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
