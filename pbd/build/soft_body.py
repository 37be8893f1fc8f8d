"""Soft body: tetrahedra whose edges are springs and whose volumes are kept."""

import math
from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from pbd.build.mesh import closed_surface
from pbd.build.tetrahedra import barycentric, compact, fill, volumes
from pbd.build.topology import boundary_of, edges_of, edges_of_tetrahedra
from pbd.core.validate import finite_array, finite_number, finite_vector, indices, not_negative, positive, whole

# The share of a mesh's volume that its tetrahedra may miss before they are refused as too coarse.
MISSED = 0.25


@dataclass
class Skin:
    """A fine surface carried by tetrahedra: every vertex is a weighted mean of the four corners of one.

    corners (n, 4): indices of particles; weights (n, 4); triangles (m, 3): indices of the skin's own vertices.
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

    particles (n,); sticks (s, 2); tetrahedra (t, 4), of positive volume; triangles (b, 3): their outside, wound
        outwards;
    skin: the mesh that it was made from, None where it was made from tetrahedra.
    """

    particles: np.ndarray
    sticks: np.ndarray
    tetrahedra: np.ndarray
    triangles: np.ndarray
    skin: Skin | None = None


def soft_body(
    particles,
    mesh,
    resolution=8,
    *,
    density=1000.0,
    stiffness=3e4,
    volume_compliance=0.0,
    position=(0.0, 0.0, 0.0),
    velocity=(0.0, 0.0, 0.0),
    radius=0.0,
    drag=None,
    repair=False,
):
    """Add a soft body in the shape of a closed surface.

    Arguments:
        particles: the pbd.Particles it is added to.
        mesh: a closed surface: a pbd.build.Mesh, (vertices, triangles), a trimesh.Trimesh, or a file's path.
        resolution: tetrahedra along its longest side, about; twice as many are eight times the particles.
        density: [kg/m³].
        stiffness: Young's modulus of the springs alone [Pa], whatever the resolution: jelly 1e4, rubber 1e6;
            math.inf for rigid sticks. Keeping volumes adds to it.
        volume_compliance: [m⁶/J]; zero keeps volumes exactly; None leaves them free.
        position: the body's displacement (3,) [m]; velocity (3,) [m/s]; radius of its particles [m].
        drag: coefficient of its outside in the wind; None keeps it out of the wind.
        repair: close holes in the mesh, which else is refused.

    Returns: a SoftBody. With a lattice of spacing s its tetrahedra's volume is below the mesh's by about s²/4R times
    its area, R the curvature radius, and what edges and corners lose: 3 % for a sphere at resolution 6, 0.3 % at 20.

    Raises: ValueError for a mesh without an inside, or with parts too thin for the resolution.
    """
    resolution = whole("resolution", resolution, least=2)
    mesh = closed_surface(mesh, repair)
    spacing = np.ptp(mesh.vertices, axis=0).max() / resolution
    points, tetrahedra = fill(mesh, spacing)
    caught = volumes(points, tetrahedra).sum() / mesh.volume
    pieces, wanted = _parts(tetrahedra), _outer_parts(mesh)
    if caught < 1 - MISSED or pieces > wanted:
        raise ValueError(
            f"at resolution {resolution} tetrahedra of {spacing:.3g} m fill {caught:.0%} of the mesh, in {pieces} "
            f"pieces instead of {wanted}: expected a higher resolution, for parts this thin"
        )
    chosen, weights = barycentric(points, tetrahedra, mesh.vertices)
    body = _add(
        particles, points + finite_vector("position", position), tetrahedra, density, stiffness, volume_compliance,
        velocity, radius, drag,
    )  # fmt: skip
    body.skin = Skin(body.tetrahedra[chosen], weights, mesh.triangles)
    return body


