"""Small steps with soft rows of "impulse": closed forms of the softness, and what any step has to keep."""

import math

import numpy as np
import pytest
from described import FAR
from marks import cases, slow

import rigid
from rigid.constraints.joints.gaps import joint_gaps

g = 9.81
STEP = 1 / 60


def solve(model, small_steps=4, dt=STEP, **options):
    return rigid.solver("impulse", model, dt=dt, small_steps=small_steps, **options)


# Softness -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("small_steps", cases([1, 4, 7], slow=(1, 7)))
def test_a_ball_sinks_by_gravity_over_the_square_of_the_frequency(small_steps):
    # At rest λ = m g h, and b + γ λ = 0: G = -γ m g h²/β = -g/ω², with h ω = π/2 on what nothing moves.
    model = rigid.Model()
    model.add_ground()
    ball = model.add_sphere(0.2, mass=3.0, position=(0, 0, 0.2))
    model.add_sphere(0.2, mass=3.0, position=(0, 0, FAR))  # same kernel as below
    solver = solve(model, small_steps)
    solver.step(400)
    omega = 0.5 * math.pi * small_steps / STEP
    assert solver.state().position[ball, 2] - 0.2 == pytest.approx(-g / omega**2, rel=1e-6)
    assert np.abs(solver.state().velocity[ball]).max() < 1e-12
    assert solver.contact_forces().forces.sum(axis=0)[2] == pytest.approx(3.0 * g, rel=1e-9)
    assert solver.statistics().residual == pytest.approx(g / omega**2, rel=1e-6)


def test_a_column_of_balls_sinks_by_what_each_contact_bears():
    # Ball k of n bears n - k - 1 balls above it, with h ω = π/2 and K = 2/m: G = -(n - k - 1) 2 g/ω². Balls exactly
    # above one another stay so, because nothing pushes them aside.
    model, count = rigid.Model(), 5
    model.add_ground()
    for k in range(count):
        model.add_sphere(0.1, mass=2.0, position=(0, 0, 0.1 + 0.2 * k))
    solver = solve(model)
    solver.step(600)
    z = solver.state().position[:, 2]
    omega = 0.5 * math.pi * 4 / STEP
    bears = np.arange(count - 1, 0, -1)
    assert np.diff(z) - 0.2 == pytest.approx(-2 * bears * g / omega**2, rel=1e-4)
    assert z[0] - 0.1 == pytest.approx(-count * g / omega**2, rel=1e-4)


def test_overlapping_balls_part_by_the_recurrence_and_gain_no_energy():
    # In a small step λ = -b/(K + γ), which moves the gap by h K λ: G' = G (1 - β/(1 + γ/K)). The second pass takes all
    # of the velocity back. With a = h ω = π/2 and ζ = 10: β = a/(a + 2 ζ), γ/K = 1/(a (a + 2 ζ)).
    model = rigid.Model(gravity=(0, 0, 0))
    for x, mass in ((0.0, 1.0), (0.17, 3.0)):
        model.add_sphere(0.1, mass=mass, position=(x, 0, 0))
    model.add_ground(-FAR)
    solver, a = solve(model), 0.5 * math.pi
    factor = 1 - a / (a + 20) / (1 + 1 / (a * (a + 20)))
    start = model.initial_state().position[:, 0]
    for k in range(1, 30):
        solver.step()
        light, heavy = solver.state().position[:, 0] - start
        assert heavy - light == pytest.approx(0.03 * (1 - factor ** (4 * k)), rel=1e-9)
        assert light == pytest.approx(-3 * heavy, rel=1e-9)
        assert solver.energy().kinetic < 1e-24


