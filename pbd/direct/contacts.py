"""Contacts of directly solved particles with what is fixed: they are a part of the direct solve.

Fixed are colliders, boxes, and shapes of step hooks that no impulse moves, such as the ground's.

A contact is an inequality C = gap >= 0 of one particle, with the normal n as its gradient. Friction is a force against
the slip s, the tangential displacement of the substep relative to the surface: F = -c s with c = μ n·R/|s|. Both are
eliminated before all rows, by hand. They leave a matrix of the particle's inverse mass w:

    W = (1 - n nᵀ) w/(1 + w c),      with a second contact, whose normal is m across n:  (1 - n nᵀ - m mᵀ) w/(1 + w Σ c)

so the factor is as sparse as without contacts. The impulse R of the contacts is what has displaced the particle by u
but was no row's impulse λ, and no friction:

    R = M u - Jᵀ λ,      normal impulses n·R >= 0

Two surfaces may move differently. So each contact has its own slip and its own c, and the particle moves with the
surface of the larger friction. A common slip against a mean of both would let it creep between them.

`touch` is called in each iteration. It finds the contacts, moves particles onto the surfaces that hold them, and takes
n·R and |s| of the iteration before for c. So F converges to Coulomb's friction, which holds up to a slip of `CREEP`.
A rope around a bar converges as the series of exp(μφ). `release` is called after each solve, before anything moves. It
lets go contacts that would pull, and asks for another solve without them.

Contacts begin as they were at the end of the last substep, because what rests goes on doing so. What else a particle
touches, beyond two contacts, is projected one after another.

Sources: Baraff, Linear-time Dynamics using Lagrange Multipliers (1996), for what to eliminate first; Baraff, Witkin,
Large Steps in Cloth Simulation (1998), section 5, for masses that are matrices; Li and others, Incremental Potential
Contact (2020), section 5, for friction with the normal impulse of the iteration before.
"""

import taichi as ti

from pbd.collision.colliders import PRESSED_DEPTH, collider_contact, contact_from_start, first_push, opposes
from pbd.constraints.box import wall
from pbd.core.kernels import real_bits
from pbd.core.vectors import component, with_component
from pbd.data import BOX, REPORT
from pbd.direct.elimination import NOT_FACTORED, STIFF
from pbd.direct.mobility import free_part, second_axis
from pbd.direct.momentum_residual import sum_balance
from pbd.direct.one_row import move
from pbd.execution.phases import input_rows
from pbd.integrate import position

# Values of `s.touch.now.contact`: a particle touches nothing; it was released in this substep; it touches something.
FREE, RELEASED, TOUCHING = 0.0, 1.0, 2.0
NO_SURFACE = -1.0
SLOTS = 2  # contacts of a particle

# A normal that has turned by more than 0.03° since the factor was made asks for another factor: normals that lag behind
# a motion brake it, as friction of μ = 5e-4 would.
ALIGNED = 1.0 - 1.25e-7
# Normals of two contacts are apart by more than 8°; otherwise one contact holds the particle.
APART = 0.99
# A contact has ended if the particle is farther from the surface than this part of a constraint's extent. Pulling ends
# contacts earlier, but for those that a jump of the surface leaves behind: 0.01 and 1 give the same fall of a rope over
# a bar to three digits, 0.001 another one by 1e-4 of it.
FAR = 0.1

# A particle that sticks creeps by less than this part of a constraint's extent in a substep. In 1 s, weights on a rope
# around a bar creep by 0.12 mm with 1e-5, by 0.03 mm with 1e-7 and by 0.015 mm with 1e-9. In 32 bits 1e-5 takes 16
# times as long as 1e-4.
CREEP = {64: 1e-7, 32: 1e-4}

# The factor is made anew when a resistance c has changed by more than this part. The fall of weights on a rope that
# slips around a bar differs by 0.1 % from that with 1e-5, with 0.01 by 0.9 %.
CHANGED = 0.001


@ti.func
def begin(s: ti.template(), world):
    """Begin a substep. Contacts are those of the last one."""
    s.touch.has_contacts[world] = 0.0
    for k in range(s.counts.touching):
        i = s.touch.particles[k]
        if s.touch.now.contact[i, world] == RELEASED:
            s.touch.now.contact[i, world] = FREE
        if s.touch.now.contact[i, world] != FREE:
            s.touch.has_contacts[world] = 1.0
        for slot in ti.static(range(SLOTS)):
            if s.touch.now.surface[slot, i, world] == NO_SURFACE:
                # of a part that was made again, or of a run before `set_state`
                s.touch.force[slot, i, world] = ti.Vector([0.0, 0.0, 0.0])


