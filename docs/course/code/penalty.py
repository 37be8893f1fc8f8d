"""Constraints as springs and dampers, for docs/course/penalty.md."""

import re

import numpy as np

import pbd
import rigid
from scenes.comparison.report.figure import figure_of

g = 9.81
LENGTH, MASS = 0.5, 2.0  # of the rods [m], [kg]
INERTIA = MASS * LENGTH**2 / 12
ALPHA, BETA = 5000.0, 25.0  # the source's stiffness and damping of translations, per unit of mass [1/s²], [1/s]

# A spring and a damper ------------------------------------------------------------------------------------------------


def step_matrix(method, a, zeta):
    """The matrix (2, 2) by which a step of x'' = -ω² x - 2 ζ ω x' multiplies (x, h v). Args: a: ω h."""
    if method == "explicit":
        return np.array([[1, 1], [-a * a, 1 - 2 * zeta * a]])
    if method == "semi-implicit":
        return np.array([[1 - a * a, 1 - 2 * zeta * a], [-a * a, 1 - 2 * zeta * a]])
    return np.linalg.inv([[1, -1], [a * a, 1 + 2 * zeta * a]])


def growth(method, a, zeta):
    """The largest factor by which a step multiplies a motion."""
    return np.abs(np.linalg.eigvals(step_matrix(method, a, zeta))).max()


def longest_step(alpha, beta):
    """The step at which h² α* + 2 h β* = 4 [s]."""
    return (np.sqrt(beta**2 + 4 * alpha) - beta) / alpha


# Joints, contacts, friction -------------------------------------------------------------------------------------------


def rows_of(x, k):
    """G (2,) and J (2, 3 n) of the joint k of a chain of rods, between rod k - 1 or the ground, and rod k.

    Args: x: of each rod the centre's x and z, and the angle from x downwards (n, 3).
    """
    half = LENGTH / 2 * np.stack([np.cos(x[:, 2]), -np.sin(x[:, 2])], axis=1)  # from the centres to the ends
    turned = np.stack([half[:, 1], -half[:, 0]], axis=1)  # what these change by, when the angle changes by one
    G, J = x[k, :2] - half[k], np.zeros((2, len(x), 3))
    J[:, k, :2], J[:, k, 2] = np.eye(2), -turned[k]
    if k > 0:
        G = G - x[k - 1, :2] - half[k - 1]
        J[:, k - 1, :2], J[:, k - 1, 2] = -np.eye(2), -turned[k - 1]
    return G, J.reshape(2, -1)


def penalty_step(x, V, h, alpha, beta):
    """A step of a chain of rods, whose joints are springs and dampers. Args: V: the rates of x; α*, β*."""
    mass, force = np.tile([MASS, MASS, INERTIA], len(x)), np.zeros(x.size)
    for k in range(len(x)):
        G, J = rows_of(x, k)
        A = J / mass @ J.T
        force += J.T @ np.linalg.solve(A, -alpha * G - beta * (J @ V.ravel()))
    V = V + h * ((force / mass).reshape(-1, 3) - [0, g, 0])
    return x + h * V, V


def stiffest(links):
    """How many times as stiff the stiffest motion of a level chain is as that of one joint."""
    x, mass = level(links), np.tile([MASS, MASS, INERTIA], links)
    rows = [rows_of(x, k)[1] for k in range(links)]
    K = sum(J.T @ np.linalg.solve(J / mass @ J.T, J) for J in rows)
    return np.linalg.eigvalsh(K / np.sqrt(np.outer(mass, mass)))[-1]


def level(links):
    """Positions of a chain of rods that is level (links, 3)."""
    return np.stack([LENGTH * (np.arange(links) + 0.5), np.zeros(links), np.zeros(links)], axis=1)


def damping_of(restitution):
    """ζ of a contact with a restitution, by verletlab's series: it inverts `restitution_of` to 0.0015."""
    u, slope = np.minimum(-np.log(np.maximum(restitution, 1e-3)) / 2, 1.0), 2 / np.pi
    return u * (slope + slope**3 * u + (1 - slope - slope**3) * u * u)


