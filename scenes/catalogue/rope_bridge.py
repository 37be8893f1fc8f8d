"""A bridge of ropes and planks with weights that swing below it."""

import numpy as np

import pbd
from pbd.core.validate import whole
from scenes.registry import register
from scenes.scene import Scene
from scenes.visuals import GOLD, SAND, STEEL, Camera, ColliderVisual, ParticleVisual, StickVisual


@register(small={"planks": 9}, slow=True, picture=1.2)
def rope_bridge(planks: int = 22, span: float = 4.0, sag: float = 0.35, weights: int = 5):
    """A bridge of ropes and planks sways while weights swing below it."""
    whole("planks", planks, least=2), whole("weights", weights, least=0)
    particles = pbd.Particles()
    t = np.linspace(0, 1, planks + 1)
    x, z = span * (t - 0.5), 1.3 - 4 * sag * t * (1 - t)
    sides, rails = [], []
    for y in (-0.35, 0.35):
        sides.append(particles.add_particles(np.stack([x, np.full_like(x, y), z], axis=1), mass=0.6, radius=0.03))
        rails.append(particles.add_particles(np.stack([x, np.full_like(x, y), z + 0.45], axis=1), mass=0.2))
    ropes = [np.stack([line[:-1], line[1:]], axis=1) for line in sides + rails]
    posts = [np.stack([low[::2], high[::2]], axis=1) for low, high in zip(sides, rails)]
    # Planks lie across the bridge. A diagonal between two planks keeps the deck from shearing.
    deck = np.stack(sides, axis=1)
    braces = np.stack([sides[0][:-1], sides[1][1:]], axis=1)
    for line in (*ropes, *posts, deck, braces):
        particles.add_sticks(line)
    for line in sides + rails:
        particles.pin(line[[0, -1]])
    # Each weight hangs from both ends of a plank and starts at its height, to one side.
    heavy, lines = [], []
    for k, plank in enumerate(np.linspace(0.15, 0.85, weights) * planks):
        ends = deck[round(plank)]
        side = 1 if k % 2 else -1
        middle = particles.positions()[ends].mean(axis=0)
        weight = particles.add_particle(middle + np.array([0, side * 0.45, -0.05]), mass=2.5)
        lines += [(ends[0], weight), (ends[1], weight)]
        particles.add_sticks(lines[-2:], length=0.82, bound="at_most")
        heavy.append(weight)
    for end in (-1, 1):
        tower = pbd.Box((0.4, 1.0, 1.3), centre=(end * (span / 2 + 0.2), 0, 0.65))
        particles.add_collider(tower)
    return Scene(
        particles,
        duration=6.0,
        settings={"verlet": {"dt": 1 / 120, "substeps": 2, "iterations": 2, "solve": "direct", "damping": 0.002}},
        visuals=[
            StickVisual(np.concatenate(ropes), 0.016, SAND),
            StickVisual(np.concatenate(posts), 0.009, SAND),
            StickVisual(deck[1:-1], 0.04),
            StickVisual(np.array(lines), 0.007, SAND),
            ParticleVisual(np.array(heavy), 0.1, GOLD),
            *(ColliderVisual(k, collider.shape, STEEL) for k, collider in enumerate(particles.colliders)),
        ],
        camera=Camera((2.4, -5.2, 2.7), (0, 0, 0.95)),
    )
