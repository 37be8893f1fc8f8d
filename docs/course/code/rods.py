"""Rods that bend and twist, for docs/course/rods.md."""

from functools import cache

import numpy as np

import pbd
from pbd import build
from scenes.comparison.report.figure import INK, figure_of

BENDING, TWISTING = 1e-2, 0.8e-2  # EI and GJ [N m²]
RADIUS, DENSITY = 1e-3, 1000.0  # [m, kg/m³]
LINE = DENSITY * np.pi * RADIUS**2  # mass by length [kg/m]
# EA is so large that strains are 1e-7 at most: then the rod is one that does not stretch.
SECTION = {"radius": RADIUS, "density": DENSITY, "bending": BENDING, "twisting": TWISTING, "stretching": 1e6}
LEVEL, UPRIGHT = 0.0, np.pi / 2  # directions of a clamp [rad]
HALVINGS = 30


def axes(a, b, side):
    """d_1, d_2, d_3 (3, 3), as rows, of a segment from a to b with its side particle (3,)."""
    d_3 = (b - a) / np.linalg.norm(b - a)
    p = side - (a + b) / 2
    p = p - (p @ d_3) * d_3
    d_1 = p / np.linalg.norm(p)
    return np.array([d_1, np.cross(d_3, d_1), d_3])


def rotation_vector(D, d):
    """The vector θ n (3,) by which the axes D turn into d, rows of (3, 3) each."""
    sine = np.cross(D, d).sum(axis=0) / 2
    size, cosine = np.linalg.norm(sine), ((D * d).sum() - 1) / 2
    return sine if size == 0 else sine * np.arctan2(size, cosine) / size


def joint_energy(first, second, stiffness, length):
    """Energy of a joint of two segments, each a, b and its side particle [J]. Args: stiffness: (EI_1, EI_2, GJ)."""
    D, d = axes(*first), axes(*second)
    return (stiffness * (D @ rotation_vector(D, d)) ** 2).sum() / (2 * length)


def couples(D, phi):
    """The W_k (3, 3), as rows: φ·D_k grows by W_k·ω if the second segment turns by a small ω."""
    angle = np.linalg.norm(phi)
    c = 1 / 12 if angle < 1e-4 else (1 - angle / 2 / np.tan(angle / 2)) / angle**2
    return D + np.cross(phi, D) / 2 + c * np.cross(phi, np.cross(phi, D))


def forces_of_couple(W, a, b, side):
    """Forces (3, 3) on a, b and the side particle of a segment. Their sum is zero, and their moment is W (3,)."""
    _, d_2, d_3 = axes(a, b, side)
    offset, length = side - (a + b) / 2, np.linalg.norm(b - a)
    e = offset @ d_3
    on_side = (d_3 @ W) / np.linalg.norm(offset - e * d_3) * d_2
    turn = np.cross(W, d_3) / length
    return np.array([-turn - (0.5 - e / length) * on_side, turn - (0.5 + e / length) * on_side, on_side])


def solve_tridiagonal(diagonal, off, right):
    """The x (n,) of A x = right. Args: diagonal (n,), off (n - 1,): of the symmetric A."""
    d, x = diagonal.copy(), right.copy()
    for j in range(len(off)):  # eliminate downwards
        factor = off[j] / d[j]
        d[j + 1] -= factor * off[j]
        x[j + 1] -= factor * x[j]
    x[-1] /= d[-1]
    for j in reversed(range(len(off))):
        x[j] = (x[j] - off[j] * x[j + 1]) / d[j]
    return x


def numbers_of_chain(weight, count, clamp):
    """Stiffness of joints EI/l̄ and moments Q l of segments (n,), for length and EI one. Args: see `hang`."""
    stiffness = np.full(count, float(count))
    stiffness[0] = count / clamp
    return stiffness, weight / count**2 * (count - 0.5 - np.arange(count))


def energy_of_chain(angle, base, stiffness, moment):
    """Σ EI/l̄ (θ_j - θ_{j-1})²/2 + Σ Q_j l sin θ_j."""
    return (stiffness * np.diff(angle, prepend=base) ** 2).sum() / 2 + moment @ np.sin(angle)


def newton_step(angle, base, stiffness, moment):
    """The change of all angles (n,) together. A weight that would make the matrix indefinite is left out of it."""
    pull = stiffness * np.diff(angle, prepend=base)
    after = np.append(stiffness[1:], 0)
    gradient = pull - np.append(pull[1:], 0) + moment * np.cos(angle)
    diagonal = stiffness + after + np.maximum(-moment * np.sin(angle), 0)
    return solve_tridiagonal(diagonal, -stiffness[1:], -gradient)


