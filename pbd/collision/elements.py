"""Contacts of colliders with points, sticks, triangles and tetrahedra of particles.

A stick can cross a bump although both of its ends are outside. Its point that is deepest inside the collider,
p = Σ c_i x_i with c_i >= 0 and Σ c_i = 1, is moved out with friction (pbd/constraints/contact_point.py). The triangles
and segments of surfaces are such elements.

The deepest point is the minimum of the collider's signed distance φ over the element. Pairwise Frank-Wolfe steps find
it: of the weight of the particle with the largest ∇φ·x_k, a part goes to the particle with the smallest. Regula falsi
(Illinois) finds this part, at which the derivative of φ is zero. The distance from a convex shape is a convex function,
so there is one minimum, and a stick needs one step. With a mesh collider there can be several: the search begins at the
deepest particle or the middle, whichever is deeper.

Source: Jakobsen, Advanced Character Physics (2001), section 5; Macklin and others, Local Optimization for Robust Signed
Distance Field Collision (2020), https://doi.org/10.1145/3384538, for the search; Lacoste-Julien and Jaggi, On the
Global Linear Convergence of Frank-Wolfe Optimization Variants (2015), https://arxiv.org/abs/1511.05932, for pairwise
steps. Departures: boxes are left to the particles, because a box is convex; and restitution acts on particles alone.
One thread treats all elements of a world, because they share particles.
"""

import taichi as ti

from pbd.collision.colliders import collider_contact, contact_from_start, report_thrown
from pbd.collision.contact import LEFT_ON_SURFACE, apply_friction
from pbd.constraints.box import project_into_box
from pbd.constraints.contact_point import move_point, weighted_sum
from pbd.core.vectors import one_hot
from pbd.data import ELEMENT, ELEMENT_NUMBER
from pbd.execution.phases import input_rows
from pbd.integrate import position

# Steps of the search at most, and evaluations of the distance in each. A stick takes one step of about eight
# evaluations, a tetrahedron over a ball ten to thirty steps.
STEPS = 40
EVALUATIONS = 24
# The search ends when no other point of the element can be deeper by more than this part of the element's size. A step
# ends when its part of the weight is known to this.
PRECISION = 1e-7
PART_PRECISION = 1e-9


@ti.func
def positions_of(s: ti.template(), positions: ti.template(), e, world):
    """Positions (4, 3) of the particles of element e. Args: positions: an array of particles."""
    q = [positions[s.elements.integers[e, ELEMENT.members + k], world] for k in ti.static(range(4))]
    return ti.Matrix([[q[k][axis] for axis in ti.static(range(3))] for k in ti.static(range(4))])


@ti.func
def deepest_point(s: ti.template(), find: ti.template(), row, shape, x, count, radius, precision, world):
    """Find the point of an element with the least distance from a collider.

    Args:
        find: `collider_contact`, or the same for other surfaces.
        row: of the inputs, which has the collider's pose.
        shape: index of the collider.
        x: positions of the particles (4, 3) [m], of which the first `count` rows are in use.
        radius: distance that the element keeps [m].
        precision: with which the depth is wanted [m]; zero for the best.
        world: index.

    Returns: weights c (4,); those of the middle if the element is too far away to touch.
    """
    c = ti.Vector([ti.select(k < count, 1.0, 0.0) for k in ti.static(range(4))]) / count
    middle = weighted_sum(x, c)
    size = 0.0
    for k in range(count):
        size = ti.max(size, (row_of(x, k) - middle).norm())
    # Begin at the middle, -1, or at the deepest particle, unless all are too far away.
    least, normal, k = ti.math.inf, ti.Vector([0.0, 0.0, 0.0]), -1
    while k < count:
        point = middle
        if k >= 0:
            point = row_of(x, k)
        contact = find(s, row, row, shape, point, world)
        if contact[0] < least:
            least, normal = contact[0], contact[1]
            if k >= 0:
                c = one_hot(k)
        k += 1
        if k == 0 and least >= radius + size:
            k = count
    steps_left = STEPS
    if least >= radius + size:
        steps_left = 0
    while steps_left > 0:
        exchange = farthest_to_nearest(x @ normal, c, count)
        direction = weighted_sum(x, exchange)
        slope = normal.dot(direction)
        steps_left -= 1
        if -slope > ti.max(PRECISION * size, precision):
            most = -c.dot(ti.min(exchange, 0.0))
            close = ti.max(PART_PRECISION, precision / size) * most
            part, normal_there = descend(s, find, row, shape, weighted_sum(x, c), direction, slope, most, close, world)
            c, normal = ti.max(c + part * exchange, 0.0), normal_there
            if part == 0.0:
                steps_left = 0
        else:
            steps_left = 0
    return c


