"""Materials that flow: the law of pulled, pressed and sheared ones, and what does not flow."""

import itertools

import numpy as np
import pytest
from blocks import areas, body
from marks import slow
from scipy.optimize import brentq
from strips import masses_of, sheet, turned

import pbd

CLAY = pbd.Solid(young=2e5, poisson=0.3, damping=0.02, yield_strain=0.02, hardening=0.5)
FOIL = pbd.Fabric(warp=120.0, weft=60.0, shear=25.0, poisson=0.3, damping=0.01, yield_strain=0.02, hardening=0.5)


# Solids ---------------------------------------------------------------------------------------------------------------


def bar_with_free_sides(solid, a):
    """ε_eq, the stretch across b, and Cauchy's stress of an elastic bar that is stretched by a.

    0 = P_b = μ b + λ (a b² - γ) a b gives b, and σ = P_a/b². Hencky's strains are log a and log b, so
    ε_eq = (log a - log b)/(1 + ν), which is log a for small strains.
    """
    lame, shear = solid.lame()
    bulk = lame + shear
    b = np.sqrt((1 + shear / bulk - shear / (bulk * a)) / a)
    stress = (shear * a * a + bulk * (a * b * b - 1 - shear / bulk) * a * b * b) / (a * b * b)
    return (np.log(a) - np.log(b)) / (1 + solid.poisson), b, stress


def bar_that_flows(solid, stretches):
    """Stretch across, stress, logarithmic plastic strain and p of a bar whose length goes through `stretches` (n, 4).

    With a = λ exp(-ε_p) it flows until |ε_eq(a)| = y + η p, by Δp = |Δε_p|. Δε_p across is half of that, so that the
    volume stays.
    """
    strain, p, found = 0.0, 0.0, []
    for stretch in stretches:
        bound, now = solid.yield_strain + solid.hardening * p, bar_with_free_sides(solid, stretch * np.exp(-strain))[0]
        if abs(now) > bound:
            sign = np.sign(now)

            def beyond(change, sign=sign, bound=bound, stretch=stretch, strain=strain):
                elastic = stretch * np.exp(-strain - sign * change)
                return sign * bar_with_free_sides(solid, elastic)[0] - bound - solid.hardening * change

            change = brentq(beyond, 0.0, abs(now), xtol=1e-15)
            strain, p = strain + sign * change, p + change
        _, b, stress = bar_with_free_sides(solid, stretch * np.exp(-strain))
        found.append((b * np.exp(-strain / 2), stress, strain, p))
    return np.array(found)


def there_and_back(*turns):
    """From one to each of these stretches in turn, by steps of at most 0.01."""
    path = [1.0]
    for turn in turns:
        path += list(np.linspace(path[-1], turn, max(2, round(abs(turn - path[-1]) / 0.01) + 1))[1:])
    return path


@pytest.mark.parametrize("hardening", [0.0, 0.4])
@pytest.mark.parametrize("seed", [0, slow(1), slow(2)])
def test_a_bar_that_is_pulled_and_pressed_has_the_stress_of_the_law(seed, hardening):
    # All particles move as in a bar with free sides that turns, too: the stress is that of the law along the bar, and
    # zero across, to round-off. F_p keeps volume.
    rng = np.random.default_rng(seed)
    given = {"yield_strain": rng.uniform(0.005, 0.03), "hardening": hardening, "damping": 0.01}
    solid = pbd.Solid(10 ** rng.uniform(3, 8), rng.uniform(0, 0.49), **given)
    particles, points = body(solid, (1, 1, 1), (0.1, 0.1, 0.1), pinned=lambda x: x[:, 0] > -1)
    system = pbd.ParticleSystem(particles, dt=0.01, substeps=1, iterations=1)
    path = there_and_back(1.1, 1.05, 1.2, 0.9, 1.0)
    for stretch, (across, stress, _, p) in zip(path, bar_that_flows(solid, path)):
        turn = turned(rng)
        system.set_positions(points * (stretch, across, across) @ turn.T)
        system.step()
        expected = stress * np.outer(turn[:, 0], turn[:, 0])
        np.testing.assert_allclose(system.stress(), np.tile(expected, (6, 1, 1)), atol=1e-11 * solid.young)
        flowed = system.state().flowed_solids
        np.testing.assert_allclose(flowed[:, 9], p, atol=1e-12)
        np.testing.assert_allclose(np.linalg.det(flowed[:, :9].reshape(-1, 3, 3)), 1, atol=1e-13)
        # Strain is that from the shape as described.
        np.testing.assert_allclose(system.strain()[:, 0, 0], (stretch**2 - 1) / 2, atol=1e-12)
    assert p > 0.1


