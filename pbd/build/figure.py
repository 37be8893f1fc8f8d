"""Figure: Jakobsen's person, a body of particles with sticks and limits; neighbouring limbs share particles.

    head, neck, shoulders, elbows, wrists     chest: a particle in front of the ribs
    hips, knees, ankles                       loins: a particle in the small of the back, about which the hips turn

The ribs (neck, shoulders, chest, loins) are a frame of five particles. The hips are connected to the loins, and limbs
are single sticks. One-sided sticks limit the waist, the neck and the limbs, and keep knees from folding completely. A
limb of one stick has no twist, so the trunk defines which way it bends: a shin stays behind the plane through both hips
and its knee, a forearm in front of the plane through chest, shoulder and elbow. This is right for arms that hang, or
stretch forward or overhead. Further limits keep the arm away from the line from chest to shoulder, where arm and plane
would be in line.

Masses and lengths are those of a person: Winter, Biomechanics and Motor Control of Human Movement (4th edition, 2009),
table 4.1 (after Dempster 1955) and figure 4.1 (after Drillis, Contini 1966). Both ends of a limb share its mass so that
its centre of mass is right. The shares of the trunk's particles, depths, radii and ranges of motion are our estimates.

Source: Jakobsen, Advanced Character Physics (2001), section 6, "Articulated bodies" and angular constraints.
"""

import math
from dataclasses import dataclass

import numpy as np

from pbd.core.rotation import rotate
from pbd.core.transaction import builder
from pbd.core.validate import derived, finite_vector, positive, refuse_remote, unit_quaternion
from pbd.particles import Particles

# Left side and middle, standing, x forward, y left: place in parts of the height, radius likewise.
PLACES = {
    "head": ((0.010, 0.0, 0.936), 0.064),
    "neck": ((-0.020, 0.0, 0.845), 0.035),
    "chest": ((0.045, 0.0, 0.700), 0.035),
    "loins": ((-0.030, 0.0, 0.610), 0.040),
    "left shoulder": ((-0.010, 0.101, 0.818), 0.038),
    "left elbow": ((-0.005, 0.131, 0.634), 0.025),
    "left wrist": ((0.015, 0.155, 0.491), 0.022),
    "left hip": ((0.0, 0.055, 0.530), 0.055),
    "left knee": ((0.010, 0.055, 0.285), 0.038),
    "left ankle": ((0.0, 0.055, 0.039), 0.039),
}

# Mass of each limb, and how far along it from its first end its centre of mass is; both of Winter's table.
LIMBS = {
    ("shoulder", "elbow"): (0.028, 0.436),
    ("elbow", "wrist"): (0.022, 0.682),  # with the hand
    ("hip", "knee"): (0.100, 0.433),
    ("knee", "ankle"): (0.061, 0.606),  # with the foot
}
# Head and neck .081, thorax .216, abdomen .139, pelvis .142: who of the particles there carries how much.
TRUNK = {"head": 0.060, "neck": 0.061, "chest": 0.100, "loins": 0.121, "shoulder": 0.058, "hip": 0.060}

# Sticks, by the names of their ends; a name without a side stands for both sides.
RIBS = ("neck", "left shoulder", "right shoulder", "chest", "loins")
PELVIS = ("loins", "left hip", "right hip")

# How far joints go [rad]. The trunk about the loins, forward and backward; the head about the neck, also sideways.
WAIST = np.radians((60, 15))
NECK = np.radians((50, 40, 40))
# The thigh forward, backward, outward; how near an arm comes to the line of chest and shoulder; knees and elbows.
HIP = np.radians((120, 15, 50))
SHOULDER, KNEE, ELBOW = np.radians((25, 140, 145))
# How near knees come to one another, and elbows to the loins, in parts of the height: less than flesh is thick.
KNEES, BACK = 0.055, 0.095

# What is drawn of the body: rods between particles, and how thick, in parts of the height; hardly thicker than their
# ends, or they would be seen to sink into what those lie on.
DRAWN = {
    ("left shoulder", "right shoulder"): 0.038, ("shoulder", "loins"): 0.040, ("shoulder", "chest"): 0.036,
    ("neck", "loins"): 0.039, ("neck", "head"): 0.030, ("chest", "loins"): 0.038,
    ("shoulder", "elbow"): 0.026, ("elbow", "wrist"): 0.022,
    ("left hip", "right hip"): 0.054, ("loins", "hip"): 0.044, ("hip", "knee"): 0.040, ("knee", "ankle"): 0.032,
}  # fmt: skip


