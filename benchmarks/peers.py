"""Cost at equal quality beside other programs: ragdolls beside MuJoCo and Rapier, chains beside MuJoCo, a cloth beside
pyPBD; and heaps.py.

Each method has settings from the cheapest to the dearest. The first ones with errors within the bounds count. The cost
is the processor time of the steps alone, for one second of motion: what one thread takes.

Ragdolls drop onto a floor at random. Their errors are the worst of all drops, at all frames of 1/60 s. MuJoCo limits
the whole rotation of a ball, ours limit swing and twist, each to the same angle. Both are measured by swing and twist,
which favours MuJoCo. Joints of MuJoCo cannot open, because its coordinates are reduced. Rapier limits the rotation
about each axis of a ball, so a swing between two axes goes farther, however short its steps: only its joints count.

"penalty" is left out, because its limits must be below 90°.
"""

import math
import warnings
from functools import partial
from typing import NamedTuple

import numpy as np

import pbd
import rigid
from benchmarks import mujoco_solver, pypbd_cloth
from benchmarks.chains import bent_chain
from benchmarks.energy import STEPS, WORTH, measure, methods
from benchmarks.heaps import heaps
from benchmarks.mujoco_solver import MujocoSolver
from benchmarks.other_engines import RapierSolver, SideBySide, rapier3d
from benchmarks.outcomes import FRAME
from benchmarks.timing import digest_of, has_32_bits, processor_time, row
from rigid.build import ragdoll
from rigid.collision.overlaps import Overlaps
from rigid.constraints.joints.gaps import joint_gaps, limit_violations
from rigid.constraints.joints.positions import JointPositions
from rigid.joints import Ball
from rigid.rotation import rotate
from rigid.state import State
from scenes.registry import load

LIMIT, GAP = math.radians(1.0), 1e-3  # bounds of the errors of limits [rad] and joints [m]
DROP = 4.0  # duration of a drop: fall, impact, and rest [s]
DROPS, TIMED, REPEATS = 8, 4, 3  # drops of one ragdoll, and how many are timed, how often
WORLDS, PILE = 100, 50  # ragdolls side by side, and in one pile
PILE_FALLS = 2.0  # duration of its run [s]

MUJOCO, RAPIER = "MuJoCo", "Rapier"
DIRECT = {"solve": "direct", "direction": "current", "damping": 0.003}  # "start" is dearer, and overlaps less

# Substeps of 1/60 s and iterations of each solver, from the cheapest to the dearest.
LADDERS = {
    "verlet": ((1, 4), (2, 4), (4, 4), (8, 4), (16, 4)),
    "impulse": ((4, 20), (8, 10), (8, 20), (16, 20), (32, 20)),
    "articulated": ((4, 20), (8, 5), (8, 10), (16, 10), (32, 10)),
}
MUJOCO_SUBSTEPS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32)
RAPIER_SUBSTEPS = (4, 8, 12, 16, 24, 32, 48, 64)


class Errors(NamedTuple):
    """Worst errors of a run: joints beyond their limits [rad], joints open [m], bodies overlapping [m]."""

    limit: float
    gap: float
    overlap: float

    def small(self, name):
        """Whether limits and joints are within their bounds. Args: name: of the method, see the head of this file."""
        return (self.limit <= LIMIT or name == RAPIER) and self.gap <= GAP

    def __str__(self):
        degrees = math.degrees(self.limit)
        return f"limits {degrees:.3g} degrees joints {1e3 * self.gap:.3g} mm overlap {1e3 * self.overlap:.3g} mm"


class Setting(NamedTuple):
    """Settings of a method, and what was found with them.

    Attributes: label; make: function of models, one for each world, that makes a solver; errors: an Errors; digest: of
    the final states.
    """

    label: str
    make: object
    errors: Errors | None = None
    digest: str = ""


def peers():
    """Yield lines of CSV: cost and errors of ours and of other programs, and ratios of costs."""
    if mujoco_solver.mujoco is None:
        yield "# peers: MuJoCo is left out, because it is not installed: pip install 'verletlab[peers]'"
    yield from ragdolls()
    yield from chains()
    yield from pypbd_cloth.cloths()
    yield from heaps()


