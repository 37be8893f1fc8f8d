"""Nothing passes through anything in scenes of cloth. `net` and `tablecloth` have tests of their own."""

import numpy as np
import pytest

import scenes
from pbd.collision.surfaces.crossings import crossing_pairs
from pbd.core.topology import edges_of
from scenes.catalogue import knot
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


@pytest.mark.parametrize("segments", [60, 110, 160])
def test_a_knot_holds_a_hundred_times_its_weight(segments):
    # Hands pull by springs, with 49 N or more at 0.05 kg. Sticks that are solved directly do not stretch, and what is
    # held does not slip: the ends are still while the tension stays. A coarse knot is larger, and so is its tension.
    scene = scenes.load("knot", segments=segments)
    run, line = Run(scene), np.arange(segments + 1)
    lengths = np.linalg.norm(np.diff(run.particles.positions()[line], axis=0), axis=1)
    reach = []
    for _ in range(round(60 * scene.duration)):
        run.system.step()
        assert run.particles.crossings() == 0
        places = run.particles.positions()
        stretch = np.linalg.norm(np.diff(places[line], axis=0), axis=1) / lengths - 1
        assert np.abs(stretch).max() < 1e-4
        reach.append(np.linalg.norm(places[segments] - places[0]))
    tensions = (np.linalg.norm(places[line[[0, -1]]] - places[-2:], axis=1) - knot.REACH) / knot.COMPLIANCE
    weight = 0.05 * 9.81
    assert (95 * weight < tensions).all()
    assert (tensions < 140 * weight).all()
    assert abs(reach[-1] - reach[-15]) < 1e-3
    assert 0.06 < lengths.sum() - reach[-1] < 0.13  # of rope are in the knot: it is not undone


def test_a_knot_stretches_if_its_sticks_are_iterated():
    # Each iteration undoes what gravity and tension add in a substep only near a stick, so a load of a hundred times
    # the weight stretches 160 of them. Twice the substeps of the direct solve, with twice the iterations, leave 11 %.
    scene = scenes.load("knot")
    scene.settings["verlet"] |= {"substeps": 40, "iterations": 20, "solve": "iterative"}
    run, line = Run(scene), np.arange(161)
    lengths = np.linalg.norm(np.diff(run.particles.positions()[line], axis=0), axis=1)
    for _ in range(round(60 * scene.duration)):
        run.system.step()
    stretch = np.linalg.norm(np.diff(run.particles.positions()[line], axis=0), axis=1) / lengths - 1
    assert stretch.max() == pytest.approx(0.11, abs=0.02)
