"""Passive chains of rods: a bent chain with a known motion, and chains at random whose energy must not grow.

A chain at random hangs from the ground by a ball, a hinge or a universal joint. Its rods are boxes that are tilted at
random and joined end to end. Nothing drives or damps it, so its energy must not rise.
"""

import time
from typing import NamedTuple

import numpy as np

import rigid
from benchmarks.outcomes import FRAME, watched
from benchmarks.timing import digest_of, row
from rigid.rotation import from_axis_angle, multiply, rotate

GRAVITY, DENSITY = 9.81, 1000.0  # [m/s²], [kg/m³]
LENGTH, WIDTH = 0.5, 0.05  # of a rod of the bent chain [m]
Y, Z = (0, 1, 0), (0, 0, 1)

# Starts of the bent chain: {name: arguments of `bent_chain`}.
STARTS = {
    "swinging": {},
    "let go from level": {"level": True},
    "parallel hinges let go from level": {"level": True, "axes": (Y,)},
}

KINDS = ("ball", "hinge", "universal", "fixed")


class Class(NamedTuple):
    """A class of chains: length of a rod [m], and the largest ratio of the densities of two rods."""

    length: float
    ratio: float


CLASSES = {
    "1 m": Class(1.0, 1.0),
    "0.1 m to 1:10": Class(0.1, 10.0),
    "0.1 m to 1:1000": Class(0.1, 1000.0),
    "1 mm": Class(0.001, 1.0),
}


def bent_chain(last=1.0, level=False, axes=(Y, Z), links=5):
    """Rods that hang bent from hinges about y and z in turn: their swing is spatial.

    Args: last: mass of the last rod [kg]; level: whether they are in a level line instead; axes: of the hinges, in
    turn, before the rods are bent; links: how many rods. In a level line those about z stay straight at first. With all
    about y it whips.
    """
    model = rigid.Model(gravity=(0, 0, -GRAVITY))
    end, parent = np.zeros(3), rigid.GROUND
    turn, bend = from_axis_angle(Y, 0.0 if level else 0.9), 0.0 if level else 2.0 / links
    for k in range(links):
        axis = axes[k % len(axes)]
        world_axis = rotate(turn, axis)
        turn = multiply(turn, from_axis_angle(axis, bend))
        half = rotate(turn, (LENGTH / 2, 0, 0))
        mass = last if k == links - 1 else 1.0
        rod = model.add_box((LENGTH, WIDTH, WIDTH), mass=mass, position=end + half, rotation=turn)
        model.add_hinge(parent, rod, end, world_axis, name=f"hinge {k}")
        parent, end = rod, end + 2 * half
    return model


def energy_changes(solver, duration, every):
    """Change of the bent chain's energy in parts of m g L. Args: duration [s]; every: so many steps."""
    start, found = solver.energy().total, [0.0]
    for _ in range(round(duration / solver.dt / every)):
        solver.step(every)
        found.append(solver.energy().total - start)
    return np.array(found) / energy_scale(solver.model, LENGTH)


