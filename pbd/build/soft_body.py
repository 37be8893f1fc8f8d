"""Soft body: tetrahedra of an elastic material, or with springs as edges and with constant volumes."""

import math
from dataclasses import dataclass

import numpy as np
import scipy

from pbd.build.mesh import closed_surface
from pbd.build.tetrahedra import barycentric, compact, fill, volumes
from pbd.core.messages import shown
from pbd.core.topology import boundary_of, edges_of, edges_of_tetrahedra, split_sharp_edges
from pbd.core.transaction import builder
from pbd.core.validate import (
    derived,
    finite_array,
    finite_vector,
    indices,
    is_infinite,
    not_negative,
    one_of,
    positive,
    refuse_gigabytes,
    refuse_remote,
    whole,
)
from pbd.description.surfaces import radius_that_touches
from pbd.materials import SOLIDS, Solid
from pbd.particles import Particles

# The share of a mesh's volume that its tetrahedra may miss before they are refused as too coarse.
MISSED = 0.25

# A finer resolution is sought in steps of this factor, while the lattice around the mesh has so many cubes at most.
FINER, MOST_CUBES = 1.25, 200_000

BYTES_OF_CUBE = 1000  # of the lattice around a mesh, whose twelve tetrahedra are cut

# What describes a body of springs, with its defaults: a body of a material takes none of them.
SPRINGS = {"density": 1000.0, "stiffness": 3e4, "volume_compliance": 0.0}


@dataclass
class Skin:
    """A fine surface that moves with tetrahedra: each vertex is a weighted mean of a tetrahedron's corners.

    Its vertices are those of the mesh, split at sharp edges (pbd/core/topology.py).

    Attributes: corners: (n, 4) indices of particles; weights: (n, 4); triangles: (m, 3) indices of the skin's vertices.
    """

    corners: np.ndarray
    weights: np.ndarray
    triangles: np.ndarray

    def vertices(self, positions):
        """The skin's vertices (n, 3), from the positions of all particles (particles, 3) [m]."""
        return np.einsum("nk,nkj->nj", self.weights, np.asarray(positions)[self.corners])


@dataclass
class SoftBody:
    """Indices of a soft body in its Particles.

    Attributes:
        particles: (n,).
        sticks: (s, 2); none in a body of a material.
        tetrahedra: (t, 4), of positive volume.
        triangles: (b, 3), the surface, with outward normals.
        skin: the mesh from which it was made, as a Skin; None if it was made from tetrahedra.
    """

    particles: np.ndarray
    sticks: np.ndarray
    tetrahedra: np.ndarray
    triangles: np.ndarray
    skin: Skin | None = None


@builder(Particles)
def soft_body(
    particles,
    mesh,
    resolution=8,
    *,
    material=None,
    density=1000.0,
    stiffness=3e4,
    volume_compliance=0.0,
    position=(0.0, 0.0, 0.0),
    velocity=(0.0, 0.0, 0.0),
    radius=0.0,
    friction=None,
    drag=None,
    repair=False,
):
    """Add a soft body in the shape of a closed surface.

    Args:
        particles: the pbd.Particles to which it is added.
        mesh: a closed surface: a pbd.build.Mesh, (vertices, triangles), a trimesh.Trimesh, or a file's path.
        resolution: approximate number of tetrahedra along its longest side.
        material: a pbd.Solid, or its name in pbd.SOLIDS: the tetrahedra are elements in physical units, see
            `pbd.Particles.add_solid`. It has a density and stiffnesses of its own. None for springs.
        density: of a body of springs [kg/m³].
        stiffness: Young's modulus of the springs alone [Pa], for any resolution: 1e4 for jelly, 1e6 for rubber,
            math.inf for rigid sticks. Constant volumes make the body stiffer.
        volume_compliance: [m⁶/J]; zero for constant volumes; None for no volume constraints. Springs alone are at rest
            inside out, too, so a body that was crushed without volume constraints stays so.
        position: displacement of the body (3,) [m].
        velocity: (3,) [m/s].
        radius: of its particles [m].
        friction: μ of its surface with itself, other surfaces and ropes, which it does not pass through, see
            `pbd.Particles.add_surface`; None for no such contacts. It needs a radius, half the thickness.
        drag: coefficient of its surface in the wind; None for no wind.
        repair: whether to close holes in the mesh. Otherwise a mesh with holes is an error.

    Returns: a SoftBody. With a lattice of spacing s and a curvature radius R, its volume is smaller than the mesh's by
    about s²/4R times the area, and by what edges and corners lose: 3 % for a sphere at resolution 6, 0.3 % at 20.

    Raises: ValueError for a mesh without an inside, or with parts that are too thin for the resolution.
    """
    resolution = whole("resolution", resolution, least=2)
    mesh = closed_surface(mesh, repair)
    position, spacing = finite_vector("position", position), np.ptp(mesh.vertices, axis=0).max() / resolution
    refuse_gigabytes("resolution", resolution, BYTES_OF_CUBE * (np.ptp(mesh.vertices, axis=0) / spacing + 3).prod())
    refuse_remote("position", position, spacing)
    points, tetrahedra = fill(mesh, spacing)
    caught, pieces, wanted = _caught(mesh, points, tetrahedra)
    if caught < 1 - MISSED or pieces > wanted:
        raise ValueError(
            f"resolution {resolution} is too coarse: tetrahedra fill {caught:.0%} of the mesh, in {pieces} "
            f"pieces instead of {wanted}: {_finer(mesh, resolution)}"
        )
    chosen, weights = barycentric(points, tetrahedra, mesh.vertices)
    springs = {"density": density, "stiffness": stiffness, "volume_compliance": volume_compliance}
    body = _add(particles, points + position, tetrahedra, material, springs, velocity, radius, friction, drag)
    drawn, triangles = split_sharp_edges(mesh.vertices, mesh.triangles)
    body.skin = Skin(body.tetrahedra[chosen[drawn]], weights[drawn], triangles)
    return body


