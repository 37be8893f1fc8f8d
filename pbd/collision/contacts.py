"""Contacts of particles and surfaces with one another, of the kinds that a system has."""

import taichi as ti

from pbd.collision.particle_contacts import project_contacts, search_contacts
from pbd.collision.surfaces.projection import prepare_surface_contacts, project_surface_contacts
from pbd.execution.phases import for_each_world, project_each_world


@ti.func
def find_contacts(s: ti.template(), substep, world):
    """Find what could touch in this substep."""
    if ti.static(s.features.contacts):
        search_contacts(s, substep, world)
    if ti.static(s.features.surface_contacts):
        for_each_world(s, prepare_surface_contacts, substep, world)


@ti.func
def move_apart(s: ti.template(), substep, world):
    """Move all that touches apart, once. Returns: the deepest contact [m]."""
    deepest = 0.0
    if ti.static(s.features.contacts):
        deepest = project_contacts(s, substep, world)
    if ti.static(s.features.surface_contacts):
        deepest = ti.max(deepest, project_each_world(s, project_surface_contacts, substep, world))
    return deepest
