"""Cloths and ropes: threads, small scenes, many worlds, a million particles."""

import math
import os
import resource
import subprocess
import sys
import time

import numpy as np

import pbd
from benchmarks.timing import fastest, row
from pbd import build
from pbd.core.kernels import real_type


def grid(n, spacing=0.01):
    """A cloth of n x n particles hung by two corners: sticks along both sides and both diagonals, nothing else."""
    i = np.arange(n * n).reshape(n, n)
    plane = np.stack(np.meshgrid(np.arange(n), np.arange(n), indexing="ij"), axis=-1).reshape(-1, 2) * spacing
    particles = pbd.Particles()
    particles.add_particles(np.column_stack([plane, np.zeros(n * n)]), mass=0.01)
    particles.pin([0, n - 1])
    for a, b in ((i[:, :-1], i[:, 1:]), (i[:-1], i[1:]), (i[:-1, :-1], i[1:, 1:]), (i[1:, :-1], i[:-1, 1:])):
        particles.add_sticks(np.stack([a.ravel(), b.ravel()], axis=1))
    return particles


def rope(sticks=20):
    """A rope of 20 sticks, held at one end."""
    particles = pbd.Particles()
    for k in range(sticks + 1):
        particles.add_particle((0.1 * k, 0, 0), mass=1.0 if k else math.inf)
    for k in range(sticks):
        particles.add_stick(k, k + 1)
    return particles


def threads(n=256, iterations=10):
    """Stick projections per second on one thread and on two, each in its own process, and their ratio."""
    found = {}
    for count in (1, 2) if os.cpu_count() > 1 else (1,):
        bits = 64 if real_type() == np.float64 else 32
        code = f"from benchmarks.particles import thread_worker; thread_worker({n}, {iterations}, {count}, {bits})"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        rate, state = done.stdout.split()[-2:]
        found[count] = float(rate)
        yield row("threads", f"{n}x{n} on {count}", found[count], "million projections/s", state)
    if len(found) > 1:
        yield row("threads", f"{n}x{n} {count} threads to 1", found[count] / found[1], "ratio")


def thread_worker(n, iterations, count, bits):
    """Measure in this process, and print rate and digest. Args: n: particles along a side; count: threads; bits."""
    import taichi as ti

    ti.init(
        arch=ti.cpu, default_fp=ti.f64 if bits == 64 else ti.f32, cpu_max_num_threads=count, verbose=False
    )
    system = pbd.ParticleSystem(grid(n), iterations=iterations, schedule="clusters")
    sticks = sum(len(order) for order in system.schedule.orders)
    start = system.state()
    system.step(4)
    seconds = 4 * fastest(system.step, 60)
    system.set_state(start)
    system.step(4)
    sys.stdout.write(f"{4 * iterations * sticks / seconds / 1e6} {system.digest()}\n")


def small(iterations=10):
    """Time per step of a rope of 20 sticks, with one step or 1000 steps per launch."""
    system = pbd.ParticleSystem(rope(), dt=0.01, iterations=iterations)
    system.step(1000)

    def one_by_one():
        for _ in range(1000):
            system.step()

    yield row("small", "rope of 20 step(1)", fastest(one_by_one) * 1e3, "µs/step", system.digest())
    yield row("small", "rope of 20 step(1000)", fastest(lambda: system.step(1000)) * 1e3, "µs/step", system.digest())


def million(n=1000, iterations=10):
    """Time and memory of a cloth with a million particles, four million sticks and three million bending sticks."""
    start = time.perf_counter()
    particles = pbd.Particles()
    build.cloth(particles, (0, 0, 0), (1, 0, 0), (0, 1, 0), (n, n))
    system = pbd.ParticleSystem(particles, iterations=iterations)
    system.step()
    yield row("million", "build and first step", time.perf_counter() - start, "s")
    yield row("million", "step", fastest(system.step, 3) * 1e3, "ms/step", system.digest())
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    yield row("million", "peak memory", peak, "GB")


def worlds(count=1000, iterations=10):
    """Time per step and world of many ropes, and of one."""
    for number in (1, count):
        system = pbd.ParticleSystem(rope(), dt=0.01, iterations=iterations, worlds=number)
        system.step(10)
        seconds = fastest(lambda s=system: s.step(100), 3) / 100
        yield row("worlds", f"{number} ropes of 20", seconds * 1e6 / number, "µs/step and world", system.digest())
