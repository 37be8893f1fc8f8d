"""Tearing: sticks that the user cuts, or that tear when they are stretched too far. It does not depend on a browser."""

from dataclasses import replace

import numpy as np

from pbd.host.edges import have_both
from scenes.visuals import ClothVisual, StickVisual

# Depth of a cut behind the first stick that it meets, in stick lengths. It cuts both layers of a fold, but nothing far
# behind them.
CUT_DEPTH = 3.0


class Tearing:
    """What is torn in the scene of a session. All methods run on the session's thread.

    Args: session.

    Attributes: limit: largest length of a stick, in rest lengths; None for no limit. visuals: those of the scene
    without what is torn.
    """

    def __init__(self, session):
        self.session, self.limit, self.run = session, None, None
        self.restore_if_restarted()

    def restore_if_restarted(self):
        """Forget what is torn if the session started another run."""
        if self.run is not self.session.run:
            self.run, self.visuals = self.session.run, self.session.run.scene.visuals
            self.pairs, self.lengths = np.zeros((0, 2), int), np.zeros(0)
            description = self.run.scene.particles
            if description is not None:
                # Sticks of bodies cannot be cut; length zero leaves them out.
                pairs, lengths = self.run.particles.sticks()
                self.pairs, self.lengths = pairs, np.where((pairs < len(description)).all(axis=1), lengths, 0.0)

    def cut_across(self, eye, start, end):
        """Cut the sticks that a line of sight passes.

        Args: eye: position of the camera (3,) [m]; start, end: points on the line of sight before and after (3,) [m].
        """
        self.restore_if_restarted()
        if not len(self.pairs):
            raise ValueError("nothing to cut: expected cloth or a rope")
        a, b = (self.run.particles.positions()[self.pairs[:, k]] - eye for k in (0, 1))
        first, last = np.subtract(start, eye), np.subtract(end, eye)
        normal = np.cross(first, last)
        height_a, height_b = a @ normal, b @ normal
        crossing = np.flatnonzero((height_a * height_b < 0) & (self.lengths > 0))
        part = height_a[crossing] / (height_a[crossing] - height_b[crossing])
        points = a[crossing] + part[:, None] * (b[crossing] - a[crossing])  # in the plane of the cut
        inside = (np.cross(first, points) @ normal >= 0) & (np.cross(points, last) @ normal >= 0)
        inside &= points @ (first + last) > 0
        crossing, depths = crossing[inside], np.linalg.norm(points[inside], axis=1)
        if len(crossing):
            self.cut(crossing[depths < depths.min() + CUT_DEPTH * self.lengths[crossing].max()])

    def tear_overstretched(self):
        """Cut the sticks that are stretched beyond the limit."""
        self.restore_if_restarted()
        if self.limit is not None and len(self.pairs):
            a, b = (self.run.particles.positions()[self.pairs[:, k]] for k in (0, 1))
            overstretched = np.linalg.norm(b - a, axis=1) > self.limit * self.lengths
            torn = np.flatnonzero(overstretched & (self.lengths > 0))
            if len(torn):
                self.cut(torn)

    def cut(self, sticks):
        """Cut sticks, and remove them and their triangles from the visuals. Args: sticks: indices."""
        self.run.particles.cut(sticks)
        self.lengths[sticks] = 0.0
        self.visuals = [without_torn(visual, self.pairs[sticks]) for visual in self.visuals]


def without_torn(visual, torn):
    """Copy a visual without torn sticks and without triangles that have such an edge.

    Args: visual; torn: pairs of particles (n, 2).
    """
    if isinstance(visual, ClothVisual):
        return replace(visual, triangles=visual.triangles[~have_both(visual.triangles, torn)])
    if isinstance(visual, StickVisual):
        kept = ~have_both(visual.pairs, torn)
        radius = visual.radius if np.ndim(visual.radius) == 0 else np.asarray(visual.radius)[kept]
        return replace(visual, pairs=visual.pairs[kept], radius=radius)
    return visual