def rise_and_drift(changes):
    """Largest rise of the energy over its running minimum, and drift from the first tenth to the last.

    Args: changes: of the energy (samples,).
    """
    tenth = max(1, len(changes) // 10)
    rise = np.max(changes - np.minimum.accumulate(changes))
    return rise, changes[-tenth:].mean() - changes[:tenth].mean()


def random_chain(seed, length=1.0, ratio=1.0, limits=False, gravity=GRAVITY):
    """A chain of three to eight boxes, tilted at random, on joints at random.

    Args: seed: a whole number; length: of a rod [m]; ratio: largest ratio of two densities; limits: whether hinges and
    balls have limits of 0.2 to 1.5 rad; gravity [m/s²]. The other numbers do not depend on `limits`.
    """
    random = np.random.default_rng(seed)
    model, parent, end = rigid.Model(gravity=(0, 0, -gravity)), rigid.GROUND, np.zeros(3)
    for k in range(random.integers(3, 9)):
        size = length * np.array([1.0, *random.uniform(0.1, 0.4, 2)])
        mass = DENSITY * size.prod() * ratio ** random.uniform()
        turn = random.normal(size=4)
        turn /= np.linalg.norm(turn)
        half = rotate(turn, (length / 2, 0, 0))
        rod = model.add_box(size, mass=mass, position=end + half, rotation=turn)
        kind = KINDS[random.integers(3 if k == 0 else 4)]  # a rod that is fixed to the ground would only shorten it
        axis, across = np.linalg.qr(random.normal(size=(3, 2)))[0].T
        low, high = random.uniform(0.2, 1.5, 2)
        name = f"{kind} {k}"
        if kind == "ball":
            bounds = {"swing_limit": low, "twist_limits": (-low, low)} if limits else {}
            model.add_ball(parent, rod, end, name=name, **bounds)
        elif kind == "hinge":
            model.add_hinge(parent, rod, end, axis, limits=(-low, high) if limits else None, name=name)
        elif kind == "universal":
            model.add_universal(parent, rod, end, axis, across, name=name)
        else:
            model.add_fixed(parent, rod, end, name=name)
        parent, end = rod, end + 2 * half
    return model


def energy_scale(model, length):
    """Weight times length of a chain, and the kinetic energy at its start [J]. Args: model; length: of a rod [m]."""
    moving = sum(0.5 * body.mass * np.dot(body.velocity, body.velocity) for body in model.bodies)
    return model.masses.sum() * np.linalg.norm(model.gravity) * length * len(model.bodies) + moving


def run_chain(seed, chains, solver="verlet", duration=2.0, dt=FRAME, limits=False, **options):
    """Run a chain at random. Args: seed; chains: a Class; solver: name; duration, dt [s]; options: of the solver.

    Returns: an Outcome.
    """
    model = random_chain(seed, *chains, limits)

    def make():
        return rigid.solver(solver, model, dt=dt, contacts=False, **options)

    return watched(seed, make, model, chains.length, energy_scale(model, chains.length), duration)


def run_chains(chains, count=100, first=0, **settings):
    """Run chains of a class. Args: chains: a Class; count, first: of seeds; settings: of `run_chain`.

    Returns: a list of Outcome.
    """
    return [run_chain(seed, chains, **settings) for seed in range(first, first + count)]


# Settings of the benchmark: {label: settings of `run_chain`}.
SETTINGS = {
    "default": {},
    "iterative": {"solve": "iterative"},
    **{
        f"direct {direction} {iterations} rounds {substeps} substeps": {
            "solve": "direct", "direction": direction, "iterations": iterations, "substeps": substeps,
        }
        for direction in ("start", "current")
        for iterations in (2, 4)
        for substeps in (1, 4)
    },
}  # fmt: skip


def random_chains(count=20, first=0, settings=SETTINGS, classes=CLASSES, **more):
    """Yield lines of CSV: how many chains at random gain energy, diverge, or open their joints, by "verlet".

    Args: count, first: of seeds in each class; settings: {label: settings of `run_chain`}, which may name another
    solver; classes: {name: Class}; more: settings of all.
    """
    for label, given in settings.items():
        for name, one in classes.items():
            start = time.perf_counter()
            found = run_chains(one, count, first, **{**given, **more})
            yield from outcome_lines(f"{label} {name}", found, time.perf_counter() - start)


def outcome_lines(case, found, seconds):
    """Yield lines of CSV, and the worst seeds in a comment. Args: case; found: Outcomes; seconds: of the runs [s]."""
    silent = [each for each in found if each.silent]
    told = [each for each in found if each.said]
    digest = digest_of(each.digest for each in found)
    quiet = [each for each in found if not each.said]
    yield row("chains", f"{case} gain in silence", 100 * len(silent) / len(found), "%", digest)
    yield row("chains", f"{case} stopped or warned", 100 * len(told) / len(found), "%")
    yield row("chains", f"{case} largest gain", max((each.gain for each in quiet), default=0.0), "of the scale")
    yield row("chains", f"{case} joint gap worst", max((each.gap for each in quiet), default=0.0), "of a rod")
    open_joints = sum(each.gap > 0.1 for each in quiet)
    yield row("chains", f"{case} joints open by a tenth", 100 * open_joints / len(found), "%")
    yield row("chains", f"{case} time", seconds / len(found), "s/chain")
    if silent:
        worst = sorted(silent, key=lambda each: -each.gain)[:8]
        listed = "; ".join(f"seed {each.seed} by {each.gain:.2g} from {each.time:.2f} s" for each in worst)
        yield f"# {case}: gain {listed}"
    if told:
        yield f"# {case}: seeds {' '.join(str(each.seed) for each in told[:20])}: {told[0].said}"
