"""Benchmarks: how fast, with a hash of the state beside each figure, so that a faster wrong answer shows.

Ratios are of figures from one run. A loop in C, compiled where there is a compiler, is the bar for one thread.
"""

import ctypes
import math
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import pbd
import rigid
from pbd import build
from pbd.launch import real
from rigid.build import ragdoll
from scenes.device import running_on
from scenes.scene import load

COLUMNS = "benchmark,case,device,value,unit,state"

C_SOURCE = r"""
#include <math.h>
#define TINY ((REAL)1e-30)
/* Verlet under gravity, then Jakobsen's sticks in the order given: the same step as ours, as a person would write it.
*/ void step(REAL *x, REAL *previous, const REAL *w, int particles, const int *members, const REAL *length, int sticks,
          int sweeps, REAL gh2) {
    for (int i = 0; i < particles; i++) {
        if (w[i] == 0) { for (int k = 0; k < 3; k++) previous[3*i+k] = x[3*i+k]; continue; }
        for (int k = 0; k < 3; k++) {
            REAL now = x[3*i+k];
            x[3*i+k] = now + (now - previous[3*i+k]) + (k == 2 ? gh2 : 0);
            previous[3*i+k] = now;
        }
    }
    for (int sweep = 0; sweep < sweeps; sweep++)
        for (int c = 0; c < sticks; c++) {
            int a = members[2*c], b = members[2*c+1];
            REAL *p = x + 3*a, *q = x + 3*b;
            REAL dx = q[0]-p[0], dy = q[1]-p[1], dz = q[2]-p[2];
            REAL d = SQRT(dx*dx + dy*dy + dz*dz + TINY);
            REAL s = (d - length[c]) / (d * (w[a] + w[b] + (REAL)1e-20)), u = w[a]*s, v = w[b]*s;
            p[0] += u*dx; p[1] += u*dy; p[2] += u*dz;
            q[0] -= v*dx; q[1] -= v*dy; q[2] -= v*dz;
        }
}
"""


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


def lying_ragdoll(worlds=1, sweeps=10):
    """A solver of a ragdoll of eleven capsules that has fallen and lies on the floor."""
    model = rigid.Model()
    model.add_ground()
    ragdoll(model, position=(0, 0, 0.3), rotation=(0.8, 0.1, 0.6, 0))
    solver = rigid.solver("verlet", model, dt=1 / 60, iterations=sweeps, worlds=worlds, direction="current")
    solver.step(300)
    return solver


def fastest(work, repeats=7):
    """Least wall time of several calls [s]."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def row(benchmark, case, value, unit, state=""):
    """A line of CSV."""
    return f"{benchmark},{case},{running_on().replace(',', '')},{value:.4g},{unit},{state}"


# Benchmarks
# ------------------------------------------------------------------------------------------------------------


def sticks_against_c(n=128, sweeps=10):
    """Stick projections a second on one thread, ours and C's; of the sweeps alone, and of whole steps with Verlet."""
    particles = grid(n)
    systems = [pbd.ParticleSystem(particles, iterations=k, schedule="clusters", clusters=1) for k in (sweeps, 0)]
    start = systems[0].state()
    loop = CLoop(systems[0], start)
    steps = 4
    ours, theirs = np.full(2, math.inf), np.full(2, math.inf)
    for system in systems:
        system.step()  # compiles
    for _ in range(8):  # by turns, so that both meet the same neighbours on the machine
        for k, (system, count) in enumerate(zip(systems, (sweeps, 0))):
            system.set_state(start)
            ours[k] = min(ours[k], fastest(lambda s=system: s.step(steps), 1))
            if loop.library:
                loop.reset()
                theirs[k] = min(theirs[k], fastest(lambda c=count: loop.step(steps, c), 1))
                if k == 0:
                    difference = np.abs(loop.x.reshape(-1, 3) - system.positions()).max()
    projections = steps * sweeps * sum(len(order) for order in systems[0].schedule.orders) / 1e6
    unit = "million projections/s"
    state = systems[0].digest()
    yield row("sticks", f"{n}x{n} sweeps one thread", projections / (ours[0] - ours[1]), unit, state)
    yield row("sticks", f"{n}x{n} steps one thread", projections / ours[0], unit, state)
    if loop.library:
        yield row("sticks", f"{n}x{n} sweeps C -O3 -march=native", projections / (theirs[0] - theirs[1]), unit)
        yield row("sticks", f"{n}x{n} steps C -O3 -march=native", projections / theirs[0], unit)
        yield row("sticks", f"{n}x{n} sweeps ours to C", (theirs[0] - theirs[1]) / (ours[0] - ours[1]), "ratio")
        yield row("sticks", f"{n}x{n} steps ours to C", theirs[0] / ours[0], "ratio")
        yield row("sticks", f"{n}x{n} difference from C", difference, "m")


class CLoop:
    """The step in C, compiled for this machine and precision; `library` is None where there is no compiler."""

    def __init__(self, system, state):
        compiler = shutil.which("cc")
        self.library = None
        if not compiler:
            return
        name, root = ("float", "sqrtf") if real() == np.float32 else ("double", "sqrt")
        with tempfile.TemporaryDirectory() as folder:
            source, library = Path(folder, "loop.c"), Path(folder, "loop.so")
            source.write_text(C_SOURCE)
            command = [compiler, "-O3", "-march=native", f"-DREAL={name}", f"-DSQRT={root}", "-shared", "-fPIC"]
            subprocess.run([*command, "-o", str(library), str(source), "-lm"], check=True, capture_output=True)
            self.library = ctypes.CDLL(str(library))
        self.kind = ctypes.c_float if real() == np.float32 else ctypes.c_double
        self.state = state
        self.members = system._arrays["members"].to_numpy()
        self.length = system._arrays["parameters"].to_numpy()[:, 0].copy()
        self.weights = np.ascontiguousarray(state.inverse_masses, real())
        self.gh2 = -9.81 * system.dt**2
        self.reset()

    def reset(self):
        """Back to the start."""
        self.x = np.array(self.state.positions, real()).ravel()
        self.previous = np.array(self.state.previous, real()).ravel()

    def step(self, count, sweeps):
        """Make steps."""

        def at(array):
            return array.ctypes.data_as(ctypes.c_void_p)

        for _ in range(count):
            self.library.step(
                at(self.x), at(self.previous), at(self.weights), len(self.weights), at(self.members), at(self.length),
                len(self.length), sweeps, self.kind(self.gh2),
            )  # fmt: skip


