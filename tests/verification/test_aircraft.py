"""Roll of an aircraft by a torque that depends on its rate: I ω' = M_ω ω + M_δ δ, by `control` and `set_forces`."""

import math

import numpy as np
import pytest
from described import refusal

import scenes
from scenes.catalogue.aircraft_roll import AILERONS, DAMPING, GAIN, INERTIA, TIME_CONSTANT, deflection
from scenes.identification import response
from scenes.simulate.run import Run

SOLVERS = ("impulse", "articulated", "penalty", "verlet")


def rates(solver, programme, dt, duration, amplitude=1.0, every=1):
    """The rate of roll at the start and after every so many steps (steps / every + 1,) [rad/s]."""
    running = Run(scenes.load("aircraft_roll", amplitude=amplitude, programme=programme), solver, duration, dt)
    found = [0.0]
    for _ in range(running.steps // every):
        running.step(every)
        found.append(float(running.system.joint_velocities()["roll"]))
    return np.array(found)


def recurrence(programme, h, steps, amplitude=1.0, start=0.0):
    """ω_{n+1} = ω_n (1 + h M_ω/I) + h M_δ δ_n/I: the damping is explicit."""
    found = [start]
    for n in range(steps):
        delta = deflection(n * h, amplitude, programme)
        found.append(found[-1] * (1 + h * DAMPING / INERTIA) + h * AILERONS * delta / INERTIA)
    return np.array(found)


@pytest.mark.parametrize("solver", ["impulse", "articulated"])
@pytest.mark.parametrize("programme", ["turn", "step", "square"])
def test_rates_follow_the_discrete_recurrence(solver, programme):
    h, steps = 1 / 240, 200
    found = rates(solver, programme, h, h * steps, 0.7)
    assert np.abs(found - recurrence(programme, h, steps, 0.7)).max() < 1e-12


def test_rates_follow_the_discrete_recurrence_with_penalties():
    # The torque is constant within the substeps of a step. The hinge has no row along its axis.
    h, steps = 1 / 240, 120
    found = rates("penalty", "turn", h, h * steps, 0.7)
    assert np.abs(found - recurrence("turn", h, steps, 0.7)).max() < 1e-11


def test_rates_of_a_frame_follow_the_recurrence_in_second_order():
    # Rates of frames are those at the middle of a step: from ω_{1/2} = h M_δ δ_0/(2 I) on they follow the recurrence.
    # A corner that moves by r × angular displacement φ rotates by φ (1 + O(φ²)).
    differences = []
    for h in (1 / 240, 1 / 480):
        found = rates("verlet", "step", h, 0.5)
        expected = recurrence("step", h, len(found) - 2, start=found[1])
        differences.append(np.abs(found[1:] - expected).max())
    assert differences[0] < 5e-3 * GAIN
    assert differences[1] < 0.3 * differences[0]


@pytest.mark.slow
@pytest.mark.parametrize("solver", SOLVERS)
def test_step_response_converges_in_first_order(solver):
    # ω = k δ (1 - exp(-t/T)): half the error at half the step. Rates of frames are half a step early.
    errors = []
    for h in (1 / 200, 1 / 400, 1 / 800):
        found = rates(solver, "step", h, 0.3)
        times = h * np.arange(len(found)) - (h / 2 if solver == "verlet" else 0.0)
        errors.append(np.abs(found - GAIN * (1 - np.exp(-times / TIME_CONSTANT)))[1:].max())
    assert errors[0] < 0.15
    assert all(1.8 < first / second < 2.2 for first, second in zip(errors, errors[1:])), errors


@pytest.mark.slow
@pytest.mark.parametrize(("solver", "amplitude"), [*((solver, 1.0) for solver in SOLVERS), ("impulse", -0.6)])
def test_programme_makes_one_turn(solver, amplitude):
    # The angle gained is k ∫ δ dt = 2π for any T. In discrete steps it is k h Σ δ_n, exactly once ω is zero again: the
    # trapezoidal rule, with an error of at most k h² |δ'|/12 at each of four corners. 2 s are 17 T after the programme.
    running = Run(scenes.load("aircraft_roll", amplitude=amplitude), solver)
    running.step(running.steps)
    angle = running.system.joint_positions()["roll"] if solver != "verlet" else turns(running, amplitude)
    assert math.degrees(angle) == pytest.approx(math.copysign(360, amplitude), abs=0.1)


def turns(running, amplitude):
    """The angle of a run that ends near a full turn [rad]: a solver "verlet" counts turns only as it is read."""
    angle = running.system.joint_positions()["roll"]
    return angle + math.copysign(2 * math.pi, amplitude) * (abs(angle) < math.pi)


def test_end_of_the_programme_has_the_closed_form():
    # The trapezoid of amplitude 1 is held for 2π/k - 0.1 s = 0.52832 s and is over at 0.72832 s, with ω = 5.5218 rad/s
    # and ω T = 0.41413 rad still to come.
    end = 2 * math.pi / GAIN + 0.1
    assert end == pytest.approx(0.72832, abs=5e-6)
    times = np.array([0.0, 0.1, end - 0.1, end])
    rate = GAIN * response(times, np.array([deflection(time, 1.0, "turn") for time in times]), TIME_CONSTANT, False)[-1]
    assert rate == pytest.approx(5.5218, abs=5e-5)
    assert rate * TIME_CONSTANT == pytest.approx(0.41413, abs=5e-6)


# Identification -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("hold", [True, False])
def test_lag_is_recovered_from_its_exact_response(hold):
    times = np.linspace(0, 3, 31)
    inputs = np.sin(3 * times)
    outputs = 10.0 * response(times, inputs, 0.075, hold) + 2.0 * np.exp(-times / 0.075)
    lag = scenes.identify(times, inputs, outputs, hold)
    assert lag[:3] == pytest.approx((10.0, 0.075, 2.0), rel=1e-6)
    assert lag.residual < 1e-7


@pytest.mark.slow
def test_gain_and_time_constant_are_recovered_from_a_noisy_record():
    # Samples of 0.1 s of a square wave, with noise of 1 % of the steady rate. An edge of 2 k gives T with a standard
    # deviation of 0.01 k/(2 k · 5.4/s) = 1.2 %: 30 edges give 0.23 %. The scheme has T = -h/ln(1 - h/T), which is h/2
    # too short, 0.33 %.
    h, duration = 5e-4, 12.0
    found = rates("impulse", "square", h, duration, every=round(0.1 / h))
    times = 0.1 * np.arange(len(found))
    inputs = np.array([deflection(time, 1.0, "square") for time in times])
    noise = np.random.default_rng(3).normal(scale=0.01 * GAIN, size=len(times))
    lag = scenes.identify(times, inputs, found + noise)
    assert lag.gain == pytest.approx(GAIN, rel=0.01)
    assert lag.time_constant == pytest.approx(TIME_CONSTANT, rel=0.01)
    assert lag.residual == pytest.approx(0.01 * GAIN, rel=0.2)


def test_wrong_tables_and_parameters_are_refused():
    def message(times=(0, 1, 2, 3), inputs=(1, 1, 1, 1), outputs=(0, 1, 1, 1)):
        return refusal(lambda: scenes.identify(times, inputs, outputs), ValueError)

    assert "times are 1 and then 1: expected ascending times" in message(times=(0, 1, 1, 3))
    assert "times are 2 numbers: expected four or more" in message(times=(0, 1))
    assert "inputs has shape (3,): expected (4,)" in message(inputs=(1, 1, 1))
    assert "outputs is nan at index 2" in message(outputs=(0, 1, math.nan, 1))
    assert "inputs are all zero" in message(inputs=(0, 0, 0, 0))
    for amplitude in (0.0, 1.5):
        text = refusal(lambda: scenes.load("aircraft_roll", amplitude=amplitude), ValueError)  # noqa: B023
        assert f"amplitude is {amplitude:g}: expected from -1 to 1, and not zero" in text
    wrong = refusal(lambda: scenes.load("aircraft_roll", programme="turns"), ValueError)
    assert "programme is 'turns': expected one of 'turn', 'step', 'square'; did you mean 'turn'?" in wrong
