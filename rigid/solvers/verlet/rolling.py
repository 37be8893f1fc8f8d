"""What rolls touches with another point at the end of a step than at its start, and the one it had has risen.

Where A turns by θ against B, both with the radii of curvature r, the point of A that touched rises from B by
ρ (1 - cos θ), 1/ρ = 1/r_a + 1/r_b. A contact that lets it stay where it was lets the body sink by as much in each step:
a ball of 10 cm that rolls at 4 m/s by 1 mm in each 1/240 s. So the rise, to second order ρ |θ × n|²/2, is taken from D.
"""

import taichi as ti

from pbd.core.quaternions import rotate_back
from pbd.core.shapes import CAPSULE, CYLINDER, PLANE, SPHERE
from rigid.collision.data import PAIR, PLACEMENT, SHAPE, STRUCTURE
from rigid.solvers.verlet.data import MAP, NORMAL, ROLL, sides_of, triple, write_triple
from rigid.solvers.verlet.poses import combined

# A cylinder that lies, or leans by less than asin of this, rolls on its rims; on one that stands it does not roll.
LIES = 0.5


@ti.func
def carried(s: ti.template(), side, n, world):
    """What has become, since the start of the step, of the direction n on a side (3,)."""
    result = n
    if side >= 0:
        q = ti.Vector([s.hooked.poses[world, side, 3 + k] for k in ti.static(range(4))])
        local = rotate_back(q, n)
        weights = ti.Vector([local.dot(triple(s.hooked.fit, side, world, MAP + 3 * k)) for k in ti.static(range(4))])
        result = combined(s, s.particles.position, side, weights, world)
    return result


@ti.func
def turned_over(s: ti.template(), c, world):
    """θ × n: how far the normals of contact c's two sides have parted."""
    a, b = sides_of(s, c, world)
    n = triple(s.hooked.contacts, c, world, NORMAL)
    return carried(s, a, n, world) - carried(s, b, n, world)


@ti.func
def prepare_rolling(s: ti.template(), c, world):
    """Write sqrt(ρ/2) e for contact c, e the unit vector of θ × n as foreseen; zero for what does not roll.

    A cylinder rolls about its axis alone.
    """
    e, radius = ti.Vector([0.0, 0.0, 0.0]), 0.0
    a, b = s.hooked.points.integers[world, c, PAIR.shape_a], s.hooked.points.integers[world, c, PAIR.shape_b]
    structure = ti.static(s.hooked.shapes.integers)
    if a >= 0:
        n = triple(s.hooked.contacts, c, world, NORMAL)
        curvature = 0.0
        for side in ti.static((PAIR.shape_a, PAIR.shape_b)):
            shape = s.hooked.points.integers[world, c, side]
            kind = structure[shape, STRUCTURE.kind]
            if kind == SPHERE or kind == CAPSULE:
                curvature += 1.0 / s.hooked.shapes.numbers[world, shape, SHAPE.size]
        if curvature > 0.0:
            e, radius = turned_over(s, c, world), 1.0 / curvature
            e -= n.dot(e) * n
        elif structure[a, STRUCTURE.kind] == CYLINDER and structure[b, STRUCTURE.kind] == PLANE:
            placed = ti.static(s.hooked.broad.placements)
            e = n.cross(ti.Vector([placed[world, a, PLACEMENT.matrix + 3 * k + 2] for k in ti.static(range(3))]))
            if e.norm() > LIES:
                radius = s.hooked.shapes.numbers[world, a, SHAPE.size] / e.norm()
        if e.norm_sqr() > 0.0:
            e /= e.norm()
    write_triple(s.hooked.contacts, c, world, ROLL, ti.sqrt(0.5 * radius) * e)


@ti.func
def rise(s: ti.template(), c, world):
    """By how much the two points of contact c have parted by rolling alone [m]."""
    e, result = triple(s.hooked.contacts, c, world, ROLL), 0.0
    if e.norm_sqr() > 0.0:
        result = turned_over(s, c, world).dot(e) ** 2
    return result
