"""The Dzhanibekov effect: a body that spins about its middle principal axis turns over again and again."""

import rigid
from scenes.registry import register
from scenes.scene import Scene
from scenes.visuals import GOLD, BodyVisual, Camera

SIZE = (0.4, 0.2, 0.1)  # [m]


@register(slow=True, picture=1.2)
def dzhanibekov(spin: float = 10.0, mass: float = 1.2):
    """A weightless box that spins about its middle axis turns over again and again."""
    model = rigid.Model(gravity=(0, 0, 0))
    body = model.add_box(SIZE, mass=mass, position=(0, 0, 0.5), angular_velocity=(0.05, spin, 0.1), name="box")
    # A peg without mass marks one end.
    model.add_shape(body, rigid.Capsule(0.03, start=(0, -0.1, 0.5), end=(0, -0.16, 0.5)))
    return Scene(
        model=model,
        duration=10.0,
        settings={
            "impulse": {"dt": 1 / 60, "substeps": 16, "gyroscopic": "midpoint"},
            "verlet": {"dt": 1 / 60, "substeps": 16, "iterations": 10, "solve": "iterative"},
        },
        visuals=[BodyVisual(model, GOLD)],
        camera=Camera((1.1, -1.4, 1.0), (0, 0, 0.45)),
    )
