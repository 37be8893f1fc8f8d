"""Rigid bodies: one description, read by every solver.

    import rigid
    model = rigid.Model()
    rod = model.add_box((0.5, 0.05, 0.05), mass=1.0, position=(0.25, 0, 1), name="rod")
    model.add_hinge(rigid.GROUND, rod, point=(0, 0, 1), axis=(0, 1, 0))

The description stands: bodies, shapes, joints, springs, gears (rigid/model.py), snapshots (rigid/state.py), mass
properties (rigid/mass.py) and rotations (rigid/rotation.py). The solvers that move it are to come.
"""

from pbd.collide.shapes import Box, Capsule, Plane, Sphere
from rigid.body import Body, BodyShape
from rigid.joint import Ball, Distance, Fixed, Gear, Hinge, Joint, Motor, PointSpring, Slider, Spring, Universal
from rigid.model import Model
from rigid.names import GROUND
from rigid.shapes import ConvexHull, Cylinder
from rigid.state import State, angular_momentum, linear_momentum

__all__ = [
    "GROUND",
    "Ball",
    "Body",
    "BodyShape",
    "Box",
    "Capsule",
    "ConvexHull",
    "Cylinder",
    "Distance",
    "Fixed",
    "Gear",
    "Hinge",
    "Joint",
    "Model",
    "Motor",
    "Plane",
    "PointSpring",
    "Slider",
    "Sphere",
    "Spring",
    "State",
    "Universal",
    "angular_momentum",
    "linear_momentum",
]
