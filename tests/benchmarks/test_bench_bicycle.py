"""The bicycle against linear theory: eigenvalues, the response to a push, rolling without slip, energy."""

import numpy as np
import pytest
from marks import slow

import rigid
import scenes
from benchmarks.bicycle import (
    CASES,
    SAMPLE,
    SPEEDS,
    fitted,
    lean_and_steer,
    pushed_model,
    simulate,
    steer_over_lean,
    table_lines,
    verdict,
)
from benchmarks.bicycle_plots import Ride, plot_bicycle
from benchmarks.bicycle_theory import eigenvalues, matrices, ordered, response, state_matrix
from rigid.constraints.joints.gaps import joint_gaps, joint_turns
from scenes.catalogue.components.bicycle import PARTS, TILT
from scenes.simulate.run import Run

FRAME = list(PARTS).index("frame")

# The two tables of source [2]: stable, a growing oscillation, or lean and steer that grow together.
STABLE, WEAVE, CAPSIZE = "stable", "unstable, growing oscillation", "unstable, lean and steer grow together"
CLASSES = (WEAVE, WEAVE, STABLE, STABLE, CAPSIZE, CAPSIZE, STABLE, STABLE, STABLE, STABLE, WEAVE, WEAVE)


# Linear theory --------------------------------------------------------------------------------------------------------


def test_matrices_are_those_of_the_benchmark():
    # Meijaard, Papadopoulos, Ruina, Schwab (2007), section 5: M, C1, K0 and K2 to all given digits.
    given = (
        [[80.81722, 2.31941332208709], [2.31941332208709, 0.29784188199686]],
        [[0, 33.86641391492494], [-0.85035641456978, 1.68540397397560]],
        [[-80.95, -2.59951685249872], [-2.59951685249872, -0.80329488458618]],
        [[0, 76.59734589573222], [0, 2.65431523794604]],
    )
    for found, expected in zip(matrices(), given):
        assert found == pytest.approx(np.array(expected), abs=1e-12)


def test_eigenvalues_are_those_of_the_literature():
    # Table 2 of the same paper at 0 and 5 m/s; weave and capsize change sign at 4.2924 and 6.0243 m/s.
    assert eigenvalues(0.0).real == pytest.approx([5.53094371765393, 3.13164324790656, -3.13164324790656,
                                                   -5.53094371765393])  # fmt: skip
    assert eigenvalues(5.0) == pytest.approx(np.array([
        -0.32286642900409, -0.77534188219585 + 4.46486771378823j, -0.77534188219585 - 4.46486771378823j,
        -14.07838969279822,
    ]))  # fmt: skip
    weave = [eigenvalues(speed)[0] for speed in (4.2923, 4.2925)]
    assert weave[0].real > 0 > weave[1].real
    assert abs(weave[0].imag) > 1
    capsize = [eigenvalues(speed)[0] for speed in (6.0242, 6.0244)]
    assert capsize[0].real < 0 < capsize[1].real
    assert capsize[1].imag == 0


def test_tables_of_the_source_follow_from_linear_theory():
    assert tuple(verdict(eigenvalues(*case)) for case in CASES) == CLASSES


def test_response_to_a_push_has_the_given_peaks():
    # 10 N s at 4.6 m/s: +2.32° at 0.50 s, -0.82° at 1.34 s. In the weave mode steer has 1.243 times the amplitude of
    # lean and follows it by 14.9°.
    assert np.degrees(response([0.50, 1.34], 10.0, 4.6)[:, 0]) == pytest.approx([2.32, -0.82], abs=0.006)
    values, vectors = np.linalg.eig(state_matrix(4.6))
    weave = vectors[:, np.argmax(values.imag)]
    ratio = weave[1] / weave[0]
    assert abs(ratio) == pytest.approx(1.243, abs=5e-4)
    assert np.degrees(np.angle(ratio)) == pytest.approx(-14.9, abs=0.05)


