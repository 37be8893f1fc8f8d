"""Energy of bodies, springs included, read from a snapshot."""

import numpy as np

from pbd.core.results import Energy
from rigid.constraints.joints.positions import point_in_world
from rigid.joint import Ball, Hinge, Slider, Universal
from rigid.names import GROUND
from rigid.rotation import conjugate, logarithm, multiply, rotate_back


def energy(models, state, joint_positions, gravity):
    """Kinetic, potential and total energy [J], numbers or (worlds,): an Energy.

    Arguments: models: one for all worlds, or one each; state: a State; joint_positions: of the same instant, as a
    solver's joint_positions() gives them, for what springs in joints have stored; gravity (3,) or (worlds, 3) [m/s²].
    """
    masses, inertias = np.stack([m.masses for m in models]), np.stack([m.inertias for m in models])
    if state.position.ndim == 2:
        masses, inertias = masses[0], inertias[0]
    spin = rotate_back(state.rotation, state.angular_velocity)
    kinetic = 0.5 * (masses * (state.velocity**2).sum(axis=-1)).sum(axis=-1)
    kinetic = kinetic + 0.5 * np.einsum("...bi,...bij,...bj->...", spin, inertias, spin)
    potential = -np.einsum("...b,...bi,...i->...", masses, state.position, gravity)
    for index in range(len(models[0].springs)):
        springs = [model.springs[index] for model in models]
        stretch = lengths(springs, state) - of_worlds(springs, state, "rest_length")
        potential = potential + stored(springs, stretch, state)
    for index, joint in enumerate(models[0].joints):
        springs = [model.joints[index].spring for model in models]
        if not any(springs):
            continue
        if isinstance(joint, Ball):
            stretch = np.linalg.norm(turned_since_start(models, index, state), axis=-1)
        elif isinstance(joint, (Hinge, Slider, Universal)):
            rest = of_worlds(springs, state, "rest")
            stretch = joint_positions[joint.name]
            if isinstance(joint, Universal):
                rest, both = np.asarray(rest)[..., None], stretch
                stretch = np.sqrt(((both - rest) ** 2).sum(axis=-1))
            else:
                stretch = stretch - rest
        potential = potential + stored(springs, stretch, state)
    return Energy(kinetic, potential, kinetic + potential)


def of_worlds(springs, state, name):
    """A number of springs, zero where there is none; an array (worlds,) where there are several worlds."""
    numbers = np.array([0.0 if spring is None else getattr(spring, name) for spring in springs])
    return numbers[0] if state.position.ndim == 2 else numbers


def stored(springs, stretch, state):
    """k s²/2 [J]."""
    return 0.5 * of_worlds(springs, state, "stiffness") * stretch**2


def lengths(springs, state):
    """Distance of the ends of point springs [m]."""
    ends = []
    for body, anchor in (("a", "anchor_a"), ("b", "anchor_b")):
        anchors = np.array([getattr(spring, anchor) for spring in springs])
        ends.append(point_in_world(state, getattr(springs[0], body), anchors[0] if len(springs) == 1 else anchors))
    return np.linalg.norm(ends[1] - ends[0], axis=-1)


def turned_since_start(models, index, state):
    """Rotation vector of a joint's child against its parent since time zero (..., 3) [rad]."""
    joint = models[0].joints[index]
    starts = [
        multiply(conjugate(model.body(joint.parent).rotation), model.body(joint.child).rotation) for model in models
    ]
    now = state.rotation[..., joint.child, :]
    if joint.parent != GROUND:
        now = multiply(conjugate(state.rotation[..., joint.parent, :]), now)
    start = starts[0] if len(starts) == 1 else np.array(starts)
    return logarithm(multiply(now, conjugate(start)))
