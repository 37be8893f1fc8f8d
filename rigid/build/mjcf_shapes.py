"""Shapes and contact filters of a compiled MuJoCo model, and as elements of an MJCF file."""

import numpy as np

from pbd.core.extras import load_extra
from pbd.core.shapes import Box, Capsule, ConvexHull, Cylinder, Plane, Sphere
from rigid.rotation import from_matrix

PLANE, HFIELD, SPHERE, CAPSULE, ELLIPSOID, CYLINDER, BOX, MESH = range(8)  # mjtGeom
MOST_CLASSES = 31  # number of bits of a group

# Types of geoms.
GEOMS = {Plane: "plane", Sphere: "sphere", Capsule: "capsule", Cylinder: "cylinder", Box: "box", ConvexHull: "mesh"}


def shapes_of(compiled, data, geom, decompose=False):
    """A geom as a list of shapes in world coordinates, see `shape_of`. Args: decompose: meshes into convex parts."""
    if decompose and compiled.geom_type[geom] == MESH:
        return convex_parts(compiled, data, geom)
    shape = shape_of(compiled, data, geom)
    return [] if shape is None else [shape]


def convex_parts(compiled, data, geom):
    """Convex parts of a mesh: a list of shapes in world coordinates.

    Source: Wei and others, Approximate Convex Decomposition for 3D Meshes with Collision-Aware Concavity and Tree
    Search (2022), https://doi.org/10.1145/3528223.3530103, CoACD.
    """
    coacd = load_extra("coacd", "decompose")
    coacd.set_log_level("error")
    position, R = data.geom_xpos[geom].copy(), data.geom_xmat[geom].reshape(3, 3)
    parts = coacd.run_coacd(coacd.Mesh(*mesh_of(compiled, geom)))
    return [ConvexHull(position + np.asarray(points) @ R.T) for points, _ in parts]


def mesh_of(compiled, geom):
    """Vertices (n, 3) and triangles (m, 3) of a geom that is a mesh, in its own frame [m]."""
    mesh = compiled.geom_dataid[geom]
    first, face = compiled.mesh_vertadr[mesh], compiled.mesh_faceadr[mesh]
    vertices = compiled.mesh_vert[first : first + compiled.mesh_vertnum[mesh]].astype(float)
    return vertices, compiled.mesh_face[face : face + compiled.mesh_facenum[mesh]]


def shape_of(compiled, data, geom):
    """A geom as a shape in world coordinates; None for a type without counterpart.

    Args: compiled: an mjModel; data: its mjData after mj_kinematics; geom: index.
    """
    kind, size = compiled.geom_type[geom], compiled.geom_size[geom].copy()
    position, R = data.geom_xpos[geom].copy(), data.geom_xmat[geom].reshape(3, 3)
    if kind == PLANE:
        return Plane(point=position, normal=R[:, 2])
    if kind == SPHERE:
        return Sphere(size[0], centre=position)
    if kind in (CAPSULE, CYLINDER):
        along = size[1] * R[:, 2]
        return (Capsule if kind == CAPSULE else Cylinder)(size[0], start=position - along, end=position + along)
    if kind == BOX:
        return Box(2 * size, centre=position, rotation=from_matrix(R))
    if kind == ELLIPSOID:
        import trimesh  # slow, and rarely needed

        ball = trimesh.creation.icosphere(subdivisions=2).vertices
        return ConvexHull(position + (size * ball) @ R.T)
    if kind == MESH:
        return ConvexHull(position + mesh_of(compiled, geom)[0] @ R.T)  # MuJoCo, too, collides meshes as their hulls
    return None


def surface_of(compiled, geom, slippery, rolling):
    """Coefficients of friction of a geom, for add_shape. Args: slippery: whether all geoms have condim 1; rolling:
    whether rolling and spinning count. In MuJoCo a contact has the larger condim of both geoms."""
    sliding, spinning, rolled = map(float, compiled.geom_friction[geom])
    condim, given = compiled.geom_condim[geom], {"friction": 0.0 if slippery else sliding}
    if rolling and condim >= 4:
        given |= {"spinning_friction": spinning, "rolling_friction": rolled if condim == 6 else 0.0}
    return given


def contact_bits(compiled):
    """Group and mask (geoms, 2) of all geoms; zero for geoms that never collide.

    In MuJoCo two geoms collide if one's contype shares a bit with the other's conaffinity. In a Model both groups must
    share a bit with the other's mask. So each pair of contype and conaffinity gets one bit as its group, and its mask
    holds the bits of the pairs that it collides with. The lowest bit belongs to (1, 1), MuJoCo's default, because 1 is
    the default group of a Model's shapes.

    Raises: ValueError for more such pairs than bits.
    """
    given = [(int(a), int(b)) for a, b in zip(compiled.geom_contype, compiled.geom_conaffinity)]
    classes = [(1, 1), *sorted(set(given) - {(1, 1), (0, 0)})]
    if len(classes) > MOST_CLASSES:
        raise ValueError(
            f"geoms with {len(classes)} different pairs of contype and conaffinity: expected at most {MOST_CLASSES}"
        )
    bits = {(0, 0): (0, 0)}
    for k, (a, b) in enumerate(classes):
        bits[a, b] = 1 << k, sum(1 << j for j, (c, d) in enumerate(classes) if a & d or c & b)
    return np.array([bits[pair] for pair in given], int).reshape(-1, 2)


def geom_of(model, piece):
    """Attributes of the geom of a shape. Args: model; piece: one of its BodyShapes.

    Returns: {name: string, number or array}. `vertices` (n, 3) of a hull are those of its mesh.
    """
    shape = piece.shape
    kind = next(name for one, name in GEOMS.items() if isinstance(shape, one))
    rolling, spinning = piece.rolling_friction, piece.spinning_friction
    given = {"type": kind, "friction": (piece.friction, spinning, rolling), **bits_of(model, piece)}
    if rolling or spinning:
        given["condim"] = "6" if rolling else "4"
    if isinstance(shape, ConvexHull):
        given["vertices"] = shape.vertices
    elif isinstance(shape, Plane):
        given["size"] = (0, 0, 1)  # endless
    elif isinstance(shape, Box):
        given["size"] = shape.size / 2
    elif isinstance(shape, Sphere):
        given["size"] = shape.radius
    else:
        given["size"] = shape.radius, shape.length / 2
    return given


def bits_of(model, piece):
    """contype and conaffinity of a shape, the inverse of `contact_bits`; nothing where MuJoCo's defaults will do.

    Raises: ValueError for more pairs of group and mask than bits.
    """
    classes = sorted({(each.group, each.mask) for each in model.shapes})
    if len(classes) > MOST_CLASSES:
        raise ValueError(f"{len(classes)} pairs of group and mask: expected at most {MOST_CLASSES}, MJCF has 32 bits")
    group, mask = piece.group, piece.mask
    meets = sum(1 << k for k, (other, others) in enumerate(classes) if group & others and other & mask)
    place = classes.index((group, mask))
    return {} if (place, meets) == (0, 1) else {"contype": str(1 << place), "conaffinity": str(meets)}
