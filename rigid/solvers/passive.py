"""Whether the energy of a solver on rows is watched (watch.py), and a warning where it rises or joints open."""

import warnings

import numpy as np

from rigid.constraints.joints.gaps import joint_gaps
from rigid.solvers.report import REPORT
from rigid.solvers.watch import WARNED_GAP, WARNED_RISE, link_lengths
from rigid.state import State

# A joint is closed if its gap is below this part of the mean distance of joints.
CLOSED = 0.001


class PassiveEnergy:
    """Watches the energy as long as nothing drives the bodies, and warns once.

    Args: models; numbers: of the Watch; never: whether it is not watched at all.

    Attributes: watched: 1 while the energy is watched, else 0.
    """

    def __init__(self, models, numbers, never=False):
        self._numbers, self._driven, self._warned = numbers, never or any(map(is_driven, models)), False
        self.watched = 0

    def choose(self, driven):
        """Choose whether the next launch watches. Args: driven: whether forces or grab springs act."""
        driven = self._driven or driven
        if driven and self.watched:
            self.forget()
        self.watched = int(not driven)

    def forget(self):
        """Begin anew, because the bodies, or what acts on them, have changed."""
        self._numbers.fill(0)

    def warn(self, solver, report):
        """Warn once of energy from nowhere, or of an open joint.

        Args: solver: a RowSolver; report: of its last launch (worlds, REPORT).
        """
        said = "" if self._warned else trouble_of(solver, report)
        if said:
            self._warned = True
            warnings.warn(said, UserWarning, stacklevel=4)


def is_driven(model):
    """Whether something in a model may do work: a motor, or a body on a path. Args: a rigid.Model."""
    motors = [joint.motor for joint in model.joints if joint.motor is not None]
    return bool(motors) or any(body.path is not None for body in model.bodies)


def trouble_of(solver, report):
    """What a warning says about a launch, "" if its energy and joints are as they should be.

    Args: solver: a RowSolver; report: of its last launch (worlds, REPORT).
    """
    rises, gaps = report[:, REPORT.rise], report[:, REPORT.gap]
    if not (rises.max() > WARNED_RISE or gaps.max() > WARNED_GAP):
        return ""
    world = int(np.argmax(np.maximum(rises / WARNED_RISE, gaps / WARNED_GAP)))
    said = f"energy has risen by {rises[world]:.2g} of its scale without a drive"
    if gaps[world] / WARNED_GAP > rises[world] / WARNED_RISE:
        said = f"a joint is open by {gaps[world]:.2g} of a link"
    time = solver.time + solver.dt / solver.substeps * max(report[world, REPORT.risen_substep], 0)
    joint = joint_in_trouble(solver, world)
    said += f", mostly {joint!r}" if joint else ""
    return f'solver "{solver.name}", world {world}, {time:.6g} s: {said}: expected {solver.remedies}'


def joint_in_trouble(solver, world):
    """Name of the joint with the largest gap, or of that of the body that turns fastest if all joints are closed.

    Returns: None if there are no joints, or the state is not finite.
    """
    state = solver.state()
    arrays = (state.position, state.rotation, state.velocity, state.angular_velocity)
    arrays = arrays if solver.worlds == 1 else [each[world] for each in arrays]
    joints = solver.model.joints
    if not joints or not all(np.isfinite(each).all() for each in arrays):
        return None
    with np.errstate(over="ignore", invalid="ignore"):
        gaps = np.nan_to_num(joint_gaps(solver.model, State(*arrays)))
    if gaps.max() < CLOSED * link_lengths(solver.model) / len(joints):
        gaps = np.linalg.norm(arrays[3], axis=1)[[joint.child for joint in joints]]
    return joints[int(gaps.argmax())].name
