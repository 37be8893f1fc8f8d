"""Rows with bounds: contacts push and do not pull, and a motor has a largest torque."""

from exercise import use

use("rigid.solvers.sequential.solve", __file__)

import numpy as np
import taichi as ti

ti.init(arch=ti.cpu, default_fp=ti.f64)

import rigid


def test_ball_rests_on_the_ground():
    model = rigid.Model(gravity=(0, 0, -9.81))
    model.add_ground()
    model.add_sphere(0.1, mass=2.0, position=(0, 0, 0.1))
    solver = rigid.solver("impulse", model, dt=0.01, iterations=20)
    solver.step(100)
    # In equilibrium the impulse of a substep is m g h.
    assert abs(solver.contact_forces().forces[:, 2].sum() - 2 * 9.81) < 1e-6
    assert abs(solver.state().position[0, 2] - 0.1) < 0.01


def test_ball_that_rises_is_not_held():
    model = rigid.Model(gravity=(0, 0, -9.81))
    model.add_ground()
    model.add_sphere(0.1, mass=2.0, position=(0, 0, 0.1), velocity=(0, 0, 3))
    solver = rigid.solver("impulse", model, dt=0.01, iterations=20)
    solver.step(10)
    # semi-implicit Euler, without a contact: z = z0 + v n h - g h² n (n + 1)/2
    assert abs(solver.state().position[0, 2] - (0.1 + 0.3 - 9.81e-4 * 55)) < 1e-12


def test_motor_accelerates_by_its_largest_torque():
    model = rigid.Model(gravity=(0, 0, 0))
    wheel = model.add_cylinder(0.5, 0.1, mass=4.0)
    model.add_hinge(rigid.GROUND, wheel, (0, 0, 0), (0, 0, 1), motor=rigid.Motor(speed=100.0, max_effort=2.0), name="w")
    solver = rigid.solver("impulse", model, dt=0.01, iterations=20)
    solver.step(50)
    # A cylinder about its axis: I = m r²/2 = 0.5, so the angular velocity after 0.5 s is 2/0.5 · 0.5.
    np.testing.assert_allclose(solver.joint_velocities()["w"], 2.0, atol=1e-9)
