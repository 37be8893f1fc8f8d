"""The playground of the site: recorded runs show what the pages say, and sliders choose among them."""

import base64
import importlib
import re
import warnings

import numpy as np
import pytest
from documents import DOCUMENTS, ROOT

with pytest.MonkeyPatch.context() as patch:
    patch.syspath_prepend(str(ROOT / "docs"))
    playground_runs = importlib.import_module("playground_runs")


def unpacked(text):
    """Pairs of numbers (n, 2) [m] that `packed` wrote."""
    return playground_runs.UNIT * np.frombuffer(base64.b64decode(text), "<i2").reshape(-1, 2)


def test_numbers_come_back():
    given = np.array([[0.0, 1.25], [-3.5, 0.0125]])
    assert unpacked(playground_runs.packed(given)) == pytest.approx(given, abs=0.51 * playground_runs.UNIT)


def test_error_of_the_oscillator_falls_with_its_order():
    # Order two without drag: a quarter for half of the step. Order one with drag, which acts on an older velocity.
    def error(steps, drag):
        said = playground_runs.oscillator_run(steps, drag)["said"]
        return float(re.search(r"error in three periods (\S+) m", said)[1])

    assert error(80, 0.0) / error(160, 0.0) == pytest.approx(4, rel=0.1)
    assert error(80, 1.0) / error(160, 1.0) == pytest.approx(2, rel=0.15)


def test_curves_are_drawn_to_the_last_step():
    run = playground_runs.oscillator_run(20, 0.0)
    times, places = unpacked(run["curve"]).T
    assert times == pytest.approx(np.arange(61) / 20, abs=1e-3)
    # The recurrence x' = (2 - ω²h²) x - x* from rest at 1 m, see docs/course/verlet.md
    angle = 2 * np.arcsin(np.pi / 20)
    assert places == pytest.approx(np.cos(np.arange(61) * angle), abs=0.51e-3)


def test_a_rope_with_more_iterations_stretches_less():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of energy that rises
        runs = [playground_runs.rope_run(iterations, 1, 0.0) for iterations in (2, 16)]
    longest = [float(re.match(r"at most (\S+) m", run["said"])[1]) for run in runs]
    assert 1.0 < longest[1] < longest[0]
    points = playground_runs.ROPE_PICTURE["points"]
    for run, length in zip(runs, longest):
        frames = unpacked(run["frames"]).reshape(-1, points, 2)
        assert len(frames) == 4 * playground_runs.FRAME_RATE
        assert np.linalg.norm(np.diff(frames, axis=1), axis=2).sum(1).max() == pytest.approx(length, abs=0.02)


def test_pages_show_the_playgrounds():
    texts = {path.relative_to(ROOT).as_posix(): path.read_text("utf-8") for path in DOCUMENTS}
    shown = {name: re.findall(r"^```{playground} (\w+)$", text, re.MULTILINE) for name, text in texts.items()}
    assert set(shown["docs/playground.md"]) == set(playground_runs.PLAYGROUNDS)
    assert shown["docs/course/verlet.md"] == ["oscillator"]
    assert shown["docs/course/many_sticks.md"] == ["rope"]