@ti.func
def distance_of(s: ti.template(), row, shape, x):
    """Signed distance of a point from a collider [m]. Args: row: of the inputs, which has the collider's pose."""
    return collider_contact(s, row, row, shape, x)[0]


@ti.func
def row_of(x, k):
    """Row k of a matrix (4, 3)."""
    return weighted_sum(x, one_hot(k))


@ti.func
def farthest_to_nearest(along, c, count):
    """Choose two particles between which weight moves towards the collider.

    Args: along: ∇φ·x_k (4,); c: weights (4,); count: how many entries are in use.

    Returns: a vector (4,): -1 for the farthest particle with a weight, +1 for the nearest, otherwise zero.
    """
    giver, taker = 0, 0
    largest, smallest = -ti.math.inf, ti.math.inf
    for k in ti.static(range(4)):
        if k < count:
            if c[k] > 0.0 and along[k] > largest:
                giver, largest = k, along[k]
            if along[k] < smallest:
                taker, smallest = k, along[k]
    return one_hot(taker) - one_hot(giver)


@ti.func
def descend(s: ti.template(), find: ti.template(), row, shape, p, direction, slope, most, close, world):
    """Find t in [0, most] at which the distance of p + t direction from a collider is least.

    Where a flat side ends the derivative jumps, and evaluations may not suffice. By convexity the distance at t is
    above the least one by at most its derivative there times the rest of the range, so the flattest t is taken then.

    Args: find, row, shape, world: see `deepest_point`; slope: derivative of the distance at t = 0, below
    zero; close: the search ends when t is known to this.

    Returns: t, and the collider's normal there.
    """
    low, low_slope, high, high_slope = 0.0, slope, most, 0.0
    t, side, left, normal = most, 0, EVALUATIONS, ti.Vector([0.0, 0.0, 0.0])
    flattest, least, flattest_normal = most, ti.math.inf, normal
    while left > 0:
        normal = find(s, row, row, shape, p + t * direction, world)[1]
        found = normal.dot(direction)
        if ti.abs(found) < least:
            flattest, least, flattest_normal = t, ti.abs(found), normal
        # Illinois: an end that stays twice counts half, so both ends approach the zero.
        if found < 0.0:
            low, low_slope = t, found
            if side == -1:
                high_slope *= 0.5
            side = -1
        else:
            high, high_slope = t, found
            if side == 1:
                low_slope *= 0.5
            side = 1
        left -= 1
        if high - low <= close or found == 0.0:
            left = 0
        if left > 0:
            t = (low * high_slope - high * low_slope) / (high_slope - low_slope)
    if high - low > close:
        t, normal = flattest, flattest_normal
    return t, normal


@ti.func
def fixed_weights(s: ti.template(), e):
    """Weights (4,) of element e as given; zero if its deepest point is searched."""
    return ti.Vector([s.elements.numbers[e, ELEMENT_NUMBER.weights + k] for k in ti.static(range(4))])


@ti.func
def contact_weights(s: ti.template(), row, e, shape, x):
    """Weights (4,) of the point at which element e meets a collider."""
    c = fixed_weights(s, e)
    if s.elements.integers[e, ELEMENT.fixed] == 0:
        count, radius = s.elements.integers[e, ELEMENT.count], s.elements.numbers[e, ELEMENT_NUMBER.radius]
        precision = s.elements.numbers[e, ELEMENT_NUMBER.precision]
        c = deepest_point(s, collider_contact, row, shape, x, count, radius, precision, 0)
    return c


@ti.func
def project_elements(s: ti.template(), substep, world):
    """Move all elements of a world out of every collider, one after another. Returns: the deepest penetration [m]."""
    worst = 0.0
    for e in range(s.counts.elements):
        worst = ti.max(worst, project_element(s, substep, e, world))
    return worst


