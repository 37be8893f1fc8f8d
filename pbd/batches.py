"""Constraints of a description, by kind, in the order in which they were added. Plain numpy; kinds of ours by name."""

import math
from dataclasses import dataclass, field

import numpy as np

from pbd.core.validate import finite_array, finite_number, indices, one_of, spread

BOUND_NAMES = {"equal": "stick", "at_least": "stick at least", "at_most": "stick at most"}


@dataclass
class Batch:
    """All constraints of one kind, in the order in which they were added, in the pieces in which they came."""

    kind: object  # the name of one of ours, or a person's own pbd.Kind
    compliant: bool
    members: list = field(default_factory=list)
    parameters: list = field(default_factory=list)

    def arrays(self):
        """Members (n, arity) and parameters (n, p), each in one piece."""
        self.members = [np.concatenate(self.members)]
        self.parameters = [np.concatenate(self.parameters)]
        return self.members[0], self.parameters[0]


class Batches:
    """What ties particles together: the part of `Particles` that adds constraints. Needs `positions` and `count`."""

    def add_stick(self, a, b, length=None, compliance=0.0, bound="equal"):
        """Keep two particles at a distance.

        Arguments: a, b: indices; length [m], the present distance where None; compliance [m/N]; bound: "equal",
        "at_least" or "at_most".
        """
        self.add_sticks([(a, b)], length, compliance, bound)

    def add_sticks(self, pairs, length=None, compliance=0.0, bound="equal"):
        """Add many sticks. Arguments: pairs (n, 2) of indices; the rest as in `add_stick`, for all or one each."""
        pairs = indices("sticks", pairs, self.count, 2)
        one_of("bound", bound, tuple(BOUND_NAMES))
        same = pairs[:, 0] == pairs[:, 1]
        if same.any():
            raise ValueError(f"a stick from particle {pairs[same][0, 0]} to itself: expected two particles")
        if length is None:
            positions = self.positions
            length = np.linalg.norm(positions[pairs[:, 1]] - positions[pairs[:, 0]], axis=1)
        length = spread("length", length, (len(pairs),))
        if (length < 0).any():
            raise ValueError(f"length is {length[length < 0][0]:g}: expected zero or more")
        self.add_constraints(BOUND_NAMES[bound], pairs, compliance, length=length)

    def add_angle_limit(self, a, vertex, b, minimum=None, maximum=None, form="dot", compliance=0.0):
        """Limit the angle at a vertex, between the directions to two other particles.

        Arguments:
            a, vertex, b: indices.
            minimum, maximum: angles in [0, π] [rad]; None for no limit.
            form: "dot", a bound on the dot product of the two directions, right whatever the arms' lengths; or
                "distance", a one-sided stick between a and b for arms as long as they are now, cheaper and right while
                sticks keep them so. (The third form in the literature, a plane, is `add_plane_limit`.)
            compliance: [rad²/J] ("dot") or [m/N] ("distance").
        """
        one_of("form", form, ("dot", "distance"))
        particles = indices("angle limit", (a, vertex, b), self.count)
        if len(set(particles.tolist())) < 3:
            raise ValueError(f"angle limit on particles {particles.tolist()}: expected three different ones")
        if minimum is None and maximum is None:
            raise ValueError("angle limit without a limit: expected minimum, maximum or both")
        low = 0.0 if minimum is None else finite_number("minimum", minimum)
        high = math.pi if maximum is None else finite_number("maximum", maximum)
        if not 0 <= low <= high <= math.pi:
            raise ValueError(f"angle limits {low:g} to {high:g}: expected 0 <= minimum <= maximum <= π")
        arm_a, arm_b = (np.linalg.norm(self.positions[end] - self.positions[vertex]) for end in (a, b))
        if arm_a == 0 or arm_b == 0:
            raise ValueError("angle limit at a vertex that coincides with an end: expected arms of some length")
        for limit, bound in ((minimum, "at_least"), (maximum, "at_most")):
            if limit is None:
                continue
            if form == "distance":
                distance = math.sqrt(max(arm_a**2 + arm_b**2 - 2 * arm_a * arm_b * math.cos(limit), 0.0))
                self.add_stick(a, b, distance, compliance, bound)
            else:
                name = f"angle {bound.replace('_', ' ')}"
                self.add_constraints(name, [(vertex, a, b)], compliance, limit=limit)

    def add_plane_limit(self, particle, span, distance=0.0, compliance=0.0):
        """Keep a particle on one side of a plane through three others.

        Arguments: particle: index; span: three indices, counter-clockwise seen from the permitted side; distance: how
        far off the plane at least [m]; compliance [m/N].
        """
        span = indices("span", span, self.count)
        if len(span) != 3:
            raise ValueError(f"span of {len(span)} particles: expected three")
        members = [(particle, *span)]
        self.add_constraints("plane limit", members, compliance, distance=finite_number("distance", distance))

    def add_bending(self, edges, rest_angle=None, compliance=0.0):
        """Resist bending across edges of a surface.

        Arguments: edges (n, 4): the edge's two particles and the two opposite corners; rest_angle [rad], zero when
        flat, the present angle where None; compliance [rad²/J].
        """
        edges = indices("bending", edges, self.count, 4)
        if rest_angle is None:
            rest_angle = dihedral_angle(self.positions[edges])
        rest_angle = spread("bending rest angle", rest_angle, (len(edges),))
        if (np.abs(rest_angle) > math.pi).any():
            raise ValueError(f"bending rest angle is {rest_angle[np.abs(rest_angle) > math.pi][0]:g}: expected -π to π")
        self.add_constraints("bending", edges, compliance, half_rest_sine=np.sin(rest_angle / 2))

    def add_flat_bending(self, edges, compliance=0.0):
        """Resist bending across edges of a surface whose triangles keep their shapes; faster than `add_bending`.

        Arguments: edges (n, 4): the edge's two particles and the two opposite corners, each with some area now, of a
        surface that lies flat at rest, as it need not now; compliance [rad²/J].
        """
        edges = indices("flat bending", edges, self.count, 4)
        x0, x1, x2, x3 = np.moveaxis(self.positions[edges], 1, 0)
        edge = x1 - x0
        coefficients = np.zeros((4, len(edges)))
        with np.errstate(invalid="ignore", divide="ignore"):
            for k, corner in ((2, x2), (3, x3)):
                part = ((corner - x0) * edge).sum(axis=1) / (edge**2).sum(axis=1)
                height = np.linalg.norm(corner - x0 - part[:, None] * edge, axis=1)
                coefficients[[0, 1, k]] += np.array([part - 1, -part, np.ones_like(part)]) / height
        if not np.isfinite(coefficients).all():
            without = edges[~np.isfinite(coefficients).all(axis=0)][0]
            raise ValueError(f"flat bending of {without.tolist()}: expected triangles with some area")
        named = {f"k{k}": column for k, column in enumerate(coefficients)}
        self.add_constraints("flat bending", edges, compliance, **named)

    def add_volumes(self, tetrahedra, volume=None, compliance=0.0):
        """Keep the volume of tetrahedra.

        Arguments: tetrahedra (n, 4) of indices; volume [m³], signed, the present one where None; compliance
        [m⁶/J].
        """
        tetrahedra = indices("tetrahedra", tetrahedra, self.count, 4)
        if volume is None:
            corner = self.positions[tetrahedra]
            volume = np.linalg.det(corner[:, 1:] - corner[:, :1]) / 6
        self.add_constraints("volume", tetrahedra, compliance, volume=volume)

    def add_attachment(self, particles, weights, to, to_weights=(1.0,)):
        """Make a point of some particles one with a point of others.

        Arguments: particles and weights of the first point, p = Σ weight x; `to` and `to_weights` of the second: one
        particle (pinned, for a fixed point), or several. The weights of a point sum to one. At most eight particles.
        """
        sides = []
        for name, members, coefficients in (("", particles, weights), ("to_", to, to_weights)):
            members = indices(f"{name or 'attached '}particles", members, self.count)
            coefficients = finite_array(f"{name}weights", coefficients, (len(members),))
            if abs(coefficients.sum() - 1) > 1e-9:
                raise ValueError(f"{name}weights sum to {coefficients.sum():g}: expected 1")
            sides.append((members, coefficients))
        (p, a), (q, b) = sides
        members, coefficients = np.concatenate([p, q]), np.concatenate([a, -b])
        if len(members) > 8:
            raise ValueError(f"attachment of {len(members)} particles: expected at most 8")
        named = {f"c{k}": coefficient for k, coefficient in enumerate(coefficients)}
        self.add_constraints(f"attachment of {len(members)}", members[None], **named)

    def add_constraints(self, kind, members, compliance=0.0, **parameters):
        """Add constraints of any kind; the other `add_...` methods end here.

        Arguments: kind: a pbd.Kind of one's own, or the name of one of ours; members (n, arity): indices; compliance:
        zero for a rigid one; parameters: the kind's numbers by name. Numbers are for all, or one each (n,).
        """
        from pbd.constraints import KINDS, Kind  # these files hold kernels, hence Taichi

        if isinstance(kind, str):
            known = KINDS[one_of("kind of constraint", kind, tuple(KINDS))]
        elif isinstance(kind, Kind) and not kind.compliance:
            known = kind
        else:
            raise TypeError(f"kind of constraint is {kind!r}: expected a pbd.Kind without compliance, or a name")
        name = known.name
        members = indices(f"{name} members", members, self.count, known.arity)
        repeated = (np.diff(np.sort(members, axis=1), axis=1) == 0).any(axis=1)
        if repeated.any():
            raise ValueError(f"{name} on particles {members[repeated][0].tolist()}: expected different ones")
        expected = known.parameters
        if set(parameters) != set(expected):
            raise TypeError(f"{name} with parameters {', '.join(parameters) or 'none'}: expected {', '.join(expected)}")
        columns = [spread(f"{name} {key}".replace("_", " "), parameters[key], (len(members),)) for key in expected]
        compliance = spread("compliance", compliance, (len(members),))
        if (compliance < 0).any():
            raise ValueError(f"compliance is {compliance[compliance < 0][0]:g}: expected zero (rigid) or more")
        if compliance.any() and known.compliant is None:
            raise ValueError(f"compliance is {compliance.max():g}: expected zero, {name} is always rigid")
        numbers = np.stack([*columns, compliance], axis=1)
        for compliant, chosen in ((False, compliance == 0), (True, compliance > 0)):
            if chosen.any():
                batch = self.batches.setdefault((kind, compliant), Batch(kind, compliant))
                batch.members.append(members[chosen].astype(np.int32))  # millions of them: half the memory
                batch.parameters.append(numbers[chosen] if compliant else numbers[chosen, :-1])


def dihedral_angle(corners):
    """Angle [rad] across the edge x0 x1 of triangles with opposite corners x2, x3; corners (n, 4, 3); 0 when flat."""
    x0, x1, x2, x3 = np.moveaxis(corners, 1, 0)
    edge = x1 - x0
    n1, n2 = np.cross(x0 - x2, x1 - x2), np.cross(x1 - x3, x0 - x3)
    # 1e-30 as in the kernel: a triangle of no area counts as flat.
    along = np.einsum("ij,ij->i", np.cross(n1, n2), edge) / (np.linalg.norm(edge, axis=1) + 1e-30)
    return np.arctan2(along, np.einsum("ij,ij->i", n1, n2))
