"""Bodies in maximal coordinates: their arrays, and how poses and velocities are integrated.

The last body is the ground. It has infinite mass and never moves.
"""

from typing import NamedTuple

import numpy as np
import taichi as ti

from pbd.core.kernels import (
    Columns,
    Real,
    allocate,
    count,
    load_quaternion,
    load_vector,
    store_quaternion,
    store_vector,
)
from pbd.core.quaternions import exponential, multiply, rotate, rotate_back
from pbd.core.vectors import axis
from rigid.collision.data import SHAPE
from rigid.collision.polyhedron import polyhedron
from rigid.collision.upload import shape_numbers
from rigid.external_forces import EXTERNAL
from rigid.kernels.matrices import multiply_symmetric, symmetric_columns

# Mass properties. Inertias are about the centre of mass in the body's frame, six columns each, see
# rigid/kernels/matrices.py. The radius is of the ball about the centre of mass that contains all shapes [m]. Gravity
# acts on a body with its gravity_scale.
MASS = Columns(inverse_mass=1, inertia=6, inverse_inertia=6, radius=1, mass=1, gravity_scale=1)

# Centre of mass [m] and rotation (w, x, y, z).
POSE = Columns(position=3, rotation=4)

# Velocity of the centre of mass [m/s] and angular velocity [rad/s] in the world; pseudo-velocities, which correct
# position errors and are cleared after each step.
VELOCITY = Columns(linear=3, angular=3, pseudo_linear=3, pseudo_angular=3)

# Columns from a velocity to the pseudo-velocity, and from a linear to the angular one.
PSEUDO, ANGULAR = VELOCITY.pseudo_linear, VELOCITY.angular


class Bodies(NamedTuple):
    """Bodies, and the ground as the last one."""

    mass: Real(count.worlds, count.bodies, MASS)
    pose: Real(count.worlds, count.bodies, POSE, kept=True)
    velocity: Real(count.worlds, count.bodies, VELOCITY, kept=True)
    external: Real(count.worlds, count.bodies, EXTERNAL, kept=True)  # forces that the user sets
    inverse_inertia: Real(count.worlds, count.bodies, 9)  # in the world, row by row [1/(kg m²)]


def allocate_bodies(models, worlds):
    """Make the arrays of bodies at the models' start. Args: models: one for all worlds, or one for each; worlds."""
    states = [model.initial_state() for model in models]
    number = len(models[0].bodies)
    mass, pose = np.zeros((worlds, number + 1, MASS.total)), np.zeros((worlds, number + 1, POSE.total))
    velocity = np.zeros((worlds, number + 1, VELOCITY.total))
    pose[:, number, POSE.rotation] = 1.0
    for world in range(worlds):
        model, state = (items[world if len(models) > 1 else 0] for items in (models, states))
        of_mass, of_pose, of_velocity = mass[world, :number], pose[world, :number], velocity[world, :number]
        masses = np.array([body.mass for body in model.bodies])
        inertias = np.reshape([body.inertia for body in model.bodies], (-1, 3, 3))
        of_mass[:, MASS.inverse_mass], of_mass[:, MASS.mass] = 1 / masses, masses
        of_mass[:, MASS["inertia"]] = symmetric_columns(inertias)
        of_mass[:, MASS["inverse_inertia"]] = symmetric_columns(np.linalg.inv(inertias))
        on_path = [body.path is not None for body in model.bodies]  # impulses do not move these
        of_mass[on_path, MASS.inverse_mass], of_mass[on_path, MASS["inverse_inertia"]] = 0.0, 0.0
        of_mass[:, MASS.radius] = bounding_radii(model)
        of_mass[:, MASS.gravity_scale] = model.gravity_scales
        of_pose[:, POSE["position"]], of_pose[:, POSE["rotation"]] = state.position, state.rotation
        of_velocity[:, VELOCITY["linear"]] = state.velocity
        of_velocity[:, VELOCITY["angular"]] = state.angular_velocity
    return allocate(Bodies, {"mass": mass, "pose": pose, "velocity": velocity}, worlds=worlds, bodies=number + 1)


