"""Contact and friction of a particle on positions, for docs/course/contact.md."""

import numpy as np

import pbd
from scenes.comparison.report.figure import GRID, INK, figure_of

G, FRICTION = 9.81, 0.5  # gravity [m/s²] and μ of the slopes here
HEIGHT, RESTITUTION, H = 1.0, 0.8, 1 / 60  # of the ball that bounces [m], its e, and the step [s]


def tangent(v, normal):
    """The part of a vector at a right angle to a unit vector, (3,) each."""
    return v - (v @ normal) * normal


def shortened(v, limit):
    """A vector (3,), shortened to a length of at most `limit`."""
    length = np.linalg.norm(v)
    return v if length <= limit else v * (limit / length)


def step(x, before, a, h, normal, friction, restitution):
    """Move a particle by one step above the plane normal · x = 0. Returns: x' and x* after it (3,) [m]."""
    predicted = 2 * x - before + h * h * a
    depth = -normal @ predicted
    if depth <= 0:
        return predicted, x
    after = predicted + depth * normal
    after -= shortened(tangent(after - x, normal), friction * depth)
    return after, previous_after_impact(x, predicted, after, depth, a, h, normal, friction, restitution)


def previous_after_impact(x, predicted, after, depth, a, h, normal, friction, restitution):
    """The x* (3,) [m] by which a particle leaves the plane with e times the speed with which it came."""
    pull = -a @ normal
    speed = (x - predicted) @ normal / h + h * pull / 2
    approach = np.sqrt(max(speed**2 - 2 * pull * depth, 0))
    outgoing = restitution * approach
    if speed <= 0 or outgoing <= h * abs(pull):  # it leaves, or would be back within two steps: it rests
        return x
    slip = tangent(after - x, normal)
    slip -= shortened(slip, friction * (h * (approach + outgoing) - depth))
    return after - slip - (h * outgoing + h * h * pull / 2) * normal


def are_apart(first, second, normal, least):
    """Whether corners (n, 3) are at least this far above others (m, 3) along a unit vector."""
    return (first @ normal).min() - (second @ normal).max() >= least


def path(start, velocity, a, h, steps, normal=(0, 0, 1), friction=0.0, restitution=0.0):
    """Positions of the particle (steps + 1, 3) [m]. Args: start, velocity, a: (3,); the others: see `step`."""
    x, a, normal = (np.array(v, float) for v in (start, a, normal))
    before = x - h * np.array(velocity, float) + h * h * a / 2
    result = [x]
    for _ in range(steps):
        x, before = step(x, before, a, h, normal, friction, restitution)
        result.append(x)
    return np.array(result)


def path_of_solver(start, velocity, a, h, steps, normal=(0, 0, 1), friction=0.0, restitution=0.0):
    """The same in verletlab."""
    particles = pbd.Particles(gravity=a)
    particles.add_particle(start, mass=1.0, velocity=velocity)
    particles.add_collider(pbd.Plane(normal=normal), friction=friction, restitution=restitution)
    system = pbd.ParticleSystem(particles, dt=h, substeps=1)
    result = [np.array(start, float)]
    for _ in range(steps):
        system.step()
        result.append(system.positions()[0])
    return np.array(result)


def mirrored_path(height, h, steps, restitution):
    """Heights (steps + 1,) [m] of a ball that is put at e times its depth above the floor, its x* left as it is."""
    x, before = height, height - h * h * G / 2
    result = [x]
    for _ in range(steps):
        x, before = 2 * x - before - h * h * G, x
        x = x if x >= 0 else -restitution * x
        result.append(x)
    return np.array(result)


def bounce(times, height, restitution):
    """Height [m] at given times of a ball that falls from a height and bounces."""
    speed, begin = restitution * np.sqrt(2 * G * height), np.sqrt(2 * height / G)
    result = height - G * times**2 / 2
    while begin < times[-1]:
        since = times - begin
        result = np.where(since >= 0, speed * since - G * since**2 / 2, result)
        begin, speed = begin + 2 * speed / G, restitution * speed
    return result


def slope(angle, along=(1, 0, 0)):
    """Gravity (3,) on a slope [m/s²]. Args: angle: of the slope [rad]; along: direction in which it falls."""
    return G * (np.sin(angle) * np.array(along, float) - np.cos(angle) * np.array((0, 0, 1.0)))


