"""Contacts of bodies with the solver verlet: momentum, friction, rest, restitution, stacks, forces, snapshots."""

import math

import numpy as np
import pytest
from described import FAR, momenta_of_particles
from marks import slow

import rigid
from rigid.collision.data import POINT
from rigid.collision.overlaps import Overlaps
from rigid.rotation import from_axis_angle
from rigid.solvers.verlet.contacts import BRAKING, CORRECTION, SLOP
from rigid.solvers.verlet.data import MARGIN

g = 9.81


@pytest.mark.slow
@pytest.mark.parametrize("restitution", [0.0, 0.7])
@pytest.mark.parametrize("direction", ["start", "current"])
def test_contact_of_free_bodies_conserves_both_momenta(direction, restitution):
    # Masses 1 and 9, off centre, spinning, with friction. Verlet conserves Σ m (x - x*) and Σ m x* × x, and so does an
    # impulse on both bodies at one point. (Angular momentum only if the sticks do, with direction "start".)
    model = rigid.Model(gravity=(0, 0, 0))
    model.add_box((0.3, 0.2, 0.1), mass=1.0, position=(0.1, 0.05, 0.4), velocity=(0, 0, -4), restitution=restitution)
    model.add_box((0.5, 0.4, 0.3), mass=9.0, angular_velocity=(0.2, 0.3, 1.0), friction=0.8)
    model.add_ground(-FAR)
    solver = rigid.solver("verlet", model, dt=0.002, iterations=50, direction=direction)
    solver.step()
    linear, angular = momenta_of_particles(solver)
    of_bodies = rigid.angular_momentum(model, solver.state())
    assert np.abs(of_bodies - angular).max() < 1e-9  # frames are rigid to 1e-10 here
    touched = 0
    for _ in range(150):
        solver.step()
        touched += solver.statistics().contacts
    assert touched > 0
    now = momenta_of_particles(solver)
    # A momentum m (x - x*)/h is known to 9 kg · 1e-16 · 0.5 m / 2 ms = 2e-13 a step.
    assert np.abs(now[0] - linear).max() < 150 * 2e-13
    if direction == "start":
        assert np.abs(now[1] - angular).max() < 150 * 2e-13
    assert np.linalg.norm(solver.state().velocity[0] - (0, 0, -4)) > 1  # they collided


@pytest.mark.parametrize("friction", [0.2, 0.5, 0.8])
def test_box_on_a_slope_slides_beyond_its_friction_angle_only(friction):
    # The box sticks while tan θ <= μ. Otherwise a = g (sin θ - μ cos θ). The step in which the contact begins may lack
    # all of its friction, a speed of g h sin θ.
    for degrees in (-0.2, 0.2):
        angle = math.atan(friction) + math.radians(degrees)
        model = rigid.Model(gravity=(g * math.sin(angle), 0, -g * math.cos(angle)))
        model.add_ground(friction=friction)
        model.add_box((0.2, 0.2, 0.1), mass=2.0, position=(0, 0, 0.05), friction=friction)
        model.add_box((0.2, 0.2, 0.1), mass=2.0, position=(0, 0, FAR))
        solver = rigid.solver("verlet", model, dt=1 / 240, iterations=10)
        solver.step(240)
        x = solver.state().position[0, 0]
        if degrees < 0:
            solver.step(2400)
            assert abs(solver.state().position[0, 0] - x) < 1e-6  # it does not creep
            assert x < 1e-4
        else:
            expected = g * (math.sin(angle) - friction * math.cos(angle)) / 2
            assert x == pytest.approx(expected, abs=g * math.sin(angle) / 240)


