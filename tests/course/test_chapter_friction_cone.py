"""The friction of the course, docs/course/friction_cone.md, is that of the solver "impulse"."""

import numpy as np
import pytest
from chapters import chapter

import rigid
from rigid.rotation import to_matrix

course = chapter("friction_cone")

EXACT = {"tolerance": 0.0, "split_impulse": False, "error_reduction": 0.0}  # no position correction
STARTS = {
    "slides": {"velocity": (1.2, 0.7, 0)},
    "slides and spins": {"velocity": (1.2, 0.7, 0), "angular_velocity": (0, 0, 6)},
    "rests on a slope": {"slope": 0.4},
    "slides down a slope": {"slope": 0.6, "velocity": (0, 0.5, 0)},
    "tilts": {"velocity": (1.5, 0.5, 0), "angular_velocity": (0.1, 0.4, 3)},
    "tumbles": {"velocity": (1, -0.5, -1), "angular_velocity": (1, -2, 3), "height": 0.3},
}


@pytest.mark.parametrize("iterations", [1, 3, 20])
@pytest.mark.parametrize("start", STARTS)
def test_cube_of_the_course_is_that_of_the_solver(start, iterations):
    # The same operations in another order: roundings of 1e-16 m/s, which impacts and slips enlarge by some ten times.
    # What tumbles touches with other corners from step to step, so it starts from zero impulses in both.
    warm, model = start != "tumbles", course.cube(**STARTS[start])
    solver = rigid.solver("impulse", model, 0.004, iterations=iterations, warm_start=warm, **EXACT)
    slider = course.Slider(model, course.μ)
    for _ in range(40):
        solver.step()
        found = solver.contact_forces()
        slider.step(found.points, found.gaps, 0.004, iterations, warm)
        state = solver.state()
        assert state.velocity[0] == pytest.approx(slider.V[:3], abs=1e-12)
        assert state.angular_velocity[0] == pytest.approx(slider.V[3:], abs=1e-12)
    assert state.position[0] == pytest.approx(slider.position, abs=1e-13)
    assert len(found.points)


@pytest.mark.parametrize("seed", range(4))
def test_projection_comes_to_rest_at_coulombs_law(seed):
    generator = np.random.default_rng(seed)
    root = generator.normal(size=(2, 2))
    A, free, λ = root @ root.T + 0.1 * np.eye(2), generator.normal(size=2), np.zeros(2)
    for bound in (0.05, 0.3, 1e3):
        for _ in range(3000):
            λ = course.cone(λ, free + A @ λ, A, bound)
        u = free + A @ λ
        if np.linalg.norm(u) < 1e-12:
            assert np.linalg.norm(λ) <= bound * (1 + 1e-12)
        else:
            assert λ == pytest.approx(-bound * u / np.linalg.norm(u), abs=1e-10)
    assert np.linalg.norm(u) < 1e-12


@pytest.mark.slow
def test_a_cube_slides_above_the_angle_of_friction():
    for angle, acceleration in ((0.46, 0.0), (0.47, course.GRAVITY * (np.sin(0.47) - 0.5 * np.cos(0.47)))):
        solver = rigid.solver("impulse", course.cube(slope=angle), 0.01, iterations=5000, tolerance=1e-14)
        solver.step(50)  # atan 0.5 is 0.4636; the first step of what begins to slide takes 2000 iterations
        assert solver.state().velocity[0, 0] == pytest.approx(50 * 0.01 * acceleration, abs=1e-12)


@pytest.mark.parametrize("degrees", [0, 10, 23.53, 45, 70])
def test_boxes_stop_on_a_circle_or_on_a_line(degrees):
    # All ways are shorter by h/2 times the speed along them, to first order of the step.
    φ, h = np.radians(degrees), 0.01
    direction = np.array([np.cos(φ), np.sin(φ)])
    loss = 0.5 * h * course.SPEED * direction
    for law, stop in ((course.cone, direction), (course.pyramid, direction**2)):
        found = course.path(degrees, law, h)[-1]
        assert found == pytest.approx(course.WAY * stop - loss, abs=course.WAY * 0.002)
    assert course.path_in_verletlab(degrees, h)[-1] == pytest.approx(course.path(degrees, course.cone, h)[-1], abs=1e-4)


def test_largest_turn_of_the_square_is_where_the_chapter_says():
    degrees = np.linspace(0, 45, 4501)
    turn = degrees - np.degrees(np.arctan(np.tan(np.radians(degrees)) ** 2))
    t = (1 + np.sqrt(3) - np.sqrt(2 * np.sqrt(3))) / 2
    assert degrees[turn.argmax()] == pytest.approx(np.degrees(np.arctan(t)), abs=0.01)
    assert np.degrees(np.arctan(t)) == pytest.approx(23.53, abs=0.01)
    assert turn.max() == pytest.approx(12.8, abs=0.01)


def test_order_of_gaps_and_slips():
    model = course.cube(slope=np.arctan(0.4))
    h = 0.01
    for order, fall, slide in ((1, 0.106, 0.296), (-1, 0.022, 0.371)):
        slider = course.Slider(model, course.μ)
        slider.parts = slider.parts[::order]
        slider.step(slider.position + course.CORNERS, np.zeros(4), h, 1)
        assert slider.V[[2, 0]] == pytest.approx(np.array([-fall, slide]) * course.GRAVITY * h, abs=1e-4)


def test_a_puck_stops_spinning_after_the_time_of_its_rim():
    found = course.slide_of_puck(0.0, 20.0, 0.5)
    assert found[found[:, 2] < 1e-4][0, 0] == pytest.approx(4.0 / (2 * 0.5 * course.GRAVITY), abs=1 / 240)


def test_sliding_and_spinning_end_together():
    found = course.slide_of_puck(2.0, 20.0, 0.8)
    ends = [found[found[:, column] < 1e-3][0, 0] for column in (1, 2)]
    assert ends[0] == pytest.approx(ends[1], abs=1 / 240)
    assert found[-1, 3] == pytest.approx(0.79, abs=0.01)


@pytest.mark.slow
def test_spinning_friction_of_a_ball():
    # Torque s m g against (2/5) m r² ω.
    model = rigid.Model(gravity=(0, 0, -course.GRAVITY))
    model.add_ground(spinning_friction=0.02)
    model.add_sphere(0.2, mass=3.0, position=(0, 0, 0.2), angular_velocity=(0, 0, 10), spinning_friction=0.02)
    solver = rigid.solver("impulse", model, 0.01)
    solver.step(20)
    slowed = 0.2 * 0.02 * course.GRAVITY / (0.4 * 0.2**2)
    assert solver.state().angular_velocity[0, 2] == pytest.approx(10 - slowed, rel=1e-6)


def test_models_are_as_the_numpy_code_expects():
    body = course.cube().bodies[0]
    assert body.inertia == pytest.approx(body.inertia[0, 0] * np.eye(3))  # so there is no gyroscopic torque
    assert to_matrix(course.cube().initial_state().rotation[0]) == pytest.approx(np.eye(3))