def pulled_bar(solid, rotation):
    """A free cube, and forces on its particles that pull it with one Pascal of its section at rest."""
    particles, points = body(solid, (1, 1, 1), (0.1, 0.1, 0.1), rotation=rotation)
    ends = [areas(particles, points, points[:, 0] == x) for x in (0.0, 0.1)]
    return particles, np.outer(ends[1] - ends[0], rotation[:, 0])


@pytest.mark.parametrize(("seed", "dt"), [(0, 1 / 60), slow(0, 1 / 240), slow(1, 1 / 60), slow(2, 1 / 60)])
def test_dead_loads_come_to_rest_where_the_law_says(seed, dt):
    # Loading, unloading and reloading a free bar. Its flow settles within (τ + h)(1 + η)/η, a tenth of each hold. For
    # small strains, ε = σ/E + (σ - σ_y)/(η E), which is σ_y + E_t (ε - σ_y/E) with E_t = E H/(E + H), to O(ε); without
    # load ε - σ/E remains.
    rng = np.random.default_rng(seed)
    y, hardening, rotation = rng.uniform(0.003, 0.006), rng.uniform(0.4, 0.8), turned(rng)
    solid = pbd.Solid(10 ** rng.uniform(6, 8), rng.uniform(0, 0.45), damping=0.01, yield_strain=y, hardening=hardening)
    particles, pull = pulled_bar(solid, rotation)
    system = pbd.ParticleSystem(particles, dt=dt, substeps=1, iterations=3)
    stretches, before = [], 0.0
    for load in (1.5, 0.0, 1.2, 2.0, 0.0):
        for part in np.linspace(0, 1, round(0.3 / dt)):
            system.set_forces((before + part * (load - before)) * y * solid.young * pull)
            system.step()
        system.step(round(1.0 / dt))
        before = load
        strain = rotation.T @ system.strain().mean(axis=0) @ rotation
        stretches.append(np.sqrt(1 + 2 * strain[0, 0]))
        across, stress, _, p = bar_that_flows(solid, stretches)[-1]
        force = load * y * solid.young
        assert stress == pytest.approx(force / across**2, abs=1e-4 * y * solid.young)
        assert system.state().flowed_solids[:, 9] == pytest.approx(p, abs=1e-4 * y)
        most = max(load, 1.5 if len(stretches) < 4 else 2.0)
        expected = y * (load + (most - 1) / hardening)
        assert stretches[-1] - 1 == pytest.approx(expected, rel=3 * (stretches[-1] - 1) + 3 * y)
    assert p > y


@pytest.mark.slow
@pytest.mark.parametrize("dt", [1 / 60, 1 / 240])
def test_a_press_without_hardening_has_the_yield_stress(dt):
    # Two planes without friction press a cube by ten times its yield strain, and let go of it. Perfect plasticity:
    # σ = -σ_y, and for the law of finite strains that of `bar_that_flows`. While it flows, sides lag behind by the
    # strain rate times (τ + h), half of y here; what that unloads at the end is below a hundredth of it.
    solid = pbd.Solid(1e5, 0.3, damping=0.01, yield_strain=0.01)
    particles, _ = body(solid, (1, 1, 1), (0.1, 0.1, 0.1))
    for side, sign in ((0.0, 1.0), (0.1, -1.0)):

        def motion(time, side=side, sign=sign):
            return side + sign * 0.005 * min(2 * time, 1.0, 2 * (2 - time)), 0.0, 0.0

        particles.add_collider(pbd.Plane(normal=(sign, 0, 0)), motion=motion)
    system = pbd.ParticleSystem(particles, dt=dt, substeps=1, iterations=6)
    system.step(round(1.5 / dt))
    length = np.ptp(system.positions()[:, 0]) / 0.1
    assert length == pytest.approx(0.9, abs=1e-3)
    _, stress, plastic, _ = bar_that_flows(solid, [length])[0]
    np.testing.assert_allclose(system.stress()[:, 0, 0], stress, rtol=5e-3)
    assert stress == pytest.approx(-0.01 * solid.young, rel=0.03)
    system.step(round(2.0 / dt))
    stretch = np.sqrt(1 + 2 * system.strain()[:, 0, 0])  # it may turn
    np.testing.assert_allclose(stretch, np.exp(plastic), atol=1e-3)


