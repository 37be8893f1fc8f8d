"""Substeps in parts, where bodies that joints connect turn fast, or would swing fast.

Semi-implicit Euler moves a centre by h v while the body turns by h ω. If h|ω| is large, the height differs from v_z h
by r (h ω)²/2, so gravity's work no longer matches, and what joints correct is not paid for: energy grows although no
equation is wrong. So a substep of jointed bodies is made in parts of at most h/n, each from the state at its start:

    n = ⌈max(h |ω|/MOST_TURN, h √(g d/(d² + I/m))/MOST_SWING)⌉ 2^halvings

The second is the turn that begins where bodies are small: links of 1 mm swing with 140 rad/s. `halvings` count rises of
the energy (energy_bound.py). Impulses of the part before are scaled to the length of the next, and at last to a whole
substep.

Source: ours; see docs/solvers/loads.md.
"""

import taichi as ti

from pbd.core.kernels import any_world, load_vector
from rigid.kernels.motion import VELOCITY, gravity_on
from rigid.solvers.energy_bound import OF_BODY, WATCH, is_bounded, report_rise

# A jointed body turns by this much in a part at most, at the speed of the start, and swings by this phase [rad].
MOST_TURN, MOST_SWING = 0.25, 0.15

# Parts are halved where the energy has risen by more than this part of its scale and rises, or a joint is open by this
# part of the mean distance of joints and opens; and joined after so many substeps without either.
DIVIDED_RISE, DIVIDED_GAP, CALM = 0.005, 0.005, 8.0

# A substep has about so many parts at most.
MOST_PARTS = 512


def of_part(s, length):
    """The same data for a part of a substep: called by Taichi functions while they are compiled. Args: length: of it,
    in parts of the substep."""
    scaled = [name for name in ("h", "tolerance") if name in s.step._fields]
    return s._replace(step=s.step._replace(**{name: getattr(s.step, name) * length for name in scaled}))


@ti.func
def advance_in_parts(s: ti.template(), advance: ti.template(), scale: ti.template(), number, last, world):
    """Advance a world by a substep, in as many parts as it needs.

    Args: advance: a substep, see rigid/solvers/substeps.py; scale: a Taichi function (s, factor, world) that scales
    the impulses of the last step.
    """
    left, length, part = 1.0, 1.0, 0
    while any_world(left > 0.0):
        if left > 0.0:  # always, but for worlds in lanes that have fewer parts than others
            more = ti.max(ti.ceil(left * count_parts(s, world) - 1e-3), 1.0)
            before, length = length, left / more
            left = ti.select(more == 1.0, 0.0, left - length)
            if length != before:
                scale(s, length / before, world)
            advance(ti.static(of_part(s, length)), number, last and more == 1.0, world)
            if part == 0:
                report_rise(s, world)
            if ti.static(is_bounded(s.features)):
                count_halvings(s, length, world)
        part += 1
    if length < 1.0:
        scale(s, 1.0 / length, world)


@ti.func
def count_parts(s: ti.template(), world):
    """Number of parts that a substep needs at the present velocities, a real number."""
    needed = 0.0  # the square of parts per time
    for body in range(s.bodies.pose.shape[1] - 1):
        swing = s.watch.bodies[world, body, OF_BODY.swing]
        if swing > 0.0:
            turn = load_vector(s.bodies.velocity, body, VELOCITY.angular, world).norm_sqr() / MOST_TURN**2
            needed = ti.max(needed, turn, gravity_on(s, body, world).norm() * swing / MOST_SWING**2)
    parts = ti.max(ti.ceil(ti.min(s.step.h * ti.sqrt(needed), float(MOST_PARTS))), 1.0)
    return ti.min(parts * 2.0 ** s.watch.numbers[world, WATCH.halvings], float(MOST_PARTS))


@ti.func
def count_halvings(s: ti.template(), length, world):
    """Halve later parts where the energy or a gap grows, and join them after a while without trouble.

    Args: length: of the part, in parts of the substep.
    """
    n = ti.static(s.watch.numbers)
    halvings, calm = n[world, WATCH.halvings], n[world, WATCH.calm] + length
    rise, gap = n[world, WATCH.rise], n[world, WATCH.gap]
    most = ti.static(float(s.features.division.most_halvings))
    troubled, grows = rise > DIVIDED_RISE, rise > n[world, WATCH.last_rise]
    if ti.static(s.features.division.by_gaps):
        troubled = troubled or gap > DIVIDED_GAP
        grows = grows or gap > n[world, WATCH.last_gap]
    if troubled:
        calm = 0.0
        if grows:
            halvings = ti.min(halvings + 1.0, most)
    elif calm > CALM:
        halvings, calm = ti.max(halvings - 1.0, 0.0), 0.0
    n[world, WATCH.halvings], n[world, WATCH.calm] = halvings, calm
    n[world, WATCH.last_rise], n[world, WATCH.last_gap] = rise, gap
