"""Grab springs: forces by which the user pulls particles during a simulation, for example with a mouse.

    p = Σ b_k x_k of up to four particles,   C = p - target (three rows),   force -k C - c dp/dt

Source: XPBD with damping, Macklin, Müller and Chentanez (2016), https://doi.org/10.1145/2994258.2994272, eq. 26; for a
stiffness k and a damping c:

    Δλ = -(C + α' λ + γ (p - p*)) / ((1 + γ) W + α'),   W = Σ b_k² w_k,   α' = 1/(k h²),   γ = c/(k h)

Grab springs belong to the environment, like colliders: they are the last columns of each row of inputs. They have no
place in the schedule, so they can grab any particle at any time. Their multipliers are the last ones.
"""

import math

import numpy as np
import taichi as ti

from pbd.core.kernels import Columns
from pbd.core.messages import shown
from pbd.core.validate import finite_array, finite_vector, indices, not_negative, positive
from pbd.data import INPUT, POSE
from pbd.execution.halo import one_particle_at_a_time
from pbd.execution.phases import input_rows

MOST_PARTICLES = 4

# Columns of a grab spring: target [m], k (zero while it holds nothing), c, the particles and their b.
GRAB = Columns(target=3, stiffness=1, damping=1, particles=MOST_PARTICLES, weights=MOST_PARTICLES)

# Weights may have been rounded to 32 bits.
SUM_ERROR = 1e-6


@one_particle_at_a_time
@ti.func
def pull_grabs(s: ti.template(), substep, world):
    """Project every grab spring once."""
    _, row = input_rows(s, substep)
    for grab in range(s.features.grabs):
        pull(s, row, grab, world)


@ti.func
def pull(s: ti.template(), row, grab, world):
    """Project a grab spring once. Args: row: of the inputs; grab: index; world."""
    column = INPUT.total + POSE.total * s.counts.colliders + 3 * s.counts.kinematic + GRAB.total * grab
    stiffness = s.inputs[row, column + GRAB.stiffness]
    point, moved, weight = ti.Vector([0.0, 0.0, 0.0]), ti.Vector([0.0, 0.0, 0.0]), 0.0
    if stiffness > 0.0:
        for k in range(MOST_PARTICLES):
            b = s.inputs[row, column + GRAB.weights + k]
            if b != 0.0:
                i = ti.cast(s.inputs[row, column + GRAB.particles + k], ti.i32)
                q = s.particles.position[i, world]
                x = ti.Vector([q[0], q[1], q[2]])
                point += b * x
                moved += b * (x - s.particles.previous_position[i, world])
                weight += b * b * q[3]
    if weight > 0.0:
        compliance = 1.0 / (stiffness * s.settings.h * s.settings.h)
        damping = s.inputs[row, column + GRAB.damping] / (stiffness * s.settings.h)
        first = s.counts.multipliers - 3 * (s.features.grabs - grab)
        change = ti.Vector([0.0, 0.0, 0.0])
        for k in ti.static(range(3)):
            multiplier = s.constraints.multipliers[first + k, world]
            C = point[k] - s.inputs[row, column + GRAB.target + k]
            change[k] = -(C + compliance * multiplier + damping * moved[k]) / ((1.0 + damping) * weight + compliance)
            s.constraints.multipliers[first + k, world] = multiplier + change[k]
        for k in range(MOST_PARTICLES):
            b = s.inputs[row, column + GRAB.weights + k]
            if b != 0.0:
                i = ti.cast(s.inputs[row, column + GRAB.particles + k], ti.i32)
                q = s.particles.position[i, world]
                d = (b * q[3]) * change
                s.particles.position[i, world] = ti.Vector([q[0] + d[0], q[1] + d[1], q[2] + d[2], q[3]])


def grab_columns(particles, count, target, stiffness, damping, weights):
    """Columns of a grab spring. Args: count: of all particles; the others: see `pbd.ParticleSystem.grab`."""
    held = indices("held particles", particles, count)
    if not 1 <= len(held) <= MOST_PARTICLES or len(set(held)) < len(held):
        raise ValueError(f"held particles are {shown(held)}: expected one to {MOST_PARTICLES} of them, each once")
    weights = np.full(len(held), 1 / len(held)) if weights is None else weights
    columns = np.zeros(GRAB.total)
    columns[GRAB["target"]] = finite_vector("target of a grab", target)
    columns[GRAB.stiffness] = positive("stiffness of a grab", stiffness)
    columns[GRAB.damping] = not_negative("damping of a grab", damping)
    columns[GRAB.particles : GRAB.particles + len(held)] = held
    weights = finite_array("weights of held particles", weights, (len(held),), math.inf)
    if abs(weights.sum() - 1) > SUM_ERROR:
        raise ValueError(f"weights of held particles sum to {weights.sum():g}: expected one")
    columns[GRAB.weights : GRAB.weights + len(held)] = weights
    return columns
