"""A cloth of sticks in pyPBD, as a reference from outside. It is in the extra `peers`.

Source: PositionBasedDynamics, https://github.com/InteractiveComputerGraphics/PositionBasedDynamics.
"""

import hashlib
import os
import subprocess
import sys
import time
from importlib.util import find_spec

import numpy as np

import pbd
from benchmarks.outcomes import FRAME
from benchmarks.particles import grid
from benchmarks.timing import row

CLOTH = {"n": 64, "substeps": 64, "iterations": 1, "frames": 120}


def cloths(**settings):
    """Yield lines of CSV: cost and stretch of a hanging cloth by ours and by pyPBD, with equal substeps and iterations.

    The cost is the processor time of one thread for one second of motion; the stretch is the worst of all frames.

    Args: settings: of CLOTH.
    """
    given, costs = {**CLOTH, **settings}, {}
    case = f"cloth {given['n']}x{given['n']}"
    for name, measure in (("verlet", our_cloth), ("pyPBD", their_cloth)):
        found = measure(**given)
        if found is None:
            yield "# peers: pyPBD is left out, because it is not installed: pip install 'verletlab[peers]'"
            return
        costs[name], mean, worst, digest = found
        label = f"{case} {name} {given['substeps']} substeps {given['iterations']} iterations"
        yield row("peers", label, 1e3 * costs[name], "ms for 1 s", digest)
        yield row("peers", f"{case} {name} mean stretch", 100 * mean, "%")
        yield row("peers", f"{case} {name} worst stretch", 100 * worst, "%")
    yield row("peers", f"{case} verlet to pyPBD", costs["verlet"] / costs["pyPBD"], "ratio")


def our_cloth(n, substeps, iterations, frames):
    """Run our cloth on one thread. Args: see `run`. Returns: see `run`, and a digest."""
    system = pbd.ParticleSystem(
        grid(n), dt=FRAME, substeps=substeps, iterations=iterations, schedule="clusters", clusters=1
    )
    return *run(grid(n), system.step, system.positions, frames), system.digest()


def their_cloth(**settings):
    """Run pyPBD's cloth in a process with one thread. Args: see `run`. Returns: see `our_cloth`; None without pyPBD."""
    if find_spec("pypbd") is None:
        return None
    code = f"from benchmarks.pypbd_cloth import worker; worker(**{settings})"
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    *numbers, digest = done.stdout.splitlines()[-1].split()
    return *map(float, numbers), digest


def run(particles, step, positions, frames):
    """Run a cloth. Args: particles: a pbd.Particles; step: by a frame; positions: function (n, 3) [m]; frames.

    Returns: processor time of a second of motion [s]; worst of all frames: mean and largest stretch of the sticks.
    """
    (ends, lengths), stretches, seconds = sticks_of(particles), [], 0.0
    step()  # compiles
    for _ in range(frames):
        before = time.process_time()
        step()
        seconds += time.process_time() - before
        first, second = np.moveaxis(positions()[ends], 1, 0)
        stretch = np.abs(np.linalg.norm(first - second, axis=1) / lengths - 1)
        stretches.append((stretch.mean(), stretch.max()))
    return seconds / (frames * FRAME), *np.max(stretches, axis=0)


def sticks_of(particles):
    """Sticks of a pbd.Particles: their particles (sticks, 2), and lengths (sticks,) [m]."""
    ends, parameters = particles.constraint_sets["stick", False].arrays()
    return ends, parameters[:, 0]


def worker(n, substeps, iterations, frames):
    """Run pyPBD's cloth in this process; print what `their_cloth` returns. Args: see `run`."""
    import pypbd

    particles = grid(n)
    simulation = pypbd.Simulation.getCurrent()
    simulation.initDefault()
    model, stepper = simulation.getModel(), simulation.getTimeStep()
    theirs = model.getParticles()
    upright = particles.positions()[:, [0, 2, 1]] * (1, 1, -1)  # its gravity is 9.81 m/s² along -y
    for k, (position, mass) in enumerate(zip(upright, particles.masses())):
        theirs.addVertex(position)
        theirs.setMass(k, mass if mass < np.inf else 0.0)  # zero is its sign of a pinned particle
    for a, b in sticks_of(particles)[0].tolist():
        model.addDistanceConstraint(a, b, 1.0)
    stepper.setValueUInt(pypbd.TimeStepController.NUM_SUB_STEPS, substeps)
    stepper.setValueUInt(pypbd.TimeStepController.MAX_ITERATIONS, iterations)
    pypbd.TimeManager.getCurrent().setTimeStepSize(FRAME)
    found = run(particles, lambda: stepper.step(model), lambda: np.array(theirs.getVertices()), frames)
    digest = hashlib.sha256(np.array(theirs.getVertices()).tobytes()).hexdigest()[:16]
    sys.stdout.write(f"\n{' '.join(map(str, found))} {digest}\n")
