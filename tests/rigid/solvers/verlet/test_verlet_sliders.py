"""Sliders of the solver verlet in motion: their line, their limits, and springs along them."""

import math

import numpy as np
import pytest
from marks import slow

import rigid

g = 9.81


def solve(model, dt=0.01, iterations=30):
    return rigid.solver("verlet", model, dt=dt, iterations=iterations, contacts=False)


@pytest.mark.slow
def test_slider_falls_along_its_incline():
    # g sin θ t²/2 to round-off and without rotation, for an axis at any distance, up to the limit.
    angle = math.radians(30)
    model = rigid.Model(gravity=(0, 0, -g))
    box = model.add_box((0.4, 0.2, 0.1), mass=2.0, position=(1, 2, 3))
    axis = (math.cos(angle), 0, -math.sin(angle))
    model.add_slider(rigid.GROUND, box, (1.3, 2, 3.2), axis, limits=(-1.0, 2.0), name="rail")
    solver = solve(model)
    solver.step(80)
    fallen = g * math.sin(angle) * 0.8**2 / 2
    assert solver.joint_positions()["rail"] == pytest.approx(fallen, abs=1e-6)
    assert solver.joint_velocities()["rail"] == pytest.approx(g * math.sin(angle) * 0.795, abs=1e-5)
    assert solver.state().rotation[0] == pytest.approx([1, 0, 0, 0], abs=1e-5)
    solver.step(400)
    assert solver.joint_positions()["rail"] == pytest.approx(2.0, abs=1e-3)


@pytest.mark.slow
def test_slider_keeps_two_bodies_in_line():
    # A carriage moves along a freely spinning beam, with no relative rotation or shift across. Momenta are conserved.
    model = rigid.Model(gravity=(0, 0, 0))
    beam = model.add_box((2.0, 0.1, 0.2), mass=3.0, angular_velocity=(0.2, 0.3, 1.0))
    box = model.add_box((0.2, 0.3, 0.2), mass=1.0, position=(0.3, 0, 0.1), angular_velocity=(0.2, 0.3, 1.0),
                        velocity=np.cross((0.2, 0.3, 1.0), (0.3, 0, 0.1)))  # fmt: skip
    model.add_slider(beam, box, None, (1, 0, 0), limits=(-9, 9), name="rail")  # never reached; same kernel as above
    solver = solve(model, dt=0.005)
    solver.step()
    first = [momentum(model, solver.state()) for momentum in (rigid.linear_momentum, rigid.angular_momentum)]
    solver.step(200)
    state = solver.state()
    turned = rigid.rotation.multiply(rigid.rotation.conjugate(state.rotation[0]), state.rotation[1])
    assert np.abs(turned[1:]).max() < 1e-4
    across = rigid.rotation.rotate_back(state.rotation[0], state.position[1] - state.position[0])
    assert across[1:] == pytest.approx([0, 0.1], abs=1e-4)
    assert solver.joint_positions()["rail"] > 0.05
    last = [momentum(model, state) for momentum in (rigid.linear_momentum, rigid.angular_momentum)]
    # m (x - x*)/h is known to 3 kg · 1e-16 · 1 m / 5 ms = 6e-14 a step
    assert last[0] == pytest.approx(first[0], abs=200 * 6e-14)
    assert last[1] == pytest.approx(first[1], abs=200 * 6e-14)


@pytest.mark.slow
@pytest.mark.parametrize("joint", ["slider", slow("points")])
@pytest.mark.parametrize(("stiffness", "damping"), [(50.0, 0.0), (50.0, 3.0), (0.0, 3.0)])
def test_linear_spring_follows_implicit_euler(joint, stiffness, damping):
    # x_{n+1} - 2 x_n + x_{n-1} = g h² - (k h² (x_{n+1} - rest) + c h (x_{n+1} - x_n))/m, from rest, whose first step
    # takes half of g h².
    h, m, rest = 0.01, 2.0, 0.1
    model = rigid.Model(gravity=(0, 0, -g))
    box = model.add_box((0.3, 0.2, 0.2), mass=m, position=(0, 0, -1))
    if joint == "slider":
        model.add_slider(rigid.GROUND, box, None, (0, 0, -1), spring=rigid.Spring(stiffness, damping, rest))
    else:
        model.add_spring(
            rigid.GROUND, box, (0, 0, 0), (0, 0, -1), stiffness=stiffness, damping=damping, rest_length=1 + rest
        )
    solver = solve(model, dt=h, iterations=60)
    before, x = g * h * h / 2, 0.0
    for _ in range(100):
        solver.step()
        pull = stiffness * h * h + damping * h
        new = (m * (2 * x - before + g * h * h) + stiffness * h * h * rest + damping * h * x) / (m + pull)
        before, x = x, new
        assert -1 - solver.state().position[0, 2] == pytest.approx(x, abs=1e-9)
