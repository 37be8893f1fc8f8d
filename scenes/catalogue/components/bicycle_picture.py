"""The picture of a bicycle: spoked wheels, tubes, and a rider with the hands on the thighs."""

import math

import numpy as np

from scenes.catalogue.components.bicycle import PARTS, PIVOT_HEIGHT, WHEELBASE, trail
from scenes.visuals import BLUE, GOLD, RED, SAND, STEEL, BodySurfaces, Surface, tubes

TYRE, SPOKES = 0.018, 18  # radius of a tyre [m]; number of spokes
DARK, GREY = (0.16, 0.17, 0.2), (0.75, 0.77, 0.8)


def lines(points, radius, colour, closed=False, **facets):
    """Make a polygon of tubes. Args: points (n, 3) [m]; radius [m]; colour; closed; facets: see `tubes`."""
    points = np.asarray(points, float)
    ends = np.roll(points, -1, axis=0) if closed else points[1:]
    return tubes(points if closed else points[:-1], ends, radius, colour, **facets)


def wheel_surfaces(radius):
    """Tyre, rim, spokes and hub about the y axis, a list of Surface. The tyre touches the ground. Args: radius [m]."""
    angles = np.linspace(0, 2 * math.pi, 48, endpoint=False)
    circle = np.stack([np.cos(angles), 0 * angles, np.sin(angles)], axis=1)
    turns = np.linspace(0, 2 * math.pi, SPOKES, endpoint=False)
    out = np.stack([np.cos(turns), 0 * turns, np.sin(turns)], axis=1)
    side = np.array([0, 0.03, 0]) * (-1.0) ** np.arange(SPOKES)[:, None]
    return [
        lines((radius - TYRE) * circle, TYRE, DARK, closed=True, sectors=10, rings=2),
        lines((radius - 2 * TYRE) * circle, 0.008, GREY, closed=True, sectors=8, rings=1),
        tubes(side, (radius - 2 * TYRE) * out, 0.0025, GREY, sectors=6, rings=1),
        tubes([(0, -0.045, 0)], [(0, 0.045, 0)], 0.02, STEEL),
        tubes([(radius - 3 * TYRE) * circle[0]], [(radius - 3 * TYRE) * circle[1]], 0.014, GOLD),  # shows the rotation
    ]


def frame_surfaces(head, axis):
    """Tubes, saddle and rider, in the world at time zero. Args: head: lower end of the head tube (3,); axis (3,)."""
    hub, bottom, saddle = np.array([0, 0, 0.3]), np.array([0.42, 0, 0.28]), np.array([0.28, 0, 0.86])
    top = head + 0.16 * axis
    tube = lines([hub, bottom, saddle, top, bottom], 0.02, RED)
    stays = tubes([hub, head], [saddle - (0, 0, 0.06), top], 0.018, RED)
    seat = tubes([saddle + (-0.12, 0, 0.03)], [saddle + (0.1, 0, 0.03)], 0.045, DARK)
    hip, neck = saddle + (0.0, 0, 0.15), saddle + (0.13, 0, 0.66)
    trunk = tubes([hip], [neck - (0.01, 0, 0.08)], 0.13, BLUE, sectors=20, rings=6)
    head_of_rider = neck + (0.03, 0, 0.17)
    skin = [tubes([head_of_rider], [head_of_rider + (0.01, 0, 0.05)], 0.1, SAND, sectors=20, rings=6)]
    skin += [tubes([neck], [head_of_rider], 0.05, SAND)]
    limbs = [tube, stays, seat, trunk, *skin]
    for side in (-1, 1):
        pedal = bottom + (0.12 * side, 0.12 * side, -0.1 * side)
        knee = 0.5 * (hip + pedal) + (0.24, 0.09 * side, 0.08)
        thigh = hip + (0.02, 0.08 * side, 0)
        limbs.append(lines([thigh, knee], 0.075, DARK, sectors=16, rings=4))
        limbs.append(lines([knee, pedal + (-0.03, 0, 0.06)], 0.055, DARK, sectors=16, rings=4))
        limbs.append(tubes([pedal + (-0.06, 0, 0.04)], [pedal + (0.12, 0, 0.03)], 0.04, GREY))
        limbs.append(lines([bottom, bottom + (0, 0.12 * side, 0), pedal], 0.012, STEEL))
        shoulder = neck + (-0.01, 0.17 * side, -0.1)
        hand = 0.5 * (thigh + knee) + (0.03, 0.02 * side, 0.1)
        elbow = 0.5 * (shoulder + hand) + (-0.1, 0.1 * side, 0.0)
        limbs.append(lines([shoulder, elbow], 0.05, BLUE))
        limbs.append(lines([elbow, hand], 0.04, SAND))
    return limbs


def fork_surfaces(head, axis):
    """Fork and handlebar, in the world at time zero. Args: head, axis: see `frame_surfaces`."""
    hub = np.array([WHEELBASE, 0, PARTS["front_wheel"].z])
    crown, stem = head - 0.02 * axis, head + 0.26 * axis
    found = [tubes([crown], [stem], 0.016, STEEL)]
    for side in (-1, 1):
        aside = np.array([0, 0.055 * side, 0])
        found.append(lines([crown, crown + aside, hub + aside], 0.013, STEEL))
        grip = stem + (-0.16, 0.3 * side, 0.02)
        found += [lines([stem, stem + (0.02, 0.2 * side, 0.02), grip], 0.014, STEEL)]
        found.append(tubes([grip], [grip + (0.07, -0.055 * side, 0)], 0.02, DARK))
    return found


def bicycle_surfaces(bodies, tilt):
    """The surfaces of a bicycle, a BodySurfaces. Args: bodies: {name: index}; tilt: of the steering axis [degrees]."""
    angle = math.radians(tilt)
    axis = np.array([-math.sin(angle), 0, math.cos(angle)])
    foot = np.array([WHEELBASE + trail(tilt), 0, 0])
    head = foot + (PIVOT_HEIGHT - 0.08) / axis[2] * axis
    found = []
    for name, surfaces in (("frame", frame_surfaces(head, axis)), ("fork", fork_surfaces(head, axis))):
        middle = np.array([PARTS[name].x, 0, PARTS[name].z])
        for surface in surfaces:
            moved = Surface(surface.vertices - middle, surface.triangles, surface.colour, solid=True)
            found.append((bodies[name], moved))
    for name in ("rear_wheel", "front_wheel"):
        found += [(bodies[name], surface) for surface in wheel_surfaces(PARTS[name].radius)]
    return BodySurfaces(found)
