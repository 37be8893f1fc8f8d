"""Energy of rigid bodies and their springs, computed from a snapshot."""

import numpy as np

from pbd.core.results import Energy
from rigid.constraints.joints.positions import point_in_world
from rigid.joint import Ball, Universal
from rigid.names import GROUND
from rigid.rotation import conjugate, logarithm, multiply, rotate_back


def energy(models, state, joint_positions, gravity):
    """Kinetic, potential and total energy [J], each a number or (worlds,).

    Args:
        models: one model for all worlds, or one for each.
        state: a State.
        joint_positions: of the same time, from a solver's joint_positions().
        gravity: (3,) or (worlds, 3) [m/s²].

    Returns: an Energy. The potential energy is that of gravity, of springs in joints and of springs between points.
    """
    masses, inertias = np.stack([m.masses for m in models]), np.stack([m.inertias for m in models])
    if state.position.ndim == 2:
        masses, inertias = masses[0], inertias[0]
    local_velocity = rotate_back(state.rotation, state.angular_velocity)
    kinetic = 0.5 * (masses * (state.velocity**2).sum(axis=-1)).sum(axis=-1)
    kinetic = kinetic + 0.5 * np.einsum("...bi,...bij,...bj->...", local_velocity, inertias, local_velocity)
    potential = -np.einsum("...b,...bi,...i->...", masses, state.position, gravity)
    for index in range(len(models[0].springs)):
        springs = [model.springs[index] for model in models]
        stretch = lengths(springs, state) - of_worlds([spring.rest_length for spring in springs], state)
        potential = potential + spring_energy(springs, stretch, state)
    for index in range(len(models[0].joints)):
        springs = [model.joints[index].spring for model in models]
        if any(springs):
            stretch = joint_stretch(models, index, state, joint_positions)
            potential = potential + spring_energy(springs, stretch, state)
    return Energy(kinetic, potential, kinetic + potential)


def joint_stretch(models, index, state, joint_positions):
    """How far the spring of a joint is from its rest position [rad or m], a number or (worlds,)."""
    joint = models[0].joints[index]
    if isinstance(joint, Ball):
        return np.linalg.norm(rotation_since_start(models, index, state), axis=-1)
    springs = [model.joints[index].spring for model in models]
    rest = of_worlds([0.0 if spring is None else spring.rest for spring in springs], state)
    if isinstance(joint, Universal):
        difference = joint_positions[joint.name] - np.asarray(rest)[..., None]
        return np.sqrt((difference**2).sum(axis=-1))
    return joint_positions[joint.name] - rest


def of_worlds(numbers, state):
    """Numbers of all models: one number if the state has one world, else an array."""
    return numbers[0] if state.position.ndim == 2 else np.array(numbers)


def spring_energy(springs, stretch, state):
    """k s²/2 [J]. Args: springs: one of each model, or None for none."""
    stiffness = of_worlds([0.0 if spring is None else spring.stiffness for spring in springs], state)
    return 0.5 * stiffness * stretch**2


def lengths(springs, state):
    """Distance between the ends of a point spring [m]. Args: springs: those of all models."""
    a, b = np.array([spring.anchor_a for spring in springs]), np.array([spring.anchor_b for spring in springs])
    if len(springs) == 1:
        a, b = a[0], b[0]
    return np.linalg.norm(point_in_world(state, springs[0].b, b) - point_in_world(state, springs[0].a, a), axis=-1)


def rotation_since_start(models, index, state):
    """Rotation vector of a joint's child relative to its parent since time zero (..., 3) [rad]."""
    joint = models[0].joints[index]
    starts = [
        multiply(conjugate(model.body(joint.parent).rotation), model.body(joint.child).rotation) for model in models
    ]
    now = state.rotation[..., joint.child, :]
    if joint.parent != GROUND:
        now = multiply(conjugate(state.rotation[..., joint.parent, :]), now)
    start = starts[0] if len(starts) == 1 else np.array(starts)
    return logarithm(multiply(now, conjugate(start)))
