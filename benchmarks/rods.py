"""Error against cost of rods: ours beside pyPBD's, MuJoCo's and PyElastica's, on a processor.

Two closed forms, with one material: 1 m long, a radius of 1 cm, Poisson's ratio 0.3, and Young's modulus from GAMMA.

    cantilever: clamped at one end, it falls from straight and bends by its weight, w L³/EI = GAMMA. The error is the
        distance of the tip from the elastica's, over the length, after SECONDS.
    ring: a straight rod is twisted by one turn and bent to a ring. It leaves its plane where the twist is more than
        2π√3 EI/GJ (Zajac, https://doi.org/10.1115/1.3636491), so where GJ is more than √3 EI. The error is that of GJ
        where a bend of 1e-6 m begins to grow.

All lose the same part of their velocity after each frame of 1/60 s, KEPT is left. The cost is the processor time of the
steps alone, for one second of motion, in one thread.

Where each program's own clamp would make an error of first order, it gets one of second order:
    pyPBD: the first joint has half a segment.
    MuJoCo: the pinned edge has a length of nearly zero, because its joint has half of both edges.
    PyElastica: the rod begins half an element before the clamp, which holds the direction of an element's middle.

What others lack:
    pyPBD, MuJoCo: stretch. So the reference has none for them. For ours it has stretch, for PyElastica shear as well.
    pyPBD's direct solver: rings. Its rods are trees.
    MuJoCo: rings with twist. Version 4 has no plugin for cables any more. Its rods are flexes, which twist if they are
        open. Before that they were the plugin, of open chains.
"""

import hashlib
import importlib.metadata
import json
import math
import os
import subprocess
import sys
import time
import warnings
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import numpy as np

import pbd
from benchmarks.outcomes import FRAME
from benchmarks.timing import row
from pbd import build

SECONDS, KEPT = 4.0, math.exp(-0.1)  # of a cantilever [s], and the part of the velocity that is left after each frame
GRAVITY, LENGTH, RADIUS, DENSITY, POISSON, GAMMA = 9.81, 1.0, 0.01, 1000.0, 0.3, 10.0
AREA = math.pi * RADIUS**2
WEIGHT = GRAVITY * DENSITY * AREA  # of a metre [N/m]
BENDING = WEIGHT * LENGTH**3 / GAMMA  # EI [N m²]
YOUNG = 4 * BENDING / (math.pi * RADIUS**4)  # [Pa]
SHEARING = 27 / 28 * YOUNG / (2 * (1 + POISSON)) * AREA  # of PyElastica, with its factor [N]

TURNS, RATIO = 1, math.sqrt(3)  # of the ring, and GJ/EI at which it buckles
# Bends out of its plane [m]: at the start, of a ring that has surely not buckled, of one that surely has.
PERTURBATION, DECAYED, LARGE = 1e-6, 1e-9, 1e-3
SECOND = round(1 / FRAME)  # it grows if it is larger in the third second than in the second one [frames]
RANGE, HALVINGS = 0.25, 7  # the part of RATIO on both sides in which buckling is sought, and steps of that

OURS, DIRECT, ITERATED = "ours", "pyPBD direct", "pyPBD iterated"
MUJOCO, PYELASTICA = "MuJoCo flex", "PyElastica"
MISSING = {DIRECT: "pypbd", ITERATED: "pypbd", MUJOCO: "mujoco", PYELASTICA: "elastica"}  # modules of other programs
CANTILEVER, RING = "cantilever", "ring"

# Segments, substeps of a frame and iterations. PyElastica has about the fewest substeps that its waves of shear allow.
LADDERS = {
    CANTILEVER: {
        OURS: tuple((n, 1, iterations) for iterations in (1, 2, 4) for n in (10, 20, 40, 80)),
        DIRECT: tuple((n, 1, 1) for n in (10, 20, 40, 80)),
        ITERATED: ((10, 20, 1), (10, 20, 10), (20, 20, 10), (20, 80, 10), (40, 80, 10), (40, 200, 10)),
        MUJOCO: tuple((n, substeps, 1) for substeps in (1, 4) for n in (10, 20, 40, 80)),
        PYELASTICA: ((10, 300, 1), (20, 300, 1), (40, 300, 1), (80, 400, 1)),
    },
    RING: {
        OURS: tuple((n, substeps, 1) for substeps in (1, 4) for n in (10, 20, 40, 80)),
        ITERATED: ((10, 20, 10), (10, 20, 100), (20, 20, 10), (20, 80, 20)),
        PYELASTICA: tuple((n, 450, 1) for n in (10, 20, 40, 80)),
    },
}  # fmt: skip
WORTH = (1.0, 0.1, 0.01)  # errors [%] at which costs are compared


