"""Springs and soft joints as rows: implicit Euler, to round-off, for any mass, stiffness, damping and step."""

import itertools
import math
from decimal import Decimal, localcontext

import numpy as np
import pytest
from described import X, Y, put

import rigid
from rigid.rotation import from_axis_angle


def solve(model, dt=0.01, **options):
    return rigid.solver("impulse", model, dt=dt, contacts=False, **{"iterations": 4, "tolerance": 0.0, **options})


# One degree of freedom -----------------------------------------------------------------------------------------------

CASES = [
    case
    for case in itertools.product((1e-3, 0.07, 1.0, 1e3), *2 * [(0.0, 1e-6, 1.0, 300.0, 1e5, 1e9)])
    if max(case[1:]) > 0
]


def spring_models(cases, x, v):
    """Bodies on sliders along x, each with a spring. Args: cases: (m, k, c)."""
    model = rigid.Model(gravity=(0, 0, 0))
    for (mass, stiffness, damping), speed in zip(cases, v):
        body = model.add_body(mass=mass, inertia=(mass, mass, mass), velocity=(speed, 0, 0))
        model.add_slider(rigid.GROUND, body, None, X, spring=rigid.Spring(stiffness, damping))
    solver = solve(model)
    put(solver, position=np.transpose([x, 0 * x, 0 * x]), velocity=np.transpose([v, 0 * v, 0 * v]))
    return solver


def implicit_euler(mass, stiffness, damping, h, x, v):
    """m (v' - v)/h = -k x' - c v', x' = x + h v', so v' = (m v - h k x)/(m + h c + h² k); Decimals."""
    v = (mass * v - h * stiffness * x) / (mass + h * damping + h * h * stiffness)
    return x + h * v, v


@pytest.mark.filterwarnings("ignore:.*times the mass of")  # which are joined to the ground alone
@pytest.mark.parametrize("h", [1e-4, 1e-3, 1 / 60, 0.1])
def test_soft_row_equals_implicit_euler(h):
    # The recurrence in 40 digits, from the same binary numbers. 1e-13 of max(|x|, 0.1) and of max(|v|, 0.1/h).
    random = np.random.default_rng(3)
    x, v = random.uniform(-1, 1, len(CASES)), random.uniform(-2, 2, len(CASES))
    solver = spring_models(CASES, x, v)
    solver.dt = h
    worst = 0.0
    with localcontext() as context:
        context.prec = 40
        exact = [(Decimal(float(a)), Decimal(float(b))) for a, b in zip(x, v)]
        numbers = [tuple(map(Decimal, case)) for case in CASES]
        for _ in range(20):
            solver.step()
            state = solver.state()
            exact = [implicit_euler(*case, Decimal(h), *pair) for case, pair in zip(numbers, exact)]
            for k, (a, b) in enumerate(exact):
                off_x = abs(Decimal(float(state.position[k, 0])) - a) / max(abs(a), Decimal("0.1"))
                off_v = abs(Decimal(float(state.velocity[k, 0])) - b) / max(abs(b), Decimal("0.1") / Decimal(h))
                worst = max(worst, float(off_x), float(off_v))
    assert worst < 1e-13


def test_spring_without_stiffness_and_damping_does_nothing():
    # γ would be infinite; x = x0 + v t.
    solver = spring_models([(1.0, 0.0, 0.0), (2.0, 1.0, 0.0)], np.array([0.5, 0.5]), np.array([0.25, 0.25]))
    solver.step(4)
    assert solver.state().position[0, 0] == pytest.approx(0.51, abs=1e-15)


# A torsion spring on a hinge ------------------------------------------------------------------------------------------

INERTIA, STIFFNESS, DAMPING, REST = 1 / 12, 2.0, 0.05, 0.2


def torsion(angle, **joint):
    model = rigid.Model(gravity=(0, 0, 0))
    body = model.add_body(mass=1.0, inertia=(1.0, INERTIA, 1.0))
    model.add_hinge(rigid.GROUND, body, (0, 0, 0), Y, spring=rigid.Spring(STIFFNESS, DAMPING, REST), name="pivot",
                    **joint)  # fmt: skip
    solver = solve(model)
    put(solver, rotation=[from_axis_angle(Y, angle)])
    return solver


