"""The time step of the solver "verlet", whole. Particles and constraints are pbd's; bodies take part by step hooks.

    for each substep (pbd/step.py, advance_world):
        apply wind; gravity and the user's forces are known
        integrate             x' = x + (1 - d)(x - x*) + a h², then x* := x           pbd/integrate.py
        begin_step            poses; detect contacts; prepare them; warm start        here
        for each iteration:
            project each constraint once: sticks, joints, limits, friction, motors    pbd/constraints, joint_*.py
            grab springs, contacts between particles, colliders of particles          pbd
            relax             each contact of bodies once, with friction              here
        restitution of particles at colliders                                         pbd
        end_step              store impulses; restitution of bodies                   here

A body is a frame of four particles and more (frame.py). Sticks keep the frame rigid, and joints are particles that two
frames share. So `integrate` and the constraints move bodies without knowing them. The hooks below add contacts.

Source: Jakobsen, Advanced Character Physics (2001), sections 2 to 6.
"""

from functools import lru_cache

import taichi as ti

from pbd.data import REPORT
from pbd.step import StepHooks
from rigid.collision.contact_cache import clear
from rigid.collision.data import PAIR
from rigid.collision.narrow_phase import point_finder
from rigid.solvers.verlet.bodies import move_particles, read_inertia, read_pose
from rigid.solvers.verlet.contacts import (
    contact_count,
    measure_displacement,
    prepare_contact,
    solve_contact,
    store_impulse,
    warm_start,
)
from rigid.solvers.verlet.data import CONTACT, MOTION, SIZE, BodyArrays
from rigid.solvers.verlet.particle_contacts import find_particle_contacts
from rigid.solvers.verlet.restitution import ITERATIONS, apply_restitution, prepare_restitution, rebounds


@lru_cache
def step_hooks(pair_types):
    """The StepHooks of bodies. Args: pair_types: the pairs that can touch, a rigid.collision.data.PairTypes."""
    find_points = point_finder(pair_types)

    @ti.func
    def begin_step(s: ti.template(), world):
        """Detect the contacts of this step, prepare them and apply the impulses of the last step."""
        hooked = ti.static(s.hooked)
        for body in range(hooked.sizes[SIZE.bodies]):
            read_pose(s, body, world)
        find_points(hooked.shapes, hooked.points, hooked.scratch, hooked.poses, hooked.margins, world)
        for i in range(hooked.sizes[SIZE.particles]):
            find_particle_contacts(s, i, world)
        report_overflow(s, world)
        mark_bodies_in_contact(s, world)
        read_inertias(s, s.particles.previous_position, world)
        for c in range(contact_count(s, world)):
            prepare_contact(s, c, world)
        for c in range(contact_count(s, world)):
            warm_start(s, c, world)
        move_bodies(s, s.particles.position, s.particles.previous_position, 1.0, world)

    return StepHooks(BodyArrays, begin_step, relax, end_step, count_contacts)


@ti.func
def relax(s: ti.template(), iteration, world):
    """Project each contact once, in every second iteration the last one first. Returns: the largest violation [m].

    With one order alone, each iteration would tilt a stack to the same side.
    """
    count = contact_count(s, world)
    for c in range(count):
        measure_displacement(s, c, world)
    worst = 0.0
    for k in range(count):
        c = k
        if iteration % 2 == 1:
            c = count - 1 - k
        worst = ti.max(worst, solve_contact(s, c, world))
    move_bodies(s, s.particles.position, s.particles.previous_position, 1.0, world)
    return worst


@ti.func
def end_step(s: ti.template(), world):
    """Store the impulses for the next step, and apply restitution."""
    clear(s.hooked.cache, world)
    rebounding = 0
    for c in range(contact_count(s, world)):
        store_impulse(s, c, world)
        rebounding += rebounds(s, c, world)
    if rebounding > 0:
        read_inertias(s, s.particles.position, world)
        for c in range(contact_count(s, world)):
            prepare_restitution(s, c, world)
            measure_displacement(s, c, world)
        for _ in range(ITERATIONS):
            for c in range(contact_count(s, world)):
                if rebounds(s, c, world):
                    apply_restitution(s, c, world)
        move_bodies(s, s.particles.previous_position, s.particles.position, -1.0, world)


@ti.func
def count_contacts(s: ti.template(), world):
    """How many contacts had an impulse in the last substep."""
    result = 0
    for c in range(contact_count(s, world)):
        if s.hooked.contacts[world, c, CONTACT.impulse] > 0.0:
            result += 1
    return result


@ti.func
def report_overflow(s: ti.template(), world):
    """Report to the host if there are more contact points than the capacity."""
    found = s.hooked.points.count[world]
    if found > s.hooked.contacts.shape[1]:
        s.report[world, REPORT.contact_overflow] = ti.cast(found, float)


@ti.func
def mark_bodies_in_contact(s: ti.template(), world):
    """Note which bodies have contacts. Only these are moved by impulses."""
    for body in range(s.hooked.sizes[SIZE.bodies]):
        s.hooked.motion[world, body, MOTION.in_contact] = 0.0
    for c in range(contact_count(s, world)):
        for k in ti.static((PAIR.body_a, PAIR.body_b)):
            body = s.hooked.points.integers[world, c, k]
            if body >= 0:
                s.hooked.motion[world, body, MOTION.in_contact] = 1.0


@ti.func
def read_inertias(s: ti.template(), array: ti.template(), world):
    """Read the inertia of all bodies in contact. Args: array: positions of particles."""
    for body in range(s.hooked.sizes[SIZE.bodies]):
        if s.hooked.motion[world, body, MOTION.in_contact] > 0.0:
            read_inertia(s, array, body, world)


@ti.func
def move_bodies(s: ti.template(), array: ti.template(), arms: ti.template(), sign, world):
    """Move all bodies in contact by their pending impulses. Args: array, arms, sign: see `move_particles`."""
    for body in range(s.hooked.sizes[SIZE.bodies]):
        if s.hooked.motion[world, body, MOTION.in_contact] > 0.0:
            move_particles(s, array, arms, body, sign, world)
