"""The present device: frames of cloth, ragdolls and boxes per second, and what a step costs besides arithmetic.

    verletlab bench device --device gpu

Sizes that take minutes on a processor run on a graphics card alone.
"""

import time

import rigid
from benchmarks.timing import row
from pbd.core.kernels import TRAFFIC, on_cpu
from rigid.build import ragdoll
from scenes.registry import load
from scenes.simulate.run import Run

FRAME = 1 / 60  # [s]

# Particles along a side of a cloth; ragdolls, each in a world; piles of 100 boxes, each in a world.
CLOTHS, RAGDOLLS, PILES = (100, 300, 1_000), (100, 1_000, 10_000), (10, 1_000)
MOST_ON_A_PROCESSOR = {"drape": 300, "ragdolls": 1_000, "boxes": 10}


def device(cloths=CLOTHS, ragdolls=RAGDOLLS, piles=PILES):
    """Speed of the present device. Args: numbers of particles along a side, of ragdolls, and of piles of boxes."""
    for name, numbers, measure in (
        ("drape", cloths, measure_drape), ("ragdolls", ragdolls, measure_ragdolls), ("boxes", piles, measure_piles),
    ):  # fmt: skip
        for number in numbers:
            if not on_cpu() or number <= MOST_ON_A_PROCESSOR[name]:
                yield from measure(number)


def measure_drape(count):
    """A cloth that falls over a ball. Args: count: particles along a side."""
    run = Run(load("drape", count=count), "verlet", 1.0, fps=1 / FRAME)
    yield from measured(run.system, run.steps_per_frame, f"drape {count} x {count}", 1, "frames/s")


def measure_ragdolls(worlds):
    """Ragdolls on a floor with "verlet". Args: worlds: how many."""
    model = rigid.Model()
    model.add_ground()
    ragdoll(model, position=(0, 0, 0.3), rotation=(0.8, 0.1, 0.6, 0))
    solver = rigid.solver("verlet", model, dt=FRAME, worlds=worlds, iterations=10, direction="current")
    yield from measured(solver, 1, f"{worlds} ragdolls", worlds, "ragdoll-steps/s")


def measure_piles(worlds):
    """Piles of 100 boxes with "impulse". Args: worlds: how many piles."""
    model = rigid.Model()
    model.add_ground()
    for k in range(100):
        place = (0.21 * (k % 5), 0.21 * (k // 5 % 4), 0.1 + 0.21 * (k // 20))
        model.add_box((0.2, 0.2, 0.2), density=1000, position=place)
    solver = rigid.solver("impulse", model, dt=FRAME, worlds=worlds, iterations=10)
    yield from measured(solver, 1, f"{worlds} piles of 100 boxes", 100 * worlds, "box-steps/s")


def measured(system, steps, case, items, unit, seconds=3.0):
    """Rows of a system: speed, and launches and bytes that go through the host in a substep.

    Args: steps: a call; items: that it counts as; seconds: at least that long [s].
    """
    system.step(steps)  # compiles
    TRAFFIC.clear()
    start, done = time.perf_counter(), 0
    while done == 0 or time.perf_counter() - start < seconds:
        system.step(steps)
        done += 1
    rate = done * items / (time.perf_counter() - start)
    substeps = done * steps * system.substeps
    yield row("device", case, rate, unit, system.digest())
    if TRAFFIC.launches:  # quick kernels, on the processor, are not counted
        yield row("device", f"{case} launches", TRAFFIC.launches / substeps, "launches/substep")
        yield row("device", f"{case} to the device", TRAFFIC.to_device / substeps, "bytes/substep")
        yield row("device", f"{case} to the host", TRAFFIC.to_host / substeps, "bytes/substep")
