"""Ragdolls: masses and lengths of the table, symmetry, limits, poses, and frames of particles."""

import math

import numpy as np
import pytest

import rigid
from rigid import rotation
from rigid.build import ragdoll
from rigid.build.ragdoll import distance_of_segments

KINDS = [{}, {"feet": True}, {"hands": True}, {"feet": True, "hands": True}]
PAIRS = ("upper arm", "lower arm", "thigh", "shin")


def made(**options):
    model = rigid.Model()
    return model, ragdoll(model, **options)


def segment(model, index):
    """Start, end and radius of a body's capsule, in the world."""
    body = model.bodies[index]
    (piece,) = (shape for shape in model.shapes if shape.body == index)
    radius, half = piece.shape.numbers()
    along = rotation.rotate(piece.rotation, (0, 0, half))
    return body.world_point(piece.position - along), body.world_point(piece.position + along), radius


def turned(joint, model):
    """Frame axes of the child and of the parent, in the world, as rows."""
    return model.body(joint.child).world_direction(joint.child_axes), model.body(joint.parent).world_direction(
        joint.parent_axes
    )


@pytest.mark.parametrize("kind", KINDS)
def test_masses_are_those_of_the_table(kind):
    model, person = made(mass=62.0, height=1.6, **kind)
    # The parts of the table add up to one: .497 + .081 + 2 (.028 + .016 + .006 + .100 + .0465 + .0145).
    assert model.masses.sum() == pytest.approx(62.0, rel=1e-14)
    parts = {name: model.bodies[index].mass / 62.0 for name, index in person.bodies.items()}
    foot, hand = (0.0145 if kind.get("feet") else 0.0), (0.006 if kind.get("hands") else 0.0)
    expected = {"pelvis": 0.142, "chest": 0.355, "head": 0.081, "left upper arm": 0.028, "left thigh": 0.1,
                "left lower arm": 0.022 - hand, "left shin": 0.061 - foot}  # fmt: skip
    for name, part in expected.items():
        assert parts[name] == pytest.approx(part, rel=1e-14)
    assert len(person.bodies) == len(model.bodies) == 11 + 2 * bool(foot) + 2 * bool(hand)
    assert len(person.joints) == len(model.joints) == len(model.bodies) - 1


@pytest.mark.parametrize("kind", KINDS)
def test_ragdoll_stands_on_its_soles_with_the_given_height(kind):
    model, person = made(height=1.82, position=(3, 4, 0.5), **kind)
    reach = [(min(start[2], end[2]) - radius, max(start[2], end[2]) + radius)
             for start, end, radius in map(lambda k: segment(model, k), person.bodies.values())]  # fmt: skip
    assert min(low for low, _ in reach) == pytest.approx(0.5, abs=1e-14)
    assert max(high for _, high in reach) == pytest.approx(0.5 + 1.82, rel=1e-14)
    centre = model.masses @ np.array([body.position for body in model.bodies]) / model.masses.sum()
    assert centre[1] == pytest.approx(4.0, abs=1e-13)
    # In Winter's figure the centre of mass of a standing person is at about .56 of the height.
    assert (centre[2] - 0.5) / 1.82 == pytest.approx(0.56, abs=0.02)


def test_lengths_are_those_of_the_table():
    model, person = made(height=2.0)

    def point(name):
        joint = model.joint(person.joints[name])
        return model.body(joint.child).world_point(joint.child_anchor)

    for upper, lower, length in (("shoulder", "elbow", 0.186), ("hip", "knee", 0.245)):
        assert np.linalg.norm(point(f"left {upper}") - point(f"left {lower}")) == pytest.approx(2 * length)
    assert point("left hip")[2] == pytest.approx(2 * 0.530)
    assert point("left knee")[2] == pytest.approx(2 * 0.285)
    assert point("right shoulder")[2] == pytest.approx(2 * 0.818)


@pytest.mark.parametrize("kind", KINDS)
def test_the_right_side_is_the_mirror_image_of_the_left(kind):
    model, person = made(**kind)
    flip = np.array([1.0, -1.0, 1.0])
    for name, index in person.bodies.items():
        if name.startswith("left "):
            left, right = model.bodies[index], model.bodies[person.bodies[name.replace("left ", "right ")]]
            assert left.mass == right.mass
            assert np.abs(left.position * flip - right.position).max() < 1e-14
            R, Q = rotation.to_matrix(left.rotation), rotation.to_matrix(right.rotation)
            mirrored = flip[:, None] * (R @ left.inertia @ R.T) * flip
            assert np.abs(mirrored - Q @ right.inertia @ Q.T).max() < 1e-13
    for name, index in person.joints.items():
        if not name.startswith("left "):
            continue
        left, right = model.joints[index], model.joints[person.joints[name.replace("left ", "right ")]]
        (axes, cone), (other_axes, other_cone) = turned(left, model), turned(right, model)
        if left.kind == "hinge":  # the mirror image of a rotation axis has the opposite sign of that of a direction
            assert np.abs(-axes[0] * flip - other_axes[0]).max() < 1e-14
            assert left.limits == right.limits
        else:
            assert np.abs(axes[0] * flip - other_axes[0]).max() < 1e-14
            assert np.abs(cone[0] * flip - other_cone[0]).max() < 1e-14
            assert left.swing_limit == right.swing_limit
            assert left.twist_limits == tuple(-limit for limit in reversed(right.twist_limits))


