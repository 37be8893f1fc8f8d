"""Rods in a description: sections, segments, and joints. Plain numpy; frames are in rod_frames.py.

A segment has two nodes and a side particle, see pbd/constraints/rod.py. The side particle has no weight. It stands at
LEVER polar radii of gyration from the axis, where a part 1/LEVER² of the segment's mass has the inertia of the segment
about its axis, ρ (I_1 + I_2) l. The nodes have the rest of the mass, and all of the weight.
"""

from dataclasses import dataclass, fields

import numpy as np

from pbd.core.messages import shown
from pbd.core.validate import LARGEST, finite_number, function_of_time, not_negative, one_index, positive, spread
from pbd.description.constraint_sets import look_up_type
from pbd.description.rod_frames import frames_of, rest_rotations, rotations, with_closing_twist

LEVER = 10.0

# Side particles are held at their place by springs this many times as stiff as the segment, by mass: they vibrate no
# faster than its nodes.
STIFFNESS_OF_SIDES = 1.0 / LEVER**2

# What holds a segment to a body is so many times as stiff as the segment.
HELD = 10.0

LEAST_STRETCHING = 1e-30  # [N]

TOUCHES_NOTHING = -1.0  # the radius of side particles

# Columns of a description: particles of each segment; its Section; length at rest [m]; whether it is held.
NO_SEGMENTS = {
    "rod_segment": np.zeros((0, 3), np.int64),
    "rod_section": np.zeros((0, 9)),
    "rod_length": np.zeros(0),
    "rod_held": np.zeros(0, bool),
}


@dataclass
class Section:
    """What a rod is made of.

    Attributes: radius [m]; line_density: mass by length [kg/m]; stretching: EA [N]; bending: EI_1, EI_2 (2,) [N m²];
    twisting: GJ [N m²]; gyration: polar radius of gyration [m]; yields: curvature [1/m] and twist [rad/m] beyond which
    it yields (2,), huge for never; one for each segment.
    """

    radius: np.ndarray
    line_density: np.ndarray
    stretching: np.ndarray
    bending: np.ndarray
    twisting: np.ndarray
    gyration: np.ndarray
    yields: np.ndarray

    @property
    def stiffness(self):
        """EI_1, EI_2 and GJ (segments, 3) [N m²]."""
        return np.column_stack([self.bending, self.twisting])

    def table(self):
        """All numbers (segments, 9)."""
        return np.column_stack([getattr(self, each.name) for each in fields(self)])

    @classmethod
    def from_table(cls, table):
        """The Section of a table (segments, 9)."""
        return cls(*table[:, :3].T, table[:, 3:5], *table[:, 5:7].T, table[:, 7:])


def section_of(
    count, radius, young, shear, poisson, density, area, bending, twisting, stretching, yield_curvature, yield_twist
):  # fmt: skip
    """The Section of a rod of `count` segments. Args: see `pbd.build.rod`.

    Raises: TypeError and ValueError for numbers that are missing, out of range, or contradict each other.
    """
    radius = each_positive("radius", radius, count)
    area = np.pi * radius**2 if area is None else each_positive("area", area, count)
    line_density = each_positive("density", density, count) * area
    young = None if young is None else each_positive("young", young, count)
    given = {"bending": bending, "stretching": stretching}
    missing = [name for name, value in given.items() if value is None]
    missing += ["twisting"] * (twisting is None and shear is None)
    if young is None and missing:
        raise TypeError(f"young is None: expected Young's modulus [Pa], or {' and '.join(missing)} as well")
    given_shear, shear = shear, shear_modulus(young, shear, poisson, count)
    if twisting is not None and given_shear is not None:
        raise TypeError(f"shear is {shown(given_shear)} beside twisting: expected one of them")
    round_inertia = np.pi / 4 * radius**4
    bending = (young * round_inertia)[:, None] * np.ones(2) if bending is None else two_each("bending", bending, count)
    stretching = young * area if stretching is None else each_positive("stretching", stretching, count)
    if stretching.min() < LEAST_STRETCHING:
        raise ValueError(
            f"stretching is {stretching.min():g} N, as given or by young and area or radius: expected "
            f"{LEAST_STRETCHING:g} or more"
        )
    twisting = 2 * round_inertia * shear if twisting is None else each_positive("twisting", twisting, count)
    yields = np.tile(yields_of(yield_curvature, yield_twist), (count, 1))
    return Section(radius, line_density, stretching, bending, twisting, radius / np.sqrt(2), yields)