def soft_body_from_tetrahedra(
    particles,
    points,
    tetrahedra,
    *,
    density=1000.0,
    stiffness=3e4,
    volume_compliance=0.0,
    velocity=(0.0, 0.0, 0.0),
    radius=0.0,
    drag=None,
):
    """Add a soft body that is given as tetrahedra.

    Arguments: points (n, 3) [m]; tetrahedra (m, 4) of indices, of either orientation; the rest as for `soft_body`.

    Returns: a SoftBody.

    Raises: ValueError where a tetrahedron is flat, or a point belongs to none.
    """
    points = finite_array("points", points, (None, 3))
    tetrahedra = indices("tetrahedra", tetrahedra, len(points), 4)
    if not len(tetrahedra):
        raise ValueError("a soft body of no tetrahedra: expected one at least")
    volume = volumes(points, tetrahedra)
    size = np.linalg.norm(points[tetrahedra[:, 1]] - points[tetrahedra[:, 0]], axis=1)
    flat = ~(np.abs(volume) > 1e-9 * size**3)
    if flat.any():
        raise ValueError(f"tetrahedron {int(np.argmax(flat))} is flat: expected some volume")
    if len(compact(points, tetrahedra)[0]) < len(points):
        lost = np.setdiff1d(np.arange(len(points)), tetrahedra)[0]
        raise ValueError(f"point {lost} belongs to no tetrahedron: expected every point to")
    tetrahedra = np.where((volume < 0)[:, None], tetrahedra[:, [0, 1, 3, 2]], tetrahedra)
    return _add(particles, points, tetrahedra, density, stiffness, volume_compliance, velocity, radius, drag)


def spring_compliances(points, sticks, which, volume, stiffness):
    """Compliances [m/N] of the edges of tetrahedra that make a body of a given Young's modulus.

    Arguments: points (n, 3) [m]; sticks (s, 2); which (t, 6): the sticks of each tetrahedron; volume (t,) [m³];
    stiffness E [Pa].

    Springs of stiffness k and length L that point everywhere alike have, by Cauchy's relations, Lamé constants
    λ = μ = Σ k L² / 15 V, so E = 5μ/2 = Σ k L² / 6 V. Each stick takes a sixth V_i of the tetrahedra round it, ΣV_i
    = V, and k_i = 6 E V_i / L_i².
    """
    if math.isinf(stiffness):
        return np.zeros(len(sticks))
    share = np.bincount(which.ravel(), np.repeat(volume / 6, 6), len(sticks))
    square = ((points[sticks[:, 1]] - points[sticks[:, 0]]) ** 2).sum(axis=1)
    return square / (6 * stiffness * share)


def _add(particles, points, tetrahedra, density, stiffness, volume_compliance, velocity, radius, drag):
    """Particles, sticks and volumes of tetrahedra of positive volume."""
    if stiffness != math.inf:
        stiffness = positive("stiffness", finite_number("stiffness", stiffness))
    if volume_compliance is not None:
        not_negative("volume compliance", volume_compliance)
    volume = volumes(points, tetrahedra)
    masses = positive("density", density) * np.bincount(tetrahedra.ravel(), np.repeat(volume / 4, 4), len(points))
    sticks, which = edges_of_tetrahedra(tetrahedra)
    compliance = spring_compliances(points, sticks, which, volume, stiffness)
    added = particles.add_particles(points, masses, velocity, radius)
    first = added[0]
    particles.add_sticks(sticks + first, compliance=compliance)
    if volume_compliance is not None:
        particles.add_volumes(tetrahedra + first, compliance=volume_compliance)
    triangles = boundary_of(tetrahedra)
    if drag is not None:
        particles.add_triangles(triangles + first, drag)
    return SoftBody(added, sticks + first, tetrahedra + first, triangles + first)


def _parts(tetrahedra):
    """How many pieces tetrahedra form."""
    return len(set(_labels(edges_of_tetrahedra(tetrahedra)[0])[tetrahedra[:, 0]])) if len(tetrahedra) else 0


def _outer_parts(mesh):
    """How many pieces a surface forms, cavities not counted; those that overlap count apart."""
    part = _labels(edges_of(mesh.triangles))[mesh.triangles[:, 0]]
    a, b, c = (mesh.vertices[mesh.triangles[:, k]] - mesh.vertices[0] for k in range(3))
    return int((np.bincount(part, np.einsum("ij,ij->i", a, np.cross(b, c))) > 0).sum())


def _labels(edges):
    """A number for each connected piece of a graph, by vertex."""
    count = int(edges.max()) + 1
    return connected_components(coo_array((np.ones(len(edges)), edges.T), shape=(count, count)), directed=False)[1]
