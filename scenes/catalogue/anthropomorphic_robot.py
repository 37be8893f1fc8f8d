"""An anthropomorphic robot bends down, takes a stone between its hands, stands up and puts the stone back.

Its feet are fixed to the floor. Legs bend at ankle, knee and hip. Each arm has a shoulder with two axes, an elbow and a
wrist. Motors on these joints follow a path. One motor with a gear presses both hands together, like the fingers of the
gripper: it presses with its largest effort, and friction holds the stone.
"""

import math

import numpy as np

import rigid
from pbd.core.validate import positive
from scenes.catalogue.components.trajectories import eased
from scenes.registry import register
from scenes.scene import Scene
from scenes.visuals import BLUE, CHALK, GOLD, STEEL, STONE, BodyVisual, Camera

ANKLE, SHIN, THIGH, TRUNK = 0.1, 0.42, 0.42, 0.5  # heights and lengths [m]
UPPER, FORE, HAND = 0.3, 0.28, 0.1  # of an arm [m]
STEP, WIDTH, PALM = 0.14, 0.3, 0.03  # half the distance of the feet; width of the stone; thickness of the palms [m]
PLINTH, STONE_HEIGHT = 0.26, 0.2  # [m]
ASIDE = 0.22  # angle of the arms when the hands are open [rad]
Y, X = (0, 1, 0), (1, 0, 0)

# Poses: angles from the vertical at which shin, thigh and trunk lean forward, and upper arm and forearm rise [rad].
BENT = np.radians((32.0, -66.0, 50.0, 25.0, 20.0))
TALL = np.radians((0.0, 0.0, 0.0, 20.0, 80.0))
READY = np.radians((0.0, 0.0, 0.0, 10.0, 30.0))
TIMES, WAY = (0.3, 1.8, 2.7, 4.5, 5.7, 7.5, 8.2, 9.6), (READY, BENT, BENT, TALL, TALL, BENT, BENT, READY)
PRESS = (0.3, 1.2, 1.9, 2.5, 7.6, 8.1, 9.0), (0.0, ASIDE, ASIDE, -0.3, -0.3, ASIDE, ASIDE)


@register(slow=True, picture=5)
def anthropomorphic_robot(mass: float = 5.0, friction: float = 0.7, force: float = 200.0):
    """A robot bends down, takes a stone between its hands and stands up with it."""
    positive("mass", mass), positive("friction", friction), positive("force", force)
    model = rigid.Model()
    model.add_ground(friction=0.8)
    colours = add_legs(model) + add_trunk(model)
    length = UPPER + FORE + HAND / 2
    for side, name in ((1, "left"), (-1, "right")):
        engine = rigid.Motor(position=0.0, max_effort=2 * force * length) if side > 0 else None
        colours += add_arm(model, side, name, engine, friction)
    model.add_gear("left press", "right press", -1.0)
    hand = reach(BENT)
    at = np.array([hand[0], 0, PLINTH + STONE_HEIGHT / 2])
    model.add_shape(rigid.GROUND, rigid.Box((0.3, 0.4, PLINTH), centre=(at[0], 0, PLINTH / 2)), friction=0.8)
    stone = rigid.ConvexHull(at + boulder())
    place, _ = stone.pose()
    model.add_mesh(
        (stone.vertices, stone.triangles), mass=mass, position=place, friction=friction, name="stone",
    )  # fmt: skip
    colours.append(CHALK)

    def control(solver, time):
        shin, thigh, trunk, upper, fore = eased(time, TIMES, WAY)
        for side in ("left", "right"):
            solver.set_motor(f"{side} ankle", position=shin)
            solver.set_motor(f"{side} knee", position=thigh - shin)
            solver.set_motor(f"{side} shoulder", position=-upper - trunk)
            solver.set_motor(f"{side} elbow", position=upper - fore)
            solver.set_motor(f"{side} wrist", position=fore)
        for side in ("left", "right"):
            solver.set_motor(f"{side} hip", position=trunk - thigh)
        solver.set_motor("left press", position=eased(time, *PRESS))

    return Scene(
        model=model,
        duration=10.0,
        settings={
            "impulse": {"dt": 1 / 240, "iterations": 200},
            # Solved directly, joints close to 0.03 µm (iterated: 0.8 mm). But the bounded motor of the hands iterates
            # around the solve: at the same cost, 4 substeps of 30, hands that open are 5 mm late (1 mm).
            "verlet": {"dt": 1 / 240, "substeps": 8, "iterations": 30, "solve": "iterative"},
        },
        visuals=[BodyVisual(model, np.array(colours), STONE)],
        camera=Camera((2.2, -2.6, 1.4), (0.2, 0, 0.8)),
        control=control,
        unsupported={"penalty": "its motors move whole arms through springs: steps of 16 µs would be needed"},
    )


