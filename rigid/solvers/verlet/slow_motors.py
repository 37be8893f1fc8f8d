"""Warning of motors beside the direct solve that do not reach their speed, although they could push more."""

import warnings

import numpy as np

NUMBERS = ("speed", "position", "gain", "effort", "most_speed")  # of a drive, see joint_drives.py


class SlowMotors:
    """Warns once of a motor of "verlet" that misses its speed with less than its largest effort.

    A motor with a bound is iterated beside the direct solve. An iteration changes the speed as if the motor moved its
    two bodies alone. So with a heavy load on light bodies, a few iterations find a part of the effort only. The joints
    are closed then, and the residual is small. States are looked at every so often, after a call of `step`. Without a
    direct solve there is no look: iterated joints tremble around the right speed by more than that.

    Args: solver: a Solver; motors: {name of a joint: (constraint type, number of the motor's constraint)}.
    """

    # A motor is slow if it misses its speed by this part and by this much [rad/s or m/s]. Its effort is below its
    # bound if it is below this part of it. Simulated time from one look to the next [s].
    MISSED, LEAST, BOUND, INTERVAL = 0.1, 0.05, 0.95, 0.25

    def __init__(self, solver, motors):
        constraints = solver.particle_system.constraints
        iterated = {name: given for name, given in motors.items() if given[0].compliance}  # others are exact
        self._joints = [joint for joint in solver.model.joints if joint.name in iterated]
        given = [iterated[joint.name] for joint in self._joints]
        self._rows = [constraints.row_of(*each, name) for each in given for name in NUMBERS]
        self._multipliers = [constraints.multiplier_of(*each) for each in given]
        self._places = [place_of_motor(solver.models, joint.name) for joint in self._joints]
        looks = self._joints and len(solver.particle_system.direct.rows)
        self._next = solver.time + self.INTERVAL if looks else np.inf

    def look(self, solver):
        """Look at the motors if it is time."""
        if solver.time < self._next:
            return
        self._next = solver.time + self.INTERVAL
        constraints, h = solver.particle_system.constraints, solver.dt / solver.substeps
        numbers = constraints.read(self._rows).astype(float).reshape(-1, len(NUMBERS), solver.worlds)
        speed, position, gain, bound, most_speed = np.moveaxis(numbers, 1, 0)  # (motors, worlds)
        efforts = np.abs(constraints.read_multipliers(self._multipliers)) / h**2
        rates, positions = (self._of_motors(each, solver.worlds) for each in (solver.joint_velocities(),
                                                                             solver.joint_positions()))  # fmt: skip
        approach = gain * (position - positions + h * rates) / (1.0 + h * gain)  # from the start of the substep
        wanted = speed + np.clip(approach, -most_speed, most_speed)
        missed = np.abs(rates - wanted)
        slow = (bound > 0) & (efforts < self.BOUND * bound) & (missed > self.LEAST)
        slow &= missed > self.MISSED * np.maximum(np.abs(rates), np.abs(wanted))
        if slow.any():
            self._next = np.inf
            motor, world = np.argwhere(slow)[0]
            found, expected = rates[motor, world], wanted[motor, world]
            warnings.warn(
                f'solver "verlet", world {world}, {solver.time:.6g} s: the motor of joint '
                f"{self._joints[motor].name!r} has a speed of {found:.3g} in place of {expected:.3g}: expected "
                'more iterations or substeps, because these have not converged, or solve="direct" and no max_effort',
                UserWarning, stacklevel=3,
            )  # fmt: skip

    def _of_motors(self, found, worlds):
        """What joints have along the motors' coordinates (motors, worlds). Args: found: {name of a joint: numbers}."""
        each = [np.reshape(found[joint.name], (worlds, -1))[:, k] for joint, k in zip(self._joints, self._places)]
        return np.reshape(each, (len(each), worlds)).astype(float)


def place_of_motor(models, name):
    """Which coordinate of a joint has a motor, in any world. Args: models: of all worlds; name: of the joint."""
    joints = [model.joint(name) for model in models]
    has = [any(each.drives(joint).motor for joint in joints) for each in joints[0].type.coordinates]
    return has.index(True)
