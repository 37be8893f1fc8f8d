"""Make the table of the errors of each solver: scenes of the catalogue with their default settings.

    python media/solvers.py            # write the table into README.md, between its two marks
    python media/solvers.py --print    # print the table
    python media/solvers.py --times    # with the wall time of a simulated second; needs a quiet machine

"""

import argparse
import re
from pathlib import Path
from typing import NamedTuple

import numpy as np

import rigid
import scenes

README = Path(__file__).parents[1] / "README.md"
MARKS = "<!-- media/solvers.py writes this table -->", "<!-- until here -->"


class Case(NamedTuple):
    """A row: the question, the scene, the duration [s], a function of a Trace, its unit, the reference run."""

    question: str
    scene: str
    duration: float
    measure: object
    unit: str
    reference: str | None = None


def largest(name, factor=1.0):
    """Make a function: the largest value of a series, times a factor."""
    return lambda trace: factor * float(np.nanmax(trace.series[name]))


def energy_lost(trace):
    """Change of energy at the end, relative to the largest kinetic energy [%]."""
    return 100 * float(trace.series["drift"][-1] / trace.series["kinetic"].max())


def momentum_changed(trace):
    """Largest change of angular momentum, relative to its initial value [%]."""
    momentum = trace.series["angular_momentum"]
    return 100 * float(np.linalg.norm(momentum - momentum[0], axis=1).max() / np.linalg.norm(momentum[0]))


def deviation(probe, factor=1.0):
    """Make a function: the largest deviation of a probe from the reference, times a factor."""
    return lambda trace: factor * float(np.nanmax(trace.deviation[probe]))


def creep(trace):
    """Largest distance that a body moves in the second half [mm]."""
    places = trace.recording.body_poses[:, :, :3]
    return 1e3 * float(np.linalg.norm(places[-1] - places[len(places) // 2], axis=-1).max())


def sag(trace):
    """Largest distance that a body sinks [mm]."""
    heights = trace.recording.body_poses[:, :, 2]
    return 1e3 * float((heights[0] - heights).max())


CASES = (
    Case("energy drift of a pendulum in 6 s", "pendulum", 6.0, energy_lost, "%"),
    Case("change of angular momentum of a box in free flight, 6 s", "dzhanibekov", 6.0, momentum_changed, "%"),
    Case("deviation of a chain with friction from its converged motion, 2 s", "five_link_chain", 2.0,
         deviation("position", 1e3), "mm", "impulse/100"),
    Case("largest joint gap of the same chain", "five_link_chain", 2.0, largest("joint_gap", 1e3), "mm", "impulse/100"),
    Case("largest joint gap of the driven Peaucellier-Lipkin linkage, 3 s", "peaucellier_lipkin", 3.0,
         largest("joint_gap", 1e3), "mm"),
    Case("largest violation of a joint limit of a falling ragdoll", "ragdoll", 3.0,
         largest("limit_violation", 180 / np.pi), "°"),
    Case("creep of a stack of ten boxes in 2.5 s", "stack", 5.0, creep, "mm"),
    Case("sinking of 100 kg on four boxes of 1 kg, 2 s", "high_mass_ratio", 2.0, sag, "mm"),
)  # fmt: skip


def compared(case, found={}):  # noqa: B006 - cases of one scene share a run
    """Compare the solvers in a Case."""
    key = case.scene, case.duration, case.reference
    if key not in found:
        found[key] = scenes.compare(case.scene, duration=case.duration, reference=case.reference)
    return found[key]


def cell(case, solver, times=False):
    """Result of a solver.

    Args: case; solver; times: whether the text contains the wall time of a simulated second.

    Returns: the magnitude, None if the solver cannot run the scene, and the text.
    """
    comparison = compared(case)
    if solver in comparison.unsupported:
        return None, "cannot"
    trace = comparison.trace(solver)
    if trace.failure:
        return None, f"fails at {trace.times[-1]:.2g} s"
    value = case.measure(trace)
    text = f"{number(value)} {case.unit}"
    return abs(value), f"{text}, {number(1e3 * trace.about['seconds_per_second'])} ms" if times else text


def number(value):
    """Write a number with two digits; one below 1e-12 is round-off, and written as zero."""
    if abs(value) < 1e-3:
        return f"{value:.0e}".replace("e-0", "e-") if abs(value) > 1e-12 else "0"
    return f"{float(f'{value:.2g}'):g}"


def row(case, times):
    """Make a row of the table; the best result is bold."""
    cells = [cell(case, solver, times) for solver in rigid.SOLVERS]
    best = min((value for value, _ in cells if value is not None), default=None)
    texts = [re.sub(r"^[^,]*", lambda found: f"**{found[0]}**", text) if value is not None and value <= 1.05 * best
             else text for value, text in cells]  # fmt: skip
    return f"| {case.question} (`{case.scene}`) | {' | '.join(texts)} |"


def table(times=False):
    """Make the table in Markdown. Args: times: as for `cell`."""
    head = f"| | {' | '.join(f'`{solver}`' for solver in rigid.SOLVERS)} |"
    return "\n".join([head, "|" + " --- |" * (1 + len(rigid.SOLVERS)), *(row(case, times) for case in CASES)])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Make the table of the errors of all solvers in README.md.")
    parser.add_argument("--print", action="store_true", help="print the table instead")
    parser.add_argument("--times", action="store_true", help="with the wall time of a simulated second")
    given = parser.parse_args()
    made = table(given.times)
    if given.print:
        print(made)  # noqa: T201
    else:
        before, rest = README.read_text("utf-8").split(MARKS[0])
        README.write_text(f"{before}{MARKS[0]}\n\n{made}\n\n{MARKS[1]}{rest.split(MARKS[1])[1]}", "utf-8")
