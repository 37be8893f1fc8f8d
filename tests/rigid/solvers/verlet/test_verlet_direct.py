"""Frames whose sticks and joints are solved directly."""

import numpy as np
import pytest
from described import assert_continues, momenta_of_particles
from marks import slow
from references import bent_chain, energy_changes

import rigid
from rigid.constraints.joints.gaps import joint_gaps, joint_turns


def solver_of(model, dt, iterations=2, solve="direct", **options):
    return rigid.solver("verlet", model, dt=dt, iterations=iterations, solve=solve, contacts=False, **options)


def end_of(model, dt, time, **options):
    solver = solver_of(model, dt, **options)
    solver.step(round(time / dt))
    return solver.state().position


def test_two_rounds_equal_many_iterations():
    # Gauss-Seidel on 102 sticks converges to the solution of the same equations, with a rest of 1e-5 m after 1,500
    # iterations.
    direct = end_of(bent_chain(), 0.001, 0.05)
    iterated = end_of(bent_chain(), 0.001, 0.05, iterations=1500, solve="iterative")
    assert direct == pytest.approx(iterated, abs=2e-5)


def test_spatial_chain_is_of_second_order_with_two_rounds():
    # The error of SHAKE is c h²: differences of results at h, h/2, h/4 and h/8 have ratios of four.
    results = [end_of(bent_chain(), h, 1.0) for h in (0.004, 0.002, 0.001, 0.0005)]
    differences = [np.abs(a - b).max() for a, b in zip(results, results[1:])]
    assert differences[0] / differences[1] == pytest.approx(4, abs=0.3)
    assert differences[1] / differences[2] == pytest.approx(4, abs=0.3)
    assert differences[1] * 4 / 3 < 0.008  # off at 2 ms


def energy_of(solver, seconds, every):
    """Greatest rise over the running minimum, and drift between the first and last tenth, in parts of m g L."""
    change = energy_changes(solver, seconds, every)
    tenth = len(change) // 10
    return np.max(change - np.minimum.accumulate(change)), abs(change[-tenth:].mean() - change[:tenth].mean())


@pytest.mark.parametrize(
    ("dt", "level", "rise", "drift"),
    [(1 / 60, False, 0.02, 0.005), (0.01, False, 0.007, 0.005), slow(0.002, True, 0.01, 0.005)],
)
def test_energy_does_not_drift(dt, level, rise, drift):
    # Converged SHAKE is symplectic: the energy oscillates, without drift, while links turn by less than a radian in
    # a step. A chain from level whips, so it needs shorter steps.
    found = energy_of(solver_of(bent_chain(level=level), dt), 20, max(1, round(0.01 / dt)))
    assert found[0] < rise
    assert found[1] < drift


@pytest.mark.parametrize(("last", "dt"), [(100.0, 0.005), slow(1000.0, 0.0005)])
def test_heavy_last_rod(last, dt):
    # Iterations would need some thousands here. Light rods under the weight M g swing across with
    # ω = sqrt(3 M g/(m l)), 77 and 240 /s, and the step must be far below 2/ω: at 1 ms the second chain gains energy.
    found = energy_of(solver_of(bent_chain(last), dt, iterations=3), 5, 5)
    assert found[0] < 0.01
    assert found[1] < 0.01


def swinging_on_a_box(kind, seed):
    """A heavy box that stands, and a rod that swings beside it, on a hinge or along the limit of a ball joint."""
    random = np.random.default_rng(seed)
    model = rigid.Model()
    model.add_ground(friction=0.8)
    box = model.add_box((0.6, 0.6, 0.5), mass=60.0, position=(0, 0, 0.25), friction=0.8)
    angle, length, mass = random.uniform((0.5, 0.15, 1.0), (1.2, 0.4, 6.0))
    hub, axis, across = np.array([0.4, 0.0, 0.45]), np.array([1.0, 0.0, 0.0]), (0.0, np.sin(angle), -np.cos(angle))
    swing = random.uniform(0.5, 1.1) if kind == "limit" else 0.5 * np.pi
    along = np.cos(swing) * axis + np.sin(swing) * np.array(across)
    rod = model.add_capsule(0.04, start=hub + 0.5 * length * along, end=hub + length * along, mass=mass)
    if kind == "limit":
        model.add_ball(box, rod, hub, axis=along, cone_axis=axis, swing_limit=swing + 1e-9)
    else:
        model.add_hinge(box, rod, hub, axis)
    return model


