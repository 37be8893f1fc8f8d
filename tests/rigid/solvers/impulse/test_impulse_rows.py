"""Every joint's rows: what changes G along any motion is J V, for random poses and velocities.

Without sweeps a body of equal moments of inertia goes on as it is, and a solver's rows are those of where it is.
"""

import numpy as np
import pytest

import rigid
from rigid.constraints.joints import drive
from rigid.constraints.joints.place import VALUE
from rigid.constraints.joints.table import FRICTION_ROW, SPRING_ROW
from rigid.constraints.rows import BODY_I, BODY_J, BODY_K, BODY_L, COUNT, ERROR, FIRST, GEAR, KIND, LOCK
from rigid.rotation import exponential, multiply, normalised, rotate

POSES = 12  # random ones, each in a model of its own parts
H = 1e-5


def model_of(kinds, poses=POSES):
    """Pairs of bodies, each joined by a kind of joint, with anchors and axes any which way."""
    random = np.random.default_rng(1)
    model = rigid.Model(gravity=(0, 0, 0))
    for number in range(poses):
        for kind in kinds:
            places = random.normal(size=(2, 3))
            a, b = (
                model.add_body(mass=m, inertia=(m, m, m), position=place, rotation=normalised(random.normal(size=4)))
                for m, place in zip(random.uniform(0.5, 3, 2), places)
            )
            add(model, kind, a, b, places.mean(axis=0) + 0.3 * random.normal(size=3), random, f"{kind} {number}")
    return model


def add(model, kind, a, b, point, random, name):
    axis, other = random.normal(size=(2, 3))
    spring = rigid.Spring(2.0, 0.1)
    if kind == "ball":
        model.add_ball(a, b, point, axis=axis, spring=spring, name=name, swing_limit=3.1, twist_limits=(-3.1, 3.1))
    elif kind == "hinge":
        model.add_hinge(a, b, point, axis, spring=spring, name=name)
    elif kind == "universal":
        model.add_universal(a, b, point, axis, np.cross(axis, other), spring=spring, name=name)
    elif kind == "slider":
        model.add_slider(a, b, point, axis, spring=spring, name=name)
    elif kind == "fixed":
        model.add_fixed(a, b, point, name=name)
    elif kind == "distance":
        model.add_distance(a, b, point, point + other, name=name)
    elif kind == "spring":
        model.add_spring(a, b, point, point + other, stiffness=3.0)


KINDS = ("ball", "hinge", "universal", "slider", "fixed", "distance", "spring")


def three_times(model, state, dt=H):
    """Rows, coordinates and velocities of bodies, the ground's included, at three instants, the state's in the middle.
    """
    solver = rigid.solver("impulse", model, dt=dt, iterations=0, contacts=False)
    back = rigid.State(
        state.position - 2 * dt * state.velocity,
        multiply(exponential(-2 * dt * state.angular_velocity), state.rotation),
        state.velocity, state.angular_velocity,
    )  # fmt: skip
    solver.set_state(back)
    rows, coordinates = [], []
    for _ in range(3):
        solver.step()
        rows.append(solver.rows.numbers.to_numpy()[0])
        coordinates.append(solver.joints.coordinates.to_numpy()[0])
    now = solver.state()
    assert np.abs(now.velocity - state.velocity).max() == 0
    assert np.abs(now.angular_velocity - state.angular_velocity).max() < 1e-14
    velocities = np.concatenate([now.velocity, now.angular_velocity], axis=1)
    velocities = np.concatenate([velocities, np.zeros((1, 6))])
    return solver, np.array(rows), np.array(coordinates), velocities


def rate(numbers, v_i, v_j):
    """J V: d·(v_i - v_j) + a_i·ω_i + a_j·ω_j."""
    return numbers[:3] @ (v_i[:3] - v_j[:3]) + numbers[3:6] @ v_i[3:] + numbers[6:9] @ v_j[3:]


def random_state(bodies, seed):
    random = np.random.default_rng(seed)
    q = normalised(random.normal(size=(bodies, 4)))
    return rigid.State(random.normal(size=(bodies, 3)), q, *random.normal(size=(2, bodies, 3)))


