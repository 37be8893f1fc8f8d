"""Measure a run: the same quantities for all solvers, from poses and the description.

Energy, iterations, residual and contacts come from the solver. Its energy is that of the instant that suits its scheme.
"""

import numpy as np

import rigid
from pbd.particles import STICK_NAMES, inverse
from rigid.constraints.joints.gaps import joint_gaps, joint_turns, limit_violations

# The unit of each name; that of a limit is the joint's, and that of a residual the constraint's.
UNITS = {
    "kinetic": "J", "potential": "J", "total": "J",
    "linear_momentum": "kg m/s", "angular_momentum": "kg m²/s",
    "joint_gap": "m", "joint_turn": "rad", "limit_violation": "rad or m", "penetration": "m", "sticks": "",
    "iterations": "", "residual": "", "contacts": "",
}  # fmt: skip


def read(running, frame=None):
    """Measure a run at its present state.

    Args: running: a scenes.Run; frame: its present Frame, or None.

    Returns: a dict of numbers, without those that the scene or the solver does not have:

    - kinetic, potential, total [J]
    - linear_momentum [kg m/s] and angular_momentum about the origin [kg m²/s], arrays (3,)
    - joint_gap: the widest gap of a joint [m]
    - joint_turn: the largest rotation about an axis that a joint locks [rad]
    - limit_violation: the largest [rad, of a slider m]
    - penetration: the deepest overlap of bodies [m]
    - sticks: the largest relative stretch of the rigid sticks of the scene's particles
    - iterations of the last substep, residual, contacts: as the solver reports them
    """
    frame = running.frame() if frame is None else frame
    scene, system = running.scene, running.system
    energy = system.energy()
    found = {name: float(getattr(energy, name)) for name in ("kinetic", "potential", "total")}
    found["linear_momentum"], found["angular_momentum"] = momenta(scene, frame)
    if scene.model is not None:
        found |= read_bodies(running, state_of(frame))
    if scene.particles is not None:
        stretch = largest_stretch(scene.particles, frame.positions)
        if stretch is not None:
            found["sticks"] = stretch
    reported = system.statistics()._asdict()
    names = [name for name in ("iterations", "residual", "contacts") if name in reported]
    return found | {name: float(reported[name]) for name in names}


def read_bodies(running, state):
    """Measure joints and overlaps. Args: running: a Run; state: the State of its bodies."""
    model, found = running.scene.model, {}
    if model.joints:
        violations = limit_violations(model, running.system.joint_positions())
        errors = joint_gaps(model, state), joint_turns(model, state), violations
        found = {name: float(each.max()) for name, each in zip(("joint_gap", "joint_turn", "limit_violation"), errors)}
    if running.overlaps is not None:
        found["penetration"] = running.overlaps.depth(state)
    return found


def state_of(frame):
    """Make the rigid.State of a Frame's bodies."""
    poses, velocities = frame.body_poses, frame.body_velocities
    return rigid.State(poses[:, :3], poses[:, 3:], velocities[:, :3], velocities[:, 3:], frame.time)


def momenta(scene, frame):
    """Linear momentum [kg m/s] and angular momentum about the origin [kg m²/s], without pinned particles."""
    linear, angular = np.zeros(3), np.zeros(3)
    if scene.model is not None:
        state = state_of(frame)
        linear += rigid.linear_momentum(scene.model, state)
        angular += rigid.angular_momentum(scene.model, state)
    if scene.particles is not None:
        masses = scene.particles.masses()
        each = np.where(np.isinf(masses), 0.0, masses)[:, None] * frame.velocities
        linear += each.sum(axis=0)
        angular += np.cross(frame.positions, each).sum(axis=0)
    return linear, angular


def largest_stretch(particles, positions):
    """The largest relative stretch of rigid sticks; None if there are no sticks.

    A string counts only if it is too long, a strut only if it is too short.

    Args: particles: a pbd.Particles; positions: (particles, 3) [m].
    """
    found = []
    for bound, name in STICK_NAMES.items():
        sticks = particles.constraint_sets.get((name, False))
        if sticks is None:
            continue
        pairs, (length,) = sticks.arrays()[0], sticks.arrays()[1].T
        pinned = (inverse(particles.masses())[pairs] == 0).all(axis=1)
        held = (length > 0) & ~pinned
        apart = np.linalg.norm(positions[pairs[held, 1]] - positions[pairs[held, 0]], axis=1)
        stretch = apart / length[held] - 1
        sign = {"equal": 0.0, "at_most": 1.0, "at_least": -1.0}[bound]
        found.append((sign * stretch if sign else np.abs(stretch)).max(initial=0.0))
    return float(max(found)) if found else None
