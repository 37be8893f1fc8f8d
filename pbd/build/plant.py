"""Plant: a branching skeleton of sticks, with leaves.

A line of sticks has no bending stiffness, and sticks between every other node of a straight line resist bending only to
second order. So the nodes of a stem do not lie on its axis but wind around it, a golden angle apart, like leaves. Each
node has sticks to the three nodes before it. This slender truss has one particle per node, and is linear in bending and
twisting.
"""

import math
from dataclasses import dataclass

import numpy as np

from pbd.core.transaction import builder
from pbd.core.validate import derived, finite_vector, not_negative, positive, refuse_gigabytes, refuse_remote, whole
from pbd.particles import Particles

UP = np.array([0.0, 0.0, 1.0])
GOLDEN_ANGLE = math.pi * (3 - math.sqrt(5))

MOST_LEVELS = 20  # a stem of the next level would be a millionth of the trunk
BYTES_OF_NODE = 2000  # of a plant in a description, with its sticks and leaf, and while it grows

# Distance of nodes from their stem's axis, as a part of their distance along it.
OFFSET = 0.9

# A long stem of this offset has the flexural rigidity 2.8 · stiffness of a stick · offset² · distance along: from
# its linear truss, which test_plant.py solves again. Far off the axis, few iterations suffice; on it, none would.
RIGIDITY = 2.8

# Proportions of a stem to the one it grows from: length, radius at its foot; and of its tip's radius to its foot's.
LENGTH, RADIUS, TAPER = 0.55, 0.6, 0.4

BRANCH_ANGLE = math.radians(55)  # between a branch and its stem
RISE = 0.25  # how much of "up" joins a branch's direction along its length
LEAF_WIDTH, LEAF_FOLD = 0.3, 0.08  # half a leaf's width, and its edges' height over the midrib, by its length
PETIOLE = 0.015  # radius of a leaf's stalk, as a part of the leaf's length
LEAF_FREQUENCY = 4.0  # at which a leaf swings on its stem [Hz]


@dataclass
class Plant:
    """Indices of a plant in its Particles.

    Attributes:
        particles: (n,).
        roots: pinned particles.
        sticks: (s, 2).
        triangles: leaves (t, 3), two triangles each.
        segments: (k, 2), pieces of stems from foot to tip, as indices of points on their axes, see `axes`.
        radii: (k, 2), of each segment at both ends [m].
        supports, weights: (a, 4), the points on the axes as weighted sums of particles.
    """

    particles: np.ndarray
    roots: np.ndarray
    sticks: np.ndarray
    triangles: np.ndarray
    segments: np.ndarray
    radii: np.ndarray
    supports: np.ndarray
    weights: np.ndarray

    def axes(self, positions):
        """Points on the axes of stems (a, 3) [m], from the positions of all particles (particles, 3) [m]."""
        return np.einsum("nk,nkj->nj", self.weights, np.asarray(positions)[self.supports])


class Growth:
    """The plant during its construction, in lists. Indices of nodes count from zero."""

    def __init__(self, density):
        self.density = density
        self.positions, self.masses = [], []
        self.sticks, self.compliances = [], []
        self.segments, self.radii, self.triangles = [], [], []
        self.supports, self.axes, self.petioles = {}, {}, []

    def node(self, position, mass=0.0):
        """Add a node. Returns: its index."""
        self.positions.append(position)
        self.masses.append(mass)
        return len(self.positions) - 1

    def tie(self, node, others, compliance):
        """Add sticks from a node to others."""
        self.sticks += [(node, other) for other in others]
        self.compliances += [compliance] * len(others)

    def wood(self, a, b, radius_a, radius_b):
        """Add a piece of stem between two nodes, which share its mass."""
        length = np.linalg.norm(self.positions[b] - self.positions[a])
        mass = self.density * math.pi * (radius_a**2 + radius_a * radius_b + radius_b**2) / 3 * length
        self.masses[a] += mass / 2
        self.masses[b] += mass / 2
        self.segments.append((a, b))
        self.radii.append((radius_a, radius_b))


