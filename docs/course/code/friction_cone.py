"""Friction within a cone by sequential impulses, beside the solver "impulse", for docs/course/friction_cone.md."""

import numpy as np

import rigid
from rigid.rotation import exponential, multiply, to_matrix
from scenes.comparison.report.figure import figure_of

GRAVITY = 9.81
GAP, SLIP = slice(0, 1), slice(1, 3)  # rows of a contact: along the normal, and two tangents


def solve_contacts(J, answers, V, b, μ, λ, iterations, law, parts=(GAP, SLIP)):
    """Velocities and impulses of contacts after some iterations.

    Args: J: rows of each contact (contacts, 3, n); answers: M⁻¹ Jᵀ (contacts, n, 3); V: without contacts (n,); b: of
    gaps (contacts,); μ; λ: to start from (contacts, 3); law: such as `cone`; parts: of a contact, in their order.
    """
    V, λ = V + np.einsum("cnk,ck->n", answers, λ), λ.copy()
    for k in range(iterations):
        for c in in_turn(len(J), k):
            A = J[c] @ answers[c]
            for rows in parts:
                u = J[c, rows] @ V
                if rows is GAP:
                    new = np.maximum(λ[c, rows] - (u + b[c]) / A[0, 0], 0)
                else:
                    new = law(λ[c, rows], u, A[rows, rows], μ * λ[c, 0])
                V = V + answers[c][:, rows] @ (new - λ[c, rows])
                λ[c, rows] = new
    return V, λ


def in_turn(contacts, iteration):
    """The order of contacts of two bodies: in four iterations each of four is first, second, third and last once."""
    order, shift = range(contacts), 2 if iteration % 4 > 1 and contacts > 2 else 0
    return [(c + shift) % contacts for c in (order[::-1] if iteration % 2 else order)]


def cone(λ, u, A, bound):
    """The impulse of friction. Args: λ: before (2,); u: slip (2,); A: of both rows; bound: of its length."""
    stops = λ - np.linalg.solve(A, u)
    if np.linalg.norm(stops) <= bound:
        return stops
    against = λ - u / np.abs(A).sum(axis=1).max()
    return against * min(1, bound / np.linalg.norm(against))


def pyramid(λ, u, A, bound):
    """Each row for itself: a square takes the place of the disc."""
    return np.clip(λ - u / np.diag(A), -bound, bound)


# A body on the ground -------------------------------------------------------------------------------------------------


class Slider:
    """A body on the ground in numpy. Args: model: a rigid.Model with a body; μ; law: of friction."""

    def __init__(self, model, μ, law=None):
        state = model.initial_state()
        self.position, self.rotation = state.position[0].copy(), state.rotation[0].copy()
        self.V = np.hstack([state.velocity[0], state.angular_velocity[0]])
        self.body, self.gravity, self.μ, self.law = model.bodies[0], model.gravity, μ, law or cone
        self.λ, self.parts = np.zeros((0, 3)), (GAP, SLIP)

    def step(self, points, gaps, h, iterations, warm=True):
        """Make a step. Args: points: where the body touches (contacts, 3); gaps (contacts,); h; iterations; warm."""
        normal, t = np.array([0, 0, 1.0]), np.array([0, 1.0, 0])
        axes = np.array([normal, t, np.cross(normal, t)])
        arms = points - 0.5 * gaps[:, None] * normal - self.position
        J = np.concatenate([np.broadcast_to(axes, (len(arms), 3, 3)), np.cross(arms[:, None], axes)], axis=2)
        R = to_matrix(self.rotation)
        inverse = np.zeros((6, 6))
        inverse[:3, :3], inverse[3:, 3:] = np.eye(3) / self.body.mass, R @ np.linalg.inv(self.body.inertia) @ R.T
        V = self.V + h * np.hstack([self.gravity, np.zeros(3)])
        λ = self.λ if warm and len(self.λ) == len(J) else np.zeros((len(J), 3))
        b = np.maximum(gaps - 0.25 * h * h * np.linalg.norm(self.gravity), 0) / h
        self.V, self.λ = solve_contacts(
            J, inverse @ np.swapaxes(J, 1, 2), V, b, self.μ, λ, iterations, self.law, self.parts
        )
        self.position += h * self.V[:3]
        self.rotation = multiply(exponential(h * self.V[3:]), self.rotation)


# Boxes and pucks ------------------------------------------------------------------------------------------------------

SPEED, μ = 2.0, 0.5
WAY = SPEED**2 / (2 * μ * GRAVITY)  # on which the speed is lost [m]
EDGE = 0.3
CORNERS = 0.5 * EDGE * np.array([(x, y, -1) for x in (-1, 1) for y in (-1, 1)])


def cube(velocity=(0, 0, 0), slope=0.0, height=0.5 * EDGE, **options):
    """A rigid.Model of a cube on the ground. Args: slope: about the y axis [rad]; others: as of Model.add_box."""
    model = rigid.Model(gravity=GRAVITY * np.array([np.sin(slope), 0, -np.cos(slope)]))
    model.add_ground(friction=μ)
    model.add_box((EDGE, EDGE, EDGE), mass=2.0, position=(0, 0, height), friction=μ, velocity=velocity, **options)
    return model


def heading(degrees):
    """A velocity of SPEED along the ground [m/s]."""
    return SPEED * np.array([np.cos(np.radians(degrees)), np.sin(np.radians(degrees)), 0])


