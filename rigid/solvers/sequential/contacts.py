"""Contacts of a step: their rows, with the impulses that they had in the last step."""

import taichi as ti

from pbd.core.kernels import any_world, compiled_once, in_all_lanes, in_lanes, load_vector
from pbd.phases import world_of
from rigid.collision.broad_phase import begin_search, write_placements
from rigid.collision.data import BLOCKS
from rigid.constraints.contact_rows import contact_size, write_contact_rows
from rigid.external import EXTERNAL
from rigid.kernels.lanes import mark_active
from rigid.kernels.motion import MASS, VELOCITY, gravity_on
from rigid.solvers.report import REPORT
from rigid.solvers.sequential import shared
from rigid.solvers.sequential.contact_impulses import look_up_impulses, store_impulses_of
from rigid.solvers.sequential.lanes import copy_contacts

# Bodies look for contacts up to this part of their radius beyond the way that they may go in the step.
MARGIN = 0.02


@ti.func
def detect_contacts(s: ti.template(), world):
    """Find contact points and write their rows. Returns: how many groups there are, of joints and contacts."""
    groups = s.step.first_contact_group
    if ti.static(s.features.contacts):
        if ti.static(in_lanes()):
            mark_active(s.in_lanes.active, world)
        if ti.static(shares_search(s.features)):
            begin_shared_search(s, world)
            shared.for_each(s, shared.search, BLOCKS, world)
        find_contact_points(s, world)
        if s.points.count[world] > s.points.integers.shape[1]:
            s.report[world, REPORT.overflow] = ti.cast(s.points.count[world], float)
        count, found = write_rows(s, world)
        s.report[world, REPORT.contacts] = found
        groups += ti.static(contact_size(s.features.pair_types)[1]) * count
    return groups


def shares_search(features):
    """Whether threads share the search for pairs of shapes. Args: features: of a kernel."""
    return features.coloured and features.pair_types.hashed


@compiled_once("bodies", "shapes", "scratch", "margin", "gravity", "step", "features")
def begin_shared_search(s: ti.template(), index):
    """Do what comes before the search for pairs of shapes."""
    world = world_of(s, index)
    compute_contact_margins(s, world)
    write_placements(s.shapes, s.scratch, s.bodies.pose, s.margin, world)
    begin_search(s.shapes, s.scratch, world)


@compiled_once("bodies", "shapes", "points", "scratch", "margin", "gravity", "step", "features", "find_points")
def find_contact_points(s: ti.template(), index):
    """Find the points where bodies may touch within the step."""
    world = world_of(s, index)
    if ti.static(not shares_search(s.features)):
        compute_contact_margins(s, world)
    ti.static(in_all_lanes(s.find_points))(s.shapes, s.points, s.scratch, s.bodies.pose, s.margin, world)


@ti.func
def compute_contact_margins(s: ti.template(), world):
    """How far beyond its surface each body looks for contacts: as far as it may go in the step, and a little more."""
    for body in range(s.margin.shape[0]):
        radius = s.bodies.mass[world, body, MASS.radius]
        velocity = load_vector(s.bodies.velocity, body, VELOCITY.linear, world)
        acceleration = gravity_on(s, body, world)
        if s.step.external == 1:
            force = load_vector(s.bodies.external, body, EXTERNAL.force, world)
            acceleration += s.bodies.mass[world, body, MASS.inverse_mass] * force
        speed = (velocity + s.step.h * acceleration).norm()
        speed += radius * load_vector(s.bodies.velocity, body, VELOCITY.angular, world).norm()
        s.margin[body, world] = s.step.h * speed + MARGIN * radius


@ti.func
def write_rows(s: ti.template(), world):
    """Write the rows of contacts, with their impulses of the last step. Returns: see `write_contact_rows`."""
    count = ti.min(s.points.count[world], s.points.integers.shape[1])
    found = ti.cast(count, float)
    if ti.static(s.features.coloured):
        shared.for_each(s, shared.write_contacts, count, world)
    else:
        count, found = write_contact_rows(s, world)
        look_up_impulses(s, count, world)
    return count, found


@ti.func
def store_impulses(s: ti.template(), last, world):
    """Store the impulses of all contacts for the next step, which takes contacts in the other order.

    Args: last: whether contacts are read of this substep.
    """
    if ti.static(s.features.contacts):
        s.reversed[world] = 1.0 - s.reversed[world]
        count = ti.min(s.points.count[world], s.points.integers.shape[1])
        store_impulses_of(s, count, world)
        if ti.static(in_lanes()):
            if any_world(last):
                copy_contacts(s, count, world)
