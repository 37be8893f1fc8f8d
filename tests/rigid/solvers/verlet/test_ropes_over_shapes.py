"""Ropes over shapes of the ground and of bodies on paths: their contacts are a part of the direct solve."""

import warnings

import numpy as np
import pytest
from ropes import GRAVITY, HANG, ROPE, atwood, capsule, cylinder, heights_after

import pbd
import rigid
from pbd import build

# Its kernels compile longest of all. test_loaded_contacts.py and test_direct_contacts.py have fast cases.
pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("weights", "share", "segments", "radius", "shape", "substeps"),
    [
        ((3, 2), 0.01, 50, 0.1, cylinder, 1),
        ((3, 2), 1.0, 200, 0.1, cylinder, 8),
        ((10, 1), 0.3, 90, 0.1, capsule, 1),
        ((7, 6), 0.05, 140, 0.25, cylinder, 1),
        ((3, 2), 0.1, 60, 0.07, capsule, 8),
    ],
)
def test_atwoods_machine_over_a_fixed_shape(weights, share, segments, radius, shape, substeps):
    # x = (m1 - m2)/2λ (cosh(√(2 λ g/M) t) - 1), with λ the rope's mass by its length and M all masses, see
    # tests/pbd/direct/test_direct_contacts.py.
    rope_mass = share * sum(weights)
    solver = atwood(weights, rope_mass, segments, radius, shape, substeps=substeps)
    moved = heights_after(solver, 24)
    density, total = rope_mass / (np.pi * (radius + ROPE) + 2 * HANG), sum(weights) + rope_mass
    rate = np.sqrt(2 * density * GRAVITY / total)
    fall = (weights[0] - weights[1]) / (2 * density) * (np.cosh(rate * solver.time) - 1)
    np.testing.assert_allclose(moved, [-fall, fall], rtol=0.03)


@pytest.mark.parametrize(("weights", "share"), [((3, 2), 1.0), ((5, 3), 0.1)])
def test_a_rope_of_few_segments_bumps_by_less_than_the_sagitta_of_a_stick(weights, share):
    # A polygon on a circle is longer or shorter by up to the sagitta of a side, l²/8R.
    rope_mass, segments, outside = share * sum(weights), 20, 0.1 + ROPE
    length = np.pi * outside + 2 * HANG
    solver = atwood(weights, rope_mass, segments)
    moved = heights_after(solver, 27)
    density = rope_mass / length
    rate = np.sqrt(2 * density * GRAVITY / (sum(weights) + rope_mass))
    fall = (weights[0] - weights[1]) / (2 * density) * (np.cosh(rate * solver.time) - 1)
    np.testing.assert_allclose(moved, [-fall, fall], atol=(length / segments) ** 2 / (8 * outside))
    np.testing.assert_allclose(moved, [-fall, fall], rtol=0.05)


@pytest.mark.parametrize(("mass", "rope_mass", "segments"), [(2, 0.1, 50), (1, 2.0, 20)])
def test_equal_weights_stay_and_the_ground_bears_all(mass, rope_mass, segments):
    solver = atwood((mass, mass), rope_mass, segments)
    sagitta = ((np.pi * (0.1 + ROPE) + 2 * HANG) / segments) ** 2 / (8 * (0.1 + ROPE))
    assert np.abs(heights_after(solver, 60)).max() < sagitta
    contacts = solver.contact_forces()
    on_ground = contacts.forces[contacts.bodies[:, 1] == rigid.GROUND].sum(axis=0)
    weight = (2 * mass + rope_mass) * GRAVITY
    np.testing.assert_allclose(on_ground, [0, 0, weight], atol=0.005 * weight)


@pytest.mark.parametrize("substeps", [1, 8])
def test_atwoods_machine_over_the_edges_of_a_box(substeps):
    # Edges are as round as the rope, whose mass is 1 % of all. Boxes hang 2 cm lower: the rope does not touch them.
    particles, model = pbd.Particles(), rigid.Model()
    radius, arc = 0.015, np.linspace(0, np.pi / 2, 40)
    corner = radius * np.stack([np.sin(arc), 0 * arc, np.cos(arc)], axis=1) + (0.2, 0, 0.1)
    side = np.concatenate([corner, [(0.2 + radius, 0, -HANG)]])
    rope = build.rope(particles, [*(side * (-1, 1, 1))[::-1], *side], 150, mass=0.05, radius=radius)
    model.add_shape(rigid.GROUND, rigid.Box((0.4, 0.6, 0.2)), friction=0.0)
    ends = [
        model.add_box((0.1, 0.1, 0.1), mass=mass, position=(side * (0.2 + radius), 0, -HANG - 0.07))
        for mass, side in ((3.0, -1), (2.0, 1))
    ]
    attachments = [(rope.particles[:1], ends[0]), (rope.particles[-1:], ends[1])]
    options = {"dt": 1 / 60, "substeps": substeps}
    solver = rigid.solver("verlet", model, particles=particles, attachments=attachments, **options)
    moved = heights_after(solver, 18)
    fall = GRAVITY / 5.05 * solver.time**2 / 2
    np.testing.assert_allclose(moved, [-fall, fall], rtol=0.01)