def test_torsion_spring_equals_implicit_euler():
    # I (ω' - ω)/h = -k (θ' - rest) - c ω'. 0.251427 after 1 s from θ = 1.
    solver, angle, speed, h = torsion(1.0), 1.0, 0.0, 0.01
    for _ in range(100):
        solver.step()
        speed = (INERTIA * speed - h * STIFFNESS * (angle - REST)) / (INERTIA + h * DAMPING + h * h * STIFFNESS)
        angle += h * speed
        assert solver.joint_positions()["pivot"] == pytest.approx(angle, abs=1e-12)
        assert solver.joint_velocities()["pivot"] == pytest.approx(speed, abs=1e-12)
    assert solver.joint_positions()["pivot"] == pytest.approx(0.251427, abs=5e-7)


def test_torsion_spring_counts_past_full_turns():
    # From θ = 3 with a spring of rest 10 the angle rises past π, where an angle that is not counted would jump.
    model = rigid.Model(gravity=(0, 0, 0))
    body = model.add_body(mass=1.0, inertia=(1.0, INERTIA, 1.0))
    model.add_hinge(rigid.GROUND, body, (0, 0, 0), Y, spring=rigid.Spring(STIFFNESS, 0.4, 10.0), name="pivot")
    solver, h, angle, speed = solve(model), 0.01, 0.0, 0.0
    for _ in range(300):
        solver.step()
        speed = (INERTIA * speed - h * STIFFNESS * (angle - 10.0)) / (INERTIA + h * 0.4 + h * h * STIFFNESS)
        angle += h * speed
        assert solver.joint_positions()["pivot"] == pytest.approx(angle, abs=1e-11)
    assert angle > 3 * math.pi


# Springs elsewhere ----------------------------------------------------------------------------------------------------


def test_spring_between_bodies_equals_implicit_euler_of_their_reduced_mass():
    # Along the line, with μ = m1 m2/(m1 + m2): μ (v' - v)/h = -k (l' - l0) - c v'. Momentum stays zero.
    model = rigid.Model(gravity=(0, 0, 0))
    a = model.add_body(mass=0.5, inertia=(1, 1, 1))
    b = model.add_body(mass=3.0, inertia=(1, 1, 1), position=(0.6, 0, 0.8))
    model.add_spring(a, b, stiffness=40.0, damping=0.3, rest_length=0.7)
    solver, h, length, speed, mass = solve(model), 0.01, 1.0, 0.0, 1.5 / 3.5
    for _ in range(100):
        solver.step()
        speed = (mass * speed - h * 40 * (length - 0.7)) / (mass + h * 0.3 + h * h * 40)
        length += h * speed
        state = solver.state()
        assert np.linalg.norm(state.position[1] - state.position[0]) == pytest.approx(length, abs=1e-12)
    assert np.abs(rigid.linear_momentum(model, state)).max() < 1e-14


def test_weight_hangs_from_a_spring_off_its_centre():
    # At rest m g = k (l - l0), and the point is straight above the centre.
    model = rigid.Model()
    body = model.add_box((0.2, 0.2, 0.2), mass=2.0, position=(0, 0, -0.6))
    model.add_spring(rigid.GROUND, body, (0, 0, 0), (0.1, 0, -0.5), stiffness=400.0, damping=30.0)
    model.add_ball(rigid.GROUND, model.add_body(mass=1.0, inertia=(1, 1, 1), position=(5, 0, 0)), (5, 0, 0))
    start = math.hypot(0.1, 0.5)
    solver = solve(model, iterations=20)
    for _ in range(40):
        solver.step(50)
        slower = solver.state()
        slower.velocity *= 0.7
        slower.angular_velocity *= 0.7
        put(solver, velocity=slower.velocity, angular_velocity=slower.angular_velocity)
    solver.step(200)
    below = solver.state().position[0, 2] + math.hypot(0.1, 0.1)
    assert -below == pytest.approx(start + 2 * 9.81 / 400, rel=1e-6)


@pytest.mark.parametrize("kind", ["ball", "universal", "slider"])
def test_springs_of_other_joints_equal_implicit_euler(kind):
    # One coordinate alone moves; m or I (v' - v)/h = -k (q' - rest) - c v'.
    model = rigid.Model(gravity=(0, 0, 0))
    body = model.add_body(mass=0.7, inertia=(0.3, 0.3, 0.3))
    spring = rigid.Spring(5.0, 0.1)
    if kind == "ball":
        model.add_ball(rigid.GROUND, body, (0, 0, 0), spring=spring)
    elif kind == "universal":
        model.add_universal(rigid.GROUND, body, (0, 0, 0), X, Y, spring=spring)
    else:
        model.add_slider(rigid.GROUND, body, None, Y, spring=spring)
    solver, h, q, speed, mass = solve(model), 0.01, 0.5, 0.0, 0.7 if kind == "slider" else 0.3
    if kind == "slider":
        put(solver, position=[(0, q, 0)])
    else:
        put(solver, rotation=[from_axis_angle(Y, q)])
    for _ in range(50):
        solver.step()
        speed = (mass * speed - h * 5 * q) / (mass + h * 0.1 + h * h * 5)
        q += h * speed
        state = solver.state()
        found = state.position[0, 1] if kind == "slider" else 2 * math.atan2(state.rotation[0, 2], state.rotation[0, 0])
        assert found == pytest.approx(q, abs=1e-12)


