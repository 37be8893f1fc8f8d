"""Rod: a line of segments that stretch, bend and twist, in physical units."""

import math
from dataclasses import dataclass, field

import numpy as np

from pbd.build.lines import ENDS, resampled
from pbd.core.messages import shown
from pbd.core.transaction import builder
from pbd.core.validate import (
    boolean,
    finite_array,
    finite_number,
    indices,
    one_index,
    one_of,
    refuse_gigabytes,
    sequence,
    whole,
)
from pbd.description import rods
from pbd.description.rod_frames import frames_along, natural_at_end
from pbd.description.surfaces import radius_that_touches
from pbd.particles import Particles

BYTES_OF_SEGMENT = 2000  # of a rod in a description, and while it is made
LARGEST_MASS = 1e40  # [kg], of a segment; the least is its inverse
SHORTEST = 1e-9  # part of a rod that a segment may be: round-off of positions turns a shorter one


@dataclass
class Rod:
    """Indices of a rod.

    Attributes: particles: nodes from start to end (n,); segments: rows of `pbd.Particles.rod_segments` (n - 1,), or
    (n,) if it is closed; clamps: {"start" or "end": the segment that holds it}; radius: [m], of each segment.
    """

    particles: np.ndarray
    segments: np.ndarray
    radius: np.ndarray
    clamps: dict = field(default_factory=dict)


@builder(Particles)
def rod(
    particles, points=None, segments=None, *, radius, density, young=None, shear=None, poisson=None, natural="straight",
    closed=False, twist=0.0, area=None, bending=None, twisting=None, stretching=None, damping=0.0, yield_curvature=None,
    yield_twist=None, strength=None, twist_strength=None, friction=None, pins=(), clamps=(), start=None, end=None,
    along=None,
):  # fmt: skip
    """Add a rod along a line: a cable, a spring, a wire, a stem.

    Its segments are solved together (see pbd/implicit), so it is as stiff as it says, however few the iterations. With
    `ParticleSystem(direction="current")`, the default, it never gains energy, and comes to rest. With "start" it keeps
    its energy as far as substeps resolve how its segments swing, and iterations converge.

    Args:
        particles: the pbd.Particles to which it is added.
        points: corners of the line (k, 3) [m], k >= 2; of a closed one k >= 3, the first is not repeated. None with
            `along`.
        segments: number of segments of equal length; None for one between consecutive points.
        radius: of the rod [m]. This and the following are for all, or one for each segment.
        density: mass by volume [kg/m³].
        young: Young's modulus E [Pa].
        shear: shear modulus G [Pa]; None for E/2(1 + ν).
        poisson: Poisson's ratio ν; None for 0.3.
        natural: its shape without load: "straight" and untwisted; "given", as it is added, a closed one before its
            twist; or (curvatures, twist) with the curvatures about the first and second axis of the section (2,) or
            (joints, 2) [1/m], and the twist, a number or (joints,) [rad/m]. A joint is a node between two segments.
        closed: whether its end is joined to its start.
        twist: the angle by which its end was turned about its axis before it was added, or joined to its start [rad].
        area: of the section [m²]; None for a round one, as the next three.
        bending: EI about the first axis of the section, which is horizontal at the start, and about the second [N m²].
        twisting: GJ [N m²].
        stretching: EA [N].
        damping: τ of bending and twist [s]: what swings with ω decays by ω² τ/2.
        yield_curvature: curvature beyond its natural one that springs back [1/m]; what is bent further stays bent. None
            for a rod that always springs back.
        yield_twist: the same for its twist [rad/m].
        strength: tension at which a segment tears for good, with its joints [N]; None for a rod that never tears.
        twist_strength: torque about the axis, GJ times the twist by length beyond its natural one, at which a joint
            breaks for good: the segment before it tears, or the weaker one [N m]; None for never. See pbd/tearing.py.
        friction: μ of the rod with itself, other ropes, rods and surfaces, which it does not pass through, see
            `pbd.Particles.add_segments`; None for no such contacts.
        pins: "start", "end" or both: nodes that stay where they are, about which the rod may turn.
        clamps: "start", "end" or both: pins that hold the direction and the turn about the axis as well. See
            `pbd.Particles.turn` to turn them.

        start, end: a particle that is there already, at the first or last of the points, and becomes that node: of a
            cloth, a net or another rod. At a node of another rod both are joined rigidly, at the angle that they have
            now. None for a new particle.
        along: particles that are there already and become the nodes (k,), such as an edge of a cloth, in place of
            points; None for new ones.

    Returns: a Rod.

    Raises: TypeError and ValueError for bad values, such as points that coincide, a natural curvature for another
    number of joints, or moduli that contradict each other.

    Source: see pbd/constraints/rod.py.
    """
    if (points is None) == (along is None):
        raise TypeError(f"points is {shown(points)} and along is {shown(along)}: expected one of them")
    if along is not None:
        along = indices("along", along, len(particles))
        points = particles.positions()[along]
    points = finite_array("rod points", points, (None, 3))
    closed, least = boolean("closed", closed), 3 if closed else 2
    if len(points) < least:
        plural = "" if len(points) == 1 else "s"
        raise ValueError(f"rod has {len(points)} point{plural}: expected {least} or more")
    if segments is not None and along is not None:
        raise TypeError("segments with along: expected one of them, its particles are the nodes")
    if segments is not None:
        segments = whole("segments", segments, least=least - (not closed))
        refuse_gigabytes("segments", segments, BYTES_OF_SEGMENT * segments)
        corners = np.concatenate([points, points[:1]]) if closed else points
        points = resampled(corners, segments)[: segments + (not closed)]
    ends = np.concatenate([points, points[:1]]) if closed else points
    lengths = np.linalg.norm(np.diff(ends, axis=0), axis=1)
    refuse_coinciding(points, lengths, closed)
    pins, clamps = ends_of("pins", pins, closed), ends_of("clamps", clamps, closed)
    twist = finite_number("twist", twist)
    section = rods.section_of(
        len(lengths), radius, young, shear, poisson, density, area, bending, twisting, stretching, yield_curvature,
        yield_twist,
    )  # fmt: skip
    frames = frames_along(points, closed, twist)
    masses, after = masses_of(section, lengths), np.arange(1, len(lengths) + 1) % len(points)
    before = np.arange(len(lengths))
    at_nodes = (np.bincount(before, masses, len(points)) + np.bincount(after, masses, len(points))) / 2
    radii = np.bincount(after, section.radius, len(points))
    radii[: len(lengths)] = np.maximum(radii[: len(lengths)], section.radius)
    inertial = 1 - 1 / rods.LEVER**2
    ends = shared_ends(particles, points, {"start": start, "end": end}, closed)
    nodes = np.full(len(points), -1) if along is None else along.copy()
    for name, particle in ends.items():
        nodes[ENDS[name]] = particle
    old, new = np.flatnonzero(nodes >= 0), np.flatnonzero(nodes < 0)
    neighbours = {name: rods.segments_at(particles, nodes[ENDS[name]])[:1] for name in ENDS if not closed}
    rods.add_masses(particles, nodes[old], inertial * at_nodes[old], 1 / inertial)
    nodes[new] = particles.add_particles(
        points[new], inertial * at_nodes[new], radius=radii[new], gravity_scale=1 / inertial
    )
    pairs = np.stack([nodes[: len(lengths)], nodes[after]], axis=1)
    added = rods.add_segments(
        particles, pairs, frames.as_matrix()[:, :, 0], section, masses / rods.LEVER**2, strength=strength,
        twist_strength=twist_strength,
    )  # fmt: skip
    particles.pin(nodes[[ENDS[name] for name in pins]])
    made = Rod(nodes, added, section.radius)
    joints = np.stack([added, np.roll(added, -1)], axis=1)[: len(lengths) if closed else len(lengths) - 1]
    rods.add_joints(particles, joints, natural, damping, twist / len(lengths) if closed else None)
    for name, others in neighbours.items():
        pair = np.array([(k, added[ENDS[name]]) for k in others], int).reshape(-1, 2)
        rods.add_joints(particles, pair, "given", damping)
    for name in clamps:
        at_end = natural_at_end(natural, ENDS[name])
        made.clamps[name] = add_clamp(particles, made, name, at_end, damping)
    if friction is not None:
        for each in np.unique(section.radius):
            chosen = pairs[section.radius == each]
            particles.add_segments(chosen, radius=radius_that_touches(float(each), friction), friction=friction)
    return made


