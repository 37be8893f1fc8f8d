"""Regions in which particles of surfaces may move before the next search: where they are, and where they will be.

A region is all that is nearer than a slack to the line from where a particle was at the start of the substep to where
its velocity takes it by the end of the step. So a particle may go on, slow down or stop, as it does in an impact. It is
convex, so a particle that moves straight between two points of it does not leave it.
"""

import taichi as ti

from pbd.integrate import position

# The slack is this part of half the thickness, and this part of the displacement of the substep: an impact on an
# inclined collider turns that much aside.
SLACK_OF_RADIUS = 0.25
SLACK_OF_DISPLACEMENT = 1.0
# A region goes on for no more than this part of the shortest edge at a particle: longer ones reach across many others.
REACH = 1.0


@ti.func
def start_of(s: ti.template(), i, world):
    """Position of particle i at the start of the substep (3,) [m]."""
    return s.particles.previous_position[i, world]


@ti.func
def set_regions(s: ti.template(), substeps, world):
    """Let regions begin where particles were at the start of the substep. Args: substeps: for how many they go on."""
    part = ti.cast(substeps, float)
    for k in range(s.surface.particles.shape[0]):
        i = s.surface.particles[k]
        displacement = position(s, i, world) - start_of(s, i, world)
        part = ti.min(part, longest(s, i, displacement))
    for k in range(s.surface.particles.shape[0]):
        i = s.surface.particles[k]
        start = start_of(s, i, world)
        set_region(s, i, start, position(s, i, world) - start, part, world)


@ti.func
def set_regions_of_step(s: ti.template(), world):
    """Let regions begin where particles are between steps, and go on for a step."""
    part = ti.cast(s.settings.substeps, float)
    for k in range(s.surface.particles.shape[0]):
        i = s.surface.particles[k]
        part = ti.min(part, longest(s, i, last_displacement(s, i, world)))
    for k in range(s.surface.particles.shape[0]):
        i = s.surface.particles[k]
        set_region(s, i, position(s, i, world), last_displacement(s, i, world), part, world)


@ti.func
def last_displacement(s: ti.template(), i, world):
    """Displacement of particle i between steps, in a substep, if its velocity stays (3,) [m]."""
    return s.settings.velocity_kept * (position(s, i, world) - s.particles.previous_position[i, world])


@ti.func
def longest(s: ti.template(), i, displacement):
    """For how many substeps the region of particle i may go on, one at least. Args: displacement: in a substep [m]."""
    return ti.max(REACH * s.surface.length[i] / (displacement.norm() + 1e-30), 1.0)


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


@ti.func
def measure_moved(s: ti.template(), world):
    """Measure how far particles are from the start of their regions: to the start of the substep, and in it.

    All that moves together has not moved in this sense: pairs of features need to be compared only if they may have
    come nearer by what remains.
    """
    drift, count = ti.Vector([0.0, 0.0, 0.0]), s.surface.particles.shape[0]
    for k in range(count):
        i = s.surface.particles[k]
        drift += position(s, i, world) - s.surface.start[i, world]
    drift = drift / count
    before = drift * 0.0
    for k in range(count):
        i = s.surface.particles[k]
        before += start_of(s, i, world) - s.surface.start[i, world]
    before = before / count
    for k in range(count):
        i = s.surface.particles[k]
        offset = start_of(s, i, world) - s.surface.start[i, world] - before
        way = position(s, i, world) - start_of(s, i, world) - (drift - before)
        s.surface.moved[i, world] = offset.norm() + way.norm()


@ti.func
def way_together(s: ti.template(), is_edge, i, world):
    """By how much two features may have come nearer since the search [m]. Args: i: particles (4,)."""
    moved = ti.Vector([s.surface.moved[i[k], world] for k in ti.static(range(4))])
    first, second = moved[0], ti.max(moved[2], moved[3])
    if is_edge == 1:
        first = ti.max(first, moved[1])
    else:
        second = ti.max(second, moved[1])
    return first + second
