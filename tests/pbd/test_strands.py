"""Strands that are alike and share nothing run as worlds do, and the host sees one world (pbd/execution/strands.py)."""

import numpy as np
import pytest
from marks import slow
from no_hooks import NO_HOOKS, Nothing

import pbd
from pbd import build
from pbd.core.kernels import KERNELS

LANES = 8 if KERNELS == "quick" else 1  # as in the scene `hair`, whose shapes and damping these are: one kernel
OPTIONS = {"dt": 1 / 60, "substeps": 2, "iterations": 3, "damping": 0.01}
IN_LANES = {**OPTIONS, "lanes": LANES}
MATERIAL = {"density": 1300.0, "young": 1e7, "damping": 0.02}
COUNT = 11  # of strands: more than lanes, and no multiple of them


def directions(count, seed=0):
    """Unit vectors (count, 3) at random, upwards."""
    found = np.random.default_rng(seed).normal(size=(count, 3))
    found[:, 2] = np.abs(found[:, 2])
    return found / np.linalg.norm(found, axis=1)[:, None]


def nodding(time):
    """Motion of a head: to and fro, and round."""
    angle = 0.3 * np.sin(8 * time)
    return np.array([0.05 * np.sin(6 * time), 0.0, 0.0]), np.array([np.cos(angle), 0.0, np.sin(angle), 0.0])


def strands(chosen, motion=nodding, collider=True, **options):
    """Some of COUNT strands on a ball that nods. Args: chosen: their numbers; options: of `build.hair`."""
    d, particles = directions(COUNT)[chosen], pbd.Particles()
    length, radius = np.linspace(0.1, 0.3, COUNT)[chosen], np.linspace(1e-3, 7e-3, COUNT)[chosen]
    made = build.hair(
        particles, 0.1 * d, d, 6, length=length, radius=radius, motion=motion, natural="given",
        **{**MATERIAL, **options},
    )  # fmt: skip
    if collider:
        particles.add_collider(pbd.Sphere(0.1), friction=0.3, motion=motion)
        floor = pbd.Capsule(5.0, start=(-1, 0, -5.12), end=(1, 0, -5.12))
        particles.add_collider(floor)
    return particles, made


@pytest.mark.parametrize("lanes", [slow(1), slow(4), LANES] if KERNELS == "quick" else [1])
@pytest.mark.parametrize("direction", ["current", slow("start")])
def test_each_strand_moves_as_if_it_were_alone(direction, lanes):
    # Neither others nor lanes change a bit of it. Elements alone have a longest displacement, a matrix and a length of
    # step; with one of each for all, a strand that hits the floor would hold all others back.
    together = pbd.ParticleSystem(strands(range(COUNT))[0], lanes=lanes, direction=direction, **OPTIONS)
    assert together.pieces == "strands"
    alone = [pbd.ParticleSystem(strands([k])[0], direction=direction, lanes=1, **OPTIONS) for k in range(COUNT)]
    contacts = 0
    for _ in range(4):
        together.step(15)
        for system in alone:
            system.step(15)
        expected = np.concatenate([system.positions() for system in alone])
        assert together.positions().tobytes() == expected.tobytes()
        found = [system.statistics().contacts for system in alone]
        assert together.statistics().contacts == sum(found)
        contacts += np.array(found)
    assert np.count_nonzero(contacts) > 3
    assert together.energy() == pytest.approx(np.sum([system.energy() for system in alone], axis=0), rel=1e-12)


def test_a_snapshot_of_strands_continues_bit_for_bit():
    first, second = (pbd.ParticleSystem(strands(range(COUNT))[0], **IN_LANES) for _ in range(2))
    first.step(10)
    second.set_state(first.state())
    first.step(10)
    second.step(10)
    assert first.digest() == second.digest()


def unequal():
    particles, _ = strands(range(5))
    build.hair(particles, [(1, 0, 0)], (0, 0, 1), 5, length=0.2, radius=1e-3, **MATERIAL)
    return particles


def joined():
    particles, made = strands(range(4))
    particles.add_stick(made.particles[0, -1], made.particles[1, -1])
    return particles


def touching():
    particles, _ = strands(range(4))
    particles.add_particle_contacts()
    return particles


def beside_another():
    particles, _ = strands(range(4))
    particles.add_particle((2, 0, 0))
    return particles


@pytest.mark.parametrize("describe", [unequal, joined, touching, beside_another])
def test_what_is_not_alike_or_shares_something_is_no_strands(describe):
    system = pbd.ParticleSystem(describe(), **OPTIONS)
    assert system.pieces == ""


