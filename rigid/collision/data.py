"""The arrays of contact detection: the shapes of all worlds, the contact points, and scratch memory.

One thread detects the contacts of one world. `rigid/collision/upload.py` fills the arrays from models.
"""

from typing import NamedTuple

from pbd.core.kernels import Columns, Integer, Real, count

# Properties of a shape that all worlds share: its kind (pbd/core/shapes/shape.py), its body (-1 for the ground), its
# collision group and mask. A polyhedron also has rows of `vertices` and of `planes`. In `lists`, from `first_loop` on,
# are the places where each face's corners begin (and where the last one's end), and from `first_edge` on four integers
# for each edge (see Polyhedron). From `first_excluded` on are the bodies that its body never touches. A mesh has nodes
# of `meshes` instead.
STRUCTURE = Columns(
    kind=1, body=1, group=1, mask=1, first_vertex=1, vertex_count=1, first_plane=1, face_count=1, first_loop=1,
    first_edge=1, edge_count=1, first_excluded=1, excluded_count=1, first_node=1, end_node=1,
)  # fmt: skip

# Numbers of a shape: `shape.numbers()` of its kind, of which kernels read four (radius and half length, or zero and
# half edges); its pose in its body's frame; its surface; the radius of the ball about its frame's origin that contains
# it (infinite for a plane) and the half edges of a box about that origin that contains it [m].
SHAPE = Columns(
    size=8, position=3, rotation=4, friction=1, restitution=1, bounding_radius=1, half_extent=3, rolling_friction=1,
    spinning_friction=1,
)  # fmt: skip

# The pair that a contact point belongs to. Shape a has the lower index, unless it is the ground's: body a is never the
# ground, body b is -1 for the ground.
PAIR = Columns(shape_a=1, shape_b=1, body_a=1, body_b=1)

# A contact point p_a on the surface of a, in the world [m]; the unit normal n from b towards a; the gap
# (p_a - p_b)·n [m], negative where the shapes overlap, so that p_b = p_a - gap n; the friction coefficient sqrt(μa μb);
# the larger restitution of both.
POINT = Columns(position=3, normal=3, gap=1, friction=1, restitution=1)

# Where a shape is in the world: the origin of its frame, its rotation matrix row by row, the half edges of the box
# along the world's axes that contains it, and the contact margin of its body; 1 if it is still, see
# rigid/solvers/sequential/kept_contacts.py.
PLACEMENT = Columns(origin=3, matrix=9, half_extent=3, margin=1, still=1)

# A shape's bounding ball with its contact margin.
BALL = Columns(centre=3, radius=1)

# Small shapes are searched for pairs in so many blocks, whose searches do not depend on one another.
BLOCKS = 16

# How many pairs each list has, which may exceed the list's capacity; how many contact points are kept.
SEARCH = Columns(pairs=BLOCKS + 1, kept=1)

# A corner of a polygon that is clipped, or a contact point that is collected (position, normal, gap) with its squared
# distance from the points that are already chosen.
CLIP = Columns(position=3, normal=3, gap=1, distance=1)

# Head of Shapes.lists: how many shapes there are; the pairs that are always tested; the large shapes, which are tested
# against all others; the small shapes, which the spatial hash takes.
HEAD = Columns(shape_count=1, first_pair=1, pair_count=1, first_large=1, large_count=1, first_small=1, small_count=1)


# Gap of a point that a world lacks [m].
ABSENT = 1e6


# A triangle of a mesh: its corners; the vertex opposite each side in the neighbour there, -1 without one; and bits of
# `FLAGS` (mesh_tables.py). Side k is from corner k to the next one.
TRIANGLE = Columns(corner=3, opposite=3, flags=1)

# A node of a mesh's tree: the node that follows its subtree; its first triangle, and how many it has if it is a leaf.
NODE = Columns(skip=1, first=1, count=1)


