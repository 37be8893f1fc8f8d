"""Triangle meshes: reading files, checks, repair, and distances of points.

Distances come from libigl (MPL 2.0). It is exact to round-off, has wheels wherever Taichi has, and takes seconds for a
million triangles. Its own signed distance is not used, because the fast winding number w scales it by about 1 - 2w,
which is off by up to half a percent. Here the distance has no sign, and only the sign follows from the winding number.
"""

import io
from dataclasses import dataclass
from os import PathLike

import numpy as np
import scipy

from pbd.build.obj import read_obj
from pbd.build.ply import read_ply
from pbd.core.messages import clipped, shown
from pbd.core.topology import half_edges, undirected
from pbd.core.validate import boolean, file_path, finite_array, indices, one_of, positive

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
READERS = {".obj": read_obj, ".ply": read_ply}  # trimesh reads the others: their faces are triangles
BYTE_ORDER_MARK = b"\xef\xbb\xbf"  # of UTF-8, which says nothing

# How files begin that are not what their name says.
SIGNATURES = {
    "PLY": b"ply", "GLB": b"glTF", "STL": b"solid ", "OBJ": (b"v ", b"v\t", b"# ", b"o ", b"mtllib "),
    "PNG": b"\x89PNG", "JPEG": b"\xff\xd8", "ZIP": b"PK", "XML": b"<", "JSON": b"{", "FBX": b"Kaydara FBX",
}  # fmt: skip

NEARLY = 1e-6  # vertices closer than this part of a mesh's longest side coincide for a repair
FIN = 0.1  # the largest part of a mesh's area that a repair leaves out in one piece


@dataclass
class Mesh:
    """Triangles, counter-clockwise seen from outside.

    Args: vertices: (n, 3) [m], z up; triangles: (m, 3) indices.

    Raises: ValueError, TypeError or IndexError for numbers that are not finite, wrong indices, or no triangles.
    """

    vertices: np.ndarray
    triangles: np.ndarray

    def __post_init__(self):
        self.vertices = finite_array("mesh vertices", self.vertices, (None, 3))
        self.triangles = indices("mesh triangles", self.triangles, len(self.vertices), 3, of="vertices")
        if not len(self.triangles):
            raise ValueError("a mesh without triangles: expected one at least")

    @property
    def areas(self):
        """Area of each triangle [m²]."""
        a, b, c = (self.vertices[self.triangles[:, k]] for k in range(3))
        return np.linalg.norm(np.cross(b - a, c - a), axis=1) / 2

    @property
    def volume(self):
        """Signed volume inside the triangles [m³]; negative if their normals point inwards."""
        origin = self.vertices[self.triangles[0, 0]]
        a, b, c = (self.vertices[self.triangles[:, k]] - origin for k in range(3))
        return float(np.einsum("ij,ij->", a, np.cross(b, c)) / 6)


def load_mesh(path, units=1.0, up=None):
    """Read a mesh from an OBJ, PLY, STL or GLB file, and join duplicate vertices.

    Args:
        path: of the file. Several geometries in it become one mesh, each at its place in the file.
        units: of the file's numbers: "m", "cm", "mm", "in" or "ft", or a number of metres.
        up: the file's axis that points up: "x", "y", "z", "-x", "-y" or "-z"; None for "y" in GLB files, as glTF
            requires, and for "z" in other files.

    Returns: a Mesh in metres, z up.

    Raises: FileNotFoundError, IsADirectoryError; ValueError for an unknown format, an empty file or one of another
    format, no triangles, or numbers that are not finite.
    """
    path = file_path("path of a mesh", path)
    if up is not None:
        one_of("up axis", up, tuple(UP))
    factor = UNITS[one_of("unit", units, tuple(UNITS))] if isinstance(units, str) else positive("units", units)
    one_of(f"path of a mesh: file type of {clipped(path.name, 60)}", path.suffix.lower(), tuple(FORMATS))
    if path.is_dir():
        raise IsADirectoryError(f"{clipped(path)} is a directory: expected a mesh file")
    if not path.is_file():
        raise FileNotFoundError(f"there is no mesh file {clipped(path)}")
    if not path.stat().st_size:
        raise ValueError(f"{clipped(path)} is empty: expected a mesh")
    format_name, found = path.suffix[1:].upper(), contents(path)
    other = None if found in (None, format_name) else f"its contents look like {found}"
    try:
        vertices, triangles, points = read_mesh(path)
        if other and not len(triangles):
            raise ValueError
    except OSError:
        raise
    except Exception as error:  # whatever a parser meets in a file that is not its own
        # trimesh looks for a guesser of encodings if it meets neither text nor the binary format
        what = "neither text nor the binary format" if isinstance(error, ImportError) else clipped(error, 60)
        reason = other or f"damaged or cut off ({what or type(error).__name__})"
        raise ValueError(f"{clipped(path)} cannot be read as {format_name}: {reason}") from error
    if not len(triangles):
        points = f", but {points} points" if points else ""
        raise ValueError(f"{clipped(path)} holds no triangles{points}: expected a surface")
    try:
        mesh = Mesh(vertices, triangles)
    except (ValueError, IndexError) as error:
        raise ValueError(f"{clipped(path)}: {clipped(error)}") from None
    axes = np.array(UP[up or FORMATS[path.suffix.lower()]], dtype=float)
    return welded(Mesh(mesh.vertices @ axes.T * factor, mesh.triangles))


