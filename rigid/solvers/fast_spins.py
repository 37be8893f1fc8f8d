"""A warning of bodies that spin too fast for the default step of the solvers with sequential impulses.

In the frame of a body free motion keeps the length of its angular momentum: L' = -ω × L, so L · L'' = -|L'|². The
implicit torque is of first order, so a substep has the error h² L''/2, by which L shrinks, and a top falls:

    |L| *= 1 - h² |ω × L|²/(2 |L|²)

It is zero for balls and cubes, and for bodies that spin about a principal axis alone. While a body turns by more than
LEAST_TURN in a substep, these losses are summed over the run. A warning tells once of a sum above MOST_ERROR, which
leaves exp(-MOST_ERROR) of L if nothing else acts on the body.

The state is read before a launch every INTERVAL of simulated time, so that the watch costs little and changes nothing.
"""

import math
import warnings

import numpy as np

from pbd.core.arrays import read
from rigid.kernels.motion import POSE, VELOCITY
from rigid.rotation import rotate_back

# The turn of a body in a substep below which its errors do not count [rad]; the sum of errors of which a warning tells;
# the time between two readings, and the longest time for which one is taken [s].
LEAST_TURN, MOST_ERROR, INTERVAL, LONGEST = 0.02, 0.35, 0.1, 0.5

# The turn in a substep to which the remedy leads [rad].
GOOD_TURN = 0.05


class FastSpins:
    """Sums the errors of the gyroscopic torque, and warns once.

    Args: models: one for all worlds, or one for each; variational: whether the integrator "variational" is a remedy.
    """

    def __init__(self, models, variational):
        self.variational = variational
        self.inertia = np.array([[body.inertia for body in model.bodies] for model in models])
        moments = np.linalg.eigvalsh(self.inertia) if self.inertia.size else np.ones((1, 1, 3))
        self.unequal = moments[..., 2] > (1 + 1e-6) * moments[..., 0]  # (models, bodies)
        free = np.array([[body.path is None for body in model.bodies] for model in models], bool)
        self.unequal &= free if free.size else False
        self.errors, self.next_time, self.active = 0.0, -math.inf, bool(self.unequal.any())

    def look(self, solver, count):
        """Look at the bodies before a launch of `count` substeps. Args: solver: a SequentialSolver."""
        h, time = solver.dt / solver.substeps, solver.time
        if not self.active or self.next_time - INTERVAL <= time < self.next_time - 1e-9:
            return
        span = min(max(count * h, INTERVAL), LONGEST)
        self.next_time = time + span
        turns, errors = self._measure(solver.data.bodies, h)
        self.errors = self.errors + errors * (span / h)
        if self.errors.max() > MOST_ERROR:
            self.active = False
            world, body = np.unravel_index(self.errors.argmax(), self.errors.shape)
            warnings.warn(self._said(solver, world, body, turns[world, body]), UserWarning, stacklevel=5)

    def _measure(self, bodies, h):
        """Turns of bodies in a substep [rad], and the errors of fast ones in parts of L (worlds, bodies)."""
        rotation, velocity = read(bodies.pose)[:, :-1, POSE["rotation"]], read(bodies.velocity)[:, :-1]
        w = rotate_back(rotation.astype(float), velocity[..., VELOCITY["angular"]].astype(float))
        turns, errors = h * np.linalg.norm(w, axis=-1), np.zeros(w.shape[:2])
        fast = (turns > LEAST_TURN) & self.unequal
        if fast.any():
            inertia = np.broadcast_to(self.inertia, (*w.shape, 3))[fast]
            w = w[fast]
            L = np.einsum("nij,nj->ni", inertia, w)
            change = np.cross(w, L)
            errors[fast] = np.minimum(0.5 * h * h * (change**2).sum(axis=1) / (L**2).sum(axis=1), 1.0)
        return turns, errors

    def _said(self, solver, world, body, turn):
        """What the warning says of a body."""
        given = f"world {world}, {solver.time:.6g} s: body {solver.model.bodies[body].name!r}"
        substeps = solver.substeps * math.ceil(turn / GOOD_TURN)
        remedy = 'integrator="variational" or ' if self.variational else ""
        return (
            f'solver "{solver.name}", {given} turns by {turn:.2g} rad a step, so it loses angular momentum: '
            f"expected {remedy}substeps={substeps}"
        )
