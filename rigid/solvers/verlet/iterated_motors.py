"""The watch over motors of "verlet" that are iterated beside the direct solve."""

import numpy as np

from rigid.solvers.slow_motors import SlowMotors

NUMBERS = ("speed", "position", "gain", "effort", "most_speed")  # of a drive, see joint_drives.py


class IteratedMotors(SlowMotors):
    """Warns once of a motor with a bound that misses its speed, see SlowMotors.

    The joints are closed then, and the residual is small. Without a direct solve there is no look: iterated joints
    tremble around the right speed by more than that.

    Args: solver: a Solver; motors: {name of a joint: (constraint type, number of the motor's constraint)}.
    """

    remedy = 'more iterations or substeps, because these have not converged, or solve="direct" and no max_effort'

    def __init__(self, solver, motors):
        constraints = solver.particle_system.constraints
        iterated = {name: given for name, given in motors.items() if given[0].compliance}  # others are exact
        joints = [joint for joint in solver.model.joints if joint.name in iterated]
        given = [iterated[joint.name] for joint in joints]
        self._rows = [constraints.row_of(*each, name) for each in given for name in NUMBERS]
        self._multipliers = [constraints.multiplier_of(*each) for each in given]
        looks = len(solver.particle_system.direct.rows)
        places = [place_of_motor(solver.models, joint.name) for joint in joints]
        super().__init__(joints if looks else [], places, solver.time)

    def _read(self, solver):
        constraints, h = solver.particle_system.constraints, solver.dt / solver.substeps
        numbers = constraints.read(self._rows).astype(float).reshape(-1, len(NUMBERS), solver.worlds)
        return (*np.moveaxis(numbers, 1, 0), h)

    def _read_efforts(self, solver):
        multipliers = solver.particle_system.constraints.read_multipliers(self._multipliers)
        return multipliers / (solver.dt / solver.substeps) ** 2


def place_of_motor(models, name):
    """Which coordinate of a joint has a motor, in any world. Args: models: of all worlds; name: of the joint."""
    joints = [model.joint(name) for model in models]
    has = [any(each.drives(joint).motor for joint in joints) for each in joints[0].type.coordinates]
    return has.index(True)