# Ragdolls -------------------------------------------------------------------------------------------------------------


def ragdolls():
    """Yield lines of CSV of one ragdoll, of many in their own worlds, and of a pile."""
    drops = [dropped_ragdoll(seed) for seed in range(max(DROPS, WORLDS))]
    chosen = yield from within_bounds("ragdoll", methods_of_ragdolls(), drops[:DROPS], DROP)
    yield from compared("ragdoll", chosen, [[model] for model in drops[:TIMED]], DROP)
    yield from compared(f"{WORLDS} ragdolls", chosen, [drops[:WORLDS]], DROP)
    dearer = {name: ladder[labels(ladder).index(chosen[name].label) :]
              for name, ladder in methods_of_ragdolls().items() if name in chosen}  # fmt: skip
    pile = [limited_alike(load("ragdoll_pile", count=PILE, wall=0.0).model)]
    chosen = yield from within_bounds(f"pile of {PILE}", dearer, pile, PILE_FALLS)
    yield from compared(f"pile of {PILE}", chosen, [pile], PILE_FALLS, repeats=1)


def dropped_ragdoll(seed):
    """A ragdoll that turns about its middle and falls by about a metre. Args: seed. Returns: a rigid.Model."""
    random = np.random.default_rng(seed)
    model, turn = rigid.Model(), random.normal(size=4)
    turn /= np.linalg.norm(turn)
    model.add_ground(friction=0.5)
    feet = (0, 0, 2.0) - rotate(turn, (0, 0, 1.0))
    ragdoll(model, position=feet, rotation=turn, angular_velocity=random.normal(size=3), friction=0.5)
    return limited_alike(model)


def limited_alike(model):
    """Give balls the limits that MJCF can hold: one angle, from the starting pose. Args: model. Returns: the model."""
    for joint in model.joints:
        if isinstance(joint, Ball):
            parent, child = model.body(joint.parent), model.body(joint.child)
            axes = [parent.local_direction(rotate(child.rotation, axis)) for axis in joint.child_axes]
            joint.parent_axes = np.array(axes)
            joint.twist_limits = (-joint.swing_limit, joint.swing_limit)
    return model


def methods_of_ragdolls():
    """All methods: {name: list of Setting}, the cheapest first."""
    found = {}
    for name, ladder in LADDERS.items():
        more = DIRECT if name == "verlet" else {}
        found[name] = [
            Setting(
                f"{substeps} substeps {iterations} iterations",
                partial(ours, name, substeps=substeps, iterations=iterations, **more),
            )
            for substeps, iterations in ladder
        ]
    if mujoco_solver.mujoco is not None:
        found[MUJOCO] = [Setting(f"{count} substeps", partial(mujoco, dt=FRAME / count)) for count in MUJOCO_SUBSTEPS]
    if rapier3d is not None:
        found[RAPIER] = [Setting(f"{count} substeps", partial(rapier, substeps=count)) for count in RAPIER_SUBSTEPS]
    return found


def labels(settings):
    """Labels of a list of Setting."""
    return [setting.label for setting in settings]


def ours(name, models, **options):
    """Make one of our solvers. Args: name; models: one for each world; options."""
    return rigid.solver(name, models if len(models) > 1 else models[0], dt=FRAME, **options)


def mujoco(models, dt):
    """Make MuJoCo's solvers, with limits as stiff as the step allows. Args: models; dt [s]."""
    return SideBySide([MujocoSolver(model, dt, "Euler", contacts=True, limit_time=2 * dt) for model in models])


def rapier(models, substeps):
    """Make Rapier's solvers. Args: models; substeps: small steps of a frame."""
    return SideBySide([RapierSolver(model, FRAME, substeps) for model in models])


