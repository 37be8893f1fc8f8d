"""Ragdoll: a person of capsules, with joints that bend as a person's do.

Parts of the whole's mass, and heights and lengths in parts of the height:

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

Sources: Winter, Biomechanics and Motor Control of Human Movement (4th edition, 2009), table 4.1, for the masses (after
Dempster 1955); figure 4.1, for the lengths (after Drillis, Contini, Body Segment Parameters, 1966). Ours are: radii, so
that the whole is about as dense as water; capsules of even density, where Winter has radii of gyration; round ranges of
motion, a cone where a person's range has corners.

A standing person faces x, has z up and the left hand on y. The left side is written down here, the right one mirrored.
"""

import math
from dataclasses import dataclass, field

import numpy as np

from pbd.core.rotation import IDENTITY, rotation_between
from pbd.core.validate import finite_number, finite_vector, one_of, positive, unit_quaternion
from rigid.body import EVERY_GROUP
from rigid.joint import Spring
from rigid.rotation import exponential, multiply, rotate, swing_twist_angles

UP, DOWN, SIDEWAYS = (0.0, 0.0, 1.0), (0.0, 0.0, -1.0), (0.0, 1.0, 0.0)

# Arms hang so far off the body that they touch neither the hips nor the thighs [rad].
ARM_ANGLE = math.radians(15)
ARM = np.array([0.0, math.sin(ARM_ANGLE), -math.cos(ARM_ANGLE)])
ELBOW_AXIS = np.array([0.0, -math.cos(ARM_ANGLE), -math.sin(ARM_ANGLE)])  # at a right angle to it; positive: forward

# The arm's radius within the breadth of the shoulders, the thigh's within that of the hips.
SHOULDER = np.array([0.0, 0.129 - 0.028, 0.818])
ELBOW = SHOULDER + 0.186 * ARM
WRIST = ELBOW + 0.146 * ARM
HIP, KNEE, ANKLE = np.array([(0.0, 0.050, 0.530), (0.0, 0.050, 0.285), (0.0, 0.050, 0.039)])
FIST = 0.054  # half a hand, in parts of the height: how far a forearm reaches that has none
HAND = 0.108


@dataclass
class Segment:
    """A capsule of the person. Arguments: part of the mass; radius, start and end (3,) in parts of the height."""

    mass: float
    radius: float
    start: tuple
    end: tuple


@dataclass
class Articulation:
    """A joint of the person in the standing pose.

    Arguments: parent, child: segments; point (3,) in parts of the height. A hinge has an axis (3,) and limits [rad]. A
    ball has none; its twist axis (3,), the middle of its cone (3,), swing_limit and twist_limits [rad].
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
    """Segments and articulations of a person of height and mass one: two dicts by name.

    Arguments: feet, hands: whether they are segments of their own, or part of the shins and forearms.
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
        # From hanging, up to overhead, across the chest, and backwards by 50°.
        "left shoulder": Articulation(
            "chest", "left upper arm", SHOULDER, ARM, None, (0.5, 0.8, -0.2), 1.83, (-1.3, 1.3)
        ),
        "left elbow": Articulation("left upper arm", "left lower arm", ELBOW, ELBOW_AXIS, (0.0, 2.5)),
        # Flexed by 110°, extended by 10°, abducted by 60°, adducted by 20°.
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
    """The same with a right side. An axis of rotation goes over with the other sign: (x, y, z) to (-x, y, -z)."""
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
    """What a ragdoll is called in its Model.

    Arguments: name; bodies and joints: indices by what they are, such as bodies["left thigh"], joints["left knee"]. The
    Model knows them by the name of the ragdoll, a stroke and the same: "ragdoll 0/left knee".
    """

    name: str
    bodies: dict
    joints: dict