def test_spring_of_a_ball_is_isotropic():
    # A sphere that is rotated by a vector of length 0.5 rotates back along it, equally in all directions.
    found = []
    for axis in (X, Y, (1, 2, -2), (-1, 0.5, 3)):
        model = rigid.Model(gravity=(0, 0, 0))
        body = model.add_body(mass=0.7, inertia=(0.3, 0.3, 0.3), rotation=(0.5, 0.5, -0.5, 0.5))
        model.add_ball(rigid.GROUND, body, (0, 0, 0), spring=rigid.Spring(5.0, 0.1))
        solver = solve(model)
        start = model.initial_state().rotation[0]
        turn = from_axis_angle(axis, 0.5)
        put(solver, rotation=[rigid.rotation.multiply(turn, start)])
        solver.step(30)
        now = rigid.rotation.multiply(solver.state().rotation[0], rigid.rotation.conjugate(start))
        found.append(rigid.rotation.logarithm(now) @ np.array(axis) / np.linalg.norm(axis))
    assert np.ptp(found) < 1e-13
    assert abs(found[0]) < 0.5


# Soft joints ----------------------------------------------------------------------------------------------------------


def test_soft_joint_sags_by_load_over_stiffness():
    # m g/k; a load off the anchor rotates it: m g x = k_t θ, small. At rest, so to round-off.
    model = rigid.Model()
    body = model.add_box((0.2, 0.2, 0.2), mass=3.0, position=(0.4, 0, 0))
    soft = rigid.Soft(stiffness=1e5, damping=2e3, angular_stiffness=1e6, angular_damping=2e4)
    model.add_fixed(rigid.GROUND, body, (0, 0, 0), soft=soft)
    solver = solve(model, iterations=20)
    solver.step(600)
    state = solver.state()
    anchor = state.position[0] + rigid.rotation.rotate(state.rotation[0], (-0.4, 0, 0))
    assert anchor[2] == pytest.approx(-3 * 9.81 / 1e5, rel=1e-6)
    angle = 2 * math.asin(state.rotation[0, 2])
    assert angle == pytest.approx(3 * 9.81 * 0.4 / 1e6, rel=1e-4)


@pytest.mark.parametrize("soft", ["shifts", "turns"])
def test_joint_may_be_soft_in_translation_or_rotation_alone(soft):
    # Soft in translation alone, it sags by m g/k and does not rotate; soft in rotation alone, it rotates by m g x/k_t
    # about a fixed point. Position correction keeps the hard rows, and must not touch the soft ones.
    model = rigid.Model()
    body = model.add_box((0.2, 0.2, 0.2), mass=3.0, position=(0.4, 0, 0))
    strengths = {"stiffness": 1e4, "damping": 500.0} if soft == "shifts" else {}
    if soft == "turns":
        strengths = {"angular_stiffness": 1e4, "angular_damping": 500.0}
    model.add_fixed(rigid.GROUND, body, (0, 0, 0), soft=rigid.Soft(**strengths))
    solver = solve(model, iterations=50, tolerance=1e-9)
    solver.step(300)
    state = solver.state()
    anchor = state.position[0] + rigid.rotation.rotate(state.rotation[0], (-0.4, 0, 0))
    angle = 2 * math.asin(state.rotation[0, 2])
    sag, turn = (3 * 9.81 / 1e4, 0.0) if soft == "shifts" else (0.0, 3 * 9.81 * 0.4 / 1e4)
    assert anchor == pytest.approx((0, 0, -sag), rel=1e-6, abs=1e-7)
    # The torque is m g x cos θ = k_t θ.
    assert angle == pytest.approx(turn * math.cos(turn), rel=1e-6, abs=1e-7)


