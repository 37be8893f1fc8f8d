"""Motors with a position, solver "penalty": gears and joints let them move more inertia than their own bodies have."""

import re
import warnings

import numpy as np
import pytest
from described import ZERO, X, Y, Z, g
from marks import slow

import pbd
import rigid
from rigid.solvers.penalty.runaway import DrivenEnergy

SHORT = {"dt": 1 / 240, "substeps": 16}
STIFF = {"dt": 1 / 60, "substeps": 64} | dict.fromkeys(
    ("stiffness", "damping", "angular_stiffness", "angular_damping")
)


def geared(ratios, inertias, **motor):
    """Bodies without gravity, on hinges or (negative inertias: masses) sliders at the ground, each geared to the next.

    Args: ratios: of the gears; inertias: of the bodies [kg m² or kg]; motor: of the first joint.
    """
    model = rigid.Model(gravity=ZERO)
    for k, inertia in enumerate(inertias):
        mass = abs(inertia) if inertia < 0 else 0.5
        body = model.add_body(mass=mass, inertia=(abs(inertia),) * 3, position=(0, k, 0))
        own = rigid.Motor(**motor) if k == 0 else None
        add = model.add_hinge if inertia > 0 else model.add_slider
        add(rigid.GROUND, body, (0, k, 0), Z if inertia > 0 else X, motor=own, name=f"joint {k}")
        if k:
            model.add_gear(f"joint {k - 1}", f"joint {k}", ratios[k - 1])
    return model


def arm(links, **motor):
    """Level links of 0.3 m on hinges with motors, each with 0.7 of the mass of the one before."""
    model, last = rigid.Model(gravity=(0, 0, -g)), rigid.GROUND
    for k in range(links):
        link = model.add_box((0.3, 0.05, 0.05), mass=0.7**k, position=(0.15 + 0.3 * k, 0, 0))
        own = motor if k == 0 else {**motor, "position": 0.0}
        model.add_hinge(last, link, (0.3 * k, 0, 0), Y, motor=rigid.Motor(**own), name=f"joint {k}")
        last = link
    return model


def assert_settles(model, target, ratios, options, seconds=6.0):
    """After some seconds the first joint is at its target, and gears are closed, for half a second."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        solver = rigid.solver("penalty", model, **options)
        solver.step(round(seconds / solver.dt))
        for _ in range(25):
            solver.step(max(round(0.02 / solver.dt), 1))
            q = solver.joint_positions()
            assert q["joint 0"] == pytest.approx(target, abs=1e-3)
            for k, ratio in enumerate(ratios):
                assert q[f"joint {k + 1}"] == pytest.approx(ratio * q[f"joint {k}"], abs=1e-2)


@pytest.mark.slow
@pytest.mark.parametrize("effort", [20.0, np.inf])
@pytest.mark.parametrize("options", [{}, SHORT, STIFF], ids=["default", "short", "stiff"])
@pytest.mark.parametrize("ratio", [0.2, 3.0, -2.0])
def test_a_motor_settles_behind_a_gear(ratio, options, effort):
    # The motor moves I (1 + r²), of which its own body has I. It is stable if β (α + β g) > M α g.
    model = geared([ratio], [0.01, 0.01], position=1.2, max_effort=effort)
    assert_settles(model, 1.2, [ratio], options)


@pytest.mark.parametrize(
    ("ratios", "inertias"),
    [([5.0], [0.01, 0.002]), ([10.0], [0.01, 0.01]), ([3.0], [0.01, 0.1]), ([3.0, -1.0], [0.01, 0.02, 0.005]),
     ([0.3], [0.01, -1.0]), ([10.0], [-1.0, 0.01])],
    ids=["light", "fast", "heavy", "train", "rack", "pinion"],
)  # fmt: skip
def test_a_motor_settles_behind_gear_trains(ratios, inertias):
    assert_settles(geared(ratios, inertias, position=0.8), 0.8, ratios, SHORT)


@pytest.mark.parametrize("links", [1, slow(2), slow(3)])
def test_motors_hold_an_arm(links):
    # The first motor moves all links about the shoulder: for one link m l²/3, four times that about its middle.
    assert_settles(arm(links, position=0.5), 0.5, [], SHORT)


@pytest.mark.parametrize("model", [geared([5.0], [0.01, 0.01], position=1.2), slow(arm(2, position=0.5))])
def test_the_step_that_a_refusal_names_is_stable(model):
    # The refusal names a motor, and a step below which all motions fade.
    said = r"motor of joint 'joint 0'.* use a step below .* smaller position_gain"
    with pytest.raises(ValueError, match=said) as caught:
        rigid.solver("penalty", model)
    step = float(re.search(r"below (\S+) s", str(caught.value))[1])
    with pytest.raises(ValueError, match="unstable"):
        rigid.solver("penalty", model, dt=1.01 * step)
    ratios, target = ([5.0], 1.2) if model.gears else ([], 0.5)
    assert_settles(model, target, ratios, {"dt": 0.8 * step})
    slow = rigid.Motor(position=target, position_gain=1.0)
    for joint in (each for each in model.joints if each.motor is not None):
        joint.motor = slow
    rigid.solver("penalty", model)


@pytest.mark.parametrize("effort", [2.0, np.inf])
def test_a_motor_with_a_speed_turns_a_gear(effort):
    solver = rigid.solver("penalty", geared([3.0], [0.01, 0.01], speed=2.0, max_effort=effort))
    solver.step(1700)
    found = solver.joint_velocities()
    assert found["joint 0"] == pytest.approx(2.0, abs=1e-2)
    assert found["joint 1"] == pytest.approx(6.0, abs=3e-2)


@pytest.mark.parametrize("model", [geared([10.0], [0.01, 0.01], position=1.2), slow(arm(3, position=0.5))])
def test_a_motor_that_runs_away_is_named(model):
    # Its motion needs at most M (g |p - q| L)²/2. A warning tells of ten times that, and at 250 times as much the run
    # ends.
    solver = rigid.solver("penalty", model, check_stability=False)
    warns = pytest.warns(UserWarning, match=r"a motor with a position runs away.*smaller position_gain")
    with warns, pytest.raises(pbd.Diverged, match="gained energy"):
        solver.step(20000)


def test_a_motor_that_moves_to_far_targets_does_not_run_away():
    # A fast, strong motor from target to target: kinetic energy is what the motion needs.
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        solver = rigid.solver("penalty", geared([3.0], [0.01, 0.01], position=0.0))
        for target in (6.0, -20.0, 1.0):
            solver.set_motor("joint 0", position=target)
            solver.step(1000)
        assert solver.joint_positions()["joint 0"] == pytest.approx(1.0, abs=1e-3)


def test_a_gear_needs_as_much_energy_from_either_joint():
    # q_b = 10 q_a is q_a = q_b/10: the same motion, so the same bound on the energy that it needs.
    model, other = geared([10.0], [1.0, 1.0], position=1.0), geared([], [1.0], position=1.0)
    body = other.add_body(mass=0.5, inertia=(1.0,) * 3, position=(0, 1, 0))
    other.add_hinge(rigid.GROUND, body, (0, 1, 0), Z, name="joint 1")
    other.add_gear("joint 1", "joint 0", 0.1)
    energies = [DrivenEnergy([each], 1).of_world(0) for each in (model, other)]
    assert energies[0] == pytest.approx(energies[1], rel=1e-12)