def test_fit_finds_the_eigenvalues_of_a_linear_motion():
    # The samples of a linear motion fulfil the fitted recurrence to round-off.
    angles = response(SAMPLE * np.arange(200), 0.5, 4.6)
    assert fitted(angles) == pytest.approx(eigenvalues(4.6), rel=1e-6)
    assert ordered([1 - 2j, -1, 1 + 2j, 3]) == pytest.approx([3, 1 + 2j, 1 - 2j, -1])


# Simulations ----------------------------------------------------------------------------------------------------------


def eigenvalue_errors(found, case):
    """Relative errors of growth rate and frequency of the slowest mode; that of a real mode has no frequency."""
    theory = eigenvalues(*case)[0]
    growth = abs(found.real - theory.real) / abs(theory.real)
    return growth, abs(abs(found.imag) - theory.imag) / theory.imag if theory.imag else abs(found.imag)


@pytest.mark.slow
def test_bicycle_at_two_speeds_has_the_eigenvalues_of_linear_theory():
    # With explicit products the error of the weave is 12 h/s [1/s], 0.003 at 0.25 ms, 0.8 % of its growth rate at
    # 4.6 m/s. The capsize mode at 5.6 m/s has less than 1e-4.
    found = {}
    for case in ((4.6, TILT), (5.6, TILT)):
        angles = found[case] = simulate("articulated", [case])[0][:, 0]
        assert max(eigenvalue_errors(fitted(angles)[0], case)) < 0.01
        # The whole motion follows linear theory, within the part of a degree by which these errors add up in 4 s.
        expected = response(SAMPLE * np.arange(len(angles)), 0.5, *case)
        assert np.abs(angles - expected).max() < 0.02 * np.abs(expected).max()
    # At 4.6 m/s steer has 1.243 times the amplitude of lean, and follows it by 14.9°, 0.067 s.
    ratio = steer_over_lean(found[4.6, TILT])
    assert abs(ratio) == pytest.approx(1.243, rel=0.01)
    assert np.degrees(np.angle(ratio)) == pytest.approx(-14.9, abs=0.15)


@pytest.mark.slow
def test_five_speeds_of_verlet_have_the_growth_rates_of_linear_theory():
    # The scheme is of second order. Wheels turn by 22 mrad in a step of 1 ms, so errors are some (22 mrad)²/6 of the
    # rates that balance one another, of 3/s: 2e-4/s, 0.3 % of the slowest growth rate. The fit of a push that leans
    # bicycles by 0.1° adds as much.
    cases = CASES[: len(SPEEDS)]
    angles, _ = simulate("verlet", cases, duration=2.0)
    for k, case in enumerate(cases):
        assert max(eigenvalue_errors(fitted(angles[:, k])[0], case)) < 0.01


@pytest.mark.slow
def test_wheels_of_verlet_do_not_slip_if_projected_along_current_gradients():
    # Projections along "current" gradients damp, in first order of the step. But rims without slip rows would lean with
    # 8/s, like an inverted pendulum without hands: here the growth rate has half the error at half the step.
    errors = []
    for dt in (1e-3, 5e-4):
        angles, _ = simulate("verlet", [(3.6, TILT)], duration=1.5, dt=dt, direction="current")
        errors.append(abs(fitted(angles[:, 0])[0].real - eigenvalues(3.6, TILT)[0].real))
    assert errors[1] < 0.6 * errors[0] < 0.1


@pytest.mark.slow
@pytest.mark.parametrize("name", ["articulated", "impulse", "penalty", "verlet"])
def test_twelve_cases_are_in_the_classes_of_the_source(name):
    angles, _ = simulate(name)
    found = {case: fitted(angles[:, k]) for k, case in enumerate(CASES)}
    assert tuple(verdict(found[case]) for case in CASES) == CLASSES
    for case in CASES[: len(SPEEDS)]:
        assert max(eigenvalue_errors(found[case][0], case)) < 0.03
    lines = list(table_lines(name, found))
    assert len(lines) == 3 + len(CASES)
    assert not any("theory:" in line for line in lines)