@builder(Particles)
def soft_body_from_tetrahedra(
    particles,
    points,
    tetrahedra,
    *,
    material=None,
    density=1000.0,
    stiffness=3e4,
    volume_compliance=0.0,
    velocity=(0.0, 0.0, 0.0),
    radius=0.0,
    friction=None,
    drag=None,
):
    """Add a soft body of given tetrahedra.

    Args: points: (n, 3) [m]; tetrahedra: (m, 4) indices, of either orientation; others: see `soft_body`.

    Returns: a SoftBody.

    Raises: ValueError if a tetrahedron is flat, or a point belongs to none.
    """
    points = finite_array("points", points, (None, 3))
    tetrahedra = indices("tetrahedra", tetrahedra, len(points), 4, of="points")
    if not len(tetrahedra):
        raise ValueError("a soft body of no tetrahedra: expected one at least")
    volume = volumes(points, tetrahedra)
    size = np.linalg.norm(points[tetrahedra[:, 1]] - points[tetrahedra[:, 0]], axis=1)
    flat = ~(np.abs(volume) > 1e-9 * size**3)
    if flat.any():
        raise ValueError(f"tetrahedron {int(np.argmax(flat))} is flat: expected points that span some volume")
    if len(compact(points, tetrahedra)[0]) < len(points):
        lost = np.setdiff1d(np.arange(len(points)), tetrahedra)[0]
        raise ValueError(f"point {lost} belongs to none of the tetrahedra: expected every point to")
    tetrahedra = np.where((volume < 0)[:, None], tetrahedra[:, [0, 1, 3, 2]], tetrahedra)
    springs = {"density": density, "stiffness": stiffness, "volume_compliance": volume_compliance}
    return _add(particles, points, tetrahedra, material, springs, velocity, radius, friction, drag)


def spring_compliances(points, sticks, which, volume, stiffness):
    """Compliances of the edges of tetrahedra for a given Young's modulus.

    Args:
        points: (n, 3) [m].
        sticks: (s, 2) indices.
        which: (t, 6), the sticks of each tetrahedron.
        volume: (t,) [m³].
        stiffness: Young's modulus E [Pa].

    Returns: (s,) [m/N].

    By Cauchy's relations, isotropic springs of stiffness k and length L have the Lamé constants λ = μ = Σ k L² / 15 V,
    so E = 5μ/2 = Σ k L² / 6 V. Each stick gets a sixth V_i of the tetrahedra around it, ΣV_i = V. So
    k_i = 6 E V_i / L_i².
    """
    if math.isinf(stiffness):
        return np.zeros(len(sticks))
    share = np.bincount(which.ravel(), np.repeat(volume / 6, 6), len(sticks))
    square = ((points[sticks[:, 1]] - points[sticks[:, 0]]) ** 2).sum(axis=1)
    return square / (6 * stiffness * share)