def each_positive(name, value, count):
    """A number above zero for each segment (count,)."""
    return spread(name, value, (count,), allowed=lambda x: x > 0, expected="a number above zero")


def two_each(name, value, count):
    """Two numbers above zero for each segment (count, 2). Args: value: one number, two, or (count, 2)."""
    return spread(name, value, (count, 2), allowed=lambda x: x > 0, expected="numbers above zero")


def ratio(poisson):
    """Poisson's ratio as a number. Raises: ValueError for one that no material has."""
    poisson = finite_number("poisson", poisson)
    if not -1 < poisson <= 0.5:
        raise ValueError(f"poisson is {poisson:g}: expected a ratio above -1 and at most 0.5")
    return poisson


def shear_modulus(young, shear, poisson, count):
    """G [Pa], from Poisson's ratio if it is not given, which is 0.3 if neither is; None if there is no E either."""
    poisson = None if poisson is None else ratio(poisson)
    if shear is None:
        return None if young is None else young / (2 * (1 + (0.3 if poisson is None else poisson)))
    shear = each_positive("shear", shear, count)
    if young is None or poisson is None:
        return shear
    expected = young / (2 * (1 + poisson))
    if not np.allclose(shear, expected, rtol=0.01):
        raise ValueError(
            f"shear is {shear[0]:g} Pa, young {young[0]:g} and poisson {poisson:g} make {expected[0]:.4g}: "
            "expected one of shear and poisson, or both that agree"
        )
    return shear


def yields_of(curvature, twist):
    """Curvature [1/m] and twist [rad/m] beyond which joints yield, huge for never."""
    given = ("yield_curvature", curvature), ("yield_twist", twist)
    return [LARGEST if value is None else positive(name, value) for name, value in given]


def half_lengths(particles):
    """What each segment gives to the length of a joint (segments,) [m]: half of itself, nothing if it is held.

    A held segment does not bend, so the tangent is that of the clamp as far as the node, and only the other half bends.
    """
    return np.where(particles._column("rod_held"), 0.0, particles._column("rod_length") / 2)


def joint_numbers(particles, joints, stiffness=None):
    """Roots and yields of joints by name, and their compliances (joints,).

    A joint's stiffness is that of two halves one after the other. It yields where the first of them does.

    Args: particles; joints: both segments of each (joints, 2); stiffness: see `add_joints`.
    """
    section, halves = Section.from_table(particles._column("rod_section")), half_lengths(particles)
    if stiffness is None:
        stiffness = 1 / (halves[:, None] / section.stiffness)[joints].sum(axis=1)
    compliance = 1 / stiffness.max(axis=1)
    numbers = {f"root_{k + 1}": root for k, root in enumerate(np.sqrt(stiffness * compliance[:, None]).T)}
    yields = section.yields[joints].min(axis=1) * halves[joints].sum(axis=1)[:, None]
    return numbers | dict(zip(("yield_bend", "yield_twist"), yields.T)), compliance


