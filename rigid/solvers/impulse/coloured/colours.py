"""The order of groups of rows with coloured contacts: clusters in colours, which threads solve at the same time.

A cluster is a run of groups that one thread solves in order. Clusters of one colour have no moving body in common, so
which is solved first changes no bit. Bodies that joints and springs connect are one cluster, and all of these are the
first colour: joints keep their order. The contacts of two bodies are a cluster. It gets the lowest colour that no
contact of either body has. What finds none is the last colour, which one thread solves.

Source: graph colouring of contacts as in Harada, A parallel constraint solver for a rigid body simulation (2011).
"""

from typing import NamedTuple

import taichi as ti

from pbd.core.kernels import Columns, Integer, Typed, allocate, count
from rigid.constraints.rows import GROUP
from rigid.kernels.motion import MASS

# Colours of contacts, which are bits of a mask, and all colours: that of joints, these, and the last.
CONTACT_COLOURS = 62
COLOURS = CONTACT_COLOURS + 2

# Where the groups of a cluster begin and end in Colours.order, or before they are sorted, in the groups; its colour.
CLUSTER = Columns(first=1, end=1, colour=1)


class Colours(NamedTuple):
    """The order of groups in a substep."""

    islands: Integer(count.bodies)  # a number for each body, the same for bodies that joints or springs connect
    masks: Typed(ti.i64, count.worlds, count.bodies)  # the colours that contacts of a body have
    places: Integer(count.worlds, count.places)  # where the groups of an island, or clusters of a colour, begin
    found: Integer(count.worlds, count.clusters, CLUSTER)  # clusters of contacts as they are found
    clusters: Integer(count.worlds, count.clusters, CLUSTER)  # clusters by colour
    order: Integer(count.worlds, count.clusters)  # groups of joints by island
    starts: Integer(count.worlds, COLOURS + 1)  # where the clusters of each colour begin


@ti.func
def find_clusters(s: ti.template(), groups, world):
    """Order all groups of a substep. Args: groups: how many."""
    joint_clusters = sort_joint_groups(s, world)
    s.colours.starts[world, 0] = 0
    s.colours.starts[world, 1] = joint_clusters
    found = colour_contacts(s, groups, world)
    sort_by_colour(s, found, joint_clusters, world)


@ti.func
def island_of(s: ti.template(), group, world):
    """The island of a group of joint rows. The ground, the last body, has none, unless both bodies are the ground."""
    i, j = s.rows.groups[world, group, GROUP.body_i], s.rows.groups[world, group, GROUP.body_j]
    return s.colours.islands[ti.select(i == s.bodies.pose.shape[1] - 1, j, i)]


@ti.func
def sort_joint_groups(s: ti.template(), world):
    """Sort the groups of joints by island, each island in their order. Returns: how many clusters that makes."""
    places = ti.static(s.colours.places)
    bodies = s.bodies.pose.shape[1]
    for body in range(bodies + 1):
        places[world, body] = 0
    for group in range(s.step.first_contact_group):
        after = island_of(s, group, world) + 1
        places[world, after] = places[world, after] + 1
    made, total = 0, 0
    for body in range(bodies):
        length = places[world, body + 1]
        places[world, body] = total
        if length > 0:
            s.colours.clusters[world, made, CLUSTER.first] = total
            s.colours.clusters[world, made, CLUSTER.end] = total + length
            made += 1
        total += length
    for group in range(s.step.first_contact_group):
        island = island_of(s, group, world)
        place = places[world, island]
        s.colours.order[world, place] = group
        places[world, island] = place + 1
    return made


@ti.func
def colour_contacts(s: ti.template(), groups, world):
    """Give each pair of bodies in contact a colour. Their groups follow one another. Returns: how many pairs."""
    for body in range(s.bodies.pose.shape[1]):
        s.colours.masks[world, body] = ti.i64(0)
    found, last_i, last_j = 0, -1, -1
    for group in range(s.step.first_contact_group, groups):
        i, j = s.rows.groups[world, group, GROUP.body_i], s.rows.groups[world, group, GROUP.body_j]
        if i != last_i or j != last_j:
            moves_i = s.bodies.mass[world, i, MASS.inverse_mass] > 0.0
            moves_j = s.bodies.mass[world, j, MASS.inverse_mass] > 0.0
            used = ti.i64(0)
            if moves_i:
                used = used | s.colours.masks[world, i]
            if moves_j:
                used = used | s.colours.masks[world, j]
            colour = 0
            while colour < CONTACT_COLOURS and (used >> colour) & ti.i64(1) == ti.i64(1):
                colour += 1
            bit = ti.i64(1) << colour
            if moves_i:
                s.colours.masks[world, i] = s.colours.masks[world, i] | bit
            if moves_j:
                s.colours.masks[world, j] = s.colours.masks[world, j] | bit
            s.colours.found[world, found, CLUSTER.first] = group
            s.colours.found[world, found, CLUSTER.colour] = colour + 1
            found, last_i, last_j = found + 1, i, j
        s.colours.found[world, found - 1, CLUSTER.end] = group + 1
    return found


@ti.func
def sort_by_colour(s: ti.template(), found, joint_clusters, world):
    """Sort the clusters of contacts by colour, behind those of joints. Args: found: how many."""
    places, starts = ti.static(s.colours.places, s.colours.starts)
    for colour in range(COLOURS + 1):
        places[world, colour] = 0
    for k in range(found):
        colour = s.colours.found[world, k, CLUSTER.colour]
        places[world, colour] = places[world, colour] + 1
    total = joint_clusters
    for colour in range(1, COLOURS):
        length = places[world, colour]
        places[world, colour] = total
        total += length
        starts[world, colour + 1] = total
    for k in range(found):
        colour = s.colours.found[world, k, CLUSTER.colour]
        place = places[world, colour]
        s.colours.clusters[world, place, CLUSTER.first] = s.colours.found[world, k, CLUSTER.first]
        s.colours.clusters[world, place, CLUSTER.end] = s.colours.found[world, k, CLUSTER.end]
        places[world, colour] = place + 1


def allocate_colours(islands, worlds, groups):
    """Make the arrays. Args: islands: see Colours, with the ground's; worlds; groups: of rows, at most."""
    bodies = len(islands)
    return allocate(
        Colours, {"islands": islands}, worlds=worlds, bodies=bodies, clusters=groups, places=max(bodies, COLOURS) + 1
    )