class Point(NamedTuple):
    """A run. Attributes: seconds: its cost, processor time of a second of motion [s]; error [%]; digest."""

    seconds: float
    error: float
    digest: str


class Made(NamedTuple):
    """A rod in a program. Attributes: step: by a frame; slow: leaves KEPT of velocities; nodes: function (n, 3) [m]."""

    step: object
    slow: object
    nodes: object


def rods(picture=None, ladders=LADDERS):
    """Yield lines of CSV: cost and error of each setting, and ratios of costs.

    Args: picture: a .png or .svg file for the plot, or None; ladders: {case: {program: (segments, substeps, iterations)
    of its settings}}.
    """
    found = {}
    for name in sorted({name for ladder in ladders.values() for name in ladder if is_missing(name)}):
        yield f"# rods: {name} is left out, because it is not installed: pip install 'verletlab[peers]'"
    for case, ladder in ladders.items():
        found[case] = {name: [] for name in ladder if not is_missing(name)}
        for name, points in found[case].items():
            for setting in ladder[name]:
                point = run(name, case, *setting)
                points.append(point)
                label = "{} {} {} segments {} substeps {} iterations".format(case, name, *setting)
                yield row("rods", label, 1e3 * point.seconds, "ms for 1 s", point.digest)
                yield row("rods", f"{label} error", point.error, "%")
        yield from ratios(case, found[case])
    if picture is not None:
        yield f"# rods: the plot is in {plot_costs(picture, found)}"


def is_missing(name):
    """Whether a program is not installed, or too old to have rods."""
    if name not in MISSING:
        return False
    if find_spec(MISSING[name]) is None:
        return True
    return name == MUJOCO and int(importlib.metadata.version("mujoco").split(".")[0]) < 4


def run(name, case, segments, substeps, iterations):
    """Run a program. Args: name; case; segments; substeps; iterations. Returns: a Point."""
    if name not in MISSING:
        return measured(name, case, segments, substeps, iterations)
    code = f"from benchmarks.rods import worker; worker({name!r}, {case!r}, {segments}, {substeps}, {iterations})"
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    return Point(*json.loads(done.stdout.splitlines()[-1]))


def worker(*setting):
    """Run another program in this process, and print a Point. Args: see `run`."""
    sys.stdout.write("\n" + json.dumps(measured(*setting)) + "\n")


