"""Grabs, pins and cuts in the scene of a session."""

import numpy as np
import pytest

import scenes
from scenes.simulate.run import Run
from scenes.view.grabs import EARTH_GRAVITY, LARGEST_FORCE, STRETCH, Grabs
from scenes.view.picking import PickedPoint, connected_load, pick
from scenes.view.pins import Pins, first_point_on_ray
from scenes.view.session import GRABS, Session
from scenes.view.tearing import Tearing
from scenes.visuals import ClothVisual, StaticVisual

COUNT = 6  # particles along a side of the cloth


@pytest.fixture
def cloth():
    """A session of a small cloth, with grabs."""
    session = Session(scenes.load("drape", count=COUNT), before_step=lambda _, span: grabs.update(span))
    grabs = session.grabs = Grabs(session)
    return session


def corner_of(session):
    """The visual of the cloth, and the position of its first corner."""
    visual = session.run.scene.visuals[0]
    return visual, session.run.particles.positions()[0]


def step(session, steps):
    """Make steps one by one; grabs move between them."""
    for _ in range(steps):
        session.step()


def test_corner_follows_the_pointer(cloth):
    visual, corner = corner_of(cloth)
    goal = corner + (-0.2, 0.1, 0.5)
    assert cloth.grabs.grab("me", visual, 0, None, corner)
    grab = cloth.grabs.active["me"]
    assert grab.picked.nearest == 0
    np.testing.assert_allclose(grab.picked.weights.max(), 1.0, atol=1e-6)  # the corner itself
    cloth.grabs.move_pointer("me", goal)
    step(cloth, 240)
    # The weight of the cloth stretches the spring by STRETCH of the size of the cloth.
    size = connected_load(cloth.run, grab.picked)[1]
    away = cloth.run.particles.positions()[0] - goal
    assert np.linalg.norm(away) < 1.2 * STRETCH * size
    assert away[2] < 0
    # It falls after the release.
    cloth.grabs.release("me")
    cloth.step(30)
    assert cloth.run.particles.positions()[0, 2] < goal[2] - 0.3


def test_a_surface_of_a_body_picks_that_body():
    run = Run(scenes.load("bicycle"), "impulse")
    visual, point = run.scene.visuals[0], np.array([0.9, 0.0, 1.0])
    names = [run.scene.model.bodies[body].name for body, _ in visual.surfaces]
    picked = pick(run, visual, names.index("fork"), 0, point)
    assert run.scene.model.bodies[picked.body].name == "fork"
    assert picked.position(run) == pytest.approx(point, abs=1e-12)


@pytest.mark.slow
def test_body_and_ghost_follow_the_pointer():
    session = Session(scenes.load("dzhanibekov", spin=0.0), "impulse", before_step=lambda _, span: grabs.update(span))
    session.choose(session.run.scene, "impulse", ghost="articulated")
    grabs = Grabs(session)
    visual = session.run.scene.visuals[0]
    number = next(k for k in range(2) if len(visual.draw(session.run.frame())[k].surface.vertices) == 8)  # the box
    point = np.array([0.2, 0.1, 0.55])  # a corner of it
    assert grabs.grab(1, visual, number, 0, point)
    goal = point + (0.3, -0.2, 0.4)
    grabs.move_pointer(1, goal)
    step(session, 240)
    # Without gravity and with damping, the corner comes to rest at the pointer.
    for running in (session.run, session.ghost):
        np.testing.assert_allclose(grabs.active[1].picked.position(running), goal, rtol=0, atol=2e-3)


def test_force_of_a_grab_is_limited(cloth):
    visual, corner = corner_of(cloth)
    cloth.grabs.grab("me", visual, 0, None, corner)
    cloth.grabs.move_pointer("me", corner + (0, 0, 1000.0))
    cloth.grabs.update(10.0)
    grab = cloth.grabs.active["me"]
    mass = connected_load(cloth.run, grab.picked)[0]
    np.testing.assert_allclose(mass, scenes.load("drape", count=COUNT).particles.masses().sum(), rtol=1e-12)
    target = cloth.run.particles.environment.grabs[grab.number, :3]
    pull = grab.stiffness * np.linalg.norm(target - grab.picked.position(cloth.run))
    np.testing.assert_allclose(pull, LARGEST_FORCE * mass * EARTH_GRAVITY, rtol=1e-6)


def test_number_of_grabs_and_reset(cloth):
    visual, corner = corner_of(cloth)
    assert [cloth.grabs.grab(who, visual, 0, None, corner) for who in range(GRABS + 1)] == [True] * GRABS + [False]
    cloth.grabs.release(2)
    assert cloth.grabs.grab("new", visual, 0, None, corner)
    assert cloth.grabs.active["new"].number == 2
    cloth.reset()
    cloth.step(2)
    assert cloth.grabs.active == {}
    assert not cloth.run.particles.environment.grabs.any()
    assert not cloth.grabs.grab("me", StaticVisual([]), 0, None, corner)  # static surfaces cannot be grabbed