def path(degrees, law, h, seconds=0.45):
    """Positions of a cube that slides in numpy (steps + 1, 2) [m]."""
    slider = Slider(cube(heading(degrees)), μ, law)
    found = [slider.position[:2].copy()]
    for _ in range(round(seconds / h)):
        points = slider.position + CORNERS @ to_matrix(slider.rotation).T
        slider.step(points, points[:, 2].copy(), h, 10)
        found.append(slider.position[:2].copy())
    return np.array(found)


def path_in_verletlab(degrees, h, seconds=0.45):
    """The same by verletlab, with its cone."""
    solver = rigid.solver("impulse", cube(heading(degrees)), h)
    found = [solver.state().position[0, :2]]
    for _ in range(round(seconds / h)):
        solver.step()
        found.append(solver.state().position[0, :2])
    return np.array(found)


def puck(speed, spin, h=1 / 240):
    """A solver "impulse" with a puck of 0.2 m that slides along x and spins."""
    model = rigid.Model(gravity=(0, 0, -GRAVITY))
    model.add_ground(friction=μ)
    model.add_cylinder(
        0.2, 0.05, mass=1.0, position=(0, 0, 0.025), velocity=(speed, 0, 0), angular_velocity=(0, 0, spin), friction=μ
    )
    return rigid.solver("impulse", model, h)


def slide_of_puck(speed, spin, seconds=0.8):
    """Time, speed, R ω and way of a puck in verletlab (steps + 1, 4)."""
    solver, found = puck(speed, spin), []
    for _ in range(round(seconds / solver.dt) + 1):
        state = solver.state()
        turning = 0.2 * abs(state.angular_velocity[0, 2])
        found.append((state.time, np.linalg.norm(state.velocity[0]), turning, state.position[0, 0]))
        solver.step()
    return np.array(found)


# Figures and table ----------------------------------------------------------------------------------------------------


def draw_stops():
    """Draw the projection onto the disc, and where cubes stop that start from one place in many directions."""
    figure, _ = figure_of(1, row=2.1)
    figure.clear()
    left, right = figure.subplots(1, 2)
    turn = np.linspace(0, 2 * np.pi, 73)
    left.fill(np.cos(turn), np.sin(turn), color="#dfe8f5")
    u, λ = np.array([0.55, 0.0]), np.array([np.cos(0.95), np.sin(0.95)])
    for number in range(7):
        new = (λ - u) / max(np.linalg.norm(λ - u), 1)
        left.plot(*np.transpose([λ, λ - u, new]), "-", color="#c2452d", linewidth=1)
        left.plot(*new, "o", color="#c2452d", markersize=3.5)
        if number == 0:
            left.plot(*λ, "o", color="#c2452d", markersize=3.5)
            left.annotate("start", λ, (4, 3), textcoords="offset points")
        elif number == 2:
            left.annotate("λ - u/r", λ - u, (0, 5), textcoords="offset points", ha="center")
        λ = new
    left.annotate("", (0.55, 0), (0, 0), arrowprops={"arrowstyle": "->", "color": "#1f2430"})
    left.annotate("slip u", (0.28, -0.16), ha="center")
    left.annotate("|λ| = μ λₙ", (0, -0.85), ha="center")
    left.set(aspect="equal", xlim=(-1.65, 1.2), ylim=(-1.15, 1.3), title="projected onto the disc")
    left.axis("off")
    for degrees in range(0, 91, 10):
        for law, colour, mark in ((cone, "#2a6fb0", "o"), (pyramid, "#c2452d", "s")):
            found = path(degrees, law, 1 / 100) / WAY
            right.plot(*found[::3].T, color=colour, linewidth=0.7)
            label = {cone: "disc", pyramid: "square"}[law] if degrees == 0 else None
            right.plot(*found[-1], mark, color=colour, markersize=4, label=label)
    right.set(aspect="equal", title="where boxes stop", xlabel="x / way", ylabel="y / way")
    right.legend(loc="upper right", frameon=False)
    return figure


def draw_puck():
    """Draw how a puck loses its speed and its spin."""
    figure, (axis,) = figure_of(1, row=2.1)
    for speed, spin, colour in ((2.0, 20.0, "#c2452d"), (2.0, 0.0, "#2a6fb0"), (0.0, 20.0, "#3a8a4d")):
        found = slide_of_puck(speed, spin)[::4]
        for column, style, name in ((1, "-", "v"), (2, "--", "R ω")):
            if found[0, column] > 0:
                label = f"{name}, {'both' if speed and spin else 'alone'}"
                axis.plot(found[:, 0], found[:, column], style, color=colour, label=label)
    axis.set(xlabel="time [s]", ylabel="speed of centre, of rim [m/s]")
    axis.legend()
    return figure


def table():
    """Way and turn of cubes with the disc, by verletlab, and with the square, in numpy, and as derived."""
    head = ["direction", "disc: way", "turned by", "square: way", "turned by", "derived: way", "turned by"]
    rows, h = [], 1 / 480
    for degrees in (0, 10, 23.5, 35, 45):
        cells = [f"{degrees}°"]
        φ = np.radians(degrees)
        derived = WAY * np.array([np.cos(φ) ** 2, np.sin(φ) ** 2])
        for stop in (path_in_verletlab(degrees, h)[-1], path(degrees, pyramid, h)[-1], derived):
            turned = np.degrees(np.arctan2(stop[1], stop[0])) - degrees
            cells += [f"{np.linalg.norm(stop) / WAY:.2f}", f"{turned + 0.0:.1f}°".replace("-0.0", "0.0")]
        rows.append(cells)
    return head, rows
