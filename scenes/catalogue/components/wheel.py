"""A wheel with a motor."""

import math

import numpy as np

import rigid
from rigid.rotation import from_axis_angle

RADIUS, WIDTH = 0.15, 0.11  # of a wheel [m]


def add_wheel(model, carrier, hub, speed, effort, name):
    """Add a wheel on a hinge along y, with a cross that makes its rotation visible.

    Args:
        model: a rigid.Model.
        carrier: index of the body on which it turns.
        hub: centre of the wheel (3,) [m].
        speed: at which its motor drives the wheel [m/s]; 0 for no motor.
        effort: largest torque of the motor [N m].
        name: of the body.

    Returns: index of the body.
    """
    across = np.array([0, WIDTH / 2, 0])
    wheel = model.add_cylinder(RADIUS, start=hub - across, end=hub + across, mass=1.2, friction=0.9, name=name)
    for turn in (0, math.pi / 2):
        bar = rigid.Box((0.05, WIDTH + 0.05, 1.4 * RADIUS), centre=hub, rotation=from_axis_angle((0, 1, 0), turn))
        model.add_shape(wheel, bar, mask=0)
    motor = rigid.Motor(speed=speed / RADIUS, max_effort=effort) if speed else None
    model.add_hinge(carrier, wheel, hub, (0, 1, 0), motor=motor, name=f"{name} hub")
    return wheel
