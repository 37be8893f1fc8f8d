"""Worlds in the lanes of vectors have the bits of each world alone, with all that a description can have."""

import math

import numpy as np
import pytest
import taichi as ti
from elsewhere import run_elsewhere
from marks import needs_lanes, slow
from no_hooks import NO_HOOKS, Nothing

import pbd
from pbd.execution.lanes import choose_lanes

pytestmark = needs_lanes


@ti.func
def area(x, parameters):
    """The constraint type of CONTRIBUTING.md, here with a branch and an angle: what a user may write."""
    cross = (x[1] - x[0]).cross(x[2] - x[0])
    normal = cross / (cross.norm() + 1e-30)
    a, b = x[1] - x[0], x[2] - x[0]
    scale = 0.5
    if cross.norm() < 2.0 * parameters[0] and x[0][2] >= x[1][2]:
        scale = 0.5 + 0.01 * ti.abs(ti.atan2(cross[2], 2))
    else:
        scale -= 0.02 if x[0][0] > x[1][0] else 0.01
    first, second = scale * b.cross(normal), scale * normal.cross(a)
    return scale * cross.norm() - parameters[0], [-first - second, first, second]


AREA = pbd.scalar_constraint("own area", 3, ("area",), area)
AREA_AT_LEAST = pbd.scalar_constraint("own area at least", 3, ("area",), area, "at_least")


def cloud(world, count=10, seed=0, spread=0.02, **environment):
    """Particles at random places with random masses and velocities, other ones in each world; one is pinned."""
    random, common = np.random.default_rng(10 * world + seed), np.random.default_rng(seed)
    particles = pbd.Particles(**environment)
    positions = common.uniform(-0.5, 0.5, (count, 3)) + spread * random.normal(size=(count, 3))
    masses = random.uniform(0.5, 2.0, count)
    velocities = 2.0 * random.normal(size=(count, 3))
    masses[0], velocities[0] = math.inf, 0.0
    particles.add_particles(positions, masses, velocities, radius=0.02)
    return particles


def pairs(count):
    return [(a, b) for a in range(count) for b in range(a + 1, count) if (a + b) % 3]


def fours(count):
    return [(a, (a + 1) % count, (a + 3) % count, (a + 4) % count) for a in range(count)]


def sticks(particles, world, **options):
    particles.add_sticks(pairs(len(particles)), length=0.4 + 0.02 * world, **options)


def angles(particles, world, **options):
    for a, vertex, b, _ in fours(len(particles)):
        particles.add_angle_limit(a, vertex, b, minimum=0.8 + 0.05 * world, maximum=2.0, **options)


def planes(particles, world, **options):
    for limited, *span in fours(len(particles)):
        particles.add_plane_limit(limited, span, distance=0.01 * world, **options)


def own(particles, world, kind=AREA, **options):
    members = [four[:3] for four in fours(len(particles))]
    particles.add_constraints(kind, members, area=0.05 + 0.01 * world, **options)


def rigid(particles, world):
    """Constraints of all types without a compliance."""
    for bound in pbd.constraints.BOUNDS:
        sticks(particles, world, bound=bound)
    angles(particles, world)
    planes(particles, world)
    particles.add_bending(fours(len(particles)), 0.1 * world)
    particles.add_volumes(fours(len(particles)), 0.01 + 0.001 * world)
    particles.add_attachment([1, 2, 3], [0.5, 0.3, 0.2], [4, 0], [0.1, 0.9])
    own(particles, world)
    own(particles, world, AREA_AT_LEAST)


def compliant(particles, world):
    """Constraints of all types that have a compliance, with one."""
    for bound in pbd.constraints.BOUNDS:
        sticks(particles, world, bound=bound, compliance=1e-4 * (1 + world))
    angles(particles, world, compliance=1e-3)
    planes(particles, world, compliance=1e-3)
    particles.add_bending(fours(len(particles)), 0.3, compliance=1e-2 * (1 + world))
    particles.add_flat_bending(fours(len(particles)), compliance=1e-3 * (1 + world))
    particles.add_volumes(fours(len(particles)), 0.01 + 0.001 * world, compliance=1e-3)
    own(particles, world, compliance=1e-3)
    own(particles, world, AREA_AT_LEAST, compliance=1e-3)


