"""Results have the same bits with any number of threads, in every run and world, step by step, and from a file."""

import math
from functools import cache

import numpy as np
import pytest
from elsewhere import run_elsewhere
from marks import cases, slow

import pbd
from pbd.build import cloth
from pbd.core.kernels import on_cpu

# One launch (serial, and clusters of which there is one), and phases that are spread over threads.
PATHS = {
    "serial": {"schedule": "serial"},
    "one cluster": {"schedule": "clusters", "clusters": 1},
    "four clusters": {"schedule": "clusters", "clusters": 4, "iterations": 4},
    "coloured": {"schedule": "coloured"},
    "adaptive": {"schedule": "clusters", "clusters": 4, "tolerance": 1e-4},
    "often": {"schedule": "clusters", "clusters": 4, "iterations": 7},  # five of the iterations in one launch
}

# The others compile longest, and differ from these by details of clusters.
SOME = cases(PATHS, slow=["one cluster", "four clusters", "adaptive", "often"])
SERIAL = cases(PATHS, slow=[each for each in PATHS if each != "serial"])


def turning(time):
    """Motion of a collider: up and down, and a rotation."""
    return (0.3, 0.2, -0.15 + 0.05 * math.sin(7 * time)), (math.cos(time), 0.0, math.sin(time), 0.0)


def gusts(time):
    """A wind that changes."""
    return 2 * math.sin(3 * time), 1.0, 0.0


def description(number=0, rows=15):
    """All features: cloth with bending, compliance and thickness, wind, grains, a path, colliders, a box.

    Args: number: changes numbers alone; rows: of the cloth. (Each of the three constraint types is compiled for each
    colour. Four slabs have four colours with 8 rows and with 15, so both have the same kernels.)
    """
    particles = pbd.Particles(wind=gusts)
    piece = cloth(
        particles, (0, 0, 0), (0.6 + 0.01 * number, 0, 0), (0, 0.5, 0), (rows, rows),
        bending=1e-4, thickness=0.01, friction=0.3,
    )  # fmt: skip
    # Grains fall on the cloth in a heap, so that they also touch one another.
    places = np.random.default_rng(8).permutation([(i, j, k) for i in range(4) for j in range(4) for k in range(4)])
    particles.add_particles(
        (0.2, 0.15, 0.03) + 0.021 * places, 0.01 * (1 + places[:, 0]) * (1 + number), (0, 0, -2.0), radius=0.01
    )
    particles.add_path(piece.particles[:rows], lambda time: edge(rows, number, time))
    particles.add_collider(pbd.Sphere(radius=0.13), friction=0.4, restitution=0.3, motion=turning)
    particles.add_collider(pbd.Plane(point=(0, 0, -0.4)), friction=0.5)
    particles.add_box((-0.3, -0.3, -0.35), (0.9, 0.8, 0.6), restitution=0.5, friction=0.1)
    return particles


def edge(rows, number, time):
    """Positions of the driven edge of the cloth."""
    along = np.linspace(0, 1, rows)[:, None] * np.array([0.6 + 0.01 * number, 0, 0])
    return along + np.array([0, 0, 0.05 * math.sin(9 * time)])


def sheet(number=0, rows=15):
    """Cloth alone, in the wind. Five iterations of the full description would take a minute to compile."""
    particles = pbd.Particles(wind=(2.0, 1.0 + number, 0.0))
    cloth(particles, (0, 0, 0), (0.6, 0, 0), (0, 0.5, 0), (rows, rows), bending=None, pins="top")
    return particles


def scene(path, number=0, rows=15):
    """The description that a path runs."""
    return (sheet if path == "often" else description)(number, rows)


def system_of(descriptions, path, **options):
    settings = {"dt": 1 / 120, "substeps": 2, "iterations": 6, "damping": 0.01, "contact_interval": 2}
    settings |= {**PATHS[path], **options}
    return pbd.ParticleSystem(descriptions, **settings)


def program(*names):
    """Run in a process of its own: digests of paths after 24 steps."""
    return "".join(f"{name}: {run(name).digest()}\n" for name in names)


def run(path, steps=24):
    system = system_of(scene(path), path)
    system.step(steps)
    return system


