"""The result of a comparison as plain data: a Trace per run, with its deviation from the reference."""

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from pbd.core.validate import one_line, one_of
from scenes.comparison import summary
from scenes.render.notebook import show_comparison, table
from scenes.scene import Scene
from scenes.simulate.recording import Recording
from scenes.visuals.colours import colours_of


@dataclass
class Variant:
    """A solver to compare, with settings or a scene of its own.

    Args:
        solver: name of the solver.
        label: unique name in the comparison; None for the solver's name.
        scene: a Scene of the same bodies; None for the comparison's.
        settings: dt and options, which replace the scene's.
    """

    solver: str
    label: str | None = None
    scene: Scene | None = None
    settings: dict = field(default_factory=dict)

    def __post_init__(self):
        self.label = self.solver if self.label is None else one_line("label", self.label)


@dataclass
class Trace:
    """One run of a comparison.

    Args:
        solver, label: name of the solver; unique name in the comparison.
        settings: {name: value}: dt [s], substeps, iterations, options.
        recording: a Recording, up to a failure; None if it has no frames.
        series: {name: (frames,) or (frames, 3)}: what scenes.comparison.measure reads; "drift", the change of total
            energy [J]; "microseconds" per step, averaged over the frame: NaN in the first frame, which has no step, and
            in the second, which loads the kernel.
        deviation: {probe: (frames,)} from the reference, [m] or [rad] (scenes/comparison/probes.py).
        digest: of the final state, sixteen hexadecimal digits; empty after a failure.
        failure: when and why the run failed; empty if it did not.
        about: Recording.about, with measured times: plain values.
    """

    solver: str
    label: str
    settings: dict
    recording: Recording | None
    series: dict
    deviation: dict = field(default_factory=dict)
    digest: str = ""
    failure: str = ""
    about: dict = field(default_factory=dict)

    @property
    def times(self):
        """Times of the frames (frames,) [s]."""
        return np.zeros(0) if self.recording is None else self.recording.times


@dataclass
class Comparison:
    """The result of `compare`: plain data.

    Args:
        scene: the Scene.
        traces: a Trace for each run, the reference first.
        reference: label of the reference.
        unsupported: {label: why it cannot run the scene}.
        equal: None, "iterations" or "time".
        cost: {label: [(wall time per simulated second [µs], error, step settings), ...]}, sorted by time. The error is
            the largest deviation of the first probe. Empty if it was not asked for.
    """

    scene: Scene
    traces: list
    reference: str
    unsupported: dict = field(default_factory=dict)
    equal: str | None = None
    cost: dict = field(default_factory=dict)

    def trace(self, label):
        """Find a Trace. Args: label. Raises: ValueError for an unknown label."""
        labels = [trace.label for trace in self.traces]
        return self.traces[labels.index(one_of("label", label, labels))]

    def recordings(self):
        """All recordings, as `film_comparison` takes them: a list of (label, scene, Recording)."""
        return [(trace.label, self.scene, trace.recording) for trace in self.traces if trace.recording is not None]

    def colours(self):
        """Choose a colour for each run: {label: "#rrggbb"}."""
        return colours_of([(trace.label, trace.solver) for trace in self.traces], self.reference)

    def rows(self):
        """Make a table: a dict of plain values for each run (scenes/comparison/summary.py)."""
        return summary.rows(self)

    def _repr_html_(self):
        runs = [row for row in self.rows() if "dt" in row]
        lines = [(title, unit, *(summary.cell(row, name) for row in runs)) for name, title, unit in summary.lines(runs)]
        failed = [("failed", "", trace.label, trace.failure) for trace in self.traces if trace.failure]
        return table([*lines, *failed], ("", "", *(row["label"] for row in runs)))

    def show(self, kind="replay", *, width=640, fps=30.0):
        """Show all runs in a notebook, as ghosts in one picture.

        Args: kind, width, fps: see Recording.show. Returns, Raises: as Recording.show.
        """
        return show_comparison(self, kind, width, fps)

    def save(self, directory, films=True, command=None, progress=None):
        """Write summary.json, summary.csv, plots, films, and index.html, which shows all of them.

        Args: directory: is made if it does not exist; files of the same names are replaced; films, command, progress:
            see scenes.comparison.report.write.

        Returns: the paths, index.html last.
        """
        from scenes.comparison import report

        directory = Path(directory)
        directory.mkdir(parents=True, exist_ok=True)
        return [*summary.write(self, directory), *report.write(self, directory, films, command, progress)]
