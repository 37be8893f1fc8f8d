"""Bending of fabrics that flows: see `yield_curvature` of pbd.Fabric.

A triangle has the elastic curvature κ = S M of its moments M, and a plastic curvature κ_p. With the folds θ_0 as
described, the folds at rest are

    θ_e := θ_e0 - Σ_T A Φ_e : κ_p/l_e

summed over the two triangles of an edge (pbd/constraints/plate.py). A constant κ_p makes the folds of the mesh on the
surface of this curvature, on every mesh. At the end of each step κ_p follows as far as it must, so that no step begins
with |κ| beyond y + η p: y is the yield curvature, η the hardening, and p what has flowed. The measure is von Mises'
law of moments, as if the whole section of the sheet yielded at once,

    |κ|² = a² - a b + b² + 3 c²,   a = M_11/B_warp, b = M_22/B_weft, c = M_12/√(B_warp B_weft)
    Δp = (|κ| - y - η p)/(1 + η),   κ_p := κ_p + Δp κ/|κ|

A strip with free sides at the angle φ to the warp has |κ| = M (cos² φ/B_warp + sin² φ/B_weft): along the warp and the
weft that is its curvature, and in all directions of a fabric that has one rigidity. Bent to k it keeps (k - y)/(1 + η).
Moments are shared between triangles, so those of others change where one flows. So this is repeated until none is
beyond. The energy falls each time: what the moments lose is no more than those of Δκ_p.

Sources: Simo and Hughes, Computational Inelasticity (1998), section 1.2, the return mapping,
https://doi.org/10.1007/b98904.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy

from pbd.constraints import CONSTRAINT_TYPES
from pbd.description.membranes import moments_of_sides
from pbd.description.rest_values import dihedral_angle
from pbd.flow import Flow

# Return mappings go on until no curvature is beyond its bound by more than this part of it, and no longer than this.
SETTLED, MOST_RETURNS = 1e-6, 60


@dataclass(frozen=True)
class Folds:
    """The plates of one description that flow, as one.

    Attributes: angles: of folds as described (hinges,) [rad]; turns: sparse matrix (hinges, 3 triangles), folds for
    curvatures; areas: of triangles [m²]; compliances (triangles, 3, 3) [1/(N m)]; scales: of moments, likewise, see
    `Fabric.scaled_moments`; solve: function that finds λ (hinges,) for folds, α⁻¹.
    """

    angles: np.ndarray
    turns: Any
    areas: np.ndarray
    compliances: np.ndarray
    scales: np.ndarray
    solve: Any

    def rest(self, numbers):
        """Angles of the folds at rest (hinges,) [rad]. Args: numbers: of what flowed (triangles, 4)."""
        return within_half_turn(self.angles - self.turns @ numbers[:, :3].ravel())

    def curvatures(self, angles, rest):
        """Elastic curvatures of triangles (triangles, 3), and |κ| of each [1/m].

        Args: angles: of the folds now (hinges,) [rad]; rest: those at rest.
        """
        multipliers = self.solve(-2 * np.sin(within_half_turn(angles - rest) / 2))
        moments = (self.turns.T @ multipliers).reshape(-1, 3) / self.areas[:, None]
        curvatures = (self.compliances @ moments[..., None])[..., 0]
        a, b, c = (self.scales @ curvatures[..., None])[..., 0].T
        return curvatures, np.sqrt(np.maximum(a * a - a * b + b * b + 3 * c * c, 0.0))


def folds_of(membranes):
    """The Folds of some membranes. Args: membranes: list of Membrane, each with a plate."""
    angles = np.concatenate([each.plate.angles for each in membranes])
    areas = np.concatenate([each.areas for each in membranes])
    turns = scipy.sparse.block_diag([turns_of(each) for each in membranes], format="csr")
    of_fabrics = [(each.fabric.plate_compliance(), each.fabric.scaled_moments()) for each in membranes]
    counts = [len(each.areas) for each in membranes]
    compliances, scales = (np.repeat(each, counts, axis=0) for each in zip(*of_fabrics))
    alpha = turns @ scipy.sparse.block_diag(list(compliances / areas[:, None, None]), format="csr") @ turns.T
    options = {"permc_spec": "MMD_AT_PLUS_A", "diag_pivot_thresh": 0.0, "options": {"SymmetricMode": True}}
    solve = scipy.sparse.linalg.splu(alpha.tocsc(), **options).solve if len(angles) else np.copy
    return Folds(angles, turns, areas, compliances, scales, solve)


def turns_of(membrane):
    """Folds A Φ_e : κ/l_e of a membrane for curvatures κ_11, κ_22, 2 κ_12, a sparse matrix (hinges, 3 triangles)."""
    plate = membrane.plate
    moments, lengths = moments_of_sides(membrane)
    parts = (plate.signs * plate.bends[:, None] * membrane.areas[:, None] / lengths)[..., None] * moments.swapaxes(1, 2)
    triangle, side = np.nonzero(plate.hinge_of_side >= 0)
    rows = np.repeat(plate.hinge_of_side[triangle, side], 3)
    columns = (3 * triangle[:, None] + np.arange(3)).ravel()
    shape = len(plate.hinges), 3 * len(lengths)
    return scipy.sparse.csr_matrix((parts[triangle, side].ravel(), (rows, columns)), shape)


def within_half_turn(angles):
    """Angles in [-π, π], the same bits where they are already [rad]."""
    return angles - 2 * math.pi * np.round(angles / (2 * math.pi))


class PlateFlow(Flow):
    """Fabrics whose bending flows. Args: see Flow.

    Numbers of a triangle: plastic curvatures κ_11, κ_22, 2 κ_12, and p [1/m].
    """

    kind, material, members = "membranes", "fabric", "triangles"
    limit = "yield_curvature"
    start = (0.0, 0.0, 0.0, 0.0)

    @staticmethod
    def _law_of(fabric):
        """y, η."""
        return math.inf if fabric.yield_curvature is None else fabric.yield_curvature, fabric.hardening

    def _prepare(self, chosen):
        """Look up the folds. Args: see Flow."""
        self._folds = [folds_of(each) for each in chosen]
        plates = [each.plate for each in chosen[0]]
        self._hinges = np.concatenate([each.hinges for each in plates])
        self._rows = np.concatenate([self._rows_of(each) for each in plates])
        self._sines = self._half_sines()

    def _rows_of(self, plate):
        """Rows of the angles at rest of a plate's hinges (hinges,)."""
        if not len(plate.hinges):  # then no constraint is of its type
            return np.zeros(0, int)
        found = CONSTRAINT_TYPES[plate.name].compliant
        numbers = plate.first + np.arange(len(plate.hinges))
        return self._constraints.rows_of(found, numbers, ["half_rest_sine"])[:, 0]

    def flow(self):
        """Let the folds at rest follow those of triangles that are bent too far."""
        x = self._values.read("position")[..., :3].astype(float)[self._hinges]
        self._change(np.stack([self._flowed_in(world, x[:, :, world]) for world in range(x.shape[2])], axis=1))

    def _flowed_in(self, world, corners):
        """Numbers of a world after the flow of a step. Args: corners: of hinges (hinges, 4, 3) [m]."""
        folds, numbers, angles = self._folds_in(world), self.numbers[:, world].copy(), dihedral_angle(corners)
        limit, hardening = self._law[:, world].T
        for _ in range(MOST_RETURNS):
            curvatures, size = folds.curvatures(angles, folds.rest(numbers))
            bound = limit + hardening * numbers[:, 3]
            flows = size > bound
            if not (size[flows] > (1 + SETTLED) * bound[flows]).any():
                break
            change = (size[flows] - bound[flows]) / (1 + hardening[flows])
            numbers[flows, :3] += (change / size[flows])[:, None] * curvatures[flows]
            numbers[flows, 3] += change
        return numbers

    def _folds_in(self, world):
        return self._folds[world % len(self._folds)]

    def _half_sines(self):
        """Sines of half the angles at rest (hinges, worlds)."""
        rest = [self._folds_in(world).rest(self.numbers[:, world]) for world in range(self._values.worlds)]
        return np.sin(np.stack(rest, axis=1) / 2)

    def _change(self, numbers):
        """Write the folds at rest that change. Args: numbers: see Attributes."""
        if (numbers != self.numbers).any():
            self.numbers = np.array(numbers)
            sines = self._half_sines()
            changed = (sines != self._sines).any(axis=1)
            self._constraints.write(self._rows[changed], sines[changed])
            self._sines = sines
