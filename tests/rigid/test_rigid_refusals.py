"""Wrong arguments of a Model: the error has what was given and what is expected."""

import math

import numpy as np
import pytest

import pbd
import rigid

NAN, INF = math.nan, math.inf
Y, ZERO = (0, 1, 0), (0.0, 0.0, 0.0)
GROUND = rigid.GROUND
CUBE = rigid.Box((1, 1, 1))


def model():
    """Bodies torso (0), head (1), arm (2); joints: a hinge "neck", a ball "shoulder", a slider "rail"."""
    m = rigid.Model()
    m.add_box((1, 1, 1), mass=1.0, name="torso")
    m.add_sphere(0.2, mass=1.0, position=(0, 0, 1), name="head")
    m.add_capsule(0.1, 0.5, mass=1.0, position=(1, 0, 0), name="arm")
    m.add_hinge("torso", "head", (0, 0, 0.7), Y, name="neck")
    m.add_ball("torso", "arm", (0.7, 0, 0), name="shoulder")
    m.add_slider(GROUND, "torso", None, (1, 0, 0), name="rail")
    return m


def hinge(m, **options):
    m.add_hinge("torso", "head", ZERO, Y, **options)


def ball(m, **options):
    m.add_ball("torso", "head", ZERO, **options)


# Each: what is done to `model()`; the error's type; words of its message.
BODIES = {
    "gravity": (lambda m: rigid.Model(gravity=(0, NAN, 0)), ValueError, ["gravity", "nan", "finite"]),
    "gravity's square": (lambda m: rigid.Model(gravity=(0, 0, -1e200)), ValueError, ["gravity", "1e+200", "at most"]),
    "mass alone": (lambda m: m.add_body(mass=1.0), ValueError, ["inertia is None", "mass and inertia"]),
    "inertia alone": (lambda m: m.add_body(inertia=(1, 1, 1)), ValueError, ["mass is None", "mass and inertia"]),
    "mass zero": (lambda m: m.add_body(mass=0, inertia=(1, 1, 1)), ValueError, ["mass is 0", "above zero"]),
    "mass infinite": (lambda m: m.add_body(mass=INF, inertia=(1, 1, 1)), ValueError, ["mass is inf", "finite"]),
    "inertia": (lambda m: m.add_body(mass=1, inertia=(1, 1, 3)), ValueError,
                ["1, 1, 3", "3 > 2", "triangle inequality"]),
    "position": (lambda m: m.add_body(position=(0, 0)), ValueError, ["position", "(2,)", "(3,)"]),
    "rotation": (lambda m: m.add_body(rotation=(0, 0, 0, 0)), ValueError, ["rotation", "(0, 0, 0, 0)", "(w, x, y, z)"]),
    "velocity": (lambda m: m.add_body(velocity=(INF, 0, 0)), ValueError, ["velocity", "inf", "finite"]),
    "spin": (lambda m: m.add_body(angular_velocity="fast"), TypeError, ["angular_velocity", "'fast'", "numbers"]),
    "name taken": (lambda m: m.add_body(name="head"), ValueError, ["'head'", "taken", "'head 3'"]),
    "name reserved": (lambda m: m.add_body(name="ground"), ValueError, ["'ground'", "taken"]),
    "name a number": (lambda m: m.add_body(name=3), TypeError, ["name is 3", "expected a string"]),
    "name empty": (lambda m: m.add_body(name=""), TypeError, ["name is ''", "expected a string"]),
    "box without mass": (lambda m: m.add_box((1, 1, 1)), ValueError, ["neither mass nor density", "one of"]),
    "box with both": (lambda m: m.add_box((1, 1, 1), mass=1, density=1), ValueError,
                      ["mass 1 and density 1", "one of"]),
    "box flat": (lambda m: m.add_box((1, 1, 0), mass=1), ValueError, ["box size is 0", "above zero"]),
    "option": (lambda m: m.add_box((1, 1, 1), mass=1, postion=ZERO), ValueError,
               ["option of add_box is 'postion'", "did you mean 'position'?"]),
    "density": (lambda m: m.add_sphere(1, density=-1), ValueError, ["density is -1", "above zero"]),
    "radius": (lambda m: m.add_sphere(0, mass=1), ValueError, ["sphere radius is 0", "above zero"]),
    "capsule": (lambda m: m.add_capsule(0.1, mass=1), ValueError,
                ["capsule without length, start and end", "length, or start and end"]),
    "capsule half": (lambda m: m.add_capsule(0.1, start=ZERO, mass=1), ValueError,
                     ["capsule with start alone", "expected both"]),
    "capsule twice": (lambda m: m.add_capsule(0.1, 1, start=ZERO, end=Y, mass=1), ValueError,
                      ["start, end and length", "start and end alone"]),
    "capsule placed": (lambda m: m.add_capsule(0.1, start=ZERO, end=Y, mass=1, position=ZERO), ValueError,
                       ["start, end and position", "alone"]),
    "capsule of no length": (lambda m: m.add_capsule(0.1, start=Y, end=Y, mass=1), ValueError,
                             ["itself", "two points"]),
    "cylinder": (lambda m: m.add_cylinder(0.1, -1, mass=1), ValueError, ["cylinder length is -1", "above zero"]),
    "flat mesh": (lambda m: m.add_mesh((np.eye(3), [(0, 1, 2)]), mass=1), ValueError, ["hull of 3 points", "volume"]),
    "open mesh": (lambda m: m.add_mesh((np.eye(4)[:, :3], [(0, 1, 2), (0, 1, 3)]), mass=1, convex=False), ValueError,
                  ["open edges"]),
    "no such file": (lambda m: m.add_mesh("there.obj", mass=1), FileNotFoundError, ["no mesh file there.obj"]),
    "shape": (lambda m: m.add_shape(0, "ball"), TypeError, ["shape is 'ball'", "rigid.Box"]),
    "a class": (lambda m: m.add_shape(0, rigid.Box), TypeError, ["shape is <class", "rigid.Box"]),
    "shape on nobody": (lambda m: m.add_shape("amr", CUBE), ValueError,
                        ["body is 'amr'", "did you mean 'arm'?"]),
    "plane on a body": (lambda m: m.add_shape("arm", pbd.Plane()), ValueError, ["'arm'", "Plane", "bounded"]),
    "mass on the ground": (lambda m: m.add_shape(GROUND, CUBE, mass=1), ValueError, ["rigid.GROUND", "neither"]),
    "friction": (lambda m: m.add_shape(0, CUBE, friction=-1), ValueError, ["friction is -1", "zero or more"]),
    "rolling": (lambda m: m.add_ground(rolling_friction=-1), ValueError, ["rolling_friction is -1", "zero or more"]),
    "spinning": (lambda m: m.add_sphere(1, mass=1, spinning_friction=-1), ValueError, ["spinning_friction is -1"]),
    "restitution": (lambda m: m.add_ground(restitution=2), ValueError, ["restitution is 2", "0 to 1"]),
    "group": (lambda m: m.add_shape(0, CUBE, group=-1), ValueError, ["group is -1", "0 or more"]),
    "group a word": (lambda m: m.add_shape(0, CUBE, group="a"), TypeError, ["group is 'a'", "whole number"]),
    "mask": (lambda m: m.add_shape(0, CUBE, mask=2**31), ValueError, ["mask is 2147483648", "bits"]),
    "height": (lambda m: m.add_ground(height=NAN), ValueError, ["height is nan", "finite"]),
    "massless": (lambda m: [m.add_body(name="ghost"), m.initial_state()], ValueError,
                 ["'ghost' has no mass", "shapes with a density"]),
}  # fmt: skip

