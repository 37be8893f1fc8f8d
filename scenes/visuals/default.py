"""Visuals of a scene that defines none: everything in its descriptions."""

import numpy as np

from pbd.build import Cloth, Hair, Plant, Rod, Rope, Skin, SoftBody
from pbd.build.tetrahedra import volumes
from pbd.core.topology import boundary_of, split_sharp_edges
from scenes.visuals.bodies import BodyVisual, JointVisual
from scenes.visuals.colours import GREEN, PALETTE
from scenes.visuals.covered import members_of, one_owner, uncovered_sticks
from scenes.visuals.environment import BoxEdgesVisual, ColliderVisual
from scenes.visuals.particles import ClothVisual, ParticleVisual, PlantVisual, SkinVisual, StickVisual
from scenes.visuals.rod import RodVisual


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
    """Make visuals of surfaces, of sticks and particles that belong to no surface, of colliders and boxes.

    A soft body is drawn by its skin, a plant by its stems and leaves, ropes and hair by capsules, a rod by a tube with
    a stripe without its particles and those beyond its clamps. Tetrahedra that keep their volumes and belong to no soft
    body are drawn by their boundary. Other triangles are drawn as cloth.

    Args: a pbd.Particles.
    """
    soft, plants, cloths, ropes = (
        [each for each in particles.built if isinstance(each, kind)] for kind in (SoftBody, Plant, Cloth, Rope)
    )
    solid, sheets = owners(particles, [*soft, *plants]), owners(particles, cloths)
    tetrahedra, triangles = members_of(particles, "volume", 4), particles.triangles()
    tetrahedra = tetrahedra[~one_owner(tetrahedra, solid)]
    bounded = owners(particles, [tetrahedra] if len(tetrahedra) else [])
    for owner in (solid, sheets, bounded):
        triangles = triangles[~one_owner(triangles, owner)]
    triangles = np.concatenate([*(each.triangles for each in cloths), triangles])
    visuals = solid_visuals(particles, soft, plants, tetrahedra)
    if len(triangles):
        visuals.append(ClothVisual(triangles))

    touching = particles.radii() >= 0
    extent = np.ptp(particles.positions()[touching], axis=0).max() if touching.any() else 1.0
    radius = 0.01 * extent or 0.02
    bare, thickness = (solid < 0) & (bounded < 0) & touching, np.full(len(particles), radius)
    bare[triangles] = bare[particles.rod_segments()] = False
    for rope in ropes:
        bare[rope.particles], thickness[rope.particles] = False, max(rope.radius, radius)
    for k, each in enumerate(each for each in particles.built if isinstance(each, (Rod, Rope)) and len(each.segments)):
        colour = tuple(PALETTE[k % len(PALETTE)])
        visuals.append(RodVisual(particles, each, colour, radius=np.maximum(each.radius, radius)))
    for each in (each for each in particles.built if isinstance(each, Hair)):
        strands, thick = particles.rod_segments()[each.segments, :2], np.maximum(each.radius, 0.2 * radius)
        visuals.append(StickVisual(strands.reshape(-1, 2), np.repeat(thick, strands.shape[1]), sectors=5, rings=1))
    sticks = uncovered_sticks(particles, solid, triangles, tetrahedra)
    if len(sticks):
        visuals.append(StickVisual(sticks, thickness[sticks].min(axis=1)))
    if bare.any():
        radii = np.maximum(particles.radii()[bare], 1.6 * radius)
        visuals.append(ParticleVisual(np.flatnonzero(bare), radii))
    visuals += [ColliderVisual(k, collider.shape) for k, collider in enumerate(particles.colliders)]
    visuals += [BoxEdgesVisual(box[:3], box[3:6], 0.5 * radius) for box in particles.boxes]
    return visuals


def solid_visuals(particles, soft, plants, tetrahedra):
    """Make visuals of bodies. Args: particles; soft: SoftBodies; plants; tetrahedra: others (n, 4)."""
    positions = particles.positions()
    skins = [each.skin or skin_of(positions, each.triangles) for each in soft]
    if len(tetrahedra):
        inside_out = volumes(positions, tetrahedra) < 0
        outwards = np.where(inside_out[:, None], tetrahedra[:, [0, 1, 3, 2]], tetrahedra)
        skins.append(skin_of(positions, boundary_of(outwards)))
    visuals = [SkinVisual(skin, tuple(PALETTE[(k + 1) % len(PALETTE)])) for k, skin in enumerate(skins)]
    for plant in plants:
        visuals.append(PlantVisual(plant))
        if len(plant.triangles):
            visuals.append(ClothVisual(plant.triangles, GREEN, None))
    return visuals


def skin_of(positions, triangles):
    """A Skin of triangles between particles, with sharp edges. Args: positions (particles, 3) [m]; triangles."""
    corners, triangles = split_sharp_edges(positions, triangles.astype(np.int64))
    return Skin(corners[:, None], np.ones((len(corners), 1)), triangles)


def owners(particles, built):
    """For each particle the index of the one of several things that it belongs to (particles,); -1 for none.

    Args: a pbd.Particles; built: what builders added, or arrays of indices of particles.
    """
    owner = np.full(len(particles), -1)
    for k, each in enumerate(built):
        owner[getattr(each, "particles", each)] = k
    return owner
