"""Sticks that tear: see `tear` of pbd.Particles.add_stick.

At the end of each step, a stick of length L is torn for good if

    |x2 - x1| > tear · L

Then it acts no more, and neither does bending across it. Segments of rods tear likewise, with their joints. They also
tear at a joint that is twisted beyond their strength, GJ |φ_3|/l > M (pbd/constraints/rod.py): of each rod the joint
that is farthest beyond, for as it breaks it unloads the others, and of its two segments the weaker one, or the first.

The wind no longer acts on its triangles, and these touch nothing any more (pbd/collision/surfaces/torn.py). Sticks are
compared on the host after each step, so steps are made one by one. Results do not depend on how many steps a call
makes, and kernels have no part in it but a limit below zero.

Departure: a cloth loses the triangles at a torn stick. Others split its particles, as Müller, Heidelberger, Hennix,
Ratcliff, Position Based Dynamics (2007), section 4.4.
"""

import numpy as np
import scipy

from pbd.core.kernels import read, write
from pbd.core.results import Event
from pbd.core.validate import LARGEST
from pbd.data import RANGE
from pbd.host.constraint_values import CUT_COMPLIANCE
from pbd.host.edges import edges_among
from pbd.rod_joints import RodJoints


def refuse_torn_surfaces(surfaces, pairs, worlds):
    """Raise NotImplementedError if a stick that is to tear is an edge of a surface of several worlds: they share it.

    Args: surfaces: a list of pbd.description.surfaces.Surface; pairs: particles of sticks (n, 2); worlds: how many.
    """
    for number, surface in enumerate(surfaces if worlds > 1 else ()):
        rows, places = edges_among(surface.members, pairs)
        if len(rows):
            a, b = pairs[places[0]]
            raise NotImplementedError(
                f"the stick of particles {a} and {b} tears or is cut, and is part of surface {number}, which {worlds} "
                'worlds share: expected one world, no tear, or contacts="spheres"'
            )


class Tearing:
    """The sticks of a system that tear.

    Args: constraints: the ConstraintValues; values: the ParticleValues, of the system.

    Attributes: pairs: particles of each stick (n, 2); torn: which are torn, (n, worlds); cut: particles of all sticks
    that were cut, whether they tear or not (m, 2).
    """

    def __init__(self, constraints, values):
        self._constraints, self._values = constraints, values
        places = [np.zeros((0, 3), int)]
        for each, place in zip(constraints.types, constraints.ranges):
            if "limit" in each.parameters and each.arity == 2:
                step = np.arange(place[RANGE.count])[:, None]
                first = place[[RANGE.members, RANGE.members, RANGE.parameters]] + (0, 1, each.parameters.index("limit"))
                places.append(first + step * (2, 2, each.width))
        places = np.concatenate(places)
        self._places, self._rows = places[:, :2], places[:, 2]
        self.pairs = read(constraints.arrays.members)[self._places]
        self._limits = np.abs(constraints.read(self._rows))
        self.torn, self._is_cut = np.zeros(self._limits.shape, bool), np.zeros((len(self.pairs), 1), bool)
        self._neighbours, self._twisting = None, Twisting(constraints, values, self.pairs)
        self.cut = np.zeros((0, 2), int)

    def __len__(self):
        return len(self.pairs)

    def tear(self, time):
        """Tear the sticks that are too long, and segments that are twisted too far.

        Args: time: now [s]. Returns: a list of Event, by world and stick.
        """
        x = self._values.read("position")[..., :3].astype(float)[self.pairs]
        gone = self.torn | self._is_cut
        torn = ~gone & (np.linalg.norm(x[:, 1] - x[:, 0], axis=-1) > self._limits)
        torn |= self._twisting.broken(gone | torn)
        if not torn.any():
            return []
        self.set_torn(self.torn | torn)
        return [
            Event(time, "tear", int(world), tuple(self.pairs[k].tolist()), tuple(x[k, :, world].mean(axis=0).tolist()))
            for world, k in np.argwhere(torn.T)
        ]

    def gone(self):
        """Particles of the sticks that are torn in the first world, or cut (n, 2)."""
        return np.concatenate([self.pairs[self.torn[:, 0]], self.cut])

    def leave_out(self, ends):
        """Leave out sticks that have been cut, which is for good. Args: ends: their particles (n, 2)."""
        self.cut = np.concatenate([self.cut, ends])
        members = read(self._constraints.arrays.members)[self._places]
        self._is_cut = members[:, :1] == members[:, 1:]
        if self._neighbours is not None:
            (hinges, compliances, _), (triangles, drag, _) = self._neighbours
            if len(hinges):
                compliances[np.isin(hinges, self._find_hinges(ends)[0])] = CUT_COMPLIANCE
            if len(triangles):
                drag[np.isin(triangles, self._find_triangles(ends)[0])] = 0.0

    def state(self):
        """The torn sticks, as a pbd.State has them."""
        return self._values.to_user(self.torn).astype(np.uint8)

    def restore(self, state):
        """Continue from a pbd.State's `torn`; nothing is torn in that of another system."""
        torn = np.asarray(state).astype(bool)
        fits = torn.shape == self.state().shape
        self.set_torn(np.reshape(torn.T, self.torn.shape) if fits else np.zeros_like(self.torn))

    def set_torn(self, torn):
        """Make sticks torn, or whole again. Args: torn: which, shaped like the attribute."""
        before, self.torn = self.torn, torn
        self._constraints.write(self._rows, np.where(torn, -self._limits, self._limits))
        if self._neighbours is None:
            self._neighbours = self._find_hinges(self.pairs), self._find_triangles(self.pairs)
        (hinges, compliances, hinge_sticks), (triangles, drag, triangle_sticks) = self._neighbours
        if len(hinges):
            across, changed = any_of(torn, hinge_sticks, len(hinges)), any_of(torn != before, hinge_sticks, len(hinges))
            new = np.where(across, CUT_COMPLIANCE, compliances)
            self._constraints.write(hinges, np.where(changed, new, self._constraints.read(hinges)))
        if len(triangles):
            coefficients = read(self._constraints.drag_coefficient)
            without, changed = (any_of(mask, triangle_sticks, len(triangles)) for mask in (torn, torn != before))
            coefficients[triangles] = np.where(changed, np.where(without, 0.0, drag), coefficients[triangles])
            write(self._constraints.drag_coefficient, coefficients)

    def _find_hinges(self, sticks):
        """Hinges across some sticks: rows of their compliances, the compliances, and pairs (hinge, stick)."""
        members, rows = read(self._constraints.arrays.members), [np.zeros(0, int)]
        found, count = [np.zeros((0, 2), int)], 0
        for each, place in zip(self._constraints.types, self._constraints.ranges):
            if each.arity > 2 and each.compliance:
                first, number = place[RANGE.members], place[RANGE.count]
                elements = members[first : first + each.arity * number].reshape(-1, each.arity)
                hinge, stick = edges_among(elements, sticks)
                chosen, order = np.unique(hinge, return_inverse=True)
                rows.append(place[RANGE.parameters] + each.width * chosen + each.width - 1)
                found.append(np.column_stack([count + order, stick]))
                count += len(chosen)
        rows = np.concatenate(rows)
        return rows, self._constraints.read(rows) if count else None, np.concatenate(found)

    def _find_triangles(self, sticks):
        """Triangles at some sticks: their numbers, their drag coefficients, and pairs (triangle, stick)."""
        triangle, stick = edges_among(self._constraints.triangles, sticks)
        chosen, order = np.unique(triangle, return_inverse=True)
        drag = read(self._constraints.drag_coefficient)[chosen] if len(chosen) else None
        return chosen, drag, np.column_stack([order, stick])


