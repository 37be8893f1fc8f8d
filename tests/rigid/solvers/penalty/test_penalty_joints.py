"""Joints of the penalty solver sag and oscillate like springs, and close with stiffness."""

import math
import re

import numpy as np
import pytest
from described import ZERO, Y, all_joints_in_a_row, g
from references import chain_angles, rod_chain

import pbd
import rigid
from rigid.constraints.joints.gaps import joint_gaps


def solve(model, dt=0.003, **options):
    return rigid.solver("penalty", model, dt=dt, contacts=False, **options)


def hanging(joint="ball", mass=2.0):
    """A rod that hangs on the ground by its upper end."""
    model = rigid.Model(gravity=(0, 0, -g))
    rod = model.add_box((0.05, 0.05, 0.5), mass=mass, position=(0, 0, -0.25))
    if joint == "ball":
        model.add_ball(rigid.GROUND, rod, ZERO, name="hook")
    else:
        model.add_hinge(rigid.GROUND, rod, ZERO, Y, name="hook")
    return model


# Sag ------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("joint", ["ball", "hinge"])
@pytest.mark.parametrize("stiffness", [5000.0, 20000.0])
@pytest.mark.parametrize("mass", [0.01, 2.0])
def test_hanging_joint_sags_by_g_over_stiffness(joint, stiffness, mass):
    # At rest A⁻¹ α* G = m g, and along the rod A = 1/m: G = g/α* for any mass.
    solver = solve(hanging(joint, mass), stiffness=stiffness)
    solver.step(1500)
    sag = -0.25 - solver.state().position[0, 2]
    assert sag == pytest.approx(g / stiffness, rel=1e-6)
    assert joint_gaps(solver.model, solver.state()).max() == pytest.approx(sag, rel=1e-6)
    assert solver.statistics().residual == pytest.approx(sag, rel=1e-6)


@pytest.mark.parametrize(("dt", "substeps", "shorter"), [(0.003, 1, 1), (0.006, 8, 4), (0.004, 1, 1)])
def test_gains_of_none_keep_their_margin_at_shorter_steps(dt, substeps, shorter):
    # At h = 3 ms/n the gains are 5000 n² and 25 n, 10000 n² and 10 n, with the same h² α* and h β*; a joint opens by
    # g/α*. Longer steps have the source's gains.
    gains = dict.fromkeys(("stiffness", "damping", "angular_stiffness", "angular_damping"))
    solver = solve(hanging(), dt, substeps=substeps, **gains)
    given = solver.options
    found = given.stiffness, given.damping, given.angular_stiffness, given.angular_damping
    assert found == pytest.approx((5000 * shorter**2, 25 * shorter, 10000 * shorter**2, 10 * shorter))
    solver.step(1500)
    assert -0.25 - solver.state().position[0, 2] == pytest.approx(g / (5000 * shorter**2), rel=1e-6)


def test_hanging_joint_oscillates_like_semi_implicit_euler():
    # v' = v - h (g + α* z + β* v), z' = z + h v', to round-off.
    h, z, v = 0.003, 0.0, 0.0
    solver = solve(hanging(), h)
    for _ in range(200):
        v -= h * (g + 5000.0 * z + 25.0 * v)
        z += h * v
        solver.step()
        assert solver.state().position[0, 2] + 0.25 == pytest.approx(z, abs=1e-13)


@pytest.mark.parametrize("tilt", [0.0, 0.6, 1.2])
def test_welded_beam_sags_equally_in_all_directions(tilt):
    # With all rows of a joint together a beam that would fall with g opens its joint by g/α*, and does not rotate, if
    # α* is the same for rotation: α* A⁻¹ G = λ, and A λ is the acceleration by the load alone at the joint, (g, 0).
    model = rigid.Model(gravity=(0, 0, -g))
    along = np.array([math.cos(tilt), 0, math.sin(tilt)])
    beam = model.add_capsule(0.03, start=ZERO, end=0.8 * along, mass=0.5)
    model.add_shape(beam, rigid.Sphere(0.1, centre=0.8 * along), mass=3.0)
    model.add_fixed(rigid.GROUND, beam, ZERO)
    solver = solve(model, angular_stiffness=5000.0, angular_damping=25.0)
    start = solver.state().position
    solver.step(1500)
    assert solver.state().position - start == pytest.approx(np.array([[0, 0, -g / 5000]]), abs=2e-6)


# The bound on the step ------------------------------------------------------------------------------------------------


def longest(refusal):
    """The longest stable step that an error message names [s]."""
    return float(re.search(r"below ([\d.e-]+) s", refusal)[1])


def test_step_beyond_the_bound_raises():
    # h² α* + 2 h β* = 4 at h = (sqrt(β*² + 4 α*) - β*)/α*: 23.7 ms by default.
    bound = (math.sqrt(25.0**2 + 4 * 5000.0) - 25.0) / 5000.0
    with pytest.raises(ValueError, match=r"0\.03 s is unstable.*joint 'hook'.*= 6: expected below 4") as caught:
        solve(hanging(), 0.03)
    assert longest(str(caught.value)) == pytest.approx(bound, rel=2e-3)
    solver = solve(hanging(), 0.99 * bound)
    for name, value in (("dt", 1.01 * bound), ("substeps", 1)):
        if name == "substeps":
            solver.substeps, solver.dt = 2, 1.5 * bound
        with pytest.raises(ValueError, match="is unstable"):
            setattr(solver, name, value)
    assert solver.dt == pytest.approx(1.5 * bound)
    with pytest.raises(ValueError, match="is unstable"):
        solve(hanging(), stiffness=4.0e6)


