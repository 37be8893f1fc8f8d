"""Stems of a plant as rods with twist, and leaves that are held by them.

A stem is a rod of tapered segments. The compliances of a piece of radii a and b are means along it, so they are exact:

    1/EI = ∫ds/(E π r⁴/4)/l, so EI = E π/4 · 3 a³b³/(a² + ab + b²), GJ = EI/(1 + ν), EA = E π ab

A joint has those of the half below it and the half above it, and the clamp in the ground that of the half above it.

A leaf is a segment, too, from its foot to its tip. Its side particle is its left corner, and a row of the same matrix
holds its right corner r at a + b - s. So a leaf turns with its stem, and needs no iterations of its own.
"""

import math

import numpy as np

from pbd.build.growth import LEAF_FREQUENCY, LEAF_WIDTH, Growth, Plant, turned
from pbd.build.rod import Rod, add_clamp
from pbd.core.validate import LARGEST, derived
from pbd.description import rods

STRETCH = 400.0  # frequency at which a leaf stretches [Hz]; a tenth of it for its corners


class GrowthOfRods(Growth):
    """A plant of rods. Args: poisson: ν of the wood; others: see Growth."""

    def __init__(self, density, stiffness, leaf_length, leaf_mass, poisson):
        super().__init__(density, stiffness, leaf_length, leaf_mass)
        self.poisson, self.sides, self.joints = poisson, [], []
        self.below = {}  # the piece of stem that ends at a node
        self.leaves = []  # foot, tip, right corner
        self.lefts = []  # directions from a leaf's middle to its left corner

    def root(self, base, spacing):
        """Add the node at which the trunk begins (3,) [m]. Returns: a list of it. Args: spacing: unused."""
        return [self.node(base)]

    def stem_node(self, chain, above, place, outward, step, radii):
        """Add the next node of a stem. Args: see GrowthOfSticks.stem_node. Returns: the node."""
        node, number = self.node(place), len(self.segments)
        self.wood(chain[-1], node, *radii)
        along = (self.positions[node] - self.positions[chain[-1]]) / step
        if chain[-1] in self.below:
            before = self.below[chain[-1]]
            self.joints.append((before, number))
            self.sides.append(turned(along, 0.0, self.sides[before]))
        else:
            self.sides.append(turned(along, 0.0))
        self.below[node] = number
        return node

    def wood(self, a, b, radius_a, radius_b):
        """Add a piece of stem between two nodes, which share its mass by its distribution along it."""
        length = np.linalg.norm(self.positions[b] - self.positions[a])
        for node, near, far in ((a, radius_a, radius_b), (b, radius_b, radius_a)):
            self.masses[node] += self.density * math.pi * (3 * near**2 + 2 * near * far + far**2) / 12 * length
        self.segments.append((a, b))
        self.radii.append((radius_a, radius_b))

    def end_stem(self, chain, first, places):
        """Nodes are on the axis: there is nothing to note."""

    def leaf(self, stem, direction):
        """Add a leaf at the last of some nodes."""
        direction, left, _ = self.leaf_axes(direction)
        foot, length = self.positions[stem[-1]], self.leaf_length
        tip = self.node(foot + length * direction, self.leaf_mass / 3)
        right = self.node(foot + length * (0.5 * direction - LEAF_WIDTH * left), self.leaf_mass / 3)
        self.leaves.append((stem[-1], tip, right))
        self.lefts.append(left)

    def add_to(self, particles):
        """Add all of it to particles. Returns: a Plant."""
        masses, leaves = np.array(self.masses), np.array(self.leaves, int).reshape(-1, 3)
        pieces, stems = np.array(self.segments), self.section_of_stems()
        derived("height, radius, leaf_length and density or leaf_density", masses, "the mass of a node")
        derived("height, radius and stiffness", stems.table()[:, 2:6], "a rigidity of a stem")
        # Stems give a part of their masses to side particles, which have no weight. Of a leaf the tip has the weight of
        # all that is beyond its foot, so its corners do not pull on it, and the foot has the rest.
        weights, inertial = masses.copy(), 1 - 1 / rods.LEVER**2
        wood = np.setdiff1d(np.arange(len(masses)), leaves[:, 1:])
        masses[wood] *= inertial
        np.add.at(weights, leaves[:, 0], self.leaf_mass / 3)
        weights[leaves[:, 1]] *= 2
        weights[leaves[:, 2]] = 0
        added = particles.add_particles(np.array(self.positions), masses, gravity_scale=weights / masses)
        pieces, leaves = added[pieces], added[leaves]
        lengths = np.linalg.norm(np.diff(particles.positions()[pieces], axis=1)[:, 0], axis=1)
        first = rods.add_segments(
            particles, pieces, np.array(self.sides), stems, stems.line_density * lengths / rods.LEVER**2
        )
        joints, (lower, upper) = np.array(self.joints, int).reshape(-1, 2), self.halves() * lengths / 2
        stiffness = np.outer(1 / (upper[joints[:, 0]] + lower[joints[:, 1]]), (1, 1, 1 / (1 + self.poisson)))
        rods.add_joints(particles, first[joints], "given", stiffness=stiffness)
        clamp = add_clamp(particles, Rod(added[[0, 1]], first[[0]], stems.radius[[0]]), "start", "straight", 0.0)
        roots = particles.rod_segments()[clamp]
        stems_of_leaves = first[np.array([self.below[foot] for foot, *_ in self.leaves], int)]
        triangles = self.add_leaves(particles, leaves, stems_of_leaves)
        points = np.repeat(added[:, None], 4, axis=1)
        return Plant(
            np.arange(added[0], len(particles)), np.sort(roots), np.concatenate([pieces, leaves[:, :2]]), triangles,
            pieces - added[0], np.array(self.radii), points, np.full(points.shape, 0.25), first,
        )  # fmt: skip

    def section_of_stems(self):
        """The Section of all pieces of stems."""
        a, b = np.array(self.radii).T
        mean = a**2 + a * b + b**2
        bending = 1 / self.halves().mean(axis=0)
        bending[0] = 1 / self.halves()[0, 0]  # of which only the clamp asks
        return rods.Section(
            radius=(a + b) / 2, line_density=self.density * math.pi * mean / 3,
            stretching=self.stiffness * math.pi * a * b, bending=bending[:, None] * np.ones(2),
            twisting=bending / (1 + self.poisson), gyration=(a + b) / np.sqrt(8), yields=np.full((len(a), 2), LARGEST),
        )  # fmt: skip

    def halves(self):
        """Means of 1/EI of the lower half of each piece and of the upper one (2, pieces) [1/(N m²)]."""
        a, b = np.array(self.radii).T
        middle = (a + b) / 2
        means = [(p**2 + p * q + q**2) / (3 * (p * q) ** 3) for p, q in ((a, middle), (middle, b))]
        return np.array(means) / (self.stiffness * math.pi / 4)

    def add_leaves(self, particles, leaves, below):
        """Add what holds leaves. Args: leaves: foot, tip, right corner (n, 3); below: segments at feet (n,).

        A leaf swings with LEAF_FREQUENCY about both axes across and about its own: masses of m/3 at its tip and at two
        corners half as far have the inertia m l²/2 about its foot, and 2/3 m w² about its axis.

        Returns: triangles.
        """
        if not len(leaves):
            return np.zeros((0, 3), np.int64)
        count, length, width = len(leaves), self.leaf_length, LEAF_WIDTH * self.leaf_length
        swing = (2 * math.pi * LEAF_FREQUENCY) ** 2 * self.leaf_mass
        stiffness = (2 * math.pi * STRETCH) ** 2 * self.leaf_mass
        leaf = rods.Section(
            radius=np.full(count, width), line_density=np.full(count, self.leaf_mass / length),
            stretching=np.full(count, stiffness * length), bending=np.full((count, 2), swing * length**3 / 4),
            twisting=np.full(count, swing * width**2 * length / 3), gyration=np.full(count, width / rods.LEVER),
            yields=np.full((count, 2), LARGEST),
        )  # fmt: skip
        derived("leaf_length and leaf_density", leaf.table()[:, 2:6], "a rigidity of a leaf")
        blades = rods.add_segments(particles, leaves[:, :2], np.array(self.lefts), leaf, self.leaf_mass / 3)
        rods.add_joints(particles, np.stack([below, blades], axis=1), "given")
        (feet, tips, rights), lefts = leaves.T, particles.rod_segments()[blades, 2]
        other = particles.rod_segments()[below, 0]  # a hold needs a fourth particle, which it does not use
        numbers = dict(zip((f"coefficient_{k}" for k in range(4)), (1.0, 1.0, -1.0, 0.0)))
        particles.add_constraints(
            "rod hold", np.stack([rights, feet, tips, lefts, other], axis=1), 1 / stiffness, **numbers
        )
        return np.concatenate([np.stack(each, axis=1) for each in ((feet, rights, tips), (feet, tips, lefts))])
