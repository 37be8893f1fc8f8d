"""Bodies in maximal coordinates: where each is, how it moves, and how it moves on; for solvers that keep poses.

The last row of bodies is the ground, which weighs infinitely much and never moves.
"""

from typing import Any, NamedTuple

import numpy as np
import taichi as ti

from pbd.core.quaternions import rotate, rotate_back
from rigid.collision.data import SHAPE, array
from rigid.collision.polyhedron import polyhedron
from rigid.collision.setup import shape_numbers
from rigid.kernels.columns import put_triple, quadruple, triple


class Motion(NamedTuple):
    """B bodies and the ground, W worlds."""

    masses: Any  # (W, B + 1, 15): only read, see below
    poses: Any  # (W, B + 1, 7): position of the centre of mass [m] and rotation (w, x, y, z)
    velocities: Any  # (W, B + 1, 12): see below
    answers: Any  # (W, B + 1, 9): the inverse inertia in the world, row by row [1/(kg m²)], of the last `turn_inertia`


# Columns of `masses`. A symmetric matrix is six numbers: xx, yy, zz, xy, xz, yz; about the centre of mass, in the
# body's frame. RADIUS: of the ball about the centre of mass that holds all its shapes [m].
INVERSE_MASS, INERTIA, INVERSE_INERTIA, RADIUS, MASS = 0, 1, 7, 13, 14

# Columns of `velocities`: of the centre of mass [m/s], angular [rad/s], both in the world; and the pseudo-velocities
# that mend errors of position and are forgotten after each step.
LINEAR, ANGULAR, PSEUDO = 0, 3, 6


def motion(models, worlds):
    """Arrays of the bodies of models as they start: a Motion. Arguments: models: one for all worlds, or one each."""
    states = [model.initial_state() for model in models]
    count = len(models[0].bodies)
    masses, poses = np.zeros((worlds, count + 1, MASS + 1)), np.zeros((worlds, count + 1, 7))
    velocities = np.zeros((worlds, count + 1, 2 * PSEUDO))
    poses[:, count, 3] = 1.0
    for world in range(worlds):
        model, state = (items[world if len(models) > 1 else 0] for items in (models, states))
        masses[world, :count, INVERSE_MASS] = 1 / model.masses
        masses[world, :count, MASS] = model.masses
        masses[world, :count, INERTIA:INVERSE_INERTIA] = six(model.inertias)
        masses[world, :count, INVERSE_INERTIA:RADIUS] = six(np.linalg.inv(model.inertias))
        masses[world, :count, RADIUS] = radii(model)
        poses[world, :count, :3], poses[world, :count, 3:] = state.position, state.rotation
        velocities[world, :count, LINEAR:ANGULAR] = state.velocity
        velocities[world, :count, ANGULAR:PSEUDO] = state.angular_velocity
    return Motion(array(masses), array(poses), array(velocities), array(np.zeros((worlds, count + 1, 9))))


def six(matrices):
    """The six numbers of symmetric matrices (..., 3, 3)."""
    return np.stack([matrices[..., i, k] for i, k in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))], axis=-1)


def radii(model):
    """Of the ball about each body's centre of mass that holds all its shapes (bodies,) [m]."""
    found = np.zeros(len(model.bodies))
    bounds = shape_numbers(model, [polyhedron(piece.shape) for piece in model.shapes])[:, SHAPE.bounding_radius]
    for piece, bound in zip(model.shapes, bounds):
        if piece.body >= 0:
            found[piece.body] = max(found[piece.body], np.linalg.norm(piece.position) + bound)
    return found


# In kernels -----------------------------------------------------------------------------------------------------------


@ti.func
def symmetric(array: ti.template(), row, column, v, world):
    """A symmetric matrix of six numbers, times a vector."""
    a = ti.Vector([array[world, row, column + k] for k in ti.static(range(6))])
    return ti.Vector(
        [
            a[0] * v[0] + a[3] * v[1] + a[4] * v[2],
            a[3] * v[0] + a[1] * v[1] + a[5] * v[2],
            a[4] * v[0] + a[5] * v[1] + a[2] * v[2],
        ]
    )


