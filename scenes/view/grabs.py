"""Grabs of a session: springs from what pointers hold to where they are. It knows no browser."""

import math
from dataclasses import dataclass

import numpy as np

from scenes.view.picking import Held, burden, grasp
from scenes.view.session import GRABS

# The spring to a pointer gives by this part of the size of what hangs on it under the weight of that, and pulls with
# so many times that weight at most: what is stuck is not torn apart.
GIVE, MOST = 0.02, 5.0
# A pointer is told of some twenty times a second; what it holds goes there over this time [s].
SMOOTHING = 0.04
# Weights are those on Earth, also where a scene has no gravity [m/s²].
EARTH = 9.81


@dataclass
class Grip:
    """One grab: which of the solvers', what it holds, its spring [N/m, N s/m], the most it pulls with [N], where to
    and where the pointer is (3,) [m]; pinned: whether it holds a pinned particle, which is put where the pointer is."""

    grab: int
    held: Held
    stiffness: float
    damping: float
    most: float
    target: np.ndarray
    goal: np.ndarray
    pinned: bool = False


class Grabs:
    """The grabs of a session, one for each pointer; to be called on its thread. Arguments: session."""

    def __init__(self, session):
        self.session, self.grips, self.running = session, {}, session.running

    def take(self, who, visual, number, instance, point):
        """Take hold of what a visual draws, from the next step on: of the scene, and of its ghost.

        Arguments: who: whose pointer, anything that tells them apart; the rest: as of `grasp`.

        Returns: whether there was something to hold.
        """
        self.renew()
        self.release(who)
        running = self.session.running
        held = grasp(running, visual, number, instance, point)
        free = set(range(GRABS)) - {grip.grab for grip in self.grips.values()}
        if held is None or not free:
            return False
        place, grab = held.place(running), min(free)
        if held.body is None and running.particles.inverse_masses()[held.nearest] == 0:
            if held.nearest in led(running):
                return False
            held = Held(np.array([held.nearest]), np.ones(1))
            self.grips[who] = Grip(grab, held, 0.0, 0.0, 0.0, held.place(running), place, pinned=True)
            return True
        mass, size, own = burden(running, held)
        stiffness = mass * EARTH / (GIVE * size)
        damping = 2 * math.sqrt(stiffness * own)
        self.grips[who] = Grip(grab, held, stiffness, damping, MOST * mass * EARTH, place, place)
        return True

    def lead(self, who, goal):
        """Say where a pointer is now. Arguments: who; goal (3,) [m]."""
        if who in self.grips:
            self.grips[who].goal = np.asarray(goal, float)

    def release(self, who):
        """Let go of what a pointer holds, if anything. Arguments: who."""
        grip = self.grips.pop(who, None)
        if grip is not None and not grip.pinned:
            for running in self.both():
                holder(running, grip.held).release(grip.grab)

    def release_all(self):
        """Let go of everything."""
        for who in list(self.grips):
            self.release(who)

    def move(self, span):
        """Move all grabs on. Arguments: span: the time until the next call [s]."""
        self.renew()
        for grip in self.grips.values():
            grip.target = grip.target + (1 - math.exp(-span / SMOOTHING)) * (grip.goal - grip.target)
            if grip.pinned:
                put(self.session.running.particles, grip.held.particles, grip.target)
                continue
            for running in self.both():
                pull(running, grip)

    def both(self):
        """The session's Run, and its ghost's."""
        return [running for running in (self.session.running, self.session.ghost) if running is not None]

    def renew(self):
        """Hold nothing where the session runs something new."""
        if self.running is not self.session.running:
            self.running, self.grips = self.session.running, {}


def holder(running, held):
    """Who holds it: a solver its bodies, a system its particles."""
    return running.particles if held.body is None else running.system


def pull(running, grip):
    """Have a Run pull what a grip holds, as hard as it may."""
    held = grip.held
    place = held.place(running)
    way = grip.target - place
    reach = grip.most / grip.stiffness
    target = place + way * min(1.0, reach / max(np.linalg.norm(way), 1e-12))
    if held.body is None:
        running.particles.grab(grip.grab, held.particles, target, grip.stiffness, grip.damping, held.weights)
    else:
        running.system.grab(grip.grab, held.body, held.point, target, grip.stiffness, grip.damping)


def put(system, particles, place):
    """Put pinned particles somewhere."""
    positions = system.positions()
    positions[particles] = place
    system.set_positions(positions)


def led(running):
    """Particles that are led along paths, and not to be moved otherwise."""
    return [int(i) for particles, _ in running.scene.particles.paths for i in particles]
