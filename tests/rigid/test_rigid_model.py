"""Models: frames of joints, springs, gears and names. test_model_bodies.py has bodies and their shapes."""

import math

import numpy as np
import pytest

import rigid
from rigid import rotation
from rigid.worlds import structure

SEEDS = range(10)


def unit(random):
    v = random.normal(size=3)
    return v / np.linalg.norm(v)


def two_bodies(seed):
    """A model with two bodies in random poses, and the random generator."""
    random = np.random.default_rng(seed)
    model = rigid.Model()
    for size in ((0.4, 0.2, 0.1), (0.3, 0.3, 0.5)):
        model.add_box(size, density=500.0, position=random.normal(size=3), rotation=random.normal(size=4))
    return model, random


# Joints -------------------------------------------------------------------------------------------------------------

JOINTS = {
    "ball": lambda m, a, b, p, n: m.add_ball(a, b, p),
    "hinge": lambda m, a, b, p, n: m.add_hinge(a, b, p, n),
    "universal": lambda m, a, b, p, n: m.add_universal(a, b, p, n, rotation.frame_axes(n)[2]),
    "slider": lambda m, a, b, p, n: m.add_slider(a, b, p, n),
    "cylindrical": lambda m, a, b, p, n: m.add_cylindrical(a, b, p, n),
    "planar": lambda m, a, b, p, n: m.add_planar(a, b, p, n),
    "fixed": lambda m, a, b, p, n: m.add_fixed(a, b, p),
}


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("kind", JOINTS)
@pytest.mark.parametrize("parent", [rigid.GROUND, 0], ids=["ground", "body"])
def test_anchors_and_axes_coincide_at_time_zero(kind, parent, seed):
    """r_i + R_i ξ_i = r_j + R_j ξ_j = the given point and R_i n_ik = R_j n_jk, to round-off."""
    model, random = two_bodies(seed)
    point, axis = random.normal(size=3), unit(random)
    joint = model.joint(JOINTS[kind](model, parent, 1, point, axis))
    a, b = model.body(parent), model.body(1)
    assert (joint.kind, joint.parent, joint.child) == (kind, parent, 1)
    assert np.abs(a.world_point(joint.parent_anchor) - point).max() < 5e-15
    assert np.abs(b.world_point(joint.child_anchor) - point).max() < 5e-15
    axes = a.world_direction(joint.parent_axes)
    assert np.abs(axes - b.world_direction(joint.child_axes)).max() < 5e-15
    assert np.abs(axes @ axes.T - np.eye(3)).max() < 5e-15
    assert np.linalg.det(axes) > 0
    if kind == "ball":  # the twist axis is the direction to the child's centre of mass
        arm = b.position - point
        axis = arm / np.linalg.norm(arm)
    if kind != "fixed":
        assert np.abs(axes[0] - axis).max() < 5e-15
    if kind == "universal":
        assert np.abs(axes[1] - rotation.frame_axes(axis)[2]).max() < 5e-15


def test_axes_nearly_at_a_right_angle_are_made_perpendicular():
    """Axes from a file with six digits: n0 stays and n1 is corrected."""
    model, _ = two_bodies(0)
    joint = model.joint(model.add_universal(rigid.GROUND, 1, (0, 0, 0), (1, 0, 0), (5e-7, 1, 0)))
    assert np.abs(joint.parent_axes - np.eye(3)).max() < 1e-15


def test_a_ball_joint_at_the_centre_of_mass_twists_about_z():
    model = rigid.Model()
    model.add_sphere(0.1, mass=1.0, position=(1, 2, 3))
    model.add_ball(rigid.GROUND, 0, (1, 2, 3))
    assert np.array_equal(model.joints[0].parent_axes[0], (0, 0, 1))


