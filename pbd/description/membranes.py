"""Membranes of a description: triangles of a fabric. Plain numpy, without Taichi."""

import math
from dataclasses import dataclass

import numpy as np

from pbd.core.messages import shown
from pbd.core.topology import half_edges, sides_in_common
from pbd.core.validate import finite_array, indices, real_array
from pbd.description import rest_values
from pbd.materials.fabric import Fabric

# Warp directions that are nearer to a triangle's normal than this have no direction in its plane [rad].
ALONG_NORMAL = 1e-3

# Triangles whose area is below this part of the square of their longest side are flat.
FLAT = 1e-9

# A surface whose edges are folded by less than this is flat [rad].
FLAT_ANGLE = 1e-6


@dataclass(frozen=True)
class Membrane:
    """Triangles of one fabric.

    Attributes: triangles (n, 3): indices of particles; fabric: a Fabric; threads (n, 2, 3): coefficients a_i of the
    warp and b_i of the weft, see pbd/constraints/membrane.py [1/m]; areas (n,): at rest [m²]; corners (n, 3, 3): at
    rest [m]; axes (n, 2, 3): unit vectors along warp and weft at rest.
    """

    triangles: np.ndarray
    fabric: Fabric
    threads: np.ndarray
    areas: np.ndarray
    corners: np.ndarray
    axes: np.ndarray

    def strains(self, positions):
        """Strains of warp, weft and shear (..., n, 3). Args: positions (..., particles, 3) [m]."""
        a, b = np.moveaxis(self.threads @ positions[..., self.triangles, :], -2, 0)
        warp, weft = (np.linalg.norm(each, axis=-1) for each in (a, b))
        return np.stack([warp - 1, weft - 1, (a * b).sum(axis=-1) / np.maximum(warp * weft, 1e-300)], axis=-1)

    def tensions(self, positions):
        """Tensions of warp, weft and shear (..., n, 3) [N/m]. Args: positions (..., particles, 3) [m]."""
        return self.strains(positions) @ self.fabric.stiffness()

    def parameters(self):
        """Numbers of the constraint type, by name, and its compliance [m/N]."""
        stiffness = self.fabric.stiffness()
        largest = stiffness.max()
        root = np.linalg.cholesky(stiffness / largest + np.diag([0, 0, 1e-300])).T
        size = np.sqrt(self.areas)
        (warp, weft) = self.threads[:, 0], self.threads[:, 1]
        return {
            "warp_1": warp[:, 1], "warp_2": warp[:, 2], "weft_1": weft[:, 1], "weft_2": weft[:, 2],
            "root_warp": root[0, 0] * size, "root_coupling": root[0, 1] * size, "root_weft": root[1, 1] * size,
            "root_shear": root[2, 2] * size,
        }, 1 / largest  # fmt: skip


def membrane_of(triangles, fabric, warp, rest, positions):
    """Check a membrane. Args: see `Particles.add_membrane`; positions: of all particles [m]. Returns: a Membrane."""
    triangles = indices("triangles of a membrane", triangles, len(positions), 3)
    if not isinstance(fabric, Fabric):
        raise TypeError(f"fabric is {shown(fabric)}: expected a pbd.Fabric, such as pbd.FABRICS['denim']")
    corners = positions[triangles] if rest is None else finite_array("rest", rest, (len(triangles), 3, 3))
    u, v = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    normals = np.cross(u, v)
    twice, longest = np.linalg.norm(normals, axis=1), np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2)
    flat = ~(twice > FLAT * longest.max(axis=1, initial=0) ** 2)
    if flat.any():
        which = int(np.argmax(flat))
        raise ValueError(f"triangle {which} of a membrane, {shown(triangles[which])}, has no area at rest")
    along = warp_directions(warp, fabric, u, normals / twice[:, None])
    across = np.cross(normals / twice[:, None], along)
    sides = np.stack([u, v], axis=1)
    axes = np.stack([along, across], axis=1)
    # Row k of the inverse is what of u and v makes a thread of length one along axis k: u = Σ_k (u·axis_k) axis_k.
    inverse = np.linalg.inv(sides @ axes.swapaxes(1, 2))
    threads = np.concatenate([-inverse.sum(axis=2, keepdims=True), inverse], axis=2)
    return Membrane(triangles, fabric, threads, twice / 2, corners, axes)


def warp_directions(warp, fabric, sides, normals):
    """Unit vectors along the warp, in the planes of triangles (n, 3).

    Args: warp: see `Particles.add_membrane`; sides: of each triangle (n, 3) [m]; normals: unit vectors (n, 3).
    """
    if warp is None:
        if not fabric.is_isotropic():
            raise ValueError("warp is None: expected a direction, as the fabric is not the same in all directions")
        directions = sides
    else:
        given = real_array("warp", warp)
        shape = normals.shape if given.ndim == 2 else (3,)
        directions = np.broadcast_to(finite_array("warp", warp, shape), normals.shape)
    lengths = np.linalg.norm(directions, axis=1, keepdims=True)
    within = directions - np.einsum("ij,ij->i", directions, normals)[:, None] * normals
    size = np.linalg.norm(within, axis=1, keepdims=True)
    lost = (size <= math.sin(ALONG_NORMAL) * lengths).ravel()
    if lost.any():
        raise ValueError(
            f"warp of triangle {int(np.argmax(lost))} is {shown(directions[np.argmax(lost)])}, along its normal or of "
            "no length: expected a direction in its plane"
        )
    return within / size


def bends_of(membrane, positions):
    """The hinges of a membrane that resist bending.

    Args: membrane; positions: of all particles [m]; None if edges are flat at rest wherever they are.

    Returns: hinges (n, 4), compliances (n,) [rad²/J], see `pbd.build.cloth.bending_compliance`, and rest angles [rad];
    angles of None for a surface that is flat now.
    """
    count = len(membrane.triangles)
    start, end, opposite = half_edges(membrane.triangles)
    one, two = sides_in_common(start, end)
    hinges = np.stack([start[one], end[one], opposite[one], opposite[two]], axis=1)
    lengths, areas, rigidities = np.zeros((3, len(hinges)))
    for side in (one, two):
        which, first = side % count, side // count  # first sides of all triangles come first
        edge = membrane.corners[which, (first + 1) % 3] - membrane.corners[which, first]
        along, across = np.einsum("nkj,nj->kn", membrane.axes[which], edge)
        lengths += np.linalg.norm(edge, axis=1) / 2
        areas += membrane.areas[which]
        # Bending across an edge is that of a strip at a right angle to it.
        rigidities += membrane.fabric.rigidity(np.arctan2(along, across)) / 2
    resists = rigidities > 0
    hinges, compliance = hinges[resists], (areas / lengths**2)[resists] / rigidities[resists]
    if positions is None:
        return hinges, compliance, np.zeros(len(hinges))
    angles = rest_values.dihedral_angle(positions[hinges])
    return hinges, compliance, angles if (np.abs(angles) > FLAT_ANGLE).any() else None


def thread_limits(membrane):
    """Parameters of the constraints that limit the strain of warp and weft, one dictionary each."""
    size = np.sqrt(membrane.areas)  # so that C is a length
    for thread in (0, 1):
        coefficients = size[:, None] * membrane.threads[:, thread]
        yield {
            "c_1": coefficients[:, 1], "c_2": coefficients[:, 2], "longest": (1 + membrane.fabric.strain_limit) * size,
        }  # fmt: skip
