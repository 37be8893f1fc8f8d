"""A joint that iterations do not hold is told of, also where motors or forces drive the bodies."""

import warnings

import numpy as np
import pytest
from marks import slow

import rigid
from rigid.constraints.joints.gaps import joint_gaps


def chain(load):
    """Five light bars that hang on the ground with a load at the end, and a motor at the top."""
    model = rigid.Model()
    previous = rigid.GROUND
    for k in range(5):
        bar = model.add_box((0.04, 0.04, 0.2), mass=0.1, position=(0, 0, -0.1 - 0.2 * k))
        motor = rigid.Motor(speed=1.0, max_effort=0.01) if k == 0 else None
        model.add_hinge(previous, bar, (0, 0, -0.2 * k), (0, 1, 0), motor=motor, name=f"hinge {k}")
        previous = bar
    model.add_fixed(previous, model.add_sphere(0.1, mass=load, position=(0, 0, -1.1)))
    return model


@pytest.mark.parametrize(
    ("load", "options", "told"),
    [
        (300.0, {"solve": "iterative", "iterations": 1}, True),
        slow(300.0, {"solve": "direct"}, False),
        (0.1, {"solve": "iterative", "iterations": 20, "substeps": 4}, False),
    ],
)
def test_a_joint_that_is_open_by_half_a_link_is_told_once(load, options, told):
    model = chain(load)
    solver = rigid.solver("verlet", model, contacts=False, **options)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        solver.step(60)
        solver.step(60)
        rigid.solver("verlet", [model, chain(load + 1)], contacts=False, **options).step(60)
    assert sum("is open by" in str(each.message) for each in said) == 2 * told  # once by each solver
    gaps = np.max(joint_gaps(model, solver.state()))
    assert gaps > 0.05 if told else gaps < 0.01