@pytest.mark.slow
@pytest.mark.parametrize("substeps", [2, 8])
@pytest.mark.parametrize("kind", ["limit", "hinge"])
def test_what_swings_on_a_body_at_rest_gains_no_energy(kind, substeps):
    # Along gradients at the end of a substep, or at its start, a joint takes energy from what turns, or none. Along
    # older ones it adds some in each substep. So no second reaches the energy of the one before.
    models = [swinging_on_a_box(kind, seed) for seed in range(4)]
    solver = rigid.solver(
        "verlet", models, dt=1 / 60, substeps=substeps, iterations=100, tolerance=1e-9, solve="direct",
        direction="current", damping=0.0,
    )  # fmt: skip
    energies = []
    for _ in range(360):
        solver.step(1)
        energies.append(solver.energy().total)
    highest = np.max(np.reshape(energies, (6, 60, len(models))), axis=1)
    assert (np.diff(highest, axis=0) < 0.0).all()


def test_free_chain_keeps_its_momenta():
    model = rigid.Model(gravity=(0, 0, 0))
    before = None
    for k in range(4):
        rod = model.add_box((0.2, 0.05, 0.03), mass=1.0 + k, position=(0.2 * k, 0, 0), velocity=(0, k, -1 + k * k))
        if before is not None:
            model.add_ball(before, rod, (0.2 * k - 0.1, 0, 0))
        before = rod
    solver = solver_of(model, 0.005)
    solver.step(1)
    start = np.concatenate(momenta_of_particles(solver))
    solver.step(300)
    assert np.concatenate(momenta_of_particles(solver)) == pytest.approx(start, abs=1e-10)


def jointed(kind):
    """Two boxes on a joint, the first on a hinge."""
    model = rigid.Model()
    first = model.add_box((0.4, 0.1, 0.08), mass=1.0, position=(0.2, 0, 0))
    model.add_hinge(rigid.GROUND, first, (0, 0, 0), (0, 1, 0.2))
    second = model.add_box((0.3, 0.12, 0.06), mass=0.7, position=(0.55, 0.05, 0.02), velocity=(0, 0.2, 0))
    point = (0.4, 0.02, 0.0)
    if kind == "ball":
        model.add_ball(first, second, point)
    elif kind == "fixed":
        model.add_fixed(first, second, point)
    elif kind == "universal":
        model.add_universal(first, second, point, (0, 1, 0), (0, 0, 1))
    elif kind == "slider":
        model.add_slider(first, second, point, (1, 0, 0))
    elif kind == "distance":
        model.add_distance(first, second, (0.4, 0, 0), (0.55, 0.05, 0.08))
    return model


@pytest.mark.parametrize("kind", ["ball", "fixed", slow("universal"), slow("slider"), "distance"])
def test_all_joints_agree_with_iterations(kind):
    # The same discrete equations for joints made of sticks, with a rest of 1e-5 m after 1,500 iterations. Universal
    # joints and sliders have other impulses when they are iterated, equal to second order.
    direct, iterated = (
        end_of(jointed(kind), 0.002, 0.2, solve=solve, iterations=iterations)
        for solve, iterations in (("direct", 3), ("iterative", 1500))
    )
    assert direct == pytest.approx(iterated, abs=2e-4 if kind in ("universal", "slider") else 1e-5)
    model = jointed(kind)
    solver = solver_of(model, 0.002, iterations=3)
    solver.step(300)
    assert joint_gaps(model, solver.state()).max() < 1e-8
    assert joint_turns(model, solver.state()).max() < 1e-6


def test_statistics_count_what_is_solved_directly():
    direct, iterated = (solver_of(bent_chain(), 0.01, solve=solve) for solve in ("auto", "iterative"))
    assert direct.statistics().direct == 79
    assert iterated.statistics().direct == 0


@pytest.mark.slow
def test_worlds_of_their_own_and_states():
    models = [bent_chain(m) for m in (1.0, 5.0)]
    both, second = solver_of(models, 0.005), solver_of(models[1], 0.005)
    for solver in (both, second):
        solver.step(20)
    assert (both.state().position[1] == second.state().position).all()
    assert_continues(second)


def test_what_the_default_solves_directly():
    # Joined rods are, and end their iterations early. So are the six sticks of a box alone.
    chain = rigid.solver("verlet", bent_chain(), contacts=False)
    chain.step(10)
    assert chain.statistics().direct > 50
    assert chain.statistics().iterations < 10
    assert joint_gaps(chain.model, chain.state()).max() < 1e-12
    model = rigid.Model()
    model.add_box((0.2, 0.2, 0.2), mass=1.0)
    box = rigid.solver("verlet", model)
    box.step(10)
    assert box.statistics().direct == 6
    assert box.statistics().iterations == 1
