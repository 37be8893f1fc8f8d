"""Random scenes: the same for the same seed, whole and apart at the start, with everything that there is."""

import numpy as np
import pytest
from fuzzing import check_sound
from marks import cases
from random_scenes import BODIES, SEEDS, solver_of, solvers_of

import rigid
from benchmarks.random_bodies import DENSITY, JOINTS, SHAPES
from benchmarks.random_scenes import KINDS, LENGTHS, STEPS, random_scene
from benchmarks.robustness import CLASSES
from rigid.constraints.joints.gaps import joint_gaps, joint_turns, limit_violations

SOLIDS = {"Box": "box", "Sphere": "sphere", "Capsule": "capsule", "Cylinder": "cylinder", "ConvexHull": "hull"}


def numbers_of(scene):
    """Positions and masses, and names of what else there is."""
    made = scene.description
    if scene.has_particles:
        return made.positions(), made.masses(), list(made.masses() < np.inf)
    state = made.initial_state()
    parts = [(type(each).__name__, each.name) for each in (*made.joints, *made.springs, *made.gears)]
    return np.hstack([state.position, state.velocity]), made.masses, [*parts, made.exclusions]


@pytest.mark.parametrize("kind", KINDS)
def test_a_seed_gives_one_scene(kind):
    for seed in range(5):
        one, same, other = (numbers_of(random_scene(each, kind, 1.0, 10.0)) for each in (seed, seed, seed + 1))
        assert (one[0] == same[0]).all()
        assert (one[1] == same[1]).all()
        assert one[2] == same[2]
        assert one[0].shape != other[0].shape or np.abs(one[0] - other[0]).max() > 0.01


def test_drawn_scenes_have_all_kinds_and_a_wide_range():
    made = [random_scene(seed) for seed in SEEDS]
    assert {scene.kind for scene in made} == set(KINDS)
    for name, (low, high) in (("length", LENGTHS), ("dt", STEPS)):
        drawn = [getattr(scene, name) for scene in made]
        assert low <= min(drawn) < low * (high / low) ** 0.2
        assert high >= max(drawn) > high / (high / low) ** 0.2
    given = random_scene(3, length=made[3].length)
    assert (numbers_of(given)[0] == numbers_of(made[3])[0]).all()  # what is given changes nothing else


@pytest.mark.parametrize("kind", [kind for kind in BODIES if kind != "wheels"])
def test_scenes_of_all_sizes_have_one_shape(kind):
    # With lengths and gravity times a thousand all velocities are a thousand times as large, and energies 1000⁵.
    for seed in range(5):
        small, large = random_scene(seed, kind, 0.001, 10.0), random_scene(seed, kind, 1.0, 10.0, gravity=9810.0)
        assert 1000 * numbers_of(small)[0] == pytest.approx(numbers_of(large)[0], abs=1e-12)
        assert 1e9 * numbers_of(small)[1] == pytest.approx(numbers_of(large)[1], rel=1e-12)
        assert large.scale == pytest.approx(1e15 * small.scale, rel=1e-12)
        assert large.duration == pytest.approx(small.duration)


@pytest.mark.slow
def test_shapes_and_joints_all_occur():
    shapes, joints, free = set(), set(), set()
    for kind in BODIES:
        for seed in SEEDS:
            model = random_scene(seed, kind, 1.0, 10.0).description
            shapes |= {SOLIDS.get(type(piece.shape).__name__) for piece in model.shapes if piece.body != rigid.GROUND}
            joints |= {joint.kind for joint in model.joints}
            free |= {"friction" for joint in model.joints if joint.friction}
            free |= {"spring" for joint in model.joints if joint.spring}
            free |= {"limits" for joint in model.joints if np.isfinite(joint.coordinate_limits()).any()}
            free |= {"gear"} if model.gears else set()
            free |= {"spring of points"} if model.springs else set()
    assert shapes == set(SHAPES)
    assert joints == {*JOINTS, "distance", "wheel"}
    assert free == {"friction", "spring", "limits", "gear", "spring of points"}