def members_of_joints(segments):
    """Members of joints (joints, 5), see pbd/constraints/rod.py. Args: both segments of each (joints, 2, 3).

    Raises: ValueError for segments without a common node.
    """
    first, second = segments[:, 0], segments[:, 1]
    same = first[:, :2, None] == second[:, None, :2]
    alone = ~same.any(axis=(1, 2))
    if alone.any():
        raise ValueError(f"rod joint of segments {shown(segments[alone][0, :, :2])}: expected a common node")
    rows = np.arange(len(segments))
    here, there = np.divmod(same.reshape(-1, 4).argmax(axis=1), 2)
    return np.stack(
        [first[rows, 1 - here], first[rows, here], second[rows, 1 - there], first[:, 2], second[:, 2]], axis=1
    )


def add_segments(particles, pairs, directions, section, masses, **described):
    """Add segments, with their side particles.

    Args: particles: a pbd.Particles; pairs: nodes of each (n, 2); directions: from its axis to its side particle (n,
    3); section: a Section; masses: of the side particles (n,) [kg]; described: see `describe_segments`.

    Returns: numbers of the segments (n,).
    """
    places = side_places(*particles.positions()[pairs].swapaxes(0, 1), directions, section)
    sides = particles.add_particles(places, masses, gravity_scale=0.0)
    particles.radii()[sides] = TOUCHES_NOTHING
    return describe_segments(particles, np.column_stack([pairs, sides]), section, **described)


def side_places(a, b, directions, section):
    """Positions of side particles (n, 3) [m]. Args: a, b: of nodes (n, 3) [m]; directions, section: see above."""
    return (a + b) / 2 + (LEVER * section.gyration)[:, None] * directions


def describe_segments(
    particles, members, section, *, strength=None, twist_strength=None, stretches=True, held=False
):  # fmt: skip
    """Make segments of particles that are there.

    Args: particles: a pbd.Particles; members: nodes and side particles (n, 3); section: a Section; strength: tension at
    which they tear [N], twist_strength: torque at which their joints break [N m], None for never; stretches: whether
    their lengths are elements; held: whether something holds them.

    Returns: numbers of the segments (n,).
    """
    a, b = particles.positions()[members[:, :2]].swapaxes(0, 1)
    lengths, pairs, count = np.linalg.norm(b - a, axis=1), members[:, :2], len(members)
    compliance = lengths / section.stretching
    if stretches:
        if strength is None and twist_strength is None:
            particles.add_constraints("rod segment", pairs, compliance, length=lengths)
        else:
            limit, torque = np.full((2, count), LARGEST)
            if strength is not None:
                limit = lengths * (1 + each_positive("strength", strength, count) / section.stretching)
            if twist_strength is not None:
                torque = each_positive("twist_strength", twist_strength, count)
            particles.add_constraints(
                "rod segment that tears", pairs, compliance, length=lengths, limit=limit, torque=torque
            )
        lever = LEVER * section.gyration
        particles.add_constraints("rod side", members, compliance / STIFFNESS_OF_SIDES, lever=lever)
    first = len(particles.rod_segments())
    for name, values in zip(NO_SEGMENTS, (members, section.table(), lengths, np.full(count, held))):
        particles._columns[name].append(values)
    return np.arange(first, first + count)


def segments_at(particles, node):
    """Segments that have a node, ascending."""
    return np.flatnonzero((particles.rod_segments()[:, :2] == node).any(axis=1))


def add_masses(particles, chosen, masses, scale):
    """Add masses to particles. Args: chosen: indices (n,); masses: (n,) [kg]; scale: of gravity on these masses."""
    before, scales = (particles._column(name).copy() for name in ("mass", "gravity_scale"))  # a transaction keeps those
    after = before.copy()
    after[chosen] += masses
    free = chosen[np.isfinite(after[chosen])]
    share = before[free] / after[free]
    scales[free] = share * scales[free] + (1 - share) * scale
    particles._columns["mass"], particles._columns["gravity_scale"] = [after], [scales]