@pytest.mark.parametrize("stiffness", [1e2, 1e4, 1e7])
def test_springs_keep_their_stiffness_unless_they_are_stiffer_than_joints(stiffness):
    # A spring holds m g at q = -m g/k. One stiffer than k = m ω², h ω = π/2, is a joint: it sinks by less than g/ω².
    model = rigid.Model()
    body = model.add_sphere(0.1, mass=2.0, position=(0, 0, 1))
    damping = 2 * math.sqrt(2.0 * stiffness)
    model.add_slider(rigid.GROUND, body, (0, 0, 1), (0, 0, 1), spring=rigid.Spring(stiffness, damping))
    solver = solve(model)
    solver.step(600)
    sag, omega = 1 - solver.state().position[body, 2], 0.5 * math.pi * 4 / STEP
    if stiffness < 2.0 * omega**2:
        assert sag == pytest.approx(2 * g / stiffness, rel=1e-6)
    else:
        assert sag == pytest.approx(g / omega**2, rel=1e-6)


# What any step keeps --------------------------------------------------------------------------------------------------


def tumbling(contacts, boxes=True):
    """Boxes and balls, or balls, that fly into one another without gravity; or a chain of them."""
    model, rng = rigid.Model(gravity=(0, 0, 0)), np.random.default_rng(7)
    before = None
    for k in range(8):
        way = rng.normal(size=3)
        place = (0.5 * k, 0, 0) if not contacts else 1.2 * way / np.linalg.norm(way)
        velocity = rng.normal(size=3) if not contacts else -2.0 * place
        add = model.add_box if boxes and k % 2 else model.add_sphere
        size = (0.3, 0.3, 0.3) if boxes and k % 2 else 0.17
        body = add(size, mass=1.0 + k, position=place, velocity=velocity, angular_velocity=rng.normal(size=3))
        if before is not None and not contacts:
            model.add_ball(before, body, (0.5 * k - 0.25, 0, 0))
        before = body
    return model


@pytest.mark.parametrize("contacts", [slow(True), False])
def test_linear_momentum_is_kept_to_round_off(contacts):
    model = tumbling(contacts)
    solver, masses = solve(model, contacts=contacts), np.array([body.mass for body in model.bodies])
    start = masses @ solver.state().velocity
    moved = solver.state().velocity.copy()
    for _ in range(60):
        solver.step()
    assert np.abs(solver.state().velocity - moved).max() > 0.1
    assert masses @ solver.state().velocity == pytest.approx(start, abs=1e-12)


@pytest.mark.parametrize("small_steps", [4, slow(8)])
def test_gaps_of_a_swinging_chain_fall_with_the_square_of_the_small_step(small_steps):
    # One pass leaves a part of the velocity error v ~ h g, so a joint opens by h v ~ h² in a small step.
    def gap(small_steps):
        model, before = rigid.Model(), rigid.GROUND
        for k in range(4):
            link = model.add_capsule(0.03, 0.4, mass=1.0, position=(0.25 + 0.5 * k, 0, 0),
                                     rotation=(0.5**0.5, 0, 0.5**0.5, 0))  # fmt: skip
            model.add_ball(before, link, (0.5 * k, 0, 0))
            before = link
        solver, worst = solve(model, small_steps, contacts=False), 0.0
        for _ in range(60):
            solver.step()
            worst = max(worst, joint_gaps(model, solver.state()).max())
        return worst

    gaps = [gap(count) for count in (small_steps, 2 * small_steps)]
    assert gaps[0] < 0.02
    assert gaps[0] / gaps[1] > 3


@pytest.mark.slow
@pytest.mark.parametrize("friction", [0.2, 0.5])
def test_a_box_slides_on_a_slope_beyond_its_friction_angle_only(friction):
    # tan 20° = 0.364: it stays, or slides with g (sin - μ cos) by a t²/2, first order in the step.
    angle = math.radians(20)
    model = rigid.Model(gravity=(g * math.sin(angle), 0, -g * math.cos(angle)))
    model.add_ground(friction=friction)
    box = model.add_box((0.3, 0.3, 0.1), mass=2.0, position=(0, 0, 0.05), friction=friction)
    solver = solve(model)
    solver.step(60)
    acceleration = max(g * (math.sin(angle) - friction * math.cos(angle)), 0.0)
    assert solver.state().position[box, 0] == pytest.approx(0.5 * acceleration, abs=0.02 * acceleration + 2e-4)


