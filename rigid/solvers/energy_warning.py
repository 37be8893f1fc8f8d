"""Warnings of solvers where the energy of passive bodies rises or joints open (energy_bound.py)."""

import warnings

import numpy as np

from rigid.constraints.joints.gaps import joint_gaps
from rigid.solvers.energy_bound import MOTORS_WATCHED, UNWATCHED, WARNED_GAP, WARNED_RISE, WATCHED, link_lengths
from rigid.solvers.report import REPORT
from rigid.state import State

# A joint is closed if its gap is below this part of the mean distance of joints.
CLOSED = 0.001


class PassiveEnergy:
    """Watches the energy as long as nothing drives the bodies, and warns once.

    Bodies without joints and springs cannot gain energy, and there is no scale for its rounding errors: they are not
    watched.

    Args:
        models.
        numbers: of the Watch.
        watches: what is watched then: UNWATCHED, WATCHED or GAPS_WATCHED (energy_bound.py).
        watches_motors: what is watched if motors act, but no forces: UNWATCHED or MOTORS_WATCHED.

    Attributes: watched: what is watched now.
    """

    def __init__(self, models, numbers, watches=WATCHED, watches_motors=UNWATCHED):
        self._numbers, self._driven, self._warned = numbers, any(map(is_driven, models)), False
        self._watches_motors = watches_motors
        jointed = any(model.joints or model.springs for model in models)
        self._watches, self.watched = watches if jointed else UNWATCHED, UNWATCHED

    def choose(self, driven):
        """Choose whether the next launch watches. Args: driven: whether forces or grab springs act."""
        chosen = self._watches_motors if self._driven else self._watches
        chosen = UNWATCHED if driven else chosen
        if chosen == UNWATCHED and self.watched != UNWATCHED:
            self.forget()
        self.watched = chosen

    def forget(self):
        """Begin anew, because the bodies, or what acts on them, have changed."""
        self._numbers.fill(0)

    def warn(self, solver, report):
        """Warn once of energy from nowhere, or of an open joint.

        Args: solver: a RowSolver; report: of its last launch (worlds, REPORT).
        """
        said = "" if self._warned else trouble_of(solver, report, self.watched == MOTORS_WATCHED)
        if said:
            self._warned = True
            warnings.warn(said, UserWarning, stacklevel=4)


class OpenJoints:
    """Warns once of a joint of "verlet" that is open by half of a link: iterations do not hold it.

    Solvers on rows watch each substep. Here states are looked at every so often, because joints that are iterated open
    in impacts, by up to a fifth of a link in a pile, and close again.

    Args: solver: a Solver. What is soft, or may break, may be open.
    """

    GAP, INTERVAL = 0.5, 0.25  # in parts of the mean distance of joints; simulated time from one look to the next [s]

    def __init__(self, solver):
        joints = solver.model.joints
        self._tight = np.array([joint.soft is None and not joint.breaks for joint in joints], bool)
        self._links = np.array([[link_lengths(model) / max(len(joints), 1)] for model in solver.models])
        self._next = 0.0 if self._tight.any() and self._links.all() else np.inf

    def look(self, solver):
        """Look at the joints if it is time."""
        if solver.time < self._next:
            return
        self._next, state = solver.time + self.INTERVAL, solver.state()
        if len(solver.models) == 1:
            gaps = joint_gaps(solver.model, state).reshape(-1, len(self._tight))
        else:
            arrays = zip(state.position, state.rotation, state.velocity, state.angular_velocity)
            gaps = np.stack([joint_gaps(model, State(*of_world)) for model, of_world in zip(solver.models, arrays)])
        gaps = np.where(self._tight, gaps, 0.0) / self._links
        if gaps.max() > self.GAP:
            self._next = np.inf
            world, joint = np.unravel_index(int(gaps.argmax()), gaps.shape)
            name = solver.model.joints[joint].name
            warnings.warn(
                f'solver "verlet", world {world}, {solver.time:.6g} s: joint {name!r} is open by {gaps.max():.2g} of a '
                'link: expected solve="direct", more iterations, or more substeps',
                UserWarning, stacklevel=3,
            )  # fmt: skip


def is_driven(model):
    """Whether something in a model may do work: a motor, or a body on a path. Args: a rigid.Model."""
    motors = [joint.motor for joint in model.joints if joint.motor is not None]
    return bool(motors) or any(body.path is not None for body in model.bodies)


def trouble_of(solver, report, of_motors=False):
    """Describe what is wrong after a launch, for a warning; "" if nothing is.

    Args: solver: a RowSolver; report: of its last launch (worlds, REPORT); of_motors: whether motors are watched.
    """
    rises, gaps = report[:, REPORT.rise], report[:, REPORT.gap]
    if not (rises.max() > WARNED_RISE or gaps.max() > WARNED_GAP):
        return ""
    world = int(np.argmax(np.maximum(rises / WARNED_RISE, gaps / WARNED_GAP)))
    said = f"energy has risen by {rises[world]:.2g} of its scale without a drive"
    remedies = solver.remedies
    if of_motors:
        said, remedies = "a motor with a position runs away", "a shorter step, or a smaller position_gain"
    elif gaps[world] / WARNED_GAP > rises[world] / WARNED_RISE:
        said = f"a joint is open by {gaps[world]:.2g} of a link"
    time = solver.time + solver.dt / solver.substeps * max(report[world, REPORT.risen_substep], 0)
    said += f", mostly {place_of_trouble(solver, world)}"
    return f'solver "{solver.name}", world {world}, {time:.6g} s: {said}: expected {remedies}'


def place_of_trouble(solver, world):
    """The joint with the largest gap in a world, or the body that turns fastest if all joints are closed, by name."""
    state, model = solver.state(), solver.model
    arrays = (state.position, state.rotation, state.velocity, state.angular_velocity)
    arrays = arrays if solver.worlds == 1 else [each[world] for each in arrays]
    with np.errstate(over="ignore", invalid="ignore"):
        gaps = np.nan_to_num(joint_gaps(model, State(*arrays)))
        if gaps.any() and gaps.max() > CLOSED * link_lengths(model) / len(gaps):
            return f"joint {model.joints[int(gaps.argmax())].name!r}"
        turning = np.nan_to_num(np.linalg.norm(arrays[3], axis=1), posinf=np.inf)
    return f"body {model.bodies[int(turning.argmax())].name!r}"
