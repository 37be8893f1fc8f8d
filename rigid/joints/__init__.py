"""Joints: one file for each type, with its fields, what it declares, and the method of Model that adds it.

    joint_type.py   JointType: what a type declares; the kinds of coordinates
    joint.py        Joint, the base of all; Gear
    ball.py hinge.py universal.py slider.py cylindrical.py planar.py fixed.py distance.py wheel.py
"""

from rigid.joints.ball import Ball, add_ball
from rigid.joints.cylindrical import Cylindrical, add_cylindrical
from rigid.joints.distance import Distance, add_distance
from rigid.joints.fixed import Fixed, add_fixed
from rigid.joints.hinge import Hinge, add_hinge
from rigid.joints.joint import NO_LIMITS, Gear, Joint
from rigid.joints.planar import Planar, add_planar
from rigid.joints.slider import Slider, add_slider
from rigid.joints.universal import Universal, add_universal
from rigid.joints.wheel import Wheel, add_wheel


def kinds_that_take_gears():
    """Kinds of the joints that gears can connect, a list."""
    classes = [each for each in globals().values() if isinstance(each, type) and issubclass(each, Joint)]
    return [each.type.kind for each in classes if each is not Joint and each.type.takes_gears]


__all__ = [
    "NO_LIMITS",
    "Ball",
    "Cylindrical",
    "Distance",
    "Fixed",
    "Gear",
    "Hinge",
    "Joint",
    "Planar",
    "Slider",
    "Universal",
    "Wheel",
    "add_ball",
    "add_cylindrical",
    "add_distance",
    "add_fixed",
    "add_hinge",
    "add_planar",
    "add_slider",
    "add_universal",
    "add_wheel",
]
