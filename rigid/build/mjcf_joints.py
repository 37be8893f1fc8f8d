"""Joints of a compiled MuJoCo model as joints of a Model."""

import math
from dataclasses import dataclass

import numpy as np

from rigid.build.mjcf_refused import UNLIMITED
from rigid.motor import Motor
from rigid.rotation import from_axis_angle, rotate
from rigid.spring import Spring

FREE, BALL, SLIDE, HINGE = range(4)  # mjtJoint
RIGHT_ANGLE = 1e-3  # cosine below which two axes count as perpendicular
TOGETHER = 1e-6  # [m]: axes at most this far apart intersect


@dataclass
class MujocoJoint:
    """Joint of the compiled model in its starting pose.

    Args:
        kind: SLIDE, HINGE or BALL.
        name: None for none.
        point, axis: in the world (3,) [m], (3,).
        limits: (low, high) relative to that pose [rad or m]; None for none.
        friction: [N m or N].
        stiffness, damping: of its spring.
        rest: rest position of its spring, relative to that pose [rad or m].
        armature: [kg m² or kg].
        motor: a rigid.Motor, or None.
    """

    kind: int
    name: str | None
    point: np.ndarray
    axis: np.ndarray
    limits: tuple | None
    friction: float
    stiffness: float
    damping: float
    rest: float
    armature: float
    motor: Motor | None = None


def joint_of(compiled, data, j, name, motor=None):
    """Joint j as a MujocoJoint. Args: an mjModel; its mjData after mj_kinematics; index; name; motor, or None."""
    m, place, dof, kind = compiled, compiled.jnt_qposadr[j], compiled.jnt_dofadr[j], int(compiled.jnt_type[j])
    start = 0.0 if kind == BALL else float(data.qpos[place])
    low, high = (float(limit) - start if abs(limit) < UNLIMITED else math.copysign(math.inf, limit)
                 for limit in m.jnt_range[j])  # fmt: skip
    return MujocoJoint(
        kind, name, data.xanchor[j].copy(), data.xaxis[j].copy(), (low, high) if m.jnt_limited[j] else None,
        float(m.dof_frictionloss[dof]), float(m.jnt_stiffness[j]), float(m.dof_damping[dof]),
        0.0 if kind == BALL else float(m.qpos_spring[place]) - start, float(m.dof_armature[dof]), motor,
    )  # fmt: skip


def grouped(joints, merge=None):
    """Split the joints of a body into groups, each of which becomes one joint of a Model, from the parent outwards.

    Two or three hinges at right angles may form one group. So may slides and a hinge that are a cylindrical or planar
    joint, if at most one of them has a name, as save_mjcf writes them. Any other joint is a group by itself.

    Args: joints: MujocoJoints; merge: whether there are groups; None: if none has an armature or a motor, which a
    group has not.
    """
    if merge is None:
        merge = not any(joint.armature or joint.motor for joint in joints)
    if merge and len(joints) in (2, 3) and all(joint.kind == HINGE for joint in joints):
        axes = np.array([joint.axis for joint in joints])
        if np.abs(np.triu(axes @ axes.T, 1)).max() < RIGHT_ANGLE:
            return [joints]
    named = sum(joint.name is not None for joint in joints)
    if merge and named < 2 and (is_cylindrical(joints) or is_planar(joints)):
        return [joints]
    return [[joint] for joint in joints]


def is_cylindrical(joints):
    """Whether joints are a slide and then a hinge about the same direction."""
    if [joint.kind for joint in joints] != [SLIDE, HINGE]:
        return False
    return np.linalg.norm(np.cross(joints[0].axis, joints[1].axis)) < RIGHT_ANGLE


def is_planar(joints):
    """Whether joints are two equal slides at a right angle and then a hinge at right angles to both."""
    if [joint.kind for joint in joints] != [SLIDE, SLIDE, HINGE]:
        return False
    first, second, hinge = joints
    angles = first.axis @ second.axis, first.axis @ hinge.axis, second.axis @ hinge.axis
    return np.abs(angles).max() < RIGHT_ANGLE and all(
        getattr(first, name) == getattr(second, name) for name in ("friction", "stiffness", "damping", "rest")
    )


def add_joint(model, parent, child, group, collide=False):
    """Add a group as one joint of a Model between two of its bodies. Args: collide: whether these collide.

    Returns: descriptions of what is approximated, a list of strings.
    """
    if len(group) == 1:
        return add_single(model, parent, child, group[0], collide)
    if group[0].kind == SLIDE:
        return add_sliding(model, parent, child, group, collide)
    names = [joint.name for joint in group if joint.name]
    lost = lost_of(group)
    point = np.mean([joint.point for joint in group], axis=0)
    apart = max(np.linalg.norm(a.point - b.point) for a in group for b in group)
    said = lost + ([f"their axes, {apart:.3g} m apart, moved to a common point"] if apart > TOGETHER else [])
    mean = {}
    for key in ("friction", "stiffness", "damping"):
        values = [getattr(joint, key) for joint in group]
        mean[key] = float(np.mean(values))
        if np.ptp(values) > 1e-9 * mean[key]:
            said.append(f"the mean of their {key}")
    if any(joint.stiffness and joint.rest for joint in group):
        said.append("rest positions of their springs set to the starting pose")
    common = {"friction": mean["friction"], "spring": spring(mean["stiffness"], mean["damping"]),
              "name": "+".join(names) or None, "collide": collide}  # fmt: skip
    if len(group) == 2:
        first, second = group
        across = second.axis - second.axis @ first.axis * first.axis
        model.add_universal(
            parent, child, point, first.axis, across, parent_limits=first.limits, child_limits=second.limits, **common
        )
    else:
        axis, cone, swing, twist = cone_of(group, model.bodies[child].position - point)
        model.add_ball(
            parent, child, point, axis=axis, cone_axis=cone, swing_limit=swing, twist_limits=twist, **common
        )
        if any(joint.limits for joint in group):
            cone = "no swing limit" if swing is None else f"a cone of {math.degrees(swing):.0f}°"
            said.append(f"limits replaced by {cone} and twist limits")
    if not said:
        return []
    who = ", ".join(names) or f"{len(group)} hinges"
    kind = "universal" if len(group) == 2 else "ball"
    return [f"{who} as one {kind} joint, {', '.join(said)}"]


