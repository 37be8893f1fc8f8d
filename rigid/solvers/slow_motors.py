"""Warning of motors that do not reach their speed, although they could push more: iterations have not converged."""

import warnings
from abc import ABC, abstractmethod

import numpy as np

from pbd.core.kernels import read
from rigid.constraints.joints.data import DRIVE, MOTOR, DriveKind


class SlowMotors(ABC):
    """Warns once of a motor that misses its speed with less than its largest effort.

    An iteration finds the effort of a motor as if all other efforts were right. So with a heavy load on light bodies, a
    few iterations find a part of the effort only. States are looked at every so often, after a call of `step`.

    Args: joints: of each motor; places: which coordinate of its joint each motor has; time: at the start [s].
    """

    # A motor is slow if it misses its speed by this part and by this much [rad/s or m/s]. Its effort is below its
    # bound if it is below this part of it. Simulated time from one look to the next [s].
    MISSED, LEAST, BOUND, INTERVAL = 0.1, 0.05, 0.95, 0.25

    remedy = ""

    def __init__(self, joints, places, time):
        self._joints, self._places = joints, places
        self._next = time + self.INTERVAL if len(joints) else np.inf

    @abstractmethod
    def _read(self, solver):
        """Numbers of the motors.

        Returns: speed, position, gain, bound of the effort, most speed, each (motors, worlds), and the time h in which
        efforts acted [s].
        """

    @abstractmethod
    def _read_efforts(self, solver):
        """Efforts of the motors (motors, worlds) [N m or N]. They are read if a motor misses its speed."""

    def look(self, solver):
        """Look at the motors if it is time."""
        if solver.time < self._next:
            return
        self._next = solver.time + self.INTERVAL
        speed, position, gain, bound, most_speed, h = self._read(solver)
        rates, positions = (self._of_motors(each, solver.worlds) for each in (solver.joint_velocities(),
                                                                             solver.joint_positions()))  # fmt: skip
        approach = gain * (position - positions + h * rates) / (1.0 + h * gain)  # from the start of the substep
        wanted = speed + np.clip(approach, -most_speed, most_speed)
        missed = np.abs(rates - wanted)
        slow = (bound > 0) & (missed > self.LEAST)
        slow &= missed > self.MISSED * np.maximum(np.abs(rates), np.abs(wanted))
        if slow.any():
            slow &= np.abs(self._read_efforts(solver)) < self.BOUND * bound
        if slow.any():
            self._next = np.inf
            motor, world = np.argwhere(slow)[0]
            found, expected = rates[motor, world], wanted[motor, world]
            warnings.warn(
                f'solver "{solver.name}", world {world}, {solver.time:.6g} s: the motor of joint '
                f"{self._joints[motor].name!r} has a speed of {found:.3g} in place of {expected:.3g}: expected "
                f"{self.remedy}",
                UserWarning, stacklevel=4,
            )  # fmt: skip

    def _of_motors(self, found, worlds):
        """What joints have along the motors' coordinates (motors, worlds). Args: found: {name of a joint: numbers}."""
        each = [np.reshape(found[joint.name], (worlds, -1))[:, k] for joint, k in zip(self._joints, self._places)]
        return np.reshape(each, (len(each), worlds)).astype(float)


class MotorsOfRows(SlowMotors):
    """The watch over motors that are rows. Args: solver: a RowSolver."""

    remedy = "more iterations, because these have not converged, or armatures"

    def __init__(self, solver):
        drives, firsts = solver._motor_targets.drives, solver.first_coordinates
        self._drives = np.flatnonzero(np.isin(drives[:, DRIVE.kind], (DriveKind.MOTOR, DriveKind.SERVO)))
        self._rows = drives[self._drives, DRIVE.row]
        self._is_servo = drives[self._drives, DRIVE.kind][:, None] == DriveKind.SERVO
        of = np.searchsorted(firsts, drives[self._drives, DRIVE.coordinate], side="right") - 1
        places = drives[self._drives, DRIVE.coordinate] - np.asarray(firsts)[of]
        super().__init__([solver.model.joints[k] for k in of], places, solver.time)

    def _read(self, solver):
        numbers = solver._motor_targets.numbers[:, self._drives].astype(float).T  # (numbers, motors, worlds)
        active = read(solver.data.joints.active)[:, self._drives].T
        speed, position, gain, most = (numbers[k] for k in (MOTOR.speed, MOTOR.position, MOTOR.gain, MOTOR.most_speed))
        speed, gain = np.where(self._is_servo, 0.0, speed), np.where(self._is_servo, gain, 0.0)
        return speed, position, gain, active * numbers[MOTOR.effort], most, solver._time_of_impulses

    def _read_efforts(self, solver):
        return solver._row_efforts(read(solver.data.rows.numbers)[:, self._rows].astype(float)).T
