"""Rotors: the armature of joints, as rows.

A motor with a gear of ratio N spins N times as fast as its joint. So its rotor of inertia I resists the acceleration of
the joint's coordinate q like an inertia a = N² I, the armature, and its own angular momentum N I q̇ is negligible beside
that. It is a speed u with inertia a that one row, J V - u = 0, couples to the coordinate. The row's impulse λ acts on
both bodies as Jᵀ λ and on the rotor as -λ:

    J V - u + (J M⁻¹ Jᵀ + 1/a) Δλ = 0,    u := u - λ/a

The effort is -a q̈, and momenta of the bodies are conserved. u is the target of the row, from step to step. Generalised
coordinates have a in their mass matrix instead (rigid/solvers/articulated/dynamics.py).

Source: Featherstone, Rigid Body Dynamics Algorithms (2008), https://doi.org/10.1007/978-1-4899-7560-7, section 9.6;
MuJoCo documentation, XML reference, armature.
"""

import numpy as np
import taichi as ti

from pbd.core.kernels import read, write
from rigid.constraints.rows import ROW


@ti.func
def push_rotor(s: ti.template(), row, impulse, world):
    """Change the speed of a row's rotor, if it has one. Args: impulse: of the row [N s or N m s]."""
    n = ti.static(s.rows.numbers)
    if n[world, row, ROW.rotor] > 0.0:
        n[world, row, ROW.target] = n[world, row, ROW.target] - impulse * n[world, row, ROW.rotor]


@ti.func
def rotor_energy(s: ti.template(), world):
    """Kinetic energy of all rotors, Σ a u²/2 [J]."""
    n = ti.static(s.rows.numbers)
    total = 0.0
    if ti.static(s.features.rotors):
        for row in range(s.step.first_contact_row):
            if n[world, row, ROW.rotor] > 0.0:
                total += 0.5 * n[world, row, ROW.target] ** 2 / n[world, row, ROW.rotor]
    return total


@ti.func
def scale_rotors(s: ti.template(), factor, world):
    """Multiply the speeds of all rotors by a factor."""
    n = ti.static(s.rows.numbers)
    if ti.static(s.features.rotors):
        for row in range(s.step.first_contact_row):
            if n[world, row, ROW.rotor] > 0.0:
                n[world, row, ROW.target] = factor * n[world, row, ROW.target]


def set_rotors(rows, rotors, velocities):
    """Set the speeds of all rotors to those of their joints.

    Args: rows: a Rows; rotors: {name of a joint: its rotor's row}; velocities: {name: (worlds,) or a number}.
    """
    if rotors:
        numbers = read(rows.numbers)
        for name, row in rotors.items():
            numbers[:, row, ROW.target] = velocities[name]
        write(rows.numbers, numbers)


def armature_energy(models, velocities):
    """Kinetic energy of armatures, Σ a q̇²/2 [J], a number or (worlds,).

    Args: models: one for all worlds, or one for each; velocities: {name of a joint: a number, or (worlds,)}.
    """
    total = 0.0
    for joints in zip(*(model.joints for model in models)):
        armature = np.array([joint.armature for joint in joints])
        if armature.any():
            total = total + 0.5 * (armature[0] if len(joints) == 1 else armature) * velocities[joints[0].name] ** 2
    return total