def restitution_of(zeta):
    """e = exp(-(π - 2 φ) tan φ) with ζ = sin φ; exp(-2) for ζ = 1."""
    phi = np.arcsin(np.minimum(zeta, 1 - 1e-12))
    return np.exp(-(np.pi - 2 * phi) * np.tan(phi))


def bounce(gap, v, h, steps, zeta, alpha=ALPHA):
    """Gaps between a ball and the ground, a spring that pushes and never pulls (steps,) [m]."""
    path = []
    for _ in range(steps):
        push = max(0.0, -alpha * gap - 2 * zeta * np.sqrt(alpha) * v) if gap < 0 else 0.0
        v = v + h * (push - g)
        gap = gap + h * v
        path.append(gap)
    return np.array(path)


def slide(v, pulls, bound, h, alpha=ALPHA):
    """Positions of a body on the ground with friction, a spring that slips (steps,) [m].

    Args: v: at the start; pulls: force in each step divided by the mass (steps,) [m/s²]; bound: the largest friction,
    likewise.
    """
    x, stretch, path = 0.0, 0.0, []
    for pull in pulls:
        stretch += h * v
        friction = -alpha * stretch - 2 * np.sqrt(alpha) * v
        if abs(friction) > bound:
            stretch *= bound / abs(friction)
            friction *= bound / abs(friction)
        v += h * (pull + friction)
        x += h * v
        path.append(x)
    return np.array(path)


# In verletlab ---------------------------------------------------------------------------------------------------------


def chain_model(links):
    """The level chain of rods as a rigid.Model."""
    model, parent = rigid.Model(gravity=(0, 0, -g)), rigid.GROUND
    for k, (x, _, _) in enumerate(level(links)):
        rod = model.add_body(mass=MASS, inertia=(INERTIA / 50, INERTIA, INERTIA), position=(x, 0, 0))
        model.add_ball(parent, rod, (k * LENGTH, 0, 0))
        parent = rod
    return model


def ball_model(gap, restitution=0.0, friction=0.0, velocity=(0, 0, 0), gravity=g):
    """A ball that cannot turn, as its inertia is so large, above the ground."""
    model = rigid.Model(gravity=(0, 0, -gravity))
    model.add_ground(friction=friction, restitution=restitution)
    ball = model.add_body(mass=MASS, inertia=3 * [1e12], position=(0, 0, 0.1 + gap), velocity=velocity)
    model.add_shape(ball, rigid.Sphere(0.1), local=True, friction=friction, restitution=restitution)
    return model


def hanging_model(velocity=(0, 0, 0), gravity=g):
    """A body on a ball joint at its centre."""
    model = rigid.Model(gravity=(0, 0, -gravity))
    body = model.add_body(mass=MASS, inertia=3 * [INERTIA], velocity=velocity)
    model.add_ball(rigid.GROUND, body, (0, 0, 0))
    return model


def positions(model, h, steps, **options):
    """Positions of a model's first body with "penalty" (steps, 3) [m]."""
    solver, path = rigid.solver("penalty", model, dt=h, **options), []
    for _ in range(steps):
        solver.step()
        path.append(solver.state(warm_start=False).position[0])
    return np.array(path)


def is_stable(a, zeta, h=0.01):
    """Whether verletlab's joint comes to rest, or stays as it is without damping. Args: a: ω h; zeta; h."""
    gains = {"stiffness": (a / h) ** 2, "damping": 2 * zeta * a / h, "check_stability": False}
    try:
        x = np.abs(positions(hanging_model((1, 0, 0), 0.0), h, 400, **gains)[:, 0])
    except pbd.Diverged:
        return False
    return x[200:].max() <= 1.01 * x[:200].max()


def rebound(restitution, h=1e-4):
    """The part of its speed with which a ball leaves the ground."""
    z = positions(ball_model(0.01, restitution, velocity=(0, 0, -1), gravity=0.0), h, 1200)[:, 2]
    return (z[-1] - z[-2]) / h


def refused_step(links):
    """The longest step of a level chain, which verletlab's error names for a step that is too long [s]."""
    try:
        rigid.solver("penalty", chain_model(links), dt=0.05)
    except ValueError as error:
        return float(re.search(r"a step below (\S+) s", str(error))[1])


