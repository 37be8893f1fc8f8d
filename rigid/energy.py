"""Energy of rigid bodies, computed from a snapshot."""

import numpy as np

from pbd.core.results import Energy
from rigid.rotation import rotate_back


def energy(models, state, gravity, stored=0.0, rotors=0.0):
    """Kinetic, potential and total energy [J], each a number or (worlds,).

    Args:
        models: one model for all worlds, or one for each.
        state: a State.
        gravity: (3,) or (worlds, 3) [m/s²].
        stored: energy of springs and soft rows [J], a part of the potential energy.
        rotors: kinetic energy of armatures [J].

    Returns: an Energy. The potential energy of gravity is zero at the origin.
    """
    columns = ([getattr(m, name) for m in models] for name in ("masses", "inertias", "gravity_scales"))
    masses, inertias, scales = map(np.stack, columns)
    if state.position.ndim == 2:
        masses, inertias, scales = masses[0], inertias[0], scales[0]
    local_velocity = rotate_back(state.rotation, state.angular_velocity)
    kinetic = 0.5 * (masses * (state.velocity**2).sum(axis=-1)).sum(axis=-1)
    kinetic = kinetic + 0.5 * np.einsum("...bi,...bij,...bj->...", local_velocity, inertias, local_velocity) + rotors
    potential = stored - np.einsum("...b,...bi,...i->...", scales * masses, state.position, gravity)
    return Energy(kinetic, potential, kinetic + potential)