@pytest.mark.parametrize("kind", BODIES)
def test_bodies_start_whole_and_apart(kind):
    for seed in range(10):
        scene = random_scene(seed, kind, 1.0, 10.0)
        model, state = scene.description, scene.description.initial_state()
        check_sound(model)
        assert joint_gaps(model, state).max(initial=0) < 1e-9
        assert joint_turns(model, state).max(initial=0) < 1e-6
        assert not np.any(limit_violations(model, {}))
        if kind in ("heap", "falling tree"):  # balls around the bodies do not touch, and none reaches the ground
            radii = [piece.shape.bounding_radius() for piece in model.shapes if piece.body != rigid.GROUND]
            apart = np.linalg.norm(state.position[:, None] - state.position, axis=2) + 9 * np.eye(len(radii))
            assert (apart > 0.999 * np.add.outer(radii, radii)).all()
            ground = next(piece for piece in model.shapes if piece.body == rigid.GROUND)
            assert (state.position[:, 2] - radii > ground.position[2]).all()
        if kind == "stack":  # each begins where the one below ends
            tall = [piece.shape.size[2] if piece.shape.kind == rigid.Box((1, 1, 1)).kind else piece.shape.length
                    for piece in model.shapes if piece.body != rigid.GROUND]  # fmt: skip
            lower = np.concatenate([[0], np.cumsum(tall)[:-1]])
            assert state.position[:, 2] == pytest.approx(lower + np.array(tall) / 2, abs=1e-12)


def test_densities_have_the_ratio():
    for ratio in (1.0, 1000.0):
        densities = []
        for seed in SEEDS:
            model = random_scene(seed, "stack", 0.5, ratio).description
            densities.extend(model.masses / 0.5**3)
        assert min(densities) >= DENSITY * (1 - 1e-12)
        assert max(densities) <= DENSITY * ratio * (1 + 1e-12)
        assert max(densities) >= 0.5 * ratio * min(densities)


def test_energy_scales_are_weights_times_lengths():
    scene = random_scene(4, "heap", 0.2, 10.0)
    assert scene.scale == pytest.approx(9.81 * scene.description.masses.sum() * 0.2 * len(scene.description.bodies))
    cloth = next(scene for scene in (random_scene(seed, "cloth", 0.3, 1.0) for seed in SEEDS)
                 if np.isfinite(scene.description.masses()).all())  # fmt: skip
    # 0.1 kg/m² for a metre, and as much thinner as it is smaller: without pins it weighs 0.1 · 0.3 · 0.3² kg.
    assert cloth.scale == pytest.approx(9.81 * 0.1 * 0.3**3 * 0.3, rel=1e-9)


def test_rolling_discs_do_not_slip_at_the_start():
    for seed in range(10):
        model = random_scene(seed, "wheels", 1.0, 1.0).description
        for joint, body in zip(model.joints, model.bodies):
            arm = joint.parent_anchor - body.position  # the rim's lowest point: the ground is the parent
            assert body.velocity + np.cross(body.angular_velocity, arm) == pytest.approx(0, abs=1e-12)
            assert np.linalg.norm(body.velocity) > 0.2


@pytest.mark.slow
@pytest.mark.parametrize("kind", cases(KINDS, slow=["falling tree", "heap", "stack"]))
def test_solvers_accept_all_scenes(kind):
    scene = random_scene(1, kind, 1.0, 10.0, 1 / 60)
    for name in solvers_of(scene):
        assert np.isfinite(solver_of(scene, name).energy().total)


def test_wheels_that_slip_are_not_for_verlet():
    found = {solvers_of(random_scene(seed, "wheels", 1.0, 10.0)) for seed in range(5)}
    assert found == {rigid.SOLVERS, tuple(name for name in rigid.SOLVERS if name != "verlet")}


def test_classes_draw_what_they_say():
    for given in CLASSES.values():
        scene = random_scene(7, *given)
        for name in ("kind", "length", "dt"):
            assert getattr(given, name) in (None, getattr(scene, name))
    with pytest.raises(ValueError, match="kind is 'tower': expected one of chain, tree"):
        random_scene(0, "tower")
