"""Scenes by the numbers of their sources: bumps between particles, Jakobsen's box, the penalty paper's joints."""

import numpy as np
import pytest

import scenes
from rigid.rotation import rotate
from scenes.catalogue.bump import EDGES, FACES, RADIUS
from scenes.simulate.run import Run


def points_of(x):
    """Points of a stick (2, 3), or of the faces of a tetrahedron (4, 3), as a fine grid (n, 3)."""
    steps = np.linspace(0, 1, 61)
    if len(x) == 2:
        return x[0] + steps[:, None] * (x[1] - x[0])
    a, b = (each.ravel() for each in np.meshgrid(steps, steps))
    weights = np.stack([1 - a - b, a, b], axis=1)[a + b <= 1 + 1e-12]
    return np.concatenate([weights @ x[face] for face in FACES])


def clearances(scene):
    """Least distances from the bumps over a run: of particles, of the stick, of the tetrahedron [m]."""
    bumps = [collider.shape for collider in scene.particles.colliders[1:]]
    found = []
    for frame in Run(scene, fps=60).frames():
        parts = frame.positions, points_of(frame.positions[:2]), points_of(frame.positions[2:])
        found.append([
            min(np.linalg.norm(part - bump.centre, axis=1).min() - bump.radius for bump in bumps) for part in parts
        ])  # fmt: skip
    return np.min(found, axis=0), frame.positions


@pytest.mark.slow
def test_bumps_hold_a_stick_and_a_tetrahedron_that_no_particle_touches():
    scene = scenes.load("bump")
    (particles, stick, solid), last = clearances(scene)
    # No particle comes near a bump: only the points between them touch. The elements keep their radius, but for what
    # the iterations leave of an impact at 3 m/s.
    assert particles > 2 * RADIUS
    assert RADIUS - 2e-3 < stick < RADIUS + 1e-3
    assert RADIUS - 2e-3 < solid < RADIUS + 1e-3
    ends = last[2 + EDGES]
    assert np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1) == pytest.approx(1.1, rel=1e-3)


def test_without_element_contacts_both_pass_through_their_bumps():
    (particles, stick, solid), _ = clearances(scenes.load("bump", elements=False))
    assert particles >= RADIUS - 1e-12
    assert stick < -0.15
    assert solid < -0.15


def test_jakobsens_box_has_the_numbers_of_the_source():
    # A box from 0 to 1000, sticks of length 100, no rebound, 1.99 in place of 2, four iterations.
    scene = scenes.load("jakobsen_box")
    (box,) = scene.particles.boxes
    assert box.tolist() == [0, 0, 0, 1000, 1000, 1000, 0, 0]
    lengths = scene.particles.constraint_sets["stick", False].arrays()[1][:, 0]
    assert lengths == pytest.approx(100, abs=1e-9)
    settings = scene.settings["verlet"]
    assert 2 - settings["damping"] == 1.99
    assert settings["iterations"] == 4
    members = scene.particles.constraint_sets["stick", False].arrays()[0]
    for frame in Run(scene, fps=30).frames():
        x = frame.positions
        assert x.min() >= 0
        assert x.max() <= 1000
    # A step of g h² = 2.7 loads all sticks. Four iterations leave a tenth of it in the tetrahedra on the floor. The
    # cloth hangs from one particle, so its sticks there are longer by some multiples of it, as in a hanging chain
    # (tests/verification/test_sticks.py).
    error = np.abs(np.linalg.norm(x[members[:, 1]] - x[members[:, 0]], axis=1) - 100)
    of_cloth = members[:, 0] < scene.parameters["columns"] ** 2
    assert error[~of_cloth].max() < 0.27
    assert error[of_cloth].max() < 8 * 2.7


def test_joints_of_the_penalty_paper_open_by_their_load():
    # At rest relative to its swing a ball joint opens by |A F|/α*, where A F is the acceleration that the joint gives
    # to the arm's point: against gravity and the centripetal one, |g - ω × (ω × ρ)| with ρ from centre to point.
    scene = scenes.load("penalty_joints")
    assert scene.solver == "penalty"
    settings = scene.settings["penalty"]
    names = ("dt", "stiffness", "damping", "angular_stiffness", "angular_damping")
    assert tuple(settings[name] for name in names) == (0.003, 5000, 25, 10000, 10)
    run = Run(scene, duration=3.0)
    joint = scene.model.joints[0]
    gaps, loads = [], []
    for _ in range(run.steps):
        run.system.step()
        state = run.system.state()
        arm = rotate(state.rotation[0], joint.child_anchor)
        spin = state.angular_velocity[0]
        gaps.append(np.linalg.norm(state.position[0] + arm - joint.parent_anchor))
        loads.append(np.linalg.norm((0, 0, -9.81) - np.cross(spin, np.cross(spin, -arm))))
    settled = slice(round(0.6 / 0.003), None)  # the joint's own oscillation falls by exp(-25/2 t)
    expected = np.array(loads) / 5000
    assert np.array(gaps)[settled] == pytest.approx(expected[settled], rel=0.05)
    assert 1.5e-3 < min(gaps[settled.start :]) < max(gaps[settled.start :]) < 5e-3


@pytest.mark.slow
def test_limits_by_the_sine_yield_more_in_the_scene():
    # Limits at 50°: the sine's spring is softer by cos² 50° = 0.41, so the hinge goes deeper into its limit.
    deepest = {}
    for form in ("angle", "sine"):
        run = Run(scenes.load("penalty_joints", form=form), duration=2.0)
        angles = []
        for _ in range(run.steps):
            run.system.step()
            angles.append(abs(run.system.joint_positions()["hinge joint"]))
        deepest[form] = max(angles) - np.radians(50)
    assert 0 < 1.5 * deepest["angle"] < deepest["sine"]
