"""Fills the arrays of contact detection (rigid/collision/data.py) from models, in numpy."""

import hashlib
from itertools import combinations

import numpy as np

from pbd.core.kernels import allocate
from pbd.core.shapes import CAPSULE, GRID, HULL, MESH, PLANE, SPHERE
from rigid.collision.data import BLOCKS, HEAD, SHAPE, STRUCTURE, PairTypes, Points, Scratch, Shapes
from rigid.collision.manifold import MOST_POINTS, POINTS_ON_MESH
from rigid.collision.mesh_tables import mesh_tables
from rigid.collision.polyhedron import POLYHEDRA, polyhedron

# Up to this many pairs of shapes, all pairs are listed and tested, without a hash. Measured with piles of capsules: 10
# take 1.7 µs by list and 2.7 by hash, 30 take 5.9 and 6.6, 45 (990 pairs) 10.7 and 9.4, 100 take 43 and 20.
MOST_LISTED_PAIRS = 700
# Above this many shapes, their pairs are not counted.
MOST_LISTED_SHAPES = 200
# A shape is large if its bounding radius is this many times the median: the hash's cells are as wide as two of the
# largest small shapes.
LARGE_RADIUS = 4.0
# Default capacity for contact points, for each shape: a round one touches twelve like it; a box six, in eight points
# each.
ROUND_POINTS, POLYHEDRON_POINTS = 16, 32
# How many times the capacity of one world several worlds in lanes have that share the places of points.
PLACES = 4
# Capacity for pairs whose bounds overlap, for each shape.
PAIRS_OF_A_SHAPE = 64
# Points of a shape on a mesh that are collected before their number is reduced: those of several triangles.
POINTS_OF_TRIANGLES = 64
# How many meshes a shape touches at once, for the default capacity.
MESHES_OF_A_SHAPE = 2


