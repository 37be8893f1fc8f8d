"""Coordinates of joints, their gradients, and the conservation of both momenta by impulses on them."""

import math

import numpy as np
import pytest
import taichi as ti
from marks import slow

import pbd
import rigid
from rigid.constraints.joints.positions import JointPositions
from rigid.rotation import exponential, from_axis_angle, from_matrix, multiply, rotate, swing_twist_angles
from rigid.solvers.verlet.builder import build_particles
from rigid.solvers.verlet.joint_coordinates import ANGLE, SHIFT

POINT, AXIS = (0.45, 0.05, 0.02), (0.3, -1.0, 0.5)
N0, N1 = np.array([1.0, 0.0, 0.0]), np.array([0.0, 0.6, 0.8])


class Pair:
    """Two free boxes of 1 and 9 kg, joined by a function `add` of their model.

    `constraints` holds those between their frames, as (type, members, numbers).
    """

    def __init__(self, add):
        self.model = rigid.Model(gravity=(0, 0, 0))
        self.model.add_box(
            (0.5, 0.08, 0.05), mass=1.0, position=(0.25, 0, 0), rotation=exponential([0.3, 0.2, -1.0])
        )
        self.model.add_box((0.3, 0.2, 0.5), mass=9.0, position=(0.6, 0.1, 0.2), rotation=exponential([1, -0.4, 0.1]))
        add(self.model)
        self.building = build_particles(self.model)
        self.constraints = [
            (constraints.type, *numbers)
            for constraints in self.building.particles.constraint_sets.values()
            # Constraints within a frame have four corners.
            if not isinstance(constraints.type, str) and constraints.type.arity >= 8 and not constraints.type.sensor
            for numbers in zip(*constraints.arrays())
        ]

    def forces(self):
        """The constraints that are friction."""
        return [(members, numbers) for one, members, numbers in self.constraints if one.needs_time]

    def state(self, turn=(1.0, 0, 0, 0), shift=(0, 0, 0)):
        """A state in which the second body is rotated about POINT and shifted against the first, and both are moved."""
        state = self.model.initial_state()
        arm = state.position[1] - POINT
        state.position[1] = POINT + np.array(shift) + rotate(turn, arm)
        state.rotation[1] = multiply(turn, state.rotation[1])
        elsewhere = exponential([0.4, -1.1, 0.7])
        state.position[:] = rotate(elsewhere, state.position) + [1, -2, 0.5]
        state.rotation[:] = multiply(elsewhere, state.rotation)
        return state

    def corners(self, members, state):
        """Positions of the members of a constraint in a state (n, 3) [m]."""
        at = {}
        for body, (particles, frame) in enumerate(zip(self.building.members, self.building.frames)):
            at |= dict(zip(particles, state.position[body] + rotate(state.rotation[body], frame.points)))
        return np.array([at[particle] for particle in members])


def reader(function, count):
    """Make a numpy function from a Taichi function (x, p) -> number, f and t of both frames."""

    @ti.kernel
    def read(x: ti.types.ndarray(ndim=2), p: ti.types.ndarray(ndim=1), out: ti.types.ndarray(ndim=1)):
        points = [ti.Vector([x[k, 0], x[k, 1], x[k, 2]]) for k in ti.static(range(8))]
        number, gradient = function(points, [p[k] for k in ti.static(range(count))])
        out[0] = number
        for k in ti.static(range(4)):
            for axis in ti.static(range(3)):
                out[1 + 3 * k + axis] = gradient[k][axis]

    def call(x, p):
        out = np.zeros(13)
        read(np.ascontiguousarray(x), np.ascontiguousarray(p), out)
        return out[0], out[1:].reshape(4, 3)

    return call


@pytest.fixture(scope="module")
def read_angle():
    return reader(ANGLE.read, len(ANGLE.numbers))


@pytest.fixture(scope="module")
def read_shift():
    return reader(SHIFT.read, len(SHIFT.numbers))


