"""Ragdoll: a person made of capsules, with the joint limits of a person.

Masses as parts of the whole mass, heights and lengths as parts of the height:

    head and neck      .081     top of the head  1.000     upper arm   .186
    thorax             .216     chin              .870     forearm     .146
    abdomen            .139     shoulder          .818     hand        .108
    pelvis             .142     hip               .530     foot        .152
    upper arm          .028     knee              .285     breadth of the shoulders  .258
    forearm            .016     ankle             .039     breadth of the hips       .191
    hand               .006
    thigh              .100
    shank              .0465
    foot               .0145

Sources: Winter, Biomechanics and Motor Control of Human Movement (4th edition, 2009),
https://doi.org/10.1002/9780470549148, table 4.1, for the masses (after Dempster 1955); figure 4.1, for the lengths
(after Drillis, Contini, Body Segment Parameters, 1966). Chosen here: the radii, for a mean density near that of water;
uniform density of each capsule, where Winter has radii of gyration; cones as ranges of motion.

A standing person faces x, with z up and the left hand on the side of y. The left side is given here and mirrored.
"""

import math
from dataclasses import dataclass, field

import numpy as np

from pbd.core.messages import shown
from pbd.core.rotation import IDENTITY, rotation_between
from pbd.core.transaction import builder
from pbd.core.validate import (
    boolean,
    finite_number,
    finite_vector,
    not_negative,
    one_line,
    one_of,
    positive,
    unit_quaternion,
)
from rigid.body import EVERY_GROUP
from rigid.model import Model
from rigid.rotation import exponential, multiply, rotate, swing_twist_angles
from rigid.spring import Spring

UP, DOWN, SIDEWAYS = (0.0, 0.0, 1.0), (0.0, 0.0, -1.0), (0.0, 1.0, 0.0)

# Angle of the arms from the vertical, so that they touch neither the hips nor the thighs [rad].
ARM_ANGLE = math.radians(15)
ARM = np.array([0.0, math.sin(ARM_ANGLE), -math.cos(ARM_ANGLE)])
# At a right angle to the arm. A positive angle bends it forwards.
ELBOW_AXIS = np.array([0.0, -math.cos(ARM_ANGLE), -math.sin(ARM_ANGLE)])

# The breadths of shoulders and hips include the radii of arms and thighs.
SHOULDER = np.array([0.0, 0.129 - 0.028, 0.818])
ELBOW = SHOULDER + 0.186 * ARM
WRIST = ELBOW + 0.146 * ARM
HIP, KNEE, ANKLE = np.array([(0.0, 0.050, 0.530), (0.0, 0.050, 0.285), (0.0, 0.050, 0.039)])
FIST = 0.054  # half a hand: added to the length of a forearm without a hand
HAND = 0.108


@dataclass
class Segment:
    """Capsule of the person. Args: mass: part of the whole mass; radius, start, end (3,): parts of the height."""

    mass: float
    radius: float
    start: tuple
    end: tuple


@dataclass
class Articulation:
    """Joint of the person in the standing pose.

    Args:
        parent, child: names of segments.
        point: in parts of the height (3,).
        axis: of a hinge, or twist axis of a ball joint (3,).
        limits: of a hinge (low, high) [rad]; None for a ball joint.
        cone_axis, swing_limit, twist_limits: of a ball joint (3,), [rad], (low, high) [rad].
    """

    parent: str
    child: str
    point: tuple
    axis: tuple
    limits: tuple | None = None
    cone_axis: tuple | None = None
    swing_limit: float = 0.0
    twist_limits: tuple = field(default=(0.0, 0.0))


