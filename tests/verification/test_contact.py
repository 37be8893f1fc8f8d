"""Colliders and boxes: Coulomb friction, Newton restitution, no particle leaves a box."""

import math

import numpy as np
import pytest

import pbd

g = 9.81


def on_a_slope(degrees, heading=0.0, dt=0.01, friction=0.5, shape="plane"):
    """A particle at rest on a slope. Args: heading: downhill direction [rad]."""
    angle = math.radians(degrees)
    normal = (math.sin(angle) * math.cos(heading), math.sin(angle) * math.sin(heading), math.cos(angle))
    particles = pbd.Particles(gravity=(0, 0, -g))
    particles.add_particle((0, 0, 0), mass=3.0)
    if shape == "plane":
        particles.add_collider(pbd.Plane(normal=normal), friction=friction)
    else:  # the upper face of a large box
        turn = np.array([math.cos(angle / 2), -math.sin(angle / 2) * math.sin(heading),
                         math.sin(angle / 2) * math.cos(heading), 0.0])  # fmt: skip
        solid = pbd.Box((500, 500, 100), centre=-50 * np.array(normal), rotation=turn)
        particles.add_collider(solid, friction=friction)
    return pbd.ParticleSystem(particles, dt=dt, iterations=4)


@pytest.mark.parametrize("shape", ["plane", "box"])
@pytest.mark.parametrize("heading", [0.0, 1.0, 2.5])
def test_below_the_friction_angle_a_particle_sticks(heading, shape):
    # Per step g h² sin θ along the slope against at most μ g h² cos θ: at rest while tan θ <= μ (26.565° for 0.5).
    system = on_a_slope(26, heading, shape=shape)
    start = system.positions()[0]
    system.step(1000)
    assert np.linalg.norm(system.positions()[0] - start) < 1e-6


@pytest.mark.parametrize("shape", ["plane", "box"])
def test_above_the_friction_angle_a_particle_slides_with_the_net_acceleration(shape):
    # a = g (sin 30° - 0.5 cos 30°) = 0.657145 m/s², exact in the discrete scheme: displacements per step grow by a h².
    system = on_a_slope(30, 1.0, shape=shape)
    system.step(1)
    steps = []
    for _ in range(100):
        before = system.positions()[0]
        system.step()
        steps.append(np.linalg.norm(system.positions()[0] - before))
    acceleration = np.diff(steps) / 0.01**2
    assert np.abs(acceleration - 0.657145).max() < 1e-6


def test_a_sliding_particle_stops_after_the_coulomb_distance():
    # v²/2μg, first order in h: within v0 h.
    particles = pbd.Particles(gravity=(0, 0, -g))
    particles.add_particle((0, 0, 0), velocity=(2.0, 1.0, 0))
    particles.add_collider(pbd.Plane(), friction=0.4)
    system = pbd.ParticleSystem(particles, dt=0.005)
    system.step(400)
    assert np.hypot(*system.positions()[0, :2]) == pytest.approx(5.0 / (2 * 0.4 * g), abs=math.sqrt(5) * 0.005)
    assert np.abs(system.velocities()).max() == 0.0


def apexes(restitution, dt, count, box=False):
    particles = pbd.Particles(gravity=(0, 0, -g))
    particles.add_particle((0, 0, 1.0))
    if box:
        particles.add_box((-1, -1, 0), (1, 1, 5), restitution=restitution)
    else:
        particles.add_collider(pbd.Plane(), restitution=restitution)
    system = pbd.ParticleSystem(particles, dt=dt)
    heights = [1.0, 1.0]
    found = [1.0]
    while len(found) <= count:
        system.step()
        heights.append(system.positions()[0, 2])
        if heights[-3] < heights[-2] >= heights[-1]:
            a, b, c = heights[-3:]  # the vertex of the parabola through three steps
            found.append(b + (c - a) ** 2 / (8 * (2 * b - a - c)))
    return np.array(found)


@pytest.mark.parametrize("box", [False, True])
def test_apex_heights_decrease_by_the_restitution_squared(box):
    # Each apex is e² times as high as the one before. The speed at impact is recovered from the step that passed the
    # surface, so the only error is round-off.
    found = apexes(0.7, 0.001, 4, box)
    assert np.abs(found[1:] / found[:-1] / 0.49 - 1).max() < 1e-6


def test_with_restitution_one_a_ball_keeps_its_energy():
    found = apexes(1.0, 0.01, 10)
    assert np.abs(found - 1).max() < 1e-9


@pytest.mark.parametrize("box", [False, True])
def test_a_bob_above_a_surface_does_not_bounce(box):
    # At rest 0.5 mm above the floor: the prediction is g h² = 0.98 mm lower, and the stick undoes it.
    particles = pbd.Particles(gravity=(0, 0, -g))
    particles.add_particles([(0, 0, 1), (0, 0, 0.0005)], mass=(math.inf, 1.0))
    particles.add_stick(0, 1)
    if box:
        particles.add_box((-1, -1, 0), (1, 1, 2), restitution=1.0, friction=0.5)
    else:
        particles.add_collider(pbd.Plane(), restitution=1.0, friction=0.5)
    system = pbd.ParticleSystem(particles, dt=0.01)
    system.step(100)
    assert np.abs(system.velocities()).max() < 1e-12
    assert system.statistics().contacts == 0


def test_a_ball_comes_to_rest():
    particles = pbd.Particles(gravity=(0, 0, -g))
    particles.add_particle((0, 0, 1.1), radius=0.1)
    particles.add_collider(pbd.Plane(), restitution=0.7, friction=0.5)
    system = pbd.ParticleSystem(particles, dt=0.01)
    system.step(1000)
    before = system.positions()
    system.step(10)
    assert np.array_equal(system.positions(), before)
    assert before[0, 2] == pytest.approx(0.1, abs=1e-15)


