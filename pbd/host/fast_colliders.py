"""A warning for colliders that move so fast that particles pass through them.

A particle that ends a substep in a collider leaves on the side from which it came. If that side advances by more than
the collider's width there and the particle's radius, what was in front is behind, and nothing stops it. A mesh
counts as its hull.

Along a direction u the side of a shape is at s(u), the maximum of u·x (its support), and its width is s(u) + s(-u).
Directions are those of the shape's axes and their diagonals, and that of its motion.
"""

import itertools
import math
import warnings

import numpy as np

from pbd.core.rotation import rotate
from pbd.core.shapes import ConvexHull, Cylinder, MeshCollider, Plane
from pbd.data import INPUT, POSE

DIRECTIONS = np.array([each for each in itertools.product((-1.0, 0.0, 1.0), repeat=3) if any(each)])
DIRECTIONS /= np.linalg.norm(DIRECTIONS, axis=1, keepdims=True)


class FastColliders:
    """The colliders of a description that move.

    Args: particles: a Particles.
    """

    def __init__(self, particles):
        shapes = {k: each.shape for k, each in enumerate(particles.colliders) if each.motion is not None}
        self.moving = {k: (shape, *outline(shape)) for k, shape in shapes.items() if not isinstance(shape, Plane)}
        radii = particles.radii()
        self.radius = radii[np.isfinite(particles.masses()) & (radii >= 0)].min(initial=math.inf)

    def watch(self, rows, clock):
        """Warn of the first collider that is too fast, once. Args: rows: see `Environment.inputs`; clock: a Clock."""
        for k, (shape, *points_and_rounding) in self.moving.items():
            first = INPUT.total + POSE.total * k
            advance, width = fastest(*points_and_rounding, rows[:, first : first + POSE.total].astype(float))
            times = advance / (width + self.radius)
            if times > 1.0:
                by, kind = clock.time_after(len(rows) - 1), type(shape).__name__
                warnings.warn(
                    f"particle system, by {by:.6g} s: collider {k} ({kind}) moves by {advance:.3g} m in a substep and "
                    f"is {width:.3g} m wide there, so particles pass through it: expected "
                    f"substeps={math.ceil(clock.substeps * times)} or more",
                    UserWarning, stacklevel=5,
                )  # fmt: skip
                self.moving = {}
                return


def outline(shape):
    """Points (n, 3) and a radius [m] around their hull that make up a shape in its frame."""
    if isinstance(shape, MeshCollider):
        from scipy.spatial import ConvexHull as Hull

        return shape.mesh.vertices[Hull(shape.mesh.vertices).vertices], 0.0
    if isinstance(shape, Cylinder):
        return shape.hull().vertices, 0.0
    if isinstance(shape, ConvexHull):
        return shape.vertices, 0.0
    radius, *half = shape.numbers()  # a sphere, a capsule or a box
    ends = itertools.product(*[(-each, each) for each in half])
    return np.array([(0.0, 0.0, 0.0)[len(each) :] + each for each in ends]), radius


def fastest(points, rounding, poses):
    """How far a side of a shape advances in a substep, where that is most of its width.

    Args: points, rounding: see `outline`; poses: at the start and the ends of substeps (n, 7).

    Returns: the advance, and the width there [m].
    """
    places = poses[:, None, :3] + rotate(poses[:, None, 3:], points)  # (n, points, 3)
    way = places[1:].mean(axis=1) - places[:-1].mean(axis=1)
    way = way / np.maximum(np.linalg.norm(way, axis=1, keepdims=True), 1e-300)
    u = np.concatenate([rotate(poses[:-1, None, 3:], DIRECTIONS), way[:, None]], axis=1)
    before, after = (np.einsum("kpi,kui->kup", each, u) for each in (places[:-1], places[1:]))
    width = before.max(axis=2) - before.min(axis=2) + 2 * rounding
    advance = after.max(axis=2) - before.max(axis=2)
    most = np.argmax(advance / np.maximum(width, 1e-300))  # a way of zero has no width
    return advance.ravel()[most], width.ravel()[most]
