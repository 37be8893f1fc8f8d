"""Error against cost of a hanging sheet of denim: ours beside sticks, pyPBD and Newton's VBD, on a processor.

A sheet of 1 m x 1 m hangs from its pinned upper side. It is released unstretched, loses half its velocity per frame,
and is measured after FRAMES frames, when a converged run is at rest. Its lower edge is then lower by w L²/2k, for a
weight w for each square metre and a stiffness k along the warp. The error is that of the middle of the lower edge, with
its sign. The cost is the processor time of the steps alone, for one second of motion.

The closed form holds without contraction across the warp, and VBD's fabric is isotropic. So all sheets have denim's
density, Poisson's ratio zero, and the stiffness of denim's warp in every direction. A flat sheet does not bend, so none
has a bending stiffness, which would only add to the cost. Lumped masses and triangles do not change the closed form:
row j of n rows from below bears the weight of j - 1/2 rows.

What others cannot express:
    sticks: shear. Diagonals would contract the sheet, so there are none, which makes sticks cheaper. A column of sticks
        at a distance of its own length has the compliance 1/k, at the sides 2/k.
    pyPBD's triangles: stiffness. Each is projected until its energy is zero (Bender, Koschier, Charrier, Weber 2014,
        eq. 3), where k cancels. Their stretch is what iterations leave, and passes through the right one by chance.
    Newton's VBD: other than isotropic fabric, 64 bits. Its neo-Hookean law has the same closed form to 1e-5 here.
"""

import hashlib
import json
import math
import os
import subprocess
import sys
import time
import warnings
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import numpy as np

import pbd
from benchmarks.outcomes import FRAME
from benchmarks.timing import row
from pbd import build

FRAMES, KEPT = 60, 0.5  # frames of a run, and the part of the velocity that is left after each
GRAVITY = 9.81  # pyPBD's, too [m/s²]
DENIM = pbd.FABRICS["denim"]
FABRIC = replace(DENIM, weft=DENIM.warp, shear=DENIM.warp / 2, poisson=0.0, bending=0.0)
EXACT = GRAVITY * FABRIC.density / (2 * FABRIC.warp)  # [m]

TOGETHER, ONE_BY_ONE, STICKS = "fabric together", "fabric one by one", "sticks"
PYPBD_STICKS, PYPBD_TRIANGLES, NEWTON = "pyPBD sticks", "pyPBD triangles", "Newton VBD"

# Substeps of a frame and iterations, from the cheapest to the dearest.
LADDERS = {
    TOGETHER: ((1, 1), (1, 2), (2, 1), (2, 2), (1, 4)),
    ONE_BY_ONE: ((1, 10), (4, 10), (16, 4), (64, 4), (128, 4)),
    STICKS: ((1, 10), (16, 1), (64, 1), (128, 1), (256, 1), (128, 4), (256, 4)),
    PYPBD_STICKS: ((1, 10), (16, 1), (64, 1), (128, 1), (256, 1), (128, 4), (256, 4)),
    PYPBD_TRIANGLES: ((1, 10), (8, 10), (64, 1), (256, 1)),
    NEWTON: ((1, 10), (4, 4), (16, 1), (64, 1), (256, 1)),
}
WORTH = (10.0, 1.0)  # errors [%] at which costs are compared
MISSING = {PYPBD_STICKS: "pypbd", PYPBD_TRIANGLES: "pypbd", NEWTON: "newton"}  # modules of other programs


class Sheet(NamedTuple):
    """A sheet of count x count particles, row after row, the first row pinned, in the plane y = 0.

    Attributes: count; positions (n, 3) [m]; masses (n,) [kg], infinite where pinned; triangles (t, 3): indices;
    sticks (s, 2): along both threads; stiffness (s,): of sticks [N/m].
    """

    count: int
    positions: np.ndarray
    masses: np.ndarray
    triangles: np.ndarray
    sticks: np.ndarray
    stiffness: np.ndarray