def measured(name, case, *setting):
    """A Point of a program in this process. Args: see `run`."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of settings with too few iterations: their error is measured
        try:
            return (fallen if case == CANTILEVER else buckled)(name, *setting)
        except pbd.Diverged:
            return Point(math.nan, math.nan, "")


# Cases ----------------------------------------------------------------------------------------------------------------


def fallen(name, *setting):
    """Let a cantilever fall. Args: name; setting: segments, substeps, iterations. Returns: a Point."""
    made = PROGRAMS[name](None, *setting)
    seconds = cost_of(made, round(SECONDS / FRAME))
    tip = made.nodes()[-1, [0, 2]]
    return Point(seconds, 100 * float(np.linalg.norm(tip - reference(*FLEXIBLE[name]))) / LENGTH, digest(made.nodes()))


def buckled(name, *setting):
    """Seek the torsional stiffness at which a ring leaves its plane. Args, returns: see `fallen`.

    Its growth is zero there, and nearly straight beside it: halves a range, and draws a line through its ends.
    """
    low, high, at_low, at_high = (1 - RANGE) * RATIO, (1 + RANGE) * RATIO, None, None
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        growth, seconds, state = growth_of(name, middle, *setting)
        if growth > 0:
            high, at_high = middle, growth
        else:
            low, at_low = middle, growth
    if at_low is None or at_high is None:  # it buckles outside the range
        return Point(seconds, math.nan, state)
    part = 0.5 if math.inf in (at_high, -at_low) else at_low / (at_low - at_high)
    return Point(seconds, 100 * ((low + part * (high - low)) / RATIO - 1), state)


def growth_of(name, ratio, *setting):
    """How the largest bend of a ring grows from its second second to the third. Args: name; ratio: GJ/EI; setting.

    Returns: the logarithm, ±infinity where it is LARGE or has DECAYED; cost of a second of motion [s]; digest.
    """
    made, bends = PROGRAMS[name](ratio, *setting), []

    def watch():
        bends.append(amplitude(made.nodes()))
        return not bends[-1] < LARGE

    seconds = cost_of(made, 3 * SECOND, watch)
    if not bends[-1] < LARGE:
        growth = math.inf
    elif max(bends[2 * SECOND :]) < DECAYED:  # the rest is round-off
        growth = -math.inf
    else:
        growth = math.log(max(bends[2 * SECOND :]) / max(bends[SECOND : 2 * SECOND]))
    return growth, seconds, digest(made.nodes())


def cost_of(made, frames, has_ended=lambda: False):
    """Move a rod. Args: made; frames; has_ended: called after each frame. Returns: cost of a second of motion [s]."""
    seconds, timed = 0.0, 0
    for frame in range(frames):
        before = time.process_time()
        made.step()
        if frame > 0:  # the first one compiles
            seconds += time.process_time() - before
            timed += 1
        made.slow()
        if has_ended():
            break
    return seconds / (max(timed, 1) * FRAME)


def amplitude(nodes):
    """Of the bend of a ring out of its plane that buckles, two waves around it [m]."""
    phase = np.exp(4j * np.pi * np.arange(len(nodes)) / len(nodes))
    return float(2 / len(nodes) * abs(phase @ nodes[:, 2]))


def reference(stretches, shears):
    """Tip of the heavy cantilever (2,) [m], along it and up. Args: whether it stretches by EA, shears by SHEARING."""
    from scipy.integrate import solve_bvp

    stretch, shear = stretches / (YOUNG * AREA), shears / SHEARING

    def slopes(s, y):
        angle, curvature, _, _ = y
        force = WEIGHT * (LENGTH - s)
        along, across = 1 + stretch * force * np.sin(angle), shear * force * np.cos(angle)
        x = along * np.cos(angle) - across * np.sin(angle)
        down = along * np.sin(angle) + across * np.cos(angle)
        return np.array([curvature, -force * x / BENDING, x, down])

    s = np.linspace(0, LENGTH, 201)
    start = np.array([1.2 * np.sin(np.pi * s / 2), np.zeros(201), s, 0.5 * s])
    ends = solve_bvp(slopes, lambda a, b: np.array([a[0], b[1], a[2], a[3]]), s, start, tol=1e-9, max_nodes=100_000)
    return np.array([ends.y[2, -1], -ends.y[3, -1]])


def ring(segments):
    """A ring in the plane z = 0, with a bend of PERTURBATION.

    Returns: nodes (n, 3) [m]; axes of segments (n, 3, 3): two across, which turn by TURNS around the ring; the tangent.
    """
    around = 2 * np.pi * np.arange(segments) / segments
    radius = LENGTH / segments / (2 * np.sin(np.pi / segments))
    nodes = np.stack([radius * np.cos(around), radius * np.sin(around), PERTURBATION * np.cos(2 * around)], axis=1)
    tangents = np.roll(nodes, -1, axis=0) - nodes
    tangents /= np.linalg.norm(tangents, axis=1)[:, None]
    outwards = np.cross(tangents, (0, 0, 1))
    outwards /= np.linalg.norm(outwards, axis=1)[:, None]
    turned = TURNS * around[:, None]
    first = np.cos(turned) * outwards + np.sin(turned) * np.cross(tangents, outwards)
    return nodes, np.stack([first, np.cross(tangents, first), tangents], axis=1)


# Programs. Each makes a cantilever for ratio=None, or a ring with the torsional stiffness GJ = ratio EI ---------------


def ours(ratio, segments, substeps, iterations):
    """Make our rod. Returns: a Made."""
    particles = pbd.Particles(gravity=(0, 0, -GRAVITY if ratio is None else 0))
    given = {"radius": RADIUS, "density": DENSITY, "young": YOUNG, "poisson": POISSON}
    if ratio is None:
        rod = build.rod(particles, [(0, 0, 0), (LENGTH, 0, 0)], segments, clamps="start", **given)
    else:
        nodes = ring(segments)[0]
        twisted = {"closed": True, "twist": 2 * np.pi * TURNS, "twisting": ratio * BENDING}
        rod = build.rod(particles, nodes, **twisted, **given)
    system = pbd.ParticleSystem(particles, dt=FRAME, substeps=substeps, iterations=iterations, damping=1 - KEPT)
    return Made(system.step, lambda: None, lambda: system.positions()[rod.particles])


def of_pypbd(ratio, segments, substeps, iterations, solver):
    """Make pyPBD's rod of rigid bodies on one thread. Args: solver: DIRECT or ITERATED. Returns: a Made."""
    import pypbd
    from scipy.spatial.transform import Rotation

    simulation = pypbd.Simulation.getCurrent()
    simulation.initDefault()
    model, stepper, length = simulation.getModel(), simulation.getTimeStep(), LENGTH / segments
    first = -1 if ratio is None else 0  # a body before the rod is its clamp
    bodies = [add_body(pypbd, model, ((k + 0.5) * length, 0, 0), length) for k in range(first, segments)]
    torsion = YOUNG / (2 * (1 + POISSON)) if ratio is None else ratio * YOUNG / 2
    joints = len(bodies) - 1
    places = [np.array([(k + 1 + first) * length, 0.0, 0.0]) for k in range(joints)]
    lengths = [length] * joints
    if ratio is None:
        bodies[0].setMass(0.0)
        lengths[0] = length / 2
    if solver == DIRECT:
        pairs = [(k, k + 1) for k in range(joints)]
        model.addDirectPositionBasedSolverForStiffRodsConstraint(
            pairs, places, [RADIUS] * joints, lengths, [YOUNG] * joints, [torsion] * joints
        )
    else:
        for k in range(joints):
            model.addStretchBendingTwistingConstraint(k, k + 1, places[k], RADIUS, lengths[k], YOUNG, torsion)
    if ratio is not None:  # it is straight at rest: joined to its end while it is there, then bent
        place(bodies[0], ((segments + 0.5) * length, 0, 0), ALONG_X)
        end = np.array([LENGTH, 0.0, 0.0])
        model.addStretchBendingTwistingConstraint(joints, 0, end, RADIUS, length, YOUNG, torsion)
        nodes, axes = ring(segments)
        quaternions = Rotation.from_matrix(axes[:, [1, 2, 0]].transpose(0, 2, 1)).as_quat()
        turned_over = np.sum(quaternions[1:] * quaternions[:-1], axis=1) < 0
        quaternions[1:][np.cumsum(turned_over) % 2 == 1] *= -1  # it takes the sign as it is
        for body, middle, quaternion in zip(bodies, (nodes + np.roll(nodes, -1, axis=0)) / 2, quaternions):
            place(body, middle, quaternion)
    stepper.setValueUInt(pypbd.TimeStepController.NUM_SUB_STEPS, substeps)
    stepper.setValueUInt(pypbd.TimeStepController.MAX_ITERATIONS, iterations)
    pypbd.TimeManager.getCurrent().setTimeStepSize(FRAME)
    moving = bodies[1:] if ratio is None else bodies

    def slow():
        for body in moving:
            body.setVelocity(KEPT * np.array(body.getVelocity()))
            body.setAngularVelocity(KEPT * np.array(body.getAngularVelocity()))

    def nodes_of_rod():
        ends = [np.array(body.getRotationMatrix()) @ (0, length / 2, 0) + body.getPosition() for body in moving]
        return np.array(ends)[:, [0, 2, 1]] if ratio is None else np.array(ends)  # a ring falls along y, in its plane

    return Made(lambda: stepper.step(model), slow, nodes_of_rod)


