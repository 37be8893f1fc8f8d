"""Bodies and the shapes on them: what a model stores of each and what solvers read."""

import math
import warnings
from dataclasses import dataclass, field

import numpy as np

from pbd.core.messages import shown
from pbd.core.rotation import IDENTITY
from pbd.core.validate import (
    LARGEST,
    boolean,
    finite_number,
    finite_vector,
    fraction,
    function_of_time,
    not_negative,
    unit_quaternion,
    whole,
)
from rigid.mass import MassProperties, combined
from rigid.paths import START, displacement, pose_on_path
from rigid.rotation import rotate, rotate_back

EVERY_GROUP = 2**31 - 1
FAR = 5  # a shape farther from its body than this many radii was probably given in the wrong frame


@dataclass(eq=False, kw_only=True)
class Body:
    """Rigid body at time zero. The origin of its frame is the centre of mass.

    Args:
        name: unique among the model's bodies.
        position: of the centre of mass (3,) [m].
        rotation: of the frame (w, x, y, z).
        velocity: of the centre of mass, in the world frame (3,) [m/s].
        angular_velocity: in the world frame (3,) [rad/s].
        mass: [kg]; zero until a shape with mass is added.
        inertia: about the centre of mass, in the body's frame (3, 3) [kg m²].
        path: function of time [s] that returns its position (3,), or (position, rotation): the body is kinematic; None
            for a body that forces move. See Model.add_body.
        gravity_scale: what part of gravity acts on it.
    """

    name: str
    position: np.ndarray = (0.0, 0.0, 0.0)
    rotation: np.ndarray = tuple(IDENTITY)
    velocity: np.ndarray = (0.0, 0.0, 0.0)
    angular_velocity: np.ndarray = (0.0, 0.0, 0.0)
    mass: float = 0.0
    inertia: np.ndarray = field(default_factory=lambda: np.zeros((3, 3)))
    path: object = None
    gravity_scale: float = 1.0

    def __post_init__(self):
        for name, most in (("position", LARGEST), ("velocity", math.inf), ("angular_velocity", LARGEST)):
            setattr(self, name, finite_vector(name, getattr(self, name), most))
        self.rotation = unit_quaternion("rotation", self.rotation)
        self.gravity_scale = finite_number("gravity_scale", self.gravity_scale)
        if self.path is not None:
            self._begin_path()

    def _begin_path(self):
        """Take the pose at time zero from the path, if no other was given."""
        function_of_time(f"path of {self.name!r}", self.path)
        if self.velocity.any() or self.angular_velocity.any():
            raise ValueError(f"velocity of {self.name!r}, which follows a path: expected none, the path gives it")
        start, given = self.pose_at(0.0), np.concatenate([self.position, self.rotation])
        if not self.position.any() and np.array_equal(self.rotation, IDENTITY):
            self.position, self.rotation = finite_vector(f"start of the path of {self.name!r}", start[:3]), start[3:]
        elif np.abs(displacement(given, start)).max() > START:
            raise ValueError(
                f"path of {self.name!r} begins at {shown(start)}: expected its position and rotation {shown(given)}"
            )

    def pose_at(self, time):
        """Position and rotation on the path at a time [s] (7,). Raises: TypeError, ValueError: see pose_on_path."""
        return pose_on_path(self.name, self.path, time, self.rotation)

    def local_point(self, point):
        """Points (..., 3) of the world at time zero [m], in the body's frame."""
        return rotate_back(self.rotation, point - self.position)

    def world_point(self, point):
        """Points (..., 3) of the body's frame [m], in the world at time zero."""
        return self.position + rotate(self.rotation, point)

    def local_direction(self, direction):
        """Directions (..., 3) of the world at time zero, in the body's frame."""
        return rotate_back(self.rotation, direction)

    def world_direction(self, direction):
        """Directions (..., 3) of the body's frame, in the world at time zero."""
        return rotate(self.rotation, direction)

    def add_mass(self, part):
        """Add MassProperties given in the body's frame, and move the frame to the new centre of mass.

        Returns: the new centre of mass in the old frame (3,) [m].
        """
        total = combined([MassProperties(self.mass, np.zeros(3), self.inertia), part]) if self.mass else part
        self.mass, self.inertia, shift = total.mass, total.inertia, total.centre
        if shift.any():
            self.position = self.world_point(shift)
            self.velocity = self.velocity + np.cross(self.angular_velocity, self.world_direction(shift))
        return shift


@dataclass(eq=False, kw_only=True)
class BodyShape:
    """Shape on a body or on the ground, with its surface.

    Args:
        shape: kind and sizes. `position` and `rotation` below replace shape.pose().
        body: index of the body, or rigid.GROUND.
        position, rotation: of the shape's frame, in the body's frame (3,) [m], (w, x, y, z).
        friction: Coulomb coefficient.
        restitution: Newton coefficient, from 0 to 1.
        rolling_friction, spinning_friction: largest torque against rolling, and against rotation about the contact
            normal, divided by the normal force [m].
        group, mask: bits. Two shapes collide if each one's group shares a bit with the other's mask.
        visible: whether it is drawn. Solvers do not read this.
    """

    shape: object
    body: int
    position: np.ndarray
    rotation: np.ndarray
    friction: float = 0.5
    restitution: float = 0.0
    rolling_friction: float = 0.0
    spinning_friction: float = 0.0
    group: int = 1
    mask: int = EVERY_GROUP
    visible: bool = True

    def __post_init__(self):
        self.visible = boolean("visible", self.visible)
        for name in ("friction", "rolling_friction", "spinning_friction"):
            setattr(self, name, not_negative(name, getattr(self, name)))
        self.restitution = fraction("restitution", self.restitution)
        for name in ("group", "mask"):
            bits = whole(name, getattr(self, name), least=0, most=math.inf)
            if bits > EVERY_GROUP:
                raise ValueError(f"{name} is {shown(bits)}: expected bits, 0 to {EVERY_GROUP}")


def warn_if_far(body, pieces, piece):
    """Warn if a shape given in world coordinates is so far from its body that local coordinates were probably meant.

    Args: body: a Body with mass; pieces: the BodyShapes already on it; piece: the new one.
    """
    radius = max((np.linalg.norm(each.position) + each.shape.bounding_radius() for each in pieces), default=0.0)
    radius = max(radius, np.sqrt(np.trace(body.inertia) / body.mass))
    distance, limit = np.linalg.norm(piece.position), FAR * (radius + piece.shape.bounding_radius())
    if distance > limit:
        warnings.warn(
            f"{type(piece.shape).__name__} {distance:.3g} m from the centre of mass of {body.name!r}: expected at most "
            f"{limit:.3g} m, in world coordinates; did you mean local=True?",
            UserWarning,
            stacklevel=4,
        )
