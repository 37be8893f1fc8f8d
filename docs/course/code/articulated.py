"""The articulated-body algorithm for a chain of hinges, for docs/course/articulated.md."""

from typing import NamedTuple

import numpy as np

import rigid
from rigid.rotation import rotate
from scenes.comparison.report.figure import figure_of

g = 9.81


class Chain(NamedTuple):
    """A chain of links on hinges, where all angles are zero. Link k turns about hinge k, relative to link k - 1."""

    points: np.ndarray  # on the axes of the hinges (n, 3) [m]
    directions: np.ndarray  # of these axes (n, 3)
    masses: np.ndarray  # of the links (n,) [kg]
    centres: np.ndarray  # their centres of mass (n, 3) [m]
    inertias: np.ndarray  # about these, along the world's axes (n, 3) [kg m²]
    armatures: np.ndarray  # of the hinges (n,) [kg m²]


def cross(v):
    """The matrix [v] of v × ..."""
    return np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])


def rotation(n, angle):
    """The matrix of a rotation about n."""
    return np.eye(3) + np.sin(angle) * cross(n) + (1 - np.cos(angle)) * cross(n) @ cross(n)


def spatial_inertia(mass, c, Ic):
    """The inertia (6, 6) of a body for motions and forces at the origin. Args: mass; c: its centre; Ic: about c."""
    C = cross(c)
    return np.block([[mass * np.eye(3), -mass * C], [mass * C, Ic - mass * C @ C]])


def pose_of_link(chain, q, link):
    """Forward kinematics: R and t of a link. Its points y of q = 0 are at R y + t."""
    R, t = np.eye(3), np.zeros(3)
    for k in range(link + 1):
        turn = rotation(chain.directions[k], q[k])
        R, t = R @ turn, t + R @ (chain.points[k] - turn @ chain.points[k])
    return R, t


def links_at(chain, q, u):
    """Outward: axes s (n, 6), inertias (n, 6, 6), bias forces (n, 6), carried accelerations (n, 6) of all links."""
    R, t, V = np.eye(3), np.zeros(3), np.zeros(6)  # of the ground; a link has its points y of q = 0 at R y + t
    axes, inertias, biases, carried = [], [], [], []
    for k, turn in enumerate(map(rotation, chain.directions, q)):
        p, n = R @ chain.points[k] + t, R @ chain.directions[k]
        R, t = R @ turn, t + R @ (chain.points[k] - turn @ chain.points[k])
        s = np.concatenate([np.cross(p, n), n])
        V = V + s * u[k]
        v, w = V[:3], V[3:]
        carried.append(u[k] * np.concatenate([np.cross(w, s[:3]) + np.cross(v, n), np.cross(w, n)]))
        c, Ic = R @ chain.centres[k] + t, R @ np.diag(chain.inertias[k]) @ R.T
        f = chain.masses[k] * (np.cross(w, v + np.cross(w, c)) + [0, 0, g])
        biases.append(np.concatenate([f, np.cross(w, Ic @ w) + np.cross(c, f)]))
        axes.append(s)
        inertias.append(spatial_inertia(chain.masses[k], c, Ic))
    return tuple(map(np.array, (axes, inertias, biases, carried)))


def eliminate(axes, inertias, biases, carried, efforts, armatures):
    """The rates x of all hinges. Link k has the motion A_k = A_(k-1) + carried[k] + axes[k] x_k."""
    IA, b, n = inertias.copy(), biases.copy(), len(axes)
    U, D, e, x, A = np.zeros((n, 6)), np.zeros(n), np.zeros(n), np.zeros(n), np.zeros(6)
    for k in reversed(range(n)):  # inward: articulated inertias and biases
        U[k] = IA[k] @ axes[k]
        D[k] = axes[k] @ U[k] + armatures[k]
        e[k] = efforts[k] - axes[k] @ b[k]
        if k > 0:
            behind = IA[k] - np.outer(U[k], U[k]) / D[k]
            IA[k - 1] += behind
            b[k - 1] += b[k] + behind @ carried[k] + U[k] * e[k] / D[k]
    for k in range(n):  # outward: rates
        A = A + carried[k]
        x[k] = (e[k] - U[k] @ A) / D[k]
        A = A + axes[k] * x[k]
    return x


