"""The bound of pbd/collision/surfaces/bound.py for shapes of bodies: none passes through a triangle or a segment.

A contact has one plane for all of a substep (element_contacts.py). A needle that spins, or a rim of cloth that is
thrown up, may go round it. So here, too, a pair is safe only if there is one direction along which it is apart at the
start of the substep and at its end. Where there is none, both are moved apart by an impulse along the direction of
their gap at the start, and what that does not solve is cut back with the motions of the surface.

What must not pass is the core of a shape: the middle of a sphere, the axis of a capsule, and of a box, cylinder or hull
all but a rim. So a body that is pressed into a surface has a contact, and no more.

Source: Gilbert, Johnson, Keerthi, A Fast Procedure for Computing the Distance Between Complex Objects (1988),
https://doi.org/10.1109/56.2083: the best direction is that of the point of all differences nearest to the origin.
"""

import taichi as ti

from pbd.collision.surfaces.bound import HALVE, LEAST, MOVE_APART, ROUND_OFF, halve
from pbd.collision.surfaces.closest import closest_of_triangle
from pbd.core.kernels import compiled_once, load_vector
from pbd.core.shapes import CAPSULE, SPHERE
from pbd.core.simplex import nearest_to_origin
from pbd.core.vectors import length_or_huge, one_hot, row
from pbd.data import SURFACE_NUMBER
from pbd.integrate import position
from rigid.collision.broad_phase import origin_of, to_frame, to_world
from rigid.collision.corners import corner
from rigid.collision.data import SHAPE, STRUCTURE
from rigid.collision.rounded import core_segment
from rigid.solvers.verlet.contact_sides import (
    PARTICLE,
    apply_impulse,
    corner_of,
    inverse_effective_mass,
    inverse_mass_of_element,
)
from rigid.solvers.verlet.data import MOTION, SIZE
from rigid.solvers.verlet.element_contacts import may_have_contact
from rigid.solvers.verlet.frame_motion import (
    MANY_ITERATIONS,
    move_particles,
    pose_of,
    read_inertia,
    restore_frame,
)
from rigid.solvers.verlet.particle_contacts import count_shapes

# The core of a box, cylinder or hull is smaller than it by this factor.
CORE = 0.9
# Directions that are tried for a pair. The search ends with one that is the best to this part of the distance.
DIRECTIONS, PRECISION = 40, 1e-4
# Groups of data that `hold_bodies` uses.
GROUPS = ("features", "particles", "surface", "hooked", "counts", "settings")


@compiled_once(*GROUPS)
def hold_bodies(s: ti.template(), how, world):
    """Treat all pairs of a shape and an element that may have passed one another. Args: how: MOVE_APART or HALVE.

    It writes what it found to `surface.bodies`: 0, or 1 and a particle of one of these elements.
    """
    found = 0
    nodes = s.surface.nodes.shape[0]
    for shape in range(count_shapes(s)):
        if has_core(s, shape):
            if how == MOVE_APART:
                restore(s, shape, world)
            turn, shift = motion_of(s, shape, world)
            low, high = bounds_of(s, shape, turn, shift, world)
            node = 0
            while node < nodes:
                next_node = s.surface.nodes[node, 1]
                if ti.max(low - s.surface.upper[node, world], s.surface.lower[node, world] - high).max() <= 0.0:
                    next_node = node + 1
                    if s.surface.nodes[node, 0] >= 0:
                        side = PARTICLE - s.hooked.sizes[SIZE.particles] - s.surface.nodes[node, 0]
                        if hold_pair(s, how, side, shape, turn, shift, world):
                            found = corner_of(s, side, 0) + 1
                            turn, shift = motion_of(s, shape, world)
                node = next_node
    if how == HALVE and found > 0:
        halve_marked(s, world)
    s.surface.bodies[world] = found


@ti.func
def halve_marked(s: ti.template(), world):
    """Halve the motions of all bodies that are marked."""
    for body in range(s.hooked.sizes[SIZE.bodies]):
        is_unsafe = False
        for m in range(s.hooked.first_member[body], s.hooked.first_member[body + 1]):
            i = s.hooked.members[m]
            if s.surface.is_unsafe[i, world] == 1:
                s.surface.is_unsafe[i, world] = 0
                halve(s, i, world)
                is_unsafe = True
        if is_unsafe:
            restore_frame(s, body, world)


