"""The scene `drape` with a cloth of a fabric."""

import numpy as np
import pytest

import pbd
import scenes
from scenes.simulate.run import Run


def test_the_cloth_is_of_the_fabric():
    scene = scenes.load("drape", fabric="denim", count=20, size=1.5)
    (membrane,) = scene.particles.membranes
    assert membrane.fabric == pbd.FABRICS["denim"]
    assert scene.particles.masses().sum() == pytest.approx(1.5**2 * membrane.fabric.density)
    run = Run(scene, duration=1.0, fps=10)
    *_, last = run.frames()
    strains = run.particles.strain()[:, :2]
    assert np.abs(strains.mean(axis=0)).max() < 0.01
    assert last.positions[:, 2].max() == pytest.approx(1.05 + scene.chosen["thickness"] / 2, abs=5e-3)  # on the ball
    assert last.positions[:, 2].min() < 0.9


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"fabric": "denmi"}, "fabric is 'denmi'.*did you mean 'denim'"),
        ({"fabric": "denim", "bending": 1e-3}, "fabric is 'denim', with cloth, bending or shear: expected either"),
        ({"fabric": "denim", "cloth": "shirt.ply"}, "fabric is 'denim', with cloth, bending or shear: expected either"),
    ],
)
def test_what_does_not_go_with_a_fabric_is_refused(given, message):
    with pytest.raises(ValueError, match=message):
        scenes.load("drape", **given)
