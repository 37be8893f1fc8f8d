"""A rope of sticks: one after another, and all together, for docs/course/many_sticks.md."""

import numpy as np

import pbd
from scenes.comparison.report.figure import INK, figure_of

GRAVITY, FRAME = 10.0, 1 / 60  # [m/s²]; the time step that is divided into substeps [s]


def iterate(x, w, length):
    """Project all sticks of a rope once, from its first particle to its last (Gauss and Seidel).

    Args: x: positions (n + 1, 3) [m], which it changes; w: inverse masses (n + 1,); length: of each stick [m].
    """
    for j in range(len(x) - 1):
        delta = x[j + 1] - x[j]
        distance = np.linalg.norm(delta)
        s = (distance - length) / (distance * (w[j] + w[j + 1]))
        x[j] += w[j] * s * delta
        x[j + 1] -= w[j + 1] * s * delta


def solve_tridiagonal(diagonal, beside, b):
    """Solve A λ = b, where A is symmetric, with these numbers (n,) on and (n - 1,) beside its diagonal."""
    d, result = diagonal.copy(), b.copy()
    for j in range(1, len(d)):  # take a multiple of the row above away, so that nothing is left below the diagonal
        factor = beside[j - 1] / d[j - 1]
        d[j] -= factor * beside[j - 1]
        result[j] -= factor * result[j - 1]
    result[-1] /= d[-1]
    for j in range(len(d) - 2, -1, -1):  # from the last λ to the first
        result[j] = (result[j] - beside[j] * result[j + 1]) / d[j]
    return result


def solve_directly(x, start, w, length, rounds=20):
    """Project all sticks of a rope together, along their directions at the start of the step (SHAKE)."""
    n = np.diff(start, axis=0)
    n /= np.linalg.norm(n, axis=1, keepdims=True)
    diagonal, beside = w[:-1] + w[1:], -w[1:-1] * (n[:-1] * n[1:]).sum(axis=1)
    for _ in range(rounds):
        C = np.linalg.norm(np.diff(x, axis=0), axis=1) - length
        pull = solve_tridiagonal(diagonal, beside, -C)[:, None] * n
        x[:-1] -= w[:-1, None] * pull
        x[1:] += w[1:, None] * pull


def step(x, before, w, length, h, iterations):
    """A step of a rope. Args: iterations: None for the direct solve. Returns: the new x, and x."""
    new = np.where(w[:, None] > 0, 2 * x - before + h * h * np.array([0, 0, -GRAVITY]), x)
    if iterations is None:
        solve_directly(new, x, w, length)
    for _ in range(iterations or 0):
        iterate(new, w, length)
    return new, x


def stretch_at_rest(n, iterations):
    """Sum of the stretches of n sticks that hang at rest, in units of g h²: c = M^K (c + e₁)."""
    columns = []
    for j in range(n):  # M: what an iteration leaves of the stretches
        z = -np.arange(n + 1.0)
        z[j + 1 :] -= 1
        x = np.outer(z, [0, 0, 1])
        iterate(x, np.r_[0, np.ones(n)], 1.0)
        columns.append(-np.diff(x[:, 2]) - 1)
    left = np.linalg.matrix_power(np.transpose(columns), iterations)
    return np.linalg.solve(np.eye(n) - left, left[:, 0]).sum()


def rope(n, dt, direction="current", at=None, **options):
    """A rope of n sticks and 1 m in verletlab, pinned at its first particle. Args: at: positions; None to hang."""
    particles = pbd.Particles(gravity=(0, 0, -GRAVITY))
    x = np.outer(np.arange(n + 1) / n, [0, 0, -1]) if at is None else at
    particles.add_particles(x, mass=[np.inf, *np.ones(n)])
    particles.add_sticks([(j, j + 1) for j in range(n)], length=1 / n)
    return pbd.ParticleSystem(particles, dt=dt, direction=direction, **options)


def hang(n, steps=1500, **options):
    """Stretch of verletlab's rope when it hangs at rest [m], as a part of its length of 1 m."""
    system = rope(n, FRAME, damping=0.05, **options)
    system.step(steps)
    return -system.positions()[-1, 2] - 1