@ti.func
def project_element(s: ti.template(), substep, e, world):
    """Move element e out of every collider, and a fixed point into every box. Returns: the deepest penetration [m]."""
    before, after = input_rows(s, substep)
    deepest = 0.0
    for shape in range(s.counts.colliders):
        if is_near(s, after, e, shape, world):
            deepest = ti.max(deepest, leave_collider(s, substep, before, after, e, shape, world))
    if s.elements.integers[e, ELEMENT.fixed] == 1:
        for b in range(s.counts.boxes):
            deepest = ti.max(deepest, enter_box(s, e, b, world))
    return deepest


@ti.func
def is_near(s: ti.template(), row, e, shape, world):
    """Whether an element may touch a collider: it is as near to its first particle as the others, or a fixed point."""
    result = s.elements.integers[e, ELEMENT.fixed] == 1
    if not result:
        first, farthest = position(s, s.elements.integers[e, ELEMENT.members], world), 0.0
        for k in ti.static(range(1, 4)):
            arm = position(s, s.elements.integers[e, ELEMENT.members + k], world) - first
            farthest = ti.max(farthest, arm.norm_sqr())
        reach = s.elements.numbers[e, ELEMENT_NUMBER.radius] + ti.sqrt(farthest)
        result = distance_of(s, row, shape, first) < reach
    return result


@ti.func
def leave_collider(s: ti.template(), substep, before, after, e, shape, world):
    """Move element e out of a collider, with friction. Returns: the depth [m]; zero outside."""
    x = positions_of(s, s.particles.position, e, world)
    c = contact_weights(s, after, e, shape, x)
    p = weighted_sum(x, c)
    start = weighted_sum(positions_of(s, s.particles.previous_position, e, world), c)
    distance, normal, drift = contact_from_start(s, collider_contact, before, after, shape, start, p, world)
    depth = s.elements.numbers[e, ELEMENT_NUMBER.radius] - distance
    moved = 0.0
    if depth > 0.0:
        target = apply_friction(p + depth * normal, start + drift, normal, depth, s.colliders.friction[shape])
        if move_element(s, e, x, c, target - p, world):
            moved = depth
            member = s.elements.integers[e, ELEMENT.members]
            report_thrown(s, substep, member, depth + normal.dot(p - drift - start), world)
    return moved


@ti.func
def enter_box(s: ti.template(), e, b, world):
    """Move the fixed point e into a box. Returns: by how much [m]."""
    x, c = positions_of(s, s.particles.position, e, world), fixed_weights(s, e)
    p, start = weighted_sum(x, c), weighted_sum(positions_of(s, s.particles.previous_position, e, world), c)
    target = project_into_box(p, start, s.colliders.boxes, b, s.elements.numbers[e, ELEMENT_NUMBER.radius])
    distance = (target - p).norm()
    if distance > 0.0 and not move_element(s, e, x, c, target - p, world):
        distance = 0.0
    return distance


@ti.func
def move_element(s: ti.template(), e, x, c, displacement, world):
    """Move the point with weights c of element e, whose particles are at x (4, 3). Returns: whether they can move."""
    members = [s.elements.integers[e, ELEMENT.members + k] for k in ti.static(range(4))]
    w = ti.Vector([s.particles.position[members[k], world][3] for k in ti.static(range(4))])
    mobile = (c * c * w).sum() > 0.0
    if mobile:
        moved = move_point(x, w, c, displacement)
        for k in ti.static(range(4)):
            if k < s.elements.integers[e, ELEMENT.count]:
                s.particles.position[members[k], world] = ti.Vector([moved[k, 0], moved[k, 1], moved[k, 2], w[k]])
    return mobile


@ti.func
def element_touches(s: ti.template(), substep, e, world):
    """1 if a collider stopped element e in this substep, else 0: see `pbd.collision.colliders.touches_surface`."""
    _, after = input_rows(s, substep)
    x = positions_of(s, s.particles.position, e, world)
    predicted = positions_of(s, s.particles.predicted_position, e, world)
    radius = s.elements.numbers[e, ELEMENT_NUMBER.radius]
    result = 0
    for shape in range(s.counts.colliders):
        c = contact_weights(s, after, e, shape, predicted)
        distance = distance_of(s, after, shape, weighted_sum(predicted, c))
        depth = radius - distance
        if depth > 0.0:
            left = distance_of(s, after, shape, weighted_sum(x, c))
            if left - radius <= LEFT_ON_SURFACE * depth:
                result = 1
    return result