# Figures and table ----------------------------------------------------------------------------------------------------


def draw_regions():
    """Draw where steps of a damped spring are stable, and what verletlab's joint does."""
    figure, (axis,) = figure_of(1, row=2.6)
    zeta = np.linspace(0, 1.2, 121)
    explicit = 2 * zeta - 2 * np.sqrt(np.maximum(zeta**2 - 1, 0))
    semi_implicit = 2 * (np.sqrt(1 + zeta**2) - zeta)
    axis.fill_betweenx(zeta, 0, semi_implicit, color="C0", alpha=0.25, linewidth=0, label="semi-implicit Euler: stable")
    axis.plot(explicit, zeta, color="C1", label="explicit Euler: stable on the left")
    tried = [(a, z) for a in (0.4, 0.8, 1.2, 1.6, 1.95, 2.4) for z in (0, 0.1, 0.3, 0.6, 1)]
    for stable, mark in ((True, "o"), (False, "x")):
        found = [point for point in tried if is_stable(*point) == stable]
        axis.plot(*np.transpose(found), mark, color="#1f2430", markersize=4, clip_on=False, linestyle="",
                  label=f"verletlab: {'stable' if stable else 'unstable'}")  # fmt: skip
    axis.set(xlabel="ω h", ylabel="damping ratio ζ", xlim=(0, 2.5), ylim=(0, 1.2))
    figure.legend(loc="outside upper left", ncols=2, frameon=False)
    return figure


def draw_restitution():
    """Draw the restitution of a spring and damper over its damping ratio."""
    figure, (axis,) = figure_of(1, row=2.2)
    zeta = np.linspace(0, 0.9999, 200)
    axis.plot(zeta, restitution_of(zeta), label="the spring lets go when its force is zero")
    axis.plot(zeta, np.exp(-np.pi * zeta / np.sqrt(1 - zeta**2)), ":", label="it lets go when the overlap is zero")
    asked = np.array([1.0, 0.8, 0.6, 0.4, 0.2, 0.0])
    axis.plot(damping_of(asked), [rebound(e) for e in asked], "o", color="#1f2430", markersize=4,
              label="verletlab, for 1, 0.8, ... 0")  # fmt: skip
    axis.set(xlabel="damping ratio ζ", ylabel="speed after / before", xlim=(0, 1.02), ylim=(0, 1.02))
    axis.legend()
    return figure


def table():
    """What the chapter derives, and what "penalty" does."""
    shorter = dict.fromkeys(("stiffness", "damping"))
    hangs, rests = 1e3 * g / ALPHA, ball_model(-g / ALPHA, friction=0.5)
    solver = rigid.solver("penalty", rests, dt=0.003)
    solver.set_forces(0, force=(0.3 * MASS * g, 0, 0))
    solver.step(1000)
    rows = [
        ("a joint opens under its body's weight [mm]", hangs, -1e3 * positions(hanging_model(), 0.003, 1000)[-1, 2]),
        ("with a third of the step and gains of None [mm]", hangs / 9,
         -1e3 * positions(hanging_model(), 0.001, 1000, **shorter)[-1, 2]),
        ("a ball sinks into the ground [mm]", hangs, 100 - 1e3 * positions(ball_model(0.0), 0.003, 1000)[-1, 2]),
        ("friction gives way under 0.6 of its bound [mm]", 0.3 * hangs, 1e3 * solver.state().position[0, 0]),
        ("rebound for e = 0", np.exp(-2), rebound(0.0)),
        ("rebound for e = 0.5", 0.5, rebound(0.5)),
    ]  # fmt: skip
    for links in (1, 5, 20):
        times = stiffest(links)
        predicted = 1e3 * longest_step(times * ALPHA, times * BETA)
        rows.append((f"longest step, {links} joint{'s' * (links > 1)} [ms]", predicted, 1e3 * refused_step(links)))
    return ["quantity", "predicted", "verletlab"], [[what, f"{a:#.3g}", f"{b:#.3g}"] for what, a, b in rows]
