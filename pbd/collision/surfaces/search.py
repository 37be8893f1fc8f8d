"""The search for pairs of features that could touch while particles stay in their regions (regions.py).

Boxes around the regions of elements are made from the leaves of a tree up. Each element is compared with those behind
it in the tree. Of two elements near one another, pairs of features are kept if nothing along the direction of their gap
keeps them apart for as long.

Features that are nearer than their thickness in the description keep the described distance. So a fine mesh does not
push itself apart. Neighbours in one surface keep what half a turn leaves of it, so the surface can bend to a radius of
half its thickness (neighbours.py). Features that touch in the description are joined, as by an attachment, and have no
contact.

Source: Ericson, Real-Time Collision Detection (2005), sections 6.2 and 6.6; Bridson, Fedkiw, Anderson, Robust Treatment
of Collisions, Contact and Friction for Cloth Animation (2002), https://doi.org/10.1145/566654.566623, for the pairs.
"""

import math

import taichi as ti

from pbd.collision.surfaces.closest import closest_weights, components_along, separation
from pbd.collision.surfaces.regions import set_regions, set_regions_of_step
from pbd.constraints.contact_point import weighted_sum
from pbd.data import CANDIDATE, CANDIDATE_NUMBER, REPORT, SURFACE, SURFACE_NUMBER
from pbd.execution.halo import one_particle_at_a_time

# Features that are nearer than this part of their thickness in the description touch: they are joined there.
JOINED = 1e-3
# A half turn's chord is this part of its arc, and all shorter arcs keep more.
CHORD = 2.0 / math.pi
# Features that are nearer than this many distances after the prediction may touch in iterations.
NEAR = 1.15
# Pairs of features of two elements: 3 vertices and a triangle, the same the other way, 3 edges and 3 edges.
VERTICES, PAIRS = 6, 15


@ti.func
def search(s: ti.template(), substeps, world):
    """Find all pairs that could touch: in the next `substeps` substeps, or if that is too many, in this one."""
    part, again = substeps, True
    while again:  # a loop, because Taichi copies a function to each place that calls it
        set_regions(s, part, world)
        find_pairs(s, world)
        again = part > 1 and s.surface.found[0, world] > s.surface.pairs.members.shape[0]
        part = 1
    report_pairs(s, world)


@one_particle_at_a_time
@ti.func
def search_before_step(s: ti.template(), world):
    """Find all pairs that could touch in the next step."""
    set_regions_of_step(s, world)
    find_pairs(s, world)
    report_pairs(s, world)


@ti.func
def report_pairs(s: ti.template(), world):
    """Report how many pairs were found, and keep as many as there is room for."""
    found = s.surface.found[0, world]
    s.report[world, REPORT.surface_pairs] = ti.max(s.report[world, REPORT.surface_pairs], ti.cast(found, float))
    s.surface.found[0, world] = ti.min(found, s.surface.pairs.members.shape[0])


@ti.func
def find_pairs(s: ti.template(), world):
    """Find all pairs that could touch while particles stay in their regions. There may be no room for all."""
    fit_boxes(s, world)
    s.surface.found[0, world] = 0
    nodes = s.surface.nodes.shape[0]
    for node in range(nodes):
        element = s.surface.nodes[node, 0]
        if element >= 0:
            other = node + 1
            while other < nodes:
                next_node = s.surface.nodes[other, 1]
                if boxes_overlap(s, node, other, world):
                    next_node = other + 1
                    if s.surface.nodes[other, 0] >= 0:
                        compare(s, element, s.surface.nodes[other, 0], world)
                other = next_node


@ti.func
def fit_boxes(s: ti.template(), world):
    """Make the boxes of all nodes, from the last one to the root: those below a node stand behind it."""
    lower, upper = ti.static(s.surface.lower, s.surface.upper)
    nodes = s.surface.nodes.shape[0]
    for k in range(nodes):
        node = nodes - 1 - k
        element = s.surface.nodes[node, 0]
        if element >= 0:
            low, high = bounds_of(s, element, world)
            lower[node, world], upper[node, world] = low, high
        else:
            left = node + 1
            right = s.surface.nodes[left, 1]
            lower[node, world] = ti.min(lower[left, world], lower[right, world])
            upper[node, world] = ti.max(upper[left, world], upper[right, world])


