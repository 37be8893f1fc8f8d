"""Rods that yield."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import pbd
from pbd import build

LENGTH, SEGMENTS = 1.0, 10
OPTIONS = {"dt": 1 / 60, "substeps": 4, "iterations": 4, "damping": 0.02}


def twisted(yield_twist, turn, twist=0.0):
    """A rod between two clamps, one of which turns within a second. Args: twist: at first. Returns: particles, rod."""
    particles = pbd.Particles(gravity=(0, 0, 0))
    rod = build.rod(
        particles, [(0, 0, 0), (LENGTH, 0, 0)], SEGMENTS, radius=0.005, density=1000, young=1e7,
        yield_twist=yield_twist, clamps=("start", "end"), twist=twist,
    )  # fmt: skip
    particles.turn(rod.clamps["end"], lambda t: turn * min(t, 1.0))
    return particles, rod


@pytest.mark.parametrize("yield_twist", [0.7, 1.6])
def test_twist_beyond_the_yield_stays(yield_twist):
    """Turned by Θ over L, slowly: Θ - y L stays, the same in each part of the rod, and nothing of Θ < y L."""
    system = pbd.ParticleSystem(twisted(yield_twist, 3.0)[0], **OPTIONS)
    system.step(120)
    plastic = Rotation.from_quat(system.state().bent).as_rotvec()
    # Where the clamp starts and ends to turn, waves overshoot: 0.5 %.
    assert plastic[:, 2].sum() == pytest.approx(3.0 - yield_twist * LENGTH, rel=5e-3)
    assert np.abs(plastic[:, :2]).max() < 1e-6
    elastic = pbd.ParticleSystem(twisted(yield_twist, 0.9 * yield_twist * LENGTH)[0], **OPTIONS)
    elastic.step(120)
    assert np.abs(Rotation.from_quat(elastic.state().bent).as_rotvec()).max() == 0.0


def test_a_wire_stays_bent_where_its_moment_was_too_large():
    """A tip load P bends the clamp by P L/EI; beyond y it keeps P L/EI - y there, and springs back by y."""
    stiffness, load, most = 1e-3, 1.5e-3, 1.0
    particles = pbd.Particles(gravity=(0, 0, 0))
    rod = build.rod(
        particles, [(0, 0, 0), (LENGTH, 0, 0)], 40, radius=0.002, density=1000, bending=stiffness, twisting=stiffness,
        stretching=1e3, yield_curvature=most, clamps="start",
    )  # fmt: skip
    system = pbd.ParticleSystem(particles, **OPTIONS)
    forces = np.zeros((len(particles), 3))
    for part in np.linspace(0, 1, 31)[1:]:  # slowly, so that it does not swing beyond
        forces[rod.particles[-1], 2] = -load * part
        system.set_forces(forces)
        system.step(60)
    system.step(900)
    loaded = system.positions()[rod.particles]
    # Ideal plasticity carries no more than the moment y EI: a hinge forms at the clamp, and turns until the load's arm
    # is short enough, P x = y EI with the reach x of the tip.
    assert loaded[-1, 0] == pytest.approx(most * stiffness / load, rel=0.03)
    system.set_forces(0 * forces)
    system.step(600)
    after = system.positions()[rod.particles]
    turned = np.arctan2(-(after[1, 2] - after[0, 2]), after[1, 0] - after[0, 0])
    assert turned > 0.1
    before = system.state().bent
    system.step(60)
    assert (system.state().bent == before).all()  # it springs back elastically


@pytest.mark.slow
def test_worlds_of_rods_that_yield_have_the_bits_of_one():
    particles, _ = twisted(0.7, 3.0)
    single, worlds = (pbd.ParticleSystem(particles, worlds=each, **OPTIONS) for each in (1, 3))
    single.step(50)
    worlds.step(50)
    assert (worlds.state().bent == single.state().bent).all()


def test_each_world_yields_by_its_own_twist():
    # Before a step, whose kernels for worlds take long to compile. The twist of a rod as it is made lies in the joints
    # of its segments, not in those of its clamps: they keep 9/10 of y L.
    rods = [twisted(0.7, 3.0, twist)[0] for twist in (0.5, 1.0, 2.0)]
    worlds = pbd.ParticleSystem(rods, **OPTIONS)
    worlds._plastic["bent"].flow()
    plastic = [Rotation.from_quat(each).as_rotvec()[:, 2].sum() for each in worlds.state().bent]
    assert plastic == pytest.approx([0.0, 1.0 - 0.9 * 0.7 * LENGTH, 2.0 - 0.9 * 0.7 * LENGTH], abs=1e-9)


def test_a_rod_that_yields_goes_on_from_a_state_with_the_same_bits():
    single = pbd.ParticleSystem(twisted(0.7, 3.0)[0], **OPTIONS)
    single.step(50)
    middle = single.state()
    single.step(20)
    later, shape = single.digest(), single.state().bent
    assert (shape != middle.bent).any()
    single.set_state(middle)
    single.step(20)
    assert single.digest() == later
    assert (single.state().bent == shape).all()


@pytest.mark.parametrize("name", ["yield_curvature", "yield_twist"])
@pytest.mark.parametrize("value", [0.0, -1.0, float("nan")])
def test_bad_yields_are_refused(name, value):
    """A yield is above zero."""
    with pytest.raises(ValueError, match=name):
        build.rod(pbd.Particles(), [(0, 0, 0), (1, 0, 0)], radius=0.01, density=1000, young=1e6, **{name: value})
