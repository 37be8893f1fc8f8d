"""The arrays of contact detection: shapes of all worlds, the points that were found, and scratch.

Arrays of W worlds begin with the world (rigid/kernels/columns.py); one thread works on one world. Few arrays hold many columns,
since every argument of a kernel costs time at its launch; the constants below name the columns.
"""

from typing import NamedTuple

import numpy as np
import taichi as ti

from pbd.core.arrays import Integer, Real, count
from pbd.core.launch import device_array, real, write
from pbd.core.shapes import CAPSULE, GRID, PLANE, SPHERE
from rigid.collision.polyhedron import POLYHEDRA, polyhedron


class Shapes(NamedTuple):
    """All shapes of a model; S shapes, W worlds. Only read."""

    integers: Integer(count.shapes, 13)  # kind, body (-1: ground), and so on, see below
    numbers: Real(count.worlds, count.shapes, 23)  # its own numbers, its pose on its body, its surface, its bounds, see below
    vertices: Real(count.worlds, count.vertices, 3)  # [m]: corners of all polyhedra, in their shapes' frames
    planes: Real(count.worlds, count.faces, 4)  # outward unit normal and offset [m] of all faces, likewise
    lists: Integer(count.listed)  # a head (below), then what begins where the head and `integers` say


class Points(NamedTuple):
    """What find_points finds. Entries from count on are old, or zero."""

    integers: Integer(count.worlds, count.capacity, 5)  # see below
    numbers: Real(count.worlds, count.capacity, 9)  # see below
    count: Integer(count.worlds)  # how many there are; above the capacity, how many there should be


class Broad(NamedTuple):
    """Scratch of find_points."""

    placed: Real(count.worlds, count.shapes, 16)  # where each shape is in the world, see below
    bins: Integer(count.bins, count.worlds)  # where each bucket of the hash begins, then the shapes that are in it
    pairs: Integer(count.worlds, count.pairs, 2)  # shapes that could touch
    clips: Real(count.worlds, count.clips, 8)  # two polygons of C corners that are being clipped, and the points of one pair
    marks: Integer(count.clips, count.worlds)  # the side that each corner of a polygon begins, the feature of each point


class Meetings(NamedTuple):
    """What can meet in a model: what kernels are compiled for."""

    rounded: bool = True  # spheres and capsules one another
    on_plane: bool = True  # those and planes
    on_polyhedra: bool = True  # those and boxes, cylinders and hulls
    polyhedra_on_plane: bool = True
    polyhedra: bool = True  # one another
    many: bool = True  # more shapes than a list of all their pairs is good for
    turning: bool = False  # whether any resists rolling or spinning


EVERYTHING = Meetings()


# Columns of Shapes.integers. A polyhedron's corners begin at row VERTICES of `vertices`, its faces at row PLANES of
# `planes`. In `lists`, from LOOPS on, stand where each face's corners begin (and, one more, where the last one's end);
# from EDGES on four for each edge, see Polyhedron; from EXCLUDED on the bodies that its body never touches.
(
    KIND, BODY, GROUP, MASK, VERTICES, VERTEX_COUNT, PLANES, FACE_COUNT, LOOPS, EDGES, EDGE_COUNT, EXCLUDED,
    EXCLUDED_COUNT,
) = range(13)  # fmt: skip

# Columns of Shapes.numbers: eight of its kind, shape.numbers() (radius and half length, or zero and half edges), then
# position and rotation in its body's frame, the surface, the radius of the ball about its frame's origin that holds it
# (infinite for a plane), half edges of a box about that origin that does, and friction against rolling and spinning.
SIZE, POSITION, ROTATION, SHAPE_FRICTION, SHAPE_RESTITUTION, BOUND, EXTENT = 0, 8, 11, 15, 16, 17, 18
ROLLING, SPINNING = 21, 22
SHAPE_NUMBERS = 23