class Twisting:
    """The segments of rods that tear by twist.

    Args: constraints, values: of the system; pairs: particles of all sticks that tear (n, 2).
    """

    def __init__(self, constraints, values, pairs):
        strengths, place_of = np.full((len(pairs), values.worlds), LARGEST), 0
        for each, place in zip(constraints.types, constraints.ranges):
            if "limit" in each.parameters and each.arity == 2:
                count = place[RANGE.count]
                if "torque" in each.parameters:
                    rows = place[RANGE.parameters] + each.width * np.arange(count) + each.parameters.index("torque")
                    strengths[place_of : place_of + count] = constraints.read(rows)
                place_of += count
        self._strengths, self._joints = strengths, ()
        if (strengths < LARGEST).any():
            self._joints = RodJoints(constraints, values, ("root_3", "compliance"))
        if len(self._joints):
            self._numbers = self._joints.read(self._joints.rows)  # before a joint is cut
            self._joint, self._segment = edges_among(self._joints.members[:, :3], pairs)
            entries = np.ones(len(self._joint)), (self._joint, self._segment)
            beside = scipy.sparse.coo_array(entries, (len(self._joints), len(pairs)))
            self._rods = scipy.sparse.csgraph.connected_components(beside.T @ beside, directed=False)[1][self._segment]

    def broken(self, torn):
        """Which segments tear now. Args: torn: sticks that are torn (n, worlds). Returns: the same shape."""
        new = np.zeros_like(torn)
        if len(self._joints):
            turn = self._joints.turns()[1][:, 2].reshape(self._numbers.shape[:2])
            torque = np.abs(turn) * self._numbers[..., 0] ** 2 / self._numbers[..., 1]
            torque[any_of(torn, np.column_stack([self._joint, self._segment]), len(torque))] = 0.0
            load = torque[self._joint] / self._strengths[self._segment]
            for world in range(torn.shape[1]):
                order = np.lexsort((-load[:, world], self._rods))
                most = order[np.unique(self._rods[order], return_index=True)[1]]
                new[self._segment[most[load[most, world] > 1]], world] = True
        return new


def any_of(mask, pairs, count):
    """Whether any stick of each item is in a mask. Args: mask (sticks, worlds); pairs (n, 2) of (item, stick); count:
    of items. Returns: (items, worlds)."""
    result = np.zeros((count, mask.shape[1]), bool)
    np.logical_or.at(result, pairs[:, 0], mask[pairs[:, 1]])
    return result
