"""Limits, motors, friction and gears of the impulse solver follow their equations."""

import math

import numpy as np
import pytest
from described import X, Y, Z, g, put, rod_on_a_pivot

import rigid


def solve(model, dt=0.01, **options):
    return rigid.solver("impulse", model, dt=dt, contacts=False, **options)


# Limits ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("limits", "speed", "stop"), [
    ((-0.5, 0.5), 3.0, 0.5),
    ((-0.5, 0.5), -3.0, -0.5),
    ((0.0, 2.5), 3.0, 2.5),
    ((-3.0, 0.1), -3.0, -3.0),
    ((-1.0, 9.0), 3.0, 9.0),
    ((-math.inf, 0.5), 3.0, 0.5),
    ((0.0, 0.0), 3.0, 0.0),
])  # fmt: skip
def test_hinge_limit_stops_without_gaining_energy(limits, speed, stop):
    # Free flight, then G >= 0 without rebound: the angle reaches the limit and stays; energy falls to zero and never
    # rises. The bias (G - 0)/h shortens the motion of the step that reaches the limit, so it is reached exactly.
    model = rigid.Model(gravity=(0, 0, 0))
    body = model.add_body(mass=1.0, inertia=(0.1, 0.1, 0.1), angular_velocity=(0, speed, 0))
    model.add_hinge(rigid.GROUND, body, (0, 0, 0), Y, limits=limits, name="pivot")
    solver = solve(model)
    energies, angles = [solver.energy().total], []
    for _ in range(80):
        solver.step(5)
        energies.append(solver.energy().total)
        angles.append(solver.joint_positions()["pivot"])
    assert angles[-1] == pytest.approx(stop, abs=3e-4)
    assert max(angles) < limits[1] + 1e-12
    assert min(angles) > limits[0] - 1e-12
    assert np.diff(energies).max() < 1e-15
    assert energies[-1] < 1e-9


def test_rod_rests_on_its_limit_and_leaves_it():
    model = rod_on_a_pivot(limits=(-0.2, 0.5))
    solver = solve(model)
    solver.step(100)
    assert solver.joint_positions()["pivot"] == pytest.approx(0.5, abs=math.radians(0.05))
    put(solver, angular_velocity=[(0, -4.0, 0)], velocity=np.cross((0, -4.0, 0), [solver.state().position[0]]))
    solver.step(8)
    assert solver.joint_positions()["pivot"] < 0.3  # the limit does not pull


def kicked(model, kicks, strength):
    """Kick the last body again and again, without gravity; positions of the first joint after every step.

    Energy never rises between kicks: limits have no restitution.
    """
    random = np.random.default_rng(4)
    solver, seen, energy = solve(model), [], math.inf
    for _ in range(kicks):
        state = solver.state()
        state.velocity[-1] += strength * random.normal(size=3)
        state.angular_velocity[-1] += 3 * strength * random.normal(size=3)
        solver.set_state(rigid.State(state.position, state.rotation, state.velocity, state.angular_velocity))
        energy = solver.energy().total
        for _ in range(16):
            solver.step()
            seen.append(solver.joint_positions()[model.joints[0].name])
            now = solver.energy().total
            assert now < energy + 1e-9
            energy = now
    return np.array(seen)


def test_ball_stays_within_swing_and_twist_limits():
    # A trailer's hitch with 18° of swing and 15° of twist is kicked hard and exceeds them by less than 0.2°.
    model = rigid.Model(gravity=(0, 0, 0))
    robot = model.add_box((0.6, 0.4, 0.2), mass=8.0)
    trailer = model.add_box((0.6, 0.4, 0.2), mass=5.0, position=(0.9, 0, 0))
    swing, twist = math.radians(18), math.radians(15)
    model.add_ball(robot, trailer, (0.45, 0, 0), axis=X, swing_limit=swing, twist_limits=(-twist, twist), name="hitch")
    seen = kicked(model, 30, 0.6)
    slack = math.radians(0.2)
    assert seen[:, 0].max() < swing + slack
    assert np.abs(seen[:, 1]).max() < twist + slack
    # Both limits are reached, on both sides.
    assert seen[:, 0].max() > swing - slack
    assert seen[:, 1].max() > twist - slack
    assert seen[:, 1].min() < -twist + slack


def test_universal_joint_stays_within_limits_of_both_axes():
    model = rigid.Model(gravity=(0, 0, 0))
    a = model.add_box((0.6, 0.4, 0.2), mass=8.0)
    b = model.add_box((0.6, 0.4, 0.2), mass=5.0, position=(0.9, 0, 0))
    limits = (-0.3, 0.5), (-0.2, 0.4)
    model.add_universal(a, b, (0.45, 0, 0), Y, Z, parent_limits=limits[0], child_limits=limits[1], name="hitch")
    seen = kicked(model, 40, 0.8)
    for k, (low, high) in enumerate(limits):
        assert low - math.radians(0.2) < seen[:, k].min() < low + 0.01
        assert high - 0.01 < seen[:, k].max() < high + math.radians(0.2)


