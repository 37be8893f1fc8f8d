"""Recovery: a solid that is tangled is moved by its shape, not by its elements, until it is itself again.

Elements find back from inside out one by one, but a body of which many are inside out, as when its particles are at
random or at one point, can end folded twice around an edge with no element inside out: an equilibrium that no elastic
energy leaves. So a body of which more than MOST_INVERTED are inside out is tangled. Each substep then moves its
predicted positions by the part PULL of the way to

    g_i = c + R (X_i - C),   R the rotation that maximises tr Rᵀ A,   A = Σ m_i (x_i - c)(X_i - C)ᵀ

with the rest shape X and both centres of mass. That keeps linear and angular momentum: Σ m_i (g_i - x_i) = 0, and
Σ m_i (x_i - c) × g_i = 0 because A Rᵀ is symmetric. It ends when all |F - R| < 1: then Rᵀ F has a positive symmetric
part everywhere, and no part of a convex body is folded onto another.

Sources: Müller, Heidelberger, Teschner, Gross, Meshless Deformations Based on Shape Matching (2005); Müller, Bender,
Chentanez, Macklin, A Robust Method to Extract the Rotational Part of Deformations (2016), for R.
"""

import taichi as ti

from pbd.constraints.constraint_type import TINY
from pbd.core.quaternions import exponential, multiply, rotate
from pbd.core.vectors import axis
from pbd.data import RANGE
from pbd.integrate import position
from pbd.projection import read_constraint

MOST_INVERTED, PULL = 0.1, 0.5

TANGLED, RECOVERED = 1.0, 0.5  # what has recovered in a substep has its elements back in the next one

# Turns of the rotation until the next one is shorter than this [rad], or so many.
PRECISION, MOST_TURNS = 1e-6, 100


@ti.func
def recover(s: ti.template(), world):
    """Find which bodies are tangled, and move their predicted positions towards their shapes."""
    m = ti.static(s.implicit)
    for body in range(m.bodies.shape[0]):
        m.bodies[body, world] = ti.Vector([0.0, 0.0])
    for index in ti.static(s.features.implicit):
        if ti.static(s.features.types[index].is_solid and not s.features.types[index].viscous):
            for c in range(s.constraints.ranges[index, RANGE.count]):
                count_inverted(s.features.types[index], index, s, c, world)
    for body in range(m.bodies.shape[0]):
        counts = m.bodies[body, world]
        if m.tangled[body, world] == RECOVERED:
            m.tangled[body, world] = 0.0
        if counts[1] > MOST_INVERTED * counts[0]:
            m.tangled[body, world] = TANGLED
        if m.tangled[body, world] == TANGLED:
            pull_to_shape(s, body, world)


@ti.func
def count_inverted(definition: ti.template(), index: ti.template(), s: ti.template(), c, world):
    """Count an element in its body, and as inside out if its volume at the start of the substep is not positive."""
    i, _q, parameters, _number = read_constraint(definition, index, s, c, world)
    x = [s.particles.previous_position[i[k], world] for k in ti.static(range(4))]
    f, body = definition.deformation(x, parameters), s.implicit.body[s.implicit.place[i[0]]]
    inverted = ti.select(f[0].dot(f[1].cross(f[2])) <= 0.0, 1.0, 0.0)
    s.implicit.bodies[body, world] = s.implicit.bodies[body, world] + ti.Vector([1.0, inverted])


@ti.func
def pull_to_shape(s: ti.template(), body, world):
    """Move the predicted positions of a body, and find whether it is still tangled."""
    m = ti.static(s.implicit)
    centre, shape_centre, mass = ti.Vector([0.0, 0.0, 0.0]), ti.Vector([0.0, 0.0, 0.0]), 0.0
    for place in range(s.counts.implicit):
        if m.body[place] == body:
            centre += m.weight[place] * position(s, m.node[place], world)
            shape_centre += m.weight[place] * m.shape[place]
            mass += m.weight[place]
    centre, shape_centre = centre / mass, shape_centre / mass
    columns = [ti.Vector([0.0, 0.0, 0.0]) for _ in ti.static(range(3))]  # of A
    for place in range(s.counts.implicit):
        if m.body[place] == body:
            arm = m.weight[place] * (position(s, m.node[place], world) - centre)
            for k in ti.static(range(3)):
                columns[k] += (m.shape[place] - shape_centre)[k] * arm
    turn = rotation_of(columns)
    for place in range(s.counts.implicit):
        i = m.node[place]
        q = s.particles.position[i, world]
        if m.body[place] == body and q[3] > 0.0:
            x = ti.Vector([q[0], q[1], q[2]])
            x += PULL * (centre + rotate(turn, m.shape[place] - shape_centre) - x)
            s.particles.position[i, world] = ti.Vector([x[0], x[1], x[2], q[3]])
    farthest = 0.0
    for index in ti.static(s.features.implicit):
        if ti.static(s.features.types[index].is_solid and not s.features.types[index].viscous):
            for c in range(s.constraints.ranges[index, RANGE.count]):
                found = distance_from(s.features.types[index], index, s, c, turn, body, world)
                farthest = ti.max(farthest, found)
    m.tangled[body, world] = ti.select(farthest < 1.0, RECOVERED, TANGLED)


@ti.func
def distance_from(definition: ti.template(), index: ti.template(), s: ti.template(), c, turn, body, world):
    """|F - R|² of an element of a body, at the predicted positions; zero for elements of others."""
    i, q, parameters, _number = read_constraint(definition, index, s, c, world)
    total = 0.0
    if s.implicit.body[s.implicit.place[i[0]]] == body:
        f = definition.deformation([ti.Vector([q[k][0], q[k][1], q[k][2]]) for k in ti.static(range(4))], parameters)
        for k in ti.static(range(3)):
            total += (f[k] - rotate(turn, axis(k))).norm_sqr()
    return total


@ti.func
def rotation_of(a):
    """The rotation R that maximises tr Rᵀ A, a quaternion. Args: a: columns of A.

    Each turn is by Σ r_i × a_i/|Σ r_i·a_i|, over columns. The first R is the best of none and half turns about an axis.
    """
    trace = a[0][0] + a[1][1] + a[2][2]
    q, best = ti.Vector([1.0, 0.0, 0.0, 0.0]), trace
    for k in ti.static(range(3)):
        if 2.0 * a[k][k] - trace > best:
            best = 2.0 * a[k][k] - trace
            q = ti.Vector([1.0 if ti.static(j == k + 1) else 0.0 for j in ti.static(range(4))])
    turns, angle = 0, 1.0
    while turns < MOST_TURNS and angle > PRECISION:
        torque, size = ti.Vector([0.0, 0.0, 0.0]), 0.0
        for k in ti.static(range(3)):
            r = rotate(q, axis(k))
            torque += r.cross(a[k])
            size += r.dot(a[k])
        way = torque / ti.max(ti.abs(size), TINY)
        angle = way.norm()
        q = multiply(exponential(way), q).normalized()
        turns += 1
    return q


@ti.func
def is_tangled(definition: ti.template(), s: ti.template(), i, world):
    """Whether an element is of a tangled body: it does not push then. Args: i: its members."""
    if ti.static(definition.is_solid):
        return s.implicit.tangled[s.implicit.body[s.implicit.place[i[0]]], world] > 0.0
    else:
        return False
