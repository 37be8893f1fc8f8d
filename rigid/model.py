"""Model: a description of rigid bodies, shapes, joints, springs and gears in plain numpy, for any solver.

Points, axes and poses are given in the world frame at time zero. A body or joint is given by its index or its name.
rigid/body_model.py has the methods that add bodies and shapes.
"""

import numpy as np

from pbd.core.validate import LARGEST, boolean, finite_number, finite_vector
from rigid import joints
from rigid.body_model import BodyModel
from rigid.names import GROUND, checked_index, fresh_name
from rigid.spring import PointSpring


class Model(BodyModel):
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

    def __init__(self, gravity=(0.0, 0.0, -9.81)):
        super().__init__(gravity)
        self.joints = []
        self.springs = []
        self.gears = []

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
            joint_a, joint_b: hinges or sliders, by index or name.
            ratio: not zero.
            name: unique; "gear 0" and so on if None.

        Returns: index of the gear.
        """
        a, b = self._joint_index("joint_a", joint_a), self._joint_index("joint_b", joint_b)
        for joint in (self.joints[a], self.joints[b]):
            if joint.degrees_of_freedom != 1:
                raise ValueError(f"gear on {joint.name!r}, a {joint.kind} joint: expected a hinge or slider")
        if a == b:
            raise ValueError(f"joint_a and joint_b are both {self.joints[a].name!r}: expected two joints")
        ratio = finite_number("ratio", ratio)
        if abs(ratio) < 1 / LARGEST:
            raise ValueError(f"ratio is {ratio:g}: expected a number off zero")
        self.gears.append(joints.Gear(fresh_name("gear", name, self.gears), a, b, ratio))
        return len(self.gears) - 1

    # What solvers read ------------------------------------------------------------------------------------------------

    def joint(self, joint):
        """The Joint with this index or name."""
        return self.joints[self._joint_index("joint", joint)]

    # Helpers ----------------------------------------------------------------------------------------------------------

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

    def _move_frame(self, index, shift):
        """Keep in place what is attached to a body whose frame moves, see BodyModel."""
        super()._move_frame(index, shift)
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
