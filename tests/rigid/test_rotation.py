"""Quaternions: identities to round-off, exponential and logarithm, swing and twist."""

import math

import numpy as np
import pytest
from scipy.linalg import expm

from pbd.core.rotation import cross
from rigid import rotation

ROUND_OFF = 2e-15  # a few units in the last place of numbers of size one
COUNT = 200


@pytest.fixture
def random():
    return np.random.default_rng(3)


def quaternions(random, *shape):
    return rotation.normalised(random.normal(size=(*shape, 4)))


def same(a, b, tolerance=ROUND_OFF):
    """Whether quaternions are the same rotation, as q and -q are."""
    return np.minimum(np.abs(a - b).max(axis=-1), np.abs(a + b).max(axis=-1)).max() < tolerance


def cross_matrix(v):
    x, y, z = v
    return np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])


def test_products_of_the_units():
    """i j = k, j k = i, k i = j, i i = -1."""
    one, i, j, k = np.eye(4)
    for a, b, c in ((i, j, k), (j, k, i), (k, i, j), (i, i, -one), (one, j, j)):
        assert np.array_equal(rotation.multiply(a, b), c)


def test_a_quarter_turn_about_z_rotates_x_to_y():
    q = rotation.from_axis_angle((0, 0, 7), math.pi / 2)
    assert np.allclose(rotation.rotate(q, (1, 0, 0)), (0, 1, 0), atol=ROUND_OFF)
    assert np.allclose(rotation.rotate_back(q, (0, 1, 0)), (1, 0, 0), atol=ROUND_OFF)


def test_products_agree_with_matrices(random):
    """R(a b) = R(a) R(b), and both rotate vectors in the same way; over leading axes (3, COUNT)."""
    a, b, v = quaternions(random, 3, COUNT), quaternions(random, COUNT), random.normal(size=(3, COUNT, 3))
    ab = rotation.multiply(a, b)
    R = rotation.to_matrix(ab)
    assert R.shape == (3, COUNT, 3, 3)
    assert np.abs(R - rotation.to_matrix(a) @ rotation.to_matrix(b)).max() < 2 * ROUND_OFF
    assert np.abs((R @ v[..., None])[..., 0] - rotation.rotate(a, rotation.rotate(b, v))).max() < 10 * ROUND_OFF
    assert np.abs(np.swapaxes(R, -1, -2) @ R - np.eye(3)).max() < 2 * ROUND_OFF


def test_the_conjugate_is_the_inverse(random):
    q, v = quaternions(random, COUNT), random.normal(size=(COUNT, 3))
    assert same(rotation.multiply(q, rotation.conjugate(q)), rotation.IDENTITY)
    assert np.abs(rotation.rotate_back(q, rotation.rotate(q, v)) - v).max() < 5 * ROUND_OFF


def test_matrix_round_trip(random):
    """Also for half turns about the axes, where three of Shepperd's four branches divide by zero."""
    q = np.concatenate([quaternions(random, COUNT), np.eye(4), [(0, 0.6, 0.8, 0)]])
    back = rotation.from_matrix(rotation.to_matrix(q))
    assert same(back, q)
    assert (back[:, 0] >= 0).all()


@pytest.mark.parametrize("wrong", [np.diag([1.0, 1.0, -1.0]), 2 * np.eye(3), np.full((3, 3), np.nan)])
def test_matrices_that_are_not_rotations_are_refused(wrong):
    with pytest.raises(ValueError, match=r"differs from a rotation|is a reflection"):
        rotation.from_matrix(wrong)


def test_exponential_agrees_with_the_matrix_exponential(random):
    """R(exp v) = exp([v]×) of scipy. At small angles exp v = (1, v/2) to first order, without loss."""
    for v in random.normal(size=(20, 3)) * 3:
        assert np.abs(rotation.to_matrix(rotation.exponential(v)) - expm(cross_matrix(v))).max() < 1e-13
    for size in (0.0, 1e-300, 1e-12):
        assert np.allclose(rotation.exponential((0, size, 0)), (1, 0, size / 2, 0), rtol=1e-15, atol=0)


