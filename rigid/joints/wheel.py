"""Wheel: its description. Its rows are in rigid/constraints/joints/wheel.py."""

from dataclasses import dataclass

import numpy as np

from pbd.core.validate import finite_number, finite_vector, positive, unit_vector
from rigid.joints.joint import Joint
from rigid.joints.joint_type import JointType
from rigid.names import GROUND
from rigid.rotation import frame_axes

TOUCHING = 1e-6  # [m]: a wheel this near to its plane touches it


@dataclass(eq=False, kw_only=True)
class Wheel(Joint):
    """Wheel: a thin rim rolls on a plane. The parent's n0 is the plane's normal, the child's n0 is the spin axis.

    The parent's anchor is a point of the plane, the child's anchor is the hub.

    Args (besides those of Joint):
        radius: of the rim [m].
        friction: coefficient of friction of the rim, which can then slip and leave the plane. None for ideal rolling:
            the rim stays on the plane and does not slip, whatever the forces.
    """

    radius: float
    friction: float | None = None

    type = JointType("wheel", special="wheel", degrees_of_freedom=3, length="radius", special_rows=1)

    def __post_init__(self):
        self.radius = positive("radius", self.radius)
        super().__post_init__()

    def checked_friction(self, name, friction):
        """See Joint; None is no number, but ideal rolling."""
        return None if friction is None else super().checked_friction(name, friction)


def wheel_contact(hub, axis, radius, normal):
    """The point of a rim that is nearest to a plane, hub - ρ with ρ = r (n - (n·a) a)/|n - (n·a) a|.

    Args: hub (3,) [m]; axis: the spin axis a (3,); radius: r [m]; normal: n of the plane (3,). Both have length one.

    Returns: (3,) [m]. Raises: ValueError if the rim is parallel to the plane.
    """
    across = normal - normal @ axis * axis
    if np.linalg.norm(across) < 1e-6:
        raise ValueError(f"axis is {tuple(map(float, axis))}, the normal of the ground: expected an axis across it")
    return hub - positive("radius", radius) * across / np.linalg.norm(across)


def add_wheel(model, wheel, axis, radius, *, point=None, height=0.0, normal=(0, 0, 1), friction=None, name=None):
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
    child = model._body_index("wheel", wheel)
    if child == GROUND:
        raise ValueError("wheel is rigid.GROUND: expected a body")
    if any(isinstance(joint, Wheel) and joint.child == child for joint in model.joints):
        raise ValueError(f"body {model.bodies[child].name!r} is a wheel already: expected another body")
    n, axis = unit_vector("normal", normal), unit_vector("axis", axis)
    hub = model.bodies[child].position if point is None else finite_vector("point", point)
    contact = wheel_contact(hub, axis, radius, n)
    gap = contact @ n - finite_number("height", height)
    if abs(gap) > TOUCHING:
        what = "wheel, point, axis, radius, height and normal with which the rim touches it"
        raise ValueError(f"the rim is {gap:g} m above the plane: expected {what}")
    return model._append(model._make(
        Wheel, GROUND, child, name, contact - gap * n, frame_axes(axis), child_point=hub, radius=radius,
        parent_axes=frame_axes(n), friction=friction, collide=True,
    ))  # fmt: skip