@pytest.mark.parametrize("seed", SEEDS)
def test_a_tilted_cone(seed):
    """At time zero the swing is the angle between axis and cone_axis, and the twist is zero.

    Then the child is rotated by t about its own axis and by s about e ⟂ cone_axis: the swing is s, the twist is t.
    """
    model, random = two_bodies(seed)
    axis, cone = unit(random), unit(random)
    angle = math.acos(axis @ cone)
    ball = model.joint(
        model.add_ball(0, 1, random.normal(size=3), axis=axis, cone_axis=cone, swing_limit=angle + 1e-9, name="hip")
    )
    assert ball.swing_limit == angle + 1e-9
    a, b = model.bodies

    def angles(turn):
        """Swing and twist after a rotation of the child in the world. Args: turn: quaternion."""
        parent = rotation.multiply(a.rotation, rotation.from_matrix(ball.parent_axes.T))
        child = rotation.multiply(turn, rotation.multiply(b.rotation, rotation.from_matrix(ball.child_axes.T)))
        return rotation.swing_twist_angles(rotation.multiply(rotation.conjugate(parent), child), (1.0, 0.0, 0.0))

    assert np.abs(a.world_direction(ball.parent_axes[0]) - cone).max() < 5e-15
    assert np.abs(b.world_direction(ball.child_axes[0]) - axis).max() < 5e-15
    assert np.allclose(angles(rotation.IDENTITY), (angle, 0), rtol=0, atol=1e-13)
    s, t = random.uniform(0, 2.5), random.uniform(-3, 3)
    to_cone = rotation.between_axes(b.world_direction(ball.child_axes), a.world_direction(ball.parent_axes))
    twist = rotation.from_axis_angle(axis, t)
    swing = rotation.from_axis_angle(np.cross(cone, unit(random)), s)
    assert np.allclose(angles(rotation.multiply(swing, rotation.multiply(to_cone, twist))), (s, t), rtol=0, atol=1e-12)


def test_distance_joints_between_centres_or_points():
    model = rigid.Model()
    model.add_sphere(0.1, mass=1.0, position=(0, 0, 0))
    model.add_sphere(0.1, mass=1.0, position=(3, 0, 4), rotation=(0, 0, 0, 1))
    between = model.joint(model.add_distance(0, 1))
    assert (between.length, between.limits, between.collide) == (5.0, (0.0, 0.0), True)
    assert np.allclose(between.parent_axes[0], (0.6, 0, 0.8), rtol=0, atol=1e-15)
    assert np.allclose(between.child_axes[0], (-0.6, 0, 0.8), rtol=0, atol=1e-15)
    rope = model.joint(model.add_distance(rigid.GROUND, 1, (3, 0, 5), (3, 0.0, 4.5), limits=(-math.inf, 0)))
    assert (rope.length, rope.limits) == (0.5, (-math.inf, 0.0))
    assert np.array_equal(rope.child_anchor, (0, 0, 0.5))
    assert np.array_equal(rope.parent_anchor, (3, 0, 5))


def test_springs_and_gears():
    model = rigid.Model()
    model.add_sphere(0.1, mass=1.0, position=(0, 0, 2))
    model.add_sphere(0.1, mass=1.0, position=(0, 3, 2))
    first = model.springs[model.add_spring(0, rigid.GROUND, point_b=(0, 0, 0), stiffness=50, damping=2)]
    second = model.springs[model.add_spring("sphere 0", 1, rest_length=0, stiffness=5, name="band")]
    assert (first.name, first.a, first.b, first.stiffness, first.damping, first.rest_length) == (
        "spring 0", 0, rigid.GROUND, 50.0, 2.0, 2.0)  # fmt: skip
    assert (second.name, second.rest_length) == ("band", 0.0)
    hinge = model.add_hinge(rigid.GROUND, 0, (0, 0, 2), (0, 1, 0))
    rack = model.add_slider(rigid.GROUND, 1, None, (1, 0, 0), name="rack")
    gear = model.gears[model.add_gear(hinge, "rack", -0.25)]
    assert gear == rigid.Gear("gear 0", hinge, rack, -0.25)


