"""Motors with a position that run away: a warning of a motion that grows although the target is near.

Such a motor may do work, but no more than the motion to its target needs: all bodies move at most as fast as its
coordinate should, v = g |p - q| L for a hinge and the size L of all bodies. If nothing else drives a world, motors run
away when the kinetic energy is above

    RUNAWAY (S + M v²/2 + Σ a (v/L)²/2)      with the mass M of all bodies, armatures a, and S of energy_bound.py

Servos are stable as the model starts (servos.py). In other poses, and with other contacts, they may move more inertia.
"""

import numpy as np
import taichi as ti

from rigid.solvers.energy_bound import (
    LENGTH,
    MOTORS_WATCHED,
    WARNED_RISE,
    WATCH,
    energy_of_bodies,
    extent,
    watch_energy,
)

# The kinetic energy of which a warning tells, in parts of what the motion to the targets needs.
RUNAWAY = 10.0


@ti.func
def watch_motion(s: ti.template(), stored, gap, world):
    """Watch the energy, or motors: a kinetic energy that runs away is reported as a rise.

    Args: stored: by rows [J]; gap: the largest of a joint [m].
    """
    watch_energy(s, stored, gap, world)
    if s.step.watched == MOTORS_WATCHED:
        n = ti.static(s.watch.numbers)
        kinetic, _, weight = energy_of_bodies(s, world)
        if n[world, WATCH.scale] == 0.0:
            n[world, WATCH.scale] = weight * s.watch.lengths[world, LENGTH.size] + kinetic + stored
        most = RUNAWAY * (n[world, WATCH.scale] + s.driven_energy[world])
        n[world, WATCH.rise], n[world, WATCH.gap] = 0.0, 0.0
        if most > 0.0:
            n[world, WATCH.rise] = ti.select(kinetic > most, WARNED_RISE * kinetic / most, 0.0)


class DrivenEnergy:
    """The energy that the motion of all servos to their targets needs, for each world.

    Args: models: one for all worlds, or one for each; worlds.

    Attributes: only: whether servos are all that drives the models.
    """

    def __init__(self, models, worlds):
        self.models, self.worlds = models, worlds
        self.servos = [k for k, joint in enumerate(models[0].joints) if is_servo(joint.motor)]
        others = [joint for model in models for joint in model.joints if joint.motor and not is_servo(joint.motor)]
        paths = [body for model in models for body in model.bodies if body.path is not None]
        self.only = bool(self.servos) and not others and not paths
        targets = [[model.joints[k].motor.position for k in self.servos] for model in models]
        self.lowest = np.minimum(np.broadcast_to(targets, (worlds, len(self.servos))), 0.0)
        self.highest = np.maximum(np.broadcast_to(targets, (worlds, len(self.servos))), 0.0)

    def add_target(self, joint, target):
        """Count a new target. Args: joint: index; target: (worlds,) [rad or m]."""
        if joint in self.servos:
            column = self.servos.index(joint)
            self.lowest[:, column] = np.minimum(self.lowest[:, column], target)
            self.highest[:, column] = np.maximum(self.highest[:, column], target)

    def of_worlds(self):
        """The energy (worlds,) [J]."""
        return np.array([self.of_world(world) for world in range(self.worlds)])

    def of_world(self, world):
        """The energy of a world [J]."""
        model, fastest = self.models[min(world, len(self.models) - 1)], 0.0
        size = extent(model)
        ratio = np.prod([max(abs(gear.ratio), 1 / abs(gear.ratio)) for gear in model.gears])  # in either direction
        for column, joint in enumerate(model.joints[k] for k in self.servos):
            way = self.highest[world, column] - self.lowest[world, column]
            speed = ratio * min(joint.motor.position_gain * way, joint.motor.max_speed)
            fastest = max(fastest, speed * (size if joint.type.angles else 1.0))
        armature = sum(joint.armature for joint in model.joints)
        return 0.5 * fastest**2 * (model.masses.sum() + (armature / size**2 if size > 0 else 0.0))


def is_servo(motor):
    """Whether a motor has a target position and is hard. Args: motor: a Motor, or None."""
    return motor is not None and motor.position is not None and not motor.is_compliant
