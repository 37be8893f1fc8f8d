"""Every scene of the catalogue: it runs, it is seen, nothing passive gains energy, and cloth stays out of the ball."""

import numpy as np
import pytest

import scenes
from scenes.render.film import camera_for, picture, renderer_for
from scenes.run import Replay, Run

# Parameters that make a scene small; one that is not named here runs as it is.
SMALL = {
    "box": {"grains": 20, "sticks": 5},
    "drape": {"count": 20},
    "flag": {"count": 15},
    "fold": {"columns": 8},
    "plant": {"branches": 4},
    "rope_bridge": {"planks": 9},
    "soft_body": {"resolution": 7},
    "tetrahedron": {"count": 2},
}


@pytest.mark.parametrize("name", scenes.available())
def test_a_scene_runs_and_is_seen(name):
    scene = scenes.load(name, **SMALL.get(name, {}))
    recording = scenes.run(scene, duration=0.25, fps=20)
    assert len(recording) == 6
    for numbers in (recording.positions, recording.velocities, recording.poses, recording.energy):
        assert np.isfinite(numbers).all()
    *_, last = Replay(scene, recording).frames()
    renderer = renderer_for(scene, 160, 90)
    camera = scene.camera or camera_for(scene, last, 160 / 90)
    empty = renderer.draw([], camera)
    seen = picture(scene, last, renderer, camera)
    changed = np.abs(seen.astype(int) - empty).max(axis=2) > 16
    # What a scene is about fills one pixel in fifty at least, and leaves some of the floor or the sky around it.
    assert 0.02 < changed.mean() < 0.9


def energies(scene, duration=None):
    """Total energy [J] at time zero and after each step, and the scene's scale: m g z of all that moves, and m v²/2.

    Heights count from the floor, z = 0, where the potential is zero too.
    """
    running = Run(scene, duration=duration)
    particles, system = scene.particles, running.system
    moving = np.isfinite(particles.masses)
    weight = np.linalg.norm(particles.gravity) * particles.masses[moving].sum()
    start = system.energy()
    scale = weight * particles.positions[moving, 2].max() + start.kinetic
    total = [start.total]
    for _ in range(running.steps):
        system.step()
        total.append(system.energy().total)
    return np.array(total), scale


# Scenes without a source of energy; a smaller or shorter one each for every day.
PASSIVE = {
    "box": ({}, None),
    "drape": ({"count": 20}, None),
    "rope_bridge": ({}, None),
    "soft_body": ({"resolution": 7}, 0.6),
    "tetrahedron": ({"count": 3}, 2.5),
}

# In these, energy has nowhere to hide: not in springs, nor in sticks that sweeps have not yet brought to their length.
NEVER_CLIMBS = ("box", "drape", "tetrahedron")


def test_every_passive_scene_is_watched():
    assert {name for name in scenes.available() if scenes.load(name, **SMALL.get(name, {})).passive} == set(PASSIVE)


@pytest.mark.parametrize(
    ("name", "parameters", "duration"),
    [
        *((name, *version) for name, version in PASSIVE.items()),
        *(pytest.param(name, {}, None, marks=pytest.mark.slow, id=f"{name}-whole") for name in PASSIVE),
    ],
)
def test_a_passive_scene_gains_no_energy(name, parameters, duration):
    total, scale = energies(scenes.load(name, **parameters), duration)
    step = total.argmax()
    gain = (total[step] - total[0]) / scale
    assert gain < 1e-3, f"{name} gains {gain:.2%} of {scale:.4g} J until step {step}"
    assert total[-1] < total[0] - 0.05 * scale  # it does fall, swing or bounce: there is something to gain from
    if name in NEVER_CLIMBS:
        climb = ((total - np.minimum.accumulate(total)) / scale).max()
        assert climb < 1e-3, f"{name} climbs {climb:.2%} of {scale:.4g} J above what it had come down to"


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
