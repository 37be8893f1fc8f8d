"""The rows of every joint: dG/dt = J V for random poses and velocities.

Without iterations a body with equal moments of inertia keeps its velocity, and a solver's rows are those of its pose.
"""

import numpy as np
import pytest

import rigid
from pbd.core.kernels import read
from rigid.constraints.joints.data import COORDINATE, DRIVE, FORM, JOINT, CoordinateKind
from rigid.constraints.joints.special import ROW_WRITERS
from rigid.constraints.rows import GROUP, ROW, Group
from rigid.joints.joint_type import Shift
from rigid.rotation import exponential, multiply, normalised, rotate

POSES = 12  # random poses, each of other bodies
H = 1e-5


def model_of(kinds, poses=POSES):
    """Pairs of bodies, each joined by a kind of joint, with random anchors and axes."""
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


def three_times(model, state, dt=H):
    """Step three times, with the state at the middle one.

    Returns: the solver, its rows and coordinates at the three instants, and the velocities of bodies and the ground.
    """
    # With this option, which moves no body here, substeps are not divided because joints are open.
    solver = rigid.solver("impulse", model, dt=dt, iterations=0, contacts=False, gyroscopic="explicit")
    back = rigid.State(
        state.position - 2 * dt * state.velocity,
        multiply(exponential(-2 * dt * state.angular_velocity), state.rotation),
        state.velocity, state.angular_velocity,
    )  # fmt: skip
    solver.set_state(back)
    rows, coordinates = [], []
    for _ in range(3):
        solver.step()
        rows.append(solver.data.rows.numbers.to_numpy()[0])
        coordinates.append(solver.data.joints.coordinates.to_numpy()[0])
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
    """A state in which joints that are not special are closed and move along their degrees of freedom alone."""
    random = np.random.default_rng(seed)
    state = random_state(len(model.bodies), seed)
    for joint in model.joints:
        a, b = joint.parent, joint.child
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


# Central differences are off by h² G'''/6, of round-off 1e-16/h: 1e-10 for |ω| of 2, and 1e-11.
CLOSE = 3e-9


@pytest.mark.parametrize("seed", range(2))
def test_jacobians_of_joints_are_derivatives_of_their_errors(seed):
    # The rows are functions of both poses, so this holds at poses where no joint is closed.
    model = model_of(KINDS)
    state = random_state(len(model.bodies), seed)
    solver, rows, _, velocities = three_times(model, state)
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
            expected = rate(rows[1, row], velocities[group[GROUP.body_i]], velocities[group[GROUP.body_j]])
            found = (rows[2, row, ROW.error] - rows[0, row, ROW.error]) / (2 * H)
            # The third derivative of G grows with the way between the points, as its rate does.
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
    state = closed(model, 5) if angles else random_state(len(model.bodies), 5)
    solver, _, coordinates, velocities = three_times(model, state)
    integers = solver.data.joints.integers.to_numpy()
    ball = 2 + list(ROW_WRITERS).index("ball")
    for joint in integers:
        first = joint[JOINT.first_coordinate]
        for c in range(first, first + joint[JOINT.coordinates]):
            expected = rate(coordinates[1, c], velocities[joint[1]], velocities[joint[2]])
            found = (coordinates[2, c, COORDINATE.value] - coordinates[0, c, COORDINATE.value]) / (2 * H)
            assert found == pytest.approx(expected, abs=100 * CLOSE if joint[JOINT.special] == ball else CLOSE)
            assert abs(expected) > 1e-6
    # They agree with joint_positions() and joint_velocities(), which share no code with them.
    solver.set_state(state)
    positions, speeds = solver.joint_positions(), solver.joint_velocities()
    for joint, c in zip(model.joints, solver.first_coordinates):
        if joint.kind != "distance":
            count = np.size(positions[joint.name])
            found = np.ravel(positions[joint.name])
            assert np.abs(found - coordinates[1, c : c + count, COORDINATE.value]).max() < 1e-9
        if joint.kind not in ("ball", "distance"):
            i, j = velocities[joint.parent], velocities[joint.child]
            expected = [rate(coordinates[1, c + k], i, j) for k in range(count)]
            assert np.abs(np.ravel(speeds[joint.name]) - expected).max() < 1e-9


def test_spring_of_a_ball_is_the_gradient_of_its_energy():
    # dφ/dt is no J V for rotations about changing axes, but φ·dφ/dt = φ·(J V), the work.
    model = model_of(("ball",))
    solver, rows, _, velocities = three_times(model, random_state(len(model.bodies), 6))
    for joint in solver.data.joints.integers.to_numpy():
        first = joint[JOINT.spring_row]
        i, j = velocities[joint[1]], velocities[joint[2]]
        work = sum(rows[1, first + k, ROW.error] * rate(rows[1, first + k], i, j) for k in range(3))
        energies = [(rows[n, first : first + 3, ROW.error] ** 2).sum() / 2 for n in (0, 2)]
        assert np.linalg.norm(rows[1, first : first + 3, ROW.error]) <= np.pi
        assert (energies[1] - energies[0]) / (2 * H) == pytest.approx(work, abs=30 * CLOSE)


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
    solver, rows, _, velocities = three_times(model, state)
    kinds, groups = read(solver.data.rows.kinds)[0], read(solver.data.rows.groups)[0]
    gears = groups[kinds == Group.GEAR]
    assert len(gears) == POSES
    for group in gears:
        first = group[GROUP.first]
        assert len({group[GROUP.body_i], group[GROUP.body_j], group[GROUP.body_k], group[GROUP.body_l]}) == 4
        expected = rate(rows[1, first], velocities[group[GROUP.body_i]], velocities[group[GROUP.body_j]])
        expected += rate(rows[1, first + 1], velocities[group[GROUP.body_k]], velocities[group[GROUP.body_l]])
        errors = rows[:, first : first + 2, ROW.error].sum(axis=1)
        assert (errors[2] - errors[0]) / (2 * H) == pytest.approx(expected, abs=10 * CLOSE)
        assert abs(expected) > 1e-3


def test_rows_of_closed_joints_have_no_error():
    model = model_of(("ball", "hinge", "universal", "slider", "fixed", "distance"))
    solver = rigid.solver("impulse", model, dt=0.01, iterations=0, contacts=False)
    solver.step()  # nothing moves
    rows = solver.data.rows.numbers.to_numpy()[0]
    assert np.abs(rows[:, ROW.error]).max() < 1e-14
