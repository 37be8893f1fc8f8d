"""Snapshots of bodies: files, wrong arguments, and momentum against sums by hand."""

import math

import numpy as np
import pytest

import pbd
import rigid
from rigid import rotation
from rigid.state import join_arrays, split_arrays


def two_bodies():
    model = rigid.Model()
    model.add_body(mass=2.0, inertia=(1, 2, 2.5), position=(1, 0, 0), velocity=(0, 3, 0), angular_velocity=(4, 5, 6))
    model.add_body(mass=3.0, inertia=(1, 1, 1), position=(0, 2, 0), rotation=(0, 0, 0, 1), velocity=(0, 0, 1))
    return model


def random_state(*leading, seed=0):
    random = np.random.default_rng(seed)
    q = rotation.normalised(random.normal(size=(*leading, 4)))
    return rigid.State(random.normal(size=(*leading, 3)), q, *random.normal(size=(2, *leading, 3)), time=1.25)


def test_the_initial_state_is_the_described_one():
    state = two_bodies().initial_state()
    assert np.array_equal(state.position, [(1, 0, 0), (0, 2, 0)])
    assert np.array_equal(state.rotation, [(1, 0, 0, 0), (0, 0, 0, 1)])
    assert np.array_equal(state.velocity, [(0, 3, 0), (0, 0, 1)])
    assert np.array_equal(state.angular_velocity, [(4, 5, 6), (0, 0, 0)])
    assert state.time == 0.0
    assert rigid.Model().initial_state().position.shape == (0, 3)


def test_the_initial_state_is_a_copy():
    model = two_bodies()
    model.initial_state().position[:] = 7
    assert np.array_equal(model.bodies[0].position, (1, 0, 0))


def test_the_repr_of_a_state_is_two_lines():
    one, several = random_state(3), random_state(4, 3)
    assert repr(one).splitlines()[0] == f"rigid.State: 3 bodies at 1.25 s, digest {one.digest()},"
    assert "3 bodies in 4 worlds at 1.25 s" in repr(several)
    assert all(len(repr(state).splitlines()) == 2 for state in (one, several))
    assert "m/s" in repr(one)
    assert "0 m/s" in repr(rigid.State(*(np.zeros((0, width)) for width in (3, 4, 3, 3))))


def test_momentum_of_two_bodies():
    """p = 2 (0, 3, 0) + 3 (0, 0, 1). L = 2 (1, 0, 0) × (0, 3, 0) + (4, 10, 15) + 3 (0, 2, 0) × (0, 0, 1)."""
    model = two_bodies()
    state = model.initial_state()
    assert np.array_equal(rigid.linear_momentum(model, state), (0, 6, 3))
    assert np.array_equal(rigid.angular_momentum(model, state), (4 + 6, 10, 15 + 6))
    # About another point c, L - c × p: c = (1, 1, 1) gives L - (-3, -3, 6).
    assert np.array_equal(rigid.angular_momentum(model, state, about=(1, 1, 1)), (13, 13, 15))


def test_momentum_rotates_with_the_state():
    """A rotation of all positions, rotations and velocities rotates L, in each of several worlds."""
    model = two_bodies()
    state = random_state(5, 2)
    q = rotation.normalised((1, -2, 3, 0.5))
    turned = rigid.State(
        rotation.rotate(q, state.position), rotation.multiply(q, state.rotation), rotation.rotate(q, state.velocity),
        rotation.rotate(q, state.angular_velocity),
    )  # fmt: skip
    L = rigid.angular_momentum(model, state)
    assert L.shape == rigid.linear_momentum(model, state).shape == (5, 3)
    assert np.abs(rotation.rotate(q, L) - rigid.angular_momentum(model, turned)).max() < 1e-13
    one = rigid.State(state.position[3], state.rotation[3], state.velocity[3], state.angular_velocity[3])
    assert np.allclose(L[3], rigid.angular_momentum(model, one), rtol=1e-14)