def bounding_radii(model):
    """Radius of the ball about each body's centre of mass that contains all its shapes (bodies,) [m]."""
    found = np.zeros(len(model.bodies))
    bounds = shape_numbers(model, [polyhedron(piece.shape) for piece in model.shapes])[:, SHAPE.bounding_radius]
    for piece, bound in zip(model.shapes, bounds):
        if piece.body >= 0:
            found[piece.body] = max(found[piece.body], np.linalg.norm(piece.position) + bound)
    return found


# Inertia --------------------------------------------------------------------------------------------------------------


@ti.func
def update_inverse_inertia(bodies: ti.template(), body, world):
    """Compute the inverse inertia of a body in the world, R I⁻¹ Rᵀ. It is symmetric: columns are written as rows."""
    q = load_quaternion(bodies.pose, body, POSE.rotation, world)
    for k in ti.static(range(3)):
        local = multiply_symmetric(bodies.mass, body, MASS.inverse_inertia, rotate_back(q, axis(k)), world)
        store_vector(bodies.inverse_inertia, body, 3 * k, rotate(q, local), world)


@ti.func
def multiply_inertia(bodies: ti.template(), body, q, v, world):
    """I v in the world: the angular momentum [N m s] of a body with the angular velocity v. Args: q: its rotation."""
    return rotate(q, multiply_symmetric(bodies.mass, body, MASS.inertia, rotate_back(q, v), world))


@ti.func
def multiply_inverse_inertia(bodies: ti.template(), body, v, world):
    """I⁻¹ v: the angular velocity [rad/s] that an angular impulse v [N m s] gives a body."""
    return ti.Vector([load_vector(bodies.inverse_inertia, body, 3 * k, world).dot(v) for k in ti.static(range(3))])


# Time integration: semi-implicit Euler --------------------------------------------------------------------------------


@ti.func
def gravity_on(s: ti.template(), body, world):
    """Gravity of a world, times the scale of a body [m/s²]. Args: s: data with an array `gravity`."""
    return s.bodies.mass[world, body, MASS.gravity_scale] * load_gravity(s, world)


@ti.func
def load_gravity(s: ti.template(), world):
    """Gravity of a world [m/s²]. Args: s: data with an array `gravity`."""
    return ti.Vector([s.gravity[world, k] for k in ti.static(range(3))])


@ti.func
def integrate_velocity(s: ti.template(), body, world):
    """Apply gravity, external forces and the gyroscopic torque to a body for one substep, unless it is on a path."""
    if s.bodies.mass[world, body, MASS.inverse_mass] > 0.0:
        apply_forces(s, body, s.step.h, world)
        if ti.static(s.features.gyroscopic != "none"):
            apply_gyroscopic_torque(s.bodies, s.features.gyroscopic, body, s.step.h, world)


@ti.func
def apply_forces(s: ti.template(), body, h, world):
    """Apply gravity and external forces to a body for h."""
    velocity = load_vector(s.bodies.velocity, body, VELOCITY.linear, world) + h * gravity_on(s, body, world)
    store_vector(s.bodies.velocity, body, VELOCITY.linear, velocity, world)
    apply_external_force(s, body, h, world)


