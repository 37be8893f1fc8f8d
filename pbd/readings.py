"""Readings of a particle system: methods of ParticleSystem that measure, and change nothing of its motion."""

import itertools

import numpy as np

from pbd.collision.surfaces.crossings import crossing_pairs, edges_and_triangles
from pbd.core.kernels import read
from pbd.core.results import Energy, Statistics
from pbd.core.validate import one_of
from pbd.data import REPORT
from pbd.description.rod_frames import quaternions_of


def rotations(system):
    """Rotations of the segments of all rods, (segments, 4) or (worlds, segments, 4), quaternions (w, x, y, z).

    The third axis of a segment is along it. See `pbd.build.rod`; `Rod.segments` are rows of this.
    """
    segments, positions = system.particles.rod_segments(), system.positions()
    found = [quaternions_of(x, segments) for x in positions.reshape(-1, system.count, 3)]
    return np.stack(found) if system.worlds > 1 else found[0]


def strain(system, of=None):
    """Strains of all membranes or solids, one after another: from their shapes as described, also if they flowed.

    Args: of: "membranes" or "solids"; None for what there is.

    Returns: of membranes (triangles, 3): along the warp, along the weft, and the cosine of the angle between them;
    of solids (tetrahedra, 3, 3): Green's strain in the axes of the rest shape. With worlds, (worlds, ...).

    Raises: ValueError if there are both and `of` is None.
    """
    return of_elements(system, of, {"membranes": "strains", "solids": "strains"})


def stress(system, of=None):
    """Stresses of all membranes or solids, one after another: those of elastic strain, without damping.

    Args: of: see `strain`.

    Returns: of membranes (triangles, 3): tension along the warp and weft, and shear, by width at rest [N/m]; of
    solids (tetrahedra, 3, 3): Cauchy's stress in the axes of the world [Pa]. With worlds, (worlds, ...). Of what
    flowed, the elastic strain and the width are those from its present shape at rest.
    """
    return of_elements(system, of, {"membranes": "tensions", "solids": "stresses"}, elastic=True)


def of_elements(system, of, readings, elastic=False):
    """A reading of all membranes or solids. Args: of: see `strain`; readings: methods; elastic: see pbd/flow.py."""
    if of is None and system.particles.membranes and system.particles.solids:
        raise ValueError('of is None, with membranes and solids: expected of="membranes" or of="solids"')
    kind = one_of("of", of or ("solids" if system.particles.solids else "membranes"), tuple(readings))
    shape = (0, 3, 3) if kind == "solids" else (0, 3)
    positions = system.positions().reshape(system.worlds, system.count, 3)
    elements = [system._plastic[f"flowed_{kind}"].elements(world, elastic) for world in range(system.worlds)]
    found = [
        np.concatenate([np.zeros(shape), *(getattr(each, readings[kind])(x) for each in of_world)])
        for x, of_world in zip(positions, elements)
    ]
    return np.stack(found) if system.worlds > 1 else found[0]


def pressures(system):
    """Pressures of all gases over that outside (gases,), or (worlds, gases) [Pa], see `Particles.add_pressure`."""
    positions = system.positions().reshape(system.worlds, system.count, 3)
    found = [[each.pressure(x) for each in gases] for x, gases in zip(positions, itertools.cycle(system._gases))]
    return np.array(found if system.worlds > 1 else found[0])


def position_array(system):
    """Positions as a Taichi array on the device, for kernels of yours; nothing is copied to the host.

    With quick kernels it is the array itself, to which steps write. With public ones, as on every GPU, it is a copy
    of the present positions, made on the device.

    Returns: a Taichi ndarray (particles, worlds) of vectors (4,): x, y, z [m] and the inverse mass [1/kg].

    Raises: RuntimeError if worlds, or bands of a world, lie in lanes, for strands, or with plain kernels.
    """
    if system.pieces == "strands":
        raise RuntimeError("positions lie strand by strand: expected a system of other things than strands alone")
    if system.lanes > 1:
        raise RuntimeError(f"positions lie in {system.lanes} lanes: expected lanes=1 for this system")
    return system.arrays.particles.position.on_device()


def crossings(system):
    """Count the pairs of an edge and a triangle of surfaces that cross now: 0, or (worlds,) where worlds > 1.

    Contacts of surfaces keep it at zero. Edges of segments count, too; what nothing can move does not.
    """
    edges, triangles = edges_and_triangles(system.present_surfaces())
    positions = system.positions().reshape(system.worlds, system.count, 3)
    pinned = system.inverse_masses().reshape(system.worlds, system.count) == 0.0
    found = [len(crossing_pairs(x, edges, triangles, held)) for x, held in zip(positions, pinned)]
    return per_world(system, np.array(found))[0]


def displacements(system):
    """Displacements in the last substep by constraints, contacts, colliders and grab springs, together.

    They are shaped like positions [m]. Times m/h² they are forces, the mean of those of all parts of a substep (see
    pbd/direct/adaptive.py). Restitution at colliders is not included.

    Raises: RuntimeError without `keep_predictions`.
    """
    if not system._keep_predictions:
        raise RuntimeError("predictions were not kept: expected keep_predictions() before the last step")
    position, predicted = system._values.read("position"), system._values.read("predicted_position")
    return system._values.to_user(position[..., :3].astype(float) - predicted)


def grab_forces(system):
    """Forces of all grab springs in the last substep, (grabs, 3) or (worlds, grabs, 3) [N]."""
    count = len(system.environment.grabs)
    multipliers = read(system.arrays.constraints.multipliers).astype(float)
    multipliers = multipliers[len(multipliers) - 3 * count :]
    return system._values.to_user(multipliers.reshape(count, 3, system.worlds).swapaxes(1, 2) / system.clock.h**2)


def per_world(system, *values):
    """Values (worlds,) as the user sees them: numbers if there is one world."""
    return [value[0] if system.worlds == 1 else value for value in values]


def statistics(system):
    """Iterations, residual and contacts of the last step: a Statistics."""
    system._launch("measure", *system._given(0))
    columns = (REPORT.iterations, REPORT.violation, REPORT.contacts, REPORT.imbalance)
    iterations, residual, contacts, imbalance = (system._reports.worlds[:, each].copy() for each in columns)
    found = per_world(system, iterations.astype(int), residual, contacts.astype(int), imbalance)
    return Statistics(*found[:3], direct=len(system.direct.rows), lanes=system.lanes, imbalance=found[3])


def energy(system):
    """Kinetic, potential and total energy at the middle of the last substep: an Energy."""
    system._launch("measure", *system._given(0))
    kinetic, gravitational = system._values.energies(system.gravity, system.clock.h)
    potential = gravitational + system._reports.worlds[:, REPORT.elastic_energy]
    return Energy(*per_world(system, kinetic, potential, kinetic + potential))
