"""gravity_scale of bodies, with all solvers: fall, energy, joints, contacts, worlds, errors."""

import numpy as np
import pytest
from described import Y, Z, g, model_of
from marks import cases

import rigid

SOLVERS = rigid.SOLVERS
# What the solvers on rows do alike is tested with one of them in the ordinary suite.
SOME = cases(SOLVERS, slow=["articulated", "penalty"])
OPTIONS = {"impulse": {"iterations": 200, "tolerance": 1e-13}, "verlet": {"iterations": 200, "direction": "start"}}
H = 0.005


def solve(name, model, dt=H, **options):
    return rigid.solver(name, model, dt=dt, **{"contacts": False, **OPTIONS.get(name, {}), **options})


def two_rods(scales, gravity=g):
    """A rod on a hinge, and another on a ball joint at its end. Args: scales: of both; gravity: downwards [m/s²]."""
    model, last = rigid.Model(gravity=(0, 0, -gravity)), rigid.GROUND
    for k, (mass, scale) in enumerate(zip((1.5, 0.7), scales)):
        place = (0.25 + 0.5 * k, 0, 0)
        rod = model.add_box((0.5, 0.05, 0.08), mass=mass, position=place, name=f"rod {k}", gravity_scale=scale)
        if k == 0:
            model.add_hinge(last, rod, (0, 0, 0), Y, name="hinge")
        else:
            model.add_ball(last, rod, (0.5, 0, 0), name="ball")
        last = rod
    return model


# Motion ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", cases(SOLVERS, slow=["verlet"]))
def test_bodies_fall_with_their_share_of_gravity(name):
    # z = s a t²/2, where a differs from g by the scheme's order: the share s of what an ordinary body falls.
    scales, n, start = np.array([0.0, 0.25, 1.0, -0.5, 2.0]), 40, np.array([0.3, -0.2, 1.0])
    model = rigid.Model(gravity=(0, 0, -g))
    for k, scale in enumerate(scales):
        model.add_box((0.1, 0.2, 0.3), mass=1.0 + k, position=(k, 0, 0), velocity=start, gravity_scale=scale)
    solver = solve(name, model)
    solver.step(n)
    moved = solver.state().position - [body.position for body in model.bodies] - n * H * start
    fallen = -g * (n * H) ** 2 / 2 * (1.0 if name == "verlet" else 1 + 1 / n)  # semi-implicit Euler: n (n + 1)/2 h²
    assert np.abs(moved - np.outer(scales * fallen, Z)).max() < 1e-12


@pytest.mark.parametrize("name", cases(SOLVERS, slow=["verlet"]))
def test_a_scale_of_all_bodies_is_weaker_gravity(name):
    # Half of gravity, exactly: the same accelerations, energies and thresholds, so the same numbers.
    scaled, weak = solve(name, two_rods((0.5, 0.5))), solve(name, two_rods((1.0, 1.0), gravity=g / 2))
    for each in (scaled, weak):
        each.step(60)
    assert np.abs(scaled.state().position - weak.state().position).max() < 1e-12
    assert scaled.energy().total == pytest.approx(weak.energy().total, abs=1e-12)
    assert scaled.energy().potential < -0.1


@pytest.mark.parametrize("name", SOLVERS)
def test_energy_of_bodies_with_different_scales_is_constant(name):
    # A rod that falls beside one that rises. Errors of the energy are of the order of the step.
    errors = []
    for dt in (0.004, 0.002):
        solver, found = solve(name, two_rods((1.0, -0.7)), dt), []
        for _ in range(round(0.6 / dt / 10)):
            solver.step(10)
            found.append(solver.energy())
        errors.append(np.ptp([each.total for each in found]))
        exchanged = np.ptp([each.kinetic for each in found])
    assert exchanged > 1.0  # J
    assert errors[0] < 0.1 * exchanged
    assert errors[1] < 0.65 * errors[0]


# Forces ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SOLVERS)
def test_joint_forces_balance_what_gravity_does(name):
    # Σ m (v' - v)/h = Σ s m g + the force of a joint, for both rods at the hinge and for the second one at the ball.
    scales = (0.3, 2.0)
    model = two_rods(scales)
    solver = solve(name, model, dt=0.002)
    solver.step(30)
    before = solver.state().velocity
    solver.step()
    gained = model.masses[:, None] * (solver.state().velocity - before) / 0.002
    weights = (model.masses * scales)[:, None] * model.gravity
    found = solver.joint_forces()
    assert np.abs(found["hinge"][0] - (gained - weights).sum(axis=0)).max() < (1e-7 if name == "impulse" else 1e-8)
    assert np.abs(found["ball"][0] - (gained - weights)[1]).max() < (1e-7 if name == "impulse" else 1e-8)


@pytest.mark.parametrize("name", cases(SOLVERS, slow=["articulated", "penalty", "verlet"]))
def test_contacts_carry_the_share_of_the_weight(name):
    model = model_of(friction=0.5)
    options = {"friction": 0.5, "position": (0, 0, 0.1), "gravity_scale": 0.25}
    box = model.add_box((0.3, 0.3, 0.2), mass=4.0, **options)
    lifted = model.add_box((0.3, 0.3, 0.2), mass=4.0, **{**options, "position": (2, 0, 0.1), "gravity_scale": -0.5})
    solver = solve(name, model, dt=0.002 if name == "penalty" else H, contacts=True)
    solver.step(round(1.0 / solver.dt))
    contacts = solver.contact_forces()
    force = np.abs(contacts.forces.sum(axis=0)[2])
    assert force == pytest.approx(0.25 * 4.0 * g, rel=1e-3)
    assert abs(solver.state().position[box, 2] - 0.1) < 2e-3
    rise = solver.state().position[lifted, 2] - 0.1  # g t²/4, to first order in the step
    assert rise == pytest.approx(g / 4, rel=2 * solver.dt)


# Worlds, states, errors -----------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("name", cases(SOLVERS, slow=["articulated", "penalty", "impulse"]))
def test_worlds_have_their_own_scales(name):
    models = [two_rods(scales) for scales in ((1.0, 1.0), (0.0, 2.0))]
    together = solve(name, models)
    together.step(20)
    for world, model in enumerate(models):
        alone = solve(name, model)
        alone.step(20)
        assert np.abs(together.state().position[world] - alone.state().position).max() < 1e-13
        assert together.energy().total[world] == pytest.approx(alone.energy().total, abs=1e-10)


@pytest.mark.parametrize("name", SOME)
def test_gravity_can_change(name):
    solver = solve(name, two_rods((0.0, 0.0)))
    solver.gravity = (0, 0, 5.0)
    solver.step(20)
    assert np.abs(solver.state().velocity).max() == 0.0


@pytest.mark.parametrize(("scale", "error"), [("much", TypeError), (np.nan, ValueError), (1e80, ValueError)])
def test_scales_are_checked(scale, error):
    for add in (rigid.Model().add_body, lambda **given: rigid.Model().add_sphere(0.1, **given)):
        with pytest.raises(error, match="gravity_scale"):
            add(mass=1.0, gravity_scale=scale, **({"inertia": (1, 1, 1)} if add.__name__ == "add_body" else {}))
