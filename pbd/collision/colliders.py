"""Contacts of particles with colliders and boxes, one particle at a time."""

import taichi as ti

from pbd.collision.contact import LEFT_ON_SURFACE, apply_friction, previous_after_impact
from pbd.constraints.box import previous_after_box_impacts, project_into_box, wall
from pbd.core.quaternions import rotate, rotate_back
from pbd.core.shapes import signed_distance
from pbd.core.vectors import component
from pbd.data import INPUT, POSE, REPORT
from pbd.execution.phases import input_rows
from pbd.integrate import acceleration

# A particle is pressed between two colliders if it is on the surface of one, its centre is deeper than this inside the
# other [m], and their normals are opposite, with at most this product.
PRESSED_DEPTH, OPPOSITE = 1e-6, -0.99
# What starts in a collider leaves it in a substep. It is told if its speed is above this [m/s].
THROWN = 1.0


@ti.func
def collider_pose(s: ti.template(), row, shape):
    """Position and rotation of a collider in a row of the inputs."""
    first = INPUT.total + POSE.total * shape
    return (
        ti.Vector([s.inputs[row, first + POSE.position + k] for k in ti.static(range(3))]),
        ti.Vector([s.inputs[row, first + POSE.rotation + k] for k in ti.static(range(4))]),
    )


@ti.func
def collider_contact(s: ti.template(), before, after, shape, x, world=0):
    """Contact of a point with a collider.

    Args: before, after: rows of the inputs at the start and at the end of the substep; shape: index; x: the point [m];
    world: colliders are the same in all.

    Returns: distance of the point [m]; normal; displacement of the collider's material there in the substep [m].
    """
    place, rotation = collider_pose(s, after, shape)
    local = rotate_back(rotation, x - place)
    numbers, integers, samples = ti.static(s.colliders.numbers, s.colliders.integers, s.colliders.samples)
    distance, normal = signed_distance(numbers, integers, samples, s.features.shapes, shape, local)
    drift = ti.Vector([0.0, 0.0, 0.0])
    if before != after:
        old_place, old_rotation = collider_pose(s, before, shape)
        drift = x - (old_place + rotate(old_rotation, local))
    return distance, rotate(rotation, normal), drift


@ti.func
def contact_from_start(s: ti.template(), find: ti.template(), before, after, shape, start, x, world):
    """Contact of a particle with a surface, on the side from which it came.

    Beyond the middle of a collider the far side is nearer. If a particle is inside and on its way out, and its nearest
    side at the start of the substep was another one, then its distance is that from the plane which touches the
    surface there.

    Args: find: `collider_contact`, or the same for other surfaces; start: position at the start of the substep [m];
    others, and the result: see `collider_contact`.
    """
    distance, normal, drift = find(s, before, after, shape, x, world)
    path = x - drift - start
    if distance < 0.0 and path.dot(normal) >= 0.0:
        distance_at_start, side, _ = find(s, before, before, shape, start, world)
        if side.dot(normal) <= 0.0 and path.dot(side) < 0.0:
            distance, normal = distance_at_start + path.dot(side), side
    return distance, normal, drift


@ti.func
def opposes(normal, first, last):
    """Whether a collider pushes against the first or the last one that pushed a particle before.

    Of more colliders in one place, those between are not compared. Args: normal: its own; first, last: theirs, zero if
    there is none.
    """
    return ti.min(first.dot(normal), last.dot(normal)) < OPPOSITE


@ti.func
def first_push(first, normal):
    """The normal of the first collider that pushed a particle. Args: first: so far, zero if there is none; normal."""
    return ti.select(first.norm_sqr() > 0.0, first, normal)