def rope(particles, world, **options):
    """A rope with a weight at its end."""
    particles.add_sticks([(k, k + 1) for k in range(len(particles) - 1)], **options)
    particles.add_stick(len(particles) - 1, particles.add_particle((0.1, 0.2, -0.6), 20.0 * (1 + world)))


def limited(particles, world):
    """A rope with limits of all types, and a particle that is attached to one of its sticks."""
    x, count = particles.positions(), len(particles)
    particles.add_sticks([(k, k + 1) for k in range(count - 1)])
    for k in range(0, count - 3, 2):
        particles.add_stick(k, k + 2, length=(0.7 + 0.05 * world) * math.dist(x[k], x[k + 2]), bound="at_least")
        particles.add_stick(k + 1, k + 3, length=1.1 * math.dist(x[k + 1], x[k + 3]), bound="at_most")
        particles.add_angle_limit(k, k + 1, k + 2, minimum=0.3 + 0.05 * world, maximum=2.8)
    particles.add_plane_limit(8, [1, 2, 3], distance=-0.5)
    end = particles.add_particle(0.7 * x[2] + 0.3 * x[3])
    particles.add_attachment([end], [1.0], [2, 3], [0.7, 0.3])


def turning(time):
    """Motion of a collider: about, and a rotation."""
    position = 0.4 * math.cos(4 * time), 0.4 * math.sin(5 * time), -0.4 + 0.1 * math.sin(7 * time)
    return position, (math.cos(time), 0.0, math.sin(time), 0.0)


def gusts(time):
    return 5 * math.sin(3 * time), 4.0, 0.0


SHAPES = (
    pbd.Sphere(0.3),
    pbd.Capsule(0.2, length=0.4),
    pbd.Cylinder(0.2, length=0.3),
    pbd.Box((0.7, 0.5, 0.6)),
    pbd.Cylinder(0.3, length=0.3).hull(sides=5),
)


def everything(particles, world):
    """Moving colliders of all shapes that lanes have, a box, a driven particle, wind on triangles, some sticks."""
    for k, shape in enumerate(SHAPES):
        particles.add_collider(shape, friction=0.4, restitution=0.15 * k, motion=lambda time, k=k: turning(time + k))
    particles.add_collider(pbd.Plane(point=(0, 0, -0.8)), friction=0.5, restitution=0.3)
    particles.add_box((-0.9, -0.8, -0.9), (0.8, 0.7, 0.9), friction=0.3, restitution=0.5)
    start = np.array([0.3, 0.2, 0.1])
    index = particles.add_particle(start)
    particles.add_path([index], lambda time: start + (0, 0, math.sin(5 * time)))
    particles.add_triangles([four[:3] for four in fours(len(particles))], drag=2.0)
    particles.add_sticks(pairs(len(particles))[::4])


def systems(add, worlds, environment=None, **options):
    """A system of worlds in lanes, and one of each world alone."""
    descriptions = []
    for world in range(worlds):
        particles = cloud(world, **(environment or {}))
        add(particles, world)
        descriptions.append(particles)
    for other in descriptions[1:]:
        other.paths[:] = descriptions[0].paths
    settings = {"dt": 1 / 60, "iterations": 4, "substeps": 2, "damping": 0.01, "lanes": 8, **options}
    alone = {key: value for key, value in settings.items() if key != "lanes"}
    return pbd.ParticleSystem(descriptions, **settings), [pbd.ParticleSystem(each, **alone) for each in descriptions]


def require_same(together, alone):
    """Check that positions, velocities and statistics of all worlds are those of each alone, to the bit."""
    positions, velocities, statistics = together.positions(), together.velocities(), together.statistics()
    assert np.isfinite(positions).all()
    for world, single in enumerate(alone):
        assert np.array_equal(positions[world], single.positions()), world
        assert np.array_equal(velocities[world], single.velocities()), world
        one = single.statistics()
        found = [each[world] for each in (statistics.iterations, statistics.residual, statistics.contacts)]
        assert found == [one.iterations, one.residual, one.contacts], world
    assert np.abs(positions[0] - positions[-1]).max() > 1e-3