def lost_of(group):
    """What a group loses as one joint, a list of strings."""
    parts = {"armature": any(joint.armature for joint in group), "motors": any(joint.motor for joint in group)}
    return [f"without {what}" for what, was_there in parts.items() if was_there]


def add_sliding(model, parent, child, group, collide):
    """Add slides and a hinge as one cylindrical or planar joint. Args and return value: see add_joint."""
    *slides, hinge = group
    along = slides[0].axis if len(slides) == 1 else np.cross(slides[0].axis, slides[1].axis)
    sign = 1.0 if along @ hinge.axis > 0 else -1.0  # the joint counts the angle about its own axis
    limits = hinge.limits if hinge.limits is None or sign > 0 else (-hinge.limits[1], -hinge.limits[0])
    name = next((joint.name for joint in group if joint.name), None)
    common = {
        "angle_limits": limits, "shift_friction": slides[0].friction, "angle_friction": hinge.friction,
        "shift_spring": own_spring(slides[0]), "angle_spring": own_spring(hinge, sign),
        "name": name, "collide": collide,
    }  # fmt: skip
    if len(slides) == 1:
        model.add_cylindrical(parent, child, hinge.point, along, shift_limits=slides[0].limits, **common)
    else:
        model.add_planar(
            parent, child, hinge.point, along, axis=slides[0].axis, first_limits=slides[0].limits,
            second_limits=slides[1].limits, **common,
        )  # fmt: skip
    lost = lost_of(group)
    return [f"{name or 'slides and a hinge'} as one joint, {', '.join(lost)}"] if lost else []


def own_spring(joint, sign=1.0):
    """The spring of a hinge or slide, None for none. Args: joint; sign: of the coordinate that counts it."""
    return spring(joint.stiffness, joint.damping, sign * joint.rest if joint.stiffness else 0.0)


def add_single(model, parent, child, joint, collide):
    """Add a single hinge, slider or ball. Args and return value: see add_joint."""
    common = {"friction": joint.friction, "name": joint.name, "collide": collide}
    if joint.kind != BALL:
        common |= {"armature": joint.armature, "motor": joint.motor}
    if joint.kind == HINGE:
        model.add_hinge(
            parent, child, joint.point, joint.axis, limits=joint.limits, spring=own_spring(joint), **common,
        )  # fmt: skip
    elif joint.kind == SLIDE:
        model.add_slider(
            parent, child, joint.point, joint.axis, limits=joint.limits, spring=own_spring(joint), **common,
        )  # fmt: skip
    else:
        # MuJoCo limits the angle of the whole rotation. A cone and twist limits of that angle contain all such.
        limit = min(joint.limits[1], math.pi) if joint.limits else None
        model.add_ball(
            parent, child, joint.point, swing_limit=limit, twist_limits=None if limit is None else (-limit, limit),
            spring=spring(joint.stiffness, joint.damping), **common,
        )  # fmt: skip
        if limit is not None:
            return [f"{joint.name or 'a ball'}: limit of the whole rotation replaced by cone and twist limits"]
    return []


def spring(stiffness, damping, rest=0.0):
    """A rigid.Spring, or None if stiffness and damping are zero."""
    return Spring(stiffness, damping, rest) if stiffness or damping else None


def cone_of(group, arm):
    """Replace three hinges at right angles by a ball joint.

    The hinge closest to the direction of the limb gives the twist. The cone's axis is the twist axis after rotations to
    the middles of the other two ranges. The cone contains the wider range and the starting pose.

    Args: group: three MujocoJoints; arm: direction of the limb (3,).

    Returns: twist axis (3,), cone axis (3,), swing_limit [rad], twist_limits [rad]; None for missing limits.
    """
    twisting = int(np.argmax([abs(joint.axis @ arm) for joint in group]))
    twist, others = group[twisting], [joint for k, joint in enumerate(group) if k != twisting]
    limits = None if twist.limits is None else tuple(np.clip(twist.limits, -math.pi, math.pi).tolist())
    if any(joint.limits is None for joint in others):
        return twist.axis, None, None, limits
    cone = twist.axis
    for joint in reversed(others):  # the last hinge rotates the limb first
        cone = rotate(from_axis_angle(joint.axis, np.mean(joint.limits)), cone)
    start = math.atan2(np.linalg.norm(np.cross(cone, twist.axis)), cone @ twist.axis)
    widest = max((joint.limits[1] - joint.limits[0]) / 2 for joint in others)
    return twist.axis, cone, min(max(widest, start + 1e-9), math.pi), limits
