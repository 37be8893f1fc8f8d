"""The rows of every joint: dG/dt = J V for random poses and velocities. The rows of contacts keep angular momentum.

Without iterations a body with equal moments of inertia keeps its velocity, and a solver's rows are those of its pose.
"""

import numpy as np
import pytest

import rigid
from pbd.core.kernels import read
from rigid.constraints.joints.data import COORDINATE, DRIVE, FORM, JOINT, CoordinateKind
from rigid.constraints.rows import GROUP, ROW, Group
from rigid.joints.joint_type import Shift
from rigid.rotation import exponential, multiply, normalised, rotate

POSES = 12  # random poses, each of other bodies
H = 1e-4  # step [s]
EPS = np.finfo(float).eps


def generator(seed, name):
    """Random numbers of a body or joint, which do not depend on what else the model has."""
    return np.random.default_rng([seed, *name.encode()])


def model_of(kinds, poses=POSES):
    """Pairs of bodies, each joined by a kind of joint, with random anchors and axes."""
    model = rigid.Model(gravity=(0, 0, 0))
    for number in range(poses):
        for kind in kinds:
            random, name = generator(1, f"{kind} {number}"), f"{kind} {number}"
            places = random.normal(size=(2, 3))
            a, b = (
                model.add_body(
                    mass=m, inertia=(m, m, m), position=place, rotation=normalised(random.normal(size=4)),
                    name=f"{end} of {name}",
                )
                for end, m, place in zip("ab", random.uniform(0.5, 3, 2), places)
            )  # fmt: skip
            add(model, kind, a, b, places.mean(axis=0) + 0.3 * random.normal(size=3), random, name)
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
    elif kind == "cylindrical":
        model.add_cylindrical(a, b, point, axis, shift_spring=spring, angle_spring=spring, name=name)
    elif kind == "planar":
        model.add_planar(a, b, point, axis, shift_spring=spring, angle_spring=spring, name=name)
    elif kind == "fixed":
        model.add_fixed(a, b, point, name=name)
    elif kind == "distance":
        model.add_distance(a, b, point, point + other, name=name)
    elif kind == "spring":
        model.add_spring(a, b, point, point + other, stiffness=3.0)


KINDS = ("ball", "hinge", "universal", "slider", "fixed", "distance", "spring", "cylindrical", "planar")


def five_times(model, state, dt=H):
    """Step five times, with the state at the third one.

    Returns: the solver, its rows and coordinates at the five instants, and the velocities of bodies and the ground.
    """
    # With this option, which moves no body here, substeps are not divided because joints are open.
    solver = rigid.solver("impulse", model, dt=dt, iterations=0, contacts=False, gyroscopic="explicit")
    back = rigid.State(
        state.position - 3 * dt * state.velocity,
        multiply(exponential(-3 * dt * state.angular_velocity), state.rotation),
        state.velocity, state.angular_velocity,
    )  # fmt: skip
    solver.set_state(back)
    rows, coordinates = [], []
    for _ in range(5):
        solver.step()
        rows.append(solver.data.rows.numbers.to_numpy()[0])
        coordinates.append(solver.data.joints.coordinates.to_numpy()[0])
    now = solver.state()
    assert np.abs(now.velocity - state.velocity).max() == 0
    # Each step rotates it into the body's frame and back.
    round_off = 5 * 8 * EPS * np.abs(state.angular_velocity).max()
    assert np.abs(now.angular_velocity - state.angular_velocity).max() < round_off
    velocities = np.concatenate([now.velocity, now.angular_velocity], axis=1)
    velocities = np.concatenate([velocities, np.zeros((1, 6))])
    return solver, np.array(rows), np.array(coordinates), velocities


def rate(numbers, v_i, v_j):
    """J V: d·(v_i - v_j) + a_i·ω_i + a_j·ω_j."""
    return numbers[:3] @ (v_i[:3] - v_j[:3]) + numbers[3:6] @ v_i[3:] + numbers[6:9] @ v_j[3:]


