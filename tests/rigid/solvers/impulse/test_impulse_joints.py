"""Joints of the impulse solver stay closed and keep momentum. Limits and motors are in test_impulse_drives.py."""

import math

import numpy as np
import pytest
from described import Y, Z, all_joints_in_a_row, g, put, rod_on_a_pivot
from marks import slow
from scipy.integrate import solve_ivp

import rigid
from rigid.constraints.joints.gaps import joint_gaps, joint_turns
from rigid.rotation import from_axis_angle, rotate

MASSES = (0.3, 5.0, 1.0, 0.1, 2.0, 0.7, 3.0)


def solve(model, dt=0.01, **options):
    return rigid.solver("impulse", model, dt=dt, contacts=False, **options)


def opening(model, state):
    """The largest joint error [m or rad]."""
    return max(joint_gaps(model, state).max(), joint_turns(model, state).max())


def test_all_joints_stay_closed_in_a_tumbling_chain():
    # A step opens joints by its drift, h² ω² ξ/2, of which one linear correction leaves the square: h⁴.
    worst = []
    for h in (0.01, 0.005):
        model = all_joints_in_a_row(MASSES, 2.0, 0.5, gravity=(0, 0, -1.0), round_bodies=False)
        solver = solve(model, dt=h, iterations=1000, tolerance=1e-11)
        gaps, slider = [], []
        for _ in range(100):
            solver.step()
            gaps.append(opening(model, solver.state()))
            slider.append(solver.joint_positions()[model.joints[3].name])
        worst.append(max(gaps))
        assert max(map(abs, slider)) < 0.1 + 1e-6
    assert worst[0] < 1e-6
    assert worst[1] < worst[0] / 10
    assert slider[-1] > 0.05  # the slider is pulled out
    assert np.abs(solver.state().angular_velocity).max() > 2  # the chain tumbles


@pytest.mark.parametrize("soft", [None, rigid.Soft(stiffness=500.0, damping=2.0)])
def test_joints_keep_momentum_to_round_off(soft):
    # Opposite impulses at one point keep P and L exactly, converged or not. The bodies have equal moments of inertia,
    # so their L is constant while they rotate. Position correction is off: it moves bodies without velocity.
    model = all_joints_in_a_row(MASSES, 2.0, 0.5, soft=soft)
    solver = solve(model, iterations=3, error_reduction=0.0)
    # In an open joint the impulses act at points apart, so L changes by gap times impulse: L is exact in the first step
    # alone, P always.
    before = rigid.linear_momentum(model, solver.state()), rigid.angular_momentum(model, solver.state())
    solver.step(1)
    after = rigid.linear_momentum(model, solver.state()), rigid.angular_momentum(model, solver.state())
    assert np.abs(after[0] - before[0]).max() < 1e-14
    assert np.abs(after[1] - before[1]).max() < 1e-14
    solver.step(300)
    assert np.abs(rigid.linear_momentum(model, solver.state()) - before[0]).max() < 1e-12


def test_drift_of_angular_momentum_is_first_order():
    # Poses move by old velocities, and are corrected without any: first order in h.
    drift = []
    for h in (0.01, 0.005):
        model = all_joints_in_a_row(MASSES, 2.0, 0.5)
        model.joints[3].limits = (-math.inf, math.inf)
        solver = solve(model, dt=h, iterations=300, tolerance=1e-12)
        before = rigid.angular_momentum(model, solver.state())
        solver.step(round(0.5 / h))
        drift.append(np.abs(rigid.angular_momentum(model, solver.state()) - before).max())
    assert drift[0] < 0.003
    assert 1.9 < drift[0] / drift[1] < 2.1


# A rod on a hinge -----------------------------------------------------------------------------------------------------

def test_rod_with_friction_comes_to_rest_like_the_pendulum():
    # I θ'' = m g l cos θ - τ sign θ' from θ = 0. After six swings it turns back where m g l |cos θ| < τ, and stays at
    # 1.671423837. First order in h, if h is so small that it makes as many swings.
    errors = []
    for h in (0.0025, 0.00125, 0.000625):
        solver = solve(rod_on_a_pivot(friction=0.3), dt=h)
        solver.step(round(8 / h))
        assert abs(solver.joint_velocities()["pivot"]) < 1e-12
        errors.append(solver.joint_positions()["pivot"] - 1.671423837)
    assert 0 < errors[0] < 0.022
    assert np.divide(errors[:-1], errors[1:]) == pytest.approx(2, abs=0.06)