def threads(n=256, sweeps=10):
    """Stick projections a second on one thread and on two, in a process each, and what the second is worth."""
    found = {}
    for count in (1, 2) if os.cpu_count() > 1 else (1,):
        bits = 64 if real() == np.float64 else 32
        code = f"from scenes import bench; bench.thread_worker({n}, {sweeps}, {count}, {bits})"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        rate, state = done.stdout.split()[-2:]
        found[count] = float(rate)
        yield row("threads", f"{n}x{n} on {count}", found[count], "million projections/s", state)
    if len(found) > 1:
        yield row("threads", f"{n}x{n} {count} threads to 1", found[count] / found[1], "ratio")


def thread_worker(n, sweeps, count, bits):
    """Measure in this process, with a number of threads; prints rate and state."""
    import taichi as ti

    ti.init(
        arch=ti.cpu, default_fp=ti.f64 if bits == 64 else ti.f32, cpu_max_num_threads=count, verbose=False
    )
    system = pbd.ParticleSystem(grid(n), iterations=sweeps, schedule="clusters")
    sticks = sum(len(order) for order in system.schedule.orders)
    start = system.state()
    system.step(4)
    seconds = 4 * fastest(system.step, 60)
    system.set_state(start)
    system.step(4)
    sys.stdout.write(f"{4 * sweeps * sticks / seconds / 1e6} {system.digest()}\n")


def small(sweeps=10):
    """What a step of a 20-stick rope costs, from Python and inside one launch."""
    system = pbd.ParticleSystem(rope(), dt=0.01, iterations=sweeps)
    system.step(1000)

    def one_by_one():
        for _ in range(1000):
            system.step()

    yield row("small", "rope of 20 step(1)", fastest(one_by_one) * 1e3, "µs/step", system.digest())
    yield row("small", "rope of 20 step(1000)", fastest(lambda: system.step(1000)) * 1e3, "µs/step", system.digest())


def million(n=1000, sweeps=10):
    """A cloth of a million particles, four million sticks and three of bending: time to build and to step, and
    memory."""
    import resource

    start = time.perf_counter()
    particles = pbd.Particles()
    build.cloth(particles, (0, 0, 0), (1, 0, 0), (0, 1, 0), (n, n))
    system = pbd.ParticleSystem(particles, iterations=sweeps)
    system.step()
    yield row("million", "build and first step", time.perf_counter() - start, "s")
    yield row("million", "step", fastest(system.step, 3) * 1e3, "ms/step", system.digest())
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    yield row("million", "peak memory", peak, "GB")


def worlds(count=1000, sweeps=10):
    """Steps of many ropes side by side, and of one."""
    for number in (1, count):
        system = pbd.ParticleSystem(rope(), dt=0.01, iterations=sweeps, worlds=number)
        system.step(10)
        seconds = fastest(lambda s=system: s.step(100), 3) / 100
        yield row("worlds", f"{number} ropes of 20", seconds * 1e6 / number, "µs/step and world", system.digest())


def ragdolls(worlds=100, pile=50, sweeps=10):
    """A ragdoll on a floor, and a figure of particles, from Python and inside one launch; many worlds; and a pile."""
    solver = lying_ragdoll(sweeps=sweeps)
    seconds = fastest(lambda: [solver.step() for _ in range(1000)], 3)
    yield row("ragdoll", "step(1)", seconds * 1e3, "µs/step", solver.system.digest())
    yield row("ragdoll", "step(1000)", fastest(lambda: solver.step(1000)) * 1e3, "µs/step", solver.system.digest())

    particles = pbd.Particles()
    build.figure(particles)
    particles.add_collider(pbd.Plane(), friction=0.5)
    system = pbd.ParticleSystem(particles, dt=1 / 60, iterations=sweeps)
    system.step(300)
    yield row("ragdoll", "figure step(1000)", fastest(lambda: system.step(1000)) * 1e3, "µs/step", system.digest())

    solver = lying_ragdoll(worlds, sweeps)
    rate = 100 * worlds / fastest(lambda: solver.step(100))
    yield row("ragdoll", f"{worlds} worlds", rate, "ragdoll-steps/s", solver.system.digest())

    # As the scenes have it, in the current direction: with "start" a pile diverges at so few sweeps.
    model = load("ragdoll_pile", count=pile).model
    solver = rigid.solver("verlet", model, dt=1 / 60, iterations=sweeps, direction="current")
    solver.step(240)
    yield row("ragdoll", f"pile of {pile}", fastest(lambda: solver.step(20), 3) * 50, "ms/step", solver.system.digest())


BENCHMARKS = {
    "sticks": sticks_against_c,
    "threads": threads,
    "small": small,
    "worlds": worlds,
    "ragdoll": ragdolls,
    "million": million,
}


def rows(names):
    """Lines of CSV, header first, as they are measured. Arguments: names of BENCHMARKS."""
    yield COLUMNS
    for name in names:
        yield from BENCHMARKS[name]()
