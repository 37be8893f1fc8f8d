"""Bodies and the shapes on them: what a model stores of each, and the half of Model that adds them."""

import warnings
from dataclasses import dataclass, field

import numpy as np

from pbd.build.mesh import surface
from pbd.core.shapes import PLANE, Box, Capsule, ConvexHull, Cylinder, Plane, Shape, Sphere
from pbd.core.validate import (
    finite_number,
    finite_vector,
    fraction,
    not_negative,
    one_of,
    positive,
    unit_quaternion,
    whole,
)
from rigid import mass as mass_properties
from rigid.mass import MassProperties, checked_inertia, combined
from rigid.names import GROUND, fresh_name, look_up
from rigid.rotation import conjugate, multiply, rotate, rotate_back

EVERY_GROUP = 2**31 - 1
FAR = 5  # a shape farther from its body than this many radii of both is probably given in the wrong frame


@dataclass(eq=False, kw_only=True)
class Body:
    """A rigid body at time zero. Its frame stands at the centre of mass.

    Arguments:
        name: unique among the model's bodies.
        position: of the centre of mass (3,) [m]; rotation: of the frame (w, x, y, z).
        velocity: of the centre of mass (3,) [m/s]; angular_velocity (3,) [rad/s]; both in the world frame.
        mass: [kg]; zero until a shape of some mass is added.
        inertia: about the centre of mass, in the body's frame, (3, 3) [kg m²].
    """

    name: str
    position: np.ndarray = (0.0, 0.0, 0.0)
    rotation: np.ndarray = (1.0, 0.0, 0.0, 0.0)
    velocity: np.ndarray = (0.0, 0.0, 0.0)
    angular_velocity: np.ndarray = (0.0, 0.0, 0.0)
    mass: float = 0.0
    inertia: np.ndarray = field(default_factory=lambda: np.zeros((3, 3)))

    def __post_init__(self):
        for name in ("position", "velocity", "angular_velocity"):
            setattr(self, name, finite_vector(name, getattr(self, name)))
        self.rotation = unit_quaternion("rotation", self.rotation)

    def local_point(self, point):
        """Points (..., 3) of the world at time zero, in the body's frame."""
        return rotate_back(self.rotation, point - self.position)

    def world_point(self, point):
        """Points (..., 3) of the body's frame, in the world at time zero."""
        return self.position + rotate(self.rotation, point)

    def local_direction(self, direction):
        """Directions (..., 3) of the world at time zero, in the body's frame."""
        return rotate_back(self.rotation, direction)

    def world_direction(self, direction):
        """Directions (..., 3) of the body's frame, in the world at time zero."""
        return rotate(self.rotation, direction)