@pytest.mark.parametrize("angle", [-3.0, -0.7, 0.2, 1.6, 3.1])
def test_hinge_angle(read_angle, angle):
    # The child is rotated about the axis by q, so the coordinate is q to round-off of cosines.
    pair = Pair(lambda m: m.add_hinge(0, 1, POINT, AXIS, friction=1.0, name="one"))
    ((members, numbers),) = pair.forces()
    state = pair.state(from_axis_angle(AXIS, angle))
    assert read_angle(pair.corners(members, state), numbers)[0] == pytest.approx(angle, abs=1e-12)
    assert JointPositions(pair.model).positions(state)["one"] == pytest.approx(angle, abs=1e-12)


@pytest.mark.parametrize(("a", "b"), [(0.3, -0.9), (-2.0, 1.2), (3.0, 2.9)])
def test_universal_joint_angles(read_angle, a, b):
    # R = R(n0, a) R(n1, b), see rigid.Universal.
    pair = Pair(lambda m: m.add_universal(0, 1, POINT, N0, N1, friction=1.0, name="one"))
    state = pair.state(multiply(from_axis_angle(N0, a), from_axis_angle(N1, b)))
    found = [read_angle(pair.corners(members, state), numbers)[0] for members, numbers in pair.forces()]
    assert found == pytest.approx([a, b], abs=1e-12)
    assert JointPositions(pair.model).positions(state)["one"] == pytest.approx([a, b], abs=1e-12)


def test_slider_shift(read_shift):
    pair = Pair(lambda m: m.add_slider(0, 1, POINT, AXIS, friction=1.0, name="one"))
    ((members, numbers),) = pair.forces()
    state = pair.state(shift=0.37 * np.array(AXIS) / np.linalg.norm(AXIS))
    assert read_shift(pair.corners(members, state), numbers)[0] == pytest.approx(0.37, abs=1e-12)
    assert JointPositions(pair.model).positions(state)["one"] == pytest.approx(0.37, abs=1e-12)


def test_ball_limit_measures_swing_and_twist_excess():
    # The larger of swing - limit and |twist - middle| - half, or zero. The reference is rotation.swing_twist_angles of
    # the child's axes in the parent's. To round-off of cosines, about 1e-8 where they are near ±1.
    limit, low, high = 0.2, -0.3, 0.1
    pair = Pair(
        lambda m: m.add_ball(
            0, 1, POINT, axis=AXIS, cone_axis=(0.4, -1.0, 0.4), swing_limit=limit, twist_limits=(low, high), name="one"
        )
    )
    ((constraint_type, members, numbers),) = pair.constraints

    @ti.func
    def value_and_whether_it_holds(x, p):
        held = ti.select(constraint_type.is_satisfied(x, p), 1.0, 0.0)
        return constraint_type.value(x, p), [ti.Vector([held, 0.0, 0.0]) for _ in ti.static(range(4))]

    read = reader(value_and_whether_it_holds, len(numbers))
    rng = np.random.default_rng(0)
    joint, seen = pair.model.joints[0], set()
    for k in range(60):
        state = pair.state(exponential(rng.normal(size=3) * (0.1, 0.3, 1.0)[k % 3]))
        m, n = (
            rotate(state.rotation[body], axes) for body, axes in ((0, joint.parent_axes), (1, joint.child_axes))
        )
        swing, twist = swing_twist_angles(from_matrix(m @ n.T), N0)
        expected = max(swing - limit, abs(twist - (low + high) / 2) - (high - low) / 2, 0.0)
        value, held = read(pair.corners(members, state), numbers)
        assert value == pytest.approx(expected, abs=1e-8)
        assert held[0, 0] == (expected == 0)
        assert JointPositions(pair.model).positions(state)["one"] == pytest.approx([swing, twist], abs=1e-8)
        seen.add(expected == 0)
    assert seen == {True, False}


