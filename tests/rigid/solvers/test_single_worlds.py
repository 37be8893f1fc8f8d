"""Worlds that are launched one after another, as on a driver that ends loops, have the bits of worlds side by side."""

import numpy as np
import pytest

import rigid
from rigid.solvers import articulated, impulse, penalty, substeps

# Side by side, not in lanes, which a graphics card has not.
OPTIONS = {
    "impulse": {"substeps": 4, "lanes": 1}, "articulated": {"substeps": 4}, "penalty": {"substeps": 64},
}  # fmt: skip
SOLVERS = {"impulse": impulse.solver, "articulated": articulated.solver, "penalty": penalty.solver}


def moved(solver):
    """Balls that fall in three worlds at different speeds. Returns: digest, positions of the first (worlds,) [m]."""
    model = rigid.Model()
    model.add_ground(friction=0.5, restitution=0.2)
    model.add_sphere(0.2, mass=1.0, position=(0, 0, 0.5), name="ball")
    model.add_sphere(0.1, mass=0.5, position=(0.4, 0, 0.5), name="bob")
    model.add_hinge("ball", "bob", (0.2, 0, 0.5), axis=(0, 1, 0))
    system = rigid.solver(solver, model, dt=1 / 60, worlds=3, **OPTIONS[solver])
    state = system.state()
    state.velocity[..., 0] += np.array([0.0, 1.0, 2.0])[:, None]
    system.set_state(state)
    system.step(20)
    return system.digest(), system.state().position[:, 0, 0]


@pytest.mark.parametrize("solver", OPTIONS)
def test_worlds_one_after_another_have_the_same_bits(solver, monkeypatch):
    digest, (first, second, third) = moved(solver)
    kernel = SOLVERS[solver].step_kernel
    monkeypatch.setattr(substeps, "ends_loops", lambda: True)
    monkeypatch.setattr(SOLVERS[solver], "step_kernel", kernel.__wrapped__)  # another for these features
    assert moved(solver)[0] == digest
    assert first + 0.1 < second < third - 0.1  # each world moves in its own way
