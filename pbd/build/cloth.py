"""Cloth: a surface whose edges are sticks, with some resistance to bending."""

from dataclasses import dataclass

import numpy as np

from pbd.build.mesh import sheet, surface
from pbd.core.messages import shown
from pbd.core.topology import edges_of, hinges_of
from pbd.core.transaction import builder
from pbd.core.validate import (
    boolean,
    derived,
    finite_vector,
    indices,
    not_negative,
    one_of,
    positive,
    refuse_gigabytes,
    refuse_remote,
    sequence,
    whole,
)
from pbd.materials import FABRICS, Fabric
from pbd.particles import Particles

PLACES = ("left_top", "right_top", "left_bottom", "right_bottom", "top", "bottom", "left", "right")

# How many sticks or hinges are added at a time, because work arrays of millions would fill half a gigabyte.
CHUNK = 1 << 18

BYTES_OF_PARTICLE = 700  # of a cloth in a description, with its sticks, triangles and hinges, and while they are made
MASS = "the mass of a particle"  # for messages

# What describes a cloth of sticks, with its defaults: a cloth of a fabric takes none of them. They are those of
# FABRICS["cotton"], but that its threads do not stretch.
OF_STICKS = {
    "density": 0.15, "compliance": 0.0, "shear": "both", "shear_compliance": 0.018, "bending": 1.2e-5, "tear": None,
    "yield_angle": None,
}  # fmt: skip


@dataclass
class Cloth:
    """Indices of a cloth in its Particles.

    Attributes:
        particles: (n,); in a grid, row after row.
        sticks: (s, 2); none in a cloth of a fabric.
        triangles: (t, 3).
        hinges: (h, 4); empty in a cloth of sticks without bending.
        counts: (rows, columns) of a grid; None for a mesh.
    """

    particles: np.ndarray
    sticks: np.ndarray
    triangles: np.ndarray
    hinges: np.ndarray
    counts: tuple | None = None


