"""Weights on ropes over round shapes, for tests."""

import warnings

import numpy as np

import pbd
import rigid
from pbd import build

GRAVITY = 9.81
ROPE = 0.005  # radius of a rope [m]
HANG = 0.6  # length of rope on each side [m]


def cylinder(radius):
    return rigid.Cylinder(radius, start=(0, -0.3, 0), end=(0, 0.3, 0))


def capsule(radius):
    return rigid.Capsule(radius, start=(0, -0.3, 0), end=(0, 0.3, 0))


def atwood(weights, rope_mass, segments, radius=0.1, shape=cylinder, friction=0.0, on="ground", path=None, **options):
    """A solver of two weights on a rope over a round shape. They have no shapes: kernels without pairs compile faster.

    Args: weights: [kg]; on: what has the shape: "ground", "path", "collider" or "wheel", a body of 1 kg on
    a hinge.
    """
    particles, model = pbd.Particles(), rigid.Model()
    outside = radius + ROPE
    angles = np.linspace(0, np.pi, 601)
    arc = np.stack([-outside * np.cos(angles), 0 * angles, outside * np.sin(angles)], axis=1)
    points = [(-outside, 0, -HANG), *arc, (outside, 0, -HANG)]
    rope = build.rope(particles, points, segments, mass=rope_mass, radius=ROPE)
    ends = [
        model.add_body(mass=mass, inertia=(mass / 600,) * 3, position=(side * outside, 0, -HANG - 0.05))
        for mass, side in zip(weights, (-1, 1))
    ]
    if on == "collider":
        particles.add_collider(shape(radius), friction=friction)
    else:
        body = rigid.GROUND
        if on != "ground":
            body = model.add_body(mass=1.0, inertia=(0.03, 0.005, 0.03), path=path)
        if on == "wheel":
            model.add_hinge(rigid.GROUND, body, (0, 0, 0), (0, 1, 0))
        model.add_shape(body, shape(radius), friction=friction)
    attachments = [(rope.particles[:1], ends[0]), (rope.particles[-1:], ends[1])]
    return rigid.solver("verlet", model, particles=particles, attachments=attachments, **{"dt": 1 / 60, **options})


def heights_after(solver, steps):
    """Displacement of both weights [m]. The rope keeps its length, and nothing warns."""
    before, x = solver.state().position[:2, 2], solver.particle_positions()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        solver.step(steps)
    lengths = [np.linalg.norm(np.diff(each, axis=0), axis=1) for each in (x, solver.particle_positions())]
    np.testing.assert_allclose(lengths[1], lengths[0], rtol=1e-3)
    return solver.state().position[:2, 2] - before
