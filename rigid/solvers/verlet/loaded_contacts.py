"""Contacts that bear the loads of a direct solve: of its particles with bodies that move, as of a rope with a wheel.

Projected between direct solves they would not converge: the rope lifts the weights on it, and the wheel gives way. So
they are solved together, after each direct solve, for what the constraints leave of their impulses. With the gradients
G of contacts along their normals and tangents, and A, J, W of pbd/direct/solve.py, impulses R displace contacts by S R:

    S = Gᵀ W G - Gᵀ W Jᵀ A⁻¹ J W G

A column of S is how everything answers to a unit impulse at a contact (pbd/direct/response.py). S is dense, and small.
Then the impulses of the substep solve

    C + S (R - R') >= 0,   n·R >= 0,   one of both zero            along normals
    C + S (R - R') = -F/c                                          along tangents

R' are those so far, at which the gaps and slips C were measured. Which contacts push is found by block pivots: all that
would pull are let go, and all that would overlap push. The resistance of friction is c = μ n·R/|slip| with the impulse
and the slip found before, so that F opposes the slip and reaches Coulomb's limit. What sticks has so large a c that it
hardly creeps. Bodies that bear such contacts may stand on others. So all contacts of these bodies are solved, too, and
those of the bodies that they touch.

Sources: Baraff, Linear-time Dynamics using Lagrange Multipliers (1996), section 7; Júdice, Pires, A block principal
pivoting algorithm for large-scale strictly monotone linear complementarity problems (1994), for the pivots.
"""

import taichi as ti

from pbd.core.kernels import load_vector, real_bits, store_vector
from pbd.direct.mobility import weigh
from pbd.direct.momentum_residual import move_by_impulse
from pbd.direct.response import apply_response, respond
from rigid.solvers.verlet.frame_motion import move_bodies, rotation_by
from rigid.solvers.verlet.contacts_in_lanes import contact_count
from rigid.solvers.verlet.contact_sides import PARTICLE, apply_impulse, point_of, sides_of
from rigid.solvers.verlet.contacts import axes_of, measure_displacement, relative_displacement
from rigid.solvers.verlet.data import CONTACT, MOTION, SIZE
from rigid.solvers.verlet.particle_contacts import is_fixed

# A contact's normal and tangents.
AXES = 3

# The diagonal of S is larger by this part of Gᵀ W G: normals of one body at more than three contacts depend on one
# another, and constraints may hold a contact wholly.
SOFTNESS = {64: 1e-9, 32: 1e-5}

# Resistances are chosen until they change by less than CHANGED, but not more often than MOST_CHOICES.
MOST_CHOICES, CHANGED = 100, 1e-3

# Pivots in turn that may not lower the number of contacts in the wrong state before they change one contact at a time,
# and most pivots.
MOST_IN_VAIN, MOST_PIVOTS = 4, 100

# What sticks creeps by this part of what its friction would displace it by without other friction.
CREEP = 1e-6


# Which contacts are loaded --------------------------------------------------------------------------------------------


@ti.func
def list_loaded(s: ti.template(), world):
    """List the loaded contacts of a substep, as far as there are places for them."""
    loaded = ti.static(s.hooked.loaded)
    loaded.count[world], loaded.factorings[world] = 0, -1.0
    for body in range(s.hooked.sizes[SIZE.bodies]):
        s.hooked.motion[world, body, MOTION.bears_load] = 0.0
    for c in range(contact_count(s, world)):
        s.hooked.contacts[world, c, CONTACT.is_loaded] = 0.0
    again = True
    while again:
        again = False
        for c in range(contact_count(s, world)):
            a, b = sides_of(s, c, world)
            if s.hooked.contacts[world, c, CONTACT.is_loaded] == 0.0 and bears_load(s, a, b, world):
                k = loaded.count[world]
                if k < loaded.contact.shape[1]:
                    loaded.contact[world, k] = c
                    loaded.count[world] = k + 1
                    loaded.resistance[world, k] = 0.0
                    s.hooked.contacts[world, c, CONTACT.is_loaded] = 1.0
                    mark_bearing(s, a, world)
                    mark_bearing(s, b, world)
                    again = True


@ti.func
def bears_load(s: ti.template(), a, b, world):
    """Whether a contact is with a particle of the direct solve and a body that moves, or with a body that has such."""
    result = False
    if a <= PARTICLE:
        result = s.hooked.solved_directly[PARTICLE - a] == 1 and not is_fixed(s, b, world)
    elif a >= 0:
        result = s.hooked.motion[world, a, MOTION.bears_load] > 0.0
    if a > PARTICLE and b >= 0:
        result = result or s.hooked.motion[world, b, MOTION.bears_load] > 0.0
    return result


