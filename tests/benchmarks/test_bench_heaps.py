"""Heaps beside other engines: `benchmarks/heaps.py` and `benchmarks/other_engines.py`."""

import numpy as np
import pytest
from marks import slow

import rigid
from benchmarks import heaps, other_engines
from benchmarks.heaps import Case, heap, pyramid, struck_wall
from rigid.collision.overlaps import Overlaps

g = 9.81


@pytest.mark.parametrize(
    "model", [pyramid(5), slow(heap(50)), slow(struck_wall(4, 5))], ids=["pyramid", "heap", "wall"]
)
def test_bodies_do_not_overlap_at_first(model):
    assert Overlaps(model).depth(model.initial_state()) < 1e-12


def test_missing_programs_are_named_and_our_solvers_are_measured(monkeypatch):
    monkeypatch.setattr(heaps, "ENGINES", {"Rapier": (None, None), "Box3D": (None, None)})
    monkeypatch.setattr(heaps.mujoco_solver, "mujoco", None)
    monkeypatch.setattr(heaps.jolt_solver, "missing", lambda: "it is not installed")
    monkeypatch.setattr(heaps, "OURS", {"impulse 10 iterations": heaps.OURS["impulse 10 iterations"]})
    monkeypatch.setattr(heaps, "cases", lambda: {"pyramid of 3": Case(pyramid(2), 120, True)})
    lines = list(heaps.heaps())
    missing = [line for line in lines if line.startswith("#")]
    assert [line.split()[2] for line in missing] == ["Rapier", "Box3D", "Jolt"]
    values = {line.split(",")[1]: float(line.split(",")[3]) for line in lines if not line.startswith("#")}
    name = "pyramid of 3 impulse 10 iterations"
    assert set(values) == {name, *(f"{name} {what}" for what in ("overlap", "sinking", "creep", "speed"))}
    assert values[name] > 0
    assert abs(values[f"{name} sinking"]) < 1
    assert values[f"{name} speed"] < 1e-3


@pytest.mark.parametrize("name", other_engines.ENGINES)
def test_other_engines_have_the_model(name):
    # A ball falls by g t²/2, to first order in the step, a capsule turns as it did, and a box rests.
    module, maker = other_engines.ENGINES[name]
    if module is None:
        pytest.skip(f"{name} is not installed")
    model, turn = rigid.Model(), np.array([0.8, 0, 0.6, 0])
    model.add_ground(friction=0.5)
    model.add_sphere(0.1, mass=2.0, position=(0, 0, 9), velocity=(1, 0, 0))
    model.add_capsule(0.1, 0.4, mass=1.0, position=(3, 0, 9), rotation=turn, angular_velocity=(0, 1.0, 0))
    model.add_box((0.4, 0.6, 0.2), mass=3.0, position=(6, 0, 0.1))
    solver = maker(model, 1 / 60)
    solver.step(60)
    ball, capsule, box = solver.state().position
    assert ball == pytest.approx((1, 0, 9 - 0.5 * g), abs=0.1)
    assert capsule == pytest.approx((3, 0, 9 - 0.5 * g), abs=0.1)
    assert box == pytest.approx((6, 0, 0.1), abs=0.01)
    angle = 2 * np.arctan2(0.6, 0.8) + 1.0
    expected = np.array([np.cos(angle / 2), 0, np.sin(angle / 2), 0])
    assert abs(solver.state().rotation[1] @ expected) == pytest.approx(1, abs=1e-4)


def test_what_other_engines_do_not_hold_is_refused():
    jointed = rigid.Model()
    jointed.add_ball(rigid.GROUND, jointed.add_sphere(0.1, mass=1.0, position=(0, 0, 1)), (0, 0, 2))
    if other_engines.robox3d is not None:
        with pytest.raises(ValueError, match="joints: expected free bodies"):
            other_engines.Box3DSolver(jointed, 1 / 60)
    sprung = rigid.Model()
    ball = sprung.add_sphere(0.1, mass=1.0, position=(0, 0, 1))
    sprung.add_spring(rigid.GROUND, ball, (0, 0, 2), (0, 0, 1), stiffness=1.0)
    with pytest.raises(ValueError, match="springs: expected none"):
        other_engines.bodies_with_shapes(sprung)
    round_ones = rigid.Model()
    round_ones.add_cylinder(0.1, 0.2, mass=1.0, position=(0, 0, 1))
    with pytest.raises(ValueError, match="expected one sphere, capsule or box"):
        other_engines.bodies_with_shapes(round_ones)
    ground = rigid.Model()
    ground.add_shape(rigid.GROUND, rigid.Sphere(1.0))
    with pytest.raises(ValueError, match="ground with a Sphere: expected planes"):
        other_engines.ground_shapes(ground)
