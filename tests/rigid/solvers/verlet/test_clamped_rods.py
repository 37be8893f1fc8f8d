"""Bodies of "verlet" that hold the ends of rods."""

import math

import numpy as np
import pytest
from marks import slow

import pbd
import rigid
from pbd import build

LENGTH, SEGMENTS = 1.0, 20
SIZE, MASS = (0.1, 0.06, 0.04), 0.5
OPTIONS = {"dt": 1 / 60, "substeps": 16, "iterations": 10, "contacts": False}
# Moments of the box (3,) [kg m²].
MOMENTS = MASS / 12 * np.array([SIZE[1] ** 2 + SIZE[2] ** 2, SIZE[0] ** 2 + SIZE[2] ** 2, SIZE[0] ** 2 + SIZE[1] ** 2])


def hanging_body(young, radius, spin, **options):
    """A box that hangs on a rod of density 1000 kg/m³ and spins about it. Returns: solver, Rod."""
    particles = pbd.Particles()
    rod = build.rod(
        particles, [(0, 0, 2), (0, 0, 2 - LENGTH)], SEGMENTS, radius=radius, density=1000, young=young, poisson=0.3,
        clamps="start",
    )  # fmt: skip
    model = rigid.Model()
    position = (0, 0, 2 - LENGTH - SIZE[2] / 2)
    body = model.add_box(SIZE, mass=MASS, position=position, angular_velocity=(0, 0, spin))
    given = {"particles": particles, "clamps": [(rod, "end", body)], **OPTIONS, **options}
    return rigid.solver("verlet", model, **given), rod


def crossings_of_zero(times, values):
    """Times at which values change their sign, between two of them."""
    k = np.flatnonzero(values[:-1] * values[1:] < 0)
    return times[k] - values[k] / (values[k + 1] - values[k]) * (times[k + 1] - times[k])


@pytest.mark.parametrize(("young", "radius", "contacts"), [(2e9, 2e-3, True), slow(2e11, 1e-3, False)])
def test_a_body_on_a_rod_is_a_torsion_pendulum(young, radius, contacts):
    """ω = √(GJ/(L I)) within 0.5 %, and the rod is longer by (m + m_rod/2) g L/EA (to 1 %: half its elements')."""
    solver, rod = hanging_body(young, radius, spin=1.0, contacts=contacts)  # the end does not touch the body
    angles = []
    for _ in range(150):
        solver.step(1)
        w, _x, _y, z = solver.state().rotation[0]
        angles.append(2 * math.atan2(z, w))
    times = (np.arange(150) + 1) / 60
    measured = math.pi / np.diff(crossings_of_zero(times, np.array(angles))).mean()
    shear, area = young / 2.6, math.pi * radius**2
    expected = math.sqrt(shear * math.pi * radius**4 / 2 / (LENGTH * MOMENTS[2]))
    assert measured == pytest.approx(expected, rel=5e-3)
    stretch = 2 - LENGTH - solver.particle_positions()[rod.particles[-1], 2]
    load = MASS + 1000 * area * LENGTH / 2
    assert stretch == pytest.approx(load * 9.81 * LENGTH / (young * area), rel=1e-2)


def test_joint_forces_are_refused_beside_clamps():
    """Forces of clamps are not accumulated."""
    solver, _ = hanging_body(2e9, 2e-3, spin=0.0)
    with pytest.raises(NotImplementedError, match="attached"):
        solver.joint_forces()


def test_two_bodies_at_the_ends_of_a_rod_keep_momentum():
    """Without gravity, linear momentum stays to round-off, and angular momentum as far as iterations converge."""
    particles = pbd.Particles(gravity=(0, 0, 0))
    rod = build.rod(particles, [(0, 0, 0), (1, 0, 0)], 10, radius=0.005, density=1000, young=1e7)
    model = rigid.Model(gravity=(0, 0, 0))
    first = model.add_box(SIZE, mass=MASS, position=(-0.05, 0, 0), velocity=(0, 1, 0.2), angular_velocity=(1, 0, 0))
    second = model.add_box(SIZE, mass=MASS, position=(1.05, 0, 0), velocity=(0, -1, 0), angular_velocity=(-1, 0, 0.5))
    clamps = [(rod, "start", first), (rod, "end", second)]
    solver = rigid.solver("verlet", model, particles=particles, clamps=clamps, **{**OPTIONS, "iterations": 20})
    system = solver.particle_system
    masses = system.particles.masses()
    solver.step(1)
    before = momenta(masses, system)
    solver.step(60)
    after = momenta(masses, system)
    # Each of 960 x 20 iterations rounds stiff elements' impulses off: 1e-16 of some 1 kg m/s each, at random 1e-14.
    assert np.abs(after[0] - before[0]).max() < 1e-11
    # Iterations leave a part of the impulses of the rod, see `statistics().imbalance`.
    assert np.abs(after[1] - before[1]).max() < 1e-5 * np.linalg.norm(before[1])


def momenta(masses, system):
    """Linear and angular momentum (3,) each."""
    x, v = system.positions(), system.velocities()
    # Velocities are those of the middle of the last step, positions those of its end: half a step apart along v.
    return (masses[:, None] * v).sum(axis=0), np.cross(x, masses[:, None] * v).sum(axis=0)


@pytest.mark.parametrize(
    ("clamps", "message"),
    [
        (lambda rod: [(rod, "middle", 0)], "end in clamps is 'middle'"),
        (lambda rod: [("rod", "end", 0)], "expected a pbd.build.Rod"),
        (lambda rod: [(rod, "end", 3)], "body of a clamp"),
        (lambda rod: [(rod, "end")], "expected"),
        (lambda rod: [(rod, "end", rigid.GROUND)], "rigid.GROUND"),
        (lambda rod: [(rod, "start", 0)], "clamped twice"),
        (lambda rod: [(rod, "end", 0), (rod, "end", 0)], "clamped twice"),
        (lambda rod: [(build.rod(pbd.Particles(), [(0, 0, 0), (1, 0, 0)], radius=1, density=1, young=1), "end", 0)],
         "none of particles"),
    ],
)
def test_bad_clamps_are_refused(clamps, message):
    """One line says what was given, and what is expected."""
    particles = pbd.Particles()
    rod = build.rod(particles, [(0, 0, 0), (1, 0, 0)], 4, radius=0.005, density=1000, young=1e7, clamps="start")
    model = rigid.Model()
    model.add_box(SIZE, mass=MASS)
    with pytest.raises((TypeError, ValueError, IndexError), match=message):
        rigid.solver("verlet", model, particles=particles, clamps=clamps(rod))
