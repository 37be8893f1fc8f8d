"""Sequential impulses on rows of rigid bodies, beside the solver "impulse", for docs/course/impulses.md."""

import numpy as np

import rigid
from rigid.rotation import exponential, multiply, to_matrix
from scenes.comparison.report.figure import figure_of

GRAVITY = 9.81


def sequential_impulses(J, answers, V, b, γ, low, high, λ, iterations, masses=None):
    """Velocities and impulses with J V + b + γ λ = 0, as far as iterations and bounds allow.

    Args: J: rows (r, n); answers: M⁻¹ Jᵀ (n, r); V: velocities without the rows (n,); b, γ, low, high: numbers of each
    row (r,); λ: impulses to start from (r,); iterations; masses: effective masses (r,), None for those of J and γ.
    """
    V, λ = V + answers @ λ, λ.copy()  # warm start
    if masses is None:
        masses = effective_masses(J, answers, γ)
    for _ in range(iterations):
        for r in range(len(J)):
            change = -masses[r] * (J[r] @ V + b[r] + γ[r] * λ[r])
            new = np.clip(λ[r] + change, low[r], high[r])
            V = V + answers[:, r] * (new - λ[r])
            λ[r] = new
    return V, λ


def effective_masses(J, answers, γ):
    """1/(A + γ) of each row, with the diagonal A of J M⁻¹ Jᵀ."""
    return 1 / (np.einsum("rn,nr->r", J, answers) + γ)


def softness(k, c, h):
    """γ and β of a spring of stiffness k and damping c in a step h. Hard rows, k = ∞, have 0 and 1."""
    return (0.0, 1.0) if np.isinf(k) else (1 / (h * (h * k + c)), h * k / (h * k + c))


def soft_numbers(K, turn, ζ):
    """γ and β of a spring and a damper of the effective mass 1/K. Args: turn: h ω; ζ: damping ratio."""
    return K / (turn * (turn + 2 * ζ)), turn / (turn + 2 * ζ)


# Bodies on ball joints ------------------------------------------------------------------------------------------------


class Bodies:
    """Bodies on ball joints in numpy. Args: model: a rigid.Model; k, c: stiffness [N/m], damping [N s/m] of joints."""

    def __init__(self, model, k=np.inf, c=0.0):
        state = model.initial_state()
        self.position, self.rotation = state.position.copy(), state.rotation.copy()
        self.V = np.hstack([state.velocity, state.angular_velocity]).ravel()
        self.model, self.k, self.c = model, k, c
        self.λ = np.zeros(3 * len(model.joints))

    def rows(self):
        """J (3 joints, 6 bodies) and G (3 joints,) at the present poses."""
        J, G = np.zeros((len(self.λ), 6 * len(self.position))), np.zeros(len(self.λ))
        for number, joint in enumerate(self.model.joints):
            rows = slice(3 * number, 3 * number + 3)
            ends = ((joint.parent, joint.parent_anchor, 1), (joint.child, joint.child_anchor, -1))
            for body, anchor, sign in ends:
                if body == rigid.GROUND:
                    G[rows] += sign * anchor
                else:
                    arm = to_matrix(self.rotation[body]) @ anchor
                    G[rows] += sign * (self.position[body] + arm)
                    J[rows, 6 * body : 6 * body + 3] = sign * np.eye(3)
                    J[rows, 6 * body + 3 : 6 * body + 6] = sign * np.cross(arm, np.eye(3))
        return J, G

    def inverse_masses(self):
        """M⁻¹ at the present rotations (6 bodies, 6 bodies)."""
        M = np.zeros((len(self.V), len(self.V)))
        for at, body, q in zip(range(0, len(M), 6), self.model.bodies, self.rotation):
            R = to_matrix(q)
            M[at : at + 3, at : at + 3] = np.eye(3) / body.mass
            M[at + 3 : at + 6, at + 3 : at + 6] = R @ np.linalg.inv(body.inertia) @ R.T
        return M

    def apply_forces(self, h):
        """Change velocities by gravity and the gyroscopic torque."""
        for V, body, q in zip(self.V.reshape(-1, 6), self.model.bodies, self.rotation):
            R = to_matrix(q)
            V[:3] += h * self.model.gravity
            V[3:] = R @ gyroscopic(R.T @ V[3:], body.inertia, h)

    def move(self, V, h):
        """Move the poses by velocities for h."""
        for body, (v, w) in enumerate(V.reshape(-1, 2, 3)):
            self.position[body] += h * v
            self.rotation[body] = multiply(exponential(h * w), self.rotation[body])


