"""Outcomes of runs of passive scenes: gain of energy, errors and warnings, open joints, overlaps."""

import math
import warnings
from collections import deque
from typing import NamedTuple

import pbd
from rigid.collision.overlaps import Overlaps, may_overlap
from rigid.constraints.joints.gaps import joint_gaps

FRAME = 1 / 60  # interval of samples of the energy [s]
MOST_GAIN = 0.05  # of the energy scale: more is a gain
MOST_GAP = 0.1  # of a body's length: a joint that opens by more is open
MOST_OVERLAP = 0.05  # of a body's length: bodies that overlap by more at rest do not hold one another
LAST = 16  # samples at the end: an overlap in all of them is none of an impact


class Outcome(NamedTuple):
    """Outcome of a run of a scene.

    Attributes: seed; gain: largest rise of the energy over its running minimum, in parts of the energy scale; time:
    when the gain passed MOST_GAIN [s], None if never; gap: largest joint gap at the samples, in parts of a body's
    length; said: the error or warning, "" for none; digest: of the final state; overlap: least depth of the deepest
    overlap at the LAST samples, in parts of a body's length; refused: whether the solver refused the scene; diverged:
    whether it raised Diverged.
    """

    seed: int
    gain: float
    time: float | None
    gap: float
    said: str
    digest: str
    overlap: float = 0.0
    refused: bool = False
    diverged: bool = False

    @property
    def silent(self):
        """Whether the scene gained energy without a word."""
        return not self.said and self.gain > MOST_GAIN

    @property
    def open(self):
        """Whether a joint opened without a word."""
        return not self.said and self.gap > MOST_GAP

    @property
    def sunk(self):
        """Whether bodies overlap at rest without a word."""
        return not self.said and self.overlap > MOST_OVERLAP


def watched(seed, make, description, length, scale, duration, contacts=False):
    """Run a passive scene.

    Args: seed: for the Outcome; make: function that makes a solver or a pbd.ParticleSystem; description: of the scene,
    a rigid.Model or pbd.Particles; length: of a body [m]; scale: of the energy [J]; duration [s]; contacts: whether
    bodies may touch, and overlaps are measured.

    Returns: an Outcome.
    """
    try:
        made = make()
    except (ValueError, NotImplementedError) as refusal:  # "penalty" refuses steps that are too long
        return Outcome(seed, 0.0, None, 0.0, str(refusal), "", refused=True)
    gaps, depth = readings(description, contacts)
    every = max(1, round(FRAME / made.dt))
    lowest, gain, when, gap, said, depths = made.energy().total, 0.0, None, 0.0, "", deque(maxlen=LAST)
    diverged = False
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        try:
            for _ in range(round(duration / made.dt / every)):
                made.step(every)
                energy = made.energy().total
                lowest = min(lowest, energy)
                gain = max(gain, (energy - lowest) / scale) if math.isfinite(energy) else math.inf
                if when is None and gain > MOST_GAIN:
                    when = made.time
                if not math.isfinite(energy):
                    break
                gap = max(gap, gaps(made) / length)
                depths.append(made.state())
        except pbd.Diverged as error:
            said, diverged = str(error), True
    if caught and not said:
        said = str(caught[0].message)
    overlap = min(map(depth, depths), default=0.0) / length if math.isfinite(gain) and not said else 0.0
    return Outcome(seed, float(gain), when, float(gap), said, made.digest(), float(overlap), diverged=diverged)


def readings(description, contacts):
    """Make the functions that read a scene.

    Args: description: a rigid.Model or pbd.Particles; contacts: whether bodies may touch.

    Returns: functions of a solver to its largest joint gap [m], and of a state to its deepest overlap [m].
    """
    if isinstance(description, pbd.Particles):
        return lambda made: 0.0, lambda state: 0.0
    overlaps = Overlaps(description) if contacts and may_overlap(description) else None
    return (
        lambda made: joint_gaps(description, made.state()).max(initial=0.0),
        lambda state: overlaps.depth(state) if overlaps else 0.0,
    )
