"""Systems of materials that flow: worlds, snapshots, launches, numbering, energy, and what is refused."""

import warnings

import numpy as np
import pytest
from blocks import block
from strips import sheet

import pbd

CLAY = pbd.Solid(young=2e5, poisson=0.3, damping=0.02, yield_strain=0.02, hardening=0.5)
FOIL = pbd.Fabric(warp=120.0, weft=60.0, shear=25.0, poisson=0.3, damping=0.01, yield_strain=0.02, hardening=0.5)


def hanging(kind, yield_strain, order=None):
    """What hangs from one side and flows by its weight. Args: kind; yield_strain; order: of its particles.

    A "plate" is a strip in the shape of an arc, whose first row is clamped. Its yield curvature is 20/m yield_strain.
    """
    if kind == "solid":
        x, members = block((1, 1, 2), (0.1, 0.1, 0.2))
        material = pbd.Solid(2e5, 0.3, damping=0.02, yield_strain=yield_strain, hardening=0.3 if yield_strain else 0)
        masses = np.full(len(x), 3.0)
        pins, size = x[:, 2] == 0.2, 10.0
    elif kind == "plate":
        x, members, _ = sheet(0.3, 0.1, 4, 2)
        given = {"yield_curvature": yield_strain and 20 * yield_strain, "hardening": 0.3 if yield_strain else 0}
        material = pbd.Fabric(1200.0, 600.0, 250.0, 0.3, bending=4.0, damping=0.02, **given)
        pins, masses, size = x[:, 0] < 0.1, np.full(len(x), 0.05), 30.0
        x = np.stack([np.sin(8 * x[:, 0]) / 8, x[:, 1], np.cos(8 * x[:, 0]) / 8], axis=1)
    else:
        x, members, _ = sheet(0.3, 0.1, 3, 1)
        given = {"damping": 0.02, "yield_strain": yield_strain, "hardening": 0.3 if yield_strain else 0}
        material = pbd.Fabric(120.0, 60.0, 25.0, 0.3, **given)
        x, masses, size = x[:, [1, 2, 0]] * (1, 1, -1), np.full(len(x), 0.01), 30.0
        pins = x[:, 2] == 0
    masses[pins] = np.inf
    order = np.arange(len(x)) if order is None else order
    particles = pbd.Particles(gravity=(0.2 * size, 0, -size))
    particles.add_particles(x[order], masses[order])
    members = np.argsort(order)[members][:: 1 if order[0] == 0 else -1]
    if kind == "solid":
        particles.add_solid(members, material)
    else:
        particles.add_membrane(members, material, warp=(0, 0, -1) if kind == "fabric" else (0, 1, 0))
    return particles


NAMES = {"solid": "flowed_solids", "fabric": "flowed_membranes", "plate": "flowed_plates"}


def flowed(state, kind):
    return getattr(state, NAMES[kind])


KINDS = tuple(NAMES)
OPTIONS = {"dt": 1 / 60, "substeps": 2, "iterations": 3}


@pytest.mark.parametrize("kind", KINDS)
def test_worlds_flow_alone(kind):
    # To the bit. The host makes the flow without a step, so no kernel of several worlds has to be compiled.
    name, rng = NAMES[kind], np.random.default_rng(0)
    yields, scales = (0.01, 0.03, None), rng.uniform(0.9, 1.1, (3, 1, 3))
    described = [hanging(kind, each) for each in yields]
    worlds = pbd.ParticleSystem(described)
    worlds.set_positions(scales * described[0].positions())
    worlds._plastic[name].flow()
    for world, (particles, scale) in enumerate(zip(described, scales)):
        alone = pbd.ParticleSystem(particles)
        alone.set_positions(scale * particles.positions())
        if yields[world]:
            alone._plastic[name].flow()
        assert alone.stress().tobytes() == worlds.stress()[world].tobytes()
        if yields[world]:
            assert flowed(alone.state(), kind).tobytes() == flowed(worlds.state(), kind)[world].tobytes()
    p = flowed(worlds.state(), kind)[:, :, 9 if kind == "solid" else 3 :].max(axis=(1, 2))
    assert (p > 0).tolist() == [True, True, False]


