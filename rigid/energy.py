"""Energy of rigid bodies, and what their soft rows store, computed from a snapshot."""

import numpy as np

from pbd.core.results import Energy
from rigid.constraints.rows import GROUP, Group
from rigid.rotation import rotate_back


def energy(models, state, gravity, stored=0.0):
    """Kinetic, potential and total energy [J], each a number or (worlds,).

    Args:
        models: one model for all worlds, or one for each.
        state: a State.
        gravity: (3,) or (worlds, 3) [m/s²].
        stored: energy of springs and soft rows [J], a part of the potential energy.

    Returns: an Energy. The potential energy of gravity is zero at the origin.
    """
    masses, inertias = np.stack([m.masses for m in models]), np.stack([m.inertias for m in models])
    if state.position.ndim == 2:
        masses, inertias = masses[0], inertias[0]
    local_velocity = rotate_back(state.rotation, state.angular_velocity)
    kinetic = 0.5 * (masses * (state.velocity**2).sum(axis=-1)).sum(axis=-1)
    kinetic = kinetic + 0.5 * np.einsum("...bi,...bij,...bj->...", local_velocity, inertias, local_velocity)
    potential = stored - np.einsum("...b,...bi,...i->...", masses, state.position, gravity)
    return Energy(kinetic, potential, kinetic + potential)


def stored_in_rows(groups, stiffness, stretch):
    """Energy of rows that are springs, Σ xᵀ K x/2 over their groups (worlds,) [J].

    Args:
        groups: (worlds, groups, GROUP), without idle ones' effect.
        stiffness: of each row, its row of the matrix K of its group (worlds, rows, columns) [N/m or N m/rad]; of one
            column if K is diagonal.
        stretch: x of each row (worlds, rows) [m or rad].
    """
    total = np.zeros(len(groups))
    for k in range(groups[..., GROUP.count].max(initial=0)):
        world, group = np.nonzero((groups[..., GROUP.count] > k) & (groups[..., GROUP.kind] != Group.IDLE))
        of = groups[world, group]
        one_force = of[:, GROUP.kind] == Group.GEAR  # its two rows
        if k == 0 or not one_force.all():
            world, of = (each[~one_force | (k == 0)] for each in (world, of))
            first = of[:, GROUP.first]
            row, force = first + k, np.zeros(len(first))
            if stiffness.shape[2] == 1:
                force = stiffness[world, row, 0] * stretch[world, row]
            else:
                for other in range(stiffness.shape[2]):
                    inside = (of[:, GROUP.count] > other) & ((of[:, GROUP.kind] != Group.GEAR) | (other == 0))
                    column = np.where(inside, first + other, 0)
                    force += np.where(inside, stiffness[world, row, other] * stretch[world, column], 0.0)
            np.add.at(total, world, 0.5 * force * stretch[world, row])
    return total
