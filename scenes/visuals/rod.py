"""Visual of a rod with twist: a tube with a stripe along it, which shows how each segment is turned about its axis."""

from dataclasses import dataclass
from functools import cache

import numpy as np

from pbd.core.rotation import cross
from pbd.host.edges import have_both
from scenes.visuals.colours import CHALK, RED
from scenes.visuals.geometry import Rods, Surface

SIDES = 20  # of the tube
STRIPE = 4  # sides that the stripe covers
RAISED = 1.04  # radius of the stripe in radii of the rod, so that neither facets nor a round tube hide it
CAPS = np.radians([90.0, 60.0, 30.0])  # rings of a round end, from the pole
SEAM = 0.5  # cosine of the turn from which on the stripe of a closed rod has a step where its ends were joined


@dataclass
class RodVisual:
    """A rod as a tube with a stripe, which lies on the side of its side particles and turns with them.

    Torn segments are not drawn. The tube is open there.

    Args:
        particles: the scene's pbd.Particles.
        rod: a pbd.build.Rod.
        colour, stripe: sRGB from 0 to 1.
        radius: drawn in place of that of the rod [m], one for all or (segments,); None for its own.
    """

    particles: object
    rod: object
    colour: tuple = RED
    stripe: tuple = CHALK
    radius: object = None

    def __post_init__(self):
        self.segments = self.particles.rod_segments()[self.rod.segments]
        self.pairs, self.closed = self.segments[:, :2], len(self.rod.segments) == len(self.rod.particles)
        self.radii = np.broadcast_to(self.rod.radius if self.radius is None else self.radius, len(self.segments))

    def draw(self, frame):
        """Surfaces at one instant: the tube, then the stripe. Args: a Frame."""
        whole = np.ones(len(self.pairs), bool) if not len(frame.torn) else ~have_both(self.pairs, frame.torn)
        centres, radii, sides, ups, alongs = self.rings(frame.positions, whole)
        columns = 2 * np.pi / SIDES * (np.arange(SIDES) - STRIPE / 2)
        stripe = ring_points(centres, RAISED * radii, sides, ups, columns[: STRIPE + 1])
        tube = ring_points(centres, radii, sides, ups, columns)
        if not self.closed:
            first, last = (
                ring_points(
                    centres[k] + np.outer(sign * radii[k] * np.sin(CAPS), alongs[k]), radii[k] * np.cos(CAPS),
                    sides[[k] * len(CAPS)], ups[[k] * len(CAPS)], columns,
                )
                for k, sign in ((0, -1.0), (-1, 1.0))
            )  # fmt: skip
            tube = np.concatenate([first, tube, last[::-1]])
        kept = np.flatnonzero(whole)
        return [
            Rods(
                tube.reshape(-1, 3), bands(quads(len(tube), SIDES, True), SIDES, whole), self.colour, solid=True,
                ends=frame.positions[self.pairs[kept]], radii=self.radii[kept], joined=np.diff(kept) == 1,
            ),
            Surface(
                stripe.reshape(-1, 3), bands(quads(len(stripe), STRIPE + 1, False), STRIPE, whole), self.stripe,
                solid=True,
            ),
        ]  # fmt: skip

    def rings(self, positions, whole):
        """Rings at nodes and between them: centres (n, 3), radii (n,) [m]; directions to the stripe, across and along.

        A ring at a node is the mean of both segments, one between nodes lies on a smooth curve through them. A closed
        rod has a ring at its start and one at its end.

        Args: positions: of all particles [m]; whole: segments that are not torn (segments,).
        """
        a, b, beside = (positions[self.segments[:, k]] for k in range(3))
        axes = unit(b - a, (0.0, 0.0, 1.0))
        turns = unit(across(beside - (a + b) / 2, axes), (1.0, 0.0, 0.0))
        last = len(axes) - 1
        before, after = np.append(0, np.arange(last + 1)), np.append(np.arange(last + 1), last)
        turned_before, turned_after = before.copy(), after.copy()
        if self.closed:
            before[0], after[-1] = last, 0
            if turns[0].dot(turns[last]) > SEAM:
                turned_before, turned_after = before, after
        before, after = beside_tears(before, after, whole)
        turned_before, turned_after = beside_tears(turned_before, turned_after, whole)
        along = unit(axes[before] + axes[after], axes[after])
        side = unit(across(turns[turned_before] + turns[turned_after], along), turns[turned_after])
        sagitta = np.linalg.norm(b - a, axis=1)[:, None] * (along[:-1] - along[1:]) / 8  # of Hermite's cubic
        at_nodes = (np.concatenate([a, b[-1:]]), (self.radii[before] + self.radii[after]) / 2, side, along)
        between = ((a + b) / 2 + sagitta, self.radii, turns, axes)
        centres, radii, side, along = (alternating(*each) for each in zip(at_nodes, between))
        return centres, radii, side, cross(along, side), along


def across(vectors, axes):
    """What vectors (n, 3) have across unit vectors (n, 3)."""
    return vectors - (vectors * axes).sum(axis=1)[:, None] * axes


def beside_tears(before, after, whole):
    """Segments before and after nodes (n,), in place of a torn one the other. Args: both; whole: see `rings`."""
    return np.where(whole[before], before, after), np.where(whole[after], after, before)


def bands(triangles, columns, whole):
    """Triangles without those of torn segments, which are two bands between rings each.

    Args: triangles: band after band, with as many bands of round ends before the first segment as after the last;
    columns: quads of a band; whole: see `rings`.
    """
    if whole.all():
        return triangles
    by_band = triangles.reshape(-1, 2 * columns, 3)
    drawn, ends = np.ones(len(by_band), bool), (len(by_band) - 2 * len(whole)) // 2
    drawn[ends : ends + 2 * len(whole)] = np.repeat(whole, 2)
    return by_band[drawn].reshape(-1, 3)


def unit(vectors, instead):
    """Unit vectors (n, 3). Args: vectors; instead: of those without a length, as where two segments are opposite."""
    lengths = np.linalg.norm(vectors, axis=1)[:, None]
    return np.where(lengths > 1e-9, vectors / np.maximum(lengths, 1e-9), instead)


def alternating(at_nodes, between):
    """Values at nodes (n + 1, ...) and between them (n, ...) in turn (2 n + 1, ...)."""
    both = np.empty((len(at_nodes) + len(between), *at_nodes.shape[1:]))
    both[::2], both[1::2] = at_nodes, between
    return both


def ring_points(centres, radii, sides, ups, angles):
    """Points of rings (rings, angles, 3) [m]. Args: one of each for a ring; angles: from sides to ups [rad]."""
    directions = np.cos(angles)[:, None] * sides[:, None] + np.sin(angles)[:, None] * ups[:, None]
    return centres[:, None] + radii[:, None, None] * directions


@cache
def quads(rings, columns, around):
    """Triangles between neighbouring rings of points. Args: around: whether a ring's last point joins the first."""
    number = np.arange(rings * columns).reshape(rings, columns)
    number = np.concatenate([number, number[:, :1]], axis=1) if around else number
    a, b, c, d = number[:-1, :-1], number[:-1, 1:], number[1:, 1:], number[1:, :-1]
    return np.stack([a, b, c, a, c, d], axis=-1).reshape(-1, 3).astype(np.int32)