def slip_and_height(solver, before):
    """Largest slip of the rims [m/s] and error of the hubs' heights [m] in the last step.

    The rows of a step are those of the pose at its start. The material point of the rim that is lowest there has the
    velocity v + ω × (-ρ).

    Args: solver: after the step; before: the state at its start.
    """
    state, slips = solver.state(), []
    for name in ("rear_wheel", "front_wheel"):
        k = list(PARTS).index(name)
        axis = rigid.rotation.rotate(before.rotation[k], np.array([0.0, 1, 0]))
        up = np.array([0, 0, 1.0]) - axis[2] * axis
        arm = -PARTS[name].radius * up / np.linalg.norm(up)
        slips.append((state.velocity[k] + np.cross(state.angular_velocity[k], arm))[:2])
    gaps = joint_gaps(solver.model, state)
    return np.abs(slips).max(), gaps[-2:].max(), max(gaps[:-2].max(), joint_turns(solver.model, state).max())


@pytest.mark.parametrize("name", ["articulated", slow("impulse")])
def test_wheels_roll_without_slip_after_a_push(name):
    # 10 N s, 4.6 m/s: velocity rows to 1e-9 m/s, hub heights to 1e-6 m at every step, whatever the lean.
    solver = rigid.solver(name, pushed_model(4.6, TILT, 10.0), dt=1e-3, contacts=False, tolerance=1e-12,
                          iterations=5000)  # fmt: skip
    worst = np.zeros(3)
    for _ in range(600):
        before = solver.state()
        solver.step()
        worst = np.maximum(worst, slip_and_height(solver, before))
    assert worst[0] < 1e-9
    assert worst[1] < 1e-6
    assert worst[2] < 1e-6


@pytest.mark.slow
def test_scene_pushes_with_the_given_impulse_and_takes_its_parameters():
    # The impulse F Δt of the scene, for any step: linear theory's response to pushes spread over the 0.02 s, the
    # integral over ages from 5 ms to 25 ms. The push begins and ends within steps of 1/240 s, whose mean force has the
    # same impulse, and another centre by less than half a step, a sixth of the mean age of 15 ms.
    scene = scenes.load("bicycle", push=25.0, push_time=0.05)
    assert [body.name for body in scene.model.bodies] == list(PARTS)
    run = Run(scene, "articulated", duration=0.075)
    for _ in range(run.steps):
        run.step()
    state = run.system.state()
    expected = response(np.linspace(0.005, 0.025, 41), 0.5, 4.6).mean(axis=0)
    assert lean_and_steer(run.system, FRAME) == pytest.approx(expected, rel=1 / 6)
    rate = np.diff(response([0.0145, 0.0155], 0.5, 4.6)[:, 0])[0] / 0.001
    assert state.angular_velocity[FRAME, 0] == pytest.approx(rate, rel=0.01)  # it hardly depends on the age
    for bad, word in (({"speed": 0}, "speed"), ({"tilt": 80}, "tilt"), ({"push_duration": 0}, "push_duration")):
        with pytest.raises(ValueError, match=word):
            scenes.load("bicycle", **bad)


# The page's runs -----------------------------------------------------------------------------------------------------


def test_plots_have_a_column_for_each_speed_and_axes_with_units(tmp_path):
    times = np.linspace(0, 2, 40)
    angles = np.stack([np.sin(times), np.cos(times)], axis=1)
    left = np.tile([0.0, 1.0, 0.0], (40, 1))
    rides = {speed: Ride(times, np.stack([speed * times, 0.1 * times], axis=1), left, angles, angles)
             for speed in (4.6, 6.6)}  # fmt: skip
    text = plot_bicycle(tmp_path / "rides.svg", rides).read_text()
    for label in ("4.6 m/s", "6.6 m/s", "x [m]", "y [m]", "[°]", "[°/s]", "time [s]", "lean of 2°", "steer"):
        assert label in text