@ti.func
def bounds_of(s: ti.template(), element, world):
    """Lower and upper corner of the box around the regions of an element, and around its thickness [m]."""
    radius = s.surface.numbers[element, SURFACE_NUMBER.radius]
    low, high = bounds_of_region(s, s.surface.elements[element, SURFACE.members], world)
    for k in range(1, 3):
        i = s.surface.elements[element, SURFACE.members + k]
        if i >= 0:
            other_low, other_high = bounds_of_region(s, i, world)
            low, high = ti.min(low, other_low), ti.max(high, other_high)
    if s.surface.elements[element, SURFACE.torn] == 1:
        low = ti.Vector([ti.math.inf, ti.math.inf, ti.math.inf])  # no box, so nothing finds it: torn.py
        high = -low
    return low - NEAR * radius, high + NEAR * radius


@ti.func
def bounds_of_region(s: ti.template(), i, world):
    """Lower and upper corner of the box around the region of particle i [m]."""
    start, slack = s.surface.start[i, world], s.surface.slack[i, world]
    end = start + s.surface.way[i, world]
    return ti.min(start, end) - slack, ti.max(start, end) + slack


@ti.func
def boxes_overlap(s: ti.template(), a, b, world):
    """Whether the boxes of two nodes overlap."""
    gap = ti.max(
        s.surface.lower[a, world] - s.surface.upper[b, world], s.surface.lower[b, world] - s.surface.upper[a, world]
    )
    return gap.max() <= 0.0


@ti.func
def compare(s: ti.template(), e, f, world):
    """Add the pairs of features of elements e and f that could touch."""
    same = s.surface.elements[e, SURFACE.surface] == s.surface.elements[f, SURFACE.surface]
    if not same or s.surface.elements[e, SURFACE.self_contact] == 1:
        owned = owned_pairs(s, e, f)
        for pair in range(PAIRS):
            if (owned >> pair) & 1 == 1:
                compare_features(s, e, f, pair, world)


@ti.func
def owned_pairs(s: ti.template(), e, f):
    """Pairs of features that elements e and f own, as bits: vertices of e, of f, and edges of e with those of f."""
    of_e, of_f = s.surface.elements[e, SURFACE.owned], s.surface.elements[f, SURFACE.owned]
    result = 0
    if corner(s, f, 2) >= 0:
        result = of_e & 7
    if corner(s, e, 2) >= 0:
        result |= (of_f & 7) << 3
    for k in ti.static(range(3)):
        if (of_e >> (3 + k)) & 1 == 1:
            result |= (of_f >> 3) << (VERTICES + 3 * k)
    return result


@ti.func
def corner(s: ti.template(), element, k):
    """A corner of an element, counted around it."""
    return s.surface.elements[element, SURFACE.members + k % 3]


@ti.func
def compare_features(s: ti.template(), e, f, pair, world):
    """Add a pair of features of elements e and f if they could touch. Args: pair: below PAIRS."""
    i, is_edge = ti.Vector([0, 0, 0, 0]), 0
    share = False
    if pair < VERTICES:
        one, other, k = e, f, pair
        if pair >= 3:
            one, other, k = f, e, pair - 3
        i = ti.Vector([corner(s, one, k), corner(s, other, 0), corner(s, other, 1), corner(s, other, 2)])
        share = i[0] == i[1] or i[0] == i[2] or i[0] == i[3]
    else:
        is_edge = 1
        k, m = (pair - VERTICES) // 3, (pair - VERTICES) % 3
        i = ti.Vector([corner(s, e, k), corner(s, e, k + 1), corner(s, f, m), corner(s, f, m + 1)])
        share = i[0] == i[2] or i[0] == i[3] or i[1] == i[2] or i[1] == i[3]
    if not share:
        add_if_near(s, e, f, i, is_edge, world)


@ti.func
def add_if_near(s: ti.template(), e, f, i, is_edge, world):
    """Add a pair of features with particles i (4,), unless regions keep them apart or nothing can move them."""
    start, end = regions_of(s, i, world)
    slack = ti.Vector([s.surface.slack[i[k], world] for k in ti.static(range(4))])
    distance = s.surface.numbers[e, SURFACE_NUMBER.radius] + s.surface.numbers[f, SURFACE_NUMBER.radius]
    if not are_apart(is_edge, start, end, slack, NEAR * distance):
        gap = weighted_sum(start, closest_weights(is_edge, start))
        length = gap.norm()
        normal = gap
        if length > 0.0:
            normal = gap / length
        room = region_separation(is_edge, start, end, slack, normal)
        mobile = 0.0
        for k in ti.static(range(4)):
            mobile += s.particles.position[i[k], world][3]
        if room < NEAR * distance and mobile > 0.0:
            keep = kept_distance(s, e, f, is_edge, i, world)
            if keep > JOINED * distance and room < NEAR * keep:
                add(s, e, f, i, is_edge, keep, normal, separation(is_edge, start, normal), world)


