"""Measured values of runs, compared with known values."""

import numpy as np
import pytest

import pbd
import rigid
import scenes
from rigid.collision.overlaps import Overlaps
from scenes.comparison.measure import UNITS, read

g = 9.81


def scene_of(model=None, particles=None, attachments=(), **settings):
    settings = {solver: {"dt": 0.01, **settings.get(solver, {})} for solver in ("verlet", *settings)}
    return scenes.Scene(particles, model, attachments, duration=0.5, settings=settings, name="own")


@pytest.mark.parametrize("solver", rigid.SOLVERS)
def test_chain_is_measured_in_the_same_way_for_all_solvers(solver):
    running = scenes.Run(scenes.load("five_link_chain"), solver, duration=0.2)
    start = read(running)
    # 5 rods of 1 kg at 2.8 m, at rest and without gaps. Pinned particles of frames do not count.
    pinned = 0.0
    if solver == "verlet":
        pinned = running.system.frames[0][0].masses[4:6].sum()
    # Within g h², because the energy is that of the middle of a substep.
    h = running.system.dt / running.system.substeps
    assert start["potential"] == pytest.approx((5 - pinned) * g * 2.8, rel=g * h**2 / 2.8)
    assert start["total"] == pytest.approx(start["potential"], rel=g * h**2 / 2.8)
    for name in ("joint_gap", "joint_turn", "limit_violation"):
        assert start[name] == pytest.approx(0, abs=1e-8)
    assert "penetration" not in start  # these rods have no shapes
    running.step(20)
    found = read(running)
    assert set(found) <= set(UNITS)
    energy, statistics, state = running.system.energy(), running.system.statistics(), running.system.state()
    for name in ("kinetic", "potential", "total"):
        assert found[name] == getattr(energy, name)
    for name in ("iterations", "residual", "contacts"):
        assert found[name] == getattr(statistics, name)
    assert found["linear_momentum"] == pytest.approx(state.velocity.sum(axis=0), rel=1e-12)  # 1 kg each
    # Coordinates keep joints closed, impulses correct them, iterations and springs leave an error.
    assert 0 <= found["joint_gap"] < {"articulated": 1e-12, "impulse": 1e-5}.get(solver, 1e-3)


@pytest.mark.slow
def test_momenta_include_particles_and_bodies():
    model = rigid.Model(gravity=(0, 0, 0))
    inertia, spin = (0.2, 0.3, 0.4), (0, 0, 5)
    model.add_body(mass=2.0, inertia=inertia, position=(1, 0, 0), velocity=(0, 3, 0), angular_velocity=spin)
    particles = pbd.Particles(gravity=(0, 0, 0))
    particles.add_particle((0, 2, 0), mass=0.5, velocity=(4, 0, 0))
    particles.add_particle((0, 9, 0), mass=np.inf)
    running = scenes.Run(scene_of(model, particles), "verlet")
    for _ in range(2):
        found = read(running)
        assert found["linear_momentum"] == pytest.approx((2, 6, 0), abs=1e-9)
        # Σ m x × v + I ω = 2 (1·3) + 0.4·5 - 0.5 (2·4)
        assert found["angular_momentum"] == pytest.approx((0, 0, 6 + 2 - 4), abs=1e-9)
        # Velocities from positions have an error of order (ω h)².
        assert found["kinetic"] == pytest.approx(0.5 * (2 * 9 + 0.4 * 25 + 0.5 * 16), rel=(5 * 0.01) ** 2)
        assert "sticks" not in found
        running.step(3)


def test_stretch_of_sticks_strings_and_struts():
    particles = pbd.Particles(gravity=(0, 0, 0))
    particles.add_particles([(0, 0, 0), (1, 0, 0), (0, 2, 0), (0, 0, 4), (5, 5, 5), (6, 5, 5)])
    particles.pin([4, 5])
    particles.add_stick(0, 1, length=0.8)  # longer by a quarter
    particles.add_stick(0, 2, length=1.5, bound="at_least")  # can be longer
    particles.add_stick(0, 3, length=2.0, compliance=1.0)  # compliant
    particles.add_stick(4, 5, length=0.1)  # between pinned particles
    assert read(scenes.Run(scene_of(particles=particles)))["sticks"] == pytest.approx(0.25)
    particles.add_stick(0, 2, length=1.5, bound="at_most")  # longer by a third
    assert read(scenes.Run(scene_of(particles=particles)))["sticks"] == pytest.approx(1 / 3)


def test_overlaps_are_read_from_poses():
    model = rigid.Model()
    model.add_ground()
    low = model.add_sphere(0.5, mass=1.0, position=(0, 0, 0.5))
    model.add_sphere(0.5, mass=1.0, position=(0, 0, 1.5))
    overlaps, state = Overlaps(model), model.initial_state()
    assert overlaps.depth(state) == pytest.approx(0, abs=1e-12)
    state.position[low] = 0, 0, 0.48
    assert overlaps.depth(state) == pytest.approx(0.02, abs=1e-12)
    state.position[low] = 0, 0.6, 0.7  # |(0, 0.6, -0.8)| = 1: they touch, and the ground is below
    assert overlaps.depth(state) == pytest.approx(0, abs=1e-12)
    state.position[low] = 0, 0.3, 1.1  # |(0, 0.3, -0.4)| = 0.5
    assert overlaps.depth(state) == pytest.approx(0.5, abs=1e-12)


def test_bodies_that_cannot_touch_do_not_overlap():
    model = rigid.Model()
    model.add_ground()
    model.add_sphere(0.5, mass=1.0, position=(0, 0, 0.2))
    settings = {"impulse": {"contacts": True}, "verlet": {"contacts": False}}
    scene = scene_of(model, **settings)
    assert scenes.Run(scene, "verlet").overlaps is None
    assert "penetration" not in read(scenes.Run(scene, "verlet"))
    assert read(scenes.Run(scene, "impulse"))["penetration"] == pytest.approx(0.3)
