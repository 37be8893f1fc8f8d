"""Compliant constraints and blocks of them, for docs/course/compliance.md."""

import numpy as np

import pbd
from pbd.constraints.constraint_type import with_damping
from pbd.constraints.stick import STICK
from scenes.comparison.report.figure import figure_of

GRAVITY, FRAME = 10.0, 1 / 60  # [m/s²], [s]


def project(x, w, C, J, compliance, multipliers):
    """Project a block of compliant rows once, along their present gradients.

    Args: x: particles (k, 3); w: inverse masses (k,); C: the rows (m,); J: their gradients (m, k, 3); compliance:
    α/h² (m, m); multipliers: λ (m,). Returns: new x, new λ.
    """
    A = np.einsum("mki,k,nki->mn", J, w, J) + compliance
    change = np.linalg.solve(A, -(C + compliance @ multipliers))
    return x + w[:, None] * np.einsum("m,mki->ki", change, J), multipliers + change


def stick(x, length):
    """The one row of a stick, C (1,) and gradients (1, 2, 3)."""
    delta = x[1] - x[0]
    distance = np.linalg.norm(delta)
    return np.array([distance - length]), np.array([[-delta, delta]]) / distance


def triangle(x, threads):
    """Strains of warp, weft and shear of a triangle (3,), and gradients (3, 3, 3). Args: threads: a_i, b_i (2, 3)."""
    a, b = threads @ x
    length_a, length_b = np.linalg.norm(a), np.linalg.norm(b)
    warp, weft = a / length_a, b / length_b
    cosine = warp @ weft
    s, t = (weft - cosine * warp) / length_a, (warp - cosine * weft) / length_b
    gradients = [
        np.outer(threads[0], warp), np.outer(threads[1], weft), np.outer(threads[0], s) + np.outer(threads[1], t)
    ]  # fmt: skip
    return np.array([length_a - 1, length_b - 1, cosine]), np.array(gradients)


def tetrahedron(x, a, ratio):
    """Both rows of a stable neo-Hookean tetrahedron, over √V, and gradients (2, 4, 3). Args: ratio: γ - 1 = μ/λ."""
    F = x.T @ a
    size, determinant = np.linalg.norm(F), np.linalg.det(F)
    gradients = [a @ F.T / size, a @ np.linalg.inv(F) * determinant]
    return np.array([size, determinant - 1 - ratio]), np.array(gradients)


def step(x, before, w, blocks, h, iterations, gravity=GRAVITY):
    """A step of XPBD. Args: blocks: a list of (indices, function of x, compliance (m, m)). Returns: new x, and x."""
    new = np.where(w[:, None] > 0, 2 * x - before + h * h * np.array([0, 0, -gravity]), x)
    multipliers = [np.zeros(len(compliance)) for *_, compliance in blocks]
    for _ in range(iterations):
        for k, (i, function, compliance) in enumerate(blocks):
            C, J = function(new[i])
            new[i], multipliers[k] = project(new[i], w[i], C, J, compliance / h**2, multipliers[k])
    return new, x


def rope_blocks(n, compliance):
    """Blocks of a rope of n sticks and 1 m."""
    return [([j, j + 1], lambda x: stick(x, 1 / n), np.array([[compliance]])) for j in range(n)]


def rope(n, compliance, at=None, **options):
    """A rope of n sticks and 1 m in verletlab, pinned at its first particle. Args: at: positions; None to hang."""
    particles = pbd.Particles(gravity=(0, 0, -GRAVITY))
    x = np.outer(np.arange(n + 1) / n, [0, 0, -1]) if at is None else at
    particles.add_particles(x, mass=[np.inf, *np.ones(n)])
    particles.add_sticks([(j, j + 1) for j in range(n)], length=1 / n, compliance=compliance)
    return pbd.ParticleSystem(particles, **options)


