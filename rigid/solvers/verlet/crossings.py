"""Shapes of bodies that cross surfaces: counted, and refused at the start. Plain numpy, as those of surfaces are
(pbd/collision/surfaces/crossings.py): it shares no code with the bound that keeps them apart (surface_bound.py).

The core of a shape crosses if one of its edges crosses a triangle, or an edge of a surface crosses one of its faces. A
sphere's core is a point, and planes have none, so neither can cross.
"""

import numpy as np

from pbd.collision.surfaces.crossings import crossing_pairs, edges_and_triangles
from pbd.core.shapes import CAPSULE
from rigid.collision.polyhedron import polyhedron
from rigid.names import GROUND
from rigid.rotation import rotate
from rigid.solvers.verlet.surface_bound import CORE


def core_of(shape):
    """Corners (n, 3) [m] of a shape's core in its frame, its edges (e, 2) and triangles (t, 3)."""
    solid = polyhedron(shape)
    if solid is not None:
        triangles = [(face[0], *pair) for face in solid.faces for pair in zip(face[1:], face[2:])]
        return CORE * solid.vertices, solid.edges[:, :2], np.array(triangles)
    if shape.kind == CAPSULE:
        half = shape.numbers()[1]
        return np.array([(0, 0, -half), (0, 0, half)]), np.array([(0, 1)]), np.zeros((0, 3), int)
    return np.zeros((0, 3)), np.zeros((0, 2), int), np.zeros((0, 3), int)


def crossing_shapes(model, position, rotation, particles, pinned, surfaces, may_touch):
    """Find shapes that cross surfaces. What nothing can move does not count.

    Args: model: a rigid.Model; position (bodies, 3) [m], rotation (bodies, 4): of its bodies; particles: positions
    (particles, 3) [m]; pinned: which of them nothing moves; surfaces: a list of Surface; may_touch: which particles
    have contacts with each body, and with the ground in the last row (bodies + 1, particles).

    Returns: (n, 2), a shape and the first particle of the edge or triangle that it crosses, for each pair.
    """
    edges, triangles = edges_and_triangles(surfaces)
    found = [np.zeros((0, 2), int)]
    for number, piece in enumerate(model.shapes):
        corners, core_edges, core_triangles = core_of(piece.shape)
        corners = piece.position + rotate(piece.rotation, corners)
        free, is_fixed = may_touch[piece.body], piece.body == GROUND or model.bodies[piece.body].path is not None
        if piece.body != GROUND:
            corners = position[piece.body] + rotate(rotation[piece.body], corners)
        both, first = np.concatenate([particles, corners]), len(particles)
        held = np.concatenate([pinned, np.full(len(corners), is_fixed)])
        across = crossing_pairs(both, core_edges + first, triangles[free[triangles].all(axis=1)], held)[:, 2]
        through = crossing_pairs(both, edges[free[edges].all(axis=1)], core_triangles + first, held)[:, 0]
        members = np.concatenate([across, through])
        found.append(np.column_stack([np.full(len(members), number), members]))
    return np.concatenate(found)


def crossing_message(model, shape, particle):
    """What is wrong with a shape that crosses a surface at the start. Args: particle: of the surface."""
    body = model.shapes[shape].body
    name = "the ground" if body == GROUND else f"body {model.bodies[body].name!r}"
    return (
        f"shape {shape}, of {name}, crosses a surface at particle {particle}: expected bodies that are apart from "
        "surfaces at the start"
    )
