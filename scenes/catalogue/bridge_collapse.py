"""A boulder rolls onto a bridge, which breaks under it."""

import rigid
from pbd.core.validate import positive, whole
from scenes.registry import register
from scenes.scene import Scene
from scenes.visuals import SAND, STEEL, WOOD, BodyVisual, Camera


@register(small={"planks": 6}, slow=True, picture=1.33)
def bridge_collapse(planks: int = 12, boulder: float = 300.0, strength: float = 3200.0, speed: float = 2.5):
    """A boulder rolls onto a bridge, which breaks under it."""
    whole("planks", planks, least=2)
    positive("strength", strength)
    model = rigid.Model()
    model.add_ground(friction=0.7)
    span, width, thickness, height, gap = 4.8, 1.2, 0.1, 1.6, 2e-3
    length = span / planks
    for side in (-1, 1):  # banks, whose top is level with that of the bridge
        bank = rigid.Box((2.0, 2.4, height), centre=(side * (span / 2 + 1.0), 0, height / 2))
        model.add_shape(rigid.GROUND, bank, friction=0.7)
    # A beam on a hinge at each bank. Under a load P at distances a and b from the banks, and its weight w per metre,
    # the bending moment is (P/L + w/2) a b: the joint there breaks if this is more than `strength`.
    level, deck = height - thickness / 2, []
    for k in range(planks):
        place = ((k + 0.5) * length - span / 2, 0, level)
        deck.append(model.add_box((length - gap, width, thickness), density=300.0, position=place, friction=0.7))
    for k, (left, right) in enumerate(zip(deck, deck[1:]), 1):
        model.add_fixed(left, right, (k * length - span / 2, 0, level), break_torque=strength, collide=True)
    for body, x in ((deck[0], -span / 2), (deck[-1], span / 2)):
        model.add_hinge(rigid.GROUND, body, (x, 0, level), (0, 1, 0))
    radius = 0.45
    model.add_sphere(
        radius, mass=boulder, position=(-span / 2 - 1.2, 0.05, height + radius), velocity=(speed, 0, 0),
        angular_velocity=(0, speed / radius, 0), friction=0.7, rolling_friction=0.005,
    )  # fmt: skip
    return Scene(
        model=model,
        duration=4.0,
        settings={
            "impulse": {"dt": 1 / 120, "substeps": 8, "iterations": 20},
            "articulated": {"dt": 1 / 120, "substeps": 4, "iterations": 30},
        },
        visuals=[BodyVisual(model, [WOOD] * planks + [STEEL], SAND)],
        camera=Camera((1.6, -7.2, 3.4), (0.1, 0, 1.0)),
        unsupported={
            "verlet": "the joints are a loop from bank to bank, whose loads it does not know",
            "penalty": "the beam is too stiff for springs: steps of 10 µs would be needed",
        },
    )
