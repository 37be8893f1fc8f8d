"""The page of a sweep: plots of what differs, reasons of failed runs."""

import pandas

from scenes.sweeps import report
from scenes.sweeps.plan import SweepPlan


def test_page_has_a_plot_of_each_measure_against_each_parameter(tmp_path):
    values = {"angle": "30,60,90", "length": "1,2,3", "links": "1,2"}
    plan = SweepPlan("pendulum", values, solvers="impulse,penalty")
    rows = [{**plan.run(k).columns(), "drift": float(k), "joint_gap": 0.0, "failure": ""} for k in range(plan.count)]
    rows[3] |= {"drift": None, "failure": "it <fell> apart"}
    path = report.write(plan, pandas.DataFrame(rows), tmp_path, command="verletlab")
    text = path.read_text("utf-8")
    files = {each.name for each in (tmp_path / "plots").iterdir()}
    assert files == {f"drift_{name}.svg" for name in ("angle", "length", "links", "map")}  # the gap is always zero
    assert text.count("<svg") == len(files)
    assert "36 runs, 1 of them failed" in text
    assert "it &lt;fell&gt; apart" in text