def accelerations(chain, q, u, torques):
    """Accelerations of all hinges [rad/s²]."""
    return eliminate(*links_at(chain, q, u), torques, chain.armatures)


def mass_matrix(chain, q):
    """M(q) of the energy uᵀ M u/2: M_ij is s_i · I s_j, with the inertia I of all links that both hinges move."""
    axes, inertias, _, _ = links_at(chain, q, 0 * q)
    moved = np.cumsum(inertias[::-1], axis=0)[::-1]
    n = range(len(q))
    return np.array([[axes[i] @ moved[max(i, j)] @ axes[j] for j in n] for i in n]) + np.diag(chain.armatures)


def response(chain, q, link, impulse):
    """Changes of all speeds by an impulse (6,) on a link, M⁻¹ Jᵀ times the impulse, in linear time."""
    axes, inertias, _, zero = links_at(chain, q, 0 * q)
    biases = zero.copy()
    biases[link] = -impulse
    return eliminate(axes, inertias, biases, zero, 0 * q, chain.armatures)


def step_of_momenta(chain, q, u, V, torques, h):
    """A step as verletlab makes it, for hinges with one direction: speeds from momenta, not from accelerations.

    Args: V: velocities of the links, of centres and angular, from the step before (n, 6). Returns: q, u, V.
    """
    axes, inertias, _, zero = links_at(chain, q, 0 * q)
    centres = inertias[:, [5, 3, 4], [1, 2, 0]] / chain.masses[:, None]  # m [c] is a block of the inertia
    free = V[:, :3] - [0, 0, h * g] + np.cross(centres, V[:, 3:])  # velocities at the origin
    momenta = np.einsum("kij,kj->ki", inertias, np.hstack([free, V[:, 3:]]))
    u = eliminate(axes, inertias, -momenta, zero, h * torques + chain.armatures * u, chain.armatures)
    V = np.cumsum(axes * u[:, None], axis=0)
    return q + h * u, u, np.hstack([V[:, :3] + np.cross(V[:, 3:], centres), V[:, 3:]])


# In verletlab ---------------------------------------------------------------------------------------------------------


def model_of(chain, motors):
    """The chain as a rigid.Model. Args: motors: of all hinges, rigid.Motor or None."""
    model, parent = rigid.Model(gravity=(0, 0, -g)), rigid.GROUND
    for k, motor in enumerate(motors):
        link = model.add_body(mass=chain.masses[k], inertia=chain.inertias[k], position=chain.centres[k])
        model.add_hinge(
            parent, link, chain.points[k], chain.directions[k], armature=chain.armatures[k], motor=motor, name=f"q{k}"
        )
        parent = link
    return model


def angles(solver):
    """Angles of all hinges of a solver (n,) [rad]."""
    found = solver.joint_positions()
    return np.array([found[joint.name] for joint in solver.model.joints])


def rods(count, bend=0.0):
    """Thin rods of 1 kg and 1 m, from the origin along x, each turned by an angle about y from the last."""
    turns = bend * np.arange(count)
    along = np.stack([np.cos(turns), np.zeros(count), -np.sin(turns)], axis=1)
    ends = np.cumsum(along, axis=0)
    inertias = (1 - along**2) / 12 + 1e-9
    return Chain(
        ends - along, np.tile([0.0, 1.0, 0.0], (count, 1)), np.ones(count), ends - along / 2, inertias, np.zeros(count)
    )


