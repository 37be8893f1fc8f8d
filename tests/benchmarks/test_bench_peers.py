"""The benchmark peers: what it measures of a run, which settings count, its rows, and what it leaves out."""

import math
from importlib.util import find_spec

import numpy as np
import pytest

import rigid
from benchmarks import mujoco_solver, peers, pypbd_cloth
from benchmarks.mujoco_solver import MujocoSolver, mujoco
from benchmarks.other_engines import RapierSolver, SideBySide, rapier3d
from benchmarks.peers import MUJOCO, RAPIER, Errors, Setting, errors_of, within_bounds
from rigid.build.mjcf_writer import mjcf_text
from rigid.constraints.joints.gaps import joint_gaps, limit_violations
from rigid.constraints.joints.positions import JointPositions
from rigid.rotation import from_axis_angle, rotate

needs_mujoco = pytest.mark.skipif(mujoco is None, reason="MuJoCo is not installed")
LIMIT = 0.5  # [rad]


def values(lines):
    """{case: value} of lines of CSV."""
    cells = [line.split(",") for line in lines if not line.startswith("#")]
    return {cell[1]: float(cell[3]) for cell in cells}


def rod(**joint):
    """A rod along x that hangs from a joint at its end."""
    model = rigid.Model()
    body = model.add_box((0.5, 0.05, 0.05), mass=1.0, position=(0.25, 0, 0))
    if joint:
        model.add_hinge(rigid.GROUND, body, (0, 0, 0), (0, 1, 0), name="hinge", **joint)
    else:
        model.add_ball(rigid.GROUND, body, (0, 0, 0), swing_limit=LIMIT, twist_limits=(-LIMIT, LIMIT))
    return model


class Posed:
    """A solver whose rod is turned and moved in its second frame of two. Args: model; turn [rad]; shift [m]."""

    dt = peers.FRAME

    def __init__(self, model, turn, shift):
        self.poses = [model.initial_state() for _ in range(2)]
        q = from_axis_angle((0, 1, 0), turn)
        self.poses[1].rotation[0], self.poses[1].position[0] = q, rotate(q, (0.25, 0, 0)) + np.array((0, shift, 0))

    def step(self, count):
        """Go to the next frame."""
        self.now = self.poses.pop(0)

    def state(self):
        """The pose of now."""
        return self.now

    def digest(self):
        """The digest of now."""
        return self.now.digest()


class Depths:
    """Overlaps of which the depth is that of the first body's z [m]. Args: model."""

    def __init__(self, model):
        pass

    def depth(self, state):
        """Depth in a state [m]."""
        return abs(state.position[0, 2])


def test_limits_of_a_ragdoll_are_some_that_mjcf_has_and_start_at_zero():
    model = peers.dropped_ragdoll(3)
    mjcf_text(model)  # raises for limits of other kinds
    found = JointPositions(model).positions(model.initial_state())
    assert all(np.allclose(found[joint.name], 0, atol=1e-7) for joint in model.joints)
    assert limit_violations(model, found).max() < 1e-7


def test_errors_are_the_worst_of_all_frames():
    # It turns by 0.1 rad more than its limit, which moves its centre down by 0.25 sin 0.6.
    model = rod()
    errors, _ = errors_of(Posed(model, LIMIT + 0.1, 0.002), model, 2 * peers.FRAME, Depths(model))
    assert errors == pytest.approx((0.1, 0.002, 0.25 * math.sin(LIMIT + 0.1)), rel=1e-9)


def test_bounds_are_a_degree_and_a_millimetre():
    assert Errors(math.radians(0.99), 0.99e-3, 1.0).small(MUJOCO)
    assert not Errors(math.radians(1.01), 0.0, 0.0).small(MUJOCO)
    assert not Errors(0.0, 1.01e-3, 0.0).small(MUJOCO)
    # Rapier's limits are others.
    assert Errors(1.0, 0.99e-3, 0.0).small(RAPIER)
    assert not Errors(0.0, 1.01e-3, 0.0).small(RAPIER)


def test_the_cheapest_settings_within_the_bounds_count(monkeypatch):
    monkeypatch.setattr(peers, "Overlaps", Depths)
    model, chosen = rod(), {}
    turns = {"coarse": LIMIT + 0.1, "finer": LIMIT + 0.01, "finest": 0.0}
    ladder = [Setting(name, lambda models, turn=turn: Posed(models[0], turn, 0.0)) for name, turn in turns.items()]

    def lines():
        chosen.update((yield from within_bounds("rod", {"ours": ladder}, [model], 2 * peers.FRAME)))

    found = list(lines())
    assert chosen["ours"].label == "finer"
    assert found[0].startswith("# rod ours coarse is not within the bounds: limits 5.73 degrees")
    assert values(found) == pytest.approx(
        {"rod ours limits": math.degrees(0.01), "rod ours joints": 0.0, "rod ours overlap": 250 * math.sin(0.51)},
        rel=1e-3, abs=1e-9,
    )  # fmt: skip


def test_ratios_are_to_the_cheapest_of_mujocos():
    found = values(peers.ratios("chain", {"verlet": 3.0, "MuJoCo Euler": 2.0, "MuJoCo RK4": 1.5}))
    assert found == {"chain verlet to MuJoCo": 2.0}
    assert not list(peers.ratios("chain", {"verlet": 3.0}))


