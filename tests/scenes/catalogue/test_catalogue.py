"""Every scene of the catalogue: it runs, it is seen, nothing passive gains energy, and what is solid stays so."""

from functools import cache

import numpy as np
import pytest

import scenes
from rigid.rotation import rotate
from scenes.bench.bodies import mass_ratio_error
from scenes.render.film import camera_for, picture, renderer_for
from scenes.simulate.run import Replay, Run
from scenes.simulate.settings import DEFAULT_SETTINGS
from scenes.visuals import BodyVisual, FollowingCamera

# Parameters that make a scene small; one that is not named here runs as it is.
SMALL = {
    "arch": {"stones": 5},
    "bouncing_balls": {"count": 5},
    "box": {"grains": 20, "sticks": 5},
    "card_house": {"levels": 2},
    "chain": {"links": 4},
    "crate_on_trampoline": {"count": 12},
    "domino_spiral": {"count": 8},
    "dominoes": {"count": 5},
    "drape": {"count": 20},
    "flag": {"count": 15},
    "fold": {"columns": 8},
    "mobile": {"rods": 2},
    "newtons_cradle": {"balls": 3},
    "plant": {"branches": 4},
    "pyramid": {"rows": 4},
    "ragdoll_pile": {"count": 3},
    "ragdoll_stairs": {"steps": 5},
    "rope_bridge": {"planks": 9},
    "soft_body": {"resolution": 7},
    "scout_robot": {"bumps": 20},
    "stack": {"count": 4},
    "suspension_bridge": {"panels": 6},
    "tetrahedron": {"count": 2},
    "trailer": {"bumps": 4},
}

# Scenes that are watched every day with a solver that is not their own, besides that; with any other it is slow to
# compile their kernels.
DAILY = {(name, "impulse") for name in ("dominoes", "stack")} | {("five_link_chain", "verlet")}

# And these are slow with their own solver, too: their kernels serve nothing else, and what they show stands in
# tests/rigid and tests/verification; a ragdoll runs in the README.
RARE = (
    "anthropomorphic_robot", "bouncing_balls", "chain", "crate_on_trampoline", "domino_spiral", "door", "dzhanibekov",
    "high_mass_ratio", "manipulator", "mobile", "newtons_cradle", "ragdoll", "ragdoll_pile", "ragdoll_stairs",
    "scout_robot", "suspension_bridge", "trailer",
)  # fmt: skip


@cache
def small(name):
    """A small scene, for what it says of itself: not to be run."""
    return scenes.load(name, **SMALL.get(name, {}))


def tuned(scene):
    """Solvers that a scene has settings for, its own or any scene's."""
    return [solver for solver in scene.solvers if solver in {*scene.settings, *DEFAULT_SETTINGS}]


def version(name, solver, *values):
    """A scene and a solver as a test's parameters, and whether it runs every day."""
    own = small(name).solver == solver
    daily = (own and name not in RARE) or (name, solver) in DAILY
    marks = [] if daily else [pytest.mark.slow]
    label = name if solver == "verlet" else f"{name}-{solver}"
    return pytest.param(name, solver, *values, marks=marks, id=label)


def versions():
    """All scenes with each solver that they have settings for."""
    for name in scenes.available():
        for solver in tuned(small(name)):
            yield version(name, solver)


def test_every_scene_is_tuned_for_each_solver_that_can_run_it():
    for name in scenes.available():
        assert tuned(small(name)) == list(small(name).solvers), name


@pytest.mark.parametrize(("name", "solver"), list(versions()))
def test_a_scene_runs_and_is_seen(name, solver):
    scene = scenes.load(name, **SMALL.get(name, {}))
    recording = scenes.run(scene, solver, duration=0.25, fps=20)
    assert len(recording) == 6
    assert recording.about["solver"] == solver
    for array in recording.ARRAYS:
        assert np.isfinite(getattr(recording, array)).all()
    *_, last = Replay(scene, recording).frames()
    renderer = renderer_for(scene, 160, 90)
    camera = scene.camera or camera_for(scene, last, 160 / 90)
    camera = camera.at(last) if isinstance(camera, FollowingCamera) else camera
    empty = renderer.draw([], camera)
    seen = picture(scene, last, renderer, camera)
    changed = np.abs(seen.astype(int) - empty).max(axis=2) > 16
    # What a scene is about fills one pixel in fifty at least, and leaves some of the floor or the sky around it.
    assert 0.02 < changed.mean() < 0.9


