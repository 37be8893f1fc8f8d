"""Membranes of a description: triangles of a fabric. Plain numpy, without Taichi."""

import math
from dataclasses import dataclass, field, replace

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


@dataclass(frozen=True)
class Plate:
    """The edges of a membrane that resist bending.

    Attributes: hinges (n, 4): indices of particles, see `plates_of`; hinge_of_side (triangles, 3): the hinge on each
    side of a triangle, -1 for none; signs (triangles, 3): of a fold in the triangle; bends (triangles,): mask of those
    with moments; angles (n,): of the folds at rest [rad]; name: of the constraint type; first: number of its first
    constraint.
    """

    hinges: np.ndarray
    hinge_of_side: np.ndarray
    signs: np.ndarray
    bends: np.ndarray
    angles: np.ndarray | None = None
    name: str = ""
    first: int = 0


@dataclass(frozen=True)
class Membrane:
    """Triangles of one fabric.

    Attributes: triangles (n, 3): indices of particles; fabric: a Fabric; threads (n, 2, 3): coefficients a_i of the
    warp and b_i of the weft, see pbd/constraints/membrane.py [1/m]; areas (n,): at rest [m²]; corners (n, 3, 3): at
    rest [m]; axes (n, 2, 3): unit vectors along warp and weft at rest; rest_cosines: between warp and weft (n,);
    first: the number of its first constraint of each type, by name; plate: a Plate, None without bending.
    """

    triangles: np.ndarray
    fabric: Fabric
    threads: np.ndarray
    areas: np.ndarray
    corners: np.ndarray
    axes: np.ndarray
    rest_cosines: np.ndarray | float = 0.0
    first: dict = field(default_factory=dict)
    plate: Plate | None = None

    def strains(self, positions):
        """Strains of warp, weft and shear (..., n, 3). Args: positions (..., particles, 3) [m]."""
        a, b = np.moveaxis(self.threads @ positions[..., self.triangles, :], -2, 0)
        warp, weft = (np.linalg.norm(each, axis=-1) for each in (a, b))
        shear = (a * b).sum(axis=-1) / np.maximum(warp * weft, 1e-300) - self.rest_cosines
        return np.stack([warp - 1, weft - 1, shear], axis=-1)

    def tensions(self, positions):
        """Tensions of warp, weft and shear, by width at rest (..., n, 3) [N/m]. Args: positions: see `strains`."""
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
            "root_shear": root[2, 2] * size, "rest_cosine": self.rest_cosines + 0 * size,
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


def plates_of(membrane, pinned):
    """The edges of a membrane that resist bending, see pbd/constraints/plate.py.

    Args: membrane; pinned: mask of particles. A triangle of pinned corners has no moments: it is a clamp.

    Returns: a Plate; their own compliances α_ee (n,) [rad²/J]; the four others that each is coupled to (n, 4);
    parameters by name, see there.
    """
    count = len(membrane.triangles)
    start, end, opposite = half_edges(membrane.triangles)
    one, two = sides_in_common(start, end)
    bends = ~pinned[membrane.triangles].all(axis=1)
    chosen = bends[one % count] | bends[two % count]
    one, two = one[chosen], two[chosen]
    hinges = np.stack([start[one], end[one], opposite[one], opposite[two]], axis=1)
    hinge_of_side = np.full(3 * count, -1)
    hinge_of_side[one] = hinge_of_side[two] = np.arange(len(hinges))
    # A fold has the sign of the normal of its first triangle.
    sign = np.ones(3 * count)
    sign[two] = np.where(start[two] == end[one], 1.0, -1.0)
    compliance = shared_compliance(membrane) * bends[:, None, None]
    # The least eigenvalue of a triangle's α, scaled to a diagonal of one.
    root = np.sqrt(np.einsum("nee->ne", shared_compliance(membrane)))
    least = np.linalg.eigvalsh(shared_compliance(membrane) / (root[:, :, None] * root[:, None, :])).min(axis=1)
    own, lumped, others, coupling = np.zeros(len(hinges)), np.zeros(len(hinges)), [], []
    for side in (one, two):
        triangle, place = side % count, side // count  # `half_edges` has the first sides of all triangles first
        own += compliance[triangle, place, place]
        lumped += least[triangle] * compliance[triangle, place, place]
        for turn in (1, 2):
            next_place = (place + turn) % 3
            other = next_place * count + triangle
            exists = hinge_of_side[other] >= 0
            others.append(np.where(exists, hinge_of_side[other], np.arange(len(hinges))))
            coupling.append(np.where(exists, sign[side] * sign[other] * compliance[triangle, place, next_place], 0.0))
    numbers = {"lumped": lumped / own, **{f"ratio_{k}": each / own for k, each in enumerate(coupling)}}
    plate = Plate(hinges, hinge_of_side.reshape(3, count).T, sign.reshape(3, count).T, bends)
    return plate, own, np.stack(others, axis=1), numbers


