"""One stick: its projection along the current and along the start direction, for docs/course/stick.md."""

import numpy as np

import pbd
from scenes.comparison.report.figure import figure_of

RATE, LENGTH = 2 * np.pi, 1.0  # of a spinning stick [rad/s]: one turn a second; [m]
MASSES = np.array([1.0, 3.0])  # of its ends [kg]


def project(x, w, length):
    """Jakobsen's projection. Args: x: both ends (2, 3) [m]; w: their inverse masses (2,); length: [m]."""
    delta = x[1] - x[0]
    distance = np.linalg.norm(delta)
    s = (distance - length) / (distance * (w[0] + w[1]))
    return np.array([x[0] + w[0] * s * delta, x[1] - w[1] * s * delta])


def project_along_start(x, start, w, length):
    """SHAKE's projection, along the direction of the stick at the start of the step. Args: start: both ends then."""
    delta, delta0 = x[1] - x[0], start[1] - start[0]
    distance = np.linalg.norm(delta)
    g = (length - distance) * distance / ((w[0] + w[1]) * (delta @ delta0))
    return np.array([x[0] - w[0] * g * delta0, x[1] + w[1] * g * delta0])


def project_without_root(x, w, length):
    """Jakobsen's projection without a square root, for any masses."""
    delta = x[1] - x[0]
    s = (length**2 - delta @ delta) / (length**2 + delta @ delta) / (w[0] + w[1])
    return np.array([x[0] - w[0] * s * delta, x[1] + w[1] * s * delta])


def step(x, before, w, length, direction, iterations):
    """Verlet's step of a free stick, and iterations. Returns: its ends at the end and at the start of the step."""
    new = 2 * x - before
    for _ in range(iterations):
        new = project(new, w, length) if direction == "current" else project_along_start(new, x, w, length)
    return new, x


def spinning():
    """Ends and velocities (2, 3) of a stick that spins about its centre of mass, which rests in the origin."""
    along = LENGTH * np.array([-MASSES[1], MASSES[0]]) / MASSES.sum()
    x, v = np.zeros((2, 3)), np.zeros((2, 3))
    x[:, 0], v[:, 1] = along, RATE * along
    return x, v


def spin(h, steps, direction, iterations=20):
    """Path (steps + 1, 2, 3) of the spinning stick."""
    x, v = spinning()
    before, path = x - h * v, [x]
    for _ in range(steps):
        x, before = step(x, before, 1 / MASSES, LENGTH, direction, iterations)
        path.append(x)
    return np.array(path)


def spin_in_verletlab(h, steps, direction, iterations=20):
    """The same, by the solver."""
    particles = pbd.Particles(gravity=(0, 0, 0))
    x, v = spinning()
    particles.add_particles(x, mass=MASSES, velocity=v)
    particles.add_stick(0, 1)
    system = pbd.ParticleSystem(particles, dt=h, iterations=iterations, direction=direction)
    path = [system.positions()]
    for _ in range(steps):
        system.step()
        path.append(system.positions())
    return np.array(path)


def angles(path):
    """Angle of the stick in each step of a path (steps,) [rad]."""
    delta = path[:, 1] - path[:, 0]
    across = delta[:-1, 0] * delta[1:, 1] - delta[:-1, 1] * delta[1:, 0]
    return np.arctan2(across, (delta[:-1] * delta[1:]).sum(axis=1))


def predicted_angles(h, steps):
    """Angle in each step by φ' = atan2(sin φ, 2 - cos φ), the recurrence of the current direction (steps,) [rad]."""
    result = [np.arctan(RATE * h)]
    while len(result) < steps:
        result.append(np.arctan2(np.sin(result[-1]), 2 - np.cos(result[-1])))
    return np.array(result)


def angular_momentum(path, h):
    """Angular momentum about z of each step (steps,) [kg m²/s]."""
    arm, way = path[:-1], np.diff(path, axis=0)
    return (MASSES * (arm[..., 0] * way[..., 1] - arm[..., 1] * way[..., 0])).sum(axis=1) / h