@pytest.mark.parametrize("leading", [(3,), (4, 3)], ids=["one world", "four"])
def test_a_file_stores_every_bit(leading, tmp_path):
    state = random_state(*leading)
    state.save(tmp_path / "state.npz")
    back = rigid.State.load(tmp_path / "state.npz")
    for name in ("position", "rotation", "velocity", "angular_velocity"):
        assert np.array_equal(getattr(back, name), getattr(state, name))
    assert back.time == 1.25
    assert back.digest() == state.digest()
    back.velocity[..., -1, 2] = np.nextafter(back.velocity[..., -1, 2], 9)
    assert back.digest() != state.digest()


def test_files_with_other_contents_are_refused(tmp_path):
    with pytest.raises(FileNotFoundError, match="no state at"):
        rigid.State.load(tmp_path / "none.npz")
    particles = pbd.Particles()
    particles.add_particle((0, 0, 0))
    pbd.ParticleSystem(particles).state().save(tmp_path / "particles.npz")
    (tmp_path / "text.npz").write_text("hello")
    np.savez(tmp_path / "nan.npz", **{**vars(random_state(2)), "time": math.nan})
    for name in ("particles.npz", "text.npz", "nan.npz"):
        with pytest.raises(ValueError, match=f"{name} is not a state saved by verletlab"):
            rigid.State.load(tmp_path / name)


def altered(**changes):
    state = random_state(2)
    for name, value in changes.items():
        array = getattr(state, name).copy()
        array[1] = value
        changes[name] = array
    return lambda: rigid.State(**{**vars(state), **changes})


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (altered(position=math.nan), "position of body 1 is .nan, nan, nan.: expected finite"),
        (altered(velocity=math.inf), "velocity of body 1 is .inf, inf, inf.: expected finite"),
        (altered(rotation=0.0), "quaternion of length 0: expected length one"),
        (altered(rotation=0.6), "quaternion of length 1.2: expected length one"),
        (lambda: rigid.State(np.zeros(3), np.zeros(4), np.zeros(3), np.zeros(3)), r"\(3,\): expected \(bodies, 3\)"),
        (lambda: rigid.State(*np.zeros((4, 2, 3))), r"rotation has shape \(2, 3\): expected \(2, 4\)"),
        (lambda: rigid.State(**{**vars(random_state(2)), "time": math.nan}), "time is nan"),
        (lambda: rigid.State(**{**vars(random_state(2)), "velocity": np.zeros((1, 3))}), r"shape \(1, 3\): expected"),
    ],
)
def test_wrong_states_are_refused(make, words):
    with pytest.raises(ValueError, match=words):
        make()


def test_split_arrays_have_the_shapes_types_and_bits_of_the_joined_ones():
    # In 32 bits (x - x*)/h of numbers read as 64 bits would be rounded otherwise, and a run would not continue.
    arrays = [np.float32([[0.1, 0.2]]), np.int32([7, -8, 9]), 1 / 3, 5, np.zeros((0, 2))]
    found = split_arrays(join_arrays(arrays), arrays)
    assert [type(each) for each in found] == [type(each) for each in arrays]
    assert [np.asarray(each).dtype for each in found] == [np.asarray(each).dtype for each in arrays]
    assert all(map(np.array_equal, found, arrays))
    assert split_arrays(np.zeros(3), arrays) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", rigid.SOLVERS)
def test_state_without_warm_start_has_the_same_poses_and_velocities(name):
    with rigid.solver(name, two_bodies(), dt=0.01) as solver:
        solver.step(2)
        whole, light = solver.state(), solver.state(warm_start=False)
        assert whole.digest() == light.digest()
        assert whole.clock() == light.clock()
        assert whole.warm_start.size > light.warm_start.size == 0
        with pytest.raises(TypeError, match="warm_start"):
            solver.state(warm_start="no")