def closed(model, seed):
    """A state in which joints of angles are closed and move as they may: any pose and motion of the parent, and any of
    the freedom of the joint."""
    random = np.random.default_rng(seed)
    state = random_state(len(model.bodies), seed)
    for joint in model.joints:
        a, b = joint.parent, joint.child
        angles, rates = random.uniform(-3, 3, 2), random.normal(size=2)
        turn = rigid.rotation.from_axis_angle((1, 0, 0), angles[0])
        if joint.kind == "universal":
            turn = multiply(turn, rigid.rotation.from_axis_angle((0, 1, 0), angles[1]))
        # Triads are rows; their transposes take x, y, z to n0, n1, n2.
        m, n = (rigid.rotation.from_matrix(t.T) for t in (joint.parent_axes, joint.child_axes))
        state.rotation[b] = multiply(
            multiply(state.rotation[a], multiply(m, turn)), rigid.rotation.conjugate(n)
        )  # fmt: skip
        n0, n1 = rotate(state.rotation[a], joint.parent_axes[0]), rotate(state.rotation[b], joint.child_axes[1])
        state.angular_velocity[b] = state.angular_velocity[a] + rates[0] * n0
        if joint.kind == "universal":
            state.angular_velocity[b] += rates[1] * n1
        arm_a, arm_b = rotate(state.rotation[a], joint.parent_anchor), rotate(state.rotation[b], joint.child_anchor)
        state.position[b] = state.position[a] + arm_a - arm_b
        state.velocity[b] = state.velocity[a] + np.cross(state.angular_velocity[a], arm_a)
        state.velocity[b] -= np.cross(state.angular_velocity[b], arm_b)
    return state


# Central differences are off by h² G'''/6, of round-off 1e-16/h: 1e-10 for |ω| of 2, and 1e-11.
CLOSE = 3e-9


@pytest.mark.parametrize("seed", range(2))
def test_a_lock_s_rows_are_the_derivatives_of_their_errors(seed):
    # At poses where nothing is closed: the rows are functions of both poses, whatever these are.
    model = model_of(KINDS)
    state = random_state(len(model.bodies), seed)
    solver, rows, _, velocities = three_times(model, state)
    turns = set()
    for joint in solver.joints.integers.to_numpy():
        for first in joint[[FRICTION_ROW, SPRING_ROW]]:
            turns.update(range(first, first + 3) if first >= 0 else ())
    angles = {
        row[drive.ROW] for row in solver.joints.drives.to_numpy()
        if model.joints[joint_of(solver, row[drive.COORDINATE])].kind in ("hinge", "universal")
    }  # fmt: skip
    checked = 0
    for group in solver.rows.groups.to_numpy()[0]:
        if group[KIND] != LOCK:
            continue
        for row in range(group[FIRST], group[FIRST] + group[COUNT]):
            if row in turns or row in angles:
                continue
            expected = rate(rows[1, row], velocities[group[BODY_I]], velocities[group[BODY_J]])
            found = (rows[2, row, ERROR] - rows[0, row, ERROR]) / (2 * H)
            assert found == pytest.approx(expected, abs=CLOSE)
            checked += abs(expected) > 1e-3
    # ball 3, hinge 5, universal 4, slider 5 and its spring, fixed 6, distance's limits (0, 0), a spring.
    assert checked > 0.95 * POSES * (3 + 5 + 4 + 6 + 6 + 1 + 1)


def joint_of(solver, coordinate):
    """The joint, or spring behind the joints, whose coordinate it is."""
    return min(int(np.searchsorted(solver.first_coordinates, coordinate, "right")) - 1, len(solver.model.joints) - 1)


