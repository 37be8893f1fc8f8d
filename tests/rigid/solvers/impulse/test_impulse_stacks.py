"""Tall stacks of boxes: they stand upright, and sink by what their contacts bear."""

import math

import numpy as np
import pytest
from marks import cases

import rigid

g = 9.81
STEP = 1 / 60


def tower(count, size=(1.0, 1.0, 1.0), mass=1.0, friction=0.6, seed=None):
    """Boxes above one another. Args: seed: of their places, up to a hundredth of an edge aside; None for none."""
    model, random = rigid.Model(), np.random.default_rng(seed)
    model.add_ground(friction=friction)
    for k in range(count):
        aside = random.uniform(-0.01, 0.01, 2) * size[:2] if seed is not None else np.zeros(2)
        model.add_box(size, mass=mass, position=(*aside, (k + 0.5) * size[2]), friction=friction)
    return model


def pyramid(rows, size, mass=1.0, friction=0.6):
    model = rigid.Model()
    model.add_ground(friction=friction)
    for level in range(rows):
        for k in range(rows - level):
            place = (1.05 * size[0] * (k - (rows - level - 1) / 2), 0, (level + 0.5) * size[2])
            model.add_box(size, mass=mass, position=place, friction=friction)
    return model


def drift(model, seconds, **options):
    """How far boxes drift along the ground in a run (2,), in edges along the vertical. Args: options: of "impulse"."""
    solver, start = rigid.solver("impulse", model, STEP, **options), model.initial_state().position
    solver.step(round(seconds / STEP))
    return np.abs(solver.state().position - start)[:, :2].max(axis=0) / model.shapes[1].shape.size[2]


@pytest.mark.parametrize("count", [4, 10])
def test_a_tower_of_boxes_sinks_by_what_each_contact_bears(count):
    # In small steps each of the four corners of a cube bears W/4, and sinks by (W/4) K/ω², h ω = π/2. Its arms have
    # (a²/4 + a²/4)/(m a²/6) = 3/m, so K = 4/m on the ground and 8/m between two cubes: W/(m ω²) and 2 W/(m ω²).
    solver = rigid.solver("impulse", tower(count, mass=2.0), STEP, small_steps=4)
    solver.step(600)
    omega, bears = 0.5 * math.pi * 4 / STEP, np.arange(count, 0, -1) * g
    sinks = np.cumsum(bears / omega**2 * np.where(np.arange(count) == 0, 1, 2))
    position = solver.state().position
    assert np.arange(count) + 0.5 - position[:, 2] == pytest.approx(sinks, rel=2e-3)
    assert np.abs(position[:, :2]).max() < 1e-3  # nothing pushes it aside


# Unconverged iterations leave errors that depend on the order of contacts. They must not add up over the steps, as they
# did when the points of a manifold had the same order in each: a tower of twelve leaned by 1 % to 3 % of a box, and one
# of 20 by 12 %; with four small steps one of 16 leaned by 50 %, and one of 20 fell down.
OPTIONS = {
    "50 iterations": {},
    "4 substeps": {"substeps": 4, "iterations": 20},
    "4 small steps": {"small_steps": 4},
    "8 small steps": {"small_steps": 8},
}


@pytest.mark.parametrize("seed", cases(range(3), slow=(1, 2)))
@pytest.mark.parametrize("name", OPTIONS)
def test_towers_do_not_lean(name, seed):
    random = np.random.default_rng(seed)
    size, mass = (*random.uniform(0.5, 1.2, 2), random.uniform(0.3, 0.6)), random.uniform(0.5, 20)
    model = tower(12, size, mass, random.uniform(0.4, 0.9), seed)
    # Of 15 towers the worst leans by 0.0014 with hard rows. In small steps soft corners give way to those not upright.
    assert drift(model, 8.0, **OPTIONS[name]).max() < (0.01 if "small" in name else 0.003)


@pytest.mark.parametrize("name", ["50 iterations", "4 small steps"])
def test_a_tower_of_twenty_stands(name):
    assert drift(tower(20), 10.0, **OPTIONS[name]).max() < 0.02


@pytest.mark.parametrize("name", ["50 iterations", "3 small steps"])
def test_a_pyramid_stands_across_its_plane_like_a_wall(name):
    # Box3D and Rapier, with four small steps, let it creep by 1 % to 2 % of a box in this time.
    options = OPTIONS.get(name, {"small_steps": 3})
    along, across = drift(pyramid(16, (0.8, 0.6, 0.7)), 5.0, **options)
    assert along < 0.03
    assert across < 0.02


@pytest.mark.slow
@pytest.mark.parametrize(("rows", "size", "dt", "sinking", "creep"), [
    (4, (1, 1, 1), STEP, 2e-3, 2e-3), (30, (1, 1, 1), STEP, 64e-3, 39e-3), (24, (0.4, 0.4, 0.3), 0.02, 77e-3, 20e-3),
])  # fmt: skip
def test_a_pyramid_in_small_steps_sinks_half_as_far_as_those_of_other_engines(rows, size, dt, sinking, creep):
    # With such steps the top of Box3D's pyramids of 30 and 24 rows sinks by 64 and 77 mm, and boxes creep in the plane
    # by 28 to 39 and 20 mm. Across the plane they are thin walls, which swayed by 0.13 m before points took turns.
    model = pyramid(rows, size, friction=0.6 if size[0] == 1 else 0.49)
    solver = rigid.solver("impulse", model, dt, small_steps=4)
    solver.step(200)
    moved = solver.state().position - model.initial_state().position
    assert np.abs(moved[:, 0]).max() < creep
    assert 0 < -moved[-1, 2] < 0.5 * sinking
    assert np.abs(moved[:, 1]).max() < 0.02
