"""Outcomes of passive scenes, by solvers whose energies and poses are given; and lines of the benchmark."""

import math
import warnings

import numpy as np
import pytest

import pbd
import rigid
from benchmarks import mujoco_solver
from benchmarks.outcomes import LAST, MOST_GAIN, Outcome, watched
from benchmarks.robustness import CLASSES, MUJOCO, SOLVERS, lines_of, robustness, run_scene
from pbd.core.results import Energy
from rigid.state import State
from scenes.cli.main import main

STEP = 1 / 60
RADIUS = 0.5


def two_balls(gap):
    """Two balls, the second of which hangs from the first; between them is a gap [m]."""
    model = rigid.Model()
    for k in range(2):
        model.add_sphere(RADIUS, mass=1.0, position=(k * (2 * RADIUS + gap), 0, 0))
    model.add_ball(0, 1, (RADIUS, 0, 0), collide=True)
    return model


class Pretended:
    """A solver whose energies and shifts of the second ball are given.

    Args: model; energies: at the start and after each step [J]; shifts: likewise, along the line of both balls [m];
    dt [s]; stop: error that the last step raises; said: warning of the first step.
    """

    def __init__(self, model, energies=(0.0,) * 40, shifts=(0.0,) * 40, dt=STEP, stop=None, said=None):
        self.model, self.dt, self.steps, self.stop, self.said = model, dt, 0, stop, said
        self.energies, self.shifts = energies, shifts

    @property
    def time(self):
        return self.steps * self.dt

    def step(self, count):
        self.steps += count
        if self.said and self.steps == count:
            warnings.warn(self.said, UserWarning, stacklevel=2)
        if self.stop and self.steps == len(self.energies) - 1:
            raise self.stop

    def energy(self):
        return Energy(0.0, 0.0, self.energies[self.steps])

    def state(self):
        start = self.model.initial_state()
        start.position[1, 0] += self.shifts[self.steps]
        return State(start.position, start.rotation, start.velocity, start.angular_velocity)

    def digest(self):
        return self.state().digest()


def outcome(gap=0.0, contacts=False, duration=None, scale=10.0, **given):
    """The Outcome of a pretended run, with the length of 1 m."""
    model = two_balls(gap)
    made = Pretended(model, **given)
    duration = (len(made.energies) - 1) * made.dt if duration is None else duration
    return watched(3, lambda: made, model, 2 * RADIUS, scale, duration, contacts)


def test_a_gain_is_the_largest_rise_over_the_running_minimum():
    # It falls by 3, rises by 2, falls by 4 and rises by 3 J: 0.3 of the scale, first above 0.05 in the second step.
    found = outcome(energies=(5, 2, 4, 0, 3))
    assert found.gain == pytest.approx(0.3)
    assert found.time == pytest.approx(2 * STEP)
    assert (found.seed, found.said, found.silent) == (3, "", True)
    passive = outcome(energies=(5, 4, 4.4, 3, 3.4))
    assert (passive.gain, passive.time, passive.silent) == (pytest.approx(0.04), None, False)


def test_energies_without_a_limit_are_a_gain():
    found = outcome(energies=(5, 4, math.nan, 3))
    assert (found.gain, found.silent) == (math.inf, True)


def test_an_error_or_a_warning_is_no_silence():
    stopped = outcome(energies=(5, 4, 9, 20), stop=pbd.Diverged(0, 3, 1, 3 * STEP, "body"))
    assert stopped.gain == pytest.approx(0.5)  # before it
    assert (stopped.silent, stopped.said) == (False, str(pbd.Diverged(0, 3, 1, 3 * STEP, "body")))
    warned = outcome(energies=(5, 4, 9, 20), said="gains energy")
    assert (warned.gain, warned.said, warned.silent) == (pytest.approx(1.6), "gains energy", False)


def test_joints_are_open_above_a_tenth_of_a_body():
    for shift, open_ in ((0.09, False), (0.11, True)):
        found = outcome(shifts=(0.0, shift, 0.0, 0.0), energies=(0.0,) * 4)
        assert found.gap == pytest.approx(shift)
        assert found.open == open_


