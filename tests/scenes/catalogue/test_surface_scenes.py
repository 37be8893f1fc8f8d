"""Nothing passes through anything in scenes of surfaces. `net` and `tablecloth` have tests of their own."""

import pytest

import scenes
from scenes.simulate.run import Run

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("name", "parameters"),
    [("knot", {}), ("wringing", {}), ("curtain", {}), ("trampoline", {}), ("napkins", {"napkins": 4, "count": 12})],
)
def test_nothing_crosses_in_any_frame(name, parameters):
    scene = scenes.load(name, **parameters)
    run = Run(scene)
    for _ in range(round(60 * scene.duration)):
        run.system.step()
        assert run.particles.crossings() == 0
