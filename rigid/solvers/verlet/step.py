"""What bodies do in a step of their particles: the four functions of a pbd.data.Guest.

    meet     poses from the particles, contacts sought (rigid/collision), the last step's impulses again
    relax    each contact projected once, in each sweep after the sticks
    part     impulses kept for the next step, and what rebounds gets its speed
"""

from functools import lru_cache

import taichi as ti

from pbd.data import CROWDED, Data, Guest
from pbd.integrate import position
from rigid.collision.data import PAIR, POINT, SHAPE, STRUCTURE, Points, Scratch, Shapes
from rigid.collision.narrow_phase import point_finder, shape_distance
from rigid.solvers.verlet import contact_cache as kept
from rigid.solvers.verlet import contacts as contact
from rigid.solvers.verlet import rebound
from rigid.solvers.verlet.data import BODIES, IMPULSE, OWN, TOUCHED, Bodies
from rigid.solvers.verlet.poses import move, read_inertia, read_pose, rest
from rigid.solvers.verlet.sides import PARTICLE


@lru_cache
def guest(meetings):
    """The Guest whose kernels know the kinds of pairs that can meet. Arguments: a rigid.collision.data.PairTypes."""
    find_points = point_finder(meetings)

    @ti.func
    def meet(s: ti.template(), world):
        for body in range(s.guest.own[BODIES]):
            read_pose(s, body, world)
            s.guest.motion[body, world, TOUCHED] = 0.0
        find_points(s.guest.shapes, s.guest.points, s.guest.broad, s.guest.poses, s.guest.reach, world)
        begin(s, world)

    return Guest(kernel, meet, relax, part, touching)


@ti.func
def begin(s: ti.template(), world):
    """Make contacts of the points that were found, and begin as the last step ended."""
    for i in range(s.guest.own[OWN]):
        meet_particle(s, i, world)
    if s.guest.points.count[world] > s.guest.contacts.shape[0]:
        s.report[world, CROWDED] = ti.cast(s.guest.points.count[world], float)
    for c in range(contact.count(s, world)):
        for k in ti.static((PAIR.body_a, PAIR.body_b)):
            body = s.guest.points.integers[world, c, k]
            if body >= 0:
                s.guest.motion[body, world, TOUCHED] = 1.0
    for body in range(s.guest.own[BODIES]):
        if s.guest.motion[body, world, TOUCHED] > 0.0:
            read_inertia(s, s.previous, body, world)
    for c in range(contact.count(s, world)):
        contact.prepare(s, c, world)
    for c in range(contact.count(s, world)):
        contact.warm_start(s, c, world)
    for body in range(s.guest.own[BODIES]):
        if s.guest.motion[body, world, TOUCHED] > 0.0:
            move(s, s.position, s.previous, body, 1.0, world)
            rest(s, body, world)


@ti.func
def meet_particle(s: ti.template(), i, world):
    """Find the shapes that a person's own particle meets."""
    radius = s.radius[i, world]
    if radius > 0.0 and s.position[i, world][3] >= 0.0:
        x = s.previous[i, world]
        way = (position(s, i, world) - x).norm()
        for shape in range(s.guest.heads.shape[0]):
            body = s.guest.shapes.integers[shape, STRUCTURE.body]
            near = radius + way
            if body >= 0:
                near += s.guest.reach[body, world]
            distance, normal = shape_distance(s.guest.shapes, shape, s.guest.poses, x, world)
            if distance < near:
                append(s, i, shape, x, normal, distance - radius, world)


@ti.func
def append(s: ti.template(), i, shape, x, normal, gap, world):
    """Add the contact of a person's own particle i, at x, with a shape; it is a point without extent."""
    c = s.guest.points.count[world]
    s.guest.points.count[world] = c + 1
    if c < s.guest.contacts.shape[0]:
        s.guest.points.integers[world, c, PAIR.shape_a] = -1
        s.guest.points.integers[world, c, PAIR.shape_b] = -1
        s.guest.points.integers[world, c, PAIR.body_a] = PARTICLE - i
        s.guest.points.integers[world, c, PAIR.body_b] = s.guest.shapes.integers[shape, STRUCTURE.body]
        # Half the gap from here is where the impulse acts: at the particle, else friction would turn the two.
        place = x + 0.5 * gap * normal
        for k in ti.static(range(3)):
            s.guest.points.numbers[world, c, POINT.position + k] = place[k]
            s.guest.points.numbers[world, c, POINT.normal + k] = normal[k]
        s.guest.points.numbers[world, c, POINT.gap] = gap
        s.guest.points.numbers[world, c, POINT.friction] = s.guest.shapes.numbers[world, shape, SHAPE.friction]
        s.guest.points.numbers[world, c, POINT.restitution] = 0.0