@builder(Particles)
def cloth(
    particles,
    origin,
    right,
    down,
    counts,
    *,
    fabric=None,
    density=0.15,
    compliance=0.0,
    shear="both",
    shear_compliance=0.018,
    bending=1.2e-5,
    thickness=0.0,
    friction=0.0,
    contacts="spheres",
    drag=1.0,
    tear=None,
    yield_angle=None,
    pins=(),
):
    """Add a rectangular piece of cloth, woven along its sides.

    With a `fabric` its triangles are elements in physical units, see `pbd.Particles.add_membrane`. Otherwise its edges
    are sticks, which are faster. By default they have the density, the shear and the bending of cotton.

    Args:
        particles: the pbd.Particles to which it is added.
        origin: its top left corner (3,) [m].
        right, down: its upper and its left side (3,) [m].
        counts: (rows, columns) of particles, two or more each. Particle (i, j) has the index i · columns + j.
        fabric: a pbd.Fabric, or its name in pbd.FABRICS, with its warp along `down`; it has a density, stiffnesses and
            rigidities, so none of the arguments from `density` to `bending`, tear and yield_angle is given. None for
            sticks.
        density: [kg/m²]; a cotton shirt has 0.15, denim 0.32.
        compliance: of the sticks along the threads [m/N], about the inverse of the tension [N/m] that would double
            the length, whatever the number of particles.
        shear: sticks across each cell: "both" diagonals, "one" (in alternating directions), or "none".
        shear_compliance: of these sticks [m/N]; of both diagonals the inverse of a fabric's `shear`. Woven cloth is
            much softer in shear than along its threads, so that it can lie over a ball. Zero makes it paper.
        bending: flexural rigidity [N m], for any number of particles; cotton has 1e-5, denim 1e-4. Folds are a
            few times (bending / (density g))^(1/3) wide. They show if this is more than the distance of two
            particles. None for no resistance.
        thickness: distance that particles keep from each other, twice their radius [m], with `friction` between them;
            zero for a cloth that passes through itself; None for five sixths of the distance of neighbours, or for the
            thickness of the fabric where contacts are those of a surface.
        contacts: what touches. "spheres" at the particles are fast, and need a thickness that is not far below the
            distance of neighbours: else parts slip through one another. A "surface" of any thickness up to the shortest
            edge does not pass through itself or others whatever the step, see `pbd.Particles.add_surface`.
        drag: coefficient of its triangles in the wind; None for no wind.
        tear: sticks that are longer than this many of their lengths tear, see pbd.Particles.add_stick; None for none.
        yield_angle: cloth that is bent by more across an edge keeps a crease, see pbd.Particles.add_bending [rad]; None
            for none.
        pins: particles that do not move: names among left_top, right_top, left_bottom, right_bottom, top, bottom,
            left, right, or indices of particles within the cloth.

    Returns: a Cloth. The normal of its triangles is right × down. Diagonals alternate, so that no direction is
    favoured.

    Source: Jakobsen, Advanced Character Physics (2001), section 4; bending after Grinspun and others, Discrete Shells
    (2003), https://doi.org/10.2312/SCA03/062-067.
    """
    origin, right, down = checked_corner(origin, right, down)
    counts = sequence("counts", counts, "(rows, columns)", 2)
    rows, columns = (whole(f"{name} in counts", count, least=2) for name, count in zip(("rows", "columns"), counts))
    refuse_gigabytes("counts", f"({rows}, {columns})", BYTES_OF_PARTICLE * rows * columns)
    one_of("shear", shear, ("both", "one", "none"))
    given = {"density": density, "compliance": compliance, "shear": shear, "shear_compliance": shear_compliance}
    fabric = checked_fabric(fabric, **given, bending=bending, tear=tear, yield_angle=yield_angle)
    density = density if fabric is None else fabric.density
    compliance = not_negative("compliance", compliance)
    shear_compliance = not_negative("shear_compliance", shear_compliance)
    i, j = np.linspace(0, 1, rows), np.linspace(0, 1, columns)
    positions = (origin + i[:, None, None] * down + j[:, None] * right).reshape(-1, 3)
    # A quarter of each cell to each of its corners.
    share = np.multiply.outer(_trapezoid(rows), _trapezoid(columns)).ravel()
    masses = positive("density", density) * np.linalg.norm(np.cross(right, down)) * share
    derived("density, right and down", masses, MASS)
    number = np.arange(rows * columns, dtype=np.int32).reshape(rows, columns)
    threads = pairs_of(number[:, :-1], number[:, 1:]), pairs_of(number[:-1], number[1:])
    falling, rising = pairs_of(number[:-1, :-1], number[1:, 1:]), pairs_of(number[:-1, 1:], number[1:, :-1])
    even = (np.add.outer(np.arange(rows - 1), np.arange(columns - 1)) % 2 == 0).ravel()
    diagonals = {"both": (falling, rising), "one": (falling[even], rising[~even]), "none": ()}[shear]
    pinned = pinned_in_grid(pins, number)
    if thickness is None:
        thickness = thickness_of(fabric, contacts)
    if thickness is None:
        thickness = usual_thickness(min(np.linalg.norm(right) / (columns - 1), np.linalg.norm(down) / (rows - 1)))
    if fabric is not None:
        triangles, touching, shape = _grid_triangles(number, even), (thickness, friction, contacts), (rows, columns)
        return add_fabric(particles, positions, masses, triangles, pinned, fabric, down, touching, drag, shape)
    added = particles.add_particles(positions, masses, radius=not_negative("thickness", thickness) / 2)
    first = number.dtype.type(added[0])
    sticks = np.concatenate([*threads, *diagonals]) + first
    woven = sum(map(len, threads))
    for chosen, softness in ((sticks[:woven], compliance), (sticks[woven:], shear_compliance)):
        for piece in in_pieces(chosen):
            particles.add_sticks(piece, compliance=softness, tear=tear)
    triangles = _grid_triangles(number, even) + first
    particles.pin(first + pinned)
    touching = thickness, friction, contacts
    hinges = finish_cloth(particles, triangles, bending, True, touching, drag, yield_angle)
    return Cloth(added, sticks, triangles, hinges, (rows, columns))


