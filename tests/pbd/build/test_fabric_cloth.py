"""Cloth of a fabric: its mass, its warp along `down`, its contacts, and what it does not take."""

import numpy as np
import pytest
from marks import needs_lanes, slow
from strips import masses_of

import pbd

SQUARE = {"origin": (0, 0, 1), "right": (0.4, 0, 0), "down": (0, 0.6, 0), "counts": (7, 5)}


def test_a_cloth_has_its_fabric():
    particles = pbd.Particles()
    cloth = pbd.build.cloth(particles, **SQUARE, fabric="denim", pins=("top",))
    fabric, membrane = pbd.FABRICS["denim"], particles.membranes[0]
    assert membrane.fabric == fabric
    assert not len(cloth.sticks)
    assert len(cloth.hinges)
    free = np.isfinite(particles.masses())
    expected = masses_of(particles.positions(), cloth.triangles, fabric.density)
    # The grid gives a quarter of each cell to each corner, triangles a third of each to theirs.
    assert particles.masses()[free].sum() == pytest.approx(expected[free].sum(), rel=0.02)
    stretched = particles.positions() * (1.0, 1.1, 1.0)
    np.testing.assert_allclose(membrane.strains(stretched), np.broadcast_to((0.1, 0, 0), (48, 3)), atol=1e-12)


def test_strain_and_stress_are_those_of_the_fabric():
    # Stretched by 10 % along the warp, with free sides held: k/(1 - ν²) along, and ν √(k k')/(1 - ν²) across.
    fabric, other = pbd.Fabric(200.0, 50.0, 20.0, 0.25), pbd.Fabric(300.0, 50.0, 20.0)
    first, second = pbd.Particles(), pbd.Particles()
    for particles, part, given in ((first, 1.1, fabric), (second, 1.2, other)):
        pbd.build.cloth(particles, **SQUARE, fabric=given)
        particles.positions()[:] *= (1.0, part, 1.0)
    system = pbd.ParticleSystem([first, second], dt=1e-3)
    assert system.strain().shape == system.stress().shape == (2, 48, 3)
    np.testing.assert_allclose(system.strain()[1], np.broadcast_to((0.2, 0, 0), (48, 3)), atol=1e-12)
    expected = np.array((200.0, 0.25 * 100.0, 0.0)) * 0.1 / (1 - 0.25**2)
    np.testing.assert_allclose(system.stress()[0], np.broadcast_to(expected, (48, 3)), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(system.stress()[1], np.broadcast_to((60.0, 0, 0), (48, 3)), rtol=1e-9, atol=1e-9)
    empty = pbd.Particles()
    empty.add_particle((0, 0, 0))
    assert pbd.ParticleSystem(empty).strain().shape == (0, 3)


def test_cloth_of_a_mesh_has_its_fabric_and_warp():
    mesh = pbd.build.Mesh([(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)], [(0, 1, 2), (0, 2, 3)])
    particles = pbd.Particles()
    pbd.build.cloth_from_mesh(particles, mesh, fabric=pbd.FABRICS["satin"], warp=(1, 1, 0))
    assert particles.masses().sum() == pytest.approx(0.128)
    root = np.sqrt(0.5)
    axes = (root, root, 0), (-root, root, 0)
    np.testing.assert_allclose(particles.membranes[0].axes, np.broadcast_to(axes, (2, 2, 3)))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"fabric": "denin"}, "fabric is 'denin'.*denim"),
        ({"fabric": "denim", "density": 0.3}, "density is 0.3, with a fabric"),
        ({"fabric": "denim", "bending": None}, "bending is None, with a fabric"),
        ({"fabric": "denim", "tear": 1.5}, "tear is 1.5, with a fabric"),
        ({"fabric": pbd.Fabric(1e3, 1e3, 10.0), "thickness": None, "contacts": "surface"}, "the fabric has none"),
    ],
)
def test_contradictions_are_refused(given, message):
    with pytest.raises(ValueError, match=message):
        pbd.build.cloth(pbd.Particles(), **SQUARE, **given)


def test_a_warp_needs_a_fabric():
    mesh = pbd.build.Mesh([(0, 0, 0), (1, 0, 0), (1, 1, 0)], [(0, 1, 2)])
    with pytest.raises(ValueError, match="without a fabric"):
        pbd.build.cloth_from_mesh(pbd.Particles(), mesh, warp=(1, 0, 0))
    with pytest.raises(TypeError, match=r"expected a pbd\.Fabric, or a name"):
        pbd.build.cloth(pbd.Particles(), **SQUARE, fabric=3)


def test_the_thickness_of_a_fabric_is_that_of_its_surface():
    particles = pbd.Particles()
    pbd.build.cloth(particles, **SQUARE, fabric="denim", thickness=None, contacts="surface")
    assert particles.surfaces[0].radius == pytest.approx(pbd.FABRICS["denim"].thickness / 2)


