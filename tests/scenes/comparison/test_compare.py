"""Comparisons: time base, deviations from a reference, equal iterations, failures, tables."""

import csv
import json
import math

import numpy as np
import pytest
from rich.console import Console

import pbd
import rigid
import scenes
from rigid.rotation import exponential
from scenes.comparison import summary
from scenes.comparison.compare import compare
from scenes.comparison.measure import read
from scenes.comparison.probes import chosen, deviations, probes_of
from scenes.comparison.results import Variant
from scenes.simulate.recording import Recording
from scenes.simulate.run import Run

CHAIN = "five_link_chain"


@pytest.fixture(scope="module")
def chain():
    """All solvers on the chain, 0.2 s."""
    return compare(CHAIN, duration=0.2)


# Measured values ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("solver", rigid.SOLVERS)
def test_values_equal_those_of_a_run_alone(chain, solver):
    trace, alone = chain.trace(solver), scenes.run(chain.scene, solver, duration=0.2)
    assert trace.digest == alone.about["digest"]
    for name in Recording.ARRAYS:
        assert np.array_equal(getattr(trace.recording, name), getattr(alone, name))
    for k, name in enumerate(("kinetic", "potential", "total")):
        assert np.array_equal(trace.series[name], alone.energy[:, k])
    assert np.array_equal(trace.series["drift"], alone.energy[:, 2] - alone.energy[0, 2])
    running = Run(chain.scene, solver, duration=0.2)
    running.step(running.steps)
    for name, value in read(running).items():
        assert np.array_equal(trace.series[name][-1], value)
    assert all(len(values) == len(trace.times) == 11 for values in trace.series.values())
    assert np.isnan(trace.series["microseconds"]).tolist() == [True, True, *[False] * 9]
    assert trace.settings["dt"] == 0.01
    assert trace.failure == ""


def test_reference_comes_first_and_has_no_deviation(chain):
    assert chain.reference == chain.scene.solver == "impulse"
    assert [trace.label for trace in chain.traces] == ["impulse", "verlet", "articulated", "penalty"]
    first, *others = chain.traces
    assert list(first.deviation) == ["position", "rotation", "angle"]
    assert not any(apart.any() for apart in first.deviation.values())
    for trace in others:
        away = trace.recording.body_poses[..., :3] - first.recording.body_poses[..., :3]
        assert np.array_equal(trace.deviation["position"], np.linalg.norm(away, axis=2).max(axis=1))
        assert trace.deviation["position"][0] < 1e-9
        assert 1e-5 < trace.deviation["position"][-1] < 0.05
        assert trace.deviation["angle"][-1] < 0.05


def test_first_order_scheme_converges_to_steps_a_hundred_times_smaller():
    # The error is proportional to the step: relative to h/100, it is 99 units with h and 49 units with h/2.
    found = compare(
        CHAIN, [Variant("impulse", f"{n}", settings={"substeps": n}) for n in (1, 2)], "impulse/100", duration=0.2,
        probes="rod 5 position",
    )  # fmt: skip
    assert found.reference == "impulse/100"
    assert found.traces[0].settings["substeps"] == 100
    coarse, fine = (found.trace(label).deviation["rod 5 position"][-1] for label in "12")
    assert fine / coarse == pytest.approx(49 / 99, abs=0.03)


def test_cost_has_error_and_time():
    found = compare(CHAIN, ["articulated", "verlet"], duration=0.1, cost=True, probes=["angle"])
    assert found.reference == "articulated/100"  # the scene's own solver is not compared
    for label, least in (("articulated", 5), ("verlet", 7)):
        points = found.cost[label]
        assert len(points) >= least
        assert all(time > 0 for time, _, _ in points)
        errors = {
            settings["substeps"]: error
            for _, error, settings in points
            if settings["iterations"] == found.trace(label).settings["iterations"]
        }
        assert found.trace(label).deviation["angle"].max() == errors[found.trace(label).settings["substeps"]]
        assert errors[max(errors)] < 0.6 * errors[min(errors)]


# Frames --------------------------------------------------------------------------------------------------------------


def scene_of_a_pendulum(gravity=9.81, **settings):
    model = rigid.Model(gravity=(0, 0, -gravity))
    rod = model.add_box((0.5, 0.1, 0.1), mass=1.0, position=(0.25, 0, 1), name="rod")
    model.add_hinge(rigid.GROUND, rod, (0, 0, 1), (0, 1, 0), name="pin")
    options = {"contacts": False}
    settings = {solver: {**options, **given} for solver, given in settings.items()}
    return scenes.Scene(model=model, duration=0.2, settings=settings, name="pendulum")


