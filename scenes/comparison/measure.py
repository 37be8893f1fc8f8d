"""Measure a run: the same quantities for all solvers, from poses and the description.

Energy, iterations, residual and contacts come from the solver. Its energy is that of the instant that suits its scheme.
"""

import numpy as np

import rigid
from pbd.particles import STICK_NAMES, inverse
from rigid.constraints.joints.gaps import joint_ends, joint_gaps, joint_turns, limit_violations

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
        errors = joint_errors(model, state, running.system.joint_positions())
        found = {name: float(error) for name, error in errors.items()}
    if running.overlaps is not None:
        found["penetration"] = running.overlaps.depth(state)
    return found


def joint_errors(model, state, joint_positions):
    """The largest errors of a model's joints: {name: (...)}.

    Args: model; state: a State, whose leading axes may be frames; joint_positions: see `limit_violations`.
    """
    ends = joint_ends(model, state)
    found = joint_gaps(model, state, ends), joint_turns(model, state, ends), limit_violations(model, joint_positions)
    return {name: each.max(axis=-1) for name, each in zip(("joint_gap", "joint_turn", "limit_violation"), found)}


class Reporter:
    """Reads at each frame what a Recording does not have: what the solver reports, joint positions, overlaps.

    Args: system: a solver, or a ParticleSystem; overlaps: a rigid.collision.overlaps.Overlaps, or None.
    """

    def __init__(self, system, overlaps=None):
        self.system, self.overlaps, self.numbers, self.joint_positions = system, overlaps, [], []

    def read(self, state=None):
        """Read the present frame. Args: state: of the bodies, a rigid.State of all worlds."""
        statistics = self.system.statistics()
        numbers = {name: getattr(statistics, name) for name in ("iterations", "residual", "contacts")}
        if self.overlaps is not None:
            bodies = state.position.shape[-2]
            depths = self.overlaps.depths(state.position.reshape(-1, bodies, 3), state.rotation.reshape(-1, bodies, 4))
            numbers["penetration"] = depths.reshape(state.position.shape[:-2])
        self.numbers.append(numbers)
        self.joint_positions.append({} if state is None else self.system.joint_positions())

    def series(self):
        """Numbers {name: (frames,)}, and joint positions {name: (frames, ...)}; with worlds (frames, worlds, ...)."""
        kinds = self.numbers, self.joint_positions
        return [{name: np.array([each[name] for each in kind], float) for name in kind[0]} for kind in kinds]


def series(scene, recording, numbers, joint_positions):
    """Measure all frames of a Recording.

    Args: scene: a Scene; recording: a Recording of it; numbers, joint_positions: see `Reporter.series`.

    Returns: {name: (frames,) or (frames, 3)}: the quantities of `read`, and "drift", the change of total energy [J].
    """
    found = dict(zip(("kinetic", "potential", "total"), recording.energy.T))
    found["drift"] = found["total"] - found["total"][0]
    found["linear_momentum"], found["angular_momentum"] = momenta(scene, recording)
    if scene.model is not None and scene.model.joints:
        found |= joint_errors(scene.model, state_of(recording), joint_positions)
    if scene.particles is not None:
        stretches = [largest_stretch(scene.particles, each) for each in recording.positions]
        found |= {} if stretches[0] is None else {"sticks": np.array(stretches)}
    return found | numbers


def state_of(frame):
    """Make the rigid.State of the bodies of a Frame, or of all frames of a Recording in place of worlds."""
    poses, velocities = frame.body_poses, frame.body_velocities
    time = getattr(frame, "time", 0.0)
    return rigid.State(poses[..., :3], poses[..., 3:], velocities[..., :3], velocities[..., 3:], time)


def momenta(scene, frame):
    """Linear momentum [kg m/s] and angular momentum about the origin [kg m²/s], without pinned particles.

    Args: scene; frame: a Frame, or a Recording. Returns: two arrays (3,), or (frames, 3).
    """
    linear, angular = np.zeros(3), np.zeros(3)
    if scene.model is not None:
        state = state_of(frame)
        linear = linear + rigid.linear_momentum(scene.model, state)
        angular = angular + rigid.angular_momentum(scene.model, state)
    if scene.particles is not None:
        masses = scene.particles.masses()
        each = np.where(np.isinf(masses), 0.0, masses)[:, None] * frame.velocities
        linear = linear + each.sum(axis=-2)
        angular = angular + np.cross(frame.positions, each).sum(axis=-2)
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
