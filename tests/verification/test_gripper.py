"""Grasps by friction: the threshold, creep, symmetry of the fingers, and where an arm or a robot puts the object."""

import numpy as np
import pytest

import scenes
from scenes.catalogue import manipulator
from scenes.catalogue.gripper import EDGE, HAND, LIFT
from scenes.catalogue.parts.trajectories import eased
from scenes.simulate.run import Run

g = 9.81
SOLVERS = ("impulse", pytest.param("articulated", marks=pytest.mark.slow))


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_box_is_held_above_the_friction_threshold(solver):
    # Two fingers, each with a force F and friction μ: the box is held if 2 μ F > m (g + a). It is lifted by 0.05 m
    # in 2 s, a <= 6 · 0.05/2² = 0.075 m/s², less than a hundredth of g.
    mass, friction = 1.0, 0.6
    for part, held in ((1.05, True), (0.95, False)):
        force = part * mass * g / (2 * friction)
        scene = scenes.load("gripper", mass=mass, friction=friction, force=force)
        usual = scene.control

        def control(solver, time, usual=usual):
            usual(solver, min(time, 1.9))
            solver.set_motor("lift", position=eased(time, (0.2, 1.0, 2.0, 4.0), (0.0, -LIFT, -LIFT, 0.05 - LIFT)))

        scene.control = control
        running = Run(scene, solver, 4.2)
        running.step(running.steps)
        rise = running.system.state().position[-1, 2] - EDGE / 2
        if held:
            assert rise == pytest.approx(0.05, abs=1e-4)
        else:
            assert rise < 1e-3


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_held_box_does_not_creep_and_the_fingers_mirror_each_other(solver):
    # The motion of the scene, then held up for five seconds.
    scene = scenes.load("gripper")
    usual = scene.control
    scene.control = lambda solver, time: usual(solver, min(time, HAND[0][4]))
    running = Run(scene, solver, 8.5)
    apart, places = [], {}
    for k in range(running.steps):
        running.step()
        if k % 12 == 0:  # twenty times a second
            joints = running.system.joint_positions()
            apart.append(joints["fingers"] + joints["fingers, the other"])
            places[k // 12] = running.system.state().position[-1] - (0, 0, joints["lift"] + LIFT)
    assert np.abs(apart).max() < 1e-6
    held = np.array([place for k, place in places.items() if k >= 70])  # from 3.5 s on
    assert held[0][2] == pytest.approx(EDGE / 2, abs=1e-4)  # it was lifted with the hand
    assert np.abs(held - held[0]).max() < 1e-4


@pytest.mark.slow
@pytest.mark.parametrize("solver", SOLVERS)
def test_the_box_is_set_down_at_its_place(solver):
    running = Run(scenes.load("gripper"), solver)
    running.step(running.steps)
    state = running.system.state()
    assert np.abs(state.position[-1] - (0, 0, EDGE / 2)).max() < 1e-3
    assert np.abs(state.velocity[-1]).max() < 1e-3
    assert state.position[0, 2] - state.position[-1, 2] > LIFT  # the hand has released it


@pytest.mark.slow
@pytest.mark.parametrize("solver", SOLVERS)
def test_an_arm_with_six_axes_puts_its_box_on_the_other_plinth(solver):
    # At the place given by the closed form, rotated by a quarter turn, except for millimetres as the fingers close.
    running = Run(scenes.load("manipulator"), solver)
    running.step(running.steps)
    state = running.system.state()
    place = manipulator.REACH * np.array([np.cos(manipulator.SIDE), np.sin(manipulator.SIDE)])
    assert np.abs(state.position[-1] - (*place, manipulator.LOW)).max() < 5e-3
    upright = state.rotation[-1]
    assert np.hypot(*upright[1:3]) < 1e-3
    assert 2 * np.arctan2(upright[3], upright[0]) == pytest.approx(manipulator.SIDE + np.pi / 2, abs=0.01)


def test_inverse_kinematics_of_the_arm():
    # Forward kinematics of both links by sums of rotations about y. The hand is below the wrist.
    for where in ((0.3, 0.6, 0.3, 0.0), (-1.0, 0.8, 0.6, 1.0)):
        about, shoulder, elbow, roll, pitch, turned = manipulator.angles(*where)
        assert (about, roll, turned) == (where[0], 0.0, where[3])
        assert shoulder + elbow + pitch == pytest.approx(0.0, abs=1e-12)  # it points down
        away = manipulator.UPPER * np.sin(shoulder) + manipulator.FORE * np.cos(shoulder + elbow)
        height = manipulator.UPPER * np.cos(shoulder) - manipulator.FORE * np.sin(shoulder + elbow)
        assert away == pytest.approx(where[1], abs=1e-12)
        assert manipulator.SHOULDER + height - manipulator.TOOL == pytest.approx(where[2], abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("solver", SOLVERS)
def test_a_robot_lifts_a_stone_and_puts_it_back(solver):
    running = Run(scenes.load("anthropomorphic_robot"), solver)
    start = running.system.state().position[-1]
    running.step(round(5.0 / running.system.dt))
    up = running.system.state()
    assert up.position[-1, 2] - start[2] > 0.6
    assert abs(up.position[-1, 1] - start[1]) < 1e-3  # the gear keeps it centred
    assert np.abs(up.rotation[-1, 1:]).max() < 0.01
    running.step(running.steps - round(5.0 / running.system.dt))
    state = running.system.state()
    assert np.abs(state.position[-1] - start).max() < 5e-3
    assert np.abs(state.velocity[-1]).max() < 1e-3