@pytest.mark.slow
@pytest.mark.parametrize("speed", [5.6, slow(6.6)])
def test_lean_after_the_push_decays_slowly_or_grows(speed):
    # The push ends at 1.02 s. Five seconds later the weave has exp(-1.25 · 5) = 0.2 % of its amplitude, and the capsize
    # mode is left: -0.0892/s at 5.6 m/s, a time constant of 11.2 s, and +0.0720/s at 6.6 m/s. In 3 s the rest of the
    # weave changes the logarithm of the lean by less than 0.004, 2 % at 6.6 m/s. The step of the scene adds 1 %.
    run, found = Run(scenes.load("bicycle", speed=speed), "articulated", duration=9.0), []
    for k in range(run.steps):
        run.step()
        if k >= 6 * 240:
            found.append(lean_and_steer(run.system, FRAME)[0])
    found, expected = np.array(found), eigenvalues(speed)[0].real
    assert (np.diff(found) * np.sign(expected) > 0).all()
    assert np.log(found[-1] / found[0]) / (3.0 - 1 / 240) == pytest.approx(expected, rel=0.03)


def after_push(name, substeps, duration, push_duration):
    """The scene's state after a push at the start: x, y, lean and steer of the frame. Args: substeps of 1/240 s."""
    scene = scenes.load("bicycle", push_time=0.0, push_duration=push_duration)
    run = Run(scene, name, duration=duration, substeps=substeps, tolerance=1e-11)
    run.step(run.steps)
    return np.array([*run.system.state().position[FRAME, :2], *lean_and_steer(run.system, FRAME)])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "largest"), [("articulated", 0.005), ("impulse", 0.007)]
)
@pytest.mark.parametrize("push_duration", [0.02, 0.1])
def test_full_push_converges_in_first_order(name, largest, push_duration):
    # 500 N for 0.02 s (lean to 2.3°) and 0.1 s (to 11°): a method of first order halves the difference of two runs when
    # both steps are halved, within the second order that is left. "impulse" has no velocity products, whose errors make
    # up for some of those of the gyroscopic torque, so its difference (in y, after 9 m) is larger.
    found = [after_push(name, substeps, 2.0, push_duration) for substeps in (8, 16, 32)]
    differences = np.abs(np.diff(found, axis=0))
    assert differences[0] / differences[1] == pytest.approx(2.0, rel=0.15)
    assert differences[1].max() < largest


@pytest.mark.slow
def test_push_of_ten_newton_seconds_leans_by_the_given_angles_and_speeds_up():
    # Linear theory has +2.32° at 0.50 s and -0.82° at 1.34 s. The full equations converge to +2.319° and -0.782°: the
    # second peak depends on the size of the push. A tenth of it leans by -0.081°.
    # Ideal rolling keeps energy, so v grows by W/(97.6 v), W the work of the push. The method loses h times a constant.
    start = 4.6
    for impulse, second in ((10.0, -0.782), (1.0, -0.0815)):
        solver = rigid.solver("articulated", pushed_model(start, TILT, impulse), dt=2.5e-4, contacts=False,
                              tolerance=1e-10, gyroscopic="explicit", velocity_products="explicit")  # fmt: skip
        solver.step(2000)
        assert np.degrees(lean_and_steer(solver, FRAME)[0]) == pytest.approx(0.232 * impulse, rel=0.003)
        solver.step(3360)
        assert np.degrees(lean_and_steer(solver, FRAME)[0]) == pytest.approx(second, rel=0.01)
    at_rest = rigid.solver("articulated", pushed_model(start, TILT, 0.0), dt=1e-3, contacts=False).energy().total
    solver = rigid.solver("articulated", pushed_model(start, TILT, 10.0), dt=1e-3, contacts=False,
                          tolerance=1e-10, gyroscopic="explicit", velocity_products="explicit")  # fmt: skip
    solver.step(1)
    work = solver.energy().total - at_rest
    solver.step(7999)
    loss = work + at_rest - solver.energy().total
    assert 0 < loss < 0.1 * work
    rolling = sum(part.mass + (part.yy / part.radius**2 if part.radius else 0.0) for part in PARTS.values())
    assert rolling == pytest.approx(97.6, abs=0.05)
    # What is left of lean and yaw after 8 s has less than a hundredth of W.
    gain = np.linalg.norm(solver.state().velocity[FRAME]) - start
    assert gain == pytest.approx((work - loss) / (rolling * start), rel=0.01)