@pytest.mark.parametrize("kind", KINDS)
def test_states_and_launches_continue_the_flow(kind):
    # To the bit: step(n) and n times step(1), and a state in the middle.
    one, other = (pbd.ParticleSystem(hanging(kind, 0.01), **OPTIONS) for _ in range(2))
    one.step(10)
    middle = one.state()
    one.step(10)
    other.step(3)
    other.set_state(middle)
    for _ in range(10):
        other.step()
    assert other.digest() == one.digest()
    assert flowed(other.state(), kind).tobytes() == flowed(one.state(), kind).tobytes()
    assert (flowed(one.state(), kind) != flowed(middle, kind)).any()


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_worlds_states_and_launches_flow_alike(kind, tmp_path):
    # To the bit: worlds with other yield strains, or none; step(n) and n times step(1); and a state in the middle.
    yields = (0.01, 0.03, None)
    worlds = pbd.ParticleSystem([hanging(kind, each) for each in yields], **OPTIONS)
    worlds.step(20)
    middle, stress = worlds.state(), worlds.stress()
    worlds.step(10)
    for world, each in enumerate(yields):
        alone = pbd.ParticleSystem(hanging(kind, each), **OPTIONS)
        for _ in range(20):
            alone.step()
        assert alone.stress().tobytes() == stress[world].tobytes()
        for _ in range(10):
            alone.step()
        assert alone.positions().tobytes() == worlds.positions()[world].tobytes()
        if each:
            assert flowed(alone.state(), kind).tobytes() == flowed(worlds.state(), kind)[world].tobytes()
    now = flowed(worlds.state(), kind)[..., -1 if kind == "solid" else 3]
    assert now.max(axis=1)[0] > now.max(axis=1)[1] > now.max(axis=1)[2] == 0
    assert (now[0] > flowed(middle, kind)[0, ..., -1 if kind == "solid" else 3]).any()
    middle.save(tmp_path / "state.npz")
    other = pbd.ParticleSystem([hanging(kind, each) for each in yields], **OPTIONS)
    other.step(3)
    for system in (other, worlds):
        system.set_state(pbd.State.load(tmp_path / "state.npz"))
        system.step(10)
        assert flowed(system.state(), kind).tobytes() == flowed(worlds.state(), kind).tobytes()
    assert other.digest() == worlds.digest()


@pytest.mark.parametrize("kind", KINDS)
def test_a_state_without_flow_is_that_of_the_shape_as_described(kind):
    system, fresh = (pbd.ParticleSystem(hanging(kind, 0.01), **OPTIONS) for _ in range(2))
    state = fresh.state()
    for name in NAMES.values():
        setattr(state, name, np.zeros((0, 6)))  # as in a file of an earlier version
    system.step(10)
    assert (flowed(system.state(), kind) != flowed(fresh.state(), kind)).any()
    system.set_state(state)
    for each in (system, fresh):
        each.step(10)
    assert system.digest() == fresh.digest()


@pytest.mark.parametrize("kind", KINDS)
def test_a_state_whose_flow_is_not_finite_is_refused(kind):
    system, name = pbd.ParticleSystem(hanging(kind, 0.01), **OPTIONS), NAMES[kind]
    state, before = system.state(), system.digest()
    state.position[0, 0] += 0.1
    getattr(state, name)[1, 2] = np.nan
    with pytest.raises(ValueError, match=rf"state's {name} is nan at index \(1, 2\): expected finite numbers"):
        system.set_state(state)
    assert system.digest() == before


@pytest.mark.parametrize("kind", KINDS)
def test_numbering_does_not_matter(kind):
    count = len(hanging(kind, 0.01))
    order = np.random.default_rng(0).permutation(count)
    systems = [pbd.ParticleSystem(hanging(kind, 0.01, each), **OPTIONS) for each in (np.arange(count), order)]
    for system in systems:
        system.step(30)
    # Moments of plates are found by sweeps, to a thousandth of the largest (pbd/implicit/solve.py).
    atol = 5e-6 if kind == "plate" else 1e-10
    np.testing.assert_allclose(systems[1].positions(), systems[0].positions()[order], atol=atol)


