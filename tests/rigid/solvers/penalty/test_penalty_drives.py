"""Limits, friction, motors, springs and gears of the penalty solver have the stiffness they are given."""

import math

import numpy as np
import pytest
from described import ZERO, X, Y, Z, g, rod_on_a_pivot
from references import WIDTH

import rigid


def solve(model, dt=0.003, **options):
    return rigid.solver("penalty", model, dt=dt, contacts=False, **options)


MOMENT = (0.5**2 + WIDTH**2) / 12  # of a rod about its middle [kg m²]


@pytest.mark.parametrize("stiffness", [1e4, 4e4])
def test_limit_is_passed_by_torque_over_stiffness(stiffness):
    # α* A⁻¹ (q - limit) = m g l/2 cos q, A = 1/I of the rod about its middle, as a torque alone turns it.
    solver = solve(rod_on_a_pivot(limits=(-0.2, 0.5)), angular_stiffness=stiffness)
    solver.step(2000)
    q = solver.joint_positions()["pivot"]
    assert q - 0.5 == pytest.approx(g * 0.25 * math.cos(q) / (stiffness * MOMENT), rel=1e-6)
    assert solver.statistics().residual >= (q - 0.5) * (1 - 1e-6)
    state = solver.state()
    state.velocity[0], state.angular_velocity[0] = np.cross((0, -4.0, 0), state.position[0]), (0, -4.0, 0)
    solver.set_state(rigid.State(state.position, state.rotation, state.velocity, state.angular_velocity))
    solver.step(30)
    assert q - solver.joint_positions()["pivot"] > 0.2  # the limit does not pull


@pytest.mark.parametrize("joint", ["ball", "universal", "slider", "distance"])
def test_limits_of_all_joints_are_passed_by_load_over_stiffness(joint):
    # As above for a rod that swings down to its limit; by g/α* for a weight on a slider or a string, with A = 1/m.
    model = rigid.Model(gravity=(0, 0, -g))
    rod = model.add_box((0.5, WIDTH, WIDTH), mass=1.0, position=(0.25, 0, 0))
    if joint == "ball":
        model.add_ball(rigid.GROUND, rod, ZERO, axis=X, swing_limit=0.5, friction=0.01, name="joint")
    elif joint == "universal":
        model.add_universal(rigid.GROUND, rod, ZERO, Y, Z, parent_limits=(-0.5, 0.5), child_limits=(0, 0), name="joint")
    elif joint == "slider":
        model.add_slider(rigid.GROUND, rod, None, Z, limits=(-0.3, 0.3), name="joint")
    else:
        model.add_distance(rigid.GROUND, rod, (0.25, 0, 0.5), (0.25, 0, 0), limits=(-math.inf, 0.1), name="joint")
    solver = solve(model)
    solver.step(3000)
    if joint in ("ball", "universal"):
        q = abs(solver.joint_positions()["joint"][0])
        torque = g * 0.25 * math.cos(q)
        assert q - 0.5 == pytest.approx(torque / (1e4 * MOMENT), abs=0.011 / (1e4 * MOMENT))  # 0.01 for friction
    else:
        beyond = -solver.state().position[rod, 2] - (0.3 if joint == "slider" else 0.1)
        assert beyond == pytest.approx(g / 5000, rel=1e-6)


@pytest.mark.parametrize("speed", [3.0, -3.0])
def test_limit_rebounds_by_its_damping(speed):
    # ζ = 1/2 = sin φ, φ = 30°: e = exp(-(π - 2φ) tan φ) = 0.2985. It varies by a part of h √α*, with the instant in a
    # step at which the limit is reached.
    for h in (0.002, 0.001, 0.0005):
        model = rigid.Model(gravity=(0, 0, 0))
        body = model.add_body(mass=1.0, inertia=(0.1, 0.1, 0.1), angular_velocity=(0, speed, 0))
        model.add_hinge(rigid.GROUND, body, ZERO, Y, limits=(-0.5, 0.5))
        solver = solve(model, h)
        solver.step(round(0.4 / h))
        back = -solver.state().angular_velocity[0, 1] / speed
        assert back == pytest.approx(math.exp(-2 * math.pi / 3 * math.tan(math.pi / 6)), abs=0.15 * h * 100)


def test_friction_slows_by_its_bound_and_then_holds():
    # v_n = v_0 - n h τ/I while it slips; then it stops, without creep.
    model = rigid.Model(gravity=(0, 0, 0))
    for k, spin in enumerate([(0, 1.2, 0), 1.2 * np.array([2.0, -1.0, 2.0]) / 3]):
        body = model.add_body(mass=0.5, inertia=(0.5, 0.5, 0.5), position=(k, 0, 0), angular_velocity=spin)
        if k == 0:
            model.add_hinge(rigid.GROUND, body, (0, 0, 0), Y, friction=0.4)
        else:
            model.add_ball(rigid.GROUND, body, (1, 0, 0), friction=0.4)
    solver = solve(model)
    solver.step(10)
    first = np.linalg.norm(solver.state().angular_velocity, axis=1)
    solver.step(400)
    spins = np.linalg.norm(solver.state().angular_velocity, axis=1)
    assert first - spins == pytest.approx(400 * 0.003 * 0.4 / 0.5, abs=1e-9)
    solver.step(600)
    assert np.abs(solver.state().angular_velocity).max() < 1e-9