class Meshes(NamedTuple):
    """The triangles of all meshes, which all worlds share, in the order of the leaves of their trees."""

    vertices: Real(count.mesh_vertices, 3)  # in their shapes' frames [m]
    planes: Real(count.triangles, 4)  # unit normal, and offset [m]
    triangles: Integer(count.triangles, TRIANGLE)
    bounds: Real(count.nodes, 6)  # lower and upper corner of the box about a node's triangles [m]
    nodes: Integer(count.nodes, NODE)
    rings: Integer(count.rings)  # where each vertex' neighbours begin (and the last one's end), then all neighbours


class Shapes(NamedTuple):
    """All shapes of a model. Kernels only read them, except for the row behind them.

    If there are meshes, this last row is a polyhedron with one face: the triangle of a mesh that is being tested.
    """

    integers: Integer(count.shapes, STRUCTURE)
    numbers: Real(count.worlds, count.shapes, SHAPE)
    vertices: Real(count.worlds, count.vertices, 3)  # corners of all polyhedra in their shapes' frames [m]
    planes: Real(count.worlds, count.planes, 4)  # outward unit normal and offset [m] of all faces
    lists: Integer(count.lists)  # HEAD, then what HEAD and STRUCTURE refer to
    meshes: Meshes


class Points(NamedTuple):
    """The contact points that `find_points` finds. Entries from `count` on are old, or zero.

    A feature is unique within a pair of shapes. It stays the same from step to step while the same corners, edges and
    faces touch. Worlds in lanes share the places of points: a world that lacks the point in a place has the gap ABSENT
    there, far above every contact margin.
    """

    integers: Integer(count.worlds, count.contacts, PAIR, common=True)
    features: Integer(count.worlds, count.contacts)
    numbers: Real(count.worlds, count.contacts, POINT)
    count: Integer(count.worlds, common=True)  # above the capacity: how many points there should be


class Scratch(NamedTuple):
    """Scratch memory of `find_points`."""

    placements: Real(count.worlds, count.shapes, PLACEMENT)
    bins: Integer(count.bins, count.worlds)  # where each bucket of the hash begins, then the shapes in the buckets
    balls: Real(count.worlds, count.balls, BALL)  # of the shapes in the buckets
    cells: Real(count.worlds)  # width of a cell of the hash [m]
    pairs: Integer(count.worlds, count.pairs, 2)  # shapes that could touch: a list of large ones, then of each block
    found: Integer(count.worlds, SEARCH)
    clips: Real(count.worlds, count.corners, CLIP)  # two polygons that are clipped, and the points of one pair
    manifolds: Integer(count.bodies, count.worlds)  # of each body the list of its manifolds, see internal_edges.py
    links: Integer(count.worlds, count.contacts, 2)  # from a manifold to the next one of either body
    marks: Integer(count.corners, count.worlds)  # the side that begins at each corner; the feature of each point


class PairTypes(NamedTuple):
    """The kinds of pairs that can touch in a model. Kernels are compiled for these alone."""

    rounded: bool = True  # spheres and capsules with one another
    rounded_on_plane: bool = True
    rounded_on_polyhedra: bool = True  # polyhedra are boxes, cylinders and hulls
    polyhedra_on_plane: bool = True
    polyhedra: bool = True  # with one another
    hashed: bool = True  # so many shapes that a spatial hash finds their pairs, not a list of all of them
    rolling_and_spinning: bool = False  # whether a surface resists rolling or spinning
    rounded_on_mesh: bool = False
    polyhedra_on_mesh: bool = False
    mesh_on_plane: bool = False

    @property
    def any_pair(self):
        """Whether any pair can touch."""
        return any(self[:5]) or self.any_mesh

    @property
    def any_mesh(self):
        """Whether any pair that can touch has a mesh."""
        return self.rounded_on_mesh or self.polyhedra_on_mesh or self.mesh_on_plane

    @property
    def any_polyhedron(self):
        """Whether any pair that can touch has a polyhedron."""
        return any(self[2:5])

    @property
    def any_edge(self):
        """Whether any pair that can touch has an edge of a polyhedron that could be inside a surface."""
        return self.rounded_on_polyhedra or self.polyhedra


ALL_PAIR_TYPES = PairTypes()
