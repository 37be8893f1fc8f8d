"""Rigid bodies as frames of particles, for docs/course/frames.md."""

import numpy as np

import pbd
import rigid
from scenes.comparison.report.figure import INK, figure_of

CORNERS = np.array([(1, 1, 1), (1, -1, -1), (-1, 1, -1), (-1, -1, 1)], float)
STICKS = np.array([(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)])
SIZE, MASS = np.array([0.4, 0.2, 0.1]), 2.0  # of the box here [m, kg]
NO_JOINTS = np.zeros((0, 3))
H, SPEED = 0.01, 2.0  # step [s], speed at which it meets the floor [m/s]
PLACES = {"corner": (1, 1, -1), "middle of an edge": (1, 0, -1), "middle of a face": (0, 0, -1)}  # halves of SIZE


def inertia_of_box(mass=MASS, size=SIZE):
    """Inertia (3, 3) of a uniform box about its centre of mass [kg m²]."""
    square = np.asarray(size, float) ** 2
    return mass / 12 * np.diag(square.sum() - square)


def second_moments(inertia):
    """S = ∫ x xᵀ dm (3, 3) [kg m²]."""
    return np.trace(inertia) / 2 * np.eye(3) - inertia


def frame(mass, inertia, joints=NO_JOINTS, each=0.0):
    """Particles of a body: places from its centre of mass (4 + n, 3) [m], and masses. Args: each: mass of a joint's."""
    rest = mass - each * len(joints)
    centre = -each * joints.sum(axis=0) / rest
    left = second_moments(inertia) - each * joints.T @ joints - rest * np.outer(centre, centre)
    values, axes = (array[..., ::-1] for array in np.linalg.eigh(left))
    axes = axes * (1, 1, np.linalg.det(axes))  # right-handed, so that no tetrahedron is a mirror image
    corners = centre + CORNERS * np.sqrt(values / rest) @ axes.T
    return np.concatenate([corners, joints]), np.array(4 * [rest / 4] + len(joints) * [each])


def weights(corners, point):
    """The c (4,) of point = Σ c_k x_k, Σ c_k = 1."""
    return np.linalg.solve(np.vstack([corners.T, np.ones(4)]), np.append(point, 1))


def move_point(x, w, c, way):
    """Particles (n, 3) after one impulse at Σ c_k x_k that moves this point by `way`. Args: w: inverse masses (n,)."""
    return x + np.outer(c * w, way) / (c * c * w).sum()


def move_body(x, m, point, impulse):
    """Particles (n, 3) of one rigid body after an impulse at a point. Args: m: masses (n,); impulse [kg m]."""
    centre = m @ x / m.sum()
    arms = x - centre
    second = (m[:, None] * arms).T @ arms
    inertia = np.trace(second) * np.eye(3) - second
    turn = np.linalg.solve(inertia, np.cross(point - centre, impulse))
    return x + impulse / m.sum() + np.cross(turn, arms)


def retold(x, c, way):
    """The retold page's formula: its λ = (p - q)·Δ/(Σ c² Δ²) with Δ = q - p, and no masses."""
    return x - np.outer(c, way) / (c * c).sum()


def as_body(x, m, moved):
    """Particles (n, 3) if what moved them turns and moves them as one body, to first order: their sticks restored."""
    centre = m @ x / m.sum()
    arms, ways = x - centre, moved - x
    second = (m[:, None] * arms).T @ arms
    turn = np.linalg.solve(np.trace(second) * np.eye(3) - second, (m[:, None] * np.cross(arms, ways)).sum(axis=0))
    return x + m @ ways / m.sum() + np.cross(turn, arms)


def rounds(place, count, mover=move_point):
    """Depth of the box at a place after rounds (count + 1,), 1 at first: the point is moved out, then sticks restored.

    Sticks are restored to first order, so the box stays where it is but for the depth.
    """
    x, m = frame(MASS, inertia_of_box())
    point, up = np.array(PLACES[place]) * SIZE / 2, np.array([0, 0, 1.0])
    c, depth = weights(x, point), [1.0]
    for _ in range(count):
        moved = mover(x, 1 / m, c, depth[-1] * up) if mover is move_point else mover(x, c, depth[-1] * up)
        depth.append(depth[-1] - (c @ as_body(x, m, moved) - point) @ up)
    return np.array(depth)