def test_runs_diverge_only_beyond_the_bound():
    # A root of the recurrence is -1 at the bound; 2 % beyond, it grows by about 1.04 a step.
    bound = (math.sqrt(25.0**2 + 4 * 5000.0) - 25.0) / 5000.0
    below, above = (solve(hanging(), part * bound, check_stability=False) for part in (0.98, 1.02))
    below.step(3000)
    assert joint_gaps(below.model, below.state()).max() == pytest.approx(g / 5000, rel=1e-6)
    with pytest.raises(pbd.Diverged):
        above.step(30000)


def test_joints_that_share_bodies_have_a_common_bound():
    # Five rods without gravity move so little that they stay in a line: the motion is linear, and the bound exact. It
    # is lower than that of one joint.
    model = rod_chain(5)
    model.gravity = np.zeros(3)
    for body, kick in zip(model.bodies, np.random.default_rng(1).normal(size=(5, 3))):
        body.velocity = 1e-9 * kick
    with pytest.raises(ValueError, match=r"the row of joint 'hinge \d'") as caught:
        solve(model, 0.05)
    step = longest(str(caught.value))
    alone = (math.sqrt(25.0**2 + 4 * 5000.0) - 25.0) / 5000.0
    assert 0.5 * alone < step < 0.9 * alone
    for part, holds in ((0.98, True), (1.02, False)):
        solver = solve(model, part * step, check_stability=False)
        solver.step(1500)
        assert (solver.statistics().residual < 1e-8) == holds
    solve(model, 0.99 * step)


def test_bound_includes_springs_of_the_model():
    # h² k/m < 4 for a spring on a mass of 2 kg: 2 sqrt(m/k) = 8.9 ms.
    model = rigid.Model(gravity=(0, 0, -g))
    model.add_spring(rigid.GROUND, model.add_sphere(0.1, mass=2.0, position=(0, 0, -1)), ZERO, stiffness=1e5)
    with pytest.raises(ValueError, match="row of spring 'spring 0'") as caught:
        solve(model, 0.01)
    assert longest(str(caught.value)) == pytest.approx(2 * math.sqrt(2.0 / 1e5), rel=2e-3)


# Convergence ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("links", [1, 5])
def test_rods_converge_to_the_reference_with_stiffness_and_step(links):
    # Angles from the horizontal after 0.5 s, by DOP853. With half the step and four times α*, h² α* = h β* = 0.5 stays.
    # The scheme's error is proportional to h, that of the joints to 1/α*, so each error is at most 0.6 of the last.
    expected, speed = chain_angles(0.5, links)
    errors = []
    for h in (0.001, 0.0005, 0.00025):
        stiffness, damping = 0.5 / h**2, 0.5 / h
        solver = solve(rod_chain(links), h, stiffness=stiffness, damping=damping, angular_stiffness=stiffness,
                       angular_damping=damping)  # fmt: skip
        solver.step(round(0.5 / h))
        errors.append(np.abs(np.cumsum(list(solver.joint_positions().values())) - expected).max())
        assert errors[-1] < h * speed
    assert errors[1] < 0.6 * errors[0]
    assert errors[2] < 0.6 * errors[1]


def test_chain_converges_to_the_reference_with_stiffness():
    # At 0.5 ms the scheme's error is about 1e-3; the rest is that of the joints, with 1/α*, 0.04 rad at first.
    expected, _ = chain_angles(0.5, 5)
    errors = []
    for stiffness in (5e3, 2e4, 8e4):
        solver = solve(rod_chain(5), 0.0005, stiffness=stiffness, damping=math.sqrt(stiffness))
        solver.step(1000)
        errors.append(np.abs(np.cumsum(list(solver.joint_positions().values())) - expected).max())
    assert errors[1] < 0.6 * errors[0]
    assert errors[2] < 0.6 * errors[1]


def test_joints_close_with_stiffness_and_keep_momentum():
    # Opposite forces keep P to round-off. In an open joint they act at points apart, so L drifts as joints open. They
    # open at first, because the bodies' velocities do not match: by v/√α*, half of it for four times α*.
    drifts, gaps = [], []
    for k in (1, 2):
        model = all_joints_in_a_row((0.3, 2.0, 1.0, 0.5, 2.0, 0.7, 3.0), 1.0, 0.2, friction=0.02)
        solver = solve(model, 0.002 / k, stiffness=5e3 * k**2, damping=50.0 * k, angular_stiffness=1e4 * k**2,
                       angular_damping=50.0 * k)  # fmt: skip
        state = solver.state()
        before, residual, drift = rigid.linear_momentum(model, state), 0.0, 0.0
        turning = rigid.angular_momentum(model, state)
        for _ in range(50):
            solver.step(5 * k)
            state = solver.state()
            residual = max(residual, solver.statistics().residual)
            drift = max(drift, np.abs(rigid.angular_momentum(model, state) - turning).max())
        assert np.abs(rigid.linear_momentum(model, state) - before).max() < 1e-12
        gaps.append(residual)
        drifts.append(drift)
    assert gaps[1] < 0.6 * gaps[0]
    assert drifts[1] < 0.6 * drifts[0]
    assert drifts[1] < 0.01