def test_frames_of_all_solvers_are_at_the_same_times():
    scene = scene_of_a_pendulum(impulse={"dt": 0.01}, verlet={"dt": 0.015, "damping": 0.2}, articulated={"dt": 0.004})
    found = compare(scene, ["impulse", "verlet", "articulated"], fps=50)
    for trace in found.traces:
        assert trace.times == pytest.approx(np.linspace(0, 0.2, 11), abs=1e-12)
    # 15 ms do not divide 20 ms; 10 ms do. The loss of velocity in 30 ms stays the same: 0.8² = (1 - d)³.
    assert found.trace("verlet").settings["dt"] == 0.01
    assert (1 - found.trace("verlet").settings["damping"]) ** 3 == pytest.approx(0.8**2)
    assert found.trace("articulated").settings["dt"] == 0.004
    assert [trace.label for trace in found.traces] == ["impulse", "verlet", "articulated"]


def test_run_has_whole_frames():
    found = compare(scene_of_a_pendulum(impulse={"dt": 0.01}), ["impulse"], fps=30, duration=0.1)
    assert found.traces[0].times == pytest.approx([0, 0.03, 0.06, 0.09])
    found = compare(scene_of_a_pendulum(impulse={"dt": 0.01}), ["impulse"], fps=1, duration=0.1, dt=0.02)
    assert found.traces[0].times == pytest.approx([0, 0.1])
    assert found.traces[0].settings["dt"] == 0.02


# Equal iterations ----------------------------------------------------------------------------------------------------


def test_equal_iterations_per_simulated_second():
    scene = scene_of_a_pendulum(
        impulse={"dt": 0.01, "iterations": 40, "tolerance": 1e-3},
        verlet={"dt": 0.005, "substeps": 4, "iterations": 9, "solve": "iterative"},
    )  # fmt: skip
    found = compare(scene, equal="iterations", duration=0.1)
    rates = {trace.label: trace.about.get("iterations_per_second") for trace in found.traces}
    assert rates == {"impulse": 4000, "verlet": 4000, "articulated": 4000, "penalty": None}
    assert found.trace("verlet").settings["iterations"] == 5
    # No tolerance stops the iterations early.
    assert (found.trace("verlet").series["iterations"][1:] == 5).all()


# Probes --------------------------------------------------------------------------------------------------------------


def recording_of(poses, positions=()):
    """Make a Recording of bodies. Args: poses: (frames, bodies, 7); positions: of particles."""
    poses, positions = np.array(poses, float), np.array(positions, float).reshape(len(poses), -1, 3)
    none = np.zeros((len(poses), 0, 7))
    return Recording(
        {}, np.arange(len(poses)) * 0.1, positions, positions, none, poses, np.zeros((*poses.shape[:2], 6)),
        np.zeros((len(poses), 3)),
    )  # fmt: skip


def test_deviations_are_distances_and_angles():
    model = rigid.Model()
    bodies = [model.add_body(mass=1.0, inertia=(1, 1, 1), position=(k, 0, 0), name=f"b{k}") for k in range(4)]
    model.add_hinge(rigid.GROUND, bodies[0], (0, 0, 0), (0, 1, 0), name="h")
    model.add_slider(bodies[0], bodies[1], None, (1, 0, 0), name="s")
    model.add_ball(bodies[0], bodies[2], (0, 0, 0), name="ball")
    model.add_fixed(bodies[2], bodies[3], name="weld")
    scene = scenes.Scene(model=model, name="own")
    start = np.array([(k, 0, 0, 1, 0, 0, 0) for k in range(4)], float)
    turns = np.linspace(0, 3 * np.pi, 10)  # of the hinge, more than half a turn
    one, other = np.tile(start, (10, 1, 1)), np.tile(start, (10, 1, 1))
    one[:, 0, 3:] = [exponential((0, turn, 0)) for turn in turns]
    one[:, 2, 3:] = one[:, 0, 3:]  # both bodies of the ball joint rotate together
    one[:, 1, :3] += (0.3, 0, 0.4)
    apart = deviations(scene, recording_of(one), recording_of(other), probes_of(scene))
    assert apart["position"] == pytest.approx(0.5)
    assert apart["b1 position"] == pytest.approx(0.5)
    assert apart["b0 position"] == pytest.approx(0)
    assert apart["rotation"] == pytest.approx(np.abs((turns + np.pi) % (2 * np.pi) - np.pi), abs=1e-7)
    assert apart["h angle"] == pytest.approx(turns)  # full turns count
    assert apart["ball angle"] == pytest.approx(0, abs=1e-7)
    # In the frame of the parent, which rotates about y: x cos + z sin of (1.3, 0, 0.4), compared with 1.
    along = np.cos(turns) * 1.3 - np.sin(turns) * 0.4
    assert apart["s shift"] == pytest.approx(np.abs(along - 1), abs=1e-9)
    assert "weld angle" not in apart
    assert list(chosen(scene)) == ["position", "rotation", "angle", "shift"]
    assert list(chosen(scene, "b1")) == ["b1 position", "b1 rotation"]
    assert list(chosen(scene, ["h", "shift"])) == ["h angle", "shift"]


