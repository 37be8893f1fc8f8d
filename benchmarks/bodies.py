"""Speed of ragdolls, chains and piles of bodies."""

import math
import time

import numpy as np

import pbd
import rigid
from benchmarks.timing import fastest, row
from pbd import build
from rigid.build import ragdoll
from rigid.constraints.joints.gaps import joint_gaps, limit_violations
from rigid.constraints.joints.positions import JointPositions
from rigid.joints import NO_LIMITS
from scenes.registry import load

# Options of a ragdoll on a floor: about as many iterations as its scene makes in a substep.
LYING = {
    "verlet": {"iterations": 10, "direction": "current", "solve": "iterative"},
    "impulse": {"iterations": 20, "tolerance": 0.0},
    "articulated": {"iterations": 20, "tolerance": 0.0},
    "penalty": {"substeps": 64},
}
AT_REST = 0.05  # speed below which a ragdoll counts as at rest [m/s]


def lying_ragdoll(solver="verlet", **options):
    """Make a solver of a ragdoll of eleven capsules that lies on the floor. Args: solver: its name; options."""
    model = rigid.Model()
    model.add_ground()
    ragdoll(model, position=(0, 0, 0.3), rotation=(0.8, 0.1, 0.6, 0))
    if solver == "penalty":  # its limits must be below 90°
        remove_limits(model)
    made = rigid.solver(solver, model, dt=1 / 60, **{**LYING[solver], **options})
    made.step(300)
    return made


def remove_limits(model):
    """Remove the limits of all joints of a ragdoll. Args: model."""
    for joint in model.joints:
        for name in joint.limit_names or ("swing_limit", "twist_limits"):
            setattr(joint, name, math.inf if name == "swing_limit" else NO_LIMITS)