@pytest.mark.parametrize("kind", KINDS)
def test_limbs_that_overlap_standing_never_collide(kind):
    model, _ = made(**kind)
    touching = set()
    for a in range(len(model.shapes)):
        for b in range(a):
            (start_a, end_a, radius_a), (start_b, end_b, radius_b) = (segment(model, k) for k in (a, b))
            if distance_of_segments(start_a, end_a, start_b, end_b) < radius_a + radius_b:
                touching.add((b, a))
                assert not model.may_touch(a, b)
    assert len(touching) >= 10 - 4  # some neighbours do not overlap: shoulders, neck, waist
    alone, _ = made(self_collision=False, **kind)
    assert not any(alone.may_touch(a, b) for a in range(len(alone.shapes)) for b in range(a))


def test_distance_of_segments_is_the_smallest_over_samples():
    random = np.random.default_rng(1)
    t = np.linspace(0, 1, 201)
    for _ in range(50):
        a, b, c, d = random.normal(size=(4, 3))
        points, others = a + t[:, None] * (b - a), c + t[:, None] * (d - c)
        sampled = np.linalg.norm(points[:, None] - others, axis=2).min()
        # The nearest samples are at most half a spacing away on both segments.
        assert sampled - 0.5 * (np.linalg.norm(b - a) + np.linalg.norm(d - c)) / 200 <= distance_of_segments(a, b, c, d)
        assert distance_of_segments(a, b, c, d) <= sampled + 1e-14
    assert distance_of_segments((0, 0, 0), (1, 0, 0), (0.5, 0, 2), (3, 0, 2)) == pytest.approx(2.0)


def test_elbows_bend_forwards_and_knees_backwards():
    """At 90° a forearm points forwards (x) and a shin backwards."""
    model, person = made(pose={"left elbow": math.pi / 2, "right elbow": math.pi / 2, "right knee": math.pi / 2})
    for name, way in (("left lower arm", 1), ("right lower arm", 1), ("right shin", -1)):
        start, end, _ = segment(model, person.bodies[name])
        assert np.abs((end - start) / np.linalg.norm(end - start) - (way, 0, 0)).max() < 1e-14
    # The joint position is zero in this pose, so the limits are shifted by 90°.
    assert np.allclose(model.joint(person.joints["left elbow"]).limits, (-math.pi / 2, 2.5 - math.pi / 2))
    straight, person = made()
    for name in ("left elbow", "right elbow", "left knee", "right knee"):
        assert straight.joint(person.joints[name]).limits[0] == 0.0


@pytest.mark.parametrize("seed", range(5))
def test_limits_are_independent_of_the_pose(seed):
    """Swing and twist of a posed ball joint are those of the rotation from the standing pose. The twist limits are
    shifted by the twist at time zero."""
    random = np.random.default_rng(seed)
    turn = random.normal(size=3) * 0.25
    standing, person = made()
    posed, same = made(pose={"left shoulder": turn, "waist": (0.1, 0.2, 0.3)}, rotation=random.normal(size=4))
    neutral, joint = (m.joint(p.joints["left shoulder"]) for m, p in ((standing, person), (posed, same)))

    def relative(model, joint, extra=rotation.IDENTITY):
        """Swing and twist of the joint after an extra rotation of the child, in the parent's standing axes."""
        parent = rotation.from_matrix(joint.parent_axes.T)
        a, b = model.body(joint.parent).rotation, model.body(joint.child).rotation
        child = rotation.multiply(rotation.conjugate(a), rotation.multiply(extra, rotation.multiply(
            b, rotation.from_matrix(joint.child_axes.T))))  # fmt: skip
        return rotation.swing_twist_angles(rotation.multiply(rotation.conjugate(parent), child), (1.0, 0.0, 0.0))

    swing, twist = relative(standing, neutral, rotation.exponential(turn))
    found_swing, found_twist = relative(posed, joint)
    assert found_swing == pytest.approx(swing, abs=1e-13)
    assert found_twist == pytest.approx(0.0, abs=1e-13)
    low, high = neutral.twist_limits
    assert joint.twist_limits == pytest.approx((low - twist, high - twist), abs=1e-13)
    assert joint.swing_limit == neutral.swing_limit