ALONG_X = (0, 0, -math.sqrt(0.5), math.sqrt(0.5))  # turns y to x


def add_body(pypbd, model, middle, length):
    """Add a segment to pyPBD's model, along x. Args: pypbd; model; middle (3,) [m]; length [m]. Returns: its body."""
    corners = [(x, y, z) for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)]
    faces = ((0, 1, 3), (0, 3, 2), (4, 6, 7), (4, 7, 5), (0, 4, 5), (0, 5, 1),
             (2, 3, 7), (2, 7, 6), (0, 2, 6), (0, 6, 4), (1, 5, 7), (1, 7, 3))  # fmt: skip
    vertices, mesh = pypbd.VertexData(), pypbd.IndexedFaceMesh()
    for corner in corners:
        vertices.addVertex(np.array(corner))
    mesh.initMesh(len(corners), 3 * len(faces), len(faces))
    for face in faces:
        mesh.addFace(list(face))
    mesh.buildNeighbors()
    body = model.addRigidBody(DENSITY, vertices, mesh, scale=np.array([RADIUS, length, RADIUS]))
    mass = DENSITY * AREA * length
    across = mass * (3 * RADIUS**2 + length**2) / 12
    body.setMass(mass)
    place(body, middle, ALONG_X)
    body.setInertiaTensor(np.array([across, mass * RADIUS**2 / 2, across]))
    return body


