"""The door of the scene `door`: a ball opens it, and its spring closes it, as in [0] of docs/solvers/sources.md."""

import math

import numpy as np
import pytest
from marks import slow

import rigid
import scenes
from rigid.constraints.joints.drive import TOUCHING
from scenes.simulate.run import Run

SOLVERS = ("impulse", *map(slow, ("articulated", "verlet", "penalty")))


@pytest.mark.slow
@pytest.mark.parametrize("solver", SOLVERS)
def test_spring_closes_the_door(solver):
    # The ball opens the door by more than 45°. When the door is shut, the spring still has an effort of k 0.3 rad. No
    # other force acts about the hinge then, so the door ends at its lower limit, at rest. It shuts at 2.3 s with
    # v = 1.2 rad/s. The limit of "penalty" rebounds with r < 0.5 of the speed, and each rebound takes 2 r v I/(k 0.3):
    # with I = 4.9 kg m² and k = 12 N m/rad all of them take less than 2 v r/(1 - r) I/(k 0.3) = 3.3 s.
    running = Run(scenes.load("door"), solver, 6.0)
    angles = []
    for _ in range(running.steps):
        running.step()
        angles.append(running.system.joint_positions()["hinge"])
    assert max(angles) > math.radians(45)
    assert angles[-1] == pytest.approx(0.0, abs=math.radians(0.5))
    assert abs(running.system.joint_velocities()["hinge"]) < 0.01


@pytest.mark.slow
def test_open_door_closes_like_a_damped_oscillator():
    # From φ0 = 90° at rest, without a ball: I φ'' + c φ' + k (φ + 0.3) = 0, ω = sqrt(k/I - (c/2I)²), until φ = 0. Soft
    # rows are implicit Euler, of first order: at most h/2 of the angle's acceleration a second, so 2 % at 1/240 s.
    scene = scenes.load("door")
    leaf, hinge = scene.model.bodies[0], scene.model.joints[0]
    model = rigid.Model()
    body = model.add_body(mass=leaf.mass, inertia=leaf.inertia, position=leaf.position)
    arm = hinge.parent_anchor - leaf.position
    model.add_hinge(rigid.GROUND, body, hinge.parent_anchor, (0, 0, 1), limits=hinge.limits, spring=hinge.spring,
                    name="hinge")  # fmt: skip
    system = rigid.solver("impulse", model, dt=1 / 240, contacts=False)
    state = model.initial_state()
    start = math.pi / 2
    turn = np.array([[0, -1, 0], [1, 0, 0], [0, 0, 1.0]])
    state.position[0] = hinge.parent_anchor - turn @ arm
    state.rotation[0] = (math.cos(start / 2), 0, 0, math.sin(start / 2))
    system.set_state(state)
    inertia = leaf.inertia[2, 2] + leaf.mass * (arm[0] ** 2 + arm[1] ** 2)
    k, c, rest = hinge.spring.stiffness, hinge.spring.damping, hinge.spring.rest
    decay = c / (2 * inertia)
    frequency = math.sqrt(k / inertia - decay**2)
    closed = None
    for _ in range(960):
        system.step()
        t, angle = system.time, system.joint_positions()["hinge"]
        swing = math.cos(frequency * t) + decay / frequency * math.sin(frequency * t)
        expected = rest + (start - rest) * math.exp(-decay * t) * swing
        if closed is None and expected <= 0.0:
            closed = t
        if closed is None:
            assert angle == pytest.approx(expected, abs=0.02 * start)
    assert closed is not None
    assert 0.0 <= angle <= TOUCHING / 240**2 + 1e-12  # such an angle counts as shut