def energies(scene, solver, duration=None):
    """Total and kinetic energy [J] at time zero and after each step, and the scene's scale: m g z of all that moves,
    and m v²/2.

    Heights count from the floor, z = 0, where the potential is zero too.
    """
    running = Run(scene, solver, duration)
    system = running.system
    mass, height = 0.0, 0.0
    if scene.particles is not None:
        moving = np.isfinite(scene.particles.masses())
        mass, height = scene.particles.masses()[moving].sum(), scene.particles.positions()[moving, 2].max()
    if scene.model is not None:
        mass += scene.model.masses.sum()
        height = max(height, *(body.position[2] for body in scene.model.bodies), 0.0)
    start = system.energy()
    scale = 9.81 * mass * height + start.kinetic
    found = [start]
    for _ in range(running.steps):
        system.step()
        found.append(system.energy())
    return np.array([each.total for each in found]), np.array([each.kinetic for each in found]), scale


# Scenes without a source of energy; a smaller or shorter one each for every day. (Four ragdolls have another kernel
# than three: from some number of pairs on, those that could touch are found by a hash.)
PASSIVE = {
    "arch": ({"stones": 5}, 0.5),
    "bouncing_balls": ({"count": 5}, 2.0),
    "box": ({}, None),
    "card_house": ({"levels": 2}, 0.5),
    "chain": ({"links": 6}, 2.0),
    "crate_on_trampoline": ({"count": 15}, 1.5),
    "cube": ({}, None),
    "domino_spiral": ({"count": 8}, 2.0),
    "dominoes": ({"count": 6}, 2.0),
    "door": ({}, 1.5),
    "drape": ({"count": 20}, None),
    "dzhanibekov": ({}, 2.0),
    "figure": ({}, 2.0),
    "five_link_chain": ({}, 2.0),
    "high_mass_ratio": ({}, 0.5),
    "mobile": ({"rods": 3}, 2.0),
    "newtons_cradle": ({"balls": 3}, 1.0),
    "pendulum": ({"links": 2}, 2.0),
    "pyramid": ({"rows": 4}, 0.5),
    "ragdoll": ({}, 1.5),
    "ragdoll_pile": ({"count": 3}, 1.0),
    "ragdoll_stairs": ({"steps": 5}, 1.5),
    "rope_bridge": ({}, None),
    "slope": ({}, 1.5),
    "soft_body": ({"resolution": 7}, 0.6),
    "stack": ({"count": 4}, 1.0),
    "tetrahedron": ({"count": 3}, 2.5),
    "top": ({}, 1.0),
}

# These stand where they are, or all but; the others fall, swing, bounce or spin, and have something to gain from.
STILL = ("arch", "card_house", "high_mass_ratio", "pyramid", "stack")

# In these, energy has nowhere to hide: not in springs, nor in sticks that sweeps have not yet brought to their length.
NEVER_CLIMBS = ("box", "drape", "tetrahedron")


def watched():
    """All passive scenes with each solver, as a test's parameters: small ones, and, slow, whole ones."""
    for name, given in PASSIVE.items():
        for solver in tuned(small(name)):
            param = version(name, solver, *given)
            yield param
            yield pytest.param(*param.values[:2], {}, None, marks=pytest.mark.slow, id=f"{param.id}-whole")


def test_every_passive_scene_is_watched():
    assert {name for name in scenes.available() if small(name).passive} == set(PASSIVE)