JOINTS = {
    "itself": (lambda m: m.add_hinge("head", 1, ZERO, Y), ValueError,
               ["parent and child are both 'head'", "two bodies"]),
    "ground and ground": (lambda m: m.add_fixed(GROUND, GROUND), ValueError, ["both 'ground'", "two bodies"]),
    "ground as a child": (lambda m: m.add_ball(0, GROUND, ZERO), ValueError,
                          ["child is rigid.GROUND", "parent may be"]),
    "unknown index": (lambda m: m.add_ball(0, 3, ZERO), IndexError,
                      ["child is 3", "expected 0 to 2, or rigid.GROUND", "there are 3 bodies"]),
    "index below": (lambda m: m.add_ball(-2, 0, ZERO), IndexError, ["parent is -2", "0 to 2"]),
    "unknown name": (lambda m: m.add_ball("trso", 1, ZERO), ValueError,
                     ["parent is 'trso'", "did you mean 'torso'"]),
    "no bodies": (lambda m: rigid.Model().add_ball(GROUND, 0, ZERO), IndexError, ["child is 0", "no bodies yet"]),
    "fraction": (lambda m: m.add_ball(0, 1.0, ZERO), TypeError, ["child is 1.0", "index or name of a body"]),
    "minus one as a float": (lambda m: m.add_ball(-1.0, 1, ZERO), TypeError, ["parent is -1.0", "index or name"]),
    "boolean": (lambda m: m.add_ball(0, True, ZERO), TypeError, ["child is True", "index or name"]),
    "nobody": (lambda m: m.add_ball(None, 1, ZERO), TypeError, ["parent is None", "index or name"]),
    "a list": (lambda m: m.add_ball([0], 1, ZERO), TypeError, ["parent is [0]", "index or name"]),
    "point": (lambda m: m.add_hinge(0, 1, (0, 0, NAN), Y), ValueError, ["point is nan", "finite"]),
    "axis zero": (lambda m: m.add_hinge(0, 1, ZERO, ZERO), ValueError, ["axis is (0, 0, 0)", "direction"]),
    "slider axis": (lambda m: m.add_slider(0, 1, None, (0, 0)), ValueError, ["axis", "(2,)", "(3,)"]),
    "ball axis": (lambda m: ball(m, axis=ZERO), ValueError, ["axis is (0, 0, 0)", "direction"]),
    "cone axis": (lambda m: ball(m, cone_axis=ZERO), ValueError, ["cone_axis is (0, 0, 0)", "direction"]),
    "limits turned": (lambda m: hinge(m, limits=(1, -1)), ValueError,
                      ["limits are 1 to -1", "wrong way", "low <= high"]),
    "limits above": (lambda m: hinge(m, limits=(0.25, 1)), ValueError,
                     ["limits are 0.25 to 1", "starting pose violates them by 0.25", "zero"]),
    "limits below": (lambda m: hinge(m, limits=(-1, -0.5)), ValueError, ["violates them by 0.5", "zero"]),
    "limits NaN": (lambda m: hinge(m, limits=(NAN, 1)), ValueError, ["limits are nan to 1", "numbers"]),
    "limits a number": (lambda m: hinge(m, limits=1.0), TypeError, ["limits are 1.0", "(low, high)"]),
    "limits of three": (lambda m: hinge(m, limits=(0, 1, 2)), TypeError, ["(0, 1, 2)", "(low, high)"]),
    "universal limits": (lambda m: m.add_universal(0, 1, ZERO, Y, (1, 0, 0), child_limits=(1, 2)), ValueError,
                         ["child_limits are 1 to 2", "violates them by 1"]),
    "universal axes": (lambda m: m.add_universal(0, 1, ZERO, Y, (0, 1, 1)), ValueError, ["45° apart", "right angle"]),
    "distance limits": (lambda m: m.add_distance(0, 1, limits=(0.5, 1)), ValueError, ["violates them by 0.5"]),
    "no distance": (lambda m: m.add_distance(0, 1, Y, Y), ValueError, ["0 m apart", "add_ball"]),
    "distance to the ground": (lambda m: m.add_distance(GROUND, 1), ValueError, ["parent_point is None", "no centre"]),
    "swing zero": (lambda m: ball(m, swing_limit=0), ValueError, ["swing_limit is 0", "above zero"]),
    "swing large": (lambda m: ball(m, swing_limit=4), ValueError, ["swing_limit is 4", "at most π"]),
    "swing violated": (lambda m: ball(m, axis=Y, cone_axis=(1, 0, 0), swing_limit=1), ValueError,
                       ["swing_limit is 1", "violates it by 0.570796", "at least 1.5708 rad"]),
    "twist": (lambda m: ball(m, twist_limits=(0.1, 1)), ValueError,
              ["twist_limits are 0.1 to 1", "violates them by 0.1"]),
    "twist large": (lambda m: ball(m, twist_limits=(-4, 1)), ValueError, ["twist_limits are (-4, 1)", "±π"]),
    "twist a word": (lambda m: ball(m, twist_limits="ab"), TypeError, ["twist_limits are 'ab'", "(low, high)"]),
    "ball spring at rest elsewhere": (lambda m: ball(m, spring=rigid.Spring(1, rest=0.5)), ValueError,
                                      ["rest 0.5", "zero"]),
    "joint friction": (lambda m: hinge(m, friction=-1), ValueError, ["friction is -1", "zero or more"]),
    "spring a number": (lambda m: hinge(m, spring=5.0), TypeError, ["spring of 'hinge 3' is 5.0", "rigid.Spring"]),
    "ball spring a number": (lambda m: ball(m, spring=5.0), TypeError, ["spring of 'ball 3' is 5.0", "rigid.Spring"]),
    "motor a number": (lambda m: hinge(m, motor=5.0), TypeError, ["motor of 'hinge 3' is 5.0", "rigid.Motor"]),
    "stiffness": (lambda m: rigid.Spring(stiffness=-1), ValueError, ["spring stiffness is -1", "zero or more"]),
    "damping": (lambda m: rigid.Spring(stiffness=1, damping=-1), ValueError, ["spring damping is -1", "zero or more"]),
    "rest": (lambda m: rigid.Spring(stiffness=1, rest=NAN), ValueError, ["spring rest is nan", "finite"]),
    "motor of nothing": (lambda m: rigid.Motor(), ValueError, ["no target", "speed, position or torque"]),
    "motor of both": (lambda m: rigid.Motor(speed=1, position=1), ValueError, ["speed and position", "or torque"]),
    "motor speed": (lambda m: rigid.Motor(speed=NAN), ValueError, ["motor speed is nan", "finite"]),
    "effort": (lambda m: rigid.Motor(speed=1, max_effort=-1), ValueError, ["motor max_effort is -1", "zero or more"]),
    "effort NaN": (lambda m: rigid.Motor(speed=1, max_effort=NAN), ValueError, ["motor max_effort is nan", "finite"]),
    "joint name": (lambda m: hinge(m, name="neck"), ValueError, ["'neck'", "taken", "'neck 3'"]),
    "spring of one": (lambda m: m.add_spring(0, 0, stiffness=1), ValueError,
                      ["a and b are both 'torso'", "two bodies"]),
    "spring of the ground": (lambda m: m.add_spring(0, GROUND, stiffness=1), ValueError, ["point_b is None", "ground"]),
    "spring stiffness": (lambda m: m.add_spring(0, 1, stiffness=-1), ValueError, ["spring stiffness is -1"]),
    "spring rest length": (lambda m: m.add_spring(0, 1, stiffness=1, rest_length=-1), ValueError,
                           ["rest_length is -1"]),
    "gear on a ball": (lambda m: m.add_gear("neck", "shoulder", 2), ValueError,
                       ["'shoulder', a ball joint", "expected a hinge or "]),
    "gear to itself": (lambda m: m.add_gear("neck", 0, 2), ValueError,
                       ["joint_a and joint_b are both 'neck'", "two joints"]),
    "gear ratio": (lambda m: m.add_gear("neck", "rail", 0), ValueError, ["ratio is 0"]),
    "gear ratio NaN": (lambda m: m.add_gear("neck", "rail", NAN), ValueError, ["ratio is nan", "finite"]),
    "gear unknown": (lambda m: m.add_gear("neck", "rial", 1), ValueError,
                     ["joint_b is 'rial'", "did you mean 'rail'"]),
    "gear index": (lambda m: m.add_gear(3, 0, 1), IndexError,
                   ["joint_a is 3", "expected 0 to 2", "there are 3 joints"]),
    "gear on the ground": (lambda m: m.add_gear(GROUND, 0, 1), IndexError, ["joint_a is -1", "0 to 2"]),
    "joint unknown": (lambda m: m.joint("nek"), ValueError, ["joint is 'nek'", "did you mean 'neck'"]),
    "body unknown": (lambda m: m.body("amr"), ValueError, ["body is 'amr'", "did you mean 'arm'"]),
    "exclusion": (lambda m: m.exclude_contact("head", "hand"), ValueError, ["b is 'hand'", "did you mean 'head'"]),
}  # fmt: skip


@pytest.mark.parametrize("case", [*BODIES, *JOINTS])
def test_wrong_arguments_are_refused(case):
    act, error, words = {**BODIES, **JOINTS}[case]
    with pytest.raises(error) as refusal:
        act(model())
    for word in words:
        assert word in str(refusal.value), str(refusal.value)
    assert "\n" not in str(refusal.value)
