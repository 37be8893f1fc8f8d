"""Model: a description of rigid bodies, shapes, joints, springs and gears in plain numpy, for any solver.

Points, axes and poses are given in the world frame at time zero. A body or joint is given by its index or its name.
rigid/solid_bodies.py has the methods that add bodies with one shape, rigid/joints those that add joints.
"""

import numpy as np

from pbd.core.messages import shown
from pbd.core.shapes import PLANE, Plane, Shape
from pbd.core.transaction import Description
from pbd.core.validate import LARGEST, boolean, finite_number, finite_vector, one_index, positive
from rigid import joints, solid_bodies
from rigid import mass as mass_properties
from rigid.body import EVERY_GROUP, Body, BodyShape, warn_if_far
from rigid.mass import checked_inertia
from rigid.names import GROUND, checked_index, fresh_name
from rigid.rotation import conjugate, multiply
from rigid.spring import PointSpring
from rigid.state import State
from rigid.visual_shape import VisualShape, posed

# A body on a path has these if no others are given. They size its frame of particles, and have no other effect.
PLACEHOLDER_MASS, PLACEHOLDER_INERTIA = 1.0, (0.1, 0.1, 0.1)


class Model(Description):
    """Rigid bodies with their shapes, joints, springs and gears.

    Args: gravity: (3,) [m/s²].

    Attributes:
        bodies, shapes, joints, springs, gears: lists in the order of addition, see rigid/body.py, rigid/joints and
            rigid/spring.py.
        exclusions: pairs (a, b) of body indices, a < b, that never collide.
        gravity: (3,) [m/s²].
        visuals: list of VisualShape, see rigid/visual_shape.py. Solvers do not read it.
        built: what builders added, such as a rigid.build.Ragdoll.

    add_box, add_sphere, add_capsule, add_cylinder and add_mesh add a body with one shape. Their common arguments are:

        mass or density: [kg] or [kg/m³], one of them; a body with a path needs neither.
        path: of a kinematic body, as in add_body.
        position, rotation: of the shape (3,) [m], (w, x, y, z).
        velocity, angular_velocity: in the world frame (3,) [m/s], (3,) [rad/s].
        gravity_scale: what part of gravity acts on the body, as in add_body.
        friction, restitution, rolling_friction, spinning_friction, group, mask, visible: as in add_shape.
        name: unique; "box 0" and so on if None.

    add_ball, add_hinge, add_universal, add_slider, add_cylindrical, add_planar, add_fixed and add_distance join two
    bodies. Common arguments:

        parent, child: index or name; the parent may be rigid.GROUND.
        soft: a rigid.Soft, which makes the joint compliant; None for a rigid joint.
        break_force, break_torque: largest force [N], and torque about the joint's point [N m], that the joint applies.
            If it applies more, it breaks for good (rigid/solvers/breaking.py). Solver "verlet" has no such joints in
            models with loops, gears, paths or attached particles.
        collide: whether the two bodies collide with each other.
        name: unique; "hinge 0" and so on if None.

    All of these return the index of the new body or joint. At a contact the friction coefficient is the geometric mean
    of both shapes' coefficients; the restitution is the larger one.
    """

    title = "rigid.Model"

    def __init__(self, gravity=(0.0, 0.0, -9.81)):
        self.gravity = finite_vector("gravity", gravity)
        self.bodies = []
        self.shapes = []
        self.exclusions = set()
        self.built = []
        self.visuals = []
        self.joints = []
        self.springs = []
        self.gears = []
        self._ground = Body(name="ground")

    # Bodies and shapes ------------------------------------------------------------------------------------------------

    def add_body(
        self, *, mass=None, inertia=None, position=(0.0, 0.0, 0.0), rotation=(1.0, 0.0, 0.0, 0.0),
        velocity=(0.0, 0.0, 0.0), angular_velocity=(0.0, 0.0, 0.0), name=None, path=None, gravity_scale=1.0,
    ):  # fmt: skip
        """Add a body by its mass properties, or a body that gets them from the shapes added to it.

        Args:
            mass: [kg]; None for the mass of the shapes that are added.
            inertia: about the centre of mass, in the body's frame: principal moments (3,) or tensor (3, 3) [kg m²];
                None for that of the shapes that are added.
            position, rotation: of the centre of mass (3,) [m] and of the body's frame (w, x, y, z).
            velocity, angular_velocity: in the world frame (3,) [m/s], (3,) [rad/s].
            name: unique; "body 0" and so on if None.
            path: function of time [s] that returns the position of the body's frame (3,) [m], or (position, rotation):
                the body is kinematic. It moves along the path, pushes and carries others, and nothing moves it. Mass
                and inertia have no effect and may be left out. The path begins at position and rotation; if these are
                left out, they are those of the path.
            gravity_scale: what part of gravity acts on the body: 0 for a body that floats, 1 - c for MuJoCo's gravity
                compensation c.

        Returns: index of the body.
        """
        body = Body(
            name=fresh_name("body", name, self.bodies), position=position, rotation=rotation, velocity=velocity,
            angular_velocity=angular_velocity, path=path, gravity_scale=gravity_scale,
        )  # fmt: skip
        if path is not None and mass is None and inertia is None:
            mass, inertia = PLACEHOLDER_MASS, PLACEHOLDER_INERTIA
        if (mass is None) != (inertia is None):
            missing = "mass" if mass is None else "inertia"
            raise ValueError(f"{missing} is None: expected mass and inertia, or neither and shapes with a density")
        if mass is not None:
            body.mass, body.inertia = positive("mass", mass), checked_inertia(inertia)
        self.bodies.append(body)
        return len(self.bodies) - 1

    add_box = solid_bodies.add_box
    add_sphere = solid_bodies.add_sphere
    add_capsule = solid_bodies.add_capsule
    add_cylinder = solid_bodies.add_cylinder
    add_mesh = solid_bodies.add_mesh

    def add_shape(
        self, body, shape, *, local=False, mass=None, density=None, friction=0.5, restitution=0.0,
        rolling_friction=0.0, spinning_friction=0.0, group=1, mask=EVERY_GROUP, visible=True,
    ):  # fmt: skip
        """Add a shape to a body or to the ground. The shape is given in world coordinates unless local is true.

        Args:
            body: index or name, or rigid.GROUND.
            shape: rigid.Box, Sphere, Capsule, Cylinder, ConvexHull, Mesh or HeightField; on the ground also Plane.
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
            visible: whether it is drawn; False for a shape that `add_visual` draws otherwise.

        Returns: index of the shape in Model.shapes.

        Warns: UserWarning if the shape is in world coordinates and its centre is farther from the body's centre of
        mass than 5 times the radii of body and shape together.
        """
        index = self._body_index("body", body)
        if not isinstance(shape, Shape):
            expected = "a rigid.Box, Sphere, Capsule, Cylinder, ConvexHull, Mesh, HeightField or Plane"
            raise TypeError(f"shape is {shown(shape)}: expected {expected}")
        if shape.kind == PLANE and index != GROUND:
            raise ValueError(f"shape of {self.body(index).name!r} is {shown(shape)}: expected a bounded shape, "
                             "a Plane can only be on rigid.GROUND")  # fmt: skip
        frame, (position, rotation) = self.body(index), shape.pose()
        if not boolean("local", local):
            position, rotation = frame.local_point(position), multiply(conjugate(frame.rotation), rotation)
        piece = BodyShape(
            shape=shape, body=index, position=position, rotation=rotation, friction=friction, restitution=restitution,
            rolling_friction=rolling_friction, spinning_friction=spinning_friction, group=group, mask=mask,
            visible=visible,
        )  # fmt: skip
        part = None
        if mass is not None or density is not None:
            if index == GROUND:
                raise ValueError("shape with mass on rigid.GROUND: expected neither mass nor density")
            if frame.path is not None:
                raise ValueError(
                    f"shape with mass on {frame.name!r}, which follows a path: expected neither mass nor density"
                )
            part = mass_properties.of_shape(shape, mass, density).moved(piece.position, piece.rotation)
        if not local and index != GROUND and frame.mass > 0:  # without mass there is no centre of mass yet
            warn_if_far(frame, [each for each in self.shapes if each.body == index], piece)
        self.shapes.append(piece)
        if part is not None:
            self._add_mass(index, part)
        return len(self.shapes) - 1

    def add_visual(
        self, body, shape, *, position=(0.0, 0.0, 0.0), rotation=(1.0, 0.0, 0.0, 0.0), local=False, colour=None
    ):
        """Add what is drawn of a body or of the ground, without mass and contacts.

        Args:
            body: index or name, or rigid.GROUND.
            shape: a shape as in add_shape; or a mesh, open or closed: a pbd.build.Mesh, (vertices, triangles), a
                trimesh.Trimesh, or the path of a file.
            position, rotation: of the frame in which it is given (3,) [m], (w, x, y, z).
            local: whether that pose is in the body's frame, and not in the world at time zero.
            colour: (3,) sRGB from 0 to 1; None for the colour of the body.

        Returns: index in Model.visuals.
        """
        index = self._body_index("body", body)
        shape, position, rotation = posed(shape, position, rotation)
        if not boolean("local", local):
            frame = self.body(index)
            position, rotation = frame.local_point(position), multiply(conjugate(frame.rotation), rotation)
        self.visuals.append(
            VisualShape(shape=shape, body=index, position=position, rotation=rotation, colour=colour)
        )
        return len(self.visuals) - 1

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

    add_ball = joints.add_ball
    add_hinge = joints.add_hinge
    add_universal = joints.add_universal
    add_slider = joints.add_slider
    add_cylindrical = joints.add_cylindrical
    add_planar = joints.add_planar
    add_fixed = joints.add_fixed
    add_distance = joints.add_distance
    add_wheel = joints.add_wheel

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
            joint_a, joint_b: joints with one coordinate, a hinge's angle or a slider's shift, by index or name.
            ratio: not zero.
            name: unique; "gear 0" and so on if None.

        Returns: index of the gear.
        """
        a, b = self._joint_index("joint_a", joint_a), self._joint_index("joint_b", joint_b)
        for joint in (self.joints[a], self.joints[b]):
            if not joint.type.takes_gears:
                expected = " or ".join(joints.kinds_that_take_gears())
                raise ValueError(f"gear on {joint.name!r}, a {joint.kind} joint: expected a {expected}")
        if a == b:
            raise ValueError(f"joint_a and joint_b are both {self.joints[a].name!r}: expected two joints")
        ratio = finite_number("ratio", ratio)
        if abs(ratio) < 1 / LARGEST:
            raise ValueError(f"ratio is {ratio:g}: expected a number off zero")
        self.gears.append(joints.Gear(fresh_name("gear", name, self.gears), a, b, ratio))
        return len(self.gears) - 1

    # What solvers read ------------------------------------------------------------------------------------------------

    def body(self, body):
        """The Body with this index or name. rigid.GROUND is a body without mass at the world's origin."""
        index = self._body_index("body", body)
        return self._ground if index == GROUND else self.bodies[index]

    def joint(self, joint):
        """The Joint with this index or name."""
        return self.joints[self._joint_index("joint", joint)]

    @property
    def masses(self):
        """Masses (bodies,) [kg]; zero for a body on a path, which has neither energy nor momentum."""
        return np.array([body.mass if body.path is None else 0.0 for body in self.bodies])

    @property
    def inertias(self):
        """Inertias about the centres of mass, in the bodies' frames (bodies, 3, 3) [kg m²]; zero likewise."""
        return np.reshape([body.inertia * (body.path is None) for body in self.bodies], (-1, 3, 3))

    @property
    def gravity_scales(self):
        """What part of gravity acts on each body (bodies,)."""
        return np.array([body.gravity_scale for body in self.bodies])

    def may_touch(self, a, b):
        """Whether two shapes (indices) can collide: on two bodies, not excluded, with matching groups and masks.

        At least one of the bodies must be free to move: the ground and bodies on paths do not collide.

        Joined bodies are excluded unless the joint has collide=True. A body joined to the ground still collides with
        the ground's shapes.
        """
        count = len(self.shapes)
        first, second = (self.shapes[one_index(name, k, count, "shapes")] for name, k in (("a", a), ("b", b)))
        pair = min(first.body, second.body), max(first.body, second.body)
        allowed = bool(first.group & second.mask and second.group & first.mask)
        moved = [index for index in pair if index != GROUND and self.bodies[index].path is None]
        return allowed and bool(moved) and pair[0] != pair[1] and pair not in self.exclusions

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
            body_name = name.removesuffix("_point").removeprefix("point_")
            if point is None and index == GROUND:
                who = f"{body_name} is the ground, which has no centre of mass"
                raise ValueError(f"{name} is None and {who}: expected a point (3,)")
            points.append(self.bodies[index].position if point is None else finite_vector(name, point))
        return points

    def _make(
        self, joint_class, parent, child, name, point, axes, *, child_point=None, parent_axes=None, collide, **fields
    ):  # fmt: skip
        """A joint of this class, with its points and axes in the frames of both bodies."""
        first, second = self.body(parent), self.body(child)
        return joint_class(
            name=fresh_name(joint_class.type.kind, name, self.joints),
            parent=parent, child=child,
            parent_anchor=first.local_point(point),
            child_anchor=second.local_point(point if child_point is None else child_point),
            parent_axes=first.local_direction(axes if parent_axes is None else parent_axes),
            child_axes=second.local_direction(axes),
            collide=boolean("collide", collide), **fields,
        )  # fmt: skip

    def _append(self, joint):
        """Add a joint and exclude contacts between its bodies. Returns: its index."""
        self.joints.append(joint)
        if not joint.collide and joint.parent != GROUND:
            self.exclusions.add((min(joint.parent, joint.child), max(joint.parent, joint.child)))
        return len(self.joints) - 1

    def _add_mass(self, index, part):
        """Add mass to a body. Its frame moves to the new centre of mass; everything attached to it stays in place."""
        self._keep(self.bodies[index])
        shift = self.bodies[index].add_mass(part)
        if shift.any():
            self._move_frame(index, shift)

    def _move_frame(self, index, shift):
        """Keep in place what is attached to a body whose frame moves by shift (3,) [m], in the frame's own axes."""
        for piece in (*self.shapes, *self.visuals):
            if piece.body == index:
                self._keep(piece)
                piece.position = piece.position - shift
        for joint in self.joints:
            if index in (joint.parent, joint.child):
                self._keep(joint)
            if joint.parent == index:
                joint.parent_anchor = joint.parent_anchor - shift
            if joint.child == index:
                joint.child_anchor = joint.child_anchor - shift
        for spring in self.springs:
            if index in (spring.a, spring.b):
                self._keep(spring)
            if spring.a == index:
                spring.anchor_a = spring.anchor_a - shift
            if spring.b == index:
                spring.anchor_b = spring.anchor_b - shift
