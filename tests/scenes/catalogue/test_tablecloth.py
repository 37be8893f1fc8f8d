"""Dishes on a tablecloth that is pulled away: how far they slide, by closed form, and that they stay on the table."""

import math

import numpy as np
import pytest

import scenes
from scenes.catalogue.tablecloth import TABLE
from scenes.simulate.run import Run

g, TABLE_FRICTION, HALF_WIDTH = 9.81, 0.3, 0.55  # of the table's shape; of the cloth [m]
RADII = {"plate": 0.11, "cup": 0.035, "bread": 0.14}  # of what is laid, about its centre [m]


def slid(way, acceleration, friction):
    """How far a body slides from which a cloth moves away [m].

    While the cloth slides below it, the body has the acceleration μ g: until t² = 2 way/(a - μ g). Then the table stops
    it, whose friction with it is √(μ μ').
    """
    pull, braking = friction * g, math.sqrt(friction * TABLE_FRICTION) * g
    squared = 2 * way / (acceleration - pull)
    return pull * squared / 2 + (pull**2 * squared / (2 * braking) if friction else 0.0)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("acceleration", "friction"),
    [(40.0, 0.15), (20.0, 0.0), (60.0, 0.0), (60.0, 0.25)],
)
def test_dishes_slide_as_far_as_friction_says(acceleration, friction):
    run = Run(scenes.load("tablecloth", count=13, acceleration=acceleration, friction=friction))
    start = run.system.state().position.copy()
    for _ in range(60):
        run.system.step()
        assert run.particles.crossings() == 0
    moved = run.system.state().position - start
    for body, (x, *_), (along, across, up) in zip(run.scene.model.bodies, start, moved):
        radius = RADII[body.name.rstrip("012")]
        # The cloth's end is below the body from where it reaches its centre to where it has left it.
        least, most = (slid(x + HALF_WIDTH + more, acceleration, friction) for more in (0.0, radius))
        # Edges of triangles push what slides over them by some 2 mm/s, which nothing stops without friction.
        assert 0.97 * least - 3e-3 <= along <= 1.03 * most + 3e-3
        assert abs(across) < 3e-3
        assert up == pytest.approx(-0.002, abs=1e-3)  # from the cloth onto the table
        assert np.all(np.abs(start[:, 0] + moved[:, 0]) < TABLE[0] / 2)
    speed = run.system.state().velocity
    assert np.abs(speed).max() < 1e-2