def test_joints_store_their_arguments():
    model = rigid.Model()
    model.add_box((1, 1, 1), mass=1.0)
    spring, motor = rigid.Spring(stiffness=3, damping=0.5, rest=0.1), rigid.Motor(speed=2, max_effort=7)
    options = {"limits": (-1, math.inf), "friction": 0.2, "spring": spring, "motor": motor}
    hinge = model.joint(model.add_hinge(rigid.GROUND, 0, (0, 0, 0), (0, 1, 0), **options))
    assert (hinge.limits, hinge.friction, hinge.spring, hinge.motor) == ((-1.0, math.inf), 0.2, spring, motor)
    assert (motor.speed, motor.position, motor.max_effort) == (2.0, None, 7.0)
    assert rigid.Motor(position=0.5).max_effort == math.inf
    assert (spring.stiffness, spring.damping, spring.rest) == (3.0, 0.5, 0.1)
    free = model.joint(model.add_ball(rigid.GROUND, 0, (0, 0, 0)))
    assert (free.swing_limit, free.twist_limits) == (math.inf, (-math.inf, math.inf))
    cross = model.joint(model.add_universal(
        rigid.GROUND, 0, (0, 0, 0), (2, 0, 0), (0, 5, 0), parent_limits=(-1, 1), child_limits=(-0.5, 0)))  # fmt: skip
    assert (cross.parent_limits, cross.child_limits) == ((-1.0, 1.0), (-0.5, 0.0))
    assert [j.degrees_of_freedom for j in (hinge, free, cross)] == [1, 3, 2]


# Names --------------------------------------------------------------------------------------------------------------


def test_default_names():
    model = rigid.Model()
    model.add_box((1, 1, 1), mass=1, name="torso")
    model.add_sphere(1, mass=1, position=(3, 0, 0))
    model.add_body(mass=1, inertia=(1, 1, 1), name="body 3")
    model.add_body(mass=1, inertia=(1, 1, 1), position=(6, 0, 0))
    model.add_hinge(0, 1, (0, 0, 0), (1, 0, 0))
    model.add_ball(1, 2, (0, 0, 0), name="neck")
    model.add_fixed("torso", "body 4")
    assert [body.name for body in model.bodies] == ["torso", "sphere 1", "body 3", "body 4"]
    assert [joint.name for joint in model.joints] == ["hinge 0", "neck", "fixed 2"]
    assert model.body("body 3") is model.bodies[2]
    assert model.body(np.int64(1)).name == "sphere 1"
    assert model.joint("neck") is model.joint(1)
    assert model.body(rigid.GROUND) is model.body("ground")


def test_a_refused_call_does_not_change_the_model():
    model, _ = two_bodies(0)
    before = len(model.bodies), len(model.shapes), len(model.joints), len(model.springs)
    mass_before = model.masses
    for wrong in (
        lambda: model.add_box((1, 1, 1), mass=1, friction=-1),
        lambda: model.add_box((1, 1, 1), mass=1, position=(0, 0, math.nan)),
        lambda: model.add_shape(0, rigid.Sphere(1.0), mass=1, friction=-1),
        lambda: model.add_shape(0, rigid.Sphere(1.0), mass=-1),
        lambda: model.add_hinge(0, 1, (0, 0, 0), (1, 0, 0), friction=-1),
        lambda: model.add_spring(0, 1, stiffness=-1),
    ):
        with pytest.raises(ValueError, match="expected"):
            wrong()
    assert (len(model.bodies), len(model.shapes), len(model.joints), len(model.springs)) == before
    assert np.array_equal(model.masses, mass_before)


def test_structure_depends_on_joints_but_not_on_numbers():
    models = [two_bodies(seed)[0] for seed in range(3)]
    models[0].add_ball(0, 1, (0, 0, 0))
    models[1].add_ball(0, 1, (1, 0, 0))
    models[2].add_ball(1, 0, (0, 0, 0))
    assert structure(models[0]) == structure(models[1])
    assert structure(models[0]) != structure(models[2])
