"""Grabs on a session's scene: what is held goes where the pointer is; pins and cuts."""

import numpy as np
import pytest

import scenes
from scenes.view.grabs import EARTH, GIVE, MOST, Grabs
from scenes.view.picking import Held, burden, grasp
from scenes.view.pins import Pins, first_on_ray
from scenes.view.session import GRABS, Session
from scenes.view.tear import Tearing
from scenes.visuals import ClothVisual, StaticVisual

COUNT = 6  # particles along a side of the cloth


@pytest.fixture
def cloth():
    """A session of a small cloth, with grabs."""
    session = Session(scenes.load("drape", count=COUNT), before=lambda _, span: grabs.move(span))
    grabs = session.grabs = Grabs(session)
    return session


def corner_of(session):
    """The visual of the cloth, and where its first corner is."""
    visual = session.running.scene.visuals[0]
    return visual, session.running.particles.positions()[0]


def live(session, steps):
    """Let it go on, step by step, as grabs move between them."""
    for _ in range(steps):
        session.advance()


def test_a_corner_goes_to_the_pointer(cloth):
    visual, corner = corner_of(cloth)
    goal = corner + (-0.2, 0.1, 0.5)
    assert cloth.grabs.take("me", visual, 0, None, corner)
    grip = cloth.grabs.grips["me"]
    assert grip.held.nearest == 0
    np.testing.assert_allclose(grip.held.weights.max(), 1.0, atol=1e-6)  # the corner itself, between no others
    cloth.grabs.lead("me", goal)
    live(cloth, 240)
    # It hangs on the spring, which gives by GIVE of the cloth's size under all of its weight.
    size = burden(cloth.running, grip.held)[1]
    away = cloth.running.particles.positions()[0] - goal
    assert np.linalg.norm(away) < 1.2 * GIVE * size
    assert away[2] < 0
    # Let go of, it falls.
    cloth.grabs.release("me")
    cloth.advance(30)
    assert cloth.running.particles.positions()[0, 2] < goal[2] - 0.3


@pytest.mark.slow
def test_a_body_goes_to_the_pointer_with_its_ghost():
    session = Session(scenes.load("dzhanibekov", spin=0.0), "impulse", before=lambda _, span: grabs.move(span))
    session.choose(session.running.scene, "impulse", ghost="articulated")
    grabs = Grabs(session)
    visual = session.running.scene.visuals[0]
    number = next(k for k in range(2) if len(visual.draw(session.running.frame())[k].surface.vertices) == 8)  # the box
    point = np.array([0.2, 0.1, 0.55])  # a corner of it
    assert grabs.take(1, visual, number, 0, point)
    goal = point + (0.3, -0.2, 0.4)
    grabs.lead(1, goal)
    live(session, 240)
    # Weightless and damped, it comes to rest with the corner at the pointer.
    for running in (session.running, session.ghost):
        np.testing.assert_allclose(grabs.grips[1].held.place(running), goal, rtol=0, atol=2e-3)


def test_what_a_hand_pulls_with_has_a_bound(cloth):
    visual, corner = corner_of(cloth)
    cloth.grabs.take("me", visual, 0, None, corner)
    cloth.grabs.lead("me", corner + (0, 0, 1000.0))
    cloth.grabs.move(10.0)
    grip = cloth.grabs.grips["me"]
    mass = burden(cloth.running, grip.held)[0]
    np.testing.assert_allclose(mass, scenes.load("drape", count=COUNT).particles.masses().sum(), rtol=1e-12)
    target = cloth.running.particles.environment.grabs[grip.grab, :3]
    pull = grip.stiffness * np.linalg.norm(target - grip.held.place(cloth.running))
    np.testing.assert_allclose(pull, MOST * mass * EARTH, rtol=1e-6)


def test_hands_are_as_many_as_the_solvers_have_and_end_with_a_reset(cloth):
    visual, corner = corner_of(cloth)
    assert [cloth.grabs.take(who, visual, 0, None, corner) for who in range(GRABS + 1)] == [True] * GRABS + [False]
    cloth.grabs.release(2)
    assert cloth.grabs.take("new", visual, 0, None, corner)
    assert cloth.grabs.grips["new"].grab == 2
    cloth.reset()
    cloth.advance(2)
    assert cloth.grabs.grips == {}
    assert not cloth.running.particles.environment.grabs.any()
    assert not cloth.grabs.take("me", StaticVisual([]), 0, None, corner)  # what stands there