@pytest.mark.slow
def test_grab_springs_and_worlds_are_no_strands():
    particles, made = strands(range(4), collider=False)
    grabbed = pbd.ParticleSystem(particles, grabs=1, **OPTIONS)
    assert grabbed.pieces == ""
    target = particles.positions()[made.particles[2, -1]] + (0.02, 0, 0)
    grabbed.grab(0, made.particles[2, -1], target, stiffness=100.0)
    grabbed.step(60)
    assert np.linalg.norm(grabbed.positions()[made.particles[2, -1]] - target) < 0.01
    assert pbd.ParticleSystem(strands(range(4))[0], worlds=2, **OPTIONS).pieces == ""


def test_a_strand_that_diverges_is_named_by_its_particle():
    particles, made = strands(range(5))
    system = pbd.ParticleSystem(particles, **IN_LANES)
    forces = np.zeros((len(particles), 3))
    forces[made.particles[3, -1]] = 1e300
    system.set_forces(forces)
    with pytest.raises(pbd.Diverged) as caught:
        system.step(50)
    assert caught.value.particle in np.concatenate([made.particles[3], particles.rod_segments()[made.segments[3], 2]])
    assert caught.value.world == 0


@pytest.mark.slow
def test_masses_forces_and_velocities_are_those_of_the_particles():
    particles, made = strands(range(5), motion=None, collider=False)
    systems = [pbd.ParticleSystem(particles, grabs=grabs, **OPTIONS) for grabs in (0, 1)]  # strands, and one world
    tip = made.particles[:, -1]
    forces, velocities = np.zeros((len(particles), 3)), np.zeros((len(particles), 3))
    forces[tip[2]], velocities[tip[4]] = (1e-6, 0, 0), (0, 0.1, 0)
    for system in systems:
        system.set_velocities(velocities)
        system.set_forces(forces)
        system.set_masses([tip[1]], np.inf)
        system.step(2)
    strand, world = (system.positions() for system in systems)
    assert strand[tip[1]].tobytes() == particles.positions()[tip[1]].tobytes()
    assert np.abs(strand - world).max() < 1e-4  # iterations end elsewhere where one length of step serves all
    assert systems[0].rotations().shape == systems[1].rotations().shape


@pytest.mark.slow
def test_step_hooks_make_one_world_of_strands():
    described = strands(range(5), motion=None, collider=False)[0]
    hooked, apart = (pbd.ParticleSystem(described, **{**OPTIONS, "iterations": 40}) for _ in range(2))
    for system in (hooked, apart):
        system.step(5)
    hooked.add_hooks(NO_HOOKS, Nothing())
    assert (hooked.pieces, hooked.lanes) == ("", 1)
    assert hooked.positions().tobytes() == apart.positions().tobytes()
    for system in (hooked, apart):
        system.step(5)
    # Iterations end elsewhere where one length of step serves all.
    assert hooked.positions() == pytest.approx(apart.positions(), abs=1e-4)


def test_what_users_ask_of_one_world_is_refused_or_done():
    system = pbd.ParticleSystem(strands(range(4))[0], **IN_LANES)
    with pytest.raises(RuntimeError, match="strand by strand"):
        system.position_array()
    assert system.inverse_masses().shape == (system.count,)


@pytest.mark.slow
@pytest.mark.parametrize("breaking", [{"strength": 2.0}, {"twist_strength": 1e-3}, {"yield_curvature": 3.0}])
def test_alike_rods_tear_break_and_yield_as_in_one_world(breaking):
    particles = pbd.Particles()
    rods = [
        build.rod(particles, [(0, k, 0), (0.5, k, 0)], 5, radius=0.004, clamps="start", **MATERIAL, **breaking)
        for k in range(3)
    ]
    first, last, side = particles.rod_segments()[rods[1].segments[-1]]
    forces = np.zeros((len(particles), 3))
    if "twist_strength" in breaking:  # a couple about the axis
        forces[side] = (0, 0, 0.07)
        forces[first] = forces[last] = -forces[side] / 2
    else:
        forces[last] = (3.0, 0, 0.5)
    systems = [pbd.ParticleSystem(particles, dt=1 / 60, substeps=2, iterations=30, grabs=grabs) for grabs in (0, 1)]
    assert [system.pieces for system in systems] == ["strands", ""]
    for system in systems:
        system.set_forces(forces)
        system.step(20)
    events = [[(event.members, event.time) for event in system.events] for system in systems]
    assert events[0] == events[1]
    assert bool(events[0]) == ("yield_curvature" not in breaking)
    assert systems[0].positions() == pytest.approx(systems[1].positions(), abs=1e-4)