@cache
def digest(path):
    """Digest of a path after 24 steps in this process."""
    return run(path).digest()


def test_the_scene_contains_every_feature():
    # The run contains what is compared below: contacts, friction, sliding along the sphere, and grains on the cloth.
    system = run("serial")
    stats = system.statistics()
    assert stats.contacts > 20
    assert np.isfinite(system.positions()).all()
    kinds = set(system.particles.constraint_sets)
    assert kinds == {("stick", False), ("stick", True), ("flat bending", True)}
    assert system.arrays.contacts.neighbour_count.to_numpy().sum() > 100
    away = system.positions() - system.particles.positions()
    assert np.linalg.norm(away, axis=1).min() > 1e-3


@pytest.mark.skipif(not on_cpu(), reason="of the processor's threads")
@pytest.mark.parametrize(("threads", "names"), [slow(1, ["coloured"]), slow(1, list(PATHS)), slow(2, list(PATHS))])
def test_bits_do_not_depend_on_the_number_of_threads(threads, names):
    # Separate runs agree: two threads in one process, one in another, and this one.
    found = run_elsewhere(__file__, f"program(*{names})", cpu_max_num_threads=threads)
    assert found == {name: digest(name) for name in names}


@pytest.mark.parametrize("path", SOME)
def test_a_run_continues_bit_for_bit_from_a_saved_state(path, tmp_path):
    run(path, 11).state().save(tmp_path / "half")
    system = system_of(scene(path), path)
    system.set_state(pbd.State.load(tmp_path / "half"))
    system.step(13)
    assert system.digest() == digest(path)


@pytest.mark.parametrize("path", SOME)
def test_sixty_steps_equal_sixty_single_steps(path):
    at_once, one_by_one = (system_of(scene(path, rows=8), path) for _ in range(2))
    at_once.step(60)
    for _ in range(60):
        one_by_one.step()
        one_by_one.statistics()  # a measurement changes nothing
    assert one_by_one.time == at_once.time
    assert one_by_one.digest() == at_once.digest()


@pytest.mark.parametrize("path", SERIAL)
def test_copies_have_the_bits_of_a_single_world(path):
    alone = system_of(scene(path, rows=8), path)
    copies = system_of(scene(path, rows=8), path, worlds=3)
    for system in (alone, copies):
        system.step(20)
    assert copies.positions().shape == (3, alone.count, 3)
    for world in range(3):
        assert np.array_equal(copies.positions()[world], alone.positions())
        assert np.array_equal(copies.velocities()[world], alone.velocities())


@pytest.mark.parametrize("path", SERIAL[:4])
def test_different_worlds_have_the_bits_of_each_alone(path):
    # All worlds have the environment of the first one. It includes the path of the driven edge.
    descriptions = [description(number, rows=8) for number in range(3)]
    for other in descriptions[1:]:
        other.paths[:] = descriptions[0].paths
    together = system_of(descriptions, path)
    together.step(20)
    for world, particles in enumerate(descriptions):
        alone = system_of(particles, path)
        alone.step(20)
        assert np.array_equal(together.positions()[world], alone.positions()), world
    assert np.abs(together.positions()[1] - together.positions()[0]).max() > 1e-3


@pytest.mark.parametrize("worlds", [1023, slow(1024), slow(1500)])
def test_many_worlds_have_the_bits_of_each_alone(worlds):
    # Around 1024, where worlds are side by side instead of 512 turns apart. Each has its own velocities and lengths.
    def rope(number):
        particles = pbd.Particles()
        particles.add_particles([(0.1 * k, 0, 0) for k in range(6)], 1.0, (0, 0.01 * number, 0))
        particles.pin(0)
        particles.add_sticks([(k, k + 1) for k in range(5)], length=0.1 + 1e-5 * number)
        return particles

    together = pbd.ParticleSystem([rope(number) for number in range(worlds)], dt=0.01)
    together.step(20)
    found = together.positions()
    assert found.shape == (worlds, 6, 3)
    for number in (0, 1, 511, 512, 513, worlds - 1):
        alone = pbd.ParticleSystem(rope(number), dt=0.01)
        alone.step(20)
        assert np.array_equal(found[number], alone.positions()), number
