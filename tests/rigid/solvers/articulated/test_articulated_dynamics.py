"""The articulated-body method against the dense equations of motion in maximal coordinates.

For all bodies at once, Newton and Euler with multipliers of the joints' constraints G, which are differentiated twice:

    m a = m g + (Gᵀλ)_v,    I α + ω × Iω = (Gᵀλ)_ω,    G A + Ġ V = 0

A point held by both, D = P_j - P_i = 0, has D̈ = a + α × ξ + ω × (ω × ξ) of each; a row n_a·n_b = 0, with axes fixed in
bodies, n̈_a·n_b + 2 ṅ_a·ṅ_b + n_a·n̈_b = 0, n̈ = α × n + ω × (ω × n); a slider's row D·n = 0 has D̈·n + 2 Ḋ·ṅ + D·n̈ = 0.
"""

import numpy as np
import pytest
from marks import cases, slow

import rigid
from pbd.core.kernels import read
from rigid.constraints.joints.positions import axes_in_world, motion, point_in_world
from rigid.rotation import to_matrix
from rigid.solvers.articulated.links import ARTICULATED

KINDS = ("ball", "hinge", "universal", "slider", "fixed")
# Pairs of axes of parent and child that stay at a right angle.
RIGHT_ANGLES = {
    "ball": (), "hinge": ((1, 0), (2, 0)), "universal": ((0, 1),), "slider": ((1, 0), (2, 0), (1, 2)),
    "fixed": ((1, 0), (2, 0), (1, 2)),
}  # fmt: skip


def join(model, rng, parent, child, kind, point):
    """Add a joint of a kind at a point, along random axes."""
    axis, other = rng.normal(size=(2, 3))
    if kind == "ball":
        model.add_ball(parent, child, point)
    elif kind == "hinge":
        model.add_hinge(parent, child, point, axis)
    elif kind == "universal":
        model.add_universal(parent, child, point, axis, np.cross(axis, other))
    elif kind == "slider":
        model.add_slider(parent, child, point, axis)
    else:
        model.add_fixed(parent, child, point)


def random_tree(seed, kind=None):
    """Up to twenty bodies of random inertia in random poses. Each is joined to an earlier one, the first to the ground
    or to nothing. Every third joint has the new body as its parent."""
    rng = np.random.default_rng(seed)
    model = rigid.Model()
    for k in range(rng.integers(2, 21)):
        turn = rng.normal(size=4)
        sides = rng.uniform(0.1, 0.4, 3) ** 2
        body = model.add_body(
            mass=rng.uniform(0.5, 2.0), inertia=(sides.sum() - sides) / 12, position=rng.uniform(-1, 1, 3),
            rotation=turn / np.linalg.norm(turn), velocity=rng.normal(size=3), angular_velocity=rng.normal(size=3),
        )  # fmt: skip
        if k or rng.random() < 0.5:
            pair = [rng.integers(k) if k else rigid.GROUND, body]
            if k and rng.random() < 0.3:
                pair.reverse()
            join(model, rng, *pair, kind or rng.choice(KINDS), rng.uniform(-1, 1, 3))
    return model


def constraints(model, state):
    """G (rows, 6 B), Ġ V (rows,), of all joints but distances."""
    rows, products = [], []
    count = len(model.bodies)

    def row(linear, i, j, angular_i, angular_j, product):
        found = np.zeros((count + 1, 6))  # the last one is the ground
        found[i] -= [*linear, *angular_i]
        found[j] += [*linear, *angular_j]
        rows.append(found[:count].ravel())
        products.append(product)

    for joint in model.joints:
        if joint.kind == "distance":
            continue
        i, j = joint.parent, joint.child
        (v_i, w_i), (v_j, w_j) = motion(state, i), motion(state, j)
        m, n = axes_in_world(state, i, joint.parent_axes), axes_in_world(state, j, joint.child_axes)
        centre_i, centre_j = (point_in_world(state, body, np.zeros(3)) for body in (i, j))
        p_i = point_in_world(state, i, joint.parent_anchor)
        p_j = point_in_world(state, j, joint.child_anchor)
        arm_i, arm_j = p_i - centre_i, p_j - centre_j
        D = p_j - p_i
        speed = v_j + np.cross(w_j, arm_j) - v_i - np.cross(w_i, arm_i)
        product = np.cross(w_j, np.cross(w_j, arm_j)) - np.cross(w_i, np.cross(w_i, arm_i))
        if joint.kind == "slider":
            for e in m[1:]:  # it rotates with the parent, so D·n̈ has α_i × e, too
                turning = np.cross(w_i, np.cross(w_i, e))
                row(e, i, j, np.cross(arm_i, e) - np.cross(e, D), np.cross(arm_j, e),
                    product @ e + 2 * speed @ np.cross(w_i, e) + D @ turning)  # fmt: skip
        else:
            for e in np.eye(3):
                row(e, i, j, np.cross(arm_i, e), np.cross(arm_j, e), product @ e)
        for a, b in RIGHT_ANGLES[joint.kind]:
            first, second = m[a], n[b]
            turned = np.cross(w_i, np.cross(w_i, first)) @ second + np.cross(w_j, np.cross(w_j, second)) @ first
            across = np.cross(first, second)  # (α × a)·b = α·(a × b)
            row(np.zeros(3), i, j, -across, -across, turned + 2 * np.cross(w_i, first) @ np.cross(w_j, second))
    return np.reshape(rows, (-1, 6 * count)), np.array(products)


