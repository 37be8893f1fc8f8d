"""A joint that is no more than a record, a pin in a slot, runs with all four solvers."""

from dataclasses import dataclass

import numpy as np
import pytest
from described import ZERO
from marks import slow

import rigid
from rigid.constraints.joints.gaps import joint_gaps, joint_turns
from rigid.joints import Joint
from rigid.joints.joint_type import Angle, JointType, Shift
from rigid.solvers.articulated.spanning_trees import spanning_trees

SOLVERS = ("verlet", "impulse", "articulated", "penalty")


@dataclass(eq=False, kw_only=True)
class PinInSlot(Joint):
    """A point of the child slides along n0 of the parent, where the slot is. The child rotates about n2 there."""

    type = JointType(
        "pin_in_slot", translations=(1, 2), right_angles=((0, 2), (1, 2)),
        coordinates=(Shift(0, limits=None), Angle(2, limits=None)),
    )  # fmt: skip


def two_bodies(heavy):
    """Two free bodies with a pin in a slot. Args: heavy: which is the root of a tree, the parent 0 or the child 1."""
    model = rigid.Model(gravity=ZERO)
    for k in range(2):
        model.add_body(mass=3.0 if k == heavy else 1.0, inertia=(0.2, 0.3, 0.25), position=(0.5 * k, 0.1 * k, 0),
                       velocity=(0, 0.2 * k, 0), angular_velocity=((0.5, 0.3, 1.0), (-0.3, 2.3, 0))[k])  # fmt: skip
    slot = np.array((1, 0.4, 0.2)) / np.linalg.norm((1, 0.4, 0.2))
    pin = np.array((-0.4, 1, 0)) / np.linalg.norm((-0.4, 1, 0))
    axes = [slot, np.cross(pin, slot), pin]
    model._append(model._make(PinInSlot, 0, 1, "pin", np.array((0.2, 0.1, 0)), axes, collide=False))
    return model


@pytest.mark.parametrize(
    ("heavy", "solvers"), [(1, ("verlet", "impulse")), slow(1, SOLVERS), slow(0, SOLVERS)], ids=["two", "1", "0"]
)
def test_solvers_agree(heavy, solvers):
    # Velocities at the start do not fit the joint. The impulse that corrects them acts up to a step h earlier in one
    # solver than in another, which moves coordinates by up to h times some of 1 rad/s, wherever they go from there: by
    # 4e-5 for h = 1 ms, and half of it for half of h. "penalty" opens the joint besides.
    model, found = two_bodies(heavy), {}
    for solver in solvers:
        options = {"integrator": "variational"} if solver == "articulated" else {}
        made = rigid.solver(solver, model, dt=1e-3, **options)
        made.step(300)
        found[solver], state = made.joint_positions()["pin"], made.state()
        near = 5e-3 if solver == "penalty" else 1e-5
        assert joint_gaps(model, state) == pytest.approx(0, abs=near)
        assert joint_turns(model, state) == pytest.approx(0, abs=near)
    assert np.abs(found["verlet"]).min() > 0.01  # it slides and turns
    for solver in solvers:
        assert found[solver] == pytest.approx(found["verlet"], abs=5e-3 if solver == "penalty" else 2e-4)


def test_no_tree_runs_from_the_pin_to_the_slot():
    # There the slot would turn with the pin. Other joints reverse, so the heavier body is the root of their trees.
    assert not PinInSlot.type.reverses
    assert all(link.parent < 0 for link in spanning_trees(two_bodies(1)))
    assert [link.parent for link in spanning_trees(two_bodies(0))] == [-1, 0]
    types = [each.type for each in Joint.__subclasses__() if each is not PinInSlot]
    assert len(types) >= 9
    assert all(each.reverses for each in types if each.special is None)