def contents(path):
    """Which kind of file begins as this one does: a key of SIGNATURES, in capitals; None if it is not known."""
    with path.open("rb") as file:
        start = file.read(84)
    if len(start) == 84 and path.stat().st_size == 84 + 50 * int.from_bytes(start[80:], "little"):
        return "STL"  # binary: a header, and 50 bytes for each triangle
    start = start.removeprefix(BYTE_ORDER_MARK)
    return next((name for name, begins in SIGNATURES.items() if start.startswith(begins)), None)


def read_mesh(path):
    """Vertices and triangles of a file, in its own units and axes, and the number of points that it has in all.

    Args: path: of a file of one of FORMATS. Raises: OSError; any other error if it is damaged or of another format.
    """
    content, ending = path.read_bytes().removeprefix(BYTE_ORDER_MARK), path.suffix.lower()
    if ending in READERS:
        vertices, triangles = READERS[ending](content)
        return vertices, triangles, len(vertices)
    import trimesh  # half a second, which those without files need not spend

    scene = trimesh.load_scene(io.BytesIO(content), file_type=ending[1:], process=False)
    geometry, points = scene.to_mesh(), sum(len(each.vertices) for each in scene.geometry.values())
    return np.array(geometry.vertices), np.array(geometry.faces), points


def welded(mesh, tolerance=0.0):
    """Join vertices that coincide, and leave out collapsed triangles and unused vertices.

    Args: mesh; tolerance: vertices coincide if they round to the same multiple of this [m]; zero for equal numbers.

    Returns: a Mesh.
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
    """Make a Mesh of any kind of mesh.

    Args: mesh: a Mesh, (vertices (n, 3), triangles (m, 3)), a trimesh.Trimesh, or the path of a file in metres.

    Returns: a Mesh.
    """
    if isinstance(mesh, Mesh):
        return mesh
    if isinstance(mesh, (str, PathLike)):
        return load_mesh(mesh)
    if hasattr(mesh, "vertices") and hasattr(mesh, "faces"):
        return Mesh(np.asarray(mesh.vertices), np.asarray(mesh.faces))
    if isinstance(mesh, (tuple, list)) and len(mesh) == 2:
        return Mesh(*mesh)
    raise TypeError(f"mesh is {shown(mesh)}: expected a Mesh, (vertices, triangles), a trimesh.Trimesh or a path")


def closed_surface(mesh, repair=False):
    """Make a closed surface: no open edges, outward normals, and some volume inside.

    Args:
        mesh: see `surface`.
        repair: join vertices that nearly coincide, leave out fins (see `without_fins`), and close each hole with
            triangles around its middle.

    Returns: a Mesh. Triangles with another orientation than their neighbours are turned. A part with inward normals is
    a cavity if it lies inside another part; otherwise it is turned.

    Raises: ValueError if there are open edges (after repair, if chosen), or no volume inside.
    """
    repair = boolean("repair", repair)
    mesh = welded(surface(mesh))
    way_out = "; repair=True closes holes"
    if repair and len(open_edges(mesh.triangles)):
        mesh = _filled(without_fins(welded(mesh, tolerance=NEARLY * np.ptp(mesh.vertices, axis=0).max())))
        way_out = ", and repair did not close them"
    holes = len(open_edges(mesh.triangles))
    if holes:
        raise ValueError(
            f"the mesh has {holes} open edges (of an odd number of triangles): expected a closed surface{way_out}"
        )
    mesh = _wound_outwards(mesh)
    extent = np.ptp(mesh.vertices, axis=0)
    if not extent.min() > 1e-9 * extent.max() or not mesh.volume > 1e-12 * extent.prod():
        found = f"mesh of volume {mesh.volume:g} m³ in a box of {shown(extent)} m"
        raise ValueError(f"{found}: expected a body with an inside")
    return mesh


def sheet(mesh):
    """Make a surface for a cloth: triangles with some area, and at most two of them at each edge.

    Args: mesh: see `surface`.

    Returns: a Mesh. Vertices that nearly coincide are joined; triangles without area and fins (see `without_fins`) are
    left out.

    Raises: ValueError if nothing is left.
    """
    mesh = surface(mesh)
    near = NEARLY * np.ptp(mesh.vertices, axis=0).max()
    mesh = welded(mesh, tolerance=near)
    return without_fins(Mesh(mesh.vertices, mesh.triangles[mesh.areas > near**2]), odd=False)


def open_edges(triangles):
    """Open edges: a side of each edge that an odd number of triangles share, as an index among all sides."""
    start, end, _ = half_edges(triangles)
    _, first, times = np.unique(undirected(start, end), return_index=True, return_counts=True)
    return first[times % 2 == 1]


def without_fins(mesh, odd=True):
    """Leave out triangles until no edge belongs to three or more.

    At such an edge several pieces of surface meet. The smallest of them is left out, such as a fin or an inner wall; if
    it is larger than FIN of all, the smallest triangle at the edge is left out instead.

    Args: mesh: a Mesh; odd: whether edges of four, six or more triangles may stay, where two bodies touch.

    Returns: a Mesh.
    """
    corners = np.sort(mesh.triangles, axis=1)
    _, once = np.unique(corners, axis=0, return_index=True)  # a sheet that is there twice hides its own border
    triangles, areas = mesh.triangles[np.sort(once)], mesh.areas[np.sort(once)]
    while True:
        _, edge, times = np.unique(undirected(*half_edges(triangles)[:2]), return_inverse=True, return_counts=True)
        crowded = (times > 2) & (times % 2 == 1) if odd else times > 2
        if not crowded.any():
            return welded(Mesh(mesh.vertices, triangles))
        of_triangle = np.tile(np.arange(len(triangles)), 3)
        piece = _pieces(edge, of_triangle, ~crowded, len(triangles))
        size = np.bincount(piece, areas)[piece]
        rank = np.lexsort((areas, size))  # triangles from the smallest of the smallest piece on
        place = np.empty_like(rank)
        place[rank] = np.arange(len(rank))
        smallest = np.full(len(times), len(rank))
        np.minimum.at(smallest, edge, place[of_triangle])
        chosen = np.unique(rank[smallest[crowded]])
        fins = chosen[size[chosen] < FIN * areas.sum()]
        left = ~np.isin(piece, piece[fins])
        left[chosen] = False
        triangles, areas = triangles[left], areas[left]


def _pieces(edge, of_triangle, joins, count):
    """A number for each triangle, the same if edges join them. Args: edge, of_triangle: of sides; joins: of edges."""
    order = np.argsort(edge, kind="stable")
    same = (edge[order[1:]] == edge[order[:-1]]) & joins[edge[order[1:]]]
    pairs = of_triangle[order[:-1]][same], of_triangle[order[1:]][same]
    graph = scipy.sparse.coo_array((np.ones(len(pairs[0])), pairs), shape=(count, count))
    return scipy.sparse.csgraph.connected_components(graph, directed=False)[1]


def _filled(mesh):
    """Close each hole with triangles around its middle."""
    import igl

    vertices, triangles = mesh.vertices, igl.bfs_orient(mesh.triangles)[0]
    for rim in _rims(triangles):
        fan = np.stack([np.roll(rim, -1), rim, np.full(len(rim), len(vertices))], axis=1)
        if len(rim) == 3:
            fan = rim[None, ::-1]
        else:
            vertices = np.concatenate([vertices, vertices[rim].mean(axis=0)[None]])
        triangles = np.concatenate([triangles, fan])
    return Mesh(vertices, triangles)


def _rims(triangles):
    """Loops of open edges, each through a vertex once: arrays of vertices, in the direction of the triangles' sides."""
    start, end, _ = half_edges(triangles)
    ways = {}
    for side in open_edges(triangles):
        ways.setdefault(int(start[side]), []).append(int(end[side]))
    rims = []
    for first in ways:
        path, place = [first], {first: 0}
        while ways.get(path[-1]):
            vertex = ways[path[-1]].pop()
            if vertex not in place:
                place[vertex] = len(path)
                path.append(vertex)
                continue
            loop, path = path[place[vertex] :], path[: place[vertex] + 1]
            for each in loop[1:]:
                del place[each]
            rims.append(np.array(loop))
    return rims


def _wound_outwards(mesh):
    """Turn triangles so that normals point outwards, and into cavities."""
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

    Args: mesh: a Mesh from `closed_surface`; points: (n, 3) [m]. A point is inside if its winding number is above a
    half, so parts of a mesh may overlap.

    Returns: distances (n,) [m]; the nearest points of the surface (n, 3) [m].

    Source: Barill, Dickson, Schmidt, Levin, Jacobson, Fast Winding Numbers for Soups and Clouds (2018),
    https://doi.org/10.1145/3197517.3201337, through libigl.
    """
    import igl

    # libigl computes in single precision in places: beyond about 1e38 it crashes. A power of two changes no bits.
    size = 2.0 ** np.frexp(np.abs(mesh.vertices).max())[1]
    vertices, points = mesh.vertices / size, np.ascontiguousarray(points, dtype=float) / size
    squared, _, nearest = igl.point_mesh_squared_distance(points, vertices, mesh.triangles)
    inside = igl.fast_winding_number(vertices, mesh.triangles, points) > 0.5
    return np.where(inside, -size, size) * np.sqrt(squared), size * nearest