@pytest.mark.parametrize("h", [1 / 480, 1 / 960])
def test_a_pendulum_loses_the_energy_that_turns_out_of_its_way(h):
    # The centre of mass moves straight in a step, and its velocity ω r is then projected onto a tangent that has turned
    # by ω h: that takes m r² ω² (ω h)²/2 in each step. The next order of h is a part of this.
    model, r, inertia = rod_on_a_pivot(), 0.25, (0.5**2 + 0.05**2) / 12 + 0.25**2
    solver = solve(model, dt=h)
    start = solver.energy().total
    solver.step(round(6 / h))
    motion = solve_ivp(
        lambda t, y: [y[1], (g * r * math.cos(y[0]) - r * r * y[1] ** 3 * h / 2) / inertia], (0, 6), [0, 0], rtol=1e-9
    )
    angle, speed = motion.y[:, -1]
    left = inertia * speed**2 / 2 - g * r * math.sin(angle)
    assert solver.energy().total - start == pytest.approx(left, rel=0.02)


@pytest.mark.parametrize("axis", [Y, (1.0, 2.0, -2.0)])
def test_angles_count_three_turns(axis):
    # At a constant 2.5 rad/s: θ = ω t, past 90°, half a turn and full turns.
    model = rigid.Model(gravity=(0, 0, 0))
    axis = np.array(axis) / np.linalg.norm(axis)
    body = model.add_body(mass=1.0, inertia=(1, 1, 1), angular_velocity=2.5 * axis)
    model.add_hinge(rigid.GROUND, body, (0, 0, 0), axis, name="pivot")
    model.add_universal(rigid.GROUND, model.add_body(mass=1.0, inertia=(1, 1, 1), angular_velocity=-2.5 * axis),
                        (0, 0, 0), axis, np.cross(axis, (0.3, 0.4, 0.5)), name="cross")  # fmt: skip
    solver = solve(model, dt=6 * math.pi / 2.5 / 400)
    for quarter in (1, 2, 3, 4):
        solver.step(100)
        assert solver.joint_positions()["pivot"] == pytest.approx(1.5 * math.pi * quarter, abs=1e-12)
        assert solver.joint_positions()["cross"] == pytest.approx((-1.5 * math.pi * quarter, 0), abs=1e-12)
    state = solver.state()
    solver.step(100)
    solver.set_state(state)  # the state's warm_start has the count
    assert solver.joint_positions()["pivot"] == pytest.approx(6 * math.pi, abs=1e-12)
    solver.step(100)
    assert solver.joint_positions()["pivot"] == pytest.approx(7.5 * math.pi, abs=1e-12)


# Redundant and extreme joints -----------------------------------------------------------------------------------------


