"""The complete time step of the solver "verlet". pbd moves particles; bodies take part by step hooks.

    for each substep (pbd/step.py, advance_world):
        apply_wind_everywhere, predict     x' = x + (1 - d)(x - x*) + a h², then x* := x
        before_iterations       external forces; read poses; detect contacts; prepare them; warm start          below
        for each iteration:
            project_clusters    each constraint once: sticks, joints, limits, friction, motors
            relax_environment   grab springs, contacts between particles, colliders of particles
            in_iteration        each contact of bodies once, with friction                     below
        apply_restitution       of particles at colliders
        after_iterations        store impulses; restitution of bodies                          below

A body is a frame: four corner particles, and light particles for its joints (frame.py). Sticks keep the frame rigid,
and joints are particles that two frames share, or constraints on the corners of two frames (joint_locks.py,
joint_limits.py, joint_drives.py). So `predict` and the constraints move bodies without knowing them. The functions
below add contacts of bodies.

Source: Jakobsen, Advanced Character Physics (2001), sections 2 to 6.
"""

from functools import cache

import taichi as ti

from pbd.core.kernels import compiled_once, in_all_lanes
from pbd.execution.phases import world_of
from pbd.step_hooks import StepHooks
from rigid.collision.narrow_phase import point_finder
from rigid.solvers.verlet.contacts import (
    look_up_impulses,
    mark_bodies_in_contact,
    measure_displacement,
    prepare_contact,
    report_overflow,
    scale_impulses,
    solve_contact,
    store_impulses,
)
from rigid.solvers.verlet.contacts_in_lanes import contact_count, count_contacts, store_contacts, store_count, take_part
from rigid.solvers.verlet.data import CONTACT, SIZE, BodyArrays, LoadedBodies
from rigid.solvers.verlet.element_contacts import find_element_contacts
from rigid.solvers.verlet.external_forces import apply_external_forces
from rigid.solvers.verlet.frame_motion import move_bodies, read_inertias, read_pose
from rigid.solvers.verlet.loaded_contacts import list_loaded, solve_loaded
from rigid.solvers.verlet.particle_contacts import (
    FIXED_SHAPES,
    find_particle_contacts,
    read_direct_impulses,
    report_load,
    solved_directly,
)
from rigid.solvers.verlet.restitution import BOUNDED, rebound
from rigid.solvers.verlet.surface_bound import hold_bodies
from rigid.solvers.verlet.warm_start import take_back_impulses, take_back_nothing, warm_start

# Groups of data that the functions below use.
GROUPS = ("features", "particles", "touch", "hooked", "gravity", "inputs", "report", "counts", "settings")


@cache
def step_hooks(
    pair_types, joints=True, particles=False, surfaces=False, data=BodyArrays, energy=BOUNDED, fixed_shapes=False,
):  # fmt: skip
    """The StepHooks of bodies.

    Args: pair_types: the pairs that can touch, a rigid.collision.data.PairTypes; joints: whether any bodies are joined.
    Without joints no impulse is taken back: stacks would sink. particles: whether the user's particles have radii;
    surfaces: whether they are corners of surfaces. data: class of the arrays. energy: of impacts, see
    rigid/solvers/verlet/restitution.py. fixed_shapes: whether particles with radii can touch the ground or bodies on
    paths.
    """
    groups = (*GROUPS, "surface") if surfaces else GROUPS
    loaded = data is LoadedBodies
    find_points = in_all_lanes(point_finder(pair_types))

    @compiled_once(*groups)
    def before_iterations(s: ti.template(), index):
        """Apply external forces. Detect contacts, prepare them and apply their impulses of the last substep."""
        hooked = ti.static(s.hooked)
        world = world_of(s, index)
        take_part(s, world)
        apply_external_forces(s, world)
        for body in range(hooked.sizes[SIZE.bodies]):
            read_pose(s, body, world)
        find_points(hooked.shapes, hooked.points, hooked.scratch, hooked.poses, hooked.margins, world)
        if ti.static(particles):
            for i in range(hooked.sizes[SIZE.particles]):
                find_particle_contacts(s, i, world)
        if ti.static(surfaces):
            find_element_contacts(s, world)
        report_overflow(s, world)
        mark_bodies_in_contact(s, world)
        read_inertias(s, s.particles.previous_position, world)
        look_up_impulses(s, world)
        for c in range(contact_count(s, world)):
            prepare_contact(s, c, world)
        if ti.static(loaded):
            list_loaded(s, world)
        for c in range(contact_count(s, world)):
            warm_start(s, c, world)
        store_count(s, world)
        move_bodies(s, s.particles.position, s.particles.previous_position, 1.0, world)

    @compiled_once(*groups)
    def after_iterations(s: ti.template(), index):
        """Store the impulses for the next substep, and apply restitution."""
        world = world_of(s, index)
        take_part(s, world)
        read_direct_impulses(s, world)
        if ti.static(particles):
            report_load(s, world)
        store_impulses(s, world)
        rebound(s, energy, world)

    return StepHooks(
        data, before_iterations, in_iteration, after_iterations, take_back_impulses if joints else take_back_nothing,
        scale_impulses, count_contacts, store_contacts, FIXED_SHAPES if particles and fixed_shapes else None,
        solve_loaded if loaded else None, hold_bodies if surfaces else None,
    )  # fmt: skip


@ti.func
def in_iteration(s: ti.template(), iteration, world):
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
        if not solved_directly(s, c, world) and s.hooked.contacts[world, c, CONTACT.is_loaded] == 0.0:
            worst = ti.max(worst, solve_contact(s, c, world))
    move_bodies(s, s.particles.position, s.particles.previous_position, 1.0, world)
    return worst
