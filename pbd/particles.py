"""Particles: what a scene is made of, described in plain numpy. It knows no solver and needs no Taichi."""

import math
from copy import copy
from dataclasses import dataclass, field

import numpy as np

from pbd.validate import (
    finite_array,
    finite_number,
    finite_vector,
    fraction,
    indices,
    not_negative,
    one_of,
    spread,
)

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


class Particles:
    """A description of particles, what ties them together and what they meet.

    Arguments:
        gravity: (3,) [m/s²].
        wind: velocity of the air (3,) [m/s], or a function of time [s] that gives it; None for no air at all. It acts
        on
            the triangles given to `add_triangles`.
        air_density: [kg/m³].
    """

    def __init__(self, *, gravity=(0.0, 0.0, -9.81), wind=None, air_density=1.2):
        self.gravity = finite_vector("gravity", gravity)
        self.wind = wind if wind is None or callable(wind) else finite_vector("wind", wind)
        self.air_density = not_negative("air density", air_density)
        self.batches = {}
        self.colliders = []
        self.boxes = []
        self.drives = []
        self.particle_contacts = None
        self._triangles = [np.zeros((0, 3), np.int64)]
        self._drag = [np.zeros(0)]
        self._columns = {
            "position": [np.zeros((0, 3))],
            "velocity": [np.zeros((0, 3))],
            "mass": [np.zeros(0)],
            "radius": [np.zeros(0)],
        }
        self.count = 0

    def __len__(self):
        return self.count

    def _column(self, name):
        pieces = self._columns[name]
        if len(pieces) > 1:
            pieces[:] = [np.concatenate(pieces)]
        return pieces[0]

    @property
    def positions(self):
        """Positions at time zero, (particles, 3) [m]."""
        return self._column("position")

    @property
    def velocities(self):
        """Velocities at time zero, (particles, 3) [m/s]."""
        return self._column("velocity")

    @property
    def masses(self):
        """Masses, (particles,) [kg]; infinite for a pinned particle."""
        return self._column("mass")

    @property
    def radii(self):
        """Radii, (particles,) [m]: how far a particle keeps from colliders, boxes and other particles."""
        return self._column("radius")

    @property
    def triangles(self):
        """Triangles of surfaces that the air acts on, (triangles, 3) indices."""
        self._triangles = [np.concatenate(self._triangles)]
        return self._triangles[0]

    @property
    def drag(self):
        """Drag coefficient of each triangle, (triangles,)."""
        self._drag = [np.concatenate(self._drag)]
        return self._drag[0]

    @property
    def still(self):
        """Whether the surroundings are the same at all times: no changing wind, no path, no moving collider."""
        moving = callable(self.wind) or self.drives or any(c.motion is not None for c in self.colliders)
        return not moving

    def frozen(self):
        """A copy whose surroundings stay as they are, whatever is added to this description afterwards."""
        other = copy(self)
        other.colliders, other.boxes, other.drives = list(self.colliders), list(self.boxes), list(self.drives)
        return other

    # Particles ------------------------------------------------------------------------------------------------------

    def add_particle(self, position, mass=1.0, velocity=(0.0, 0.0, 0.0), radius=0.0):
        """Add one particle.

        Arguments: position (3,) [m]; mass [kg], `math.inf` pins it; velocity (3,) [m/s]; radius [m].

        Returns: its index.
        """
        return int(self.add_particles(finite_vector("position", position)[None], mass, velocity, radius)[0])

    def add_particles(self, positions, mass=1.0, velocity=(0.0, 0.0, 0.0), radius=0.0):
        """Add many particles.

        Arguments: positions (n, 3) [m]; mass [kg], velocity (3,) [m/s] and radius [m] for all, or one each.

        Returns: their indices, (n,).
        """
        positions = finite_array("positions", positions, (None, 3))
        count = len(positions)
        mass = spread("mass", mass, (count,), infinite=True)
        if (mass <= 0).any():
            raise ValueError(f"mass is {mass[mass <= 0][0]:g}: expected a number above zero, or math.inf to pin")
        velocity = spread("velocity", velocity, (count, 3))
        radius = spread("radius", radius, (count,))
        if (radius < 0).any():
            raise ValueError(f"radius is {radius[radius < 0][0]:g}: expected zero or more")
        moving = np.isinf(mass) & velocity.any(axis=1)
        if moving.any():
            raise ValueError(
                f"particle {self.count + int(np.argmax(moving))} is pinned (infinite mass) and has a velocity: "
                "expected none, or a path given to drive()"
            )
        for name, values in (("position", positions), ("velocity", velocity), ("mass", mass), ("radius", radius)):
            self._columns[name].append(values)
        first, self.count = self.count, self.count + count
        return np.arange(first, self.count)

    def pin(self, particles):
        """Give particles infinite mass (and no velocity). Arguments: indices."""
        particles = indices("particles", particles, self.count)
        self.masses[particles] = math.inf
        self.velocities[particles] = 0.0

    def drive(self, particles, path):
        """Pin particles and lead them along a path.

        Arguments: indices (n,); path, a function of time [s] that gives their positions (n, 3), or (3,) for one [m].
        """
        particles = indices("particles", particles, self.count)
        if not callable(path):
            raise TypeError(f"path is {path!r}: expected a function of time that gives positions")
        start = finite_array("positions given by a path", np.atleast_2d(path(0.0)), (len(particles), 3))
        away = np.linalg.norm(start - self.positions[particles], axis=1)
        if (away > 1e-6).any():
            worst = int(np.argmax(away))
            raise ValueError(
                f"path of particle {particles[worst]} begins {away[worst]:g} m away, at {start[worst].tolist()}: "
                f"expected its position {self.positions[particles[worst]].tolist()}"
            )
        led = np.concatenate([particles, *(others for others, _ in self.drives)])
        twice = np.bincount(led) > 1
        if twice.any():
            raise ValueError(f"particle {np.argmax(twice)} is led along two paths: expected one")
        self.pin(particles)
        self.drives.append((particles, path))

    # Constraints ----------------------------------------------------------------------------------------------------

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

    # Surroundings ---------------------------------------------------------------------------------------------------

    def add_triangles(self, triangles, drag=1.0):
        """Give triangles to the wind. Arguments: triangles (n, 3) of indices; drag coefficient, for all or one each."""
        triangles = indices("triangles", triangles, self.count, 3)
        self._triangles.append(triangles)
        self._drag.append(spread("drag", drag, (len(triangles),)))

    def add_box(self, lower, upper, *, restitution=0.0, friction=0.0):
        """Keep every particle inside a box. Arguments: lower, upper (3,) [m]; restitution in [0, 1]; friction μ."""
        lower, upper = finite_vector("box lower", lower), finite_vector("box upper", upper)
        if not (lower < upper).all():
            raise ValueError(f"box from {lower.tolist()} to {upper.tolist()}: expected lower below upper on each axis")
        restitution, friction = fraction("restitution", restitution), not_negative("friction", friction)
        self.boxes.append(np.concatenate([lower, upper, [friction, restitution]]))

    def add_collider(self, shape, *, friction=0.0, restitution=0.0, motion=None):
        """Keep every particle out of a shape.

        Arguments:
            shape: pbd.Plane, Sphere, Capsule, Box or MeshCollider.
            friction: Coulomb's μ; restitution in [0, 1].
            motion: a function of time [s] that gives the position of the shape's frame (3,), or (position, rotation);
                None for one at rest.

        Returns: its index.
        """
        from pbd.collide.shapes import Collider  # the shapes' file also holds their kernels, hence Taichi

        if isinstance(shape, type) or not all(hasattr(shape, name) for name in ("kind", "pose", "numbers")):
            raise TypeError(f"collider {shape!r}: expected a Plane, Sphere, Capsule, Box or MeshCollider")
        if motion is not None and not callable(motion):
            raise TypeError(f"motion is {motion!r}: expected a function of time")
        friction, restitution = not_negative("friction", friction), fraction("restitution", restitution)
        collider = Collider(shape, friction, restitution, motion)
        collider.pose(0.0)
        self.colliders.append(collider)
        return len(self.colliders) - 1

    def add_particle_contacts(self, friction=0.0):
        """Keep particles apart by the sum of their radii (for cloth: half its thickness each).

        Two particles that are described closer than that keep the distance of their description instead, so that the
        neighbours in a cloth do not push each other. Arguments: friction: Coulomb's μ.
        """
        self.particle_contacts = not_negative("friction", friction)


def dihedral_angle(corners):
    """Angle [rad] across the edge x0 x1 of triangles with opposite corners x2, x3; corners (n, 4, 3); 0 when flat."""
    x0, x1, x2, x3 = np.moveaxis(corners, 1, 0)
    edge = x1 - x0
    n1, n2 = np.cross(x0 - x2, x1 - x2), np.cross(x1 - x3, x0 - x3)
    # 1e-30 as in the kernel: a triangle of no area counts as flat.
    along = np.einsum("ij,ij->i", np.cross(n1, n2), edge) / (np.linalg.norm(edge, axis=1) + 1e-30)
    return np.arctan2(along, np.einsum("ij,ij->i", n1, n2))


def inverse(masses):
    """Inverse masses [1/kg], zero where pinned."""
    return np.where(np.isinf(masses), 0.0, 1.0 / masses)