@ti.func
def touch(s: ti.template(), substep, world):
    """Find contacts, and move particles onto the surfaces that hold them. Returns: the largest move [m]."""
    before, after = input_rows(s, substep)
    worst = 0.0
    for k in range(s.counts.touching):
        i = s.touch.particles[k]
        if s.particles.position[i, world][3] > 0.0:
            x = position(s, i, world)
            found, start, nothing = x, s.particles.previous_position[i, world], ti.Vector([0.0, 0.0, 0.0])
            radius, first, last = s.particles.radius[i, world], nothing, nothing
            if ti.static(s.features.obstacles):
                for shape in range(s.counts.colliders):
                    x, first, last = touch_shape(
                        s, collider_contact, before, after, shape, shape, s.colliders.friction[shape], i, x, first,
                        last, world,
                    )  # fmt: skip
                for b in range(s.counts.boxes):
                    for side in range(6):
                        axis, sign, height = wall(s.colliders.boxes, b, side, radius)
                        normal = with_component(nothing, axis, sign)
                        number = ti.cast(s.counts.colliders + 6 * b + side, float)
                        gap, friction = sign * (component(x, axis) - height), s.colliders.boxes[b, BOX.friction]
                        _, x = project_onto_surface(s, i, number, gap, normal, normal, nothing, friction, x, world)
            if ti.static(s.features.has_fixed_shapes):
                fixed = ti.static(s.features.hooks.fixed_shapes)
                if radius > 0.0:
                    for shape in range(fixed.count(s)):
                        x, first, last = touch_shape(
                            s, fixed.contact, before, after, shape, number_of(s, shape),
                            fixed.friction(s, shape, world), i, x, first, last, world,
                        )  # fmt: skip
            worst = ti.max(worst, (x - found).norm(), update_friction(s, i, x - start, world))
            move(s, i, x - found, world)
    return worst


@ti.func
def touch_shape(
    s: ti.template(), find: ti.template(), before, after, shape, number, friction, i, at, first, last, world
):
    """Touch a shape with particle i, see `touch`.

    Args: find: `collider_contact`, or the same of step hooks; before, after, shape: see there; number: of the surface;
    friction: μ; at: position [m]; first, last: normals of the first and the last one that pushed it.

    Returns: position and normals of now.
    """
    number_there = ti.cast(number, float)
    start, radius = s.particles.previous_position[i, world], s.particles.radius[i, world]
    distance, normal, drift = contact_from_start(s, find, before, after, shape, start, at, world)
    gradient, gap = normal, distance - radius
    if ti.static(s.features.from_start):
        if has_contact(s, i, number_there, world) and s.direct.factored[world] != STIFF:
            gradient = find(s, before, before, shape, start, world)[1]
    held, x = project_onto_surface(s, i, number_there, gap, normal, gradient, drift, friction, at, world)
    if gap < -radius - PRESSED_DEPTH and opposes(normal, first, last):
        s.report[world, REPORT.pressed_particle] = ti.cast(i, float)
    pushes = held or gap < 0.0
    return x, ti.select(pushes, first_push(first, normal), first), ti.select(pushes, normal, last)


@ti.func
def number_of(s: ti.template(), shape):
    """Number of the surface of a shape of the step hooks."""
    return s.counts.colliders + 6 * s.counts.boxes + shape


@ti.func
def has_contact(s: ti.template(), i, number, world):
    """Whether a contact of particle i is with a surface. Args: number: of the surface."""
    result = False
    for slot in ti.static(range(SLOTS)):
        if s.touch.now.surface[slot, i, world] == number:
            result = True
    return result


@ti.func
def project_onto_surface(s: ti.template(), i, number, gap, normal, gradient, drift, friction, x, world):
    """Move a particle out of a surface, or onto it if it holds the particle.

    Args: i: index of the particle; number: of the surface; gap [m]; normal; gradient: the normal for which
    the factor is made; drift: displacement of the surface in the substep [m]; friction: μ; x: position [m].

    Returns: whether one of the particle's contacts is with this surface; the position [m].
    """
    held, first_time = False, s.direct.factored[world] == NOT_FACTORED
    for slot in ti.static(range(SLOTS)):
        if s.touch.now.surface[slot, i, world] == number:
            if gap > FAR * s.direct.extent[0]:
                end_contact(s, slot, i, world)
            else:
                held = True
                s.touch.drift[slot, i, world] = drift
                if first_time or s.touch.now.normal[slot, i, world].dot(gradient) < ALIGNED:
                    s.touch.now.normal[slot, i, world] = gradient
                    s.touch.needs_factor[world] = 1.0
    if gap < 0.0 and not held:
        for slot in ti.static(range(SLOTS)):
            other = s.touch.now.normal[SLOTS - 1 - slot, i, world]
            if not held and s.touch.now.surface[slot, i, world] == NO_SURFACE and ti.abs(other.dot(normal)) < APART:
                held = True
                s.touch.now.surface[slot, i, world] = number
                s.touch.now.normal[slot, i, world] = normal
                s.touch.now.friction[slot, i, world] = friction
                s.touch.drift[slot, i, world] = drift
                s.touch.needs_factor[world] = 1.0
                s.touch.has_contacts[world] = 1.0
                s.touch.now.contact[i, world] = TOUCHING
    result = x
    if held or gap < 0.0:
        result = x - gap * normal
    return held, result


