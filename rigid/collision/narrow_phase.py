"""Narrow phase: where the shapes of bodies touch, or soon may. find_points is what solvers call."""

from functools import cache

import taichi as ti

from pbd.core.quaternions import rotate, rotate_back
from pbd.core.shapes import CAPSULE, CYLINDER, HULL, PLANE, SPHERE, solid_distance
from rigid.collision.broad_phase import find_listed_pairs, find_unlisted_pairs, shape_pose, write_placement
from rigid.collision.data import ALL_PAIR_TYPES, HEAD, SHAPE, STRUCTURE
from rigid.collision.manifold import emit_contacts, reduce_manifold
from rigid.collision.polyhedra import cylinder_on_plane, polyhedron_on_plane, polyhedron_on_polyhedron
from rigid.collision.rounded import rounded_on_plane, rounded_on_polyhedron, rounded_on_rounded, sphere_on_solid
from rigid.kernels.columns import quadruple, triple


@cache
def point_finder(pair_types=ALL_PAIR_TYPES):
    """A find_points for what can meet in a model, which is what the first launch then waits for.

    To compile it takes 13 s for everything, 5 s for boxes on a plane, 2 s for a ragdoll (a third of that without
    Taichi's cfg_optimization, and no slower then). Args: pair_types: a PairTypes, as rigid.collision.setup.pair_types
    finds it for models.
    """

    @ti.func
    def find_points(
        shapes: ti.template(), points: ti.template(), scratch: ti.template(), poses: ti.template(), margin: ti.template(),
        world,
    ):  # fmt: skip
        """Find the contact points of one world, in an order that depends on the description and the poses alone.

        Arguments:
            shapes, points, scratch: of rigid/collision/data.py, made by its upload; `points` is filled.
            poses: (W, bodies, 7), position [m] and rotation (w, x, y, z) of each body's frame.
            margin: (bodies, W), how far beyond its surface a body looks [m]; the ground looks nowhere. Two shapes yield
                points where their gap is below the sum of theirs.
            world: index. Call it within a loop over worlds.
        """
        for shape in range(shapes.lists[HEAD.shape_count]):
            write_placement(shapes, scratch, poses, margin, shape, world)
        points.count[world] = 0
        found = find_listed_pairs(shapes, scratch, world)
        if ti.static(pair_types.hashed):
            found = find_unlisted_pairs(shapes, scratch, found, world)
        capacity = scratch.pairs.shape[1]
        for k in range(ti.min(found, capacity)):
            a, b = scratch.pairs[world, k, 0], scratch.pairs[world, k, 1]
            if rank(shapes.integers[a, STRUCTURE.kind]) > rank(shapes.integers[b, STRUCTURE.kind]):
                a, b = scratch.pairs[world, k, 1], scratch.pairs[world, k, 0]
            kind, other = shapes.integers[a, STRUCTURE.kind], shapes.integers[b, STRUCTURE.kind]
            count = 0
            if rank(kind) == 0:
                if other == PLANE:
                    if ti.static(pair_types.rounded_on_plane):
                        count = rounded_on_plane(shapes, scratch, a, b, world)
                elif rank(other) == 0:
                    if ti.static(pair_types.rounded):
                        count = rounded_on_rounded(shapes, scratch, a, b, world)
                elif kind == SPHERE and other != HULL:
                    if ti.static(pair_types.rounded_on_polyhedra):
                        count = sphere_on_solid(shapes, scratch, a, b, world)
                elif ti.static(pair_types.rounded_on_polyhedra):
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
                emit_contacts(shapes, points, scratch, a, b, reduce_manifold(scratch, count, world), world)
        if found > capacity:  # pairs that nobody looked at: as if each had a point, and those had no capacity
            points.count[world] = ti.max(points.count[world], points.integers.shape[1]) + found - capacity

    return find_points


find_points = point_finder()


@ti.func
def rank(kind):
    """Rounded shapes come first in a pair, then polyhedra, then planes."""
    result = 1
    if kind == SPHERE or kind == CAPSULE:
        result = 0
    elif kind == PLANE:
        result = 2
    return result


@ti.func
def shape_distance(shapes: ti.template(), a, poses: ti.template(), x, world):
    """Signed distance [m] of a point from shape `a` where its body is, and the outward unit normal in the world.

    Exact but for a hull's past its edges, see hull_distance in pbd/core_segment/distance.py.

    Arguments: shapes: from upload; a: index; poses: as for find_points; x (3,): in the world [m]; world: index.
    """
    position, rotation = shape_pose(shapes, a, poses, world)
    local = rotate_back(rotation, x - position)
    kind = shapes.integers[a, STRUCTURE.kind]
    distance, normal = -1e30, ti.Vector([0.0, 0.0, 1.0])
    if kind == HULL:
        planes = shapes.integers[a, STRUCTURE.first_plane]
        for k in range(planes, planes + shapes.integers[a, STRUCTURE.face_count]):
            outwards = triple(shapes.planes, k, 0, world)
            height = outwards.dot(local) - shapes.planes[world, k, 3]
            if height > distance:
                distance, normal = height, outwards
    else:
        distance, normal = solid_distance(kind, quadruple(shapes.numbers, a, SHAPE.size, world), local)
    return distance, rotate(rotation, normal)
