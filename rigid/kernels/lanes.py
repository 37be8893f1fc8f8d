"""Worlds in lanes (pbd/core/kernels/lanes) that wait: each_world functions see those that wait for others, too."""

import taichi as ti

from pbd.core.kernels import in_all_lanes


@ti.func
def mark_active(active: ti.template(), world):
    """Mark the worlds that take part: those in which the enclosing conditions are true. Args: active (worlds,)."""
    clear(active, world)
    active[world] = 1.0


@in_all_lanes
@ti.func
def clear(active: ti.template(), world):
    """Mark all worlds as waiting."""
    active[world] = 0.0