def derivative(values):
    """Derivative at the third of five instants. Args: values (5, ...)."""
    return (8 * (values[3] - values[1]) - (values[4] - values[0])) / (12 * H)


def random_state(model, seed):
    drawn = np.array([generator(seed, body.name).normal(size=13) for body in model.bodies])
    return rigid.State(drawn[:, :3], normalised(drawn[:, 3:7]), drawn[:, 7:10], drawn[:, 10:])


def closed(model, seed):
    """A state in which joints that are not special are closed and move along their degrees of freedom alone."""
    state = random_state(model, seed)
    for joint in model.joints:
        a, b, random = joint.parent, joint.child, generator(seed, joint.name)
        angles, rates = random.uniform(-3, 3, 2), random.normal(size=2)
        turned = [joint.type.coordinates[k].axis for k in joint.type.angles] or [0]
        turn = rigid.rotation.from_axis_angle(np.eye(3)[turned[0]], angles[0])
        if len(turned) == 2:
            turn = multiply(turn, rigid.rotation.from_axis_angle(np.eye(3)[turned[1]], angles[1]))
        # The axes are rows; their transpose takes x, y, z to n0, n1, n2.
        m, n = (rigid.rotation.from_matrix(t.T) for t in (joint.parent_axes, joint.child_axes))
        state.rotation[b] = multiply(
            multiply(state.rotation[a], multiply(m, turn)), rigid.rotation.conjugate(n)
        )  # fmt: skip
        state.angular_velocity[b] = state.angular_velocity[a]
        state.angular_velocity[b] += rates[0] * rotate(state.rotation[a], joint.parent_axes[turned[0]])
        if len(turned) == 2:
            state.angular_velocity[b] += rates[1] * rotate(state.rotation[b], joint.child_axes[turned[1]])
        arm_a, arm_b = rotate(state.rotation[a], joint.parent_anchor), rotate(state.rotation[b], joint.child_anchor)
        state.position[b] = state.position[a] + arm_a - arm_b
        state.velocity[b] = state.velocity[a] + np.cross(state.angular_velocity[a], arm_a)
        state.velocity[b] -= np.cross(state.angular_velocity[b], arm_b)
        for coordinate in joint.type.coordinates:
            if isinstance(coordinate, Shift):
                n, (q, speed) = rotate(state.rotation[a], joint.parent_axes[coordinate.axis]), random.normal(size=2)
                state.position[b] += q * n
                state.velocity[b] += speed * n + np.cross(state.angular_velocity[a], q * n)
    return state


# `derivative` is off by H⁴ G⁗'/30, some 1e-13 for |ω| of 3. Round-off is more: errors of G times 18/(12 H). Those are
# 8 roundings of coordinates of 8 m. Near a singularity, both they and the rate grow as the gradient of G, so the same
# tolerance holds for the relative error.
CLOSE = 1.5 / H * 64 * EPS


@pytest.mark.parametrize("seed", range(2))
def test_jacobians_of_joints_are_derivatives_of_their_errors(seed):
    # The rows are functions of both poses, so this holds at poses where no joint is closed.
    model = model_of(KINDS)
    state = random_state(model, seed)
    solver, rows, _, velocities = five_times(model, state)
    turns = set()
    for joint in solver.data.joints.integers.to_numpy():
        for first in joint[[JOINT.friction_row, JOINT.spring_row]]:
            turns.update(range(first, first + 3) if first >= 0 else ())
    angles = {
        row[DRIVE.row] for row in solver.data.joints.drives.to_numpy()
        if solver.data.joints.forms.to_numpy()[row[DRIVE.coordinate], FORM.kind] == CoordinateKind.ANGLE
    }  # fmt: skip
    checked = 0
    for kind, group in zip(read(solver.data.rows.kinds)[0], read(solver.data.rows.groups)[0]):
        if kind != Group.EQUALITY:
            continue
        for row in range(group[GROUP.first], group[GROUP.first] + group[GROUP.count]):
            if row in turns or row in angles:
                continue
            expected = rate(rows[2, row], velocities[group[GROUP.body_i]], velocities[group[GROUP.body_j]])
            found = derivative(rows[:, row, ROW.error])
            assert found == pytest.approx(expected, abs=CLOSE, rel=CLOSE)
            checked += abs(expected) > 1e-3
    # ball 3, hinge 5, universal 4, slider 5 and its spring, fixed 6, distance's limits (0, 0), a spring, cylindrical 4
    # and a spring, planar 3 and two springs.
    assert checked > 0.95 * POSES * (3 + 5 + 4 + 6 + 6 + 1 + 1 + 5 + 5)