@builder(Particles)
def plant(
    particles,
    base=(0.0, 0.0, 0.0),
    height=1.5,
    *,
    seed=0,
    levels=2,
    segments=12,
    branches=7,
    radius=None,
    stiffness=1e9,
    density=700.0,
    leaf_length=None,
    leaf_density=0.2,
    drag=1.0,
):
    """Add a plant that stands in the ground.

    Args:
        particles: the pbd.Particles to which it is added.
        base: where the trunk leaves the ground (3,) [m]. It grows along z, and three nodes below are pinned.
        height: of the trunk [m].
        seed: whole number; the same seed makes the same plant.
        levels: 0 for a trunk with leaves, 1 for branches, 2 for twigs on branches, ...
        segments: of the trunk, three or more; branches have fewer, by their length.
        branches: at most so many on each stem, one per node, a golden angle apart.
        radius: of the trunk at its foot [m]; None for a sixtieth of the height.
        stiffness: Young's modulus of the stems [Pa]: 1e8 to 1e9 for green ones, 1e10 for wood.
        density: of the wood [kg/m³].
        leaf_density: of the leaves [kg/m²].
        leaf_length: [m]; None for a tenth of the height; zero for no leaves.
        drag: coefficient of the leaves in the wind; None for no wind.

    Returns: a Plant. Stems have the rigidity E π r⁴/4 of round rods when iterations converge. With the default numbers
    this takes 10 iterations in each of 4 substeps of 1/240 s. With 10 iterations in 1/60 s the plant stands, but sways
    more. Stems are elastic: they spring back from any bend.

    Sources: Jakobsen, Advanced Character Physics (2001), section 4; Prusinkiewicz, Lindenmayer, The Algorithmic
    Beauty of Plants (1990), https://doi.org/10.1007/978-1-4613-8476-2, chapter 4, for the golden angle.
    """
    base, height = finite_vector("base", base), positive("height", height)
    generator = np.random.default_rng(whole("seed", seed, least=0, most=2**64 - 1))
    levels, branches = whole("levels", levels, least=0, most=MOST_LEVELS), whole("branches", branches, least=0)
    segments = whole("segments", segments, least=3)
    refuse_large_plant(levels, branches, segments)
    radius = height / 60 if radius is None else positive("radius", radius)
    leaf_length = height / 10 if leaf_length is None else not_negative("leaf length", leaf_length)
    growth = Growth(positive("density", density))
    positive("stiffness", stiffness)
    leaf_mass = positive("leaf density", leaf_density) * LEAF_WIDTH * leaf_length**2
    spacing = height / segments
    refuse_remote("base", base, spacing)

    def grow(chain, above, start, direction, length, foot, level):
        """Add a stem from `start` on, behind the last node of `chain`. `above` also supports its first three nodes."""
        count = max(3, round(length / spacing))
        step = length / count
        # The trunk goes on from its roots; a branch begins anywhere.
        reference = turned(direction, generator.uniform(0, 2 * math.pi) if level else 2 * GOLDEN_ANGLE)
        offset, first, previous = OFFSET * step, len(chain), foot
        nodes, places, outwards, radii = [], [], [], []
        for k in range(1, count + 1):
            if level:
                direction = direction + RISE / count * UP
                direction = direction / np.linalg.norm(direction)
            start = start + step * direction
            outwards.append(turned(direction, GOLDEN_ANGLE, outwards[-1] if outwards else reference))
            node = growth.node(start + offset * outwards[-1])
            here = foot * (1 - (1 - TAPER) * k / count)
            rigidity = stiffness * math.pi * ((here + previous) / 2) ** 4 / 4
            # Where a stem begins it holds on to more of the one below, or a gust turns its foot inside out.
            growth.tie(node, chain[-3:] if k > 3 else chain[-5:] + above, RIGIDITY * offset**2 * step / rigidity)
            growth.wood(chain[-1], node, previous, here)
            chain.append(node)
            nodes.append(node)
            places.append(start)
            radii.append(here)
            previous = here
        for k, node in enumerate(nodes):
            begin = first + min(k - 1, count - 4)
            growth.axes[node], growth.supports[node] = places[k], chain[begin : begin + 4]
        if level < levels and branches:
            # From a third of the way up; the higher, the shorter.
            for k in np.unique(np.linspace(count / 3, count - 2, min(branches, 4 * count)).round().astype(int)):
                way = math.cos(BRANCH_ANGLE) * direction + math.sin(BRANCH_ANGLE) * outwards[k]
                grown = LENGTH * length * (1.3 - 0.6 * k / count) * generator.uniform(0.85, 1.15)
                stand, above = chain[max(first + k - 4, 0) : first + k + 1], nodes[k + 1 : k + 3]
                grow(stand, above, places[k], way, grown, min(RADIUS * foot, radii[k]), level + 1)
        elif leaf_length:
            for k in range(count // 3, count):
                growth.petioles.append(nodes[k])
                leaf(chain[max(first + k - 4, 0) : first + k + 1], outwards[k] + 0.5 * direction)

    def leaf(stem, direction):
        """Add a leaf at the last of some nodes, with sticks to the others: left corner, tip and right corner."""
        direction = direction / np.linalg.norm(direction)
        foot = growth.positions[stem[-1]]
        left = np.cross(UP, direction)
        left = left / np.linalg.norm(left) if np.linalg.norm(left) > 1e-6 else turned(direction, 0.0)
        up = np.cross(direction, left)
        edge = foot + leaf_length * (0.45 * direction + LEAF_FOLD * up)
        corners = [
            growth.node(place, leaf_mass / 3)
            for place in (
                edge + LEAF_WIDTH * leaf_length * left,
                foot + leaf_length * direction,
                edge - LEAF_WIDTH * leaf_length * left,
            )
        ]
        a, tip, b = corners
        growth.tie(tip, [stem[-1], a, b], 0.0)
        growth.tie(a, [stem[-1], b], 0.0)
        growth.tie(b, [stem[-1]], 0.0)
        swing = 1 / (leaf_mass * (2 * math.pi * LEAF_FREQUENCY) ** 2)
        for corner in corners:
            growth.tie(corner, stem[:-1], swing)
        growth.triangles += [(stem[-1], b, tip), (stem[-1], tip, a)]

    roots = [
        growth.node(base + OFFSET * spacing * turned(UP, k * GOLDEN_ANGLE) + (k - 2) * spacing * UP) for k in range(3)
    ]
    growth.axes[roots[-1]], growth.supports[roots[-1]] = base, [*roots, roots[-1] + 1]
    grow(list(roots), [], base, UP, height, radius, 0)

    masses, compliances = np.array(growth.masses), np.array(growth.compliances)
    sizes = "height, radius, leaf_length and density or leaf_density"
    derived(sizes, masses[len(roots) :], "the mass of a node")
    derived("height, radius and stiffness", compliances[compliances != 0], "a compliance of")
    masses[roots] = math.inf
    added = particles.add_particles(np.array(growth.positions), masses)
    first = added[0]
    # Tips first: each iteration then carries their load down to the roots, and a third of the iterations suffices.
    sticks = np.array(growth.sticks)[::-1] + first
    particles.add_sticks(sticks, compliance=compliances[::-1])
    triangles = np.reshape(growth.triangles, (-1, 3)).astype(np.int64) + first
    if drag is not None:
        particles.add_triangles(triangles, drag)
    # Points on the axes as affine sums of four nodes of the stem, exact at rest. Then every node as it is: leaves
    # grow there, at the end of a petiole.
    count = len(masses)
    own = np.repeat(np.arange(count)[:, None], 4, axis=1)
    supports, weights = np.concatenate([own, own]), np.full((2 * count, 4), 0.25)
    wood = np.array(list(growth.axes))
    supports[wood] = list(growth.supports.values())
    corners = np.array(growth.positions)[supports[wood]]
    system = np.concatenate([np.moveaxis(corners, 1, 2), np.ones((len(wood), 1, 4))], axis=1)
    places = np.concatenate([list(growth.axes.values()), np.ones((len(wood), 1))], axis=1)
    weights[wood] = np.linalg.solve(system, places[..., None])[..., 0]
    petioles = np.array(growth.petioles, dtype=np.int64)[:, None] + [0, count]
    return Plant(
        added,
        added[roots],
        sticks,
        triangles,
        np.concatenate([growth.segments, petioles]),
        np.concatenate([growth.radii, np.full((len(petioles), 2), PETIOLE * leaf_length)]),
        supports + first,
        weights,
    )


def refuse_large_plant(levels, branches, segments):
    """Raise ValueError for a plant that would take gigabytes. Args: levels, branches, segments: see `plant`."""
    count, stems, nodes = segments, 1, segments
    for _ in range(levels):
        stems *= min(branches, max(1, 2 * count // 3 - 1))
        count = max(3, round(0.9 * LENGTH * count))
        nodes += stems * count
    given = f"{segments}, with branches={branches} and levels={levels}"
    refuse_gigabytes("segments", given, BYTES_OF_NODE * nodes)


def turned(direction, angle, reference=None):
    """A unit vector at a right angle to a direction, at an angle [rad] from the reference's projection.

    Without a reference, an arbitrary one is used, which may jump between directions. So along a stem each node passes
    its reference to the next.
    """
    reference = np.eye(3)[np.argmin(np.abs(direction))] if reference is None else reference
    side = reference - (reference @ direction) * direction
    side /= np.linalg.norm(side)
    return math.cos(angle) * side + math.sin(angle) * np.cross(direction, side)