def checked_material(material, springs):
    """A Solid, or None for springs. Args: material: see `soft_body`; springs: a number for each name in SPRINGS.

    Raises: TypeError for no Solid, ValueError for a name that is none, or a number of springs beside a material.
    """
    if material is None:
        return None
    if isinstance(material, str):
        material = SOLIDS[one_of("material", material, tuple(SOLIDS))]
    if not isinstance(material, Solid):
        raise TypeError(f"material is {shown(material)}: expected a pbd.Solid, or a name in pbd.SOLIDS")
    for name, value in springs.items():
        if value != SPRINGS[name]:
            raise ValueError(f"{name} is {shown(value)}, with a material: expected it of a body without one")
    return material


def _add(particles, points, tetrahedra, material, springs, velocity, radius, friction, drag):
    """Add particles and tetrahedra of positive volume. Args: springs: a number for each name in SPRINGS."""
    volume, material = volumes(points, tetrahedra), checked_material(material, springs)
    density = positive("density", material.density if material else springs["density"])
    masses = density * np.bincount(tetrahedra.ravel(), np.repeat(volume / 4, 4), len(points))
    derived("density and the size of the body", masses, "the mass of a particle")
    sticks, compliance = np.zeros((0, 2), int), None
    if material is None:
        sticks, compliance = _springs(points, tetrahedra, volume, springs)
    added = particles.add_particles(points, masses, velocity, radius)
    first = added[0]
    if material is None:
        particles.add_sticks(sticks + first, compliance=compliance)
        if springs["volume_compliance"] is not None:
            particles.add_volumes(tetrahedra + first, compliance=springs["volume_compliance"])
    else:
        particles.add_solid(tetrahedra + first, material)
    triangles = boundary_of(tetrahedra)
    if friction is not None:
        thickness = 2 * radius_that_touches(radius, friction)
        particles.add_surface(triangles + first, thickness=thickness, friction=friction)
    if drag is not None:
        particles.add_triangles(triangles + first, drag)
    return SoftBody(added, sticks + first, tetrahedra + first, triangles + first)


def _springs(points, tetrahedra, volume, springs):
    """Check springs. Returns: sticks (s, 2) and their compliances (s,) [m/N]."""
    stiffness = springs["stiffness"]
    if not is_infinite(stiffness):
        stiffness = positive("stiffness", stiffness)
    if springs["volume_compliance"] is not None:
        not_negative("volume compliance", springs["volume_compliance"])
    sticks, which = edges_of_tetrahedra(tetrahedra)
    compliance = spring_compliances(points, sticks, which, volume, stiffness)
    if not is_infinite(stiffness):
        derived("stiffness and the size of the body", compliance, "a compliance of")
    return sticks, compliance


def _caught(mesh, points, tetrahedra):
    """The part of a mesh's volume that tetrahedra fill; in how many pieces; of how many pieces the mesh is."""
    return volumes(points, tetrahedra).sum() / mesh.volume, _parts(tetrahedra), _outer_parts(mesh)


def _finer(mesh, resolution):
    """Say which finer resolution would do for a mesh."""
    extent = np.ptp(mesh.vertices, axis=0)
    while True:
        finer = math.ceil(FINER * resolution)
        spacing = extent.max() / finer
        if (extent / spacing + 3).prod() > MOST_CUBES:
            return f"expected thicker parts, as {resolution} is too coarse, too"
        resolution = finer
        caught, pieces, wanted = _caught(mesh, *fill(mesh, spacing))
        if caught >= 1 - MISSED and pieces <= wanted:
            return f"expected {resolution}"


def _parts(tetrahedra):
    """Number of connected pieces of tetrahedra."""
    return len(set(_labels(edges_of_tetrahedra(tetrahedra)[0])[tetrahedra[:, 0]])) if len(tetrahedra) else 0


def _outer_parts(mesh):
    """Number of connected pieces of a surface without cavities. Overlapping pieces count separately."""
    part = _labels(edges_of(mesh.triangles))[mesh.triangles[:, 0]]
    a, b, c = (mesh.vertices[mesh.triangles[:, k]] - mesh.vertices[0] for k in range(3))
    return int((np.bincount(part, np.einsum("ij,ij->i", a, np.cross(b, c))) > 0).sum())


def _labels(edges):
    """Label the connected pieces of a graph: a number for each vertex."""
    count = int(edges.max()) + 1
    graph = scipy.sparse.coo_array((np.ones(len(edges)), edges.T), shape=(count, count))
    return scipy.sparse.csgraph.connected_components(graph, directed=False)[1]