@pytest.mark.slow
@pytest.mark.parametrize("restitution", [0.5, 1.0])
def test_ball_rebounds_to_the_square_of_its_restitution(restitution):
    # z_k = e^2k z_0 above the ground. The error of the impact's time does not matter, because the rebound starts from
    # the surface with the speed there. Two errors remain: the sampling of the peaks, g h²/8, and the skin in which
    # bodies stop one another, 0.3 · 2 % of the ball's half width of 0.1 sqrt(3 · 0.2) m.
    model = rigid.Model()
    model.add_ground(restitution=restitution)
    model.add_sphere(0.1, mass=1.0, position=(0, 0, 1.1))
    h = 1 / 240
    solver = rigid.solver("verlet", model, dt=h)
    heights = []
    for _ in range(480):
        solver.step()
        heights.append(solver.state().position[0, 2] - 0.1)
    peaks = [b for a, b, c in zip(heights, heights[1:], heights[2:]) if a < b >= c]
    assert len(peaks) >= 1
    for k, peak in enumerate(peaks[:3], 1):
        assert peak == pytest.approx(restitution ** (2 * k), abs=g * h * h / 8 + 0.006 * 0.0775)


@pytest.mark.slow
def test_rolling_ball_keeps_its_speed_and_does_not_sink():
    # θ = ω h = 1/6 in each step. The point that touched rises by r (1 - cos θ); the contact includes r sin²θ/2 of it.
    # The ball sinks by the rest, r θ⁴/8, in each step, and a fifth of the overlap beyond the slop is corrected. The
    # slop is a quarter of 2 % of the ball's half width.
    model = rigid.Model()
    model.add_ground(friction=0.5)
    r, h, v = 0.1, 1 / 240, 4.0
    model.add_sphere(r, mass=1.0, position=(0, 0, r), velocity=(v, 0, 0), angular_velocity=(0, v / r, 0))
    solver = rigid.solver("verlet", model, dt=h)
    deepest = 0.25 * 0.02 * r * math.sqrt(3 * 0.2) + 5 * r * (v / r * h) ** 4 / 8
    for _ in range(8):
        solver.step(120)
        assert -deepest < solver.state().position[0, 2] - r < 1e-6
    assert solver.state().velocity[0, 0] == pytest.approx(v, rel=1e-3)


def stack(count, size=0.2, spin=0.0, **options):
    """Boxes one on top of the other."""
    model = rigid.Model()
    model.add_ground(friction=0.6)
    for k in range(count):
        model.add_box(
            (size, size, size), mass=1.0, position=(0, 0, size * (k + 0.5)),
            rotation=from_axis_angle((0, 0, 1), spin * k), friction=0.6,
        )  # fmt: skip
    return rigid.solver("verlet", model, **{"dt": 1 / 60, "iterations": 30, "substeps": 10, **options})


@pytest.mark.parametrize("spin", [0.0, slow(0.3)])
def test_stack_of_ten_boxes_stands(spin):
    solver = stack(10, spin=spin)
    start = solver.state().position.copy()
    farthest = 0.0
    for _ in range(20):
        solver.step(60)
        farthest = max(farthest, np.linalg.norm(solver.state().position[-1] - start[-1]))
    assert solver.time == pytest.approx(20)
    assert farthest < 0.002


def test_overlap_under_gravity_is_corrected_as_fast_as_a_tenth_of_gravity_brakes():
    # The overlap d beyond the slop falls by the lesser of d/5 and h √(2 a d) in a step, with a = g/10. Gravity brakes
    # more than a, so the box stays in contact, and follows this to what thirty iterations leave. Without the bound on
    # d/5 it would end at t = √(2 d/a) = 0.40 s; with it d falls by a fifth per step below 50 a h² = 0.85 mm.
    size, h, start, a = 0.2, 1 / 240, 0.08, BRAKING * g
    model = rigid.Model(gravity=(0, 0, -g))
    model.add_ground()
    model.add_box((size, size, size), mass=3.0, position=(0, 0, size / 2 - start))
    model.add_box((size, size, size), mass=1.0, position=(0, 0, FAR))
    solver = rigid.solver("verlet", model, dt=h, iterations=30)
    slop = SLOP * MARGIN * size / 2
    overlap = start - slop
    for _ in range(120):
        overlap -= min(CORRECTION * overlap, h * math.sqrt(2 * a * overlap))
        solver.step()
        depth = size / 2 - solver.state().position[0, 2]
        assert depth == pytest.approx(overlap + slop, abs=1e-6)
    assert overlap < 1e-5