def ends_of(name, given, closed):
    """Names of ends, a list. Args: name: of the argument; given: a name or several; closed: whether there are none."""
    given = [given] if isinstance(given, str) else sequence(name, given, 'names among "start" and "end"')
    for end in given:
        one_of(name, end, tuple(ENDS))
    if len(set(given)) < len(given):
        raise ValueError(f"{name} is {shown(given)}: expected each end once")
    if given and closed:
        raise ValueError(f"{name} of a closed rod, which has no ends: expected none, see pbd.Particles.clamp")
    return given


def shared_ends(particles, points, given, closed):
    """Particles that are nodes already, {"start" or "end": particle}. Args: given: of both, or None.

    Raises: ValueError for a particle that is elsewhere, or of a closed rod; IndexError for one that does not exist.
    """
    shared = {name: one_index(name, each, len(particles)) for name, each in given.items() if each is not None}
    for name, particle in shared.items():
        if closed:
            raise ValueError(f"{name} of a closed rod, which has no ends: expected none")
        away = np.linalg.norm(particles.positions()[particle] - points[ENDS[name]])
        if away > 1e-6:
            place = shown(particles.positions()[particle])
            raise ValueError(f"{name} of the rod is {away:g} m from particle {particle} at {place}: expected it there")
    return shared


def refuse_coinciding(points, lengths, closed):
    """Raise ValueError for points that coincide with the next. Args: lengths: of segments [m]; others: see `rod`."""
    if lengths.min() <= SHORTEST * lengths.sum():
        first = int(np.argmin(lengths))
        second, repeated = (first + 1) % len(points), closed and first == len(points) - 1
        expected = "the first of a closed rod only once" if repeated else "different ones"
        raise ValueError(f"rod points {first} and {second} coincide, at {shown(points[first])}: expected {expected}")


def masses_of(section, lengths):
    """Masses of segments (segments,) [kg]. Args: section: a Section; lengths: [m]."""
    masses = section.line_density * lengths
    wrong = ~((masses >= 1 / LARGEST_MASS) & (masses <= LARGEST_MASS))
    if wrong.any():
        raise ValueError(
            f"mass of rod segment {int(np.argmax(wrong))} is {masses[wrong][0]:g} kg by its points, density, and "
            f"radius or area: expected {1 / LARGEST_MASS:g} to {LARGEST_MASS:g}"
        )
    return masses


def add_clamp(particles, rod, end, natural, damping):
    """Hold an end by a held segment beyond it. Returns: that segment."""
    held = rods.add_beyond(particles, rod, ENDS[end], math.inf, natural, damping)
    particles.clamp(held)
    return held
