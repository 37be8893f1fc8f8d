"""A rod in each program that benchmarks/rods.py compares: ours, pyPBD, MuJoCo and PyElastica.

Each function makes a cantilever for ratio=None, or a ring with the torsional stiffness GJ = ratio EI.

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

import math
from typing import NamedTuple

import numpy as np

import pbd
from benchmarks.outcomes import FRAME
from pbd import build

KEPT = math.exp(-0.1)  # the part of the velocity that is left after each frame
GRAVITY, LENGTH, RADIUS, DENSITY, POISSON, GAMMA = 9.81, 1.0, 0.01, 1000.0, 0.3, 10.0
AREA = math.pi * RADIUS**2
WEIGHT = GRAVITY * DENSITY * AREA  # of a metre [N/m]
BENDING = WEIGHT * LENGTH**3 / GAMMA  # EI [N m²]
YOUNG = 4 * BENDING / (math.pi * RADIUS**4)  # [Pa]

TURNS = 1  # of the twist around a ring
PERTURBATION = 1e-6  # bend of a ring out of its plane at the start [m]

OURS, DIRECT, ITERATED = "ours", "pyPBD direct", "pyPBD iterated"
MUJOCO, PYELASTICA = "MuJoCo flex", "PyElastica"
CANTILEVER, RING = "cantilever", "ring"


class Made(NamedTuple):
    """A rod in a program. Attributes: step: by a frame; slow: leaves KEPT of velocities; nodes: function (n, 3) [m]."""

    step: object
    slow: object
    nodes: object


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