def part_of_depth(place):
    """Which part of the depth a round removes, by the chapter's formula."""
    point, up = np.array(PLACES[place]) * SIZE / 2, np.array([0, 0, 1.0])
    arm, inertia = np.cross(point, up), inertia_of_box()
    loose = 1 / MASS + point @ np.linalg.solve(second_moments(inertia), point)
    return (1 / MASS + arm @ np.linalg.solve(inertia, arm)) / loose


def lengths(x):
    """Lengths of sticks (6,) [m]."""
    return np.linalg.norm(x[STICKS[:, 0]] - x[STICKS[:, 1]], axis=1)


def strain(x, start):
    """Largest error of the length of a stick [m]. Args: x, start: particles now and at the start (4, 3) [m]."""
    return np.abs(lengths(x) - lengths(start)).max()


def impact_of_particles(place, iterations):
    """A box of particles meets the floor at a place, one step. Returns: particles after and before it (4, 3) [m]."""
    x, m = frame(MASS, inertia_of_box())
    point = np.array(PLACES[place]) * SIZE / 2
    c = weights(x, point)
    start = x - (0, 0, point[2])
    particles = pbd.Particles(gravity=(0, 0, 0))
    particles.add_particles(start, m, (0, 0, -SPEED))
    particles.add_sticks(STICKS)
    particles.add_contact_point(range(4), c)
    particles.add_collider(pbd.Plane())
    system = pbd.ParticleSystem(particles, dt=H, substeps=1, iterations=iterations)
    system.step()
    return system.positions(), start


def impact_of_body(place, iterations=1):
    """The same of a body of solver "verlet", which touches with a small ball at the place."""
    point, radius = np.array(PLACES[place]) * SIZE / 2, 0.001
    model = rigid.Model(gravity=(0, 0, 0))
    body = model.add_body(mass=MASS, inertia=inertia_of_box(), position=(0, 0, radius - point[2]),
                          velocity=(0, 0, -SPEED))  # fmt: skip
    model.add_shape(body, rigid.Sphere(radius, centre=point), local=True, friction=0.0)
    model.add_shape(rigid.GROUND, rigid.Plane(), friction=0.0)
    solver = rigid.solver("verlet", model, dt=H, substeps=1, iterations=iterations, solve="iterative")
    start = solver.particle_system.positions()
    solver.step()
    return solver.particle_system.positions(), start


def flat(x):
    """Points in space (..., 3) as places on paper (..., 2)."""
    x = np.asarray(x, float)
    return np.stack([x[..., 0] + 0.55 * x[..., 1], x[..., 2] + 0.32 * x[..., 1]], axis=-1)


def plot_edges(axis, x, pairs, **style):
    """Draw lines between points. Args: x: (n, 3); pairs: (m, 2)."""
    for pair in pairs:
        axis.plot(*flat(x[list(pair)]).T, **style)


