"""Readings of the contacts of the last substep: points, and mean forces in them.

Their arrays are a rigid.solvers.verlet.data.BodyArrays, or None if nothing can touch.
"""

import numpy as np

from pbd.core.kernels import read
from rigid.collision.data import PAIR, POINT
from rigid.constraints.contact_forces import Contacts
from rigid.solvers.verlet.data import CONTACT, READ, InLanes


def contacts_of(bodies, h, world):
    """Contact points of a world and the forces in them, see Solver.contact_forces. Args: bodies; h: [s]; world."""
    if bodies is None:
        nothing = np.zeros((0, 3))
        return Contacts(np.zeros((0, 2), int), nothing, nothing, np.zeros(0), nothing)
    found, sides, points, forces = (array[world] for array in contact_table(bodies, h))
    sides, points, forces = sides[found], points[found], forces[found]
    return Contacts(sides, points[:, POINT["position"]], points[:, POINT["normal"]], points[:, POINT.gap], forces)


def contact_table(bodies, h):
    """Contacts of all worlds up to the capacity.

    Args: bodies; h: [s].

    Returns: which are there (worlds, n); sides (worlds, n, 2); points (worlds, n, POINT); forces on the first side
    (worlds, n, 3) [N].
    """
    if isinstance(bodies.in_lanes, InLanes):
        count, pairs, numbers = (read(array) for array in bodies.in_lanes[2:])
        points, axes, impulses = np.split(numbers.astype(float), [READ.axes, READ.impulses], axis=2)
    else:
        count, pairs = read(bodies.points.count), read(bodies.points.integers)
        points, contacts = (read(each).astype(float) for each in (bodies.points.numbers, bodies.contacts))
        axes = np.concatenate([contacts[..., CONTACT["normal"]], contacts[..., CONTACT["tangent"]]], axis=2)
        impulses = contacts[..., [*range(CONTACT.impulse, CONTACT.impulse + 3), CONTACT.restitution_impulse]]
    n, t = np.split(axes, 2, axis=2)
    impulses[..., 0] += impulses[..., 3]
    forces = np.einsum("wck,kwci->wci", impulses[..., :3], [n, t, np.cross(n, t)]) / h**2
    found = np.arange(points.shape[1]) < count[:, None]
    return found, pairs[..., [PAIR.body_a, PAIR.body_b]], points, forces


def sum_contact_forces(bodies, h, worlds, count):
    """Sum the forces of contacts on each body.

    Args: bodies; h: [s]; worlds, count: how many worlds and bodies.

    Returns: forces [N] and torques about the origin [N m], (worlds, count, 3) each.
    """
    forces, torques = np.zeros((2, worlds, count, 3))
    if bodies is not None:
        found, sides, points, on_a = contact_table(bodies, h)
        at = points[..., POINT["position"]] - 0.5 * points[..., [POINT.gap]] * points[..., POINT["normal"]]
        for side, sign in ((0, 1.0), (1, -1.0)):
            world, contact = np.nonzero(found & (sides[..., side] >= 0))
            force = sign * on_a[world, contact]
            np.add.at(forces, (world, sides[world, contact, side]), force)
            np.add.at(torques, (world, sides[world, contact, side]), np.cross(at[world, contact], force))
    return forces, torques
