"""The direct solve of "verlet": accuracy, energy and cost of a chain, cost of ropes, size of the scenes' factors."""

import math
from functools import partial

import numpy as np

import pbd
import rigid
from benchmarks.bodies import remove_limits
from benchmarks.chains import STARTS, bent_chain, energy_changes, rise_and_drift
from benchmarks.sticks import c_loop
from benchmarks.timing import fastest, has_32_bits, row
from pbd.direct.factor import factor_pattern
from rigid.build import ragdoll
from scenes.registry import available, load
from scenes.simulate.run import Run

STEPS = (0.004, 0.002, 0.001, 0.0005)  # of orders of convergence [s]
MANY_ITERATIONS = 400  # of Gauss-Seidel

# Steps of each start of the chain [s].
SWINGS = {name: (1 / 60, 0.01) if name == "swinging" else (1 / 60, 0.005, 0.002) for name in STARTS}
LAST_MASSES = (1.0, 100.0, 1000.0)  # of the last rod [kg]

# Goals in projections of the C loop: 12 µs for a step of the chain, 25 µs for the joints of a ragdoll, where the loop
# makes 350 million per second; and for a segment of a rope in each round.
STEP_GOAL, RAGDOLL_GOAL, SEGMENT_GOAL = 12e-6 * 350e6, 25e-6 * 350e6, 40

SEGMENT, HEAVY = 0.01, 1000.0  # mass and length of a rope's segment [kg, m]; weight at its end, in segments
MANY = 50  # bodies: larger scenes are left out of the table


def direct_solve():
    """Yield lines of CSV: accuracy, energy and cost of the bent chain, ropes, and a table of the catalogue's scenes."""
    if has_32_bits():
        yield "# direct: 32 bits are too few for errors so small: expected --precision 64"
        return
    yield from accuracy()
    yield from energies()
    yield from costs()
    yield from sizes()


def solver_of(model, dt, iterations=2, **options):
    """A "verlet" solver with the direct solve. Args: model; dt [s]; iterations: rounds; options: others."""
    given = {"solve": "direct", "direction": "start", "contacts": False, **options}
    return rigid.solver("verlet", model, dt=dt, iterations=iterations, **given)


def accuracy(steps=STEPS, duration=1.0, iterations=MANY_ITERATIONS):
    """Distance of the bent chain from its converged trajectory with two rounds, and with many Gauss-Seidel iterations.

    The error is c h² + O(h⁴), so the results with h and h/2 give the converged one: x(h/2) + (x(h/2) - x(h))/3.

    Args: steps: each half of the one before [s]; duration [s]; iterations: of Gauss-Seidel, with the third step.
    """
    ends = {}
    for h in (*steps, steps[-1] / 2):
        solver = solver_of(bent_chain(), h)
        solver.step(round(duration / h))
        ends[h] = solver.state().position, solver.digest()
    coarse, fine = (ends[h][0] for h in (steps[-1], steps[-1] / 2))
    converged = fine + (fine - coarse) / 3
    errors = {h: np.abs(end - converged).max() for h, (end, _) in ends.items()}
    for h in steps:
        yield row("direct", f"chain of 5 {1e3 * h:g} ms two rounds off", 1e3 * errors[h], "mm", ends[h][1])
    for h in steps[:-1]:
        yield row("direct", f"chain of 5 {1e3 * h:g} to {500 * h:g} ms error", errors[h] / errors[h / 2], "ratio")
    solver = solver_of(bent_chain(), steps[2], iterations, solve="iterative")
    solver.step(round(duration / steps[2]))
    off = np.abs(solver.state().position - converged).max()
    label = f"chain of 5 {1e3 * steps[2]:g} ms {iterations} iterations off"
    yield row("direct", label, 1e3 * off, "mm", solver.digest())


def energies(duration=60.0, last_masses=LAST_MASSES, swings=SWINGS):
    """Rise and drift of the bent chain's energy with two rounds, in percent of m g L; or when it diverges.

    Args: duration [s]; last_masses: of the last rod [kg]; swings: {start: steps [s]}.
    """
    for last in last_masses:
        for start, steps in swings.items():
            for h in steps:
                solver = solver_of(bent_chain(last, **STARTS[start]), h)
                label = f"chain of 5 last {last:g} kg {start} {1e3 * h:.3g} ms"
                try:
                    rise, drift = rise_and_drift(energy_changes(solver, duration, max(1, round(0.01 / h))))
                except pbd.Diverged as error:
                    yield row("direct", f"{label} diverges", error.time, "s")
                    continue
                yield row("direct", f"{label} rise", 100 * rise, "% of m g L", solver.digest())
                yield row("direct", f"{label} drift", 100 * drift, "% of m g L")


