"""Ropes over bodies that move: wheels, pulleys and crates bear them, and the direct solve knows it."""

import warnings

import numpy as np
import pytest
from marks import slow
from ropes import GRAVITY, HANG, ROPE, atwood, heights_after

import pbd
import rigid
from pbd import build

RADIUS, INERTIA = 0.1, 0.005  # of the wheel [m, kg m²]


@pytest.mark.parametrize(
    ("weights", "share", "segments", "friction", "substeps"),
    [
        slow((3, 2), 0.02, 50, 0.0, 1),
        slow((3, 2), 0.02, 50, 1.0, 8),
        slow((10, 1), 0.3, 150, 1.0, 1),
        slow((7, 6), 0.05, 120, 0.8, 2),
        slow((5, 2), 1.0, 70, 0.0, 8),
    ],
)
def test_atwoods_machine_over_a_wheel(weights, share, segments, friction, substeps):
    # x = (m1 - m2)/2λ (cosh(√(2 λ g/M) t) - 1), with λ the rope's mass by its length, as over a bar. If the wheel turns
    # with the rope, M has I/R² as well. A smooth wheel stands still.
    rope_mass = share * sum(weights)
    solver = atwood(weights, rope_mass, segments, friction=friction, on="wheel", substeps=substeps)
    moved = heights_after(solver, 18)
    outside = RADIUS + ROPE
    density, total = rope_mass / (np.pi * outside + 2 * HANG), sum(weights) + rope_mass
    if friction:
        total += INERTIA / outside**2
    rate = np.sqrt(2 * density * GRAVITY / total)
    fall = (weights[0] - weights[1]) / (2 * density) * (np.cosh(rate * solver.time) - 1)
    np.testing.assert_allclose(moved, [-fall, fall], rtol=0.03)
    turned = 2 * np.arctan2(solver.state().rotation[2, 2], solver.state().rotation[2, 0])
    assert abs(turned) == pytest.approx(fall / outside if friction else 0.0, abs=0.03 * fall / outside)


def load_on(solver, body):
    """Contact force on a body, the median of ten steps (3,) [N].

    In a substep in which parts change their length it is another one, see docs/limits.md.
    """
    found = []
    for _ in range(10):
        solver.step()
        contacts = solver.contact_forces()
        found.append(contacts.forces[contacts.bodies[:, 1] == body].sum(axis=0))
    return np.median(found, axis=0)


@pytest.mark.slow
def test_a_wheel_bears_equal_weights():
    solver = atwood((4, 4), 0.2, 40, friction=0.5, on="wheel")
    sagitta = ((np.pi * (RADIUS + ROPE) + 2 * HANG) / 40) ** 2 / (8 * (RADIUS + ROPE))
    assert np.abs(heights_after(solver, 60)).max() < sagitta
    np.testing.assert_allclose(load_on(solver, 2), [0, 0, 8.2 * GRAVITY], atol=0.01 * 8.2 * GRAVITY)


def block_and_tackle(pulley, weight, friction, **options):
    """A solver of a rope from the ceiling, under a free pulley, over a smooth bar, to a weight [kg]."""
    particles, model = pbd.Particles(), rigid.Model()
    outside, angles = RADIUS + ROPE, np.linspace(np.pi, 2 * np.pi, 300)
    under = np.stack([outside * np.cos(angles), 0 * angles, outside * np.sin(angles) - HANG], axis=1)
    over = np.stack([2 * outside - outside * np.cos(angles), 0 * angles, -outside * np.sin(angles)], axis=1)
    over = over * (-1, 1, 1) + (4 * outside, 0, 0)
    points = [(-outside, 0, 0), *under, *over, (3 * outside, 0, -HANG)]
    rope = build.rope(particles, points, 80, mass=0.01 * (pulley + weight), radius=ROPE, pins=("start",))
    inertia = pulley * np.array([0.006, 0.005, 0.006])
    body = model.add_body(mass=pulley, inertia=inertia, position=(0, 0, -HANG))
    ends = (0, -0.2, -HANG), (0, 0.2, -HANG)
    model.add_shape(body, rigid.Cylinder(RADIUS, start=ends[0], end=ends[1]), friction=friction)
    ends = (2 * outside, -0.2, 0), (2 * outside, 0.2, 0)
    model.add_shape(rigid.GROUND, rigid.Cylinder(RADIUS, start=ends[0], end=ends[1]), friction=0.0)
    hung = model.add_box((0.05, 0.05, 0.1), mass=weight, position=(3 * outside, 0, -HANG - 0.05))
    attachments = [(rope.particles[-1:], hung)]
    return rigid.solver("verlet", model, particles=particles, attachments=attachments, dt=1 / 60, **options)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("pulley", "weight", "friction", "substeps"),
    [(4.0, 3.0, 0.0, 1), (4.0, 3.0, 0.6, 4), (2.0, 2.0, 0.6, 1), (8.0, 3.0, 0.0, 4)],
)
def test_a_block_and_tackle(pulley, weight, friction, substeps):
    # The pulley rises by y as the weight falls by 2 y: (m + 4 M) y'' = (2 M - m) g, and a rough pulley turns by y/R.
    solver = block_and_tackle(pulley, weight, friction, substeps=substeps)
    before = solver.state().position[:, 2]
    solver.step(15)
    inertia = 0.005 * pulley / (RADIUS + ROPE) ** 2 if friction else 0.0
    rise = (2 * weight - pulley) * GRAVITY / (pulley + 4 * weight + inertia) * solver.time**2 / 2
    moved = solver.state().position[:, 2] - before
    np.testing.assert_allclose(moved, [rise, -2 * rise], rtol=0.03)