def test_a_shape_of_the_ground_is_as_a_collider():
    moved = [heights_after(atwood((3, 2), 0.2, 40, friction=0.05, on=on), 24) for on in ("ground", "collider")]
    np.testing.assert_allclose(moved[0], moved[1], atol=1e-9)


@pytest.mark.parametrize("friction", [0.1, 0.4])
def test_capstan(friction):
    # Friction holds weights with a ratio up to exp(μπ). Above, a light rope has a = g (m1 - m2 e)/(m1 + m2 e).
    limit = np.exp(friction * np.pi)
    np.testing.assert_allclose(heights_after(atwood((0.93 * limit, 1), 0.02, 60, friction=friction), 60), 0, atol=1e-3)
    ratio = 1.5 * limit
    slips = atwood((ratio, 1), 0.02, 60, friction=friction)
    moved = heights_after(slips, 24)
    fall = GRAVITY * (ratio - limit) / (ratio + limit) * slips.time**2 / 2
    np.testing.assert_allclose(moved, [-fall, fall], rtol=0.06)


@pytest.mark.parametrize("substeps", [1, 4])
def test_a_rough_wheel_on_a_path_carries_the_rope(substeps):
    # The wheel turns by αt²/2. Nothing slips while T1/T2 = (g + a)/(g - a) < exp(μπ).
    def path(time):
        half = 0.5 * (0.5 * 5.0 * time**2)
        return (0, 0, 0), (np.cos(half), 0, np.sin(half), 0)

    solver = atwood((2, 2), 0.1, 80, friction=0.6, on="path", path=path, substeps=substeps)
    moved = heights_after(solver, 36)
    expected = (0.1 + ROPE) * 0.5 * 5.0 * solver.time**2
    np.testing.assert_allclose(moved, [expected, -expected], rtol=0.02)


@pytest.mark.parametrize("friction", [0.0, 0.5])
def test_a_shape_on_a_path_lifts_the_rope(friction):
    def path(time):
        return (0, 0, 0.5 * 3.0 * time**2), (1, 0, 0, 0)

    solver = atwood((3, 3), 2.0, 30, friction=friction, on="path", path=path)
    moved = heights_after(solver, 36)
    np.testing.assert_allclose(moved, 0.5 * 3.0 * solver.time**2, rtol=0.02)
    contacts = solver.contact_forces()
    on_wheel = contacts.forces[contacts.bodies[:, 1] == 2].sum(axis=0)
    np.testing.assert_allclose(on_wheel, [0, 0, 8 * (GRAVITY + 3.0)], atol=1.0)


@pytest.mark.parametrize("friction", [0.0, 1.0])
def test_iterations_hold_a_rope_over_a_wheel_that_moves(friction):
    # What the warning of too many contacts expects.
    # x'' = (m1 - m2) g/(m1 + m2 + I/R²) for a light rope, without I if it is smooth.
    # Iterations stretch the rope by less than 1 %.
    options = {"solve": "iterative", "direction": "current", "substeps": 20, "iterations": 100}
    solver = atwood((3, 2), 0.1, 40, friction=friction, on="wheel", **options)
    before = solver.state().position[:2, 2]
    solver.step(18)
    fall = GRAVITY / (5.1 + (friction > 0) * 0.005 / (0.1 + ROPE) ** 2) * solver.time**2 / 2
    moved = solver.state().position[:2, 2] - before
    assert (moved[1] - moved[0]) / 2 == pytest.approx(fall, rel=0.04)
    np.testing.assert_allclose(moved, [-fall, fall], atol=0.01)


def test_a_box_swings_on_its_rope_without_a_gain_of_energy():
    # The attached particle is a sphere half inside the box, and does not touch it.
    particles, model = pbd.Particles(), rigid.Model()
    box = model.add_box((0.2, 0.2, 0.2), mass=2.0, position=(0, 0, 1))
    rope = build.rope(particles, [(0.5, 0, 1.1), (0, 0, 1.1)], 20, mass=0.05, radius=0.01, pins=("start",))
    solver = rigid.solver("verlet", model, particles=particles, attachments=[(rope.particles[-1:], box)], dt=1 / 60)
    start = solver.energy().total
    solver.step(10)
    assert -2 - rope.particles[-1] not in solver.contact_forces().bodies[:, 0]
    assert solver.energy().total - start < 0.01 * 2.0 * GRAVITY * 0.5


def test_a_rope_on_its_crate_is_not_warned_of():
    # An end that is attached is inside its crate.
    particles, model = pbd.Particles(), rigid.Model()
    crate = model.add_box((0.2, 0.2, 0.2), mass=2.0, position=(0, 0, 0.1))
    model.add_shape(rigid.GROUND, rigid.Plane())
    rope = build.rope(particles, [(0, 0, 1.2), (0, 0, 0.2)], 20, mass=0.1, radius=0.01, pins=("start",))
    solver = rigid.solver("verlet", model, particles=particles, attachments=[(rope.particles[-1:], crate)], dt=1 / 60)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        solver.step(30)
