"""The variational integrator of the impulse solver: its order, energy, momenta, and rows."""

import numpy as np
import pytest
from references import (
    LENGTH,
    STEPS,
    assert_second_order,
    ball_chain,
    ball_rods,
    bent_chain,
    chain_angles,
    energy_changes,
    four_bar,
    four_bar_centres,
    g,
    rod_chain,
)
from scipy.integrate import solve_ivp

import rigid
from rigid.rotation import multiply, rotate, to_matrix

ZERO, Y, Z = (0, 0, 0), (0, 1, 0), (0, 0, 1)
CONVERGED = {"iterations": 400, "tolerance": 1e-10}


def solve(model, dt=0.01, integrator="variational", contacts=False, **options):
    return rigid.solver("impulse", model, dt=dt, integrator=integrator, contacts=contacts, **options)


def test_falling_chain_converges_in_second_order():
    expected, errors = chain_angles(0.5)[0], []
    for h in STEPS:
        solver = solve(rod_chain(), dt=h, **CONVERGED)
        solver.step(round(0.5 / h))
        errors.append(np.abs(np.cumsum(list(solver.joint_positions().values())) - expected).max())
    assert errors[0] < 1e-3  # (h ω)² with the largest speed ω of 3 rad/s
    assert_second_order(errors)


def test_double_pendulum_on_balls_converges_in_second_order():
    spins, errors = [(0, -1, 2), (3, 1, -2)], []
    expected = ball_chain(0.5, spins)[0]
    for h in STEPS:
        solver = solve(ball_rods(spins), dt=h, **CONVERGED)
        solver.step(round(0.5 / h))
        errors.append(np.abs(solver.state().position - expected).max())
    assert_second_order(errors)


def test_loop_converges_in_second_order():
    expected, errors = four_bar_centres(0.3)[0], []
    for h in STEPS:
        solver = solve(four_bar(), dt=h, **CONVERGED)
        solver.step(round(0.3 / h))
        errors.append(np.abs(solver.state().position - expected).max())
    assert_second_order(errors)


@pytest.mark.slow
def test_tumbling_body_converges_in_second_order():
    # Euler's equations in the body's frame, I ω' = -ω × I ω, q' = q (0, ω)/2. Velocities are those of the poses' time.
    inertia, spin = np.array([1.0, 2.0, 3.0]), np.array([0.5, 6.0, 0.3])

    def motion(_, y):
        return np.concatenate([0.5 * multiply(y[:4], [0, *y[4:]]), -np.cross(y[4:], inertia * y[4:]) / inertia])

    y = solve_ivp(motion, (0, 2), [1, 0, 0, 0, *spin], "DOP853", rtol=1e-12, atol=1e-12).y[:, -1]
    turn = y[:4] / np.linalg.norm(y[:4])
    errors = []
    for h in STEPS:
        model = rigid.Model(gravity=ZERO)
        model.add_body(mass=1.0, inertia=inertia, position=ZERO, angular_velocity=spin)
        solver = solve(model, dt=h)
        solver.step(round(2 / h))
        state = solver.state()
        away = np.abs(to_matrix(state.rotation[0]) - to_matrix(turn)).max()
        errors.append((away, np.abs(state.angular_velocity[0] - rotate(turn, y[4:])).max()))
        momentum = rigid.angular_momentum(model, state)
        assert momentum == pytest.approx(inertia * spin, abs=1e-10)  # to the tolerance of Newton's method
    for column in np.transpose(errors):
        assert_second_order(column)


@pytest.mark.slow
def test_assemblies_do_not_affect_one_another():
    # A pendulum beside a box on the ground, in one model, moves as it does alone. Iterations stop when all impulses
    # have settled, so it has at least as many: it moves alike to the tolerance.
    def position(boxes):
        model = ball_rods([(0, -1, 2), (3, 1, -2)])
        if boxes:
            model.add_ground(height=-5)
            model.add_box((1, 1, 1), mass=1.0, position=(3, 0, -4.5))
        solver = solve(model, contacts=boxes, **CONVERGED)
        solver.step(50)
        return solver.state().position[:2]

    assert position(True) == pytest.approx(position(False), abs=1e-7)


@pytest.mark.slow
def test_energy_of_a_swinging_chain_does_not_drift():
    # It oscillates by a part of second order, (h ω)²/4 = 2e-4 at 3 rad/s. The default's fifty iterations leave a drift
    # of 0.5 % after a minute; "semi_implicit" has lost 3 %.
    change = energy_changes(solve(bent_chain(), **CONVERGED), 60, 7)
    assert np.abs(change).max() < 2e-4
    assert np.abs(change[-100:].mean() - change[:100].mean()) < 5e-5
    assert np.abs(energy_changes(solve(bent_chain()), 60, 100)).max() < 0.01
    assert energy_changes(solve(bent_chain(), integrator="semi_implicit"), 60, 100)[-1] < -0.02