def test_shear_flows_at_the_yield_stress_over_root_three():
    # Von Mises: √3 |τ| = σ_y, reached at the angle γ_y = 2 (1 + ν) y/√3; beyond, with hardening, Δp = Δγ_p/√3. All to
    # O(γ). The normal stresses are O(γ) of τ.
    solid = pbd.Solid(1e5, 0.3, damping=0.01, yield_strain=1e-3, hardening=0.25)
    particles, points = body(solid, (1, 1, 1), (0.1, 0.1, 0.1), pinned=lambda x: x[:, 0] > -1)
    system = pbd.ParticleSystem(particles, dt=0.01, substeps=1, iterations=1)
    shear, at_yield = solid.lame()[1], 2 * 1.3 * 1e-3 / np.sqrt(3)
    for gamma in np.linspace(0, 3 * at_yield, 16)[1:]:
        system.set_positions(points + gamma * np.outer(points[:, 2], (1, 0, 0)))
        system.step()
        # √3 G (γ - √3 p) = E (y + η p) where it flows.
        p = max(0.0, (np.sqrt(3) * shear * gamma - 1e5 * 1e-3) / (1e5 * 0.25 + 3 * shear))
        stress = system.stress()[0]
        assert stress[0, 2] == pytest.approx(shear * (gamma - np.sqrt(3) * p), rel=3 * gamma)
        assert abs(stress - stress[0, 2] * np.eye(3)[[2, 1, 0]] * [1, 0, 1]).max() < 3 * gamma * stress[0, 2]
        assert system.state().flowed_solids[0, 9] == pytest.approx(p, rel=3 * gamma, abs=1e-12)


def test_rotation_and_change_of_volume_do_not_flow():
    solid = pbd.Solid(1e5, 0.3, damping=0.01, yield_strain=0.02)
    particles, points = body(solid, (1, 1, 1), (0.1, 0.1, 0.1), pinned=lambda x: x[:, 0] > -1)
    system, rng = pbd.ParticleSystem(particles, dt=0.01), np.random.default_rng(0)
    start = system.state().flowed_solids
    for size, turn in itertools.product((1.0, 0.7, 1.5), (turned(rng), turned(rng))):
        system.set_positions(size * points * (1.01, 1.0, 0.99) @ turn.T)  # |e| is below the yield
        system.step()
        assert (system.state().flowed_solids == start).all()


def test_what_is_inside_out_or_crushed_does_not_flow():
    particles, points = body(CLAY, (1, 1, 1), (0.1, 0.1, 0.1), pinned=lambda x: x[:, 0] > -1)
    system = pbd.ParticleSystem(particles.with_positions(points * (1, 1, -1)), dt=0.01)
    start = system.state().flowed_solids
    for scale in ((1, 1, -1), (1, 1, 0), (3, 3, 0.05)):
        system.set_positions(points * scale)
        system.step()
        assert (system.state().flowed_solids == start).all()


def test_a_body_that_is_tangled_forgets_what_flowed():
    # It comes back to its shape as described, as bodies that do not flow (pbd/implicit/recovery.py).
    particles, points = body(CLAY)
    system = pbd.ParticleSystem(particles, dt=1 / 60, substeps=1, iterations=4)
    start = system.state().flowed_solids
    system.set_positions(points * (1.5, 1, 1))
    system.step()
    assert (system.state().flowed_solids[:, 9] > 0.05).all()
    system.set_positions(np.random.default_rng(0).uniform(0, 0.3, points.shape))
    system.set_velocities(0 * points)
    system.step()
    assert system.state().tangled.any()
    assert (system.state().flowed_solids == start).all()
    system.step(300)
    assert not system.state().tangled.any()


# Fabrics --------------------------------------------------------------------------------------------------------------


def pinned_sheet(fabric, warp=(1.0, 0.0, 0.0)):
    """A sheet of 2 x 2 triangles whose particles are all pinned."""
    x, triangles, _ = sheet(0.2, 0.2, 2, 2)
    particles = pbd.Particles(gravity=(0, 0, 0))
    particles.add_particles(x, np.inf)
    particles.add_membrane(triangles, fabric, warp=warp)
    return particles, x


def stretched(x, warp, weft, cosine):
    """Points in the plane z = 0 whose threads along x and y have these strains and this cosine between them."""
    a, b = np.array((1 + warp, 0, 0)), (1 + weft) * np.array((cosine, np.sqrt(1 - cosine**2), 0))
    return x[:, :1] * a + x[:, 1:2] * b


