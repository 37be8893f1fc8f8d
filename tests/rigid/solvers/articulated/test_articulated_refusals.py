"""Error messages of the articulated solver."""

import numpy as np
import pytest

import pbd
import rigid

Y = (0, 1, 0)


def hinged(**options):
    model = rigid.Model()
    model.add_box((0.5, 0.05, 0.05), mass=1.0, position=(0.25, 0, 0))
    model.add_hinge(rigid.GROUND, 0, (0, 0, 0), Y, **options)
    return model


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"velocity_product": "explicit"}, r"velocity_product.*did you mean 'velocity_products'"),
        ({"velocity_products": "explicite"}, r"velocity_products is 'explicite'.*'explicit'"),
        ({"integrator": "variable"}, r"integrator is 'variable'.*did you mean 'variational'"),
        (
            {"integrator": "variational", "velocity_products": "explicit"},
            r"velocity_products is 'explicit': expected 'proj",
        ),
        ({"gyroscopic": "none"}, r"gyroscopic is 'none'"),
        ({"iterations": -1}, r"iterations is -1"),
        ({"tolerance": float("nan")}, r"tolerance is nan"),
        ({"error_reduction": 1.5}, r"error_reduction is 1.5: expected a number from 0 to 1"),
        ({"dt": 0.0}, r"dt is 0"),
        ({"worlds": 0}, r"worlds is 0"),
    ],
)
def test_bad_options_raise(options, message):
    with pytest.raises(ValueError, match=message):
        rigid.solver("articulated", hinged(), **options)


def test_variational_integrator_refuses_paths():
    model = rigid.Model()
    model.add_box((1, 1, 1), path=lambda time: (0, 0, time), name="lift")
    with pytest.raises(NotImplementedError, match=r"body 'lift' follows a path.*expected integrator="):
        rigid.solver("articulated", model, integrator="variational")


def test_models_of_several_structures_raise():
    with pytest.raises(ValueError, match="structure"):
        rigid.solver("articulated", [hinged(), rigid.Model()])


def test_state_of_another_shape_raises():
    solver = rigid.solver("articulated", hinged(), contacts=False)
    other = rigid.State(np.zeros((2, 3)), np.tile([1.0, 0, 0, 0], (2, 1)), np.zeros((2, 3)), np.zeros((2, 3)))
    with pytest.raises(ValueError, match=r"position has shape \(2, 3\): expected \(1, 3\)"):
        solver.set_state(other)


def test_model_without_bodies_runs():
    solver = rigid.solver("articulated", rigid.Model(), dt=0.01, contacts=False)
    solver.step(3)
    assert solver.time == pytest.approx(0.03)
    assert solver.energy().total == 0.0


def test_divergence_names_the_body():
    model = hinged()
    model.add_box((0.1, 0.1, 0.1), mass=1.0, position=(0, 0, 1), velocity=(1e300, 0, 0), name="lost")
    solver = rigid.solver("articulated", model, dt=1e10, contacts=False)
    with pytest.raises(pbd.Diverged, match=r"'lost'|body 1"):
        solver.step(5)


def test_redundant_hinge_beside_an_unbounded_motor():
    # The second hinge closes a loop. The tree cannot move along its rows, so they are left out.
    model = hinged(motor=rigid.Motor(speed=2.0))
    model.add_hinge(rigid.GROUND, 0, (0, 0.1, 0), Y, name="again")
    solver = rigid.solver("articulated", model, dt=0.01, contacts=False)
    solver.step(50)
    assert solver.joint_positions()["hinge 0"] == pytest.approx(1.0, abs=1e-9)
    assert solver.joint_positions()["again"] == pytest.approx(1.0, abs=1e-9)