def anatomy(feet, hands):
    """Segments and articulations of a person of height one and mass one: two dicts by name.

    Args: feet, hands: whether they are separate segments; otherwise they are part of the shins and forearms.
    """
    segments = {
        "pelvis": Segment(0.142, 0.060, (0, -0.0355, 0.550), (0, 0.0355, 0.550)),
        "chest": Segment(0.216 + 0.139, 0.082, (0, 0, 0.677), (0, 0, 0.758)),
        "head": Segment(0.081, 0.052, (0, 0, 0.922), (0, 0, 0.948)),
        "left upper arm": Segment(0.028, 0.026, SHOULDER, ELBOW),
        "left lower arm": Segment(0.016 + 0.006, 0.021, ELBOW, WRIST + (FIST - 0.021) * ARM),
        "left thigh": Segment(0.100, 0.045, HIP, KNEE),
        "left shin": Segment(0.0465 + 0.0145, 0.031, KNEE, (0, 0.050, 0.031)),
    }
    articulations = {
        "waist": Articulation("pelvis", "chest", (0, 0, 0.600), UP, None, (0.35, 0, 1), 0.60, (-0.6, 0.6)),
        "neck": Articulation("chest", "head", (0, 0, 0.860), UP, None, (0.17, 0, 1), 0.75, (-1.2, 1.2)),
        # From hanging to overhead, across the chest, and 50° backwards.
        "left shoulder": Articulation(
            "chest", "left upper arm", SHOULDER, ARM, None, (0.5, 0.8, -0.2), 1.83, (-1.3, 1.3)
        ),
        "left elbow": Articulation("left upper arm", "left lower arm", ELBOW, ELBOW_AXIS, (0.0, 2.5)),
        # Flexion 110°, extension 10°, abduction 60°, adduction 20°.
        "left hip": Articulation("pelvis", "left thigh", HIP, DOWN, None, (0.75, 0.25, -0.61), 1.08, (-0.7, 0.7)),
        "left knee": Articulation("left thigh", "left shin", KNEE, SIDEWAYS, (0.0, 2.4)),
    }
    if hands:
        segments["left lower arm"] = Segment(0.016, 0.021, ELBOW, WRIST)
        segments["left hand"] = Segment(0.006, 0.018, WRIST + 0.018 * ARM, WRIST + (HAND - 0.018) * ARM)
        articulations["left wrist"] = Articulation(
            "left lower arm", "left hand", WRIST, ARM, None, ARM, 1.2, (-1.2, 1.2)
        )
    if feet:
        segments["left shin"] = Segment(0.0465, 0.031, KNEE, ANKLE)
        segments["left foot"] = Segment(0.0145, 0.020, (-0.022, 0.050, 0.020), (0.090, 0.050, 0.020))
        articulations["left ankle"] = Articulation("left shin", "left foot", ANKLE, SIDEWAYS, (-0.35, 0.85))
    return mirrored(segments), mirrored(articulations)


def mirrored(parts):
    """Add the right side to parts. An axis of rotation (x, y, z) is mirrored to (-x, y, -z)."""
    whole = {}
    for name, part in parts.items():
        whole[name] = part
        if not name.startswith("left "):
            continue
        changed = {}
        for key, value in vars(part).items():
            if isinstance(value, str):
                value = value.replace("left ", "right ")
            elif key in ("start", "end", "point", "cone_axis") or (key == "axis" and part.limits is None):
                value = None if value is None else np.multiply(value, (1, -1, 1))
            elif key == "axis":
                value = np.multiply(value, (-1, 1, -1))
            elif key == "twist_limits":
                value = (-value[1], -value[0])
            changed[key] = value
        whole[name.replace("left ", "right ")] = type(part)(**changed)
    return whole


@dataclass
class Ragdoll:
    """Indices of a ragdoll's bodies and joints in its Model.

    Args:
        name: prefix of their names in the Model, such as "ragdoll 0" of "ragdoll 0/left knee".
        bodies, joints: indices by name, such as bodies["left thigh"] and joints["left knee"].
    """

    name: str
    bodies: dict
    joints: dict