def launches(steps=200, repeats=15):
    """Processor time of `step(1)` in parts of its share of many steps, for each solver: a ragdoll on a floor.

    Args: steps: how many; repeats: how often, in turn; the least times count.
    """
    for name in LYING:
        solver = lying_ragdoll(name)
        start, seconds = solver.state(), {1: [], steps: []}
        for _ in range(repeats):
            for count, found in seconds.items():
                solver.set_state(start)
                before = time.process_time()
                for _ in range(steps // count):
                    solver.step(count)
                found.append(time.process_time() - before)
        single, share = (1e6 * min(found) / steps for found in seconds.values())
        yield row("launches", f"ragdoll {name} step(1)", single, "µs/step", solver.digest())
        yield row("launches", f"ragdoll {name} step({steps})", share, "µs/step")
        yield row("launches", f"ragdoll {name} step(1) to its share", single / share, "ratio")


def frame_of_ragdoll(repeats=5):
    """Processor time of a frame of the scene `ragdoll`, beside many iterated substeps, and what it leaves.

    Args: repeats: how often each is measured, in turn.
    """
    scene = load("ragdoll")
    direct = scene.settings["verlet"]
    iterated = {**direct, "substeps": 16, "iterations": 10, "solve": "iterative", "tolerance": None}
    iterated["direction"] = "current"  # the robust one where joints are iterated
    solvers = {
        "16 substeps of 10 iterations": rigid.solver("verlet", scene.model, **iterated),
        "settings of the scene": rigid.solver("verlet", scene.model, **direct),
    }
    frames = round(scene.duration / direct["dt"])
    starts = {case: solver.state() for case, solver in solvers.items()}
    found, coordinates = {}, JointPositions(scene.model)
    for case, solver in solvers.items():
        limits, gaps, moved = [], [], 0
        for frame in range(frames):
            solver.step(1)
            state = solver.state()
            limits.append(np.abs(limit_violations(scene.model, coordinates.positions(state))).max())
            gaps.append(joint_gaps(scene.model, state).max())
            moved = frame + 1 if np.linalg.norm(state.velocity, axis=-1).max() > AT_REST else moved
        yield row("frame", f"{case} limits", math.degrees(max(limits)), "degrees", solver.digest())
        yield row("frame", f"{case} joints", 1e3 * max(gaps), "mm")
        yield row("frame", f"{case} at rest after", moved * direct["dt"], "s")
        found[case] = []
    for _ in range(repeats):
        for case, solver in solvers.items():
            solver.set_state(starts[case])
            before = time.process_time()
            solver.step(frames)
            found[case].append(time.process_time() - before)
    seconds = {case: min(times) / frames for case, times in found.items()}
    for case, each in seconds.items():
        yield row("frame", f"{case} time", 1e6 * each, "µs/frame", solvers[case].digest())
    many, few = seconds.values()
    yield row("frame", "ratio of the times", few / many, "ratio")


def ragdolls(worlds=100, pile=50, iterations=10):
    """Ragdolls on a floor with "verlet": one, in many worlds, and a pile; and a figure of particles."""
    solver = lying_ragdoll(iterations=iterations)
    seconds = fastest(lambda: [solver.step() for _ in range(1000)], 3)
    yield row("ragdoll", "step(1)", seconds * 1e3, "µs/step", solver.digest())
    yield row("ragdoll", "step(1000)", fastest(lambda: solver.step(1000)) * 1e3, "µs/step", solver.digest())

    particles = pbd.Particles()
    build.figure(particles)
    particles.add_collider(pbd.Plane(), friction=0.5)
    system = pbd.ParticleSystem(particles, dt=1 / 60, iterations=iterations)
    system.step(300)
    yield row("ragdoll", "figure step(1000)", fastest(lambda: system.step(1000)) * 1e3, "µs/step", system.digest())

    solver = lying_ragdoll(worlds=worlds, iterations=iterations)
    rate = 100 * worlds / fastest(lambda: solver.step(100))
    yield row("ragdoll", f"{worlds} worlds", rate, "ragdoll-steps/s", solver.digest())

    # Direction "current", as in the scenes: with "start" a pile diverges with so few iterations.
    model = load("ragdoll_pile", count=pile).model
    solver = rigid.solver("verlet", model, dt=1 / 60, iterations=iterations, direction="current", solve="iterative")
    solver.step(240)
    yield row("ragdoll", f"pile of {pile}", fastest(lambda: solver.step(20), 3) * 50, "ms/step", solver.digest())


def impulses(worlds=100):
    """The solver "impulse": a chain of five rods, a ragdoll on a floor, one and many, and a pyramid of 55 boxes."""

    def after(steps, name, worlds=1, **options):
        solver = rigid.solver("impulse", load(name).model, worlds=worlds, **options)
        solver.step(steps)
        return solver

    for case, options in (("10 iterations", {"iterations": 10, "tolerance": 0.0}), ("to 1e-6", {"iterations": 1000})):
        # It starts level each time, because a chain that hangs at rest needs one iteration only.
        solver = after(1, "five_link_chain", dt=0.01, **options)
        start = solver.state()

        def swing(solver=solver, start=start):
            solver.set_state(start)
            solver.step(1000)

        yield row("impulse", f"chain of 5 {case} step(1000)", fastest(swing) * 1e3, "µs/step", solver.digest())
    options = {"dt": 1 / 60, "iterations": 20, "tolerance": 0.0}
    solver = after(300, "ragdoll", **options)
    seconds = fastest(lambda: solver.step(1000))
    yield row("impulse", "ragdoll 20 iterations step(1000)", seconds * 1e3, "µs/step", solver.digest())
    solver = after(300, "ragdoll", worlds, **options)
    rate = 20 * worlds / fastest(lambda: solver.step(20))
    yield row("impulse", f"ragdoll {worlds} worlds", rate, "ragdoll-steps/s", solver.digest())
    solver = after(60, "pyramid", **options)
    yield row("impulse", "pyramid of 55 boxes", fastest(lambda: solver.step(20)) * 50, "ms/step", solver.digest())


def rods(links, worlds=1):
    """Make an "articulated" solver of a chain of rods without friction that starts level."""
    model, before = rigid.Model(), rigid.GROUND
    for k in range(links):
        rod = model.add_box((0.5, 0.05, 0.05), mass=1.0, position=(0.5 * k + 0.25, 0, 0))
        model.add_hinge(before, rod, (0.5 * k, 0, 0), (0, 1, 0))
        before = rod
    solver = rigid.solver("articulated", model, dt=0.001, worlds=worlds, contacts=False)
    solver.step()
    return solver


def trees(worlds=10_000):
    """The solver "articulated": chains with different numbers of rods, one and many, and a ragdoll on a floor."""
    solver = rods(5)
    seconds = fastest(lambda: [solver.step() for _ in range(1000)], 3)
    yield row("articulated", "chain of 5 step(1)", seconds * 1e3, "µs/step", solver.digest())
    for links in (5, 20, 100, 400):
        solver = rods(links)
        steps = 4000 // links
        seconds = fastest(lambda solver=solver, steps=steps: solver.step(steps))
        yield row("articulated", f"chain of {links}", seconds / steps * 1e6, "µs/step", solver.digest())
    solver = rods(5, worlds)
    rate = 50 * worlds / fastest(lambda: solver.step(50), 3)
    yield row("articulated", f"chain of 5 {worlds} worlds", rate, "chain-steps/s", solver.digest())
    model = load("ragdoll").model
    solver = rigid.solver("articulated", model, dt=1 / 60, iterations=20, tolerance=0.0)
    solver.step(300)
    seconds = fastest(lambda: solver.step(1000), 3)
    yield row("articulated", "ragdoll 20 iterations", seconds * 1e3, "µs/step", solver.digest())


def mass_ratio_error(solver, iterations, duration=2.0):
    """Measure the error of a solver in the scene high_mass_ratio with steps of 1/240 s.

    The error is the largest over time of two: the change of height of the heavy box, relative to its height, and the
    stretch of the chain with the heavy ball, relative to its length. It is near 1 if the stack falls.

    Args: solver: its name; iterations: per substep; duration: [s].

    Returns: the error, and the solver at the end.
    """
    model = load("high_mass_ratio").model
    box, ball = model.body("heavy box"), model.body("ball")
    height, top = box.position[2], model.joints[0].parent_anchor
    length = np.linalg.norm(ball.position - top)
    indices = [model.bodies.index(body) for body in (box, ball)]
    options = {"direction": "current"} if solver == "verlet" else {"tolerance": 0.0}
    made, worst = rigid.solver(solver, model, dt=1 / 240, iterations=iterations, **options), 0.0
    for _ in range(round(20 * duration)):
        made.step(12)
        box_now, ball_now = made.state().position[indices]
        worst = max(worst, abs(box_now[2] - height) / height, np.linalg.norm(ball_now - top) / length - 1)
    return worst, made


def mass_ratio(solvers=("impulse", "articulated", "verlet"), counts=(5, 10, 20, 50, 100, 200)):
    """Error at a mass ratio of 100 for different numbers of iterations."""
    for solver in solvers:
        for iterations in counts:
            error, made = mass_ratio_error(solver, iterations)
            yield row("mass_ratio", f"{solver} {iterations} iterations", 100 * error, "% error", made.digest())
