"""Runs side by side, in this process: rows are those of runs alone, and a run that fails is a row with its reason."""

import warnings

import pytest
from marks import slow

import rigid
import scenes
from scenes.registry import REGISTRY
from scenes.simulate.run import RunPlan
from scenes.sweeps import shard, side_by_side, sweep
from scenes.sweeps.plan import SweepPlan
from scenes.sweeps.shard import rows_of, run_shard


def rows(plan):
    """Rows of all runs of a sweep, done together."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return rows_of(plan.job, [plan.run(number) for number in range(plan.count)])


def test_runs_are_in_the_order_of_the_values():
    plan = SweepPlan("pendulum", {"links": "1,2", "angle": [10, 20]}, solvers="verlet,impulse", dt="0.01,0.02")
    assert plan.count == 16
    assert plan.run(0).columns() == {"run": 0, "solver": "verlet", "links": 1, "angle": 10.0, "dt": 0.01}
    assert plan.run(1).columns() == {"run": 1, "solver": "verlet", "links": 1, "angle": 10.0, "dt": 0.02}
    assert plan.run(15).columns() == {"run": 15, "solver": "impulse", "links": 2, "angle": 20.0, "dt": 0.02}
    runs = [run.number for shard in range(plan.shards) for run in plan.runs_of(shard)]
    assert runs == list(range(16))


def test_shards_do_not_depend_on_workers_and_are_small_where_runs_are_large():
    many = {"angle": "linspace(1,2,1000)", "length": "linspace(1,2,1000)"}
    assert SweepPlan("pendulum", many).shard == 256
    assert SweepPlan("drape", {"count": "range(100,140,1)"}).shard == 1


# Worlds are independent of one another, so the same numbers come out, bit by bit.
@pytest.mark.parametrize("solver", [slow("impulse"), "penalty"])
def test_worlds_have_the_rows_of_single_runs(solver):
    plan = SweepPlan("pendulum", {"angle": "30,75,120"}, solvers=solver, duration=0.25)
    together = rows(plan)
    assert together == [rows_of(plan.job, [plan.run(number)])[0] for number in range(3)]
    recording = scenes.run(scenes.load("pendulum", angle=75), solver, duration=0.25)
    assert together[1]["digest"] == recording.about["digest"]
    drift = abs(recording.energy[:, 2] - recording.energy[0, 2]).max()
    assert together[1]["drift"] == drift
    assert together[1]["seconds"] == 0.25


# Worlds of "verlet" with solve="direct" share the order of elimination of the first: they differ by round-off. Its
# equations are solved to about 1e-9 of their terms, and the energy has 15 J.
@pytest.mark.slow
def test_worlds_of_verlet_have_the_rows_of_single_runs_but_for_round_off():
    plan = SweepPlan("pendulum", {"angle": "30,75,120"}, solvers="verlet", duration=0.25)
    for number, row in enumerate(rows(plan)):
        (alone,) = rows_of(plan.job, [plan.run(number)])
        for name in ("kinetic", "potential", "total", "drift"):
            assert row[name] == pytest.approx(alone[name], abs=15e-8)


@pytest.mark.slow
def test_structures_are_separate_groups(monkeypatch):
    groups = []
    record = shard.record_side_by_side
    monkeypatch.setattr(shard, "record_side_by_side", lambda plans: groups.append(len(plans)) or record(plans))
    found = rows(SweepPlan("pendulum", {"links": "1,2", "angle": "30,60,90"}, duration=0.05))
    assert groups == [3, 3]
    assert not any(row["failure"] for row in found)


@pytest.fixture
def spinner():
    """Name of a scene of one body, which spins so fast that it diverges, or cannot be made."""

    def spinner(spin: float = 1.0):
        """A body spins about its middle axis."""
        if spin < 0:
            raise ValueError("spin is negative")
        model = rigid.Model(gravity=(0, 0, 0))
        model.add_body(mass=1.0, inertia=(0.1, 0.2, 0.3), angular_velocity=(spin, spin, 0.01))
        return scenes.Scene(model=model, duration=0.05, settings={"impulse": {"dt": 0.01, "gyroscopic": "explicit"}})

    scenes.register(spinner)
    yield "spinner"
    del REGISTRY["spinner"]


@pytest.mark.slow
def test_failed_runs_are_rows_with_the_reason_and_others_go_on(spinner):
    plan = SweepPlan(spinner, {"spin": [1.0, 1e200, 2.0, -1.0, 3.0]})
    found = rows(plan)
    failures = [row["failure"] for row in found]
    assert [bool(failure) for failure in failures] == [False, True, False, True, False]
    assert "spin is negative" in failures[3]
    for number in (0, 2, 4):
        assert found[number] == rows_of(plan.job, [plan.run(number)])[0]


def test_particles_and_scenes_with_control_run_alone():
    found = rows(SweepPlan("tetrahedron", duration=0.05))
    assert found[0]["failure"] == ""
    assert found[0]["sticks"] < 1.0
    plan = SweepPlan("bicycle", duration=0.02)
    assert side_by_side.key_of(RunPlan(plan.job.scene_with({}))) is None


@pytest.mark.slow
def test_own_measure_is_a_column_and_its_error_a_row():
    def highest(scene, recording):
        return {"highest": recording.body_poses[:, 0, 2].max(), "links": 3}

    plan = SweepPlan("pendulum", {"angle": "90,170"}, duration=0.1, measure=highest)
    first, second = rows(plan)
    assert first["highest"] < second["highest"]
    assert isinstance(first["highest"], float)

    def wrong(scene, recording):
        return {"drift": 1.0}

    (row,) = rows(SweepPlan("pendulum", duration=0.1, measure=wrong))
    assert row == {"failure": "measure 'drift': expected a name that no other column has"}


@pytest.mark.usefixtures("with_registry")
def test_worker_without_the_file_of_the_scene_says_so(tmp_path):
    path = tmp_path / "own.py"
    lines = "import scenes, pbd", "def own(x: float = 1.0):", "    p = pbd.Particles()", "    p.add_particle((x, 0, 0))"
    path.write_text("\n".join([*lines, "    return scenes.Scene(p)", ""]))
    plan = SweepPlan(f"{path}:own", {"x": "1,2"}, duration=0.1)
    assert [row["failure"] for row in run_shard(plan.job, plan.runs_of(0))] == [""]
    path.write_text(path.read_text() + "# changed\n")
    with pytest.raises(RuntimeError, match="sees another file"):
        run_shard(plan.job, plan.runs_of(0))
    path.unlink()
    with pytest.raises(RuntimeError, match="sees no file"):
        run_shard(plan.job, plan.runs_of(0))


@pytest.mark.parametrize(("arguments", "words"), [
    ({"grid": {"angel": [1]}}, "did you mean 'angle'"),
    ({"grid": {"angle": []}}, "empty list"),
    ({"options": {"iteration": [1]}}, "did you mean 'iterations'"),
    ({"solvers": "impulse,bullet"}, "expected one of"),
    ({"solvers": "impulse,penalty", "options": {"iterations": [1, 2]}}, "has no option"),
    ({"dt": [0.0]}, "dt"),
    ({"fps": 0}, "fps"),
    ({"precision": 16}, "expected 32 or 64"),
    ({"grid": {"angle": "linspace(0,1,1000)", "length": "linspace(1,2,1000)"}}, "1,000,000 runs: expected confirmed"),
    ({"measure": "nothing.py"}, "FILE.py:FUNCTION"),
])  # fmt: skip
def test_wrong_sweeps_are_refused_before_they_start(arguments, words):
    with pytest.raises(ValueError, match=r".") as error:
        sweep("pendulum", **arguments)
    assert words in str(error.value)