def test_deep_overlap_without_gravity_is_corrected_slowly():
    # An overlap is corrected at 2 cm/s at most. Then both have the energy of that speed, and of a rotation with this
    # speed at 10 cm: (1 + 2) kg · (2 cm/s)² together. Eight centimetres take four seconds.
    model = rigid.Model(gravity=(0, 0, 0))
    model.add_box((0.2, 0.2, 0.2), mass=1.0)
    model.add_box((0.2, 0.2, 0.2), mass=2.0, position=(0.02, 0.03, 0.12))
    model.add_ground(-FAR)
    solver = rigid.solver("verlet", model, dt=1 / 60, iterations=10)
    most = 0.0
    for _ in range(360):
        solver.step()
        most = max(most, solver.energy().kinetic)
    assert most < 3 * 0.02**2
    count = solver._bodies.points.count.to_numpy()[0]
    assert solver._bodies.points.numbers.to_numpy()[0, :count, POINT.gap].min(initial=0.0) > -1e-3


def test_fast_body_does_not_pass_through_the_ground():
    # 20 m/s in steps of 1/240 s is 8 cm a step, nearly the box. The contact margin is as far as a body may move.
    model = rigid.Model()
    model.add_ground()
    model.add_box((0.1, 0.1, 0.1), mass=1.0, position=(0, 0, 2), velocity=(0, 0, -20), angular_velocity=(3, 5, 2))
    model.add_box((0.1, 0.1, 0.1), mass=1.0, position=(0, 0, FAR))
    solver = rigid.solver("verlet", model, dt=1 / 240, iterations=20)
    lowest = math.inf
    for _ in range(480):
        solver.step()
        lowest = min(lowest, solver.state().position[0, 2])
    assert lowest > 0.04
    assert solver.state().position[0, 2] == pytest.approx(0.05, abs=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("capsule", [False, True])
def test_worlds_equal_single_runs_and_snapshots_continue_bit_for_bit(tmp_path, capsule):
    def model(number):
        it = rigid.Model()
        it.add_ground(friction=0.4)
        for k in range(3):
            it.add_box(
                (0.2, 0.1, 0.15), mass=1.0 + k, position=(0.03 * k, 0.01 * number, 0.3 + 0.2 * k),
                rotation=from_axis_angle((1, 2, 3), 0.3 * number + k),
            )  # fmt: skip
        at = {"mass": 1.0, "position": (0.05, 0, 1.0), "angular_velocity": (number, 0, 1)}
        it.add_capsule(0.05, 0.2, **at) if capsule else it.add_box((0.1, 0.1, 0.2), **at)
        return it

    options = {"dt": 1 / 120, "iterations": 8}
    together = rigid.solver("verlet", [model(0), model(1), model(2)], **options)
    together.step(100)
    for world in range(3):
        alone = rigid.solver("verlet", model(world), **options)
        alone.step(100)
        assert np.array_equal(together.state().position[world], alone.state().position)
    together.state().save(tmp_path / "state.npz")
    together.step(50)
    other = rigid.solver("verlet", [model(0), model(1), model(2)], **options)
    other.set_state(rigid.State.load(tmp_path / "state.npz"))
    assert other.time == pytest.approx(100 / 120)
    other.step(50)
    assert other.digest() == together.digest()


def test_changed_state_is_used_as_given():
    solver = stack(2)
    solver.step(10)
    state = solver.state()
    state.position[1] += (0.0, 0.0, 0.5)
    solver.set_state(state)
    assert np.abs(solver.state().position - state.position).max() < 1e-12


def thrown(kinds, count, seed):
    """Models of two bodies that fly at each other at 20 m/s above the ground, and sizes of the smaller bodies [m]."""
    rng = np.random.default_rng(seed)
    models, sizes = [], []
    for _ in range(count):
        model = rigid.Model()
        model.add_ground(friction=0.5)
        restitution, smallest = rng.choice([0.0, 0.3, 0.6]), math.inf
        for side, kind in zip((-1, 1), kinds):
            a, b, c = rng.uniform(0.1, 0.4, 3)
            turn = rng.normal(size=4)
            options = {
                "density": 500.0, "position": (0.6 * side, 0.15 * rng.uniform(-1, 1), 1 + 0.15 * rng.uniform(-1, 1)),
                "rotation": turn / np.linalg.norm(turn), "velocity": (-10.0 * side, 0, 0),
                "angular_velocity": 3 * rng.normal(size=3), "restitution": restitution,
            }  # fmt: skip
            shapes = {"box": ((a, b, c),), "sphere": (a / 2,), "capsule": (a / 2, b), "cylinder": (a / 2, b)}
            getattr(model, f"add_{kind}")(*shapes[kind], **options)
            smallest = min(smallest, {"box": min(a, b, c), "cylinder": min(a, b)}.get(kind, a))
        models.append(model)
        sizes.append(smallest)
    return models, np.array(sizes)


PAIRS = [("box", "box"), ("box", "capsule"), ("capsule", "capsule"), ("sphere", "box"), ("cylinder", "box")]


@pytest.mark.slow
@pytest.mark.parametrize(("kinds", "count"), [(pair, 200) for pair in PAIRS])
def test_colliding_bodies_gain_no_energy_and_end_separate(kinds, count):
    # Pairs of bodies collide at 20 m/s. States are finite, and the energy never exceeds the initial energy. At the end
    # no overlap is deeper than 2 % of the smaller body. (Boxes are at rest then, round bodies still roll.)
    models, sizes = thrown(kinds, count, seed=len(kinds[0]) + count)
    solver = rigid.solver("verlet", models, dt=1 / 240, iterations=20, direction="current")
    solver.step()
    start, most = solver.energy().total, -math.inf
    for k in range(200):
        solver.step(2 if k < 60 else 6)
        most = np.maximum(most, solver.energy().total)
    assert np.isfinite(solver.state().position).all()
    gained = {world: gain for world, gain in enumerate(most / start - 1) if gain > 1e-9}
    state = solver.state()
    depths = Overlaps(*models).depths(state.position, state.rotation) / sizes
    deep = {world: depth for world, depth in enumerate(depths) if depth > 0.02}
    assert not gained
    assert not deep


def test_contact_forces_carry_the_weights():
    # At rest the forces on each body balance its weight: the ground carries 3 kg · g, the lower box 1 kg · g.
    model = rigid.Model()
    model.add_ground(friction=0.5)
    model.add_box((0.4, 0.4, 0.4), mass=2.0, position=(0, 0, 0.2), friction=0.5)
    model.add_box((0.2, 0.2, 0.2), mass=1.0, position=(0, 0, 0.5), friction=0.5)
    solver = rigid.solver("verlet", model)
    assert len(solver.contact_forces().forces) == 0
    solver.step(200)
    found = solver.contact_forces()
    on_ground = found.bodies[:, 1] == rigid.GROUND
    assert on_ground.sum() == 4
    assert np.allclose(found.forces[on_ground].sum(axis=0), (0, 0, 3 * 9.81), atol=1e-6)
    assert np.allclose(found.forces[~on_ground].sum(axis=0), (0, 0, -9.81), atol=1e-6)  # on the lower box, body 0


def test_contact_force_of_an_impact_is_its_change_of_momentum():
    # F h = m Δv - m g h, with restitution: the mean force over the substep of the impact.
    model = rigid.Model()
    model.add_ground()
    model.add_box((0.2, 0.2, 0.2), mass=2.0, position=(0, 0, 0.5), velocity=(0, 0, -3.0), restitution=0.6)
    model.add_box((0.2, 0.2, 0.2), mass=2.0, position=(0, 0, FAR))
    solver = rigid.solver("verlet", model, dt=1 / 240)
    for _ in range(240):
        before = solver.state().velocity[0, 2]
        solver.step()
        forces = solver.contact_forces().forces
        if forces.any():
            change = solver.state().velocity[0, 2] - before
            assert forces[:, 2].sum() == pytest.approx(2.0 * (change * 240 + 9.81), rel=1e-9)
            return
    pytest.fail("the box has no contact")
