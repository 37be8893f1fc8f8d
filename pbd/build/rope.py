"""Rope: a line of particles."""

from dataclasses import dataclass, field

import numpy as np

from pbd.build.lines import ENDS, resampled
from pbd.build.rod import rod
from pbd.core.messages import shown
from pbd.core.transaction import builder
from pbd.core.validate import (
    boolean,
    derived,
    finite_array,
    not_negative,
    one_of,
    positive,
    refuse_gigabytes,
    sequence,
    spread,
    whole,
)
from pbd.description import rest_values, rods
from pbd.description.surfaces import radius_that_touches
from pbd.particles import Particles

BYTES_OF_PARTICLE = 300  # of a rope in a description, with its sticks, and while they are made

# A rope with twist and without compliance has EA of so many weights of itself and of what hangs on it. A stiffer one
# needs more than four iterations in 1/60 s, or falls too slowly (test_a_rope_with_twist_stretches_by_a_thousandth).
WEIGHTS = 1000.0
GRAVITY = 9.81  # [m/s²], for these weights
POISSON = 0.3  # of a round section whose `twisting` is not given

# Sticks over two segments have the energy of bending where segments meet at this angle [rad]; less where it is less.
BEND_OF_STICKS = 0.5


@dataclass
class Rope:
    """Indices of a rope.

    Attributes: particles: (n,) from start to end; sticks, or segments that resist twist: (n - 1, 2); radius: [m].
    segments, clamps: of a rope that resists twist, see `Rod`; otherwise empty.
    """

    particles: np.ndarray
    sticks: np.ndarray
    radius: float
    segments: np.ndarray = field(default_factory=lambda: np.zeros(0, int))
    clamps: dict = field(default_factory=dict)


@builder(Particles)
def rope(
    particles,
    points,
    segments=None,
    *,
    mass,
    weight=0.0,
    radius=0.0,
    friction=None,
    compliance=0.0,
    bending_compliance=None,
    bending=None,
    twisting=None,
    twist=True,
    tear=None,
    pins=(),
    clamps=(),
):
    """Add a rope along a line.

    With `bending` it is a rod of this flexural rigidity, which resists twist, too: see `build.rod`. All its segments
    are solved together, in steps of 1/60 s with four iterations.

    Otherwise it is a line of sticks. A long or heavily loaded rope needs `ParticleSystem(solve="direct")`: iterations
    would stretch it. Its contacts with colliders, boxes and bodies are then part of the solve; those with other
    particles are not. Particles of mass m between sticks of length l under a tension T swing across with
    ω = sqrt(4 T/(m l)). Substeps should be below 1/ω.

    Args:
        particles: the pbd.Particles to which it is added.
        points: corners of the line (k, 3) [m], k >= 2.
        segments: number of sticks of equal length; None for a stick between consecutive points.
        mass: of the whole rope [kg], distributed by length.
        weight: mass of a point at the end of the rope, which is added to that of the last particle [kg].
        radius: of the rope [m].
        friction: μ of the rope with itself, other ropes and surfaces, which it does not pass through, see
            `pbd.Particles.add_segments`; None for no such contacts. It needs a radius.
        compliance: of a stick, or of a segment [m/N]. With twist, a rope of zero compliance has EA = 4 EI/r², as a
            solid one, or 1000 times its weight and `weight`, if that is more: it stretches by a thousandth or less.
        bending_compliance: of sticks from each particle to the next but one, which resist bending [m/N]; None for no
            such sticks.
        bending: flexural rigidity EI [N m²], which needs a radius if it has twist; None for none.
        twisting: GJ [N m²]; None for that of a round section with ν = 0.3, EI/1.3.
        twist: whether a rope with `bending` resists twist. If not, it has sticks to the next but one. They resist no
            small bend, and have the energy of EI where two sticks meet at 0.5 rad.
        tear: sticks or segments that are longer than this many of their lengths tear, see pbd.Particles.add_stick; None
            for none.
        pins: "start", "end" or both.
        clamps: ends of a rope with twist that keep their direction and their turn, see `build.rod`.

    Returns: a Rope.

    Raises: TypeError and ValueError for bad values, such as a weight at an end that is pinned.

    Source: Jakobsen, Advanced Character Physics (2001), section 4.
    """
    points = finite_array("rope points", points, (None, 3))
    if len(points) < 2:
        raise ValueError(f"rope along {len(points)} points: expected two or more")
    if segments is not None:
        refuse_gigabytes("segments", segments, BYTES_OF_PARTICLE * whole("segments", segments))
        points = resampled(points, segments)
    lengths = np.linalg.norm(np.diff(points, axis=0), axis=1)
    if not lengths.all():
        raise ValueError(f"rope points {int(np.argmin(lengths))} and the next coincide: expected different ones")
    pins = [pins] if isinstance(pins, str) else sequence("pins", pins, 'names among "start" and "end"')
    for pin in pins:
        one_of("pin", pin, tuple(ENDS))
    radius, weight = not_negative("radius", radius), not_negative("weight", weight)
    if weight and "end" in (*pins, *([clamps] if isinstance(clamps, str) else clamps)):
        raise ValueError(f"weight is {weight:g} at the end of a rope, which is pinned: expected no pin there")
    twisted = refuse_contradictions(bending, bending_compliance, twisting, boolean("twist", twist), clamps, radius)
    mass = positive("mass", mass)
    if twisted:
        return with_twist(
            particles, points, lengths, mass, weight, radius, friction, compliance, bending, twisting, tear, pins,
            clamps,
        )  # fmt: skip
    share = (np.append(lengths, 0) + np.append(0, lengths)) / (2 * lengths.sum())
    masses = derived("mass and points", mass * share, "the mass of a particle")
    masses[-1] += weight
    added = particles.add_particles(points, masses, radius=radius)
    particles.pin(added[[ENDS[pin] for pin in pins]])
    sticks = np.stack([added[:-1], added[1:]], axis=1)
    particles.add_sticks(sticks, compliance=compliance, tear=tear)
    if friction is not None:
        particles.add_segments(sticks, radius=radius_that_touches(radius, friction), friction=friction)
    if bending is not None:
        # Nodes 2 l cos(θ/2) apart shorten a stick of 2 l by l θ²/4, and δ²/2α = EI θ²/2l.
        joints = (lengths[:-1] + lengths[1:]) / 2
        bending_compliance = (joints**3 * BEND_OF_STICKS**2 / 16) / positive("bending", bending)
    if bending_compliance is not None:
        bending_compliance = spread("bending_compliance", bending_compliance, (len(added) - 2,), signed=False)
        particles.add_sticks(np.stack([added[:-2], added[2:]], axis=1), compliance=bending_compliance)
    return Rope(added, sticks, radius)


