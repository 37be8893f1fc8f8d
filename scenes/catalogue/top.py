"""A spinning top on its point leans and precesses."""

import math

import numpy as np

import rigid
from pbd.core.validate import not_negative, positive
from rigid.rotation import from_axis_angle, rotate
from scenes.registry import register
from scenes.scene import Scene
from scenes.visuals import GOLD, STONE, BodyVisual, Camera, StaticVisual, tubes

FOOT = np.array([0, 0, 0.12])  # upper end of the stand [m]


@register(picture=1.5)
def top(spin: float = 60.0, tilt: float = 25.0, friction: float = 0.0):
    """A spinning top leans and precesses; with friction at its point it falls in the end."""
    positive("spin", spin), not_negative("friction", friction)
    model = rigid.Model()
    turn = from_axis_angle((0, 1, 0), math.radians(tilt))
    axis = rotate(turn, np.array([0.0, 0, 1]))

    def at(height):
        return FOOT + height * axis

    body = model.add_cylinder(0.28, start=at(0.30), end=at(0.36), density=600.0, name="top")
    model.add_shape(body, rigid.Cylinder(0.018, start=at(0.0), end=at(0.62)), density=600.0)
    # Pegs on the disc make its rotation visible.
    for angle in (0, math.pi):
        arm = rotate(turn, 0.2 * np.array([math.cos(angle), math.sin(angle), 0]))
        model.add_shape(body, rigid.Capsule(0.035, start=at(0.36) + arm, end=at(0.38) + arm), density=600.0)
    model.bodies[body].angular_velocity = spin * axis
    model.bodies[body].velocity = np.cross(spin * axis, model.bodies[body].position - FOOT)
    model.add_ball(rigid.GROUND, body, FOOT, friction=friction, name="point")
    stand = tubes([(0, 0, 0)], [FOOT - (0, 0, 0.03)], 0.03, STONE)
    return Scene(
        model=model,
        duration=8.0,
        settings={
            "impulse": {"dt": 1 / 60, "substeps": 16, "iterations": 20},
            "verlet": {"dt": 1 / 60, "substeps": 32, "iterations": 20, "solve": "iterative"},
        },
        visuals=[BodyVisual(model, GOLD), StaticVisual([stand])],
        camera=Camera((1.0, -1.6, 1.05), (0, 0, 0.33)),
    )
