"""What a Model can have that MJCF has not."""

import math

from pbd.core.messages import clipped, shown
from pbd.core.shapes import Mesh, MeshCollider
from rigid.joints import NO_LIMITS

NAME = 40  # characters of a name in a message
WRITTEN = (None, "ball", "distance")  # what JointType.special is for types that mjcf_writer.py writes
UNLIMITED = 1e10  # [rad or m]: an end of a range that is never reached, where the other end is a limit


def called(item, kind):
    """Words for a part of a model. Args: item: has a name; kind: words before it."""
    return f"{kind} {clipped(item.name, NAME)!r}"


def refuse_what_mjcf_has_not(model, closing):
    """Raise ValueError for the first part of a model that MJCF cannot hold. Args: closing: joints that close loops."""
    for body in model.bodies:
        if body.path is not None:
            raise ValueError(f"{called(body, 'body')} follows a path: expected none, MJCF has no counterpart")
        if body.name == "world":
            raise ValueError("a body called 'world': expected another name, in MJCF it is the ground's")
    for piece in model.shapes:
        of = called(model.body(piece.body), f"{type(piece.shape).__name__} of")
        if piece.restitution:
            raise ValueError(f"{of} has restitution {piece.restitution:g}: expected zero, MJCF has no counterpart")
        if isinstance(piece.shape, (Mesh, MeshCollider)):
            raise ValueError(f"{of}: expected a convex shape, because MuJoCo collides a mesh as its hull")
    for joint in model.joints:
        refuse_joint(joint)
    for joint in closing:
        refuse_closing(joint)
    for gear in model.gears:
        for index in (gear.joint_a, gear.joint_b):
            if model.joints[index] in closing:
                closes = called(model.joints[index], f"{called(gear, 'gear')} on")
                raise ValueError(f"{closes}, which closes a loop: expected a joint of the tree, MJCF has no others")
    names = [joint.name for joint in model.joints if joint.type.special == "distance"]
    for spring in model.springs:
        if spring.name in names:
            both = called(spring, "a spring and a distance called")
            raise ValueError(f"{both}: expected two names, because both are tendons")


def refuse_joint(joint):
    """Raise ValueError for a joint, or a part of it, without a counterpart."""
    who = called(joint, joint.kind)
    if joint.type.special not in WRITTEN:
        raise ValueError(f"{who}: expected no {joint.kind}s, MJCF has no counterpart")
    if joint.soft is not None:
        raise ValueError(f"{who} has soft={shown(joint.soft)}: expected None, MJCF has no counterpart")
    if joint.breaks:
        raise ValueError(f"{who} breaks: expected no break_force and no break_torque, MJCF has no counterpart")
    if joint.motor is not None and not (joint.motor.is_compliant or joint.motor.torque is not None):
        said = f"{who} has motor={shown(joint.motor)}"
        raise ValueError(f"{said}: expected one with torque, or with stiffness or damping, MJCF has no others")
    if joint.type.special == "ball":
        swing, twist = joint.swing_limit, joint.twist_limits
        if twist != ((-swing, swing) if swing < math.inf else NO_LIMITS):
            raise ValueError(f"{who} has swing_limit {swing:g} and twist_limits {shown(twist)}: expected none, or one "
                             "angle for all, because MJCF limits the whole rotation")  # fmt: skip


def refuse_closing(joint):
    """Raise ValueError for a joint that closes a loop and is more than an equality constraint can be."""
    who = f"{called(joint, joint.kind)} closes a loop"
    if joint.type.slides or len(joint.type.right_angles) == 1:
        raise ValueError(f"{who}: expected a ball, hinge, fixed or distance joint, MJCF closes loops with no others")
    limited = any(map(math.isfinite, (end for pair in joint.coordinate_limits() for end in pair)))
    drives = [coordinate.drives(joint) for coordinate in joint.type.coordinates]
    driven = any(each.friction or each.motor is not None for each in drives)
    if limited or driven or joint.friction or joint.armature or joint.springs:
        raise ValueError(f"{who}: expected no limits, friction, armature, spring or motor, MJCF has them in trees only")
