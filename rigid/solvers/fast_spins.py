"""A warning of bodies that spin too fast for the default step of the solvers with sequential impulses.

In the frame of a body free motion keeps the length of its angular momentum: L' = -ω × L, so L · L'' = -|L'|². The
implicit torque is of first order, so a substep has the error h² L''/2, by which L shrinks, and a top falls:

    |L| *= 1 - h² |ω × L|²/(2 |L|²)

It is zero for balls and cubes, and for bodies that spin about a principal axis alone. While a body turns by more than
LEAST_TURN in a substep, these losses are summed over the run. A warning tells once of a sum above MOST_ERROR, which
leaves exp(-MOST_ERROR) of L.

Where impacts and joints change L, a loss does not last, and spins do not, either. So an interval counts only if |L| has
not risen by more than SLACK in it, and not fallen by more than twice the loss and SLACK. For bodies that joints connect
to others, such as the arms of a ragdoll, the smaller loss of both ends of the interval counts.

The state is read before and after a launch every INTERVAL of simulated time, so that the watch costs little and changes
nothing.
"""

import math
import warnings

import numpy as np

from pbd.core.kernels import read
from rigid.kernels.motion import POSE, VELOCITY
from rigid.names import GROUND
from rigid.rotation import rotate_back

# The turn of a body in a substep below which its errors do not count [rad]. It loses turn²/2 of L at most: at 60 Hz it
# takes half a minute to lose what MOST_ERROR allows, and what tumbles so slowly has mostly hit something by then.
LEAST_TURN = 0.02

# The sum of errors of which a warning tells: 0.7 of L is left. The estimate is of first order: at 0.2 rad a step it is
# off by 2 % of the sum, far less than what a user sees.
MOST_ERROR = 0.35

# The time between two readings, and the longest time for which one is taken [s].
INTERVAL, LONGEST = 0.1, 0.5

# By which part |L| may change beside the loss if nothing else acts on a body.
SLACK = 0.05

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
        self.connected = np.zeros(self.unequal.shape[1], bool)
        for joint in models[0].joints:
            if GROUND not in (joint.parent, joint.child):
                self.connected[[joint.parent, joint.child]] = True
        self.active = bool(self.unequal.any())
        self.clear()

    def clear(self):
        """Begin a new run: no losses so far."""
        self.errors, self.next_time = 0.0, -math.inf
        self.pending = None  # time, turns, losses in a second, |L| and the time that counts, of the last look

    def check(self, solver, count):
        """Look at the bodies before a launch of `count` substeps. Args: solver: a SequentialSolver.

        `set_state` and a change of the step begin a new run.
        """
        if not solver._stepped:
            self.clear()
        h, time = solver.dt / solver.substeps, solver.time
        if not self.active or self.next_time - INTERVAL <= time < self.next_time - 1e-9:
            return
        span = min(max(count * h, INTERVAL), LONGEST)
        self.next_time = time + span
        self.pending = (time, *self._measure(solver.data.bodies, solver._time_of_impulses), span)

    def count(self, solver, count):
        """Count the losses since the last look, after a launch of `count` substeps, which the time lacks yet.

        Args: solver: a SequentialSolver; count.
        """
        now = solver.time + count * solver.dt / solver.substeps
        if not self.active or self.pending is None or now < self.next_time - 1e-9:
            return
        time, turns, losses, before, span = self.pending
        self.pending = None
        if not losses.any():
            return
        _, lasting, after = self._measure(solver.data.bodies, solver._time_of_impulses)
        losses, left = np.where(self.connected, np.minimum(losses, lasting), losses), after / np.maximum(before, 1e-300)
        alone = (left < 1 + SLACK) & (left > np.exp(-2 * losses * (now - time)) - SLACK)
        self.errors = self.errors + np.where(alone, losses * span, 0.0)
        if self.errors.max() > MOST_ERROR:
            self.active = False
            world, body = np.unravel_index(self.errors.argmax(), self.errors.shape)
            warnings.warn(self._said(solver, world, body, turns[world, body]), UserWarning, stacklevel=5)

    def _measure(self, bodies, h):
        """Turns of bodies in a substep [rad], losses of fast ones in a second, and |L|: (worlds, bodies) each."""
        rotation, velocity = read(bodies.pose)[:, :-1, POSE["rotation"]], read(bodies.velocity)[:, :-1]
        w = rotate_back(rotation.astype(float), velocity[..., VELOCITY["angular"]].astype(float))
        size = np.linalg.norm(np.einsum("...ij,...j->...i", self.inertia, w), axis=-1)
        turns, losses = h * np.linalg.norm(w, axis=-1), np.zeros(w.shape[:2])
        fast = (turns > LEAST_TURN) & self.unequal
        if fast.any():
            inertia = np.broadcast_to(self.inertia, (*w.shape, 3))[fast]
            change = np.cross(w[fast], np.einsum("nij,nj->ni", inertia, w[fast]))
            losses[fast] = np.minimum(0.5 * h * h * (change**2).sum(axis=1) / size[fast] ** 2, 1.0) / h
        return turns, losses, size

    def _said(self, solver, world, body, turn):
        """The text of the warning about a body."""
        given = f"world {world}, {solver.time:.6g} s: body {solver.model.bodies[body].name!r}"
        substeps = solver.substeps * math.ceil(turn / GOOD_TURN)
        remedy = 'integrator="variational" or ' if self.variational else ""
        return (
            f'solver "{solver.name}", {given} turns by {turn:.2g} rad a step, so it loses angular momentum: '
            f"expected {remedy}substeps={substeps}"
        )
