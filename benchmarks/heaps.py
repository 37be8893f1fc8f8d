"""Cost and quality of pyramids, heaps and a struck wall beside Rapier, Box3D, MuJoCo and Jolt.

All make steps of 1/60 s in one thread, and nothing sleeps. The cost is the processor time of a step at the end of a
run. Quality is what a run leaves: how far the top has sunk and how far bodies have crept aside (pyramids, which should
not move), the deepest overlap, and the largest speed. A ratio is that to the faster of Rapier and Box3D.
"""

import math
from typing import NamedTuple

import numpy as np

import pbd
import rigid
from benchmarks import jolt_solver, mujoco_solver
from benchmarks.jolt_solver import JoltSolver
from benchmarks.mujoco_solver import MujocoSolver
from benchmarks.other_engines import ENGINES
from benchmarks.timing import cost_of_steps, row
from rigid.collision.overlaps import Overlaps

STEP = 1 / 60  # [s]
TIMED = 60  # steps at the end of a run
FRICTION = 0.6

OURS = {
    "impulse 6 iterations": ("impulse", {"iterations": 6}),
    "impulse 10 iterations": ("impulse", {"iterations": 10}),
    "impulse 50 iterations": ("impulse", {}),
    "impulse 3 small steps": ("impulse", {"small_steps": 3}),
    "impulse 4 small steps": ("impulse", {"small_steps": 4}),
    "verlet 8 substeps": ("verlet", {"substeps": 8, "iterations": 8, "solve": "iterative"}),
}


class Case(NamedTuple):
    """A model and a run of it. Attributes: model; steps: of the run; stands: whether nothing should move."""

    model: object
    steps: int
    stands: bool


def heaps():
    """Yield lines of CSV: cost and quality of each case by each program, and ratios of costs."""
    for name, (module, _) in ENGINES.items():
        if module is None:
            yield f"# heaps: {name} is left out, because it is not installed: pip install 'verletlab[peers]'"
    if why := jolt_solver.missing():
        yield f"# heaps: Jolt is left out: {why}"
    for name, case in cases().items():
        yield from compared(name, case)


def cases():
    """{name: Case}."""
    found = {f"pyramid of {rows * (rows + 1) // 2}": Case(pyramid(rows), 300, True) for rows in (15, 30)}
    found |= {f"heap of {count}": Case(heap(count), 300, False) for count in (50, 200, 1000)}
    return found | {"struck wall": Case(struck_wall(), 240, False)}


def pyramid(rows):
    """Boxes of 1 m in a pyramid. Args: rows."""
    model = rigid.Model()
    model.add_ground(friction=FRICTION)
    for level in range(rows):
        for k in range(rows - level):
            place = (1.05 * (k - (rows - level - 1) / 2), 0, level + 0.5)
            model.add_box((1, 1, 1), mass=1.0, position=place, friction=FRICTION)
    return model


def heap(count, seed=0):
    """Spheres, capsules and boxes that fall at random from a loose lattice. Args: count; seed."""
    model, random = rigid.Model(), np.random.default_rng(seed)
    model.add_ground(friction=FRICTION)
    side = max(round((count / 4) ** (1 / 2)), 2)
    for k in range(count):
        place = 0.5 * np.array([k % side - side / 2, k // side % side - side / 2, k // side**2 + 1.0])
        turn = random.normal(size=4)
        given = {"position": place + random.uniform(-0.05, 0.05, 3), "friction": FRICTION, "mass": 1.0}
        if k % 3 == 0:
            model.add_sphere(random.uniform(0.1, 0.18), **given)
        elif k % 3 == 1:
            model.add_capsule(
                random.uniform(0.06, 0.1), random.uniform(0.1, 0.2), **given, rotation=turn / np.linalg.norm(turn)
            )
        else:
            model.add_box(random.uniform(0.15, 0.3, 3), **given, rotation=turn / np.linalg.norm(turn))
    return model


def struck_wall(rows=10, columns=12, speed=20.0):
    """A wall of bricks that a heavy ball strikes. Args: rows; columns; speed: of the ball [m/s]."""
    model, size = rigid.Model(), np.array([0.6, 0.3, 0.3])
    model.add_ground(friction=FRICTION)
    for level in range(rows):
        for k in range(columns):
            place = ((k - columns / 2 + 0.5 * (level % 2)) * 1.01 * size[0], 0, (level + 0.5) * size[2])
            model.add_box(size, mass=10.0, position=place, friction=FRICTION)
    model.add_sphere(0.4, mass=100.0, position=(0.1, -4.0, 1.4), velocity=(0, speed, 0), friction=FRICTION)
    return model


def compared(name, case):
    """Yield lines of CSV of one case. Args: name; case: a Case."""
    costs, overlaps = {}, Overlaps(case.model)
    for method, make in methods().items():
        try:
            yield from measured(f"{name} {method}", case, make, overlaps, costs)
        except (pbd.Diverged, RuntimeError) as error:
            yield f"# {name} {method}: {error}".replace("\n", " ")
    peers = [cost for label, cost in costs.items() if label.removeprefix(f"{name} ") in ENGINES]
    for label, cost in costs.items() if peers else ():
        if cost not in peers:
            yield row("heaps", f"{label} to peers", cost / min(peers), "ratio")


def methods():
    """{name: a function of a model that makes its solver}."""
    found = {name: maker for name, (module, maker) in ENGINES.items() if module is not None}
    found = {name: lambda model, maker=maker: maker(model, STEP) for name, maker in found.items()}
    if mujoco_solver.mujoco is not None:
        found["MuJoCo"] = lambda model: MujocoSolver(model, STEP, "implicitfast", contacts=True)
    if not jolt_solver.missing():
        found["Jolt"] = lambda model: JoltSolver(model, STEP)
    for name, (solver, options) in OURS.items():
        found[name] = lambda model, solver=solver, options=options: rigid.solver(solver, model, dt=STEP, **options)
    return found


def measured(label, case, make, overlaps, costs):
    """Yield lines of CSV of one run. Args: label; case; make: see `methods`; overlaps: an Overlaps; costs: gets it."""
    solver, model = make(case.model), case.model
    solver.step(case.steps - TIMED)
    costs[label] = cost_of_steps(solver, TIMED) / TIMED
    state = solver.state()
    solver.step()
    speed = np.abs(solver.state().position - state.position).max() / STEP
    moved = state.position - model.initial_state().position
    yield row("heaps", label, 1e3 * costs[label], "ms/step", solver.digest())
    yield row("heaps", f"{label} overlap", 1e3 * overlaps.depth(state), "mm")
    if not np.isfinite(moved).all():
        yield f"# {label}: not finite"
    elif case.stands:
        top = int(np.argmax(model.initial_state().position[:, 2]))
        yield row("heaps", f"{label} sinking", -1e3 * moved[top, 2], "mm")
        yield row("heaps", f"{label} creep", 1e3 * math.sqrt((moved[:, :2] ** 2).sum(axis=1).max()), "mm")
    yield row("heaps", f"{label} speed", speed, "m/s")