def within_bounds(case, methods, models, duration):
    """Find the cheapest settings of each method whose errors are within the bounds.

    Args: case: its name; methods: {name: list of Setting}; models: each is run alone, and the worst errors count;
    duration: of a run [s].

    Yields: lines of CSV: errors, in comments those of settings that are too cheap. Returns: {name: Setting}.
    """
    overlaps, chosen = Overlaps(models[0]), {}
    for name, ladder in methods.items():
        for setting in ladder:
            runs = [errors_of(setting.make([model]), model, duration, overlaps) for model in models]
            errors = Errors(*np.max([errors for errors, _ in runs], axis=0).tolist())
            if errors.small(name):
                chosen[name] = setting._replace(errors=errors, digest=digest_of(digest for _, digest in runs))
                yield row("peers", f"{case} {name} limits", math.degrees(errors.limit), "degrees", chosen[name].digest)
                yield row("peers", f"{case} {name} joints", 1e3 * errors.gap, "mm")
                yield row("peers", f"{case} {name} overlap", 1e3 * errors.overlap, "mm")
                break
            yield f"# {case} {name} {setting.label} is not within the bounds: {errors}"
    return chosen


def errors_of(solver, model, duration, overlaps):
    """Run a model. Args: solver: of it; model; duration [s]; overlaps: an Overlaps of it.

    Returns: Errors, infinite if it diverges; the digest of the final state.
    """
    states = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of open joints, which are measured here
        try:
            for _ in range(round(duration / FRAME)):
                solver.step(round(FRAME / solver.dt))
                states.append(solver.state())
        except pbd.Diverged:
            return Errors(math.inf, math.inf, math.inf), ""
    names = ("position", "rotation", "velocity", "angular_velocity")
    angles = np.stack([state.joint_angles for state in states])
    film = State(*(np.stack([getattr(state, name) for state in states]) for name in names), joint_angles=angles)
    limit = limit_violations(model, JointPositions(model).positions(film)).max()
    errors = Errors(limit, joint_gaps(model, film).max(), max(map(overlaps.depth, states)))
    return errors, solver.digest()


def compared(case, chosen, timed, duration, repeats=REPEATS):
    """Yield lines of CSV: costs of all methods, and of ours in parts of others'.

    Args: case: its name; chosen: {name: Setting}; timed: lists of models that are timed one after another, those of a
    list side by side; duration: of a run [s]; repeats: how often, the least time counts.
    """
    costs = {}
    for name, setting in chosen.items():
        seconds = sum(least_time(setting.make, models, duration, repeats) for models in timed)
        costs[name] = seconds / (duration * sum(map(len, timed)))
        yield row("peers", f"{case} {name} {setting.label}", 1e3 * costs[name], "ms for 1 s of each")
    yield from ratios(case, costs)


def least_time(make, models, duration, repeats):
    """Least processor time of several runs [s]. Args: make: function of models; models; duration [s]; repeats."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        solvers = [make(models) for _ in range(repeats)]
        return min(processor_time(solver, round(duration / solver.dt) - 1) for solver in solvers)


def ratios(case, costs):
    """Yield lines of CSV: costs of ours in parts of the least of each other one. Args: case; costs: {name: cost}."""
    for peer in (MUJOCO, RAPIER):
        theirs = [cost for name, cost in costs.items() if name.startswith(peer)]
        for name, cost in costs.items() if theirs else ():
            if not name.startswith((MUJOCO, RAPIER)):
                yield row("peers", f"{case} {name} to {peer}", cost / min(theirs), "ratio")


# Chains ---------------------------------------------------------------------------------------------------------------


def chains(links=(5, 100), steps=STEPS, **settings):
    """Yield lines of CSV of bent chains: cost of the longest step that keeps the energy within WORTH of m g L.

    Args: links: of each chain; steps [s], the longest first; settings: of energy.measure.
    """
    if has_32_bits():
        yield "# peers: chains are left out, 32 bits are too few for errors so small: expected --precision 64"
        return
    for count in links:
        costs = {}
        for name, make in methods().items():
            for dt in steps:
                point = measure(make, bent_chain(links=count), dt, **settings)
                if point.error <= WORTH and point.gap <= GAP:
                    break
            else:
                yield f"# chain of {count} {name}: the energy is not within {100 * WORTH:g} % of m g L"
                continue
            costs[name], case = point.seconds, f"chain of {count} {name}"
            yield row("peers", f"{case} {1e3 * dt:.3g} ms", 1e3 * point.seconds, "ms for 1 s", point.digest)
            yield row("peers", f"{case} energy", 100 * point.error, "% of m g L")
            yield row("peers", f"{case} joints", 1e3 * point.gap, "mm")
        yield from ratios(f"chain of {count}", costs)
