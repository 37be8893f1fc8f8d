"""Chains in generalised coordinates: against a reference, their energy, momenta and iterations."""

import math

import numpy as np
import pytest
from references import LENGTH, ball_rods, chain_angles, g, rod_chain

import rigid
from rigid.constraints.joints.gaps import joint_gaps
from rigid.rotation import from_axis_angle, rotate


def solve(model, dt=0.01, **options):
    return rigid.solver("articulated", model, dt=dt, contacts=False, **options)


def test_falling_chain_converges_to_the_reference_in_first_order():
    expected = np.diff(chain_angles(0.5)[0], prepend=0.0)
    errors = {}
    for h in (0.01, 0.005, 0.002, 0.001):
        solver = solve(rod_chain(), dt=h)
        solver.step(round(0.5 / h))
        errors[h] = np.abs(np.array(list(solver.joint_positions().values())) - expected).max()
        assert joint_gaps(solver.model, solver.state()).max() < 1e-14
    assert errors[0.01] < 0.08
    assert errors[0.001] < 0.005
    for h in (0.01, 0.002):
        assert errors[h] / errors[h / 2] == pytest.approx(2, abs=0.3)


def gains(**options):
    """Energy of a frictionless chain that falls from level, in each step of ten seconds, in parts of m g L."""
    solver = solve(rod_chain(), **options)
    energies = [solver.energy().total]
    for _ in range(1000):
        solver.step()
        energies.append(solver.energy().total)
    return (np.array(energies) - energies[0]) / (5 * g * 5 * LENGTH)


@pytest.mark.slow
def test_passive_chain_gains_energy_with_explicit_products_alone():
    # The chain whips, so small changes grow: the figures of other processors are near 0.32, not the same.
    projected, explicit = gains(), gains(velocity_products="explicit")
    assert projected.max() < 1e-9
    assert projected[-1] == pytest.approx(-0.32, abs=0.05)
    assert explicit.max() > 0.1


def test_momenta_of_a_free_chain_on_ball_joints():
    # The chain is free: linear momentum is constant to round-off, angular momentum in first order. The spins are such
    # that inner joints rotate by half a turn and more.
    def lost(h):
        model = rigid.Model(gravity=(0, 0, 0))
        spins = [(3, -2, 4), (-5, 6, 1), (2, 4, -6)]
        for k, spin in enumerate(spins):
            model.add_box((LENGTH, 0.1, 0.05), mass=1.0 + k, position=((k + 0.5) * LENGTH, 0, 0), angular_velocity=spin)
            if k:
                model.add_ball(k - 1, k, point=(k * LENGTH, 0, 0))
        solver = solve(model, dt=h)
        begin, angular, turns = solver.state(), [], []
        for _ in range(20):
            solver.step(round(0.5 / h))
            state = solver.state()
            angular.append(rigid.angular_momentum(model, state) - rigid.angular_momentum(model, begin))
            away = rigid.linear_momentum(model, state) - rigid.linear_momentum(model, begin)
            assert np.abs(away).max() < 1e-10
            turns.append(rotate(state.rotation, (1.0, 0, 0)))
        assert joint_gaps(solver.model, solver.state()).max() < 1e-14
        return np.abs(angular).max(), rigid.angular_momentum(model, begin), np.array(turns)

    coarse, start, turns = lost(0.001)
    fine, _, _ = lost(0.0005)
    assert coarse < 0.05 * np.linalg.norm(start)
    assert fine == pytest.approx(coarse / 2, rel=0.2)
    assert np.abs(turns[:, :, 2]).max() > 0.9  # where three hinges about z, y and x would lock


def test_ball_passes_the_pose_of_gimbal_lock():
    # A body without gravity rotates about y past 90° at a constant speed: the angle is ω t.
    model = rigid.Model(gravity=(0, 0, 0))
    model.add_body(mass=1.0, inertia=(1, 1, 1), position=(0, 0, 0), angular_velocity=(0, 2.0, 0))
    model.add_ball(rigid.GROUND, 0, point=(0, 0, 0))
    solver = solve(model)
    for k in range(1, 400):
        solver.step()
        expected = from_axis_angle((0, 1, 0), 0.02 * k)
        assert abs(solver.state().rotation[0] @ expected) == pytest.approx(1, abs=1e-12)


def test_chain_with_friction_of_source_3():
    # Source [3]: six iterations on average to 1e-6; angles after 1 s from chain_angles(1.0, friction=0.5).
    expected = (2.16096, 0.10297, 0.12073, 0.15890, 0.23033)
    solver, counts = solve(rod_chain(friction=0.5), iterations=500, tolerance=1e-6), []
    for step in range(500):
        solver.step()
        counts.append(solver.statistics().iterations)
        if step == 99:
            assert np.abs(np.array(list(solver.joint_positions().values())) - expected).max() < 0.05
    assert np.mean(counts) < 6


def test_rod_with_friction_comes_to_rest_at_the_reference_angle():
    # Friction 0.3 N m from the horizontal: at rest at 1.671423837 rad, in the limit of short steps; first order.
    errors = []
    for h in (0.0025, 0.00125):
        solver = solve(rod_chain(1, friction=0.3), dt=h)
        solver.step(round(8 / h))
        errors.append(abs(solver.joint_positions()["hinge 0"] - 1.671423837))
        assert np.abs(solver.state().angular_velocity).max() < 1e-12
    assert errors[1] < 0.6 * errors[0] < 0.6 * 0.03


def test_chain_on_ball_joints_follows_the_reference():
    # The chain starts with velocities that agree with the joints, so the state has them unchanged.
    model = ball_rods([(0, -1, 2), (3, 1, -2)])
    state = solve(model).state()
    assert np.abs(state.angular_velocity - model.initial_state().angular_velocity).max() < 1e-13
    assert np.abs(state.velocity - model.initial_state().velocity).max() < 1e-13


def test_motor_reaches_its_speed_until_a_limit_stops_it():
    model = rod_chain(1)
    model.joints[0].motor = rigid.Motor(speed=-2.0)
    model.joints[0].limits = (-math.radians(60), math.radians(60))
    solver = solve(model)
    solver.step(20)
    assert solver.joint_positions()["hinge 0"] == pytest.approx(-0.4, abs=1e-9)
    solver.step(100)
    # A coordinate that is nearer to its limit than 2.5 h² touches it (rigid/constraints/joints/drive.py).
    assert solver.joint_positions()["hinge 0"] == pytest.approx(-math.radians(60), abs=2.5e-4)