@ti.func
def mark_bearing(s: ti.template(), side, world):
    """Mark a body that moves."""
    if side >= 0:
        if not is_fixed(s, side, world):
            s.hooked.motion[world, side, MOTION.bears_load] = 1.0


# How everything answers -----------------------------------------------------------------------------------------------


@ti.func
def write_column(s: ti.template(), k, axis: ti.template(), world):
    """Write a column of S. Args: k: index of a loaded contact; axis: 0 for its normal, 1 and 2 for its tangents."""
    loaded = ti.static(s.hooked.loaded)
    c, column = loaded.contact[world, k], AXES * k + axis
    direction = axes_of(s, c, world)[axis]
    for i in range(s.counts.particles):
        loaded.field[i, world] = ti.Vector([0.0, 0.0, 0.0])
    a, b = sides_of(s, c, world)
    add_displacement(s, a, load_vector(s.hooked.contacts, c, CONTACT.arm_a, world), direction, world)
    add_displacement(s, b, load_vector(s.hooked.contacts, c, CONTACT.arm_b, world), -direction, world)
    loaded.free[world, column] = displacement_at(s, c, world).dot(direction)
    respond(s, loaded.field, loaded.answers, column, world)
    for other in range(loaded.count[world]):
        at = loaded.contact[world, other]
        displacement = displacement_at(s, at, world)
        for row, d in ti.static(enumerate(axes_of(s, at, world))):
            loaded.response[world, AXES * other + row, column] = displacement.dot(d)


@ti.func
def add_displacement(s: ti.template(), side, arm, impulse, world):
    """Add what an impulse displaces a side by, without constraints. Args: arm: from the centre of mass (3,) [m]."""
    field = ti.static(s.hooked.loaded.field)
    if side >= 0:
        linear = s.hooked.motion[world, side, MOTION.inverse_mass] * impulse
        angular = rotation_by(s, side, arm.cross(impulse), world)
        centre = load_vector(s.hooked.motion, side, MOTION.centre, world)
        for m in range(s.hooked.first_member[side], s.hooked.first_member[side + 1]):
            i = s.hooked.members[m]
            if s.particles.position[i, world][3] > 0.0:
                r = s.particles.previous_position[i, world] - centre
                field[i, world] = field[i, world] + linear + angular.cross(r)
    elif side <= PARTICLE:
        i = PARTICLE - side
        field[i, world] = field[i, world] + weigh(s, i, impulse, world)


@ti.func
def displacement_at(s: ti.template(), c, world):
    """Displacement of A's point at contact c relative to B's in the field (3,) [m]."""
    field = ti.static(s.hooked.loaded.field)
    a, b = sides_of(s, c, world)
    weights_a = ti.Vector([s.hooked.contacts[world, c, CONTACT.weights_a + k] for k in ti.static(range(4))])
    weights_b = ti.Vector([s.hooked.contacts[world, c, CONTACT.weights_b + k] for k in ti.static(range(4))])
    return point_of(s, field, a, weights_a, world) - point_of(s, field, b, weights_b, world)


# The solve ------------------------------------------------------------------------------------------------------------


@ti.func
def solve_loaded(s: ti.template(), world):
    """Solve all loaded contacts. Returns: by how much this displaces sides against each other, the largest [m]."""
    worst, choices = 0.0, 0
    again = measure(s, world)
    while again:
        choose_pushing(s, world)
        choices += 1
        again = choose_resistances(s, world) and choices < MOST_CHOICES
    if choices > 0:
        worst = apply_impulses(s, world)
    return worst


@ti.func
def measure(s: ti.template(), world):
    """Measure gaps and slips. Returns: whether any contact pushes."""
    loaded, contacts = ti.static(s.hooked.loaded, s.hooked.contacts)
    found = False
    for k in range(loaded.count[world]):
        c = loaded.contact[world, k]
        measure_displacement(s, c, world)
        displacement = relative_displacement(s, c, world)
        for axis, d in ti.static(enumerate(axes_of(s, c, world))):
            loaded.right[world, AXES * k + axis] = -displacement.dot(d)
        gap = contacts[world, c, CONTACT.gap] - loaded.right[world, AXES * k]
        loaded.right[world, AXES * k] = -gap
        pushes = gap < 0.0 or contacts[world, c, CONTACT.impulse] > 0.0
        loaded.pushes[world, k] = ti.cast(pushes, float)
        found = found or pushes
    if found:
        if loaded.factorings[world] != s.direct.factorings[world]:
            loaded.factorings[world] = s.direct.factorings[world]
            for k in range(loaded.count[world]):
                for axis in ti.static(range(AXES)):
                    write_column(s, k, axis, world)
        for k in range(loaded.count[world]):
            for axis in ti.static(range(AXES)):
                impulse = contacts[world, loaded.contact[world, k], CONTACT.impulse + axis]
                loaded.impulse[world, AXES * k + axis] = impulse
        for row in range(AXES * loaded.count[world]):
            loaded.right[world, row] = loaded.right[world, row] + displacement_by(s, row, world)
    return found


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
def is_unknown(s: ti.template(), row, world):
    """Whether a row of S takes part: its contact pushes, and has friction if the row is a tangent's."""
    loaded = ti.static(s.hooked.loaded)
    k = row // AXES
    return loaded.pushes[world, k] > 0.0 and (row % AXES == 0 or loaded.resistance[world, k] > 0.0)


