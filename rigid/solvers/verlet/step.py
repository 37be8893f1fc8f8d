"""What bodies do in a step of their particles: the functions of a pbd.step.StepHooks.

    begin_step   poses from the particles, contacts sought (rigid/collision), the last step's impulses again
    relax        each contact projected once, in each sweep after the sticks
    end_step     impulses kept for the next step, and what rebounds gets its speed
"""

from functools import lru_cache

import taichi as ti

from pbd.data import REPORT
from pbd.integrate import position
from pbd.step import StepHooks
from rigid.collision.data import PAIR, POINT, SHAPE, STRUCTURE
from rigid.collision.narrow_phase import point_finder, shape_distance
from rigid.solvers.verlet import contact_cache as kept
from rigid.solvers.verlet import contacts as contact
from rigid.solvers.verlet import rebound
from rigid.solvers.verlet.data import BODIES, IMPULSE, OWN, TOUCHED, Bodies
from rigid.solvers.verlet.poses import move, read_inertia, read_pose, rest
from rigid.solvers.verlet.sides import PARTICLE


@lru_cache
def step_hooks(meetings):
    """The StepHooks of a solver. Args: meetings: kinds of pairs that can touch, a rigid.collision.data.PairTypes."""
    find_points = point_finder(meetings)

    @ti.func
    def begin_step(s: ti.template(), world):
        for body in range(s.hooked.own[BODIES]):
            read_pose(s, body, world)
            s.hooked.motion[body, world, TOUCHED] = 0.0
        find_points(s.hooked.shapes, s.hooked.points, s.hooked.broad, s.hooked.poses, s.hooked.reach, world)
        begin(s, world)

    return StepHooks(Bodies, begin_step, relax, end_step, count_contacts)


@ti.func
def begin(s: ti.template(), world):
    """Make contacts of the points that were found, and begin as the last step ended."""
    for i in range(s.hooked.own[OWN]):
        meet_particle(s, i, world)
    if s.hooked.points.count[world] > s.hooked.contacts.shape[0]:
        s.report[world, REPORT.contact_overflow] = ti.cast(s.hooked.points.count[world], float)
    for c in range(contact.count(s, world)):
        for k in ti.static((PAIR.body_a, PAIR.body_b)):
            body = s.hooked.points.integers[world, c, k]
            if body >= 0:
                s.hooked.motion[body, world, TOUCHED] = 1.0
    for body in range(s.hooked.own[BODIES]):
        if s.hooked.motion[body, world, TOUCHED] > 0.0:
            read_inertia(s, s.particles.previous_position, body, world)
    for c in range(contact.count(s, world)):
        contact.prepare(s, c, world)
    for c in range(contact.count(s, world)):
        contact.warm_start(s, c, world)
    for body in range(s.hooked.own[BODIES]):
        if s.hooked.motion[body, world, TOUCHED] > 0.0:
            move(s, s.particles.position, s.particles.previous_position, body, 1.0, world)
            rest(s, body, world)


@ti.func
def meet_particle(s: ti.template(), i, world):
    """Find the shapes that a person's own particle meets."""
    radius = s.particles.radius[i, world]
    if radius > 0.0 and s.particles.position[i, world][3] >= 0.0:
        x = s.particles.previous_position[i, world]
        way = (position(s, i, world) - x).norm()
        for shape in range(s.hooked.heads.shape[0]):
            body = s.hooked.shapes.integers[shape, STRUCTURE.body]
            near = radius + way
            if body >= 0:
                near += s.hooked.reach[body, world]
            distance, normal = shape_distance(s.hooked.shapes, shape, s.hooked.poses, x, world)
            if distance < near:
                append(s, i, shape, x, normal, distance - radius, world)


@ti.func
def append(s: ti.template(), i, shape, x, normal, gap, world):
    """Add the contact of a person's own particle i, at x, with a shape; it is a point without extent."""
    c = s.hooked.points.count[world]
    s.hooked.points.count[world] = c + 1
    if c < s.hooked.contacts.shape[0]:
        s.hooked.points.integers[world, c, PAIR.shape_a] = -1
        s.hooked.points.integers[world, c, PAIR.shape_b] = -1
        s.hooked.points.integers[world, c, PAIR.body_a] = PARTICLE - i
        s.hooked.points.integers[world, c, PAIR.body_b] = s.hooked.shapes.integers[shape, STRUCTURE.body]
        # Half the gap from here is where the impulse acts: at the particle, else friction would turn the two.
        place = x + 0.5 * gap * normal
        for k in ti.static(range(3)):
            s.hooked.points.numbers[world, c, POINT.position + k] = place[k]
            s.hooked.points.numbers[world, c, POINT.normal + k] = normal[k]
        s.hooked.points.numbers[world, c, POINT.gap] = gap
        s.hooked.points.numbers[world, c, POINT.friction] = s.hooked.shapes.numbers[world, shape, SHAPE.friction]
        s.hooked.points.numbers[world, c, POINT.restitution] = 0.0


@ti.func
def relax(s: ti.template(), iteration, world):
    """Project every contact once, every second time in the opposite order; return the deepest [m].

    Symmetric Gauss-Seidel: in one order alone each sweep tilts a stack the same way.
    """
    worst = 0.0
    n = contact.count(s, world)
    for c in range(n):
        contact.measure(s, c, world)
    for k in range(n):
        c = k
        if iteration % 2 == 1:
            c = n - 1 - k
        worst = ti.max(worst, contact.solve(s, c, world))
    for body in range(s.hooked.own[BODIES]):
        if s.hooked.motion[body, world, TOUCHED] > 0.0:
            move(s, s.particles.position, s.particles.previous_position, body, 1.0, world)
            rest(s, body, world)
    return worst


@ti.func
def end_step(s: ti.template(), world):
    """Keep what the next step wants to know, and send back what rebounds."""
    for shape in range(s.hooked.heads.shape[0]):
        s.hooked.heads[shape, world] = -1
    returned = 0
    for c in range(contact.count(s, world)):
        kept.keep(s, c, world)
        returned += rebound.rebounds(s, c, world)
    if returned > 0:
        for body in range(s.hooked.own[BODIES]):
            if s.hooked.motion[body, world, TOUCHED] > 0.0:
                read_inertia(s, s.particles.position, body, world)
        for c in range(contact.count(s, world)):
            rebound.aim(s, c, world)
            contact.measure(s, c, world)
        for _ in range(rebound.PASSES):
            for c in range(contact.count(s, world)):
                if rebound.rebounds(s, c, world):
                    rebound.rebound(s, c, world)
        for body in range(s.hooked.own[BODIES]):
            if s.hooked.motion[body, world, TOUCHED] > 0.0:
                move(s, s.particles.previous_position, s.particles.position, body, -1.0, world)
                rest(s, body, world)


@ti.func
def count_contacts(s: ti.template(), world):
    """How many contacts held something off in the last step."""
    result = 0
    for c in range(contact.count(s, world)):
        if s.hooked.contacts[c, world, IMPULSE] > 0.0:
            result += 1
    return result