@pytest.mark.parametrize("options", [*map(slow, ({}, {"direction": "start"})), {"elements": "iterative"}])
def test_bits_do_not_depend_on_launches_worlds_or_states(options):
    # One call of step, many, a state that is set, another world, and threads that share phases.
    def system(schedule="auto", worlds=1):
        particles = pbd.Particles()
        pbd.build.cloth(particles, **SQUARE, fabric="denim", pins=("left_top",))
        particles.add_collider(pbd.Plane(), friction=0.3)
        return pbd.ParticleSystem(
            particles, worlds, dt=1 / 60, substeps=3, iterations=2, schedule=schedule, **options
        )

    whole = system()
    whole.step(30)
    single, copy = system(), system()
    for _ in range(12):
        single.step()
    copy.set_state(single.state())
    for each in (single, copy):
        for _ in range(18):
            each.step()
        np.testing.assert_array_equal(each.positions(), whole.positions())
    several = system(worlds=2)
    several.step(30)
    np.testing.assert_array_equal(several.positions(), np.stack([whole.positions()] * 2))
    if "elements" not in options:  # all is solved together, in any schedule
        other = system("coloured")
        other.step(30)
        np.testing.assert_array_equal(other.positions(), whole.positions())


@pytest.mark.slow
def test_conjugate_gradients_lead_where_a_factor_does(monkeypatch):
    # Both find the same step of Newton, to a thousandth; so the limits of their iterations are the same.
    found = []
    for most in (0, 10**9):
        monkeypatch.setattr("pbd.implicit.tables.MOST_PRODUCTS", most)
        particles = pbd.Particles()
        pbd.build.cloth(particles, (0, 0, 0), (0.3, 0, 0), (0, 0, -0.2), (9, 13), fabric="twill", pins=[0, 12])
        system = pbd.ParticleSystem(particles, dt=1 / 60, substeps=1, iterations=12)
        assert system._implicit.conjugate == (most == 0)
        system.step(20)
        assert system.statistics().residual < 1e-9
        found.append(system.positions())
    np.testing.assert_allclose(*found, atol=1e-8)


@pytest.mark.parametrize("conjugate", [False, slow(True)])
def test_imbalance_is_the_force_that_an_iteration_begins_with(monkeypatch, conjugate):
    # The first iteration of a sheet that is released begins without strain: nothing balances half the weight, with
    # which a run begins. Each of Newton's iterations leaves less, and at rest nothing is left.
    monkeypatch.setattr("pbd.implicit.tables.MOST_PRODUCTS", 0 if conjugate else 10**9)
    particles, first, last = pbd.Particles(), [], []
    pbd.build.cloth(particles, (0, 0, 0), (0.3, 0, 0), (0, 0, -0.2), (9, 13), fabric="twill", pins=["top"])
    masses = particles.masses()
    weight = 9.81 * masses[np.isfinite(masses)].max()
    for iterations in (1, 2, 4):
        for damping, steps, found in ((0.0, 1, first), (0.5, 100, last)):
            options = {"dt": 1 / 60, "substeps": 1, "iterations": iterations, "damping": damping}
            system = pbd.ParticleSystem(particles, **options)
            system.step(steps)
            found.append(system.statistics().imbalance / weight)
    assert first[0] == pytest.approx(0.5, rel=1e-9)
    assert first[0] > 5 * first[1] > 25 * first[2]
    assert max(last) < (1e-5 if conjugate else 1e-6)  # conjugate gradients end where next to nothing is left


@pytest.mark.parametrize(("most", "conjugate"), [(1.01, False), (0.99, True)])
def test_a_factor_is_judged_by_its_largest_part(monkeypatch, most, conjugate):
    """Four sheets that are not connected take four times as long as one, either way."""

    def matrix_of(sheets):
        particles = pbd.Particles()
        for k in range(sheets):
            pbd.build.cloth(particles, (0, 0, k), (0.3, 0, 0), (0, 0.2, 0), (9, 13), fabric="twill")
        return pbd.ParticleSystem(particles)._implicit

    one = matrix_of(1).pattern.multiply_adds
    monkeypatch.setattr("pbd.implicit.tables.MOST_PRODUCTS", most * one)
    assert matrix_of(4).conjugate == conjugate


@needs_lanes
def test_cloth_of_sticks_moves_beside_a_solid_as_alone():
    """Cloth lies in the lanes of vectors (bands) if nothing beside it is solved together: another order of sticks."""
    random, found = np.random.default_rng(9), []
    wrinkles = 1e-3 * random.normal(size=(1600, 3))
    for solids in (0, 1):
        particles = pbd.Particles()
        pbd.build.cloth(particles, (0, 0, 1), (1, 0, 0), (0, 1, 0), (40, 40), pins=[0, 39])
        if solids:
            positions = np.array([(0.0, 0, 0), (0.1, 0, 0), (0, 0.1, 0), (0, 0, 0.1)])
            corners = particles.add_particles(positions + (5, 0, 0), 0.1)
            particles.add_solid([corners], pbd.SOLIDS["foam"])
        system = pbd.ParticleSystem(particles, dt=1 / 60, substeps=10, iterations=10)
        assert bool(system.schedule.bands) != bool(solids)
        state = system.state()
        state.position[:1600] += wrinkles
        state.previous_position[:1600] += wrinkles
        system.set_state(state)
        system.step(20)
        found.append(system.positions()[:1600])
    assert found[0][:, 2].min() < 0.5
    np.testing.assert_allclose(*found, atol=5e-3)  # a hundredth of the fall: iterations have not converged
