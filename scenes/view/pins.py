"""Pins: particles that a person stops where they are, and lets go again. It knows no browser."""

import math

import numpy as np

from scenes.view.grabs import led
from scenes.view.picking import grasp


def first_on_ray(positions, origin, direction):
    """The first of some points that a ray passes by, as near as it passes by any.

    Arguments: positions (n, 3) [m]; origin (3,) [m]; direction (3,).
    """
    direction = np.asarray(direction) / np.linalg.norm(direction)
    away = positions - origin
    depth = away @ direction
    aside = np.linalg.norm(away - depth[:, None] * direction, axis=1)
    near = (depth > 0) & (aside <= 1.5 * aside[depth > 0].min(initial=np.inf))
    return positions[np.flatnonzero(near)[np.argmin(depth[near])]]


class Pins:
    """The pins of a session's scene; to be called on its thread. Arguments: session.

    Attributes: masses: of the particles that were pinned here, before that, {index: mass [kg]}.
    """

    def __init__(self, session):
        self.session, self.masses, self.running = session, {}, session.running

    def pin(self, visual, number, instance, point):
        """Pin the particle that is nearest to a point of what a visual draws. Arguments: as of `grasp`.

        Errors: ValueError where there are no particles.
        """
        particle = self.particle(visual, number, instance, point)
        system = self.running.particles
        weight = system.inverse_masses()[particle]
        if weight > 0:
            system.set_masses([particle], math.inf)
            self.masses[particle] = 1 / weight

    def unpin(self, visual, number, instance, point):
        """Let go of the pinned particle that is nearest to such a point. Errors: ValueError where none is pinned."""
        self.particle(visual, number, instance, point)
        system, own = self.running.particles, self.running.scene.particles
        pins = np.flatnonzero(system.inverse_masses()[: len(own)] == 0)
        pins = np.setdiff1d(pins, led(self.running))
        if not len(pins):
            raise ValueError("nothing is pinned that could be let go")
        particle = int(pins[np.argmin(np.linalg.norm(system.positions()[pins] - point, axis=1))])
        # One that the scene pins has no mass of its own: it gets that of the others.
        finite = own.masses()[np.isfinite(own.masses())]
        system.set_masses([particle], self.masses.pop(particle, finite.mean() if len(finite) else 1.0))

    def particle(self, visual, number, instance, point):
        """The particle that is nearest to a point of what a visual draws."""
        self.renew()
        held = grasp(self.running, visual, number, instance, point)
        if held is None or held.body is not None:
            raise ValueError("there are no particles here: expected cloth, a rope, a soft body")
        return held.nearest

    def renew(self):
        """Know of no pins where the session runs something new."""
        if self.running is not self.session.running:
            self.running, self.masses = self.session.running, {}