@builder(Model)
def ragdoll(
    model, position=(0.0, 0.0, 0.0), rotation=IDENTITY, height=1.75, mass=75.0, *, pose=None, velocity=(0.0, 0.0, 0.0),
    angular_velocity=(0.0, 0.0, 0.0), feet=False, hands=False, joint_friction=0.0, joint_damping=0.0,
    self_collision=True, friction=0.5, restitution=0.0, group=1, mask=EVERY_GROUP, name=None,
):  # fmt: skip
    """Add a person made of eleven capsules; thirteen with feet or hands, fifteen with both.

    Args:
        model: a rigid.Model.
        position: point of the floor between the soles (3,) [m].
        rotation: about that point (w, x, y, z). Without one the person faces x, with the left hand on the side of y.
        height: [m].
        mass: [kg].
        pose: joint positions at time zero relative to the standing pose, by name: {"left knee": angle} for a hinge
            [rad], {"left hip": (x, y, z)}, a rotation vector in the parent's axes, for a ball joint [rad]. The pelvis
            stays in place. The Model's joint positions are zero in this pose.
        velocity: of the centre of mass (3,) [m/s].
        angular_velocity: of the whole person about the centre of mass (3,) [rad/s].
        feet, hands: whether they are separate bodies; otherwise they are part of the shins and forearms.
        joint_friction: in each joint [N m].
        joint_damping: in each joint [N m s/rad].
        self_collision: whether limbs collide with each other. Limbs that are neighbours, or overlap in the standing
            pose, never collide.
        friction, restitution, group, mask: of all shapes, see Model.add_shape.
        name: None for "ragdoll 0" and so on.

    Returns: a Ragdoll. Joints: waist, neck; left and right shoulder, elbow, hip, knee; left and right wrist with hands,
    ankle with feet. Elbows and knees are straight at zero and bend with positive angles. A positive angle of an ankle
    points the foot.

    Raises: ValueError for an unknown joint, and for a pose outside the limits.
    """
    height, mass = positive("height", height), positive("mass", mass)
    position, rotation = finite_vector("position", position), unit_quaternion("rotation", rotation)
    velocity, spin = finite_vector("velocity", velocity), finite_vector("angular_velocity", angular_velocity)
    segments, articulations = anatomy(boolean("feet", feet), boolean("hands", hands))
    self_collision = boolean("self_collision", self_collision)
    joint_friction = not_negative("joint_friction", joint_friction)
    joint_damping = not_negative("joint_damping", joint_damping)
    rotation_vectors = checked_pose({} if pose is None else pose, articulations)
    name = free_name(model) if name is None else one_line("name", name)
    spring = Spring(stiffness=0.0, damping=joint_damping) if joint_damping else None
    surface = {"friction": friction, "restitution": restitution, "group": group, "mask": mask}

    # Rotation of each segment from the standing pose, and its translation in parts of the height.
    places = {"pelvis": (IDENTITY, np.zeros(3))}
    for key, joint in articulations.items():
        q, shift = places[joint.parent]
        child_q = multiply(q, exponential(rotation_vectors[key]))
        places[joint.child] = child_q, shift + rotate(q, joint.point) - rotate(child_q, joint.point)

    def point_of(part, point):
        q, shift = places[part]
        return position + rotate(rotation, height * (rotate(q, point) + shift))

    def direction_of(part, direction):
        return rotate(rotation, rotate(places[part][0], direction))

    total = sum(segment.mass for segment in segments.values())
    ends = {part: (point_of(part, each.start), point_of(part, each.end)) for part, each in segments.items()}
    centre = sum(each.mass / total * np.mean(ends[part], axis=0) for part, each in segments.items())
    bodies, joints = {}, {}
    for part, segment in segments.items():
        start, end = ends[part]
        bodies[part] = model.add_capsule(
            height * segment.radius, start=start, end=end, mass=mass * segment.mass / total,
            velocity=velocity + np.cross(spin, (start + end) / 2 - centre), angular_velocity=spin,
            name=f"{name}/{part}", **surface,
        )  # fmt: skip
    for key, joint in articulations.items():
        given = bodies[joint.parent], bodies[joint.child], point_of(joint.child, joint.point)
        axis = direction_of(joint.child, joint.axis)
        common = {"friction": joint_friction, "spring": spring, "name": f"{name}/{key}"}
        # The Model's joint positions are zero in the pose, so the limits are shifted.
        if joint.limits is not None:
            limits = tuple(limit - rotation_vectors[key] @ joint.axis for limit in joint.limits)
            joints[key] = model.add_hinge(*given, axis, limits=limits, **common)
        else:
            _, twist = swing_and_twist(joint, rotation_vectors[key])
            joints[key] = model.add_ball(
                *given, axis=axis, cone_axis=direction_of(joint.parent, joint.cone_axis), swing_limit=joint.swing_limit,
                twist_limits=tuple(limit - twist for limit in joint.twist_limits), **common,
            )  # fmt: skip
    parts = list(segments)
    for k, a in enumerate(parts):
        for b in parts[:k]:
            if not self_collision or overlap(segments[a], segments[b]):
                model.exclude_contact(bodies[a], bodies[b])
    return Ragdoll(name, bodies, joints)