def test_slider_stops_at_both_ends():
    # Free flight on a rail across gravity, then G >= 0: exact.
    for speed, stop in ((2.0, 0.35), (-2.0, -0.15)):
        model = rigid.Model()
        body = model.add_box((0.1, 0.1, 0.1), mass=2.0, velocity=(speed, 0, 0))
        model.add_slider(rigid.GROUND, body, None, X, limits=(-0.15, 0.35), name="rail")
        solver = solve(model)
        seen = []
        for _ in range(60):
            solver.step()
            seen.append(solver.joint_positions()["rail"])
        assert seen[5] == pytest.approx(0.06 * speed, abs=1e-12)
        assert seen[-1] == pytest.approx(stop, abs=3e-4)
        assert -0.15 - 1e-12 < min(seen) <= max(seen) < 0.35 + 1e-12


def test_string_holds_and_goes_slack():
    model = rigid.Model()
    ball = model.add_sphere(0.05, mass=1.0, position=(0.3, 0, 0))
    model.add_distance(rigid.GROUND, ball, (0, 0, 0), limits=(-math.inf, 0.2))
    solver = solve(model)
    lengths = []
    for _ in range(300):
        solver.step()
        lengths.append(np.linalg.norm(solver.state().position[0]))
    assert max(lengths) < 0.5 + 1e-5
    assert min(lengths) < 0.4
    # In the end the string is tight and swings.
    assert np.ptp(lengths[-50:]) < 1e-3


# Motors and friction --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("joint", "inertia"), [("hinge", 0.25), ("slider", 2.0)])
@pytest.mark.parametrize("effort", [0.5, math.inf])
def test_motor_reaches_its_speed_within_its_effort(joint, inertia, effort):
    # v_n = min(n h τ/I, speed), exactly, with a load too.
    model = rigid.Model(gravity=(0, 0, 0))
    body = model.add_body(mass=2.0, inertia=(0.3, 0.25, 0.2))
    motor = rigid.Motor(speed=1.5, max_effort=effort)
    if joint == "hinge":
        model.add_hinge(rigid.GROUND, body, (0, 0, 0), Y, motor=motor, name="drive")
    else:
        model.add_slider(rigid.GROUND, body, None, Y, motor=motor, name="drive")
    solver, position = solve(model), 0.0
    for n in range(1, 101):
        solver.step()
        expected = min(0.01 * n * effort / inertia, 1.5)
        position += 0.01 * expected
        assert solver.joint_velocities()["drive"] == pytest.approx(expected, abs=1e-12)
        assert solver.joint_positions()["drive"] == pytest.approx(position, abs=1e-11)


@pytest.mark.parametrize("joint", ["hinge", "slider"])
def test_motor_holds_a_position(joint):
    # e' = -gain e by implicit Euler: e_n = e_0/(1 + gain h)ⁿ for any load (friction, for the hinge).
    model = rigid.Model(gravity=(0, 0, -g))
    body = model.add_box((0.2, 0.2, 0.2), mass=2.0)
    motor = rigid.Motor(position=-0.7, position_gain=8.0)
    if joint == "hinge":
        model.add_hinge(rigid.GROUND, body, (0, 0, 0), Y, motor=motor, friction=3.0, name="drive")
    else:
        model.add_slider(rigid.GROUND, body, None, Z, motor=motor, name="drive")
    solver, left = solve(model, iterations=400, tolerance=1e-13), 0.7
    for _ in range(100):
        solver.step()
        left /= 1 + 8 * 0.01
        assert solver.joint_positions()["drive"] + 0.7 == pytest.approx(left, abs=1e-9)


def test_motor_gives_way_above_its_effort():
    # A level rod needs m g l = 2.4525 N m: 2.4 N m let it fall, 2.5 N m hold it.
    weak, strong = (solve(rod_on_a_pivot(motor=rigid.Motor(position=0.0, max_effort=effort))) for effort in (2.4, 2.5))
    for solver in (weak, strong):
        solver.step(100)
    assert weak.joint_positions()["pivot"] > 0.05
    assert abs(strong.joint_positions()["pivot"]) < 1e-6