@ti.func
def relax(s: ti.template(), sweep, world):
    """Project every contact once, every second time in the opposite order; return the deepest [m].

    Symmetric Gauss-Seidel: in one order alone each sweep tilts a stack the same way.
    """
    worst = 0.0
    n = contact.count(s, world)
    for c in range(n):
        contact.measure(s, c, world)
    for k in range(n):
        c = k
        if sweep % 2 == 1:
            c = n - 1 - k
        worst = ti.max(worst, contact.solve(s, c, world))
    for body in range(s.guest.own[BODIES]):
        if s.guest.motion[body, world, TOUCHED] > 0.0:
            move(s, s.position, s.previous, body, 1.0, world)
            rest(s, body, world)
    return worst


@ti.func
def part(s: ti.template(), world):
    """Keep what the next step wants to know, and send back what rebounds."""
    for shape in range(s.guest.heads.shape[0]):
        s.guest.heads[shape, world] = -1
    returned = 0
    for c in range(contact.count(s, world)):
        kept.keep(s, c, world)
        returned += rebound.rebounds(s, c, world)
    if returned > 0:
        for body in range(s.guest.own[BODIES]):
            if s.guest.motion[body, world, TOUCHED] > 0.0:
                read_inertia(s, s.position, body, world)
        for c in range(contact.count(s, world)):
            rebound.aim(s, c, world)
            contact.measure(s, c, world)
        for _ in range(rebound.PASSES):
            for c in range(contact.count(s, world)):
                if rebound.rebounds(s, c, world):
                    rebound.rebound(s, c, world)
        for body in range(s.guest.own[BODIES]):
            if s.guest.motion[body, world, TOUCHED] > 0.0:
                move(s, s.previous, s.position, body, -1.0, world)
                rest(s, body, world)


@ti.func
def touching(s: ti.template(), world):
    """How many contacts held something off in the last step."""
    result = 0
    for c in range(contact.count(s, world)):
        if s.guest.contacts[c, world, IMPULSE] > 0.0:
            result += 1
    return result


def kernel(body, features):
    """As pbd.data.kernel, with the arrays of bodies after those of particles."""
    flat, table, cube = (ti.types.ndarray(ndim=n) for n in (1, 2, 3))

    @ti.kernel
    def run(
        position: table, previous: table, predicted: table, force: table, air: table, radius: table,
        members: flat, parameters: table, multipliers: table, offsets: table, runs: cube, colours: flat,
        numbers: table, integers: table, grids: flat, boxes: table, driven: flat,
        triangles: table, drag_coefficient: flat, fans: flat, fan_triangles: flat,
        rest: table, cells: table, binned: table, neighbours: cube, neighbour_count: table, correction: table,
        counts: flat,
        firsts: flat, body_members: flat, fit: cube, motion: cube, poses: cube, reach: table,
        contacts: cube, kept: cube, kept_keys: cube, heads: table, own: flat,
        shape_integers: table, shape_numbers: cube, vertices: cube, planes: cube, lists: flat,
        point_integers: cube, point_numbers: cube, point_count: flat,
        placed: cube, bins: table, pairs: cube, clips: cube, marks: table,
        timeline: table, report: table,
        h: float, drag: float, tolerance: float, reach_of_particles: float, friction: float, a: int, b: int,
    ):  # fmt: skip
        data = ti.static(
            Data(
                features, position, previous, predicted, force, air, radius,
                members, parameters, multipliers, offsets, runs, colours,
                numbers, integers, grids, boxes, driven,
                triangles, drag_coefficient, fans, fan_triangles,
                rest, cells, binned, neighbours, neighbour_count, correction,
                counts, timeline, report, h, drag, tolerance, reach_of_particles, friction,
                Bodies(
                    firsts, body_members, fit, motion, poses, reach, contacts, kept, kept_keys, heads, own,
                    Shapes(shape_integers, shape_numbers, vertices, planes, lists),
                    Points(point_integers, point_numbers, point_count),
                    Scratch(placed, bins, pairs, clips, marks),
                ),
            )
        )  # fmt: skip
        body(data, a, b)

    return run