def test_deviation_is_nan_after_the_end_of_the_reference():
    scene = scenes.Scene(pbd.Particles(), name="own")
    scene.particles.add_particles([(0, 0, 0), (1, 0, 0)])
    none = np.zeros((3, 0, 7))
    one, other = (recording_of(none, np.full((3, 2, 3), value)) for value in (0.0, 1.0))
    other = Recording({}, *(getattr(other, name)[:2] for name in Recording.ARRAYS))
    (apart,) = deviations(scene, one, other, chosen(scene)).values()
    assert apart[:2] == pytest.approx(math.sqrt(3))
    assert np.isnan(apart[2])
    assert len(deviations(scene, other, one, chosen(scene))["particles"]) == 2


# Refusals ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"solvers": ["impuls"]}, "did you mean 'impulse'?"),
        ({"solvers": ["impulse", "impulse"]}, "label 'impulse' is given twice: expected different labels"),
        ({"solvers": []}, "solvers is empty: expected at least one solver"),
        ({"solvers": [Variant("impulse", "six", scenes.load(CHAIN, links=6))]}, "scene of 'six': expected the bodies"),
        ({"reference": "impulze"}, "reference is 'impulze': expected one of .*; did you mean 'impulse'?"),
        ({"reference": "impulse/10"}, "reference is 'impulse/10': expected SOLVER or SOLVER/100"),
        ({"probes": "rod 6"}, "no probe called 'rod 6' in scene five_link_chain; did you mean 'rod [1-5]'?"),
        ({"probes": ["hinge 2", "angel"]}, "no probe called 'angel' in scene five_link_chain; did you mean 'angle'?"),
        ({"equal": "times"}, "equal is 'times': expected one of .*; did you mean 'time'?"),
        ({"settings": {"impuls": {}}}, "solver in settings is 'impuls'.*; did you mean 'impulse'?"),
        ({"settings": {"impulse": {"iteration": 3}}}, "no option 'iteration'; did you mean 'iterations'?"),
        ({"duration": -1}, "duration is -1: expected a number above zero"),
        ({"dt": 0}, "dt is 0: expected a number above zero"),
        ({"fps": math.nan}, "fps is nan"),
    ],
)
def test_wrong_arguments_are_refused(given, message):
    with pytest.raises(ValueError, match=message):
        compare(CHAIN, **given)
    with pytest.raises(TypeError, match="scene is 7: expected a Scene, or the name of one"):
        compare(7)


def test_unsupported_solvers_are_reported_and_the_others_run():
    scene = scene_of_a_pendulum(impulse={"dt": 0.01}, penalty={"dt": 0.01, "stiffness": 1e9})
    scene.unsupported["verlet"] = "frames do not like it"
    for solvers in (None, ["verlet", "impulse", "penalty"]):
        found = compare(scene, solvers, duration=0.02)
        assert [trace.label for trace in found.traces] == ["impulse", "articulated"][: 2 if solvers is None else 1]
        assert "frames do not like it" in found.unsupported["verlet"]
        assert "a step of 0.01 s is unstable" in found.unsupported["penalty"]
        assert [row["failure"] for row in found.rows() if row["label"] == "verlet"] == [found.unsupported["verlet"]]
    with pytest.raises(ValueError, match="reference 'verlet' cannot run scene pendulum: solver 'verlet' cannot"):
        compare(scene, reference="verlet")
    with pytest.raises(ValueError, match=r"no solver can run scene pendulum: .*frames do not like it"):
        compare(scene, ["verlet"])
    particles = scenes.Scene(pbd.Particles(), name="own")
    particles.particles.add_particle((0, 0, 0))
    assert set(compare(particles, duration=0.1).unsupported) == {"impulse", "articulated", "penalty"}


def variants_of_a_leap(leap):
    """A variant that diverges at 0.5 s, between two that do not."""
    calm = scenes.load(leap, when=10)
    return [Variant("verlet", "calm", calm), Variant("verlet", "leaps"), Variant("verlet", "calm too", calm)]