@ti.func
def project_colliders(s: ti.template(), substep, i, world):
    """Move particle i out of every collider and into every box, with friction. Returns: the deepest penetration [m]."""
    before, after = input_rows(s, substep)
    deepest = 0.0
    q = s.particles.position[i, world]
    radius = s.particles.radius[i, world]
    apart = True
    if ti.static(s.features.touching):
        apart = s.touch.is_direct[i] == 0  # otherwise contacts are part of the direct solve, pbd/direct/contacts.py
    if apart and q[3] > 0.0 and radius >= 0.0:
        x = ti.Vector([q[0], q[1], q[2]])
        start = s.particles.previous_position[i, world]
        first, last = ti.Vector([0.0, 0.0, 0.0]), ti.Vector([0.0, 0.0, 0.0])
        colliders = s.counts.colliders
        if ti.static(s.features.together):
            colliders = ti.select(s.implicit.place[i] < 0, colliders, 0)  # others: pbd/implicit/contacts.py
        for shape in range(colliders):
            distance, normal, drift = contact_from_start(s, collider_contact, before, after, shape, start, x, world)
            depth = radius - distance
            if depth > 0.0:
                report_thrown(s, substep, i, depth + normal.dot(x - drift - start), world)
                x = apply_friction(x + depth * normal, start + drift, normal, depth, s.colliders.friction[shape])
                deepest = ti.max(deepest, depth)
                if depth > radius + PRESSED_DEPTH and opposes(normal, first, last):
                    s.report[world, REPORT.pressed_particle] = ti.cast(i, float)
                first, last = first_push(first, normal), normal
        for b in range(s.counts.boxes):
            inside = project_into_box(x, start, s.colliders.boxes, b, radius)
            deepest = ti.max(deepest, (inside - x).norm())
            x = inside
        if deepest > 0.0:
            s.particles.position[i, world] = ti.Vector([x[0], x[1], x[2], q[3]])
    return deepest


@ti.func
def report_thrown(s: ti.template(), substep, i, overlap, world):
    """Report particle i if it was in a collider at the start of a launch, so that it leaves it at more than THROWN.

    Args: overlap: at the start of the substep [m].
    """
    if substep == 0 and overlap > THROWN * s.settings.h:
        s.report[world, REPORT.thrown_particle] = ti.cast(i, float)


@ti.func
def apply_restitution(s: ti.template(), substep, i, world):
    """Give particle i its speed after impacts on the surfaces that stopped it in this substep."""
    before, after = input_rows(s, substep)
    q = s.particles.position[i, world]
    radius = s.particles.radius[i, world]
    if q[3] > 0.0 and radius >= 0.0:
        x = ti.Vector([q[0], q[1], q[2]])
        start, predicted = s.particles.previous_position[i, world], s.particles.predicted_position[i, world]
        given = acceleration(s, before, i, world)
        previous = start
        for shape in range(s.counts.colliders):
            distance, normal, drift = contact_from_start(
                s, collider_contact, before, after, shape, start, predicted, world
            )
            depth = radius - distance
            if depth > 0.0:
                left, _, _ = collider_contact(s, before, after, shape, x)
                if left - radius <= LEFT_ON_SURFACE * depth:
                    returned = previous_after_impact(
                        x, previous + drift, predicted - start - drift, given, normal, depth,
                        s.colliders.friction[shape], s.colliders.restitution[shape], s.settings.h,
                    )  # fmt: skip
                    previous = returned - drift
        for b in range(s.counts.boxes):
            previous = previous_after_box_impacts(
                x, previous, predicted, start, given, s.colliders.boxes, b, radius, s.settings.h
            )
        s.particles.previous_position[i, world] = previous


@ti.func
def touches_surface(s: ti.template(), substep, i, world):
    """1.0 if a collider or a box stopped particle i in this substep, else 0.0."""
    before, after = input_rows(s, substep)
    result = 0.0
    q = s.particles.position[i, world]
    x, predicted = ti.Vector([q[0], q[1], q[2]]), s.particles.predicted_position[i, world]
    radius = s.particles.radius[i, world]
    if q[3] > 0.0 and radius >= 0.0:
        for shape in range(s.counts.colliders):
            distance, _, _ = collider_contact(s, before, after, shape, predicted)
            depth = radius - distance
            if depth > 0.0:
                left, _, _ = collider_contact(s, before, after, shape, x)
                if left - radius <= LEFT_ON_SURFACE * depth:
                    result = 1.0
        for b in range(s.counts.boxes):
            for k in range(6):
                axis, side, height = wall(s.colliders.boxes, b, k, radius)
                depth = side * (height - component(predicted, axis))
                if depth > 0.0 and side * (component(x, axis) - height) <= LEFT_ON_SURFACE * depth:
                    result = 1.0
    return result