class Point(NamedTuple):
    """A run. Attributes: seconds: its cost, processor time of a second of motion [s]; error [%]; digest."""

    seconds: float
    error: float
    digest: str


def fabric_cost(count=100, picture=None, ladders=LADDERS):
    """Yield lines of CSV: cost and error of each setting, and ratios of costs. Args: count: particles along a side;
    picture: a .png or .svg file for the plot, or None; ladders: {program: (substeps, iterations) of its settings}.
    """
    found, case = {}, f"{count}x{count}"
    for name, ladder in ladders.items():
        if name in MISSING and find_spec(MISSING[name]) is None:
            yield f"# fabric_cost: {name} is left out, because it is not installed: pip install 'verletlab[peers]'"
            continue
        found[name] = []
        for substeps, iterations in ladder:
            point = run(name, count, substeps, iterations)
            found[name].append(point)
            label = f"{case} {name} {substeps} substeps {iterations} iterations"
            yield row("fabric_cost", label, 1e3 * point.seconds, "ms for 1 s", point.digest)
            yield row("fabric_cost", f"{label} error", point.error, "%")
    yield from ratios(case, found)
    if picture is not None:
        yield f"# fabric_cost: the plot is in {plot_costs(picture, case, found)}"


def run(name, count, substeps, iterations):
    """Run a program. Args: name; count: particles along a side; substeps; iterations. Returns: a Point."""
    if name not in MISSING:
        return OURS[name](hanging_sheet(count), substeps, iterations)
    code = f"from benchmarks.fabric_cost import worker; worker({name!r}, {count}, {substeps}, {iterations})"
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    return Point(*json.loads(done.stdout.splitlines()[-1]))


def worker(name, count, substeps, iterations):
    """Run another program in this process, and print a Point. Args: see `run`."""
    sys.stdout.write("\n" + json.dumps(PEERS[name](hanging_sheet(count), substeps, iterations)) + "\n")


def hanging_sheet(count):
    """Make a Sheet. Args: count: particles along a side."""
    particles = pbd.Particles()
    cloth = build.cloth(
        particles, (0, 0, 0), (1, 0, 0), (0, 0, -1), (count, count), density=FABRIC.density, shear="none", bending=None,
        pins=("top",),
    )
    column = cloth.sticks % count
    is_side = (column[:, 0] == column[:, 1]) & ((column[:, 0] == 0) | (column[:, 0] == count - 1))
    stiffness = np.where(is_side, 0.5, 1.0) * FABRIC.warp
    return Sheet(count, particles.positions(), particles.masses(), cloth.triangles, cloth.sticks, stiffness)