def costs(segments=(10, 100, 1000, 10_000)):
    """Time of a step of the bent chain, a ragdoll and hanging ropes, also in projections of the C loop of `sticks`.

    Args: segments: of each rope.
    """
    for case, model, goal in (
        ("chain of 5", bent_chain(), STEP_GOAL),
        ("ragdoll's joints", falling_ragdoll(limits=False), RAGDOLL_GOAL),
        ("ragdoll's joints and limits", falling_ragdoll(), RAGDOLL_GOAL),
    ):
        solver = solver_of(model, 0.001)
        solver.step(200)
        seconds = fastest(partial(solver.step, 500)) / 500
        yield row("direct", f"{case} two rounds", 1e6 * seconds, "µs/step", solver.digest())
        yield from c_rows(f"{case} two rounds", seconds, goal)
    for count in segments:
        system = hanging_rope(count)
        steps = max(20, 50_000 // count)
        system.step(2)
        seconds = fastest(partial(system.step, steps), 3) / (steps * count * system.iterations)
        yield row("direct", f"rope of {count} segments", 1e9 * seconds, "ns/segment and round", system.digest())
        yield from c_rows(f"rope of {count} segments", seconds, SEGMENT_GOAL)
        lengths = np.linalg.norm(np.diff(system.positions(), axis=0), axis=1)
        yield row("direct", f"rope of {count} stretch", np.abs(lengths / SEGMENT - 1).max(), "ratio")


def falling_ragdoll(limits=True):
    """A ragdoll that turns in the air. Args: limits: whether its joints have limits."""
    model = rigid.Model()
    ragdoll(model, position=(0, 0, 100), rotation=(0.8, 0.1, 0.6, 0), angular_velocity=(0.3, 0.5, 0.2))
    if not limits:
        remove_limits(model)
    return model


def c_rows(case, seconds, goal):
    """Yield lines of a time in projections of the C loop, measured now, and of the goal, if there is a C compiler."""
    loop = c_loop()
    if loop.library:
        yield row("direct", f"{case} in C", seconds * loop.rate(), "projections")
        yield row("direct", f"{case} goal", goal, "projections")


def hanging_rope(segments):
    """A rope that hangs at rest with a weight of HEAVY segments, solved directly. Args: segments: how many."""
    particles = pbd.Particles()
    heights = -SEGMENT * np.arange(segments + 1.0)
    masses = np.full(segments + 1, SEGMENT)
    masses[0], masses[-1] = math.inf, HEAVY * SEGMENT
    particles.add_particles(np.outer(heights, (0, 0, 1)), masses)
    particles.add_sticks(np.stack([np.arange(segments), np.arange(1, segments + 1)], axis=1))
    return pbd.ParticleSystem(particles, dt=1 / 240, iterations=2, solve="direct")


def sizes(names=None):
    """Yield lines of CSV, and a table in comments: what the direct solve factors in scenes with joints.

    Args: names: of scenes; None for all of the catalogue with at most MANY bodies.
    """
    widths = {"constraints": 13, "rows": 8, "entries of L": 14, "products": 10, "components": 12}
    lines = [f"# {'':24}" + "".join(f"{name:>{width}}" for name, width in widths.items())]
    for name in available() if names is None else names:
        scene = load(name)
        jointed = scene.model is not None and scene.model.joints and "verlet" in scene.solvers
        if not jointed or len(scene.model.bodies) > MANY:
            continue
        system = Run(scene, "verlet", solve="direct").particles
        plan = system.direct
        factor = factor_pattern(plan.rows.pattern(system.inverse_masses() > 0))
        constraints = sum(map(len, system.schedule.orders))
        figures = constraints, len(plan.rows), len(factor.rows), factor.multiply_adds, plan.components
        for unit, value in zip(widths, figures):
            yield row("direct", f"{name} {unit}", value, unit)
        lines.append(f"# {name:24}" + "".join(f"{value:>{width}}" for value, width in zip(figures, widths.values())))
    yield from lines
