"""Counts of random passive scenes that gain energy, diverge, open their joints or sink into one another, by solver.

MuJoCo runs the same scenes if it is installed. MuJoCo's limits are absolute, so it gets scenes of millimetres in
millimetres: with lengths and gravity times 1000, which moves the same.
"""

import time
from functools import partial

import pbd
import rigid
from benchmarks import mujoco_solver
from benchmarks.mujoco_solver import MujocoSolver
from benchmarks.outcomes import FRAME, watched
from benchmarks.random_scenes import random_scene
from benchmarks.scene_classes import CLASSES, MUJOCO, SOLVERS
from benchmarks.timing import digest_of, row
from pbd.core.kernels.settings import CHEAP, at_level
from pbd.core.messages import clipped
from pbd.core.validate import one_of, whole
from rigid.solvers.penalty.options import GAINS

SMALL, UNITS = 0.01, 1000.0  # MuJoCo gets shorter bodies [m] in units of a millimetre
PENALTY_STEP = FRAME / 64  # longest substep of "penalty", see its limitations [s]; its gains follow it


def robustness(count=5, first=0, solver=None, classes=None):
    """Lines of CSV: what became of random scenes of each class, by each solver.

    Args: count, first: of seeds in each class; solver: one of SOLVERS, None for all; classes: names of CLASSES, None
    for all. Scenes of particles run in "verlet" alone.

    Returns: an iterator.
    """
    count, first = whole("count", count), whole("first", first, least=0)
    solvers = SOLVERS if solver is None else (one_of("solver", solver, SOLVERS),)
    chosen = CLASSES if classes is None else {name: CLASSES[one_of("class", name, CLASSES)] for name in classes}
    return measured(range(first, first + count), solvers, chosen)


def measured(seeds, solvers, classes):
    """Yield lines of CSV. Args: seeds: whole numbers; solvers: of SOLVERS; classes: {name: Class}."""
    if mujoco_solver.mujoco is None and set(MUJOCO) & set(solvers):
        yield "# robustness: MuJoCo is left out, because it is not installed: pip install 'verletlab[mjcf]'"
        solvers = [name for name in solvers if name not in MUJOCO]
    with at_level(CHEAP):  # scenes at random need many kinds of kernels
        for label, given in classes.items():
            for name in solvers:
                start = time.perf_counter()
                found = [run_scene(seed, name, given) for seed in seeds]
                found = [each for each in found if each is not None]
                if found:
                    yield from lines_of(f"{label} {name}", found, time.perf_counter() - start)


def run_scene(seed, solver, given):
    """Run a random scene. Args: seed; solver: one of SOLVERS; given: a Class.

    Returns: an Outcome; None for particles that the solver cannot have.
    """
    scene = random_scene(seed, *given)
    if scene.has_particles:
        if solver != "verlet":
            return None
        make = partial(pbd.ParticleSystem, scene.description, dt=scene.dt)
    elif solver in MUJOCO:
        if scene.length < SMALL:
            units = given._replace(length=UNITS * scene.length)
            scene = random_scene(seed, *units, gravity=-UNITS * scene.description.gravity[2])
        integrator = solver.split()[-1]
        make = partial(MujocoSolver, scene.description, scene.dt, integrator, contacts=scene.contacts)
    else:
        options = {}
        if solver == "penalty":
            options = {"substeps": -int(-scene.dt // PENALTY_STEP), **dict.fromkeys(GAINS)}
        make = partial(rigid.solver, solver, scene.description, dt=scene.dt, contacts=scene.contacts, **options)
    description, length, duration = scene.description, scene.length, scene.duration
    return watched(seed, make, description, length, scene.scale, duration, contacts=scene.contacts)


def lines_of(case, found, seconds):
    """Yield lines of CSV, and seeds in comments. Args: case; found: Outcomes; seconds: of the runs [s].

    Each rate is in percent of the scenes that the solver did not refuse.
    """
    ran = [each for each in found if not each.refused]
    digest = digest_of(each.digest for each in found)
    yield row("robustness", f"{case} scenes", len(found), "", digest)
    yield row("robustness", f"{case} refused", 100 * (len(found) - len(ran)) / len(found), "%")
    rates = {
        "gain in silence": [each for each in ran if each.silent],
        "diverged": [each for each in ran if each.diverged],
        "diverged or warned": [each for each in ran if each.said],
        "joints open": [each for each in ran if each.open],
        "overlap at rest": [each for each in ran if each.sunk],
    }
    for what, those in rates.items():
        yield row("robustness", f"{case} {what}", 100 * len(those) / max(len(ran), 1), "%")
    yield row("robustness", f"{case} time", seconds / len(found), "s/scene")
    for what, those in {**rates, "refused": [each for each in found if each.refused]}.items():
        if those:
            seeds = " ".join(str(each.seed) for each in those[:10])
            said = f": {clipped(those[0].said)}" if those[0].said else ""
            yield f"# {case}: {what}: seeds {seeds}{said}"