def stretch_of_a_weight(iterations, h, keep, factor=None, compliance=1e-4):
    """How far 1 kg stretches a stick when it rests [m].

    Args: keep: whether λ is kept over the iterations; factor: by which Jakobsen's move is multiplied, without λ.
    """
    stretch, moved = 0.0, 0.0
    for _ in range(10_000):
        C, before, multiplier, softness = stretch + GRAVITY * h * h, stretch, 0.0, compliance / h**2
        for _ in range(iterations):
            change = -(C + softness * multiplier) / (1 + softness) if factor is None else -factor * C
            C, multiplier = C + change, multiplier + change if keep else 0.0
        stretch, moved = C, abs(C - before)
        if moved < 1e-12 * GRAVITY * h * h:
            break
    return stretch


def swing(h, time, damping=None, compliance=1 / (2 * np.pi) ** 2):
    """Height of 1 kg on a stick in verletlab that lets it swing once a second, from 0.1 m (steps + 1,) [m].

    Args: damping: τ [s]; None for none.
    """
    particles = pbd.Particles(gravity=(0, 0, 0))
    particles.add_particles([(0, 0, 0), (0, 0, 2.1)], mass=[np.inf, 1])
    if damping is None:
        particles.add_stick(0, 1, length=2, compliance=compliance)
    else:
        particles.add_constraints(with_damping(STICK), [(0, 1)], compliance, length=[2], damping=[damping])
    system = pbd.ParticleSystem(particles, dt=h, iterations=1)
    path = [0.1]
    for _ in range(round(time / h)):
        system.step()
        path.append(system.positions()[1, 2] - 2)
    return np.array(path)


STRIP = pbd.Fabric(warp=100.0, weft=100.0, shear=30.0, density=0.2)  # 1 m of it stretches by 1 % by its own weight
STICKS, SOFT = 20, 0.01 / (210 * GRAVITY)  # of the rope; its compliance [m/N], with which it stretches by 1 %


def strip(rows=20, width=0.1, **options):
    """A strip of fabric of 1 m in verletlab, which hangs by one side."""
    z, y = np.meshgrid(-np.arange(rows + 1) / rows, [0, width], indexing="ij")
    x = np.stack([0 * y, y, z], axis=-1).reshape(-1, 3)
    triangles = [t for j in range(0, 2 * rows, 2) for t in ((j, j + 1, j + 2), (j + 1, j + 3, j + 2))]
    masses = np.full(len(x), STRIP.density * width / rows / 2)
    masses[-2:] /= 2
    particles = pbd.Particles(gravity=(0, 0, -GRAVITY))
    particles.add_particles(x, mass=[np.inf, np.inf, *masses[2:]])
    particles.add_membrane(triangles, STRIP, warp=(0, 0, 1))
    return pbd.ParticleSystem(particles, **options)


def lengthening(system, steps=1500):
    """How far the lowest particle has come down when the system rests [m]."""
    start = system.positions()[-1, 2]
    system.damping = 0.05
    system.step(steps)
    return start - system.positions()[-1, 2]


def draw_weight():
    """Draw how far a weight stretches a stick at rest, over the iterations, in three methods."""
    figure, (axis,) = figure_of(1, row=2.4)
    counts = np.arange(1, 13)
    ways = [("Jakobsen's move, halved", False, 0.5), ("α, λ forgotten", False, None), ("α, λ kept (XPBD)", True, None)]
    for number, (name, keep, factor) in enumerate(ways):
        for h, line in ((FRAME, "o-"), (FRAME / 4, "s--")):
            stretches = [1e3 * stretch_of_a_weight(int(count), h, keep, factor) for count in counts]
            label = f"{name}, 1/{round(1 / h)} s"
            axis.semilogy(counts, stretches, line, color=f"C{number}", label=label, markersize=3.5)
    axis.set(xlabel="iterations", ylabel="stretch [mm]", ylim=(1e-4, 10))
    figure.legend(loc="outside upper center", ncols=2, fontsize=7.5)
    return figure