def arm(load):
    """A robot arm of six hinges, stretched along x, with a load at its hand [kg], 0.1 m beside the last axis."""
    points = np.array([[0, 0, 0], [0, 0, 0.4], [0.5, 0, 0.4], [0.75, 0, 0.4], [0.9, 0, 0.4], [1.0, 0, 0.4]])
    ends = np.vstack([points[1:], [[1.2, 0, 0.4]]])
    masses = np.array([4, 3.5, 2, 0.8, 0.5, load])
    sizes = np.where(ends > points, ends - points, 0.1)  # boxes
    inertias = masses[:, None] / 12 * (np.sum(sizes**2, axis=1, keepdims=True) - sizes**2)
    centres = (points + ends) / 2
    centres[-1, 1] = 0.1
    directions = np.eye(3)[[2, 1, 1, 0, 1, 0]]
    return Chain(points, directions, masses, centres, inertias, np.array([0.5, 0.5, 0.3, 0.05, 0.05, 0.05]))


def hanging_chain(links):
    """Rods of half a metre that hang below one another."""
    model, parent = rigid.Model(gravity=(0, 0, -g)), rigid.GROUND
    for k in range(links):
        rod = model.add_box((0.05, 0.05, 0.5), mass=1.0, position=(0, 0, -0.5 * k - 0.25))
        model.add_hinge(parent, rod, (0, 0, -0.5 * k), (0, 1, 0))
        parent = rod
    return model


def energy_of_a_whip(h, **options):
    """Energy over the start [m g L] of five rods that are let go level, at each of 10 s, with "articulated"."""
    solver = rigid.solver("articulated", model_of(rods(5), 5 * [None]), dt=h, **options)
    start, found = solver.energy().total, []
    for _ in range(10):
        solver.step(round(1 / h))
        found.append((solver.energy().total - start) / (5 * g * 5))
    return np.array(found)


# Figures and table ----------------------------------------------------------------------------------------------------


def mass_at_the_start(chain):
    """The matrix (3, 3) that a force at the first hinge meets, if that hinge is at the origin [kg]."""
    axes, inertias, _, _ = links_at(chain, np.zeros(len(chain.masses)), np.zeros(len(chain.masses)))
    behind = np.zeros((6, 6))
    for s, inertia in zip(axes[::-1], inertias[::-1]):
        IA = inertia + behind
        behind = IA - np.outer(IA @ s, IA @ s) / (s @ IA @ s)
    return behind[:3, :3]


def draw_masses():
    """Draw the mass that a force at the first hinge meets, over its direction."""
    figure, (axis,) = figure_of(1, row=1.9)
    around = np.linspace(0, 2 * np.pi, 121)
    n = np.stack([np.cos(around), np.sin(around)])
    for place, (count, bend) in zip((0.0, 5.2, 12.4), ((1, 0.0), (3, 0.0), (3, np.pi / 4))):
        chain = rods(count, bend)
        ends = np.vstack([chain.points, 2 * chain.centres[-1:] - chain.points[-1:]])[:, [0, 2]]
        axis.plot(place + ends[:, 0], ends[:, 1], "o-", color="#9aa3ad", linewidth=3, markersize=4, zorder=1)
        mass = mass_at_the_start(chain)[np.ix_([0, 2], [0, 2])]
        r = np.sum(n * (mass @ n), axis=0)
        axis.plot(place + r * n[0], r * n[1], color="C0")
        low, high = np.linalg.eigvalsh(mass)
        axis.text(place, 1.25 + (high > 2) * 1.2, f"{low:.3f} to {high:.3f} kg", ha="center")
    axis.plot([], [], color="C0", label="mass over the direction of the acceleration")
    axis.plot([], [], "o-", color="#9aa3ad", linewidth=3, markersize=4, label="rods of 1 kg on hinges")
    axis.set(aspect="equal", xlim=(-3.2, 15.8), ylim=(-2.1, 2.9), xticks=[], yticks=[])
    axis.spines[:].set_visible(False)
    axis.legend(loc="upper left", bbox_to_anchor=(0, 1.2), ncols=2, frameon=False)
    return figure