WAYS = [(1, 1), (1, 4), (1, 16), (4, 4), (16, 1), None]  # substeps and iterations; None: direct


def draw_ropes():
    """Draw hanging ropes of 20 sticks, as they come to rest with each way of spending the work."""
    figure, (axis,) = figure_of(1, row=2.6)
    n = 20
    for place, way in enumerate(WAYS):
        x = np.outer(np.arange(n + 1) / n, [0, 0, -1])
        if way:
            before, h = x, FRAME / way[0]
            for _ in range(20 * n):  # with drag, so that it comes to rest
                x, before = step(x, x - 0.9 * (x - before), np.r_[0, np.ones(n)], 1 / n, h, way[1])
        axis.plot(np.full(n + 1, place), x[:, 2], ".-", color="C0" if way else "C2", markersize=4)
    axis.axhline(-1, color=INK, linewidth=0.8, linestyle=(0, (4, 3)), zorder=0)
    labels = [f"{way[0]} × {way[1]}" if way else "direct" for way in WAYS]
    axis.set(xticks=range(len(WAYS)), xticklabels=labels, xlabel="substeps × iterations", ylabel="height [m]")
    axis.set(xlim=(-0.6, len(WAYS) - 0.4), ylim=(-1.6, 0.05))
    return figure


def draw_convergence():
    """Draw what iterations leave of the largest error in one step, for ropes of 10, 20 and 40 sticks."""
    figure, (axis,) = figure_of(1, row=2.2)
    for n in (10, 20, 40):
        x, w, errors = np.outer(np.arange(n + 1.0), [0, 0, -1]), np.r_[0, np.ones(n)], []
        x[1:, 2] -= 1e-3  # the first stick alone is too long
        for _ in range(1000):
            iterate(x, w, 1.0)
            errors.append(np.abs(np.linalg.norm(np.diff(x, axis=0), axis=1) - 1).max() / 1e-3)
        (line,) = axis.semilogy(np.arange(1, 1001), errors, label=f"{n} sticks")
        rate = np.cos(np.pi / (2 * n)) ** 2
        last = np.array([500, 1000]) if n > 10 else np.array([300, 600])
        axis.semilogy(last, 3 * errors[last[0] - 1] * rate ** (last - last[0]), "--", color=line.get_color())
    axis.set(xlabel="iterations", ylabel="largest error / error before", ylim=(1e-8, 1.5), xlim=(0, 1000))
    axis.legend()
    return figure


def draw_work():
    """Draw the stretch of a rope of 50 sticks over the iterations in a frame, of one substep and of many."""
    figure, (axis,) = figure_of(1, row=2.4)
    work, n = 2 ** np.arange(0, 13, 2), 50
    unit = 100 * GRAVITY * FRAME**2  # as parts of a hundred of a length of 1 m
    axis.loglog(work, [unit * stretch_at_rest(n, each) for each in work], "o-", label="iterations of one substep")
    both = [unit / each * stretch_at_rest(n, round(each**0.5)) for each in work]
    axis.loglog(work, both, "s-", label="as many substeps as iterations")
    axis.loglog(work, unit * stretch_at_rest(n, 1) / work**2.0, "d-", label="substeps of one iteration")
    axis.set(xlabel="substeps × iterations in 1/60 s", ylabel="stretch of the rope [%]", ylim=(1e-4, 1e3))
    axis.legend()
    return figure


def table():
    """Stretch of verletlab's rope at rest, by its sticks, substeps and iterations, and by the formula."""
    rows = []
    for n in (10, 50):
        for way in WAYS:
            given = {"substeps": way[0], "iterations": way[1]} if way else {"solve": "direct"}
            formula = n * (n - 1) / 2 * GRAVITY * (FRAME / way[0]) ** 2 / way[1] if way else 0.0
            measured = hang(n, **given)
            cells = [f"{100 * each:.3g} %" for each in (measured if way else round(measured, 12), formula)]
            rows.append([f"{n}", f"{way[0]} × {way[1]}" if way else "direct", *cells])
    return ["sticks", "substeps × iterations", "stretch", "n (n - 1) g h²/2K"], rows