def test_redundant_rows_keep_the_motion():
    # Two hinges between the same bodies on one axis, and a planar four-bar linkage of hinges, three rows of which are
    # redundant: they stay closed, and move like a door and a parallelogram.
    door = rigid.Model(gravity=(0, 0, 0))
    leaf = door.add_box((0.8, 0.04, 2.0), mass=20.0, position=(0.4, 0, 1), angular_velocity=(0, 0, 1.0),
                        velocity=(0, 0.4, 0))  # fmt: skip
    for height in (0.2, 1.8):
        door.add_hinge(rigid.GROUND, leaf, (0, 0, height), Z, name=f"at {height}")
    solver = solve(door)
    solver.step(200)
    assert opening(door, solver.state()) < 1e-6
    positions = solver.joint_positions()
    assert positions["at 0.2"] == pytest.approx(positions["at 1.8"], abs=1e-6)
    # The speed is projected onto the turned leaf: ω' (I + m l²) = I ω + m l² ω cos ωh, up to (ωh)³ in each step.
    about_middle, orbit, speed, angle = 20 * (0.8**2 + 0.04**2) / 12, 20 * 0.4**2, 1.0, 0.0
    for _ in range(200):
        angle += 0.01 * speed
        speed *= (about_middle + orbit * math.cos(0.01 * speed)) / (about_middle + orbit)
    assert positions["at 0.2"] == pytest.approx(angle, abs=200 * 0.01**3 / 2)

    bar = rigid.Model()
    crank = bar.add_box((0.04, 0.04, 0.3), mass=0.5, position=(0, 0, 0.15), name="crank")
    rod_ = bar.add_box((0.6, 0.04, 0.04), mass=1.0, position=(0.3, 0, 0.3), name="rod")
    other = bar.add_box((0.04, 0.04, 0.3), mass=0.5, position=(0.6, 0, 0.15), name="rocker")
    bar.add_hinge(rigid.GROUND, crank, (0, 0, 0), Y, name="a", motor=rigid.Motor(speed=1.0))
    bar.add_hinge(crank, rod_, (0, 0, 0.3), Y, name="b")
    bar.add_hinge(rod_, other, (0.6, 0, 0.3), Y, name="c")
    bar.add_hinge(rigid.GROUND, other, (0.6, 0, 0), Y, name="d")
    solver = solve(bar, iterations=200)
    for _ in range(20):
        solver.step(5)
        q = solver.joint_positions()
        assert opening(bar, solver.state()) < 1e-5
        assert q["a"] == pytest.approx(q["d"], abs=1e-4)
        assert q["b"] == pytest.approx(-q["a"], abs=1e-4)
    assert q["a"] == pytest.approx(1.0, abs=1e-3)


@pytest.mark.filterwarnings("ignore:.*times the mass of")
@pytest.mark.parametrize("seconds", [0.5, slow(5.0)])
def test_mass_ratio_of_1e8_stays_finite(seconds):
    # A ball of 1e4 kg on a chain of links of 1e-4 kg is inaccurate, see the solver's limitations, but stays finite. The
    # chain does not hold the ball, which falls no faster than g t.
    model = rigid.Model()
    before = rigid.GROUND
    for k in range(5):
        link = model.add_body(mass=1e-4, inertia=(1e-7, 1e-7, 1e-7), position=(0.1 * k + 0.05, 0, 0))
        model.add_ball(before, link, (0.1 * k, 0, 0))
        before = link
    heavy = model.add_body(mass=1e4, inertia=(10, 10, 10), position=(0.55, 0, 0))
    model.add_ball(before, heavy, (0.5, 0, 0))
    solver = solve(model)
    solver.step(round(seconds / solver.dt))
    state = solver.state()
    assert np.isfinite(state.position).all()
    assert np.linalg.norm(state.velocity[-1]) < g * seconds
    assert np.linalg.norm(state.position[-1]) < g * seconds**2 / 2 + 1


def test_opposing_motors_on_one_axis_stay_finite():
    # Two motors of opposite speeds, without bounds, on the same two bodies.
    model = rigid.Model(gravity=(0, 0, 0))
    body = model.add_body(mass=1.0, inertia=(1, 1, 1))
    for k, speed in enumerate((3.0, -3.0)):
        model.add_hinge(rigid.GROUND, body, (0, 0, 0), Y, motor=rigid.Motor(speed=speed), name="ab"[k])
    solver = solve(model)
    solver.step(200)
    assert abs(solver.joint_velocities()["a"]) < 3.0 + 1e-9


def test_angles_of_hinges_to_the_ground_are_right_handed():
    # For any orientation of the hinge the angle is that of the child relative to the ground, right-handed.
    axis = np.array([1.0, -2.0, 0.5])
    model = rigid.Model(gravity=(0, 0, 0))
    body = model.add_body(mass=1.0, inertia=(1, 2, 2.5), rotation=(0.5, -0.5, 0.5, 0.5), position=(1, 2, 3))
    model.add_hinge(rigid.GROUND, body, (1.1, 2, 3), axis, name="pivot")
    solver = solve(model)
    turn = from_axis_angle(axis, -2.3)
    start = model.initial_state()
    arm = start.position[0] - (1.1, 2, 3)
    put(solver, rotation=[rigid.rotation.multiply(turn, start.rotation[0])], position=[(1.1, 2, 3) + rotate(turn, arm)])
    solver.step()
    assert solver.joint_positions()["pivot"] == pytest.approx(-2.3, abs=1e-9)
