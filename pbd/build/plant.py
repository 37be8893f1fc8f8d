"""Plant: a branching skeleton of stems, rods or sticks, with leaves."""

import math

import numpy as np

from pbd.build.growth import LEAF_WIDTH, UP, Plant, turned
from pbd.build.plant_of_rods import GrowthOfRods
from pbd.build.plant_of_sticks import GOLDEN_ANGLE, GrowthOfSticks
from pbd.core.messages import shown
from pbd.core.transaction import builder
from pbd.core.validate import boolean, finite_vector, not_negative, positive, refuse_gigabytes, refuse_remote, whole
from pbd.description.rods import ratio
from pbd.particles import Particles

__all__ = ["Plant", "plant"]

MOST_LEVELS = 20  # a stem of the next level would be a millionth of the trunk
BYTES_OF_NODE = 2000  # of a plant in a description, with its sticks and leaf, and while it grows

# Proportions of a stem to the one it grows from: length, radius at its foot; and of its tip's radius to its foot's.
LENGTH, RADIUS, TAPER = 0.55, 0.6, 0.4

BRANCH_ANGLE = math.radians(55)  # between a branch and its stem
RISE = 0.25  # how much of "up" joins a branch's direction along its length


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
    poisson=None,
    twist=True,
):
    """Add a plant that stands in the ground.

    Args:
        particles: the pbd.Particles to which it is added.
        base: where the trunk leaves the ground (3,) [m]. It grows along z, from a clamp in the ground.
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
        poisson: Poisson's ratio ν of stems that resist twist; None for 0.3.
        twist: whether stems are rods, see `build.rod`. If not, they are trusses of sticks.

    Returns: a Plant. Stems are elastic: they spring back from any bend.

    Rods are tapered and have EI = E π r⁴/4 and GJ = EI/(1 + ν). All are solved together with the leaves, which turn
    with their stems: two to four iterations in 1/60 s suffice. More substeps damp the motion less. 32 bits need four.

    Sticks have this EI when iterations converge. With the default numbers this takes 10 iterations in each of 4
    substeps of 1/240 s. With 10 iterations in 1/60 s the plant stands, but sways more.

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
    density, stiffness = positive("density", density), positive("stiffness", stiffness)
    leaf_mass = positive("leaf density", leaf_density) * LEAF_WIDTH * leaf_length**2
    material = density, stiffness, leaf_length, leaf_mass
    if boolean("twist", twist):
        growth = GrowthOfRods(*material, 0.3 if poisson is None else ratio(poisson))
    elif poisson is not None:
        raise TypeError(f"poisson is {shown(poisson)} with twist=False: expected twist=True, or no poisson")
    else:
        growth = GrowthOfSticks(*material)
    spacing = height / segments
    refuse_remote("base", base, spacing)

    def grow(chain, above, start, direction, length, foot, level):
        """Add a stem from `start` on, behind the last node of `chain`. `above` also supports its first three nodes."""
        count = max(3, round(length / spacing))
        step = length / count
        # The trunk goes on from its roots; a branch begins anywhere.
        reference = turned(direction, generator.uniform(0, 2 * math.pi) if level else 2 * GOLDEN_ANGLE)
        first, previous = len(chain), foot
        places, outwards, radii = [], [], []
        for k in range(1, count + 1):
            if level:
                direction = direction + RISE / count * UP
                direction = direction / np.linalg.norm(direction)
            start = start + step * direction
            outwards.append(turned(direction, GOLDEN_ANGLE, outwards[-1] if outwards else reference))
            here = foot * (1 - (1 - TAPER) * k / count)
            beside = above if k <= 3 else None
            chain.append(growth.stem_node(chain, beside, start, outwards[-1], step, (previous, here)))
            places.append(start)
            radii.append(here)
            previous = here
        growth.end_stem(chain, first, places)
        nodes = chain[first:]
        if level < levels and branches:
            # From a third of the way up; the higher, the shorter.
            for k in np.unique(np.linspace(count / 3, count - 2, min(branches, 4 * count)).round().astype(int)):
                way = math.cos(BRANCH_ANGLE) * direction + math.sin(BRANCH_ANGLE) * outwards[k]
                grown = LENGTH * length * (1.3 - 0.6 * k / count) * generator.uniform(0.85, 1.15)
                stand, above = chain[max(first + k - 4, 0) : first + k + 1], nodes[k + 1 : k + 3]
                grow(stand, above, places[k], way, grown, min(RADIUS * foot, radii[k]), level + 1)
        elif leaf_length:
            for k in range(count // 3, count):
                growth.leaf(chain[max(first + k - 4, 0) : first + k + 1], outwards[k] + 0.5 * direction)

    grow(growth.root(base, spacing), [], base, UP, height, radius, 0)
    made = growth.add_to(particles)
    if drag is not None:
        particles.add_triangles(made.triangles, drag)
    return made


def refuse_large_plant(levels, branches, segments):
    """Raise ValueError for a plant that would take gigabytes. Args: levels, branches, segments: see `plant`."""
    count, stems, nodes = segments, 1, segments
    for _ in range(levels):
        stems *= min(branches, max(1, 2 * count // 3 - 1))
        count = max(3, round(0.9 * LENGTH * count))
        nodes += stems * count
    given = f"{segments}, with branches={branches} and levels={levels}"
    refuse_gigabytes("segments", given, BYTES_OF_NODE * nodes)