def compare(add, worlds=6, steps=12, **options):
    together, alone = systems(add, worlds, **options)
    assert together.lanes > 1
    for system in (together, *alone):
        system.step(steps)
    require_same(together, alone)
    return together, alone


@pytest.mark.parametrize("direction", ["current", slow("start")])
@pytest.mark.parametrize("add", [slow(rigid), slow(compliant)])
def test_constraints_have_the_bits_of_each_world_alone(add, direction):
    compare(add, direction=direction)


@pytest.mark.slow
def test_environments_have_the_bits_of_each_world_alone():
    together, alone = compare(everything, environment={"wind": gusts}, steps=40)
    assert together.statistics().contacts.max() > 3
    for system in (together, *alone):
        system.keep_predictions()
        system.step()
    require_same(together, alone)
    assert np.array_equal(together.displacements()[2], alone[2].displacements())


def floating(particles, world):
    """Particles that rise and fall, with a floor that they leave."""
    sticks(particles, world)
    particles.gravity_scales()[:] = np.linspace(-1.0, 1.0, len(particles)) * (world + 1)
    particles.add_collider(pbd.Plane(point=(0, 0, -0.8)), friction=0.5, restitution=0.8)


@pytest.mark.slow
def test_scales_of_gravity_have_the_bits_of_each_world_alone():
    together, alone = compare(floating, steps=40)
    for world, single in enumerate(alone):
        assert together.energy().total[world] == pytest.approx(single.energy().total, rel=1e-12)


@pytest.mark.parametrize(("worlds", "lanes"), [(2, 4), (5, 4), (9, 8), (16, 16), (19, 16), (33, 16)])
def test_any_number_of_worlds_and_lanes(worlds, lanes):
    compare(sticks, worlds, lanes=lanes)


def test_a_world_that_has_reached_its_tolerance_waits_for_the_others():
    together, _ = compare(sticks, 7, tolerance=2e-2, iterations=60)
    assert len(set(together.statistics().iterations)) > 1


@pytest.mark.slow
def test_what_the_user_changes_between_steps():
    together, alone = systems(compliant, 6, grabs=1)
    forces = np.random.default_rng(1).normal(size=(6, 10, 3))
    velocities = together.velocities() + 0.1
    together.set_forces(forces)
    together.set_velocities(velocities)
    for world, single in enumerate(alone):
        single.set_forces(forces[world])
        single.set_velocities(velocities[world])
    for system in (together, *alone):
        system.step(3)
        system.set_masses([0, 4], [0.5, math.inf])
        system.grab(0, [2, 3], (0, 0, 1), stiffness=100.0, damping=1.0)
        system.cut([0, 5])
        system.step(3)
    require_same(together, alone)
    assert np.array_equal(together.grab_forces()[3], alone[3].grab_forces())
    assert np.array_equal(together.inverse_masses()[3], alone[3].inverse_masses())
    assert np.array_equal(together.sticks()[1], alone[0].sticks()[1])
    state = together.state()
    found = []
    for _ in range(2):
        together.set_state(state)
        together.step(3)
        found.append(together.digest())
    assert found[0] == found[1]
    other = systems(compliant, 6, grabs=1, lanes=1)[0]  # a state does not depend on lanes
    other.set_state(state)
    assert other.digest() == state.digest()


@ti.func
def turns(x, parameters):
    """A constraint that counts, which lanes do not: an integer would differ between worlds."""
    axis = 0
    if x[1][1] > x[0][1]:
        axis = 1
    normal = ti.Vector([1.0 - axis, 1.0 * axis, 0.0])
    return (x[1] - x[0]).dot(normal) - parameters[0], [-normal, normal]


TURNS = pbd.scalar_constraint("turns", 2, ("length",), turns)


def test_a_constraint_type_that_does_not_fit_lanes_runs_one_world_at_a_time():
    together, alone = systems(lambda p, world: p.add_constraints(TURNS, pairs(len(p)), length=0.1 * world), 6)
    for system in (together, *alone):
        system.step(3)
    assert together.statistics().lanes == 1
    require_same(together, alone)


# The direct solve has the sizes and the order of the first world for all, so that all begin at the same positions.
DIRECT = {"solve": "direct", "iterations": 3, "substeps": 1, "environment": {"spread": 0.0}}


