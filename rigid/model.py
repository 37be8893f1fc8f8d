"""Model: a description of rigid bodies, shapes, joints, springs and gears in plain numpy, for any solver.

Points, axes and poses are given in the world frame at time zero. A body or joint is given by its index or its name.
"""

import numpy as np

from pbd.build.mesh import surface
from pbd.core.shapes import PLANE, Box, Capsule, ConvexHull, Cylinder, Plane, Shape, Sphere
from pbd.core.validate import finite_number, finite_vector, one_of, positive, unit_vector
from rigid import mass as mass_properties
from rigid.body import EVERY_GROUP, Body, BodyShape, move_frame, rod, warn_if_far
from rigid.joint import COINCIDENT, Ball, Distance, Fixed, Gear, Hinge, Slider, Universal, ball_axes, universal_axes
from rigid.mass import checked_inertia
from rigid.names import GROUND, checked_index, fresh_name
from rigid.rotation import conjugate, frame_axes, multiply
from rigid.spring import PointSpring
from rigid.state import State

# Options of add_box and the other solids: those of add_body and those of add_shape.
PLACEMENT = ("position", "rotation", "velocity", "angular_velocity", "name")
SURFACE = ("friction", "restitution", "rolling_friction", "spinning_friction", "group", "mask")


class Model:
    """Rigid bodies with their shapes, joints, springs and gears.

    Args: gravity: (3,) [m/s²].

    Attributes:
        bodies, shapes, joints, springs, gears: lists in the order of addition, see rigid/body.py, rigid/joint.py and
            rigid/spring.py.
        exclusions: pairs (a, b) of body indices, a < b, that never collide.
        gravity: (3,) [m/s²].

    add_box, add_sphere, add_capsule, add_cylinder and add_mesh add a body with one shape. Their common arguments are:

        mass or density: [kg] or [kg/m³], one of them.
        position, rotation: of the shape (3,) [m], (w, x, y, z).
        velocity, angular_velocity: in the world frame (3,) [m/s], (3,) [rad/s].
        friction, restitution, rolling_friction, spinning_friction, group, mask: as in add_shape.
        name: unique; "box 0" and so on if None.

    add_ball, add_hinge, add_universal, add_slider, add_fixed and add_distance join two bodies. Common arguments:

        parent, child: index or name; the parent may be rigid.GROUND.
        soft: a rigid.Soft, which makes the joint compliant; None for a rigid joint.
        collide: whether the two bodies collide with each other.
        name: unique; "hinge 0" and so on if None.

    All of these return the index of the new body or joint. At a contact the friction coefficient is the geometric mean
    of both shapes' coefficients; the restitution is the larger one.
    """

    def __init__(self, gravity=(0.0, 0.0, -9.81)):
        self.gravity = finite_vector("gravity", gravity)
        self.bodies = []
        self.shapes = []
        self.joints = []
        self.springs = []
        self.gears = []
        self.exclusions = set()
        self._ground = Body(name="ground")

    # Bodies and shapes ------------------------------------------------------------------------------------------------

    def add_body(
        self, *, mass=None, inertia=None, position=(0.0, 0.0, 0.0), rotation=(1.0, 0.0, 0.0, 0.0),
        velocity=(0.0, 0.0, 0.0), angular_velocity=(0.0, 0.0, 0.0), name=None,
    ):  # fmt: skip
        """Add a body by its mass properties, or a body that gets them from the shapes added to it.

        Args:
            mass: [kg]; None if shapes will bring it.
            inertia: about the centre of mass, in the body's frame: principal moments (3,) or tensor (3, 3) [kg m²];
                None if shapes will bring it.
            position, rotation: of the centre of mass (3,) [m] and of the body's frame (w, x, y, z).
            velocity, angular_velocity: in the world frame (3,) [m/s], (3,) [rad/s].
            name: unique; "body 0" and so on if None.

        Returns: index of the body.
        """
        body = Body(
            name=fresh_name("body", name, self.bodies), position=position, rotation=rotation, velocity=velocity,
            angular_velocity=angular_velocity,
        )  # fmt: skip
        if (mass is None) != (inertia is None):
            missing = "mass" if mass is None else "inertia"
            raise ValueError(f"{missing} is None: expected mass and inertia, or neither and shapes with a density")
        if mass is not None:
            body.mass, body.inertia = positive("mass", mass), checked_inertia(inertia)
        self.bodies.append(body)
        return len(self.bodies) - 1

    def add_box(self, size, *, mass=None, density=None, **options):
        """Add a solid box. Args: size: full edge lengths (3,) [m]; others: see Model. Returns: index of the body."""
        return self._add_solid("box", Box(size), mass, density, options)

    def add_sphere(self, radius, *, mass=None, density=None, **options):
        """Add a solid sphere. Args: radius: [m]; others: see Model. Returns: index of the body."""
        return self._add_solid("sphere", Sphere(radius), mass, density, options)

    def add_capsule(self, radius, length=None, *, start=None, end=None, mass=None, density=None, **options):
        """Add a solid capsule on the z axis of the body's frame.

        Args:
            radius: [m].
            length: of the segment between the centres of the half balls [m].
            start, end: ends of that segment in the world (3,) [m], in place of length, position and rotation.
            others: see Model.

        Returns: index of the body.
        """
        shape = rod(Capsule, radius, length, start, end, options)
        return self._add_solid("capsule", shape, mass, density, options)

    def add_cylinder(self, radius, length=None, *, start=None, end=None, mass=None, density=None, **options):
        """Add a solid cylinder on the z axis of the body's frame.

        Args:
            radius: [m].
            length: [m].
            start, end: centres of the end discs in the world (3,) [m], in place of length, position and rotation.
            others: see Model.

        Returns: index of the body.
        """
        shape = rod(Cylinder, radius, length, start, end, options)
        return self._add_solid("cylinder", shape, mass, density, options)

    def add_mesh(self, mesh, *, convex=True, mass=None, density=None, **options):
        """Add a solid given by a mesh. It collides as its convex hull.

        For a hollow shape make a body of several convex hulls with add_shape.

        Args:
            mesh: a pbd.build.mesh.Mesh, (vertices, triangles), a trimesh.Trimesh, or the path of a file.
            convex: whether the mass fills the convex hull; otherwise it fills the mesh, which must be closed.
            others: see Model. position, rotation and velocity are those of the mesh's origin; the origin of the body's
                frame is the centre of mass.

        Returns: index of the body.
        """
        mesh = surface(mesh)
        hull = ConvexHull(mesh.vertices[np.unique(mesh.triangles)])
        part = None if convex else mass_properties.mesh(mesh, mass, density)
        return self._add_solid("mesh", hull, mass, density, options, part)

    def add_shape(
        self, body, shape, *, local=False, mass=None, density=None, friction=0.5, restitution=0.0,
        rolling_friction=0.0, spinning_friction=0.0, group=1, mask=EVERY_GROUP,
    ):  # fmt: skip
        """Add a shape to a body or to the ground. The shape is given in world coordinates unless local is true.

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

        Returns: index of the shape in Model.shapes.

        Warns: UserWarning if the shape is in world coordinates and its centre is farther from the body's centre of
        mass than 5 times the radii of body and shape together.
        """
        index = self._body_index("body", body)
        if not isinstance(shape, Shape):
            raise TypeError(f"shape is {shape!r}: expected a rigid.Box, Sphere, Capsule, Cylinder, ConvexHull or Plane")
        if shape.kind == PLANE and index != GROUND:
            raise ValueError(f"shape of {self.body(index).name!r} is {shape!r}: expected a bounded shape, "
                             "a Plane can only be on rigid.GROUND")  # fmt: skip
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
                raise ValueError("shape with mass on rigid.GROUND: expected neither mass nor density")
            part = mass_properties.of_shape(shape, mass, density).moved(piece.position, piece.rotation)
        if not local and index != GROUND and frame.mass > 0:  # without mass there is no centre of mass yet
            warn_if_far(frame, [each for each in self.shapes if each.body == index], piece)
        self.shapes.append(piece)
        if part is not None:
            self._add_mass(index, part)
        return len(self.shapes) - 1

    def add_ground(self, height=0.0, *, friction=0.5, restitution=0.0, rolling_friction=0.0, spinning_friction=0.0):
        """Add level ground. Args: height: [m]; others: see add_shape. Returns: index of the shape."""
        plane = Plane(point=(0.0, 0.0, finite_number("height", height)))
        return self.add_shape(
            GROUND, plane, friction=friction, restitution=restitution, rolling_friction=rolling_friction,
            spinning_friction=spinning_friction,
        )  # fmt: skip

    def exclude_contact(self, a, b):
        """Exclude contacts between two bodies. Args: a, b: index or name."""
        a, b = self._body_index("a", a), self._body_index("b", b)
        if a == b:
            raise ValueError(f"a and b are both {self.body(a).name!r}: expected two bodies")
        self.exclusions.add((min(a, b), max(a, b)))

    # Joints -----------------------------------------------------------------------------------------------------------

    def add_ball(
        self, parent, child, point, *, axis=None, cone_axis=None, swing_limit=None, twist_limits=None, friction=0.0,
        spring=None, soft=None, collide=False, name=None,
    ):  # fmt: skip
        """Add a ball joint: one point of the child stays at one point of the parent.

        Args:
            parent, child, soft, collide, name: see Model.
            point: (3,) [m].
            axis: twist axis (3,); None for the direction from the point to the child's centre of mass, or z if they
                coincide.
            cone_axis: axis of the cone that contains the child's twist axis, fixed in the parent (3,); None for the
                twist axis at time zero.
            swing_limit: half the opening angle of the cone, above 0 and at most π [rad]; None for none.
            twist_limits: (low, high) within ±π [rad]; None for none. See rigid.Ball for both angles.
            friction: [N m].
            spring: a rigid.Spring towards the starting pose; its rest must be zero.

        Returns: index of the joint.
        """
        parent, child = self._pair("parent", parent, "child", child)
        point = finite_vector("point", point)
        axes, parent_axes, swing = ball_axes(axis, cone_axis, self.bodies[child].position - point)
        joint = self._make(
            Ball, parent, child, name, point, axes, parent_axes=parent_axes, swing_limit=swing_limit,
            twist_limits=twist_limits, friction=friction, spring=spring, soft=soft, collide=collide,
        )  # fmt: skip
        joint.check_swing(swing)
        return self._append(joint)

    def add_hinge(
        self, parent, child, point, axis, *, limits=None, friction=0.0, spring=None, motor=None, soft=None,
        collide=False, name=None,
    ):  # fmt: skip
        """Add a hinge: the child rotates about an axis.

        Args:
            parent, child, soft, collide, name: see Model.
            point: any point on the axis (3,) [m].
            axis: (3,).
            limits: (low, high) [rad]; None for none.
            friction: [N m].
            spring, motor: a rigid.Spring, a rigid.Motor.

        Returns: index of the joint.
        """
        parent, child = self._pair("parent", parent, "child", child)
        point, axes = finite_vector("point", point), frame_axes(unit_vector("axis", axis))
        return self._append(self._make(
            Hinge, parent, child, name, point, axes, limits=limits, friction=friction, spring=spring, motor=motor,
            soft=soft, collide=collide,
        ))  # fmt: skip

    def add_universal(
        self, parent, child, point, parent_axis, child_axis, *, parent_limits=None, child_limits=None, friction=0.0,
        spring=None, soft=None, collide=False, name=None,
    ):  # fmt: skip
        """Add a universal joint: the child rotates about two axes at a right angle.

        Args:
            parent, child, soft, collide, name: see Model.
            point: where the axes intersect (3,) [m].
            parent_axis, child_axis: one axis fixed in the parent and one fixed in the child, at a right angle (3,).
            parent_limits, child_limits: (low, high) of the angle about each axis [rad]; None for none.
            friction: about each axis [N m].
            spring: a rigid.Spring about each axis.

        Returns: index of the joint.
        """
        parent, child = self._pair("parent", parent, "child", child)
        point, axes = finite_vector("point", point), universal_axes(parent_axis, child_axis)
        return self._append(self._make(
            Universal, parent, child, name, point, axes, parent_limits=parent_limits, child_limits=child_limits,
            friction=friction, spring=spring, soft=soft, collide=collide,
        ))  # fmt: skip

    def add_slider(
        self, parent, child, point, axis, *, limits=None, friction=0.0, spring=None, motor=None, soft=None,
        collide=False, name=None,
    ):  # fmt: skip
        """Add a slider: the child translates along an axis and does not rotate.

        Args:
            parent, child, soft, collide, name: see Model.
            point: any point on the axis (3,) [m]; None for the child's centre of mass.
            axis: (3,).
            limits: (low, high) [m]; None for none.
            friction: [N].
            spring, motor: a rigid.Spring, a rigid.Motor.

        Returns: index of the joint.
        """
        parent, child = self._pair("parent", parent, "child", child)
        point = self.bodies[child].position if point is None else finite_vector("point", point)
        return self._append(self._make(
            Slider, parent, child, name, point, frame_axes(unit_vector("axis", axis)), limits=limits,
            friction=friction, spring=spring, motor=motor, soft=soft, collide=collide,
        ))  # fmt: skip

    def add_fixed(self, parent, child, point=None, *, soft=None, collide=False, name=None):
        """Add a fixed joint: the child neither translates nor rotates relative to the parent.

        Args:
            parent, child, soft, collide, name: see Model.
            point: (3,) [m]; None for the child's centre of mass.

        Returns: index of the joint.
        """
        parent, child = self._pair("parent", parent, "child", child)
        point = self.bodies[child].position if point is None else finite_vector("point", point)
        return self._append(self._make(Fixed, parent, child, name, point, np.eye(3), soft=soft, collide=collide))

    def add_distance(
        self, parent, child, parent_point=None, child_point=None, *, limits=(0.0, 0.0), soft=None, collide=True,
        name=None,
    ):  # fmt: skip
        """Add a distance joint: the distance of two points stays as at time zero, or changes within limits.

        Args:
            parent, child, soft, collide, name: see Model.
            parent_point, child_point: (3,) [m]; None for the centre of mass.
            limits: (low, high) of the change since time zero [m]: (0, 0) is a rod, (-math.inf, 0) a string.

        Returns: index of the joint.
        """
        parent, child = self._pair("parent", parent, "child", child)
        start, end = self._ends("parent_point", parent, parent_point, "child_point", child, child_point)
        length = float(np.linalg.norm(end - start))
        if length <= COINCIDENT:
            raise ValueError(f"parent_point and child_point {length:g} m apart: expected more; did you mean add_ball?")
        return self._append(self._make(
            Distance, parent, child, name, start, frame_axes((end - start) / length), child_point=end, length=length,
            limits=limits, soft=soft, collide=collide,
        ))  # fmt: skip

    # Springs and gears ------------------------------------------------------------------------------------------------

    def add_spring(self, a, b, point_a=None, point_b=None, *, stiffness, damping=0.0, rest_length=None, name=None):
        """Add a spring along the line between two points.

        Args:
            a, b: bodies by index or name; one of them may be rigid.GROUND.
            point_a, point_b: (3,) [m]; None for the centre of mass.
            stiffness: [N/m].
            damping: [N s/m].
            rest_length: [m]; None for the distance at time zero.
            name: unique; "spring 0" and so on if None.

        Returns: index of the spring.
        """
        a, b = self._pair("a", a, "b", b, ground="either")
        start, end = self._ends("point_a", a, point_a, "point_b", b, point_b)
        rest_length = np.linalg.norm(end - start) if rest_length is None else rest_length
        name = fresh_name("spring", name, self.springs)
        anchors = self.body(a).local_point(start), self.body(b).local_point(end)
        self.springs.append(PointSpring(name, a, b, *anchors, stiffness, damping, rest_length))
        return len(self.springs) - 1

    def add_gear(self, joint_a, joint_b, ratio, *, name=None):
        """Add a gear between two joints: position q_b = ratio q_a.

        Args:
            joint_a, joint_b: hinges or sliders, by index or name.
            ratio: not zero.
            name: unique; "gear 0" and so on if None.

        Returns: index of the gear.
        """
        a, b = self._joint_index("joint_a", joint_a), self._joint_index("joint_b", joint_b)
        for joint in (self.joints[a], self.joints[b]):
            if not isinstance(joint, (Hinge, Slider)):
                raise ValueError(f"gear on {joint.name!r}, a {joint.kind} joint: expected a hinge or slider")
        if a == b:
            raise ValueError(f"gear from {self.joints[a].name!r} to itself: expected two joints")
        ratio = finite_number("ratio", ratio)
        if ratio == 0:
            raise ValueError("ratio is 0: expected another number")
        self.gears.append(Gear(fresh_name("gear", name, self.gears), a, b, ratio))
        return len(self.gears) - 1

    # What solvers read ------------------------------------------------------------------------------------------------

    def body(self, body):
        """The Body with an index or name. rigid.GROUND is a body without mass at the world's origin."""
        index = self._body_index("body", body)
        return self._ground if index == GROUND else self.bodies[index]

    def joint(self, joint):
        """The Joint with an index or name."""
        return self.joints[self._joint_index("joint", joint)]

    @property
    def masses(self):
        """Masses (bodies,) [kg]."""
        return np.array([body.mass for body in self.bodies])

    @property
    def inertias(self):
        """Inertias about the centres of mass, in the bodies' frames (bodies, 3, 3) [kg m²]."""
        return np.reshape([body.inertia for body in self.bodies], (-1, 3, 3))

    def may_touch(self, a, b):
        """Whether two shapes (indices) can collide: on two bodies, not excluded, with matching groups and masks.

        Joined bodies are excluded unless the joint has collide=True. A body joined to the ground still collides with
        the ground's shapes.
        """
        first, second = self.shapes[a], self.shapes[b]
        pair = min(first.body, second.body), max(first.body, second.body)
        allowed = bool(first.group & second.mask and second.group & first.mask)
        return allowed and pair[0] != pair[1] and pair not in self.exclusions

    def initial_state(self):
        """The State at time zero. Raises: ValueError if a body has no mass."""
        for body in self.bodies:
            if body.mass <= 0:
                raise ValueError(f"body {body.name!r} has no mass: expected mass and inertia, or shapes with a density")
        widths = {"position": 3, "rotation": 4, "velocity": 3, "angular_velocity": 3}
        columns = ([getattr(body, name) for body in self.bodies] for name in widths)
        return State(*(np.reshape(column, (-1, width)) for column, width in zip(columns, widths.values())))

    # Helpers ----------------------------------------------------------------------------------------------------------

    def _body_index(self, what, body):
        if isinstance(body, (int, np.integer)) and body == GROUND:
            return GROUND
        return checked_index(what, body, self.bodies, "body", ground=True)

    def _joint_index(self, what, joint):
        return checked_index(what, joint, self.joints, "joint")

    def _pair(self, name_a, a, name_b, b, ground="first"):
        """Indices of two different bodies. The first may be the ground; with ground="either" the second, too."""
        indices = self._body_index(name_a, a), self._body_index(name_b, b)
        if indices[0] == indices[1]:
            raise ValueError(f"{name_a} and {name_b} are both {self.body(indices[0]).name!r}: expected two bodies")
        if ground == "first" and indices[1] == GROUND:
            raise ValueError(f"{name_b} is rigid.GROUND: expected a body; only the {name_a} may be the ground")
        return indices

    def _ends(self, name_a, a, point_a, name_b, b, point_b):
        """Two points of the world (3,) [m]; None is the body's centre of mass."""
        points = []
        for name, index, point in ((name_a, a, point_a), (name_b, b, point_b)):
            if point is None and index == GROUND:
                raise ValueError(f"{name} is None: expected a point (3,), the ground has no centre of mass")
            points.append(self.bodies[index].position if point is None else finite_vector(name, point))
        return points

    def _make(self, kind, parent, child, name, point, axes, *, child_point=None, parent_axes=None, collide, **fields):
        """A joint of this class, with its points and axes in the frames of both bodies."""
        first, second = self.body(parent), self.body(child)
        return kind(
            name=fresh_name(kind.kind, name, self.joints),
            parent=parent, child=child,
            parent_anchor=first.local_point(point),
            child_anchor=second.local_point(point if child_point is None else child_point),
            parent_axes=first.local_direction(axes if parent_axes is None else parent_axes),
            child_axes=second.local_direction(axes),
            collide=bool(collide), **fields,
        )  # fmt: skip

    def _append(self, joint):
        """Add a joint and exclude contacts between its bodies. Returns: its index."""
        self.joints.append(joint)
        if not joint.collide and joint.parent != GROUND:
            self.exclusions.add((min(joint.parent, joint.child), max(joint.parent, joint.child)))
        return len(self.joints) - 1

    def _add_solid(self, kind, shape, mass, density, options, part=None):
        """Add a body with one shape, given in its frame. Args: part: MassProperties; None for the shape's."""
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
        self._add_mass(index, part)
        return index

    def _add_mass(self, index, part):
        """Add mass to a body. Its frame moves to the new centre of mass; everything attached to it stays in place."""
        shift = self.bodies[index].add_mass(part)
        if shift.any():
            move_frame(index, shift, self.shapes, self.joints, self.springs)
