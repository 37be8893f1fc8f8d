"""Convergence of a curtain over its mesh: folds, sag and period of the same curtain with ever more particles across.

A curtain of SIDE x SIDE hangs from a rail, y = a sin(2π FOLDS x / GATHERED), whose curve is as long as the curtain is
wide. It comes to rest with damping. Then it is pushed, the faster the lower, and swings without damping.

Errors are differences from the finest mesh. Values of three meshes, each with half the spacing of the one before, have
the order p = log2((v1 - v2)/(v2 - v3)) if their errors are proportional to the spacing to the power p.
"""

import time
from typing import NamedTuple

import numpy as np

import pbd
from benchmarks.timing import row
from pbd import build

SIDE, GATHERED, FOLDS = 1.0, 0.8, 4  # of the curtain [m]; width of the rail [m]; waves of the rail
COARSEST = 25  # particles across
ITERATIONS = 3  # of a step of 1/60 s
FALL = ((240, 0.9), (60, 0.5), (1, 0.0))  # steps to rest, and the part of the velocity that is left after each
SWING, PUSH = 240, 0.05  # steps of the swing; speed of the lower edge at its start [m/s]


class Shape(NamedTuple):
    """What is measured.

    Attributes: folds: depth at the lower edge [m]; sag: of its mean below the height of the cloth [m]; period [s];
    seconds: processor time of a second of motion while it falls [s]; digest: of the state at rest.
    """

    folds: float
    sag: float
    period: float
    seconds: float
    digest: str


MEASURED = {"folds": 1e3, "sag": 1e3, "period": 1.0}  # by which factor, and then in these units
UNITS = {"folds": "mm", "sag": "mm", "period": "s"}


def curtain(count=100, fabric="cotton"):
    """Yield lines of CSV: each measure of each mesh, its difference from the finest, and orders of convergence.

    Args: count: particles across the finest mesh; the others have a half, a quarter, down to COARSEST; fabric: a name
    of pbd.FABRICS.
    """
    shapes = {}
    for across in meshes(count):
        shapes[across] = found = hang(across, pbd.FABRICS[fabric])
        for name, factor in MEASURED.items():
            yield row("curtain", f"{fabric} {across} {name}", factor * getattr(found, name), UNITS[name], found.digest)
        yield row("curtain", f"{fabric} {across} cost", found.seconds, "s for 1 s", found.digest)
    counts = list(shapes)
    for name in MEASURED:
        values = [getattr(found, name) for found in shapes.values()]
        for across, value in zip(counts[:-1], values):
            yield row("curtain", f"{fabric} {across} {name} to the finest", 100 * (value / values[-1] - 1), "%")
        for across, *three in zip(counts, values, values[1:], values[2:]):
            yield row("curtain", f"{fabric} {across} {name} order", order(*three), "of convergence")


def meshes(count):
    """Particles across each mesh, the coarsest first. Args: count: across the finest."""
    found = [count]
    while found[0] >= 2 * COARSEST:
        found.insert(0, found[0] // 2)
    return found


def order(first, second, third):
    """The order of convergence of three values, each with half the spacing of the one before; NaN if they do not."""
    before, after = first - second, second - third
    return np.log2(before / after) if before * after > 0 else np.nan


def rail(count):
    """Points of the rail at equal lengths of arc (count, 2): along and across [m]."""
    along = np.linspace(0.0, GATHERED, 100_001)
    wave = np.sin(2 * np.pi * FOLDS * along / GATHERED)

    def arc(amplitude):
        steps = np.hypot(np.diff(along), amplitude * np.diff(wave))
        return np.concatenate([[0.0], np.cumsum(steps)])

    least, most = 0.0, SIDE
    for _ in range(60):  # bisection of the amplitude at which the curve is as long as the cloth is wide
        amplitude = (least + most) / 2
        least, most = (amplitude, most) if arc(amplitude)[-1] < SIDE else (least, amplitude)
    at = np.linspace(0.0, arc(amplitude)[-1], count)
    return np.column_stack([np.interp(at, arc(amplitude), each) for each in (along, amplitude * wave)])


def hang(count, fabric):
    """Hang a curtain, and let it swing. Args: count: particles across; fabric: a pbd.Fabric. Returns: a Shape."""
    particles = pbd.Particles()
    build.cloth(particles, (0, 0, 0), (SIDE, 0, 0), (0, 0, -SIDE), (count, count), fabric=fabric, pins=["top"])
    system = pbd.ParticleSystem(particles, dt=1 / 60, substeps=1, iterations=ITERATIONS)
    place = system.positions().reshape(count, count, 3)
    place[:, :, :2] = rail(count)
    system.set_positions(place.reshape(-1, 3))
    start = time.process_time()
    for steps, kept in FALL:
        for _ in range(steps):
            system.step()
            system.set_velocities(kept * system.velocities())
    seconds = (time.process_time() - start) / (sum(steps for steps, _ in FALL) / 60)
    place, digest = system.positions().reshape(count, count, 3), system.digest()
    velocity = np.zeros_like(place)
    velocity[:, :, 1] = -PUSH * place[:, :, 2] / SIDE
    system.set_velocities(velocity.reshape(-1, 3))
    sideways = []
    for _ in range(SWING):
        system.step()
        sideways.append(system.positions().reshape(count, count, 3)[-1, :, 1].mean())
    edge = place[-1]
    return Shape(np.ptp(edge[:, 1]), -SIDE - edge[:, 2].mean(), period(sideways - edge[:, 1].mean()), seconds, digest)


def period(values):
    """Period of what swings about zero, by the times at which it passes zero [s]. Args: values: one a step."""
    before = np.nonzero(values[:-1] * values[1:] < 0)[0]
    zeros = (before + values[before] / (values[before] - values[before + 1])) / 60
    return 2 * np.diff(zeros).mean() if len(zeros) > 1 else np.nan