def speed_with_previous_alone(angle, h, steps):
    """Speed [m/s] on a slope after some steps, if friction shortens x - x* and leaves x as it is, as Jakobsen does."""
    pull, depth = h * h * G * np.sin(angle), h * h * G * np.cos(angle)
    kept = -pull / 2  # x - x* at the start, from rest
    for _ in range(steps):
        moved = kept + pull
        kept = max(moved - FRICTION * depth, 0.0)
    return moved / h


def with_pyramid(angle, h, steps):
    """Acceleration [m/s²] down a slope between two axes, each of which has friction of its own, up to μ p."""
    x, before, a = np.zeros(3), h * h * slope(angle, (0.5**0.5, 0.5**0.5, 0)) / 2, slope(angle, (0.5**0.5, 0.5**0.5, 0))
    for _ in range(steps):
        predicted = 2 * x - before + h * h * a
        depth = -predicted[2]
        slip = predicted - x
        before = x
        x = x + np.append(slip[:2] - np.clip(slip[:2], -FRICTION * depth, FRICTION * depth), 0)
    return 2 * np.linalg.norm(x) / (h * steps) ** 2


def acceleration_of_solver(angle, h, steps):
    """Acceleration [m/s²] down a slope in verletlab, from the way since it was at rest."""
    return 2 * path_of_solver((0, 0, 0), (0, 0, 0), slope(angle), h, steps, friction=FRICTION)[-1, 0] / (h * steps) ** 2


def draw_projection():
    """Draw a particle that is predicted below a floor, its normal correction, and what friction takes of its slip."""
    figure, (axis,) = figure_of(1, row=1.9)
    axis.grid(False)
    axis.axis("off")
    axis.fill_between([-0.6, 5.2], -1.25, 0, color=GRID)
    axis.plot([-0.6, 5.2], [0, 0], color=INK, linewidth=1)
    start, predicted, depth = np.array([0.0, 0.7]), np.array([3.2, -0.8]), 0.8
    projected = np.array([3.2, 0.0])
    taken = FRICTION * depth
    axis.fill([3.2, 3.2 - 1.3 * taken, 3.2 + 1.3 * taken], [-0.8, 0.24, 0.24], color="tab:orange", alpha=0.25)
    arrows = ((start, predicted, "tab:blue"), (predicted, projected, "tab:green"),
              (projected, projected - (taken, 0), "tab:red"))  # fmt: skip
    for begin, end, colour in arrows:
        axis.annotate("", end, begin, arrowprops={"arrowstyle": "-|>", "color": colour, "shrinkA": 0, "shrinkB": 0})
    for place, name, shift in ((start, "x", (-3, 6)), (predicted, "prediction", (8, -4)),
                               (projected - (taken, 0), "x'", (-10, 5))):  # fmt: skip
        axis.plot(*place, "o", color=INK, markersize=4)
        axis.annotate(name, place, shift, textcoords="offset points")
    axis.annotate("p", (3.2, -0.42), (4, 0), textcoords="offset points", color="tab:green")
    axis.annotate("μ p", (3.0, 0), (-7, -12), textcoords="offset points", color="tab:red")
    axis.plot([0, 0], [0, 0.7], ":", color=INK, linewidth=0.8)
    both_ways = {"arrowstyle": "<->", "color": INK, "shrinkA": 0, "shrinkB": 0}
    axis.annotate("", (3.2, 0.42), (0, 0.42), arrowprops=both_ways)
    axis.annotate("slip s", (1.4, 0.5))
    axis.annotate("cone of friction", (3.75, 0.2), color="tab:orange")
    axis.set(xlim=(-0.6, 5.2), ylim=(-1.25, 0.95), aspect="equal")
    return figure


def draw_bounce():
    """Draw the height of a ball that bounces: the truth, verletlab, and one whose position is mirrored."""
    figure, (axis,) = figure_of(1, row=2.2)
    times = np.arange(181) * H
    fine = np.linspace(0, times[-1], 1001)
    axis.plot(fine, bounce(fine, HEIGHT, RESTITUTION), color="0.6", linewidth=3, label="truth")
    found = path_of_solver((0, 0, HEIGHT), (0, 0, 0), (0, 0, -G), H, 180, restitution=RESTITUTION)
    axis.plot(times, found[:, 2], ".-", markersize=2, linewidth=0.8, label="verletlab: x* after the positions")
    mirrored = mirrored_path(HEIGHT, H, 180, RESTITUTION)
    axis.plot(times, mirrored, color="tab:red", linewidth=1, label="by the position: x mirrored at the floor")
    axis.set(xlabel=f"time [s], steps of 1/60 s, e = {RESTITUTION}", ylabel="height [m]")
    axis.legend()
    return figure


