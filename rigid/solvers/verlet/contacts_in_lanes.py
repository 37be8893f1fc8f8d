"""The places of contacts: how many there are, which of them a world has, and what is read of them after the step.

Worlds in lanes share the places. In each part of a substep places are found anew, also for worlds that wait for others.
Their contacts must stay as they are, and what can be read of them is copied when they are done, at the end of a launch.
"""

import taichi as ti

from pbd.core.kernels import each_world, in_lanes
from rigid.collision.data import ABSENT, PAIR, POINT
from rigid.kernels.lanes import mark_active
from rigid.solvers.verlet.data import CONTACT, READ


@ti.func
def contact_count(s: ti.template(), world):
    """Number of contacts in this step."""
    return ti.min(s.hooked.points.count[world], s.hooked.contacts.shape[1])


@ti.func
def is_present(s: ti.template(), c, world):
    """Whether a world has contact c: worlds in lanes share the places of contacts."""
    return s.hooked.points.numbers[world, c, POINT.gap] < ABSENT


@ti.func
def take_part(s: ti.template(), world):
    """Mark the worlds in lanes that make this part of the substep; the others wait."""
    if ti.static(in_lanes()):
        mark_active(s.hooked.in_lanes.active, world)


@ti.func
def takes_part(s: ti.template(), world):
    """Whether a world makes this part of the substep, and does not wait for others in lanes."""
    result = True
    if ti.static(s.features.lanes > 1):
        result = s.hooked.in_lanes.active[world] > 0.0
    return result


@ti.func
def count_touching(s: ti.template(), world):
    """Number of contacts with an impulse."""
    result = 0.0
    for c in range(contact_count(s, world)):
        if s.hooked.contacts[world, c, CONTACT.impulse] > 0.0:
            result += 1.0
    return result


@ti.func
def count_contacts(s: ti.template(), world):
    """Number of contacts that had an impulse in the last substep."""
    result = 0.0
    if ti.static(in_lanes()):
        result = s.hooked.in_lanes.touching[world]
    else:
        result = count_touching(s, world)
    return result


@ti.func
def store_count(s: ti.template(), world):
    """Store the number of contacts with an impulse for `count_contacts`, if worlds lie in lanes."""
    if ti.static(in_lanes()):
        s.hooked.in_lanes.touching[world] = count_touching(s, world)


@ti.func
def store_contacts(s: ti.template(), world):
    """Copy what is read of the contacts of worlds in lanes. Without lanes, contacts are read where they are."""
    store_count(s, world)
    if ti.static(in_lanes()):
        copy_contacts(s, world)


@each_world
@ti.func
def copy_contacts(s: ti.template(), world):
    """Copy what is read of the contacts of a world in lanes that is done."""
    n, contacts = ti.static(s.hooked.in_lanes.numbers, s.hooked.contacts)
    if takes_part(s, world):
        found = 0
        for c in range(contact_count(s, world)):
            if is_present(s, c, world):
                for k in ti.static(range(PAIR.total)):
                    s.hooked.in_lanes.pairs[world, found, k] = s.hooked.points.integers[world, c, k]
                for k in ti.static(range(POINT.total)):
                    n[world, found, k] = s.hooked.points.numbers[world, c, k]
                for k in ti.static(range(3)):
                    n[world, found, READ.axes + k] = contacts[world, c, CONTACT.normal + k]
                    n[world, found, READ.axes + 3 + k] = contacts[world, c, CONTACT.tangent + k]
                    n[world, found, READ.impulses + k] = contacts[world, c, CONTACT.impulse + k]
                n[world, found, READ.impulses + 3] = contacts[world, c, CONTACT.restitution_impulse]
                found += 1
        s.hooked.in_lanes.count[world] = ti.cast(found, float)