# Columns of Points.integers and Points.numbers. Shape a is the one with the lower index, unless it is the ground's:
# body a is never the ground. POINT (3): on a's surface, in the world [m]; NORMAL (3): unit, from b towards a;
# GAP = (p_a - p_b)·n [m], negative where they overlap, so that p_b = p_a - gap n; FRICTION sqrt(μa μb); RESTITUTION
# the larger of both. FEATURE stays the same while the same corners, edges and faces meet, and is unique within a pair.
SHAPE_A, SHAPE_B, BODY_A, BODY_B, FEATURE = range(5)
POINT, NORMAL, GAP, FRICTION, RESTITUTION = 0, 3, 6, 7, 8

# Columns of Broad.placed: the frame's origin, its rotation matrix row by row, half edges of a box along the world's
# axes that holds it, and its body's reach.
ORIGIN, MATRIX, HALF, REACH = 0, 3, 12, 15

# Head of Shapes.lists: how many shapes there are; where the pairs begin that are always looked at, and their count;
# where the large shapes begin that are held against all others, and their count; then the small ones, for the hash.
SHAPE_COUNT, PAIRS, PAIR_COUNT, LARGE, LARGE_COUNT, SMALL, SMALL_COUNT = range(7)
HEAD = 7

# Up to so many pairs of shapes that may touch are all looked at, without a hash. Measured with piles of capsules: 10
# take 1.7 µs by list and 2.7 by hash, 30 take 5.9 and 6.6, 45 (990 pairs) 10.7 and 9.4, 100 take 43 and 20.
ALL_PAIRS = 700
# Above so many shapes nobody counts their pairs.
MOST_LISTED = 200
# A shape is large where its bounding radius is so many times the median: the hash's cells are as wide as two of the
# largest small ones.
LARGE_RADIUS = 4.0
# Room for points, for each shape: a round one touches twelve like it; a box six, in eight points each.
ROUND_POINTS, POLYHEDRON_POINTS = 16, 32
# And for pairs whose bounds are near one another.
PAIRS_OF_A_SHAPE = 64


def shape_tables(models, worlds):
    """Numpy arrays of Shapes, by name.

    Arguments: models: a list of one rigid.Model, or of one for each world, all of one structure; worlds: how many.

    Raises: ValueError where the models' shapes differ in more than numbers; NotImplementedError for a mesh collider.
    """
    models = list(models) * worlds if len(models) == 1 else list(models)
    if len(models) != worlds:
        raise ValueError(f"{len(models)} models for {worlds} worlds: expected one, or one for each world")
    first = models[0]
    for number, model in enumerate(models):
        refuse_grids(model)
        if description(model) != description(first):
            raise ValueError(
                f"world {number} has other shapes than world 0: expected the same kinds on the same bodies, groups, "
                "masks and excluded pairs"
            )
    several = models if any(model is not first for model in models) else [first]
    solids = [[polyhedron(piece.shape) for piece in model.shapes] for model in several]
    count = len(first.shapes)
    integers = np.zeros((count, EXCLUDED_COUNT + 1), np.int32)
    lists, vertices, planes = list(range(HEAD)), [], []
    corner, face = 0, 0
    partners = excluded_bodies(first)
    for k, piece in enumerate(first.shapes):
        integers[k, :VERTICES] = piece.shape.kind, piece.body, piece.group, piece.mask
        integers[k, EXCLUDED:] = len(lists), len(partners.get(piece.body, ()))
        lists += sorted(partners.get(piece.body, ()))
        solid = solids[0][k]
        if solid is None:
            continue
        for number, others in enumerate(solids):
            if list(map(list, others[k].faces)) != list(map(list, solid.faces)):
                raise ValueError(f"shape {k}, a hull, has other faces in world {number}: expected those of world 0")
        ends = np.cumsum([0, *map(len, solid.faces)]) + len(lists) + len(solid.faces) + 1
        integers[k, VERTICES:LOOPS] = corner, len(solid.vertices), face, len(solid.planes)
        integers[k, LOOPS:EXCLUDED] = len(lists), ends[-1], len(solid.edges)
        lists += [*ends, *np.concatenate(solid.faces), *solid.edges.ravel()]
        vertices.append(np.stack([others[k].vertices for others in solids]))
        planes.append(np.stack([others[k].planes for others in solids]))
        corner, face = corner + len(solid.vertices), face + len(solid.planes)
    numbers = np.stack([shape_numbers(model, each) for model, each in zip(several, solids)])
    lists[:HEAD], tail = candidates(first, numbers[:, :, BOUND].max(axis=0, initial=0.0), len(lists))
    tables = {
        "integers": integers,
        "numbers": numbers,
        "vertices": np.concatenate([np.zeros((len(several), 0, 3)), *vertices], axis=1),
        "planes": np.concatenate([np.zeros((len(several), 0, 4)), *planes], axis=1),
        "lists": np.array(lists + tail, np.int32),
    }
    for name in ("numbers", "vertices", "planes"):
        tables[name] = np.broadcast_to(tables[name], (worlds, *tables[name].shape[1:]))
    return tables