@pytest.mark.parametrize("restitution", [0.0, 0.5, 1.0])
def test_a_ball_leaves_the_ground_with_its_restitution(restitution):
    # e times the velocity at the start of the step of the impact. That is less than sqrt(2 g) of the impact, by no more
    # than a step of gravity, and half a small step by which semi-implicit velocities are late.
    model = rigid.Model()
    model.add_ground()
    ball = model.add_sphere(0.1, mass=1.0, position=(0, 0, 1.1), restitution=restitution)
    model.add_sphere(0.1, mass=1.0, position=(0, 0, FAR))
    solver, velocities = solve(model), [0.0]
    while solver.time < 0.6:
        solver.step()
        velocities.append(solver.state().velocity[ball, 2])
    approach, fastest = -min(velocities), max(velocities)
    assert fastest == pytest.approx(restitution * approach, abs=1e-9)
    assert 0 < math.sqrt(2 * g) - approach < g * STEP * (1 + 1 / 8)


@pytest.mark.parametrize(("pairs", "small_steps"), [(3, 4), (40, 4), slow(40, 1), slow(40, 7)])
def test_balls_that_meet_at_any_instant_rebound(pairs, small_steps):
    # Without gravity v_2' - v_1' = -e (v_2 - v_1) and m_1 v_1 + m_2 v_2 stays, wherever in a small step they meet, and
    # whichever pass stops them. Few contacts have rows, many lie in packs.
    random, model = np.random.default_rng(pairs), rigid.Model(gravity=(0, 0, 0))
    e, v = random.uniform(0.1, 1.0, pairs), random.uniform([0.5, -2.0], [3.0, 0.0], (pairs, 2))
    for k in range(pairs):
        first, second = (0, k, 0), (0.4 + random.uniform(0, 0.2), k, 0)
        for mass, position, speed in zip((1.0, 3.0), (first, second), v[k]):
            velocity = (speed, 0, 0)
            model.add_sphere(0.1, mass=mass, position=position, velocity=velocity, restitution=e[k], friction=0.0)
    solver = solve(model, small_steps)
    solver.step(70)
    after = solver.state().velocity[:, 0].reshape(pairs, 2)
    assert after[:, 1] - after[:, 0] == pytest.approx(e * (v[:, 0] - v[:, 1]), rel=1e-5)
    assert after @ (1.0, 3.0) == pytest.approx(v @ (1.0, 3.0), rel=1e-9)


@pytest.mark.slow
def test_motors_keep_their_bounds_where_something_rebounds():
    # A cart of 1 kg gets 2 N for 0.6 s, also in the step in which a ball leaves the ground: v = F t/m.
    model = rigid.Model()
    model.add_ground()
    model.add_sphere(0.1, mass=1.0, position=(0, 0, 1.1), restitution=1.0)
    cart = model.add_box((0.2, 0.2, 0.2), mass=1.0, position=(5, 0, 3))
    model.add_slider(rigid.GROUND, cart, (5, 0, 3), (1, 0, 0), motor=rigid.Motor(speed=50.0, max_effort=2.0))
    solver = solve(model)
    solver.step(36)
    assert solver.state().velocity[0, 2] > 2
    assert solver.state().velocity[cart, 0] == pytest.approx(1.2, rel=1e-9)


@pytest.mark.parametrize("boxes", [False, slow(True)])
def test_a_snapshot_continues_bit_for_bit(boxes):
    model = tumbling(True, boxes)
    model.gravity = np.array([0, 0, -g])
    model.add_ground()
    solver = solve(model)
    solver.step(10)
    snapshot = solver.state()
    solver.step(20)
    digest = solver.digest()
    solver.set_state(snapshot)
    solver.step(20)
    assert solver.digest() == digest


@pytest.mark.parametrize(("options", "other"), [
    ({"coloured": True}, "coloured=True"), ({"integrator": "variational"}, "integrator='variational'")
])  # fmt: skip
def test_other_steps_are_refused(options, other):
    with pytest.raises(ValueError, match=f"small_steps is 2: expected 0 with {other}"):
        solve(tumbling(True), 2, **options)
    with pytest.raises(ValueError, match=r"small_steps is -1: expected"):
        solve(tumbling(True), -1)