def add_joints(particles, joints, natural="straight", damping=0.0, closing_twist=None, stiffness=None):
    """Join segments that have a node in common, so that they resist bending and twist.

    Args: particles: a pbd.Particles; joints: both segments of each (n, 2); natural: see `pbd.build.rod`; damping: τ
    [s]; closing_twist: by which each joint of a closed rod is twisted [rad], None for an open one;
    stiffness: of both bends and of twist (joints, 3) [N m], None for that of the halves of the segments.
    """
    damping = not_negative("damping", damping)
    segments, halves = particles.rod_segments(), half_lengths(particles)
    frames = frames_of(particles.positions(), segments)
    present = frames[joints[:, 0]].inv() * frames[joints[:, 1]]
    rest = rest_rotations(natural, present, halves[joints].sum(axis=1))
    if closing_twist is not None and isinstance(natural, str) and natural == "given":
        rest = present * rotations().from_rotvec((0.0, 0.0, -closing_twist))
    elif closing_twist is not None:
        rest = with_closing_twist(rest, present, closing_twist)
    if len(joints):
        numbers, compliance = joint_numbers(particles, joints, stiffness)
        numbers |= dict(zip(("rest_x", "rest_y", "rest_z", "rest_w"), rest.as_quat().T))
        yields = Section.from_table(particles._column("rod_section")).yields[joints]
        name = "rod joint that yields" if (yields < LARGEST).any() else "rod joint"
        chosen = {key: value for key, value in numbers.items() if key in look_up_type(name).parameters}
        particles._add_damped(name, members_of_joints(segments[joints]), compliance, damping, **chosen)


def add_beyond(particles, rod, place, mass, natural="straight", damping=0.0):
    """Add a segment beyond an end of a rod, as long as the last one and turned as it is, that something holds.

    Args: particles; rod: a pbd.build.Rod; place: of the end, 0 or -1; mass: of the particles that it adds [kg], None
    for that of the last side particle; natural: of its joint, see `natural_at_end`; damping: of it [s].

    Returns: the segment.
    """
    positions, node, last = particles.positions(), rod.particles[place], int(rod.segments[place])
    a, b, side = particles.rod_segments()[last]
    mass = particles.masses()[side] if mass is None else mass
    section = Section.from_table(particles._column("rod_section")[[last]])
    along = positions[b] - positions[a]
    outer = particles.add_particle(positions[node] + (along if place else -along), mass=mass, gravity_scale=0.0)
    frame = frames_of(positions, particles.rod_segments()[[last]])
    pair = np.array([(node, outer) if place else (outer, node)])
    beyond = int(add_segments(particles, pair, frame.as_matrix()[:, :, 0], section, mass, stretches=False)[0])
    hold(particles, beyond)  # first, so that the joint has the other half alone
    add_joints(particles, np.array([(last, beyond) if place else (beyond, last)]), natural, damping)
    return beyond


def hold(particles, segment):
    """Let a segment be held, so that its joints have the other segment's half alone. Args: particles; segment."""
    held = particles._column("rod_held").copy()
    held[segment] = True
    particles._columns["rod_held"] = [held]
    number_of_side = np.full(len(particles), -1)
    number_of_side[particles.rod_segments()[:, 2]] = np.arange(len(held))
    for name in (f"{damped}rod joint{yields}" for damped in ("", "damped ") for yields in ("", " that yields")):
        if (name, True) in particles.constraint_sets:
            same = particles.constraint_sets[name, True]
            members, numbers = same.arrays()
            joints = number_of_side[members[:, 3:]]
            chosen = (joints == segment).any(axis=1) & ~held[joints].all(axis=1)
            numbers = numbers.copy()  # a transaction keeps the old one
            changed, compliance = joint_numbers(particles, joints[chosen])
            names = look_up_type(name).parameters
            for key in set(changed) & set(names):
                numbers[chosen, names.index(key)] = changed[key]
            numbers[chosen, -1] = compliance
            same.parameters = [numbers]


def turned_side(points, angle):
    """Where a side particle is once its segment has turned. Args: points: nodes and it (3, 3) [m]; angle [rad]."""
    a, b, side = points
    middle = (a + b) / 2
    turned = rotations().from_rotvec(angle * (b - a) / np.linalg.norm(b - a))
    return middle + turned.apply(side - middle)


