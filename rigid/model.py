"""Model: rigid bodies, what they are made of and how they are joined, in plain numpy. It knows no solver.

Points, axes and poses are given in the world frame at time zero. Where a body or a joint is asked for, its index or its
name will do. Bodies and their shapes are in rigid/body.py, where Model goes on from.
"""

import math

import numpy as np

from pbd.core.rotation import rotation_between
from pbd.core.shapes import HULL
from pbd.core.validate import finite_number, finite_vector, positive, unit_vector
from rigid.body import Bodies, Body
from rigid.joint import Ball, Distance, Fixed, Gear, Hinge, PointSpring, Slider, Universal, checked_limits
from rigid.names import GROUND, fresh_name, look_up
from rigid.rotation import rotate, triad
from rigid.state import State

COINCIDE = 1e-9  # [m]: what is closer has no direction from one to the other


class Model(Bodies):
    """A description of rigid bodies, for any solver.

    Arguments: gravity (3,) [m/s²].

    Attributes: bodies, shapes, joints, springs, gears: lists, in the order in which they were added, of what
    rigid/body.py and rigid/joint.py describe; gravity; exclusions: pairs of bodies that never touch.
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

    # Joints. All take: parent, child: index or name, the parent may be rigid.GROUND; name: made up where None; collide:
    # whether the two bodies touch; soft: a rigid.Soft, None for hard. All return the joint's index. -----------------

    def add_ball(
        self, parent, child, point, *, axis=None, cone_axis=None, swing_limit=None, twist_limits=None, friction=0.0,
        spring=None, name=None, collide=False, soft=None,
    ):  # fmt: skip
        """Keep a point of two bodies together.

        Arguments, besides those of all joints:
            point: (3,) [m].
            axis: the twist axis (3,); None for the direction from the point to the child's centre of mass, or z where
                they coincide.
            cone_axis: the middle of the cone in which the child's twist axis stays (3,), fixed in the parent; None for
                the twist axis as it is at time zero.
            swing_limit: half the cone's opening, above 0, at most π [rad]; twist_limits: (low, high) within ±π [rad];
                None for none. See rigid.Ball for how swing and twist are measured.
            friction: [N m]; spring: a rigid.Spring that turns back to the starting pose (rest must be zero).
        """
        parent, child = self._pair("parent", parent, "child", child)
        point = finite_vector("point", point)
        if axis is None:
            arm = self.bodies[child].position - point
            axis = arm if np.linalg.norm(arm) > COINCIDE else (0.0, 0.0, 1.0)
        axis = unit_vector("axis", axis)
        cone_axis = axis if cone_axis is None else unit_vector("cone_axis", cone_axis)
        if swing_limit is not None:
            swing_limit = positive("swing_limit", swing_limit)
            if swing_limit > math.pi:
                raise ValueError(f"swing_limit is {swing_limit:g}: expected at most π")
            swing = math.atan2(np.linalg.norm(np.cross(axis, cone_axis)), axis @ cone_axis)
            if swing > swing_limit + 1e-12:
                raise ValueError(
                    f"swing_limit is {swing_limit:g}: the starting pose violates it by {swing - swing_limit:g}, "
                    f"its axis is {swing:g} rad off the cone_axis"
                )
        if twist_limits is not None and max(map(abs, checked_limits("twist_limits", twist_limits))) > math.pi:
            raise ValueError(f"twist_limits are {tuple(twist_limits)}: expected both within ±π")
        if spring is not None and getattr(spring, "rest", 0.0):
            raise ValueError(f"spring of a ball with rest {spring.rest:g}: expected zero, the starting pose")
        axes = triad(axis)
        return self._join(
            Ball, parent, child, point, axes, name, collide, parent_axes=_tilted(axes, cone_axis),
            swing_limit=math.inf if swing_limit is None else swing_limit, twist_limits=twist_limits, friction=friction,
            spring=spring, soft=soft,
        )  # fmt: skip

    def add_hinge(
        self, parent, child, point, axis, *, limits=None, friction=0.0, spring=None, motor=None, name=None,
        collide=False, soft=None,
    ):  # fmt: skip
        """Let the child turn about an axis.

        Arguments, besides those of all joints: point (3,) on the axis [m]; axis (3,); limits (low, high) [rad], None
        for none; friction [N m]; spring: a rigid.Spring; motor: a rigid.Motor.
        """
        pair = self._pair("parent", parent, "child", child)
        return self._join(
            Hinge, *pair, finite_vector("point", point), triad(unit_vector("axis", axis)), name, collide,
            limits=limits, friction=friction, spring=spring, motor=motor, soft=soft,
        )  # fmt: skip

    def add_universal(
        self, parent, child, point, parent_axis, child_axis, *, parent_limits=None, child_limits=None, friction=0.0,
        spring=None, name=None, collide=False, soft=None,
    ):  # fmt: skip
        """Let the child turn about two axes, one fixed in the parent, one in itself, that stay at a right angle.

        Arguments, besides those of all joints: point (3,), where the axes cross [m]; parent_axis, child_axis (3,), at a
        right angle; parent_limits, child_limits: (low, high) of the angle about each [rad], None for none; friction
        [N m] and spring (a rigid.Spring): about each.
        """
        pair = self._pair("parent", parent, "child", child)
        n0, n1 = unit_vector("parent_axis", parent_axis), unit_vector("child_axis", child_axis)
        if abs(n0 @ n1) > 1e-6:
            between = math.degrees(math.acos(np.clip(n0 @ n1, -1, 1)))
            raise ValueError(f"parent_axis and child_axis are {between:g}° apart: expected a right angle")
        n1 = unit_vector("child_axis", n1 - n0 @ n1 * n0)
        return self._join(
            Universal, *pair, finite_vector("point", point), np.stack([n0, n1, np.cross(n0, n1)]), name, collide,
            parent_limits=parent_limits, child_limits=child_limits, friction=friction, spring=spring, soft=soft,
        )  # fmt: skip

    def add_slider(
        self, parent, child, point, axis, *, limits=None, friction=0.0, spring=None, motor=None, name=None,
        collide=False, soft=None,
    ):  # fmt: skip
        """Let the child shift along an axis, without turning.

        Arguments, besides those of all joints: point (3,) [m], the child's centre of mass if None; axis (3,); limits
        (low, high) [m], None for none; friction [N]; spring: a rigid.Spring; motor: a rigid.Motor.
        """
        parent, child = self._pair("parent", parent, "child", child)
        point = self.bodies[child].position if point is None else finite_vector("point", point)
        return self._join(
            Slider, parent, child, point, triad(unit_vector("axis", axis)), name, collide,
            limits=limits, friction=friction, spring=spring, motor=motor, soft=soft,
        )  # fmt: skip

    def add_fixed(self, parent, child, point=None, *, name=None, collide=False, soft=None):
        """Make two bodies one. Arguments, besides those of all joints: point (3,) [m], as in add_slider."""
        parent, child = self._pair("parent", parent, "child", child)
        point = self.bodies[child].position if point is None else finite_vector("point", point)
        return self._join(Fixed, parent, child, point, np.eye(3), name, collide, soft=soft)

    def add_distance(self, parent, child, parent_point=None, child_point=None, *, limits=(0.0, 0.0), name=None,
                     collide=True, soft=None):  # fmt: skip
        """Keep two points at their distance of time zero, or within limits of it.

        Arguments, besides those of all joints: parent_point, child_point (3,) [m], the centre of mass where None;
        limits (low, high) of the distance's change since time zero [m]: (0, 0) a rod, (-math.inf, 0) a string.
        """
        parent, child = self._pair("parent", parent, "child", child)
        start, end = self._ends("parent_point", parent, parent_point, "child_point", child, child_point)
        length = float(np.linalg.norm(end - start))
        if length <= COINCIDE:
            raise ValueError(f"parent_point and child_point are {length:g} m apart: expected more; add_ball joins them")
        axes = triad((end - start) / length)
        return self._join(
            Distance, parent, child, start, axes, name, collide, child_point=end, length=length, limits=limits,
            soft=soft,
        )  # fmt: skip

    # Springs and gears ----------------------------------------------------------------------------------------------

    def add_spring(self, a, b, point_a=None, point_b=None, *, stiffness, damping=0.0, rest_length=None, name=None):
        """Pull and push two points along the line between them.

        Arguments: a, b: bodies, one of them may be rigid.GROUND; point_a, point_b (3,) [m], the centre of mass where
        None; stiffness [N/m]; damping [N s/m]; rest_length [m], the present distance where None; name.

        Returns: its index.
        """
        a, b = self._pair("a", a, "b", b, ground="either")
        start, end = self._ends("point_a", a, point_a, "point_b", b, point_b)
        rest_length = np.linalg.norm(end - start) if rest_length is None else rest_length
        name = fresh_name("spring", name, self.springs)
        anchors = self.body(a).local_point(start), self.body(b).local_point(end)
        self.springs.append(PointSpring(name, a, b, *anchors, stiffness, damping, rest_length))
        return len(self.springs) - 1

    def add_gear(self, joint_a, joint_b, ratio, *, name=None):
        """Make the position of a joint a multiple of another's: q_b = ratio q_a.

        Arguments: joint_a, joint_b: hinges or sliders, by index or name; ratio, not zero; name. Returns: its index.
        """
        a, b = self._joint_index("joint_a", joint_a), self._joint_index("joint_b", joint_b)
        for joint in (self.joints[a], self.joints[b]):
            if not isinstance(joint, (Hinge, Slider)):
                raise ValueError(
                    f"gear on {joint.name!r}, a {joint.kind} joint: expected a hinge or slider, which have one position"
                )
        if a == b:
            raise ValueError(f"gear from {self.joints[a].name!r} to itself: expected two joints")
        ratio = finite_number("ratio", ratio)
        if ratio == 0:
            raise ValueError("ratio is 0: expected another number")
        self.gears.append(Gear(fresh_name("gear", name, self.gears), a, b, ratio))
        return len(self.gears) - 1

    # What solvers read ----------------------------------------------------------------------------------------------

    def joint(self, joint):
        """The Joint with an index or name."""
        return self.joints[self._joint_index("joint", joint)]

    def initial_state(self):
        """The State at time zero. Raises: ValueError where a body has no mass yet."""
        for body in self.bodies:
            if body.mass <= 0:
                raise ValueError(f"body {body.name!r} has no mass: expected mass and inertia, or shapes with a density")
        widths = {"position": 3, "rotation": 4, "velocity": 3, "angular_velocity": 3}
        columns = ([getattr(body, name) for body in self.bodies] for name in widths)
        return State(*(np.reshape(column, (-1, width)) for column, width in zip(columns, widths.values())))

    def structure(self):
        """What models must have in common to be worlds of one solver: who is joined to whom and by what, as a tuple."""
        return (
            len(self.bodies),
            tuple((s.shape.kind, s.body, len(s.shape.vertices) if s.shape.kind == HULL else 0) for s in self.shapes),
            tuple((joint.kind, joint.name, joint.parent, joint.child) for joint in self.joints),
            tuple((spring.a, spring.b) for spring in self.springs),
            tuple((gear.joint_a, gear.joint_b) for gear in self.gears),
        )

    # How --------------------------------------------------------------------------------------------------------------

    def _joint_index(self, what, joint):
        return look_up(what, joint, self.joints, "joint")

    def _pair(self, name_a, a, name_b, b, ground="first"):
        """Indices of two different bodies, of which the first, or either, may be the ground."""
        indices = self._body_index(name_a, a), self._body_index(name_b, b)
        if indices[0] == indices[1]:
            raise ValueError(f"{name_a} and {name_b} are both {self.body(indices[0]).name!r}: expected two bodies")
        if ground == "first" and indices[1] == GROUND:
            raise ValueError(f"{name_b} is rigid.GROUND: expected a body; the {name_a} may be the ground")
        return indices

    def _ends(self, name_a, a, point_a, name_b, b, point_b):
        """Two points of the world, each a body's centre of mass where None."""
        points = []
        for name, index, point in ((name_a, a, point_a), (name_b, b, point_b)):
            if point is None and index == GROUND:
                raise ValueError(f"{name} is None: expected a point (3,), the ground has no centre of mass")
            points.append(self.bodies[index].position if point is None else finite_vector(name, point))
        return points

    def _join(self, kind, parent, child, point, axes, name, collide, child_point=None, parent_axes=None, **fields):
        """Add a joint, with its points and triads turned into both bodies' frames."""
        first, second = self.body(parent), self.body(child)
        joint = kind(
            name=fresh_name(kind.kind, name, self.joints),
            parent=parent, child=child,
            parent_anchor=first.local_point(point),
            child_anchor=second.local_point(point if child_point is None else child_point),
            parent_axes=first.local_direction(axes if parent_axes is None else parent_axes),
            child_axes=second.local_direction(axes),
            collide=bool(collide), **fields,
        )  # fmt: skip
        self.joints.append(joint)
        if not joint.collide and parent != GROUND:
            self.exclusions.add((min(parent, child), max(parent, child)))
        return len(self.joints) - 1


def models_of_worlds(model):
    """What a solver is given, as a list of models of one structure: one for all worlds, or one each.

    Arguments: a Model or a list of them.

    Raises: TypeError for what is none; ValueError for an empty list, for models of several structures, and for a body
    without mass.
    """
    models = list(model) if isinstance(model, (list, tuple)) else [model]
    for each in models:
        if not isinstance(each, Model):
            raise TypeError(f"model is {each!r}: expected a rigid.Model, or a list of them")
        each.initial_state()
    if not models:
        raise ValueError("model is a list of none: expected at least one rigid.Model")
    if any(each.structure() != models[0].structure() for each in models):
        raise ValueError("models of several structures: expected the same bodies and joints in each world")
    return models


def _tilted(axes, direction):
    """The triad turned the shortest way so that its n0 points in a direction."""
    return rotate(rotation_between(axes[0], direction), axes)