@pytest.mark.parametrize("h", [0.005, 0.01, 1 / 60])
def test_energy_of_a_chain_that_whips_stays_below_its_start(h):
    # The chain falls from level, and its links turn by up to 0.7 rad in 1/60 s. The work of joints is bounded by
    # 0.005 of the kinetic energy, which is below m g L.
    change = energy_changes(solve(rod_chain(), dt=h), 10, 1)
    assert change.max() < 0.005
    assert change[-1] > (-0.1 if h == 0.005 else -0.5)


def test_momenta_of_a_free_chain_on_ball_joints():
    # Impulses at one point keep both momenta. Position correction moves bodies by what the rounds leave, 1e-3 of the
    # substep's drift d = h² ω² l/2 = 1e-3 m: the angular momentum of kilograms at v = 2 m/s changes by 2e-6 N m s a
    # step, with both signs, 500^(1/2) times as much at most. The default changes by 0.04.
    model = rigid.Model(gravity=ZERO)
    for k, spin in enumerate([(3, -2, 4), (-5, 6, 1), (2, 4, -6)]):
        model.add_box((LENGTH, 0.1, 0.05), mass=1.0 + k, position=((k + 0.5) * LENGTH, 0, 0), angular_velocity=spin)
        if k:
            model.add_ball(k - 1, k, point=(k * LENGTH, 0, 0))
    solver = solve(model, **CONVERGED)
    solver.step(1)
    start = solver.state()
    solver.step(500)
    for momentum in (rigid.linear_momentum, rigid.angular_momentum):
        assert np.abs(momentum(model, solver.state()) - momentum(model, start)).max() < 500**0.5 * 2e-6


def test_wheel_that_turns_more_than_once_in_a_step_keeps_its_speed():
    # The axle passes through the centre of mass, so θ = ω t exactly; h ω = 10 rad.
    model = rigid.Model(gravity=(0, 0, -g))
    model.add_cylinder(0.3, 0.05, mass=1.0, position=ZERO, angular_velocity=(0, 0, 1000.0))
    model.add_hinge(rigid.GROUND, 0, ZERO, Z, name="axle")
    solver = solve(model)
    solver.step(100)
    assert solver.joint_velocities()["axle"] == pytest.approx(1000, rel=1e-9)


@pytest.mark.slow
def test_contacts_and_limits_come_to_rest():
    # A box falls to the ground at a tilt, an arm to its limit. At rest no row leaves a velocity.
    model = rigid.Model(gravity=(0, 0, -g))
    model.add_ground(friction=0.5)
    model.add_box((0.3, 0.2, 0.1), mass=2.0, position=(0, 0, 0.3), angular_velocity=(1, 2, 3), friction=0.5)
    model.add_box((0.5, 0.05, 0.05), mass=1.0, position=(1.25, 0, 2))
    model.add_hinge(rigid.GROUND, 1, (1, 0, 2), Y, limits=(-0.5, 0.6), name="arm")
    solver = solve(model, contacts=True, iterations=200, tolerance=1e-9)
    start = solver.energy().total
    for _ in range(40):
        solver.step(10)
        assert solver.energy().total < start + 3 * g * 0.01 * 3 / 2  # m g v h/2: velocities half a step behind
    state = solver.state()
    assert np.abs(state.velocity).max() < 1e-6
    assert np.abs(state.angular_velocity).max() < 1e-6
    assert state.position[0, 2] == pytest.approx(0.05, abs=0.25 * g * 0.01**2 + 1e-9)  # TOUCHING, contact_rows.py
    # A coordinate that is nearer to its limit than 2.5 h² touches it (rigid/constraints/joints/drive.py).
    assert solver.joint_positions()["arm"] == pytest.approx(0.6, abs=2.5e-4)


def test_run_continues_from_a_state_bit_for_bit():
    solver, after = solve(bent_chain()), solve(bent_chain())
    solver.step(20)
    state = solver.state()
    after.set_state(state)
    solver.step(30)
    after.step(15)
    after.step(15)
    assert after.digest() == solver.digest()


def test_state_without_its_caches_continues_in_second_order():
    # A state has poses and velocities of one time, so the momenta are the same to the tolerance of the iterations,
    # 1e-10 N s on bodies of 1 kg: 1e-10 m in 1 s at most for each of 30 steps.
    solver, after = solve(bent_chain(), **CONVERGED), solve(bent_chain(), **CONVERGED)
    solver.step(20)
    state = solver.state()
    state.warm_start = ()
    after.set_state(state)
    solver.step(30)
    after.step(30)
    assert after.state().position == pytest.approx(solver.state().position, abs=30 * 1e-10)


def test_step_of_another_length_starts_from_velocities_at_the_time_of_the_poses():
    # The error stays of second order: 0.25 s at 10 ms and 0.25 s at 5 ms.
    expected, errors = chain_angles(0.5)[0], []
    for h in STEPS:
        solver = solve(rod_chain(), dt=h, **CONVERGED)
        solver.step(round(0.25 / h))
        solver.dt = h / 2
        solver.step(round(0.5 / h))
        errors.append(np.abs(np.cumsum(list(solver.joint_positions().values())) - expected).max())
    assert_second_order(errors)