def ragdoll(
    model, position=(0.0, 0.0, 0.0), rotation=IDENTITY, height=1.75, mass=75.0, *, pose=None, velocity=(0.0, 0.0, 0.0),
    angular_velocity=(0.0, 0.0, 0.0), feet=False, hands=False, joint_friction=0.0, joint_damping=0.0,
    self_collision=True, friction=0.5, restitution=0.0, group=1, mask=EVERY_GROUP, name=None,
):  # fmt: skip
    """Add a person of eleven capsules, or thirteen or fifteen.

    Arguments:
        model: the rigid.Model it is added to.
        position: the point of the floor between the soles (3,) [m]; rotation (w, x, y, z) about that point. Without
            one, the person stands, faces x and has the left hand on y.
        height [m]; mass [kg].
        pose: how the joints are turned at time zero, from the standing pose, by name: {"left knee": angle} of a hinge
            [rad], {"left hip": (x, y, z)}, a rotation vector in the parent's axes, of a ball [rad]. The pelvis stays.
            Limits are those of the anatomy: what they do not admit is refused. Positions of the Model's joints
            count from this pose, as always.
        velocity: of the centre of mass (3,) [m/s]; angular_velocity (3,) of the whole about it [rad/s].
        feet, hands: whether the person has them; else shins and forearms reach as far, and carry their mass.
        joint_friction: in each joint [N m]; joint_damping: likewise [N m s/rad].
        self_collision: whether limbs touch one another. Neighbours never do, nor do those that overlap, standing.
        friction, restitution, group, mask: of all shapes, as in Model.add_shape.
        name: None for "ragdoll 0" and so on.

    Returns: a Ragdoll. Joints: waist, neck, left and right shoulder, elbow, hip, knee, wrist (hands), ankle (feet).
    Elbows and knees straighten at zero and bend with positive angles; so do ankles, to a pointed foot.

    Raises: ValueError for a joint that there is not, or a pose outside its limits.
    """
    height, mass = positive("height", height), positive("mass", mass)
    position, rotation = finite_vector("position", position), unit_quaternion("rotation", rotation)
    velocity, spin = finite_vector("velocity", velocity), finite_vector("angular_velocity", angular_velocity)
    segments, articulations = anatomy(feet, hands)
    turns = checked_pose({} if pose is None else pose, articulations)
    name = free_name(model) if name is None else name
    spring = Spring(stiffness=0.0, damping=joint_damping) if joint_damping else None
    surface = {"friction": friction, "restitution": restitution, "group": group, "mask": mask}

    # Where each segment went from the standing pose: its rotation and shift, in parts of the height.
    places = {"pelvis": (IDENTITY, np.zeros(3))}
    for key, joint in articulations.items():
        turn, shift = places[joint.parent]
        turned = multiply(turn, exponential(turns[key]))
        places[joint.child] = turned, shift + rotate(turn, joint.point) - rotate(turned, joint.point)

    def point_of(part, point):
        turn, shift = places[part]
        return position + rotate(rotation, height * (rotate(turn, point) + shift))

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
        # Positions of the Model's joints are zero in the pose, so limits are shifted by what they are in it.
        if joint.limits is not None:
            limits = tuple(limit - turns[key] @ joint.axis for limit in joint.limits)
            joints[key] = model.add_hinge(*given, axis, limits=limits, **common)
        else:
            _, twist = swing_and_twist(joint, turns[key])
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
    """"ragdoll" and the first number that no ragdoll of the model has."""
    taken, number = {body.name.split("/")[0] for body in model.bodies}, 0
    while f"ragdoll {number}" in taken:
        number += 1
    return f"ragdoll {number}"


def checked_pose(pose, articulations):
    """Rotation vectors (3,) [rad] of all joints, in the standing person's axes, from a pose of some.

    Raises: ValueError for a joint that there is not, or that does not turn so far.
    """
    turns = {key: np.zeros(3) for key in articulations}
    for key, given in pose.items():
        joint = articulations[one_of("joint of a pose", key, tuple(articulations))]
        if joint.limits is not None:
            angle = finite_number(f"pose of {key}", given)
            if not joint.limits[0] <= angle <= joint.limits[1]:
                low, high = joint.limits
                raise ValueError(f"pose of {key} is {angle:g}: expected from {low:g} to {high:g} rad")
            turns[key] = angle * np.asarray(joint.axis)
            continue
        turns[key] = finite_vector(f"pose of {key}", given)
        swing, twist = swing_and_twist(joint, turns[key])
        low, high = joint.twist_limits
        if swing > joint.swing_limit or not low <= twist <= high:
            raise ValueError(
                f"pose of {key} is {turns[key].tolist()}, {swing:.3g} rad off the middle of its cone and twisted by "
                f"{twist:.3g}: expected at most {joint.swing_limit:g} rad, and a twist from {low:g} to {high:g}"
            )
    return turns


def swing_and_twist(joint, turn):
    """Swing and twist angle of a ball [rad], turned by a rotation vector (3,) from where the person stands."""
    cone = np.divide(joint.cone_axis, np.linalg.norm(joint.cone_axis))
    return swing_twist_angles(multiply(exponential(turn), rotation_between(cone, joint.axis)), cone)


def overlap(a, b):
    """Whether two segments do, standing."""
    return distance_of_segments(a.start, a.end, b.start, b.end) < a.radius + b.radius


def distance_of_segments(start_a, end_a, start_b, end_b):
    """Least distance of two segments; start and end (3,) of each [m].

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
