"""The joints of the penalty paper with its own gains and step, [4] of docs/solvers/sources.md: a ball joint, a hinge, a
universal joint and a slider, the last three with limits."""

import math
from typing import Literal

import numpy as np

import rigid
from pbd.core.validate import one_of
from scenes.registry import register
from scenes.scene import Scene
from scenes.visuals import BLUE, GOLD, GREEN, RED, STEEL, WOOD, BodyVisual, Camera, JointVisual, StaticVisual, tubes

# The source's numbers: h of about 3 ms, α* and β* for translation 5000/s² and 25/s, for rotation 10000/s² and 10/s.
SOURCE = {"dt": 0.003, "stiffness": 5000.0, "damping": 25.0, "angular_stiffness": 10000.0, "angular_damping": 10.0}

TOP, LENGTH = 1.3, 0.7  # height of the joints, length of the arms [m]


@register
def penalty_joints(limit: float = 50.0, form: Literal["angle", "sine"] = "angle"):
    """Four arms swing on the joints of the penalty paper, with its gains and its step of 3 ms."""
    one_of("form", form, ("angle", "sine"))
    if not 0 < limit < 90:
        raise ValueError(f"limit is {limit:g}: expected above 0 and below 90 degrees, beyond which the sine decreases")
    model = rigid.Model()
    bound = math.radians(limit)
    places = np.array([(x, 0, TOP) for x in (-1.35, -0.45, 0.45, 1.35)])
    arms = []
    for place, name in zip(places, ("ball", "hinge", "universal", "slider")):
        # Joint angles are zero in the starting pose. The arms start aside, so they hit a limit soon after the lowest
        # point of their swing.
        tilt = 0.0 if name == "slider" else 0.8 * bound
        aside = 0.6 if name in ("ball", "universal") else 0.0
        along = np.array([-aside * math.sin(tilt), -math.sin(tilt), -math.cos(tilt)])
        along /= np.linalg.norm(along)
        end = place + LENGTH * along
        arm = model.add_capsule(0.03, start=place, end=end, mass=1.0, mask=0, name=name)
        model.add_shape(arm, rigid.Sphere(0.1, centre=end), mass=2.0, mask=0)
        arms.append(arm)
    x_axis, y_axis = (1, 0, 0), (0, 1, 0)
    model.add_ball(rigid.GROUND, arms[0], places[0], name="ball joint")
    both = (-bound, bound)
    model.add_hinge(rigid.GROUND, arms[1], places[1], x_axis, limits=both, name="hinge joint")
    model.add_universal(
        rigid.GROUND, arms[2], places[2], x_axis, y_axis, parent_limits=both, child_limits=both, name="universal joint"
    )
    model.add_slider(rigid.GROUND, arms[3], places[3], (0, 0, 1), limits=(-0.25, 0.25), name="slider joint")
    guide = tubes([(1.35, 0.13, 0)], [(1.35, 0.13, TOP + 0.3)], 0.025, STEEL)
    rail = tubes([(-1.8, 0, TOP)], [(1.8, 0, TOP)], 0.03, WOOD)
    posts = tubes([(x, 0, 0) for x in (-1.8, 1.8)], [(x, 0, TOP) for x in (-1.8, 1.8)], 0.04, WOOD)
    return Scene(
        model=model,
        duration=6.0,
        settings={
            "penalty": {**SOURCE, "limit_form": form},
            "impulse": {"dt": 1 / 60, "substeps": 4, "iterations": 20},
            "verlet": {"dt": 1 / 60, "substeps": 8, "iterations": 2, "solve": "direct"},
        },
        visuals=[
            BodyVisual(model, np.array([RED, GOLD, GREEN, BLUE])), JointVisual(model, 0.05, STEEL),
            StaticVisual([rail, posts, guide]),
        ],
        camera=Camera((1.1, -3.9, 1.9), (0, 0, 0.85)),
    )
