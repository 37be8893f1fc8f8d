"""Narrow phase: the contact points of shapes that touch or are closer than their contact margins.

Solvers call `find_points` in their kernels.
"""

from functools import cache

import taichi as ti

from pbd.core.kernels import any_world, each_world, in_all_lanes, in_lanes, load_quaternion
from pbd.core.quaternions import rotate, rotate_back
from pbd.core.shapes import CAPSULE, CYLINDER, HULL, MESH, PLANE, SPHERE, solid_distance
from rigid.collision.broad_phase import (
    bounds_overlap,
    find_pairs,
    is_still,
    list_of_pairs,
    listed_pair,
    shape_pose,
    write_placements,
)
from rigid.collision.data import ALL_PAIR_TYPES, BLOCKS, HEAD, SEARCH, SHAPE, STRUCTURE
from rigid.collision.internal_edges import remove_internal_edges
from rigid.collision.manifold import emit_contacts, empty_places, reduce_manifold
from rigid.collision.meshes import convex_on_mesh, mesh_on_plane
from rigid.collision.polyhedra import cylinder_on_plane, polyhedron_on_plane, polyhedron_on_polyhedron
from rigid.collision.rounded import (
    polyhedron_distance,
    rounded_on_plane,
    rounded_on_polyhedron,
    rounded_on_rounded,
    sphere_on_solid,
)


@cache
def point_finder(pair_types=ALL_PAIR_TYPES, of_pairs=False, keeps=False):
    """Make the function `find_points` for the kinds of pairs that can touch in a model.

    Compilation takes 13 s for all kinds, 5 s for boxes on a plane, 2 s for a ragdoll (a third of that without Taichi's
    cfg_optimization, at the same speed).

    Args: pair_types: a PairTypes, from `rigid.collision.upload.pair_types`; of_pairs: make `find_points_of_pairs`
    instead, for callers that search for pairs themselves; keeps: whether points of still shapes come first, and may be
    kept (rigid/solvers/sequential/kept_contacts.py).

    Returns: a Taichi function.
    """

    @in_all_lanes
    @ti.func
    def find_points(
        shapes: ti.template(), points: ti.template(), scratch: ti.template(), poses: ti.template(),
        margins: ti.template(), world,
    ):  # fmt: skip
        """Find the contact points of one world. Their order depends on the model and the poses alone.

        Args:
            shapes, points, scratch: Shapes, Points and Scratch (rigid/collision/data.py); `points` is filled.
            poses: (worlds, bodies, 7), position [m] and rotation (w, x, y, z) of each body's frame.
            margins: (bodies, worlds), contact margin of each body [m]. Two shapes have contact points if their gap is
                below the sum of their bodies' margins. The ground's margin is zero.
            world: index. Call the function in a loop over worlds.
        """
        write_placements(shapes, scratch, poses, margins, world)
        kept = 0
        if ti.static(keeps):
            kept = scratch.found[world, SEARCH.kept]
        points.count[world] = kept
        if ti.static(pair_types.hashed):
            find_pairs(shapes, scratch, world, keeps)
            for turn in range(ti.static(2 if keeps else 1)):
                for k in range(BLOCKS + 1):
                    first, capacity = list_of_pairs(scratch, k)
                    end = first + ti.min(scratch.found[world, k], capacity)
                    find_points_of_pairs(shapes, points, scratch, first, end, world, turn)
            count_untested(points, scratch, world)
        else:
            for k in range(shapes.lists[HEAD.pair_count]):
                a, b = listed_pair(shapes, k)
                overlapping = bounds_overlap(shapes, scratch, a, b, world)
                if any_world(overlapping):
                    find_points_of_pair(shapes, points, scratch, a, b, overlapping, points.count[world], world)
        if ti.static(pair_types.any_edge):
            remove_internal_edges(shapes, points, scratch, kept, world)

    @ti.func
    def find_points_of_pairs(
        shapes: ti.template(), points: ti.template(), scratch: ti.template(), begin, end, world, turn=0
    ):  # fmt: skip
        """Append the contact points of pairs that the search has found.

        Args: begin, end: of Scratch.pairs; turn: where points may be kept, 0 for pairs of still shapes, 1 for others.
        """
        for pair in range(begin, end):
            a, b = scratch.pairs[world, pair, 0], scratch.pairs[world, pair, 1]
            if ti.static(keeps):
                if (is_still(scratch, a, world) and is_still(scratch, b, world)) != (turn == 0):
                    continue
            find_points_of_pair(shapes, points, scratch, a, b, True, points.count[world], world)

    @ti.func
    def find_points_of_pair(
        shapes: ti.template(), points: ti.template(), scratch: ti.template(), first, second, overlapping, begin, world
    ):
        """Append the contact points of two shapes to those of a world.

        Args: overlapping: whether their bounds overlap; begin: place of the first point.
        """
        if ti.static(pair_types.any_mesh):
            if shapes.integers[first, STRUCTURE.kind] == MESH or shapes.integers[second, STRUCTURE.kind] == MESH:
                find_points_on_mesh(shapes, points, scratch, first, second, begin, world)
            else:
                find_points_of_convex_pair(shapes, points, scratch, first, second, overlapping, begin, world)
        else:
            find_points_of_convex_pair(shapes, points, scratch, first, second, overlapping, begin, world)

    @ti.func
    def find_points_on_mesh(
        shapes: ti.template(), points: ti.template(), scratch: ti.template(), first, second, begin, world
    ):
        """As `find_points_of_pair` for a pair with a mesh. Its worlds are never in lanes."""
        a, b = first, second
        if mesh_rank(shapes.integers[a, STRUCTURE.kind]) > mesh_rank(shapes.integers[b, STRUCTURE.kind]):
            a, b = second, first
        count = 0
        if shapes.integers[b, STRUCTURE.kind] == PLANE:
            if ti.static(pair_types.mesh_on_plane):
                count = mesh_on_plane(shapes, scratch, a, b, world)
        else:
            count = convex_on_mesh(
                shapes, scratch, a, b, pair_types.rounded_on_mesh, pair_types.polyhedra_on_mesh, world
            )
        if count > 0:
            emit_contacts(shapes, points, scratch, a, b, begin, count, world)

    @ti.func
    def find_points_of_convex_pair(
        shapes: ti.template(), points: ti.template(), scratch: ti.template(), first, second, overlapping, begin, world
    ):
        """As `find_points_of_pair` for a pair without a mesh."""
        a, b = first, second
        if rank(shapes.integers[a, STRUCTURE.kind]) > rank(shapes.integers[b, STRUCTURE.kind]):
            a, b = second, first
        kind, other = shapes.integers[a, STRUCTURE.kind], shapes.integers[b, STRUCTURE.kind]
        if rank(kind) == 0 and rank(other) != 1:
            count = 0
            if other == PLANE:
                if ti.static(pair_types.rounded_on_plane):
                    count = rounded_on_plane(shapes, scratch, a, b, overlapping, world)
            elif ti.static(pair_types.rounded):
                count = rounded_on_rounded(shapes, scratch, a, b, overlapping, world)
            if count > 0:
                emit_contacts(shapes, points, scratch, a, b, begin, count, world)
        elif ti.static(pair_types.any_polyhedron):
            if ti.static(in_lanes()):
                empty_places(points, begin, world)
            find_points_on_polyhedron(shapes, points, scratch, a, b, begin, world)

    @each_world
    @ti.func
    def find_points_on_polyhedron(
        shapes: ti.template(), points: ti.template(), scratch: ti.template(), a, b, begin, world
    ):
        """As `find_points_of_pair` for a pair with a polyhedron, which has too many branches for lanes."""
        kind, other = shapes.integers[a, STRUCTURE.kind], shapes.integers[b, STRUCTURE.kind]
        count = 0
        if rank(kind) == 0:
            if ti.static(pair_types.rounded_on_polyhedra):
                if kind == SPHERE and other != HULL:
                    count = sphere_on_solid(shapes, scratch, a, b, world)
                else:
                    count = rounded_on_polyhedron(shapes, scratch, a, b, world)
        elif other == PLANE:
            if ti.static(pair_types.polyhedra_on_plane):
                if kind == CYLINDER:
                    count = cylinder_on_plane(shapes, scratch, a, b, world)
                else:
                    count = polyhedron_on_plane(shapes, scratch, a, b, world)
        elif ti.static(pair_types.polyhedra):
            count = polyhedron_on_polyhedron(shapes, scratch, a, b, world)
        if count > 0:
            emit_contacts(shapes, points, scratch, a, b, begin, reduce_manifold(scratch, count, world), world)

    return find_points_of_pairs if of_pairs else find_points


