"""Nothing passes through anything in scenes of cloth. `net` and `tablecloth` have tests of their own."""

import pytest

import scenes
from pbd.collision.surfaces.crossings import crossing_pairs
from pbd.core.topology import edges_of
from scenes.simulate.run import Run

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("knot", {}), ("wringing", {}), ("curtain", {}), ("trampoline", {}), ("napkins", {"napkins": 4, "count": 12}),
        ("torn_cloth", {"count": 32}),
    ],
)  # fmt: skip
def test_nothing_crosses_in_any_frame(name, parameters):
    scene = scenes.load(name, **parameters)
    run = Run(scene)
    for _ in range(round(60 * scene.duration)):
        run.system.step()
        assert run.particles.crossings() == 0


@pytest.mark.parametrize(("name", "parameters"), [("drape", {"count": 50}), ("fold", {})])
def test_nothing_crosses_in_cloth_of_spheres(name, parameters):
    scene = scenes.load(name, **parameters)
    run, triangles = Run(scene), scene.particles.triangles()
    for _ in range(round(6 * scene.duration)):
        run.system.step(10)
        assert len(crossing_pairs(run.particles.positions(), edges_of(triangles), triangles)) == 0
