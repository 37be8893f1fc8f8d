"""Balls with different restitution e fall from one height: each rises to e² of it."""

import numpy as np

import rigid
from pbd.core.validate import positive, whole
from scenes.registry import register
from scenes.scene import Scene
from scenes.visuals import BLUE, CHALK, GOLD, GREEN, RED, BodyVisual, Camera


@register(small={"count": 5}, slow=True, picture=0.9)
def bouncing_balls(count: int = 7, height: float = 1.6, radius: float = 0.13, best: float = 0.95):
    """Balls with different restitution bounce side by side."""
    whole("count", count), positive("height", height), positive("radius", radius)
    model = rigid.Model()
    model.add_ground(friction=0.5)
    for k in range(count):
        place = (2.6 * radius * (k - (count - 1) / 2), 0, height + radius)
        model.add_sphere(radius, density=300.0, position=place, restitution=best * k / max(count - 1, 1))
    tones = np.array([BLUE, GREEN, CHALK, GOLD, RED])
    along = np.linspace(0, len(tones) - 1, count)
    colours = np.stack([np.interp(along, np.arange(len(tones)), tone) for tone in tones.T], axis=1)
    return Scene(
        model=model,
        duration=5.0,
        settings={
            "impulse": {"dt": 1 / 60, "substeps": 4, "iterations": 10},
            "verlet": {"dt": 1 / 60, "substeps": 4, "iterations": 10, "solve": "iterative"},
        },
        visuals=[BodyVisual(model, colours)],
        camera=Camera((0.8, -3.5, 1.6), (0, 0, 0.85)),
    )
