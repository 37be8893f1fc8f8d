"""Gears, motors without a bound and locks as rows of the direct solve."""

import math

import numpy as np
import pytest
import taichi as ti
from described import momenta_of_particles
from marks import slow
from references import LENGTH, STEPS, WIDTH, assert_second_order
from scipy.integrate import solve_ivp

import pbd
import rigid
from pbd.constraints.constraint_type import evaluate_function
from pbd.direct.gradients import gradients_at
from rigid.rotation import rotate
from rigid.solvers.verlet.joint_coordinates import ANGLE, SHIFT
from rigid.solvers.verlet.joint_drives import coordinate_drive
from rigid.solvers.verlet.joint_limits import BALL_LIMIT, angle_limit, coordinate_limit
from rigid.solvers.verlet.joint_locks import gear

g = 9.81
HALF = LENGTH / 2
INERTIA = (LENGTH**2 + WIDTH**2) / 12 + HALF**2  # of a rod of 1 kg about its end [kg m²]
TIME = 0.6


def solver_of(model, dt, iterations=2, solve="direct"):
    return rigid.solver("verlet", model, dt=dt, iterations=iterations, solve=solve, contacts=False)


def rod(model, start, spin=0.0, mass=1.0, velocity=(0.0, 0.0, 0.0)):
    """Add a level rod along x. Args: start: its end; spin: about y [rad/s]; velocity: of its start."""
    half = np.array([HALF, 0, 0])
    return model.add_box(
        (LENGTH, WIDTH, WIDTH), mass=mass, position=start + half, angular_velocity=(0, spin, 0),
        velocity=velocity + np.cross((0, spin, 0), half),
    )  # fmt: skip


def geared(ratio=-1.5, mass=1.0):
    """Two level rods on hinges about y, the second geared to the first."""
    model = rigid.Model(gravity=(0, 0, -g))
    for name, place in (("a", (0.0, 0, 0)), ("b", (0.0, 1.0, 0))):
        model.add_hinge(rigid.GROUND, rod(model, np.array(place), mass=mass), place, (0, 1, 0), name=name)
    model.add_gear("a", "b", ratio)
    return model


def driven(speed=3.0):
    """A crank with a motor of constant speed, and a rod that hangs from its end."""
    model = rigid.Model(gravity=(0, 0, -g))
    crank = rod(model, np.zeros(3), speed)
    end = np.array([LENGTH, 0, 0])
    follower = rod(model, end, velocity=np.cross((0, speed, 0), end))
    model.add_hinge(rigid.GROUND, crank, (0, 0, 0), (0, 1, 0), motor=rigid.Motor(speed=speed), name="motor")
    model.add_hinge(crank, follower, end, (0, 1, 0))
    return model


def angles_of(solver):
    """Angles of rods about y (rods,), up to half a turn."""
    w, _, y, _ = solver.state().rotation.T
    return 2 * np.arctan2(y, w)


@pytest.mark.slow
def test_gear_is_of_second_order():
    # (J + r² J) q'' = m g l/2 (cos q + r cos r q), for q downwards from the level.
    ratio = -1.5

    def motion(_, y):
        torque = g * HALF * (np.cos(y[0]) + ratio * np.cos(ratio * y[0]))
        return y[1], torque / (INERTIA * (1 + ratio**2))

    exact = solve_ivp(motion, (0, TIME), (0, 0), "DOP853", rtol=1e-12, atol=1e-12).y[0, -1]
    errors = []
    for h in STEPS:
        solver = solver_of(geared(ratio), h)
        solver.step(round(TIME / h))
        q = angles_of(solver)
        errors.append(abs(q[0] - exact))
        assert q[1] == pytest.approx(ratio * q[0], abs=1e-6 * (h / STEPS[0]) ** 4)  # Newton's second round
    assert_second_order(errors)


@pytest.mark.slow
def test_gear_counts_full_turns():
    # A turn that is lost would be an error of 2π: q_b = r q_a after many of them, with snapshots between.
    model = rigid.Model(gravity=(0, 0, 0))
    for name, place, spin in (("a", (0.0, 0, 0), 12.0), ("b", (0.0, 1, 0), 30.0)):
        model.add_hinge(rigid.GROUND, rod(model, np.array(place), spin), place, (0, 1, 0), name=name)
    model.add_gear("a", "b", 2.5)
    solver = solver_of(model, 0.005, iterations=5)
    for _ in range(40):
        solver.step(10)
        solver.set_state(solver.state())
        q = solver.joint_positions()
    assert q["b"] == pytest.approx(2.5 * q["a"], abs=1e-6)
    assert abs(q["a"]) > 20


@pytest.mark.slow
def test_gear_needs_many_iterations_otherwise():
    direct, iterated = (solver_of(geared(), 0.01, n, solve) for n, solve in ((6, "direct"), (6, "iterative")))
    for solver in (direct, iterated):
        solver.step(40)
    gaps = [abs(angles_of(solver) @ (1.5, 1.0)) for solver in (direct, iterated)]
    assert gaps[0] < 1e-10
    assert gaps[1] > 1e-6


