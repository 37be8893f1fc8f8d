"""Particles and bodies in one system of the solver verlet: cloth that carries or follows bodies, and impacts."""

import numpy as np
import pytest
from described import FAR, momenta_of_particles

import pbd
import rigid
from pbd.build import cloth


def trampoline(radius=0.02):
    """A square cloth with a pinned border, at a height of one metre."""
    particles = pbd.Particles()
    piece = cloth(
        particles, (-0.6, -0.6, 1.0), (1.2, 0, 0), (0, 1.2, 0), (25, 25), density=2.0, bending=None, pins=(),
        thickness=2 * radius,
    )  # fmt: skip
    border = np.abs(particles.positions()[:, :2]).max(axis=1) > 0.599
    particles.pin(np.flatnonzero(border))
    return particles, piece


@pytest.mark.slow
def test_crate_rests_on_a_cloth():
    particles, _ = trampoline()
    model = rigid.Model()
    model.add_box((0.3, 0.3, 0.2), mass=1.0, position=(0, 0, 1.4), friction=0.6)
    solver = rigid.solver(
        "verlet", model, particles=particles, dt=1 / 60, substeps=8, iterations=20, direction="current", damping=0.02
    )
    solver.step(300)
    state = solver.state()
    assert 0.7 < state.position[0, 2] < 1.13
    assert np.abs(state.velocity).max() < 0.05
    sheet = solver.particle_positions()
    inside = (np.abs(sheet[:, :2] - state.position[0, :2]).max(axis=1) < 0.12)
    assert inside.sum() > 10
    assert (sheet[inside, 2] < state.position[0, 2] - 0.08).all()  # the cloth is below the crate


@pytest.mark.slow
def test_contact_of_particle_and_body_conserves_momentum():
    # Linear and angular momentum of a fast particle and the body that it hits off centre.
    particles = pbd.Particles(gravity=(0, 0, 0))
    particles.add_particle((0.1, 0.05, 0.5), mass=0.3, velocity=(0, 0, -5), radius=0.02)
    model = rigid.Model(gravity=(0, 0, 0))
    model.add_box((0.4, 0.3, 0.2), mass=2.0, friction=0.5, angular_velocity=(0, 1, 2))
    model.add_box((0.4, 0.3, 0.2), mass=2.0, position=(0, 0, -1))
    model.add_ground(-FAR)
    solver = rigid.solver("verlet", model, particles=particles, dt=0.002, iterations=50)
    solver.step()
    before = momenta_of_particles(solver)
    solver.step(120)
    now = momenta_of_particles(solver)
    assert solver.state().velocity[0, 2] < -0.1
    for a, b in zip(now, before):
        assert np.abs(a - b).max() < 1e-12


def test_attached_cloth_follows_its_body():
    particles = pbd.Particles(gravity=(0, 0, 0))
    piece = cloth(particles, (0, 0, 0.1), (0.3, 0, 0), (0, 0.3, 0), (7, 7), density=2.0, bending=None, pins=())
    corner = piece.particles[:7]
    model = rigid.Model(gravity=(0, 0, 0))
    body = model.add_box(
        (0.4, 0.2, 0.2), mass=3.0, position=(0.1, -0.05, 0), velocity=(0.5, 0, 0), angular_velocity=(0, 0, 2)
    )
    solver = rigid.solver(
        "verlet", model, particles=particles, attachments=[(corner, body)], dt=1 / 240, iterations=60
    )
    arms = particles.positions()[corner] - model.bodies[0].position
    local = rigid.rotation.rotate_back(model.bodies[0].rotation, arms)
    linear = momenta_of_particles(solver)[0]
    solver.step(240)
    state = solver.state()
    there = state.position[0] + rigid.rotation.rotate(state.rotation[0], local)
    assert np.abs(solver.particle_positions()[corner] - there).max() < 1e-3
    assert np.abs(momenta_of_particles(solver)[0] - linear).max() < 1e-11  # cloth and body apply opposite forces
    assert abs(state.velocity[0, 0] - 0.5) > 1e-3


def test_particles_with_another_gravity_than_the_model_are_refused():
    model = rigid.Model()
    model.add_sphere(0.1, mass=1.0)
    particles = pbd.Particles(gravity=(0, 0, 0))
    particles.add_particle((0, 0, 0))
    with pytest.raises(ValueError, match=r"gravity is .* in the model and .* for its particles"):
        rigid.solver("verlet", model, particles=particles)