def test_a_grasp_is_between_the_corners_of_a_triangle(cloth):
    visual, _ = corner_of(cloth)
    corners = cloth.running.particles.positions()[visual.triangles[7]]
    point = np.array([0.5, 0.3, 0.2]) @ corners + (0, 0, 0.01)
    held = grasp(cloth.running, visual, 0, None, point)
    assert set(held.particles) == set(visual.triangles[7])
    np.testing.assert_allclose(held.place(cloth.running), point - (0, 0, 0.01), rtol=0, atol=1e-9)
    assert isinstance(held, Held)


def test_pins_hold_and_go_where_they_are_dragged(cloth):
    pins = Pins(cloth)
    visual, corner = corner_of(cloth)
    pins.pin(visual, 0, None, corner)
    cloth.advance(20)
    np.testing.assert_array_equal(cloth.running.particles.positions()[0], corner)
    goal = corner + (0.1, 0.0, 0.2)
    cloth.grabs.take("me", visual, 0, None, corner)
    cloth.grabs.lead("me", goal)
    live(cloth, 60)
    np.testing.assert_allclose(cloth.running.particles.positions()[0], goal, rtol=0, atol=1e-6)  # e^-25 of the way
    cloth.grabs.release("me")
    mass = scenes.load("drape", count=COUNT).particles.masses()[0]
    pins.unpin(visual, 0, None, goal)
    np.testing.assert_allclose(cloth.running.particles.inverse_masses()[0], 1 / mass, rtol=1e-12)
    with pytest.raises(ValueError, match="nothing is pinned"):
        pins.unpin(visual, 0, None, goal)
    with pytest.raises(ValueError, match="no particles here"):
        pins.pin(StaticVisual([]), 0, None, goal)


def test_the_first_point_on_a_ray_is_the_one_in_front():
    points = np.array([[0.0, 0, 0], [0, 0, -1], [0.5, 0, 2], [0, 0, 9]])
    np.testing.assert_array_equal(first_on_ray(points, (0, 0, 5), (0, 0, -2.0)), points[0])


def test_a_cut_goes_through_what_it_sweeps_over(cloth):
    # The cloth lies flat; seen from above, a line between its third and fourth column cuts all that crosses it: a
    # stick a row along the threads, two diagonals between rows; and the triangles between the columns are gone.
    tearing = Tearing(cloth)
    positions = cloth.running.particles.positions()
    x, y = 0.5 * (positions[2, 0] + positions[3, 0]), positions[:, 1]
    height = positions[0, 2]
    eye = np.array([x, 0.0, height + 3.0])
    tearing.slash(eye, (x, y.min() - 0.1, height), (x, y.max() + 0.1, height))
    lengths = cloth.running.particles.sticks()[1]
    torn = np.flatnonzero(lengths == 0)
    assert len(torn) == COUNT + 2 * (COUNT - 1)
    left = tearing.visuals[0]
    assert isinstance(left, ClothVisual)
    assert len(left.triangles) == 2 * (COUNT - 1) * (COUNT - 2)
    column = left.triangles % COUNT
    assert ((column <= 2).all(axis=1) | (column >= 3).all(axis=1)).all()
    cloth.advance(60)
    assert np.isfinite(cloth.running.particles.positions()).all()
    # A reset makes it whole.
    cloth.reset()
    tearing.renew()
    assert len(tearing.visuals[0].triangles) == 2 * (COUNT - 1) ** 2


def test_sticks_tear_where_they_are_stretched_too_far(cloth):
    tearing = Tearing(cloth)
    positions = cloth.running.particles.positions()
    pairs, lengths = cloth.running.particles.sticks()
    tearing.give_way()
    positions[0] += (-0.4, 0.0, 0.0)  # the corner, away from the rest
    cloth.running.particles.set_positions(positions)
    tearing.limit = 1.5
    apart = np.linalg.norm(positions[pairs[:, 1]] - positions[pairs[:, 0]], axis=1)
    expected = np.flatnonzero(apart > 1.5 * lengths)
    assert len(expected) > 0
    tearing.give_way()
    np.testing.assert_array_equal(np.flatnonzero(cloth.running.particles.sticks()[1] == 0), expected)
    assert len(tearing.visuals[0].triangles) < 2 * (COUNT - 1) ** 2


def test_there_is_nothing_to_cut_in_bodies():
    session = Session(scenes.load("dzhanibekov"), "impulse")
    with pytest.raises(ValueError, match="nothing to cut"):
        Tearing(session).slash((0, 0, 5), (0, 0, 0), (1, 0, 0))