@ti.func
def turn_inertia(m: ti.template(), body, world):
    """Note the inverse inertia of a body as it lies: R I⁻¹ Rᵀ, column by column, of which it has as many as rows."""
    q = quadruple(m.poses, body, 3, world)
    for k in ti.static(range(3)):
        axis = ti.Vector([1.0 if i == k else 0.0 for i in ti.static(range(3))])
        local = symmetric(m.masses, body, INVERSE_INERTIA, rotate_back(q, axis), world)
        put_triple(m.answers, body, 3 * k, rotate(q, local), world)


@ti.func
def answer(m: ti.template(), body, v, world):
    """The angular velocity [rad/s] that an angular impulse gives a body."""
    return ti.Vector([triple(m.answers, body, 3 * k, world).dot(v) for k in ti.static(range(3))])


@ti.func
def product(q, p):
    """The quaternion q p: the rotation p, then q."""
    a, b = ti.Vector([q[1], q[2], q[3]]), ti.Vector([p[1], p[2], p[3]])
    v = q[0] * b + p[0] * a + a.cross(b)
    return ti.Vector([q[0] * p[0] - a.dot(b), v[0], v[1], v[2]])


@ti.func
def conjugate(q):
    """The inverse of a unit quaternion."""
    return ti.Vector([q[0], -q[1], -q[2], -q[3]])


@ti.func
def exponential(v):
    """The quaternion of a rotation vector [rad], exact: a constant ω turns a body by ω h however long h is."""
    half = 0.5 * v.norm()
    scale = 0.5 - half * half / 12.0
    if half > 1e-4:  # below it the series is exact: its next term is half⁴/240
        scale = 0.5 * ti.sin(half) / half
    return ti.Vector([ti.cos(half), scale * v[0], scale * v[1], scale * v[2]])


@ti.func
def move(m: ti.template(), body, at, h, world):
    """Move a body for h by its velocities, or pseudo-velocities: `at` is LINEAR or PSEUDO. Semi-implicit Euler."""
    for k in ti.static(range(3)):
        m.poses[world, body, k] = m.poses[world, body, k] + h * m.velocities[world, body, at + k]
    q = product(exponential(h * triple(m.velocities, body, at + ANGULAR, world)), quadruple(m.poses, body, 3, world))
    q /= q.norm()
    for k in ti.static(range(4)):
        m.poses[world, body, 3 + k] = q[k]


# The gyroscopic torque -ω × Iω, three ways ----------------------------------------------------------------------------


@ti.func
def spin_on(m: ti.template(), form: ti.template(), body, h, world):
    """Change the angular velocity of a body as its gyroscopic torque does in h.

    Arguments: form: "implicit": Euler's implicit step in the body's frame, by one iteration of Newton's, which takes
    energy out; "midpoint": the implicit midpoint rule, which keeps energy and |L| to round-off; "explicit": puts it in.
    """
    q = quadruple(m.poses, body, 3, world)
    before = rotate_back(q, triple(m.velocities, body, ANGULAR, world))
    now = before
    if ti.static(form == "explicit"):
        torque = -before.cross(symmetric(m.masses, body, INERTIA, before, world))
        now = before + h * symmetric(m.masses, body, INVERSE_INERTIA, torque, world)
    else:
        # I (ω - ω0) + h ω_m × I ω_m = 0 with ω_m = (1 - s) ω0 + s ω; s = 1 or 1/2.
        share = ti.static(1.0 if form == "implicit" else 0.5)
        for _ in ti.static(range(1 if form == "implicit" else 3)):
            between = before + share * (now - before)
            momentum = symmetric(m.masses, body, INERTIA, between, world)
            error = symmetric(m.masses, body, INERTIA, now - before, world) + h * between.cross(momentum)
            columns = [ti.Vector([0.0, 0.0, 0.0]) for _ in ti.static(range(3))]
            for k in ti.static(range(3)):
                axis = ti.Vector([1.0 if i == k else 0.0 for i in ti.static(range(3))])
                along = symmetric(m.masses, body, INERTIA, axis, world)
                columns[k] = along + (share * h) * (axis.cross(momentum) + between.cross(along))
            bc, ca, ab = columns[1].cross(columns[2]), columns[2].cross(columns[0]), columns[0].cross(columns[1])
            now -= ti.Vector([bc.dot(error), ca.dot(error), ab.dot(error)]) / columns[0].dot(bc)
    put_triple(m.velocities, body, ANGULAR, rotate(q, now), world)
