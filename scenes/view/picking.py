"""What there is to take hold of where a pointer touches a scene: a point between particles, or one of a body."""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components
from trimesh.triangles import closest_point, points_to_barycentric

from rigid.names import GROUND
from rigid.rotation import rotate, rotate_back
from scenes.visuals import BodyVisual, ClothVisual, ParticleVisual, PlantVisual, SkinVisual, StickVisual


@dataclass
class Held:
    """What a pointer holds.

    Arguments: particles: indices; weights: of each in the point; body: its index, in place of particles; point: in its
    own frame (3,) [m].
    """

    particles: np.ndarray = ()
    weights: np.ndarray = ()
    body: int | None = None
    point: np.ndarray | None = None

    @property
    def nearest(self):
        """The particle that is nearest to the point."""
        return int(self.particles[int(np.argmax(self.weights))])

    def place(self, running):
        """Where it is in a Run (3,) [m]."""
        if self.body is None:
            return self.weights @ running.particles.positions()[self.particles]
        state = running.system.state()
        return state.position[self.body] + rotate(state.rotation[self.body], self.point)


def grasp(running, visual, number, instance, point):
    """What a visual draws at a point.

    Arguments: running: a Run; visual: of its scene; number: of what that draws; instance: index among Instances, or None;
    point: on it (3,) [m].

    Returns: a Held; None where that is nothing that moves.
    """
    point = np.asarray(point, float)
    if isinstance(visual, BodyVisual):
        body = visual.body_at(number, instance or 0)
        if body == GROUND:
            return None
        state = running.system.state()
        return Held(body=body, point=rotate_back(state.rotation[body], point - state.position[body]))
    if isinstance(visual, ParticleVisual):
        return Held(np.array([visual.particles[instance or 0]]), np.ones(1))
    if not isinstance(visual, (ClothVisual, StickVisual, SkinVisual, PlantVisual)):
        return None
    positions = running.particles.positions()[: len(running.scene.particles)]
    if isinstance(visual, ClothVisual):
        corners = positions[visual.triangles]
        points = np.broadcast_to(point, (len(corners), 3))
        on = closest_point(corners, points)
        k = int(np.argmin(np.linalg.norm(on - point, axis=1)))
        return Held(visual.triangles[k], points_to_barycentric(corners[k : k + 1], on[k : k + 1])[0].clip(0, 1))
    if isinstance(visual, StickVisual):
        a, b = positions[visual.pairs[:, 0]], positions[visual.pairs[:, 1]]
        along = np.sum((point - a) * (b - a), axis=1) / np.maximum(np.sum((b - a) ** 2, axis=1), 1e-300)
        part = along.clip(0, 1)
        k = int(np.argmin(np.linalg.norm(a + part[:, None] * (b - a) - point, axis=1)))
        return Held(visual.pairs[k], np.array([1 - part[k], part[k]]))
    return Held(np.array([np.argmin(np.linalg.norm(positions - point, axis=1))]), np.ones(1))


def burden(running, held):
    """What hangs on something that is held: its mass [kg], its size [m], and the mass of what is held alone [kg].

    Sticks tie particles together, joints and springs bodies; what is pinned weighs nothing, the ground ties nothing.
    """
    if held.body is None:
        weights, positions = running.particles.inverse_masses(), running.particles.positions()
        pairs, free = running.particles.sticks()[0], weights > 0
        tied = together(pairs, len(weights), held.nearest)
        own = 1 / (held.weights**2 @ weights[held.particles])
        mass = np.sum(1 / weights[tied & free])
        return max(mass, own), max(np.linalg.norm(np.ptp(positions[tied], axis=0)), 1e-3), own
    model = running.scene.model
    pairs = [(joint.parent, joint.child) for joint in model.joints] + [(each.a, each.b) for each in model.springs]
    pairs = np.reshape([pair for pair in pairs if GROUND not in pair], (-1, 2)).astype(int)
    tied = together(pairs, len(model.bodies), held.body)
    places = running.system.state().position[tied]
    spread = max(np.sqrt(np.trace(body.inertia) / body.mass) for body, one in zip(model.bodies, tied) if one)
    size = np.linalg.norm(np.ptp(places, axis=0)) + 2 * spread
    return model.masses[tied].sum(), max(size, 1e-3), model.bodies[held.body].mass


def together(pairs, count, one):
    """Which of so many things pairs tie to one of them, whatever the way: a mask (count,)."""
    graph = coo_matrix((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), (count, count))
    _, part = connected_components(graph, directed=False)
    return part == part[one]
