"""Worlds in lanes: steps per second of 64 figures compared with one, on one thread."""

import subprocess
import sys
import time

import pbd
from pbd import build
from pbd.core.runtime import real_bits
from scenes.bench.measure import row

WORLDS = 64


def figures(floor):
    """A figure of particles in the air, or about to fall on a floor."""
    particles = pbd.Particles()
    build.figure(particles, (0, 0, 0.5 if floor else 3.0))
    if floor:
        particles.add_collider(pbd.Plane(), friction=0.5)
    return particles


def lanes_against_one_world():
    """Figure-steps per second of one world and of 64, in a process with one thread."""
    code = f"from scenes.bench.lanes import worker; worker({real_bits()})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    for line in done.stdout.splitlines():
        if line.startswith("figure"):
            case, one, many, lanes, state = line.split(",")
            yield row("lanes", f"{case} 1 world", float(one), "figure-steps/s")
            yield row("lanes", f"{case} {WORLDS} worlds in {lanes} lanes", float(many), "figure-steps/s", state)
            yield row("lanes", f"{case} {WORLDS} worlds to 1", float(many) / float(one), "ratio")


def worker(bits):
    """Measure in this process, and print for each case both rates, the number of lanes and a digest. Args: bits."""
    import taichi as ti

    kind = ti.f64 if bits == 64 else ti.f32
    ti.init(arch=ti.cpu, default_fp=kind, cpu_max_num_threads=1, opt_level=2, verbose=False)
    for case, floor in (("figure in the air", False), ("figure on a floor", True)):
        systems = [pbd.ParticleSystem(figures(floor), dt=0.01, worlds=worlds) for worlds in (1, WORLDS)]
        rates = [0.0, 0.0]
        for system in systems:
            system.step(100)  # compiles; then the figure lies on the floor
        for _ in range(9):  # in turn, so that other load on the machine affects both
            for k, system in enumerate(systems):
                start, steps = system.state(), 6400 // system.worlds
                before = time.process_time()  # of one thread
                system.step(steps)
                rates[k] = max(rates[k], steps * system.worlds / (time.process_time() - before))
                system.set_state(start)
        found = case, *rates, systems[1].lanes, systems[1].digest()
        sys.stdout.write(",".join(map(str, found)) + "\n")
