"""Benchmarks of the direct solve: rows, the comparison with other methods, and the same chain in MuJoCo."""

import math
import shutil

import numpy as np
import pytest

import pbd
from benchmarks import direct, energy
from benchmarks.chains import STARTS, bent_chain, energy_changes, rise_and_drift
from benchmarks.energy import OURS, Point, better_at, curves, energy_against_cost, methods, plot_energies, verdict
from benchmarks.mujoco_solver import MujocoSolver, mujoco
from benchmarks.sticks import c_loop

needs_mujoco = pytest.mark.skipif(mujoco is None, reason="MuJoCo is not installed")
g = 9.81


def values(lines):
    """{case: value} of lines of CSV."""
    cells = [line.split(",") for line in lines if not line.startswith("#")]
    return {cell[1]: float(cell[3]) for cell in cells}


def test_rise_is_over_the_running_minimum_and_drift_between_tenths():
    changes = np.concatenate([np.zeros(10), np.linspace(0, -3, 80), np.full(10, -1.0)])
    assert rise_and_drift(changes) == (2.0, -1.0)


@pytest.mark.slow
def test_errors_of_the_chain_have_ratios_of_four():
    # The error of SHAKE is c h². Gauss-Seidel has the error of its iterations as well.
    found = values(direct.accuracy(steps=(0.004, 0.002, 0.001), duration=0.2, iterations=30))
    for pair in ("4 to 2", "2 to 1"):
        assert found[f"chain of 5 {pair} ms error"] == pytest.approx(4, abs=0.1)
    assert found["chain of 5 1 ms 30 iterations off"] > 10 * found["chain of 5 1 ms two rounds off"]


def test_energies_are_rows_also_of_a_run_that_diverges(monkeypatch):
    found = values(direct.energies(1.0, (1.0,), {"swinging": (0.01,)}))
    assert set(found) == {"chain of 5 last 1 kg swinging 10 ms rise", "chain of 5 last 1 kg swinging 10 ms drift"}
    assert 0 < found["chain of 5 last 1 kg swinging 10 ms rise"] < 0.7  # percent

    def diverge(*_):
        raise pbd.Diverged(0, 7, 3, 1.5)

    monkeypatch.setattr(direct, "energy_changes", diverge)
    found = values(direct.energies(1.0, (1.0,), {"swinging": (0.01,)}))
    assert found == {"chain of 5 last 1 kg swinging 10 ms diverges": 1.5}


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("cc"), reason="no C compiler")
def test_costs_are_also_in_projections_of_the_c_loop():
    assert c_loop(n=16).rate() > 1e6
    found = values(direct.costs(segments=(10,)))
    assert found["chain of 5 two rounds goal"] == pytest.approx(4200)
    assert found["chain of 5 two rounds in C"] > 100
    assert found["ragdoll's joints two rounds goal"] == pytest.approx(8750)
    assert found["ragdoll's joints two rounds in C"] > 100
    assert found["ragdoll's joints and limits two rounds in C"] > 100
    assert found["rope of 10 segments in C"] > 1
    assert found["rope of 10 stretch"] < 1e-6


def test_sizes_are_those_of_the_factors():
    lines = list(direct.sizes(["five_link_chain", "pendulum", "drape"]))  # drape has no joints
    found = values(lines)
    assert found["five_link_chain rows"] == 79
    assert found["five_link_chain products"] == 2087
    assert found["pendulum components"] == 1
    assert [line.split()[1] for line in lines if line.startswith("#")] == ["constraints", "five_link_chain", "pendulum"]


# MuJoCo ---------------------------------------------------------------------------------------------------------------


@needs_mujoco
@pytest.mark.parametrize("start", list(STARTS))
def test_chain_in_mujoco_has_the_same_energy_and_motion(start):
    # Both converge to one motion: Runge-Kutta with h⁴, the direct solve with 3e-6 m after 1 s at 1 ms.
    model = bent_chain(**STARTS[start])
    chain, solver = MujocoSolver(model, 5e-4, "RK4"), direct.solver_of(model, 5e-4)
    weight = sum(body.mass * g * body.position[2] for body in model.bodies)
    assert chain.energy().total == pytest.approx(weight, abs=1e-12)
    for each in (chain, solver):
        each.step(600)
    assert chain.time == pytest.approx(0.3)
    assert chain.state().position == pytest.approx(solver.state().position, abs=5e-6)
    assert energy_changes(chain, 0.1, 20) == pytest.approx(0, abs=1e-9)


# Error against cost ---------------------------------------------------------------------------------------------------


def points(*pairs):
    """Points of given costs and errors."""
    return [Point(0.01, seconds, error, error, 0.0) for seconds, error in pairs]


def test_methods_are_compared_at_equal_cost():
    ours = points((1.0, 0.04), (2.0, 0.01), (4.0, 0.0025), (0.5, 0.2))  # the last one is off by too much to count
    # At a cost of 2 the other has the error 0.02, between its two steps; below a cost of 1 it cannot run.
    better, costs = better_at(ours, points((1.0, 0.04), (4.0, 0.01)))
    assert list(better) == [False, True, True]
    assert costs == pytest.approx([1, 2, 4])
    assert better_at(ours, points((3.0, math.inf), (8.0, 1e-9)))[0].tolist() == [True, True, True]
    found = {OURS: ours, "bad": points((1.0, 1.0)), "good": points((0.1, 1e-9)), "first": points((0.1, 0.03))}
    said = "more accurate than bad; in part more accurate than first from 2e+03 ms on; less accurate than good."
    assert verdict(found) == f"At equal cost, where its error is below 5 %, {OURS} is {said}"


@pytest.mark.slow
def test_error_and_cost_are_measured(tmp_path):
    chosen = (OURS, "MuJoCo RK4") if mujoco is not None else (OURS,)
    found = {(start, name): made for start, name, made in curves((0.01,), chosen, duration=0.5, timed=0.1, repeats=1)}
    assert list(found) == [(start, name) for start in STARTS for name in chosen]
    for made in found.values():
        assert 0 < made[0].error < 0.05
        assert made[0].seconds > 0
    path = plot_energies(tmp_path / "energies.svg", found)
    text = path.read_text()
    for words in ("Swinging", "Let go from level", OURS, "processor time", "At equal cost"):
        assert words in text


def test_methods_without_mujoco(monkeypatch):
    monkeypatch.setattr(energy.mujoco_solver, "mujoco", None)
    assert list(methods()) == [OURS, "articulated", "articulated variational", "impulse", "impulse variational"]
    lines = list(energy_against_cost(steps=(0.01,), chosen=(OURS,), duration=0.1, timed=0.1, repeats=1))
    assert lines[0].startswith("# energy: MuJoCo is left out, because it is not installed")
    assert lines[-1] == f"# parallel hinges let go from level: {verdict({OURS: []})}"
    assert values(lines)[f"swinging {OURS} 10 ms cost"] > 0