def place(body, middle, quaternion):
    """Move a body of pyPBD, whose y is along the rod. Args: body; middle (3,) [m]; quaternion (x, y, z, w)."""
    for move in (body.setPosition, body.setPosition0, body.setOldPosition, body.setLastPosition):
        move(np.array(middle, float))
    for turn in (body.setRotation, body.setRotation0, body.setOldRotation, body.setLastRotation):
        turn(np.array(quaternion))
    body.rotationUpdated()


def of_mujoco(ratio, segments, substeps, iterations):
    """Make MuJoCo's rod, a flex of one dimension. Returns: a Made."""
    import mujoco

    length = LENGTH / segments
    pinned = 1e-3 * length  # an edge, whose joint with the first has half of both lengths
    along = np.concatenate([[-pinned], np.linspace(0, LENGTH, segments + 1)])
    model = mujoco.MjModel.from_xml_string(f"""
        <mujoco>
          <option timestep="{FRAME / substeps}" integrator="discrete" gravity="0 0 {-GRAVITY}" tolerance="1e-12"/>
          <worldbody>
            <flexcomp name="rod" type="direct" dim="1" dof="full" radius="{RADIUS}" mass="1" inertiabox="{RADIUS}"
                point="{" ".join(f"{x!r} 0 0" for x in along.tolist())}"
                element="{" ".join(f"{k} {k + 1}" for k in range(segments + 1))}">
              <contact selfcollide="none" contype="0" conaffinity="0"/>
              <edge equality="true" solref="-1e8 -1e4" solimp="0.9999 0.9999 0.001"/>
              <elasticity young="{YOUNG}" poisson="{POISSON}"/>
              <pin id="0 1"/>
            </flexcomp>
          </worldbody>
        </mujoco>""")
    vertices = [k for k in range(model.nbody) if model.body(k).name.removeprefix("rod_").isdigit()]
    model.body_mass[vertices] = DENSITY * AREA * length  # it shares the mass equally, but the tip has half a segment
    model.body_mass[vertices[-1]] /= 2
    data = mujoco.MjData(model)
    mujoco.mj_setConst(model, data)

    def slow():
        data.qvel *= KEPT

    return Made(lambda: mujoco.mj_step(model, data, substeps), slow, lambda: np.array(data.flexvert_xpos[1:]))


def of_pyelastica(ratio, segments, substeps, iterations):
    """Make PyElastica's rod. Returns: a Made."""
    import elastica

    class Simulator(elastica.BaseSystemCollection, elastica.Constraints, elastica.Forcing):
        pass

    simulator, stepper, clock = Simulator(), elastica.PositionVerlet(), 0.0
    along, across = np.array([1.0, 0.0, 0.0]), np.array([0.0, 1.0, 0.0])
    if ratio is None:
        before = LENGTH / (segments - 0.5) / 2
        rod = elastica.CosseratRod.straight_rod(
            segments, -before * along, along, across, LENGTH + before, RADIUS, DENSITY, youngs_modulus=YOUNG,
            shear_modulus=YOUNG / (2 * (1 + POISSON)),
        )  # fmt: skip
    else:
        nodes, axes = ring(segments)
        rod = elastica.CosseratRod.ring_rod(
            segments, np.zeros(3), along, np.array([0.0, 0.0, 1.0]), LENGTH, RADIUS, DENSITY, youngs_modulus=YOUNG,
            shear_modulus=ratio * YOUNG / 2, position=nodes.T.copy(), directors=axes.transpose(1, 2, 0).copy(),
        )  # fmt: skip
    rod.rest_kappa[0, 0] = rod.rest_sigma[0, 0] = 1e-15  # with zeros alone a ring has the natural shape that it has now
    simulator.append(rod)
    if ratio is None:
        held = {"constrained_position_idx": (0,), "constrained_director_idx": (0,)}
        simulator.constrain(rod).using(elastica.OneEndFixedBC, **held)
        gravity = np.array([0, 0, -GRAVITY])
        simulator.add_forcing_to(rod).using(elastica.GravityForces, acc_gravity=gravity)
    simulator.finalize()

    def step():
        nonlocal clock
        for _ in range(substeps):
            clock = stepper.step(simulator, clock, FRAME / substeps)

    def slow():
        rod.velocity_collection *= KEPT
        rod.omega_collection *= KEPT

    return Made(step, slow, lambda: np.array(rod.position_collection.T))