@ti.func
def regions_of(s: ti.template(), i, world):
    """Starts and ends of four regions, two matrices (4, 3) [m], relative to the start of the first."""
    origin = s.surface.start[i[0], world]
    x = [s.surface.start[i[k], world] - origin for k in ti.static(range(4))]
    way = [s.surface.way[i[k], world] for k in ti.static(range(4))]
    start = ti.Matrix([[x[k][axis] for axis in ti.static(range(3))] for k in ti.static(range(4))])
    return start, start + ti.Matrix([[way[k][axis] for axis in ti.static(range(3))] for k in ti.static(range(4))])


@ti.func
def are_apart(is_edge, start, end, slack, distance):
    """Whether the regions of two features are farther apart than a distance along an axis of the world."""
    result = False
    for axis in ti.static(range(3)):
        low = ti.Vector([ti.min(start[k, axis], end[k, axis]) - slack[k] for k in ti.static(range(4))])
        high = ti.Vector([ti.max(start[k, axis], end[k, axis]) + slack[k] for k in ti.static(range(4))])
        first = ti.Vector([low[0], high[0]])
        second = ti.Vector([ti.min(low[2], low[3]), ti.max(high[2], high[3])])
        if is_edge == 1:
            first = ti.Vector([ti.min(low[0], low[1]), ti.max(high[0], high[1])])
        else:
            second = ti.Vector([ti.min(second[0], low[1]), ti.max(second[1], high[1])])
        if first[0] - second[1] > distance or second[0] - first[1] > distance:
            result = True
    return result


@ti.func
def region_separation(is_edge, start, end, slack, n):
    """What `separation` along n is at least, wherever particles are in their regions [m]."""
    one, other = components_along(start, n), components_along(end, n)
    low, high = ti.min(one, other) - slack, ti.max(one, other) + slack
    first, second = low[0], ti.max(high[2], high[3])
    if is_edge == 1:
        first = ti.min(first, low[1])
    else:
        second = ti.max(second, high[1])
    return first - second


@ti.func
def kept_distance(s: ti.template(), e, f, is_edge, i, world):
    """Distance that features of elements e and f with particles i (4,) keep [m]."""
    distance = s.surface.numbers[e, SURFACE_NUMBER.radius] + s.surface.numbers[f, SURFACE_NUMBER.radius]
    described = described_distance(s, is_edge, i, world)
    same = s.surface.elements[e, SURFACE.surface] == s.surface.elements[f, SURFACE.surface]
    neighbours = s.surface.elements[e, SURFACE.neighbours] + s.surface.elements[f, SURFACE.neighbours]
    if same and neighbours > 0:
        described = CHORD * described
    return ti.min(distance, described)


@ti.func
def described_distance(s: ti.template(), is_edge, i, world):
    """Distance of two features in the description [m]."""
    origin = s.surface.rest_position[i[0], world]
    x = [s.surface.rest_position[i[k], world] - origin for k in ti.static(range(4))]
    rest = ti.Matrix([[x[k][axis] for axis in ti.static(range(3))] for k in ti.static(range(4))])
    return weighted_sum(rest, closest_weights(is_edge, rest)).norm()


@ti.func
def add(s: ti.template(), e, f, i, is_edge, keep, normal, apart, world):
    """Add a candidate. Args: i: particles (4,); keep: distance that it keeps [m]; normal, apart: of its gap [m]."""
    place = s.surface.found[0, world]
    s.surface.found[0, world] = place + 1
    if place < s.surface.pairs.members.shape[0]:
        for k in ti.static(range(4)):
            s.surface.pairs.members[place, CANDIDATE.members + k, world] = i[k]
        s.surface.pairs.members[place, CANDIDATE.is_edge, world] = is_edge
        product = s.surface.numbers[e, SURFACE_NUMBER.friction] * s.surface.numbers[f, SURFACE_NUMBER.friction]
        s.surface.pairs.numbers[place, CANDIDATE_NUMBER.distance, world] = keep
        s.surface.pairs.numbers[place, CANDIDATE_NUMBER.friction, world] = ti.sqrt(product)
        s.surface.pairs.numbers[place, CANDIDATE_NUMBER.apart, world] = apart
        s.surface.pairs.normal[place, world] = normal