def measured(sheet, step, slow, positions):
    """Run a sheet. Args: sheet; step: by a frame; slow: leaves KEPT of velocities; positions: function (n, 3) [m], with
    z up.

    Returns: cost [s]; error [%].
    """
    seconds = 0.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of settings with too few iterations: their error is measured
        step()  # compiles
        slow()
        for _ in range(FRAMES - 1):
            before = time.process_time()
            step()
            seconds += time.process_time() - before
            slow()
    lowest = positions()[-sheet.count :, 2]
    middle = lowest[(sheet.count - 1) // 2 : sheet.count // 2 + 1].mean()
    return seconds / ((FRAMES - 1) * FRAME), 100 * ((-1 - middle) / EXACT - 1)


# Ours -----------------------------------------------------------------------------------------------------------------


def of_fabric(sheet, substeps, iterations, elements):
    """Run ours, of triangles. Args: sheet; substeps; iterations; elements: the option. Returns: a Point."""
    particles = pbd.Particles(gravity=(0, 0, -GRAVITY))
    sides = (0, 0, 0), (1, 0, 0), (0, 0, -1), (sheet.count, sheet.count)
    build.cloth(particles, *sides, fabric=FABRIC, drag=None, pins=("top",))
    return ours(sheet, particles, substeps=substeps, iterations=iterations, elements=elements)


def of_sticks(sheet, substeps, iterations):
    """Run ours, of sticks. Args: sheet; substeps; iterations. Returns: a Point."""
    particles = pbd.Particles(gravity=(0, 0, -GRAVITY))
    particles.add_particles(sheet.positions, sheet.masses)
    particles.add_sticks(sheet.sticks, compliance=1 / sheet.stiffness)
    return ours(sheet, particles, substeps=substeps, iterations=iterations, schedule="clusters", clusters=1)


def ours(sheet, particles, **options):
    """Run ours. Args: sheet; particles: its pbd.Particles; options: of pbd.ParticleSystem. Returns: a Point."""
    system = pbd.ParticleSystem(particles, dt=FRAME, damping=1 - KEPT, **options)
    try:
        found = measured(sheet, system.step, lambda: None, system.positions)
    except pbd.Diverged:
        found = math.nan, math.nan
    return Point(*found, system.digest())


OURS = {
    TOGETHER: lambda *given: of_fabric(*given, elements="together"),
    ONE_BY_ONE: lambda *given: of_fabric(*given, elements="iterative"),
    STICKS: of_sticks,
}


# Others ---------------------------------------------------------------------------------------------------------------


def of_pypbd(sheet, substeps, iterations, stretch):
    """Run pyPBD on one thread. Args: sheet; substeps; iterations; stretch: function of its model and the sheet, which
    adds sticks or triangles. Returns: a Point.
    """
    import pypbd

    simulation = pypbd.Simulation.getCurrent()
    simulation.initDefault()
    model, stepper = simulation.getModel(), simulation.getTimeStep()
    theirs, everyone = model.getParticles(), range(len(sheet.masses))
    for k, (x, _, z) in enumerate(sheet.positions):
        theirs.addVertex((x, z, 0.0))  # its gravity is along -y
        theirs.setMass(k, sheet.masses[k] if sheet.masses[k] < np.inf else 0.0)  # zero is its sign of a pinned particle
    stretch(model, sheet)
    stepper.setValueUInt(pypbd.TimeStepController.NUM_SUB_STEPS, substeps)
    stepper.setValueUInt(pypbd.TimeStepController.MAX_ITERATIONS, iterations)
    pypbd.TimeManager.getCurrent().setTimeStepSize(FRAME)

    def slow():
        for k in everyone:
            theirs.setVelocity(k, KEPT * np.array(theirs.getVelocity(k)))

    def positions():
        return np.array(theirs.getVertices())[:, [0, 2, 1]]

    seconds, error = measured(sheet, lambda: stepper.step(model), slow, positions)
    return Point(seconds, error, digest(positions()))


def add_sticks(model, sheet):
    """Add sticks to pyPBD's model, by XPBD. Args: model; sheet."""
    for (a, b), stiffness in zip(sheet.sticks.tolist(), sheet.stiffness.tolist()):
        model.addDistanceConstraint_XPBD(a, b, stiffness)


def add_triangles(model, sheet, stiffness=FABRIC.warp):
    """Add triangles to pyPBD's model. Args: model; sheet; stiffness [N/m], which cancels."""
    for a, b, c in sheet.triangles.tolist():
        model.addFEMTriangleConstraint(a, b, c, stiffness, stiffness, stiffness / 2, 0.0, 0.0)


def of_newton(sheet, substeps, iterations):
    """Run Newton's VBD on the processor. Args: sheet; substeps; iterations. Returns: a Point."""
    import warp

    warp.config.quiet = True
    import newton

    builder = newton.ModelBuilder(up_axis=newton.Axis.Z, gravity=(0, 0, -GRAVITY))
    builder.add_cloth_mesh(
        pos=(0, 0, 0), rot=warp.quat_identity(), vel=(0, 0, 0), scale=1.0, density=FABRIC.density,
        vertices=[warp.vec3(*each) for each in sheet.positions], indices=sheet.triangles.ravel().tolist(),
        tri_ke=FABRIC.warp / 2, tri_ka=0.0, tri_kd=0.0, edge_ke=0.0, edge_kd=0.0,  # tri_ke, tri_ka: Lamé's μ and λ
    )  # fmt: skip
    for k, mass in enumerate(sheet.masses.tolist()):
        builder.particle_mass[k] = mass if mass < np.inf else 0.0
    for k in range(sheet.count):
        builder.particle_flags[k] &= ~int(newton.ParticleFlags.ACTIVE)
    builder.color()
    model = builder.finalize(device="cpu")
    # Without tiles it is somewhat faster on a processor.
    solver = newton.solvers.SolverVBD(model, iterations=iterations, particle_enable_tile_solve=False)
    now, other, control = model.state(), model.state(), model.control()

    def step():
        nonlocal now, other
        for _ in range(substeps):
            solver.step(now, other, control, None, FRAME / substeps)
            now, other = other, now

    def slow():
        now.particle_qd.assign(KEPT * now.particle_qd.numpy())

    seconds, error = measured(sheet, step, slow, lambda: now.particle_q.numpy())
    return Point(seconds, float(error), digest(now.particle_q.numpy()))


PEERS = {
    PYPBD_STICKS: lambda *given: of_pypbd(*given, stretch=add_sticks),
    PYPBD_TRIANGLES: lambda *given: of_pypbd(*given, stretch=add_triangles),
    NEWTON: of_newton,
}


def digest(positions):
    """A digest of positions."""
    return hashlib.sha256(np.ascontiguousarray(positions).tobytes()).hexdigest()[:16]


# Comparison -----------------------------------------------------------------------------------------------------------


def ratios(case, found):
    """Yield lines of CSV: costs of the cheapest settings within WORTH, in parts of that of TOGETHER.

    Args: case; found: {program: list of Points}. pyPBD's triangles are left out: their error is small by chance.
    """
    for worth in WORTH:
        least = {}
        for name in found.keys() - {PYPBD_TRIANGLES}:
            least[name] = min((each.seconds for each in found[name] if abs(each.error) <= worth), default=math.inf)
        for name in sorted(least):
            if least[name] == math.inf:
                yield f"# {case} {name} has no setting with an error of {worth:g} % or less"
            elif name != TOGETHER and least.get(TOGETHER, math.inf) < math.inf:
                label = f"{case} {name} to {TOGETHER} at {worth:g} %"
                yield row("fabric_cost", label, least[name] / least[TOGETHER], "ratio")


# Colour, mark and line of each program in the plot.
STYLES = {
    TOGETHER: ("#1f5fa8", "o", "-"), ONE_BY_ONE: ("#6f9fd0", "s", "-"), STICKS: ("#3d8f5f", "^", "-"),
    PYPBD_STICKS: ("#c46a1b", "v", "--"), PYPBD_TRIANGLES: ("#d8a873", "x", ":"), NEWTON: ("#8a4fa3", "D", "--"),
}  # fmt: skip
LOWEST = 1e-4  # errors below it are drawn there [%]


def plot_costs(path, case, found):
    """Draw error against cost. Args: path: a .png or .svg file; case; found: {program: list of Points}.

    Returns: the path.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    from scenes.comparison.report.figure import GRID, save, styled

    with styled():
        figure = Figure((6.4, 4.4), layout="constrained")
        FigureCanvasAgg(figure)
        axis = figure.subplots()
        for name, points in found.items():
            colour, mark, line = STYLES[name]
            errors = [max(abs(each.error), LOWEST) for each in points]
            label = f"{name}, whose stiffness cancels" if name == PYPBD_TRIANGLES else name
            axis.plot([each.seconds for each in points], errors, line, marker=mark, color=colour, label=label)
        axis.set(xscale="log", yscale="log", xlabel="processor time of 1 s of motion [s]",
                 ylabel=f"error of the elongation [%], {LOWEST:g} or less at the bottom",
                 title=f"A hanging sheet of denim, {case} particles. Below and left is better.")  # fmt: skip
        axis.grid(color=GRID, linewidth=0.7)
        axis.legend(frameon=False)
    return save(figure, Path(path))
