"""The arrays of bodies as frames, beside those of their particles (pbd/data.py).

Shapes are (item, world), the numbers of an item one after another behind that.
"""

from typing import NamedTuple

import taichi as ti

from pbd.core.arrays import Integer, Real, count
from rigid.collision.data import PAIR, Points, Scratch, Shapes

# Columns of `fit`. Corners x_k at rest are y_k in the body's frame; b_k and c_k make F = Σ x_k b_kᵀ the map from that
# frame, and Σ c_k x_k its origin; p in the body's frame is Σ (c_k + b_k·p) x_k.
MAP, ORIGIN, MARGIN, FIT = 0, 12, 16, 17

# Columns of `motion`: a body's particles as they were at the start of the step, and what impulses of this sweep did.
CENTRE, INVERSE_MASS, INVERSE_INERTIA, LINEAR, ANGULAR, TOUCHED, MOTION = 0, 3, 4, 10, 13, 16, 17

# Columns of `contacts`: see rigid/solvers/verlet/contacts.py.
NORMAL, TANGENT, ARM_A, ARM_B, WEIGHTS_A, WEIGHTS_B, START = 0, 3, 6, 9, 12, 16, 20
INVERSE_WEIGHT, IMPULSE, FRICTION, RESTITUTION, APPROACH = 23, 26, 29, 30, 31
DRIFT, ROOM, ROLL, CONTACT = 32, 35, 36, 39

# Columns of `kept_keys`.
KEPT_SHAPE, KEPT_FEATURE, KEPT_NEXT, KEYS = range(4)

# Entries of `own`.
OWN, BODIES = 0, 1


class Bodies(NamedTuple):
    """What functions of a kernel read as `s.hooked`; W worlds."""

    firsts: Integer(count.body_ends)  # where a body's particles begin in `members`
    members: Integer(count.body_members)  # indices of particles, four corners first, then those of joints
    fit: Real(count.bodies, count.worlds, FIT)  # see above, constant
    motion: Real(count.bodies, count.worlds, MOTION)
    poses: Real(count.worlds, count.bodies, 7)  # position and rotation (w, x, y, z) at the start of the step
    reach: Real(count.bodies, count.worlds)  # how far from its surface a body looks for others [m]
    contacts: Real(count.capacity, count.worlds, CONTACT)  # those of this step
    kept: Real(count.capacity, count.worlds, 3, kept=True)  # impulses of the last step's, in the world [kg m]
    kept_keys: Integer(count.capacity, count.worlds, KEYS, kept=True)
    heads: Integer(count.shapes, count.worlds, kept=True)  # the first that is kept of a shape b, or -1
    own: Integer(2)  # how many particles are a person's own, how many bodies there are
    shapes: Shapes
    points: Points
    broad: Scratch


@ti.func
def triple(array: ti.template(), i, world, column):
    """Three numbers of an item as a vector."""
    return ti.Vector([array[i, world, column + k] for k in ti.static(range(3))])


@ti.func
def write_triple(array: ti.template(), i, world, column, value):
    """A vector as three numbers of an item."""
    for k in ti.static(range(3)):
        array[i, world, column + k] = value[k]


@ti.func
def four(array: ti.template(), c, world, column):
    """Four numbers of an item as a vector."""
    return ti.Vector([array[c, world, column + k] for k in ti.static(range(4))])


@ti.func
def sides_of(s: ti.template(), c, world):
    """The two sides of contact c."""
    return s.hooked.points.integers[world, c, PAIR.body_a], s.hooked.points.integers[world, c, PAIR.body_b]


@ti.func
def tangents(s: ti.template(), c, world):
    """Normal of contact c, and two tangents at right angles."""
    n, t = triple(s.hooked.contacts, c, world, NORMAL), triple(s.hooked.contacts, c, world, TANGENT)
    return n, t, n.cross(t)
