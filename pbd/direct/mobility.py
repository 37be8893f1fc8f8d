"""What the direct solve moves particles by: W, a matrix for each particle, instead of its inverse mass w.

    W = (1/w + c + Σ 2 T/d (1 - t tᵀ))⁻¹      along the surfaces that the particle touches, and zero across them

c is the resistance of friction (pbd/direct/contacts.py). T is the tension of a stick at a node of a rope, t its
direction and d its length: it resists displacements across itself (pbd/direct/tension.py). Without contacts, friction
and stiff ropes W is w.
"""

import taichi as ti

from pbd.core.vectors import length_or_huge
from pbd.data import DIRECT_RANGE
from pbd.direct.sticks import tension_of


@ti.func
def weigh(s: ti.template(), i, vector, world):
    """W times a vector, of particle i."""
    result = vector
    if ti.static(s.features.has_mobilities):
        result = multiply_symmetric(s.direct.mobility[0, i, world], s.direct.mobility[1, i, world], vector)
    else:
        result = s.particles.position[i, world][3] * vector
    return result


@ti.func
def multiply_symmetric(diagonal, others, vector):
    """A symmetric matrix times a vector. Args: diagonal: xx, yy, zz; others: xy, xz, yz."""
    return ti.Vector(
        [
            diagonal[0] * vector[0] + others[0] * vector[1] + others[1] * vector[2],
            others[0] * vector[0] + diagonal[1] * vector[1] + others[2] * vector[2],
            others[1] * vector[0] + others[2] * vector[1] + diagonal[2] * vector[2],
        ]
    )


@ti.func
def free_part(s: ti.template(), i, vector, world):
    """The part of a vector along the surfaces that particle i touches."""
    first, second = s.touch.now.normal[0, i, world], second_axis(s, i, world)
    return vector - vector.dot(first) * first - vector.dot(second) * second


@ti.func
def friction_on(s: ti.template(), i, world):
    """Friction on particle i by all that it touches (3,) [kg m]."""
    return s.touch.force[0, i, world] + s.touch.force[1, i, world]


@ti.func
def second_axis(s: ti.template(), i, world):
    """The second normal of particle i without its part along the first one, as a unit vector; zero if it has none."""
    first, second = s.touch.now.normal[0, i, world], s.touch.now.normal[1, i, world]
    across = second - second.dot(first) * first
    return across / length_or_huge(across)


@ti.func
def write_mobilities(s: ti.template(), stiff, world):
    """Write W of all particles. Args: stiff: whether with the tension of sticks."""
    for i in range(s.counts.particles):
        w = s.particles.position[i, world][3]
        mass = 1.0
        if w > 0.0:
            mass = 1.0 / w
        if ti.static(s.features.touching):
            mass += s.touch.now.resistance[0, i, world] + s.touch.now.resistance[1, i, world]
        s.direct.mobility[0, i, world] = ti.Vector([mass, mass, mass])
        s.direct.mobility[1, i, world] = ti.Vector([0.0, 0.0, 0.0])
    if ti.static(s.features.rope_nodes):
        if stiff:
            add_stiffness(s, world)
    for i in range(s.counts.particles):
        invert_mass(s, i, world)


@ti.func
def add_stiffness(s: ti.template(), world):
    """Add the stiffness of tension to the masses of nodes."""
    for index in ti.static(s.features.direct):
        if ti.static(s.features.types[index].arity == 2):
            for row in range(s.direct.ranges[index, DIRECT_RANGE.begin], s.direct.ranges[index, DIRECT_RANGE.end]):
                i, j, stiffness, t = tension_of(index, s, row, world)
                stiffness = 2.0 * ti.max(stiffness, 0.0)
                add_across(s, i, stiffness * s.direct.is_node[i], t, world)
                add_across(s, j, stiffness * s.direct.is_node[j], t, world)


@ti.func
def add_across(s: ti.template(), i, stiffness, t, world):
    """Add k (1 - t tᵀ) to the mass of particle i. Args: stiffness: k [kg]; t: unit vector."""
    s.direct.mobility[0, i, world] = s.direct.mobility[0, i, world] + stiffness
    subtract_product(s, i, ti.sqrt(stiffness) * t, world)


@ti.func
def invert_mass(s: ti.template(), i, world):
    """Replace the mass of particle i by its inverse, without what would move it across the surfaces that it touches."""
    d, o = s.direct.mobility[0, i, world], s.direct.mobility[1, i, world]
    x, y, z = ti.Vector([d[0], o[0], o[1]]), ti.Vector([o[0], d[1], o[2]]), ti.Vector([o[1], o[2], d[2]])
    yz, zx, xy = y.cross(z), z.cross(x), x.cross(y)
    over = 1.0 / x.dot(yz)
    if s.particles.position[i, world][3] == 0.0:
        over = 0.0
    s.direct.mobility[0, i, world] = over * ti.Vector([yz[0], zx[1], xy[2]])
    s.direct.mobility[1, i, world] = over * ti.Vector([yz[1], yz[2], zx[2]])
    if ti.static(s.features.touching):
        for slot in ti.static(range(2)):
            normal = s.touch.now.normal[slot, i, world]
            across = weigh(s, i, normal, world)
            subtract_product(s, i, across / (ti.sqrt(normal.dot(across)) + 1e-30), world)


@ti.func
def subtract_product(s: ti.template(), i, v, world):
    """Subtract v vᵀ from the matrix of particle i."""
    squares = ti.Vector([v[0] * v[0], v[1] * v[1], v[2] * v[2]])
    products = ti.Vector([v[0] * v[1], v[0] * v[2], v[1] * v[2]])
    s.direct.mobility[0, i, world] = s.direct.mobility[0, i, world] - squares
    s.direct.mobility[1, i, world] = s.direct.mobility[1, i, world] - products