@pytest.mark.slow
def test_motor_of_constant_speed_is_of_second_order():
    # J q'' + (m l/2) L ω² sin(q - ω t) = m g l/2 cos q, for the absolute angle q of the follower. Rests of Newton's
    # method add up, because a motor of constant speed begins each step where the last one ended. So there are four
    # rounds. The steps are so short that none is divided.
    speed = 3.0

    def motion(t, y):
        return y[1], (g * HALF * np.cos(y[0]) - HALF * LENGTH * speed**2 * np.sin(y[0] - speed * t)) / INERTIA

    exact = solve_ivp(motion, (0, TIME), (0, 0), "DOP853", rtol=1e-12, atol=1e-12).y[0, -1]
    errors = []
    for h in np.array(STEPS) / 2:
        solver = solver_of(driven(speed), h, iterations=4)
        solver.step(round(TIME / h))
        q = angles_of(solver)
        errors.append(abs(q[1] - exact))
        assert q[0] == pytest.approx(speed * TIME, abs=1e-8)
    assert_second_order(errors)


@pytest.mark.slow
def test_motor_approaches_its_position_under_any_load():
    # q := q + (p - q) h k/(1 + h k), implicit Euler, with 100 kg at the end of the arm.
    h, gain, place = 0.01, 2.0, 0.7
    model = rigid.Model(gravity=(0, 0, -g))
    arm = rod(model, np.zeros(3))
    load = model.add_box((0.2, 0.2, 0.2), mass=100.0, position=(LENGTH + 0.1, 0, 0))
    motor = rigid.Motor(position=place, position_gain=gain)
    model.add_hinge(rigid.GROUND, arm, (0, 0, 0), (0, 1, 0), motor=motor, name="shoulder")
    model.add_fixed(arm, load, (LENGTH, 0, 0))
    solver = solver_of(model, h, iterations=5)
    solver.step(1)  # with a jolt, so it is made in parts, and q moves by the mean of (p - q) h k over them
    q = solver.joint_positions()["shoulder"]
    assert h * gain / (1 + h * gain) < q / place < 1 - math.exp(-h * gain)
    for _ in range(49):
        solver.step(1)
        q += (place - q) * h * gain / (1 + h * gain)
        assert solver.joint_positions()["shoulder"] == pytest.approx(q, abs=1e-8)
    solver.set_motor("shoulder", position=-0.2)
    solver.step(50)
    assert solver.joint_positions()["shoulder"] == pytest.approx(-0.2 + (q + 0.2) / (1 + h * gain) ** 50, abs=1e-8)


def test_motor_with_a_bound_iterates():
    bounded, unbounded = rigid.Model(), rigid.Model()
    for model, most in ((bounded, 5.0), (unbounded, np.inf)):
        motor = rigid.Motor(speed=1.0, max_effort=most)
        model.add_hinge(rigid.GROUND, rod(model, np.zeros(3)), (0, 0, 0), (0, 1, 0), motor=motor)
    rows = [solver_of(model, 0.01).statistics().direct for model in (bounded, unbounded)]
    assert rows[1] == rows[0] + 1


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["hinge", slow("slider")])
def test_locked_joint_is_a_weld(kind):
    # Limits without play hold as three shared points do, with two rounds.
    def end(lock):
        model = rigid.Model(gravity=(0, 0, -g))
        first, second = rod(model, np.zeros(3)), rod(model, np.array([LENGTH, 0, 0]), mass=5.0)
        model.add_ball(rigid.GROUND, first, (0, 0, 0))
        if lock == "weld":
            model.add_fixed(first, second, (LENGTH, 0, 0))
        else:
            add = model.add_hinge if kind == "hinge" else model.add_slider
            add(first, second, (LENGTH, 0, 0), (0, 1, 0), limits=(0.0, 0.0), name="lock")
        solver = solver_of(model, 0.002)
        solver.step(200)
        if lock != "weld":
            assert abs(solver.joint_positions()["lock"]) < 1e-8
        return solver.state().position

    assert end("lock") == pytest.approx(end("weld"), abs=2e-5)


def free_gear():
    """Two rods on a free carrier, geared, with a motor between carrier and the first."""
    model = rigid.Model(gravity=(0, 0, 0))
    carrier = model.add_box((0.3, 1.2, 0.1), mass=2.0, position=(0, 0.5, 0))
    for name, place, motor in (("a", (0.0, 0, 0), rigid.Motor(speed=4.0)), ("b", (0.0, 1.0, 0), None)):
        model.add_hinge(carrier, rod(model, np.array(place)), place, (0, 1, 0.2), name=name, motor=motor)
    model.add_gear("a", "b", 0.5)
    return model


