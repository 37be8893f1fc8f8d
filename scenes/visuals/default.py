"""Visuals of a scene that defines none: everything in its descriptions."""

import numpy as np

from scenes.visuals.bodies import BodyVisual, JointVisual
from scenes.visuals.environment import BoxEdgesVisual, ColliderVisual
from scenes.visuals.particles import ClothVisual, ParticleVisual, StickVisual


def default_visuals(particles, model=None):
    """Make visuals of all particles and bodies.

    Args: particles: a pbd.Particles, or None; model: a rigid.Model, or None.

    Returns:
        A list of visuals.
    """
    visuals = [] if particles is None else particle_visuals(particles)
    if model is not None:
        visuals.append(BodyVisual(model))
        if any(joint.kind == "distance" for joint in model.joints):
            visuals.append(JointVisual(model))
    return visuals


def particle_visuals(particles):
    """Make visuals of triangles, colliders and boxes; of particles and sticks only if there are no triangles.

    Args: a pbd.Particles.
    """
    visuals = []
    if len(particles.triangles()):
        visuals.append(ClothVisual(particles.triangles()))
    extent = np.ptp(particles.positions(), axis=0).max() if len(particles) else 1.0
    radius = 0.01 * extent or 0.02
    sets = particles.constraint_sets.items()
    sticks = [each.arrays()[0] for (kind, _), each in sets if str(kind).startswith("stick")]
    if sticks and not len(particles.triangles()):
        visuals.append(StickVisual(np.concatenate(sticks), radius))
    if not len(particles.triangles()):
        visuals.append(ParticleVisual(np.arange(len(particles)), np.maximum(particles.radii(), 1.6 * radius)))
    visuals += [ColliderVisual(k, collider.shape) for k, collider in enumerate(particles.colliders)]
    visuals += [BoxEdgesVisual(box[:3], box[3:6], 0.5 * radius) for box in particles.boxes]
    return visuals
