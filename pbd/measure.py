"""What a step leaves to measure: violations of constraints, contacts and elastic energy of each world."""

import taichi as ti

from pbd.collision.colliders import touches_surface
from pbd.collision.elements import element_touches
from pbd.collision.particle_contacts import touches_particle
from pbd.data import RANGE, REPORT
from pbd.phases import count_worlds
from pbd.projection import elastic_energy, violation


@ti.func
def measure(s: ti.template(), substep):
    """Write the largest violation, the number of contacts and the elastic energy of each world into its report."""
    for world in range(count_worlds(s)):
        worst, energy, contacts = 0.0, 0.0, 0
        for index in ti.static(range(len(s.features.types))):
            for c in range(s.constraints.ranges[index, RANGE.count]):
                worst = ti.max(worst, violation(s.features.types[index], index, s, c, world))
                energy += elastic_energy(s.features.types[index], index, s, c, world)
        for i in range(s.counts.particles):
            touches = 0
            if ti.static(s.features.surfaces):
                touches = touches_surface(s, substep, i, world)
            if ti.static(s.features.contacts):
                touches = ti.max(touches, touches_particle(s, i, world))
            contacts += touches
        if ti.static(s.features.elements):
            for e in range(s.counts.elements):
                contacts += element_touches(s, substep, e, world)
        if ti.static(s.features.has_hooks):
            contacts += s.features.hooks.count_contacts(s, world)
        s.report[world, REPORT.violation] = worst
        s.report[world, REPORT.contacts] = ti.cast(contacts, float)
        s.report[world, REPORT.elastic_energy] = energy