def shape_numbers(model, solids):
    """Columns of Shapes.numbers for one world, (S, SHAPE_NUMBERS)."""
    numbers = np.zeros((len(model.shapes), SHAPE_NUMBERS))
    for row, piece, solid in zip(numbers, model.shapes, solids):
        given = np.array(piece.shape.numbers())
        row[: len(given)] = given
        row[POSITION:ROTATION], row[ROTATION:SHAPE_FRICTION] = piece.position, piece.rotation
        row[SHAPE_FRICTION], row[SHAPE_RESTITUTION] = piece.friction, piece.restitution
        row[ROLLING], row[SPINNING] = piece.rolling_friction, piece.spinning_friction
        kind = piece.shape.kind
        if kind == PLANE:
            row[BOUND:ROLLING] = np.inf
        elif kind in (SPHERE, CAPSULE):
            radius, half = row[0], row[1] if kind == CAPSULE else 0.0
            row[BOUND], row[EXTENT:ROLLING] = radius + half, (radius, radius, radius + half)
        else:
            row[BOUND] = np.linalg.norm(solid.vertices, axis=1).max()
            row[EXTENT:ROLLING] = np.abs(solid.vertices).max(axis=0)
    return numbers


def candidates(model, bounds, begin):
    """Which shapes are held against which: the head of Shapes.lists, and what goes to place `begin` of it.

    Arguments: model; bounds (S,): the radius of each shape, the largest of any world; begin.
    """
    count = len(model.shapes)
    pairs, large, small = [], [], []
    if count <= MOST_LISTED:
        pairs = [(a, b) for a in range(count) for b in range(a + 1, count) if model.may_touch(a, b)]
    if count > MOST_LISTED or len(pairs) > ALL_PAIRS:
        pairs = []
        small = np.flatnonzero(bounds <= LARGE_RADIUS * np.median(bounds)).tolist()
        large = np.setdiff1d(np.arange(count), small).tolist()
    places = np.cumsum([begin, 2 * len(pairs), len(large)]).tolist()
    head = [count, places[0], len(pairs), places[1], len(large), places[2], len(small)]
    return head, [*np.ravel(pairs).astype(int).tolist(), *large, *small]


def meetings(models):
    """What can meet in these models: a Meetings. A little more than can, maybe: it asks for kinds alone, of shapes that
    touch anything.

    Arguments: models: a list of rigid.Model of one structure.
    """
    pieces = [piece for piece in models[0].shapes if piece.mask and piece.group]
    rounded, solid, plane = (SPHERE, CAPSULE), POLYHEDRA, (PLANE,)

    def meet(one, other):
        first, second = ([k for k, piece in enumerate(pieces) if piece.shape.kind in kinds] for kinds in (one, other))
        moving = {pieces[k].body for k in first} | {pieces[k].body for k in second}
        return bool(first and second and max(moving) >= 0 and len(moving) > 1)

    bounds = np.zeros(len(pieces))
    return Meetings(
        meet(rounded, rounded), meet(rounded, plane), meet(rounded, solid), meet(solid, plane), meet(solid, solid),
        candidates(models[0], bounds, HEAD)[0][SMALL_COUNT] > 0,
        any(piece.rolling_friction or piece.spinning_friction for model in models for piece in model.shapes),
    )  # fmt: skip