def reach(pose):
    """Middle of the hands in a pose: x and z [m]."""
    shin, thigh, trunk, upper, fore = pose
    leaning = np.array([[math.sin(a), math.cos(a)] for a in (shin, thigh, trunk)])
    hanging = np.array([[math.sin(a), -math.cos(a)] for a in (upper, fore, 0.0)])
    return (0, ANKLE) + np.array([SHIN, THIGH, TRUNK]) @ leaning + np.array([UPPER, FORE, HAND / 2]) @ hanging


def add_link(model, before, shapes, mass, point, axis, name, motor=True, body=None):
    """Add a body on a hinge with a motor that holds a position.

    Args: before: the parent; shapes: of the body; mass: [kg]; point, axis: of the hinge; name: of the joint; motor:
        True for a motor, or a Motor, or None; body: name of the body, None for the joint's name.

    Returns: index of the body.
    """
    link = model.add_body(position=point, name=body or name)
    for shape in shapes:
        model.add_shape(link, shape, mass=mass / len(shapes), mask=0)
    motor = rigid.Motor(position=0.0) if motor is True else motor
    model.add_hinge(before, link, point, axis, motor=motor, name=name)
    return link


def add_legs(model):
    """Add two legs on the ground, and the pelvis between them. Returns: colours."""
    pelvis = None
    top = ANKLE + SHIN + THIGH
    for side, name in ((1, "left"), (-1, "right")):
        ankle, knee, hip = (np.array([0, side * STEP, z]) for z in (ANKLE, ANKLE + SHIN, top))
        foot = rigid.Box((0.26, 0.12, 0.06), centre=(0.05, side * STEP, 0.03))
        model.add_shape(rigid.GROUND, foot, mask=0)
        shin = rigid.Capsule(0.05, start=ankle, end=knee)
        shin = add_link(model, rigid.GROUND, [shin], 3.0, ankle, Y, f"{name} ankle")
        thigh = add_link(model, shin, [rigid.Capsule(0.065, start=knee, end=hip)], 5.0, knee, Y, f"{name} knee")
        if pelvis is None:
            sides = np.array([0, STEP, top]), np.array([0, -STEP, top])
            hips = rigid.Capsule(0.09, start=sides[0], end=sides[1])
            pelvis = add_link(model, thigh, [hips], 8.0, hip, Y, f"{name} hip", body="trunk")
        else:
            model.add_hinge(thigh, pelvis, hip, Y, motor=rigid.Motor(position=0.0), name=f"{name} hip")
    return [STEEL, BLUE, GOLD, STEEL, BLUE]


def add_trunk(model):
    """Add chest, shoulders and head to the pelvis. Returns: colours."""
    low = ANKLE + SHIN + THIGH
    wide = WIDTH / 2 + PALM / 2
    parts = (
        (rigid.Box((0.2, 0.26, 0.42), centre=(0, 0, low + 0.27)), 10.0),
        (rigid.Capsule(0.07, start=(0, -wide, low + TRUNK), end=(0, wide, low + TRUNK)), 4.0),
        (rigid.Capsule(0.1, start=(0, 0, low + TRUNK + 0.15), end=(0.01, 0, low + TRUNK + 0.22)), 3.0),
    )
    for shape, mass in parts:
        model.add_shape("trunk", shape, mass=mass, mask=0)
    return []


def add_arm(model, side, name, engine, friction):
    """Add an arm that hangs down, with the palm beside the place of the stone. Returns: colours."""
    y = side * (WIDTH / 2 + PALM / 2)
    shoulder, elbow, wrist, tip = (
        np.array([0, y, ANKLE + SHIN + THIGH + TRUNK - down]) for down in (0, UPPER, UPPER + FORE, UPPER + FORE + HAND)
    )
    ball = add_link(model, "trunk", [rigid.Sphere(0.08, centre=shoulder)], 1.0, shoulder, Y, f"{name} shoulder")
    upper = rigid.Capsule(0.05, start=shoulder, end=elbow)
    upper = add_link(model, ball, [upper], 2.0, shoulder, X, f"{name} press", engine)
    fore = rigid.Capsule(0.04, start=elbow, end=wrist - (0, 0, 0.02))
    fore = add_link(model, upper, [fore], 1.5, elbow, Y, f"{name} elbow")
    hand = add_link(model, fore, [], 0.0, wrist, Y, f"{name} wrist")
    palm = rigid.Box((0.14, PALM, HAND + 0.04), centre=(wrist + tip) / 2)
    model.add_shape(hand, palm, mass=0.8, friction=friction)
    return [STEEL, BLUE, STEEL, GOLD]


def boulder():
    """Corners of a stone with a flat bottom, and two flat sides for the hands."""
    half = WIDTH / 2
    flat = [(-0.08, -0.07), (0.08, -0.07), (0.1, 0.02), (0.05, 0.08), (-0.06, 0.075), (-0.1, 0.01)]
    round_ = [(-0.12, -0.1), (0.12, -0.1), (0.14, 0.0), (0.08, 0.1), (-0.1, 0.09), (-0.14, 0.0)]
    return np.array([(x, s * half, z) for x, z in flat for s in (-1, 1)] + [(x, s * 0.09, z) for x, z in round_
                                                                           for s in (-1, 1)])  # fmt: skip