find_points = point_finder()


@ti.func
def count_untested(points: ti.template(), scratch: ti.template(), world):
    """Count the pairs for which there was no room as contact points beyond the capacity."""
    untested = 0
    for k in range(BLOCKS + 1):
        untested += ti.max(scratch.found[world, k] - list_of_pairs(scratch, k)[1], 0)
    if untested > 0:
        points.count[world] = ti.max(points.count[world], points.integers.shape[1]) + untested


@ti.func
def rank(kind):
    """Order of shapes in a pair: rounded shapes 0, polyhedra 1, planes 2."""
    result = 1
    if kind == SPHERE or kind == CAPSULE:
        result = 0
    elif kind == PLANE:
        result = 2
    return result


@ti.func
def mesh_rank(kind):
    """Order of shapes in a pair with a mesh: convex shapes 0, meshes 1, planes 2."""
    result = 0
    if kind == MESH:
        result = 1
    elif kind == PLANE:
        result = 2
    return result


@ti.func
def shape_distance(shapes: ti.template(), a, poses: ti.template(), x, world):
    """Signed distance [m] of a point from a shape, and the outward unit normal in the world (3,).

    Args: shapes: Shapes; a: index of the shape; poses: see `find_points`; x (3,): in the world [m]; world: index.
    """
    position, rotation = shape_pose(shapes, a, poses, world)
    local = rotate_back(rotation, x - position)
    kind = shapes.integers[a, STRUCTURE.kind]
    distance, normal = -1e30, ti.Vector([0.0, 0.0, 1.0])
    if kind == HULL:
        distance, normal = polyhedron_distance(shapes, a, local, world)
    else:
        distance, normal = solid_distance(kind, load_quaternion(shapes.numbers, a, SHAPE.size, world), local)
    return distance, rotate(rotation, normal)