@dataclass
class Figure:
    """Indices of a figure in its Particles.

    Attributes:
        particles: (16,).
        parts: index by name, such as parts["left knee"].
        sticks: rigid sticks (22, 2).
        limbs: pairs of particles to draw rods between (n, 2).
        radii: of these rods (n,) [m].
        head_radius: [m].
    """

    particles: np.ndarray
    parts: dict
    sticks: np.ndarray
    limbs: np.ndarray
    radii: np.ndarray
    head_radius: float


@builder(Particles)
def figure(
    particles, position=(0.0, 0.0, 0.0), height=1.75, mass=75.0, *, rotation=(1.0, 0.0, 0.0, 0.0),
    velocity=(0.0, 0.0, 0.0), angular_velocity=(0.0, 0.0, 0.0),
):  # fmt: skip
    """Add a person of sixteen particles.

    Args:
        particles: the pbd.Particles to which it is added.
        position: the point between the soles (3,) [m]. The person faces x, with the left hand towards y.
        height: [m].
        mass: [kg].
        rotation: (w, x, y, z) about `position`.
        velocity: of the centre of mass (3,) [m/s].
        angular_velocity: about the centre of mass (3,) [rad/s].

    Returns: a Figure.

    Limitations: only particles touch the environment, so an edge may pass between knee and ankle. Limbs pass through
    one another, except for the knees, unless add_particle_contacts keeps their ends apart. Joints have no friction, so
    only `damping` stops a swinging arm. With 5 iterations in each of 8 substeps of 1/60 s, elbows and knees keep their
    limits to half a degree, also in a fall of a few metres.
    """
    height, mass = positive("height", height), positive("mass", mass)
    position, velocity = finite_vector("position", position), finite_vector("velocity", velocity)
    spin, rotation = finite_vector("angular_velocity", angular_velocity), unit_quaternion("rotation", rotation)
    names, places, radii, shares = anatomy()
    turned = position + height * rotate(rotation, places)
    masses = mass * shares
    arms = turned - masses @ turned / mass
    refuse_remote("position", position, height)
    derived("mass", masses, "the mass of a particle")
    added = particles.add_particles(turned, masses, velocity + np.cross(spin, arms), height * radii)
    parts = dict(zip(names, added.tolist()))
    at = dict(zip(names, height * places))

    sticks = spread_out([*pairs_of(RIBS), *pairs_of(PELVIS), ("head", "neck"), *both_sides(LIMBS)])
    particles.add_sticks([(parts[a], parts[b]) for a, b in sticks])
    for a, b, bound, length in spread_out(distance_limits(at)):
        particles.add_stick(parts[a], parts[b], length, bound=bound)
    for limited, span, distance in plane_limits(at):
        particles.add_plane_limit(parts[limited], [parts[name] for name in span], distance)
    drawn = [(pair, radius) for key, radius in DRAWN.items() for pair in both_sides([key])]
    return Figure(
        added, parts, np.array([(parts[a], parts[b]) for a, b in sticks]),
        np.array([(parts[a], parts[b]) for (a, b), _ in drawn]), height * np.array([radius for _, radius in drawn]),
        height * PLACES["head"][1],
    )  # fmt: skip


def anatomy():
    """Names, positions (16, 3), radii (16,) and masses (16,) of a person of height and mass one."""
    places, radii = {}, {}
    for name, (place, radius) in PLACES.items():
        places[name], radii[name] = place, radius
        if name.startswith("left "):
            other = name.replace("left ", "right ")
            places[other], radii[other] = (place[0], -place[1], place[2]), radius
    masses = {name: TRUNK.get(name.split()[-1], 0.0) for name in places}
    for pair, (mass, centre) in LIMBS.items():
        for first, second in both_sides([pair]):
            masses[first] += mass * (1 - centre)
            masses[second] += mass * centre
    names = list(places)
    shares = np.array([masses[name] for name in names])
    return names, np.array([places[name] for name in names]), np.array([radii[n] for n in names]), shares / shares.sum()


def pairs_of(names):
    """All pairs of names."""
    return [(a, b) for k, a in enumerate(names) for b in names[:k]]


