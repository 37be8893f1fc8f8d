"""A gripper: one motor, and a gear that moves two fingers in opposite directions, like the "repeater" of the source.

The motor pushes one finger with a force F. The gear moves the other finger by the opposite distance, so that both press
the box with F/2. Friction carries m g if F/2 > m g/(2 μ).

With `spring` each finger has a pad on a spring of stiffness k, as the gripper of [0] in docs/solvers/sources.md for
fragile objects. The fingers close by SQUEEZE more than the box allows, so each pad presses with k SQUEEZE if the
motor can push that hard. So the spring limits the force, not the motor: 480 N/m press with 12 N, where rigid fingers
press with 20 N.
"""

import math

import numpy as np

import rigid
from pbd.core.validate import not_negative, positive
from rigid.rotation import from_matrix
from scenes.catalogue.components.trajectories import eased
from scenes.registry import register
from scenes.scene import Scene
from scenes.visuals import BLUE, CHALK, GOLD, RED, STEEL, STONE, BodyVisual, Camera, SpringVisual, StaticVisual, tubes

EDGE = 0.12  # of the box [m]
OPEN = 0.05  # between each open finger and the box [m]
FINGER = np.array([0.03, 0.06, 0.16])  # thick, wide, long [m]
SQUEEZE = 0.5 * OPEN  # how much further than to the box each finger would close [m]
PAD = np.array([0.01, 0.06, 0.08])  # thick, wide, long [m]
PAD_MASS = 0.05  # [kg]
TRAVEL = 0.035  # between a pad and its finger [m]
LIFT = 0.3  # height of the lift [m]

# Times of: hand down, fingers shut, hand up, hand down, fingers open, hand up [s].
HAND = (0.2, 1.0, 1.9, 3.1, 4.3, 5.5, 6.1, 6.9), (LIFT, 0.0, 0.0, LIFT, LIFT, 0.0, 0.0, LIFT)
FINGERS = (1.1, 1.7, 5.5, 6.0), (0.0, OPEN + SQUEEZE, OPEN + SQUEEZE, 0.0)


@register(picture=3.2)
def gripper(mass: float = 1.0, friction: float = 0.6, force: float = 20.0, spring: float = 0.0):
    """Two fingers grip a box, lift it and set it down; --param spring=480 for a fragile box [N/m]."""
    positive("mass", mass), not_negative("friction", friction), positive("force", force), not_negative("spring", spring)
    model = rigid.Model()
    model.add_ground(friction=0.8)
    level = 0.5 * EDGE + LIFT  # between the tips, at the start
    hand = model.add_box((0.36, 0.1, 0.05), mass=2.0, position=(0, 0, level + 0.145), mask=0, name="hand")
    model.add_shape(hand, rigid.Box((0.05, 0.05, 0.6), centre=(0, 0, level + 0.45)), mask=0)
    model.add_slider(rigid.GROUND, hand, None, (0, 0, 1), motor=rigid.Motor(position=0.0), name="lift")
    fingers = add_fingers(model, hand, (0, 0, level), (1, 0, 0), (0, 0, -1), 2 * force, friction, spring=spring)
    model.add_box((EDGE,) * 3, mass=mass, position=(0, 0, EDGE / 2), friction=friction, name="box")

    def control(solver, time):
        solver.set_motor("lift", position=eased(time, *HAND) - LIFT)
        solver.set_motor("fingers", position=eased(time, *FINGERS))

    beam = level + LIFT + 0.1
    feet, top = [(-0.45, 0, 0), (0.45, 0, 0)], [(-0.45, 0, beam), (0.45, 0, beam)]
    sleeve = tubes([(0, 0, beam - 0.05)], [(0, 0, beam + 0.05)], 0.06, STONE, sectors=24, rings=6)
    frame = tubes([*feet, top[0]], [*top, top[1]], 0.03, STONE)
    colours = np.array([GOLD, BLUE, CHALK, BLUE, CHALK, RED] if spring else [GOLD, BLUE, BLUE, RED])
    return Scene(
        model=model,
        duration=7.5,
        settings={
            "impulse": {"dt": 1 / 240, "iterations": 200},
            # The fingers cannot yield in the hand: friction near its bound needs more iterations in the few steps in
            # which the box is lifted.
            "articulated": {"dt": 1 / 240, "iterations": 2000},
            "verlet": {"dt": 1 / 240, "substeps": 8, "iterations": 30, "solve": "iterative"},
        },
        visuals=[
            BodyVisual(model, colours), StaticVisual([frame, sleeve]),
            SpringVisual(model, 0.011, STEEL, springs=pad_springs(model, fingers) if spring else []),
        ],
        camera=Camera((0.62, -1.5, 0.75), (0, 0, 0.4)),
        control=control,
    )