@pytest.mark.parametrize("kinds", [("hinge", "universal"), ("ball", "slider", "distance", "spring")])
def test_coordinates_have_the_derivatives_that_they_say(kinds):
    # Angles of hinges and universal joints where the joint is closed, all others anywhere.
    model = model_of(kinds)
    angles = "hinge" in kinds
    state = closed(model, 5) if angles else random_state(len(model.bodies), 5)
    solver, _, coordinates, velocities = three_times(model, state)
    integers = solver.joints.integers.to_numpy()
    for joint in integers:
        for c in range(joint[4], joint[4] + {1: 2, 3: 2}.get(joint[0], 1)):
            expected = rate(coordinates[1, c], velocities[joint[1]], velocities[joint[2]])
            found = (coordinates[2, c, VALUE] - coordinates[0, c, VALUE]) / (2 * H)
            assert found == pytest.approx(expected, abs=100 * CLOSE if joint[0] == 1 else CLOSE)
            assert abs(expected) > 1e-6
    # And they are what joint_positions() and joint_velocities() say, which share no code with them.
    solver.set_state(state)
    positions, speeds = solver.joint_positions(), solver.joint_velocities()
    for joint, c in zip(model.joints, solver.first_coordinates):
        if joint.kind != "distance":
            count = np.size(positions[joint.name])
            found = np.ravel(positions[joint.name])
            assert np.abs(found - coordinates[1, c : c + count, VALUE]).max() < 1e-9
        if joint.kind in ("hinge", "universal", "slider"):
            i, j = velocities[joint.parent], velocities[joint.child]
            expected = [rate(coordinates[1, c + k], i, j) for k in range(count)]
            assert np.abs(np.ravel(speeds[joint.name]) - expected).max() < 1e-9


def test_a_ball_s_spring_is_the_gradient_of_its_energy():
    # Not dφ/dt, which is no J V for turns about changing axes, but φ·dφ/dt = φ·(J V), the work.
    model = model_of(("ball",))
    solver, rows, _, velocities = three_times(model, random_state(len(model.bodies), 6))
    for joint in solver.joints.integers.to_numpy():
        first = joint[SPRING_ROW]
        i, j = velocities[joint[1]], velocities[joint[2]]
        work = sum(rows[1, first + k, ERROR] * rate(rows[1, first + k], i, j) for k in range(3))
        energies = [(rows[n, first : first + 3, ERROR] ** 2).sum() / 2 for n in (0, 2)]
        assert np.linalg.norm(rows[1, first : first + 3, ERROR]) <= np.pi
        assert (energies[1] - energies[0]) / (2 * H) == pytest.approx(work, abs=30 * CLOSE)


def test_a_gear_s_two_rows_are_the_derivative_of_their_sum():
    # G = q_b - ratio q_a = G_1 + G_2, each row with bodies of its own, here none in common; joints closed.
    model = model_of(("hinge", "slider"))
    for k in range(0, 2 * POSES, 2):
        model.add_gear(k, k + 1, 0.5 + 0.1 * k)
    state = closed(model, 7)
    for joint in model.joints:
        if joint.kind == "slider":  # any pose
            state.velocity[joint.child] += 0.3
    solver, rows, _, velocities = three_times(model, state)
    gears = [group for group in solver.rows.groups.to_numpy()[0] if group[KIND] == GEAR]
    assert len(gears) == POSES
    for group in gears:
        first = group[FIRST]
        assert len({group[BODY_I], group[BODY_J], group[BODY_K], group[BODY_L]}) == 4
        expected = rate(rows[1, first], velocities[group[BODY_I]], velocities[group[BODY_J]])
        expected += rate(rows[1, first + 1], velocities[group[BODY_K]], velocities[group[BODY_L]])
        errors = rows[:, first : first + 2, ERROR].sum(axis=1)
        assert (errors[2] - errors[0]) / (2 * H) == pytest.approx(expected, abs=10 * CLOSE)
        assert abs(expected) > 1e-3


def test_rows_of_closed_joints_have_no_error():
    model = model_of(("ball", "hinge", "universal", "slider", "fixed", "distance"))
    solver = rigid.solver("impulse", model, dt=0.01, iterations=0, contacts=False)
    solver.step()  # nothing moves
    rows = solver.rows.numbers.to_numpy()[0]
    assert np.abs(rows[:, ERROR]).max() < 1e-14
