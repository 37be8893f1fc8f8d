"""Which loaded contacts push, and with which impulses (rigid/solvers/verlet/loaded_contacts.py).

Gaps and slips C were measured with the impulses R' so far. With S, and new impulses R = (n·R, F),

    C + S (R - R') >= 0,   n·R >= 0,   one of both zero            along normals
    C + S (R - R') = -F/c                                          along tangents

Which contacts push is found by block pivots: all that would pull are let go, and all that would overlap push. The
resistance of friction is c = μ n·R/|slip|, with the impulse and the slip of the iteration before. So F opposes the slip
and converges to Coulomb's limit, as in pbd/direct/contacts.py. While pivots go on, c stays, also where a contact is let
go: otherwise the matrix changes with each pivot, and they go in a circle.

Source: Júdice, Pires, A block principal pivoting algorithm for large-scale strictly monotone linear complementarity
problems (1994).
"""

import taichi as ti

from pbd.core.kernels import real_bits
from rigid.solvers.verlet.data import CONTACT

# Rows of a contact: its normal and two tangents.
AXES = 3

# The diagonal of S is larger by this part of Gᵀ W G: normals of one body at more than three contacts depend on one
# another, and constraints may hold a contact wholly.
SOFTNESS = {64: 1e-9, 32: 1e-5}

# Pivots in turn that may not lower the number of contacts in the wrong state before they change one contact at a time,
# and most pivots.
MOST_IN_VAIN, MOST_PIVOTS = 4, 100

# What sticks creeps by this part of what its friction would displace it by without other friction.
CREEP = 1e-6


@ti.func
def displacement_by(s: ti.template(), row, world):
    """A row of S R: what all impulses displace a contact by [m]."""
    loaded = ti.static(s.hooked.loaded)
    result = 0.0
    for column in range(AXES * loaded.count[world]):
        result += loaded.response[world, row, column] * loaded.impulse[world, column]
    return result


@ti.func
def choose_pushing(s: ti.template(), world):
    """Solve for the impulses, and choose the contacts that push, until none pulls and none overlaps."""
    loaded = ti.static(s.hooked.loaded)
    fewest, in_vain, pivots, again = loaded.count[world] + 1, 0, 0, True
    while again:
        solve_pushing(s, world)
        wrong, last = 0, -1
        for k in range(loaded.count[world]):
            if is_wrong(s, k, world):
                wrong, last = wrong + 1, k
        in_vain = ti.select(wrong < fewest, 0, in_vain + 1)
        fewest = ti.min(fewest, wrong)
        pivots += 1
        again = wrong > 0 and pivots < MOST_PIVOTS
        if again:
            first = ti.select(in_vain > MOST_IN_VAIN, last, 0)
            for k in range(loaded.count[world]):
                # `is_wrong` reads impulses, which the next solve changes
                if k >= first and is_wrong(s, k, world):
                    loaded.pushes[world, k] = 1.0 - loaded.pushes[world, k]
    let_go_of_pulling(s, world)


@ti.func
def let_go_of_pulling(s: ti.template(), world):
    """Take the impulses from contacts that pull after the most pivots: a pull could gain energy, an overlap cannot."""
    loaded = ti.static(s.hooked.loaded)
    for k in range(loaded.count[world]):
        if loaded.impulse[world, AXES * k] < 0.0:
            for axis in ti.static(range(AXES)):
                loaded.impulse[world, AXES * k + axis] = 0.0


@ti.func
def is_wrong(s: ti.template(), k, world):
    """Whether a contact pulls, or overlaps without pushing."""
    loaded = ti.static(s.hooked.loaded)
    row = AXES * k
    wrong = loaded.impulse[world, row] < 0.0
    if loaded.pushes[world, k] == 0.0:
        wrong = displacement_by(s, row, world) < loaded.right[world, row]
    return wrong


@ti.func
def list_unknowns(s: ti.template(), world):
    """List the rows of S whose impulse is not zero: normals that push, and tangents with friction.

    Returns: how many.
    """
    loaded = ti.static(s.hooked.loaded)
    count = 0
    for k in range(loaded.count[world]):
        for axis in ti.static(range(AXES)):
            if (loaded.pushes[world, k] if axis == 0 else loaded.resistance[world, k]) > 0.0:
                loaded.unknown[world, count] = AXES * k + axis
                count += 1
    return count


@ti.func
def solve_pushing(s: ti.template(), world):
    """Solve for the impulses of the contacts that push, by L D Lᵀ."""
    loaded = ti.static(s.hooked.loaded)
    lower, scaled, impulse = ti.static(loaded.lower, loaded.scaled, loaded.impulse)
    count = list_unknowns(s, world)
    for row in range(AXES * loaded.count[world]):
        impulse[world, row] = 0.0
    for i in range(count):
        row = loaded.unknown[world, i]
        value = loaded.right[world, row]
        pivot = loaded.response[world, row, row] + ti.static(SOFTNESS[real_bits()]) * loaded.free[world, row]
        if row % AXES > 0:
            pivot += 1.0 / loaded.resistance[world, row // AXES]
        for j in range(i):
            entry = loaded.response[world, row, loaded.unknown[world, j]]
            for m in range(j):
                entry -= scaled[world, i, m] * lower[world, j, m]
            scaled[world, i, j] = entry
            lower[world, i, j] = entry / scaled[world, j, j]
            pivot -= entry * lower[world, i, j]
            value -= lower[world, i, j] * impulse[world, loaded.unknown[world, j]]
        scaled[world, i, i] = pivot
        impulse[world, row] = value
    for back in range(count):
        i = count - 1 - back
        row = loaded.unknown[world, i]
        value = impulse[world, row] / scaled[world, i, i]
        for j in range(i + 1, count):
            value -= lower[world, j, i] * impulse[world, loaded.unknown[world, j]]
        impulse[world, row] = value


@ti.func
def choose_resistances(s: ti.template(), world):
    """Choose the resistances of the next solve. Returns: by how much their changes would move a contact alone [m]."""
    loaded = ti.static(s.hooked.loaded)
    moved = 0.0
    for k in range(loaded.count[world]):
        mu = s.hooked.contacts[world, loaded.contact[world, k], CONTACT.friction]
        before, after = loaded.resistance[world, k], 0.0
        if loaded.pushes[world, k] > 0.0 and mu > 0.0:
            row = AXES * k
            slip = ti.Vector([0.0, 0.0])
            for axis in ti.static(range(2)):
                slip[axis] = displacement_by(s, row + 1 + axis, world) - loaded.right[world, row + 1 + axis]
            mobility = 0.5 * (loaded.response[world, row + 1, row + 1] + loaded.response[world, row + 2, row + 2])
            after = ti.min(mu * loaded.impulse[world, row] / (slip.norm() + 1e-30), 1.0 / (CREEP * mobility + 1e-30))
            moved = ti.max(moved, ti.abs(after - before) * mobility / (1.0 + after * mobility) * slip.norm())
        loaded.resistance[world, k] = after
    return moved