def test_friction_holds_a_rod_without_creep():
    # A level rod needs m g l/2 = 2.45 N m, and 4.9 if it is released at once: 5 hold it, at τ/(α* I), and 2.3 do not.
    strong, weak = (solve(rod_on_a_pivot(friction=friction), damping=100.0) for friction in (5.0, 2.3))
    for solver in (strong, weak):
        solver.step(3000)
    held = strong.joint_positions()["pivot"]
    assert held == pytest.approx(g * 0.25 * math.cos(held) / (1e4 * MOMENT), rel=1e-6)
    strong.step(1500)
    assert strong.joint_positions()["pivot"] == pytest.approx(held, abs=1e-9)
    assert weak.joint_positions()["pivot"] > 0.2


@pytest.mark.parametrize("effort", [3.0, math.inf])
def test_motor_reaches_its_speed_under_load(effort):
    # Upwards from level, against 2.45 N m. The spring is stretched by load/(α* I), which changes with the angle q, so
    # the speed differs by m g l/2 sin q 0.5/(α* I) = 0.0033 rad/s.
    solver = solve(rod_on_a_pivot(motor=rigid.Motor(speed=-0.5, max_effort=effort)), damping=100.0)
    solver.step(400)
    q = solver.joint_positions()["pivot"]
    follows = 0.5 * g * 0.25 * math.sin(-q) / (1e4 * MOMENT)
    assert solver.joint_velocities()["pivot"] == pytest.approx(-0.5 - follows, abs=5e-4)
    solver.set_motor("pivot", speed=0.2)
    solver.step(400)
    assert solver.joint_velocities()["pivot"] == pytest.approx(0.2, abs=0.005)


def test_motor_holds_a_position_and_gives_way_above_its_effort():
    motors = (rigid.Motor(position=-0.4, max_effort=effort) for effort in (3.0, 2.0))
    strong, weak = (solve(rod_on_a_pivot(motor=motor), damping=100.0) for motor in motors)
    for solver in (strong, weak):
        solver.step(1000)
    assert strong.joint_positions()["pivot"] == pytest.approx(-0.4, abs=1e-6)
    assert weak.joint_positions()["pivot"] > 0.2


def test_springs_have_their_own_stiffness():
    # k q = τ for a hinge with a spring; m g/k for a spring between points and a soft joint.
    model = rod_on_a_pivot(spring=rigid.Spring(40.0, 2.0))
    ball = model.add_sphere(0.1, mass=2.0, position=(1, 0, -1))
    model.add_spring(rigid.GROUND, ball, (1, 0, 0), point_b=(1, 0, -1), stiffness=800.0, damping=20.0)
    other = model.add_sphere(0.1, mass=2.0, position=(2, 0, -1))
    model.add_ball(rigid.GROUND, other, (2, 0, -1), soft=rigid.Soft(stiffness=600.0, damping=20.0))
    solver = solve(model)
    solver.step(3000)
    q = solver.joint_positions()["pivot"]
    assert 40.0 * q == pytest.approx(g * 0.25 * math.cos(q), rel=1e-4)
    assert solver.state().position[[ball, other], 2] + 1 == pytest.approx([-2 * g / 800, -2 * g / 600], rel=1e-4)


@pytest.mark.parametrize("slides", [False, True])
def test_gear_gives_way_by_load_over_stiffness(slides):
    # b hangs on a, and friction holds a: A⁻¹ α* (q_b - ratio q_a) = load, A = ratio²/I_a + 1/m_b or 1/I_b, with one
    # force for both rows. Unit and α* are those of q_b.
    model = rigid.Model(gravity=(0, 0, -g))
    a = model.add_body(mass=1.0, inertia=(0.1, 0.1, 0.1), position=(-1, 0, 0))
    b = model.add_body(mass=0.5, inertia=(0.4, 0.4, 0.4), position=(1, 0, 0))
    model.add_hinge(rigid.GROUND, a, (-1, 0, 0), Y, friction=5.0, name="a")
    if slides:
        model.add_slider(rigid.GROUND, b, None, Z, name="b")
    else:
        model.add_hinge(rigid.GROUND, b, (0.9, 0, 0), Y, name="b")
    ratio = 0.3 if slides else -2.0
    model.add_gear("a", "b", ratio)
    solver = solve(model)
    solver.step(3000)
    q = solver.joint_positions()
    load, give, stiffness = (-0.5 * g, 1 / 0.5, 5e3) if slides else (0.5 * g * 0.1 * math.cos(q["b"]), 1 / 0.4, 1e4)
    give += ratio**2 / 0.1
    assert q["b"] - ratio * q["a"] == pytest.approx(give * load / stiffness, rel=1e-3)
    assert q["a"] == pytest.approx(ratio * load / (1e4 * 0.1), rel=1e-3)  # the stretch of friction under the same force
    assert solver.statistics().residual >= abs(q["b"] - ratio * q["a"]) * (1 - 1e-6)