def test_missing_programs_are_left_out_by_name(monkeypatch):
    monkeypatch.setattr(mujoco_solver, "mujoco", None)
    expected = "# peers: {} is left out, because it is not installed: pip install 'verletlab[peers]'"
    assert next(peers.peers()) == expected.format("MuJoCo")
    assert MUJOCO not in peers.methods_of_ragdolls()
    monkeypatch.setattr(pypbd_cloth, "find_spec", lambda name: None)
    lines = list(pypbd_cloth.cloths(n=6, substeps=2, frames=2))
    assert list(values(lines)) == [
        "cloth 6x6 verlet 2 substeps 1 iterations", "cloth 6x6 verlet mean stretch", "cloth 6x6 verlet worst stretch",
    ]  # fmt: skip
    assert lines[-1] == expected.format("pyPBD")


@needs_mujoco
def test_limits_of_mujoco_are_stiffer_with_a_shorter_time():
    model, dt, worst = rod(limits=(-0.3, 0.3)), 1 / 480, {}
    for limit_time in (None, 2 * dt):
        solver, angles = MujocoSolver(model, dt, "Euler", limit_time=limit_time), []
        for _ in range(480):
            solver.step()
            angles.append(JointPositions(model).positions(solver.state())["hinge"])
        worst[limit_time] = np.max(angles) - 0.3
    # A critically damped spring of time constant T that is hit with the speed v gives way by v T/e.
    assert worst[2 * dt] < 0.5 * worst[None]
    assert worst[2 * dt] > 0


@needs_mujoco
def test_worlds_of_mujoco_have_the_states_of_their_models():
    models = [rod(limits=(-limit, limit)) for limit in (0.1, 0.3)]
    alone, others = ([MujocoSolver(model, 0.01, "Euler") for model in models] for _ in range(2))
    worlds = SideBySide(others)
    for each in (worlds, *alone):
        each.step(50)
    assert worlds.state().position.tolist() == [each.state().position.tolist() for each in alone]
    assert SideBySide(others[:1]).state().position.ndim == 2


@pytest.mark.skipif(rapier3d is None, reason="Rapier is not installed")
@pytest.mark.parametrize("limits", [(-0.1, 0.3), (-0.3, 0.7)])
def test_a_rod_falls_onto_its_limit_in_rapier(limits):
    # It turns from x down, which is a positive angle about y. A soft limit gives way by less than half a degree.
    model = rod(limits=limits)
    solver = RapierSolver(model, 1 / 60)
    solver.step(300)
    assert JointPositions(model).positions(solver.state())["hinge"] == pytest.approx(limits[1], abs=math.radians(0.5))
    assert joint_gaps(model, solver.state()).max() < 1e-3


@pytest.mark.skipif(rapier3d is None, reason="Rapier is not installed")
def test_rapier_refuses_joints_that_it_does_not_hold():
    model = rod()
    model.add_slider(0, model.add_sphere(0.1, mass=1.0, position=(1, 0, 0)), (1, 0, 0), (1, 0, 0))
    with pytest.raises(ValueError, match="is a Slider: expected balls and hinges"):
        RapierSolver(model, 1 / 60)
    with pytest.raises(ValueError, match="'hinge' has friction, a spring, a motor or an armature: expected none"):
        RapierSolver(rod(friction=0.1), 1 / 60)


@pytest.mark.skipif(rapier3d is None, reason="Rapier is not installed")
def test_joints_without_limits_swing_freely_in_rapier():
    # From the level a rod falls through the lowest point, a quarter turn, with ω = √(3 g/L) = 7.7 rad/s, and on to the
    # other side. It passes it after 0.51 s.
    model = rod(limits=(-math.inf, math.inf))
    solver, angles = RapierSolver(model, 1 / 240), []
    for _ in range(240):
        solver.step(1)
        angles.append(JointPositions(model).positions(solver.state())["hinge"].item())
    assert np.max(np.abs(angles)) == pytest.approx(math.pi, abs=0.1)


@needs_mujoco
def test_chains_have_the_longest_step_that_keeps_their_energy(monkeypatch):
    # Steps of 0.2 s are longer than a radian of a rod's swing, sqrt(2 L/3 g) = 0.18 s.
    monkeypatch.setattr(peers, "methods", lambda: {"MuJoCo Euler": lambda model, dt: MujocoSolver(model, dt, "Euler")})
    found = values(peers.chains((5,), (0.2, 0.01), duration=2.0, timed=0.1, repeats=1))
    assert list(found) == [f"chain of 5 MuJoCo Euler {what}" for what in ("10 ms", "energy", "joints")]
    assert found["chain of 5 MuJoCo Euler energy"] <= 5.0


@pytest.mark.skipif(find_spec("pypbd") is None, reason="pyPBD is not installed")
def test_the_cloth_of_pypbd_stretches_as_ours():
    # The same sticks, steps and iterations: only the order of the projections differs.
    found = values(pypbd_cloth.cloths(n=16, substeps=16, frames=30))
    assert found["cloth 16x16 pyPBD mean stretch"] == pytest.approx(found["cloth 16x16 verlet mean stretch"], rel=0.1)
    assert found["cloth 16x16 verlet to pyPBD"] > 0


@needs_mujoco
@pytest.mark.slow
def test_ragdolls_are_rows_of_costs_errors_and_ratios(monkeypatch):
    for name, value in {"DROPS": 1, "TIMED": 1, "REPEATS": 1, "WORLDS": 2, "PILE": 2, "DROP": 1.0}.items():
        monkeypatch.setattr(peers, name, value)
    monkeypatch.setattr(peers, "LADDERS", {"impulse": ((4, 20), (16, 20), (32, 20))})
    found = values(peers.ragdolls())
    for case in ("ragdoll", "2 ragdolls", "pile of 2"):
        assert found[f"{case} impulse to MuJoCo"] > 0
    for name in ("impulse", MUJOCO):
        assert found[f"ragdoll {name} limits"] <= 1.0
        assert found[f"ragdoll {name} joints"] <= 1.0