@ti.func
def apply_external_force(s: ti.template(), body, h, world):
    """Apply the user's force and torque to a body for h, at its present pose.

    v += h F/m, ω += h I⁻¹ (T + R p × F). Args: s: data with `step.external`, 0 if no body has such a force.
    """
    if s.step.external == 1:
        external, velocity = ti.static(s.bodies.external, s.bodies.velocity)
        q = load_quaternion(s.bodies.pose, body, POSE.rotation, world)
        force = load_vector(external, body, EXTERNAL.force, world)
        torque = load_vector(external, body, EXTERNAL.torque, world)
        torque += rotate(q, load_vector(external, body, EXTERNAL.point, world)).cross(force)
        v = load_vector(velocity, body, VELOCITY.linear, world)
        v += h * s.bodies.mass[world, body, MASS.inverse_mass] * force
        turn = multiply_symmetric(s.bodies.mass, body, MASS.inverse_inertia, rotate_back(q, torque), world)
        w = load_vector(velocity, body, VELOCITY.angular, world) + h * rotate(q, turn)
        store_vector(velocity, body, VELOCITY.linear, v, world)
        store_vector(velocity, body, VELOCITY.angular, w, world)


@ti.func
def integrate_pose(bodies: ti.template(), body, column, h, world):
    """Move a body for h. Args: column: VELOCITY.linear, or VELOCITY.pseudo_linear for the pseudo-velocity."""
    for k in ti.static(range(3)):
        bodies.pose[world, body, k] = bodies.pose[world, body, k] + h * bodies.velocity[world, body, column + k]
    turn = exponential(h * load_vector(bodies.velocity, body, column + ANGULAR, world))
    q = multiply(turn, load_quaternion(bodies.pose, body, POSE.rotation, world))
    q /= q.norm()
    store_quaternion(bodies.pose, body, POSE.rotation, q, world)


@ti.func
def clear_pseudo_velocity(bodies: ti.template(), body, world):
    """Set the pseudo-velocity of a body to zero."""
    for k in ti.static(range(PSEUDO, VELOCITY.total)):
        bodies.velocity[world, body, k] = 0.0


@ti.func
def is_finite(bodies: ti.template(), body, world):
    """Whether a body's pose is finite: the sum of its numbers is finite only if all of them are."""
    total = 0.0
    for k in ti.static(range(POSE.total)):
        total += bodies.pose[world, body, k]
    return total - total == 0.0


@ti.func
def apply_gyroscopic_torque(bodies: ti.template(), method: ti.template(), body, h, world):
    """Apply the gyroscopic torque -ω × Iω to a body for h.

    Args: method: "implicit": Euler's implicit step in the body's frame, by one Newton iteration, which loses energy;
    "midpoint": the implicit midpoint rule, which keeps energy and |L| to round-off; "explicit", which gains energy.
    """
    q = load_quaternion(bodies.pose, body, POSE.rotation, world)
    before = rotate_back(q, load_vector(bodies.velocity, body, VELOCITY.angular, world))
    now = before
    if ti.static(method == "explicit"):
        torque = -before.cross(multiply_symmetric(bodies.mass, body, MASS.inertia, before, world))
        now = before + h * multiply_symmetric(bodies.mass, body, MASS.inverse_inertia, torque, world)
    else:
        # I (ω - ω0) + h ω_m × I ω_m = 0 with ω_m = (1 - s) ω0 + s ω; s = 1 or 1/2.
        share = ti.static(1.0 if method == "implicit" else 0.5)
        for _ in ti.static(range(1 if method == "implicit" else 3)):
            between = before + share * (now - before)
            momentum = multiply_symmetric(bodies.mass, body, MASS.inertia, between, world)
            error = multiply_symmetric(bodies.mass, body, MASS.inertia, now - before, world)
            error += h * between.cross(momentum)
            columns = [ti.Vector([0.0, 0.0, 0.0]) for _ in ti.static(range(3))]
            for k in ti.static(range(3)):
                along = multiply_symmetric(bodies.mass, body, MASS.inertia, axis(k), world)
                columns[k] = along + (share * h) * (axis(k).cross(momentum) + between.cross(along))
            bc, ca, ab = columns[1].cross(columns[2]), columns[2].cross(columns[0]), columns[0].cross(columns[1])
            now -= ti.Vector([bc.dot(error), ca.dot(error), ab.dot(error)]) / columns[0].dot(bc)
    store_vector(bodies.velocity, body, VELOCITY.angular, rotate(q, now), world)