@builder(Particles)
def cloth_from_mesh(
    particles,
    mesh,
    *,
    fabric=None,
    warp=None,
    density=0.15,
    compliance=0.0,
    bending=1.2e-5,
    thickness=0.0,
    friction=0.0,
    contacts="spheres",
    drag=1.0,
    tear=None,
    yield_angle=None,
    pins=(),
    repair=False,
):
    """Add cloth of any shape: a mesh of a fabric, or of sticks, which are its edges. Its shape is that at rest.

    Args:
        mesh: a pbd.build.Mesh, (vertices, triangles), a trimesh.Trimesh, or a file's path; open or closed.
        fabric: see `cloth`.
        warp: direction of its warp (3,), or one for each triangle (t, 3), see `pbd.Particles.add_membrane`.
        thickness: see `cloth`; None for five sixths of the side of a square with the average area of a vertex, or less
            where vertices are dense.
        pins: indices of vertices.
        repair: whether to leave out triangles without area and fins, see `pbd.build.mesh.sheet`; indices of vertices
            may change. Otherwise they are an error.
        others: see `cloth`. Masses are proportional to the area around each vertex.

    Returns: a Cloth.

    Raises: ValueError if a vertex belongs to no triangle, a triangle has no area, or, with bending, an edge belongs to
    three or more triangles.
    """
    mesh = sheet(mesh) if boolean("repair", repair) else surface(mesh)
    areas = mesh.areas
    if not areas.all():
        raise ValueError(f"mesh triangle {int(np.argmin(areas))} has no area: expected corners off one line")
    around = np.bincount(mesh.triangles.ravel(), np.repeat(areas, 3), len(mesh.vertices))
    if not around.all():
        raise ValueError(f"mesh vertex {int(np.argmin(around))} belongs to no triangle: expected a surface")
    given = {"density": density, "compliance": compliance, "bending": bending}
    fabric = checked_fabric(fabric, **given, tear=tear, yield_angle=yield_angle)
    if fabric is None and warp is not None:
        raise ValueError(f"warp is {shown(warp)}, without a fabric: expected both, or none")
    density = positive("density", density if fabric is None else fabric.density)
    masses = derived("density and mesh", density / 3 * around, MASS)
    if bending is not None:
        hinges_of(mesh.triangles)  # raises errors before anything is added
    pins = indices("pins", pins, len(mesh.vertices))
    thickness = thickness_of(fabric, contacts) if thickness is None else thickness
    thickness = usual_thickness_of(mesh) if thickness is None else thickness
    if fabric is not None:
        touching = thickness, friction, contacts
        return add_fabric(particles, mesh.vertices, masses, mesh.triangles, pins, fabric, warp, touching, drag)
    return add_triangle_cloth(
        particles, mesh.vertices, masses, mesh.triangles, pins, compliance=compliance, bending=bending, flat=False,
        thickness=thickness, friction=friction, contacts=contacts, drag=drag, tear=tear, yield_angle=yield_angle,
    )  # fmt: skip


def checked_fabric(fabric, **of_sticks):
    """A Fabric, from its name or itself, or None. Args: of_sticks: arguments that describe a cloth of sticks.

    Raises: TypeError, ValueError for another, or one with arguments of sticks.
    """
    if fabric is None:
        return None
    if isinstance(fabric, str):
        fabric = FABRICS[one_of("fabric", fabric, tuple(FABRICS))]
    if not isinstance(fabric, Fabric):
        raise TypeError(f"fabric is {shown(fabric)}: expected a pbd.Fabric, or a name in pbd.FABRICS")
    for name, value in of_sticks.items():
        if value is not OF_STICKS[name] and value != OF_STICKS[name]:
            raise ValueError(f"{name} is {shown(value)}, with a fabric: expected it of cloth without one")
    return fabric


def thickness_of(fabric, contacts):
    """Thickness of a fabric that is a surface [m]; None without a fabric, or with spheres.

    Raises: ValueError for a fabric of unknown thickness.
    """
    if fabric is None or contacts != "surface":
        return None
    if fabric.thickness is None:
        raise ValueError("thickness is None, and the fabric has none: expected one of them for contacts of a surface")
    return fabric.thickness