@pytest.mark.parametrize("ratio", [0.0, 0.2])
def test_soft_joint_oscillates_at_its_frequency(ratio):
    # ω = 2π f for any masses. Implicit Euler's x'' h² = ... has roots z = 1/(1 + s h) of
    # s² + 2ζω s + ω² = 0, so |z| and its angle give frequency and decay: x_n = Re(A zⁿ) to round-off.
    model = rigid.Model(gravity=(0, 0, 0))
    a = model.add_body(mass=0.4, inertia=(1, 1, 1))
    b = model.add_body(mass=5.0, inertia=(1, 1, 1))
    model.add_ball(a, b, (0, 0, 0), soft=rigid.Soft(frequency=3.0, damping_ratio=ratio))
    h, speed = 0.002, 2 * math.pi * 3
    solver = solve(model, dt=h)
    put(solver, position=[(0.1, 0, 0), (0, 0, 0)])
    seen = [0.1]
    for _ in range(400):
        solver.step()
        state = solver.state()
        seen.append(state.position[0, 0] - state.position[1, 0])
    s = speed * complex(-ratio, math.sqrt(1 - ratio**2))
    z = 1 / (1 - s * h)
    # x_0 = 0.1 and x_1 = x_0 + h v_1 with v_1 = -h ω² x_0/(1 + 2ζω h + ω² h²).
    x1 = 0.1 * (1 - h * h * speed**2 / (1 + 2 * ratio * speed * h + (speed * h) ** 2))
    amplitude = np.linalg.solve([[1, 0], [z.real, -z.imag]], [0.1, x1])
    expected = [(complex(*amplitude) * z**n).real for n in range(401)]
    assert np.abs(np.array(seen) - expected).max() < 1e-12
    # And the period between downward crossings is that of the damped oscillator within the scheme's (ωh)²/3.
    crossings = [n + seen[n] / (seen[n] - seen[n + 1]) for n in range(400) if seen[n] > 0 >= seen[n + 1]]
    period = np.diff(crossings).mean() * h
    assert period == pytest.approx(1 / (3 * math.sqrt(1 - ratio**2)), rel=(speed * h) ** 2 + 2 * ratio * speed * h)


# Energy ---------------------------------------------------------------------------------------------------------------


def test_energy_includes_all_springs():
    # k s²/2 of each, by hand: point spring 0.3 m beyond its rest, hinge at 0.4 - 0.1, slider at 0.2 m, ball at 0.5,
    # universal at (0.3, 0) with rest zero.
    model = rigid.Model(gravity=(0, 0, -2.0))
    bodies = [model.add_body(mass=1 + k, inertia=(1, 1, 1), position=(0, k, 0)) for k in range(5)]
    model.add_spring(rigid.GROUND, bodies[0], (0, 0, 0), stiffness=10.0, rest_length=0.2)
    model.add_hinge(rigid.GROUND, bodies[1], (0, 1, 0), Y, spring=rigid.Spring(20.0, rest=0.1))
    model.add_slider(rigid.GROUND, bodies[2], None, X, spring=rigid.Spring(30.0))
    model.add_ball(rigid.GROUND, bodies[3], (0, 3, 0), spring=rigid.Spring(40.0))
    model.add_universal(rigid.GROUND, bodies[4], (0, 4, 0), X, Y, spring=rigid.Spring(50.0))
    solver = solve(model)
    place = model.initial_state().position
    place[0], place[2] = (0, 0, 0.5), (0.2, 2, 0)
    turns = model.initial_state().rotation
    turns[1], turns[3] = from_axis_angle(Y, 0.4), from_axis_angle((1, 1, 1), 0.5)
    turns[4] = from_axis_angle(X, 0.3)
    put(solver, position=place, rotation=turns, velocity=[[0.1 * k, 0, 0] for k in range(5)])
    energy = solver.energy()
    springs = 10 * 0.3**2 + 20 * 0.3**2 + 30 * 0.2**2 + 40 * 0.5**2 + 50 * 0.3**2
    assert energy.potential == pytest.approx(springs / 2 + 2.0 * 1 * 0.5, rel=1e-14)
    assert energy.kinetic == pytest.approx(sum((1 + k) * (0.1 * k) ** 2 for k in range(5)) / 2, rel=1e-14)
    assert energy.total == energy.kinetic + energy.potential


def test_energy_loss_of_undamped_springs_is_first_order():
    # Implicit Euler's damping ratio is about ωh/2: energy falls, and less at half the step.
    lost = []
    for h in (0.01, 0.005):
        solver = spring_models([(1.0, 25.0, 0.0)], np.array([0.1]), np.array([0.0]))
        solver.dt = h
        before = [solver.energy().total]
        for _ in range(round(0.2 / h)):
            solver.step()
            before.append(solver.energy().total)
        assert np.diff(before).max() < 0
        lost.append(before[0] - before[-1])
    assert 1.7 < lost[0] / lost[1] < 2.0