def draw_directions():
    """Draw a step of a spinning stick, one end pinned: the prediction, and both ways back to the circle."""
    figure, (axis,) = figure_of(1, row=2.7)
    angle = np.radians(40)
    before, now = np.array([np.cos(angle), -np.sin(angle)]), np.array([1.0, 0.0])
    predicted = 2 * now - before
    turn = np.linspace(-1.05, 1.05, 100)
    axis.plot(np.cos(turn), np.sin(turn), color="0.75", linewidth=1)
    for end, text in ((before, "a step ago"), (now, "now"), (predicted, "predicted")):
        axis.plot([0, end[0]], [0, end[1]], "o-", color="0.45", linewidth=1.2, markersize=4)
        axis.annotate(text, end, (7, -3), textcoords="offset points")
    current = predicted / np.linalg.norm(predicted)
    start = np.array([np.sqrt(1 - predicted[1] ** 2), predicted[1]])
    ways = (current, "current direction", (1.03, 0.4)), (start, "start direction", (0.8, 0.72))
    for number, (end, text, place) in enumerate(ways):
        axis.annotate("", end, predicted, arrowprops={"arrowstyle": "-|>", "color": f"C{number}", "linewidth": 1.8})
        axis.plot([0, end[0]], [0, end[1]], color=f"C{number}", linewidth=1.8)
        axis.annotate(text, place, color=f"C{number}")
    axis.set(aspect="equal", xlim=(-0.1, 1.75), ylim=(-0.8, 0.95), xticks=[], yticks=[])
    axis.grid(visible=False)
    for side in axis.spines.values():
        side.set_visible(False)
    return figure


def draw_rate():
    """Draw the rate of a spinning stick over ten seconds, and the formula for the current direction."""
    figure, (axis,) = figure_of(1, row=2.2)
    h, steps = 1 / 60, 600
    times = h * np.arange(1, steps + 1)
    for direction in ("current", "start"):
        rates = angles(spin(h, steps, direction)) / (2 * np.pi * h)
        axis.plot(times, rates, label=f"{direction} direction")
    formula = 1 / np.sqrt(1 + 2 * RATE**2 * h * times)
    axis.plot(times[::20], formula[::20], "k.", markersize=3, label="ω₀ / √(1 + 2 ω₀² h t)")
    axis.set(xlabel="time [s]", ylabel="turns a second", ylim=(0, 1.1))
    axis.legend()
    return figure


def draw_lengths():
    """Draw which length one projection gives to a stick, over the length before."""
    figure, (axis,) = figure_of(1, row=2.2)
    y = np.linspace(0.2, 3, 300)
    axis.plot(y, np.ones_like(y), label="|δ| - L")
    axis.plot(y, (y + 1 / y) / 2, label="|δ|² - L²")
    axis.plot(y, 2 * y / (1 + y * y), label="without root")
    axis.plot(y, 2 * y - 1, "--", color="0.5", label="signs of the source")
    axis.set(xlabel="length before / L", ylabel="length after / L", xlim=(0.2, 3), ylim=(0, 2.6))
    axis.legend(loc="upper left")
    return figure


def table():
    """Angular momentum and angle of verletlab's spinning stick after a second, for both directions."""
    rows, start = [], RATE * LENGTH**2 * MASSES.prod() / MASSES.sum()
    for rate in (30, 60, 120, 240):
        cells = [f"1/{rate} s"]
        for direction in ("current", "start"):
            path = spin_in_verletlab(1 / rate, rate, direction)
            momentum, turned = angular_momentum(path, 1 / rate)[-1] / start, angles(path).sum() / (2 * np.pi)
            cells += [f"{momentum:.3f}", f"{360 * (turned - 1):+.2f}°"]
        cells.insert(2, f"{1 / np.sqrt(1 + 2 * RATE**2 / rate):.3f}")
        rows.append(cells)
    head = ["step", "current: angular momentum left", "1/√(1 + 2 ω₀² h t)", "angle", "start: angular momentum left",
            "angle"]  # fmt: skip
    return head, rows
