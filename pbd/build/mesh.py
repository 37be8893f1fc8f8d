"""Triangle meshes: read from files, checked, mended, and how far a point is from one.

Distances come from libigl (MPL 2.0): exact to round-off, wheels for every Python and system that Taichi has some
for, a million triangles in seconds. Its signed distance is not used as it comes: the fast winding number scales it
by about 1 - 2w, which is off by up to half a percent. The distance is taken without a sign, and only the sign from
the winding.
"""

import io
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

import numpy as np

from pbd.build.topology import half_edges, undirected
from pbd.core.validate import finite_array, one_of, positive

UNITS = {"m": 1.0, "cm": 0.01, "mm": 0.001, "in": 0.0254, "ft": 0.3048}

# Rows that turn a file's axes into ours, by the axis that points up in the file; each a rotation.
UP = {
    "z": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "-z": ((1, 0, 0), (0, -1, 0), (0, 0, -1)),
    "y": ((1, 0, 0), (0, 0, -1), (0, 1, 0)),
    "-y": ((1, 0, 0), (0, 0, 1), (0, -1, 0)),
    "x": ((0, 0, -1), (0, 1, 0), (1, 0, 0)),
    "-x": ((0, 0, 1), (0, 1, 0), (-1, 0, 0)),
}

# Formats, and the axis that points up in each unless one says otherwise: only glTF has a rule.
FORMATS = {".obj": "z", ".ply": "z", ".stl": "z", ".glb": "y"}


@dataclass
class Mesh:
    """Triangles in space, counter-clockwise seen from outside.

    Arguments: vertices (n, 3) [m], z up; triangles (m, 3) of indices. Raises where a number is not finite, an index
    has no vertex, or there is no triangle.
    """

    vertices: np.ndarray
    triangles: np.ndarray

    def __post_init__(self):
        self.vertices = finite_array("mesh vertices", self.vertices, (None, 3))
        given = np.asarray(self.triangles)
        if given.size == 0:
            raise ValueError("a mesh without triangles: expected one at least")
        if given.ndim != 2 or given.shape[1] != 3 or not np.issubdtype(given.dtype, np.integer):
            raise ValueError(f"mesh triangles are {given.dtype} of shape {given.shape}: expected integers (any, 3)")
        wrong = (given < 0) | (given >= len(self.vertices))
        if wrong.any():
            count = len(self.vertices)
            raise IndexError(f"mesh triangles hold {given[wrong][0]}: there are {count} vertices, 0 to {count - 1}")
        self.triangles = given.astype(np.int64)

    @property
    def areas(self):
        """Area of each triangle [m²]."""
        a, b, c = (self.vertices[self.triangles[:, k]] for k in range(3))
        return np.linalg.norm(np.cross(b - a, c - a), axis=1) / 2

    @property
    def volume(self):
        """Signed volume that the triangles enclose [m³]; negative where they wind inwards."""
        origin = self.vertices[self.triangles[0, 0]]
        a, b, c = (self.vertices[self.triangles[:, k]] - origin for k in range(3))
        return float(np.einsum("ij,ij->", a, np.cross(b, c)) / 6)


