"""Grasps by friction: the threshold, creep, symmetry of the fingers, and where an arm or a robot puts the object."""

import numpy as np
import pytest
from marks import slow

import scenes
from scenes.catalogue import manipulator
from scenes.catalogue.components.trajectories import eased
from scenes.catalogue.gripper import EDGE, HAND, LIFT, SQUEEZE
from scenes.simulate.run import Run

g = 9.81
SOLVERS = ("impulse", slow("articulated"))


@pytest.mark.slow
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


@pytest.mark.slow
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


FRAGILE = 15.0  # the force on a side that breaks the box [N]


def forces_on_sides(running):
    """Forces along the normals that both fingers or pads apply to the box in each step (n, 2) [N]."""
    names = [body.name for body in running.scene.model.bodies]
    box, found = names.index("box"), []
    pads = [k for k, name in enumerate(names) if "pad" in name]
    touching = pads or [names.index(f"{side} of fingers") for side in ("left", "right")]
    for _ in range(running.steps):
        running.step()
        contacts = running.system.contact_forces()
        pushes = np.abs(np.sum(contacts.forces * contacts.normals, axis=1))
        pushed = (contacts.bodies == box).any(axis=1)
        found.append([pushes[pushed & (contacts.bodies == body).any(axis=1)].sum() for body in touching])
    return np.array(found)


@pytest.mark.slow
@pytest.mark.parametrize("solver", SOLVERS)
def test_sprung_fingers_hold_a_fragile_box(solver):
    # Rigid fingers press with half of the motor's effort, F = 20 N: too much. A spring that is shortened by SQUEEZE
    # presses with k SQUEEZE = 12 N, which is below FRAGILE and above m (g + a)/(2 μ) = 9.2 N for a = 1.25 m/s², so
    # friction lifts the box. When a pad of 0.05 kg meets the box at 0.2 m/s, it adds 0.05 · 0.2 · 240 = 2.4 N at most.
    found = {}
    for spring in (0.0, 480.0):
        running = Run(scenes.load("gripper", spring=spring), solver, HAND[0][4])
        forces = forces_on_sides(running)
        assert running.system.state().position[-1, 2] == pytest.approx(EDGE / 2 + LIFT, abs=2e-3)
        found[spring] = forces.max()
        # The ground's friction may take a part of the difference of both sides, but not of their mean.
        at_rest = forces[round(1.8 / running.system.dt)].mean()
        assert at_rest == pytest.approx(480 * SQUEEZE if spring else 20.0, rel=0.01)
    assert found[0.0] > FRAGILE
    assert found[480.0] < FRAGILE


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