def excluded_bodies(model):
    """{body: bodies that it never touches}."""
    partners = {}
    for a, b in model.exclusions:
        partners.setdefault(a, set()).add(b)
        partners.setdefault(b, set()).add(a)
    return partners


def description(model):
    """What shapes must have in common in all worlds."""
    shapes = tuple(
        (piece.shape.kind, piece.body, piece.group, piece.mask, len(getattr(piece.shape, "vertices", ())))
        for piece in model.shapes
    )
    return shapes, model.exclusions


def refuse_grids(model):
    """Raise for shapes that bodies cannot touch with."""
    for piece in model.shapes:
        if piece.shape.kind == GRID:
            on = model.body(piece.body).name
            raise NotImplementedError(
                f"{piece.shape!r} on {on!r}: bodies touch with convex shapes alone; use add_mesh, which takes the "
                "mesh's hull, or a rigid.ConvexHull for each of its parts"
            )


def refuse_turning_friction(model, solver):
    """Raise for shapes that resist rolling or spinning. Arguments: a Model; solver: the name of one without that."""
    for piece in model.shapes:
        for name in ("rolling_friction", "spinning_friction"):
            if getattr(piece, name) > 0:
                raise NotImplementedError(
                    f"{name} of a shape on {model.body(piece.body).name!r} is {getattr(piece, name):g}: solver "
                    f'{solver!r} has none; leave it 0, or use solver "impulse"'
                )


def default_capacity(model):
    """Room for a good deal of points: what touching bodies of these shapes can have."""
    solid = sum(piece.shape.kind in POLYHEDRA for piece in model.shapes)
    count = len(model.shapes)
    return min(4 * count * (count - 1), POLYHEDRON_POINTS * solid + ROUND_POINTS * (count - solid))


def upload(models, worlds=1, capacity=None):
    """Arrays in Taichi of the shapes of models: Shapes, Points, Broad.

    Arguments: models, worlds: as for shape_tables; capacity: most points in a world, None for a good deal.
    """
    tables = shape_tables(models, worlds)
    count = len(tables["integers"])
    capacity = max(default_capacity(models[0]) if capacity is None else capacity, 1)
    pairs = count * (count - 1) // 2
    pairs = max(1, min(pairs, PAIRS_OF_A_SHAPE * count))
    loops = [len(face) for piece in models[0].shapes if (one := polyhedron(piece.shape)) for face in one.faces]
    corners = max([4, *loops])
    clip = max(2 * corners + 2, int(tables["integers"][:, VERTEX_COUNT].max(initial=0)) + 2)
    buckets = 1 << max(int(np.ceil(np.log2(max(2 * count, 1)))), 0)
    shapes = Shapes(**{name: array(values) for name, values in tables.items()})
    points = Points(
        array(np.zeros((worlds, capacity, FEATURE + 1), np.int32)),
        array(np.zeros((worlds, capacity, RESTITUTION + 1))),
        array(np.zeros(worlds, np.int32)),
    )
    broad = Broad(
        array(np.zeros((worlds, max(count, 1), REACH + 1))),
        array(np.zeros((buckets + 1 + count, worlds), np.int32)),
        array(np.zeros((worlds, pairs, 2), np.int32)),
        array(np.zeros((worlds, 3 * clip, 8))),
        array(np.zeros((3 * clip, worlds), np.int32)),
    )
    return shapes, points, broad


def array(values):
    """A Taichi array of scalars with these contents; of zeros where there are none, as it cannot be empty."""
    values = values if values.size else np.zeros([max(length, 1) for length in values.shape], values.dtype)
    if np.issubdtype(values.dtype, np.integer):
        return device_array(values)
    found = ti.ndarray(ti.f64 if real() is np.float64 else ti.f32, values.shape)
    write(found, values)
    return found
