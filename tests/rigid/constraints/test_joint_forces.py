"""Forces in joints against closed forms: statics, a motor's torque, and the centripetal force."""

import numpy as np
import pytest
from described import ZERO, X, Z, g, rod_on_a_pivot

import rigid

# Impulses converge to 1e-12 N s; penalties oscillate, and are damped by exp(-β* t/2) at least.
SOLVERS = {
    "impulse": {"dt": 0.01, "iterations": 500, "tolerance": 1e-12},
    "penalty": {"dt": 0.003, "angular_damping": 25.0},
}
CLOSE = {"impulse": 1e-8, "penalty": 1e-4}


SETTLED = {"impulse": 3.0, "penalty": 30.0}  # [s]


def settled(name, model):
    """A solver of a model that has come to rest."""
    solver = rigid.solver(name, model, contacts=False, **SOLVERS[name])
    solver.step(round(SETTLED[name] / solver.dt))
    return solver


@pytest.mark.parametrize("name", SOLVERS)
def test_weld_of_a_cantilever(name):
    # At rest F = (0, 0, m g), and the torque about the joint balances the weight at r: T = -r × (0, 0, -m g).
    model = rigid.Model(gravity=(0, 0, -g))
    beam = model.add_box((0.6, 0.1, 0.1), mass=2.0, position=(0.3, 0, 0))
    model.add_fixed(rigid.GROUND, beam, ZERO, name="weld")
    solver = settled(name, model)
    force, torque = solver.joint_forces()["weld"]
    arm = solver.state().position[0]
    assert force == pytest.approx((0, 0, 2.0 * g), abs=CLOSE[name])
    assert torque == pytest.approx(-np.cross(arm, (0, 0, -2.0 * g)), abs=10 * CLOSE[name])


@pytest.mark.parametrize("name", SOLVERS)
def test_upper_joint_of_a_hanging_chain_carries_both_bodies(name):
    model = rigid.Model(gravity=(0, 0, -g))
    for k, mass in enumerate((1.0, 3.0)):
        body = model.add_box((0.1, 0.1, 0.5), mass=mass, position=(0, 0, -0.25 - 0.5 * k))
        model.add_ball(body - 1, body, (0, 0, -0.5 * k), name=f"ball {k}")
    forces = settled(name, model).joint_forces()
    assert forces["ball 0"][0] == pytest.approx((0, 0, 4.0 * g), abs=10 * CLOSE[name])
    assert forces["ball 1"][0] == pytest.approx((0, 0, 3.0 * g), abs=10 * CLOSE[name])
    assert np.abs([forces["ball 0"][1], forces["ball 1"][1]]).max() < CLOSE[name]


@pytest.mark.parametrize("name", SOLVERS)
def test_torque_of_a_motor_is_included(name):
    # It holds a level rod: the torque about y balances the weight at 0.25 m. A motor of "penalty" gives way a little.
    solver = settled(name, rod_on_a_pivot(motor=rigid.Motor(speed=0.0)))
    force, torque = solver.joint_forces()["pivot"]
    assert force == pytest.approx((0, 0, g), abs=1e-3)
    assert torque == pytest.approx((0, -0.25 * g, 0), abs=1e-2)


def test_hinge_supplies_the_centripetal_force():
    # m ω² r towards the axis, in the middle of a step that turns the arm by ω h: to first order in ω h.
    h, m, w, r = 1e-4, 1.5, 4.0, 0.5
    model = rigid.Model(gravity=ZERO)
    motion = {"velocity": (0, w * r, 0), "angular_velocity": (0, 0, w)}
    body = model.add_box((0.1, 0.1, 0.1), mass=m, position=(r, 0, 0), **motion)
    model.add_hinge(rigid.GROUND, body, ZERO, Z, name="hinge")
    solver = rigid.solver("impulse", model, dt=h, iterations=500, tolerance=1e-14, contacts=False)
    solver.step(100)
    force, torque = solver.joint_forces()["hinge"]
    towards = -solver.state().position[0] / r
    assert force == pytest.approx(m * w**2 * r * towards, abs=2 * m * w**2 * r * w * h)
    assert np.abs(torque).max() < 1e-3


def test_child_of_a_joint_between_bodies_gets_the_opposite_of_its_parent():
    # A spring pulls two free bodies together; a slider between them cannot hold it, and a weld holds all of it.
    model = rigid.Model(gravity=ZERO)
    for x in (0.0, 1.0):
        model.add_box((0.2, 0.2, 0.2), mass=1.0, position=(x, 0, 0))
    model.add_fixed(0, 1, (0.5, 0, 0), name="weld")
    model.add_spring(0, 1, ZERO, (1.0, 0, 0), stiffness=100.0, rest_length=0.5)
    force, torque = settled("impulse", model).joint_forces()["weld"]
    assert force == pytest.approx(50.0 * np.array(X), abs=1e-6)  # the spring pulls the child towards -x
    assert np.abs(torque).max() < 1e-6


def test_worlds_have_their_own_forces():
    models = [rigid.Model(gravity=(0, 0, -g)) for _ in range(3)]
    for k, model in enumerate(models):
        body = model.add_box((0.1, 0.1, 0.1), mass=1.0 + k, position=(0.1 * k, 0, 0))
        model.add_fixed(rigid.GROUND, body, ZERO, name="weld")
    forces = settled("impulse", models).joint_forces()["weld"]
    assert forces.shape == (3, 2, 3)
    assert forces[:, 0, 2] == pytest.approx(g * np.arange(1, 4), abs=1e-6)
    assert forces[:, 1, 1] == pytest.approx([-0.1 * k * g * (1.0 + k) for k in range(3)], abs=1e-6)


def test_solvers_without_joint_forces_raise():
    with pytest.raises(NotImplementedError, match="joint 'pivot' is kept closed by its coordinates"):
        rigid.solver("articulated", rod_on_a_pivot(), contacts=False).joint_forces()
    with pytest.raises(NotImplementedError, match='solver "verlet" does not compute joint forces'):
        rigid.solver("verlet", rod_on_a_pivot(), contacts=False).joint_forces()


def test_articulated_solver_has_forces_of_joints_outside_its_trees():
    model = rigid.Model(gravity=(0, 0, -g))
    body = model.add_box((0.1, 0.1, 0.1), mass=2.0, position=(0, 0, 0))
    model.add_fixed(rigid.GROUND, body, ZERO, name="weld", soft=rigid.Soft(frequency=5.0, damping_ratio=1.0))
    solver = rigid.solver("articulated", model, dt=0.01, contacts=False)
    solver.step(300)
    assert solver.joint_forces()["weld"][0] == pytest.approx((0, 0, 2.0 * g), abs=1e-6)