@pytest.mark.parametrize("hardening", [0.0, 0.4])
def test_each_thread_and_the_shear_flow_by_themselves(hardening):
    # Without contraction, by hand: δ = (|e| - y - η p)/(1 + η), the lengths at rest grow by (1 + e)/(1 + e - δ), the
    # cosine at rest by δ. Tensions are K e of what is left, along threads that may turn.
    fabric = pbd.Fabric(120.0, 60.0, 25.0, damping=0.01, yield_strain=0.02, hardening=hardening)
    particles, x = pinned_sheet(fabric)
    system, rng = pbd.ParticleSystem(particles, dt=0.01), np.random.default_rng(0)
    rest, p = np.array([1.0, 1.0, 0.0]), np.zeros(3)
    for strains in [(0.01, -0.01, 0.015), (0.1, 0, 0), (0.1, -0.1, 0.1), (0, 0.2, -0.3), (0.05, 0.05, 0), (-0.2, 0, 0)]:
        system.set_positions(stretched(x, *strains) @ turned(rng).T)
        system.step()
        e = np.append((1 + np.array(strains[:2])) / rest[:2] - 1, strains[2] - rest[2])
        change = np.maximum(np.abs(e) - 0.02 - hardening * p, 0) / (1 + hardening)
        left = e - np.sign(e) * change
        rest[:2] *= (1 + e[:2]) / (1 + left[:2])
        rest[2] += e[2] - left[2]
        p += change
        expected = np.tile(np.concatenate([rest, p]), (8, 1))
        np.testing.assert_allclose(system.state().flowed_membranes, expected, atol=1e-12)
        np.testing.assert_allclose(system.stress(), np.tile([120, 60, 25] * left, (8, 1)), atol=1e-9)
        np.testing.assert_allclose(system.strain(), np.tile(strains, (8, 1)), atol=1e-12)
    assert (p > 0.1).all()


@pytest.mark.parametrize("seed", range(4))
def test_threads_that_contract_flow_by_their_tensions(seed):
    # |T_i| <= k_i (y + η p_i) after each step, with equality if thread i flowed, to round-off. Energy falls.
    rng = np.random.default_rng(seed)
    poisson, hardening = rng.uniform(-0.6, 0.6), rng.choice([0.0, 0.3])
    given = {"damping": 0.01, "yield_strain": 0.02, "hardening": hardening}
    fabric = pbd.Fabric(100.0, 100 * rng.uniform(0.2, 1), 30.0, poisson, **given)
    particles, x = pinned_sheet(fabric)
    system = pbd.ParticleSystem(particles, dt=0.01)
    for _ in range(20):
        before = system.state().flowed_membranes[0, 3:]
        system.set_positions(stretched(x, *rng.uniform(-0.1, 0.1, 3)))
        energy = system.energy().total
        system.step()
        assert system.energy().total <= energy
        p = system.state().flowed_membranes[0, 3:]
        excess = np.abs(system.stress()[0]) / [100.0, fabric.weft, 30.0] - 0.02 - fabric.hardening * p
        assert (excess < 1e-12).all()
        np.testing.assert_allclose(excess[p > before], 0, atol=1e-12)


def pulled_strip(along, fabric):
    """A free strip of 0.3 x 0.1 m, and forces that pull it along one thread with one Newton for each metre of width."""
    x, triangles, number = sheet(0.3, 0.1, 3, 1)
    particles = pbd.Particles(gravity=(0, 0, 0))
    particles.add_particles(x, masses_of(x, triangles, fabric.density))
    particles.add_membrane(triangles, fabric, warp=(1, 0, 0) if along == "warp" else (0, 1, 0))
    share = np.zeros(len(x))
    share[number[-1]], share[number[0]] = 0.05, -0.05
    return particles, np.outer(share, (1, 0, 0))


@pytest.mark.parametrize("dt", [1 / 60, slow(1 / 240)])
@pytest.mark.parametrize("along", ["warp", "weft"])
def test_a_strip_flows_as_far_as_its_load(along, dt):
    # T = k (y + η p) for the stiffness k of a strip with free sides, which contracts by its ratio. Without the load,
    # the plastic strain remains: p to O(p) of it, because the rest length grows by δ/(1 + e) of itself.
    particles, pull = pulled_strip(along, FOIL)
    system = pbd.ParticleSystem(particles, dt=dt, substeps=1, iterations=3)
    stiffness = FOIL.warp if along == "warp" else FOIL.weft
    for part in np.linspace(0, 1.5, round(0.5 / dt)):
        system.set_forces(part * 0.02 * stiffness * pull)
        system.step()
    system.step(round(1.0 / dt))
    column = 0 if along == "warp" else 1
    p = system.state().flowed_membranes[:, 3:]
    np.testing.assert_allclose(p[:, column], 0.01 / 0.5, rtol=1e-3)
    np.testing.assert_allclose(np.delete(p, column, axis=1), 0, atol=1e-6)
    tensions = system.stress()
    np.testing.assert_allclose(tensions[:, column], 0.03 * stiffness, rtol=1e-4)
    np.testing.assert_allclose(tensions[:, 1 - column], 0, atol=1e-4 * stiffness)
    system.set_forces(0 * pull)
    system.step(round(1.0 / dt))
    assert system.strain()[:, column].mean() == pytest.approx(0.02, rel=0.03)
    np.testing.assert_allclose(system.stress(), 0, atol=1e-4 * stiffness)