def test_diverged_run_is_a_row_and_the_others_finish(leap, tmp_path):
    found = compare(leap, variants_of_a_leap(leap))
    calm, leaps, too = found.traces
    assert (len(calm.times), len(leaps.times), len(too.times)) == (61, 31, 61)
    assert all(len(values) == 31 for values in leaps.series.values())
    assert leaps.failure.startswith("particle 0 (world 0) stopped being finite in step 31, at 0.516667 s")
    assert leaps.digest == ""
    assert not leaps.deviation["particles"].any()  # before it diverges
    assert [row["failure"][:10] for row in found.rows()] == ["", "particle 0", ""]
    path, table = summary.write(found, tmp_path)
    assert [bool(trace["failure"]) for trace in json.loads(path.read_text())["traces"]] == [False, True, False]
    assert len(list(csv.DictReader(table.open()))) == 3
    # With the diverged run as reference, the others have deviations up to its end.
    found = compare(leap, variants_of_a_leap(leap), reference="leaps")
    assert np.isnan(found.trace("calm").deviation["particles"]).sum() == 30


def test_diverged_run_has_no_equal_time(leap):
    found = compare(leap, variants_of_a_leap(leap), equal="time")
    assert found.trace("leaps").failure.startswith("particle 0")
    assert ["equal_time" in trace.about for trace in found.traces] == [True, False, True]
    found = compare(leap, ["verlet"], equal="time")  # no run finishes
    assert "equal_time" not in found.traces[0].about


def test_run_that_fails_at_once_is_a_row(leap):
    calm, bad = (Variant("verlet", label, scenes.load(leap, when=10)) for label in ("calm", "bad"))
    bad.scene.particles.paths[0] = [0], lambda time: 1 / 0 if time else [(0, 0, 1)]
    found = compare(leap, [calm, bad], duration=0.1)
    assert found.trace("bad").failure == "after 0 s: division by zero"
    assert len(found.trace("bad").times) == 1
    bad.scene.particles.paths[0] = [0], lambda time: 1 / 0
    found = compare(leap, [calm, bad], duration=0.1)
    assert found.trace("bad").failure == "division by zero"
    assert len(found.trace("bad").times) == 0
    assert found.rows()[1]["failure"] == "division by zero"
    with pytest.raises(RuntimeError, match="reference 'bad': division by zero"):
        compare(leap, [calm, bad], "bad", duration=0.1)


# Tables --------------------------------------------------------------------------------------------------------------


def test_rows_have_the_largest_values_of_a_run(chain, tmp_path):
    rows = {row["label"]: row for row in chain.rows()}
    assert list(rows) == ["impulse", "verlet", "articulated", "penalty"]
    for label, row in rows.items():
        trace = chain.trace(label)
        for name in ("joint_gap", "joint_turn", "limit_violation", "residual", "contacts"):
            assert row[name] == trace.series[name].max()
        assert row["drift"] == np.abs(trace.series["drift"]).max()
        assert row["deviation position"] == trace.deviation["position"].max()
        assert row["digest"] == trace.digest
        assert row["reference"] == (label == "impulse")
    assert "iterations" not in rows["penalty"]
    json_path, csv_path = summary.write(chain, tmp_path)
    read_back = json.loads(json_path.read_text("utf-8"))
    assert read_back["rows"] == list(rows.values())
    assert read_back["reference"] == "impulse"
    for trace, stored in zip(chain.traces, read_back["traces"]):
        assert stored["times"] == trace.times.tolist()
        for name, values in trace.series.items():
            assert np.array_equal(np.array(stored["series"][name], float), values, equal_nan=True)
        assert stored["deviation"]["angle"] == trace.deviation["angle"].tolist()
    with csv_path.open(newline="") as file:
        for row, stored in zip(csv.DictReader(file), rows.values()):
            assert row["label"] == stored["label"]
            assert float(row["joint_gap"]) == stored["joint_gap"]


@pytest.mark.parametrize(("width", "side_by_side"), [(200, 4), (80, 4), (60, 2), (20, 1)])
def test_table_fits_the_terminal(chain, width, side_by_side):
    console = Console(width=width, force_terminal=False, record=True, file=open("/dev/null", "w"))  # noqa: SIM115
    made = summary.tables(chain, width)
    assert len(made[0].columns) == 1 + side_by_side
    for table in made:
        console.print(table)
    text = console.export_text()
    assert max(map(len, text.splitlines())) <= width
    words = "".join(text.split())
    for trace in chain.traces:
        assert trace.label in words
        assert f"{trace.series['joint_gap'].max():.3g}" in words
