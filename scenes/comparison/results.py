"""A comparison as plain data: what each solver did, and how far it is from the reference."""

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from pbd.core.validate import one_of
from scenes.comparison import summary
from scenes.scene import Scene
from scenes.simulate.recording import Recording


@dataclass
class Variant:
    """One of those that are compared, where the name of a solver does not say it all.

    Arguments: solver: its name; label: what to call it, unique, the solver's name where None; scene: another Scene than
    the others have, of the same bodies; settings: dt and options, in place of the scene's.
    """

    solver: str
    label: str | None = None
    scene: Scene | None = None
    settings: dict = field(default_factory=dict)

    def __post_init__(self):
        self.label = self.label or self.solver


@dataclass
class Trace:
    """One solver's run in a comparison.

    Arguments:
        solver, label: its name, and what it is called here.
        settings: what it was run with, by name: dt [s], substeps, iterations, options.
        recording: a Recording, of the frames until it failed; None where there are none.
        series: {name: (frames,) or (frames, 3)} of what scenes.comparison.measure reads; besides "drift", the total energy less
            what it was first [J], and "microseconds" of a step, averaged over the frame: NaN in the first frame, which
            has none, and in the second, which loads the kernel.
        deviation: {probe: (frames,)} from the reference, [m] or [rad] (scenes/comparison/probes.py).
        digest: of the final state, sixteen hexadecimal digits; empty where it did not come to its end.
        failure: when and why it did not; empty where it did.
        about: what Recording.about says, and more of how it compares: plain values.
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
        """Of its frames (frames,) [s]."""
        return np.zeros(0) if self.recording is None else self.recording.times


@dataclass
class Comparison:
    """What `compare` found: plain data.

    Arguments:
        scene: the Scene.
        traces: a Trace of each that ran, the reference first.
        reference: its label.
        unsupported: {label: why} of those that cannot run the scene.
        equal: None, "iterations" or "time".
        sweep: {label: [(microseconds of wall time for a simulated second, error, settings), ...]}, by cost; the error
            is the largest deviation of the first probe. Empty where it was not asked for.
    """

    scene: Scene
    traces: list
    reference: str
    unsupported: dict = field(default_factory=dict)
    equal: str | None = None
    sweep: dict = field(default_factory=dict)

    def trace(self, label):
        """The Trace of a label."""
        labels = [trace.label for trace in self.traces]
        return self.traces[labels.index(one_of("label", label, labels))]

    def rows(self):
        """A table: a dict of plain values for each trace, and for each that cannot run; see scenes/comparison/summary.py."""
        return summary.rows(self)

    def save(self, directory, films=True, command=None, progress=None):
        """Write what was found: summary.json and .csv, plots, films, and index.html, which shows all of it.

        Arguments: directory: made where there is none, files of the same names are replaced; films, command, progress:
        as of scenes.comparison.report.write. Returns: the paths, index.html the last.
        """
        from scenes.comparison import report

        directory = Path(directory)
        directory.mkdir(parents=True, exist_ok=True)
        return [*summary.write(self, directory), *report.write(self, directory, films, command, progress)]
