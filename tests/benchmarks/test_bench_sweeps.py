"""The benchmark of sweeps: the sweep and the bare solver end in the same states."""

import pytest

from benchmarks.sweeps import sweep_against_bare_solver

pytest.importorskip("distributed", reason="no Dask: pip install 'verletlab[sweep]'")


@pytest.mark.slow
def test_sweep_ends_in_the_states_of_the_bare_solver():
    bare, of_sweep, ratio = (line.split(",") for line in sweep_against_bare_solver(side=3, duration=0.1))
    assert [bare[1], of_sweep[1], ratio[1]] == ["9 pendulums bare solver", "9 pendulums sweep", "9 pendulums ratio"]
    assert len(bare[5]) == 16
    assert of_sweep[5] == bare[5]
    assert float(ratio[3]) == pytest.approx(float(of_sweep[3]) / float(bare[3]), rel=1e-3)
