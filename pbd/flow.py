"""Elements that flow: see `yield_strain` of pbd.Solid and pbd.Fabric.

At the end of each step, the shape at rest of an element follows its present shape as far as it must, so that no step
begins with an element whose elastic strain is beyond y + η p: y is the yield strain, η the hardening, and p the plastic
strain that it has gathered. What is strained by less springs back. Elements are compared on the host after each step,
as hinges that crease are (pbd/creasing.py). Only those beyond the yield are written.

Solids: F = F_e F_p, det F_p = 1. With Hencky's elastic strain ε = log √(F_eᵀ F_e), its deviator e and

    ε_eq = f √(2/3) |e|,   f = 3/(2(1 + ν)),   Δp = (ε_eq - y - η p)/(f + η)

e is scaled so that ε_eq lands on y + η (p + Δp). ε_eq is the strain of a bar that is pulled with the same stress of von
Mises. The material gradients follow, a_k := G a_k with G = exp(e_new - e), which has the determinant one.

Fabrics: the threads' lengths at rest g and the cosine at rest c of their angle (pbd/constraints/membrane.py). A thread
flows if its tension T is beyond k (y + η p) for the stiffness k of a strip with free sides, so that a strip that is
pulled along the warp does not flow along the weft, however it contracts. With elastic strains e and the stiffness K,

    |T_i| - K_ii δ_i ∓ K_ij δ_j <= k_i (y + η (p_i + δ_i)),   δ_i >= 0,   g_i := g_i (1 + e_i)/(1 + e_i ∓ δ_i)

with equality where δ_i > 0. Shear flows by (|e_3| - y - η p)/(1 + η), which moves c. A triangle's area at rest follows
the lengths at rest, so its tensions are those of a fabric of the same stiffness that was made that way.

Sources: Simo and Hughes, Computational Inelasticity (1998), https://doi.org/10.1007/b98904, section 9.3 for logarithmic
strains and chapter 5 for several yield surfaces; Irving, Teran, Fedkiw, Invertible Finite Elements for Robust
Simulation of Large Deformation (2004), https://doi.org/10.1145/1028523.1028541, for F_p in graphics.
"""

import math
from dataclasses import replace

import numpy as np

from pbd.constraints import CONSTRAINT_TYPES
from pbd.core.kernels import read
from pbd.core.messages import shown
from pbd.core.validate import finite_array

# Elements whose det F_e, or length of a thread, is below this part of that at rest do not flow: they are crushed.
CRUSHED = 0.1


