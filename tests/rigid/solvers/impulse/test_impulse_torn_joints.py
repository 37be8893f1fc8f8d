"""Joints that start open by 0.3 m and 40°, at rest and without gravity: how they close, and what energy that costs.

Source: [1] of docs/solvers/sources.md, whose split impulses close joints without a change of energy.
"""

import math

import numpy as np
import pytest
from described import X, Y

import rigid
from rigid.constraints.joints.gaps import joint_gaps, joint_turns
from rigid.rotation import exponential, multiply, rotate

H = 0.01  # [s]
APART, TURNED = 0.3, math.radians(40)  # [m, rad]
MASSES = 2.0, 3.0  # [kg]
PIVOT = np.array((0.3, 0, 0))


def two_bodies(kind):
    """Two boxes with a ball or a hinge about Y between them, without gravity."""
    model = rigid.Model(gravity=(0, 0, 0))
    a, b = (model.add_box((0.5, 0.1, 0.2), mass=mass, position=(0.6 * k, 0, 0)) for k, mass in enumerate(MASSES))
    model.add_ball(a, b, PIVOT) if kind == "ball" else model.add_hinge(a, b, PIVOT, Y)
    return model


def tear(model, solver, shift, turn=(0.0, 0.0, 0.0), pivot=PIVOT):
    """Move and rotate the last body at rest. Args: shift (3,) [m]; turn (3,): a rotation vector about `pivot`."""
    state, q = model.initial_state(), exponential(turn)
    state.position[-1] = pivot + np.asarray(shift) + rotate(q, state.position[-1] - pivot)
    state.rotation[-1] = multiply(q, state.rotation[-1])
    solver.set_state(state)


def solve(model, solver="impulse", **options):
    return rigid.solver(solver, model, dt=H, contacts=False, **options)


@pytest.mark.parametrize("kind", ["ball", "hinge"])
def test_torn_joint_closes_without_kinetic_energy(kind):
    # V = 0 fulfils J V = 0, so all impulses are zero and V stays zero in every bit. Pseudo-velocities close the joint:
    # each step is a step of Newton's method for G = 0, whose error is squared from step to step. So fifteen steps leave
    # round-off. Tilted by 40° about an axis across the hinge; apart in a direction without symmetry.
    model = two_bodies(kind)
    solver = solve(model)
    tear(model, solver, APART * np.array((2, -1, 2)) / 3, TURNED * np.array((0.6, 0, 0.8)))
    errors = []
    for _ in range(15):
        state = solver.state()
        errors.append(joint_gaps(model, state)[0] + joint_turns(model, state)[0])
        assert solver.energy().kinetic == 0.0
        solver.step()
    assert errors[0] == pytest.approx(APART + (TURNED if kind == "hinge" else 0.0))
    assert np.diff(errors[:5]).max() < 0
    assert errors[-1] < 1e-12


def test_energy_of_a_ball_that_closes_without_split_impulses():
    # b = β G/h with β = 0.2 and G = 0.3 m along the line of the centres: one step gives the bodies the relative
    # velocity -β G/h, and the energy μ (β G/h)²/2 with the reduced mass μ = m1 m2/(m1 + m2). It comes from nothing.
    model = two_bodies("ball")
    solver = solve(model, split_impulse=False)
    tear(model, solver, APART * np.array(X))
    solver.step()
    reduced = MASSES[0] * MASSES[1] / sum(MASSES)
    assert solver.energy().kinetic == pytest.approx(0.5 * reduced * (0.2 * APART / H) ** 2, rel=1e-9)


def test_energy_of_a_hinge_that_closes_without_split_impulses():
    # The hinge is at the centre of mass, so its point stays closed. The row n_i1·n_j0 has G = sin φ and the derivative
    # ω cos φ, so b = β G/h gives ω = β tan φ/h and the energy I ω²/2.
    inertia = 0.7
    model = rigid.Model(gravity=(0, 0, 0))
    body = model.add_body(mass=1.0, inertia=3 * (inertia,))
    model.add_hinge(rigid.GROUND, body, (0, 0, 0), Y)
    solver = solve(model, split_impulse=False)
    tear(model, solver, (0, 0, 0), TURNED * np.array(X), pivot=np.zeros(3))
    solver.step()
    expected = 0.5 * inertia * (0.2 * math.tan(TURNED) / H) ** 2
    assert solver.energy().kinetic == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("kind", ["ball", "hinge"])
def test_coordinates_close_a_torn_joint_at_once(kind):
    # Joints in trees have no error that a state could contain: the poses follow from the coordinates.
    model = two_bodies(kind)
    solver = solve(model, "articulated")
    tear(model, solver, APART * np.array((2, -1, 2)) / 3, TURNED * np.array((0.6, 0, 0.8)))
    solver.step()
    assert joint_gaps(model, solver.state())[0] < 1e-12
    assert joint_turns(model, solver.state())[0] < 1e-12
    assert solver.energy().kinetic < 1e-24