def draw_swing():
    """Draw the vibration of a weight on a compliant stick, for two steps, without and with damping of its own."""
    figure, axes = figure_of(2, row=1.5)
    for axis, damping in zip(axes, (None, 0.05)):
        for h in (1 / 60, 1 / 240):
            path = swing(h, 4, damping)
            axis.plot(h * np.arange(len(path)), path, label=f"step 1/{round(1 / h)} s")
        t = np.linspace(0, 4, 400)
        rate = (damping or 0) * (2 * np.pi) ** 2 / 2
        axis.plot(t, 0.1 * np.exp(-rate * t), "k:", linewidth=1, label="amplitude of the law")
        axis.set(ylabel="τ = 0.05 s [m]" if damping else "no τ [m]")
    axes[0].legend(ncols=3, loc="upper right", fontsize=7.5)
    axes[0].set(ylim=(-0.13, 0.16))
    axes[1].set(xlabel="time [s]")
    return figure


def draw_triangle():
    """Draw a triangle at rest and deformed, with its threads a and b."""
    figure, (axis,) = figure_of(1, row=1.8)
    rest = np.array([[0, 0, 0], [1.4, 0.2, 0], [0.4, 1.2, 0]])
    sides = rest[1:, :2] - rest[0, :2]
    inverse = np.linalg.inv(sides)
    threads = np.concatenate([-inverse.sum(axis=1, keepdims=True), inverse], axis=1)
    now = np.array([[2.6, 0, 0], [4.3, 0.0, 0], [3.5, 1.25, 0]])
    for corners, title in ((rest, "at rest"), (now, "now")):
        around = np.append(corners, corners[:1], axis=0)
        axis.fill(around[:, 0], around[:, 1], color="0.93")
        axis.plot(around[:, 0], around[:, 1], color="0.45", linewidth=1.2)
        place = corners.mean(axis=0) + [-0.25, -0.2, 0]
        for number, (arrow, name) in enumerate(zip(threads @ corners, "ab")):
            arrow_tip = place + 0.6 * arrow
            style = {"arrowstyle": "-|>", "color": f"C{number}", "linewidth": 1.8, "shrinkA": 0, "shrinkB": 0}
            axis.annotate("", arrow_tip[:2], place[:2], arrowprops=style)
            axis.annotate(f"{name}, {np.linalg.norm(arrow):.2f}", arrow_tip[:2], (4, 2), textcoords="offset points",
                          color=f"C{number}")  # fmt: skip
        axis.annotate(title, corners[0, :2], (0, -14), textcoords="offset points")
    axis.set(aspect="equal", xlim=(-0.2, 4.9), ylim=(-0.3, 1.4), xticks=[], yticks=[])
    axis.grid(visible=False)
    for side in axis.spines.values():
        side.set_visible(False)
    return figure


def table():
    """Stretch of verletlab's rope and strip, which is one part in a hundred, by substeps and iterations."""
    rows = []
    for way in [(1, 1), (1, 10), (1, 100), (1, 1000), (10, 1), (10, 10), (100, 1), None]:
        options = {"substeps": way[0], "iterations": way[1]} if way else {"solve": "direct"}
        ratio = f"{SOFT / (FRAME / way[0]) ** 2:.3g}" if way else ""
        measured = lengthening(rope(STICKS, SOFT, dt=FRAME, **options))
        rows.append(["rope", f"{way[0]} × {way[1]}" if way else "direct", ratio, f"{100 * measured:.3f} %"])
    ways = [("iterative", 1, 10), ("iterative", 1, 1000), ("iterative", 10, 10), ("together", 1, 2)]
    for elements, substeps, iterations in ways:
        measured = lengthening(strip(dt=FRAME, substeps=substeps, iterations=iterations, elements=elements))
        way = "together, " if elements == "together" else ""
        rows.append(["strip", f"{way}{substeps} × {iterations}", "", f"{100 * measured:.3f} %"])
    return ["what", "substeps × iterations", "α m/h²", "stretch"], rows