def add_fabric(particles, positions, masses, triangles, pins, fabric, warp, touching, drag, counts=None):
    """Add cloth of a fabric. Args: see `add_triangle_cloth`, `pbd.Particles.add_membrane` and `finish_cloth`.

    Returns: a Cloth.
    """
    added = particles.add_particles(positions, masses, radius=not_negative("thickness", touching[0]) / 2)
    triangles = triangles + triangles.dtype.type(added[0])
    particles.pin(added[pins])
    particles.add_membrane(triangles, fabric, warp)
    finish_cloth(particles, triangles, None, True, touching, drag)
    return Cloth(added, np.zeros((0, 2), np.int64), triangles, hinges_of(triangles), counts)


def usual_thickness(spacing):
    """Thickness of a cloth with which it neither passes through itself nor pushes its own particles apart.

    Args: spacing: distance of neighbours [m]. Returns: [m], with three digits.
    """
    return float(f"{5 / 6 * spacing:.3g}")


def usual_thickness_of(mesh):
    """`usual_thickness` of a cloth of any shape. Args: mesh: a Mesh. Returns: [m]."""
    from pbd.data import MOST_NEIGHBOURS  # it imports shapes, which import this package

    thickness, half = usual_thickness(np.sqrt(mesh.areas.sum() / len(mesh.vertices))), MOST_NEIGHBOURS // 2
    if len(mesh.vertices) > half:  # the list of a particle's contacts is at most half full at the start
        from scipy.spatial import cKDTree  # slow to import

        nearest, _ = cKDTree(mesh.vertices).query(mesh.vertices, k=[half + 1])
        thickness = min(thickness, nearest.min() / 1.5)  # contacts are sought within 1.5 thicknesses
    return thickness


def checked_corner(origin, right, down):
    """A corner of a cloth and the sides from it (3,) [m]. Raises: ValueError unless the sides span an area."""
    origin, right, down = (
        finite_vector(name, value) for name, value in (("origin", origin), ("right", right), ("down", down))
    )
    if not np.linalg.norm(np.cross(right, down)) > 1e-12 * np.linalg.norm(right) * np.linalg.norm(down):
        raise ValueError(f"cloth sides right={shown(right)} and down={shown(down)}: expected two that span an area")
    refuse_remote("origin", origin, min(np.linalg.norm(right), np.linalg.norm(down)))
    return origin, right, down


def add_triangle_cloth(
    particles, positions, masses, triangles, pins, *, compliance, bending, flat, thickness, friction, contacts, drag,
    tear, yield_angle=None, counts=None,
):
    """Add cloth whose sticks are the edges of its triangles.

    Args: positions (n, 3) [m]; masses (n,) [kg]; triangles (t, 3), pins: indices of positions; flat: whether it is flat
    at rest; counts: (rows, columns) of a grid; others: see `cloth`.

    Returns: a Cloth.
    """
    added = particles.add_particles(positions, masses, radius=not_negative("thickness", thickness) / 2)
    triangles = triangles + triangles.dtype.type(added[0])
    sticks = edges_of(triangles)
    for piece in in_pieces(sticks):
        particles.add_sticks(piece, compliance=compliance, tear=tear)
    particles.pin(added[pins])
    touching = thickness, friction, contacts
    hinges = finish_cloth(particles, triangles, bending, flat, touching, drag, yield_angle)
    return Cloth(added, sticks, triangles, hinges, counts)