def hang(weight, count, base=LEVEL, clamp=0.5, angle=None, tolerance=1e-13):
    """Angles (n,) [rad] of the segments of a heavy rod at rest. Its length and EI are one.

    Args: weight: Γ = w L³/EI; count: of segments; base: direction of the clamp; clamp: length of its joint, in
    segments; angle: where to begin.
    """
    stiffness, moment = numbers_of_chain(weight, count, clamp)
    angle = np.full(count, base) if angle is None else angle
    step = np.ones(count)
    while np.abs(step).max() > tolerance:
        step = newton_step(angle, base, stiffness, moment)
        energy = energy_of_chain(angle, base, stiffness, moment)
        for _ in range(HALVINGS):
            if energy_of_chain(angle + step, base, stiffness, moment) > energy:
                step = step / 2
        angle = angle + step
    return angle


def places(angle):
    """Nodes (n + 1, 2) of a rod of length one."""
    steps = np.stack([np.cos(angle), np.sin(angle)], axis=1) / len(angle)
    return np.concatenate([np.zeros((1, 2)), np.cumsum(steps, axis=0)])


def tips_together(weight, count, iterations):
    """Heights of the tip (iterations + 1,) by Newton's method, from a level rod."""
    numbers, angle, heights = numbers_of_chain(weight, count, 0.5), np.zeros(count), [0.0]
    for _ in range(iterations):
        angle = angle + newton_step(angle, LEVEL, *numbers)
        heights.append(np.sin(angle).mean())
    return np.array(heights)


def tips_one_by_one(weight, count, iterations):
    """The same if each segment finds its own rest in turn, by the diagonal of the matrix alone."""
    (stiffness, moment), angle, heights = numbers_of_chain(weight, count, 0.5), np.zeros(count), [0.0]
    after = np.append(stiffness[1:], 0)
    for _ in range(iterations):
        for j in range(count):
            before, behind = angle[j - 1] if j else LEVEL, angle[j + 1] if j + 1 < count else 0.0
            gradient = stiffness[j] * (angle[j] - before) + after[j] * (angle[j] - behind)
            gradient += moment[j] * np.cos(angle[j])
            angle[j] -= gradient / (stiffness[j] + after[j] + max(-moment[j] * np.sin(angle[j]), 0))
        heights.append(np.sin(angle).mean())
    return np.array(heights)


def series(weight):
    """Σ (-Γ)^k/(2·3·5·6·...·(3k-1) 3k): zero where a column can lean without anything that pushes it."""
    total = term = 1.0
    for k in range(1, 30):
        term *= -weight / (3 * k * (3 * k - 1))
        total += term
    return total


@cache
def greatest_height():
    """The smallest zero of `series`, by bisection."""
    low, high = 0.0, 10.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if series(middle) > 0 else (low, middle)
    return low


def hang_in_solver(weight, count, base=LEVEL, lean=0.0, steps=900, iterations=2):
    """Nodes (n + 1, 2) of a heavy rod of 1 m that came to rest in verletlab.

    Args: weight: Γ; count: of segments; base: LEVEL or UPRIGHT; lean: how far its tip is moved aside at first [m].
    """
    along = np.array([np.cos(base), 0, np.sin(base)]).round(15)
    particles = pbd.Particles(gravity=(0, 0, -weight * BENDING / LINE))
    rod = build.rod(particles, [(0, 0, 0), along], count, clamps="start", **SECTION)
    particles.positions()[rod.particles[1:], 0] += lean * (np.arange(1, count + 1) / count) ** 2
    system = pbd.ParticleSystem(particles, dt=1 / 60, substeps=1, iterations=iterations, damping=0.05)
    system.step(steps)
    return system.positions()[rod.particles][:, [0, 2]]


def drawn(point):
    """A point in space (..., 3) as a place on paper (..., 2)."""
    x = np.asarray(point, float)
    return np.stack([x[..., 0] + 0.35 * x[..., 1], x[..., 2] + 0.3 * x[..., 1]], axis=-1)