def load_mesh(path, units=1.0, up=None):
    """Read a mesh from an OBJ, PLY, STL or GLB file, with duplicate vertices made one.

    Arguments:
        path: of the file; several geometries in it become one, each where the file puts it.
        units: of the file's numbers: "m", "cm", "mm", "in" or "ft", or how many metres one is.
        up: the file's axis that points up: "x", "y", "z", "-x", "-y" or "-z"; None for "y" in a GLB, as glTF
            demands, and "z" in the others.

    Returns: a Mesh in metres, z up.

    Raises: FileNotFoundError; ValueError for a format not known, or a file that is not what its name says or holds no
    triangles, or numbers that are not finite.
    """
    path = Path(path)
    if up is not None:
        one_of("up axis", up, tuple(UP))
    factor = UNITS[one_of("unit", units, tuple(UNITS))] if isinstance(units, str) else positive("units", units)
    one_of(f"file type of {path.name}", path.suffix.lower(), tuple(FORMATS))
    if not path.is_file():
        raise FileNotFoundError(f"there is no mesh file {path}")
    format_name = path.suffix[1:].upper()
    try:
        vertices, triangles = _read(path)
    except ImportError:  # trimesh meets neither the binary format nor text, and looks for a guesser of encodings
        raise ValueError(f"{path} cannot be read as {format_name}: neither text nor the binary format") from None
    except Exception as error:  # whatever a parser meets in a file that is not its own
        raise ValueError(f"{path} cannot be read as {format_name}: {error or type(error).__name__}") from error
    if not len(triangles):
        raise ValueError(f"{path} holds no triangles: expected a surface, in a file that is {format_name} in truth")
    try:
        mesh = Mesh(vertices, triangles)
    except (ValueError, IndexError) as error:
        raise ValueError(f"{path}: {error}") from None
    axes = np.array(UP[up or FORMATS[path.suffix.lower()]], dtype=float)
    return welded(Mesh(mesh.vertices @ axes.T * factor, mesh.triangles))


def _read(path):
    """Vertices and triangles of a file, as they stand in it."""
    import trimesh  # half a second, which those without files need not spend

    source = path
    if path.suffix.lower() == ".obj":  # a name or comment in an older encoding shall not stop the numbers
        source = io.StringIO(path.read_text(encoding="utf-8", errors="replace"))
    geometry = trimesh.load_scene(source, file_type=path.suffix[1:].lower(), process=False).to_mesh()
    return np.array(geometry.vertices), np.array(geometry.faces)


def welded(mesh, tolerance=0.0):
    """The same mesh with vertices that coincide made one, and without what is then no triangle or no corner of one.

    Arguments: tolerance: as coinciding counts what rounds to the same multiple of this [m]; zero for equal numbers.
    """
    place = np.round(mesh.vertices / tolerance) if tolerance > 0 else mesh.vertices + 0.0  # + 0.0 makes -0.0 zero
    order = np.lexsort(place.T)
    fresh = np.ones(len(order), bool)
    fresh[1:] = (place[order[1:]] != place[order[:-1]]).any(axis=1)
    representative = np.empty(len(order), np.int64)
    representative[order] = order[np.flatnonzero(fresh)][np.cumsum(fresh) - 1]
    triangles = representative[mesh.triangles]
    a, b, c = triangles.T
    triangles = triangles[(a != b) & (b != c) & (c != a)]
    used = np.zeros(len(order), bool)
    used[triangles] = True
    return Mesh(mesh.vertices[used], (np.cumsum(used) - 1)[triangles])


def surface(mesh):
    """A Mesh from whatever holds one.

    Arguments: mesh: a Mesh, (vertices (n, 3), triangles (m, 3)), a trimesh.Trimesh, or the path of a file in metres.
    """
    if isinstance(mesh, Mesh):
        return mesh
    if isinstance(mesh, (str, PathLike)):
        return load_mesh(mesh)
    if hasattr(mesh, "vertices") and hasattr(mesh, "faces"):
        return Mesh(np.asarray(mesh.vertices), np.asarray(mesh.faces))
    if isinstance(mesh, (tuple, list)) and len(mesh) == 2:
        return Mesh(*mesh)
    raise TypeError(f"mesh is {mesh!r}: expected a Mesh, (vertices, triangles), a trimesh.Trimesh or a path")


