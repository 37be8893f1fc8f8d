"""The benchmark table1: its lines, and its table beside the source's figures."""

import numpy as np
import pytest

from scenes.bench import mechanisms
from scenes.bench.measure import COLUMNS


def test_table_shows_our_figures_beside_those_of_the_source(monkeypatch):
    monkeypatch.setattr(mechanisms, "measured", lambda *_: (1.5e-3, np.array([10, 30]), "digest"))
    lines = list(mechanisms.table1())
    comments = [line for line in lines if line.startswith("#")]
    rows = [line for line in lines if not line.startswith("#")]
    assert len(rows) == 3 * 4 * 3
    assert all(len(row.split(",")) == len(COLUMNS.split(",")) for row in rows)
    assert rows[1].startswith("table1,five_link_chain impulse mean,")
    assert rows[1].split(",")[3:] == ["20", "iterations", "digest"]
    # Lines of the table: ours, then the source's.
    table = {line.split()[1]: line for line in comments[-3:]}
    for name, figures in {
        "five_link_chain": "0.5 ms, 100 0.1 ms, 6",
        "peaucellier_lipkin": "16 ms, 2300 1.2 ms, 40",
        "gripper": "3 ms, 200 0.6 ms, 10",
    }.items():
        assert " ".join(table[name].split()[2:]) == 4 * "1.5 ms, 20 (30) " + figures


@pytest.mark.slow
def test_iterations_are_counted_in_each_step():
    # The impulses of falling rods change in each step: a chain of five needs more than one iteration, less than MOST.
    lines = list(mechanisms.table1(duration=0.3))
    found = {tuple(line.split(",")[1].rsplit(" ", 2)): float(line.split(",")[3]) for line in lines if line[0] != "#"}
    for name in mechanisms.SOURCE:
        worst, mean = found[name, "impulse", "worst"], found[name, "impulse", "mean"]
        assert 1 < mean <= worst <= mechanisms.MOST
        assert found[name, "impulse", "time"] > 0