class Turning:
    """The path of the side particle of a segment that turns.

    Args: segment: its number; angle: of time [s], [rad]; points: see `turned_side`.
    """

    def __init__(self, segment, angle, points):
        self.segment, self.given = segment, function_of_time("angle", angle, "an angle")
        self.points = points.copy()
        start = self.angle(0.0)
        if abs(start) > 1e-6:
            raise ValueError(f"angle at 0 s is {start:g}: expected 0, the segment as it is")

    def angle(self, time):
        """The angle [rad]. Args: time: [s]."""
        return finite_number("angle", self.given(time))

    def __call__(self, time):
        """The position of the side particle (3,) [m]. Args: time: [s]."""
        return turned_side(self.points, self.angle(time))

    def refuse_jumps(self, times):
        """Raise ValueError for half a turn or more in a substep, as it has two ways. Args: times: of substeps [s]."""
        angles = np.array([self.angle(time) for time in times])
        steps = np.abs(np.diff(angles))
        if len(steps) and not steps.max() < np.pi:
            k = int(np.argmax(steps))
            raise ValueError(
                f"angle of rod segment {self.segment} jumps from {angles[k]:.4g} to {angles[k + 1]:.4g} rad "
                f"between {times[k]:.6g} and {times[k + 1]:.6g} s: expected less than half a turn in a substep"
            )


def clamp_to(particles, rod, place, corners, weights_of):
    """Let four particles, those of a body, hold an end of a rod. They hold a segment beyond it, see `add_beyond`.

    What holds it is solved together with the rod; the body's own sticks are not. They must not stand in the matrix as
    well: then two kinds of constraints hold the body under load, along other directions, and its spin decays or grows.

    Args: particles: with the four; rod: a pbd.build.Rod; place: of the end, 0 or -1; corners: the four (4,);
    weights_of: function of a position (3,) [m] that gives their weights (4,) there.
    """
    beyond = add_beyond(particles, rod, place, None)
    stretching, length = (particles._column(name)[beyond] for name in ("rod_section", "rod_length"))
    compliance = length / (HELD * stretching[2])
    for particle in particles.rod_segments()[beyond]:
        weights = weights_of(particles.positions()[particle])
        numbers = {f"coefficient_{k}": weight for k, weight in enumerate(weights)}
        particles.add_constraints("rod hold", [[particle, *corners]], compliance, **numbers)


def clamp(particles, segment):
    """Hold a segment of a rod: its nodes, and the turn about its axis. Args: segment: its number, see build.Rod.

    The rod bends as if it began at the segment's nodes: joints there have the other segment's half alone.
    """
    segment = one_index("segment", segment, len(particles.rod_segments()), "rod segments")
    particles.pin(particles.rod_segments()[segment])
    hold(particles, segment)


def turn(particles, segment, angle):
    """Turn a segment of a rod about its axis, from its first node to its second.

    Args: segment: its number; angle: [rad], by which it is turned now and held; or a function of time [s] that
    returns it, zero at the start. Its nodes are pinned.

    Raises: ValueError for a path that begins at another angle, and in a step for one that jumps by half a turn.
    """
    segment = one_index("segment", segment, len(particles.rod_segments()), "rod segments")
    nodes_side = particles.rod_segments()[segment]
    if np.isin(nodes_side, np.concatenate([[], *(others for others, _ in particles.paths)])).any():
        raise ValueError(f"segment {segment} is on a path: expected one that is not, or paths of its particles")
    clamp(particles, segment)
    if callable(angle):
        particles.add_path([nodes_side[2]], Turning(segment, angle, particles.positions()[nodes_side]))
    else:
        position = particles.positions().copy()
        position[nodes_side[2]] = turned_side(position[nodes_side], finite_number("angle", angle))
        particles._columns["position"] = [position]
