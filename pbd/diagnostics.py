"""Diagnostics of a step: violations of constraints, contacts and elastic energy of each world."""

import taichi as ti

from pbd.collision.colliders import touches_surface
from pbd.collision.elements import element_touches
from pbd.collision.particle_contacts import touches_particle
from pbd.collision.surfaces.projection import count_touching_pairs
from pbd.core.kernels import count_last_turns
from pbd.data import RANGE, REPORT
from pbd.execution.halo import load_halo, one_particle_at_a_time
from pbd.execution.phases import count_worlds
from pbd.implicit.gas import energy_of_gases
from pbd.integrate import gravity_on, position
from pbd.projection import elastic_energy, relax_moments, violation


@ti.func
def measure_motion(s: ti.template(), substep, world):
    """Write kinetic and gravitational energy at the middle of the last substep into a world's report.

    Sums are in 64 bits, because far from the origin the gravitational energy is much larger than its changes.
    """
    kinetic, potential, h = ti.cast(0.0, ti.f64), ti.cast(0.0, ti.f64), s.settings.h
    for i in range(s.counts.particles):
        w = s.particles.position[i, world][3]
        if w > 0.0:
            x, before = position(s, i, world), s.particles.previous_position[i, world]
            kinetic += ti.cast((x - before).norm_sqr() / (2.0 * h * h * w), ti.f64)
            potential -= ti.cast(gravity_on(s, 0, i, world).dot(x + before), ti.f64) / (2.0 * w)
    s.report[world, REPORT.kinetic_energy] = ti.cast(kinetic, float)
    s.report[world, REPORT.potential_energy] = ti.cast(potential, float)


@ti.func
def measure(s: ti.template(), substep):
    """Write the largest violation, the number of contacts and the elastic energy of each world into its report.

    What is solved together has no violations: it counts by the longest displacement of a particle in the last
    iteration [m].
    """
    for world in range(count_worlds(s)):
        if ti.static(s.features.bands):
            load_halo(s, world)
        worst, energy = 0.0, 0.0
        for index in ti.static(range(len(s.features.types))):
            if ti.static(s.features.types[index].coupled):
                relax_moments(s.features.types[index], index, s, world)
            for c in range(s.constraints.ranges[index, RANGE.count]):
                if ti.static(index not in s.features.implicit):
                    worst = ti.max(worst, violation(s.features.types[index], index, s, c, world))
                energy += elastic_energy(s.features.types[index], index, s, c, world)
        if ti.static(s.features.gases):
            energy += energy_of_gases(s, world)
        if ti.static(s.features.together):
            worst = ti.max(worst, s.implicit.longest[world])
        s.report[world, REPORT.violation] = worst
        s.report[world, REPORT.elastic_energy] = energy
        count_contacts(s, substep, world)
        count_last_turns(s.report, REPORT.last_turns, world)


@one_particle_at_a_time
@ti.func
def count_contacts(s: ti.template(), substep, world):
    """Write the number of particles, points and pairs of features that a contact holds off into a world's report."""
    contacts = 0.0
    for i in range(s.counts.particles):
        touches = 0.0
        if ti.static(s.features.obstacles):
            touches = touches_surface(s, substep, i, world)
        if ti.static(s.features.contacts):
            touches = ti.max(touches, ti.cast(touches_particle(s, i, world), float))
        contacts += touches
    if ti.static(s.features.surface_contacts):
        contacts += ti.cast(count_touching_pairs(s, world), float)
    if ti.static(s.features.elements):
        for e in range(s.counts.elements):
            contacts += ti.cast(element_touches(s, substep, e, world), float)
    if ti.static(s.features.has_hooks):
        contacts += ti.cast(s.features.hooks.count_contacts(s, world), float)
    s.report[world, REPORT.contacts] = contacts