def test_logarithm_is_the_inverse_of_the_exponential(random):
    v = random.normal(size=(COUNT, 3))
    v *= random.uniform(0, math.pi * 0.999, (COUNT, 1)) / np.linalg.norm(v, axis=1, keepdims=True)
    q = rotation.exponential(v)
    assert np.abs(rotation.logarithm(q) - v).max() < 1e-13
    assert np.abs(rotation.logarithm(-q) - v).max() < 1e-13
    tiny = np.array([1e-200, 0, 1e-12])
    assert np.allclose(rotation.logarithm(rotation.exponential(tiny)), tiny, rtol=1e-15, atol=0)
    assert np.array_equal(rotation.logarithm(rotation.IDENTITY), (0, 0, 0))
    # The shorter way: 3π/2 about z is -π/2.
    assert np.allclose(rotation.logarithm(rotation.exponential((0, 0, 1.5 * math.pi))), (0, 0, -math.pi / 2))


def test_axis_and_angle_agree_with_the_exponential(random):
    axis, angle = random.normal(size=(COUNT, 3)), random.uniform(-4, 4, COUNT)
    unit = axis / np.linalg.norm(axis, axis=1, keepdims=True)
    assert same(rotation.from_axis_angle(axis, angle), rotation.exponential(unit * angle[:, None]))
    assert rotation.from_axis_angle((0, 0, 1), angle).shape == (COUNT, 4)
    with pytest.raises(ValueError, match="axis is"):
        rotation.from_axis_angle((0, 0, 0), 1.0)


def test_swing_and_twist_are_recovered(random):
    """q = swing(s about e ⟂ n) twist(t about n): both angles are recovered, and the product of both is q."""
    n = random.normal(size=(COUNT, 3))
    n /= np.linalg.norm(n, axis=1, keepdims=True)
    e = np.cross(n, random.normal(size=(COUNT, 3)))
    s, t = random.uniform(0, math.pi * 0.99, COUNT), random.uniform(-math.pi, math.pi, COUNT)
    q = rotation.multiply(rotation.from_axis_angle(e, s), rotation.from_axis_angle(n, t))
    swing, twist = rotation.swing_twist(q, n)
    assert same(rotation.multiply(swing, twist), q)
    assert np.abs((swing[:, 1:] * n).sum(axis=1)).max() < 1e-13  # divided by cos(s/2), which is at least 0.016
    assert np.abs(np.cross(twist[:, 1:], n)).max() < ROUND_OFF
    assert same(swing, rotation.from_axis_angle(e, s), 1e-13)
    for given in (q, -q):
        found_s, found_t = rotation.swing_twist_angles(given, n)
        assert np.abs(found_s - s).max() < 1e-13
        assert np.abs(found_t - t).max() < 1e-12
    # The swing angle is the angle between the axis and its image.
    image = rotation.rotate(q, n)
    assert np.abs(np.arctan2(np.linalg.norm(np.cross(n, image), axis=1), (n * image).sum(axis=1)) - s).max() < 1e-12


def test_a_swing_of_half_a_turn_has_no_twist():
    """Nor does round-off near half a turn produce a twist."""
    q = np.array([(0, 0, 1, 0), (0, 0, 1, 1e-16), rotation.from_axis_angle((0, 1, 0), math.pi)])
    swing, twist = rotation.swing_twist(q, (0, 0, 1))
    assert np.array_equal(twist, [rotation.IDENTITY] * 3)
    assert same(swing, q)


def test_frame_axes(random):
    """Rows of length one, at right angles, right-handed, the first along the axis; between_axes maps them."""
    axes = [*random.normal(size=(50, 3)), *np.eye(3), *-np.eye(3)]
    frames = np.array([rotation.frame_axes(axis) for axis in axes])
    assert np.abs(frames @ np.swapaxes(frames, 1, 2) - np.eye(3)).max() < ROUND_OFF
    assert np.abs(np.cross(frames[:, 0], frames[:, 1]) - frames[:, 2]).max() < ROUND_OFF
    assert np.abs(frames[:, 0] - axes / np.linalg.norm(axes, axis=1, keepdims=True)).max() < ROUND_OFF
    q = rotation.between_axes(frames[:-1], frames[1:])
    turned = rotation.rotate(q[:, None], frames[:-1])
    assert np.abs(turned - frames[1:]).max() < 3 * ROUND_OFF


@pytest.mark.parametrize("shapes", [((3,), (3,)), ((7, 3), (3,)), ((5, 1, 3), (7, 3)), ((0, 3), (3,))])
def test_cross_has_the_bits_of_numpy(random, shapes):
    a, b = (random.normal(size=shape) for shape in shapes)
    assert np.array_equal(cross(a, b), np.cross(a, b))
