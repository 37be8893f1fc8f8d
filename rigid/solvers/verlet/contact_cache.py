"""What a contact leaves to the same one in the next step: its impulse, in lists by shape and feature."""

import taichi as ti

from pbd.integrate import gravity
from rigid.collision.data import PAIR
from rigid.solvers.verlet.data import (
    APPROACH,
    IMPULSE,
    KEPT_FEATURE,
    KEPT_NEXT,
    KEPT_SHAPE,
    tangents,
    triple,
    write_triple,
)

# Faster than so many steps of gravity is an impact, whose impulse is not where the next step begins.
CALM = 3.0


@ti.func
def names(s: ti.template(), c, world):
    """The two shapes of contact c, first one that is a body's, or -1 where it is a particle's."""
    first, second = s.hooked.points.integers[world, c, PAIR.shape_b], s.hooked.points.integers[world, c, PAIR.shape_a]
    if s.hooked.points.integers[world, c, PAIR.body_b] < 0:
        first, second = second, first
    return first, second


@ti.func
def recall(s: ti.template(), c, world):
    """Impulse (3,) [kg m] of the same contact in the last step; zero for a new one."""
    impulse = ti.Vector([0.0, 0.0, 0.0])
    holder, other = names(s, c, world)
    feature = s.hooked.points.integers[world, c, PAIR.feature]
    if holder >= 0:
        old = s.hooked.heads[holder, world]
        while old >= 0:
            same = s.hooked.kept_keys[old, world, KEPT_SHAPE] == other
            if same and s.hooked.kept_keys[old, world, KEPT_FEATURE] == feature:
                impulse = triple(s.hooked.kept, old, world, 0)
                old = -1
            else:
                old = s.hooked.kept_keys[old, world, KEPT_NEXT]
    return impulse


@ti.func
def keep(s: ti.template(), c, world):
    """Keep the impulse of contact c for the next step, first in the list of one of its shapes."""
    impulse = triple(s.hooked.contacts, c, world, IMPULSE)
    holder, other = names(s, c, world)
    if impulse[0] > 0.0 and holder >= 0:
        n, t, u = tangents(s, c, world)
        g = gravity(s, 0).norm()
        if s.hooked.contacts[c, world, APPROACH] > CALM * g * s.settings.h:
            impulse *= 0.0  # an impact: the next step will want nothing like it
        write_triple(s.hooked.kept, c, world, 0, impulse[0] * n + impulse[1] * t + impulse[2] * u)
        s.hooked.kept_keys[c, world, KEPT_SHAPE] = other
        s.hooked.kept_keys[c, world, KEPT_FEATURE] = s.hooked.points.integers[world, c, PAIR.feature]
        s.hooked.kept_keys[c, world, KEPT_NEXT] = s.hooked.heads[holder, world]
        s.hooked.heads[holder, world] = c