def mass_matrix(model, state):
    """(6 B, 6 B), and -ω × Iω as part of the forces (6 B,)."""
    count = len(model.bodies)
    masses, forces = np.zeros((6 * count, 6 * count)), np.zeros(6 * count)
    turns = to_matrix(state.rotation)
    for body in range(count):
        inertia = turns[body] @ model.inertias[body] @ turns[body].T
        masses[6 * body : 6 * body + 3, 6 * body : 6 * body + 3] = model.masses[body] * np.eye(3)
        masses[6 * body + 3 : 6 * body + 6, 6 * body + 3 : 6 * body + 6] = inertia
        spin = state.angular_velocity[body]
        forces[6 * body : 6 * body + 3] = model.masses[body] * np.array(model.gravity)
        forces[6 * body + 3 : 6 * body + 6] = -np.cross(spin, inertia @ spin)
    return masses, forces


def solved(masses, G, forces, products):
    """A of M A = F + Gᵀλ, G A = -Ġ V."""
    rows = len(G)
    matrix = np.block([[masses, G.T], [G, np.zeros((rows, rows))]])
    return np.linalg.solve(matrix, np.concatenate([forces, -products]))[: len(masses)]


@pytest.mark.parametrize("seed", [*range(30), *map(slow, range(30, 95)), *KINDS])
def test_accelerations_equal_those_of_the_dense_equations(seed):
    # The source's explicit method is linear in the step: with h = 1 the velocities change by J u̇, and the solver's
    # arrays have J̇ u; the sum is the acceleration.
    model = random_tree(seed) if isinstance(seed, int) else random_tree(KINDS.index(seed), seed)
    solver = rigid.solver("articulated", model, dt=1.0, velocity_products="explicit", gyroscopic="explicit",
                          contacts=False)  # fmt: skip
    solver.step()  # to some pose; the velocities there are made to agree with the joints
    state = solver.state()
    masses, _ = mass_matrix(model, state)
    G, _ = constraints(model, state)
    velocities = np.hstack([state.velocity, state.angular_velocity]).ravel()
    velocities = solved(masses, G, masses @ velocities, np.zeros(len(G))).reshape(-1, 6)
    state = rigid.State(state.position, state.rotation, velocities[:, :3], velocities[:, 3:])
    solver.set_state(state)
    solver.step()
    after = solver.state()
    change = np.hstack([after.velocity - state.velocity, after.angular_velocity - state.angular_velocity])
    products = np.zeros_like(change)
    for k, link in enumerate(solver.links):
        products[link.body] = read(solver.data.trees.articulated)[0, k, ARTICULATED["test"]]
    G, of_speeds = constraints(model, state)
    _, forces = mass_matrix(model, state)
    expected = solved(masses, G, forces, of_speeds).reshape(-1, 6)
    assert np.abs(change + products - expected).max() < 1e-10 * max(np.abs(expected).max(), 9.81)


@pytest.mark.parametrize("seed", cases(range(20), slow=range(8, 20)))
def test_responses_to_a_test_impulse_equal_those_of_the_dense_equations(seed):
    # A unit impulse along a distance between two bodies of one or two trees: V = M⁻¹ (J_dᵀ + Gᵀλ), G V = 0. Its effect
    # on the distance is the row's J_d M⁻¹ J_dᵀ.
    model = random_tree(seed)
    bodies = len(model.bodies)
    rng = np.random.default_rng(seed)
    one, other = rng.choice(bodies, 2, replace=False)
    model.add_distance(one, other, rng.uniform(-1, 1, 3), rng.uniform(-1, 1, 3), name="row")
    solver = rigid.solver("articulated", model, dt=1e-3, contacts=False, iterations=0)
    state = solver.state()
    solver.step()
    joint = model.joints[-1]
    ends = (one, joint.parent_anchor), (other, joint.child_anchor)
    p_i, p_j = (point_in_world(state, *end) for end in ends)
    n = (p_j - p_i) / np.linalg.norm(p_j - p_i)
    row = np.zeros((bodies, 6))
    row[one] -= [*n, *np.cross(p_i - state.position[one], n)]
    row[other] += [*n, *np.cross(p_j - state.position[other], n)]
    masses, _ = mass_matrix(model, state)
    G, _ = constraints(model, state)
    response = solved(masses, G, row.ravel(), np.zeros(len(G)))
    jacobian, found = (read(array)[0, 0] for array in (solver.data.jacobian, solver.data.response))
    assert jacobian @ found == pytest.approx(row.ravel() @ response, rel=1e-10)


@pytest.mark.parametrize(("seed", "kind"), [(1, None), (2, None), (3, "universal")])
def test_variational_integrator_is_of_second_order_for_all_joints(seed, kind):
    # Differences of results with h, h/2 and h/4 have a ratio of 4. The default tends to the same limit, in first order.
    def positions(h, integrator="variational"):
        solver = rigid.solver("articulated", random_tree(seed, kind), dt=h, contacts=False, integrator=integrator)
        solver.step(round(0.2 / h))
        return solver.state().position

    coarse, middle, fine = (positions(h) for h in (0.004, 0.002, 0.001))
    assert np.abs(coarse - middle).max() / np.abs(middle - fine).max() == pytest.approx(4, abs=0.4)
    first, second = (np.abs(positions(h, "semi_implicit") - fine).max() for h in (0.001, 0.0005))
    assert first / second == pytest.approx(2, abs=0.2)