@pytest.mark.parametrize(
    "kinds", [("hinge", "universal", "cylindrical", "planar"), ("ball", "slider", "distance", "spring")]
)
def test_coordinates_have_the_derivatives_in_their_columns(kinds):
    # For joints with counted angles this holds if the joint is closed, for all others at any pose.
    model = model_of(kinds)
    angles = "hinge" in kinds
    state = closed(model, 5) if angles else random_state(model, 5)
    solver, _, coordinates, velocities = five_times(model, state)
    integers = solver.data.joints.integers.to_numpy()
    for joint in integers:
        first = joint[JOINT.first_coordinate]
        for c in range(first, first + joint[JOINT.coordinates]):
            expected = rate(coordinates[2, c], velocities[joint[1]], velocities[joint[2]])
            found = derivative(coordinates[:, c, COORDINATE.value])
            assert found == pytest.approx(expected, abs=CLOSE, rel=CLOSE)
            assert abs(expected) > 1e-6
    # They agree with joint_positions() and joint_velocities(), which share no code with them.
    solver.set_state(state)
    positions, speeds = solver.joint_positions(), solver.joint_velocities()
    for joint, c in zip(model.joints, solver.first_coordinates):
        if joint.kind != "distance":
            count = np.size(positions[joint.name])
            found = np.ravel(positions[joint.name])
            assert np.abs(found - coordinates[2, c : c + count, COORDINATE.value]).max() < 1e-9
        if joint.kind not in ("ball", "distance"):
            i, j = velocities[joint.parent], velocities[joint.child]
            expected = [rate(coordinates[2, c + k], i, j) for k in range(count)]
            assert np.abs(np.ravel(speeds[joint.name]) - expected).max() < 1e-9


def test_spring_of_a_ball_is_the_gradient_of_its_energy():
    # dφ/dt is no J V for rotations about changing axes, but φ·dφ/dt = φ·(J V), the work.
    model = model_of(("ball",))
    solver, rows, _, velocities = five_times(model, random_state(model, 6))
    for joint in solver.data.joints.integers.to_numpy():
        first = joint[JOINT.spring_row]
        i, j = velocities[joint[1]], velocities[joint[2]]
        work = sum(rows[2, first + k, ROW.error] * rate(rows[2, first + k], i, j) for k in range(3))
        energies = (rows[:, first : first + 3, ROW.error] ** 2).sum(axis=1) / 2
        assert np.linalg.norm(rows[2, first : first + 3, ROW.error]) <= np.pi
        assert derivative(energies) == pytest.approx(work, abs=CLOSE, rel=CLOSE)


