"""The benchmark bicycle as a model: masses, geometry, and its lean and steer.

Source: Meijaard, Papadopoulos, Ruina, Schwab, Linearized dynamics equations for the balance and steer of a bicycle
(2007), https://doi.org/10.1098/rspa.2007.1857, table 1. That table has z down; here z is up, so products of inertia Ixz
have the other sign.
"""

import math
from dataclasses import dataclass

import numpy as np

import rigid
from pbd.core.validate import finite_number, positive

WHEELBASE, TRAIL, TILT = 1.02, 0.08, 18.0  # [m], [m], [degrees]: of the benchmark
PIVOT_HEIGHT = 0.85  # of the point about which another tilt turns the steering axis [m]
TILTS = (5.0, 40.0)  # of the steering axis that the model allows [degrees]


@dataclass(frozen=True)
class Part:
    """A part of the bicycle.

    Args:
        x, z: of its centre, from the rear contact point forward and up [m].
        mass: [kg].
        xx, yy, zz, xz: entries of the inertia matrix, z up [kg m²].
        radius: of a wheel [m]; zero for the others.
    """

    x: float
    z: float
    mass: float
    xx: float
    yy: float
    zz: float
    xz: float = 0.0
    radius: float = 0.0

    @property
    def inertia(self):
        """Inertia matrix (3, 3) [kg m²]."""
        return np.array([[self.xx, 0, self.xz], [0, self.yy, 0], [self.xz, 0, self.zz]])


PARTS = {
    "rear_wheel": Part(0.0, 0.3, 2.0, 0.0603, 0.12, 0.0603, radius=0.3),
    "frame": Part(0.3, 0.9, 85.0, 9.2, 11.0, 2.8, xz=-2.4),
    "fork": Part(0.9, 0.7, 4.0, 0.05892, 0.06, 0.00708, xz=0.00756),
    "front_wheel": Part(WHEELBASE, 0.35, 3.0, 0.1405, 0.28, 0.1405, radius=0.35),
}


def trail(tilt):
    """Trail of the front wheel for a tilt of the steering axis [m]. Args: tilt [degrees].

    The axis turns about a point on it, at PIVOT_HEIGHT. Masses, wheels and wheelbase stay.
    """
    return TRAIL + PIVOT_HEIGHT * (math.tan(math.radians(tilt)) - math.tan(math.radians(TILT)))


def add_bicycle(model, speed, tilt=TILT, friction=None):
    """Add an upright bicycle that rolls along x.

    The bodies are "rear_wheel", "frame" (with the rider), "fork" and "front_wheel". The hinges are "rear_hub",
    "front_hub" and "steering", whose position is positive to the right. The rims are "rear_rim" and "front_rim".

    Args:
        model: a rigid.Model, with the ground at z = 0.
        speed: [m/s].
        tilt: of the steering axis from the vertical [degrees].
        friction: of the wheels, see rigid.Model.add_wheel.

    Returns: {name: index of the body}.
    """
    speed, tilt = finite_number("speed", speed), positive("tilt", tilt)
    if not TILTS[0] <= tilt <= TILTS[1]:
        raise ValueError(f"tilt is {tilt:g}: expected {TILTS[0]:g} to {TILTS[1]:g} degrees")
    bodies = {}
    for name, part in PARTS.items():
        spin = speed / part.radius if part.radius else 0.0
        bodies[name] = model.add_body(
            mass=part.mass, inertia=part.inertia, position=(part.x, 0, part.z), velocity=(speed, 0, 0),
            angular_velocity=(0, spin, 0), name=name,
        )  # fmt: skip
    angle = math.radians(tilt)
    head = (WHEELBASE + trail(tilt) - PIVOT_HEIGHT * math.tan(angle), 0, PIVOT_HEIGHT)
    rear, front = PARTS["rear_wheel"], PARTS["front_wheel"]
    model.add_hinge("frame", "rear_wheel", (rear.x, 0, rear.z), (0, 1, 0), name="rear_hub")
    model.add_hinge("frame", "fork", head, (math.sin(angle), 0, -math.cos(angle)), name="steering")
    model.add_hinge("fork", "front_wheel", (front.x, 0, front.z), (0, 1, 0), name="front_hub")
    model.add_wheel("rear_wheel", (0, 1, 0), rear.radius, friction=friction, name="rear_rim")
    model.add_wheel("front_wheel", (0, 1, 0), front.radius, friction=friction, name="front_rim")
    return bodies


def lean(rotation):
    """Angle by which the frame leans to the right (...,) [rad]. Args: rotation: of the frame (..., 4)."""
    left = rigid.rotation.rotate(rotation, np.broadcast_to((0.0, 1.0, 0.0), (*np.shape(rotation)[:-1], 3)))
    return np.arcsin(np.clip(left[..., 2], -1.0, 1.0))