@pytest.mark.parametrize("kind", KINDS)
def test_below_the_yield_no_bit_differs(kind):
    digests = []
    for yield_strain in (None, 10.0):
        system = pbd.ParticleSystem(hanging(kind, yield_strain), **OPTIONS)
        system.step(15)
        system.step(15)
        digests.append((system.digest(), system.stress().tobytes(), system.energy().total))
    assert digests[0] == digests[1]


@pytest.mark.parametrize("kind", KINDS)
def test_a_stroke_that_flows_loses_energy_and_warns_of_none(kind):
    # Free, without damping of its own and gravity: the total never rises, by more than the scheme's own round-off.
    particles = hanging(kind, 0.01)
    particles.gravity = np.zeros(3)
    system = pbd.ParticleSystem(particles, **OPTIONS)
    x = system.positions()
    system.set_velocities(10 * (x - x.mean(axis=0)) * (system.inverse_masses() > 0)[:, None])
    energies = []
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(60):
            system.step()
            energies.append(system.energy().total)
    assert (np.diff(energies) < 1e-9 * energies[0]).all()
    assert flowed(system.state(), kind)[..., -1 if kind == "solid" else 3].max() > 0.01


def test_what_flows_lies_beside_what_does_not():
    # The second of two solids, and the second of three with friction, behind tetrahedra of a user's own.
    x, tetrahedra = block((1, 1, 1), (0.1, 0.1, 0.1))
    elastic = pbd.Solid(2e5, 0.3, damping=0.02)
    alone = pbd.Particles()
    alone.add_particles(x, np.inf)
    alone.add_solid(tetrahedra, CLAY)
    several = pbd.Particles()
    several.add_particles(np.concatenate([x, x + [0, 0, 1], x + [0, 0, 2]]), np.inf)
    several.add_solid(tetrahedra + 16, pbd.Solid(2e5, 0.3))
    several.add_solid(tetrahedra + 8, elastic)
    several.add_solid(tetrahedra, CLAY)
    several.add_solid(tetrahedra + 16, elastic)
    scale = (1.1, 1.0, 0.95)
    one, many = (pbd.ParticleSystem(each, dt=0.01) for each in (alone, several))
    one.set_positions(x * scale)
    many.set_positions(several.positions() * (1.1, 1.0, 1.0) * (1, 1, 0.95))
    for system in (one, many):
        system.step()
    assert many.state().flowed_solids.tobytes() == one.state().flowed_solids.tobytes()
    np.testing.assert_allclose(many.stress()[12:18], one.stress(), rtol=1e-12)
    assert abs(many.stress()[:12]).max() > 1.5 * abs(one.stress()).max()
    assert many.energy().potential > one.energy().potential > 0


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"yield_strain": 0.0}, "yield_strain is 0: expected a number above zero"),
        ({"yield_strain": -0.1}, "yield_strain is -0.1: expected a number above zero"),
        ({"yield_strain": 0.1, "hardening": -1.0}, "hardening is -1: expected zero or more"),
        ({"hardening": 0.5}, "hardening is 0.5, without a yield_strain.*: expected both, or none"),
    ],
)
def test_materials_that_cannot_be_are_refused(given, message):
    for make in (lambda **given: pbd.Solid(1e5, **given), lambda **given: pbd.Fabric(100.0, 100.0, 10.0, **given)):
        with pytest.raises(ValueError, match=message):
            make(**given)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"yield_curvature": 0.0}, "yield_curvature is 0: expected a number above zero"),
        ({"yield_curvature": -5.0}, "yield_curvature is -5: expected a number above zero"),
        ({"yield_curvature": np.nan}, "yield_curvature is nan: expected a finite number"),
        ({"yield_curvature": 5.0, "bending": 0.0}, "yield_curvature is 5, without bending: expected both, or none"),
        ({"hardening": 0.5}, "hardening is 0.5, without a yield_strain or yield_curvature: expected both, or none"),
    ],
)
def test_bends_that_cannot_be_are_refused(given, message):
    with pytest.raises(ValueError, match=message):
        pbd.Fabric(100.0, 100.0, 10.0, **{"bending": 1e-4, **given})
