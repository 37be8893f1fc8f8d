"""Runs of one structure as the worlds of one solver: ten thousand of them cost little more than the solver itself."""

from dataclasses import replace

import numpy as np

import rigid
from pbd.core.validate import LARGEST
from rigid.collision.overlaps import Overlaps, may_overlap
from rigid.kernels.motion import bounding_radii
from rigid.worlds import structure
from scenes.comparison.measure import Reporter
from scenes.simulate.recording import Recording


def key_of(plan):
    """What runs must have in common to be worlds of one solver; None for a run that has to run alone.

    Worlds share options, steps and structure. A `control` acts on all worlds at once, and particles of all worlds have
    one environment, so runs with either of them run alone. What solvers read from the first model is in the key, too:
    gravity, which limits, springs and motors there are, and the sizes of bodies that can touch.

    Args: plan: a scenes.simulate.run.RunPlan.
    """
    scene, model = plan.scene, plan.scene.model
    if model is None or scene.particles is not None or scene.control is not None:
        return None
    if any(body.path is not None for body in model.bodies):
        return None
    touching = plan.settings.get("contacts", True) and may_overlap(model)
    shapes = [(shape.group, shape.mask, bool(shape.rolling_friction or shape.spinning_friction), shape.restitution > 0)
              for shape in model.shapes]  # fmt: skip
    return repr((
        plan.solver, sorted(plan.settings.items()), plan.steps, plan.steps_per_frame, structure(model),
        tuple(model.gravity), sorted(model.exclusions), [*map(pattern, model.joints)], shapes,
        [f"{radius:.6g}" for radius in bounding_radii(model)] if touching else (),  # without round-off
    ))  # fmt: skip


def pattern(joint):
    """Which limits, springs, motors and friction a joint has."""
    limits = [bool(np.isfinite(each)) for pair in joint.coordinate_limits() for each in pair]
    drives = [coordinate.drives(joint) for coordinate in joint.type.coordinates] or [joint]
    given = [(bool(each.friction), each.spring is None, pattern_of_motor(each.motor)) for each in drives]
    return limits, given, bool(joint.friction), joint.spring is None, joint.soft is None


def pattern_of_motor(motor):
    """What a motor controls, and whether its effort is bounded; None for no motor."""
    return motor and (motor.controls, motor.max_effort < LARGEST)


def record_side_by_side(plans):
    """Run scenes side by side and record them.

    Args: plans: RunPlans with equal keys.

    Returns: for each a Recording, whose `about` has "digest"; numbers; joint positions: as `Reporter.series`
    returns them for one world.

    Raises: what the solver raises if one of them fails.
    """
    first, models = plans[0], [plan.scene.model for plan in plans]
    with rigid.solver(first.solver, models, **first.settings) as solver:
        touching = first.settings.get("contacts", True) and may_overlap(models[0])
        reporter = Reporter(solver, Overlaps(*models) if touching else None)
        times, poses, velocities, energies, done = [], [], [], [], 0
        while True:
            state = solver.state(warm_start=False)
            times.append(solver.time)
            poses.append(np.concatenate([state.position, state.rotation], axis=-1))
            velocities.append(np.concatenate([state.velocity, state.angular_velocity], axis=-1))
            energies.append(np.stack(solver.energy(), axis=-1))
            reporter.read(state)
            if done == first.steps:
                break
            count = min(first.steps_per_frame, first.steps - done)
            solver.step(count)
            done += count
        digests = digests_of(solver, len(models))
    reports = reporter.series()
    times, empty = np.array(times), np.zeros((len(times), 0, 3))
    arrays = [np.stack(each, axis=1) for each in (poses, velocities, energies)]  # (worlds, frames, ...)
    for world, plan in enumerate(plans):
        poses, velocities, energy = (each[world] for each in arrays)
        about = {**plan.about(), "digest": digests[world]}
        recording = Recording(about, times, empty, empty, np.zeros((len(times), 0, 7)), poses, velocities, energy)
        yield recording, *({name: values[:, world] for name, values in found.items()} for found in reports)


def digests_of(solver, worlds):
    """Digests of the states of all worlds, each that of a solver of this world alone."""
    state = (solver.particle_system or solver).state()
    arrays = {name: value for name, value in vars(state).items() if np.ndim(value) > 1 and len(value) == worlds}
    of_worlds = ({name: array[world] for name, array in arrays.items()} for world in range(worlds))
    return [replace(state, **values).digest() for values in of_worlds]
