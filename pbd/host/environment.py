"""Inputs of each substep: what moves the environment of a particle system, as rows of numbers.

A kernel reads row k at the start of its substep k and row k + 1 at the end (columns: pbd/data.py). If nothing moves,
one row serves all substeps.
"""

import math

import numpy as np

from pbd.core.kernels import real_type
from pbd.core.validate import finite_vector, grab_count, one_grab
from pbd.data import INPUT, POSE
from pbd.description.rods import Turning
from pbd.grabs import GRAB, grab_columns
from pbd.host.fast_colliders import FastColliders
from pbd.particles import positions_on_path


class Environment:
    """Gravity, wind, colliders, kinematic particles and grab springs of all worlds, over time.

    Args: particles: a Particles, the description; grabs: number of grab springs.
    """

    def __init__(self, particles, grabs):
        self.particles = particles
        self.grabs = np.zeros((grab_count("grabs", grabs), GRAB.total))
        self._fast = FastColliders(particles)
        self._row, self.changes = None, 0  # how often grab springs were changed

    def inputs(self, clock, substeps):
        """Rows for the start and the ends of the next substeps, or a single row if nothing moves.

        Args: clock: a Clock; substeps: how many.
        """
        if not self.particles.is_static():
            times = [clock.time_after(k) for k in range(substeps + 1)]
            for _, path in self.particles.paths:
                if isinstance(path, Turning):
                    path.refuse_jumps(times)
            rows = self._rows(times)
            if substeps:
                self._fast.watch(rows, clock)
            return rows
        gravity, wind = self.particles.gravity, self.particles.wind
        if self._row is None or self._row[0] is not gravity or self._row[1] is not wind:
            self._row = gravity, wind, self._rows([clock.time])
        return self._row[2]

    @property
    def moving_columns(self):
        """Number of columns of a row; zero if nothing moves."""
        if self.particles.is_static():
            return 0
        kinematic = sum(len(particles) for particles, _ in self.particles.paths)
        return INPUT.total + POSE.total * len(self.particles.colliders) + 3 * kinematic + self.grabs.size

    def _rows(self, times):
        rows = [np.concatenate([described_row(self.particles, time), self.grabs.ravel()]) for time in times]
        rows = np.array(rows, real_type())
        rows.setflags(write=False)  # so that graphics cards need not copy them back
        return rows

    def grab(self, grab, particles, target, stiffness, damping, weights):
        """Set a grab spring. Args: see `pbd.ParticleSystem.grab`."""
        grab = one_grab(grab, len(self.grabs))
        self.grabs[grab] = grab_columns(particles, len(self.particles), target, stiffness, damping, weights)
        self._row, self.changes = None, self.changes + 1

    def release(self, grab):
        """Switch a grab spring off. Args: grab: index."""
        self.grabs[one_grab(grab, len(self.grabs))] = 0.0
        self._row, self.changes = None, self.changes + 1

    def collider_poses(self, time):
        """Position and rotation of each collider, (colliders, 7) [m, (w, x, y, z)]. Args: time [s]."""
        return np.reshape([collider.pose(time) for collider in self.particles.colliders], (-1, 7))


def described_row(particles, time):
    """Gravity, wind, poses of colliders and positions of kinematic particles at a time [s], in a row."""
    wind = particles.wind
    if callable(wind):
        wind = finite_vector("wind", wind(time), math.inf)
    row = [particles.gravity, np.zeros(3) if wind is None else wind]
    row += [collider.pose(time) for collider in particles.colliders]
    for kinematic, path in particles.paths:
        row.append(positions_on_path(path, time, len(kinematic)).ravel())
    return np.concatenate(row)