@pytest.mark.parametrize("kind", ["hinge", "slider", "ball", "universal"])
def test_joint_friction_slows_by_its_bound_and_then_holds(kind):
    # v_n = max(v_0 - n h τ/I, 0), for a ball in any direction, because its friction is a vector.
    model = rigid.Model(gravity=(0, 0, 0))
    axis = np.array([2.0, -1.0, 2.0]) / 3
    body = model.add_body(mass=0.5, inertia=(0.5, 0.5, 0.5), angular_velocity=1.2 * axis, velocity=1.2 * axis)
    friction = {"friction": 0.4, "name": "joint"}
    if kind == "hinge":
        model.add_hinge(rigid.GROUND, body, (0, 0, 0), axis, **friction)
    elif kind == "slider":
        model.add_slider(rigid.GROUND, body, None, axis, **friction)
    elif kind == "ball":
        model.add_ball(rigid.GROUND, body, (0, 0, 0), **friction)
    else:
        model.add_universal(rigid.GROUND, body, (0, 0, 0), axis, np.cross(axis, X), **friction)
    solver = solve(model)
    for n in range(1, 201):
        solver.step()
        expected = max(1.2 - 0.01 * n * 0.4 / 0.5, 0.0)
        state = solver.state()
        found = (state.velocity if kind == "slider" else state.angular_velocity)[0] @ axis
        assert found == pytest.approx(expected, abs=1e-9)
    assert np.abs(state.angular_velocity).max() < 1e-12


# Gears ----------------------------------------------------------------------------------------------------------------


def geared(ratio, joint_b="hinge", shared=False):
    """A driven wheel, and another wheel or a rack, that move together."""
    model = rigid.Model(gravity=(0, 0, 0))
    a = model.add_body(mass=1.0, inertia=(0.1, 0.1, 0.1), position=(-1, 0, 0))
    b = model.add_body(mass=3.0, inertia=(0.4, 0.4, 0.4), position=(1, 0, 0))
    if shared:
        frames = 2 * [model.add_body(mass=2.0, inertia=(0.7, 0.7, 0.7))]
    else:
        frames = [model.add_body(mass=2.0, inertia=(0.7, 0.7, 0.7), position=(5 * k, 3, 0)) for k in range(2)]
    model.add_hinge(frames[0], a, (-1, 0, 0), Y, name="a")
    if joint_b == "hinge":
        model.add_hinge(frames[1], b, (1, 0, 0), (0, 0.6, 0.8), name="b")
    else:
        model.add_slider(frames[1], b, None, (0, 0.6, 0.8), name="b")
    model.add_gear("a", "b", ratio)
    return model


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize(("joint", "ratio"), [("hinge", -2.0), ("hinge", 0.3), ("slider", 0.05)])
def test_gear_keeps_its_ratio(joint, ratio, shared):
    # q_b = ratio q_a, on free frames that rotate, too. Position correction is linear; see above.
    model = geared(ratio, joint, shared)
    solver = solve(model, iterations=400, tolerance=1e-11)
    spins = solver.state().angular_velocity
    spins[0] = (0, 30.0, 0)
    put(solver, angular_velocity=spins)
    momentum = rigid.linear_momentum(model, solver.state())
    for _ in range(60):
        solver.step()
        q = solver.joint_positions()
        assert q["b"] == pytest.approx(ratio * q["a"], abs=1e-6)
    assert abs(q["a"]) > 0.9
    assert np.abs(rigid.linear_momentum(model, solver.state()) - momentum).max() < 1e-11


@pytest.mark.parametrize(("joint", "ratio"), [("hinge", -2.0), ("slider", 0.05)])
def test_gear_keeps_angular_momentum(joint, ratio):
    # One step without position correction keeps L of all four bodies to round-off, because each q is of two bodies.
    model = geared(ratio, joint)
    solver = solve(model, iterations=400, tolerance=1e-11, error_reduction=0.0)
    spins = np.random.default_rng(3).normal(size=(4, 3))
    put(solver, angular_velocity=spins, velocity=spins[::-1])
    momentum = rigid.angular_momentum(model, solver.state())
    solver.step()
    # Impulses act at the poses of the step's start, so L is computed there.
    state, start = solver.state(), model.initial_state()
    state.position, state.rotation = start.position, start.rotation
    assert np.abs(rigid.angular_momentum(model, state) - momentum).max() < 1e-12


def test_gear_transmits_torque_by_its_ratio():
    # I_a a_a = τ - r λ, I_b a_b = λ, a_b = r a_a: a_a = τ/(I_a + r² I_b).
    model = rigid.Model(gravity=(0, 0, 0))
    for k, inertia in enumerate((0.1, 0.4)):
        body = model.add_body(mass=1.0, inertia=3 * (inertia,), position=(k, 0, 0))
        motor = rigid.Motor(speed=1e6, max_effort=0.7) if k == 0 else None
        model.add_hinge(rigid.GROUND, body, (k, 0, 0), Y, motor=motor, name="ab"[k])
    model.add_gear("a", "b", -1.5)
    solver = solve(model, iterations=200, tolerance=1e-15)
    solver.step(50)
    assert solver.joint_velocities()["a"] == pytest.approx(0.5 * 0.7 / (0.1 + 1.5**2 * 0.4), rel=1e-10)
    # Over several turns the ratio is exact.
    solver.step(500)
    positions = solver.joint_positions()
    assert positions["a"] > 3 * math.pi
    assert positions["b"] == pytest.approx(-1.5 * positions["a"], rel=1e-10)
