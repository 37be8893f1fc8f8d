"""Stick projections compared with a loop in C on one thread, if there is a C compiler."""

import ctypes
import math
import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np

import pbd
from benchmarks.particles import grid
from benchmarks.timing import cpu_seconds, fastest, row
from pbd.core.kernels import read, real_type

C_SOURCE = r"""
#include <math.h>
#define TINY ((REAL)1e-30)
/* Verlet under gravity, then Jakobsen's sticks in the given order: the same step as ours. */
void step(REAL *x, REAL *previous, const REAL *w, int particles, const int *members, const REAL *length, int sticks,
          int iterations, REAL gh2) {
    for (int i = 0; i < particles; i++) {
        if (w[i] == 0) { for (int k = 0; k < 3; k++) previous[3*i+k] = x[3*i+k]; continue; }
        for (int k = 0; k < 3; k++) {
            REAL now = x[3*i+k];
            x[3*i+k] = now + (now - previous[3*i+k]) + (k == 2 ? gh2 : 0);
            previous[3*i+k] = now;
        }
    }
    for (int k = 0; k < iterations; k++)
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


def sticks_against_c(n=128, iterations=10):
    """Stick projections per second on one thread, ours and in C: of the iterations alone, and of whole steps.

    Ours are those of bands in lanes, and of the same schedule without lanes, which is also that of the loop in C.
    """
    particles = grid(n)
    counts = (iterations, 0, iterations, 0)
    systems = [
        pbd.ParticleSystem(particles, iterations=count, schedule="clusters", clusters=1, lanes=lanes)
        for count, lanes in zip(counts, (None, None, 1, 1))
    ]
    start = systems[0].state()
    loop = CLoop(systems[0], start)
    steps = 4
    ours, theirs = np.full(4, math.inf), np.full(2, math.inf)
    for system in systems:
        system.step()  # compiles
    for _ in range(8):  # in turn, so that other load on the machine affects both
        for k, (system, count) in enumerate(zip(systems, counts)):
            system.set_state(start)
            ours[k] = min(ours[k], fastest(lambda s=system: s.step(steps), 1))
            if loop.library and k < 2:
                loop.reset()
                theirs[k] = min(theirs[k], fastest(lambda c=count: loop.step(steps, c), 1))
                if k == 0:
                    difference = np.abs(loop.x.reshape(-1, 3) - system.positions()).max()
    projections = steps * iterations * sum(len(order) for order in systems[0].schedule.orders) / 1e6
    unit = "million projections/s"
    state = systems[0].digest()
    yield row("sticks", f"{n}x{n} iterations one thread", projections / (ours[0] - ours[1]), unit, state)
    yield row("sticks", f"{n}x{n} steps one thread", projections / ours[0], unit, state)
    state = systems[2].digest()
    yield row("sticks", f"{n}x{n} iterations one thread lanes=1", projections / (ours[2] - ours[3]), unit, state)
    yield row("sticks", f"{n}x{n} steps one thread lanes=1", projections / ours[2], unit, state)
    if loop.library:
        yield row("sticks", f"{n}x{n} iterations C -O3 -march=native", projections / (theirs[0] - theirs[1]), unit)
        yield row("sticks", f"{n}x{n} steps C -O3 -march=native", projections / theirs[0], unit)
        for k, name in ((0, ""), (2, " lanes=1")):
            ratio = (theirs[0] - theirs[1]) / (ours[k] - ours[k + 1])
            yield row("sticks", f"{n}x{n} iterations ours to C{name}", ratio, "ratio")
            yield row("sticks", f"{n}x{n} steps ours to C{name}", theirs[0] / ours[k], "ratio")
        yield row("sticks", f"{n}x{n} difference from C", difference, "m")


def c_loop(n=128):
    """The loop in C on a net of n x n particles: the unit of other benchmarks is its rate."""
    system = pbd.ParticleSystem(grid(n), schedule="clusters", clusters=1)
    return CLoop(system, system.state())


class CLoop:
    """The step in C, compiled for this machine and precision; `library` is None if there is no compiler."""

    def __init__(self, system, state):
        compiler = shutil.which("cc")
        self.library = None
        if not compiler:
            return
        name, root = ("float", "sqrtf") if real_type() == np.float32 else ("double", "sqrt")
        with tempfile.TemporaryDirectory() as folder:
            source, library = Path(folder, "loop.c"), Path(folder, "loop.so")
            source.write_text(C_SOURCE)
            command = [compiler, "-O3", "-march=native", f"-DREAL={name}", f"-DSQRT={root}", "-shared", "-fPIC"]
            subprocess.run([*command, "-o", str(library), str(source), "-lm"], check=True, capture_output=True)
            self.library = ctypes.CDLL(str(library))
        self.kind = ctypes.c_float if real_type() == np.float32 else ctypes.c_double
        self.state = state
        self.members = read(system.arrays.constraints.members)
        self.length = read(system.arrays.constraints.parameters)[:, 0].copy()
        self.weights = np.ascontiguousarray(state.inverse_mass, real_type())
        self.gh2 = -9.81 * system.dt**2
        self.reset()

    def reset(self):
        """Put all particles back to their first positions."""
        self.x = np.array(self.state.position, real_type()).ravel()
        self.previous = np.array(self.state.previous_position, real_type()).ravel()

    def rate(self, repeats=3, iterations=10):
        """Stick projections per second of CPU time, in iterations alone."""
        self.reset()
        seconds = [min(cpu_seconds(lambda n=n: self.step(1, n)) for _ in range(repeats)) for n in (iterations, 0)]
        return iterations * len(self.length) / (seconds[0] - seconds[1])

    def step(self, count, iterations):
        """Make steps. Args: count: of steps; iterations: per step."""

        def at(array):
            return array.ctypes.data_as(ctypes.c_void_p)

        for _ in range(count):
            self.library.step(
                at(self.x), at(self.previous), at(self.weights), len(self.weights), at(self.members), at(self.length),
                len(self.length), iterations, self.kind(self.gh2),
            )  # fmt: skip