@pytest.mark.slow
def test_gear_and_motor_keep_momenta():
    # Angles between bodies do not change when all particles shift or turn together: Σ ∇C = 0 and Σ x × ∇C = 0.
    solver = solver_of(free_gear(), 0.005, iterations=4)
    solver.step(1)
    assert np.concatenate(momenta_of_particles(solver)) == pytest.approx(np.zeros(6), abs=1e-12)
    for _ in range(20):
        solver.step(10)
        q = solver.joint_positions()
    assert np.concatenate(momenta_of_particles(solver)) == pytest.approx(np.zeros(6), abs=1e-10)
    assert q["b"] == pytest.approx(0.5 * q["a"], abs=1e-8)
    assert q["a"] == pytest.approx(4.0 * 201 * 0.005, abs=1e-6)


def evaluator(definition):
    """Make a function (x, start, numbers) -> C of a constraint type, with a step of 1 s."""
    arity, width = definition.arity, len(definition.parameters)
    given = width + definition.needs_time

    @ti.kernel
    def evaluate(x: ti.types.ndarray(), start: ti.types.ndarray(), numbers: ti.types.ndarray()) -> float:
        now, before = [
            [ti.Vector([each[k, 0], each[k, 1], each[k, 2]]) for k in ti.static(range(arity))]
            for each in ti.static((x, start))
        ]
        p = [numbers[k] if ti.static(k < width) else 1.0 for k in ti.static(range(given))]
        return evaluate_function(definition, now, before, p)[0]

    return evaluate


def random_axes(generator):
    """Numbers of a ball limit: orthogonal axes of both frames, two anchors and widths."""
    m, n = (np.linalg.qr(generator.normal(size=(3, 3)))[0] for _ in range(2))
    widths = np.cos(0.4), np.sin(0.4), np.cos(0.3), np.sin(0.3)
    return np.concatenate([m[0], n[0], m[1], m[2], n[1], np.zeros(6), widths])


@pytest.mark.parametrize(
    ("definition", "last"),
    [
        (coordinate_drive(ANGLE), None),
        (coordinate_drive(SHIFT), None),
        (gear(ANGLE, SHIFT, (0, 1, 0, 2)), None),
        (angle_limit(ANGLE), None),
        (coordinate_limit(ANGLE), None),
        (coordinate_limit(SHIFT), None),
        (BALL_LIMIT.rows[0], 0.0),
        (BALL_LIMIT.rows[0], 1.0),
    ],
)
def test_gradients_of_corners(definition, last):
    # ∇C = dC/dx by central differences, for strained frames in general positions.
    generator = np.random.default_rng(3)
    corners = np.array([(1, 1, 1), (1, -1, -1), (-1, 1, -1), (-1, -1, 1)]) * (0.4, 0.2, 0.1)
    frames = definition.arity // 4
    x = np.concatenate([corners + generator.normal(size=3) for _ in range(frames)])
    x += 0.02 * generator.normal(size=x.shape)
    numbers = generator.normal(size=(1, definition.width))
    if last is not None:
        numbers[0] = [*random_axes(generator), last]
    members = np.arange(len(x))[None]
    found = gradients_at(definition, x, members, numbers)[0]
    evaluate, expected, step = evaluator(definition), np.zeros(x.shape), 1e-6
    for place in np.ndindex(x.shape):
        ends = []
        for sign in (1, -1):
            moved = x.copy()
            moved[place] += sign * step
            ends.append(evaluate(moved, x, numbers[0]))
        expected[place] = (ends[0] - ends[1]) / (2 * step)
    assert found == pytest.approx(expected, abs=1e-7)
    assert found.sum(axis=0) == pytest.approx(np.zeros(3), abs=1e-12)
    assert np.cross(x, found).sum(axis=0) == pytest.approx(np.zeros(3), abs=1e-12)


@pytest.mark.slow
def test_rope_on_a_body_closes_in_few_rounds():
    # An attachment of a particle to the four corners of a frame: the same equations as with many iterations.
    def solver(solve, iterations):
        model = rigid.Model(gravity=(0, 0, -g))
        boom = rod(model, np.zeros(3))
        model.add_hinge(rigid.GROUND, boom, (0, 0, 0), (0, 1, 0))
        rope = pbd.Particles(gravity=(0, 0, -g))
        rope.add_particles([(LENGTH, 0.05 * k, -0.1 * k) for k in range(4)], (0.1, 0.1, 0.1, 1.0))
        rope.add_sticks([(0, 1), (1, 2), (2, 3)])
        given = {"particles": rope, "attachments": (([0], boom),), "contacts": False}
        return rigid.solver("verlet", model, dt=0.002, solve=solve, iterations=iterations, **given)

    direct, iterated = solver("direct", 4), solver("iterative", 3000)
    for each in (direct, iterated):
        each.step(30)
    assert direct.particle_positions() == pytest.approx(iterated.particle_positions(), abs=1e-6)
    # The particle stays at the end of the boom.
    end = direct.state().position[0] + rotate(direct.state().rotation[0], (HALF, 0, 0))
    assert direct.particle_positions()[0] == pytest.approx(end, abs=1e-9)
