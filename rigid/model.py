"""Model: a description of rigid bodies, shapes, joints, springs and gears in plain numpy, for any solver.

Points, axes and poses are given in the world frame at time zero. A body or joint is given by its index or its name.
rigid/body_model.py has the methods that add bodies and shapes.
"""

import math

import numpy as np

from pbd.core.validate import LARGEST, boolean, finite_number, finite_vector, unit_vector
from rigid.body_model import BodyModel
from rigid.joint import (
    COINCIDENT,
    Ball,
    Distance,
    Fixed,
    Gear,
    Hinge,
    Slider,
    Universal,
    Wheel,
    ball_axes,
    universal_axes,
    wheel_contact,
)
from rigid.names import GROUND, checked_index, fresh_name
from rigid.rotation import frame_axes
from rigid.spring import PointSpring

TOUCHING = 1e-6  # [m]: a wheel this near to its plane touches it


class Model(BodyModel):
    """Rigid bodies with their shapes, joints, springs and gears.

    Args: gravity: (3,) [m/s²].

    Attributes:
        bodies, shapes, joints, springs, gears: lists in the order of addition, see rigid/body.py, rigid/joint.py and
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

    add_ball, add_hinge, add_universal, add_slider, add_fixed and add_distance join two bodies. Common arguments:

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

    def add_ball(
        self, parent, child, point, *, axis=None, cone_axis=None, swing_limit=None, twist_limits=None, friction=0.0,
        spring=None, soft=None, collide=False, break_force=math.inf, break_torque=math.inf, name=None,
    ):  # fmt: skip
        """Add a ball joint: one point of the child stays at one point of the parent.

        Args:
            parent, child, soft, collide, break_force, break_torque, name: see Model.
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
            break_force=break_force, break_torque=break_torque,
        )  # fmt: skip
        joint.check_swing(swing)
        return self._append(joint)

    def add_hinge(
        self, parent, child, point, axis, *, limits=None, friction=0.0, spring=None, motor=None, armature=0.0,
        soft=None, collide=False, break_force=math.inf, break_torque=math.inf, name=None,
    ):  # fmt: skip
        """Add a hinge: the child rotates about an axis.

        Args:
            parent, child, soft, collide, break_force, break_torque, name: see Model.
            point: any point on the axis (3,) [m].
            axis: (3,).
            limits: (low, high) [rad]; None for none.
            friction: [N m].
            spring, motor: a rigid.Spring, a rigid.Motor.
            armature: inertia of a geared rotor, times its gear ratio squared: it resists q̈ alone [kg m²].

        Returns: index of the joint.
        """
        parent, child = self._pair("parent", parent, "child", child)
        point, axes = finite_vector("point", point), frame_axes(unit_vector("axis", axis))
        return self._append(self._make(
            Hinge, parent, child, name, point, axes, limits=limits, friction=friction, spring=spring, motor=motor,
            armature=armature, soft=soft, collide=collide,
            break_force=break_force, break_torque=break_torque,
        ))  # fmt: skip

    def add_universal(
        self, parent, child, point, parent_axis, child_axis, *, parent_limits=None, child_limits=None, friction=0.0,
        spring=None, soft=None, collide=False, break_force=math.inf, break_torque=math.inf, name=None,
    ):  # fmt: skip
        """Add a universal joint: the child rotates about two axes at a right angle.

        Args:
            parent, child, soft, collide, break_force, break_torque, name: see Model.
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
            break_force=break_force, break_torque=break_torque,
        ))  # fmt: skip

    def add_slider(
        self, parent, child, point, axis, *, limits=None, friction=0.0, spring=None, motor=None, armature=0.0,
        soft=None, collide=False, break_force=math.inf, break_torque=math.inf, name=None,
    ):  # fmt: skip
        """Add a slider: the child translates along an axis and does not rotate.

        Args:
            parent, child, soft, collide, break_force, break_torque, name: see Model.
            point: any point on the axis (3,) [m]; None for the child's centre of mass.
            axis: (3,).
            limits: (low, high) [m]; None for none.
            friction: [N].
            spring, motor: a rigid.Spring, a rigid.Motor.
            armature: likewise, of a rotor that drives the slider: it resists q̈ alone [kg].

        Returns: index of the joint.
        """
        parent, child = self._pair("parent", parent, "child", child)
        point = self.bodies[child].position if point is None else finite_vector("point", point)
        return self._append(self._make(
            Slider, parent, child, name, point, frame_axes(unit_vector("axis", axis)), limits=limits,
            friction=friction, spring=spring, motor=motor, armature=armature, soft=soft, collide=collide,
            break_force=break_force, break_torque=break_torque,
        ))  # fmt: skip

    def add_fixed(
        self, parent, child, point=None, *, soft=None, collide=False, break_force=math.inf, break_torque=math.inf,
        name=None,
    ):  # fmt: skip
        """Add a fixed joint: the child neither translates nor rotates relative to the parent.

        Args:
            parent, child, soft, collide, break_force, break_torque, name: see Model.
            point: (3,) [m]; None for the child's centre of mass.

        Returns: index of the joint.
        """
        parent, child = self._pair("parent", parent, "child", child)
        point = self.bodies[child].position if point is None else finite_vector("point", point)
        return self._append(self._make(
            Fixed, parent, child, name, point, np.eye(3), soft=soft, collide=collide, break_force=break_force,
            break_torque=break_torque,
        ))  # fmt: skip

    def add_distance(
        self, parent, child, parent_point=None, child_point=None, *, limits=(0.0, 0.0), soft=None, collide=True,
        break_force=math.inf, break_torque=math.inf, name=None,
    ):  # fmt: skip
        """Add a distance joint: the distance of two points stays constant, or within limits.

        Args:
            parent, child, soft, collide, break_force, break_torque, name: see Model.
            parent_point, child_point: (3,) [m]; None for the centre of mass.
            limits: (low, high) of the change since time zero [m]: (0, 0) is a rod, (-math.inf, 0) a string.

        Returns: index of the joint.
        """
        parent, child = self._pair("parent", parent, "child", child)
        start, end = self._ends("parent_point", parent, parent_point, "child_point", child, child_point)
        length = float(np.linalg.norm(end - start))
        if length <= COINCIDENT:
            raise ValueError(f"parent_point and child_point are {length:g} m apart: expected more, or add_ball")
        return self._append(self._make(
            Distance, parent, child, name, start, frame_axes((end - start) / length), child_point=end, length=length,
            limits=limits, soft=soft, collide=collide,
            break_force=break_force, break_torque=break_torque,
        ))  # fmt: skip

    def add_wheel(self, wheel, axis, radius, *, point=None, height=0.0, normal=(0, 0, 1), friction=None, name=None):
        """Add a wheel: the rim of a body rolls on a plane of the ground without slip.

        Args:
            wheel: the body that rolls, by index or name. It rotates on a hinge, or is free like a coin.
            axis: spin axis (3,), not the plane's normal.
            radius: of the rim [m].
            point: the hub (3,) [m]; None for the body's centre of mass. The rim has to touch the plane.
            height: distance of the plane from the origin, along its normal [m].
            normal: of the plane (3,), towards the wheel.
            friction: coefficient of friction; the rim can then slip, and leave the plane. None for ideal rolling: no
                force makes it slip or lifts it. Each is a constraint of its own, not a contact of shapes.
            name: unique; "wheel 0" and so on if None.

        Returns: index of the joint.
        """
        child = self._body_index("wheel", wheel)
        if child == GROUND:
            raise ValueError("wheel is rigid.GROUND: expected a body")
        if any(isinstance(joint, Wheel) and joint.child == child for joint in self.joints):
            raise ValueError(f"body {self.bodies[child].name!r} is a wheel already: expected another body")
        n, axis = unit_vector("normal", normal), unit_vector("axis", axis)
        hub = self.bodies[child].position if point is None else finite_vector("point", point)
        contact = wheel_contact(hub, axis, radius, n)
        gap = contact @ n - finite_number("height", height)
        if abs(gap) > TOUCHING:
            what = "wheel, point, axis, radius, height and normal with which the rim touches it"
            raise ValueError(f"the rim is {gap:g} m above the plane: expected {what}")
        return self._append(self._make(
            Wheel, GROUND, child, name, contact - gap * n, frame_axes(axis), child_point=hub, radius=radius,
            parent_axes=frame_axes(n), friction=friction, collide=True,
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
            if joint.degrees_of_freedom != 1:
                raise ValueError(f"gear on {joint.name!r}, a {joint.kind} joint: expected a hinge or slider")
        if a == b:
            raise ValueError(f"joint_a and joint_b are both {self.joints[a].name!r}: expected two joints")
        ratio = finite_number("ratio", ratio)
        if abs(ratio) < 1 / LARGEST:
            raise ValueError(f"ratio is {ratio:g}: expected a number off zero")
        self.gears.append(Gear(fresh_name("gear", name, self.gears), a, b, ratio))
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