@pytest.mark.parametrize(("name", "solver", "parameters", "duration"), list(watched()))
def test_a_passive_scene_gains_no_energy(name, solver, parameters, duration):
    total, kinetic, scale = energies(scenes.load(name, **parameters), solver, duration)
    step = total.argmax()
    gain = (total[step] - total[0]) / scale
    assert gain < 1e-3, f"{name} gains {gain:.2%} of {scale:.4g} J until step {step}"
    if name not in STILL:
        assert kinetic.max() > 0.003 * scale
    if name in NEVER_CLIMBS:
        climb = ((total - np.minimum.accumulate(total)) / scale).max()
        assert climb < 1e-3, f"{name} climbs {climb:.2%} of {scale:.4g} J above what it had come down to"


def lowest(visuals, frame):
    """The lowest point of bodies [m]. Arguments: visuals: a Bodies; frame: a Frame."""
    heights = []
    for (surface, placed), drawn in zip(visuals.groups.values(), visuals.draw(frame)):
        moving = np.array([body >= 0 for body, *_ in placed])
        for place, turn in zip(drawn.positions[moving], drawn.rotations[moving]):
            heights.append((place + rotate(turn, surface.vertices))[:, 2].min())
    return min(heights)


GROUNDED = (
    "arch", "bouncing_balls", "card_house", "crate_on_trampoline", "domino_spiral", "dominoes", "door", "pyramid",
    "ragdoll", "ragdoll_pile", "ragdoll_stairs", "scout_robot", "stack", "trailer",
)  # fmt: skip


def grounded():
    """Scenes of bodies on the ground, with each solver, as a test's parameters."""
    for name in GROUNDED:
        parameters = PASSIVE[name][0] if name in PASSIVE else SMALL[name]
        for solver in tuned(small(name)):
            yield version(name, solver, parameters)


@pytest.mark.parametrize(("name", "solver", "parameters"), list(grounded()))
def test_bodies_stay_above_the_ground(name, solver, parameters):
    scene = scenes.load(name, **parameters)
    visuals = BodyVisual(scene.model)
    heights = [lowest(visuals, frame) for frame in Run(scene, solver, duration=1.5, fps=60).frames()]
    assert min(heights) > -0.01


@pytest.mark.slow
@pytest.mark.parametrize("name", ["arch", "card_house", "pyramid"], ids="{}-impulse".format)
def test_what_stands_by_impulses_stands_for_twenty_seconds(name):
    first, *_, last = Run(scenes.load(name), "impulse", duration=20.0, fps=1).frames()
    # It settles by as much as its points of contact have play, and does not creep.
    assert np.linalg.norm(last.body_poses[:, :3] - first.body_poses[:, :3], axis=1).max() < 1e-3
    assert np.abs(last.body_velocities).max() < 1e-3


@pytest.mark.parametrize("count", [30, pytest.param(100, marks=pytest.mark.slow)])
def test_cloth_stays_out_of_the_ball(count):
    scene = scenes.load("drape", count=count)
    thickness = scene.parameters["thickness"]
    ball = scene.particles.colliders[1].shape
    nearest = [
        np.linalg.norm(frame.positions - ball.centre, axis=1).min() - ball.radius
        for frame in Run(scene, fps=60).frames()
    ]
    # A particle keeps off by half the thickness, to round-off, since the ball has the last word in each sweep; that the
    # cloth never sinks in by its thickness follows.
    assert min(nearest) == pytest.approx(thickness / 2, abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("solver", [
    pytest.param("impulse", id="high_mass_ratio-impulse"),
    pytest.param("verlet", id="high_mass_ratio"),
])  # fmt: skip
def test_a_hundred_times_as_heavy_is_carried_the_better_the_more_sweeps(solver):
    # Both go over their constraints one by one: what is left of an error after a sweep is a part of it, and the slowest
    # of those parts is near one, so that the error falls with the sweeps and never rises.
    errors = [mass_ratio_error(solver, iterations, 0.5)[0] for iterations in (10, 20, 50, 200)]
    assert (np.diff(errors) < 0).all()
    assert errors[-1] < 0.01