class Flow:
    """The elements of a system that flow: base class.

    Args: constraints: the ConstraintValues; values: the ParticleValues; descriptions: list of Particles, of a system.

    Attributes: numbers: what flowed (elements, worlds, numbers), its plastic strains last.
    """

    kind = material = members = ""  # names of attributes of Particles, and of Membrane or Tetrahedra
    limit = "yield_strain"  # what a material that flows has
    columns = 0  # how many of the first parameters of their constraint types follow
    start = ()  # numbers of an element that has not flowed

    def __init__(self, constraints, values, descriptions):
        self._constraints, self._values = constraints, values
        self._described = [list(getattr(each, self.kind)) for each in descriptions]
        flows = [
            any(getattr(self._of(each), self.limit) is not None for each in same) for same in zip(*self._described)
        ]
        self._flowing = np.flatnonzero(flows)
        chosen = [[each[k] for k in self._flowing] for each in self._described]
        counts = [[len(getattr(each, self.members)) for each in of_world] for of_world in chosen]
        if counts != counts[:1] * len(counts):
            what = f"{self.kind} that flow have {shown(counts)} {self.members} in each world"
            raise ValueError(f"{what}: expected the same")
        self._ends = np.cumsum(counts[0])
        self.numbers = np.tile(np.array(self.start), (sum(counts[0]), values.worlds, 1))
        if len(self):
            self._members = np.concatenate([getattr(each, self.members) for each in chosen[0]])
            laws = np.array([[self._law_of(self._of(each)) for each in same] for same in zip(*chosen)])
            self._law = self._in_worlds(np.repeat(laws, counts[0], axis=0))
            self._prepare(chosen)

    def _prepare(self, chosen):
        """Look up what follows. Args: chosen: elements that flow, of each description."""
        first = [np.concatenate([self._parameters_of(each) for each in of_world]) for of_world in chosen]
        self._first = self._in_worlds(np.stack(first, axis=1))
        self._present = self._first.copy()
        self._rows, self._owners = self._places(chosen[0])

    def __len__(self):
        return len(self.numbers)

    def _of(self, element):
        """The material of an element."""
        return getattr(element, self.material)

    def _in_worlds(self, values):
        """Values (n, descriptions, ...) of each world (n, worlds, ...)."""
        return np.repeat(values, self._values.worlds // values.shape[1], axis=1)

    def _parameters_of(self, element):
        """Parameters that follow, as described (n, columns). Args: element: a Membrane or Tetrahedra."""
        return np.stack(list(element.parameters()[0].values())[: self.columns], axis=1)

    def _places(self, elements):
        """Rows of parameters (n, columns), and the element of each (n,). Args: elements: of the first description."""
        rows, owners = [], []
        for each, end in zip(elements, self._ends):
            count = len(getattr(each, self.members))
            for name, first in each.first.items():
                found = CONSTRAINT_TYPES[name].compliant
                numbers = first + np.arange(count)
                rows.append(self._constraints.rows_of(found, numbers, found.parameters[: self.columns]))
                owners.append(np.arange(end - count, end))
        return np.concatenate(rows), np.concatenate(owners)

    def flow(self):
        """Let the shapes at rest follow those of elements that are strained too far."""
        x = self._values.read("position")[..., :3].astype(float)[self._members]
        self._change(self._flowed(np.moveaxis(x, 1, 0)))

    def state(self):
        """What flowed, as a pbd.State has it."""
        return self._values.to_user(self.numbers)

    def checked(self, name, state):
        """What flowed in a state; in that of another system nothing has. Raises: ValueError if it is not finite."""
        if np.shape(state) != self.state().shape:
            return np.broadcast_to(np.array(self.start), self.state().shape)
        return finite_array(f"state's {name}", state, (None,) * np.ndim(state))

    def restore(self, given):
        """Continue from a state. Args: given: see `checked`."""
        self._change(given[:, None] if self._values.worlds == 1 else np.moveaxis(given, 0, 1))

    def elements(self, world, elastic):
        """All Membranes or Tetrahedra. Args: world: index; elastic: whether with their present shapes at rest."""
        elements = list(self._described[world % len(self._described)])
        pieces = np.split(self._present[:, world], self._ends[:-1]) if elastic and len(self) else ()
        for k, parameters in zip(self._flowing, pieces):
            elements[k] = self._with(elements[k], parameters)
        return elements

    def _change(self, numbers):
        """Write the parameters of elements whose numbers change. Args: numbers: see Attributes."""
        changed = (numbers != self.numbers).any(axis=(1, 2))
        if changed.any():
            self.numbers = np.array(numbers)
            self._present[changed] = self._parameters(changed)
            chosen = changed[self._owners]
            values = np.moveaxis(self._present[self._owners[chosen]], 1, 2)
            self._constraints.write(self._rows[chosen], values)


class SolidFlow(Flow):
    """Solids that flow. Args: see Flow; implicit: a pbd.data.ImplicitArrays.

    Numbers of a tetrahedron: the inverse of F_p, row by row, and p. A body that is tangled is moved by its shape as
    described (pbd/implicit/recovery.py), so it forgets what flowed.
    """

    kind, material, members = "solids", "solid", "tetrahedra"
    columns = 9  # a_1, a_2, a_3
    start = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0)

    def __init__(self, constraints, values, descriptions, implicit):
        super().__init__(constraints, values, descriptions)
        if len(self):
            self._tangled = implicit.tangled
            self._bodies = read(implicit.body)[read(implicit.place)[self._members[:, 0]]]

    @staticmethod
    def _law_of(solid):
        """y, η and f."""
        limit = math.inf if solid.yield_strain is None else solid.yield_strain
        return limit, solid.hardening, 1.5 / (1 + solid.poisson)

    def _flowed(self, x):
        """Numbers after the flow of a step. Args: x: corners (4, elements, worlds, 3) [m]."""
        numbers, tangled = self.numbers.copy(), read(self._tangled)[self._bodies] > 0
        numbers[tangled] = self.start
        a = np.moveaxis(self._present.reshape(*self._present.shape[:2], 3, 3), 2, 0)
        F = sum((end - x[0])[..., :, None] * of_end[..., None, :] for end, of_end in zip(x[1:], a))
        limit, hardening, factor = np.moveaxis(self._law, 2, 0)
        limit = limit + hardening * numbers[..., 9]
        # |F|²/J^⅔ of any F with a given |e| is no less than of a bar that is pressed: what is below that is elastic.
        J, pressed = np.linalg.det(F), np.minimum(limit / factor, 100.0)
        least = np.maximum(J, 0.0) ** (2 / 3) * (np.exp(-2 * pressed) + 2 * np.exp(pressed))
        at = np.nonzero((J > 0) & ~tangled & ((F**2).sum(axis=(2, 3)) > least))
        squares, axes = np.linalg.eigh(F[at].swapaxes(1, 2) @ F[at])
        flows = squares[:, 0] > CRUSHED**2
        at, squares, axes = tuple(each[flows] for each in at), squares[flows], axes[flows]
        strain = np.log(squares) / 2
        deviator = strain - strain.mean(axis=1, keepdims=True)
        size = math.sqrt(2 / 3) * np.linalg.norm(deviator, axis=1)
        beyond = np.maximum(factor[at] * size - limit[at], 0.0)
        change = beyond / (factor[at] + hardening[at])
        G = axes * np.exp(-(change / size)[:, None] * deviator)[:, None] @ axes.swapaxes(1, 2)
        inverse = numbers[at][:, :9].reshape(-1, 3, 3)
        new = np.column_stack([(inverse @ G).reshape(-1, 9), numbers[at][:, 9] + change])
        numbers[at] = np.where(beyond[:, None] > 0, new, numbers[at])
        return numbers

    def _parameters(self, chosen):
        """Present parameters (chosen, worlds, columns). Args: chosen: mask of elements."""
        matrices = (each[chosen][..., :9] for each in (self._first, self.numbers))
        a, inverse = (each.reshape(*each.shape[:2], 3, 3) for each in matrices)
        return (a @ inverse).reshape(*a.shape[:2], 9)

    @staticmethod
    def _with(element, parameters):
        """An element with other parameters (n, columns)."""
        a = parameters.reshape(-1, 3, 3)
        return replace(element, gradients=np.concatenate([-a.sum(axis=1, keepdims=True), a], axis=1))


