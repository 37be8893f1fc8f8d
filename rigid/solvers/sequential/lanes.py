"""What contacts need if worlds lie in lanes: which worlds take part, and what can be read of each.

Contacts have places that all worlds in lanes share. In each part of a substep (rigid/solvers/parts.py) places are found
anew, also if some of the worlds need no more parts. So what can be read of a world is copied when its last part of a
launch is done.
"""

from typing import NamedTuple

import numpy as np
import taichi as ti

from pbd.core.kernels import Integer, Real, count, each_world, load_vector, read, store_vector
from rigid.collision.data import ABSENT, PAIR, POINT
from rigid.constraints.contact_forces import contact_forces
from rigid.constraints.contact_rows import CONTACT_ROWS, contact_size
from rigid.solvers.sequential.data import ROW

# What is read of a contact: its point; directions and impulses of its first rows.
READ = POINT.extend(directions=3 * CONTACT_ROWS, impulses=CONTACT_ROWS)


class InLanes(NamedTuple):
    """Arrays of worlds in lanes that can touch."""

    active: Real(count.worlds)  # 1 while a world takes part, 0 if it waits for others
    pairs: Integer(count.worlds, count.readings, PAIR)  # of the contacts of each world, one after another
    numbers: Real(count.worlds, count.readings, READ)


@ti.func
def is_present(s: ti.template(), c, world):
    """Whether a world has the contact in place c."""
    return s.points.numbers[world, c, POINT.gap] < ABSENT


@each_world
@ti.func
def copy_contacts(s: ti.template(), places, world):
    """Copy what can be read of the contacts of a world that takes part. Args: places: how many there are."""
    n = ti.static(s.rows.numbers)
    found = 0
    if s.in_lanes.active[world] > 0.0:
        for c in range(places):
            if is_present(s, c, world):
                first = s.step.first_contact_row + ti.static(contact_size(s.features.pair_types)[0]) * c
                for k in ti.static(range(PAIR.total)):
                    s.in_lanes.pairs[world, found, k] = s.points.integers[world, c, k]
                for k in ti.static(range(POINT.total)):
                    s.in_lanes.numbers[world, found, k] = s.points.numbers[world, c, k]
                for k in ti.static(range(CONTACT_ROWS)):
                    direction = load_vector(n, first + k, ROW.linear, world)
                    store_vector(s.in_lanes.numbers, found, READ.directions + 3 * k, direction, world)
                    s.in_lanes.numbers[world, found, READ.impulses + k] = n[world, first + k, ROW.impulse]
                found += 1


def read_contacts(arrays, world, found, h):
    """The Contacts of a world. Args: arrays: an InLanes; world; found: how many; h: length of a substep [s]."""
    pairs, numbers = (read(array)[world, :found] for array in (arrays.pairs, arrays.numbers))
    rows = np.zeros((found, CONTACT_ROWS, ROW.total), numbers.dtype)
    rows[..., ROW["linear"]] = numbers[:, READ["directions"]].reshape(found, CONTACT_ROWS, 3)
    return contact_forces((pairs, numbers), rows, numbers[:, READ["impulses"]] / h)