@ti.func
def restore(s: ti.template(), shape, world):
    """Restore the frame of a shape's body if impacts have strained it: its pose must be known."""
    body = s.hooked.shapes.integers[shape, STRUCTURE.body]
    if body >= 0:
        restore_frame(s, body, world)


@ti.func
def hold_pair(s: ti.template(), how, side, shape, turn, shift, world):
    """Treat a shape and an element. Args: turn, shift: see `motion_of`. Returns: whether they were not safe."""
    body = s.hooked.shapes.integers[shape, STRUCTURE.body]
    start, now = corners_of(s, side, world)
    result = False
    if may_have_contact(s, side, body, world):
        least = LEAST * s.surface.numbers[PARTICLE - side - s.hooked.sizes[SIZE.particles], SURFACE_NUMBER.radius]
        gap, apart, n = 1.0, 0.0, ti.Vector([0.0, 0.0, 0.0])
        for each in range(2):  # at both times, then at the start: a loop, because Taichi copies a function to each call
            if each == 0 or apart < least:
                found, direction = separate(s, shape, turn, shift, start, now, each == 0, least, world)
                if each == 0:
                    apart = found
                else:
                    gap, n = found, direction
        wanted = ti.min(least, ROUND_OFF * gap)
        if gap > 0.0 and apart < wanted:  # what was not apart at the start cannot be held
            result = True
            if how == MOVE_APART:
                push_apart(s, side, shape, turn, shift, start, now, n, wanted, world)
            else:
                mark(s, side, body, world)
    return result


@ti.func
def push_apart(s: ti.template(), side, shape, turn, shift, start, now, n, wanted, world):
    """Push a shape and an element apart, until two of their points are apart by `wanted` [m].

    The deepest point of the shape is pushed, and the point of the element that was nearest to it at the start. The
    impulse acts along the line from one to the other there. So it keeps both momenta, and as it takes away a part of
    their relative displacement, it adds no kinetic energy.
    """
    body = s.hooked.shapes.integers[shape, STRUCTURE.body]
    p = core_point(s, shape, turn.transpose() @ n, world)
    weights = closest_of_triangle(p, row(start, 0), row(start, 1), row(start, 2))
    way = p - start.transpose() @ weights
    along = way / length_or_huge(way)
    depth = wanted - along.dot(turn @ p + shift - now.transpose() @ weights)
    arm, weight = ti.Vector([0.0, 0.0, 0.0]), inverse_mass_of_element(s, side, weights, world)
    if body >= 0:
        read_inertia(s, s.particles.previous_position, body, world)
        arm = p - load_vector(s.hooked.motion, body, MOTION.centre, world)
        weight += inverse_effective_mass(s, body, arm, along, world)
    if depth > 0.0 and weight > 0.0:
        apply_impulse(s, s.particles.position, 1.0, side, weights, -depth / weight * along, world)
        if body >= 0:
            apply_impulse(s, s.particles.position, 1.0, body, arm, depth / weight * along, world)
            move_particles(s, s.particles.position, s.particles.previous_position, body, 1.0, world)


@ti.func
def mark(s: ti.template(), side, body, world):
    """Mark the particles of an element and of a body, whose motions are to be halved."""
    for k in ti.static(range(3)):
        if corner_of(s, side, k) >= 0:
            s.surface.is_unsafe[corner_of(s, side, k), world] = 1
    if body >= 0:
        for m in range(s.hooked.first_member[body], s.hooked.first_member[body + 1]):
            s.surface.is_unsafe[s.hooked.members[m], world] = 1


# Cores, and directions that separate them from elements --------------------------------------------------------------


@ti.func
def has_core(s: ti.template(), shape):
    """Whether a shape can pass through an element, and is convex: all but planes and meshes."""
    kind = s.hooked.shapes.integers[shape, STRUCTURE.kind]
    return kind == SPHERE or kind == CAPSULE or s.hooked.shapes.integers[shape, STRUCTURE.vertex_count] > 0


@ti.func
def core_point(s: ti.template(), shape, n, world):
    """The point of a shape's core that is least far along n, at the start of the substep (3,) [m]."""
    shapes, scratch = ti.static(s.hooked.shapes, s.hooked.scratch)
    count = shapes.integers[shape, STRUCTURE.vertex_count]
    start, way, _ = core_segment(shapes, scratch, shape, world)
    result = start
    if count > 0:
        along, least, nearest = to_frame(scratch, shape, n, world), ti.math.inf, 0
        for k in range(count):
            height = along.dot(corner(shapes, shape, k, world))
            if height < least:
                least, nearest = height, k
        local = CORE * corner(shapes, shape, nearest, world)
        result = origin_of(scratch, shape, world) + to_world(scratch, shape, local, world)
    elif n.dot(way) < 0.0:
        result = start + way
    return result