@dataclass(eq=False, kw_only=True)
class BodyShape:
    """A shape on a body, or on the ground.

    Arguments:
        shape: its kind and numbers(). In its normal form it stands at position (3,) [m], rotation (w, x, y, z) in the
            frame of the body with index `body` (rigid.GROUND: the world's). What shape.pose() says holds no more.
        friction: Coulomb's μ; restitution: Newton's e in [0, 1].
        rolling_friction, spinning_friction: torque against rolling, and against turning about the normal, as parts of
            the normal force [m].
        group, mask: bits; two shapes touch where each one's group has a bit of the other's mask.
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

    def __post_init__(self):
        for name in ("friction", "rolling_friction", "spinning_friction"):
            setattr(self, name, not_negative(name, getattr(self, name)))
        self.restitution = fraction("restitution", self.restitution)
        for name in ("group", "mask"):
            bits = whole(name, getattr(self, name), least=0)
            if bits > EVERY_GROUP:
                raise ValueError(f"{name} is {bits}: expected bits, 0 to {EVERY_GROUP}")


# What add_box and the like pass on: to the body, and to its shape.
PLACEMENT = ("position", "rotation", "velocity", "angular_velocity", "name")
SURFACE = ("friction", "restitution", "rolling_friction", "spinning_friction", "group", "mask")


class Bodies:
    """The bodies of a Model and the shapes they are made of.

    add_box, add_sphere, add_capsule, add_cylinder and add_mesh make a body of one shape, of a mass [kg] or a density
    [kg/m³], and return its index. Their options are those of add_body: position (3,) [m] and rotation (w, x, y, z) of
    the shape, velocity (3,) [m/s] and angular_velocity (3,) [rad/s] in the world frame, name; and those of add_shape:
    friction, restitution, rolling_friction, spinning_friction, group, mask.

    Where two shapes touch, each friction is the geometric mean of theirs, restitution the larger of both.
    """

    @property
    def masses(self):
        """Masses, (bodies,) [kg]."""
        return np.array([body.mass for body in self.bodies])

    @property
    def inertias(self):
        """Inertias about the centres of mass, in the bodies' frames, (bodies, 3, 3) [kg m²]."""
        return np.reshape([body.inertia for body in self.bodies], (-1, 3, 3))

    def add_body(self, *, mass=None, inertia=None, position=(0.0, 0.0, 0.0), rotation=(1.0, 0.0, 0.0, 0.0),
                 velocity=(0.0, 0.0, 0.0), angular_velocity=(0.0, 0.0, 0.0), name=None):  # fmt: skip
        """Add a body by its mass properties, or one that gets them from shapes added to it.

        Arguments:
            mass: [kg]; inertia about the centre of mass, in the body's frame: (3,) principal moments or (3, 3) [kg m²];
                both None where add_shape will bring them.
            position: of the centre of mass (3,) [m]; rotation (w, x, y, z) of the body's frame.
            velocity: of that point (3,) [m/s]; angular_velocity (3,) [rad/s]; both in the world frame.
            name: made up where None.

        Returns: its index.
        """
        body = Body(
            name=fresh_name("body", name, self.bodies), position=position, rotation=rotation, velocity=velocity,
            angular_velocity=angular_velocity,
        )  # fmt: skip
        if (mass is None) != (inertia is None):
            missing, rest = ("inertia", "(3,) or (3, 3)") if inertia is None else ("mass", "a number above zero")
            raise ValueError(f"{missing} is None: expected {rest}, or shapes with a density and neither of both")
        if mass is not None:
            body.mass, body.inertia = positive("mass", mass), checked_inertia(inertia)
        self.bodies.append(body)
        return len(self.bodies) - 1

    def add_box(self, size, *, mass=None, density=None, **options):
        """Add a solid box. Arguments: size (3,), the full edges [m]; mass or density; options as above."""
        return self._add_solid("box", Box(size), mass, density, options)

    def add_sphere(self, radius, *, mass=None, density=None, **options):
        """Add a solid ball. Arguments: radius [m]; mass or density; options as above."""
        return self._add_solid("sphere", Sphere(radius), mass, density, options)

    def add_capsule(self, radius, length=None, *, start=None, end=None, mass=None, density=None, **options):
        """Add a solid capsule along its frame's z.

        Arguments: radius [m]; length of the segment that it surrounds [m], or the segment's start and end (3,) in the
        world [m], in place of position and rotation; mass or density; options as above.
        """
        shape = _rod(Capsule, radius, length, start, end, options)
        return self._add_solid("capsule", shape, mass, density, options)

    def add_cylinder(self, radius, length=None, *, start=None, end=None, mass=None, density=None, **options):
        """Add a solid cylinder along its frame's z. Arguments: as for add_capsule, start and end being on its ends."""
        shape = _rod(Cylinder, radius, length, start, end, options)
        return self._add_solid("cylinder", shape, mass, density, options)

    def add_mesh(self, mesh, *, convex=True, mass=None, density=None, **options):
        """Add the convex hull of a mesh, or the solid inside a closed one.

        It touches as its hull in both cases: make a body of several hulls where hollows matter.

        Arguments:
            mesh: a pbd.build.mesh.Mesh, (vertices, triangles), a trimesh.Trimesh, or a file's path.
            convex: whether the mass fills the hull; else the mesh, which must be closed.
            mass or density; options as above. position, rotation and velocity are those of the mesh's own origin; the
                body's frame moves from there to the centre of mass.
        """
        mesh = surface(mesh)
        hull = ConvexHull(mesh.vertices[np.unique(mesh.triangles)])
        part = None if convex else mass_properties.mesh(mesh, mass, density)
        return self._add_solid("mesh", hull, mass, density, options, part)

    def add_shape(self, body, shape, *, local=False, mass=None, density=None, friction=0.5, restitution=0.0,
                  rolling_friction=0.0, spinning_friction=0.0, group=1, mask=EVERY_GROUP):  # fmt: skip
        """Add a shape to a body, or to the ground. The shape is given in world coordinates unless local is true.

        Args:
            body: index or name, or rigid.GROUND.
            shape: rigid.Box, Sphere, Capsule, Cylinder, ConvexHull or MeshCollider; on the ground also Plane.
            local: False if the shape is given in world coordinates at time zero; True if it is given in the body's
                frame, whose origin is the present centre of mass.
            mass, density: adds this mass [kg] or density [kg/m³] to the body. The body's frame moves to the new centre
                of mass; its motion and everything attached to it stay in place. Give neither for a shape that only
                collides.
            friction: Coulomb coefficient.
            restitution: Newton coefficient, from 0 to 1.
            rolling_friction, spinning_friction: largest torque against rolling, and against rotation about the contact
                normal, divided by the normal force [m].
            group, mask: bits. Two shapes collide if each one's group shares a bit with the other's mask.

        Returns:
            Index of the shape in Model.shapes.

        Warns:
            UserWarning: the shape is in world coordinates and its centre is farther from the body than 5 times the
                radii of both together.
        """
        index = self._body_index("body", body)
        if not isinstance(shape, Shape):
            raise TypeError(f"shape is {shape!r}: expected a rigid.Box, Sphere, Capsule, Cylinder, ConvexHull or Plane")
        if shape.kind == PLANE and index != GROUND:
            raise ValueError(f"shape of {self.body(index).name!r} is {shape!r}: expected one with an end, as on a body")
        frame, (position, rotation) = self.body(index), shape.pose()
        if not local:
            position, rotation = frame.local_point(position), multiply(conjugate(frame.rotation), rotation)
        piece = BodyShape(
            shape=shape, body=index, position=position, rotation=rotation, friction=friction, restitution=restitution,
            rolling_friction=rolling_friction, spinning_friction=spinning_friction, group=group, mask=mask,
        )  # fmt: skip
        part = None
        if mass is not None or density is not None:
            if index == GROUND:
                raise ValueError("a shape of some mass on rigid.GROUND: expected neither mass nor density")
            part = mass_properties.of_shape(shape, mass, density).moved(piece.position, piece.rotation)
        if not local and index != GROUND and frame.mass > 0:  # without mass it has no centre of mass yet
            self._warn_if_far(piece)
        self.shapes.append(piece)
        if part is not None:
            self._gain(index, part)
        return len(self.shapes) - 1

    def _warn_if_far(self, piece):
        """Warn if a shape given in world coordinates is so far from its body that local ones were probably meant."""
        body = self.bodies[piece.body]
        others = [other for other in self.shapes if other.body == piece.body]
        radius = max((np.linalg.norm(each.position) + each.shape.bounding_radius() for each in others), default=0.0)
        radius = max(radius, np.sqrt(np.trace(body.inertia) / body.mass))
        distance, limit = np.linalg.norm(piece.position), FAR * (radius + piece.shape.bounding_radius())
        if distance > limit:
            warnings.warn(
                f"{type(piece.shape).__name__} {distance:.3g} m from the centre of mass of {body.name!r}: expected at "
                f"most {limit:.3g} m, in world coordinates; did you mean local=True?",
                UserWarning,
                stacklevel=3,
            )

    def add_ground(self, height=0.0, *, friction=0.5, restitution=0.0, rolling_friction=0.0, spinning_friction=0.0):
        """Add level ground. Arguments: height [m]; the others as of add_shape. Returns: its shape's index."""
        plane = Plane(point=(0.0, 0.0, finite_number("height", height)))
        return self.add_shape(
            GROUND, plane, friction=friction, restitution=restitution, rolling_friction=rolling_friction,
            spinning_friction=spinning_friction,
        )  # fmt: skip

    def exclude_contact(self, a, b):
        """Let two bodies pass through one another. Arguments: a, b: index or name."""
        a, b = self._body_index("a", a), self._body_index("b", b)
        if a == b:
            raise ValueError(f"a and b are both {self.body(a).name!r}: expected two bodies")
        self.exclusions.add((min(a, b), max(a, b)))

    def may_touch(self, a, b):
        """Whether two shapes (indices) ever touch: not on one body, nor on two that are joined, and as groups allow.

        A body that is joined to the ground touches the ground's shapes all the same.
        """
        first, second = self.shapes[a], self.shapes[b]
        pair = min(first.body, second.body), max(first.body, second.body)
        allowed = bool(first.group & second.mask and second.group & first.mask)
        return allowed and pair[0] != pair[1] and pair not in self.exclusions

    def body(self, body):
        """The Body with an index or name; for rigid.GROUND, one at the world's origin without mass."""
        index = self._body_index("body", body)
        return self._ground if index == GROUND else self.bodies[index]

    def _body_index(self, what, body):
        if isinstance(body, (int, np.integer)) and body == GROUND:
            return GROUND
        return look_up(what, body, self.bodies, "body", ground=True)

    def _add_solid(self, kind, shape, mass, density, options, part=None):
        """Add a body of one shape, given in the body's frame; part: mass properties, the shape's where None."""
        for name in options:
            one_of(f"option of add_{kind}", name, PLACEMENT + SURFACE)
        position, rotation = shape.pose()
        if part is None:
            part = mass_properties.of_shape(shape, mass, density).moved(position, rotation)
        index = len(self.bodies)
        surface_options = {name: options[name] for name in SURFACE if name in options}
        piece = BodyShape(shape=shape, body=index, position=position, rotation=rotation, **surface_options)
        placement = {name: options[name] for name in PLACEMENT if name in options}
        placement["name"] = fresh_name(kind, placement.get("name"), self.bodies)
        self.add_body(**placement)
        self.shapes.append(piece)
        self._gain(index, part)
        return index

    def _gain(self, index, part):
        """Add mass properties, given in the body's frame, and move that frame to the new centre of mass."""
        body = self.bodies[index]
        total = combined([MassProperties(body.mass, np.zeros(3), body.inertia), part]) if body.mass else part
        body.mass, body.inertia, shift = total.mass, total.inertia, total.centre
        if not shift.any():
            return
        body.position = body.world_point(shift)
        body.velocity = body.velocity + np.cross(body.angular_velocity, body.world_direction(shift))
        for piece in self.shapes:
            if piece.body == index:
                piece.position = piece.position - shift
        for joint in self.joints:
            if joint.parent == index:
                joint.parent_anchor = joint.parent_anchor - shift
            if joint.child == index:
                joint.child_anchor = joint.child_anchor - shift
        for spring in self.springs:
            if spring.a == index:
                spring.anchor_a = spring.anchor_a - shift
            if spring.b == index:
                spring.anchor_b = spring.anchor_b - shift


def _rod(kind, radius, length, start, end, options):
    """Capsule or Cylinder in its body's frame; start and end become the position and rotation among the options."""
    shape = kind(radius, length, start=start, end=end)
    if start is not None:
        for name in ("position", "rotation"):
            if name in options:
                raise ValueError(f"{kind.__name__.lower()} with start, end and {name}: expected start and end alone")
        options["position"], options["rotation"] = shape.pose()
    return kind(radius, shape.length)