PROGRAMS = {
    OURS: ours, DIRECT: lambda *given: of_pypbd(*given, solver=DIRECT), MUJOCO: of_mujoco, PYELASTICA: of_pyelastica,
    ITERATED: lambda *given: of_pypbd(*given, solver=ITERATED),
}  # fmt: skip
# Whether it stretches, and shears.
FLEXIBLE = {
    OURS: (True, False), DIRECT: (False, False), ITERATED: (False, False), MUJOCO: (False, False),
    PYELASTICA: (True, True),
}  # fmt: skip


def digest(nodes):
    """A digest of nodes."""
    return hashlib.sha256(np.ascontiguousarray(nodes).tobytes()).hexdigest()[:16]


# Comparison -----------------------------------------------------------------------------------------------------------


def ratios(case, found):
    """Yield lines of CSV: costs of the cheapest settings within WORTH, in parts of ours.

    Args: case; found: {program: list of Points}.
    """
    for worth in WORTH:
        least = {
            name: min((each.seconds for each in points if abs(each.error) <= worth), default=math.inf)
            for name, points in found.items()
        }
        for name, seconds in least.items():
            if seconds == math.inf:
                yield f"# {case} {name} has no setting with an error of {worth:g} % or less"
            elif name != OURS and least.get(OURS, math.inf) < math.inf:
                yield row("rods", f"{case} {name} to {OURS} at {worth:g} %", seconds / least[OURS], "ratio")


# Colour, mark and line of each program in the plot.
STYLES = {
    OURS: ("#1f5fa8", "o", "-"), DIRECT: ("#c46a1b", "v", "--"), ITERATED: ("#d8a873", "x", ":"),
    MUJOCO: ("#3d8f5f", "^", "--"), PYELASTICA: ("#8a4fa3", "D", "--"),
}  # fmt: skip


def plot_costs(path, found):
    """Draw error against cost. Args: path: a .png or .svg file; found: {case: {program: list of Points}}.

    Returns: the path.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    from scenes.comparison.report.figure import GRID, save, styled

    with styled():
        figure = Figure((9.6, 4.2), layout="constrained")
        FigureCanvasAgg(figure)
        axes = figure.subplots(1, len(found), squeeze=False)[0]
        for axis, (case, programs) in zip(axes, found.items()):
            for name, points in programs.items():
                colour, mark, line = STYLES[name]
                axis.plot(*costs_and_errors(points), mark, color=colour)
                axis.plot(*costs_and_errors(best_of(points)), line, marker=mark, color=colour, label=name)
            what = "of the tip [% of the length]" if case == CANTILEVER else "of GJ at which it buckles [%]"
            axis.set(xscale="log", yscale="log", xlabel="processor time of 1 s of motion [s]", ylabel=f"error {what}",
                     title=f"A {case}. Below and left is better.")  # fmt: skip
            axis.grid(color=GRID, linewidth=0.7)
            axis.legend(frameon=False)
    return save(figure, Path(path))


def costs_and_errors(points):
    """Two lists [s, %]. Args: points."""
    return [each.seconds for each in points], [abs(each.error) for each in points]


def best_of(points):
    """Points with a smaller error than all that cost less, in the order of costs. Args: points."""
    best = []
    for each in sorted(points):
        if not best or abs(each.error) < abs(best[-1].error):
            best.append(each)
    return best