def test_angle_limit_projects_to_the_nearer_limit_on_the_circle():
    # Limits (-3, 1): the excess is q - 1 from 1 to the middle of the rest of the circle, -1 + π, then q + 3.
    pair = Pair(lambda m: m.add_hinge(0, 1, POINT, AXIS, limits=(-3.0, 1.0)))
    ((constraint_type, members, numbers),) = pair.constraints

    @ti.func
    def value(x, p):
        return constraint_type.value(x, p), [ti.Vector([0.0, 0.0, 0.0]) for _ in ti.static(range(4))]

    read = reader(value, len(numbers))
    for angle, expected in ((-2.9, 0), (0.9, 0), (1.2, 0.2), (2.1, 1.1), (2.2, 2 * math.pi - 5.2), (-3.1, 0.1)):
        state = pair.state(from_axis_angle(AXIS, angle))
        assert read(pair.corners(members, state), numbers)[0] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("name", ["angle", "shift"])
def test_gradients_are_derivatives_of_coordinates(name, read_angle, read_shift):
    # A small shift d and rotation φ of a frame change q by f·d + t·φ. Central differences of 1e-6 are exact to 1e-10.
    if name == "angle":
        pair, read = Pair(lambda m: m.add_hinge(0, 1, POINT, AXIS, friction=1.0)), read_angle
    else:
        pair, read = Pair(lambda m: m.add_slider(0, 1, POINT, AXIS, friction=1.0)), read_shift
    ((members, numbers),) = pair.forces()
    x = pair.corners(members, pair.state(exponential([0.3, -0.5, 0.4]), (0.1, 0.2, -0.1)))
    _, gradient = read(x, numbers)
    for frame in range(2):
        mine = slice(4 * frame, 4 * frame + 4)
        middle = x[mine].mean(axis=0)
        for axis in np.eye(3):
            shifted, turned = [], []
            for step in (1e-6 * axis, -1e-6 * axis):
                ends = x.copy(), x.copy()
                ends[0][mine] += step
                ends[1][mine] = middle + rotate(exponential(step), x[mine] - middle)
                shifted.append(read(ends[0], numbers)[0])
                turned.append(read(ends[1], numbers)[0])
            assert (shifted[0] - shifted[1]) / 2e-6 == pytest.approx(gradient[2 * frame] @ axis, abs=1e-8)
            assert (turned[0] - turned[1]) / 2e-6 == pytest.approx(gradient[2 * frame + 1] @ axis, abs=1e-8)


SPRING = rigid.Spring(stiffness=5.0, damping=0.1)
JOINTS = {
    "hinge limits": lambda m: m.add_hinge(0, 1, POINT, AXIS, limits=(-0.01, 0.02)),
    "hinge limits, counted": lambda m: m.add_hinge(0, 1, POINT, AXIS, limits=(-math.inf, 0.0)),
    "hinge friction": lambda m: m.add_hinge(0, 1, POINT, AXIS, friction=3.0),
    "hinge spring": lambda m: m.add_hinge(0, 1, POINT, AXIS, spring=SPRING),
    "ball limits": lambda m: m.add_ball(0, 1, POINT, axis=AXIS, swing_limit=0.01, twist_limits=(-0.02, 0.01)),
    "ball friction": lambda m: m.add_ball(0, 1, POINT, friction=3.0),
    "ball spring": lambda m: m.add_ball(0, 1, POINT, spring=SPRING),
    "universal": lambda m: m.add_universal(0, 1, POINT, N0, N1),
    "slider": lambda m: m.add_slider(0, 1, None, AXIS),
    "slider friction": lambda m: m.add_slider(0, 1, None, AXIS, friction=3.0),
    "slider limits": lambda m: m.add_slider(0, 1, None, AXIS, limits=(-1e-4, 1e-4)),
    "gear": lambda m: m.add_gear(m.add_hinge(0, 1, POINT, AXIS), m.add_slider(0, 1, None, AXIS), ratio=0.3),
}
SIMILAR = ("hinge limits, counted", "hinge friction", "ball friction", "slider friction")  # to limits or springs