def free_name(model):
    """The name "ragdoll" with the first number that no ragdoll of the model has."""
    taken, number = {body.name.split("/")[0] for body in model.bodies}, 0
    while f"ragdoll {number}" in taken:
        number += 1
    return f"ragdoll {number}"


def checked_pose(pose, articulations):
    """Rotation vectors (3,) of all joints, in the axes of the standing person, by name [rad].

    Args: pose: see ragdoll; articulations: by name.

    Raises: ValueError for an unknown joint, and for a position outside its limits.
    """
    if not isinstance(pose, dict):
        raise TypeError(f"pose is {shown(pose)}: expected a dict of joint positions by name, or None")
    rotation_vectors = {key: np.zeros(3) for key in articulations}
    for key, given in pose.items():
        joint = articulations[one_of("joint of a pose", key, tuple(articulations))]
        if joint.limits is not None:
            angle = finite_number(f"pose of {key}", given)
            if not joint.limits[0] <= angle <= joint.limits[1]:
                low, high = joint.limits
                raise ValueError(f"pose of {key} is {angle:g}: expected from {low:g} to {high:g} rad")
            rotation_vectors[key] = angle * np.asarray(joint.axis)
            continue
        rotation_vectors[key] = finite_vector(f"pose of {key}", given)
        swing, twist = swing_and_twist(joint, rotation_vectors[key])
        low, high = joint.twist_limits
        if swing > joint.swing_limit or not low <= twist <= high:
            raise ValueError(
                f"pose of {key} is {shown(rotation_vectors[key])}, with swing {swing:.3g} and twist {twist:.3g} rad: "
                f"expected a swing of at most {joint.swing_limit:g} and a twist from {low:g} to {high:g} rad"
            )
    return rotation_vectors


def swing_and_twist(joint, rotation_vector):
    """Swing and twist angle [rad] of a ball joint. Args: rotation_vector: from the standing pose (3,) [rad]."""
    cone = np.divide(joint.cone_axis, np.linalg.norm(joint.cone_axis))
    return swing_twist_angles(multiply(exponential(rotation_vector), rotation_between(cone, joint.axis)), cone)


def overlap(a, b):
    """Whether two segments overlap in the standing pose."""
    return distance_of_segments(a.start, a.end, b.start, b.end) < a.radius + b.radius


def distance_of_segments(start_a, end_a, start_b, end_b):
    """Smallest distance of two line segments [m]. Args: start and end of each (3,) [m].

    Source: Ericson, Real-Time Collision Detection (2005), section 5.1.9.
    """
    start_a, start_b = np.asarray(start_a, float), np.asarray(start_b, float)
    along_a, along_b, apart = end_a - start_a, end_b - start_b, start_a - start_b
    a, b, c = along_a @ along_a, along_a @ along_b, along_b @ along_b
    d, e = along_a @ apart, along_b @ apart
    parallel = a * c - b * b < 1e-12 * a * c
    s = 0.0 if parallel else np.clip((b * e - c * d) / (a * c - b * b), 0, 1)
    t = np.clip((b * s + e) / c, 0, 1)
    s = np.clip((b * t - d) / a, 0, 1)
    return float(np.linalg.norm(apart + s * along_a - t * along_b))