def spread_out(sticks):
    """Sort sticks so that neighbours share no particle, if possible. The first two items of a stick are names.

    A stick has to wait if the one before moves the same particle. That is a fifth of the time of a figure's step.
    """
    ordered, left = [], list(sticks)
    while left:
        taken, later = set(), []
        for stick in left:
            if taken.isdisjoint(stick[:2]):
                ordered.append(stick)
                taken.update(stick[:2])
            else:
                later.append(stick)
        left = later
    return ordered


def both_sides(pairs):
    """Pairs of names for the left and the right side, with the side put before each name that has one."""
    sided = ("shoulder", "elbow", "wrist", "hip", "knee", "ankle")
    found = []
    for pair in pairs:
        if any(name in sided for name in pair):
            found += [tuple(f"{side} {name}" if name in sided else name for name in pair) for side in ("left", "right")]
        else:
            found.append(tuple(pair))
    return found


def distance_limits(at):
    """One-sided sticks, (first, second, bound, length [m]), from where particles stand (3,) [m], by name."""

    def apart(a, b):
        return float(np.linalg.norm(a - b))

    def bent(name, about, axis, angle):
        """Position of a particle when its joint is rotated by an angle about an axis (3,)."""
        half = angle / 2
        return at[about] + rotate(np.array([math.cos(half), *(math.sin(half) * np.array(axis))]), at[name] - at[about])

    def folded(first, vertex, second, flexion):
        """Distance of the two ends of a limb that is bent by an angle."""
        a, b = apart(at[first], at[vertex]), apart(at[second], at[vertex])
        return math.sqrt(a * a + b * b + 2 * a * b * math.cos(flexion))

    height = at["head"][2] / PLACES["head"][0][2]
    forward, backward, sideways = (0, 1, 0), (0, -1, 0), (1, 0, 0)
    limits = [
        ("head", "chest", "at_least", apart(bent("head", "neck", forward, NECK[0]), at["chest"])),
        ("head", "chest", "at_most", apart(bent("head", "neck", backward, NECK[1]), at["chest"])),
        ("left knee", "right knee", "at_least", KNEES * height),
    ]
    for side, other, sign in (("left", "right", 1), ("right", "left", -1)):
        shoulder, elbow, wrist = f"{side} shoulder", f"{side} elbow", f"{side} wrist"
        hip, knee, ankle = f"{side} hip", f"{side} knee", f"{side} ankle"
        limits += [
            ("head", shoulder, "at_least", apart(bent("head", "neck", sideways, -sign * NECK[2]), at[shoulder])),
            # The hips go forward where the trunk bends forward.
            (hip, "chest", "at_least", apart(bent(hip, "loins", backward, WAIST[0]), at["chest"])),
            (hip, "chest", "at_most", apart(bent(hip, "loins", forward, WAIST[1]), at["chest"])),
            (elbow, "chest", "at_least", folded(elbow, shoulder, "chest", math.pi - SHOULDER)),
            (elbow, "chest", "at_most", folded(elbow, shoulder, "chest", SHOULDER)),
            (elbow, "loins", "at_least", BACK * height),
            (wrist, shoulder, "at_least", folded(wrist, elbow, shoulder, ELBOW)),
            (knee, "chest", "at_least", apart(bent(knee, hip, backward, HIP[0]), at["chest"])),
            (knee, f"{other} hip", "at_most", folded(knee, hip, f"{other} hip", math.pi / 2 - HIP[2])),
            (ankle, hip, "at_least", folded(ankle, knee, hip, KNEE)),
        ]
    return limits


def plane_limits(at):
    """Plane limits, (limited, span, distance [m]), from where particles stand (3,) [m], by name."""
    limits = []
    for side, other in (("left", "right"), ("right", "left")):
        shoulder, elbow, hip, knee = (f"{side} {name}" for name in ("shoulder", "elbow", "hip", "knee"))
        thigh = np.linalg.norm(at[knee] - at[hip])
        # Standing, the thigh is behind the plane of hips and loins already, which leans back.
        across = np.cross(at["loins"] - at["left hip"], at["right hip"] - at["left hip"])
        lean = math.asin((at[knee] - at[hip]) @ across / (thigh * np.linalg.norm(across)))
        for limited, span, distance in (
            (f"{side} wrist", (shoulder, "chest", elbow), 0.0),
            (f"{side} ankle", (hip, knee, f"{other} hip"), 0.0),
            (knee, (hip, "loins", f"{other} hip"), thigh * math.sin(lean - HIP[1])),
        ):
            # Mirrored, a span winds the other way round.
            limits.append((limited, span if side == "left" else (span[0], span[2], span[1]), distance))
    return limits
