"""Contacts that bear the loads of a direct solve: of its particles with bodies that move, as of a rope with a wheel.

Projected between direct solves they would not converge: the rope lifts the weights on it, and the wheel gives way. So
they are solved together, after each direct solve, for what the constraints leave of their impulses. With the gradients
G of contacts along their normals and tangents, and A, J, W of pbd/direct/solve.py, impulses R displace contacts by S R:

    S = Gᵀ W G - Gᵀ W Jᵀ A⁻¹ J W G

A column of S is how everything answers to a unit impulse at a contact (pbd/direct/response.py). S is dense, and small.
The impulses of a substep follow from S and the gaps and slips (complementarity.py).

Bodies that bear such contacts may stand on others. So all contacts of these bodies are loaded, too, and those of the
bodies that they touch. Where the tension of a rope is stiff, the direct solve takes its gradients anew in each
iteration, and so do contacts: their impulses turn with them.

Source: Baraff, Linear-time Dynamics using Lagrange Multipliers (1996), section 7.
"""

import taichi as ti

from pbd.core.kernels import load_quaternion, load_vector, store_vector
from pbd.direct.elimination import STIFF
from pbd.direct.mobility import weigh
from pbd.direct.one_row import move
from pbd.direct.response import take_away_forbidden
from pbd.direct.solve import apply
from pbd.integrate import position
from rigid.collision.data import PAIR
from rigid.collision.narrow_phase import shape_distance
from rigid.solvers.verlet.complementarity import AXES, choose_pushing, choose_resistances, displacement_by
from rigid.solvers.verlet.contact_sides import PARTICLE, apply_impulse, is_particle, point_of, sides_of, weights_of
from rigid.solvers.verlet.contacts import axes_of, impulse_of, measure_displacement, relative_displacement
from rigid.solvers.verlet.contacts_in_lanes import contact_count
from rigid.solvers.verlet.data import CONTACT, MOTION, SIZE
from rigid.solvers.verlet.frame_motion import (
    at_start_of_step,
    direction_now,
    move_bodies,
    read_inertias,
    rotation_by,
    weighted_point,
)
from rigid.solvers.verlet.particle_contacts import gap_now, is_fixed

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
    if is_particle(s, a):
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


# Contacts as they are now ---------------------------------------------------------------------------------------------


@ti.func
def is_taken_anew(s: ti.template(), world):
    """Whether gradients of the direct solve are taken anew in each iteration, and so those of contacts are, too."""
    return s.direct.factored[world] == STIFF


@ti.func
def take_anew(s: ti.template(), world):
    """Take inertias, normals and arms of loaded contacts from where all is now. Impulses turn with their contacts."""
    read_inertias(s, s.particles.position, world)
    for k in range(s.hooked.loaded.count[world]):
        c = s.hooked.loaded.contact[world, k]
        impulse = impulse_of(s, c, world)
        push_both(s, c, -impulse, world)
        if sides_of(s, c, world)[0] <= PARTICLE:
            turn_contact(s, c, world)
        a, b = sides_of(s, c, world)
        take_arm(s, c, a, CONTACT.arm_a, CONTACT.weights_a, world)
        take_arm(s, c, b, CONTACT.arm_b, CONTACT.weights_b, world)
        push_both(s, c, impulse_of(s, c, world), world)
    move_bodies(s, s.particles.position, s.particles.position, 1.0, world)


@ti.func
def turn_contact(s: ti.template(), c, world):
    """Let contact c of a particle be where both sides are now."""
    contacts = ti.static(s.hooked.contacts)
    a, b = sides_of(s, c, world)
    i, shape = PARTICLE - a, s.hooked.points.integers[world, c, PAIR.shape_b]
    x = at_start_of_step(s, b, position(s, i, world), world)
    n = direction_now(s, b, shape_distance(s.hooked.shapes, shape, s.hooked.poses, x, world)[1], world)
    t = load_vector(contacts, c, CONTACT.tangent, world)
    store_vector(contacts, c, CONTACT.normal, n, world)
    store_vector(contacts, c, CONTACT.tangent, (t - t.dot(n) * n).normalized(), world)
    weights, _ = weights_of(s, b, x, world)
    for k in ti.static(range(4)):
        contacts[world, c, CONTACT.weights_b + k] = weights[k]
    before = ti.static(s.particles.previous_position)
    store_vector(contacts, c, CONTACT.start, before[i, world] - point_of(s, before, b, weights, world), world)


