"""The picture of a glider: a round fuselage, wings of an airfoil, a tail, and ailerons that deflect."""

import math
from dataclasses import dataclass

import numpy as np

from rigid.rotation import from_axis_angle, multiply, rotate
from scenes.visuals import BLUE, CHALK, GOLD, RED, BodySurfaces, Instances, Surface

CHORD, SPAN, LEVEL = 0.2, 1.0, 0.03  # of the wing [m]; its height above the axis [m]
HINGE, INNER, OUTER = 0.07, 0.2, 0.46  # hinge line of the ailerons behind the middle of the wing, their ends [m]
LEFT_TIP = (0.0, 0.5 * SPAN, LEVEL)
DEFLECTION = math.radians(25)  # of fully deflected ailerons

# Stations x and radii of the fuselage, from the nose to the tail [m].
FUSELAGE = (
    (0.32, 0.002), (0.315, 0.012), (0.29, 0.026), (0.24, 0.038), (0.15, 0.046), (0.03, 0.045), (-0.1, 0.034),
    (-0.3, 0.02), (-0.53, 0.013), (-0.56, 0.002),
)  # fmt: skip
CANOPY = ((0.24, 0.002), (0.22, 0.014), (0.18, 0.024), (0.12, 0.026), (0.06, 0.018), (0.03, 0.002))

# Upper half of an airfoil from the leading edge to the trailing edge: parts of the chord, and of the thickness.
AIRFOIL = ((0, 0), (0.02, 0.4), (0.08, 0.75), (0.2, 0.98), (0.32, 1.0), (0.55, 0.8), (0.8, 0.4), (1.0, 0.04))


def loft(sections, colour, **options):
    """Make a Surface through sections. Args: sections (n, k, 3) [m]; colour, options: of the Surface."""
    sections = np.asarray(sections, float)
    rows, columns = sections.shape[:2]
    index = np.arange(rows * columns).reshape(rows, columns)
    a, b, c, d = (each.ravel() for each in (index[:-1, :-1], index[1:, :-1], index[1:, 1:], index[:-1, 1:]))
    triangles = np.concatenate([np.stack([a, b, c], axis=1), np.stack([a, c, d], axis=1)])
    return Surface(sections.reshape(-1, 3), triangles, colour, **options)


def revolved(stations, centre, colour, width=1.0):
    """Make a surface of revolution about x. Args: stations: pairs (x, radius) [m]; centre (3,) [m]; colour; width:
    factor across."""
    turn = np.linspace(0, 2 * math.pi, 25)
    ring = np.stack([0 * turn, width * np.cos(turn), np.sin(turn)], axis=1)
    return loft([np.add(centre, (x, 0, 0)) + radius * ring for x, radius in stations], colour)


def panel(ends, front, back, thickness, colours, axis="y", centre=(0.0, 0.0, 0.0)):
    """Make a part of a wing with round tips, as its two sides.

    Args:
        ends: along the span [m].
        front, back: x of the leading and of the trailing edge [m].
        thickness: [m].
        colours: of the upper and of the lower side.
        axis: of the span: "y", or "z" for a fin.
        centre: (3,) of the frame in which this is given [m].

    Returns: a list of Surface.
    """
    middle, half = 0.5 * (ends[0] + ends[1]), 0.5 * (ends[1] - ends[0])
    tip = min(0.012, 0.2 * half)
    found = []
    for side, colour in zip((1, -1), colours):
        sections = []
        for along, part in ((-half, 0.02), (-half + 0.3 * tip, 0.7), (-half + tip, 1), (half - tip, 1),
                            (half - 0.3 * tip, 0.7), (half, 0.02)):  # fmt: skip
            inset = 0.5 * (1 - part) * tip
            x = front - inset - np.array([u for u, _ in AIRFOIL]) * (front - back - 2 * inset)
            z = 0.5 * side * part * thickness * np.array([w for _, w in AIRFOIL])
            y = np.full(len(x), middle + along)
            sections.append(np.stack([x, y, z] if axis == "y" else [x, z, y], axis=1) + centre)
        found.append(loft(sections, colour))
    return found


@dataclass
class AileronsVisual:
    """Two ailerons, which deflect in opposite directions about their hinge lines.

    Args: body: index of the aircraft; deflection: a function of the time [s], from -1 to 1.
    """

    body: int
    deflection: object

    def __post_init__(self):
        # An aileron in the frame of its hinge line, with the wing's airfoil behind it.
        ends = (-0.5 * (OUTER - INNER), 0.5 * (OUTER - INNER))
        self.surfaces = panel(ends, 0.008, HINGE - 0.5 * CHORD, 0.014, (CHALK, CHALK))

    def draw(self, frame):
        """Surfaces at one instant. Args: a Frame."""
        pose, angle = frame.body_poses[self.body], DEFLECTION * self.deflection(frame.time)
        middles = np.array([(-HINGE, side * 0.5 * (INNER + OUTER), LEVEL) for side in (1, -1)])
        # To roll to the right (δ > 0) the left trailing edge goes down, which is a negative rotation about y.
        turns = [multiply(pose[3:], from_axis_angle((0.0, 1.0, 0.0), -side * angle)) for side in (1, -1)]
        return [Instances(each, pose[:3] + rotate(pose[3:], middles), np.array(turns)) for each in self.surfaces]


def aircraft_surfaces(body):
    """The surfaces of an aircraft without its ailerons, a BodySurfaces. Args: body: its index."""
    front, back = 0.5 * CHORD, -0.5 * CHORD
    both = RED, GOLD  # above and below, to see which side is up
    wing = (0, 0, LEVEL)
    surfaces = [
        revolved(FUSELAGE, (0, 0, 0), CHALK),
        revolved(CANOPY, (0, 0, 0.036), BLUE, 0.8),
        *panel((-0.5 * SPAN, 0.5 * SPAN), front, -HINGE, 0.024, both, centre=wing),
        *panel((-INNER, INNER), front, back, 0.024, both, centre=wing),
        *panel((-0.15, 0.15), -0.45, -0.55, 0.012, both, centre=wing),
        *panel((0.01, 0.23), -0.425, -0.575, 0.012, (RED, RED), axis="z"),
    ]
    for side in (-1, 1):
        tip = sorted((side * OUTER, side * 0.5 * SPAN))
        surfaces += panel(tip, front, back, 0.024, both, centre=wing)
    return BodySurfaces([(body, each) for each in surfaces])
