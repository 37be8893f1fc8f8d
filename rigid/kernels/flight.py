"""What steps of bodies have alike, in kernels: gravity, free flight, how far bodies look around, worlds."""

import taichi as ti

from rigid.kernels.columns import put_triple, triple
from rigid.kernels.motion import ANGULAR, LINEAR, RADIUS, spin_on

# How far beyond its surface a body looks for others, besides the way it may go in the step: part of its radius.
SKIN = 0.02


@ti.func
def gravity(s: ti.template(), world):
    """Of a world [m/s²]."""
    return ti.Vector([s.surroundings[k, world] for k in ti.static(range(3))])


@ti.func
def gain_speed(s: ti.template(), body, world):
    """Velocities from forces: gravity, and the gyroscopic torque."""
    velocity = triple(s.motion.velocities, body, LINEAR, world) + s.h * gravity(s, world)
    put_triple(s.motion.velocities, body, LINEAR, velocity, world)
    spin_on(s.motion, s.features.gyroscopic, body, s.h, world)


@ti.func
def look_around(s: ti.template(), world):
    """Note how far beyond its surface each body looks: as far as it may come in the step, and a little."""
    for body in range(s.reach.shape[0]):
        radius = s.motion.masses[world, body, RADIUS]
        speed = (triple(s.motion.velocities, body, LINEAR, world) + s.h * gravity(s, world)).norm()
        speed += radius * triple(s.motion.velocities, body, ANGULAR, world).norm()
        s.reach[body, world] = s.h * speed + SKIN * radius


@ti.func
def finite(s: ti.template(), body, world):
    """Whether a body's pose is finite: the sum of its numbers is not, where one is not."""
    total = 0.0
    for k in ti.static(range(7)):
        total += s.motion.poses[world, body, k]
    return total - total == 0.0


def over_worlds(advance_world, features):
    """A Taichi function (s, steps, sweeps) that has each world advance, on one thread; many on many threads.

    Arguments: advance_world: a Taichi function (s, world, steps, sweeps); features: of a solver's kernel, with
    `one_world`, and `spread`, turns between two worlds (pbd.core.runtime.LOOP_STRIDE).
    """

    @ti.func
    def advance(s: ti.template(), steps, sweeps):
        if ti.static(features.one_world):
            ti.loop_config(serialize=True)
            for world in range(1):
                advance_world(s, world, steps, sweeps)
        else:
            for turn in range(s.report.shape[0] * features.spread):
                if turn % features.spread == 0:
                    world = turn // features.spread
                    advance_world(s, world, steps, sweeps)

    return advance