@ti.func
def take_arm(s: ti.template(), c, side, arm: ti.template(), weights: ti.template(), world):
    """Write the arm of a side that is a body. Args: arm, weights: columns of it."""
    if side >= 0:
        of_side = load_quaternion(s.hooked.contacts, c, weights, world)
        point = weighted_point(s, s.particles.position, side, of_side, world)
        centre = load_vector(s.hooked.motion, side, MOTION.centre, world)
        store_vector(s.hooked.contacts, c, arm, point - centre, world)


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
    take_away_forbidden(s, loaded.field, world)
    for place in range(s.counts.direct_rows):
        loaded.answers[world, column, place] = s.direct.unknown[place, world]
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
                if is_taken_anew(s, world):
                    r = position(s, i, world) - centre
                field[i, world] = field[i, world] + linear + angular.cross(r)
    elif side <= PARTICLE:
        i = PARTICLE - side
        field[i, world] = field[i, world] + weigh(s, i, impulse, world)


@ti.func
def displacement_at(s: ti.template(), c, world):
    """Displacement of A's point at contact c relative to B's in the field (3,) [m]."""
    field = ti.static(s.hooked.loaded.field)
    a, b = sides_of(s, c, world)
    weights_a = load_quaternion(s.hooked.contacts, c, CONTACT.weights_a, world)
    weights_b = load_quaternion(s.hooked.contacts, c, CONTACT.weights_b, world)
    return point_of(s, field, a, weights_a, world) - point_of(s, field, b, weights_b, world)


# The solve ------------------------------------------------------------------------------------------------------------


@ti.func
def solve_loaded(s: ti.template(), world):
    """Solve all loaded contacts. Returns: by how much this displaces sides against each other, the largest [m]."""
    worst = 0.0
    anew = is_taken_anew(s, world) and s.hooked.loaded.count[world] > 0
    if anew:
        take_anew(s, world)
    if measure(s, world):
        choose_pushing(s, world)
        worst = choose_resistances(s, world)
        worst = ti.max(worst, apply_impulses(s, world))
    if anew:
        read_inertias(s, s.particles.previous_position, world)
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
        if sides_of(s, c, world)[0] <= PARTICLE:
            gap = gap_now(s, c, world)
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
        a, _ = sides_of(s, c, world)
        push_both(s, c, impulse, world)
        if a <= PARTICLE:
            move(s, PARTICLE - a, weigh(s, PARTICLE - a, impulse, world), world)
    if is_taken_anew(s, world):
        move_bodies(s, s.particles.position, s.particles.position, 1.0, world)
    else:
        move_bodies(s, s.particles.position, s.particles.previous_position, 1.0, world)
    for place in range(s.counts.direct_rows):
        answer = 0.0
        for column in range(rows):
            answer += loaded.answers[world, column, place] * loaded.impulse[world, column]
        s.direct.unknown[place, world] = -answer
    apply(s, world)
    return worst


@ti.func
def push_both(s: ti.template(), c, impulse, world):
    """Let an impulse act on both sides of contact c [kg m]. For bodies it is pending; a particle does not move yet."""
    a, b = sides_of(s, c, world)
    if a <= PARTICLE:
        i = PARTICLE - a
        s.direct.outside[i, world] = s.direct.outside[i, world] + impulse
    else:
        arm = load_vector(s.hooked.contacts, c, CONTACT.arm_a, world)
        apply_impulse(s, s.particles.position, 1.0, a, arm, impulse, world)
    arm_b = load_vector(s.hooked.contacts, c, CONTACT.arm_b, world)
    apply_impulse(s, s.particles.position, 1.0, b, arm_b, -impulse, world)