def collision_arrays(models, worlds=1, capacity=None, lanes=1):
    """Make the arrays of contact detection.

    Args:
        models, worlds: see `shape_tables`.
        capacity: most contact points in a world; None for `default_capacity`.
        lanes: how many worlds are in the lanes of a vector. They share the places of points, so there are more.

    Returns: Shapes, Points, Scratch.
    """
    tables = shape_tables(models, worlds)
    structure = tables["integers"]
    count = len(structure)
    capacity = max(default_capacity(models[0]) if capacity is None else capacity, 1)
    listed, hashed = (int(tables["lists"][column]) for column in (HEAD.pair_count, HEAD.small_count))
    share = -(-PAIRS_OF_A_SHAPE * count // BLOCKS) if hashed else max(-(-listed // 4), 1)  # of a list of pairs
    if lanes > 1:
        capacity = max(capacity, min(lanes * capacity, MOST_POINTS * listed))
    loops = [len(face) for piece in models[0].shapes if (one := polyhedron(piece.shape)) for face in one.faces]
    most_corners = max([4, *loops])
    polygon = max(2 * most_corners + 2, int(structure[:, STRUCTURE.vertex_count].max(initial=0)) + 2)
    meshes = tables["meshes"]
    if len(meshes["triangles"]):
        polygon += POINTS_OF_TRIANGLES
    buckets = 1 << max(int(np.ceil(np.log2(max(2 * count, 1)))), 0)
    vertices, planes = (tables[name].shape[1] for name in ("vertices", "planes"))
    lists = len(tables["lists"])
    lengths = {"mesh_vertices": "vertices", "triangles": "triangles", "nodes": "nodes", "rings": "rings"}
    lengths = {length: len(meshes[name]) for length, name in lengths.items()}
    shared = {"worlds": worlds, "lanes": lanes}
    return (
        allocate(Shapes, tables, shapes=count, vertices=vertices, planes=planes, lists=lists, **lengths, **shared),
        allocate(Points, contacts=capacity, **shared),
        allocate(
            Scratch, shapes=count, bins=buckets + 1 + count, balls=max(hashed, 1), pairs=(BLOCKS + 4) * share,
            corners=3 * polygon, bodies=len(models[0].bodies), contacts=capacity, **shared,
        ),
    )


def shape_tables(models, worlds):
    """The contents of Shapes.

    Args: models: a list of one rigid.Model, or of one for each world, all of one structure; worlds: how many.

    Returns: {name: numpy array}.

    Raises: ValueError if the models' shapes differ in more than numbers; NotImplementedError for a mesh collider, and
    for two meshes that may touch.
    """
    models = list(models) * worlds if len(models) == 1 else list(models)
    if len(models) != worlds:
        raise ValueError(f"{len(models)} models for {worlds} worlds: expected one, or one for each world")
    first = models[0]
    for number, model in enumerate(models):
        refuse_mesh_colliders(model)
        refuse_mesh_on_mesh(model)
        if description(model) != description(first):
            raise ValueError(
                f"world {number} has other shapes than world 0: expected the same kinds on the same bodies, groups, "
                "masks and excluded pairs"
            )
    several = models if any(model is not first for model in models) else [first]
    solids = [[polyhedron(piece.shape) for piece in model.shapes] for model in several]
    meshes, places = mesh_tables(first)
    integers = np.zeros((len(first.shapes) + bool(places), STRUCTURE.total), np.int32)
    lists, vertices, planes = list(range(HEAD.total)), [], []
    corner, face = 0, 0
    excluded = excluded_bodies(first)
    for k, piece in enumerate(first.shapes):
        row = integers[k]
        row[: STRUCTURE.first_vertex] = piece.shape.kind, piece.body, piece.group, piece.mask
        row[STRUCTURE.first_excluded : STRUCTURE.first_node] = len(lists), len(excluded.get(piece.body, ()))
        row[STRUCTURE.first_node :] = places.get(k, (0, 0))
        lists += sorted(excluded.get(piece.body, ()))
        solid = solids[0][k]
        if solid is None:
            continue
        for number, others in enumerate(solids):
            if list(map(list, others[k].faces)) != list(map(list, solid.faces)):
                raise ValueError(f"shape {k}, a hull, has other faces in world {number}: expected those of world 0")
        ends = np.cumsum([0, *map(len, solid.faces)]) + len(lists) + len(solid.faces) + 1
        row[STRUCTURE.first_vertex : STRUCTURE.first_loop] = corner, len(solid.vertices), face, len(solid.planes)
        row[STRUCTURE.first_loop : STRUCTURE.first_excluded] = len(lists), ends[-1], len(solid.edges)
        lists += [*ends, *np.concatenate(solid.faces), *solid.edges.ravel()]
        vertices.append(np.stack([others[k].vertices for others in solids]))
        planes.append(np.stack([others[k].planes for others in solids]))
        corner, face = corner + len(solid.vertices), face + len(solid.planes)
    numbers = np.stack([shape_numbers(model, each) for model, each in zip(several, solids)])
    if places:  # the row of the triangle that is being tested
        begin = len(lists) + 2
        integers[-1, STRUCTURE.kind], integers[-1, STRUCTURE.body] = HULL, -1
        integers[-1, STRUCTURE.first_vertex : STRUCTURE.first_loop] = corner, 3, face, 1
        integers[-1, STRUCTURE.first_loop] = len(lists)
        lists += [begin, begin + 3, 0, 1, 2]
        vertices.append(np.zeros((len(several), 3, 3)))
        planes.append(np.zeros((len(several), 1, 4)))
        numbers = np.concatenate([numbers, np.zeros((len(several), 1, SHAPE.total))], axis=1)
    radii = numbers[:, : len(first.shapes), SHAPE.bounding_radius].max(axis=0, initial=0.0)
    lists[: HEAD.total], tail = candidates(first, radii, len(lists))
    tables = {
        "integers": integers,
        "numbers": numbers,
        "vertices": np.concatenate([np.zeros((len(several), 0, 3)), *vertices], axis=1),
        "planes": np.concatenate([np.zeros((len(several), 0, 4)), *planes], axis=1),
        "lists": np.array(lists + tail, np.int32),
        "meshes": meshes,
    }
    for name in ("numbers", "vertices", "planes"):
        tables[name] = np.broadcast_to(tables[name], (worlds, *tables[name].shape[1:]))
    return tables


def shape_numbers(model, solids):
    """Shapes.numbers of one world (shapes, SHAPE). Args: model; solids: the Polyhedron of each shape, or None."""
    numbers = np.zeros((len(model.shapes), SHAPE.total))
    for row, piece, solid in zip(numbers, model.shapes, solids):
        given = np.array(piece.shape.numbers())
        row[: len(given)] = given
        row[SHAPE["position"]], row[SHAPE["rotation"]] = piece.position, piece.rotation
        row[SHAPE.friction], row[SHAPE.restitution] = piece.friction, piece.restitution
        row[SHAPE.rolling_friction], row[SHAPE.spinning_friction] = piece.rolling_friction, piece.spinning_friction
        kind = piece.shape.kind
        if kind == PLANE:
            row[SHAPE.bounding_radius], row[SHAPE["half_extent"]] = np.inf, np.inf
        elif kind in (SPHERE, CAPSULE):
            radius, half = row[0], row[1] if kind == CAPSULE else 0.0
            row[SHAPE.bounding_radius], row[SHAPE["half_extent"]] = radius + half, (radius, radius, radius + half)
        elif kind == MESH:
            row[SHAPE.bounding_radius] = piece.shape.bounding_radius()
            row[SHAPE["half_extent"]] = np.abs(piece.shape.vertices).max(axis=0)
        elif solid is not None:  # a mesh collider has none; solvers refuse it where bodies may touch
            row[SHAPE.bounding_radius] = np.linalg.norm(solid.vertices, axis=1).max()
            row[SHAPE["half_extent"]] = np.abs(solid.vertices).max(axis=0)
    return numbers


def candidates(model, radii, begin):
    """Choose which shapes are tested against which.

    Args: model; radii (shapes,): bounding radius of each shape, the largest of any world; begin: where the lists begin
    in Shapes.lists.

    Returns: HEAD of Shapes.lists, and the lists of pairs, large and small shapes.
    """
    count = len(model.shapes)
    pairs, large, small = [], [], []
    if count <= MOST_LISTED_SHAPES:
        pairs = [(a, b) for a in range(count) for b in range(a + 1, count) if model.may_touch(a, b)]
    if count > MOST_LISTED_SHAPES or len(pairs) > MOST_LISTED_PAIRS:
        pairs = []
        small = np.flatnonzero(radii <= LARGE_RADIUS * np.median(radii)).tolist()
        large = np.setdiff1d(np.arange(count), small).tolist()
    places = np.cumsum([begin, 2 * len(pairs), len(large)]).tolist()
    head = [count, places[0], len(pairs), places[1], len(large), places[2], len(small)]
    return head, [*np.ravel(pairs).astype(int).tolist(), *large, *small]


def pair_types(models):
    """The kinds of pairs that can touch in models: a PairTypes.

    It looks at kinds of shapes alone, so it may name a few more than can touch.

    Args: models: a list of rigid.Model of one structure.
    """
    pieces = [piece for piece in models[0].shapes if piece.mask and piece.group]
    rounded, solid, plane, mesh = (SPHERE, CAPSULE), POLYHEDRA, (PLANE,), (MESH,)

    def can_touch(one, other):
        first, second = ([k for k, piece in enumerate(pieces) if piece.shape.kind in kinds] for kinds in (one, other))
        bodies = {pieces[k].body for k in first} | {pieces[k].body for k in second}
        return bool(first and second and max(bodies) >= 0 and len(bodies) > 1)

    radii = np.zeros(len(pieces))
    return PairTypes(
        rounded=can_touch(rounded, rounded),
        rounded_on_plane=can_touch(rounded, plane),
        rounded_on_polyhedra=can_touch(rounded, solid),
        polyhedra_on_plane=can_touch(solid, plane),
        polyhedra=can_touch(solid, solid),
        hashed=candidates(models[0], radii, HEAD.total)[0][HEAD.small_count] > 0,
        rolling_and_spinning=any(
            piece.rolling_friction or piece.spinning_friction for model in models for piece in model.shapes
        ),
        rounded_on_mesh=can_touch(rounded, mesh),
        polyhedra_on_mesh=can_touch(solid, mesh),
        mesh_on_plane=can_touch(mesh, plane),
    )


def excluded_bodies(model):
    """{body: bodies that it never touches}."""
    partners = {}
    for a, b in model.exclusions:
        partners.setdefault(a, set()).add(b)
        partners.setdefault(b, set()).add(a)
    return partners


def description(model):
    """The properties of shapes that all worlds must share."""
    shapes = tuple(
        (
            piece.shape.kind, piece.body, piece.group, piece.mask, len(getattr(piece.shape, "vertices", ())),
            contents_of(piece.shape),
        )
        for piece in model.shapes
    )  # fmt: skip
    return shapes, model.exclusions


def contents_of(shape):
    """What all worlds must share of a mesh: a text that says it; None for another shape."""
    if shape.kind != MESH:
        return None
    return hashlib.sha256(shape.vertices.tobytes() + shape.triangles.tobytes()).hexdigest()


def refuse_mesh_on_mesh(model):
    """Raise NotImplementedError if two meshes may touch."""
    meshes = [k for k, piece in enumerate(model.shapes) if piece.shape.kind == MESH]
    for a, b in combinations(meshes, 2):
        if model.may_touch(a, b):
            one, other = (model.body(model.shapes[k].body).name for k in (a, b))
            raise NotImplementedError(
                f"meshes on {one!r} and {other!r} may touch: expected one mesh at most in each pair of bodies; use "
                "exclude_contact, or rigid.ConvexHull for the parts of one"
            )


def refuse_meshes_beside_particles(model):
    """Raise NotImplementedError for a mesh that particles with radii, or surfaces of particles, would meet."""
    for piece in model.shapes:
        if piece.shape.kind == MESH:
            raise NotImplementedError(
                f"{piece.shape!r} on {model.body(piece.body).name!r} beside particles with radii or surfaces: "
                "expected convex shapes, meshes touch bodies alone; give the particles a pbd.MeshCollider, or neither "
                "radii nor surfaces"
            )


def refuse_mesh_colliders(model):
    """Raise NotImplementedError for shapes that cannot be in contact with bodies."""
    for piece in model.shapes:
        if piece.shape.kind == GRID:
            on = model.body(piece.body).name
            raise NotImplementedError(
                f"{piece.shape!r} on {on!r}: bodies touch with convex shapes alone; use add_mesh, which takes the "
                "mesh's hull, or a rigid.ConvexHull for each of its parts"
            )


def refuse_rolling_and_spinning_friction(model, solver):
    """Raise NotImplementedError for shapes that resist rolling or spinning.

    Args: model: a rigid.Model; solver: name of a solver without rolling and spinning friction.
    """
    for piece in model.shapes:
        for name in ("rolling_friction", "spinning_friction"):
            if getattr(piece, name) > 0:
                raise NotImplementedError(
                    f"{name} of a shape on {model.body(piece.body).name!r} is {getattr(piece, name):g}: solver "
                    f'{solver!r} has none; leave it 0, or use solver "impulse"'
                )


def capacity_of_several(model, capacity):
    """Capacity for the contact points of a solver of several worlds, which share the places of points if they lie in
    lanes. Args: model; capacity: for one world."""
    listed = candidates(model, np.zeros(len(model.shapes)), HEAD.total)[0][HEAD.pair_count]
    return max(capacity, min(PLACES * capacity, MOST_POINTS * listed))


def default_capacity(model):
    """Most contact points that touching bodies of these shapes commonly have."""
    solid = sum(piece.shape.kind in POLYHEDRA for piece in model.shapes)
    count = len(model.shapes)
    meshes = sum(piece.shape.kind == MESH for piece in model.shapes)
    on_meshes = POINTS_ON_MESH * min(meshes, MESHES_OF_A_SHAPE) * (count - meshes)
    return min(4 * count * (count - 1), POLYHEDRON_POINTS * solid + ROUND_POINTS * (count - solid)) + on_meshes