def draw_iterations():
    """Draw how many iterations "impulse" needs for a chain that hangs, over its links."""
    figure, (axis,) = figure_of(1, row=1.9)
    counts = 2 ** np.arange(1, 6)
    found = []
    for links in counts:
        solver = rigid.solver("impulse", hanging_chain(links), dt=0.01, iterations=10**5, tolerance=1e-6,
                              warm_start=False)  # fmt: skip
        solver.step()
        found.append(int(solver.statistics().iterations))
    axis.loglog(counts, found, "o-", label="impulse, without warm start: iterations")
    axis.loglog(counts, 3.5 * counts**2, "k:", linewidth=0.8, label="proportional to links²")
    axis.loglog(counts, np.ones(5), "s-", label="articulated: passes")
    axis.set(xlabel="links of a hanging chain", ylabel="iterations, passes")
    axis.set_xticks(counts, counts)
    axis.minorticks_off()
    axis.legend()
    return figure


def exact_fall(chain, time, steps):
    """Angles of the chain after a fall from rest [rad], by the classical Runge-Kutta method of fourth order."""
    n = len(chain.masses)

    def rate(y):
        return np.concatenate([y[n:], accelerations(chain, y[:n], y[n:], np.zeros(n))])

    y, h = np.zeros(2 * n), time / steps
    for _ in range(steps):
        a = rate(y)
        b = rate(y + h / 2 * a)
        c = rate(y + h / 2 * b)
        y = y + h / 6 * (a + 2 * b + 2 * c + rate(y + h * c))
    return y[:n]


def widest_gap(solver):
    """The widest gap of all hinges [m]."""
    state, gaps = solver.state(warm_start=False), []
    for joint in solver.model.joints:
        ends = [joint.parent_anchor] if joint.parent == rigid.GROUND else []
        for body, anchor in ((joint.parent, joint.parent_anchor), (joint.child, joint.child_anchor)):
            if body != rigid.GROUND:
                ends.append(rotate(state.rotation[body], anchor) + state.position[body])
        gaps.append(np.linalg.norm(ends[1] - ends[0]))
    return max(gaps)


GAINS = dict.fromkeys(("stiffness", "damping", "angular_stiffness", "angular_damping"))  # as stiff as is stable
SOLVERS = {
    "articulated": ("articulated", 1, {}),
    "verlet": ("verlet", 1, {}),
    "impulse, 50 iterations": ("impulse", 1, {}),
    "impulse, 500 iterations": ("impulse", 1, {"iterations": 500}),
    "impulse, 10 substeps of 5 iterations": ("impulse", 10, {"iterations": 5}),
    "penalty, 40 substeps": ("penalty", 40, GAINS),
}


def fall(solver):
    """Let an arm fall for 0.5 s. Returns: the centre of its load (3,), and the widest gap of a hinge [m]."""
    gap = 0.0
    for _ in range(100):
        solver.step()
        gap = max(gap, widest_gap(solver))
    return solver.state(warm_start=False).position[-1], gap


def sag(name, options, chain):
    """How far the load of an arm sinks in 1 s, whose motors hold the starting pose [m]; None if the solver refuses."""
    try:
        solver = rigid.solver(name, model_of(chain, 6 * [rigid.Motor(position=0.0)]), dt=0.005, **options)
    except ValueError:
        return None
    solver.step(200)
    return np.linalg.norm(solver.state(warm_start=False).position[-1] - chain.centres[-1])


def millimetres(length):
    """A length as text, two digits; 0 below 0.2 µm."""
    return "refused" if length is None else "0" if length < 2e-7 else f"{float(f'{1e3 * length:.2g}'):g}"


def table():
    """Errors of all solvers for an arm at 5 ms: a fall, and motors that hold a load."""
    light, heavy = arm(5.0), arm(50.0)
    R, t = pose_of_link(light, exact_fall(light, 0.5, 150), 5)
    exact = R @ light.centres[-1] + t
    rows = []
    for label, (name, substeps, options) in SOLVERS.items():
        options = {"substeps": substeps, **options}
        end, gap = fall(rigid.solver(name, model_of(light, 6 * [None]), dt=0.005, **options))
        lengths = np.linalg.norm(end - exact), gap, sag(name, options, light), sag(name, options, heavy)
        rows.append([label, *map(millimetres, lengths)])
    head = ["solver", "error after a fall", "widest gap", "5 kg sink by", "50 kg sink by"]
    return [head[0], *(f"{title} [mm]" for title in head[1:])], rows
