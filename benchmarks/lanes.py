"""Worlds in lanes: steps per second of 64 worlds compared with one, on one thread."""

import math
import subprocess
import sys
import time
from functools import partial

import numpy as np

import pbd
import rigid
from benchmarks.timing import row
from pbd import build
from pbd.core.kernels import real_bits
from rigid.build import ragdoll

WORLDS, FIRST, STEPS = 64, 60, 40  # steps before those that are measured, and these

# Solvers of ragdolls and their options. Each substep looks for contacts. But for the direct solve, all iterations are
# made.
RAGDOLLS = {
    "ragdoll verlet": ("verlet", {"iterations": 10, "direction": "current", "solve": "iterative"}),
    "ragdoll direct verlet": ("verlet", {"substeps": 2, "iterations": 4, "direction": "current"}),
    "ragdoll impulse": ("impulse", {"iterations": 20, "tolerance": 0.0}),
}


def figure(worlds, floor):
    """A system of figures of particles that fall in the air, or lie on a floor after a second."""
    particles = pbd.Particles()
    build.figure(particles, (0, 0, 0.5 if floor else 3.0))
    if floor:
        particles.add_collider(pbd.Plane(), friction=0.5)
    return pbd.ParticleSystem(particles, dt=0.01, worlds=worlds)


def ragdolls(case, worlds, floor):
    """A solver of ragdolls of eleven capsules that fall in the air or lie on a floor after a second, each otherwise."""
    models = []
    for world in range(worlds):
        model = rigid.Model()
        if floor:
            model.add_ground()
        ragdoll(model, position=(0, 0, 0.3), rotation=(0.8, 0.1 + 0.01 * world, 0.6, 0))
        models.append(model)
    solver, options = RAGDOLLS[case]
    return rigid.solver(solver, models, dt=0.01, **options)


def chains(worlds, floor):
    """A system of chains of five sticks solved directly that swing, each with another last mass."""
    descriptions = []
    for world in range(worlds):
        particles = pbd.Particles()
        masses = [math.inf, 1, 1, 1, 1, 1 + world / WORLDS]
        particles.add_particles(np.outer(0.2 * np.arange(6), (1, 0, 0)), masses)
        particles.add_sticks([(k, k + 1) for k in range(5)])
        if floor:
            particles.add_collider(pbd.Plane(point=(0, 0, -0.7)), friction=0.5)
        descriptions.append(particles)
    return pbd.ParticleSystem(descriptions, dt=0.01, iterations=2, solve="direct", direction="start")


# What is measured: {name: a function (worlds, floor) that makes what steps}.
CASES = {
    "figure": figure,
    "direct chain": chains,
    **{case: partial(ragdolls, case) for case in RAGDOLLS},
}


def lanes_against_one_world():
    """Steps of a world per second, of one world and of 64, each case in a process with one thread."""
    for case in CASES:
        code = f"from benchmarks.lanes import worker; worker({case!r}, {real_bits()})"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        for line in done.stdout.splitlines():
            if line.startswith(case):
                place, one, many, lanes, state = line.split(",")
                yield row("lanes", f"{place} 1 world", float(one), "steps/s")
                yield row("lanes", f"{place} {WORLDS} worlds in {lanes} lanes", float(many), "steps/s", state)
                yield row("lanes", f"{place} {WORLDS} worlds to 1", float(many) / float(one), "ratio")


def worker(case, bits):
    """Measure a case in this process, and print both rates, the number of lanes and a digest. Args: case; bits.

    One world is compiled at Taichi's full level, as in a long run. Worlds in lanes are compiled as users have them:
    large kernels in lanes stay at the quick level (pbd/core/kernels/settings.py).
    """
    import taichi as ti

    kind = ti.f64 if bits == 64 else ti.f32
    ti.init(arch=ti.cpu, default_fp=kind, cpu_max_num_threads=1, verbose=False)
    for floor in (False, True):
        systems = [CASES[case](worlds, floor) for worlds in (1, WORLDS)]
        rates = [0.0, 0.0]
        for system, level in zip(systems, (2, 1)):
            ti.cfg.opt_level = level
            system.step(FIRST)  # compiles; then what falls onto the floor lies there
        starts = [system.state() for system in systems]
        for _ in range(9):  # in turn, so that other load on the machine affects both
            for k, system in enumerate(systems):
                seconds, times = 0.0, WORLDS // system.worlds
                for _ in range(times):
                    system.set_state(starts[k])
                    before = time.process_time()  # of one thread
                    system.step(STEPS)
                    seconds += time.process_time() - before
                rates[k] = max(rates[k], STEPS * WORLDS / seconds)
        found = f"{case} {'on a floor' if floor else 'in the air'}", *rates
        sys.stdout.write(",".join(map(str, (*found, systems[1].statistics().lanes, systems[1].digest()))) + "\n")
