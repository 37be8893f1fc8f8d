"""Reference solutions that share no code with any solver: equations of motion solved by scipy's DOP853 to 1e-11."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import rigid
from benchmarks.chains import LENGTH, WIDTH, bent_chain, energy_changes  # noqa: F401

g = 9.81
STEPS = (0.01, 0.005, 0.0025)  # for orders of convergence [s]


def assert_second_order(errors):
    """Half the step, a quarter of the error. Args: errors: with each of STEPS."""
    assert errors[0] / errors[1] == pytest.approx(4, abs=0.4)
    assert errors[1] / errors[2] == pytest.approx(4, abs=0.4)


def rod_chain(links=5, friction=0.0):
    """Chain of rods along x, with hinges about y, that starts at the origin."""
    model = rigid.Model(gravity=(0, 0, -g))
    parent = rigid.GROUND
    for k in range(links):
        rod = model.add_box((LENGTH, WIDTH, WIDTH), mass=1.0, position=((k + 0.5) * LENGTH, 0, 0))
        place = (k * LENGTH, 0, 0)
        model.add_hinge(parent, rod, point=place, axis=(0, 1, 0), friction=friction, name=f"hinge {k}")
        parent = rod
    return model


def ball_rods(spins):
    """Chain of rods along x, with ball joints. Args: spins: angular velocities (links, 3) [rad/s]."""
    model = rigid.Model(gravity=(0, 0, -g))
    parent, joint, speed = rigid.GROUND, np.zeros(3), np.zeros(3)
    for spin in np.asarray(spins, float):
        half = np.array([LENGTH / 2, 0, 0])
        rod = model.add_box(
            (LENGTH, WIDTH, WIDTH), mass=1.0, position=joint + half, velocity=speed + np.cross(spin, half),
            angular_velocity=spin,
        )  # fmt: skip
        model.add_ball(parent, rod, point=joint)
        parent, joint, speed = rod, joint + 2 * half, speed + np.cross(spin, 2 * half)
    return model


def chain_angles(time, links=5, friction=0.0):
    """Angles of rods from the horizontal (absolute, positive downwards) [rad], and the largest speed so far [rad/s].

    The rods start horizontal and at rest.

    Lagrange's equations, for unit masses:

        Σ_j A_ij cos(θ_i - θ_j) θ̈_j = -Σ_j A_ij sin(θ_i - θ_j) θ̇_j² + g b_i cos θ_i - τ_i + τ_{i+1}

    with A_ij = l² (n - max(i, j) - 1/2) off the diagonal, A_ii = I + l²/4 + l² (n - 1 - i), b_i = l (n - 1 - i + 1/2),
    and τ_i the friction of hinge i, τ tanh(q̇_i/ε). A sticking hinge creeps at ε = 1e-5 rad/s or less, so the method
    must be implicit.
    """
    i = np.arange(links)
    below = links - 1 - i
    coupling = LENGTH**2 * (np.minimum.outer(below, below) + 0.5)
    np.fill_diagonal(coupling, (LENGTH**2 + WIDTH**2) / 12 + LENGTH**2 / 4 + LENGTH**2 * below)
    weight = LENGTH * (below + 0.5)

    def motion(_, y):
        angle, speed = y[:links], y[links:]
        apart = angle[:, None] - angle[None]
        load = -(coupling * np.sin(apart)) @ speed**2 + g * weight * np.cos(angle)
        if friction:
            torque = friction * np.tanh(np.diff(speed, prepend=0.0) / 1e-5)
            load += np.diff(torque, append=0.0)
        return np.concatenate([speed, np.linalg.solve(coupling * np.cos(apart), load)])

    method, tolerance = ("Radau", 1e-8) if friction else ("DOP853", 1e-12)
    y = solve_ivp(motion, (0, time), np.zeros(2 * links), method, rtol=tolerance, atol=tolerance).y
    return y[:links, -1], np.abs(y[links:]).max()


def cross_matrix(v):
    """[v]×."""
    return np.array([(0, -v[2], v[1]), (v[2], 0, -v[0]), (-v[1], v[0], 0)])


def ball_chain(time, spins):
    """Centres of rods on ball joints (links, 3) [m], and the largest component of an angular velocity so far [rad/s].

    The rods start horizontal with angular velocities spins (links, 3) [rad/s]. Generalised coordinates are the rods'
    rotations q̇ = ω q/2. With the half rod u and the inertia I in the world,

        I ω̇ + ω × I ω = u × F_k + u × F_{k+1},   m a_k = m g + F_k - F_{k+1},

    where F_k acts on rod k at its inner end. The accelerations a of the centres follow from ω̇ along the chain: a point
    at r from o has the acceleration a_o + ω̇ × r + ω × (ω × r). The system is linear in (ω̇, a, F).
    """
    links = len(spins)
    half = np.array([LENGTH / 2, 0, 0])
    inertia = np.diag([2 * WIDTH**2, LENGTH**2 + WIDTH**2, LENGTH**2 + WIDTH**2]) / 12

    def turned(q):
        w, v = q[0], cross_matrix(q[1:])
        return np.eye(3) + 2 * w * v + 2 * v @ v

    def motion(_, y):
        q, spin = y[: 4 * links].reshape(links, 4), y[4 * links :].reshape(links, 3)
        turns = [turned(one / np.linalg.norm(one)) for one in q]
        size = 9 * links
        matrix, right = np.zeros((size, size)), np.zeros(size)

        def at(k, what):  # ω̇, a, F of rod k
            return slice(9 * k + 3 * what, 9 * k + 3 * what + 3)

        for k in range(links):
            u, moments = turns[k] @ half, turns[k] @ inertia @ turns[k].T
            matrix[at(k, 0), at(k, 0)] = moments
            matrix[at(k, 0), at(k, 2)] = cross_matrix(u)
            right[at(k, 0)] = -np.cross(spin[k], moments @ spin[k])
            matrix[at(k, 1), at(k, 1)], matrix[at(k, 1), at(k, 2)] = np.eye(3), -np.eye(3)
            right[at(k, 1)] = (0, 0, -g)
            if k + 1 < links:
                matrix[at(k, 0), at(k + 1, 2)] = cross_matrix(u)
                matrix[at(k, 1), at(k + 1, 2)] = np.eye(3)
            # a_k - ω̇ × u - ω × (ω × u) is the acceleration of the outer end of the previous rod, or zero.
            matrix[at(k, 2), at(k, 1)], matrix[at(k, 2), at(k, 0)] = np.eye(3), cross_matrix(u)
            right[at(k, 2)] = np.cross(spin[k], np.cross(spin[k], u))
            if k > 0:
                before = turns[k - 1] @ half
                matrix[at(k, 2), at(k - 1, 1)] = -np.eye(3)
                matrix[at(k, 2), at(k - 1, 0)] = cross_matrix(before)
                right[at(k, 2)] += np.cross(spin[k - 1], np.cross(spin[k - 1], before))
        rates = np.linalg.solve(matrix, right).reshape(links, 9)[:, :3]
        turning = [0.5 * np.concatenate([[-w @ one[1:]], one[0] * w + np.cross(w, one[1:])]) for one, w in zip(q, spin)]
        return np.concatenate([np.ravel(turning), rates.ravel()])

    start = np.concatenate([np.tile([1.0, 0, 0, 0], links), np.ravel(spins)])
    y = solve_ivp(motion, (0, time), start, "DOP853", rtol=1e-11, atol=1e-11).y
    end, fastest = y[:, -1], np.abs(y[4 * links :]).max()
    halves = [turned(q / np.linalg.norm(q)) @ half for q in end[: 4 * links].reshape(links, 4)]
    return np.cumsum(halves, axis=0) + np.cumsum([np.zeros(3), *halves[:-1]], axis=0), fastest


FOUR_BAR = (0.3, 0.5, 0.4, 0.6)  # crank, coupler, rocker, ground [m]


def four_bar_pins():
    """Pins of a four-bar linkage in the starting pose, x and z (4, 2) [m].

    In order: ground and crank, crank and coupler, coupler and rocker, rocker and ground. The crank is upright.
    """
    a, b, c, d = FOUR_BAR
    crank = np.array([0.0, a])
    e = np.hypot(d, a)
    psi = np.arctan2(crank[1], crank[0] - d) - np.arccos((e**2 + c**2 - b**2) / (2 * e * c))
    return np.array([(0.0, 0.0), crank, (d + c * np.cos(psi), c * np.sin(psi)), (d, 0.0)])


def four_bar():
    """Four-bar linkage of three rods of 1 kg and the ground. It falls from the pose with an upright crank."""
    model, pins = rigid.Model(gravity=(0, 0, -g)), four_bar_pins()
    bodies = []
    for start, end in zip(pins[:-1], pins[1:]):
        (x, z), length = end - start, np.linalg.norm(end - start)
        turn = -np.arctan2(z, x)  # about y, from x to -z
        middle = (start + end) / 2
        bodies.append(model.add_box(
            (length, WIDTH, WIDTH), mass=1.0, position=(middle[0], 0, middle[1]),
            rotation=(np.cos(turn / 2), 0, np.sin(turn / 2), 0),
        ))  # fmt: skip
    ends = [rigid.GROUND, *bodies, rigid.GROUND]
    for k, (x, z) in enumerate(pins):
        parent, child = (ends[k], ends[k + 1]) if k < 3 else (rigid.GROUND, bodies[2])
        model.add_hinge(parent, child, point=(x, 0, z), axis=(0, 1, 0), name=f"pin {k}")
    return model


def four_bar_centres(time):
    """Centres of the rods of four_bar (3, 3) [m], and the largest speed of a coordinate so far.

    Newton-Euler equations in the plane with multipliers, in coordinates (x, z, θ) of each rod, θ from x to z. A pin at
    r = ±l/2 (cos θ, sin θ) of two rods satisfies p_k + r_k = p_l + r_l. Its second derivative is a + θ̈ ⊥r - θ̇² r for
    each rod.
    """
    pins = four_bar_pins()
    ways = np.diff(pins, axis=0)
    lengths = np.linalg.norm(ways, axis=1)
    inertias = (lengths**2 + WIDTH**2) / 12

    def motion(_, y):
        angle, speed = y[2:9:3], y[11::3]
        half = lengths[:, None] / 2 * np.stack([np.cos(angle), np.sin(angle)], axis=1)
        G, right = np.zeros((8, 9)), np.zeros(8)
        for pin in range(4):  # at the end of rod pin - 1 and the start of rod pin
            for rod, side, sign in ((pin - 1, 1.0, 1.0), (pin, -1.0, -1.0)):
                if 0 <= rod < 3:
                    r = side * half[rod]
                    G[2 * pin : 2 * pin + 2, 3 * rod : 3 * rod + 2] = sign * np.eye(2)
                    G[2 * pin : 2 * pin + 2, 3 * rod + 2] = sign * np.array([-r[1], r[0]])
                    right[2 * pin : 2 * pin + 2] += sign * speed[rod] ** 2 * r
        masses = np.diag(np.ravel([(1.0, 1.0, inertia) for inertia in inertias]))
        load = np.tile([0.0, -g, 0.0], 3)
        matrix = np.block([[masses, G.T], [G, np.zeros((8, 8))]])
        return np.concatenate([y[9:], np.linalg.solve(matrix, np.concatenate([load, right]))[:9]])

    middles = (pins[:-1] + pins[1:]) / 2
    start = np.concatenate([np.column_stack([middles, np.arctan2(ways[:, 1], ways[:, 0])]).ravel(), np.zeros(9)])
    y = solve_ivp(motion, (0, time), start, "DOP853", rtol=1e-12, atol=1e-12).y
    x, z = y[0:9:3, -1], y[1:9:3, -1]
    return np.stack([x, np.zeros(3), z], axis=1), np.abs(y[9:]).max()