@pytest.mark.parametrize(("name", "direction"), [
    *(slow(name, "start") if name in SIMILAR else (name, "start") for name in JOINTS),
    *(slow(name, "current") for name in ("ball friction", "hinge limits", "slider", "gear")),
])  # fmt: skip
def test_one_projection_conserves_both_momenta(name, direction):
    # Σ m Δx = 0 and Σ m y × Δx = 0 for masses 1 and 9. y are the positions before the projection ("current") or at the
    # start of the step. It holds for strained frames, here by 5 % of a body. To round-off of m x Δx, 1e-15 times 10.
    pair = Pair(JOINTS[name])
    if name == "slider friction":
        constraint_type, members, numbers = next(each for each in pair.constraints if each[0].needs_time)
    else:
        constraint_type, members, numbers = pair.constraints[-1]
    rng = np.random.default_rng(5)
    x = pair.corners(members, pair.state(exponential([0.1, -0.2, 0.1]), (0.02, 0.03, 0.01)))
    x += 0.01 * rng.normal(size=x.shape)
    masses = pair.building.particles.masses()[members]
    particles = pbd.Particles(gravity=(0, 0, 0))
    particles.add_particles(x, masses, rng.normal(size=x.shape))
    compliance = 0.0
    if constraint_type.needs_time:
        compliance, numbers = numbers[-1], numbers[:-1]
    values = dict(zip(constraint_type.parameters, numbers))
    particles.add_constraints(constraint_type, [np.arange(8)], compliance=compliance, **values)
    system = pbd.ParticleSystem(particles, dt=0.01, iterations=1, direction=direction)
    predicted = x + 0.01 * system.velocities()
    system.step()
    change = masses[:, None] * (system.positions() - predicted)
    assert np.abs(change).max() > 1e-6
    assert np.abs(change.sum(axis=0)).max() < 1e-13
    y = x if direction == "start" else predicted
    assert np.abs(np.cross(y, change).sum(axis=0)).max() < 1e-13


@pytest.mark.slow
@pytest.mark.parametrize("name", ["hinge limits", "hinge limits, counted", "ball limits", "universal"])
def test_one_projection_comes_nearer_to_poses_that_hold(name):
    # A projection along the masses is at right angles to what it projects to, so by Pythagoras its length and what is
    # left do not exceed the distance before: Σ m |Δx|² + Σ m |x - x_f|² <= Σ m |x_0 - x_f|² for every pose x_f that
    # holds, also where the joint is open and the impulse has its reaction in it. Poses are 1e-5 from x_f, and terms of
    # second order are about 1e-5 of the others. Otherwise a joint under load could open farther with each iteration.
    pair = Pair(JOINTS[name])
    constraint_type, members, numbers = pair.constraints[-1]
    turn = {"hinge limits": 0.02, "ball limits": 0.01}.get(name, 0.0)  # to the limit
    holds = pair.corners(members, pair.state(from_axis_angle(AXIS, turn)))
    masses = pair.building.particles.masses()[members][:, None]
    rng, moved = np.random.default_rng(7), 0
    for _ in range(40):
        x = holds.copy()
        for frame in (slice(0, 4), slice(4, 8)):
            middle = x[frame].mean(axis=0)
            x[frame] = middle + rotate(exponential(1e-5 * rng.normal(size=3)), x[frame] - middle)
            x[frame] += 1e-5 * rng.normal(size=3)
        particles = pbd.Particles(gravity=(0, 0, 0))
        particles.add_particles(x, masses[:, 0])
        particles.add_constraints(constraint_type, [np.arange(8)], **dict(zip(constraint_type.parameters, numbers)))
        system = pbd.ParticleSystem(particles, dt=0.01, iterations=1, direction="current")
        system.step()
        found = system.positions()
        length, left, before = (np.sum(masses * d**2) for d in (found - x, found - holds, x - holds))
        assert length + left < 1.0001 * before
        moved += length > 0.001 * before
    assert moved >= 3
