"""A gripper holds by friction what its fingers press: the threshold, how still it holds, and how alike they move."""

import numpy as np
import pytest

import scenes
from scenes.catalogue.gripper import EDGE, HAND, LIFT
from scenes.run import Run
from scenes.steering import eased

g = 9.81
SOLVERS = ("impulse",)


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_box_is_held_while_the_fingers_press_with_more_than_half_its_weight_over_friction(solver):
    # Two fingers, each with a force F and friction μ: the box is held where 2 μ F > m (g + a). It is lifted by 0.05 m
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
def test_what_is_held_does_not_creep_and_the_fingers_mirror_each_other(solver):
    # As the scene has it, and then held up for five seconds.
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
    assert held[0][2] == pytest.approx(EDGE / 2, abs=1e-4)  # it has come up with the hand
    assert np.abs(held - held[0]).max() < 1e-4


@pytest.mark.slow
@pytest.mark.parametrize("solver", SOLVERS)
def test_the_box_is_set_down_where_it_was(solver):
    running = Run(scenes.load("gripper"), solver)
    running.step(running.steps)
    state = running.system.state()
    assert np.abs(state.position[-1] - (0, 0, EDGE / 2)).max() < 1e-3
    assert np.abs(state.velocity[-1]).max() < 1e-3
    assert state.position[0, 2] - state.position[-1, 2] > LIFT  # the hand has let go of it
