"""Verlet integration of an oscillator, beside other methods, for docs/course/verlet.md."""

import numpy as np

import pbd
from scenes.comparison.report.figure import figure_of

RATE = 2 * np.pi  # of the oscillator x'' = -RATE² x [rad/s], a period of one second
SPEED, TIME = 2.0, 1.25  # at the start [m/s]; when errors are measured [s]
END = SPEED / RATE  # where the oscillator, at 1 m at the start, is then [m]


def acceleration(x):
    """Acceleration of the oscillator [m/s²]. Args: x: positions (n,) [m]."""
    return -(RATE**2) * x


def verlet(x, v, h, steps):
    """Positions of Verlet's method (steps + 1, n) [m]. Args: x, v: at the start (n,); h: step [s]; steps."""
    before = x - h * v + h * h * acceleration(x) / 2
    path = [x]
    for _ in range(steps):
        x, before = 2 * x - before + h * h * acceleration(x), x
        path.append(x)
    return np.array(path)


def verlet_with_a_crude_start(x, v, h, steps):
    """Verlet, but the position before the start is x - h v, without the term of the acceleration."""
    return verlet(x, v + h * acceleration(x) / 2, h, steps)


def explicit_euler(x, v, h, steps):
    """Positions of x' = x + h v, v' = v + h a(x)."""
    path = [x]
    for _ in range(steps):
        x, v = x + h * v, v + h * acceleration(x)
        path.append(x)
    return np.array(path)


def implicit_euler(x, v, h, steps):
    """Positions of x' = x + h v', v' = v + h a(x'), which can be solved for v' as a is linear."""
    path = [x]
    for _ in range(steps):
        v = (v + h * acceleration(x)) / (1 + (h * RATE) ** 2)
        x = x + h * v
        path.append(x)
    return np.array(path)


METHODS = {
    "explicit Euler": explicit_euler,
    "implicit Euler": implicit_euler,
    "Verlet": verlet,
    "Verlet, x* = x - h v": verlet_with_a_crude_start,
}


def draw_order():
    """Draw the error after 5/4 of a period over the step."""
    figure, (axis,) = figure_of(1, row=2.6)
    counts = 2 ** np.arange(4, 11)
    for (name, method), mark in zip(METHODS.items(), "osd^"):
        paths = [method(np.ones(1), SPEED * np.ones(1), TIME / n, n) for n in counts]
        errors = [abs(path[-1, 0] - END) for path in paths]
        axis.loglog(TIME / counts, errors, mark + "-", label=name, markersize=4)
    axis.set(xlabel="step h / period", ylabel="error after 5/4 of a period [m]")
    axis.legend()
    return figure


def draw_energy():
    """Draw the energy of ten periods, of which Verlet's swings and neither rises nor falls."""
    figure, (axis,) = figure_of(1, row=2.2)
    h = 1 / 40
    for name in ("explicit Euler", "implicit Euler", "Verlet"):
        path = METHODS[name](np.ones(1), np.zeros(1), h, 400)[:, 0]
        speed = (path[2:] - path[:-2]) / (2 * h)
        energy = (speed**2 + (RATE * path[1:-1]) ** 2) / RATE**2
        axis.semilogy(h * np.arange(1, 400), energy, label=name)
    axis.set(xlabel="time [periods]", ylabel="energy / energy at the start", ylim=(1e-2, 1e2))
    axis.legend()
    return figure


def swing(h, steps):
    """Positions of the oscillator in verletlab (steps + 1,) [m], with the spring's force given before each step."""
    particles = pbd.Particles(gravity=(0, 0, 0))
    particles.add_particle((1, 0, 0), mass=1.0, velocity=(SPEED, 0, 0))
    system = pbd.ParticleSystem(particles, dt=h, substeps=1)
    path = [1.0]
    for _ in range(steps):
        system.set_forces(acceleration(system.positions()))
        system.step()
        path.append(system.positions()[0, 0])
    return np.array(path)


def table():
    """Errors of verletlab's oscillator after 5/4 of a period, and by which factor half of the step lowers them."""
    counts = [20, 40, 80, 160]
    errors = [abs(swing(TIME / n, n)[-1] - END) for n in counts]
    ratios = [""] + [f"{before / error:.2f}" for before, error in zip(errors, errors[1:])]
    head = ["step", "error after 1.25 s [m]", "error before / error"]
    return head, [[f"1.25/{n} s", f"{error:.2e}", ratio] for n, error, ratio in zip(counts, errors, ratios)]
