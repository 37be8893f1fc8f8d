"""Contacts of the solvers "impulse" and "penalty": friction, momentum, weights in a stack, a full contact buffer.

All shapes are boxes, because kernels are compiled for the kinds of shape that can touch.
"""

import math

import numpy as np
import pytest
from described import ASIDE, model_of

import rigid
from rigid.rotation import from_axis_angle

g = 9.81
STEPS = {"impulse": 0.01, "penalty": 0.003}  # [s]
SOLVERS = list(STEPS)


def solver_of(name, model, dt=None, **options):
    """A solver with its step of STEPS, or another. Args: options: of "impulse"; "penalty" has its defaults."""
    return rigid.solver(name, model, dt=dt or STEPS[name], **(options if name == "impulse" else {}))


def run(solver, seconds):
    solver.step(round(seconds / solver.dt))


def slab(degrees, heading):
    """A slab on a slope, with a friction of 0.5. Gravity is tilted instead of the ground. Args: heading: [rad]."""
    angle = math.radians(degrees)
    downhill = math.sin(angle) * np.array([math.cos(heading), math.sin(heading), 0])
    model = model_of(gravity=g * (downhill - (0, 0, math.cos(angle))), friction=0.5)
    model.add_box((0.5, 0.3, 0.05), mass=2.0, position=(0, 0, 0.025), friction=0.5, name="slab")
    return model


@pytest.mark.parametrize(
    ("name", "degrees"),
    [*(("impulse", each) for each in range(0, 360, 30)), *(("penalty", each) for each in (0, 45, 100, 290))],
)
def test_slab_slides_down_a_slope_in_any_direction(name, degrees):
    # Speed grows by n h a in n steps, a = g (sin 30° - μ cos 30°) = 0.657145 m/s², in the direction of slip: friction
    # is a cone, not a pyramid. "impulse" has this from the start, "penalty" after its springs have come to rest.
    heading = math.radians(degrees)
    solver = solver_of(name, slab(30, heading), iterations=2000, tolerance=1e-15)
    if name == "penalty":
        run(solver, 2.1)
    start, done = solver.state().velocity[ASIDE], 0
    along = np.array([math.cos(heading), math.sin(heading), 0])
    acceleration = g * (0.5 - 0.5 * math.sqrt(3) / 2) * along
    for n in (1, 2, 10, 30):
        solver.step(n - done)
        done = n
        gained = solver.state().velocity[ASIDE] - start
        assert gained == pytest.approx(n * solver.dt * acceleration, abs=1e-14 if name == "impulse" else 1e-9)
    # The force of the ground: N along z, μ N against the slip.
    found = solver.contact_forces()
    normal = 2.0 * g * math.sqrt(3) / 2
    expected = normal * np.array([0, 0, 1.0]) - 0.5 * normal * along
    assert found.forces.sum(axis=0) == pytest.approx(expected, abs=1e-8 if name == "impulse" else 1e-6)
    assert (np.linalg.norm(found.forces[:, :2], axis=1) < 0.5 * found.forces[:, 2] + 1e-6).all()


@pytest.mark.parametrize(("name", "degrees", "way"), [("impulse", 26, 1e-6), ("penalty", 25, 0.01)])
def test_slab_rests_on_a_slope_without_creeping(name, degrees, way):
    # tan 26° = 0.488 < μ = 0.5. Springs of "penalty" yield by millimetres. Then the slab stays, to 1e-9 m in 6 s.
    solver = solver_of(name, slab(degrees, 0.3))
    run(solver, 4.0)
    rests = solver.state().position[ASIDE]
    assert np.linalg.norm(rests[:2]) < way
    run(solver, 6.0)
    assert np.linalg.norm(solver.state().position[ASIDE] - rests) < 1e-9


