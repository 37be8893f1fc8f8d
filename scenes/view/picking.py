"""Picking: the particles or the body under a pointer."""

from dataclasses import dataclass

import numpy as np
import scipy
from trimesh.triangles import closest_point, points_to_barycentric

from rigid.names import GROUND
from rigid.rotation import rotate, rotate_back
from scenes.visuals import (
    BodySurfaces,
    BodyVisual,
    ClothVisual,
    ParticleVisual,
    PlantVisual,
    RodVisual,
    SkinVisual,
    StickVisual,
)


@dataclass
class PickedPoint:
    """A point of a body, or a point between particles.

    Args:
        particles: indices of the particles.
        weights: of each particle in the point; their sum is 1.
        body: index of the body, or None for particles.
        point: (3,) in the frame of the body [m].
    """

    particles: np.ndarray = ()
    weights: np.ndarray = ()
    body: int | None = None
    point: np.ndarray | None = None

    @property
    def nearest(self):
        """Index of the particle with the largest weight."""
        return int(self.particles[int(np.argmax(self.weights))])

    def position(self, run):
        """Current position in a Run (3,) [m]."""
        if self.body is None:
            return self.weights @ run.particles.positions()[self.particles]
        state = run.system.state()
        return state.position[self.body] + rotate(state.rotation[self.body], self.point)


def pick(run, visual, number, instance, point):
    """Find what a visual draws at a point.

    Args:
        run: a scenes.Run.
        visual: of its scene.
        number: index in the list that the visual draws.
        instance: index among Instances, or None.
        point: (3,) on the drawn surface [m].

    Returns: a PickedPoint; None for something that does not move.
    """
    point = np.asarray(point, float)
    if isinstance(visual, BodyVisual | BodySurfaces):
        body = visual.body_at(number, instance or 0)
        if body == GROUND:
            return None
        state = run.system.state()
        return PickedPoint(body=body, point=rotate_back(state.rotation[body], point - state.position[body]))
    if isinstance(visual, ParticleVisual):
        return PickedPoint(np.array([visual.particles[instance or 0]]), np.ones(1))
    if not isinstance(visual, (ClothVisual, StickVisual, RodVisual, SkinVisual, PlantVisual)):
        return None
    positions = run.particles.positions()[: len(run.scene.particles)]
    if isinstance(visual, ClothVisual):
        return pick_triangle(positions, visual.triangles, point)
    if isinstance(visual, StickVisual | RodVisual):
        return pick_stick(positions, visual.pairs, point)
    return PickedPoint(np.array([np.argmin(np.linalg.norm(positions - point, axis=1))]), np.ones(1))


def pick_triangle(positions, triangles, point):
    """The nearest point on triangles (n, 3) of particles. Args: positions of all particles; triangles; point (3,)."""
    corners = positions[triangles]
    nearest = closest_point(corners, np.broadcast_to(point, (len(corners), 3)))
    k = int(np.argmin(np.linalg.norm(nearest - point, axis=1)))
    weights = points_to_barycentric(corners[k : k + 1], nearest[k : k + 1])[0].clip(0, 1)
    return PickedPoint(triangles[k], weights / weights.sum())  # of a sliver they are off


def pick_stick(positions, pairs, point):
    """The nearest point on sticks between pairs (n, 2) of particles. Args: as for `pick_triangle`."""
    a, b = positions[pairs[:, 0]], positions[pairs[:, 1]]
    along = np.sum((point - a) * (b - a), axis=1) / np.maximum(np.sum((b - a) ** 2, axis=1), 1e-300)
    part = along.clip(0, 1)
    k = int(np.argmin(np.linalg.norm(a + part[:, None] * (b - a) - point, axis=1)))
    return PickedPoint(pairs[k], np.array([1 - part[k], part[k]]))


def connected_load(run, picked):
    """Measure what is connected to a picked point: by sticks and segments of rods, or by joints and springs.

    Pinned particles have no mass here, and the ground connects nothing.

    Args: a Run; a PickedPoint.

    Returns: mass of all that is connected [kg], its size [m], and the mass of the picked point alone [kg].
    """
    if picked.body is None:
        inverse_masses, positions = run.particles.inverse_masses(), run.particles.positions()
        pairs = [run.particles.sticks()[0], *(run.scene.particles.rod_segments()[:, ends] for ends in ([0, 1], [1, 2]))]
        connected = connected_to(np.concatenate(pairs), len(inverse_masses), picked.nearest)
        own_mass = 1 / (picked.weights**2 @ inverse_masses[picked.particles])
        mass = np.sum(1 / inverse_masses[connected & (inverse_masses > 0)])
        return max(mass, own_mass), max(np.linalg.norm(np.ptp(positions[connected], axis=0)), 1e-3), own_mass
    model = run.scene.model
    pairs = [(joint.parent, joint.child) for joint in model.joints] + [(each.a, each.b) for each in model.springs]
    pairs = np.reshape([pair for pair in pairs if GROUND not in pair], (-1, 2)).astype(int)
    connected = connected_to(pairs, len(model.bodies), picked.body)
    positions = run.system.state().position[connected]
    radius = max(np.sqrt(np.trace(model.bodies[k].inertia) / model.bodies[k].mass) for k in np.flatnonzero(connected))
    size = np.linalg.norm(np.ptp(positions, axis=0)) + 2 * radius
    return model.masses[connected].sum(), max(size, 1e-3), model.bodies[picked.body].mass


def connected_to(pairs, count, start):
    """Find which nodes of a graph are connected to one of them.

    Args: pairs: edges (n, 2); count of nodes; start: index of the node.

    Returns: mask (count,).
    """
    graph = scipy.sparse.coo_matrix((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), (count, count))
    _, component = scipy.sparse.csgraph.connected_components(graph, directed=False)
    return component == component[start]