@ti.func
def motion_of(s: ti.template(), shape, world):
    """The map x -> turn x + shift of a shape's points from the start of the substep to now, (3, 3) and (3,) [m]."""
    body = s.hooked.shapes.integers[shape, STRUCTURE.body]
    turn, shift = ti.Matrix.identity(float, 3), ti.Vector([0.0, 0.0, 0.0])
    if body >= 0:
        before, a, b, c = pose_of(s, s.particles.previous_position, MANY_ITERATIONS, body, world)
        now, x, y, z = pose_of(s, s.particles.position, MANY_ITERATIONS, body, world)
        turn = x.outer_product(a) + y.outer_product(b) + z.outer_product(c)
        shift = now - turn @ before
    return turn, shift


@ti.func
def bounds_of(s: ti.template(), shape, turn, shift, world):
    """Lower and upper corner of a box around a shape at the start of the substep and now (3,) each [m]."""
    start = origin_of(s.hooked.scratch, shape, world)
    now, radius = turn @ start + shift, s.hooked.shapes.numbers[world, shape, SHAPE.bounding_radius]
    return ti.min(start, now) - radius, ti.max(start, now) + radius


@ti.func
def corners_of(s: ti.template(), side, world):
    """Corners of an element at the start of the substep and now, (3, 3) each [m]; of a segment, the first one twice."""
    i = ti.Vector([corner_of(s, side, k) for k in ti.static(range(3))])
    if i[2] < 0:
        i[2] = i[0]
    a = [s.particles.previous_position[i[k], world] for k in ti.static(range(3))]
    b = [position(s, i[k], world) for k in ti.static(range(3))]
    return (
        ti.Matrix([[a[k][axis] for axis in ti.static(range(3))] for k in ti.static(range(3))]),
        ti.Matrix([[b[k][axis] for axis in ti.static(range(3))] for k in ti.static(range(3))]),
    )


@ti.func
def farthest(x, n):
    """Weights (3,) of the corner of an element that is farthest along n. Args: x: its corners (3, 3) [m]."""
    along = x @ n
    is_last = along[2] > ti.max(along[0], along[1])
    is_second = not is_last and along[1] > along[0]
    return ti.Vector([
        ti.select(is_last or is_second, 0.0, 1.0), ti.select(is_second, 1.0, 0.0), ti.select(is_last, 1.0, 0.0),
    ])  # fmt: skip


@ti.func
def separate(s: ti.template(), shape, turn, shift, start, now, both, wanted, world):
    """Seek the direction along which a shape's core and an element are farthest apart.

    Args: start, now: corners of the element (3, 3) [m]; both: whether at both times, or at the start alone; wanted: the
    search ends with a direction along which they are apart by this [m].

    Returns: by how much they are apart along the best direction that was found [m], and it (3,).
    """
    w = origin_of(s.hooked.scratch, shape, world) - row(start, 0)
    differences = ti.Matrix([[w[axis] for axis in ti.static(range(3))] for _ in ti.static(range(4))])
    best, direction, weights, left = -ti.math.inf, w, one_hot(0), DIRECTIONS
    while left > 0:
        v = differences.transpose() @ weights
        n = v / length_or_huge(v)
        w = core_point(s, shape, n, world) - start.transpose() @ farthest(start, n)
        if both:
            later = turn @ core_point(s, shape, turn.transpose() @ n, world) + shift
            later -= now.transpose() @ farthest(now, n)
            if n.dot(later) < n.dot(w):
                w = later
        if n.dot(w) > best:
            best, direction = n.dot(w), n
        left -= 1
        # The new difference stands in place of one without weight. If all have weight, the origin is inside the hull.
        if best >= wanted or v.norm() - n.dot(w) <= PRECISION * v.norm() or weights.min() > 0.0:
            left = 0
        else:
            is_free = True
            for k in ti.static(range(4)):
                if is_free and weights[k] == 0.0:
                    is_free = False
                    for axis in ti.static(range(3)):
                        differences[k, axis] = w[axis]
            weights = nearest_to_origin(differences)
    return best, direction