def add_fingers(model, hand, between, across, down, effort, friction, name="fingers", spring=0.0):
    """Add two fingers to a hand, for a box with edges of EDGE.

    Args:
        model: a rigid.Model.
        hand: the body that they slide on.
        between: the point half way between the tips (3,) [m].
        across: direction from the left to the right finger (3,).
        down: direction from the hand to the tips (3,).
        effort: of the motor, twice the force of each finger [N].
        friction: of the fingers.
        name: of the joint with the motor; its position grows as the fingers close.
        spring: stiffness of the spring behind the pad of each finger [N/m]; zero for fingers without pads.

    Returns: indices of the left and of the right finger.
    """
    across, down = np.asarray(across, float), np.asarray(down, float)
    turn = from_matrix(np.stack([across, np.cross(-down, across), -down], axis=1))
    behind = TRAVEL + PAD[0] if spring else 0.0  # the tip
    aside, fingers = EDGE / 2 + OPEN + behind + FINGER[0] / 2, []
    for side, label in ((-1, "left"), (1, "right")):
        middle = np.asarray(between) + side * aside * across - (FINGER[2] / 2 - 0.04) * down
        finger = model.add_box(FINGER, mass=0.3, position=middle, rotation=turn, friction=friction,
                               name=f"{label} of {name}")  # fmt: skip
        motor = rigid.Motor(position=0.0, max_effort=effort) if side < 0 else None
        model.add_slider(hand, finger, None, across, motor=motor, name=name if side < 0 else f"{name}, the other")
        fingers.append(finger)
        if spring:
            tip = np.asarray(between) + side * (EDGE / 2 + OPEN + PAD[0] / 2) * across
            pad = model.add_box(PAD, mass=PAD_MASS, position=tip, rotation=turn, friction=friction,
                                name=f"{label} pad of {name}")  # fmt: skip
            behind_it = rigid.Spring(spring, 2.0 * math.sqrt(spring * PAD_MASS))  # of critical damping
            model.add_slider(finger, pad, None, across, spring=behind_it, name=f"{label} pad of {name}")
    model.exclude_contact(*fingers)
    model.add_gear(name, f"{name}, the other", -1.0, name=f"gear of {name}")
    return fingers


def pad_springs(model, fingers):
    """The springs of the pads' joints, as they are drawn: two from each finger to its pad.

    Args: model; fingers: see `add_fingers`. Returns: a list of PointSpring.
    """
    found = []
    for finger, side in zip(fingers, (1, -1)):  # the side to which the finger presses
        joint = next(each for each in model.joints if each.parent == finger)
        for y in (-0.018, 0.018):
            face = np.array([side * FINGER[0] / 2, y, 0.04 - FINGER[2] / 2])
            found.append(rigid.PointSpring(
                joint.name, finger, joint.child, face, np.array([-side * PAD[0] / 2, y, 0]),
                joint.spring.stiffness / 2, joint.spring.damping / 2, TRAVEL,
            ))  # fmt: skip
    return found
