"""Cost and quality of the scene `drape` on one thread: a cloth of 100 x 100 particles that falls over a ball."""

import subprocess
import sys

import numpy as np

from benchmarks.cloth_quality import Quality, quality
from benchmarks.sticks import c_loop
from benchmarks.timing import cpu_seconds, row
from pbd.core.kernels import real_bits
from scenes.registry import load
from scenes.simulate.run import Run

FRAME = 1 / 60  # [s]
UNITS = Quality("%", "%", "degrees", "degrees", "pairs of triangles")
SCALES = {"%": 100, "degrees": 180 / np.pi}


def drape():
    """Cost of a frame in stick projections of the loop in C, and quality, in a process of one thread."""
    code = f"from benchmarks.drape import drape_worker; drape_worker({real_bits()})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    yield from (line for line in done.stdout.splitlines() if line.startswith(("drape,", "#")))


def drape_worker(bits):
    """Measure in this process, and print rows. Args: bits: of a float."""
    import taichi as ti

    ti.init(
        arch=ti.cpu, default_fp=ti.f64 if bits == 64 else ti.f32, cpu_max_num_threads=1, opt_level=2, verbose=False
    )
    sys.stdout.write("\n".join(measure()) + "\n")


def measure(duration=4.0, frames_per_picture=8, **parameters):
    """Rows of the benchmark. Args: duration [s]; frames_per_picture, of which quality is measured; others: of drape."""
    scene, loop = load("drape", **parameters), c_loop()
    if not loop.library:
        yield "# drape: no C compiler to compare with"
        return
    costs, pictures = [], []
    for length in (FRAME, duration):  # the first one compiles
        running = Run(scene, "verlet", length, fps=1 / FRAME)
        costs.clear()
        while running.done < running.steps:
            seconds = cpu_seconds(lambda r=running: r.step(r.steps_per_frame))
            running.done += running.steps_per_frame
            costs.append(seconds * loop.rate())
            if len(costs) % frames_per_picture == 0:
                pictures.append(measure_quality(running.particles))
    costs, digest = np.array(costs) / 1e6, running.system.digest()
    second = np.ones(min(round(1 / FRAME), len(costs)))
    unit = "million projections in C/frame"
    yield row("drape", "cost mean", costs.mean(), unit, digest)
    yield row("drape", "cost slowest second", np.convolve(costs, second, "valid").max() / len(second), unit, digest)
    for name, unit, values in zip(Quality._fields, UNITS, zip(*pictures)):
        summary = np.mean if name.startswith("mean") else np.max
        yield row("drape", name.replace("_", " "), summary(values) * SCALES.get(unit, 1), unit, digest)


def measure_quality(particles):
    """The Quality of a cloth. Args: particles: its ParticleSystem."""
    sticks, lengths = particles.constraints.sticks()
    threads = lengths < 1.1 * lengths.min()  # diagonals are longer
    return quality(particles.positions(), sticks[threads], lengths[threads], particles.particles.triangles())
