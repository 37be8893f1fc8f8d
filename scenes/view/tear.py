"""Tearing: sticks that a person cuts, or that give way where they are stretched too far. It knows no browser."""

from dataclasses import replace

import numpy as np

from scenes.visuals import ClothVisual, StickVisual

# A cut goes through what lies, seen from the eye, within so many stick lengths behind the first thing that it meets:
# through both layers of a fold, but not through what is far behind.
THROUGH = 3.0


class Tearing:
    """What of a session's scene is torn; to be called on its thread. Arguments: session.

    Attributes: limit: how many times their rest length sticks may become, None for any; visuals: those of the scene,
    without what is torn.
    """

    def __init__(self, session):
        self.session, self.limit, self.running = session, None, None
        self.renew()

    def renew(self):
        """Know of nothing torn where the session runs something new."""
        if self.running is not self.session.running:
            self.running, self.visuals = self.session.running, self.session.running.scene.visuals
            # Only a person's own: sticks of bodies' frames are not cut.
            own = self.running.scene.particles
            self.pairs, self.lengths = np.zeros((0, 2), int), np.zeros(0)
            if own is not None:
                pairs, lengths = self.running.particles.sticks()
                self.pairs, self.lengths = pairs, np.where((pairs < len(own)).all(axis=1), lengths, 0.0)

    def slash(self, eye, start, end):
        """Cut what a line of sight sweeps over. Arguments: eye: where it is from (3,) [m]; start, end: points on it
        before and after (3,) [m]."""
        self.renew()
        if not len(self.pairs):
            raise ValueError("there is nothing to cut: expected cloth or a rope")
        a, b = (self.running.particles.positions()[self.pairs[:, k]] - eye for k in (0, 1))
        first, last = np.subtract(start, eye), np.subtract(end, eye)
        normal = np.cross(first, last)
        above, below = a @ normal, b @ normal
        met = np.flatnonzero((above * below < 0) & (self.lengths > 0))
        part = above[met] / (above[met] - below[met])
        at = a[met] + part[:, None] * (b[met] - a[met])  # where sticks pass through the plane that is swept
        within = (np.cross(first, at) @ normal >= 0) & (np.cross(at, last) @ normal >= 0) & (at @ (first + last) > 0)
        met, depth = met[within], np.linalg.norm(at[within], axis=1)
        if len(met):
            self.cut(met[depth < depth.min() + THROUGH * self.lengths[met].max()])

    def give_way(self):
        """Cut the sticks that are stretched beyond the limit."""
        self.renew()
        if self.limit is not None and len(self.pairs):
            a, b = (self.running.particles.positions()[self.pairs[:, k]] for k in (0, 1))
            stretched = np.linalg.norm(b - a, axis=1) > self.limit * self.lengths
            torn = np.flatnonzero(stretched & (self.lengths > 0))
            if len(torn):
                self.cut(torn)

    def cut(self, sticks):
        """Cut sticks, and leave out of the visuals what they held together. Arguments: their indices."""
        self.running.particles.cut(sticks)
        torn = np.sort(self.pairs[sticks], axis=1)
        self.lengths[sticks] = 0.0
        self.visuals = [without(visual, torn, len(self.running.scene.particles)) for visual in self.visuals]


def without(visual, torn, count):
    """A visual without what is torn: triangles with such an edge, rods. Arguments: torn: pairs (n, 2), the lower index
    first; count: of particles."""
    if isinstance(visual, ClothVisual):
        edges = np.sort(visual.triangles[:, [[0, 1], [1, 2], [2, 0]]], axis=-1)
        return replace(visual, triangles=visual.triangles[~among(edges, torn, count).any(axis=1)])
    if isinstance(visual, StickVisual):
        kept = ~among(np.sort(visual.pairs, axis=1), torn, count)
        radius = visual.radius if np.ndim(visual.radius) == 0 else np.asarray(visual.radius)[kept]
        return replace(visual, pairs=visual.pairs[kept], radius=radius)
    return visual


def among(pairs, some, count):
    """Which of pairs (..., 2) are among some others (n, 2)."""
    return np.isin(*(np.asarray(each, np.int64) @ (count, 1) for each in (pairs, some)))