def test_friction_is_relative_to_a_moving_surface():
    # A belt at 1 m/s accelerates a particle by μ g to the velocity of the belt. Velocities are at the middle of the
    # step, hence t - h/2.
    particles = pbd.Particles(gravity=(0, 0, -g))
    particles.add_particle((0, 0, 0.0))
    belt = pbd.Box((1000, 10, 2), centre=(0, 0, -1))
    particles.add_collider(belt, friction=0.3, motion=lambda time: (time * 1.0, 0, -1))
    system = pbd.ParticleSystem(particles, dt=0.01)
    system.step(20)
    assert system.velocities()[0, 0] == pytest.approx(0.3 * g * (0.2 - 0.005), rel=1e-9)
    system.step(80)
    assert system.velocities()[0] == pytest.approx([1, 0, 0], abs=1e-9)


def test_a_rotating_surface_carries_a_particle():
    # A turntable with enough friction: the particle stays at its point of the table. Each step replaces an arc by its
    # chord, and rotates the correction by ω h too little: the error is ω³ r h² t, and a quarter of it at h/2.
    omega = 0.5

    def error(dt):
        particles = pbd.Particles(gravity=(0, 0, -g))
        particles.add_particle((1.0, 0, 0), velocity=(0, omega, 0))

        def motion(time):
            return (0, 0, -1), (math.cos(omega * time / 2), 0, 0, math.sin(omega * time / 2))

        particles.add_collider(pbd.Box((10, 10, 2), centre=(0, 0, -1)), friction=2.0, motion=motion)
        system = pbd.ParticleSystem(particles, dt=dt)
        system.step(round(4.0 / dt))
        return np.linalg.norm(system.positions()[0] - [math.cos(2.0), math.sin(2.0), 0])

    assert error(0.01) < omega**3 * 0.01**2 * 4.0 * 1.01
    assert error(0.01) / error(0.005) == pytest.approx(4, abs=0.1)


def test_a_rising_floor_gives_a_ball_its_velocity():
    # A floor at rest below a ball, then moving up at 1 m/s: with e = 0 the ball gets the velocity of the floor.
    particles = pbd.Particles(gravity=(0, 0, 0))
    particles.add_particle((0, 0, 0.05))
    particles.add_collider(pbd.Plane(), motion=lambda time: (0, 0, 1.0 * time))
    system = pbd.ParticleSystem(particles, dt=0.01)
    system.step(50)
    assert system.velocities()[0, 2] == pytest.approx(1.0, rel=1e-12)


@pytest.mark.slow
def test_nothing_leaves_the_box():
    rng = np.random.default_rng(1)
    particles = pbd.Particles(gravity=(1.0, -2.0, -g))
    i = particles.add_particles(rng.uniform(-1, 1, (1000, 3)), mass=rng.uniform(0.1, 10, 1000),
                                velocity=rng.normal(0, 5, (1000, 3)))  # fmt: skip
    particles.add_sticks(i[: 2 * 300].reshape(-1, 2))
    particles.add_box((-1, -1, -1), (1, 1, 1), restitution=0.8, friction=0.1)
    system = pbd.ParticleSystem(particles, dt=0.01, iterations=3)
    for _ in range(1000):
        system.step(10)
        assert np.abs(system.positions()).max() <= 1.0


START, END = np.array([0, -1, 0]), np.array([0.5, 1, 0.2])
SHAPES = {
    "sphere": pbd.Sphere(0.8, centre=(0.1, 0.2, 0.3)),
    "capsule": pbd.Capsule(0.5, start=START, end=END),
    "box": pbd.Box((1, 2, 1.5), centre=(0, 0, 0.1), rotation=(0.9, 0.1, -0.3, 0.2)),
    "plane": pbd.Plane(point=(0, 0, 0.2), normal=(0.1, 0.2, 1)),
}


def distance_to(name, x):
    """Distance [m] of points (n, 3) from a shape of SHAPES, by independent formulas."""
    shape = SHAPES[name]
    if name == "sphere":
        return np.linalg.norm(x - shape.centre, axis=1) - shape.radius
    if name == "capsule":
        axis = END - START
        t = np.clip((x - START) @ axis / (axis @ axis), 0, 1)
        return np.linalg.norm(x - START - t[:, None] * axis, axis=1) - shape.radius
    if name == "plane":
        return (x - shape.point) @ shape.normal
    w, *v = shape.rotation
    v = np.array(v)
    matrix = np.array([e + 2 * np.cross(v, np.cross(v, e)) + 2 * w * np.cross(v, e) for e in np.eye(3)])
    q = np.abs((x - shape.centre) @ matrix.T) - shape.size / 2
    return np.linalg.norm(np.maximum(q, 0), axis=1) + np.minimum(q.max(axis=1), 0)


@pytest.mark.parametrize("name", SHAPES)
def test_particles_are_moved_the_least_distance_out_of_a_shape(name):
    # From a depth d inside, the particle moves to the surface by exactly d.
    rng = np.random.default_rng(2)
    x = rng.uniform(-1.2, 1.2, (500, 3))
    particles = pbd.Particles(gravity=(0, 0, 0))
    particles.add_particles(x, radius=0.05)
    particles.add_collider(SHAPES[name])
    system = pbd.ParticleSystem(particles, iterations=1)
    system.step()
    moved = system.positions()
    before, after = distance_to(name, x), distance_to(name, moved)
    inside = before < 0.05
    assert inside.sum() > 20
    assert np.array_equal(moved[~inside], x[~inside])
    assert np.abs(after[inside] - 0.05).max() < 1e-12
    assert np.abs(np.linalg.norm(moved - x, axis=1) - (0.05 - before))[inside].max() < 1e-12
