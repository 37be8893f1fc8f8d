"""The table "what touches what" of the guide on contacts: each of its rows is tried by a small system.

Something comes from above at 1 m/s to something below, and stays above it if they touch. Without contact it falls on,
to -1.6 m.
"""

import re

import numpy as np
import pytest
import trimesh
from documents import ROOT
from marks import cases

import pbd
import rigid

GUIDE = ROOT / "docs" / "guides" / "contacts.md"
DOWN = (0, 0, -1.0)
SQUARE = np.array([(-1, -1, 0), (1, -1, 0), (1, 1, 0), (-1, 1, 0)], float)
HALVES = np.array([(0, 1, 2), (0, 2, 3)])
STEPS, DT = 50, 0.01


def stays_above(particles, falling):
    """Whether falling particles are above the plane z = 0 after half a second, or in it."""
    system = pbd.ParticleSystem(particles, dt=DT, substeps=4, iterations=4)
    system.step(STEPS)
    return system.positions()[falling, 2].mean() > -1e-3


def particle_and_collider():
    particles = pbd.Particles()
    particles.add_collider(pbd.Plane())
    return stays_above(particles, [particles.add_particle((0, 0, 0.1), 1.0, DOWN, radius=0.02)])


def add_square(particles, height, mass, velocity=(0, 0, 0), size=1.0):
    corners = particles.add_particles(SQUARE * size + (0, 0, height), mass, velocity)
    for a, b in ((0, 1), (1, 2), (2, 3), (3, 0), (0, 2)):
        particles.add_stick(corners[a], corners[b])
    return corners


def surface_and_rope():
    particles = pbd.Particles()
    below = add_square(particles, 0.0, np.inf)
    particles.add_surface(below[HALVES], thickness=0.02)
    rope = particles.add_particles([(-0.3, 0.1, 0.1), (0.3, 0.2, 0.1)], 1.0, DOWN)
    particles.add_stick(*rope)
    particles.add_segments([rope], radius=0.01)
    sheet = add_square(particles, 0.15, 1.0, DOWN, size=0.2)
    particles.add_surface(sheet[HALVES], thickness=0.02)
    return stays_above(particles, [*rope, *sheet]) and surface_and_itself()


def surface_and_collider():
    particles = pbd.Particles()
    particles.add_collider(pbd.Sphere(0.05, centre=(0, 0, -0.05)), friction=1.0)
    rope = particles.add_particles([(-0.3, 0, 0.1), (0.3, 0, 0.1)], 1.0, DOWN)
    particles.add_stick(*rope)
    particles.add_segments([rope], radius=0.01)
    sheet = particles.add_particles([(0.4, 0, 0.3), (-0.2, 0.3, 0.3), (-0.2, -0.3, 0.3)], 1.0, DOWN)
    for a, b in ((0, 1), (1, 2), (2, 0)):
        particles.add_stick(sheet[a], sheet[b])
    particles.add_surface([sheet], thickness=0.02)
    return stays_above(particles, [*rope, *sheet])


def surface_and_itself():
    particles = pbd.Particles()
    below, above = add_square(particles, 0.0, np.inf), add_square(particles, 0.1, 1.0, DOWN, size=0.2)
    particles.add_surface(np.concatenate([below[HALVES], above[HALVES]]), thickness=0.02)
    return stays_above(particles, above)


def surface_and_deforming_mesh():
    particles = pbd.Particles()
    particles.add_collider(pbd.DeformingMesh(HALVES, lambda t: SQUARE, thickness=0.02))
    sheet = add_square(particles, 0.1, 1.0, DOWN, size=0.2)
    particles.add_surface(sheet[HALVES], thickness=0.02)
    return stays_above(particles, sheet)


def particle_and_box():
    particles = pbd.Particles()
    particles.add_box((-1, -1, 0), (1, 1, 1))
    return stays_above(particles, [particles.add_particle((0, 0, 0.1), 1.0, DOWN)])


def particle_and_particle():
    particles = pbd.Particles()
    particles.add_particle((0, 0, -0.05), np.inf, radius=0.05)
    falling = particles.add_particle((0, 0, 0.2), 1.0, DOWN, radius=0.05)
    always_on = stays_above(particles, [falling])
    particles.add_particle_contacts()
    return stays_above(particles, [falling]) and not always_on


def element_and_collider():
    particles = pbd.Particles()
    particles.add_collider(pbd.Sphere(0.05, centre=(0, 0, -0.05)))
    ends = particles.add_particles([(-0.3, 0, 0.1), (0.3, 0, 0.1)], 1.0, DOWN)
    particles.add_stick(*ends)
    particles.add_element_contacts([ends], radius=0.01)
    return stays_above(particles, ends)


def model_with(shape):
    """A model with a shape of the ground."""
    model = rigid.Model()
    model.add_shape(rigid.GROUND, shape)
    return model