def bending_compliance(hinges, positions, bending):
    """Compliances of hinges for a given flexural rigidity.

    Args: hinges: (n, 4) as from `hinges_of`; positions: [m]; bending: the rigidity B [N m].

    Returns: (n,) [rad²/J].

    An edge of length l between triangles of areas A1, A2 is the middle of a strip of width w = (A1 + A2)/l, half of
    each triangle. Bent by θ, the strip has the curvature θ/w and the energy ½ B (θ/w)² w l = ½ θ²/α. So
    α = w/(B l) = (A1 + A2)/(B l²). This is exact for a cylinder along the edges, and for equilateral triangles in
    every direction.

    Source: Grinspun, Hirani, Desbrun, Schröder, Discrete Shells (2003), https://doi.org/10.2312/SCA03/062-067, section
    3, with the factor worked out.
    """
    x0, x1, x2, x3 = (positions[hinges[:, k]] for k in range(4))
    edge = x1 - x0
    areas = (np.linalg.norm(np.cross(edge, x2 - x0), axis=1) + np.linalg.norm(np.cross(edge, x3 - x0), axis=1)) / 2
    return areas / (bending * np.einsum("ij,ij->i", edge, edge))


def finish_cloth(particles, triangles, bending, flat, touching, drag, yield_angle=None):
    """Add bending, contacts and wind to triangles that have sticks.

    Args: touching: thickness, friction and contacts; others: see `cloth`. Returns: the hinges.
    """
    hinges = np.zeros((0, 4), np.int64)
    if bending is None and yield_angle is not None:
        raise ValueError(f"yield_angle is {shown(yield_angle)}, with bending=None: expected some bending")
    if bending is not None:
        bending = positive("bending", bending)
        hinges = hinges_of(triangles)
        positions = particles.positions()
        for piece in in_pieces(hinges):
            compliance = bending_compliance(piece, positions, bending)
            derived("bending and right, down or mesh", compliance, "a compliance of")
            if flat and yield_angle is None:
                particles.add_flat_bending(piece, compliance)
            else:
                particles.add_bending(piece, None, compliance, yield_angle)
    thickness, friction, contacts = touching
    friction = not_negative("friction", friction)  # also of a cloth that passes through itself
    one_of("contacts", contacts, ("spheres", "surface"))
    if thickness > 0 and contacts == "surface":
        particles.add_surface(triangles, thickness=thickness, friction=friction)
    elif thickness > 0:
        particles.add_particle_contacts(friction)
    if drag is not None:
        particles.add_triangles(triangles, drag)
    return hinges


def in_pieces(rows):
    """Rows in pieces of CHUNK, one at least: what has no rows has its arguments checked all the same."""
    return [rows[k : k + CHUNK] for k in range(0, max(len(rows), 1), CHUNK)]


def _trapezoid(count):
    """Shares of equally spaced points in a line, half as much at its ends. The sum is one."""
    share = np.full(count, 1.0 / (count - 1))
    share[[0, -1]] /= 2
    return share


def pairs_of(a, b):
    """Pairs (n, 2) of the entries of two arrays of one shape."""
    return np.stack([a.ravel(), b.ravel()], axis=1)


def _grid_triangles(number, even):
    """Two triangles for each cell of a grid. Diagonals fall and rise in turn."""
    a, b, c, d = (corner.ravel() for corner in (number[:-1, :-1], number[:-1, 1:], number[1:, :-1], number[1:, 1:]))
    # Corners a b over c d: falling a-d, rising b-c.
    one = np.where(even[:, None], np.stack([a, b, d], axis=1), np.stack([a, b, c], axis=1))
    two = np.where(even[:, None], np.stack([a, d, c], axis=1), np.stack([b, d, c], axis=1))
    return np.stack([one, two], axis=1).reshape(-1, 3)


def pinned_in_grid(pins, number):
    """Indices of particles in a grid, from names of places or indices."""
    places = {
        "left_top": number[0, 0],
        "right_top": number[0, -1],
        "left_bottom": number[-1, 0],
        "right_bottom": number[-1, -1],
        "top": number[0],
        "bottom": number[-1],
        "left": number[:, 0],
        "right": number[:, -1],
    }
    pins = [pins] if isinstance(pins, str) else sequence("pins", pins, f"indices, or names among {', '.join(PLACES)}")
    chosen = [np.atleast_1d(places[one_of("pin", pin, PLACES)]) for pin in pins if isinstance(pin, str)]
    numbers = [pin for pin in pins if not isinstance(pin, str)]
    return np.concatenate([*chosen, indices("pins", numbers, number.size)])
