"""Solids of a description: tetrahedra of an elastic material. Plain numpy, without Taichi."""

import math
from dataclasses import dataclass, field, replace

import numpy as np

from pbd.core.messages import shown
from pbd.core.validate import finite_array, indices
from pbd.materials.solid import Solid

# Tetrahedra whose volume is below this part of the cube of their longest edge are flat.
FLAT = 1e-9


@dataclass(frozen=True)
class Tetrahedra:
    """Tetrahedra of one solid.

    Attributes: tetrahedra (n, 4): indices of particles; solid: a Solid; gradients (n, 4, 3): a_k, see
    pbd/constraints/solid.py [1/m]; volumes (n,): at rest [m³]; first: the number of its first constraint of each type,
    by name.
    """

    tetrahedra: np.ndarray
    solid: Solid
    gradients: np.ndarray
    volumes: np.ndarray
    first: dict = field(default_factory=dict)

    def deformations(self, positions):
        """F of each, (..., n, 3, 3). Args: positions (..., particles, 3) [m]."""
        return np.einsum("...nki,nkj->...nij", positions[..., self.tetrahedra, :], self.gradients)

    def strains(self, positions):
        """Green's strain (FᵀF - 1)/2 (..., n, 3, 3). Args: positions (..., particles, 3) [m]."""
        F = self.deformations(positions)
        return (F.swapaxes(-1, -2) @ F - np.eye(3)) / 2

    def stresses(self, positions):
        """Cauchy's stress P Fᵀ/det F, without damping (..., n, 3, 3) [Pa]. Args: positions (..., particles, 3) [m].

        P = μ F + λ (det F - γ) cof F. It is not a number in a tetrahedron without volume.
        """
        lame, shear = self.solid.lame()
        bulk = lame + shear
        F = self.deformations(positions)
        J = np.linalg.det(F)[..., None, None]
        with np.errstate(divide="ignore", invalid="ignore"):
            return shear * F @ F.swapaxes(-1, -2) / J + bulk * (J - 1 - shear / bulk) * np.eye(3)

    def parameters(self):
        """Numbers of the constraint type, by name, and its compliance [1/Pa]."""
        lame, shear = self.solid.lame()
        numbers = {f"{axis}_{k}": self.gradients[:, k, i] for k in (1, 2, 3) for i, axis in enumerate("xyz")}
        numbers |= {"root_volume": np.sqrt(self.volumes), "root_ratio": math.sqrt((lame + shear) / shear)}
        return numbers, 1 / shear


def tetrahedra_of(tetrahedra, solid, rest, positions):
    """Check tetrahedra of a solid. Args: see `Particles.add_solid`; positions: of all particles [m]."""
    tetrahedra = indices("tetrahedra of a solid", tetrahedra, len(positions), 4)
    if not isinstance(solid, Solid):
        raise TypeError(f"solid is {shown(solid)}: expected a pbd.Solid, such as pbd.SOLIDS['gelatine']")
    corners = positions[tetrahedra] if rest is None else finite_array("rest", rest, (len(tetrahedra), 4, 3))
    edges = (corners[:, 1:] - corners[:, :1]).swapaxes(1, 2)  # columns
    volumes = np.linalg.det(edges) / 6
    longest = np.linalg.norm(corners[:, :, None] - corners[:, None], axis=3).max(axis=(1, 2), initial=0)
    bad = ~(volumes > FLAT * longest**3)
    if bad.any():
        which = int(np.argmax(bad))
        what = "inside out" if volumes[which] < -FLAT * longest[which] ** 3 else "flat"
        raise ValueError(
            f"tetrahedron {which} of a solid, {shown(tetrahedra[which])}, is {what} at rest: expected a positive "
            "volume (x1 - x0) × (x2 - x0) · (x3 - x0)/6"
        )
    inverse = np.linalg.inv(edges)  # its rows are a_1, a_2, a_3
    gradients = np.concatenate([-inverse.sum(axis=1, keepdims=True), inverse], axis=1)
    return Tetrahedra(tetrahedra, solid, gradients, volumes)


def add_solid(description, tetrahedra, solid, rest=None):
    """Make tetrahedra of an elastic material, which resist any change of their shapes.

    Args:
        tetrahedra: (n, 4) indices, of positive volume (x1 - x0) × (x2 - x0) · (x3 - x0)/6 at rest.
        solid: a pbd.Solid. Masses are those of the particles, see `pbd.build.soft_body` for a body with both.
        rest: corners of the tetrahedra at rest (n, 4, 3) [m]; None for the present shape.

    They are solved together (pbd/implicit), which needs a processor.

    Returns: its index in `solids`.

    Raises: TypeError without a Solid; ValueError for a tetrahedron that is flat or inside out at rest.
    """
    made = tetrahedra_of(tetrahedra, solid, rest, description.positions())
    numbers, compliance = made.parameters()
    types = ("solid", "solid friction") if solid.damping > 0 else ("solid",)
    first = {name: description.constraint_sets.count(name) for name in types}
    description.add_constraints("solid", made.tetrahedra, compliance, **numbers)
    if solid.damping > 0:
        description.add_constraints("solid friction", made.tetrahedra, compliance, damping=solid.damping, **numbers)
    description.solids.append(replace(made, first=first))
    return len(description.solids) - 1
