"""Verlet integration: x' = x + (1 - d)(x - x*) + a h², then x* := x.

Source: Jakobsen, Advanced Character Physics (2001), section 2. His drag, "2 lowered to 1.99", leaves the coefficient of
x* at 1 in the retold source, which is a spring to the origin. Here x' = (2 - d) x - (1 - d) x* + a h².
"""

import taichi as ti

from pbd.core.kernels import each_world
from pbd.core.vectors import length_or_huge
from pbd.data import INPUT, POSE, REPORT
from pbd.execution.halo import one_particle_at_a_time
from pbd.execution.phases import for_each, input_rows, is_finite

# Each corner of a surface has about 6 triangles, and each triangle gives a third of its force to each corner.
TRIANGLES_PER_SHARE = 2.0


@ti.func
def position(s: ti.template(), i, world):
    """Position of particle i (3,) [m], without its inverse mass."""
    q = s.particles.position[i, world]
    return ti.Vector([q[0], q[1], q[2]])


@ti.func
def gravity(s: ti.template(), row):
    """Gravity in a row of the inputs (3,) [m/s²]."""
    return ti.Vector([s.inputs[row, INPUT.gravity + k] for k in ti.static(range(3))])


@ti.func
def gravity_on(s: ti.template(), row, i, world):
    """Gravity in a row of the inputs, times the scale of particle i (3,) [m/s²]."""
    result = gravity(s, row)
    if ti.static(s.features.gravity_scales):
        result = s.gravity.scale[i, world] * result
    return result


@ti.func
def acceleration(s: ti.template(), row, i, world):
    """Acceleration of particle i by gravity and all forces [m/s²]; zero if it is pinned."""
    w = s.particles.position[i, world][3]
    force = s.particles.force[i, world]
    if ti.static(s.features.wind):
        force += s.wind.force[i, world]
    result = gravity_on(s, row, i, world) + w * force
    if w == 0.0:
        result *= 0.0
    return result


# Phases (s, substep, item, world), see pbd/execution/phases.py -------------------------------------------------------


@one_particle_at_a_time
@ti.func
def apply_wind_everywhere(s: ti.template(), substep, world):
    """Compute the wind's force on all particles."""
    for_each(s, s.counts.triangles, apply_wind_to_triangle, substep, world)
    for_each(s, s.counts.particles, sum_wind, substep, world)


@ti.func
def apply_wind_to_triangle(s: ti.template(), substep, t, world):
    """Compute the wind's force on each corner of triangle t, a third of that on the triangle.

    On a triangle of area A and unit normal n, in air that passes at u = wind - velocity:  F = ½ ρ c A |u·n| (u·n) n.
    Light cloth would gain more than the wind's own speed in a substep, and diverge. So F is divided by
    1 + h k |u·n| W, as in implicit Euler, with k = ½ ρ c A and W the inverse mass that the triangles at a corner share.
    This is first order in h, and stable for any h.
    """
    row, _ = input_rows(s, substep)
    wind = ti.Vector([s.inputs[row, INPUT.wind + axis] for axis in ti.static(range(3))])
    corner = [s.wind.triangles[t, k] for k in ti.static(range(3))]
    a, b, c = position(s, corner[0], world), position(s, corner[1], world), position(s, corner[2], world)
    previous = ti.static(s.particles.previous_position)
    before = previous[corner[0], world] + previous[corner[1], world] + previous[corner[2], world]
    passing = wind - (a + b + c - before) / (3.0 * s.settings.h)
    normal = (b - a).cross(c - a)
    double_area = length_or_huge(normal)
    normal_speed = passing.dot(normal) / double_area
    weight = 0.0
    for k in ti.static(range(3)):
        weight += s.particles.position[corner[k], world][3] / 3.0
    stiffness = 0.5 * double_area * s.wind.drag_coefficient[t, world] * ti.abs(normal_speed)
    divisor = 1.0 + s.settings.h * stiffness * TRIANGLES_PER_SHARE * weight
    force = (s.wind.drag_coefficient[t, world] * ti.abs(normal_speed) * normal_speed / (6.0 * divisor)) * normal
    s.wind.corner_force[t, world] = force


@ti.func
def sum_wind(s: ti.template(), substep, i, world):
    """Sum the wind's forces on particle i, which gathers them so that no two threads write to one place."""
    total = ti.Vector([0.0, 0.0, 0.0])
    for place in range(s.wind.first_adjacent[i], s.wind.first_adjacent[i + 1]):
        total += s.wind.corner_force[s.wind.adjacent_triangles[place], world]
    s.wind.force[i, world] = total


@ti.func
def predict(s: ti.template(), substep, i, world):
    """Move particle i by a Verlet step, without constraints."""
    row, _ = input_rows(s, substep)
    q = s.particles.position[i, world]
    x = ti.Vector([q[0], q[1], q[2]])
    h, kept = s.settings.h, s.settings.velocity_kept
    new = x + kept * (x - s.particles.previous_position[i, world]) + acceleration(s, row, i, world) * (h * h)
    if q[3] == 0.0:
        new = x
    if ti.static(s.features.has_symmetric):
        s.implicit.earlier[i, world] = s.particles.previous_position[i, world]
    s.particles.previous_position[i, world] = x
    if ti.static(s.features.obstacles or s.features.keep_predictions):
        s.particles.predicted_position[i, world] = new
    s.particles.position[i, world] = ti.Vector([new[0], new[1], new[2], q[3]])


@ti.func
def move_kinematic(s: ti.template(), substep, world):
    """Move all kinematic particles."""
    if ti.static(s.features.strands):
        move_kinematic_of_strand(s, substep, world)
    else:
        move_kinematic_particles(s, substep, world)


@one_particle_at_a_time
@ti.func
def move_kinematic_particles(s: ti.template(), substep, world):
    """Move all kinematic particles."""
    for_each(s, s.counts.kinematic, move_kinematic_particle, substep, world)


@each_world
@ti.func
def move_kinematic_of_strand(s: ti.template(), substep, strand):
    """Move all kinematic particles of a strand that kernels see as a world (pbd/execution/strands.py)."""
    for k in range(s.counts.kinematic):
        move_along_path(s, substep, s.strands.path[k, strand], s.strands.moving[k], strand)


@ti.func
def move_kinematic_particle(s: ti.template(), substep, k, world):
    """Move kinematic particle k to where its path is at the end of the substep. `predict` has set its x*."""
    move_along_path(s, substep, k, s.particles.kinematic[k], world)


@ti.func
def move_along_path(s: ti.template(), substep, k, i, world):
    """Move particle i, which is on path k."""
    _, row = input_rows(s, substep)
    column = INPUT.total + POSE.total * s.counts.colliders + 3 * k
    target = ti.Vector([s.inputs[row, column + axis] for axis in ti.static(range(3))])
    s.particles.position[i, world] = ti.Vector([target[0], target[1], target[2], 0.0])


@ti.func
def clear_multiplier(s: ti.template(), substep, m, world):
    """Set multiplier m to zero, from which it starts in each substep."""
    s.constraints.multipliers[m, world] = 0.0


@ti.func
def check_finite(s: ti.template(), substep, i, world):
    """Report the substep if the position of particle i is not finite."""
    if not is_finite(s.particles.position[i, world]):
        s.report[world, REPORT.diverged_substep] = ti.cast(substep, float)
