"""A manipulator: an arm with six axes and the gripper, which carries a box from one plinth to another.

It has the axes of most industrial arms: turret, shoulder, elbow, and three axes that meet in the wrist. For a hand that
points down, the angles follow from its position in closed form. The turret faces it, shoulder and elbow form a triangle
of the two long links, the wrist keeps the hand upright, and the last axis turns it.
"""

import math

import numpy as np

import rigid
from pbd.core.validate import positive
from scenes.catalogue.components.trajectories import eased
from scenes.catalogue.gripper import EDGE, OPEN, SQUEEZE, add_fingers
from scenes.registry import register
from scenes.scene import Scene
from scenes.visuals import BLUE, GOLD, RED, STEEL, STONE, BodyVisual, Camera

SHOULDER, UPPER, FORE, TOOL = 0.55, 0.5, 0.5, 0.34  # of turret, links, and wrist to tips [m]
REACH, PLINTH = 0.62, 0.2  # distance of the plinths from the turret's axis, and their height [m]
AXES = ("turret", "shoulder", "elbow", "roll", "pitch", "hand")
LOW, HIGH = PLINTH + EDGE / 2, PLINTH + EDGE / 2 + 0.35

# Places of the hand: angle about the turret's axis [rad], distance from it [m], height [m], rotation [rad]; times [s].
TIMES = (1.2, 2.0, 2.8, 3.8, 5.4, 6.4, 7.1, 8.0)
SIDE, TURNED = math.radians(50), math.pi / 2
WAY = (
    (-SIDE, REACH, HIGH, 0.0), (-SIDE, REACH, LOW, 0.0), (-SIDE, REACH, LOW, 0.0), (-SIDE, REACH, HIGH, 0.0),
    (SIDE, REACH, HIGH, TURNED), (SIDE, REACH, LOW + 0.001, TURNED), (SIDE, REACH, LOW + 0.001, TURNED),
    (SIDE, REACH, HIGH, TURNED),
)  # fmt: skip
FINGERS = (2.0, 2.6, 6.5, 7.0), (0.0, OPEN + SQUEEZE, OPEN + SQUEEZE, 0.0)


@register(slow=True, picture=4.6)
def manipulator(mass: float = 1.0, friction: float = 0.6, force: float = 25.0):
    """An arm with six axes takes a box from one plinth, turns it and puts it on another."""
    positive("mass", mass), positive("friction", friction), positive("force", force)
    model = rigid.Model()
    model.add_ground(friction=0.8)
    for side in (-SIDE, SIDE):
        at = REACH * math.cos(side), REACH * math.sin(side), PLINTH / 2
        model.add_shape(rigid.GROUND, rigid.Box((0.22, 0.22, PLINTH), centre=at), friction=0.8)
    model.add_shape(rigid.GROUND, rigid.Cylinder(0.2, start=(0, 0, 0), end=(0, 0, 0.12)), mask=0)
    wrist = add_arm(model)
    tips = np.array([FORE, 0, SHOULDER + UPPER - TOOL])
    add_fingers(model, wrist, tips, (0, 1, 0), (0, 0, -1), 2 * force, friction)
    turn = (math.cos(SIDE / 2), 0, 0, -math.sin(SIDE / 2))
    box = (REACH * math.cos(SIDE), -REACH * math.sin(SIDE), LOW)
    model.add_box((EDGE,) * 3, mass=mass, position=box, rotation=turn, friction=friction, name="box")
    start = (0.0, FORE, SHOULDER + UPPER - TOOL, 0.0)

    def control(solver, time):
        where = eased(time, (0.0, *TIMES), (start, *WAY))
        for name, angle in zip(AXES, angles(*where)):
            solver.set_motor(name, position=angle)
        solver.set_motor("fingers", position=eased(time, *FINGERS))

    return Scene(
        model=model,
        duration=8.4,
        settings={
            "impulse": {"dt": 1 / 240, "iterations": 200},
            "verlet": {"dt": 1 / 240, "substeps": 5, "iterations": 12, "solve": "direct"},
        },
        visuals=[BodyVisual(model, np.array([STEEL, GOLD, GOLD, STEEL, GOLD, STEEL, BLUE, BLUE, RED]), STONE)],
        camera=Camera((1.6, -2.25, 1.4), (0.22, 0, 0.44)),
        control=control,
    )


def add_arm(model):
    """Add six links on hinges with motors: the upper arm upright, the forearm level along x, the hand down.

    Returns: index of the last link, a flange.
    """
    elbow, wrist = np.array([0, 0, SHOULDER + UPPER]), np.array([FORE, 0, SHOULDER + UPPER])
    shoulder, half = np.array([0, 0, SHOULDER]), np.array([FORE / 2, 0, 0])
    flange = wrist - (0, 0, TOOL - 0.17)
    across = np.array([0, 0.08, 0])
    base = rigid.Cylinder(0.11, start=(0, 0, 0.12), end=(0, 0, SHOULDER - 0.05))
    links = (  # shape, mass [kg], point and axis of the hinge
        ([base, rod(shoulder, across, 0.1)], 10.0, shoulder, 2),
        ([rigid.Capsule(0.07, start=shoulder, end=elbow), rod(elbow, across, 0.085)], 6.0, shoulder, 1),
        ([rigid.Capsule(0.06, start=elbow, end=elbow + half)], 3.0, elbow, 1),
        ([rigid.Cylinder(0.045, start=elbow + half, end=wrist), rod(wrist, 0.8 * across, 0.06)], 2.0, elbow + half, 0),
        ([rigid.Cylinder(0.045, start=wrist, end=flange + (0, 0, 0.05))], 1.5, wrist, 1),
        ([rigid.Box((0.1, 0.36, 0.05), centre=flange + (0, 0, 0.025))], 1.5, flange, 2),
    )
    before = rigid.GROUND
    for name, (shapes, mass, point, axis) in zip(AXES, links):
        link = model.add_body(position=point, name=name)
        for shape in shapes:
            model.add_shape(link, shape, mass=mass / len(shapes), mask=0)
        model.add_hinge(before, link, point, np.eye(3)[axis], motor=rigid.Motor(position=0.0), name=name)
        before = link
    return before


def rod(middle, half, radius):
    """Make a cylinder about the axis of a joint."""
    return rigid.Cylinder(radius, start=middle - half, end=middle + half)


def angles(about, away, height, turned):
    """Compute the positions of the six axes for a hand that points down.

    If u and v are the angles of upper arm and forearm from the vertical, the wrist is at UPPER (sin u, cos u) +
    FORE (sin v, cos v) from the shoulder. The law of cosines gives v - u.

    Args:
        about: angle about the turret's axis [rad].
        away: distance from that axis [m].
        height: of the point between the tips [m].
        turned: rotation of the hand about the vertical, relative to the turret [rad].

    Returns: six angles [rad], zero in the pose of `add_arm`.
    """
    x, z = away, height + TOOL - SHOULDER
    bend = math.acos((x * x + z * z - UPPER**2 - FORE**2) / (2 * UPPER * FORE))
    u = math.atan2(x, z) - math.atan2(FORE * math.sin(bend), UPPER + FORE * math.cos(bend))
    level = u + bend - math.pi / 2  # of the forearm, downward
    return about, u, level - u, 0.0, -level, turned
