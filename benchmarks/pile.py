"""A pile of ragdolls with coloured contacts: steps on one thread and on two."""

import subprocess
import sys

import rigid
from benchmarks.timing import fastest, row
from pbd.core.kernels import real_bits
from scenes.registry import load

OPTIONS = {"dt": 1 / 60, "substeps": 4, "iterations": 20, "tolerance": 0.0, "coloured": True}


def pile_on_threads(count=50, rounds=4):
    """Wall time per step of a pile with solver "impulse" on one thread and on two, and their ratio.

    Args: count: of ragdolls; rounds: how many processes measure each, in turn; the least times count.
    """
    seconds, states = {1: [], 2: []}, {}
    for _ in range(rounds):
        for threads, found in seconds.items():
            code = f"from benchmarks.pile import worker; worker({count}, {threads}, {real_bits()})"
            done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
            time, states[threads] = done.stdout.split()[-2:]
            found.append(float(time))
    for threads, found in seconds.items():
        yield row("pile", f"{count} ragdolls on {threads}", 1e3 * min(found), "ms/step", states[threads])
    yield row("pile", f"{count} ragdolls 1 thread to 2", min(seconds[1]) / min(seconds[2]), "ratio")


def worker(count, threads, bits, steps=10):
    """Measure in this process, and print the time per step and a digest. Args: count: of ragdolls; threads; bits."""
    import taichi as ti

    kind = ti.f64 if bits == 64 else ti.f32
    ti.init(arch=ti.cpu, default_fp=kind, cpu_max_num_threads=threads, opt_level=2, verbose=False)
    solver = rigid.solver("impulse", load("ragdoll_pile", count=count).model, **OPTIONS)
    solver.step(150)
    start = solver.state()

    def advance():
        solver.set_state(start)
        solver.step(steps)

    sys.stdout.write(f"{fastest(advance, 15) / steps} {solver.digest()}\n")