def rope_over_a_crate(mass, weights, friction, segments=60, corner=0.015, **options):
    """A solver of a crate on a floor, and a rope over its top with weights on both sides."""
    particles, model = pbd.Particles(), rigid.Model()
    arc = np.linspace(0, np.pi / 2, 40)
    bend = corner * np.stack([np.sin(arc), 0 * arc, np.cos(arc)], axis=1) + (0.2, 0, 1.0)
    side = np.concatenate([bend, [(0.2 + corner, 0, 0.5)]])
    rope = build.rope(particles, [*(side * (-1, 1, 1))[::-1], *side], segments, mass=0.1, radius=corner)
    crate = model.add_body(mass=mass, inertia=mass / 12 * np.array([1.16, 1.16, 0.32]), position=(0, 0, 0.5))
    model.add_shape(crate, rigid.Box((0.4, 0.4, 1.0), centre=(0, 0, 0.5)), friction=friction)
    model.add_shape(rigid.GROUND, rigid.Plane(), friction=1.0)
    hung = [
        model.add_box((0.02, 0.02, 0.1), mass=weight, position=(sign * (0.2 + corner), 0, 0.43))
        for weight, sign in zip(weights, (-1, 1))
    ]
    attachments = [(rope.particles[:1], hung[0]), (rope.particles[-1:], hung[1])]
    return rigid.solver("verlet", model, particles=particles, attachments=attachments, dt=1 / 60, **options)


@pytest.mark.slow
@pytest.mark.parametrize(("mass", "weights", "friction"), [(5.0, (2, 2), 0.5), (1.0, (5, 5), 0.5), (5.0, (3, 2), 0.5)])
def test_a_crate_bears_a_rope_with_weights(mass, weights, friction):
    # Friction of both edges holds a ratio up to exp(μπ) = 4.8. The floor bears all.
    solver = rope_over_a_crate(mass, weights, friction, substeps=4)
    before = solver.state().position
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        solver.step(30)
    np.testing.assert_allclose(solver.state().position, before, atol=1e-3)
    weight = (mass + sum(weights) + 0.1) * GRAVITY
    np.testing.assert_allclose(load_on(solver, rigid.GROUND), [0, 0, weight], atol=0.01 * weight)


@pytest.mark.slow
def test_worlds_are_as_alone():
    """Two worlds of one description, of which one is pushed, move as one of them alone."""
    both = atwood((3, 2), 0.1, 30, friction=0.4, on="wheel", worlds=2)
    alone = atwood((3, 2), 0.1, 30, friction=0.4, on="wheel")
    for solver in (both, alone):
        solver.step(6)
    for state in both.state().position:
        np.testing.assert_allclose(state, alone.state().position, rtol=0, atol=1e-12)


@pytest.mark.slow
def test_too_many_loaded_contacts_are_said():
    # A rope of 150 sticks has some 70 particles on the crate.
    solver = rope_over_a_crate(5.0, (3, 2), 0.0, segments=200)
    with pytest.warns(
        UserWarning, match=r"particle \d+ of the direct solve bears a load .*: expected at most 64 contacts"
    ):
        solver.step(10)