@pytest.mark.parametrize("kind", KINDS)
def test_every_limit_contains_the_starting_pose(kind):
    model, _ = made(**kind)
    for joint in model.joints:
        if joint.kind == "hinge":
            assert joint.limits[0] <= 0 <= joint.limits[1]
            assert joint.limits[1] - joint.limits[0] > 1
        else:
            axes, cone = turned(joint, model)
            assert joint.twist_limits[0] <= 0 <= joint.twist_limits[1]
            assert math.acos(min(axes[0] @ cone[0], 1.0)) < joint.swing_limit <= math.pi


def test_initial_velocities_are_those_of_a_rigid_body():
    """v = v_c + ω × (x - c) for the centre of every body, so the momentum is M v_c."""
    velocity, spin = np.array([1.0, -2.0, 3.0]), np.array([0.3, 2.0, -1.0])
    model, _ = made(velocity=velocity, angular_velocity=spin, position=(5, 5, 5), rotation=(0.3, 0.1, 0.5, -0.2))
    state = model.initial_state()
    assert rigid.linear_momentum(model, state) == pytest.approx(75 * velocity, abs=1e-11)
    centre = model.masses @ state.position / model.masses.sum()
    assert np.abs(state.velocity - velocity - np.cross(spin, state.position - centre)).max() < 1e-13
    assert np.array_equal(state.angular_velocity, np.broadcast_to(spin, (11, 3)))


def test_several_ragdolls_have_different_names():
    model = rigid.Model()
    people = [ragdoll(model), ragdoll(model, position=(1, 0, 0)), ragdoll(model, position=(2, 0, 0), name="anna")]
    assert [person.name for person in people] == ["ragdoll 0", "ragdoll 1", "anna"]
    assert len({body.name for body in model.bodies}) == len({joint.name for joint in model.joints}) + 3 == 33
    assert model.bodies[people[2].bodies["left thigh"]].name == "anna/left thigh"
    assert model.joint("ragdoll 1/right knee") is model.joints[people[1].joints["right knee"]]
    with pytest.raises(ValueError, match="'anna/pelvis' is taken"):
        ragdoll(model, name="anna")
    assert len(model.bodies) == 33


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("height", [0.9, 1.75])
def test_frames_of_particles_can_represent_it(kind, height):
    """Joint particles have at least 1/25 of the body's mass, because light ones slow the relaxation down."""
    from rigid.solvers.verlet.builder import joint_points
    from rigid.solvers.verlet.frame import make_frame

    model, _ = made(height=height, **kind)
    points = [[] for _ in model.bodies]
    for joint in model.joints:
        for point in joint_points(model, joint):
            for index in (joint.parent, joint.child):
                points[index].append(model.bodies[index].local_point(point))
    for body, own in zip(model.bodies, points):
        assert make_frame(body.name, body.mass, body.inertia, own).joint_mass >= body.mass / 25


def test_joint_friction_joint_damping_and_surface():
    model, _ = made(joint_friction=2.0, joint_damping=0.5, friction=0.9, group=4, mask=3)
    assert all(joint.friction == 2.0 and joint.spring == rigid.Spring(0.0, 0.5) for joint in model.joints)
    assert all((piece.friction, piece.group, piece.mask) == (0.9, 4, 3) for piece in model.shapes)
    assert made()[0].joints[0].spring is None


@pytest.mark.parametrize(
    ("options", "error", "says"),
    [
        ({"height": 0}, ValueError, "height is 0"),
        ({"mass": -1}, ValueError, "mass is -1"),
        ({"position": (0, 0)}, ValueError, "position"),
        ({"pose": {"left kne": 1}}, ValueError, "left kne.*did you mean 'left knee'"),
        ({"pose": {"left knee": -0.1}}, ValueError, "pose of left knee is -0.1: expected from 0 to 2.4"),
        ({"pose": {"left knee": (1, 0, 0)}}, TypeError, "pose of left knee"),
        ({"pose": {"neck": 1.0}}, ValueError, "pose of neck"),
        ({"pose": {"neck": (1.5, 0, 0)}}, ValueError, "pose of neck.*expected a swing of at most"),
        ({"pose": {"neck": (0, 0, 1.5)}}, ValueError, "pose of neck.* and a twist from"),
        ({"joint_friction": -1}, ValueError, "friction is -1"),
    ],
)
def test_wrong_arguments_are_refused(options, error, says):
    with pytest.raises(error, match=says):
        made(**options)