@pytest.mark.slow
def test_jacobians_of_a_gear_are_the_derivative_of_the_sum_of_its_errors():
    # G = q_b - ratio q_a = G_1 + G_2. The two rows have four different bodies here, and the joints are closed.
    model = model_of(("hinge", "slider"))
    for k in range(0, 2 * POSES, 2):
        model.add_gear(k, k + 1, 0.5 + 0.1 * k)
    state = closed(model, 7)
    for joint in model.joints:
        if joint.kind == "slider":  # any pose
            state.velocity[joint.child] += 0.3
    solver, rows, _, velocities = five_times(model, state)
    kinds, groups = read(solver.data.rows.kinds)[0], read(solver.data.rows.groups)[0]
    gears = groups[kinds == Group.GEAR]
    assert len(gears) == POSES
    for group in gears:
        first = group[GROUP.first]
        assert len({group[GROUP.body_i], group[GROUP.body_j], group[GROUP.body_k], group[GROUP.body_l]}) == 4
        expected = rate(rows[2, first], velocities[group[GROUP.body_i]], velocities[group[GROUP.body_j]])
        expected += rate(rows[2, first + 1], velocities[group[GROUP.body_k]], velocities[group[GROUP.body_l]])
        errors = rows[:, first : first + 2, ROW.error].sum(axis=1)
        assert derivative(errors) == pytest.approx(expected, abs=CLOSE, rel=CLOSE)
        assert abs(expected) > 1e-3


def test_rows_of_closed_joints_have_no_error():
    model = model_of(("ball", "hinge", "universal", "slider", "fixed", "distance"))
    solver = rigid.solver("impulse", model, dt=0.01, iterations=0, contacts=False)
    solver.step()  # nothing moves
    rows = solver.data.rows.numbers.to_numpy()[0]
    assert np.abs(rows[:, ROW.error]).max() < 1e-14


def test_rows_of_contacts_between_free_bodies_keep_angular_momentum():
    # An impulse along a row changes it by x_i × d + a_i - x_j × d + a_j, which is zero if a_i + a_j = (x_j - x_i) × d.
    # Rows of rolling and spinning have d = 0 and opposite torques.
    model, pairs = rigid.Model(gravity=(0, 0, 0)), 4
    for _ in range(2 * pairs):
        model.add_box((0.6, 0.7, 0.8), mass=1.0, friction=0.5, rolling_friction=0.01, spinning_friction=0.02)
    solver = rigid.solver("impulse", model, dt=0.01, iterations=0)
    for seed in range(5):
        random = np.random.default_rng(seed)
        ways = random.normal(size=(pairs, 3))
        x = np.zeros((pairs, 2, 3))  # pairs are 3 m apart; centres 0.4 m apart, so that spheres in the boxes overlap
        x[:, :, 0] = 3.0 * np.arange(pairs)[:, None]
        x[:, 1] += 0.4 * ways / np.linalg.norm(ways, axis=1)[:, None]
        x, rest = x.reshape(-1, 3), np.zeros((2 * pairs, 3))
        solver.set_state(rigid.State(x, normalised(random.normal(size=(2 * pairs, 4))), rest, rest))
        solver.step()
        assert np.abs(solver.state().position - x).max() == 0  # without iterations nothing moves
        rows, groups = solver.data.rows.numbers.to_numpy()[0], read(solver.data.rows.groups)[0]
        contacts = solver.statistics().contacts
        of_contacts = groups[solver.first_contact_group :][: 4 * contacts]  # normal, friction, rolling, spinning
        assert of_contacts[:, GROUP.count].tolist() == [1, 2, 2, 1] * contacts
        assert {tuple(sorted(pair)) for pair in of_contacts[:, [GROUP.body_i, GROUP.body_j]]} == {
            (2 * k, 2 * k + 1) for k in range(pairs)
        }  # fmt: skip
        for group in of_contacts:
            between = x[group[GROUP.body_j]] - x[group[GROUP.body_i]]
            for row in rows[group[GROUP.first] :][: group[GROUP.count]]:
                d, a_i, a_j = row[ROW["linear"]], row[ROW["angular_i"]], row[ROW["angular_j"]]
                # Arms are differences of coordinates of up to 10 m.
                assert a_i + a_j == pytest.approx(np.cross(between, d), abs=16 * EPS * 10)