@ti.func
def end_contact(s: ti.template(), slot: ti.template(), i, world):
    """End a contact."""
    s.touch.now.surface[slot, i, world] = NO_SURFACE
    s.touch.now.normal[slot, i, world] = ti.Vector([0.0, 0.0, 0.0])
    s.touch.now.friction[slot, i, world] = 0.0
    s.touch.now.resistance[slot, i, world] = 0.0
    s.touch.now.load[slot, i, world] = 0.0
    s.touch.force[slot, i, world] = ti.Vector([0.0, 0.0, 0.0])
    s.touch.needs_factor[world] = 1.0
    if s.touch.now.surface[SLOTS - 1 - slot, i, world] == NO_SURFACE:
        s.touch.now.contact[i, world] = RELEASED


@ti.func
def update_friction(s: ti.template(), i, displacement, world):
    """Choose the resistances c of friction, and write F.

    Args: i: index of the particle; displacement: since the start of the substep [m].

    Returns: by how much the changes of c would move the particle alone [m].
    """
    moved, least = 0.0, ti.static(CREEP[real_bits()]) * s.direct.extent[0]
    if s.touch.now.contact[i, world] == TOUCHING:
        for slot in ti.static(range(SLOTS)):
            force = ti.Vector([0.0, 0.0, 0.0])
            if s.touch.now.surface[slot, i, world] != NO_SURFACE:
                slip = free_part(s, i, displacement - s.touch.drift[slot, i, world], world)
                resistance = s.touch.now.load[slot, i, world] / ti.max(slip.norm(), least)
                change = ti.abs(resistance - s.touch.now.resistance[slot, i, world])
                if change > CHANGED * resistance:
                    s.touch.now.resistance[slot, i, world] = resistance
                    s.touch.needs_factor[world] = 1.0
                    by_change = change * slip.norm() / (1.0 / s.particles.position[i, world][3] + resistance)
                    moved = ti.max(moved, by_change)
                force = -s.touch.now.resistance[slot, i, world] * slip
            s.touch.force[slot, i, world] = force
    return moved


@ti.func
def release(s: ti.template(), world):
    """Let go contacts that would pull. Returns: whether there were any, so that another solve is needed."""
    changed = False
    if s.touch.has_contacts[world] > 0.0:
        sum_balance(s, s.touch.balance, 1.0, world)
        for k in range(s.counts.touching):
            i = s.touch.particles[k]
            if s.touch.now.contact[i, world] == TOUCHING:
                if release_particle(s, i, world):
                    changed = True
    return changed


@ti.func
def release_particle(s: ti.template(), i, world):
    """Do what `release` does, for particle i."""
    changed, normal = False, normal_impulses(s, i, world)
    for slot in ti.static(range(SLOTS)):
        if s.touch.now.surface[slot, i, world] != NO_SURFACE and normal[slot] <= 0.0:
            end_contact(s, slot, i, world)
            changed = True
    if not changed:
        for slot in ti.static(range(SLOTS)):
            if s.touch.now.surface[slot, i, world] != NO_SURFACE:
                s.touch.now.load[slot, i, world] = s.touch.now.friction[slot, i, world] * normal[slot]
    return changed


@ti.func
def normal_impulses(s: ti.template(), i, world):
    """Normal impulses of both contacts of particle i (2,) [kg m]."""
    impulse = s.touch.balance[i, world]
    first, other, across = s.touch.now.normal[0, i, world], s.touch.now.normal[1, i, world], second_axis(s, i, world)
    second_normal = across.dot(impulse) / (across.dot(other) + 1e-30)
    return ti.Vector([first.dot(impulse) - first.dot(other) * second_normal, second_normal])


@ti.func
def impulse_at(s: ti.template(), i, number, world):
    """Impulse of the contact of particle i with a surface, with friction (3,) [kg m]; zero if it has none."""
    normal, result = normal_impulses(s, i, world), ti.Vector([0.0, 0.0, 0.0])
    for slot in ti.static(range(SLOTS)):
        if s.touch.now.surface[slot, i, world] == number:
            result += normal[slot] * s.touch.now.normal[slot, i, world] + s.touch.force[slot, i, world]
    return result


@ti.func
def scale_impulses(s: ti.template(), scale, world):
    """Scale the impulses for a substep of another length."""
    for k in range(s.counts.touching):
        i = s.touch.particles[k]
        for slot in ti.static(range(SLOTS)):
            s.touch.now.load[slot, i, world] = scale * s.touch.now.load[slot, i, world]


@ti.func
def copy_contacts(s: ti.template(), source: ti.template(), target: ti.template(), world):
    """Copy all contacts: at the start of a part to what is kept, and back. Args: source, target: Touches."""
    for k in range(s.counts.touching):
        i = s.touch.particles[k]
        for slot in ti.static(range(SLOTS)):
            target.surface[slot, i, world] = source.surface[slot, i, world]
            target.normal[slot, i, world] = source.normal[slot, i, world]
            target.friction[slot, i, world] = source.friction[slot, i, world]
            target.resistance[slot, i, world] = source.resistance[slot, i, world]
            target.load[slot, i, world] = source.load[slot, i, world]
        target.contact[i, world] = source.contact[i, world]