def body_stays_above(model, body, name):
    solver = rigid.solver(name, model, dt=1e-3 if name == "penalty" else DT)
    solver.step(round(STEPS * DT / solver.dt))
    return solver.state().position[body, 2] > 0.0


def each_solver(make):
    """Whether a body stays above with all solvers. Args: make: a function that returns a model and the body."""
    return all(body_stays_above(*make(), name) for name in ("verlet", "impulse", "articulated", "penalty"))


def body_and_body():
    def make():
        model = model_with(rigid.Box((1, 1, 0.1), centre=(0, 0, -0.05)))
        return model, model.add_sphere(0.05, mass=1.0, position=(0, 0, 0.15), velocity=DOWN)

    return each_solver(make)


def body_and_mesh():
    def make():
        model = model_with(rigid.Mesh((SQUARE, HALVES)))
        return model, model.add_sphere(0.05, mass=1.0, position=(0.1, 0.2, 0.15), velocity=DOWN)

    return each_solver(make)


def mesh_and_mesh():
    model = model_with(rigid.Mesh((SQUARE, HALVES)))
    ball = trimesh.creation.icosphere(1, 0.1)
    body = model.add_body(mass=1.0, inertia=(0.01, 0.01, 0.01), position=(0, 0, 0.3), velocity=DOWN)
    model.add_shape(body, rigid.Mesh((ball.vertices, ball.faces)))
    with pytest.raises((ValueError, NotImplementedError), match=r"(?i)mesh"):
        rigid.solver("impulse", model)
    particles = pbd.Particles()
    particles.add_particle((0, 0, 1), 1.0, radius=0.05)
    with pytest.raises((ValueError, NotImplementedError), match=r"(?i)mesh"):
        rigid.solver("verlet", model_with(rigid.Mesh((SQUARE, HALVES))), particles=particles)
    return False


def body_and_particle():
    model = model_with(rigid.Box((1, 1, 0.1), centre=(0, 0, -0.05)))
    particles = pbd.Particles()
    falling = particles.add_particle((0, 0, 0.1), 1.0, DOWN, radius=0.02)
    solver = rigid.solver("verlet", model, dt=DT, particles=particles)
    solver.step(STEPS)
    return solver.particle_system.positions()[falling, 2] > 0.0


def body_and_surface():
    model, particles = rigid.Model(), pbd.Particles()
    below = add_square(particles, 0.0, np.inf)
    particles.add_surface(below[HALVES], thickness=0.02)
    body = model.add_sphere(0.05, mass=1.0, position=(0.1, 0.2, 0.15), velocity=DOWN)
    beside = model.add_sphere(0.05, mass=1.0, position=(1.2, 0.2, 0.15), velocity=DOWN)
    solver = rigid.solver("verlet", model, dt=DT, particles=particles)
    solver.step(STEPS)
    heights = solver.state().position[:, 2]
    return heights[body] > 0.0 > heights[beside]


def collider_and_collider():
    particles = pbd.Particles()
    particles.add_collider(pbd.Plane())
    particles.add_collider(pbd.Sphere(0.1), motion=lambda t: (0, 0, 0.2 - t))  # follows its path through the plane
    particles.add_particle((3, 0, 1), 1.0)
    system = pbd.ParticleSystem(particles, dt=DT)
    system.step(STEPS)
    return system.collider_poses()[1, 2] > -0.02


LONG = ("body and body", "body and mesh", "body and surface or rope")  # whose kernels compile longest

# By the first column of the table.
ROWS = {
    "particle and collider": particle_and_collider,
    "particle and box around it": particle_and_box,
    "surface or rope and surface or rope, and each with itself": surface_and_rope,
    "surface or rope and collider": surface_and_collider,
    "surface or rope and a mesh whose points you give over time": surface_and_deforming_mesh,
    "particle and particle: cloth with itself, soft bodies": particle_and_particle,
    "stick, triangle, tetrahedron and collider": element_and_collider,
    "body and body": body_and_body,
    "body and mesh": body_and_mesh,
    "mesh and mesh; mesh and particle": mesh_and_mesh,
    "body and particle": body_and_particle,
    "body and surface or rope": body_and_surface,
    "collider and collider": collider_and_collider,
}


def table():
    """The rows of the guide's table: {pair: how}."""
    rows = re.findall(r"^\| ([^|]+) \| ([^|]+) \| [^|]+ \|$", GUIDE.read_text(encoding="utf-8"), re.MULTILINE)
    return {pair: how for pair, how in rows if pair not in ("pair", "---")}


def test_each_row_is_tried():
    assert list(table()) == list(ROWS)


@pytest.mark.parametrize("pair", cases(ROWS, slow=LONG))
def test_the_table_is_true(pair):
    assert ROWS[pair]() == (table()[pair] != "none")
