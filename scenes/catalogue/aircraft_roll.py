"""Roll of a small aircraft: a first-order lag from the ailerons to the rate of roll, [2] of docs/solvers/sources.md.

    I ω' = M_ω ω + M_δ δ,   k = -M_δ/M_ω = 10 rad/s,   T = -I/M_ω = 0.075 s

δ is the deflection of the ailerons, from -1 to 1. The glider is one body on a hinge along its axis of roll, and the
control sets the torque by `set_forces`. On a step of the ailerons, ω = k δ (1 - exp(-t/T)). The source calls T the time
to come within 5 %, which is 3 T. Its record of a flight simulator is lost, with the table of ailerons and rates, so the
fit to that record cannot be repeated. scenes/identification.py recovers k and T from records of this scene instead.
"""

import math
from typing import Literal

import numpy as np

import rigid
from pbd.core.validate import finite_number, one_of
from scenes.catalogue.components.aircraft_picture import LEFT_TIP, AileronsVisual, aircraft_surfaces
from scenes.registry import register
from scenes.scene import Scene
from scenes.visuals import BLUE, STEEL, Camera, StaticVisual, tubes
from scenes.visuals.tracks import TrailVisual

MASS, INERTIA = 1.2, 0.018  # [kg], about all axes [kg m²]
DAMPING, AILERONS = -0.24, 2.4  # M_ω [N m s], M_δ [N m]
GAIN, TIME_CONSTANT = -AILERONS / DAMPING, -INERTIA / DAMPING  # k [rad/s], T [s]

PROGRAMMES = ("turn", "step", "square")
RAMP = 0.1  # of the ailerons in a turn [s]
INTERVAL = 0.4  # between the changes of a square wave [s]
HEIGHT = 1.0  # of the axis [m]

# Sizes and centres of boxes, from the centre of mass, x forward [m]: fuselage; wing of 0.2 m²; tailplane and fin of
# 0.03 m² at an arm of 0.5 m.
BOXES = (
    ((0.85, 0.05, 0.06), (-0.12, 0, 0)), ((0.2, 1.0, 0.02), (0, 0, 0.03)), ((0.1, 0.3, 0.012), (-0.5, 0, 0.03)),
    ((0.15, 0.012, 0.2), (-0.5, 0, 0.13)),
)  # fmt: skip


def deflection(time, amplitude, programme):
    """The deflection of the ailerons.

    Args:
        time: [s].
        amplitude: of the programme, from -1 to 1.
        programme: "turn": a trapezoid after which the aircraft has made one turn, because it gains the angle k ∫ δ dt
            for any T; "step": constant; "square": it changes its sign every 0.4 s.

    Returns: δ, from -1 to 1.
    """
    if programme == "step":
        return amplitude
    if programme == "square":
        return amplitude if math.floor(time / INTERVAL + 1e-9) % 2 == 0 else -amplitude
    hold = 2 * math.pi / (GAIN * abs(amplitude)) - RAMP
    return float(np.interp(time, np.cumsum((0.0, RAMP, hold, RAMP)), (0.0, amplitude, amplitude, 0.0)))


@register(picture=1.45, picture_parameters={"amplitude": -0.4})
def aircraft_roll(amplitude: float = 1.0, programme: Literal[PROGRAMMES] = "turn"):
    """A glider rolls by its ailerons; --param programme=step or square instead of one turn."""
    one_of("programme", programme, PROGRAMMES)
    if not 0 < abs(finite_number("amplitude", amplitude)) <= 1:
        raise ValueError(f"amplitude is {amplitude:g}: expected from -1 to 1, and not zero")
    model = rigid.Model()
    glider = model.add_body(mass=MASS, inertia=(INERTIA,) * 3, position=(0, 0, HEIGHT), name="aircraft")
    for size, centre in BOXES:
        model.add_shape(glider, rigid.Box(size, centre=centre), local=True, mask=0)
    model.add_hinge(rigid.GROUND, glider, (0, 0, HEIGHT), (1, 0, 0), name="roll")

    def control(solver, time):
        rate = solver.joint_velocities()["roll"]
        torque = DAMPING * rate + AILERONS * deflection(time, amplitude, programme)
        solver.set_forces("aircraft", torque=(torque, 0, 0))

    post = tubes([(-0.9, 0, 0), (-0.9, 0, HEIGHT)], [(-0.9, 0, HEIGHT), (-0.5, 0, HEIGHT)], 0.02, STEEL)
    return Scene(
        model=model,
        duration=2.0,
        settings={
            "impulse": {"dt": 1 / 240, "iterations": 20},
            "verlet": {"dt": 1 / 480, "iterations": 20, "solve": "iterative"},
        },
        visuals=[
            aircraft_surfaces(glider),
            AileronsVisual(glider, lambda time: deflection(time, amplitude, programme)),
            TrailVisual(glider, LEFT_TIP, radius=0.006, colour=BLUE, count=60),
            StaticVisual([post]),
        ],
        camera=Camera((1.5, -1.25, 1.75), (-0.1, 0, 0.92)),
        control=control,
    )