class MembraneFlow(Flow):
    """Fabrics that flow. Args: see Flow.

    Numbers of a triangle: lengths at rest of warp and weft, as parts of those described, and the cosine at rest of
    their angle; the plastic strains of warp, weft and shear.
    """

    kind, material, members = "membranes", "fabric", "triangles"
    columns = 9
    start = (1.0, 1.0, 0.0, 0.0, 0.0, 0.0)

    @staticmethod
    def _law_of(fabric):
        """y, η, K_11/k_1, K_12/K_11, K_12/K_22."""
        limit, stiffness = math.inf if fabric.yield_strain is None else fabric.yield_strain, fabric.stiffness()
        return limit, fabric.hardening, 1 / (1 - fabric.poisson**2), *(stiffness[0, 1] / stiffness.diagonal()[:2])

    def _flowed(self, x):
        """Numbers after the flow of a step. Args: x: corners (3, elements, worlds, 3) [m]."""
        present = self._present[..., None]
        a, b = (present[..., k, :] * (x[1] - x[0]) + present[..., k + 1, :] * (x[2] - x[0]) for k in (0, 2))
        lengths = np.linalg.norm([a, b], axis=3)
        cosine = (a * b).sum(axis=2) / np.maximum(lengths.prod(axis=0), 1e-300)
        strain = np.stack([*(lengths - 1), cosine - self._present[..., 8]], axis=2)
        limit, hardening, stiffness, *coupling = np.moveaxis(self._law, 2, 0)
        limit = limit[..., None] + hardening[..., None] * self.numbers[..., 3:]
        load = strain.copy()  # T_i/k_i, and the shear
        load[..., :2] = stiffness[..., None] * (strain[..., :2] + np.stack(coupling, axis=2) * strain[..., 1::-1])
        at = np.nonzero((np.abs(load) > limit).any(axis=2) & (lengths > CRUSHED).all(axis=0))
        numbers = self.numbers.copy()
        sign, beyond = np.sign(load[at]), np.abs(load[at]) - limit[at]
        across = np.stack(coupling, axis=2)[at] * (stiffness[at] * sign[:, 0] * sign[:, 1])[:, None]
        threads = flow_of_threads(beyond[:, :2], (stiffness + hardening)[at][:, None], across)
        shear = np.maximum(beyond[:, 2:], 0.0) / (1 + hardening[at][:, None])
        stretch = 1 + strain[at][:, :2]
        numbers[at] += np.concatenate([0 * threads, sign[:, 2:] * shear, threads, shear], axis=1)
        numbers[at + (slice(2),)] *= stretch / np.maximum(stretch - sign[:, :2] * threads, CRUSHED)
        return numbers

    def _parameters(self, chosen):
        """Present parameters (chosen, worlds, columns). Args: chosen: mask of elements."""
        parameters, numbers = self._first[chosen], self.numbers[chosen]
        parameters[..., :4] /= np.repeat(numbers[..., :2], 2, axis=2)
        parameters[..., 4:8] *= np.sqrt(numbers[..., :2].prod(axis=2))[..., None]  # of the area
        parameters[..., 8] = numbers[..., 2]
        return parameters

    @staticmethod
    def _with(element, parameters):
        """An element with other parameters (n, columns)."""
        threads = parameters[:, :4].reshape(-1, 2, 2)
        threads = np.concatenate([-threads.sum(axis=2, keepdims=True), threads], axis=2)
        return replace(element, threads=threads, rest_cosines=parameters[:, 8])


def flow_of_threads(beyond, own, across):
    """δ of both threads, see above: the solution of M δ >= beyond, δ >= 0, with equality in one of them (n, 2).

    Args: beyond (n, 2); own: both entries on M's diagonal (n, 1); across: those beside it (n, 2).
    """
    alone = np.maximum(beyond, 0.0) / own
    both = (own * beyond - across * beyond[:, ::-1]) / (own**2 - across.prod(axis=1, keepdims=True))
    stays = beyond <= across * alone[:, ::-1]  # if the other one flows alone
    return np.where(stays.any(axis=1, keepdims=True), np.where(stays, 0.0, alone), both)