def compare_direct(add, **options):
    """Compare worlds as `compare` does, with what the direct solve keeps. Returns: the system of all worlds."""
    together, alone = compare(add, **{"worlds": 5, "steps": 30, **DIRECT, **options})
    kept = [single.state().direct[0] for single in alone]
    assert np.array_equal(together.state().direct, kept)
    return together


@pytest.mark.slow
@pytest.mark.parametrize(
    ("add", "lanes", "direction"),
    [
        (rope, 4, "current"), slow(limited, 8, "start"), slow(rope, 4, "start"), slow(limited, 8, "current"),
    ],
)  # fmt: skip
def test_direct_solves_have_the_bits_of_each_world_alone(add, lanes, direction):
    together = compare_direct(add, lanes=lanes, direction=direction)
    assert together.statistics().direct > 8


def halvings(system):
    return system.state().direct[:, 0]


@pytest.mark.slow
def test_worlds_with_different_parts_of_a_substep():
    together, alone = systems(rope, 5, direction="start", **DIRECT)
    different = 0
    for _ in range(10):
        for system in (together, *alone):
            system.step(3)
        different += len(set(halvings(together))) > 1
    require_same(together, alone)
    assert different > 0
    state = together.state()
    other = systems(rope, 5, direction="start", **{**DIRECT, "lanes": 1})[0]
    for system in (together, other):  # a snapshot continues with any number of lanes
        system.set_state(state)
        system.step(3)
    assert other.digest() == together.digest()


@pytest.mark.slow
def test_direct_solves_in_environments_that_move():
    def add(particles, world):
        rope(particles, world)
        everything(particles, world)

    compare_direct(add, environment={"wind": gusts, "spread": 0.0}, direction="start")


@pytest.mark.slow
def test_direct_solves_when_other_particles_are_pinned():
    together, alone = systems(rope, 5, direction="start", **DIRECT)
    for system in (together, *alone):
        system.step(3)
        system.set_masses([0, 4], [0.5, math.inf])
        system.step(3)
    require_same(together, alone)


def test_step_hooks_run_one_world_at_a_time():
    together, alone = systems(sticks, 6)
    together.step(2)
    together.add_hooks(NO_HOOKS, Nothing())
    together.step(2)
    for single in alone:
        single.step(4)
    assert together.statistics().lanes == 1
    require_same(together, alone)


@pytest.mark.parametrize("options", [{}, slow({"solve": "direct"})])
def test_a_world_that_diverges_is_named(options):
    together, _ = systems(sticks if not options else rope, 9, **options)
    velocities = together.velocities()
    velocities[5, 3] = velocities[7, 4] = 1e300
    together.set_velocities(velocities)
    with pytest.raises(pbd.Diverged) as error:
        together.step(20)
    assert error.value.world == 5


def test_the_number_of_lanes():
    def lanes(worlds=64, contacts=None, **options):
        particles = cloud(0)
        rope(particles, 0)
        if contacts:
            particles.add_particle_contacts(contacts)
        return pbd.ParticleSystem(particles, worlds=worlds, **options).statistics().lanes

    assert [choose_lanes(None, worlds, "", threads=1) for worlds in (1, 2, 4, 7, 64)] == [1, 4, 4, 8, 16]
    assert [choose_lanes(None, worlds, "", threads=8) for worlds in (1, 8, 20, 64, 1000)] == [1, 1, 4, 8, 16]
    assert lanes(1) == 1
    assert [lanes(lanes=number) for number in (1, 4)] == [1, 4]
    assert lanes(solve="direct") == 16
    with pytest.raises(ValueError, match="lanes is 4 with contacts between particles: expected lanes=1"):
        lanes(contacts=0.3, lanes=4)
    with pytest.raises(ValueError, match=r"lanes is 3: expected one of \(1, 4, 8, 16\)"):
        lanes(lanes=3)


def program():
    """Run in a process of its own."""
    compare(rigid)
    compare(everything, environment={"wind": gusts}, steps=40)
    compare(sticks, 7, tolerance=2e-2, iterations=60)
    compare_direct(rope, direction="start")
    compare_direct(limited, lanes=16, direction="start")


@pytest.mark.slow
def test_lanes_of_32_bits():
    run_elsewhere(__file__, "program()", "f32", opt_level=0)
