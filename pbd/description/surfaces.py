"""Surfaces and segments of a description, which keep their distance. Plain numpy, without Taichi."""

from dataclasses import dataclass, replace

import numpy as np

from pbd.core.messages import shown
from pbd.core.topology import edges_of
from pbd.core.validate import boolean, indices, not_negative, positive
from pbd.host.edges import have_both


@dataclass(frozen=True)
class Surface:
    """Triangles or segments that touch one another and others.

    Attributes: members: (n, 3) or (n, 2) indices of particles; radius: half the thickness [m]; friction: μ;
    self_contact: whether parts of this surface touch one another.
    """

    members: np.ndarray
    radius: float
    friction: float
    self_contact: bool

    def same(self, other):
        """Whether another surface has the same members and numbers."""
        mine, others = ((each.radius, each.friction, each.self_contact) for each in (self, other))
        return mine == others and np.array_equal(self.members, other.members)

    def without(self, sticks):
        """The same surface without the triangles or segments at torn sticks. Args: sticks: (n, 2) particles."""
        return replace(self, members=self.members[~have_both(self.members, sticks)])

    def edges(self):
        """All edges, each once (edges, 2)."""
        return edges_of(self.members) if self.members.shape[1] == 3 else self.members

    def triangles(self):
        """All triangles (n, 3), none of segments."""
        return self.members if self.members.shape[1] == 3 else np.zeros((0, 3), np.int64)


def surface_of(triangles, thickness, friction, self_contact, positions):
    """Check a surface. Args: see `Particles.add_surface`; positions: of all particles [m]. Returns: a Surface."""
    triangles = indices("triangles of a surface", triangles, len(positions), 3)
    made = Surface(
        members_of("triangle of a surface", triangles),
        positive("thickness", thickness) / 2,
        not_negative("friction", friction),
        boolean("self_contact", self_contact),
    )
    edges = made.edges()
    lengths = lengths_of(edges, positions)
    if len(lengths) and lengths.min() < thickness:
        shortest = int(np.argmin(lengths))
        raise ValueError(
            f"surface of thickness {thickness:g} with an edge of {lengths[shortest]:.3g} m, between particles "
            f"{edges[shortest, 0]} and {edges[shortest, 1]}: expected a thickness of at most the shortest edge"
        )
    return made


def lengths_of(edges, positions):
    """Lengths of edges (n, 2) [m]."""
    return np.linalg.norm(np.diff(positions[edges], axis=1)[:, 0], axis=1)


def segments_of(pairs, radius, friction, self_contact, positions):
    """Check segments. Args: see `Particles.add_segments`; positions: of all particles [m]. Returns: a Surface."""
    pairs = members_of("segment", indices("pairs of segments", pairs, len(positions), 2))
    lengths = lengths_of(pairs, positions)
    if not lengths.all():
        pair = shown(pairs[np.argmin(lengths)])
        raise ValueError(f"segment between particles {pair}, which coincide: expected a length")
    return Surface(
        pairs, positive("radius", radius), not_negative("friction", friction), boolean("self_contact", self_contact)
    )


def radius_that_touches(radius, friction):
    """The radius of a rope or a soft body that has friction [m]. Raises: ValueError if it is not above zero."""
    if not not_negative("radius", radius):
        raise ValueError(f"friction is {shown(friction)} and radius 0: expected a radius above zero, or friction=None")
    return radius


def members_of(what, members):
    """The same members (n, k). Raises: ValueError for a particle twice in one, or for one of them twice."""
    ordered = np.sort(members, axis=1)
    repeated = (np.diff(ordered, axis=1) == 0).any(axis=1)
    if repeated.any():
        raise ValueError(f"{what} on particles {shown(members[repeated][0])}: expected different ones")
    _, first, counts = np.unique(ordered, axis=0, return_index=True, return_counts=True)
    if (counts > 1).any():
        raise ValueError(f"{what} on particles {shown(members[first[counts > 1][0]])} is given twice: expected once")
    return members.astype(np.int64)


def add_surface(description, triangles, *, thickness, friction=0.0, self_contact=True):
    """Let triangles keep their distance from one another and from other surfaces and segments.

    Vertices do not pass through triangles, nor edges through edges, whatever the step (pbd/collision/surfaces).
    Colliders and bodies touch the triangles, too, at half the thickness, see `add_element_contacts`.
    Parts that are nearer than the thickness in the description keep the described distance instead, or 2/π of it if
    the surface joins them there, so that it can bend to a radius of half its thickness.

    Args:
        triangles: (n, 3) indices.
        thickness: distance of two layers, between their middles [m]. Of two surfaces it is the mean of both.
        friction: Coulomb's μ; of two surfaces the root of the product of both.
        self_contact: whether parts of this surface touch one another.

    Returns: its index in `surfaces`.

    Raises: ValueError for a triangle twice, or a thickness above the shortest edge.
    """
    description.surfaces.append(surface_of(triangles, thickness, friction, self_contact, description.positions()))
    return len(description.surfaces) - 1


def add_segments(description, pairs, *, radius, friction=0.0, self_contact=True):
    """Let segments, such as those of a rope, keep their distance from one another and from surfaces, as capsules.

    Args: pairs: (n, 2) indices; radius: [m]; others: see `add_surface`.

    Returns: its index in `surfaces`.

    Raises: ValueError for a segment twice, or one of no length.
    """
    description.surfaces.append(segments_of(pairs, radius, friction, self_contact, description.positions()))
    return len(description.surfaces) - 1