def gyroscopic(w, inertia, h):
    """ω after the gyroscopic torque -ω × I ω, in the body's frame: implicit Euler by one step of Newton's method."""
    slope = inertia + h * (cross_matrix(w) @ inertia - cross_matrix(inertia @ w))
    return w - np.linalg.solve(slope, h * np.cross(w, inertia @ w))


def cross_matrix(a):
    """The matrix with which a × b is a product."""
    return np.cross(a, np.eye(3)).T


def step(bodies, h, iterations, way):
    """Make a step. Args: way: "velocities" correct G (Baumgarte), "pseudo-velocities" do, or "soft" rows."""
    J, G = bodies.rows()
    inverse = bodies.inverse_masses()
    answers, none, free = inverse @ J.T, np.zeros_like(G), np.full_like(G, np.inf)
    bodies.apply_forces(h)
    if way == "soft":
        γ, β = soft_numbers(1 / effective_masses(J, answers, none), 0.5 * np.pi, 2.0)
        V, λ = sequential_impulses(J, answers, bodies.V, β * G / h, γ, -free, free, bodies.λ, 1)
        bodies.move(V, h)
        masses = effective_masses(J, answers, γ)
        V, λ = sequential_impulses(J, answers, bodies.V, none, none, -free, free, λ, 1, masses)
    else:
        γ, β = softness(bodies.k, bodies.c, h)
        if γ == 0:
            β = 0.2 if way == "velocities" else 0.0
        V, λ = sequential_impulses(J, answers, bodies.V, β * G / h, γ + none, -free, free, bodies.λ, iterations)
        bodies.move(V, h)
    if way == "pseudo-velocities":
        masses = effective_masses(J, answers, none)
        J, G = bodies.rows()
        pseudo, _ = sequential_impulses(J, inverse @ J.T, 0 * V, G / h, none, -free, free, none, iterations, masses)
        bodies.move(pseudo, h)
    bodies.V, bodies.λ = V, λ


# Balls in a column ----------------------------------------------------------------------------------------------------


def column(masses, h, speeds=0.0):
    """Rows of a column of balls that touch, from below: J, M⁻¹ Jᵀ, and the speeds after gravity (n,)."""
    n = len(masses)
    J = np.eye(n) - np.eye(n, k=-1)
    return J, J.T / np.array(masses)[:, None], np.full(n, -h * GRAVITY) + speeds


def push(masses, h, iterations, speeds=0.0):
    """Impulses of the contacts of a column after some iterations from zero, from below (n,) [N s]."""
    J, answers, V = column(masses, h, speeds)
    none, free = np.zeros(len(V)), np.full(len(V), np.inf)
    return sequential_impulses(J, answers, V, none, none, none, free, none, iterations)[1]


def column_in_verletlab(masses, h, speeds=0.0, **options):
    """A solver "impulse" with a column of balls of 1 m. Args: speeds: upwards [m/s]; others: its options."""
    model = rigid.Model(gravity=(0, 0, -GRAVITY))
    model.add_ground()
    for k, (mass, speed) in enumerate(zip(masses, np.broadcast_to(speeds, len(masses)))):
        model.add_sphere(0.5, mass=mass, position=(0, 0, k + 0.5), velocity=(0, 0, speed))
    return rigid.solver("impulse", model, h, **options)


def push_in_verletlab(masses, h, iterations, speeds=0.0):
    """The same impulses by verletlab [N s]."""
    solver = column_in_verletlab(masses, h, speeds, iterations=iterations, tolerance=0.0)
    solver.step()
    found = solver.contact_forces()
    return h * (found.forces * found.normals).sum(axis=1)[np.argsort(found.points[:, 2])]


def rate(n):
    """The part of an error that an iteration leaves in a column of n equal balls."""
    return np.cos(np.pi / (2 * n)) ** 2


# Figures and table ----------------------------------------------------------------------------------------------------


def beside():
    """Make a Figure with two axes side by side. Returns: figure, axes."""
    figure, _ = figure_of(1, row=1.9)
    figure.clear()
    return figure, figure.subplots(1, 2)


