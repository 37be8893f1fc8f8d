"""Stems of a plant as trusses of sticks.

A line of sticks has no bending stiffness, and sticks between every other node of a straight line resist bending only to
second order. So the nodes of a stem do not lie on its axis but wind around it, a golden angle apart, like leaves. Each
node has sticks to the three nodes before it. This slender truss has one particle per node, and is linear in bending and
twisting.
"""

import math

import numpy as np

from pbd.build.growth import LEAF_FREQUENCY, LEAF_WIDTH, UP, Growth, Plant, turned
from pbd.core.validate import derived

GOLDEN_ANGLE = math.pi * (3 - math.sqrt(5))

# Distance of nodes from their stem's axis, as a part of their distance along it.
OFFSET = 0.9

# A long stem of this offset has the flexural rigidity 2.8 · stiffness of a stick · offset² · distance along: from
# its linear truss, which test_plant.py solves again. Far off the axis, few iterations suffice; on it, none would.
RIGIDITY = 2.8

LEAF_FOLD = 0.08  # a leaf's edges' height over the midrib, by its length
PETIOLE = 0.015  # radius of a leaf's stalk, as a part of the leaf's length


class GrowthOfSticks(Growth):
    """A plant of sticks. Args: see Growth."""

    def __init__(self, *given):
        super().__init__(*given)
        self.sticks, self.compliances = [], []
        self.supports, self.axes, self.petioles = {}, {}, []

    def tie(self, node, others, compliance):
        """Add sticks from a node to others."""
        self.sticks += [(node, other) for other in others]
        self.compliances += [compliance] * len(others)

    def root(self, base, spacing):
        """Add the nodes below the trunk. Args: base: where it begins (3,) [m]; spacing: of nodes [m]. Returns: them."""
        self.roots = [
            self.node(base + OFFSET * spacing * turned(UP, k * GOLDEN_ANGLE) + (k - 2) * spacing * UP) for k in range(3)
        ]
        self.axes[self.roots[-1]], self.supports[self.roots[-1]] = base, [*self.roots, self.roots[-1] + 1]
        return list(self.roots)

    def stem_node(self, chain, above, place, outward, step, radii):
        """Add the next node of a stem.

        Args: chain: nodes before it, the last of them below it; above: nodes that support it as well, or None beyond
        the third of its stem; place: on the axis (3,) [m]; outward: direction across; step: from the last node [m];
        radii: there and here [m].

        Returns: the node.
        """
        node, offset = self.node(place + OFFSET * step * outward), OFFSET * step
        previous, here = radii
        rigidity = self.stiffness * math.pi * ((here + previous) / 2) ** 4 / 4
        # Where a stem begins it holds on to more of the one below, or a gust turns its foot inside out.
        others = chain[-3:] if above is None else chain[-5:] + above
        self.tie(node, others, RIGIDITY * offset**2 * step / rigidity)
        self.wood(chain[-1], node, previous, here)
        return node

    def end_stem(self, chain, first, places):
        """Note the axis of a stem. Args: chain, places: see `stem_node`; first: where in chain its own nodes begin."""
        for k, node in enumerate(chain[first:]):
            begin = first + min(k - 1, len(places) - 4)
            self.axes[node], self.supports[node] = places[k], chain[begin : begin + 4]

    def leaf(self, stem, direction):
        """Add a leaf at the last of some nodes, with sticks to the others: left corner, tip and right corner."""
        direction, left, up = self.leaf_axes(direction)
        foot, length = self.positions[stem[-1]], self.leaf_length
        self.petioles.append(stem[-1])
        edge = foot + length * (0.45 * direction + LEAF_FOLD * up)
        width, tip = LEAF_WIDTH * length * left, foot + length * direction
        corners = [self.node(place, self.leaf_mass / 3) for place in (edge + width, tip, edge - width)]
        a, tip, b = corners
        self.tie(tip, [stem[-1], a, b], 0.0)
        self.tie(a, [stem[-1], b], 0.0)
        self.tie(b, [stem[-1]], 0.0)
        swing = 1 / (self.leaf_mass * (2 * math.pi * LEAF_FREQUENCY) ** 2)
        for corner in corners:
            self.tie(corner, stem[:-1], swing)
        self.triangles += [(stem[-1], b, tip), (stem[-1], tip, a)]

    def add_to(self, particles):
        """Add all of it to particles. Returns: a Plant."""
        masses, compliances = np.array(self.masses), np.array(self.compliances)
        sizes = "height, radius, leaf_length and density or leaf_density"
        derived(sizes, masses[len(self.roots) :], "the mass of a node")
        derived("height, radius and stiffness", compliances[compliances != 0], "a compliance of")
        masses[self.roots] = math.inf
        added = particles.add_particles(np.array(self.positions), masses)
        first = added[0]
        # Tips first: each iteration then carries their load down to the roots, and a third of the iterations suffices.
        sticks = np.array(self.sticks)[::-1] + first
        particles.add_sticks(sticks, compliance=compliances[::-1])
        triangles = np.reshape(self.triangles, (-1, 3)).astype(np.int64) + first
        # Points on the axes as affine sums of four nodes of the stem, exact at rest. Then every node as it is: leaves
        # grow there, at the end of a petiole.
        count = len(masses)
        own = np.repeat(np.arange(count)[:, None], 4, axis=1)
        supports, weights = np.concatenate([own, own]), np.full((2 * count, 4), 0.25)
        wood = np.array(list(self.axes))
        supports[wood] = list(self.supports.values())
        corners = np.array(self.positions)[supports[wood]]
        system = np.concatenate([np.moveaxis(corners, 1, 2), np.ones((len(wood), 1, 4))], axis=1)
        places = np.concatenate([list(self.axes.values()), np.ones((len(wood), 1))], axis=1)
        weights[wood] = np.linalg.solve(system, places[..., None])[..., 0]
        petioles = np.array(self.petioles, dtype=np.int64)[:, None] + [0, count]
        return Plant(
            added,
            added[self.roots],
            sticks,
            triangles,
            np.concatenate([self.segments, petioles]),
            np.concatenate([self.radii, np.full((len(petioles), 2), PETIOLE * self.leaf_length)]),
            supports + first,
            weights,
        )
