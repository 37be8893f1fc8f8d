"""Rope: a line of particles."""

from dataclasses import dataclass

import numpy as np

from pbd.core.transaction import builder
from pbd.core.validate import (
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
from pbd.description.surfaces import radius_that_touches
from pbd.particles import Particles

ENDS = {"start": 0, "end": -1}
BYTES_OF_PARTICLE = 300  # of a rope in a description, with its sticks, and while they are made


@dataclass
class Rope:
    """Indices of a rope. Attributes: particles: (n,) from start to end; sticks: (n - 1, 2); radius: [m]."""

    particles: np.ndarray
    sticks: np.ndarray
    radius: float


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
    tear=None,
    pins=(),
):
    """Add a rope along a line.

    A long or heavily loaded rope needs `ParticleSystem(solve="direct")`: iterations would stretch it. Its contacts with
    colliders, boxes and bodies are then part of the solve; those with other particles are not. Particles of mass m
    between sticks of length l under a tension T swing across with ω = sqrt(4 T/(m l)). Substeps should be below 1/ω.

    Args:
        particles: the pbd.Particles to which it is added.
        points: corners of the line (k, 3) [m], k >= 2.
        segments: number of sticks of equal length; None for a stick between consecutive points.
        mass: of the whole rope [kg], distributed by length.
        weight: mass of a point at the end of the rope, which is added to that of the last particle [kg].
        radius: of the rope [m].
        friction: μ of the rope with itself, other ropes and surfaces, which it does not pass through, see
            `pbd.Particles.add_segments`; None for no such contacts. It needs a radius.
        compliance: of a stick [m/N].
        bending_compliance: of sticks from each particle to the next but one, which resist bending [m/N]; None for no
            such sticks.
        tear: sticks that are longer than this many of their lengths tear, see pbd.Particles.add_stick; None for none.
        pins: "start", "end" or both.

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
    if weight and "end" in pins:
        raise ValueError(f"weight is {weight:g} at the end of a rope, which is pinned: expected no pin there")
    share = (np.append(lengths, 0) + np.append(0, lengths)) / (2 * lengths.sum())
    masses = derived("mass and points", positive("mass", mass) * share, "the mass of a particle")
    masses[-1] += weight
    added = particles.add_particles(points, masses, radius=radius)
    particles.pin(added[[ENDS[pin] for pin in pins]])
    sticks = np.stack([added[:-1], added[1:]], axis=1)
    particles.add_sticks(sticks, compliance=compliance, tear=tear)
    if friction is not None:
        particles.add_segments(sticks, radius=radius_that_touches(radius, friction), friction=friction)
    if bending_compliance is not None:
        bending_compliance = spread("bending_compliance", bending_compliance, (len(added) - 2,), signed=False)
        particles.add_sticks(np.stack([added[:-2], added[2:]], axis=1), compliance=bending_compliance)
    return Rope(added, sticks, radius)


def resampled(points, segments):
    """The points (segments + 1, 3) that divide a line into pieces of equal length."""
    along = np.append(0, np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=1)))
    at = np.linspace(0, along[-1], segments + 1)
    return np.stack([np.interp(at, along, points[:, k]) for k in range(3)], axis=1)