def draw_slope():
    """Draw acceleration down slopes, by cone and by pyramid, and how fast a particle creeps where it should rest."""
    figure, (fast, slow) = figure_of(2, row=1.7)
    fine, angles = np.radians(np.linspace(0, 45, 400)), np.radians(np.arange(0, 46, 3))
    truth = G * np.maximum(np.sin(fine) - FRICTION * np.cos(fine), 0)
    fast.plot(np.degrees(fine), truth, color="0.6", linewidth=3, label="g (sin θ - μ cos θ)")
    found = [acceleration_of_solver(angle, H, 60) for angle in angles]
    fast.plot(np.degrees(angles), found, "o", markersize=4, label="verletlab")
    fast.plot(np.degrees(fine), [with_pyramid(angle, H, 20) for angle in fine], "--", color="tab:red",
              label="friction axis by axis, slope between both")  # fmt: skip
    fast.set(ylabel="acceleration [m/s²]")
    fast.legend()
    resting = angles[angles < np.arctan(FRICTION)]
    moved = [path_of_solver((0, 0, 0), (0, 0, 0), slope(each), H, 60, friction=FRICTION)[-1, 0] for each in resting]
    slow.plot(np.degrees(resting), 1e3 * np.array(moved), "o", markersize=4, label="verletlab")  # in one second
    slow.plot(np.degrees(resting), [1e3 * speed_with_previous_alone(angle, H, 60) for angle in resting], "s--",
              color="tab:red", markersize=4, label="friction on x* alone")  # fmt: skip
    slow.set(xlabel="slope θ [°], μ = 0.5, steps of 1/60 s", ylabel="creep [mm/s]")
    slow.legend()
    return figure


def draw_apart():
    """Draw two edges at the start and at the end of a step, with the plane between them that keeps its direction."""
    figure, (axis,) = figure_of(1, row=1.9)
    axis.grid(False)
    axis.axis("off")
    normal = np.array([0.28, 0.96])
    upper = np.array([[(0.0, 1.0), (1.2, 1.35)], [(1.5, 0.55), (2.7, 0.05)]])
    lower = np.array([[(0.1, 0.0), (0.9, 0.35)], [(1.6, -0.9), (2.6, -0.6)]])
    for edges, colour, name in ((upper, "tab:blue", "first"), (lower, "tab:red", "second")):
        for edge, line in zip(edges, ("-", "--")):
            axis.plot(*edge.T, "o" + line, color=colour, markersize=4)
        for a, b in zip(*edges):
            axis.annotate("", b, a, arrowprops={"arrowstyle": "->", "color": colour, "linewidth": 0.6})
        axis.annotate(name, edges[0, 0], (-38, -3), textcoords="offset points", color=colour)
    across = np.array([normal[1], -normal[0]])
    for time, line in ((0, "start"), (1, "end")):
        height = ((upper[time] @ normal).min() + (lower[time] @ normal).max()) / 2
        middle = upper[time].mean(axis=0)
        middle = middle + (height - middle @ normal) * normal
        ends = np.array([middle - 0.95 * across, middle + 0.95 * across])
        axis.plot(*ends.T, color=INK, linewidth=1)
        axis.annotate("", middle + 0.3 * normal, middle, arrowprops={"arrowstyle": "-|>", "color": INK})
        axis.annotate(f"n, {line}", middle + 0.95 * across, (-4, -12), textcoords="offset points")
    axis.set(xlim=(-0.8, 3.6), ylim=(-1.0, 1.5), aspect="equal")
    return figure


def table():
    """Accelerations on slopes in verletlab, by the formula, by a pyramid, and the creep of friction on x* alone."""
    head = ["slope", "verletlab [m/s²]", "g (sin θ - μ cos θ)", "axis by axis", "creep with x* alone [mm/s]"]
    rows = []
    for degrees in (20, 26, 27, 30, 36):
        angle = np.radians(degrees)
        rests = np.tan(angle) <= FRICTION
        truth = 0.0 if rests else G * (np.sin(angle) - FRICTION * np.cos(angle))
        creep = f"{1e3 * speed_with_previous_alone(angle, H, 60):.1f}" if rests else ""
        found = acceleration_of_solver(angle, H, 60)
        rows.append([f"{degrees}°", f"{found:.4f}", f"{truth:.4f}", f"{with_pyramid(angle, H, 60):.4f}", creep])
    return head, rows