def draw_impulse():
    """Draw what both ways do to the four particles of a box that touches with a corner."""
    figure, (axis,) = figure_of(1, row=2.1)
    axis.grid(False)
    axis.axis("off")
    size = np.array((0.4, 0.3, 0.3))
    x, m = frame(MASS, inertia_of_box(MASS, size))
    point = np.array(PLACES["corner"]) * size / 2
    box = np.array([(a, b, c) for a in (-1, 1) for b in (-1, 1) for c in (-1, 1)]) * size / 2
    edges = [(i, j) for i in range(8) for j in range(i) if np.count_nonzero(box[i] != box[j]) == 1]
    c, way = weights(x, point), np.array((0, 0, 0.2))
    by_points = move_point(x, 1 / m, c, way)
    impulse = (m[:, None] * (by_points - x)).sum(axis=0)
    moved = {"Jakobsen: x + c w λ Δ": by_points, "as one rigid body": move_body(x, m, point, impulse)}
    for k, (title, now) in enumerate(moved.items()):
        aside = np.array((0.7 * k, 0, 0))
        plot_edges(axis, box + aside, edges, color="0.8", linewidth=0.8)
        plot_edges(axis, x + aside, STICKS, color="tab:blue", linewidth=0.8)
        plot_edges(axis, now + aside, STICKS, color="tab:red", linewidth=0.8, linestyle="--")
        for a, b in zip(flat(x + aside), flat(now + aside)):
            arrow = {"arrowstyle": "-|>", "color": "tab:red", "linewidth": 1.8, "shrinkA": 0, "shrinkB": 0}
            axis.annotate("", b, a, arrowprops=arrow)
            axis.plot(*a, "o", color="tab:blue", markersize=4)
        ends = flat(np.array([point, c @ now]) + aside)
        axis.annotate("", ends[1], ends[0], arrowprops={"arrowstyle": "-|>", "color": INK, "linewidth": 1.8})
        axis.annotate("p", ends[0], (5, -6), textcoords="offset points")
        longest = np.abs(lengths(now) / lengths(x) - 1).max()
        axis.annotate(f"{title}\na stick is off by up to {100 * longest:.0f} %", flat(aside) - (0, 0.31), ha="center",
                      fontsize=8)  # fmt: skip
    axis.set(aspect="equal", ylim=(-0.34, 0.34))
    return figure


def draw_rounds():
    """Draw the depth that is left after rounds, at three places, and with the sign of the retold page."""
    figure, (axis,) = figure_of(1, row=2.2)
    count = np.arange(13)
    for (place, _), mark in zip(PLACES.items(), "osd"):
        axis.semilogy(count, rounds(place, 12), mark + "-", markersize=4, label=place)
    axis.semilogy(count[:5], rounds("corner", 4, retold), "^--", color="tab:red", markersize=4,
                  label="corner, sign of the retold page")  # fmt: skip
    axis.set(xlabel="rounds: the point is moved out, then sticks are restored", ylabel="depth / depth at first")
    axis.legend()
    return figure


def draw_joints():
    """Draw two tetrahedra that share one, two and three particles."""
    figure, (axis,) = figure_of(1, row=1.5)
    axis.grid(False)
    axis.axis("off")
    base = np.array([(0.0, 0.0, 0.0), (0.15, 0.5, 0.45), (0.3, -0.4, 0.75)])
    far = np.array([(-0.9, 0.15, 0.1), (-0.75, 0.55, 0.75), (-0.6, -0.5, 0.9)])
    for k, (count, name) in enumerate(((1, "one: ball joint"), (2, "two: hinge"), (3, "three: weld"))):
        aside = np.array((2.6 * k, 0, 0))
        shared = base[:count]
        for side, colour in ((1, "tab:blue"), (-1, "tab:red")):
            own = far[: 4 - count] * (side, 1, 1) + (0.15 * (count > 1) * (1 - side), 0, 0)
            x = np.concatenate([shared, own]) + aside
            plot_edges(axis, x, STICKS, color=colour, linewidth=1)
            axis.plot(*flat(x[count:]).T, "o", color=colour, markersize=4)
        axis.plot(*flat(shared + aside).T, "o", color=INK, markersize=6)
        axis.annotate(name, flat(aside) + (0.1, -0.3), ha="center", fontsize=8.5)
    axis.set(aspect="equal", ylim=(-0.4, 1.15))
    return figure


def table():
    """How far sticks are off after one step with an impact, by iterations, for loose particles and for a body."""
    head = ["iterations", "face: sticks [mm]", "face: centre sinks [mm]", "corner: sticks [mm]",
            "corner, solver \"verlet\" [mm]"]  # fmt: skip
    rows = []
    for iterations in (1, 4, 16, 64):
        face, before = impact_of_particles("middle of a face", iterations)
        sinks = (before - face)[:, 2].mean()
        strains = [strain(face, before), sinks, strain(*impact_of_particles("corner", iterations)),
                   strain(*impact_of_body("corner", iterations))]  # fmt: skip
        rows.append([str(iterations), *(f"{1e3 * each:.2g}" if each > 1e-6 else "< 0.001" for each in strains)])
    return head, rows
