"""Particles: the description of a particle system in plain numpy. It needs no solver and no Taichi."""

import math
from copy import copy

import numpy as np

from pbd.collision.collider import Collider
from pbd.core.messages import shown
from pbd.core.shapes.shape import MESH, Shape
from pbd.core.transaction import Description
from pbd.core.validate import (
    LARGEST,
    finite_array,
    finite_vector,
    fraction,
    function_of_time,
    indices,
    not_negative,
    one_index,
    one_of,
    real_array,
    spread,
    unchanging,
)
from pbd.description import contact_elements, gases, limits, membranes, rest_values, rods, solids, surfaces
from pbd.description.constraint_sets import ConstraintSets
from pbd.description.deforming_mesh import DeformingMesh, add_deforming_mesh

# Names of the types of sticks, by the bound of their lengths.
STICK_NAMES = {"equal": "stick", "at_least": "stick at least", "at_most": "stick at most"}


class Particles(Description):
    """A description of particles, their constraints and their environment.

    Args:
        gravity: (3,) [m/s²].
        wind: velocity of the air (3,) [m/s], or a function of time [s] that returns it; None for no air at all. It
            acts on the triangles given to `add_triangles`.
        air_density: [kg/m³].

    Attributes: count: number of particles; gravity, wind, air_density: as given; constraint_sets:
    {(type, compliant): ConstraintSet}; colliders, boxes, paths: what was added; particle_contacts: friction between
    particles, None for no contacts; surfaces: what add_surface and add_segments added; built: what builders added, such
    as a pbd.build.Cloth, for pictures.
    """

    title = "pbd.Particles"

    def __init__(self, *, gravity=(0.0, 0.0, -9.81), wind=None, air_density=1.2):
        self._columns = {
            "position": [np.zeros((0, 3))],
            "velocity": [np.zeros((0, 3))],
            "mass": [np.zeros(0)],
            "radius": [np.zeros(0)],
            "gravity_scale": [np.zeros(0)],
            "triangle": [np.zeros((0, 3), np.int64)],
            "drag": [np.zeros(0)],
            **{name: [none] for name, none in rods.NO_SEGMENTS.items()},
            "element": [contact_elements.NO_ELEMENTS[0]],
            "element_number": [contact_elements.NO_ELEMENTS[1]],
        }
        self.count = 0
        self.built = []
        self.gravity = finite_vector("gravity", gravity)
        self.wind = checked_wind(wind)
        self.air_density = not_negative("air density", air_density)
        self.constraint_sets = ConstraintSets()
        self.colliders = []
        self.boxes = []
        self.paths = []
        self.particle_contacts = None
        self.surfaces = []
        self.membranes = []
        self.solids = []
        self.gases = []

    def is_static(self):
        """Whether the environment never changes: constant wind, no paths and no moving colliders."""
        return not (callable(self.wind) or self.has_motion())

    def has_motion(self):
        """Whether there are paths or moving colliders."""
        return bool(self.paths) or any(collider.motion is not None for collider in self.colliders)

    def frozen(self):
        """A copy whose environment stays as it is when something is added to this description."""
        other = copy(self)
        for name in ("built", "colliders", "boxes", "paths", "surfaces", "membranes", "solids", "gases"):
            setattr(other, name, list(getattr(self, name)))
        other.constraint_sets = self.constraint_sets.copied()
        other.gravity, other.wind = unchanging(self.gravity), unchanging(self.wind)
        other._columns = {name: [self._column(name)] for name in self._columns}
        return other

    def with_positions(self, positions):
        """A copy with other positions at time zero (particles, 3) [m]. Lengths at rest stay as they are."""
        other = self.frozen()
        other.gravity = self.gravity.copy()
        other._columns = {name: [column.copy()] for name, (column,) in other._columns.items()}
        other._columns["position"] = [finite_array("positions", positions, (len(self), 3))]
        return other

    # Particles ------------------------------------------------------------------------------------------------------

    def __len__(self):
        return self.count

    def _column(self, name):
        if len(self._columns[name]) > 1:
            self._columns[name] = [np.concatenate(self._columns[name])]  # a new list: a transaction keeps the old one
        return self._columns[name][0]

    # The arrays themselves are returned, so changes to their elements change the description.

    def positions(self):
        """Positions at time zero, (particles, 3) [m]."""
        return self._column("position")

    def velocities(self):
        """Velocities at time zero, (particles, 3) [m/s]."""
        return self._column("velocity")

    def masses(self):
        """Masses, (particles,) [kg]; infinite for a pinned particle."""
        return self._column("mass")

    def radii(self):
        """Radii, (particles,) [m]: the distance of a particle from colliders, boxes and other particles."""
        return self._column("radius")

    def gravity_scales(self):
        """Scale of gravity for each particle, (particles,)."""
        return self._column("gravity_scale")

    def triangles(self):
        """Triangles on which the wind acts, (triangles, 3) indices."""
        return self._column("triangle")

    def drag_coefficients(self):
        """Drag coefficient of each triangle, (triangles,)."""
        return self._column("drag")

    def rod_segments(self):
        """Segments of rods (segments, 3): both nodes, and the side particle that shows how each is turned."""
        return self._column("rod_segment")

    def add_particle(self, position, mass=1.0, velocity=(0.0, 0.0, 0.0), radius=0.0, *, gravity_scale=1.0):
        """Add one particle.

        Args: position: (3,) [m]; mass: [kg], `math.inf` pins it; velocity: (3,) [m/s]; radius: [m]; gravity_scale: what
        part of gravity acts on it.

        Returns: its index.
        """
        position = finite_vector("position", position)
        return int(self.add_particles(position[None], mass, velocity, radius, gravity_scale=gravity_scale)[0])

    def add_particles(self, positions, mass=1.0, velocity=(0.0, 0.0, 0.0), radius=0.0, *, gravity_scale=1.0):
        """Add many particles.

        Args: positions: (n, 3) [m]; mass: [kg], velocity: (3,) [m/s], radius: [m] and gravity_scale, for all or one
        each.

        Returns: their indices, (n,).
        """
        positions = finite_array("positions", positions, (None, 3))
        count = len(positions)
        expected = "a number above zero, or math.inf to pin"
        mass = spread("mass", mass, (count,), infinite=True, allowed=lambda kg: kg > 0, expected=expected)
        if (mass < 1 / LARGEST).any():
            least = f"a number above zero and at least {1 / LARGEST:g}"
            raise ValueError(f"mass is {mass.min():g}: expected {least}, or math.inf to pin")
        velocity = spread("velocity", velocity, (count, 3), most=math.inf)
        radius = spread("radius", radius, (count,), signed=False)
        scale = spread("gravity_scale", gravity_scale, (count,))
        moving = np.isinf(mass) & velocity.any(axis=1)
        if moving.any():
            raise ValueError(
                f"particle {self.count + int(np.argmax(moving))} is pinned (infinite mass) and has a velocity: "
                "expected none, or a path given to add_path()"
            )
        columns = {"position": positions, "velocity": velocity, "mass": mass, "radius": radius, "gravity_scale": scale}
        for name, values in columns.items():
            self._columns[name].append(values)
        first, self.count = self.count, self.count + count
        return np.arange(first, self.count)

    def pin(self, particles):
        """Give particles infinite mass and no velocity. Args: particles: indices."""
        particles = indices("particles", particles, self.count)
        for name, value in (("mass", math.inf), ("velocity", 0.0)):
            column = self._column(name).copy()  # a transaction keeps the old one
            column[particles] = value
            self._columns[name] = [column]

    # Constraints ----------------------------------------------------------------------------------------------------

    def add_stick(self, a, b, length=None, compliance=0.0, bound="equal", tear=None):
        """Keep two particles at a distance.

        Args:
            a, b: indices.
            length: [m]; None for the present distance.
            compliance: [m/N].
            bound: "equal", "at_least" or "at_most".
            tear: the stick tears for good at the end of a step in which it is longer than this many lengths, more than
                one; None for a stick that never tears. It needs bound="equal". A rigid stick is longer than its length
                by what iterations leave, so it tears where they do not keep up; with a compliance the tension at which
                it tears is (tear - 1) length/compliance.
        """
        a, b = (one_index(f"{name} of a stick", end, self.count) for name, end in (("a", a), ("b", b)))
        self.add_sticks([(a, b)], length, compliance, bound, tear)

    def add_sticks(self, pairs, length=None, compliance=0.0, bound="equal", tear=None):
        """Add many sticks. Args: pairs: (n, 2) indices; the others: see `add_stick`, for all or one each."""
        pairs = indices("pairs of sticks", pairs, self.count, 2)
        one_of("bound", bound, tuple(STICK_NAMES))
        same = pairs[:, 0] == pairs[:, 1]
        if same.any():
            raise ValueError(f"a and b of a stick from particle {pairs[same][0, 0]} to itself: expected two particles")
        if length is None:
            positions = self.positions()
            length = np.linalg.norm(positions[pairs[:, 1]] - positions[pairs[:, 0]], axis=1)
            length = spread("length", length, (len(pairs),), most=math.inf)
        else:
            length = spread("length", length, (len(pairs),), signed=False)
        if tear is None:
            self.add_constraints(STICK_NAMES[bound], pairs, compliance, length=length)
        else:
            if bound != "equal":
                raise ValueError(f'tear with bound="{bound}": expected bound="equal"')
            limit = rest_values.tear_limits(tear, length)
            self.add_constraints("stick that tears", pairs, compliance, length=length, limit=limit)

    def add_bending(self, edges, rest_angle=None, compliance=0.0, yield_angle=None, damping=0.0):
        """Resist bending across edges of a surface.

        Args:
            edges: (n, 4) indices, the edge's two particles and the two opposite corners.
            rest_angle: [rad], zero when flat; None for the present angle.
            compliance: [rad²/J].
            yield_angle: the rest angle follows an angle that differs by more, as in a crease; for all or each, above
                0 and below π [rad]. None for bends that spring back.
            damping: its own friction as a time τ [s], see `pbd.Fabric`; for bends with a compliance that spring back.
        """
        edges = indices("edges of bending", edges, self.count, 4)
        if rest_angle is None:
            rest_angle = rest_values.dihedral_angle(self.positions()[edges])
        rest_angle = spread("bending rest angle", rest_angle, (len(edges),),
                            allowed=lambda angle: np.abs(angle) <= math.pi, expected="-π to π")  # fmt: skip
        given = {"half_rest_sine": np.sin(rest_angle / 2)}
        if yield_angle is None:
            self._add_damped("bending", edges, compliance, damping, **given)
        elif damping:
            raise ValueError(f"damping is {shown(damping)}, with a yield_angle: expected one of them")
        else:
            given["yield_angle"] = rest_values.yield_angles(yield_angle, len(edges))
            self.add_constraints("bending that creases", edges, compliance, **given)

    def add_flat_bending(self, edges, compliance=0.0, damping=0.0):
        """Resist bending across edges of a surface whose triangles keep their shapes; faster than `add_bending`.

        Args:
            edges: (n, 4) indices, the edge's two particles and the two opposite corners. Each triangle has some area.
                The surface is flat at rest, but need not be flat now.
            compliance: [rad²/J].
            damping: see `add_bending`.
        """
        edges = indices("edges of flat bending", edges, self.count, 4)
        coefficients = rest_values.flat_bending_coefficients(edges, self.positions())
        self._add_damped("flat bending", edges, compliance, damping, **coefficients)

    def add_volumes(self, tetrahedra, volume=None, compliance=0.0):
        """Keep the volumes of tetrahedra.

        Args: tetrahedra: (n, 4) indices; volume: [m³], signed, None for the present one; compliance: [m⁶/J].
        """
        tetrahedra = indices("tetrahedra", tetrahedra, self.count, 4)
        if volume is None:
            volume = rest_values.signed_volumes(tetrahedra, self.positions())
        self.add_constraints("volume", tetrahedra, compliance, volume=volume)

    def add_attachment(self, particles, weights, to, to_weights=(1.0,)):
        """Keep a point of some particles at a point of others.

        Args:
            particles, weights: of the first point, p = Σ weight x.
            to, to_weights: of the second point; for a fixed point one pinned particle.

        Weights of a point sum to one. Both points together have at most eight particles.
        """
        members, coefficients = rest_values.attachment_coefficients(particles, weights, to, to_weights, self.count)
        self.add_constraints(f"attachment of {len(members)}", members[None], **coefficients)

    def add_constraints(self, constraint_type, members, compliance=0.0, *, coupled=None, **parameters):
        """Add constraints of any type. The other methods for constraints call this one.

        Args:
            constraint_type: a pbd.ConstraintType, or the name of one in pbd/constraints.
            members: (n, arity) indices.
            compliance: zero for a rigid constraint; for all, or one each (n,).
            coupled: which of these constraints each is coupled to, for a type with `coupled`, (n, coupled).
            parameters: the type's numbers by name, for all, or one each (n,).
        """
        self.constraint_sets.add(constraint_type, members, compliance, parameters, self.count, coupled)

    def _add_damped(self, name, members, compliance, damping, *, coupled=None, **parameters):
        """Add constraints of a type by its name, or of its damped type. Args: damping: τ [s]; others: as above."""
        if not_negative("damping", damping) > 0:
            name, parameters["damping"] = f"damped {name}", damping
        self.add_constraints(name, members, compliance, coupled=coupled, **parameters)

    # Limits, elements, rods and surfaces: methods in files of pbd/description ---------------------------------------

    add_angle_limit = limits.add_angle_limit
    add_plane_limit = limits.add_plane_limit
    add_membrane = membranes.add_membrane
    add_solid = solids.add_solid
    add_pressure = gases.add_pressure
    clamp = rods.clamp
    turn = rods.turn
    add_surface = surfaces.add_surface
    add_segments = surfaces.add_segments
    add_element_contacts = contact_elements.add_element_contacts
    add_contact_point = contact_elements.add_contact_point

    # Environment ----------------------------------------------------------------------------------------------------

    def add_path(self, particles, path):
        """Pin particles and move them along a path: they become kinematic.

        Args:
            particles: indices (n,).
            path: function of time [s] that returns their positions (n, 3) [m]; for one particle (3,).

        Raises: ValueError for a path that begins elsewhere, or a particle that has a path.
        """
        particles = indices("particles", particles, self.count)
        start = positions_on_path(function_of_time("path", path), 0.0, len(particles), LARGEST)
        away = np.linalg.norm(start - self.positions()[particles], axis=1)
        if (away > 1e-6).any():
            worst = int(np.argmax(away))
            raise ValueError(
                f"path of particle {particles[worst]} begins {away[worst]:g} m away, at {shown(start[worst])}: "
                f"expected its position {shown(self.positions()[particles[worst]])}"
            )
        kinematic = np.concatenate([particles, *(others for others, _ in self.paths)])
        twice = np.bincount(kinematic) > 1
        if twice.any():
            raise ValueError(f"particle {np.argmax(twice)} has two paths: expected one")
        self.pin(particles)
        self.paths.append((particles, path))

    def add_triangles(self, triangles, drag=1.0):
        """Let the wind act on triangles. Args: triangles: (n, 3) indices; drag: coefficient, for all or one each."""
        triangles = indices("triangles", triangles, self.count, 3)
        drag = spread("drag", drag, (len(triangles),))
        self._columns["triangle"].append(triangles)
        self._columns["drag"].append(drag)

    def add_box(self, lower, upper, *, restitution=0.0, friction=0.0):
        """Keep every particle inside a box. Args: lower, upper: (3,) [m]; restitution: in [0, 1]; friction: μ."""
        lower, upper = finite_vector("box lower", lower), finite_vector("box upper", upper)
        if not (lower < upper).all():
            raise ValueError(f"box from {shown(lower)} to {shown(upper)}: expected lower below upper on each axis")
        restitution, friction = fraction("restitution", restitution), not_negative("friction", friction)
        self.boxes.append(np.concatenate([lower, upper, [friction, restitution]]))

    def add_collider(self, shape, *, friction=0.0, restitution=0.0, motion=None):
        """Keep every particle out of a shape.

        Args:
            shape: pbd.Plane, Sphere, Capsule, Cylinder, Box, ConvexHull or MeshCollider; or a pbd.DeformingMesh, which
                stops surfaces and segments (`add_surface`), and its points become particles on paths.
            friction: Coulomb's μ.
            restitution: in [0, 1].
            motion: function of time [s] that returns the position of the shape's frame (3,), or (position, rotation);
                None for a shape at rest.

        Returns: its index; of a DeformingMesh that in `surfaces`, which has its triangles as indices of particles.
        """
        if isinstance(shape, DeformingMesh):
            return add_deforming_mesh(self, shape, friction, restitution, motion)
        if not isinstance(shape, Shape):
            expected = "a Plane, Sphere, Capsule, Cylinder, Box, ConvexHull, MeshCollider or DeformingMesh"
            raise TypeError(f"shape of a collider is {shown(shape)}: expected {expected}")
        if shape.kind == MESH:
            raise NotImplementedError(
                f"shape of a collider is {shown(shape)}: expected a pbd.MeshCollider; a rigid.Mesh is for bodies alone"
            )
        if motion is not None:
            function_of_time("motion", motion)
        friction, restitution = not_negative("friction", friction), fraction("restitution", restitution)
        collider = Collider(shape, friction, restitution, motion)
        collider.pose(0.0)
        self.colliders.append(collider)
        return len(self.colliders) - 1

    def add_particle_contacts(self, friction=0.0):
        """Keep particles apart by the sum of their radii. For cloth, a radius is half the thickness.

        If the description has two particles closer than that, they keep the described distance instead, so that
        neighbours in a cloth do not push each other. Args: friction: Coulomb's μ.
        """
        self.particle_contacts = not_negative("friction", friction)

    def contact_elements(self):
        """All contact elements: integers (n, 6) and numbers (n, 5), with the columns of `pbd.data.ElementArrays`."""
        return self._column("element"), self._column("element_number")

def checked_wind(wind):
    """A velocity of the air (3,) [m/s], a function of time that gives it, or None. Raises: TypeError, ValueError."""
    if wind is None or callable(wind):
        return wind if wind is None else function_of_time("wind", wind, "a velocity")
    return finite_vector("wind", wind, math.inf)


def positions_on_path(path, time, count, most=math.inf):
    """Positions of particles on a path (count, 3) [m]. Args: path; time: [s]; count; most: largest coordinate."""
    what = "positions given by a path of particles"
    given = real_array(what, path(time))
    return finite_array(what, given[None] if given.ndim == 1 else given, (count, 3), most)


def inverse(masses):
    """Inverse masses [1/kg], zero for pinned particles. Args: masses: (n,) [kg], infinite for pinned particles."""
    return np.where(np.isinf(masses), 0.0, 1.0 / masses)
