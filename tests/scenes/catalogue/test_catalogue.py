"""Every scene of the catalogue runs, is visible in a picture, and keeps bodies above the ground."""

import numpy as np
import pytest
from marks import slow
from versions import load_small, small, solvers_with_settings, version

import pbd
import rigid
import scenes
from benchmarks.bodies import mass_ratio_error
from rigid.rotation import rotate
from scenes.render.film import picture, renderer_for
from scenes.simulate.run import Replay, Run
from scenes.visuals import BodyVisual, FollowingCamera
from scenes.visuals.framing import framing_camera


def versions():
    """All scenes with each of their solvers."""
    for name in scenes.available():
        for solver in solvers_with_settings(small(name)):
            yield version(name, solver)


def test_every_scene_has_settings_for_each_solver_that_can_run_it():
    for name in scenes.available():
        assert solvers_with_settings(small(name)) == list(small(name).solvers), name


def test_every_scene_states_how_verlet_projects_joints():
    for name in scenes.available():
        if "verlet" in small(name).settings:
            assert "solve" in small(name).settings["verlet"], name


@pytest.mark.parametrize(("name", "solver"), list(versions()))
def test_scene_runs_and_is_visible(name, solver):
    scene = load_small(name)
    recording = scenes.run(scene, solver, duration=0.25, fps=20)
    assert len(recording) == 6
    assert recording.about["solver"] == solver
    for array in recording.ARRAYS:
        assert np.isfinite(getattr(recording, array)).all()
    *_, last = Replay(scene, recording).frames()
    renderer = renderer_for(scene, 160, 90)
    camera = scene.camera or framing_camera(scene, last, 160 / 90)
    camera = camera.at(last) if isinstance(camera, FollowingCamera) else camera
    empty = renderer.draw([], camera)
    shown = picture(scene, last, renderer, camera)
    changed = np.abs(shown.astype(int) - empty).max(axis=2) > 16
    # The scene fills at least one pixel in fifty, and leaves some of the floor and the sky visible.
    assert 0.02 < changed.mean() < 0.9


def lowest_point(visual, frame):
    """The lowest point of bodies [m]. Args: visual: a BodyVisual; frame: a Frame."""
    return min(
        (position + rotate(rotation, drawn.surface.vertices))[:, 2].min()
        for drawn in visual.draw_bodies(frame.body_poses)
        for position, rotation in zip(drawn.positions, drawn.rotations)
    )


def grounded():
    """Scenes with a plane on which bodies may lie, from `add_ground`, with each of their solvers."""
    for name in scenes.available():
        shapes = [] if small(name).model is None else small(name).model.shapes
        if any(each.body == rigid.GROUND and isinstance(each.shape, pbd.Plane) for each in shapes):
            for solver in solvers_with_settings(small(name)):
                yield version(name, solver)


@pytest.mark.parametrize(("name", "solver"), list(grounded()))
def test_bodies_stay_above_the_ground(name, solver):
    scene = load_small(name)
    visual = BodyVisual(scene.model)
    heights = [lowest_point(visual, frame) for frame in Run(scene, solver, duration=1.5, fps=60).frames()]
    assert min(heights) > -0.01, f"{1e3 * -min(heights):.1f} mm in the ground: shorter steps, or a larger stiffness"


@pytest.mark.slow
@pytest.mark.parametrize("name", ["arch", "card_house", "pyramid"], ids="{}-impulse".format)
def test_structures_stand_for_twenty_seconds_with_impulses(name):
    first, *_, last = Run(scenes.load(name), "impulse", duration=20.0, fps=1).frames()
    # It settles within the slop of its contacts, and does not creep.
    assert np.linalg.norm(last.body_poses[:, :3] - first.body_poses[:, :3], axis=1).max() < 1e-3
    assert np.abs(last.body_velocities).max() < 1e-3


@pytest.mark.slow
@pytest.mark.parametrize("count", [30, slow(100)])
def test_cloth_does_not_enter_the_ball(count):
    scene = scenes.load("drape", count=count)
    thickness = scene.chosen["thickness"]
    assert thickness == pytest.approx(5 / 6 * 1.9 / (count - 1), rel=5e-3)  # it has three digits
    ball = scene.particles.colliders[1].shape
    nearest = [
        np.linalg.norm(frame.positions - ball.centre, axis=1).min() - ball.radius
        for frame in Run(scene, fps=60).frames()
    ]
    # The ball is projected last in each iteration, so particles keep a distance of half the thickness to round-off.
    assert min(nearest) == pytest.approx(thickness / 2, abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("solver", [
    pytest.param("impulse", id="high_mass_ratio-impulse"),
    pytest.param("verlet", id="high_mass_ratio"),
])  # fmt: skip
def test_error_at_mass_ratio_100_falls_with_iterations(solver):
    # Both solvers are of Gauss-Seidel type: an iteration leaves a part of each error, below one.
    errors = [mass_ratio_error(solver, iterations, 0.5)[0] for iterations in (10, 20, 50, 200)]
    assert (np.diff(errors) < 0).all()
    assert errors[-1] < 0.01