def draw_descent():
    """Draw the iterations of two rows as a descent of kinetic energy, without and with a bound that acts."""
    figure, axes = beside()
    for axis, start, title in zip(axes, ((-1.0, -1.0), (-1.0, 0.6)), ("both balls fall", "the upper ball leaves")):
        J, answers, _ = column([1.0, 1.0], 0.0)
        V, A = np.array(start), J @ answers
        grid = np.linspace(-0.9, 2.4, 30)
        x, y = np.meshgrid(grid, grid)
        λ = np.stack([x, y])
        energy = 0.5 * np.einsum("ixy,ij,jxy->xy", λ, A, λ) + np.einsum("ixy,i->xy", λ, J @ V)
        axis.contour(x, y, energy, np.linspace(energy.min() + 0.05, 2.0, 8), colors="#b9c2cf", linewidths=0.7)
        axis.axvspan(-0.9, 0, color="#f3e3e0")
        axis.axhspan(-0.9, 0, color="#f3e3e0")
        path, λ = [np.zeros(2)], np.zeros(2)
        for _ in range(6):
            for r in range(2):
                change = -(J[r] @ (V + answers @ λ)) / A[r, r]
                λ = np.where(np.arange(2) == r, np.maximum(λ + change, 0), λ)
                path.append(λ)
        axis.plot(*np.linalg.solve(A, -J @ V), "+", color="#1f2430")
        axis.plot(*np.transpose(path), "o-", color="#c2452d", markersize=3, linewidth=1.2)
        axis.set(xlabel="λ of the ground", ylabel="λ between the balls", title=title, aspect="equal")
    return figure


def draw_convergence():
    """Draw the errors of the ground's impulse over the iterations, and the rates that the chapter derives."""
    figure, (axis,) = figure_of(1, row=2.3)
    for n, mark in zip((2, 4, 8, 16), "osd^"):
        counts = np.unique(np.geomspace(1, 120, 14).astype(int))
        errors = np.array([1 - push(np.ones(n), 1.0, k)[0] / (n * GRAVITY) for k in counts])
        shown = errors > 1e-6
        (line,) = axis.semilogy(counts[shown], errors[shown], mark, markersize=4, label=f"{n} balls")
        known = 4 * n  # the curve goes through the error of this iteration
        at = np.linspace(1, min(120, counts[shown][-1]), 2)
        curve = (1 - push(np.ones(n), 1.0, known)[0] / (n * GRAVITY)) * rate(n) ** (at - known)
        axis.semilogy(at, curve, "-", color=line.get_color(), linewidth=1)
    axis.set(xlabel="iterations", ylabel="error of the ground's impulse", ylim=(1e-4, 1.5))
    axis.legend(loc="lower right")
    return figure


def draw_overlap():
    """Draw a ball that starts in the ground, with three ways to correct this."""
    figure, (axis,) = figure_of(1, row=2.2)
    for (label, options), style in zip(WAYS.items(), ("-", "--", "-")):
        solver = overlapping_ball(0.05, **options)
        heights = []
        for _ in range(30):
            heights.append(solver.state().position[0, 2] - 0.1)
            solver.step()
        axis.plot(np.arange(30) / 60, heights, style, label=label)
    axis.axhline(0, color="#8a93a3", linewidth=0.7)
    axis.set(xlabel="time [s]", ylabel="height over the ground [m]")
    axis.legend()
    return figure


WAYS = {
    "velocities correct (Baumgarte)": {"split_impulse": False, "substeps": 4},
    "pseudo-velocities correct": {"substeps": 4},
    "small steps with soft rows": {"small_steps": 4},
}


def overlapping_ball(overlap, **options):
    """A solver "impulse" with a ball of 1 kg and a radius of 0.1 m that starts in the ground. Args: overlap [m]."""
    model = rigid.Model(gravity=(0, 0, -GRAVITY))
    model.add_ground()
    model.add_sphere(0.1, mass=1.0, position=(0, 0, 0.1 - overlap))
    return rigid.solver("impulse", model, 1 / 60, **options)


def table():
    """Columns of balls in verletlab: rate and number of the iterations, and how far the top sinks in a second."""
    head = ["balls", "cos²(π/2n)", "measured", "iterations in step 1", "in step 3", "sinks, warm", "sinks, cold"]
    rows = []
    for n, count in ((2, 20), (4, 40), (8, 80), (16, 200)):
        errors = [n * GRAVITY - push_in_verletlab(np.ones(n), 1 / 60, k)[0] * 60 for k in (count, count + 1)]
        solver, counts = column_in_verletlab(np.ones(n), 1 / 60, iterations=2000), []
        for _ in range(3):
            solver.step()
            counts.append(solver.statistics().iterations)
        sinks = []
        for warm in (True, False):
            few = column_in_verletlab(np.ones(n), 1 / 60, iterations=4, tolerance=0.0, warm_start=warm)
            few.step(60)
            sinks.append(f"{n - 0.5 - few.state().position[-1, 2]:.2g} m")
        rows.append([str(n), f"{rate(n):.4f}", f"{errors[1] / errors[0]:.4f}", str(counts[0]), str(counts[2]), *sinks])
    return head, rows