@ti.func
def solve_pushing(s: ti.template(), world):
    """Solve for the impulses of the contacts that push, by L D Lᵀ."""
    loaded = ti.static(s.hooked.loaded)
    lower, impulse = ti.static(loaded.lower, loaded.impulse)
    rows = AXES * loaded.count[world]
    for i in range(rows):
        impulse[world, i] = 0.0
        if is_unknown(s, i, world):
            value = loaded.right[world, i]
            pivot = loaded.response[world, i, i] + ti.static(SOFTNESS[real_bits()]) * loaded.free[world, i]
            if i % AXES > 0:
                pivot += 1.0 / loaded.resistance[world, i // AXES]
            for j in range(i):
                if is_unknown(s, j, world):
                    entry = loaded.response[world, i, j]
                    for m in range(j):
                        if is_unknown(s, m, world):
                            entry -= lower[world, i, m] * lower[world, j, m] * lower[world, m, m]
                    entry /= lower[world, j, j]
                    lower[world, i, j] = entry
                    pivot -= entry * entry * lower[world, j, j]
                    value -= entry * impulse[world, j]
            lower[world, i, i] = pivot
            impulse[world, i] = value
    for back in range(rows):
        i = rows - 1 - back
        if is_unknown(s, i, world):
            value = impulse[world, i] / lower[world, i, i]
            for j in range(i + 1, rows):
                if is_unknown(s, j, world):
                    value -= lower[world, j, i] * impulse[world, j]
            impulse[world, i] = value


@ti.func
def choose_resistances(s: ti.template(), world):
    """Choose the resistances of friction. Returns: whether any has changed."""
    loaded = ti.static(s.hooked.loaded)
    changed = False
    for k in range(loaded.count[world]):
        mu = s.hooked.contacts[world, loaded.contact[world, k], CONTACT.friction]
        before, after = loaded.resistance[world, k], 0.0
        if loaded.pushes[world, k] > 0.0 and mu > 0.0:
            row = AXES * k
            limit = mu * loaded.impulse[world, row]
            slip = ti.Vector([0.0, 0.0])
            for axis in ti.static(range(2)):
                slip[axis] = displacement_by(s, row + 1 + axis, world) - loaded.right[world, row + 1 + axis]
            mobility = 0.5 * (loaded.response[world, row + 1, row + 1] + loaded.response[world, row + 2, row + 2])
            after = ti.min(limit / (slip.norm() + 1e-30), 1.0 / (CREEP * mobility))
        if ti.abs(after - before) > CHANGED * after:
            loaded.resistance[world, k] = after
            changed = True
    return changed


@ti.func
def apply_impulses(s: ti.template(), world):
    """Apply the change of all impulses. Returns: the largest displacement without constraints [m]."""
    loaded, contacts = ti.static(s.hooked.loaded, s.hooked.contacts)
    worst, rows = 0.0, AXES * loaded.count[world]
    for k in range(loaded.count[world]):
        c, row = loaded.contact[world, k], AXES * k
        before = load_vector(contacts, c, CONTACT.impulse, world)
        after = ti.Vector([loaded.impulse[world, row + axis] for axis in ti.static(range(AXES))])
        change, impulse = after - before, ti.Vector([0.0, 0.0, 0.0])
        for axis, d in ti.static(enumerate(axes_of(s, c, world))):
            loaded.impulse[world, row + axis] = change[axis]
            impulse += change[axis] * d
            worst = ti.max(worst, ti.abs(change[axis]) * loaded.free[world, row + axis])
        store_vector(contacts, c, CONTACT.impulse, after, world)
        a, b = sides_of(s, c, world)
        push(s, a, load_vector(contacts, c, CONTACT.arm_a, world), impulse, world)
        push(s, b, load_vector(contacts, c, CONTACT.arm_b, world), -impulse, world)
    move_bodies(s, s.particles.position, s.particles.previous_position, 1.0, world)
    apply_response(s, loaded.answers, loaded.impulse, rows, world)
    return worst


@ti.func
def push(s: ti.template(), side, arm, impulse, world):
    """Apply an impulse to a side [kg m]. Args: arm: from the centre of mass (3,) [m]."""
    if side >= 0:
        apply_impulse(s, s.particles.position, 1.0, side, arm, impulse, world)
    elif side <= PARTICLE:
        move_by_impulse(s, PARTICLE - side, impulse, world)