@pytest.mark.parametrize(("name", "height", "error"), [("impulse", 0.025, 2.0 * 0.01 / 2), ("penalty", 0.023, 0.008)])
def test_sliding_box_stops(name, height, error):
    # It stops after v²/2μg, and stays. The error of "impulse" is v h/2. That of "penalty" is the stretch of its
    # springs: about μ g/α* times A m of a corner.
    model = model_of(friction=0.5)
    model.add_box((0.4, 0.4, 0.05), mass=1.0, position=(0, 0, height), velocity=(1.2, 1.6, 0), friction=0.5)
    solver = solver_of(name, model, iterations=500, tolerance=1e-12)
    run(solver, 2.1)
    way = np.linalg.norm(solver.state().position[ASIDE, :2])
    assert way == pytest.approx(2.0**2 / (2 * 0.5 * g), abs=error)
    assert np.abs(solver.state().velocity[ASIDE]).max() < 1e-6
    if name == "impulse":  # Σ h (v - n h μ g) while positive
        speeds = np.maximum(2.0 - np.arange(1, 61) * 0.01 * 0.5 * g, 0)
        assert way == pytest.approx(0.01 * speeds.sum(), abs=1e-7)
    run(solver, 1.0)
    assert np.linalg.norm(solver.state().position[ASIDE, :2]) == pytest.approx(way, abs=1e-9)


@pytest.mark.parametrize("friction", [0.0, 0.8])
@pytest.mark.parametrize("name", SOLVERS)
def test_contacts_keep_momentum_to_round_off(name, friction):
    # Two free cubes of unequal masses collide obliquely: opposite impulses at one point. A cube has equal moments of
    # inertia, so L is constant while it rotates. "impulse" corrects no position here. Poses of "penalty" are half a
    # step ahead, which does not change L: h Σ v × m v = 0.
    model = model_of(gravity=(0, 0, 0), ground=False)
    model.add_box((0.2, 0.2, 0.2), mass=0.5, velocity=(2, 0.3, 0), angular_velocity=(1, 5, -3), friction=friction)
    model.add_box((0.3, 0.3, 0.3), mass=4.0, position=(0.5, 0.1, 0.05), rotation=from_axis_angle((1, 2, 3), 0.7),
                  friction=friction, angular_velocity=(0, 0, 1.0))  # fmt: skip
    solver = solver_of(name, model, error_reduction=0.0)
    start = solver.state()
    energies, contacts = [solver.energy().kinetic], 0
    while solver.time < 0.4:
        solver.step()
        energies.append(solver.energy().kinetic)
        contacts += len(solver.contact_forces().forces)
    end = solver.state()
    assert contacts
    assert energies[-1] < 0.95 * energies[0]
    if name == "impulse":  # springs of "penalty" store energy during the impact
        assert np.diff(energies).max() < 1e-12
    for momentum in (rigid.linear_momentum, rigid.angular_momentum):
        assert np.abs(momentum(model, end) - momentum(model, start)).max() < 1e-13


@pytest.mark.parametrize(("name", "dt", "seconds", "slow"), [("impulse", 0.01, 2, 1e-4), ("penalty", 0.0015, 6, 1e-3)])
def test_forces_in_a_stack_are_the_weights_above(name, dt, seconds, slow):
    # Box i of five carries (5 - i) m g, within 0.1 %, and no oscillation grows.
    model = model_of(friction=0.5)
    boxes = [model.add_box((0.2, 0.2, 0.2), mass=2.0, position=(0, 0, 0.1 + 0.2 * k), friction=0.5) for k in range(5)]
    solver = solver_of(name, model, dt, iterations=100)
    run(solver, seconds)
    found = solver.contact_forces()
    for k, box in enumerate(boxes):
        below = boxes[k - 1] if k else -1
        here = np.array([(a == box and b == below, a == below and b == box) for a, b in found.bodies], float)
        force = sum(f * (up - down) for f, (up, down) in zip(found.forces, here))
        assert force == pytest.approx((0, 0, (5 - k) * 2.0 * g), rel=1e-3, abs=1e-3 * 2 * g)
        assert here.sum() == 4
    assert np.abs(solver.state().velocity).max() < slow
    if name == "impulse":
        assert np.abs(solver.state().position[ASIDE:, 2] - 0.1 - 0.2 * np.arange(5)).max() < 1e-4


@pytest.mark.parametrize("name", SOLVERS)
def test_full_contact_buffer_raises(name):
    model = model_of()
    model.add_box((0.4, 0.2, 0.2), mass=3.0, position=(0, 0, 0.09))
    solver = rigid.solver(name, model, dt=STEPS[name], contact_capacity=3)
    with pytest.raises(RuntimeError, match=r"contact buffer full \(4 of 3\): increase contact_capacity"):
        solver.step()