def test_pick_between_the_corners_of_a_triangle(cloth):
    visual, _ = corner_of(cloth)
    corners = cloth.run.particles.positions()[visual.triangles[7]]
    point = np.array([0.5, 0.3, 0.2]) @ corners + (0, 0, 0.01)
    picked = pick(cloth.run, visual, 0, None, point)
    assert set(picked.particles) == set(visual.triangles[7])
    np.testing.assert_allclose(picked.position(cloth.run), point - (0, 0, 0.01), rtol=0, atol=1e-9)
    assert isinstance(picked, PickedPoint)


def test_pins_stay_and_can_be_dragged(cloth):
    pins = Pins(cloth)
    visual, corner = corner_of(cloth)
    pins.pin(visual, 0, None, corner)
    cloth.step(20)
    np.testing.assert_array_equal(cloth.run.particles.positions()[0], corner)
    goal = corner + (0.1, 0.0, 0.2)
    cloth.grabs.grab("me", visual, 0, None, corner)
    cloth.grabs.move_pointer("me", goal)
    step(cloth, 60)
    np.testing.assert_allclose(cloth.run.particles.positions()[0], goal, rtol=0, atol=1e-6)  # e^-25 of the way
    cloth.grabs.release("me")
    mass = scenes.load("drape", count=COUNT).particles.masses()[0]
    pins.unpin(visual, 0, None, goal)
    np.testing.assert_allclose(cloth.run.particles.inverse_masses()[0], 1 / mass, rtol=1e-12)
    with pytest.raises(ValueError, match="no pinned particle"):
        pins.unpin(visual, 0, None, goal)
    with pytest.raises(ValueError, match="no particles here"):
        pins.pin(StaticVisual([]), 0, None, goal)


def test_first_point_on_a_ray():
    points = np.array([[0.0, 0, 0], [0, 0, -1], [0.5, 0, 2], [0, 0, 9]])
    np.testing.assert_array_equal(first_point_on_ray(points, (0, 0, 5), (0, 0, -2.0)), points[0])


def test_cut_between_two_columns(cloth):
    # The cloth is flat. From above, a line between its third and fourth column cuts one thread in each row and two
    # diagonals between rows. The triangles between the columns disappear.
    tearing = Tearing(cloth)
    positions = cloth.run.particles.positions()
    x, y = 0.5 * (positions[2, 0] + positions[3, 0]), positions[:, 1]
    height = positions[0, 2]
    eye = np.array([x, 0.0, height + 3.0])
    tearing.cut_across(eye, (x, y.min() - 0.1, height), (x, y.max() + 0.1, height))
    lengths = cloth.run.particles.sticks()[1]
    torn = np.flatnonzero(lengths == 0)
    assert len(torn) == COUNT + 2 * (COUNT - 1)
    left = tearing.visuals[0]
    assert isinstance(left, ClothVisual)
    assert len(left.triangles) == 2 * (COUNT - 1) * (COUNT - 2)
    column = left.triangles % COUNT
    assert ((column <= 2).all(axis=1) | (column >= 3).all(axis=1)).all()
    cloth.step(60)
    assert np.isfinite(cloth.run.particles.positions()).all()
    # A reset restores the cloth.
    cloth.reset()
    tearing.restore_if_restarted()
    assert len(tearing.visuals[0].triangles) == 2 * (COUNT - 1) ** 2


def test_overstretched_sticks_tear(cloth):
    tearing = Tearing(cloth)
    positions = cloth.run.particles.positions()
    pairs, lengths = cloth.run.particles.sticks()
    tearing.tear_overstretched()
    positions[0] += (-0.4, 0.0, 0.0)  # the corner, away from the rest
    cloth.run.particles.set_positions(positions)
    tearing.limit = 1.5
    apart = np.linalg.norm(positions[pairs[:, 1]] - positions[pairs[:, 0]], axis=1)
    expected = np.flatnonzero(apart > 1.5 * lengths)
    assert len(expected) > 0
    tearing.tear_overstretched()
    np.testing.assert_array_equal(np.flatnonzero(cloth.run.particles.sticks()[1] == 0), expected)
    assert len(tearing.visuals[0].triangles) < 2 * (COUNT - 1) ** 2


def test_bodies_cannot_be_cut():
    session = Session(scenes.load("dzhanibekov"), "impulse")
    with pytest.raises(ValueError, match="nothing to cut"):
        Tearing(session).cut_across((0, 0, 5), (0, 0, 0), (1, 0, 0))
