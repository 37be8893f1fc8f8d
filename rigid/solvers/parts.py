"""Substeps in parts, where bodies that joints connect turn fast, or would swing fast.

Semi-implicit Euler moves a centre by h v while the body turns by h ω. If h|ω| is large, the height differs from v_z h
by r (h ω)²/2, so gravity's work no longer matches, and what joints correct is not paid for: energy grows although no
equation is wrong. So a substep of jointed bodies is made in n equal parts of h/n, from the state at its start alone:

    n = ⌈max(h |ω|/MOST_TURN, h √(g d/(d² + I/m))/MOST_SWING)⌉ 2^halvings

The second is the turn that begins where bodies are small: links of 1 mm swing with 140 rad/s. `halvings` count rises of
the energy (watch.py). Impulses of the last step are scaled to the length of a part, and back after the last one.

Source: ours; see docs/solvers.md.
"""

import taichi as ti

from rigid.kernels.motion import VELOCITY, gravity_of
from rigid.kernels.vectors import load_vector
from rigid.solvers.watch import WATCH

# A jointed body turns by this much in a part at most, at the speed of the start, and swings by this phase [rad].
MOST_TURN, MOST_SWING = 0.25, 0.15

# Substeps are halved where the energy has risen by more than this part of its scale, or a joint is open by this part of
# the mean distance of joints; so often at most, and joined after so many substeps without either.
DIVIDED_RISE, DIVIDED_GAP, MOST_HALVINGS, CALM = 0.005, 0.005, 5.0, 30.0

# A substep has so many parts at most.
MOST_PARTS = 512


def of_part(s, parts):
    """The same data for one of so many parts of a substep: called by Taichi functions while they are compiled."""
    scaled = [name for name in ("h", "tolerance") if name in s.step._fields]
    return s._replace(step=s.step._replace(**{name: getattr(s.step, name) / parts for name in scaled}))


@ti.func
def advance_in_parts(s: ti.template(), advance: ti.template(), scale: ti.template(), number, last, place):
    """Advance a world by a substep, in as many parts as it needs.

    Args: advance: a substep, see rigid/solvers/substeps.py; scale: a Taichi function (s, factor, world) that scales
    the impulses of the last step; place: index of the world.
    """
    # Constant in the loop over parts, the index of a world would be miscompiled at opt_level=0 (pbd/core/kernels.py).
    world = place + s.watch.zero[place]
    parts = count_parts(s, world)
    if parts > 1:
        scale(s, 1.0 / ti.cast(parts, float), world)
    divided = ti.static(of_part(s, ti.cast(parts, float)))
    for part in range(parts):
        advance(divided, number, last and part == parts - 1, world)
    if parts > 1:
        scale(s, ti.cast(parts, float), world)
    if ti.static(s.features.bounded):
        count_halvings(s, world)


@ti.func
def count_parts(s: ti.template(), world):
    """The number of parts of a substep."""
    gravity, needed = gravity_of(s, world).norm(), 0.0
    for body in range(s.bodies.pose.shape[1] - 1):
        swing = s.watch.swing[world, body]
        if swing > 0.0:
            turn = load_vector(s.bodies.velocity, body, VELOCITY.angular, world).norm() / MOST_TURN
            needed = ti.max(needed, turn, ti.sqrt(gravity * swing) / MOST_SWING)
    parts = ti.max(ti.cast(ti.ceil(ti.min(s.step.h * needed, float(MOST_PARTS))), int), 1)
    return ti.min(parts * (1 << ti.cast(s.watch.numbers[world, WATCH.halvings], int)), MOST_PARTS)


@ti.func
def count_halvings(s: ti.template(), world):
    """Halve the parts of later substeps after a rise of the energy, and join them after a while without one."""
    n = ti.static(s.watch.numbers)
    halvings, calm = n[world, WATCH.halvings], n[world, WATCH.calm] + 1.0
    troubled = n[world, WATCH.rise] > DIVIDED_RISE
    if ti.static(s.features.closable):
        troubled = troubled or n[world, WATCH.gap] > DIVIDED_GAP
    if troubled:
        halvings, calm = ti.min(halvings + 1.0, MOST_HALVINGS), 0.0
    elif calm > CALM:
        halvings, calm = ti.max(halvings - 1.0, 0.0), 0.0
    n[world, WATCH.halvings], n[world, WATCH.calm] = halvings, calm
    n[world, WATCH.rise], n[world, WATCH.gap] = 0.0, 0.0