def closed_surface(mesh, repair=False):
    """A surface with an inside: every edge shared, wound outwards, some volume within.

    Arguments:
        mesh: as for `surface`.
        repair: weld vertices that nearly coincide, and close each hole with a fan of triangles from its middle.

    Returns: a Mesh. Triangles wound differently from their neighbours are turned; a part that winds inwards is a
    cavity where it lies inside another part, and else is turned.

    Raises: ValueError where edges are open (or still are, after repair), or nothing is enclosed.
    """
    mesh = welded(surface(mesh))
    way_out = "; repair=True closes holes"
    if repair and len(_open_edges(mesh.triangles)):
        extent = np.ptp(mesh.vertices, axis=0).max()
        mesh = _filled(welded(mesh, tolerance=1e-6 * extent))
        way_out = ", and repair did not close them"
    holes = len(_open_edges(mesh.triangles))
    if holes:
        raise ValueError(
            f"the mesh has {holes} open edges (of an odd number of triangles): expected a closed surface{way_out}"
        )
    mesh = _wound_outwards(mesh)
    extent = np.ptp(mesh.vertices, axis=0)
    if not extent.min() > 1e-9 * extent.max() or not mesh.volume > 1e-12 * extent.prod():
        raise ValueError(f"the mesh encloses {mesh.volume:g} m³ in a box of {extent}: expected a body with an inside")
    return mesh


def _open_edges(triangles):
    """Places, among the sides of the triangles, of one side of each edge that an odd number of triangles share."""
    start, end, _ = half_edges(triangles)
    _, first, times = np.unique(undirected(start, end), return_index=True, return_counts=True)
    return first[times % 2 == 1]


def _filled(mesh):
    """The same mesh with a fan in each hole."""
    import igl

    vertices, triangles = mesh.vertices, igl.bfs_orient(mesh.triangles)[0]
    for loop in igl.boundary_loop_all(triangles):
        rim = np.array(loop)
        fan = np.stack([np.roll(rim, -1), rim, np.full(len(rim), len(vertices))], axis=1)
        if len(rim) == 3:
            fan = rim[None, ::-1]
        else:
            vertices = np.concatenate([vertices, vertices[rim].mean(axis=0)[None]])
        triangles = np.concatenate([triangles, fan])
    return Mesh(vertices, triangles)


def _wound_outwards(mesh):
    """The same closed mesh with each part wound outwards, cavities inwards."""
    import igl

    triangles, part = igl.bfs_orient(mesh.triangles)  # each part alike, as its first triangle
    if Mesh(mesh.vertices, triangles).volume < 0:
        triangles = triangles[:, ::-1]
    a, b, c = (mesh.vertices[triangles[:, k]] for k in range(3))
    inwards = np.bincount(part, np.einsum("ij,ij->i", a - mesh.vertices[0], np.cross(b - a, c - a))) < 0
    outwards = np.where(inwards[part, None], triangles[:, ::-1], triangles)
    for k in np.flatnonzero(inwards):
        here = part == k
        point = mesh.vertices[outwards[here][:1]].mean(axis=1)
        inside = len(inwards) > 1 and igl.fast_winding_number(mesh.vertices, outwards[~here], point)[0] > 0.5
        inwards[k] = inside
    return Mesh(mesh.vertices, np.where(inwards[part, None], outwards[:, ::-1], outwards))


def signed_distance(mesh, points):
    """Distance of points from a closed surface, negative inside.

    Arguments: mesh: a Mesh that `closed_surface` gave; points (n, 3) [m]. A point is inside where the winding number
    is above a half, so that parts of a mesh may overlap.

    Returns: distances (n,) [m]; the nearest points of the surface (n, 3) [m].

    Source: Barill, Dickson, Schmidt, Levin, Jacobson, Fast Winding Numbers for Soups and Clouds (2018), through
    libigl.
    """
    import igl

    points = np.ascontiguousarray(points, dtype=float)
    squared, _, nearest = igl.point_mesh_squared_distance(points, mesh.vertices, mesh.triangles)
    inside = igl.fast_winding_number(mesh.vertices, mesh.triangles, points) > 0.5
    return np.where(inside, -1.0, 1.0) * np.sqrt(squared), nearest