def refuse_contradictions(bending, bending_compliance, twisting, twist, clamps, radius):
    """Whether a rope is a rod with twist. Args: see `rope`. Raises: TypeError and ValueError for a contradiction."""
    if bending is not None and bending_compliance is not None:
        raise TypeError(f"bending is {shown(bending)} beside bending_compliance: expected one of them")
    twisted = twist and bending is not None
    for name, given in (("twisting", None if twisting is None else shown(twisting)), ("clamps", shown(clamps))):
        if given not in (None, "()", "[]") and not twisted:
            lacks = "without bending" if bending is None else "with twist=False"
            raise TypeError(f"{name} is {given} {lacks}: expected a rope with bending and twist, or no {name}")
    if twisted and not radius:
        raise ValueError("radius is 0 with bending and twist: expected a number above zero, the radius of the rope")
    return twisted


def with_twist(
    particles, points, lengths, mass, weight, radius, friction, compliance, bending, twisting, tear, pins, clamps
):  # fmt: skip
    """Add a rope that is a rod with twist. Args: see `rope`; lengths: of its segments [m]. Returns: the Rope."""
    bending = positive("bending", bending)
    compliance = spread("compliance", compliance, lengths.shape, signed=False)
    least = max(4 * bending / radius**2, WEIGHTS * GRAVITY * (mass + weight))
    stretching = np.where(compliance > 0, lengths / np.where(compliance > 0, compliance, 1.0), least)
    strength = None if tear is None else (rest_values.tear_limits(tear, lengths) / lengths - 1) * stretching
    made = rod.__wrapped__(  # not noted as built: the rope is
        particles, points, radius=radius, density=mass / (lengths.sum() * np.pi * radius**2), bending=bending,
        twisting=bending / (1 + POISSON) if twisting is None else positive("twisting", twisting),
        stretching=stretching, strength=strength, friction=friction, pins=pins, clamps=clamps,
    )  # fmt: skip
    if weight:
        rods.add_masses(particles, made.particles[-1:], weight, 1.0)
    sticks = np.stack([made.particles[:-1], made.particles[1:]], axis=1)
    return Rope(made.particles, sticks, radius, made.segments, made.clamps)
