"""Regions in which particles of surfaces may move before the next search: where they are, and where they will be.

A region is all that is nearer than a slack to the line from where a particle was at the start of the substep to where
its velocity takes it by the end of the step. So a particle may go on, slow down or stop, as it does in an impact. It is
convex, so a particle that moves straight between two points of it does not leave it.
"""

import taichi as ti

from pbd.integrate import position

# The slack is this part of half the thickness, and this part of the displacement of the substep: an impact on an
# inclined collider turns that much aside.
SLACK_OF_RADIUS = 0.5
SLACK_OF_DISPLACEMENT = 0.5


@ti.func
def start_of(s: ti.template(), i, world):
    """Position of particle i at the start of the substep (3,) [m]."""
    return s.particles.previous_position[i, world]


@ti.func
def set_regions(s: ti.template(), substeps, world):
    """Let regions begin where particles were at the start of the substep. Args: substeps: for how many they go on."""
    for k in range(s.surface.particles.shape[0]):
        i = s.surface.particles[k]
        start = start_of(s, i, world)
        set_region(s, i, start, position(s, i, world) - start, substeps, world)


@ti.func
def set_regions_of_step(s: ti.template(), world):
    """Let regions begin where particles are between steps, and go on for a step."""
    for k in range(s.surface.particles.shape[0]):
        i = s.surface.particles[k]
        x = position(s, i, world)
        displacement = s.settings.velocity_kept * (x - s.particles.previous_position[i, world])
        set_region(s, i, x, displacement, s.settings.substeps, world)


@ti.func
def set_region(s: ti.template(), i, start, displacement, substeps, world):
    """Set the region of particle i. Args: start [m]; displacement: in a substep [m]; substeps: how many."""
    s.surface.start[i, world] = start
    s.surface.way[i, world] = substeps * displacement
    s.surface.slack[i, world] = SLACK_OF_RADIUS * s.surface.radius[i] + SLACK_OF_DISPLACEMENT * displacement.norm()


@ti.func
def is_outside(s: ti.template(), i, world):
    """Whether particle i has left its region."""
    way = s.surface.way[i, world]
    offset = position(s, i, world) - s.surface.start[i, world]
    part = ti.min(ti.max(offset.dot(way) / ti.max(way.norm_sqr(), 1e-30), 0.0), 1.0)
    slack = s.surface.slack[i, world]
    return (offset - part * way).norm_sqr() > slack * slack


@ti.func
def any_outside(s: ti.template(), world):
    """Whether any particle of a surface has left its region."""
    result = False
    for k in range(s.surface.particles.shape[0]):
        if is_outside(s, s.surface.particles[k], world):
            result = True
    return result
