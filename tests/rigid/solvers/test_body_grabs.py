"""Grab springs of all solvers, and gravity that changes."""

import numpy as np
import pytest
from described import rod_on_a_pivot
from marks import cases

import rigid
from rigid.rotation import rotate

SOLVERS = cases(rigid.SOLVERS, slow=["articulated"])
h, m, k, c = 0.01, 2.0, 300.0, 12.0
G, TARGET = np.array([0.0, 0.0, -9.81]), np.array([0.4, -0.1, 1.2])


def held_box(solver, point, **options):
    model = rigid.Model(gravity=G)
    model.add_box((0.4, 0.3, 0.2), mass=m, position=(0, 0, 1), velocity=(0.2, 0.1, 0.5), name="box")
    made = rigid.solver(solver, model, dt=h, grabs=1, **options)
    made.grab(0, "box", point, TARGET, k, c)
    return made


@pytest.mark.parametrize("solver", SOLVERS)
def test_body_grabbed_at_its_centre_is_a_particle_on_a_spring(solver):
    # Implicit:               m (v' - v) = h (m g - k (x' - target) - c v'),  x' = x + h v'
    # explicit ("penalty"):   m (v' - v) = h (m g - k (x - target) - c v),    x' = x + h v'
    # The start of "verlet" is exact, x* = x - v h + g h²/2, so its first v is v - g h/2.
    made = held_box(solver, (0, 0, 0))
    x, v = np.array([0.0, 0, 1]), np.array([0.2, 0.1, 0.5])
    if solver == "verlet":
        v = v - G * h / 2
    for _ in range(10):
        if solver == "penalty":
            v = v + h * (G - (k * (x - TARGET) + c * v) / m)
        else:
            v = (m * (v + h * G) - h * k * (x - TARGET)) / (m + h * c + h * h * k)
        x = x + h * v
    made.step(10)
    np.testing.assert_allclose(made.state().position[0], x, rtol=0, atol=1e-11)
    np.testing.assert_allclose(made.state().velocity[0], v, rtol=0, atol=1e-10)


@pytest.mark.parametrize("solver", SOLVERS)
def test_body_grabbed_at_a_corner_hangs_below_it(solver):
    # At rest the spring carries the weight, k (target - p) = -m g, and the centre is straight below the point.
    made = held_box(solver, (0.2, 0.15, 0.1))
    for _ in range(40):
        made.step(100)
        state = made.state()
        slower = 0.8 * state.velocity, 0.8 * state.angular_velocity
        made.set_state(rigid.State(state.position, state.rotation, *slower, state.time))
    made.step()
    state = made.state()
    point = state.position[0] + rotate(state.rotation[0], np.array([0.2, 0.15, 0.1]))
    np.testing.assert_allclose(point, TARGET + m * G / k, rtol=0, atol=2e-3)
    below = point - state.position[0]
    np.testing.assert_allclose(below, [0, 0, np.linalg.norm(below)], rtol=0, atol=5e-3)


@pytest.mark.parametrize("solver", SOLVERS)
def test_released_body_flies_free_with_new_gravity(solver):
    made = held_box(solver, (0, 0, 0))
    made.step(5)
    made.release(0)
    made.release(0)
    made.gravity = (1.0, 0.0, 2.0)
    assert np.array_equal(made.gravity, (1.0, 0.0, 2.0))
    before = made.state()
    made.step(7)
    expected = before.velocity[0] + 7 * h * np.array([1.0, 0.0, 2.0])
    np.testing.assert_allclose(made.state().velocity[0], expected, rtol=0, atol=1e-11)
    x = made.state().position[0]
    if solver != "verlet":  # its energy is that of the middle of a step
        assert made.energy().potential == pytest.approx(-m * x @ [1.0, 0.0, 2.0], abs=1e-12)


@pytest.mark.parametrize("solver", SOLVERS)
def test_state_continues_bit_for_bit_with_a_grab(solver):
    made = held_box(solver, (0.1, 0, 0))
    made.step(3)
    state = made.state()
    made.step(4)
    end = made.digest()
    made.release(0)
    made.step(2)
    made.set_state(state)
    made.grab(0, "box", (0.1, 0, 0), TARGET, k, c)
    made.step(4)
    assert made.digest() == end
    made.grab(0, "box", (0.1, 0, 0), TARGET, 2 * k, c)
    made.set_state(state)  # the grab of now stays
    made.step(4)
    assert made.digest() != end


@pytest.mark.parametrize("solver", SOLVERS)
def test_grabbed_rod_follows_within_its_joint(solver):
    # A rod on a hinge is pulled upright by its end: there neither weight nor spring rotates it.
    options = {"penalty": {"substeps": 8}, "verlet": {"damping": 0.05}}.get(solver, {})
    made = rigid.solver(solver, rod_on_a_pivot(), dt=h, grabs=1, **options)
    made.grab(0, "rod", (0.25, 0, 0), (0, 0, 0.5), 500.0, 20.0)
    made.step(800)
    assert abs(made.joint_positions()["pivot"]) == pytest.approx(np.pi / 2, abs=2e-3)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize(
    ("given", "message"),
    [
        ((1, "box", (0, 0, 0), TARGET, k), "grab is 1: expected a number below 1"),
        ((0, "bix", (0, 0, 0), TARGET, k), "box"),
        ((0, 0, (0, 0), TARGET, k), "grabbed point"),
        ((0, 0, (0, 0, 0), (0, 0, np.nan), k), "target of a grab"),
        ((0, 0, (0, 0, 0), TARGET, -k), "stiffness of a grab"),
        ((0, 0, (0, 0, 0), TARGET, k, -c), "damping of a grab"),
    ],
)
def test_bad_arguments_of_grab_raise(solver, given, message):
    with pytest.raises((ValueError, IndexError), match=message):
        held_box(solver, (0, 0, 0)).grab(*given)


@pytest.mark.parametrize("solver", SOLVERS)
def test_solver_without_grabs_raises(solver):
    with pytest.raises(ValueError, match="grabs=1"):
        rigid.solver(solver, rod_on_a_pivot()).grab(0, 0, (0, 0, 0), TARGET, k)