def test_gear_without_damping_keeps_its_energy():
    # With x = q_b - ratio q_a, semi-implicit Euler conserves K + x_n α x_{n-1}/2, and x_{n-1} = x_n - h x'_n.
    model = rigid.Model(gravity=(0, 0, 0))
    a = model.add_body(mass=1.0, inertia=(0.1, 0.1, 0.1), position=(-1, 0, 0), angular_velocity=(0, 3.0, 0))
    b = model.add_body(mass=3.0, inertia=(0.4, 0.4, 0.4), position=(1, 0, 0))
    model.add_hinge(rigid.GROUND, a, (-1, 0, 0), Y, name="a")
    model.add_hinge(rigid.GROUND, b, (1, 0, 0), Y, name="b")
    model.add_gear("a", "b", -2.0)
    solver = solve(model, angular_damping=0.0)
    start = 0.5 * 0.1 * 3.0**2
    stored = []
    for _ in range(200):
        solver.step()
        energy = solver.energy()
        stored.append(energy.total - energy.kinetic)
        assert energy.total == pytest.approx(start, rel=1e-9)
    assert max(stored) > 0.5 * start


def test_gear_on_a_free_frame_comes_to_rest():
    # Both wheels rotate the frame, which couples the rows in A: the gear oscillates, comes to rest, and P is constant.
    model = rigid.Model(gravity=(0, 0, 0))
    frame = model.add_body(mass=2.0, inertia=(0.7, 0.7, 0.7))
    a = model.add_body(mass=1.0, inertia=(0.1, 0.1, 0.1), position=(-1, 0, 0), angular_velocity=(0, 3.0, 0))
    b = model.add_body(mass=3.0, inertia=(0.4, 0.4, 0.4), position=(1, 0, 0))
    model.add_hinge(frame, a, (-1, 0, 0), Y, name="a")
    model.add_hinge(frame, b, (1, 0, 0), (0, 0.6, 0.8), name="b")
    model.add_gear("a", "b", -2.0)
    solver, widest = solve(model), []
    for _ in range(6):
        solver.step(200)
        q = solver.joint_positions()
        widest.append(abs(q["b"] + 2.0 * q["a"]))
    assert abs(q["a"]) > 0.5
    assert widest[0] < 6.0 / math.sqrt(1e4)  # the start's q_b' - ratio q_a', over the frequency
    assert widest[-1] < 0.3 * widest[0]
    assert np.abs(rigid.linear_momentum(model, solver.state())).max() < 1e-12


@pytest.mark.parametrize(
    ("mass", "friction", "speed", "dt"),
    [(2.0, 10.0, 0.0715, 0.003), (0.97, 48.5, 1.553, 0.001), (1.66, 23.2, 0.411, 0.003)],
)
def test_friction_that_begins_to_slip_adds_no_energy(mass, friction, speed, dt):
    # Its damping alone exceeds the bound at first. A stretch that belonged to the whole bound would be energy.
    model = rigid.Model(gravity=ZERO)
    box = model.add_box((0.2, 0.2, 0.2), mass=mass, velocity=(speed, 0, 0))
    model.add_slider(rigid.GROUND, box, ZERO, X, friction=friction)
    solver = solve(model, dt)
    energies = [solver.energy().total]
    for _ in range(round(0.3 / dt)):
        solver.step()
        energies.append(solver.energy().total)
    assert energies[0] == pytest.approx(mass * speed**2 / 2)
    assert max(energies) <= energies[0]
    assert energies[-1] < 0.5 * energies[0]


def test_a_motor_that_is_a_torque_stores_no_energy():
    # ω = τ t/I about the hinge, I = 2 m a²/12 of a box with two sides a. It has that kinetic energy and no other.
    model = rigid.Model(gravity=(0, 0, 0))
    box = model.add_box((0.3, 0.3, 0.1), mass=2.0, position=(0, 0, 1))
    model.add_hinge(rigid.GROUND, box, (0, 0, 1), Z, motor=rigid.Motor(torque=3.0))
    solver = solve(model)
    solver.step(10)
    moment = 2 * 2.0 * 0.3**2 / 12
    # Velocities are read up to half a step later than poses.
    assert solver.energy().kinetic == pytest.approx(0.5 * moment * (3.0 * 10 * 0.003 / moment) ** 2, rel=0.1)
    assert solver.energy().potential == pytest.approx(0.0, abs=1e-9)
