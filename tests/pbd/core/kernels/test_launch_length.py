"""Lengths of launches: all substeps on a processor, and on a graphics card as many as take a short time."""

import numpy as np
import pytest

from pbd.core.kernels import LaunchLength, launch_length, refuse_ended_loops
from pbd.core.kernels.launch_length import LONG, SHORT


@pytest.fixture
def on_a_gpu(monkeypatch):
    """A function (ends) -> LaunchLength of a graphics card. Args: ends: whether its driver ends loops."""

    def make(ends=False):
        monkeypatch.setattr(launch_length, "on_cpu", lambda: False)
        monkeypatch.setattr(launch_length, "ends_loops", lambda: ends)
        return LaunchLength()

    return make


def test_a_processor_makes_all_substeps_in_one_launch():
    length = LaunchLength()
    assert length.limited(12_345) == 12_345
    length.adapt(12_345, 10 * LONG)
    assert length.limited(12_345) == 12_345


def test_short_launches_grow_until_they_take_long(on_a_gpu):
    length, made = on_a_gpu(), []
    for _ in range(6):  # a substep takes 10 ms
        made.append(length.limited(1_000))
        length.adapt(made[-1], 0.01 * made[-1])
    # Doubled below SHORT, 50 ms. None takes longer than LONG.
    assert made == [1, 2, 4, 8, 8, 8]
    assert 0.01 * max(made) < LONG


def test_long_launches_shrink_to_one_substep(on_a_gpu):
    length = on_a_gpu()
    for _ in range(4):
        length.adapt(length.limited(8), 0.5 * SHORT)
    assert length.limited(8) == 8
    length.adapt(8, 1.1 * LONG)
    assert length.limited(8) == 4
    for _ in range(5):
        length.adapt(length.limited(8), 1.1 * LONG)
    assert length.limited(8) == 1


def test_the_last_steps_of_a_call_do_not_lengthen_launches(on_a_gpu):
    length = on_a_gpu()
    length.adapt(length.limited(8), 0.5 * SHORT)
    length.adapt(length.limited(1), 0.5 * SHORT)  # one substep of two
    assert length.limited(8) == 2


def test_a_launch_is_a_multiple_of_an_interval(on_a_gpu):
    length = on_a_gpu()
    assert length.limited(40, interval=20) == 20
    for _ in range(6):
        length.adapt(length.limited(1_000, interval=20), 0.5 * SHORT)
    assert length.limited(1_000, interval=20) % 20 == 0


def test_a_launch_makes_no_more_substeps_than_asked(on_a_gpu):
    assert LaunchLength().limited(5, interval=2) == 5
    assert on_a_gpu().limited(1, interval=2) == 1


def test_a_driver_that_ends_loops_gets_one_substep(on_a_gpu):
    length = on_a_gpu(ends=True)
    length.adapt(1, 0.5 * SHORT)
    assert length.limited(1_000) == 1


def test_ended_loops_are_refused_and_forgotten(on_a_gpu):
    on_a_gpu(ends=True)
    report = np.zeros((2, 5))
    report[:, 3] = 10, 6  # two loops of five turns; one, and one that was ended
    with pytest.raises(RuntimeError, match="driver of the GPU ended a loop"):
        refuse_ended_loops(report, 3)
    refuse_ended_loops(report, 3)