def shared_compliance(membrane):
    """Σ A Φ_e : S : Φ_f/(l_e l_f) of each triangle (n, 3, 3) [rad²/J], for the sides that begin at each corner."""
    moments, lengths = moments_of_sides(membrane)
    each = np.einsum("nke,kl,nlf->nef", moments, membrane.fabric.plate_compliance(), moments)
    return membrane.areas[:, None, None] * each / (lengths[:, :, None] * lengths[:, None, :])


def moments_of_sides(membrane):
    """Φ_e of each triangle, M_11, M_22, M_12 by side (n, 3, 3), and the lengths of sides (n, 3) [m].

    Φ_e has the normal moment one across side e, and none across the others. Side e begins at corner e.
    """
    edges = np.roll(membrane.corners, -1, axis=1) - membrane.corners
    along, across = np.moveaxis(np.einsum("nkj,nsj->nsk", membrane.axes, edges), 2, 0)
    lengths = np.hypot(along, across)
    x, y = across / lengths, -along / lengths  # of the normal
    return np.linalg.inv(np.stack([x * x, y * y, 2 * x * y], axis=2)), lengths


def thread_limits(membrane):
    """Parameters of the constraints that limit the strain of warp and weft, one dictionary each."""
    size = np.sqrt(membrane.areas)  # so that C is a length
    for thread in (0, 1):
        coefficients = size[:, None] * membrane.threads[:, thread]
        yield {
            "c_1": coefficients[:, 1], "c_2": coefficients[:, 2], "longest": (1 + membrane.fabric.strain_limit) * size,
        }  # fmt: skip


def add_membrane(description, triangles, fabric, warp=None, rest=None):
    """Make a surface of fabric, which resists stretch and shear of its triangles, and bending across its edges.

    Args:
        triangles: (n, 3) indices, each side of two triangles at most.
        fabric: a pbd.Fabric. Masses are those of the particles, see `pbd.build.cloth` for a cloth with both.
        warp: the direction of the warp threads in the rest shape, (3,), or one for each triangle (n, 3); its part
            along a normal does not count. None for a fabric that is the same in all directions.
        rest: corners of the triangles at rest (n, 3, 3) [m], such as those of a sewing pattern, flat across all
            edges; None for the present shape.

    Triangles whose three particles are pinned now are a clamp: the surface keeps its tangent there.

    Returns: its index in `membranes`.

    Raises: TypeError without a Fabric; ValueError for a triangle without area at rest, a warp along a normal, or an
    edge of three triangles.
    """
    made = membrane_of(triangles, fabric, warp, rest, description.positions())
    numbers, compliance = made.parameters()
    name = "damped membrane" if fabric.damping > 0 else "membrane"
    first = {name: description.constraint_sets.count(name)}
    description._add_damped("membrane", made.triangles, compliance, fabric.damping, **numbers)
    plate = add_plate(description, made, rest is None, fabric.damping) if any(fabric.rigidities()) else None
    if fabric.strain_limit is not None:
        for numbers in thread_limits(made):
            description.add_constraints("thread at most", made.triangles, **numbers)
    description.membranes.append(replace(made, first=first, plate=plate))
    return len(description.membranes) - 1


def add_plate(description, membrane, as_described, damping):
    """Resist bending of a membrane.

    Args: description: a Particles; membrane; as_described: whether it is at rest in the present shape; damping.

    Returns: a Plate.
    """
    pinned, positions = np.isinf(description.masses()), description.positions()
    plate, compliance, coupled, numbers = plates_of(membrane, pinned)
    hinges = plate.hinges
    angles = rest_values.dihedral_angle(positions[hinges]) if as_described else np.zeros(len(hinges))
    numbers["half_rest_sine"] = np.sin(angles / 2)
    name = "damped plate" if damping > 0 else "plate"
    first = description.constraint_sets.count(name)
    description._add_damped("plate", hinges, compliance, damping, coupled=coupled, **numbers)
    return replace(plate, angles=angles, name=name, first=first)
