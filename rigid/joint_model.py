"""Joints, springs and gears of a Model: where it keeps them, and how it makes a joint."""

from pbd.core.validate import finite_vector
from rigid.body_model import BodyModel
from rigid.names import GROUND, checked_index, fresh_name


class JointModel(BodyModel):
    """Base of Model. rigid/model.py has the methods that add joints, springs and gears. Args: gravity: (3,) [m/s²]."""

    def __init__(self, gravity=(0.0, 0.0, -9.81)):
        super().__init__(gravity)
        self.joints = []
        self.springs = []
        self.gears = []

    def joint(self, joint):
        """The Joint with this index or name."""
        return self.joints[self._joint_index("joint", joint)]

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

    def _move_frame(self, index, shift):
        """Keep in place what is attached to a body whose frame moves, see BodyModel."""
        super()._move_frame(index, shift)
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