def draw_segments():
    """Draw two segments with their side particles, their axes, and the vector by which one turns into the other."""
    figure, (axis,) = figure_of(1, row=2.0)
    axis.grid(False)
    axis.axis("off")
    nodes = np.array([(0.0, 0.0, 0.0), (1.3, 0.0, 0.35), (2.55, 0.0, -0.1)])
    axis.plot(*drawn(nodes).T, "o-", color=INK, linewidth=2.5)
    frames = []
    for k, (colour, turn) in enumerate((("tab:blue", 0.0), ("tab:red", 0.7))):
        a, b = nodes[k : k + 2]
        d_3 = (b - a) / np.linalg.norm(b - a)
        up = np.cross(d_3, (0, 1, 0))
        d_1 = np.cos(turn) * up + np.sin(turn) * np.cross(up, d_3)
        frames.append(axes(a, b, (a + b) / 2 + 0.55 * d_1))
        middle = (a + b) / 2
        axis.plot(*drawn([middle, middle + 0.55 * d_1]).T, "o:", color=colour, markersize=4, linewidth=1)
        for row, name in zip(frames[-1], "123"):
            ends = drawn([middle, middle + 0.38 * row])
            axis.annotate("", ends[1], ends[0], arrowprops={"arrowstyle": "-|>", "color": colour, "linewidth": 1.5})
            axis.annotate(("d" if k == 0 else "f") + "₁₂₃"[int(name) - 1], ends[1], (3, 2), textcoords="offset points",
                          color=colour)  # fmt: skip
    phi = rotation_vector(*frames)
    ends = drawn([nodes[1], nodes[1] + 0.6 * phi])
    axis.annotate("", ends[1], ends[0], arrowprops={"arrowstyle": "-|>", "color": "tab:green", "linewidth": 2})
    axis.annotate("φ", ends[1], (4, 0), textcoords="offset points", color="tab:green")
    axis.annotate("side particle", drawn(nodes[:2].mean(axis=0) + 0.55 * frames[0][0]), (-66, -3),
                  textcoords="offset points")  # fmt: skip
    axis.set(aspect="equal", ylim=(-0.55, 1.0))
    return figure


def draw_cantilevers():
    """Draw heavy rods that hang from a level clamp: the elastica, and nodes of 20 segments in verletlab."""
    figure, (axis,) = figure_of(1, row=2.4)
    for weight, colour in ((1, "tab:green"), (10, "tab:blue"), (100, "tab:red")):
        fine = places(hang(weight, 640))[::8]
        axis.plot(*fine.T, color=colour, linewidth=2, alpha=0.5)
        axis.plot(*hang_in_solver(weight, 20).T, "o", color=colour, markersize=3.5, label=f"Γ = {weight}")
    axis.set(xlabel="reach / L", ylabel="height / L", aspect="equal")
    axis.legend()
    return figure


def draw_iterations():
    """Draw how far the tip is from its rest over iterations: together, and one segment after another."""
    figure, (axis,) = figure_of(1, row=2.2)
    for count, mark in ((10, "o"), (20, "s"), (40, "d")):
        rest = np.sin(hang(1, count)).mean()
        swept = np.abs(tips_one_by_one(1, count, 1000) / rest - 1)
        shown = np.unique(np.geomspace(1, 1001, 30).astype(int)) - 1
        axis.loglog(shown + 1, swept[shown], mark + "-", markersize=3, label=f"one by one, {count} segments")
    solved = np.abs(tips_together(1, 40, 4) / rest - 1)
    axis.loglog(np.arange(5) + 1, np.maximum(solved, 1e-13), "k^--", markersize=5, label="together, 40 segments")
    axis.set(xlabel="iterations + 1", ylabel="error of the tip's fall", ylim=(1e-12, 3))
    axis.legend()
    return figure


def draw_column():
    """Draw how far the tip of an upright heavy rod is aside, over its weight."""
    figure, (axis,) = figure_of(1, row=2.0)
    weights = np.linspace(greatest_height() + 1e-3, 12, 60)
    aside = [places(hang(each, 160, UPRIGHT, angle=np.full(160, 1.2), tolerance=1e-9))[-1, 0] for each in weights]
    axis.plot(np.append((5, weights[0]), weights), np.append((0, 0), aside), color="0.6", linewidth=3,
              label="rest, by Newton's method")  # fmt: skip
    loads = (5, 6, 7, 7.5, 8.2, 8.6, 9, 10, 11, 12)
    found = [abs(hang_in_solver(each, 20, UPRIGHT, 1e-3, 1800)[-1, 0]) for each in loads]
    axis.plot(loads, found, "o", markersize=4.5, label="verletlab, 20 segments")
    axis.axvline(greatest_height(), color="tab:red", linewidth=1, linestyle="--", label="Γ = 7.837")
    axis.set(xlabel="Γ = w L³/EI", ylabel="tip aside / L")
    axis.legend()
    return figure


def table():
    """How far heavy rods hang down in verletlab, and by how much that is off."""
    head = ["Γ", "fall / L, elastica", "20 segments", "40 segments", "error before / error", "40, clamp with l̄ = l"]
    rows = []
    for weight in (1, 10, 100):
        fall = -places(hang(weight, 1280))[-1, 1]
        errors = [-hang_in_solver(weight, count)[-1, 1] / fall - 1 for count in (20, 40)]
        whole = -places(hang(weight, 40, clamp=1.0))[-1, 1] / fall - 1
        rows.append([str(weight), f"{fall:.4f}", f"{errors[0]:+.3%}", f"{errors[1]:+.3%}",
                     f"{errors[0] / errors[1]:.2f}", f"{whole:+.1%}"])  # fmt: skip
    return head, rows