def test_an_overlap_counts_if_it_lasts():
    steps = LAST + 4
    pressed = [0.0, *[-0.07] * steps]
    assert outcome(shifts=pressed, energies=(0.0,) * (steps + 1), contacts=True).overlap == pytest.approx(0.07)
    assert outcome(shifts=pressed, energies=(0.0,) * (steps + 1), contacts=True).sunk
    assert outcome(shifts=pressed, energies=(0.0,) * (steps + 1)).overlap == 0  # without contacts
    pressed[-3] = 0.01  # an impact
    assert outcome(shifts=pressed, energies=(0.0,) * (steps + 1), contacts=True).overlap == 0


def test_a_refused_scene_is_none_that_ran():
    def refuse():
        raise ValueError("step too long: expected less")

    found = watched(8, refuse, two_balls(0.0), 1.0, 1.0, 1.0)
    assert (found.refused, found.said, found.silent, found.digest) == (True, "step too long: expected less", False, "")


def test_rates_are_in_parts_of_the_scenes_that_ran():
    found = [
        Outcome(0, 0.01, None, 0.001, "", "a"), Outcome(1, 2 * MOST_GAIN, 1.5, 0.2, "", "b"),
        Outcome(2, math.inf, 0.1, 0.3, "diverged", "c", diverged=True),
        Outcome(3, 0.0, None, 0.0, "", "d", overlap=0.06), Outcome(4, 0.0, None, 0.0, "too long", "", refused=True),
    ]  # fmt: skip
    lines = list(lines_of("case", found, 2.5))
    cells = {line.split(",")[1]: float(line.split(",")[3]) for line in lines if not line.startswith("#")}
    assert cells == {
        "case scenes": 5, "case refused": 20, "case gain in silence": 25, "case diverged": 25,
        "case diverged or warned": 25, "case joints open": 25, "case overlap at rest": 25, "case time": 0.5,
    }  # fmt: skip
    assert "# case: diverged or warned: seeds 2: diverged" in lines
    assert "# case: refused: seeds 4: too long" in lines
    assert "# case: gain in silence: seeds 1" in lines


@pytest.mark.slow
def test_pendulums_of_chains_keep_their_energy_in_short_steps():
    # Semi-implicit Euler at 4 ms: links of a metre turn by some 0.02 rad in a step.
    found = run_scene(0, "impulse", CLASSES["chain 1 m"]._replace(dt=1 / 240))
    assert (found.said, found.refused) == ("", False)
    assert found.gain < MOST_GAIN
    assert found.gap < 0.02


def test_particles_run_in_verlet_alone():
    assert run_scene(0, "impulse", CLASSES["cloth"]) is None
    lines = list(robustness(count=1, solver="articulated", classes=["cloth", "particles"]))
    assert lines == []


@pytest.mark.skipif(mujoco_solver.mujoco is None, reason="MuJoCo is not installed")
def test_mujoco_runs_the_same_scenes_also_of_millimetres():
    found = run_scene(0, MUJOCO[0], CLASSES["chain 1 m"]._replace(dt=0.0005))
    assert found.gap < 1e-12  # its coordinates are reduced
    assert found.gain < 0.01  # of first order in the step
    assert not run_scene(0, MUJOCO[0], CLASSES["chain 1 mm"]).refused
    assert run_scene(0, MUJOCO[0], CLASSES["wheels"]).refused


def test_the_benchmark_without_mujoco(monkeypatch):
    monkeypatch.setattr(mujoco_solver, "mujoco", None)
    lines = list(robustness(count=1, solver=MUJOCO[0], classes=["tree"]))
    assert lines == ["# robustness: MuJoCo is left out, because it is not installed: pip install 'verletlab[mjcf]'"]


WRONG = [
    ("robustness --count 0", "count is 0: expected 1 or more"),
    ("robustness --classes heaq", "did you mean 'heap'?"),
    ("robustness --solver mujoco", "solver is 'mujoco': expected one of 'verlet', 'impulse'"),
    ("robustness chains --solver impulse", "--solver cannot be used with all of these benchmarks: expected robustness"),
    (
        "small --count 3",
        "--count cannot be used with all of these benchmarks: expected chains, curtain, fabric_cost, robustness alone",
    ),
]


@pytest.mark.parametrize(("words", "message"), WRONG)
def test_wrong_flags_end_with_one_line(words, message, capsys):
    assert main(["bench", *words.split()]) == 2
    printed = capsys.readouterr()
    assert message in printed.err
    assert printed.err.count("\n") == 1
    assert printed.out == ""


def test_all_solvers_and_classes_have_names():
    assert set(rigid.SOLVERS) < set(SOLVERS)
    assert np.unique(list(CLASSES)).size == len(CLASSES)
