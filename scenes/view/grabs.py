"""Grabs of a session: springs from grabbed points to the positions of pointers. They do not depend on a browser."""

import math
from dataclasses import dataclass

import numpy as np

from scenes.view.picking import PickedPoint, connected_load, pick
from scenes.view.session import GRABS

# Under the weight of all that is connected, the spring stretches by this part of the size of that.
STRETCH = 0.02
# Largest force of the spring, in weights of all that is connected: a grab does not tear apart what is stuck.
LARGEST_FORCE = 5.0
# Browsers send about twenty positions of a pointer in a second. The target follows them with this time constant [s].
SMOOTHING = 0.04
# Weights are those on Earth, also in scenes without gravity [m/s²].
EARTH_GRAVITY = 9.81


@dataclass
class Grab:
    """What one pointer grabbed.

    Args:
        number: which grab spring of the solvers.
        picked: the PickedPoint.
        stiffness, damping: of the spring [N/m, N s/m].
        largest_force: of the spring [N].
        target: end of the spring (3,) [m].
        pointer: position of the pointer (3,) [m].
        pinned: whether it is a pinned particle. It has no spring but is put at the target.
    """

    number: int
    picked: PickedPoint
    stiffness: float
    damping: float
    largest_force: float
    target: np.ndarray
    pointer: np.ndarray
    pinned: bool = False


class Grabs:
    """The grabs of a session, one for each pointer. All methods run on the session's thread.

    Args: session. Attributes: active: {user: Grab}.
    """

    def __init__(self, session):
        self.session, self.active, self.run = session, {}, session.run

    def grab(self, user, visual, number, instance, point):
        """Grab what a visual draws, in the scene and its ghost, from the next step on.

        Args: user: identifies the pointer; visual, number, instance, point: as for `pick`.

        Returns: whether there was something to grab.
        """
        self.clear_if_restarted()
        self.release(user)
        run = self.session.run
        picked = pick(run, visual, number, instance, point)
        free = set(range(GRABS)) - {grab.number for grab in self.active.values()}
        if picked is None or not free:
            return False
        position, spring = picked.position(run), min(free)
        if picked.body is None and run.particles.inverse_masses()[picked.nearest] == 0:
            if picked.nearest in driven_particles(run):
                return False
            picked = PickedPoint(np.array([picked.nearest]), np.ones(1))
            self.active[user] = Grab(spring, picked, 0.0, 0.0, 0.0, picked.position(run), position, pinned=True)
            return True
        mass, size, own_mass = connected_load(run, picked)
        stiffness = mass * EARTH_GRAVITY / (STRETCH * size)
        damping = 2 * math.sqrt(stiffness * own_mass)
        largest_force = LARGEST_FORCE * mass * EARTH_GRAVITY
        self.active[user] = Grab(spring, picked, stiffness, damping, largest_force, position, position)
        return True

    def move_pointer(self, user, position):
        """Store the position of a pointer. Args: user; position (3,) [m]."""
        if user in self.active:
            self.active[user].pointer = np.asarray(position, float)

    def release(self, user):
        """Release what a pointer grabbed, if anything."""
        grab = self.active.pop(user, None)
        if grab is not None and not grab.pinned:
            for run in self.runs():
                system_of(run, grab.picked).release(grab.number)

    def release_all(self):
        """Release everything."""
        for user in list(self.active):
            self.release(user)

    def update(self, span):
        """Move all targets towards their pointers. Args: span: time until the next call [s]."""
        self.clear_if_restarted()
        for grab in self.active.values():
            grab.target = grab.target + (1 - math.exp(-span / SMOOTHING)) * (grab.pointer - grab.target)
            if grab.pinned:
                set_position(self.session.run.particles, grab.picked.particles, grab.target)
                continue
            for run in self.runs():
                pull(run, grab)

    def runs(self):
        """The Run of the session, and that of its ghost."""
        return [run for run in (self.session.run, self.session.ghost) if run is not None]

    def clear_if_restarted(self):
        """Forget all grabs if the session started another run."""
        if self.run is not self.session.run:
            self.run, self.active = self.session.run, {}


def system_of(run, picked):
    """The object that pulls a PickedPoint: the solver pulls bodies, the particle system pulls particles."""
    return run.particles if picked.body is None else run.system


def pull(run, grab):
    """Set the grab spring of a Run. Its force has an upper bound."""
    picked = grab.picked
    position = picked.position(run)
    offset = grab.target - position
    longest = grab.largest_force / grab.stiffness
    target = position + offset * min(1.0, longest / max(np.linalg.norm(offset), 1e-12))
    if picked.body is None:
        run.particles.grab(grab.number, picked.particles, target, grab.stiffness, grab.damping, picked.weights)
    else:
        run.system.grab(grab.number, picked.body, picked.point, target, grab.stiffness, grab.damping)


def set_position(system, particles, position):
    """Move pinned particles. Args: a pbd.ParticleSystem; particles: indices; position (3,) [m]."""
    positions = system.positions()
    positions[particles] = position
    system.set_positions(positions)


def driven_particles(run):
    """Indices of the particles that the scene moves along paths. Pointers do not move them."""
    return [int(i) for particles, _ in run.scene.particles.paths for i in particles]
