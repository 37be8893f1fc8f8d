"""Energy of rigid bodies, computed from a snapshot."""

import numpy as np

from pbd.core.results import Energy
from rigid.rotation import rotate_back


def inertial_properties(models):
    """Masses, inertias and scales of gravity: arrays (models, bodies, ...). Args: models: of one structure."""
    names = "masses", "inertias", "gravity_scales"
    return [np.stack([getattr(model, name) for model in models]) for name in names]


def energy(properties, state, gravity, stored=0.0, rotors=0.0):
    """Kinetic, potential and total energy [J], each a number or (worlds,).

    Args:
        properties: `inertial_properties` of one model for all worlds, or of one for each.
        state: a State.
        gravity: (3,) or (worlds, 3) [m/s²].
        stored: energy of springs and soft rows [J], a part of the potential energy.
        rotors: kinetic energy of armatures [J].

    Returns: an Energy. The potential energy of gravity is zero at the origin.
    """
    masses, inertias, scales = properties if state.position.ndim == 3 else (each[0] for each in properties)
    local_velocity = rotate_back(state.rotation, state.angular_velocity)
    kinetic = 0.5 * (masses * (state.velocity**2).sum(axis=-1)).sum(axis=-1)
    kinetic = kinetic + 0.5 * np.einsum("...bi,...bij,...bj->...", local_velocity, inertias, local_velocity) + rotors
    potential = stored - np.einsum("...b,...bi,...i->...", scales * masses, state.position, gravity)
    return Energy(kinetic, potential, kinetic + potential)
