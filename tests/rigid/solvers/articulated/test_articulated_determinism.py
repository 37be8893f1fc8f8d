"""The articulated solver computes the same bits in every world and from a file; states that are set."""

import numpy as np
import pytest

import rigid
from rigid.rotation import from_axis_angle

Y, Z = (0, 1, 0), (0, 0, 1)


def description(number=0, ground=False):
    """A tree with all kinds of joints, limits, friction, a motor, springs, a gear, a loop, and a free body.

    Args: number: changes masses and gravity alone.
    """
    model = rigid.Model(gravity=(0.1 * number, 0, -9.81))
    if ground:
        model.add_ground()
    size = {"mass": 1.0 + 0.1 * number}
    trunk = model.add_box((0.3, 0.2, 0.4), position=(0, 0, 1), angular_velocity=(0.3, 0, 1), **size)
    arm = model.add_box((0.4, 0.1, 0.1), position=(0.4, 0, 1), **size)
    hand = model.add_box((0.4, 0.1, 0.1), position=(0.8, 0, 1), **size)
    other = model.add_box((0.4, 0.1, 0.1), position=(-0.4, 0, 1), **size)
    wheel = model.add_box((0.1, 0.1, 0.1), position=(-0.8, 0, 1), **size)
    drawer = model.add_box((0.1, 0.1, 0.1), position=(0, 0.3, 1), **size)
    model.add_box((0.1, 0.1, 0.1), position=(0, 0.6, 1), **size)
    hat = model.add_box((0.1, 0.1, 0.1), position=(0, 0, 1.3), **size)
    model.add_ball(trunk, arm, (0.2, 0, 1), swing_limit=0.5, twist_limits=(-0.3, 0.3), friction=0.05, name="ball")
    model.add_hinge(hand, arm, (0.6, 0, 1), Y, limits=(-1, 0.5), spring=rigid.Spring(2.0, 0.1), name="elbow")
    model.add_universal(trunk, other, (-0.2, 0, 1), Y, Z, friction=0.02, name="universal")
    model.add_hinge(other, wheel, (-0.6, 0, 1), Y, motor=rigid.Motor(speed=30.0, max_effort=0.5), name="wheel")
    model.add_slider(trunk, drawer, None, (0, 1, 0), limits=(0, 0.1), name="drawer")
    model.add_fixed(trunk, hat)
    model.add_gear("elbow", "drawer", 0.05)
    model.add_distance(hat, hand, limits=(-0.5, 0.02))
    model.add_spring(rigid.GROUND, wheel, (-0.8, 0, 2), stiffness=20.0, damping=0.5)
    return model


def solve(models, ground=False, **options):
    return rigid.solver("articulated", models, dt=0.01, iterations=20, contacts=ground, **options)


def same(one, other, world=None):
    for name in ("position", "rotation", "velocity", "angular_velocity"):
        first = getattr(one, name) if world is None else getattr(one, name)[world]
        assert np.array_equal(first, getattr(other, name)), name


@pytest.mark.slow
@pytest.mark.parametrize("ground", [False, True])
def test_worlds_equal_single_worlds_and_continue_from_a_file(ground, tmp_path):
    models = [description(number, ground) for number in range(3)]
    together = solve(models, ground)
    together.step(80)
    half = solve(models, ground)
    half.step(37)
    half.state().save(tmp_path / "half.npz")
    after = solve(models, ground)
    after.set_state(rigid.State.load(tmp_path / "half.npz"))
    after.step(43)
    assert after.digest() == together.digest()
    for world, model in enumerate(models):
        alone = solve(model, ground)
        alone.step(80)
        same(together.state(), alone.state(), world)
        for name, value in alone.joint_positions().items():
            assert np.array_equal(together.joint_positions()[name][world], value)


@pytest.mark.slow
def test_set_state_closes_joints_with_gaps():
    solver = solve(description())
    solver.step(20)
    given = solver.state()
    given.warm_start = ()
    assert solver.statistics().iterations > 0
    solver.set_state(given)
    assert solver.statistics().iterations == 0  # no step was made since
    taken = solver.state()
    for name in ("position", "rotation", "velocity", "angular_velocity"):
        assert np.abs(getattr(taken, name) - getattr(given, name)).max() < 1e-12
    # A hand 1 cm away from its elbow is moved back; poses follow from the root.
    given.position[2] += (0, 0, 0.01)
    solver.set_state(given)
    back = solver.state()
    assert np.abs(back.position - taken.position).max() < 1e-12


@pytest.mark.slow
def test_wheel_counts_turns_in_trees_of_both_directions():
    # The angle is ω t for many turns, whichever of the two bodies is the parent in the tree.
    for parent, child, sign in ((0, 1, 1.0), (1, 0, -1.0)):
        model = rigid.Model(gravity=(0, 0, 0))
        model.add_body(mass=100.0, inertia=(100, 100, 100), position=(0, 0, 0), angular_velocity=(0, -1.0, 0))
        model.add_body(mass=1.0, inertia=(1, 1, 1), position=(0, 0, 0), angular_velocity=(0, 9.0, 0))
        model.add_hinge(parent, child, (0, 0, 0), Y, name="axle", friction=0.0)
        solver = solve(model)
        solver.step(500)
        assert solver.joint_positions()["axle"] == pytest.approx(sign * 50.0, abs=1e-9)
        assert solver.joint_velocities()["axle"] == pytest.approx(sign * 10.0, abs=1e-12)
        turned = solver.state().rotation[1]
        assert abs(turned @ from_axis_angle(Y, 45.0)) == pytest.approx(1, abs=1e-12)
