"""Contacts of the direct solve with colliders and boxes: ropes over bars, chains on floors."""

import warnings

import numpy as np
import pytest

import pbd
import rigid
from pbd import build
from pbd.direct.touch_tables import touching_particles

GRAVITY = 9.81
BAR, ROPE = 0.1, 0.005  # radii [m]
HANG = 0.6  # length of rope on each side [m]


def add_bar_aside(particles):
    """Add a bar that touches nothing, so that ropes on planes share the kernel of ropes over a bar."""
    particles.add_collider(pbd.Cylinder(BAR, start=(0, -1, -50), end=(0, 1, -50)))


def over_a_bar(particles, mass, segments, friction=0.0, **more):
    """A rope over a bar along y, whose ends hang down on both sides."""
    radius = BAR + ROPE
    angles = np.linspace(0, np.pi, 601)
    arc = np.stack([-radius * np.cos(angles), 0 * angles, radius * np.sin(angles)], axis=1)
    points = [(-radius, 0, -HANG), *arc, (radius, 0, -HANG)]
    rope = build.rope(particles, points, segments, mass=mass, radius=ROPE, **more)
    particles.add_collider(pbd.Cylinder(BAR, start=(0, -1, 0), end=(0, 1, 0)), friction=friction)
    return rope


def atwood(first, second, rope_mass, segments, friction=0.0, **options):
    """A solver of two weights on a rope over a bar. They have no shapes, see tests/ropes.py."""
    particles, model = pbd.Particles(), rigid.Model()
    rope = over_a_bar(particles, rope_mass, segments, friction)
    ends = []
    for mass, side in ((first, -1), (second, 1)):
        place = side * (BAR + ROPE), 0, -HANG - 0.05
        ends.append(model.add_body(mass=mass, inertia=(mass / 600,) * 3, position=place))
    attachments = [(rope.particles[:1], ends[0]), (rope.particles[-1:], ends[1])]
    return rigid.solver("verlet", model, particles=particles, attachments=attachments, dt=1 / 60, **options)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("first", "second", "share", "segments"),
    [(3, 2, 0.01, 50), (3, 2, 1.0, 200), (10, 1, 0.3, 90), (3, 2, 0.1, 33), (7, 6, 0.05, 140)],
)
def test_atwoods_machine_over_a_bar(first, second, share, segments):
    # x'' = ((m1 - m2) + 2 λ x) g / M,  x = (m1 - m2)/2λ (cosh(√(2 λ g/M) t) - 1),  with λ the rope's mass by its length
    # and M all masses. The rope is a polygon: its bumps on the bar change x by less than the sagitta of a segment.
    rope_mass = share * (first + second)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        solver = atwood(first, second, rope_mass, segments)
        before, x = solver.state().position[:, 2], solver.particle_positions()
        solver.step(24)
    length, total = np.pi * (BAR + ROPE) + 2 * HANG, first + second + rope_mass
    density = rope_mass / length
    rate = np.sqrt(2 * density * GRAVITY / total)
    fall = (first - second) / (2 * density) * (np.cosh(rate * solver.time) - 1)
    moved = solver.state().position[:, 2] - before
    np.testing.assert_allclose(moved, [-fall, fall], rtol=0.03)
    lengths = [np.linalg.norm(np.diff(each, axis=0), axis=1) for each in (x, solver.particle_positions())]
    np.testing.assert_allclose(lengths[1], lengths[0], rtol=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize(("mass", "rope_mass", "segments"), [(1, 2.0, 20), (5, 0.2, 50), (5, 0.1, 200), (1, 0.1, 81)])
def test_equal_weights_over_a_bar_stay(mass, rope_mass, segments):
    # Nothing moves. The polygon of the rope settles by less than the sagitta of a segment, l²/8R. The weights swing
    # about where they hang then, so by up to twice as much.
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        solver = atwood(mass, mass, rope_mass, segments)
        before = solver.state().position
        solver.step(60)
    sagitta = ((np.pi * (BAR + ROPE) + 2 * HANG) / segments) ** 2 / (8 * (BAR + ROPE))
    assert np.abs(solver.state().position - before).max() < 2 * sagitta


@pytest.mark.slow
@pytest.mark.parametrize("friction", [0.1, 0.3, 0.5])
def test_capstan(friction):
    # Friction holds weights with a ratio up to exp(μπ). Above, a light rope has T1 = T2 exp(μπ), so that
    # a = g (m1 - m2 e)/(m1 + m2 e).
    limit = np.exp(friction * np.pi)
    held = atwood(0.93 * limit, 1.0, 0.02, 60, friction)
    before = held.state().position[:, 2]
    held.step(60)
    np.testing.assert_allclose(held.state().position[:, 2], before, atol=1e-3)
    ratio = 1.5 * limit
    slips = atwood(ratio, 1.0, 0.02, 60, friction)
    before = slips.state().position[:, 2]
    slips.step(24)
    fall = GRAVITY * (ratio - limit) / (ratio + limit) * slips.time**2 / 2
    np.testing.assert_allclose(slips.state().position[:, 2] - before, [-fall, fall], rtol=0.06)


@pytest.mark.parametrize(("weight", "mass"), [(1.0, 1.0), (1.0, 0.1), (1.0, 0.005), (10.0, 0.1), (3.0, 0.02)])
def test_a_weight_on_a_rope_over_a_bar_stays(weight, mass):
    # One end is tied. The rope cannot stretch, so the weight stays within the sagitta of a segment.
    particles = pbd.Particles()
    over_a_bar(particles, mass, 60, weight=weight, pins=("start",))
    system = pbd.ParticleSystem(particles, substeps=10, solve="direct")
    before = system.positions()
    for _ in range(60):
        system.step()
        assert np.abs(system.velocities()).max() < 0.2
    assert abs(system.positions()[-1, 2] - before[-1, 2]) < 1e-3


@pytest.mark.slow
@pytest.mark.parametrize("direction", ["start", "current"])
def test_a_smooth_bar_takes_no_energy(direction):
    # Normals that lag behind the motion would brake it as friction does: of 0.8°, by 4 % of the work of gravity.
    particles = pbd.Particles()
    rope = over_a_bar(particles, 0.05, 80, weight=2.0)
    system = pbd.ParticleSystem(particles, dt=1 / 960, solve="direct", direction=direction, iterations=30)
    system.set_masses(rope.particles[:1], 3.0)
    start = system.energy()
    system.step(288)
    end = system.energy()
    assert abs(end.total - start.total) < 0.01 * end.kinetic


@pytest.mark.parametrize(("slope", "holds"), [(0.25, True), (0.45, False)])
def test_a_chain_on_a_slope(slope, holds):
    # μ = 0.4 holds a chain along the slope while tan θ <= μ; beyond, it slides with a = g (sin θ - μ cos θ).
    friction, angle = 0.4, np.arctan(slope)
    down = np.array([np.cos(angle), 0, -np.sin(angle)])
    normal = np.array([np.sin(angle), 0, np.cos(angle)])
    particles = pbd.Particles()
    build.rope(particles, [0.01 * normal, 0.01 * normal + down], 20, mass=0.3, radius=0.01)
    particles.add_collider(pbd.Plane(normal=normal), friction=friction)
    add_bar_aside(particles)
    system = pbd.ParticleSystem(particles, substeps=4, solve="direct")
    before = system.positions()
    system.step(60)
    moved = (system.positions() - before) @ down
    expected = 0.0 if holds else GRAVITY * (np.sin(angle) - friction * np.cos(angle)) * system.time**2 / 2
    # Friction takes the normal impulse of the iteration before. In the first substeps, each iteration leaves the part
    # tan θ/μ of the slip of the one before, so the chain slides by about g h².
    h = 1 / 240
    np.testing.assert_allclose(moved, expected, rtol=0.01, atol=2 * GRAVITY * h**2)


def test_a_rope_in_a_corner_touches_two_colliders():
    # Each particle of a straight rope along a groove of two planes rests on both: its height is that of the groove.
    particles = pbd.Particles()
    build.rope(particles, [(0, 0, 0.3), (1, 0, 0.3)], 20, mass=0.2, radius=0.01)
    for side in (-1, 1):
        particles.add_collider(pbd.Plane(normal=(0, side, 1)))
    add_bar_aside(particles)
    system = pbd.ParticleSystem(particles, substeps=4, solve="direct")
    system.step(120)
    np.testing.assert_allclose(system.positions()[:, 2], 0.01 * np.sqrt(2), atol=1e-6)
    assert np.abs(system.velocities()).max() < 1e-6


@pytest.mark.slow
@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize(("floor", "wall"), [(0.5, 0.2), (0.2, 0.5), (0.5, 0.0), (0.0, 0.5)])
def test_a_particle_between_a_floor_and_a_moving_wall(floor, wall, order):
    # Gravity presses two particles on a stick equally against a fixed floor and a wall that moves along both with
    # v = 0.5 m/s. The larger friction holds: they rest on the floor, or reach v in v/a with a = g (μ_wall - μ_floor).
    # So they lag by v²/2a. Semi-implicit steps move them by up to v h/2 more.
    particles, radius, speed = pbd.Particles(gravity=(0, -GRAVITY, -GRAVITY)), 0.01, 0.5
    for x in (0, 0.1):
        particles.add_particle((x, radius, radius), mass=1.0, radius=radius)
    particles.add_stick(0, 1)
    surfaces = [
        {"shape": pbd.Plane(), "friction": floor},
        {"shape": pbd.Plane(normal=(0, 1, 0)), "friction": wall, "motion": lambda time: (speed * time, 0, 0)},
    ]
    for surface in surfaces[::order]:
        particles.add_collider(**surface)
    system = pbd.ParticleSystem(particles, solve="direct")
    before = system.positions()
    system.step(60)
    expected, tolerance = 0.0, 1e-5  # what sticks creeps by less than 1e-7 of the stick in an iteration
    if wall > floor:
        expected = speed * system.time - speed**2 / (2 * GRAVITY * (wall - floor))
        tolerance = 1.01 * speed / 60 / 2
    np.testing.assert_allclose(system.positions() - before, [(expected, 0, 0)] * 2, atol=tolerance)


def test_particles_that_touch_in_any_world_are_found():
    # Only particles with a radius touch fixed shapes of step hooks.
    particles = pbd.Particles()
    build.rope(particles, [(0, 0, 0), (1, 0, 0)], 3, mass=0.1)
    plan = pbd.ParticleSystem(particles, solve="direct").direct
    radii = np.array([[0.0, 0.0, 0.01, 0.0], [0.02, 0.0, 0.0, 0.0]])
    assert touching_particles(plan, particles, radii, fixed_shapes=True).tolist() == [0, 2]


@pytest.mark.slow
def test_contacts_continue_from_a_state_and_in_lanes():
    def system(**more):
        particles = pbd.Particles()
        over_a_bar(particles, 0.1, 40, 0.2, weight=1.3)
        particles.add_box((-1, -1, -0.7), (1, 1, 1), friction=0.5)
        return pbd.ParticleSystem(particles, substeps=2, solve="direct", **more)

    whole, worlds = system(), system(worlds=4, lanes=4)
    whole.step(10)
    rest = system()
    rest.set_state(whole.state())
    for each in (whole, rest):
        each.step(40)
    worlds.step(50)
    assert rest.digest() == whole.digest()
    assert (worlds.positions() == whole.positions()).all()


def test_auto_iterates_what_touches_itself():
    # Contacts between particles are projected between direct solves, which a rope under tension would not survive.
    def system(contacts):
        particles = pbd.Particles()
        build.rope(particles, [(0, 0, 0), (1, 0, 0)], 20, mass=0.1, radius=0.01, pins=("start",))
        if contacts:
            particles.add_particle_contacts()
        return pbd.ParticleSystem(particles, solve="auto")

    assert system(False).statistics().direct == 20
    touching = system(True)
    assert touching.statistics().direct == 0
    assert "touch one another" in touching.direct.notes[0]


def test_a_run_repeats_its_bits_after_it_had_contacts():
    # A state has no friction forces: those of a contact that is not there any more must not act on.
    particles = pbd.Particles()
    points = particles.add_particles([(0.05 * k, 0, 0) for k in range(30)], mass=0.01, radius=0.01)
    particles.pin(points[0])
    weight = particles.add_particle((1.5, 0, 0), mass=2.0)
    for pair in zip(points, [*points[1:], weight]):
        particles.add_stick(*pair)
    particles.add_collider(pbd.Sphere(0.2, centre=(0.7, 0, -0.35)), friction=0.5)
    system = pbd.ParticleSystem(particles, dt=1 / 60, substeps=4, solve="direct")
    system.step(5)
    state = system.state()
    digests = []
    for _ in range(2):
        system.set_state(state)
        system.step(40)
        digests.append(system.digest())
    assert np.linalg.norm(system.positions()[:, [0, 2]] - [0.7, -0.35], axis=1).min() < 0.22  # it touches
    assert digests[0] == digests[1]
